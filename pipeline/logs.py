"""Log lines of a stage: `2026-11-30T11:24:12.345Z INFO text`, one line each, whatever is in the text."""

import logging
import time
from typing import TextIO

ESCAPES = {code: f"\\x{code:02x}" for code in [*range(32), 127, *range(128, 160)] if code not in (9, 10)}
"""Control characters show as text: a prompt or an answer that is quoted in a log must not move a terminal's cursor."""


class LineFormatter(logging.Formatter):
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self.converter = time.gmtime

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        record.message = record.message.replace("\n", "\\n")
        return super().formatMessage(record).translate(ESCAPES)


def log_to(stream: TextIO, *, level: int = logging.INFO) -> None:
    """Send everything that is logged to `stream`, each line at once."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
