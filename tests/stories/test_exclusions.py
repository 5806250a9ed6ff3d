"""From an answer on a page to shards without it, through real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.models import Answer, Run
from pipeline.artifacts import Home
from pipeline.shards import ShardReader
from tests.support.project_target import save_target
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.02, mean_tokens=20, vocab_size=300)) as found:
        found.add("B1", prompts=40, tokens=400)
        save_target(found.project)
        yield found


def test_an_excluded_answer_is_not_in_the_shards_and_the_run_says_so(here: World) -> None:
    generate = here.start_run()
    here.wait_status(generate, "finished")
    done = here.attempt(generate, 1).datasets.get().done
    wait_until(lambda: Answer.objects.filter(error="").count() == done, "all answers are copied", 30)
    bad = Answer.objects.order_by("id")[1]
    flag = here.call("POST", f"/answers/{bad.pk}/flag", {"reason": "it loops"})
    here.call("POST", f"/answers/flags/{flag['id']}/exclude")
    listed = here.call("GET", f"/projects/{here.project.slug}/exclusions")
    made = here.call("POST", "/runs", {"stage": "extract", "sources": [generate.pk], "project": here.project.slug})
    extract = Run.objects.get(pk=made["id"])
    here.wait_status(extract, "finished", timeout_s=240)
    folder = Home(Path(here.system.home)).hidden(here.project.slug, extract.pk)
    names = {document.name for document in ShardReader(folder).documents}
    assert bad.key not in names
    assert len(names) == done - 1
    attempt = here.attempt(extract, 1)
    assert (attempt.summary["excluded"], attempt.summary["exclusion_list"]) == (1, listed["hash"])
    # It counts as generated all the same: a resumed budget asks for nothing more.
    assert here.attempt(generate, 1).datasets.get().done == done
