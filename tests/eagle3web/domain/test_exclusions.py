"""From a decision on a page to what an attempt leaves out."""

from pathlib import Path

import pytest

from eagle3web.domain import plans
from eagle3web.domain.exclusions import exclusions
from eagle3web.models import AnswerFlag, Project, Run
from pipeline.config import from_mapping
from pipeline.exclusions import Exclusions
from pipeline.extraction.config import ExtractConfig
from pipeline.shards import ShardReader
from tests.support import factories
from tests.support.extraction import SETS, random_answer, store_answers, tiny_target
from tests.support.pipelines import chain_of, ready_project
from tests.support.stages import run_extraction

pytestmark = pytest.mark.django_db


def decide(project: Project, key: str, state: str = "excluded", by: str = "ada", dataset: str = "B1") -> AnswerFlag:
    answer = factories.stored_answer(project, key=key, dataset=dataset)
    return factories.flag(answer, state=state, reviewed_by=factories.user(f"{by}-{key}"))


def test_the_list_is_what_was_excluded_and_by_whom() -> None:
    project = factories.project()
    decide(project, "b")
    decide(project, "a", by="bea")
    decide(project, "c", state="kept")
    decide(project, "d", state="flagged")
    decide(project, "e", dataset="B2")
    decide(factories.project(), "f")
    assert exclusions(project) == Exclusions.of({"B1": ["a", "b"], "B2": ["e"]}, by=["ada-b", "bea-a", "ada-e"])
    assert exclusions(project, frozenset({"B2"})) == Exclusions.of({"B2": ["e"]}, by=["ada-e"])


@pytest.fixture
def chain(home: Path) -> list[Run]:
    return chain_of(ready_project())


def test_extraction_and_training_start_with_the_list_of_the_moment(chain: list[Run]) -> None:
    _generate, extract, train, benchmark = chain
    slug = extract.config["datasets"][0]["dataset"]
    decide(extract.project, "a", dataset=slug)
    decide(extract.project, "b", dataset="another_dataset")
    for run in (extract, train):
        listed = plans.attempt_config(run)["exclusions"]
        assert {"dataset": slug, "keys": ["a"]} in listed["answers"]
    assert len(plans.attempt_config(extract)["exclusions"]["answers"]) == 1
    assert "exclusions" not in benchmark.config


def test_a_resumed_training_keeps_the_list_it_began_with(chain: list[Run]) -> None:
    _generate, extract, train, _benchmark = chain
    slug = extract.config["datasets"][0]["dataset"]
    decide(train.project, "a", dataset=slug)
    first = plans.attempt_config(train)
    factories.attempt(train, config=first, status="stopped")
    factories.attempt(extract, config=plans.attempt_config(extract), status="stopped")
    decide(train.project, "b", dataset=slug)
    assert plans.attempt_config(train)["exclusions"] == first["exclusions"]
    assert plans.attempt_config(extract)["exclusions"]["answers"] == [{"dataset": slug, "keys": ["a", "b"]}]


def test_an_excluded_answer_is_not_in_the_shards(chain: list[Run], home: Path) -> None:
    extract = chain[1]
    root = home / "projects" / extract.project.slug
    root.mkdir(parents=True)
    tiny_target(root)
    store_answers(root, [random_answer(n) for n in range(4)])
    sets = [{"dataset": chosen.dataset, "revision": chosen.revision} for chosen in SETS]
    extract.config |= {
        "datasets": sets, "target": str(root / "target"), "device": "cpu", "storage_dtype": "float32",
    }  # fmt: skip
    decide(extract.project, f"{2:016x}")
    config = from_mapping(ExtractConfig, plans.attempt_config(extract))
    lines = run_extraction(root, config)
    names = {document.name for document in ShardReader(Path(config.hidden)).documents}
    assert names == {f"{n:016x}" for n in (0, 1, 3)}
    (finished,) = [line.payload for line in lines if line.kind == "stage_finished"]
    assert (finished["summary"]["excluded"], finished["summary"]["exclusion_list"]) == (1, config.exclusions.hash)
