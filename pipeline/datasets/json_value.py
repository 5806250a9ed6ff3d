"""The type of a JSON value whose shape is not known yet."""

from typing import Any

Json = Any
