"""The serve stage over real servers, from start to end; last in this folder, since the servers end here."""

import asyncio
import os
import signal

import psutil
import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.control import Stop, SwapDrafter
from pipeline.serving.client import Answer, connect
from tests.sglang.conftest import Served
from tests.support.serve import START_S
from tests.support.servers import wait_until
from tests.support.tiny_model import CONTEXT

pytestmark = pytest.mark.sglang
LONG = SamplingConfig(max_new_tokens=CONTEXT - 16, ignore_eos=True)


async def ask(url: str, count: int = 1) -> list[Answer]:
    client = connect(EngineRef(name="real", url=url), timeout_s=120)
    try:
        return await asyncio.gather(*(client.generate((1, 5, 7), LONG, rid=str(n), seed=n) for n in range(count)))
    finally:
        await client.close()


def test_start_is_told_step_by_step(plain: Served, drafting: Served) -> None:
    (started,) = plain.stage.said("server_started", number=1)
    assert started.payload["version"] == "0.5.23"
    assert started.payload["command"][:2] == ["-m", "sglang.launch_server"]
    assert "--max-queued-requests" in started.payload["command"]
    weights = [line.payload for line in drafting.stage.said("server_loading", phase="weights")]
    assert {"LlamaForCausalLM", "LlamaForCausalLMEagle3"} & {line["what"] for line in weights}
    assert plain.stage.said("server_ready")[0].payload["context_length"] <= CONTEXT
    assert (plain.stage.folder.path / "server-1.log").stat().st_size > 0


def test_work_and_accept_length_are_measured(drafting: Served) -> None:
    asyncio.run(ask(drafting.url, 4))
    busy = drafting.stage.wait_for("server_measured", running=0, waiting=0)
    assert busy.payload["number"] == 1
    assert any(line.payload["accept_length"] for line in drafting.stage.said("server_measured"))


async def test_server_that_stops_answering_is_called_hung(plain: Served) -> None:
    schedulers = [process for process in tree(plain) if "scheduler" in " ".join(process.cmdline())]
    client = connect(EngineRef(name="real", url=plain.url), timeout_s=20, probe_timeout_s=8)
    try:
        for process in schedulers:
            process.suspend()
        assert (await client.probe()).state == "hung"
    finally:
        for process in schedulers:
            process.resume()
        await client.close()
    assert schedulers


async def test_stop_drains_what_runs_and_leaves_no_process(plain: Served) -> None:
    asked = asyncio.ensure_future(ask(plain.url, 3))
    await asyncio.sleep(0.2)
    plain.stage.tell(Stop(reason="stopped by ada"))
    answers = await asked
    assert {answer.completion_tokens for answer in answers} == {LONG.max_new_tokens}
    assert await asyncio.to_thread(plain.stage.wait, 60) == 3
    kinds = [line.kind for line in plain.stage.events if line.kind.startswith(("server_dr", "server_e", "stage_i"))]
    assert kinds == ["server_draining", "server_ended", "stage_interrupted"]
    assert plain.stage.events[-1].payload["reason"] == "stopped by ada"
    assert plain.run.left == []


def test_server_that_dies_is_started_again_and_another_drafter_swapped_in(drafting: Served) -> None:
    stage = drafting.stage
    (first,) = (
        process for process in tree(drafting) if "launch_server" in " ".join(process.cmdline()[-40:]) and is_server(process)
    )
    first.kill()
    ended = stage.wait_for("server_ended", number=1)
    assert (ended.payload["wanted"], ended.payload["failures"]) == (False, 1)
    assert "was killed by SIGKILL" in ended.payload["reason"]
    # Asked while the next one loads: it starts with what was asked for.
    stage.tell(SwapDrafter(drafter="", name=""))
    stage.wait_for("drafter_swapped", previous="r1 step 120")
    ready = stage.wait_for("server_ready", timeout_s=START_S)
    while ready.payload["number"] == 1:
        wait_until(lambda: len(stage.said("server_ready")) > 1, "the next server is ready", START_S)
        ready = stage.said("server_ready")[-1]
    assert ready.payload["url"] == drafting.url
    (answer,) = asyncio.run(ask(drafting.url))
    assert "spec_verify_ct" not in answer.meta
    os.kill(stage.process.pid, signal.SIGKILL)
    stage.process.wait()
    wait_until(lambda: not drafting.run.left, "nothing of it is left", 10)


def tree(served: Served) -> list[psutil.Process]:
    return psutil.Process(served.stage.process.pid).children(recursive=True)


def is_server(process: psutil.Process) -> bool:
    """SGLang's main process, not the guard that carries its command."""
    return "pipeline.guard" not in process.cmdline()
