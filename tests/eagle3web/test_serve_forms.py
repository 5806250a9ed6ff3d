"""The form of a server: fields → keys of ServeConfig."""

import pytest
from django.test import Client

from eagle3web.domain import serving
from eagle3web.models import Checkpoint, Project, Run
from eagle3web.serve_forms import DrafterForm
from tests.eagle3web.views.conftest import client_of
from tests.support import factories
from tests.support.pipelines import ready_project

pytestmark = pytest.mark.django_db

PATH = "/projects/p/runs/new/serve/"
FIELDS = {
    "checkpoint": "", "lookup": "", "shape": "3/1/4", "engine": "main", "listen": "10.0.0.7", "reached_as": "gpu-07",
    "port": 30001, "device": "cuda", "tensor_parallel": 2, "dtype": "bfloat16", "kv_cache_dtype": "fp8_e4m3",
    "memory_fraction": "0.8", "max_total_tokens": "", "hierarchical_cache": "yes", "hierarchical_ratio": "2",
    "context_length": "8192", "max_running": "64", "max_queued": "128", "extra": "--page-size 16", "restart": "never",
    "most": 3, "drain_s": 20, "title": "", "tags": "", "host": "", "devices": "cuda:0, cuda:1",
}  # fmt: skip


@pytest.fixture
def operator() -> Client:
    return client_of("view_run", "add_run", "change_run")


@pytest.fixture
def project() -> Project:
    return ready_project(slug="p")


@pytest.fixture
def checkpoint(project: Project) -> Checkpoint:
    return factories.checkpoint(factories.attempt(factories.run(project, stage="train")), step=400, promoted=True)


def test_form_queues_a_server_with_what_was_chosen(operator: Client, project: Project) -> None:
    answer = operator.post(PATH, FIELDS)
    run = Run.objects.get()
    assert answer.headers["Location"] == f"/runs/{run.pk}/"
    same = {
        name: FIELDS[name] for name in ("engine", "reached_as", "port", "device", "tensor_parallel", "dtype", "kv_cache_dtype")
    }
    assert run.config == run.config | same | {
        "host": "10.0.0.7", "memory_fraction": 0.8, "max_total_tokens": None, "hierarchical_cache": True,
        "hierarchical_ratio": 2.0, "context_length": 8192, "max_running": 64, "max_queued": 128, "extra": {"page-size": 16},
        "drain_s": 20.0,
        "speculation": "none", "target": "/models/smollm2", "python": "", "trust_remote_code": False,
    }  # fmt: skip
    assert (run.config["restart"]["when"], run.config["restart"]["most"]) == ("never", 3)
    assert (run.stage, run.devices) == ("serve", ["cuda:0", "cuda:1"])


def test_drafter_is_chosen_by_its_checkpoint_which_a_link_may_name(
    operator: Client, project: Project, checkpoint: Checkpoint
) -> None:
    html = operator.get(f"{PATH}?checkpoint={checkpoint.pk}").content.decode()
    assert f'<option value="{checkpoint.pk}" selected>r{checkpoint.run_id} step 400 (promoted)</option>' in html
    operator.post(PATH, FIELDS | {"checkpoint": checkpoint.pk, "lookup": "yes"})
    run = Run.objects.get(stage="serve")
    assert (run.config["drafter"], run.config["speculation"]) == (checkpoint.path, "drafter")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"extra": "--trust-remote-code"}, "--trust-remote-code is not among the extra arguments that may be given"),
        ({"extra": "--page-size lots"}, "--page-size needs a whole number"),
        ({"shape": "3/1"}, "3/1 is not STEPS/TOPK/TOKENS"),
        ({"shape": "3/1/4/0.3"}, "the confidence is the embedded engine&#x27;s own"),
        ({"listen": "a; rm -rf"}, "Write an address or a name"),
        ({"listen": "-h"}, "Write an address or a name"),
        ({"context_length": 10**30}, "less than or equal to 2147483647"),
        ({"engine": "a b"}, "Letters, digits, dot, dash and underscore."),
        ({"tensor_parallel": 3}, "Tensor parallel 3 does not divide 2 devices"),
        ({"port": 70000}, "less than or equal to 65535"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_started(
    operator: Client, project: Project, changes: dict[str, object], reason: str
) -> None:
    answer = operator.post(PATH, FIELDS | changes)
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert not Run.objects.exists()


def test_clone_starts_from_what_the_run_has(operator: Client, project: Project, checkpoint: Checkpoint) -> None:
    operator.post(PATH, FIELDS | {"checkpoint": checkpoint.pk})
    run = Run.objects.get(stage="serve")
    html = operator.get(f"{PATH}?clone={run.pk}").content.decode()
    for part in ('value="30001"', 'value="--page-size 16"', 'value="0.8"', "selected>r", 'value="gpu-07"'):
        assert part in html


def test_drafters_of_other_projects_and_without_files_are_not_offered(project: Project, checkpoint: Checkpoint) -> None:
    factories.checkpoint()
    factories.checkpoint(checkpoint.attempt, step=500, path="/gone", removed_at=checkpoint.saved_at)
    form = DrafterForm(run=factories.run(project, stage="serve"))
    assert [row.pk for row in form.fields["checkpoint"].queryset] == [checkpoint.pk]  # type: ignore[attr-defined]


def test_present_drafter_is_chosen_until_somebody_chooses_another(project: Project, checkpoint: Checkpoint) -> None:
    newer = factories.checkpoint(checkpoint.attempt, step=500, path="/newer")
    run = factories.run(project, stage="serve", config={"drafter": checkpoint.path})
    assert DrafterForm(run=run).fields["checkpoint"].initial == checkpoint
    serving.swap_drafter(factories.attempt(run).run, newer, user=None)
    assert DrafterForm(run=run).fields["checkpoint"].initial == newer
    serving.swap_drafter(run, None, user=None)
    assert DrafterForm(run=run).fields["checkpoint"].initial is None


def test_viewers_start_no_server(project: Project) -> None:
    assert client_of("view_run").post(PATH, FIELDS).status_code == 403
