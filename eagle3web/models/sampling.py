"""Validators of JSON that people write: sampling settings and template arguments."""

import json
import math
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError

from pipeline.config import SamplingConfig, from_mapping
from pipeline.errors import ConfigError

_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "temperature": (lambda x: 0 <= x <= 100, "0 (greedy) to 100"),
    "top_p": (lambda x: 0 < x <= 1, "above 0, at most 1"),
    "top_k": (lambda x: x == -1 or 1 <= x < 2**31, "-1 (all tokens) or at least 1"),
    "min_p": (lambda x: 0 <= x <= 1, "0 to 1"),
    "max_new_tokens": (lambda x: 1 <= x < 2**31, "at least 1"),
    "seed": (lambda x: 0 <= x < 2**63, "0 to 2^63 - 1"),
}


def validate_sampling(value: Any) -> None:  # noqa: ANN401  (any JSON value)
    """Refuse what is not a subset of pipeline.config.SamplingConfig, or out of range; the message names the key."""
    if not isinstance(value, dict):
        raise ValidationError('Write a JSON object, such as {"temperature": 0.7}.')
    try:
        config = from_mapping(SamplingConfig, value, "sampling")
    except ConfigError as error:
        raise ValidationError(str(error)) from error
    for name, (fits, words) in _RANGES.items():
        number = getattr(config, name)
        if not (math.isfinite(number) and fits(number)):
            raise ValidationError(f"sampling.{name}: {number!r} is out of range: {words}.")


def validate_object(value: Any) -> None:  # noqa: ANN401  (any JSON value)
    """Refuse what is no JSON object, and what a database cannot keep: NaN, NUL characters, half surrogate pairs."""
    if not isinstance(value, dict):
        raise ValidationError('Write a JSON object, such as {"enable_thinking": true}.')
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as error:
        raise ValidationError(f"This is no JSON that can be stored: {error}.") from error
    if "\\u0000" in text:
        raise ValidationError("NUL characters cannot be stored.")
