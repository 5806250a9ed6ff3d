from typing import Any

import pytest

from pipeline.errors import ConfigError
from pipeline.serve.extra import ALLOWED, checked, parse_extra, written


def test_arguments_are_read_as_at_a_shell_and_written_again() -> None:
    found = parse_extra("--page-size 16 --disable-radix-cache --schedule-conservativeness=0.5 --quantization 'fp8'")
    assert found == {"page-size": 16, "disable-radix-cache": True, "schedule-conservativeness": 0.5, "quantization": "fp8"}
    assert written(found) == [
        *("--page-size", "16", "--disable-radix-cache", "--schedule-conservativeness", "0.5", "--quantization", "fp8")
    ]
    checked(found)
    assert parse_extra("") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--trust-remote-code", "--trust-remote-code is not among the extra arguments that may be given: allow-auto"),
        ("--model-path /etc/passwd", "--model-path is not among"),
        ("--api-key x", "--api-key is not among"),
        ("page-size 16", "'page-size' is no argument such as"),
        ("--page-size", "--page-size needs a whole number"),
        ("--schedule-conservativeness nan", "--schedule-conservativeness needs a number, not 'nan'"),
        ("--schedule-conservativeness 1e999", "--schedule-conservativeness needs a number, not '1e999'"),
        ("--page-size many", "--page-size needs a whole number, not 'many'"),
        ("--disable-radix-cache=yes", "is a switch and takes no value"),
        ("--quantization ../x", "--quantization needs a word, not '../x'"),
        ("--quantization '$(id)'", "--quantization needs a word"),
        ("--quantization 'x", "No closing quotation"),
    ],
)
def test_anything_else_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("$", r"\$").replace("(", r"\(").replace(")", r"\)")):
        parse_extra(text)


@pytest.mark.parametrize("extra", [{"disable-radix-cache": False}, {"page-size": "x"}, {"quantization": "a b"}, {"x": 1}])
def test_values_from_json_are_checked_too(extra: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        checked(extra)


def test_nothing_that_runs_code_or_touches_files_is_allowed() -> None:
    words = {
        "path",
        "file",
        "dir",
        "code",
        "key",
        "url",
        "hook",
        "hooks",
        "host",
        "port",
        "model",
        "config",
        "template",
        "remote",
    }
    assert [name for name in ALLOWED if words & set(name.split("-"))] == []
