from pathlib import Path

import pytest

from pipeline.benchmark.contenders import PLAIN, Contender, Group
from pipeline.benchmark.measured import MeasuredFile, Request
from pipeline.draft_shape import DraftShape
from pipeline.errors import FolderHeldError

DRAFTER = Contender(mode="drafter", shape=DraftShape())
BOTH = [PLAIN, DRAFTER]
GROUP = Group(dataset="B1", concurrency=1, repetition=1)


def request(key: str) -> Request:
    return Request(
        key=key,
        prompt_tokens=5,
        completion_tokens=4,
        finish_reason="length",
        latency_s=0.5,
        first_token_s=None,
        verify_ct=2,
        correct_drafts=(1, 0, 1),
        output_ids=(7, 8, 9, 2),
    )


def opened(folder: Path, *, attempt: str = "first", setting: str = "s") -> MeasuredFile:
    return MeasuredFile(folder, setting=setting, attempt=attempt)


def measure(file: MeasuredFile, contender: Contender, *keys: str) -> None:
    requests = [request(key) for key in keys]
    for done in requests:
        file.add_request(GROUP, contender, done)
    file.add_pass(GROUP, contender, seconds=1.5, requests=requests)


def reread(folder: Path, *, setting: str = "s") -> MeasuredFile:
    return opened(folder, attempt="later", setting=setting)


def test_group_that_all_have_finished_is_read_back_as_it_was(tmp_path: Path) -> None:
    file = opened(tmp_path)
    measure(file, PLAIN, "a", "b")
    measure(file, DRAFTER, "a", "b")
    file.close()
    again = reread(tmp_path)
    (passes,) = again.groups(BOTH).values()
    assert [(one.mode, one.shape, one.seconds, one.tokens) for one in passes] == [
        ("plain", "", 1.5, 8),
        ("drafter", "3/1/4", 1.5, 8),
    ]
    assert passes[0].requests == (request("a"), request("b"))
    assert passes[0].accept_length == 2.0
    assert again.groups([PLAIN]) == {}
    again.close()


def test_group_that_is_not_whole_does_not_count(tmp_path: Path) -> None:
    file = opened(tmp_path)
    measure(file, PLAIN, "a")
    file.add_request(GROUP, DRAFTER, request("a"))
    file.close()
    second = opened(tmp_path, attempt="second")
    measure(second, DRAFTER, "a")
    # Both are there, and did not run beside one another.
    assert second.groups(BOTH) == {}
    measure(second, PLAIN, "a")
    assert list(second.groups(BOTH)) == [GROUP]
    second.close()


def test_other_setting_is_another_measurement(tmp_path: Path) -> None:
    file = opened(tmp_path)
    measure(file, PLAIN, "a")
    measure(file, DRAFTER, "a")
    file.close()
    other = reread(tmp_path, setting="t")
    assert other.groups(BOTH) == {}
    other.close()


def test_torn_last_line_is_cut(tmp_path: Path) -> None:
    file = opened(tmp_path)
    measure(file, PLAIN, "a")
    whole = file.path.read_bytes()
    file.close()
    file.path.write_bytes(whole + b'{"kind":"req')
    again = reread(tmp_path)
    assert again.path.read_bytes() == whole
    again.close()


def test_broken_line_costs_its_pass_and_nothing_else(tmp_path: Path) -> None:
    file = opened(tmp_path)
    measure(file, PLAIN, "a")
    measure(file, DRAFTER, "a")
    file.close()
    _first, *rest = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"nonsense\n" + b"".join(rest))
    again = reread(tmp_path)
    assert [one.mode for passes in again.groups([DRAFTER]).values() for one in passes] == ["drafter"]
    assert [warning.split(": ", 1)[0] for warning in again.warnings] == [f"{again.path}, line {n}" for n in (1, 2)]
    assert "a pass of 1 requests, of which 0 are there" in again.warnings[1]
    again.close()


def test_folder_is_held_by_one_process(tmp_path: Path) -> None:
    file = opened(tmp_path)
    with pytest.raises(FolderHeldError):
        opened(tmp_path)
    file.close()
