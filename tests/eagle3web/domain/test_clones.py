import pytest

from eagle3web.domain import chains, clones
from eagle3web.models import Run
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> dict[str, Run]:
    return {run.stage: run for run in chain_of(ready_project(slug="p"))}


def test_settings_leave_out_what_is_planned_anew(chain: dict[str, Run]) -> None:
    found = clones.settings_of(chain["train"])
    assert found["optimizer"] == chain["train"].config["optimizer"]
    assert not clones.PLANNED & set(found)


def test_forms_start_with_the_runs_own_values(chain: dict[str, Run]) -> None:
    train, bench = clones.form_values(chain["train"]), clones.form_values(chain["benchmark"])
    assert (train["sources"], train["preset"]) == ([chain["extract"].pk], "cloned")
    assert train["learning_rate"] == chain["train"].config["optimizer"]["learning_rate"]
    assert (bench["source"], bench["step"], bench["shapes"]) == (chain["train"].pk, None, "3/1/4")
    assert clones.form_values(chain["extract"])["source"] == chain["generate"].pk
    assert clones.form_values(chain["generate"])["concurrency"] == chain["generate"].config["concurrency"]


def test_captured_states_are_taken_over_for_the_same_source_only(chain: dict[str, Run]) -> None:
    answers = chain["generate"]
    run = chains.start_train([answers], user=None, config={}, captured=["/hidden"])
    assert clones.captured_of(run, [answers]) == ["/hidden"]
    assert clones.captured_of(run, [factories.run(answers.project)]) == []
    assert clones.captured_of(chain["train"], [chain["extract"]]) == []
