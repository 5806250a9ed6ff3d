import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifacts import AttemptFolder, read_json
from pipeline.errors import DataError, DiskFullError, InterruptedRunError
from pipeline.event import Event
from pipeline.events import Warned, read_events
from pipeline.stage import FAILED, FINISHED, INTERRUPTED, Outcome, Stage
from tests.support.disks import SmallDisk


def carry_out(folder: Path, work: Callable[[Stage], Awaitable[Outcome]]) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and the events as kind and fields."""
    with closing(Stage("generate", AttemptFolder(folder))) as stage:
        code = asyncio.run(stage.carry_out(lambda: work(stage), config_hash="abcd1234", inputs={"B1": "r1"}))
    return code, [{"kind": line.kind} | line.payload for line, _ in read_events(AttemptFolder(folder).events)]


def test_stage_that_does_its_work_says_first_and_last(tmp_path: Path) -> None:
    async def work(stage: Stage) -> Outcome:
        stage.emit(Warned(text="on the way"))
        return Outcome(summary={"tokens": 5})

    code, events = carry_out(tmp_path, work)
    assert code == FINISHED
    assert [event["kind"] for event in events] == ["stage_started", "warning", "stage_finished"]
    assert (events[0]["stage"], events[0]["config_hash"], events[0]["inputs"]) == ("generate", "abcd1234", {"B1": "r1"})
    assert set(events[0]["versions"]) >= {"python", "torch", "tokenizers"}
    assert events[2]["summary"] == {"tokens": 5}
    assert read_json(tmp_path / "heartbeat")["waiting_for"] == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.jsonl", "heartbeat"]


@pytest.mark.parametrize("raises", [True, False])
def test_stage_that_was_interrupted_is_not_finished(tmp_path: Path, raises: bool) -> None:
    async def work(stage: Stage) -> Outcome:
        if raises:
            raise InterruptedRunError("stopped by ada")
        return Outcome(interrupted="stopped by ada")

    code, events = carry_out(tmp_path, work)
    assert (code, events[-1]["kind"], events[-1]["reason"]) == (INTERRUPTED, "stage_interrupted", "stopped by ada")


@pytest.mark.parametrize("error", [DataError("line 7 is broken"), PermissionError(13, "line 7 is broken")])
def test_stage_that_fails_says_why(tmp_path: Path, error: Exception) -> None:
    async def work(stage: Stage) -> Outcome:
        raise error

    code, events = carry_out(tmp_path, work)
    assert (code, events[-1]["kind"]) == (FAILED, "stage_failed")
    assert "line 7 is broken" in events[-1]["reason"]


def test_stage_that_crashes_does_not_pretend(tmp_path: Path) -> None:
    async def work(stage: Stage) -> Outcome:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        carry_out(tmp_path, work)
    assert [line.kind for line, _ in read_events(tmp_path / "events.jsonl")] == ["stage_started"]


def test_stage_on_a_full_disk_still_has_its_last_words(small_disk: SmallDisk) -> None:
    async def work(stage: Stage) -> Outcome:
        with pytest.raises(DiskFullError):
            fill(stage)
        raise DiskFullError("disk full while writing part-00001.jsonl")

    def fill(stage: Stage) -> None:
        with (small_disk.path / "big").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        while True:
            stage.emit(Warned(text="x" * 5000))

    code, events = carry_out(small_disk.path, work)
    assert (code, events[-1]["kind"]) == (FAILED, "stage_failed")
    assert events[-1]["reason"] == "disk full while writing part-00001.jsonl"


def test_stage_tells_its_watchers_after_the_file(tmp_path: Path) -> None:
    seen: list[tuple[Event, int]] = []
    warned = Warned(text="a")
    with closing(Stage("generate", AttemptFolder(tmp_path))) as stage:
        stage.watchers.append(lambda event: seen.append((event, len(list(read_events(stage.folder.events))))))
        stage.emit(warned)
    assert seen == [(warned, 1)]
