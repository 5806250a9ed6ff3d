"""What the palette offers, and to whom."""

import statistics
import time

import pytest
from django.utils import timezone

from eagle3web.models import Run
from eagle3web.pages.rights import RIGHTS, Rights
from eagle3web.pages.search import Hit, find
from tests.support import factories

pytestmark = pytest.mark.django_db
LOOKER: Rights = frozenset({"view_run"})
EVERYTHING: Rights = frozenset(RIGHTS)


def words(hits: list[Hit]) -> list[str]:
    return [hit.words for hit in hits]


def test_nothing_typed_offers_places_and_what_the_person_may_do() -> None:
    project = factories.project()
    found = words(find("", project, EVERYTHING))
    assert found[:2] == ["Overview", "Budgets"]
    assert "New run" in found
    assert words(find("", project, LOOKER)) == [
        "Overview", "Budgets", "Plan budgets", "Runs", "Answers", "Answers to review", "Checkpoints", "Benchmarks", "Datasets",
        "Engines and hosts", "You: time zone, tokens, notifications",
    ]  # fmt: skip


def test_without_a_project_only_what_all_share_is_offered() -> None:
    assert words(find("", None, LOOKER)) == [
        "Datasets", "Engines and hosts", "You: time zone, tokens, notifications",
    ]  # fmt: skip


def test_every_kind_of_row_is_found_with_where_it_leads() -> None:
    project = factories.project(slug="kimi", name="Kimi")
    run = factories.run(project, title="kimi", stage="benchmark")
    attempt = factories.attempt(run)
    factories.dataset(slug="kimi-set")
    factories.engine(name="kimi-a")
    factories.host(name="kimi-host")
    found = {hit.group: hit.href for hit in find("kimi", None, LOOKER)}
    assert found == {
        "Runs": f"/runs/{run.pk}/",
        "Datasets": "/datasets/kimi-set/",
        "Benchmarks": f"/benchmarks/{attempt.pk}/",
        "Engines": "/engines/",
        "Hosts": "/hosts/kimi-host/",
        "Projects": "/projects/kimi/",
    }


def test_verb_offers_the_runs_that_it_fits() -> None:
    live = factories.attempt().run
    stopped = factories.attempt(status="stopped").run
    paused = factories.run(paused=True)
    factories.attempt(paused)
    assert words(find("stop", None, EVERYTHING)) == [f"Stop r{paused.pk}…", f"Stop r{live.pk}…"]
    assert words(find("pause", None, EVERYTHING)) == [f"Pause r{live.pk}…"]
    assert words(find("go", None, EVERYTHING)) == [f"Go on with r{paused.pk}…"]
    assert words(find("resume", None, EVERYTHING)) == [f"Resume r{stopped.pk}…"]
    (hit, *_) = find(f"stop r{live.pk}", None, EVERYTHING)
    assert (hit.words, hit.href) == (f"Stop r{live.pk}…", f"/runs/{live.pk}/stop/")


def test_settled_run_is_not_offered_to_be_settled() -> None:
    project = factories.project()
    broken = factories.run(project, status="failed")
    factories.run(project, status="lost", settled_at=timezone.now())
    factories.progress(factories.attempt(factories.run(project), status="finished"), done=9, errors=0)
    erring = factories.run(project)
    factories.progress(factories.attempt(erring, status="finished"), done=0, errors=300)
    assert words(find("settle", project, EVERYTHING)) == [f"Settle r{erring.pk}…", f"Settle r{broken.pk}…"]


def test_viewer_is_offered_no_verb() -> None:
    factories.attempt()
    assert find("stop", factories.project(), LOOKER) == []


def test_number_brings_its_run_first() -> None:
    run = factories.run()
    assert words(find(str(run.pk), factories.project(), EVERYTHING))[0].startswith(f"r{run.pk} ")


@pytest.mark.slow
@pytest.mark.alone
def test_search_among_ten_thousand_runs_is_quick() -> None:
    project = factories.project()
    config = {"datasets": [{"slug": f"B{n}", "budget": n} for n in range(40)]}
    runs = (Run(project=project, stage="train", config=config, config_hash="3be1c07a", title=f"run {n}") for n in range(10_000))
    Run.objects.bulk_create(runs, batch_size=1000)
    times = []
    for typed in ("zebra", "train 77", "9", "stop", "run", "no such words here") * 3:
        start = time.perf_counter()
        find(typed, project, EVERYTHING)
        times.append(time.perf_counter() - start)
    assert statistics.median(times) < 0.1
