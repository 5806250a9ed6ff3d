"""What people choose for a pipeline, checked and made into keys of configs."""

import pytest
from django.forms import ModelChoiceField

from eagle3web.models import Project, Run
from eagle3web.stage_forms import OFFERED, BenchmarkForm, ExtractForm, MeasuringFields, StageForm, TrainForm, run_label
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db

MEASURE = {"shapes": "3/1/4", "measured_concurrency": "1", "prompts_per_dataset": 8, "max_new_tokens": 64, "repetitions": 3}


@pytest.fixture
def project() -> Project:
    return ready_project()


def offered(form: StageForm, name: str) -> list[Run]:
    field = form.fields[name]
    assert isinstance(field, ModelChoiceField)
    assert field.queryset is not None
    return list(field.queryset.order_by("pk"))


def test_measuring_is_keys_of_the_benchmark_config() -> None:
    form = MeasuringFields(MEASURE | {"shapes": " 3/1/4 ,2/4/8, 3/1/4", "measured_concurrency": "1,16,1"})
    assert form.is_valid()
    assert form.measuring() == {
        "shapes": [
            {"steps": 3, "topk": 1, "draft_tokens": 4, "confidence": 0.0},
            {"steps": 2, "topk": 4, "draft_tokens": 8, "confidence": 0.0},
        ],
        "concurrency": [1, 16],
        "prompts_per_dataset": 8,
        "repetitions": 3,
        "sampling": {"max_new_tokens": 64},
    }


@pytest.mark.parametrize("shapes", ["", "3/1", "3/1/4/5", "a/b/c", "3/1/4;5/1/6", "\u0663/1/4", "0/1/4", "9999/1/4"])
def test_a_shape_that_is_none_is_refused(shapes: str) -> None:
    assert "shapes" in MeasuringFields(MEASURE | {"shapes": shapes}).errors


@pytest.mark.parametrize("numbers", ["", "0", "1.5", "-1", "2000", "\u0663"])
def test_a_concurrency_that_is_none_is_refused(numbers: str) -> None:
    assert "measured_concurrency" in MeasuringFields(MEASURE | {"measured_concurrency": numbers}).errors


def test_forms_offer_the_runs_of_the_stage_before(project: Project) -> None:
    generate, extract, train, _benchmark = chain_of(project)
    assert offered(ExtractForm(project=project, hosts=[]), "source") == [generate]
    assert offered(TrainForm(project=project, hosts=[]), "sources") == [generate, extract]
    assert offered(BenchmarkForm(project=project, hosts=[]), "source") == [train]


def test_forms_offer_the_newest_runs_only(project: Project) -> None:
    made = [factories.run(project) for _ in range(OFFERED + 2)]
    found = offered(ExtractForm(project=project, hosts=[]), "source")
    assert len(found) == OFFERED
    assert made[0] not in found


def test_run_label_shows_a_hostile_title_as_it_is() -> None:
    run = Run(pk=7, stage="train", title="night\u202e\x1b[31m", status="running")
    assert run_label(run) == "r7 train, night⟨U+202E⟩␛[31m (running)"
