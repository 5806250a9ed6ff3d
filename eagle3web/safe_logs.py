"""Lines of logs without what opens a door: passwords in addresses, tokens, one-time links; in tracebacks as well."""

import logging
import re

SECRETS = (
    (re.compile(r"(?<=://)[^\s/@]*:[^\s/@]+(?=@)"), "…"),
    (re.compile(r"(?i)(?<=bearer )\S+"), "…"),
    (re.compile(r"\be3_[A-Za-z0-9_-]{16,}"), "e3_…"),
    (re.compile(r"(?<=/sign-in/link/)[^\s/'\"<>]+"), "…"),
    (re.compile(r"(?i)(?<=sessionid=)[A-Za-z0-9]+"), "…"),
)


def blotted(text: str) -> str:
    for pattern, sign in SECRETS:
        text = pattern.sub(sign, text)
    return text


class SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return blotted(super().format(record))


class NoTraceOfRefusals(logging.Filter):
    """A request that was refused is a line, as it should be; a traceback is for what went wrong here."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
