"""Which answers are kept from training: a pure function of their names, so that every stage agrees without a list."""

import hashlib


def is_held_out(dataset: str, key: str, *, share: float) -> bool:
    """Whether this prompt belongs to the `share` of its dataset that is only measured on; a larger one holds a smaller."""
    digest = hashlib.blake2b(f"held out\0{dataset}\0{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64
