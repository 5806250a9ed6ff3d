import socket
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.serve.config import ServeConfig
from pipeline.serve.place import find_place, free_port
from tests.support.fake_sglang import interpreter

CONFIG = ServeConfig(project="p", target="m", port=0, device="cpu")


async def test_place_is_a_free_port_with_the_version_that_is_there(tmp_path: Path) -> None:
    place = await find_place(replace(CONFIG, python=str(interpreter(tmp_path))))
    assert (place.version, place.device) == ("0.5.23", "cpu")
    assert place.url == place.own_url == f"http://127.0.0.1:{place.port}"


async def test_others_reach_it_by_the_name_that_they_know(tmp_path: Path) -> None:
    listening = replace(CONFIG, python=str(interpreter(tmp_path)), host="0.0.0.0")  # noqa: S104  (nothing listens there)
    place = await find_place(replace(listening, reached_as="gpu-07"))
    assert (place.own_url, place.url) == (f"http://127.0.0.1:{place.port}", f"http://gpu-07:{place.port}")
    place = await find_place(listening)
    assert place.url == f"http://{socket.gethostname()}:{place.port}"


def test_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            free_port("127.0.0.1", port)


async def test_python_without_sglang_is_named(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(ConfigError, match="has no SGLang; `make sglang` installs it"):
        await find_place(replace(CONFIG, python=str(program)))
