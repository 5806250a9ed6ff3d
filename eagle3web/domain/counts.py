"""Counts the way people write them: `10 M`, `2.5k`, `10 000 000`, `10,000,000`."""

import re
from fractions import Fraction

_COUNT = re.compile(
    r"""
    (?P<whole> \d+ | \d{1,3} (?P<separator>[\ ,_\u00a0\u2009\u202f]) \d{3} (?: (?P=separator) \d{3} )* )
    (?P<decimals> \.\d+ )?
    [\ \u00a0\u202f]? (?P<unit> [kmgbt] )?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""Groups of three between equal separators: a comma, an underscore, or a plain, no-break or thin space."""
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12}
_LONGEST = 40


def parse_count(text: str) -> int:
    """Read a whole number that a person wrote. Raises ValueError, quoting the text, for anything that could be a slip.

    `2o48` is refused, and so are `1,5 M`, `10 00` and `0.5`: nothing is guessed or rounded.
    """
    text = text.strip()
    found = _COUNT.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ValueError(f"“{text[:_LONGEST]}” is not a number: write 10 M, 2.5 k or 10 000 000.")
    digits = re.sub(r"\D", "", found["whole"]) + (found["decimals"] or "")
    value = Fraction(digits) * _UNITS.get((found["unit"] or "").lower(), 1)
    if value.denominator != 1:
        raise ValueError(f"“{text}” is not a whole number.")
    return int(value)
