"""A benchmark of two real SGLang servers, one of them with a drafter."""

from pathlib import Path

import pytest

from pipeline.datasets.conversation import new_conversation
from tests.sglang.conftest import Served
from tests.support.benchmark import benchmark_run

pytestmark = pytest.mark.sglang


def test_benchmark_measures_a_drafter_in_sglang_against_its_baseline(
    plain: Served, drafting: Served, files: Path, checkpoint: Path, tmp_path: Path
) -> None:
    with benchmark_run(tmp_path / "run", target=str(files / "target"), drafter=str(checkpoint)) as run:
        run.add("B1", [new_conversation(label=f"p{n}", input_ids=(1, 5 + n, 7, 9)) for n in range(6)])
        run.serve(plain=plain.url, drafter=drafting.url)
        stage = run.finish(180)
    rows = {row.payload["mode"]: row.payload for row in stage.said("benchmark_summarised", dataset="B1")}
    assert sorted(rows) == ["drafter", "plain"]
    assert rows["drafter"]["shape"] == "3/1/4"
    assert rows["drafter"]["accept_length"] > 1.0
    assert rows["drafter"]["identical"] == rows["drafter"]["requests"]
    assert rows["plain"]["accept_length"] is None
    assert run.summary["engines"]["drafter-3-1-4"]["version"] == "0.5.23"
