"""The checker can fail: each lie is found and named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eagle3web.enums import AttemptStatus
from eagle3web.models import Answer, Attempt, DatasetProgress, Event, Lease, LogChunk, MetricPoint, Run
from tests.faults.checker.processes import processes_of
from tests.faults.conftest import Truth
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.system import ROOT


def found(truth: Truth) -> str:
    """The one thing that is found."""
    lines = truth.checker.look_at_the_end()
    assert len(lines) == 1, lines
    return lines[0]


def test_checker_imports_nothing_of_what_it_judges() -> None:
    code = "import sys, tests.faults.checker.check; print([m for m in ('eagle3web', 'pipeline', 'django') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_lost_answer_is_found(truth: Truth) -> None:
    truth.part.write_bytes(truth.part.read_bytes().splitlines(keepends=True)[0])
    lines = truth.checker.look()
    assert lines[0] == "answer kimi B1 r s k2 was there and is lost"
    assert f"attempt {truth.attempt.pk} told of 2 answers of kimi/B1, the files hold 1" in lines


def test_an_answer_that_is_lost_on_purpose_is_forgotten(truth: Truth) -> None:
    kept, lost = truth.part.read_bytes().splitlines(keepends=True)
    truth.part.write_bytes(kept)
    truth.checker.answers.forget("kimi", "B1", lost)
    assert not [line for line in truth.checker.look() if "was there" in line or "told of" in line]


def test_a_changed_answer_is_found(truth: Truth) -> None:
    truth.part.write_bytes(truth.part.read_bytes().replace(b"[5, 6, 2]", b"[5, 7, 2]"))
    assert truth.checker.look()[0] == "answer kimi B1 r s k1 was there and is changed"


def test_a_doubled_answer_is_found(truth: Truth) -> None:
    truth.answer("k1", row=False)
    assert found(truth).endswith(": a second answer to k1")


def test_an_answer_without_a_row_is_found(truth: Truth) -> None:
    Answer.objects.get(key="k2").delete()
    assert found(truth) == "kimi/B1: 2 answers are in the files, 1 have rows"


def test_a_row_that_names_another_place_is_found(truth: Truth) -> None:
    Answer.objects.filter(key="k2").update(offset=7)
    assert found(truth) == "the row of answer kimi B1 k2 names a line that is not there"


def test_a_count_that_is_no_recount_is_found(truth: Truth) -> None:
    DatasetProgress.objects.update(tokens=7)
    lines = truth.checker.look_at_the_end()
    assert lines[0].endswith("B1 has [2, 7, 0], its events say [2, 6, 0]")
    assert lines[1] == "kimi/B1: answers and tokens are shown as (2, 7), the files hold (2, 6)"


def test_a_missing_event_is_found(truth: Truth) -> None:
    Event.objects.filter(seq=2).delete()
    lines = truth.checker.look_at_the_end()
    assert lines[0].endswith("its last stored event is said to be 2, and is 1")
    assert lines[1].endswith("2 events are in its file, 1 in the database")


def test_another_event_is_found(truth: Truth) -> None:
    Event.objects.filter(seq=2).update(payload={"summary": {"answers": 3}})
    assert found(truth).endswith("event 2 of 2 in the database is not that of the file")


def test_a_log_with_a_gap_is_found(truth: Truth) -> None:
    LogChunk.objects.update(data=b"it wor")
    lines = truth.checker.look_at_the_end()
    assert [line.partition(": ")[2] for line in lines] == [
        "9 bytes of log are said to be stored, 6 are",
        "its log has 9 bytes, 6 of them stored",
    ]


def test_a_doubled_point_is_found(truth: Truth) -> None:
    first = factories.point(truth.attempt, "tokens", 6.0, series="B1")
    MetricPoint.objects.create(attempt=truth.attempt, name="tokens", series="B1", t=first.t, value=6.0)
    assert found(truth).endswith("line tokens B1 has 2 points at 1 moments")


def test_a_chart_that_ends_too_early_is_found(truth: Truth) -> None:
    factories.point(truth.attempt, "tokens", 4.0, series="B1")
    assert found(truth).endswith("the chart of B1 ends at 4 tokens, its events at 6")


def test_a_leaked_lease_is_found(truth: Truth) -> None:
    Lease.objects.create(device="responses/kimi", attempt=truth.attempt)
    assert truth.checker.look() == [f"responses/kimi is leased to attempt {truth.attempt.pk}, which is finished"]


def test_an_attempt_that_runs_without_a_process_is_found(truth: Truth) -> None:
    Attempt.objects.update(status=AttemptStatus.RUNNING, supervisor_started=1.0)
    Run.objects.update(status=AttemptStatus.RUNNING)
    lines = "\n".join(truth.checker.look())
    assert "and no supervisor lives with pid 48200 and start time 1.0" in lines
    assert "and no stage lives with pid 48211 and start time None" in lines
    assert "in another life of this host" in lines
    assert "lives and holds 0 leases instead of 1" in lines
    assert f"r{truth.run.pk} is running, its history says finished" in lines


def test_a_history_with_a_gap_is_found(truth: Truth) -> None:
    factories.transition(truth.run, "lost", "finished", attempt=truth.attempt)
    lines = truth.checker.look()
    assert lines[0] == f"r{truth.run.pk} went from 'lost' to finished, and was 'finished'"
    assert lines[1].endswith("is finished and ended 2 times")


@pytest.mark.parametrize("attempt", ["", "the/folder"])
def test_an_orphan_is_found(truth: Truth, attempt: str) -> None:
    environment = os.environ | {"EAGLE3_HOME": str(truth.home)} | ({"EAGLE3_ATTEMPT": attempt} if attempt else {})
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, env=environment) as process:
        wait_until(lambda: process.pid in processes_of(truth.home), "it is there")
        words = "works for the/folder and has no living supervisor" if attempt else "belongs to nobody"
        assert truth.checker.look() == [f"process {process.pid} {words}: {' '.join(command)}"]
        truth.known.add(process.pid)
        assert bool(truth.checker.look()) == bool(attempt)
        process.kill()


def test_a_run_that_is_not_finished_is_found_at_the_end(truth: Truth) -> None:
    Run.objects.update(status="queued")
    factories.transition(truth.run, "finished", "queued")
    assert found(truth) == f"r{truth.run.pk} is queued"


def test_a_home_on_another_path_has_no_processes(tmp_path: Path) -> None:
    assert processes_of(tmp_path) == {}
