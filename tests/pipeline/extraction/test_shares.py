from array import array
from collections import Counter

from pipeline.extraction.answers import Answer
from pipeline.extraction.shares import own, part_of


def answers(count: int) -> list[Answer]:
    return [Answer(dataset="B1", name=f"{n:016x}", ids=array("i", [1, 2, 3]), prompt_tokens=1) for n in range(count)]


def test_shares_are_disjoint_complete_and_of_like_size() -> None:
    everything = answers(4000)
    shares = [own(everything, part, 4) for part in (1, 2, 3, 4)]
    assert sorted(answer.name for share in shares for answer in share) == [answer.name for answer in everything]
    assert all(900 < len(share) < 1100 for share in shares)


def test_one_part_has_all_in_order() -> None:
    everything = answers(10)
    assert own(everything, 1, 1) == everything


def test_part_depends_on_the_dataset_and_the_key_alone() -> None:
    assert part_of("B1", "a", 7) == part_of("B1", "a", 7)
    assert len(Counter(part_of(f"B{n}", "a", 7) for n in range(100))) == 7
