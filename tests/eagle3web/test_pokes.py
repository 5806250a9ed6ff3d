"""Pokes reach the channel layer, and never hold up the one who pokes."""

import asyncio
import subprocess
import sys
import time
from typing import Any

import pytest
from channels.layers import channel_layers

from eagle3web import pokes
from tests.support.system import ROOT, System


def received_by_a_viewer(*topics: str) -> list[str]:
    """The topics of the first poke that a member of the group receives after `topics` were poked."""

    async def receive() -> list[str]:
        layer: Any = channel_layers.make_backend("default")
        channel = await layer.new_channel()
        await layer.group_add(pokes.GROUP, channel)
        pokes.poke(*topics)
        async with asyncio.timeout(5):
            message = await layer.receive(channel)
        await layer.flush()
        assert message["type"] == "poke"
        found: list[str] = message["topics"]
        return found

    return asyncio.run(receive())


@pytest.mark.slow
@pytest.mark.alone
def test_poke_reaches_viewers_and_goes_on_after_the_broker_was_away(bare_system: System) -> None:
    bare_system.start("valkey")
    assert received_by_a_viewer("run.1", "project.2") == ["project.2", "run.1"]
    bare_system.kill("valkey")
    pokes.poke("run.1")
    assert pokes.flush(timeout_s=5)
    bare_system.start("valkey")
    assert received_by_a_viewer("run.3") == ["run.3"]


@pytest.mark.slow
def test_poke_returns_at_once_and_lets_the_process_end() -> None:
    program = (
        "import django, time; django.setup(); from eagle3web import pokes; start = time.monotonic(); pokes.poke('run.1');"
        "print(time.monotonic() - start)"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "eagle3web.settings", "REDIS_URL": "unix:///nowhere/valkey.sock"}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30, check=True
    )
    assert float(done.stdout) < 0.5
    assert "pokes are lost" in done.stderr
    assert time.monotonic() - start < 25
