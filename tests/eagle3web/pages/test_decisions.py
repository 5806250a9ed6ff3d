from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from eagle3web.models import Attempt, ControlMessage
from eagle3web.pages.decisions import Acknowledgements, Decision, from_control, from_event, from_transition
from eagle3web.pages.run import timeline
from tests.support import factories

pytestmark = pytest.mark.django_db

SKIPPED: dict[str, Any] = {
    "dataset": "B1_glaive", "reason": "budget_met", "tokens": 17_030_000, "budget": 10_000_000, "done": 9998, "prompts": 10_000,
    "budget_version": 1,
}  # fmt: skip
APPLIED: dict[str, Any] = {
    "dataset": "B3", "budget": 10_000_000, "max_samples": None, "previous": 8_000_000, "budget_version": 2,
}  # fmt: skip


@pytest.fixture
def attempt() -> Attempt:
    return factories.attempt()


def decide(attempt: Attempt, kind: str, **payload: Any) -> Decision | None:
    return from_event(factories.event(attempt, kind, **payload))


def test_skip_says_why_with_its_numbers(attempt: Attempt) -> None:
    decision = decide(attempt, "dataset_skipped", **SKIPPED)
    assert decision is not None
    assert (decision.subject, decision.head, decision.kind) == ("B1_glaive", "skipped", "skip")
    assert decision.note == "budget met: 17.03 M of 10.00 M tokens (v1)"


@pytest.mark.parametrize(
    ("reason", "note"),
    [
        ("max_samples", "enough answers: 9 998, 17.03 M tokens (v1)"),
        ("exhausted", "no prompts left: 9 998 of 10 000 answered, 17.03 M tokens (v1)"),
        ("disabled", "switched off; 17.03 M tokens are kept (v1)"),
        ("something new", "something new: 17.03 M tokens (v1)"),
    ],
)
def test_skip_for_another_reason_has_its_own_words(attempt: Attempt, reason: str, note: str) -> None:
    decision = decide(attempt, "dataset_skipped", **SKIPPED | {"reason": reason})
    assert decision is not None
    assert decision.note == note


def test_skip_of_prompts_that_failed_before_says_how_they_are_asked_again(attempt: Attempt) -> None:
    decision = decide(attempt, "dataset_skipped", **SKIPPED | {"reason": "exhausted", "done": 0, "tokens": 0, "errors": 300})
    assert decision is not None
    assert decision.note == (
        "no prompts left: 0 of 10 000 answered, 0 tokens; "
        "300 gave an error before, a run that retries errors asks them again (v1)"
    )


def test_unknown_kind_is_shown_raw(attempt: Attempt) -> None:
    decision = decide(attempt, "brand_new", what="<b>\x1b")
    assert decision is not None
    assert (decision.head, decision.note) == ("brand_new", '{"what": "<b>\\u001b"}')


def test_text_of_an_event_is_cut_and_its_unseen_characters_are_signs(attempt: Attempt) -> None:
    decision = decide(attempt, "warning", text="\x1b[31m" + "x" * 1000, dataset=None)
    assert decision is not None
    assert decision.head == "␛[31m" + "x" * 495


def test_status_without_words_decides_nothing(attempt: Attempt) -> None:
    assert decide(attempt, "status_changed", text="", paused=False) is None


def test_control_message_says_who_asked_and_how_long_it_took(attempt: Attempt) -> None:
    ada = factories.user("ada")
    payload = {"dataset": "B3", "tokens": 10_000_000, "max_samples": None, "enabled": True, "version": 2}
    row = factories.control(attempt, "set_budget", payload=payload, author=ada)
    waiting = from_control(row, Acknowledgements())
    assert (waiting.head, waiting.aside, waiting.waits) == ("ada set B3 to 10.00 M tokens", "v2", True)
    assert waiting.note == "asked, not yet delivered"
    row.acknowledged_at = row.created_at + timedelta(seconds=0.4)
    applied = Acknowledgements.among([factories.event(attempt, "budget_applied", **APPLIED)])
    answered = from_control(row, applied)
    assert (answered.aside, answered.waits) == ("from 8.00 M tokens, v2", False)
    assert answered.note == "acknowledged after 0.4 s"


def test_timeline_shows_an_edit_and_its_acknowledgement_as_one_entry(attempt: Attempt) -> None:
    payload = {"dataset": "B3", "tokens": 10_000_000, "max_samples": None, "enabled": True, "version": 2}
    factories.control(attempt, "set_budget", payload=payload)
    factories.event(attempt, "budget_applied", **APPLIED)
    assert [decision.key[0] for decision in timeline(attempt)] == ["c"]


def test_timeline_is_newest_first_and_leaves_counts_and_samples_out(attempt: Attempt) -> None:
    now = timezone.now()
    factories.event(attempt, "stage_started", t=now - timedelta(minutes=2), stage="generate", config_hash="3be1c07a")
    factories.event(attempt, "sample_logged", t=now, dataset="B1")
    factories.event(attempt, "generation_progress", t=now, dataset="B1")
    factories.event(attempt, "dataset_skipped", t=now - timedelta(minutes=1), **SKIPPED)
    assert [decision.head for decision in timeline(attempt)] == ["skipped", "generate started"]


def test_timeline_tells_an_end_that_the_process_could_not_report(attempt: Attempt) -> None:
    factories.transition(attempt.run, "running", "lost", attempt=attempt, reason="gpu-03 restarted")
    assert [(decision.head, decision.note) for decision in timeline(attempt)] == [("lost", "gpu-03 restarted")]


def test_timeline_tells_a_failure_once(attempt: Attempt) -> None:
    factories.event(attempt, "stage_failed", reason="disk full", kept="4 parts")
    factories.transition(attempt.run, "running", "failed", attempt=attempt, reason="failed: disk full")
    assert [(decision.head, decision.note) for decision in timeline(attempt)] == [("failed: disk full", "Kept: 4 parts")]


def test_order_sorts_by_time_then_number(attempt: Attempt) -> None:
    now = timezone.now()
    rows = [factories.event(attempt, "warning", t=now, text=str(n)) for n in range(12)]
    orders = [decision.order for row in rows if (decision := from_event(row))]
    assert orders == sorted(orders)
    assert len(set(orders)) == 12


def test_transition_of_nobody_has_no_author(attempt: Attempt) -> None:
    row = factories.transition(attempt.run, "running", "lost", reason="<b>gone</b>")
    assert from_transition(row).note == "<b>gone</b>"


def test_unknown_control_is_shown_by_its_name(attempt: Attempt) -> None:
    row: ControlMessage = factories.control(attempt, "dance")
    assert from_control(row, Acknowledgements()).head == "the system dance"
