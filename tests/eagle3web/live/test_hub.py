import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError

from eagle3web.live import hub as hub_module
from eagle3web.live.hub import Hub, Watch
from eagle3web.live.records import Batch, Cursor, Entry, Reading
from eagle3web.pokes import poke
from tests.support.system import System

pytestmark = pytest.mark.django_db(transaction=True)


class CountingReader:
    """Reads a text that the test changes."""

    def __init__(self) -> None:
        self.pokes = frozenset({"run.1"})
        self.text = "one"
        self.looks = 0
        self.error: Exception | None = None
        self.look_again: datetime | None = None

    def read(self, now: datetime) -> Reading:
        self.looks += 1
        if self.error is not None:
            raise self.error
        streams = {"log": Batch(100, [])} if self.looks == 1 else {}
        return Reading(fragments={"a": self.text}, streams=streams, look_again=self.look_again)

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [(n, f"line {n}") for n in range(after + 1, up_to + 1)], 7


class Viewer:
    """One viewer, with what it received last."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.wake = asyncio.Event()
        self.cursor = Cursor()
        self.text = ""

    async def receive(self, watch: Watch, cursor: Cursor | None = None) -> str:
        """The next message."""
        self.cursor = cursor or self.cursor
        async with asyncio.timeout(5):
            while (found := await self.hub.message(watch, self.cursor)) is None:
                await self.wake.wait()
                self.wake.clear()
        self.text, self.cursor = found
        return self.text


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = Hub()
    yield hub
    assert hub._pokes is None, "the hub listens although nobody looks"


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


async def test_many_viewers_cost_one_look(hub: Hub) -> None:
    reader = CountingReader()
    viewers = [Viewer(hub) for _ in range(50)]
    async with AsyncExitStack() as stack:
        watches = [await stack.enter_async_context(hub.viewing("t", lambda: reader, viewer.wake)) for viewer in viewers]
        texts = await asyncio.gather(*(v.receive(w) for v, w in zip(viewers, watches, strict=True)))
        assert len(set(texts)) == 1
        assert reader.looks == 1


async def test_viewer_gets_a_change_by_the_regular_look(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LOOK_EVERY", 0.1)
    reader, viewer = CountingReader(), Viewer(hub)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await viewer.receive(watch)
        reader.text = "two"
        assert '"a":"two"' in await viewer.receive(watch)


@pytest.mark.slow
async def test_poke_leads_to_a_look_at_once(hub: Hub, bare_system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_system.start("valkey")
    monkeypatch.setattr(hub_module, "LOOK_EVERY", 30.0)  # so that only a poke can bring the change
    reader, viewer = CountingReader(), Viewer(hub)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await viewer.receive(watch)
        reader.text = "two"
        receiving = asyncio.create_task(viewer.receive(watch))
        async with asyncio.timeout(5):
            while not receiving.done():
                poke("run.2", "run.1")  # again and again: the hub may not have joined the group yet
                await asyncio.sleep(0.05)
        assert '"a":"two"' in receiving.result()


@pytest.mark.slow
async def test_poke_of_another_topic_costs_no_look(hub: Hub, bare_system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_system.start("valkey")
    monkeypatch.setattr(hub_module, "LOOK_EVERY", 30.0)
    mine, other = CountingReader(), CountingReader()
    other.pokes = frozenset({"run.2"})
    first, second = Viewer(hub), Viewer(hub)
    async with hub.viewing("t", lambda: mine, first.wake) as watch, hub.viewing("u", lambda: other, second.wake) as watch_2:
        await first.receive(watch)
        await second.receive(watch_2)
        other.text = "two"
        receiving = asyncio.create_task(second.receive(watch_2))
        async with asyncio.timeout(5):
            while not receiving.done():
                poke("run.2")
                await asyncio.sleep(0.05)
        assert mine.looks == 1


async def test_look_comes_when_the_clock_alone_changes_a_word(hub: Hub) -> None:
    reader, viewer = CountingReader(), Viewer(hub)
    reader.look_again = datetime.now(UTC) + timedelta(seconds=0.4)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await viewer.receive(watch)
        reader.text = "silent"
        async with asyncio.timeout(1):
            assert '"a":"silent"' in await viewer.receive(watch)


async def test_database_that_does_not_answer_is_told_and_caught_up_with(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "LOOK_EVERY", 0.1)
    reader, viewer = CountingReader(), Viewer(hub)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await viewer.receive(watch)
        reader.error = DatabaseError("away")
        await until(lambda: watch.stalled_since is not None)
        assert viewer.wake.is_set()
        reader.error, reader.text = None, "after"
        assert '"a":"after"' in await viewer.receive(watch)
        assert watch.stalled_since is None


async def test_topic_that_was_deleted_is_gone(hub: Hub) -> None:
    reader, viewer = CountingReader(), Viewer(hub)
    reader.error = ObjectDoesNotExist()
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await until(lambda: watch.gone)


async def test_viewer_who_comes_back_gets_a_delta(hub: Hub) -> None:
    reader, viewer = CountingReader(), Viewer(hub)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        await viewer.receive(watch)
    reader.text = "two"
    async with hub.viewing("t", lambda: CountingReader(), viewer.wake) as watch:
        assert '"type":"delta"' in await viewer.receive(watch)


async def test_gap_is_filled_from_the_reader(hub: Hub) -> None:
    reader, viewer = CountingReader(), Viewer(hub)
    async with hub.viewing("t", lambda: reader, viewer.wake) as watch:
        text = await viewer.receive(watch, Cursor(streams={"log": 98}))
        assert '"log":{"entries":[[99,"line 99"],[100,"line 100"]],"skipped":7}' in text
        assert viewer.cursor.streams == {"log": 100}


async def test_feeds_without_viewers_do_not_pile_up(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "IDLE_FEEDS", 2)
    for n in range(5):
        viewer = Viewer(hub)
        async with hub.viewing(n, CountingReader, viewer.wake) as watch:
            await viewer.receive(watch)
    assert list(hub._watches) == [3, 4]
