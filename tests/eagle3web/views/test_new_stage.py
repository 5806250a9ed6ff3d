"""The forms of a pipeline and of its later stages."""

import re
from pathlib import Path

import pytest
from django.test import Client

from eagle3web.domain import plans
from eagle3web.models import Engine, Project, Run, RunInput
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project, saved

pytestmark = pytest.mark.django_db

PLACE = {"title": "First", "tags": "night, x", "host": "", "devices": ""}
MEASURE = {"shapes": "3/1/4, 5/4/16", "measured_concurrency": "1, 8", "prompts_per_dataset": 4, "max_new_tokens": 96,
           "repetitions": 2}  # fmt: skip
TRAIN = {"preset": "cpu", "steps": 3, "max_minutes": 1.5}


@pytest.fixture
def project() -> Project:
    return ready_project(slug="p")


def fields(engine: Engine, **changes: object) -> dict[str, object]:
    generate = {"engines": [engine.pk], "concurrency": 16, "order": "sequential", "features": "extract"}
    return {**generate, "storage_dtype": "float16", **TRAIN, **MEASURE, **PLACE, **changes}


def test_pipeline_queues_the_whole_chain(operator: Client, project: Project) -> None:
    answer = operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine(), devices="cuda:0"))
    generate, extract, train, benchmark = Run.objects.order_by("pk")
    assert answer.headers["Location"] == f"/runs/{generate.pk}/"
    assert [run.stage for run in (generate, extract, train, benchmark)] == ["generate", "extract", "train", "benchmark"]
    assert {(run.title, *run.tags) for run in Run.objects.all()} == {("First", "night", "x")}
    assert [run.devices for run in (generate, train)] == [[], ["cuda:0"]]
    assert extract.config["storage_dtype"] == "float16"
    assert (train.config["objective"]["steps"], train.config["max_minutes"]) == (3, 1.5)
    assert train.config["draft_vocab_size"] == 4096
    assert benchmark.config["shapes"][1] == {"steps": 5, "topk": 4, "draft_tokens": 16, "confidence": 0.0}
    assert (benchmark.config["concurrency"], benchmark.config["sampling"]["max_new_tokens"]) == ([1, 8], 96)


def test_pipeline_retries_errors_only_where_somebody_says_so(operator: Client, project: Project) -> None:
    engine, page = factories.engine(), "/projects/p/runs/new/pipeline/"
    assert 'type="checkbox" name="retry_errors"' in operator.get(page).content.decode()
    operator.post(page, fields(engine))
    operator.post(page, fields(engine, retry_errors="on"))
    assert [run.config["retry_errors"] for run in Run.objects.filter(stage="generate").order_by("pk")] == [False, True]


def test_pipeline_online_leaves_the_extraction_out(operator: Client, project: Project) -> None:
    operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine(), features="online"))
    assert [run.stage for run in Run.objects.order_by("pk")] == ["generate", "train", "benchmark"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"engines": []}, "A run needs at least one engine."),
        ({"shapes": "3/1"}, "“3/1” will not do: 3/1 is not STEPS/TOPK/TOKENS, such as 3/1/4."),
        ({"shapes": "3/0/4"}, "steps and topk are at least 1"),
        ({"measured_concurrency": "1, many"}, "Write numbers from 1 to 1024"),
        ({"devices": "gpu0"}, "Write devices such as cuda:0"),
        ({"steps": 0}, "greater than or equal to 1"),
        ({"learning_rate": "fast"}, "Enter a number"),
        ({"preset": "tpu"}, "not one of the available choices"),
    ],
)
def test_pipeline_names_what_is_wrong_and_keeps_the_rest(
    operator: Client, project: Project, changes: dict[str, object], reason: str
) -> None:
    answer = operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine(), **changes))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert reason in html
    assert 'name="title" value="First"' in html
    assert Run.objects.count() == 0


def test_pipeline_that_does_not_fit_on_the_disk_offers_online_training(
    operator: Client, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 7168}')
    Project.objects.update(target_path=str(tmp_path))
    factories.host(name="gpu-1", sample={"disk_free": 1_000_000})
    answer = operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine(), host="gpu-1"))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "1.0 MB are free; train online instead." in html
    operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine(), host="gpu-1", features="online"))
    assert Run.objects.count() == 3


def test_pipeline_says_what_it_will_take(operator: Client, project: Project, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    Project.objects.update(target_path=str(tmp_path))
    html = operator.get("/projects/p/runs/new/pipeline/").content.decode()
    assert "4\u00a0608" in html
    assert "Still to generate" in html
    assert "What an empty field means" in html


def test_pipeline_starts_from_what_hosts_and_engines_can_do(operator: Client, project: Project) -> None:
    engine = factories.engine(info={"capture": "/hidden/captured"})
    html = operator.get("/projects/p/runs/new/pipeline/").content.decode()
    assert re.search(r'name="features" value="captured"[^>]* checked', html)
    assert re.search(r'name="preset" value="cpu"[^>]* checked', html)
    factories.host(sample={"gpus": [{"name": "H200"}]})
    factories.engine()
    html = operator.get("/projects/p/runs/new/pipeline/").content.decode()
    assert re.search(r'name="features" value="extract"[^>]* checked', html)
    assert re.search(r'name="preset" value="gpu"[^>]* checked', html)
    operator.post("/projects/p/runs/new/pipeline/", fields(engine, features="captured"))
    assert Run.objects.get(stage="train").config["hidden"] == ["/hidden/captured"]


def test_project_without_a_target_says_so(operator: Client, project: Project) -> None:
    Project.objects.update(target_path="")
    assert "does not say where its target model lies" in operator.get("/projects/p/runs/new/train/").content.decode()
    answer = operator.post("/projects/p/runs/new/pipeline/", fields(factories.engine()))
    assert answer.status_code == 422
    assert "does not say where its target model lies; name the folder" in answer.content.decode()


def test_extraction_takes_the_answers_of_a_run(operator: Client, project: Project) -> None:
    generate = chain_of(project)[0]
    html = operator.get(f"/projects/p/runs/new/extract/?source={generate.pk}").content.decode()
    assert f'<option value="{generate.pk}" selected>r{generate.pk} generate (queued)</option>' in html
    operator.post("/projects/p/runs/new/extract/", {"source": generate.pk, "storage_dtype": "bfloat16", **PLACE})
    made = Run.objects.latest("pk")
    assert (made.stage, RunInput.objects.get(run=made).source) == ("extract", generate)


def test_extraction_is_shared_by_several_runs_that_one_training_takes(operator: Client, project: Project) -> None:
    generate = chain_of(project)[0]
    body = {"source": generate.pk, "storage_dtype": "bfloat16", "parts": 3, **PLACE}
    operator.post("/projects/p/runs/new/extract/", body)
    made = list(Run.objects.order_by("-pk")[:3])[::-1]
    assert [(run.title, run.config["part"], run.config["parts"]) for run in made] == [
        (f"{PLACE['title']} {part} of 3".lstrip(), part, 3) for part in (1, 2, 3)
    ]
    operator.post("/projects/p/runs/new/train/", {"sources": [run.pk for run in made], **TRAIN, **PLACE})
    train = Run.objects.latest("pk")
    assert sorted(train.config["hidden"]) == sorted(plans.attempt_config(run)["hidden"] for run in made)
    assert operator.post("/projects/p/runs/new/extract/", body | {"parts": 0}).status_code == 422


def test_page_of_a_run_leads_to_what_can_be_made_of_it(operator: Client, project: Project) -> None:
    generate, extract, train, _benchmark = chain_of(project)
    for run, stage in ((generate, "extract"), (generate, "train"), (extract, "train"), (train, "benchmark")):
        address = f"/projects/p/runs/new/{stage}/?source={run.pk}"
        assert f'href="{address}"' in operator.get(f"/runs/{run.pk}/").content.decode()
        assert operator.get(address).status_code == 200


def test_training_takes_several_extractions_or_one_generation(operator: Client, project: Project) -> None:
    generate, extract, *_ = chain_of(project)
    operator.post("/projects/p/runs/new/train/", {"sources": [extract.pk], **TRAIN, **PLACE})
    assert Run.objects.latest("pk").config["source"] == "stored"
    operator.post("/projects/p/runs/new/train/", {"sources": [generate.pk], **TRAIN, **PLACE})
    assert Run.objects.latest("pk").config["source"] == "online"
    answer = operator.post("/projects/p/runs/new/train/", {"sources": [generate.pk, extract.pk], **TRAIN, **PLACE})
    assert "Train on extraction runs, or online on one generation run." in answer.content.decode()


def test_measurement_takes_the_best_or_a_chosen_checkpoint(operator: Client, project: Project) -> None:
    train = chain_of(project)[2]
    saved(train, 300)
    operator.post("/projects/p/runs/new/benchmark/", {"source": train.pk, "step": 300, **MEASURE, **PLACE})
    assert Run.objects.latest("pk").config["drafter"] == "/checkpoints/step-000300"
    answer = operator.post("/projects/p/runs/new/benchmark/", {"source": train.pk, "step": 7, **MEASURE, **PLACE})
    assert "has no checkpoint of step 7." in answer.content.decode()


def test_runs_of_other_projects_are_not_offered(operator: Client, project: Project) -> None:
    other = chain_of(another_project())[0]
    answer = operator.post("/projects/p/runs/new/extract/", {"source": other.pk, "storage_dtype": "bfloat16", **PLACE})
    assert answer.status_code == 422
    assert "not one of the available choices" in answer.content.decode()


def another_project() -> Project:
    """Another project with a run of its own."""
    found = factories.project(slug="other", target_path="/models/other")
    dataset = factories.dataset(slug="C1")
    factories.revision(dataset)
    factories.budget(found, dataset)
    return found


def test_clone_with_changes_keeps_the_other_settings_and_says_what_differs(operator: Client, project: Project) -> None:
    train = next(run for run in chain_of(project) if run.stage == "train")
    Run.objects.filter(pk=train.pk).update(config=train.config | {"seed": 7})
    address = f"/projects/p/runs/new/train/?clone={train.pk}"
    page = operator.get(address).content.decode()
    assert f"r{train.pk}: all settings of that run" in page
    source = RunInput.objects.get(run=train).source_id
    change = {"sources": [source], "preset": "cloned", "learning_rate": 0.0002, **PLACE}
    answer = operator.post(address, change)
    clone = Run.objects.order_by("-pk")[0]
    assert answer.headers["Location"] == f"/runs/{clone.pk}/"
    assert (clone.cloned_from_id, clone.config["seed"], clone.config["optimizer"]["learning_rate"]) == (train.pk, 7, 0.0002)
    shown = operator.get(f"/runs/{clone.pk}/").content.decode()
    assert "1 key of the config differs" in shown
    assert "optimizer.learning_rate" in shown


@pytest.mark.parametrize("stage", ["generate", "extract", "train", "benchmark"])
def test_unchanged_clone_has_the_same_config(operator: Client, project: Project, stage: str) -> None:
    run = next(run for run in chain_of(project) if run.stage == stage)
    address = f"/projects/p/runs/new/{'' if stage == 'generate' else f'{stage}/'}?clone={run.pk}"
    form = operator.get(address).context["form"]
    values = {name: form[name].value() for name in form.fields}
    answer = operator.post(address, {name: value for name, value in values.items() if value is not None})
    clone = Run.objects.order_by("-pk")[0]
    assert answer.status_code == 302, answer.context["form"].errors
    assert (clone.cloned_from_id, clone.config) == (run.pk, run.config)
    assert "with the same config" in operator.get(f"/runs/{clone.pk}/").content.decode()


@pytest.mark.parametrize("query", ["clone=x", "clone=999999", "clone=99999999999999999999"])
def test_clone_of_nothing_is_a_new_run(operator: Client, project: Project, query: str) -> None:
    assert "cloned" not in operator.get(f"/projects/p/runs/new/train/?{query}").content.decode()


def test_question_of_a_clone_leads_to_the_form(operator: Client, project: Project) -> None:
    run = factories.run(project, stage="benchmark")
    page = operator.get(f"/runs/{run.pk}/clone/").content.decode()
    assert f'href="/projects/p/runs/new/benchmark/?clone={run.pk}"' in page


def test_benchmark_measures_servers_that_run_already_both_or_none(operator: Client, project: Project) -> None:
    train = chain_of(project)[2]
    saved(train, 300)
    plain, drafting = factories.engine(name="plain", url="http://a:1"), factories.engine(name="drafting", url="http://b:2")
    path, fields = "/projects/p/runs/new/benchmark/", {"source": train.pk, "step": 300, **MEASURE, **PLACE}
    refused = operator.post(path, fields | {"served_drafter": drafting.pk})
    assert (refused.status_code, "choose both servers, or none" in refused.content.decode()) == (422, True)
    operator.post(path, fields | {"served_plain": plain.pk, "served_drafter": drafting.pk})
    run = Run.objects.order_by("pk").last()
    assert run is not None
    assert [(served["mode"], served["engine"]["url"]) for served in run.config["served"]] == [
        ("plain", "http://a:1"),
        ("drafter", "http://b:2"),
    ]
    html = operator.get(f"{path}?clone={run.pk}").content.decode()
    assert f'<option value="{drafting.pk}" selected>drafting</option>' in html
