"""Bytes as people read them."""


def size(count: int) -> str:
    """`12.9 GB`, `3.1 MB`, `150 kB`; decimal units."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.0f} kB"
