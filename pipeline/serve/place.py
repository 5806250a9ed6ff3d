"""Where a server runs and answers: this host's SGLang, its device, its port."""

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigError
from pipeline.serve.command import interpreter
from pipeline.serve.config import ServeConfig

ASK_VERSION = "from importlib.metadata import version; print(version('sglang'))"
ANY = frozenset({"0.0.0.0", "::"})  # noqa: S104  (told apart here, not listened on)  # nosec B104
VERSION_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Place:
    python: str
    version: str
    """SGLang's."""
    device: str
    """cuda or cpu."""
    port: int
    own_url: str
    """For us, on the same host."""
    url: str
    """For others."""


async def find_place(config: ServeConfig) -> Place:
    """Raises ConfigError when there is no SGLang, or the port is taken."""
    python = interpreter(config)
    port = free_port(config.host, config.port)
    own = "127.0.0.1" if config.host in ANY else config.host
    known_as = config.reached_as or (socket.gethostname() if config.host in ANY else config.host)
    return Place(
        python=python,
        version=await _version(python),
        device=_device(config),
        port=port,
        own_url=f"http://{_bracketed(own)}:{port}",
        url=f"http://{_bracketed(known_as)}:{port}",
    )


def free_port(host: str, port: int) -> int:
    """The port, or with 0 one that is free now. Raises ConfigError when somebody else listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
        return int(probe.getsockname()[1])


def _device(config: ServeConfig) -> str:
    if config.device != "auto":
        return config.device
    return "cuda" if any(Path("/dev").glob("nvidia[0-9]*")) else "cpu"


async def _version(python: str) -> str:
    process = await asyncio.create_subprocess_exec(
        python, "-c", ASK_VERSION, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), VERSION_S)
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise ConfigError(f"{python} did not tell its SGLang's version within {VERSION_S:.0f} s") from error
    if process.returncode != 0:
        raise ConfigError(f"{python} has no SGLang; `make sglang` installs it")
    return out.decode().strip()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
