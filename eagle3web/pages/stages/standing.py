"""How far an attempt is, in one line for lists: whatever its stage counts."""

from dataclasses import dataclass

from eagle3web.enums import Stage
from eagle3web.models import Attempt
from eagle3web.pages.stages.benchmark import measured
from eagle3web.pages.stages.extraction import extracted
from eagle3web.pages.stages.serving import served
from eagle3web.pages.stages.training import trained

READERS = {Stage.EXTRACT: extracted, Stage.TRAIN: trained, Stage.BENCHMARK: measured, Stage.SERVE: served}


@dataclass(frozen=True)
class StandingLine:
    words: str
    """`step 400 of 2 000`."""
    eta_s: float | None


def standing_line(attempt: Attempt, stage: str, *, forecast: bool) -> StandingLine | None:
    """Of any stage but generation, which counts by dataset; None before its first word."""
    reader = READERS.get(Stage(stage))
    found = reader(attempt, forecast=forecast) if reader else None
    return StandingLine(found.words, found.eta_s) if found else None
