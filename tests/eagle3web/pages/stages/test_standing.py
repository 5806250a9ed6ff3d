from dataclasses import asdict
from typing import Any

import pytest

from eagle3web.models import Attempt
from eagle3web.pages.stages.standing import StandingLine, standing_line
from tests.support import told

EXTRACTED, STEP, MEASURED = told.extraction(), told.step(400), told.measured(18)


@pytest.mark.parametrize(
    ("stage", "event", "words", "eta_s"),
    [
        ("extract", EXTRACTED, "60.0 k of 450.0 k tokens", 210.0),
        ("train", STEP, "step 400 of 2 000", 1680.0),
        ("benchmark", MEASURED, "18 of 72 passes", 864.0),
    ],
)
def test_line_says_what_the_stage_counts(stage: str, event: Any, words: str, eta_s: float) -> None:  # noqa: ANN401
    attempt = Attempt(counters={event.kind: asdict(event)})
    line = standing_line(attempt, stage, forecast=True)
    assert line is not None
    assert (line.words.replace("\u00a0", " "), line.eta_s) == (words, eta_s)
    quiet = standing_line(attempt, stage, forecast=False)
    assert quiet is not None
    assert quiet.eta_s is None


@pytest.mark.parametrize("stage", ["generate", "train"])
def test_line_is_none_for_generation_and_before_the_first_word(stage: str) -> None:
    assert standing_line(Attempt(counters={}), stage, forecast=True) is None


def test_line_of_a_server_says_what_it_does_and_has_no_end() -> None:
    event = told.server_started()
    line = standing_line(Attempt(counters={event.kind: asdict(event)}), "serve", forecast=True)
    assert line == StandingLine("starting Python", None)
