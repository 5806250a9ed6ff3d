import pytest

from pipeline.held_out import is_held_out

KEYS = [f"key-{n}" for n in range(4000)]


def chosen(share: float, dataset: str = "B1") -> set[str]:
    return {key for key in KEYS if is_held_out(dataset, key, share=share)}


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_held_out_answers_are_about_the_share(share: float) -> None:
    assert len(chosen(share)) / len(KEYS) == pytest.approx(share, rel=0.15)


def test_nothing_and_everything_are_shares_too() -> None:
    assert (chosen(0.0), chosen(1.0)) == (set(), set(KEYS))


def test_a_larger_share_holds_the_smaller_one() -> None:
    assert chosen(0.05) < chosen(0.1)


def test_each_dataset_has_its_own_choice() -> None:
    assert chosen(0.1, "B1") != chosen(0.1, "B2")
