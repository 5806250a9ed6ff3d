"""Bytes and seconds as people read them in a log."""


def size(count: int) -> str:
    """`12.9 GB`, `3.1 MB`, `150 kB`; decimal units."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.0f} kB"


def duration(seconds: float | None) -> str:
    """`7.6h`, `3.1min`, `12s`; `?` while nobody knows."""
    if seconds is None:
        return "?"
    if seconds >= 3600:
        return f"{seconds / 3600:.1f}h"
    return f"{seconds / 60:.1f}min" if seconds >= 60 else f"{seconds:.0f}s"
