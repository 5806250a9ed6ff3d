"""The socket behind every page. It sends; all that it takes is one subscription with the viewer's cursors.

Close codes: 4401 not signed in (any more), 4403 not allowed to look at this, 4404 there is no such thing, 4400 nonsense, 1013
the database does not answer, so come back later.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError

from eagle3web.live.hub import Hub, Watch, hub
from eagle3web.live.records import Cursor
from eagle3web.models import User
from eagle3web.pages.rights import Rights, rights
from eagle3web.pages.topics import NotAllowedError, UnknownTopicError, open_topic

BEAT_EVERY = 2.0
"""A viewer that hears nothing for longer than a few of these knows that it is cut off."""
CHECK_EVERY = 30.0
"""How often an open socket looks whether its viewer may still look."""
TOPICS = 4
log = logging.getLogger(__name__)


class LiveConsumer(AsyncWebsocketConsumer):
    """One page of one person."""

    channel_layer_alias = "none"
    """Not one channel a viewer: the hub listens for all of them, and a broker that is away closes no socket."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.wake = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.rights: Rights = frozenset()
        self.closing: asyncio.Future[None] | None = None

    async def connect(self) -> None:
        await self.accept()  # a refusal before would reach the browser as 1006, which says nothing
        found = await self._look_up_rights()
        if found is None:
            await self.close(4401)
        else:
            self.rights = found

    async def disconnect(self, code: int) -> None:
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        cursors = _subscription(text_data)
        if cursors is None or self.task is not None:
            await self.close(4400)
            return
        self.task = asyncio.create_task(self._send_all(cursors), name="live viewer")
        self.task.add_done_callback(self._say_that_it_broke)

    async def _send_all(self, cursors: dict[str, Cursor]) -> None:
        """Send what is new, whenever there is something, until the socket closes."""
        try:
            async with AsyncExitStack() as stack:
                watches = {topic: await self._view(stack, topic) for topic in cursors}
                await self._follow(watches, cursors)
        except NotAllowedError:
            await self.close(4403)
        except (UnknownTopicError, ObjectDoesNotExist):
            await self.close(4404)
        except DatabaseError as error:
            log.warning("a viewer is sent away: %s", error)
            await self.close(1013)

    def _say_that_it_broke(self, task: asyncio.Task[None]) -> None:
        """An error of ours must not leave a page that looks live: its socket closes, and it says that it is cut off."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a viewer's page broke", exc_info=error)
            self.closing = asyncio.ensure_future(self.close(1011))

    async def _view(self, stack: AsyncExitStack, topic: str) -> Watch:
        reader = open_topic(topic, self.rights)
        return await stack.enter_async_context(hub().viewing((topic, self.rights), reader, self.wake))

    async def _follow(self, watches: dict[str, Watch], cursors: dict[str, Cursor]) -> None:
        checked = time.monotonic()
        self.wake.set()
        while True:
            woken = await self._wait()
            sent = [await self._bring_up_to_date(hub(), topic, watch, cursors) for topic, watch in watches.items()]
            if not woken and not any(sent):
                await self._send_json(next(iter(watches.values())), {"type": "beat"})
            if time.monotonic() - checked > CHECK_EVERY:
                checked = time.monotonic()
                if await self._look_up_rights() != self.rights:
                    await self.close(4401)
                    return

    async def _wait(self) -> bool:
        """Until a feed has something new (True), or a beat is due (False)."""
        try:
            async with asyncio.timeout(BEAT_EVERY):
                await self.wake.wait()
        except TimeoutError:
            return False
        self.wake.clear()
        return True

    async def _bring_up_to_date(self, hub: Hub, topic: str, watch: Watch, cursors: dict[str, Cursor]) -> bool:
        if watch.gone:
            raise ObjectDoesNotExist(topic)
        if watch.task is not None and watch.task.done():
            watch.task.result()  # raises what broke the reader
        if watch.stalled_since is not None:
            await self._send_json(watch, {"type": "stalled", "since": round(watch.stalled_since * 1000)})
            return True
        found = await hub.message(watch, cursors[topic])
        if found is None:
            return False
        body, cursors[topic] = found
        head = {"topic": topic, "t": _milliseconds(watch)}
        await self.send(text_data=f"{json.dumps(head)[:-1]},{body[1:]}")
        return True

    async def _send_json(self, watch: Watch, message: Mapping[str, Any]) -> None:
        await self.send(text_data=json.dumps({**message, "t": _milliseconds(watch)}))

    async def _look_up_rights(self) -> Rights | None:
        """What the person may do by now; None for somebody who may not be here, and while the database is away: as before."""
        user = self.scope.get("user")
        if not isinstance(user, User):
            return None
        try:
            fresh = await User.objects.filter(pk=user.pk, is_active=True).afirst()
            return None if fresh is None else await sync_to_async(rights)(fresh)
        except DatabaseError as error:
            log.warning("rights of a viewer are not looked up: %s", error)
            return self.rights


def _milliseconds(watch: Watch) -> int:
    """Now, by the database's clock, since 1970: the ages on the page count from it."""
    return round((time.time() + watch.clock_offset_s) * 1000)


def _subscription(text: str | None) -> dict[str, Cursor] | None:
    """Topic → cursor, as the page asked; None for nonsense."""
    try:
        body = json.loads(text or "")
    except (ValueError, RecursionError):  # the latter for brackets within brackets, a hundred thousand deep
        return None
    wanted = body.get("subscribe") if isinstance(body, dict) else None
    if not isinstance(wanted, dict) or not 0 < len(wanted) <= TOPICS:
        return None
    return {str(topic)[:100]: Cursor.from_json(cursor) for topic, cursor in wanted.items()}
