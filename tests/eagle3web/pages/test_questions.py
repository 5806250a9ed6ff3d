import pytest

from eagle3web.pages.questions import question
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("stage", "kept"),
    [("extract", "Finished shards stay"), ("train", "A checkpoint is saved first"), ("benchmark", "stay measured")],
)
def test_stop_says_what_the_stage_saves(stage: str, kept: str) -> None:
    attempt = factories.attempt(factories.run(stage=stage))
    found = question("stop", attempt.run)
    assert (found.dangerous, kept in found.points[0].text) == (True, True)


def test_stop_of_a_queued_run_says_that_it_will_not_start() -> None:
    assert question("stop", factories.run(stage="train")).points[0].text == "It is queued and will not start."


@pytest.mark.parametrize("verb", ["pause", "unpause", "resume", "clone"])
def test_later_stages_speak_of_no_answers_and_budgets(verb: str) -> None:
    attempt = factories.attempt(factories.run(stage="train"))
    words = " ".join(point.text for point in question(verb, attempt.run).points)
    assert [word for word in ("answer", "budget", "request") if word in words] == []


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("clone", "300 prompts that gave an error are not, either: change something first to retry them."),
        ("resume", "300 prompts that gave an error are not, either: a clone can retry them."),
    ],
)
def test_prompts_that_failed_are_not_asked_again_unsaid(verb: str, says: str) -> None:
    attempt = factories.attempt(status="stopped")
    assert says not in [point.text for point in question(verb, attempt.run).points]
    factories.progress(attempt, done=0, errors=300)
    assert question(verb, attempt.run).points[-1].text == says
    attempt.config = {"retry_errors": True}
    attempt.save()
    assert says not in [point.text for point in question(verb, attempt.run).points]
