"""A stage on a host of its own: what its config names is fetched before it starts, what it made is published when it ends.

Only where EAGLE3_ARTIFACTS names a store. Hosts name their folders alike: EAGLE3_HOME is the same path on each.
"""

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline.artifact_store import ArtifactStore
from pipeline.artifacts import AttemptFolder, Home, read_json, write_tick
from pipeline.errors import PipelineError

FAILED = 1
TICK_S = 1.0
log = logging.getLogger(__name__)


def exchanging(stage: str, folder: AttemptFolder, carry_out: Callable[[], int]) -> int:
    """Fetch, carry the stage out, publish; its exit code, or FAILED when the store failed it. Its log says why."""
    home, config = Path(os.environ["EAGLE3_HOME"]), read_json(folder.config)
    host = os.environ.get("EAGLE3_HOST") or socket.gethostname()
    # Taken away, so that processes of the stage's own do not do the same again.
    url = os.environ.pop("EAGLE3_ARTIFACTS")
    try:
        store = ArtifactStore(url)
        with _ticking(folder, "its inputs from the store"):
            for name in published(store, home, config):
                store.fetch(name, home / name, host=host)
        code = carry_out()
        with _ticking(folder, "its results to reach the store"):
            for made in results(stage, home, config):
                if made.is_dir():
                    store.publish(made, str(made.relative_to(home)), host=host)
            folder.published.touch()
    except (PipelineError, OSError) as error:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
        log.error("what hosts hand to one another failed: %s", error)
        return FAILED
    return code


def published(store: ArtifactStore, home: Path, config: dict[str, Any]) -> list[str]:
    """Names in the store of the folders that a config names: of each path below home, itself or what it lies in."""
    found: dict[str, None] = {}
    for path in _paths(config, home):
        for folder in (path, *path.parents):
            if folder == home:
                break
            if store.has(name := str(folder.relative_to(home))):
                found[name] = None
                break
    return list(found)


def results(stage: str, home: Path, config: dict[str, Any]) -> list[Path]:
    """The folders that a stage writes to."""
    where: dict[str, Callable[[], Path]] = {
        "generate": lambda: Home(home).responses(config["project"]),
        "extract": lambda: Path(config["hidden"]),
        "train": lambda: Path(config["checkpoints"]),
        "benchmark": lambda: Path(config["output"]),
    }
    return [path] if stage in where and (path := where[stage]()).is_relative_to(home) else []


def _paths(value: Any, home: Path) -> Iterator[Path]:  # noqa: ANN401  (any JSON value)
    if isinstance(value, str) and value.startswith(f"{home}/"):
        yield Path(value)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _paths(item, home)
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item, home)


@contextlib.contextmanager
def _ticking(folder: AttemptFolder, waiting_for: str) -> Iterator[None]:
    """Say that the process lives and what it waits for."""
    done = threading.Event()

    def tick() -> None:
        write_tick(folder, waiting_for=waiting_for)
        while not done.wait(TICK_S):
            write_tick(folder, waiting_for=waiting_for)

    thread = threading.Thread(target=tick, name="exchange", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
