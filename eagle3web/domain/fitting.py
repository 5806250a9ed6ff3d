"""Whole numbers as columns can hold them, whatever an event says: one odd number must not stop all that follow."""


def fit(value: int, *, bits: int = 31) -> int:
    """The nearest number from 0 to 2^bits − 1."""
    largest: int = 2**bits - 1
    return min(max(0, value), largest)
