import pytest
from django.utils import timezone

from eagle3web.pages.checkpoint_list import CheckpointsPage
from eagle3web.pages.checkpoints import CheckpointPage, serving_command, shown_checkpoints
from eagle3web.pages.rights import Rights
from tests.support import factories

pytestmark = pytest.mark.django_db
OPERATOR: Rights = frozenset({"view_run", "change_checkpoint"})


def test_measured_accept_length_is_the_benchmarks_once_there_is_one() -> None:
    row = factories.checkpoint()
    (shown,) = shown_checkpoints([row])
    assert (shown.measured, shown.measured_by, shown.simulated) == (2.69, "evaluation", 2.96)
    attempt = factories.attempt(factories.run(stage="benchmark"))
    factories.result(attempt, "plain")
    factories.result(attempt, "drafter", accept_length=2.4, checkpoint=row)
    (shown,) = shown_checkpoints([row])
    assert (shown.measured, shown.measured_by) == (2.4, "benchmark")


def test_odd_metrics_and_manifests_show_as_nothing() -> None:
    row = factories.checkpoint(metrics={"eval_loss": "low", "accept_length": None}, manifest={"lineage": [1]})
    (shown,) = shown_checkpoints([row])
    assert (shown.eval_loss, shown.measured, shown.measured_by, shown.data) == (None, None, "", None)


def test_data_is_counted_from_the_manifest() -> None:
    told = [{"dataset": "B1", "tokens": 100}, {"dataset": "B2", "tokens": 50}, {"dataset": "B3"}]
    (shown,) = shown_checkpoints([factories.checkpoint(manifest={"lineage": {"datasets": told}})])
    assert shown.data == (3, 150)


def test_launch_command_is_ready_to_paste() -> None:
    project = factories.project(target_path="/models/a b")
    row = factories.checkpoint(factories.attempt(factories.run(project, stage="train")), path="/home/it's/step-7")
    assert serving_command(row, "5/4/16").replace(" \\\n   ", "").split(" --")[1:] == [
        "model-path '/models/a b'",
        "speculative-algorithm EAGLE3",
        "speculative-draft-model-path '/home/it'\"'\"'s/step-7'",
        "speculative-num-steps 5",
        "speculative-eagle-topk 4",
        "speculative-num-draft-tokens 16",
    ]
    assert "--speculative-num-steps 3 " in serving_command(row, "one/two")


def test_list_shows_a_speedup_with_its_baseline_only() -> None:
    row = factories.checkpoint()
    attempt = factories.attempt(factories.run(stage="benchmark"))
    factories.result(attempt, "drafter", checkpoint=row)
    page = CheckpointsPage(row.project_id, OPERATOR)
    assert "1.58×" not in page.read(timezone.now()).fragments["checkpoints-table"]
    factories.result(attempt, "plain")
    html = page.read(timezone.now()).fragments["checkpoints-table"]
    assert "1.58×" in html
    assert "tok/s plain" in html


def test_long_list_is_live_and_leads_on() -> None:
    row = factories.checkpoint()
    for step in range(200, 230):
        factories.checkpoint(row.attempt, step=step)
    html = CheckpointsPage(row.project_id, OPERATOR).read(timezone.now()).fragments["checkpoints-table"]
    assert ('href="?page=2"' in html, "1 to 25 of 31 checkpoints" in html.replace("\u00a0", " ")) == (True, True)


def test_promote_is_offered_to_operators_for_what_is_there() -> None:
    row = factories.checkpoint()
    for may, promoted, removed_at, offered in (
        (OPERATOR, False, None, True),
        (frozenset({"view_run"}), False, None, False),
        (OPERATOR, True, None, False),
        (OPERATOR, False, row.saved_at, False),
    ):
        row.promoted, row.removed_at = promoted, removed_at
        row.save()
        html = CheckpointPage(row.pk, may).read(timezone.now()).fragments["checkpoint-head"]
        assert ("Promote…" in html) is offered
        assert "Download" not in html


def test_two_looks_while_nothing_happens_are_the_same() -> None:
    row = factories.checkpoint()
    for page in (CheckpointsPage(row.project_id, OPERATOR), CheckpointPage(row.pk, OPERATOR)):
        assert page.read(timezone.now()).fragments == page.read(timezone.now()).fragments
