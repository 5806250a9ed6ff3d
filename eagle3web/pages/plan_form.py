"""What the address of a plan says: a wish for each dataset, and what is assumed. Its sliders start from what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from eagle3web.domain.plan_basis import Assumptions, Basis, Wish
from eagle3web.models.project import MAX_TOKENS
from eagle3web.pages.typed import whole

MOST_ENGINES = 10_000
LENGTHS = (25, 400)
"""Per cent of the measured mean length."""
SMALLEST_SCALE = 1_000


@dataclass(frozen=True, kw_only=True)
class Slider:
    name: str
    low: int
    high: int
    step: int
    value: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A what-if, read."""

    wishes: dict[str, Wish]
    assumed: Assumptions
    scale: int
    """Right end of all budget sliders, in tokens. There a budget without a limit stays without."""


def read_plan(query: QueryDict, basis: Basis) -> Asked:
    """What the address does not say is as it was measured or saved; what makes no sense in it is passed over."""
    said = whole(query.get("scale", ""))
    is_form, scale = bool(said), min(said or budget_scale(basis), MAX_TOKENS)
    switched_on = set(query.getlist("on"))
    wishes = {}
    for slug, saved in basis.wishes().items():
        tokens = whole(query.get(f"budget.{slug}", ""))
        if tokens is None or (saved.tokens is None and tokens >= scale):
            tokens = saved.tokens
        wishes[slug] = Wish(tokens=tokens, enabled=slug in switched_on if is_form else saved.enabled)
    return Asked(wishes=wishes, assumed=_assumptions(query, basis, is_form=is_form), scale=scale)


def _assumptions(query: Mapping[str, str], basis: Basis, *, is_form: bool) -> Assumptions:
    measured = basis.assumptions()
    speed, engines = whole(query.get("speed", "")), whole(query.get("engines", ""))
    concurrency, length = whole(query.get("concurrency", "")), whole(query.get("length", ""))
    # A slider has whole numbers: where it stands on the measured one, that one is meant.
    same = speed is None or (measured.speed is not None and speed == round(measured.speed))
    return Assumptions(
        speed=measured.speed if same else float(speed or 0) or None,
        engines=min(max(1, engines), MOST_ENGINES) if engines is not None else measured.engines,
        concurrency=max(1, concurrency) if concurrency is not None else measured.concurrency,
        length=min(max(length, LENGTHS[0]), LENGTHS[1]) / 100 if length is not None else 1.0,
        stored="stored" in query if is_form else True,
    )


def budget_scale(basis: Basis) -> int:
    """Twice the largest budget, or what is on disk, rounded up."""
    most = max((max(row.budget.tokens or 0, row.tokens) for row in basis.rows), default=0)
    return round_up(max(2 * most, SMALLEST_SCALE))


def budget_step(scale: int, budgets: Sequence[int | None]) -> int:
    """The largest round step up to a fiftieth of the scale on which every saved budget lies: a slider would move the others."""
    values = [scale, *(tokens for tokens in budgets if tokens)]
    power: int = 10 ** len(str(scale))
    while power >= 1:
        for factor in (5, 2, 1):
            step: int = factor * power
            if step * 50 <= scale and all(value % step == 0 for value in values):
                return step
        power //= 10
    return 1


def round_up(value: float) -> int:
    """To a number of one digit and zeros, or 15 and zeros."""
    power = 1
    while 10 * power < value:
        power *= 10
    steps = (factor * power // 2 for factor in (2, 3, *range(4, 22, 2)))
    found: int = next(step for step in steps if step >= value)
    return found


def sliders(asked: Asked, basis: Basis) -> dict[str, Slider]:
    """Of the assumptions, by name."""
    assumed, speed = asked.assumed, round(asked.assumed.speed or 0)
    fastest = round_up(max(100, 2 * speed, 3 * round(basis.speed or 0)))
    most_engines = max(8, 4 * basis.engines, assumed.engines)
    most_requests = round_up(max(64, 4 * basis.concurrency, assumed.concurrency))
    found = (
        Slider(name="speed", low=0, high=fastest, step=1, value=speed),
        Slider(name="engines", low=1, high=most_engines, step=1, value=assumed.engines),
        Slider(name="concurrency", low=1, high=most_requests, step=1, value=assumed.concurrency),
        Slider(name="length", low=LENGTHS[0], high=LENGTHS[1], step=5, value=round(assumed.length * 100)),
    )
    return {slider.name: slider for slider in found}
