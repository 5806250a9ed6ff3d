import json
from typing import Any

from eagle3web.live.feed import FIRST_ENTRIES, RING, Feed, Gap, Missed
from eagle3web.live.records import Batch, Cursor, Entry, Reading


def lines(first: int, last: int) -> list[Entry]:
    return [(n, f"line {n}") for n in range(first, last + 1)]


def receive(feed: Feed, cursor: Cursor, missed: dict[str, Missed] | None = None) -> tuple[dict[str, Any], Cursor]:
    found = feed.message(cursor, missed or {})
    assert found is not None
    return json.loads(found[0]), found[1]


def test_message_is_a_snapshot_for_a_new_viewer() -> None:
    feed = Feed()
    feed.apply(Reading(title="r1 running", fragments={"facts": "<dl></dl>"}, streams={"log": Batch(0, lines(1, 2))}))
    message, cursor = receive(feed, Cursor())
    assert message == {
        "type": "snapshot",
        "epoch": feed.epoch,
        "from": 0,
        "n": 1,
        "title": "r1 running",
        "fragments": {"facts": "<dl></dl>"},
        "streams": {"log": {"entries": [[1, "line 1"], [2, "line 2"]], "skipped": 0}},
    }
    assert cursor == Cursor(epoch=feed.epoch, n=1, streams={"log": 2})


def test_message_is_none_for_a_viewer_who_lacks_nothing() -> None:
    feed = Feed()
    feed.apply(Reading(fragments={"a": "1"}))
    _, cursor = receive(feed, Cursor())
    assert not feed.apply(Reading(fragments={"a": "1"}))
    assert feed.message(cursor, {}) is None


def test_delta_holds_only_what_changed_since_the_viewers_number() -> None:
    feed = Feed()
    feed.apply(Reading(fragments={"a": "1", "b": "1"}, streams={"log": Batch(0, lines(1, 3))}))
    _, first = receive(feed, Cursor())
    feed.apply(Reading(fragments={"a": "2", "b": "1"}, streams={"log": Batch(3, lines(4, 4))}))
    feed.apply(Reading(fragments={"a": "3", "b": "1"}, streams={"log": Batch(4, lines(5, 5))}))
    message, cursor = receive(feed, first)
    assert (message["type"], message["from"], message["n"]) == ("delta", 1, 3)
    assert message["fragments"] == {"a": "3"}
    assert message["streams"]["log"]["entries"] == [[4, "line 4"], [5, "line 5"]]
    assert cursor.streams == {"log": 5}


def test_viewer_of_another_process_gets_a_snapshot_and_only_the_lines_it_lacks() -> None:
    feed = Feed()
    feed.apply(Reading(fragments={"a": "1"}, streams={"log": Batch(0, lines(1, 30))}))
    message, _ = receive(feed, Cursor(epoch="another", n=77, streams={"log": 28}))
    assert message["type"] == "snapshot"
    assert message["fragments"] == {"a": "1"}
    assert message["streams"]["log"]["entries"] == [[29, "line 29"], [30, "line 30"]]


def test_new_viewer_gets_the_newest_entries_and_how_many_are_before_them() -> None:
    feed = Feed()
    feed.apply(Reading(streams={"log": Batch(0, lines(1, 900))}))
    message, _ = receive(feed, Cursor())
    assert len(message["streams"]["log"]["entries"]) == FIRST_ENTRIES
    assert message["streams"]["log"]["skipped"] == 400


def test_gap_names_what_left_memory_and_message_fills_it() -> None:
    feed = Feed()
    feed.apply(Reading(streams={"log": Batch(0, lines(1, 10))}))
    _, cursor = receive(feed, Cursor())
    feed.apply(Reading(streams={"log": Batch(10, lines(11, RING + 15))}))
    assert feed.gaps(cursor) == [Gap("log", after=10, up_to=15)]
    message, _ = receive(feed, cursor, {"log": (lines(12, 15), 1)})
    assert [entry[0] for entry in message["streams"]["log"]["entries"]] == list(range(12, RING + 16))
    assert message["streams"]["log"]["skipped"] == 1


def test_gap_is_none_for_a_viewer_at_the_end() -> None:
    feed = Feed()
    feed.apply(Reading(streams={"log": Batch(500, lines(501, 502)), "points": Batch(90)}))
    assert feed.gaps(Cursor(streams={"log": 500, "points": 90})) == []
    assert feed.gaps(Cursor(streams={"log": 499, "points": 80})) == [Gap("log", 499, 500), Gap("points", 80, 90)]


def test_fragment_that_is_gone_is_forgotten() -> None:
    feed = Feed()
    feed.apply(Reading(fragments={"a": "1", "b": "1"}))
    feed.apply(Reading(fragments={"a": "2"}))
    message, _ = receive(feed, Cursor())
    assert message["fragments"] == {"a": "2"}


def test_viewers_at_the_same_place_share_one_encoding() -> None:
    feed = Feed()
    feed.apply(Reading(fragments={"a": "1"}))
    first, second = feed.message(Cursor(), {}), feed.message(Cursor(), {})
    assert first is not None
    assert second is not None
    assert first[0] is second[0]


def test_cursor_from_a_browser_is_not_trusted() -> None:
    assert Cursor.from_json({"epoch": "e", "n": 3, "streams": {"log": 5}}) == Cursor(epoch="e", n=3, streams={"log": 5})
    assert Cursor.from_json("nonsense") == Cursor()
    assert Cursor.from_json({"epoch": None, "n": "3", "streams": {"log": -1, "points": True, "x": 2**60}}) == Cursor(
        epoch="None"
    )
    assert Cursor.from_json({"n": 9, "streams": [1]}) == Cursor(n=9)
