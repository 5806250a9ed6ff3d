"""Extraction, training and benchmarks in the terminal."""

import io
from dataclasses import asdict

import pytest
from rich.console import Console

from eagle3web.enums import Stage
from eagle3web.models import Attempt, BenchmarkRow
from eagle3web.system.stages_view import lines, share_of, table
from pipeline.drafter_events import BenchmarkMeasured, DecodeEvalLogged, EvalLogged, ExtractionProgress, StepLogged
from pipeline.event import Event
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def attempt(stage: str, *said: Event) -> Attempt:
    return make.attempt(make.run(stage=stage), counters={event.kind: asdict(event) for event in said})


def text(stage: str, of: Attempt) -> str:
    console = Console(file=io.StringIO(), width=110)
    console.print(table("Run 1", stage, of))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


EXTRACTED = ExtractionProgress(
    documents=40,
    total=80,
    skipped=1,
    tokens=9_000,
    total_tokens=18_000,
    bytes=41_000_000,
    total_bytes=83_000_000,
    agreed=4_400,
    compared=4_500,
    tokens_per_s=800.0,
    eta_s=12.0,
)
STEP = StepLogged(
    step=300,
    total_steps=1200,
    epoch=0.5,
    loss=2.314,
    step_losses=(2.0, 2.4),
    accuracy=(0.42, 0.31),
    learning_rate=1e-3,
    grad_norm=0.4,
    tokens=300_000,
    tokens_per_s=2000.0,
    memory_bytes=10**9,
    eta_s=90.0,
)
MEASURED = BenchmarkMeasured(
    dataset="B1_tools",
    mode="drafter",
    shape="3/1/4",
    concurrency=1,
    repetition=1,
    requests=3,
    tokens=288,
    seconds=3.1,
    tokens_per_s=92.4,
    accept_length=1.617,
    done=5,
    total=48,
    eta_s=None,
)


def test_extraction_tells_tokens_disk_and_agreement() -> None:
    assert lines(Stage.EXTRACT, attempt("extract", EXTRACTED)) == [
        "extract: answers 40 of 80, 1 left out; tokens 9.0 k of 18.0 k, 800 a second; disk 41.0 MB of about 83.0 MB; "
        "given back 98 % of the generated tokens; ETA 12 s"
    ]


def test_training_tells_simulated_and_decoded_accept_lengths_apart() -> None:
    evaluated = EvalLogged(step=200, loss=2.5, accuracy=(0.4,), accept_length=1.71, documents=9)
    decoded = DecodeEvalLogged(step=200, accept_length=1.52, prompts=8, tokens=512)
    shown = text(Stage.TRAIN, attempt("train", STEP, evaluated, decoded))
    assert "300 of 1 200, 2 000 tokens a second" in shown
    assert "accept length 1.71 (simulated)" in shown
    assert "accept length 1.52 on 8 held-out prompts" in shown
    assert "ETA" in shown


@pytest.mark.parametrize(
    ("stage", "said", "share"), [("extract", EXTRACTED, 0.5), ("train", STEP, 0.25), ("benchmark", MEASURED, 5 / 48)]
)
def test_share_is_what_is_done_of_all(stage: str, said: Event, share: float) -> None:
    assert share_of(stage, attempt(stage, said)) == share


def test_benchmark_tells_its_last_pass() -> None:
    assert lines(Stage.BENCHMARK, attempt("benchmark", MEASURED)) == [
        "benchmark: passes 5 of 48; last B1_tools, drafter 3/1/4: 92 tokens a second, accept length 1.62"
    ]


def test_results_stand_beside_their_baseline() -> None:
    of = attempt("benchmark", MEASURED)
    for mode, speedup in (("drafter", 1.21), ("plain", None)):
        BenchmarkRow.objects.create(
            attempt=of,
            mode=mode,
            shape="" if mode == "plain" else "3/1/4",
            concurrency=1,
            tokens_per_s=90,
            tokens_per_s_low=88,
            tokens_per_s_high=92,
            speedup=speedup,
            speedup_low=speedup,
            speedup_high=speedup,
            accept_length=speedup and 1.6,
        )
    rows = [line.split() for line in text(Stage.BENCHMARK, of).splitlines()[2:]]
    assert rows == [["plain", "1", "90", "baseline"], ["drafter", "3/1/4", "1", "90", "1.60", "1.21×", "1.21×", "to", "1.21×"]]


@pytest.mark.parametrize("stage", ["extract", "train", "benchmark"])
def test_a_stage_that_has_said_nothing_has_no_line(stage: str) -> None:
    assert lines(stage, attempt(stage)) == []
    assert share_of(stage, attempt(stage)) is None
