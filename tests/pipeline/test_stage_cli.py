import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder, read_json, write_json
from pipeline.errors import ConfigError, DataError
from pipeline.event import Event
from pipeline.events import read_events
from pipeline.stage import FAILED, FINISHED, INTERRUPTED, MISUSED, Outcome, Stage
from pipeline.stage_cli import StageCommand, add_folder_argument, add_supervision_flags, new_attempt


@dataclass(frozen=True, kw_only=True)
class Config:
    name: str
    rounds: int = 1

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ConfigError("rounds must be 1 or more")


async def work(config: Config, stage: Stage) -> Outcome:
    if config.name == "broken":
        raise DataError("the input is broken")
    return Outcome(summary={"rounds": config.rounds}, interrupted="stopped" if config.name == "stopped" else None)


@contextlib.contextmanager
def view() -> Iterator[Callable[[Event], None]]:
    yield lambda _event: None


def carry_out(*arguments: str, out: Path) -> int:
    parser = argparse.ArgumentParser()
    add_folder_argument(parser)
    parser.add_argument("--rounds", type=int, default=2)
    add_supervision_flags(parser)
    command = StageCommand(
        name="test",
        config=Config,
        make_attempt=lambda args: new_attempt(out, Config(name="flags", rounds=args.rounds)),
        inputs=lambda config: {"data": config.name},
        work=work,
        view=view,
    )
    return command.run(parser.parse_args(arguments))


def kinds(folder: Path) -> list[str]:
    return [line.kind for line, _ in read_events(AttemptFolder(folder).events)]


def test_flags_make_numbered_attempts(tmp_path: Path) -> None:
    assert [carry_out(out=tmp_path) for _ in range(2)] == [FINISHED, FINISHED]
    assert read_json(tmp_path / "attempts" / "2" / "config.json") == {"name": "flags", "rounds": 2}
    lines = [line for line, _ in read_events(AttemptFolder(tmp_path / "attempts" / "2").events)]
    assert [line.kind for line in lines] == ["stage_started", "stage_finished"]
    assert lines[0].payload["inputs"] == {"data": "flags"}


@pytest.mark.parametrize(
    ("name", "code", "last"), [("stopped", INTERRUPTED, "stage_interrupted"), ("broken", FAILED, "stage_failed")]
)
def test_exit_code_says_how_the_work_ended(tmp_path: Path, name: str, code: int, last: str) -> None:
    write_json(tmp_path / "config.json", {"name": name})
    assert carry_out(str(tmp_path), out=tmp_path) == code
    assert kinds(tmp_path) == ["stage_started", last]


def test_config_that_is_none_is_told_as_a_failure_too(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"name": "n", "roundz": 3})
    assert carry_out(str(tmp_path), out=tmp_path) == MISUSED
    assert kinds(tmp_path) == ["stage_started", "stage_failed"]


def test_impossible_flags_are_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert carry_out("--rounds", "0", out=tmp_path) == MISUSED
    assert capsys.readouterr().err == "error: rounds must be 1 or more\n"


def test_folder_without_a_config_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert carry_out(str(tmp_path), out=tmp_path) == MISUSED
    assert "config.json" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named_without_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file")
    assert carry_out(out=tmp_path / "taken") == MISUSED
    assert capsys.readouterr().err == f"error: {tmp_path}/taken/attempts: Not a directory\n"
