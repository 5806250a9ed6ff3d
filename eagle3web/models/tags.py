"""Tags of hosts: short names for what a machine has, such as `h200` or `nvme`."""

import re
from typing import Any

from django.core.exceptions import ValidationError

TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
MOST = 16
"""Of one host, or asked for by one run."""


def validate_tags(value: Any) -> None:  # noqa: ANN401  (any JSON value)
    """Refuse what is no list of tags; the message names the one that is none."""
    if not isinstance(value, list):
        raise ValidationError('Write a JSON list of tags, such as ["h200"].')
    if len(value) > MOST:
        raise ValidationError(f"{len(value)} tags: {MOST} are the most.")
    for tag in value:
        if not isinstance(tag, str) or not TAG.fullmatch(tag):
            raise ValidationError(f"{tag!r} is no tag: write up to 40 small letters, digits, dots, dashes or underscores.")
