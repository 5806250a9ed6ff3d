"""How far an attempt is, in one line for lists: whatever its stage counts."""

from dataclasses import dataclass

from eagle3web.enums import Stage
from eagle3web.models import Attempt
from eagle3web.pages.stages.benchmark import measured
from eagle3web.pages.stages.extraction import extracted
from eagle3web.pages.stages.serving import served
from eagle3web.pages.stages.training import trained

READERS = {Stage.EXTRACT: extracted, Stage.TRAIN: trained, Stage.BENCHMARK: measured}


@dataclass(frozen=True)
class StandingLine:
    words: str
    """`step 400 of 2 000`."""
    eta_s: float | None
    """None also for a server, which has no end of its own."""


def standing_line(attempt: Attempt, stage: str, *, forecast: bool) -> StandingLine | None:
    """Of any stage but generation, which counts by dataset; None before its first word."""
    if stage == Stage.SERVE:
        server = served(attempt)
        return StandingLine(server.words, None) if server else None
    reader = READERS.get(Stage(stage))
    found = reader(attempt, forecast=forecast) if reader else None
    return StandingLine(found.words, found.eta_s) if found else None
