from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder
from pipeline.config import DatasetPlan
from pipeline.events import LengthsCounted, StatusChanged, read_events
from pipeline.generation.dataset import DatasetRun
from pipeline.generation.reporting import FIRST_SHOWN, SAMPLE_CHARS, Reporter, sample_of, warning_of
from pipeline.responses.record import Failure
from pipeline.responses.store import ResponseStore
from pipeline.stage import Stage
from tests.support.answers import SCOPE, answer

HOSTILE = "<script>alert(1)</script>\x1b[31m"
FAILURE = Failure(key="k", id="row-1", dataset="B1", revision="r1", sampling="s", reason="too long", failed_at="t")


class Desk:
    """A reporter with one dataset, and a reason to wait that can be set."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        self.folder = folder
        self.waiting = ""
        (folder / "prompts.jsonl").touch()
        plan = DatasetPlan(slug="B1", revision="r1", prompts=str(folder / "prompts.jsonl"))
        store = ResponseStore(folder / "responses", SCOPE)
        self.dataset = DatasetRun(plan, store, prompts=9, retry_errors=False, emit=stage.emit)
        self.reporter = Reporter(stage, [self.dataset], waiting=lambda: self.waiting)

    def said(self, kind: str) -> list[dict[str, object]]:
        return [line.payload for line, _ in read_events(self.folder / "events.jsonl") if line.kind == kind]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Stage("generate", AttemptFolder(tmp_path))) as stage:
        made = Desk(tmp_path, stage)
        yield made
        made.dataset.close()


def test_status_is_told_when_it_lasts_and_when_it_ends(desk: Desk) -> None:
    for waiting in ("", "loading", "no engine answers", "no engine answers", "", ""):
        desk.waiting = waiting
        desk.reporter.tell_status()
    assert desk.said(StatusChanged.kind) == [
        {"text": "no engine answers", "paused": False},
        {"text": "", "paused": False},
    ]


def test_status_of_a_pause_is_told_at_once_each_time(desk: Desk) -> None:
    for paused in (True, True, False):
        desk.reporter.paused = paused
        desk.reporter.tell_status(at_once=True)
    assert [told["paused"] for told in desk.said(StatusChanged.kind)] == [True, True, False]


def test_first_answers_and_failures_are_shown_and_then_few(desk: Desk) -> None:
    for n in range(20):
        desk.reporter.kept(desk.dataset, answer(n))
        desk.reporter.kept(desk.dataset, FAILURE)
    assert [told["prompt_id"] for told in desk.said("sample_logged")] == [f"row-{n}" for n in range(FIRST_SHOWN)]
    assert len(desk.said("warning")) == FIRST_SHOWN


def test_sample_is_cut_and_kept_as_text() -> None:
    sample = sample_of(answer(1, text=HOSTILE + "x" * 9000, messages=({"role": "user", "content": HOSTILE},)))
    assert sample.prompt == f"user: {HOSTILE}"
    assert sample.answer.startswith(HOSTILE)
    assert len(sample.answer) == SAMPLE_CHARS
    assert sample_of(answer(1, messages=())).prompt == "3 token ids"


def test_warning_names_the_prompt() -> None:
    assert warning_of(FAILURE).text == "no answer to prompt row-1: too long"
    assert warning_of(replace(FAILURE, id="")).text == "no answer to prompt k: too long"


def test_lengths_are_told_when_answers_have_come(desk: Desk) -> None:
    desk.reporter.tell_lengths()
    for tokens in (3, 9, 9):
        desk.dataset.quota.lengths.add(tokens)
    desk.reporter.tell_lengths()
    desk.reporter.tell_lengths()
    lengths = desk.dataset.quota.lengths
    assert desk.said(LengthsCounted.kind) == [{"dataset": "B1", "width": lengths.width, "counts": lengths.counts}]
    assert sum(lengths.counts) == 3
