"""What a run is made of and what is made of it."""

import re

import pytest
from django.template.loader import render_to_string
from pytest_django import DjangoAssertNumQueries

from eagle3web.models import BenchmarkRow, Run
from eagle3web.pages.lineage import lineage_of
from pipeline.config import to_mapping
from pipeline.exclusions import Exclusions
from tests.support import factories
from tests.support.pipelines import chain_of, finish, ready_project, saved

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> list[Run]:
    return chain_of(ready_project())


def shown(run: Run) -> list[tuple[str, str, str]]:
    return [(node.title, node.words, node.fact) for node in lineage_of(run.pk).nodes]


def test_a_chain_that_has_just_been_queued_shows_what_is_to_come(chain: list[Run]) -> None:
    generate, extract, train, benchmark = chain
    assert shown(extract) == [
        ("2 datasets", "prompts", ""),
        (f"r{generate.pk} generate", "queued", ""),
        (f"r{extract.pk} extract", "queued", ""),
        (f"r{train.pk} train", "queued", ""),
        ("checkpoint", "to come", ""),
        (f"r{benchmark.pk} benchmark", "queued", ""),
    ]
    assert len(lineage_of(extract.pk).drawing.curves) == 5


def test_a_finished_chain_shows_what_it_gave(chain: list[Run]) -> None:
    generate, _extract, train, benchmark = chain
    factories.progress(factories.attempt(generate), tokens=163_000)
    best = saved(train, 400, best=True, metrics={"accept_length": 1.617})
    saved(train, 200)
    attempt = factories.attempt(benchmark, config=benchmark.config | {"drafter": best.path})
    BenchmarkRow.objects.create(attempt=attempt, dataset="", mode="drafter", shape="3/1/4", concurrency=1,
                                tokens_per_s=90, tokens_per_s_low=88, tokens_per_s_high=92, speedup=1.214)  # fmt: skip
    finish(benchmark)
    assert shown(benchmark)[1] == (f"r{generate.pk} generate", "running", "163.0 k tok")
    assert shown(benchmark)[-2:] == [("step 400", "best", "accept 1.62"), (f"r{benchmark.pk} benchmark", "finished", "1.21×")]


def test_a_run_shows_its_own_line_and_not_its_siblings(chain: list[Run]) -> None:
    generate, extract, train, benchmark = chain
    sibling = factories.run(train.project, stage="train")
    factories.run_input(sibling, extract, kind="hidden")
    keys = {node.key for node in lineage_of(benchmark.pk).nodes}
    assert f"r{sibling.pk}" not in keys
    assert {f"r{run.pk}" for run in chain} <= keys
    assert f"r{sibling.pk}" in {node.key for node in lineage_of(generate.pk).nodes}


def test_a_large_family_is_cut_and_says_so(chain: list[Run]) -> None:
    extract = chain[1]
    for _ in range(30):
        factories.run_input(factories.run(extract.project, stage="train"), extract, kind="hidden")
    found = lineage_of(extract.pk)
    assert found.more == 34 - 24
    assert f"r{extract.pk}" in {node.key for node in found.nodes}


def test_two_benchmarks_of_two_checkpoints_go_through_their_own(chain: list[Run]) -> None:
    train, benchmark = chain[2:]
    first, best = saved(train, 100), saved(train, 200, best=True)
    factories.attempt(benchmark, config=benchmark.config | {"drafter": best.path})
    other = factories.run(train.project, stage="benchmark", config=benchmark.config)
    factories.run_input(other, train, kind="checkpoint", ref={"step": 100})
    factories.attempt(other, config=other.config | {"drafter": first.path})
    titles = [title for title, *_ in shown(train)]
    assert titles[-4:] == ["step 100", "step 200", f"r{benchmark.pk} benchmark", f"r{other.pk} benchmark"]
    assert len(lineage_of(train.pk).drawing.curves) == 7


def test_a_page_about_a_checkpoint_shows_that_one_too(chain: list[Run]) -> None:
    train = chain[2]
    plain, _best = saved(train, 100), saved(train, 200, best=True)
    nodes = lineage_of(train.pk, checkpoint_id=plain.pk).nodes
    assert [(node.title, node.here) for node in nodes if node.column == 4] == [("step 100", True), ("step 200", False)]


def test_queries_do_not_grow_with_the_family(chain: list[Run], django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(5):
        factories.run_input(factories.run(chain[1].project, stage="train"), chain[1], kind="hidden")
    with django_assert_max_num_queries(16):
        lineage_of(chain[0].pk)


def test_hostile_names_come_out_as_text() -> None:
    run = factories.run()
    factories.run_input(run, ref={factories.HOSTILE.replace("\x00", ""): "a" * 64, "B2": "b" * 64})
    html = render_to_string("lineage/_graph.html", {"lineage": lineage_of(run.pk)})
    assert "<script" not in html
    assert "<b>bold" not in html
    assert not re.search(r"\sstyle=", html)


def test_the_page_of_a_run_marks_where_one_is(chain: list[Run]) -> None:
    html = render_to_string("lineage/_graph.html", {"lineage": lineage_of(chain[1].pk)})
    assert html.count('aria-current="page"') == 3  # in the drawing, in the list for narrow screens, in the text behind it
    assert " hidden>" not in html.strip().split("\n")[0]
    alone = render_to_string("lineage/_graph.html", {"lineage": lineage_of(factories.run().pk)})
    assert " hidden>" in alone.strip().split("\n")[0]


def test_what_was_excluded_is_part_of_the_lineage(chain: list[Run]) -> None:
    extract, train = chain[1:3]
    listed = Exclusions.of({"B1": ["a", "b"]}, by=["ada"])
    factories.attempt(extract, config=extract.config | {"exclusions": to_mapping(Exclusions())})
    factories.attempt(extract, config=extract.config | {"exclusions": to_mapping(listed)})
    factories.attempt(train)
    notes = {node.key: node.notes for node in lineage_of(train.pk).nodes}
    assert notes[f"r{extract.pk}"] == (f"2 answers excluded by ada (list {listed.hash})",)
    assert notes[f"r{train.pk}"] == ()
