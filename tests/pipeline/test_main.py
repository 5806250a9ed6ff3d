"""`python -m pipeline`, as people call it."""

import subprocess
import sys

import pytest

from pipeline.__main__ import COMMANDS, command


def pipeline(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command(arguments: list[str]) -> None:
    done = pipeline(*arguments)
    assert done.returncode == 0
    for name, (_, text) in COMMANDS.items():
        assert name in done.stdout
        assert text.split(",")[0] in " ".join(done.stdout.split())


def test_unknown_command_is_refused() -> None:
    done = pipeline("dance")
    assert done.returncode == 2
    assert "invalid choice: 'dance'" in done.stderr


def test_generate_and_engine_help_do_not_wait_for_torch() -> None:
    script = (
        "import sys; from pipeline.__main__ import main\n"
        "for name in ('generate', 'engine', 'validate'):\n"
        "    try: main([name, '--help'])\n"
        "    except SystemExit: pass\n"
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines()[-1] == "False False"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str) -> None:
    _module, parser = command(name)
    assert parser.description is not None
    assert parser.description.rstrip()[-1] == "."
    assert " ".join(parser.description.split())[:60] in " ".join(parser.format_help().split())
