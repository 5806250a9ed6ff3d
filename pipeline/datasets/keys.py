"""A set of 64-bit keys that stays small: twenty million rows in 250 MB, where a Python set would take two gigabytes."""

from array import array

SHARDS = 16
FULLEST = 7, 8
"""A table grows when more than this part of it is taken."""


class KeySet:
    """Keys in flat tables of eight bytes a slot. Several tables, so that growing copies a sixteenth of the keys at a time."""

    def __init__(self) -> None:
        self._tables = [_Table() for _ in range(SHARDS)]

    def add(self, key: str) -> bool:
        """Add a key of 16 hexadecimal digits; False when it was in."""
        number = int(key, 16)
        return self._tables[number % SHARDS].add(number // SHARDS + 1)


class _Table:
    """Open addressing; 0 marks a free slot. The keys are hashes, so their remainders spread well."""

    def __init__(self) -> None:
        self._slots = array("Q", [0]) * 64
        self._count = 0

    def add(self, key: int) -> bool:
        if FULLEST[1] * self._count >= FULLEST[0] * len(self._slots):
            old, self._slots = self._slots, array("Q", [0]) * (len(self._slots) * 4 // 3)
            for held in old:
                if held:
                    self._put(held)
        added = self._put(key)
        self._count += added
        return added

    def _put(self, key: int) -> bool:
        slots = self._slots
        size = len(slots)
        i = key % size
        while held := slots[i]:
            if held == key:
                return False
            i = i + 1 if i + 1 < size else 0
        slots[i] = key
        return True
