import hashlib
import random

from pipeline.datasets.keys import KeySet


def test_a_key_is_added_once() -> None:
    keys = KeySet()
    assert [keys.add(key) for key in ("0" * 16, "f" * 16, "0" * 16, "0" * 15 + "1", "f" * 16)] == [
        True,
        True,
        False,
        True,
        False,
    ]


def test_it_says_what_a_set_would_say() -> None:
    random.seed(7)
    keys, held = KeySet(), set()
    for _ in range(50_000):
        key = hashlib.blake2b(str(random.randrange(30_000)).encode(), digest_size=8).hexdigest()
        assert keys.add(key) is (key not in held)
        held.add(key)
