"""Numbers as people type them into addresses and fields."""

from eagle3web.text import NO_BREAK

DIGITS = 15


def whole(text: str) -> int | None:
    """A whole number from 0 on, of at most DIGITS digits, perhaps grouped by spaces; None for anything else."""
    digits = text.replace(" ", "").replace(NO_BREAK, "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= DIGITS else None
