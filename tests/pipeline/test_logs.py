import io
import logging
import re
from collections.abc import Iterator

import pytest

from pipeline.logs import log_to


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    log_to(stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def test_log_lines_begin_with_utc_time_and_level(written: io.StringIO) -> None:
    logging.getLogger("x").warning("B1: %d left", 3)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING B1: 3 left\n", written.getvalue())


def test_log_lines_show_control_characters_as_text(written: io.StringIO) -> None:
    logging.getLogger("x").info("a\x1b[31mred\x00\r\nINFO forged\ttab é \x85")
    assert written.getvalue().endswith("INFO a\\x1b[31mred\\x00\\x0d\\nINFO forged\ttab é \\x85\n")
    assert written.getvalue().count("\n") == 1


def test_log_lines_keep_a_traceback(written: io.StringIO) -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("x").exception("it failed")
    lines = written.getvalue().splitlines()
    assert (lines[0].split(" ", 1)[1], lines[-1]) == ("ERROR it failed", "ValueError: broken")
