"""More of SGLang's arguments than the config names: a list of what is allowed, and nothing else.

Left out are arguments that run code, read or write files, open ports, fetch models or carry secrets, and those that the config
has fields for.
"""

import shlex
from collections.abc import Mapping
from math import isfinite
from typing import Any

from pipeline.errors import ConfigError

SWITCH, WHOLE, NUMBER, WORD = "a switch", "a whole number", "a number", "a word"
ALLOWED: dict[str, str] = {
    "allow-auto-truncate": SWITCH,
    "attention-backend": WORD,
    "chunked-prefill-size": WHOLE,
    "cuda-graph-max-bs": WHOLE,
    "cuda-graph-max-bs-decode": WHOLE,
    "decode-attention-backend": WORD,
    "decode-log-interval": WHOLE,
    "disable-cuda-graph": SWITCH,
    "disable-cuda-graph-padding": SWITCH,
    "disable-custom-all-reduce": SWITCH,
    "disable-overlap-schedule": SWITCH,
    "disable-radix-cache": SWITCH,
    "dp-size": WHOLE,
    "enable-deterministic-inference": SWITCH,
    "enable-dp-attention": SWITCH,
    "enable-mixed-chunk": SWITCH,
    "enable-torch-compile": SWITCH,
    "ep-size": WHOLE,
    "grammar-backend": WORD,
    "hicache-size": WHOLE,
    "hicache-write-policy": WORD,
    "log-level": WORD,
    "max-prefill-tokens": WHOLE,
    "moe-runner-backend": WORD,
    "num-continuous-decode-steps": WHOLE,
    "page-size": WHOLE,
    "prefill-attention-backend": WORD,
    "quantization": WORD,
    "random-seed": WHOLE,
    "reasoning-parser": WORD,
    "sampling-backend": WORD,
    "schedule-conservativeness": NUMBER,
    "schedule-policy": WORD,
    "skip-server-warmup": SWITCH,
    "speculative-attention-mode": WORD,
    "speculative-draft-attention-backend": WORD,
    "stream-interval": WHOLE,
    "tool-call-parser": WORD,
    "watchdog-timeout": NUMBER,
}
"""Name of an argument, without dashes → what its value is."""
_WORD_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def parse_extra(text: str) -> dict[str, Any]:
    """`--page-size 16 --disable-radix-cache`, as people write it at a shell. Raises ConfigError that says what is wrong."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"extra arguments: {error}") from error
    found: dict[str, Any] = {}
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not name.startswith("--"):
            raise ConfigError(f"extra arguments: {name!r} is no argument such as --page-size 16")
        name = name.removeprefix("--")
        kind = ALLOWED.get(name)
        if kind is None:
            raise ConfigError(_refused(name))
        if kind == SWITCH:
            found[name] = True
            if equals:
                raise ConfigError(f"--{name} is a switch and takes no value")
            continue
        if not equals and not words:
            raise ConfigError(f"--{name} needs {kind}")
        found[name] = _value(name, kind, value if equals else words.pop(0))
    return found


def checked(extra: Mapping[str, Any]) -> None:
    """Raises ConfigError for an argument that is not allowed, or a value that is not of its kind."""
    for name, value in extra.items():
        kind = ALLOWED.get(name)
        if kind is None:
            raise ConfigError(_refused(name))
        if kind == SWITCH:
            if value is not True:
                raise ConfigError(f"--{name} is a switch: true, or left out")
        else:
            _value(name, kind, str(value))


def written(extra: Mapping[str, Any]) -> list[str]:
    """As words of a command line; a tuple is several words behind its name."""
    return [word for name, value in extra.items() for word in (f"--{name}", *_words(value))]


def _words(value: Any) -> list[str]:  # noqa: ANN401  (what an argument may be)
    if value is True:
        return []
    return [str(part) for part in value] if isinstance(value, tuple) else [str(value)]


def _value(name: str, kind: str, text: str) -> int | float | str:
    try:
        if kind == WHOLE:
            return int(text)
        if kind == NUMBER and isfinite(float(text)):
            return float(text)
    except ValueError as error:
        raise ConfigError(f"--{name} needs {kind}, not {text!r}") from error
    if kind == NUMBER or not text or not set(text) <= _WORD_LETTERS:
        raise ConfigError(f"--{name} needs {kind}, not {text!r}")
    return text


def _refused(name: str) -> str:
    return f"--{name} is not among the extra arguments that may be given: {', '.join(ALLOWED)}"
