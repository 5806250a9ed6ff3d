"""Types of command-line flags that several stages have."""

import argparse

from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError


def shape(text: str) -> DraftShape:
    """`3/1/4`: steps, topk, draft tokens."""
    try:
        return DraftShape.parse(text)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
