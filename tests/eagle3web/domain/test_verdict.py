"""Exit and last word, compared."""

import pytest

from eagle3web.domain.verdict import Exit, Verdict, judge, judge_unseen
from eagle3web.enums import AttemptStatus
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, Warned

FINISHED = StageFinished(summary={"tokens": 3})
FAILED = StageFailed(reason="disk full while writing part-00001.jsonl")
INTERRUPTED = StageInterrupted(reason="stopped by ada")


@pytest.mark.parametrize(
    ("returncode", "last", "asked", "status", "reason"),
    [
        (0, FINISHED, "", "finished", ""),
        (0, FINISHED, "stopped by ada", "finished", ""),
        (1, FINISHED, "", "failed", "exit code 1 after it had said that it finished"),
        (-9, FINISHED, "", "failed", "killed by signal 9 after it had said that it finished"),
        (0, None, "", "failed", "crashed: it ended without saying that it finished (exit code 0)"),
        (0, Warned(text="?"), "", "failed", "crashed: it ended without saying that it finished (exit code 0)"),
        (1, None, "", "failed", "crashed: exit code 1"),
        (1, FAILED, "", "failed", "failed: disk full while writing part-00001.jsonl"),
        (1, FAILED, "stopped by ada", "failed", "failed: disk full while writing part-00001.jsonl"),
        (-9, None, "", "failed", "killed by signal 9"),
        (3, INTERRUPTED, "stopped by ada", "stopped", "stopped by ada"),
        (3, INTERRUPTED, "", "stopped", "stopped by ada"),
        (0, INTERRUPTED, "", "failed", "crashed: it ended without saying that it finished (exit code 0)"),
        (-9, INTERRUPTED, "stopped by ada", "stopped", "stopped by ada"),
        (-15, None, "stopped by ada", "stopped", "stopped by ada; it did not save by itself: killed by signal 15"),
        (3, None, "", "failed", "crashed: exit code 3"),
    ],
)
def test_judge_compares_exit_and_last_word(returncode: int, last: Event | None, asked: str, status: str, reason: str) -> None:
    verdict = judge(Exit.from_returncode(returncode), last, stop_reason=asked)
    assert (verdict.status, verdict.reason) == (status, reason)


def test_a_full_disk_is_the_reason_of_an_end_that_found_no_room_for_its_last_word() -> None:
    full = Exit.from_returncode(1, hint="the disk is full: 0 bytes free in /runs", disk_full=True)
    assert judge(full, None) == Verdict(status=AttemptStatus.FAILED, reason="failed: the disk is full: 0 bytes free in /runs")
    assert judge(full, FAILED).reason == "failed: disk full while writing part-00001.jsonl"


def test_exit_words_carry_the_hint() -> None:
    assert Exit.from_returncode(1, hint="ValueError: boom").words == "exit code 1 (ValueError: boom)"
    assert Exit.from_returncode(-6).words == "killed by signal 6"


@pytest.mark.parametrize(
    ("last", "status", "reason"),
    [
        (FINISHED, "finished", ""),
        (FAILED, "failed", "failed: disk full while writing part-00001.jsonl"),
        (INTERRUPTED, "stopped", "stopped by ada"),
        (StageInterrupted(reason="the supervisor is gone"), "lost", "its supervisor is gone"),
        (None, "lost", "its supervisor is gone"),
    ],
)
def test_judge_unseen_believes_the_last_word_only(last: Event | None, status: str, reason: str) -> None:
    verdict = judge_unseen(last, reason="its supervisor is gone")
    assert (verdict.status, verdict.reason) == (status, reason)


@pytest.mark.parametrize(("last", "status"), [(FINISHED, "lost"), (FAILED, "failed"), (INTERRUPTED, "stopped")])
def test_judge_unseen_calls_nothing_finished_that_other_hosts_cannot_read(last: Event, status: str) -> None:
    assert judge_unseen(last, reason="its supervisor is gone", published=False).status == status
