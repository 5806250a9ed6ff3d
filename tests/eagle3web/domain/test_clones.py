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
    assert not clones.PLANNED_ANEW & set(found)


def test_forms_start_with_the_runs_own_values(chain: dict[str, Run]) -> None:
    train, bench = clones.form_values(chain["train"]), clones.form_values(chain["benchmark"])
    assert (train["sources"], train["preset"]) == ([chain["extract"].pk], "cloned")
    assert train["learning_rate"] == chain["train"].config["optimizer"]["learning_rate"]
    assert (bench["source"], bench["step"], bench["shapes"]) == (chain["train"].pk, None, "3/1/4")
    assert clones.form_values(chain["extract"])["source"] == chain["generate"].pk
    assert clones.form_values(chain["generate"])["concurrency"] == chain["generate"].config["concurrency"]


def test_shapes_are_taken_over_whole(chain: dict[str, Run]) -> None:
    bench = chain["benchmark"]
    bench.config["shapes"] = [{"steps": 3, "topk": 1, "draft_tokens": 4, "confidence": 0.2}, {"steps": 5}]
    assert clones.form_values(bench)["shapes"] == "3/1/4/0.2, 5/1/4"


@pytest.mark.parametrize("stage", ["generate", "extract", "train", "benchmark"])
@pytest.mark.parametrize("broken", [{}, {"engines": 3, "storage_dtype": [], "objective": None, "shapes": [{"steps": "x"}]}])
def test_config_that_forms_do_not_know_leaves_them_their_defaults(
    chain: dict[str, Run], stage: str, broken: dict[str, object]
) -> None:
    run = chain[stage]
    run.config, run.title = broken, "old"
    assert clones.form_values(run)["title"] == "old"


def test_captured_states_are_taken_over_for_the_same_source_only(chain: dict[str, Run]) -> None:
    answers = chain["generate"]
    run = chains.start_train([answers], user=None, config={}, captured=["/hidden"])
    assert clones.captured_of(run, [answers]) == ["/hidden"]
    assert clones.captured_of(run, [factories.run(answers.project)]) == []
    assert clones.captured_of(chain["train"], [chain["extract"]]) == []
