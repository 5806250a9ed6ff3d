"""What a crash of the machine or a bad disk left of an unfinished extraction, put aside so that it is computed again.

Sizes and indexes are compared, not hashes: reading terabytes again would take longer than a shard is worth. Whoever wants to
know compares the hashes that the indexes hold.
"""

from pathlib import Path

from pipeline.artifacts import read_record
from pipeline.errors import ConfigError, DataError
from pipeline.shard_layout import Layout

PREFIX = "damaged-"


def set_damaged_aside(folder: Path) -> list[str]:
    """Rename damaged shards, so that their documents are missing again; a sentence for each thing that was wrong.

    Without a readable layout nobody knows what the shards hold: all of them go. The manifest, a summary, goes with any.
    """
    told = [] if not (folder / "layout.json").exists() else _layout(folder)
    for index in sorted(folder.glob("shard-*.json")):
        if wrong := damage(index):
            _rename(index.with_suffix(".safetensors"))
            told.append(f"{wrong}; its documents are extracted again, what is left of it is kept as {_rename(index)}")
    told += _manifest(folder / "manifest.json", told_of=bool(told))
    return told


def damage(index: Path) -> str:
    """What is wrong with a shard, in words; empty when index and states fit together."""
    shard = index.with_suffix(".safetensors")
    try:
        promised = read_record(index)["bytes"]
    except (DataError, KeyError) as error:
        return f"{index}: damaged ({error})"
    size = shard.stat().st_size if shard.exists() else 0
    return "" if size == promised else f"{shard}: {size:,} bytes instead of {promised:,}"


def _layout(folder: Path) -> list[str]:
    try:
        Layout.read(folder)
    except (DataError, ConfigError, KeyError, TypeError) as error:
        shards = [_rename(path) for path in sorted(folder.glob("shard-*"))]
        _rename(folder / "layout.json")
        return [f"{error}; what {len(shards)} files hold is not known any more: all is extracted again"]
    return []


def _manifest(path: Path, *, told_of: bool) -> list[str]:
    """A manifest that speaks of what is not there, or that cannot be read, is written again at the end."""
    if not path.exists():
        return []
    try:
        lost = [name for name in read_record(path)["shards"] if not path.with_name(f"{name}.json").exists()]
        told = [f"{path}: names {len(lost)} shards that are missing; they are extracted again"] if lost else []
    except (DataError, KeyError, TypeError) as error:
        lost, told = [], [f"{path}: damaged ({error}); it is written again"]
    if told or told_of:
        path.unlink()
    return [] if told_of else told


def _rename(path: Path) -> str:
    """Move a file out of sight; its new name. One that is missing has none."""
    names = (path.with_name(f"{PREFIX}{path.name}"), *(path.with_name(f"{PREFIX}{n}-{path.name}") for n in range(2, 1000)))
    aside = next(name for name in names if not name.exists())
    if path.exists():
        path.rename(aside)
    return aside.name
