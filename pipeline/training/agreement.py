"""What all processes do next: the first one hears people and watches the clock, and the others are told."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.training.parallel import World
from pipeline.training.pulse import Pulse
from pipeline.training.schedule import Limits
from pipeline.training.steering import Steering

PAUSE_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Moment:
    stop: bool
    save: bool
    """The minutes since the last checkpoint are over."""


class Agreement:
    def __init__(self, world: World, limits: Limits, steering: Steering, pulse: Pulse, *, save_every_minutes: float) -> None:
        """`limits`: their clock is set here, and stands still in pauses."""
        self._world, self._limits, self._steering, self._pulse = world, limits, steering, pulse
        self._save_every_s = 60 * save_every_minutes
        self._started, self._earlier_s = time.monotonic(), limits.elapsed_s
        self._saved = self._started

    def saved(self) -> None:
        """A checkpoint was written just now."""
        self._saved = time.monotonic()

    def now(self, *, around_pause: Callable[[], None]) -> Moment:
        """Called by all processes between two steps. Stays here while paused; `around_pause` is called before and after."""
        moment, paused = self._look(time.monotonic())
        if not paused or moment.stop:
            return moment
        since = time.monotonic()
        around_pause()
        self._pulse.tell("paused", paused=True)
        while paused and not moment.stop:
            self._pulse.begin("paused")
            time.sleep(PAUSE_S)
            moment, paused = self._look(since)
        self._started += time.monotonic() - since
        around_pause()
        self._pulse.tell("")
        return moment

    def _look(self, now: float) -> tuple[Moment, bool]:
        """What the first process knows at its clock's `now`, and whether it is to pause."""
        self._steering.obey()
        wishes = (
            self._steering.stop_reason is not None,
            self._steering.paused,
            bool(self._save_every_s) and now - self._saved >= self._save_every_s,
            self._earlier_s + now - self._started,
        )
        stop, paused, save, self._limits.elapsed_s = self._world.share([float(wish) for wish in wishes])
        return Moment(stop=bool(stop), save=bool(save)), bool(paused)
