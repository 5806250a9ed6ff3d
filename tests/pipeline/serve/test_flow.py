"""The serve stage over a stand-in for SGLang's processes: start, watch, restart, swap, drain, end."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.control import Pause, Stop, SwapDrafter
from pipeline.serving.client import connect
from tests.support.fake_sglang import BEHAVIOUR, interpreter
from tests.support.serve import ServeRun, serve_run
from tests.support.servers import wait_until

pytestmark = pytest.mark.slow
QUICK = {"when": "on-failure", "most": 2, "first_s": 0.1, "longest_s": 0.2, "steady_s": 600.0}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ServeRun]:
    with serve_run(tmp_path / "run", target="m", python=str(interpreter(tmp_path)), restart=QUICK, drain_s=5.0) as made:
        yield made


def test_server_is_started_measured_and_ended_when_somebody_stops_it(run: ServeRun) -> None:
    stage = run.start()
    ready = stage.wait_for("server_ready")
    assert (ready.payload["engine"], ready.payload["model"]) == ("sglang", "stub")
    loading = [(line.payload["phase"], line.payload["what"]) for line in stage.said("server_loading")]
    assert loading == [("weights", "LlamaForCausalLM")]
    measured = stage.wait_for("server_measured").payload
    assert (measured["running"], measured["waiting"], measured["tokens_per_s"]) == (0, 0, 0.0)
    stage.tell(Pause())
    assert "pause changes nothing" in stage.wait_for("warning").payload["text"]
    stage.tell(Stop(reason="stopped by ada"))
    assert stage.wait() == 3
    assert [line.kind for line in stage.events[-3:]] == ["server_draining", "server_ended", "stage_interrupted"]
    assert run.left == []
    assert 'GET /health HTTP/1.1" 200' not in stage.log
    assert 'GET /health HTTP/1.1" 200' in (stage.folder.path / "server-1.log").read_text()


def test_requests_that_run_are_waited_for_when_it_ends(run: ServeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BEHAVIOUR, '{"latency_s": 1.5}')
    stage = run.start()
    url = stage.wait_for("server_ready").payload["url"]

    async def ask() -> int:
        client = connect(EngineRef(name="a", url=url), timeout_s=10)
        asked = asyncio.ensure_future(client.generate((1, 5), SamplingConfig(max_new_tokens=8), rid="r", seed=1))
        await asyncio.sleep(0.3)
        stage.tell(Stop(reason="stopped by ada"))
        answer = await asked
        await client.close()
        return answer.completion_tokens

    assert asyncio.run(ask()) > 0
    assert stage.wait() == 3


def test_server_that_fails_is_started_again_and_given_up_in_the_end(run: ServeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BEHAVIOUR, '{"dies": true}')
    stage = run.start()
    assert stage.wait() == 1
    ends = [line.payload for line in stage.said("server_ended")]
    assert [(end["number"], end["retry_in_s"], end["failures"]) for end in ends] == [(1, 0.1, 1), (2, 0.2, 2), (3, None, 3)]
    reason = stage.events[-1].payload["reason"]
    assert reason.startswith("the server ended with exit code 9: ")
    assert "RuntimeError: no kernel image is available" in reason


def test_server_that_hangs_is_ended_and_started_again(run: ServeRun) -> None:
    run.config["hang_s"] = 1.0
    stage = run.start()
    stage.wait_for("server_ready")
    server = stage.said("server_started")[0].payload["pid"]
    os.killpg(server, signal.SIGSTOP)
    ended = stage.wait_for("server_ended", timeout_s=90).payload
    assert "generated nothing for" in ended["reason"]
    assert ended["wanted"] is False
    stage.wait_for("server_started", number=2)
    stage.tell(Stop(reason="enough"))
    assert stage.wait() == 3


def test_drafter_is_swapped_by_a_drained_restart(run: ServeRun, tmp_path: Path) -> None:
    drafter = tmp_path / "step-9"
    stage = run.start()
    stage.wait_for("server_ready", number=1)
    stage.tell(SwapDrafter(drafter=str(drafter), name="r4 step 9"))
    assert "step-9 holds no drafter (no config.json)" in stage.wait_for("warning").payload["text"]
    drafter.mkdir()
    (drafter / "config.json").write_text("{}")
    stage.tell(SwapDrafter(drafter=str(drafter), name="r4 step 9"))
    stage.wait_for("server_ready", number=2)
    assert [line.payload["wanted"] for line in stage.said("server_ended")] == [True]
    swapped = stage.said("drafter_swapped")[0].payload
    assert (swapped["drafter"], swapped["name"], swapped["previous"]) == (str(drafter), "r4 step 9", "")
    command = stage.said("server_started", number=2)[0].payload["command"]
    assert command[command.index("--speculative-draft-model-path") + 1] == str(drafter)
    stage.tell(Stop(reason="enough"))
    assert stage.wait() == 3


def test_nothing_is_left_when_the_stage_is_killed(run: ServeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BEHAVIOUR, '{"leaves": true}')
    stage = run.start()
    stage.wait_for("server_ready")
    assert len(run.left) == 4, "stage, guard, server, and the process that the server left to itself"
    stage.kill()
    wait_until(lambda: run.left == [], "nothing of it is left", 10)


def test_stop_while_it_starts_ends_it_at_once(run: ServeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BEHAVIOUR, '{"startup_s": 60}')
    stage = run.start()
    stage.wait_for("server_started")
    stage.tell(Stop(reason="enough"))
    assert stage.wait(20) == 3
    assert run.left == []


def test_environment_without_sglang_is_named(run: ServeRun) -> None:
    run.config["python"] = "/nowhere/python"
    stage = run.start()
    assert stage.wait() == 1
    assert "there is no SGLang here: /nowhere/python does not exist" in stage.events[-1].payload["reason"]
