from dataclasses import asdict

from eagle3web.models import Attempt
from eagle3web.queries.counters import last_word
from pipeline.drafter_events import StepLogged
from tests.support import told


def test_last_word_is_typed_again() -> None:
    event = told.step(7)
    assert last_word(Attempt(counters={"step_logged": asdict(event)}), StepLogged) == event


def test_last_word_is_none_before_any_and_from_another_pipeline() -> None:
    assert last_word(Attempt(counters={}), StepLogged) is None
    assert last_word(Attempt(counters={"step_logged": {"stride": 3}}), StepLogged) is None
