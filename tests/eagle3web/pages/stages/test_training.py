from pathlib import Path

import pytest
from django.utils import timezone

from eagle3web.models import Attempt
from eagle3web.pages.run import RunPage
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="train"), folder=str(tmp_path / "attempt"))


def page(attempt: Attempt) -> RunPage:
    return RunPage(attempt.run_id, attempt.number, frozenset({"view_run", "change_run"}))


def fragment(attempt: Attempt, key: str) -> str:
    return page(attempt).read(timezone.now()).fragments[key].replace("\u00a0", " ")


def test_page_says_how_far_and_how_well(attempt: Attempt) -> None:
    told.tell(attempt, told.training(attempt, first=0, last=200))
    html = fragment(attempt, "run-training")
    for part in ("200 <small>of 2 000", "10 %", "32 min", "held-out at step 200", "decoded at step 200", "simulated 1.77"):
        assert part in html
    saved = fragment(attempt, "run-checkpoints")
    assert ">200</a>" in saved
    assert "best" in saved


def test_charts_hold_every_line(attempt: Attempt) -> None:
    told.tell(attempt, told.training(attempt, first=0, last=200))
    found = page(attempt).details(attempt)
    lines = {
        name: [trace["meta"] for trace in found[name]["data"] if trace["x"]]
        for name in ("loss_figure", "accept_figure", "speed_figure", "memory_figure")
    }
    assert lines == {
        "loss_figure": ["loss", "eval_loss"],
        "accept_figure": ["simulated_accept_length", "accept_length"],
        "speed_figure": ["tokens_per_s", "learning_rate"],
        "memory_figure": ["memory_bytes", "grad_norm"],
    }
    assert len(found["accuracy_figure"]["data"]) == 14


def test_resumed_attempt_goes_on_with_the_lines_of_the_one_before(attempt: Attempt, tmp_path: Path) -> None:
    told.tell(attempt, told.training(attempt, first=0, last=250))
    second = factories.attempt(attempt.run, folder=str(tmp_path / "second"))
    told.tell(second, told.training(second, first=205, last=300))
    loss = page(second).details(second)["loss_figure"]
    steps = loss["data"][0]["x"]
    assert (steps[0], steps[-1], steps) == (0, 300, sorted(set(steps)))
    assert [shape["x0"] for shape in loss["layout"]["shapes"]] == [205]


def test_newer_points_say_their_line(attempt: Attempt) -> None:
    looking = page(attempt)
    looking.read(timezone.now())
    told.tell(attempt, [(1, told.step(1, accuracy=(0.5,))), (2, told.evaluation(1))])
    entries = [entry for _, entry in looking.read(timezone.now()).streams["points"].entries]
    assert {line for line, _, _ in entries} >= {"loss", "accuracy/0", "eval_loss", "simulated_accept_length"}
    assert {step for _, step, _ in entries} == {1}


def test_training_is_stopped_and_paused_and_asks_no_engine(attempt: Attempt) -> None:
    html = fragment(attempt, "run-head")
    assert [word for word in ("Stop…", "Pause…") if word not in html] == []
    assert [word for word in ("Concurrency…", "Sample answers") if word in html] == []


def test_timeline_tells_of_checkpoints_and_not_of_steps(attempt: Attempt) -> None:
    told.tell(attempt, told.training(attempt, first=0, last=400))
    heads = [decision.subject + " " + decision.head for decision in page(attempt).context(timezone.now())["timeline"]]
    assert heads == ["step 400 saved", "step 200 saved", " train started"]
