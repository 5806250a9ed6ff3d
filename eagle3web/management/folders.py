"""A folder named on the command line."""

from argparse import ArgumentTypeError
from pathlib import Path


def folder(text: str) -> Path:
    """Nothing is no folder, although Path reads it as the one we stand in."""
    if not text.strip():
        raise ArgumentTypeError("name a folder")
    return Path(text)
