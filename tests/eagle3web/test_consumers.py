import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission

from eagle3web import consumers
from eagle3web.live import hub as hub_module
from eagle3web.models import Attempt, DatasetProgress, User
from eagle3web.pages.run import FRAGMENTS
from tests.support import factories
from tests.support.sockets import Page, Socket, headers, opened

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fast_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No broker runs here, so pages look by themselves; often, for the tests' sake."""
    monkeypatch.setattr(hub_module, "LOOK_EVERY", 0.1)
    monkeypatch.setattr(hub_module, "MIN_PAUSE", 0.05)


@pytest.fixture
def attempt(transactional_db: None) -> Attempt:
    attempt = factories.attempt()
    factories.progress(attempt, dataset="B1", tokens=1_000_000, budget=10_000_000)
    return attempt


@pytest.fixture
def viewer(transactional_db: None) -> User:
    return factories.user(permissions=("view_run",))


def topic(attempt: Attempt) -> str:
    return f"run/{attempt.run_id}/{attempt.number}"


async def call(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (what the call returns)
    return await sync_to_async(work)(*args, **kwargs)


async def test_anonymous_socket_is_closed(transactional_db: None) -> None:
    socket = Socket(headers(None))
    assert await socket.connect()
    assert await socket.close_code() == 4401


async def test_person_without_the_right_is_refused(attempt: Attempt) -> None:
    user = await call(factories.user)
    page = Page(topic(attempt))
    async with opened(page, user) as socket:
        assert await socket.close_code() == 4403


async def test_page_of_another_site_is_refused(viewer: User) -> None:
    socket = Socket(await call(headers, viewer, origin="https://elsewhere.example"))
    assert not await socket.connect()


@pytest.mark.parametrize("name", ["run/999999/1", "nothing", "run/1/x", "project/0"])
async def test_topic_that_is_not_there_closes_the_socket(viewer: User, name: str) -> None:
    page = Page(name)
    async with opened(page, viewer) as socket:
        assert await socket.close_code() == 4404


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"subscribe": {}}', '{"subscribe": ["a"]}', "[" * 200_000])
async def test_nonsense_closes_the_socket(viewer: User, text: str) -> None:
    socket = Socket(await call(headers, viewer))
    assert await socket.connect()
    await socket.send_text(text)
    assert await socket.close_code() == 4400


async def test_snapshot_then_numbered_deltas(attempt: Attempt, viewer: User) -> None:
    page = Page(topic(attempt))
    async with opened(page, viewer):
        first = await page.receive()
        assert first["type"] == "snapshot"
        assert {"run-head", "run-facts", "run-datasets", "run-tabs"} <= page.fragments.keys()
        assert "1.00 M" in page.fragments["run-datasets"]
        await call(DatasetProgress.objects.filter(attempt=attempt).update, tokens=2_000_000)
        await page.receive_until(lambda: "2.00 M" in page.fragments["run-datasets"])
    assert page.kinds[0] == "snapshot"
    assert set(page.kinds[1:]) == {"delta"}


async def test_nothing_is_sent_while_nothing_happens(attempt: Attempt, viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "BEAT_EVERY", 0.5)
    page = Page(topic(attempt))
    async with opened(page, viewer):
        await page.receive()
        assert (await page.receive(beats=True))["type"] == "beat"
        assert (await page.receive(beats=True))["type"] == "beat"


async def test_viewer_who_was_cut_misses_no_line(attempt: Attempt, viewer: User) -> None:
    page = Page(topic(attempt))
    await call(factories.log, attempt, "line 1\nline 2\n")
    async with opened(page, viewer):
        await page.receive_until(lambda: len(page.lines) == 2)
    await call(factories.log, attempt, "".join(f"line {n}\n" for n in range(3, 40)))
    async with opened(page, viewer):
        await call(factories.log, attempt, "line 40\n")
        await page.receive_until(lambda: len(page.lines) >= 40)
    assert page.lines == [(n, f"line {n}") for n in range(1, 41)]
    assert page.kinds.count("snapshot") == 1


async def test_viewer_misses_no_line_when_the_web_process_was_another_one(attempt: Attempt, viewer: User) -> None:
    page = Page(topic(attempt))
    await call(factories.log, attempt, "".join(f"line {n}\n" for n in range(1, 1001)))
    async with opened(page, viewer):
        await page.receive_until(lambda: page.lines)
    assert page.lines[0][0] == 501
    await call(factories.log, attempt, "".join(f"line {n}\n" for n in range(1001, 3501)))
    hub_module._hubs.clear()
    async with opened(page, viewer):
        await page.receive_until(lambda: page.lines[-1][0] == 3500)
    assert page.lines == [(n, f"line {n}") for n in range(501, 3501)]


async def test_viewer_gets_every_point_after_the_pages_own(attempt: Attempt, viewer: User) -> None:
    before = await call(factories.point, attempt, "tokens", 1.0, series="B1")
    page = Page(topic(attempt))
    page.cursors[topic(attempt)] = {"streams": {"points": before.pk}}
    await call(factories.point, attempt, "tokens", 2.0, series="B1")
    async with opened(page, viewer):
        await page.receive()
        await call(factories.point, attempt, "tokens_per_s", 9.0, series="B1")
        await call(factories.point, attempt, "tokens", 3.0, series="B1")
        await page.receive_until(lambda: len(page.points) == 2)
    assert [(series, value) for series, _t, value in page.points] == [("B1", 2.0), ("B1", 3.0)]


async def test_attempt_shows_only_its_own_lines(attempt: Attempt, viewer: User) -> None:
    await call(factories.log, attempt, "old line\n")
    second = await call(factories.attempt, attempt.run)
    await call(factories.log, second, "new line\n")
    page = Page(topic(second))
    async with opened(page, viewer):
        await page.receive()
    assert page.lines == [(1, "new line")]


async def test_hostile_line_is_data_with_signs(attempt: Attempt, viewer: User) -> None:
    await call(factories.log, attempt, f"{factories.HOSTILE}\n{'x' * 1_000_000}\n")
    page = Page(topic(attempt))
    async with opened(page, viewer):
        await page.receive()
    hostile, long = (text for _, text in page.lines)
    assert hostile.startswith('<script>alert("x")</script>{{ 7|add:7 }}')
    assert "\x1b" not in hostile
    assert len(long) == 2000


async def test_buttons_are_for_those_who_may_press_them(attempt: Attempt, viewer: User) -> None:
    operator = await call(factories.user, permissions=("view_run", "change_run"))
    seen = {}
    for user in (viewer, operator):
        page = Page(topic(attempt))
        async with opened(page, user):
            await page.receive()
        seen[user.username] = "Stop…" in page.fragments["run-head"]
    assert seen == {viewer.username: False, operator.username: True}


async def test_socket_of_somebody_who_lost_the_right_is_closed(
    attempt: Attempt, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "CHECK_EVERY", 0.2)
    monkeypatch.setattr(consumers, "BEAT_EVERY", 0.1)
    page = Page(topic(attempt))
    async with opened(page, viewer) as socket:
        await page.receive()
        await call(viewer.user_permissions.remove, await call(Permission.objects.get, codename="view_run"))
        assert await socket.close_code() == 4401


async def test_run_that_waits_leads_to_its_first_attempt(viewer: User) -> None:
    run = await call(factories.run)
    page = Page(f"run/{run.pk}/0")
    async with opened(page, viewer):
        await page.receive()
        assert "data-goto" not in page.fragments["run-queued"]
        await call(factories.attempt, run)
        await page.receive_until(lambda: f'data-goto="/runs/{run.pk}/"' in page.fragments["run-queued"])


async def test_several_topics_share_a_socket(attempt: Attempt, viewer: User) -> None:
    page = Page(topic(attempt), f"nav/{attempt.run.project_id}", f"project/{attempt.run.project_id}", "engines")
    async with opened(page, viewer) as socket:
        await page.receive_until(lambda: {"run-head", "nav-runs", "ov-stats", "engines-table"} <= page.fragments.keys())
        await socket.send_text(json.dumps({"subscribe": page.cursors}))
        assert await socket.close_code() == 4400
    assert "1 live" in page.fragments["nav-runs"]


async def test_page_whose_reader_breaks_does_not_look_live(
    attempt: Attempt, viewer: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    page = Page(topic(attempt))
    async with opened(page, viewer) as socket:
        await page.receive()
        monkeypatch.setitem(FRAGMENTS, "run-facts", "runs/no_such_template.html")
        assert await socket.close_code() == 1011
    assert "a viewer's page broke" in caplog.text
