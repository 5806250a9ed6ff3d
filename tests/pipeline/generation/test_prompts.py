import json
from pathlib import Path

import pytest

from pipeline.datasets.conversation import Conversation
from pipeline.errors import DataError
from pipeline.generation.prompts import PromptFeed, count_lines
from tests.support.generation import made_up


def write(path: Path, rows: list[Conversation]) -> Path:
    path.write_bytes(b"".join(row.to_line() for row in rows))
    return path


def test_feed_gives_prompts_in_file_order(tmp_path: Path) -> None:
    rows = made_up("B1", 3)
    feed = PromptFeed(write(tmp_path / "p", rows), lambda key: False)
    assert [feed.take() for _ in range(4)] == [*rows, None]
    feed.close()


def test_feed_passes_over_what_is_done(tmp_path: Path) -> None:
    rows = made_up("B1", 5)
    done = {rows[0].key, rows[3].key}
    feed = PromptFeed(write(tmp_path / "p", rows), done.__contains__)
    assert [feed.take() for _ in range(4)] == [rows[1], rows[2], rows[4], None]
    feed.close()


def test_feed_reads_lines_of_other_writers(tmp_path: Path) -> None:
    rows = made_up("B1", 2)
    path = tmp_path / "p"
    path.write_text("".join(json.dumps(json.loads(row.to_line()), sort_keys=True) + "\n" for row in rows))
    feed = PromptFeed(path, {rows[0].key}.__contains__)
    assert [feed.take(), feed.take()] == [rows[1], None]
    feed.close()


def test_feed_gives_a_prompt_once_and_again_when_it_was_put_back(tmp_path: Path) -> None:
    rows = made_up("B1", 2)
    feed = PromptFeed(write(tmp_path / "p", [rows[0], rows[0], rows[1]]), lambda key: False)
    first = feed.take()
    assert first == rows[0]
    feed.put_back(first)
    assert [feed.take(), feed.take(), feed.take()] == [rows[1], rows[0], None]
    feed.close()


def test_feed_names_a_broken_line_and_goes_on(tmp_path: Path) -> None:
    rows = made_up("B1", 2)
    path = tmp_path / "p"
    path.write_bytes(rows[0].to_line() + b'{"id": "no key"}\n' + rows[1].to_line())
    feed = PromptFeed(path, lambda key: False)
    assert feed.take() == rows[0]
    with pytest.raises(DataError, match="/p, line 2: not a normalised prompt"):
        feed.take()
    assert feed.take() == rows[1]
    feed.close()


def test_count_lines(tmp_path: Path) -> None:
    assert count_lines(write(tmp_path / "p", made_up("B1", 7))) == 7
