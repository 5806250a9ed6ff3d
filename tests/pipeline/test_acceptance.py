import pytest

from pipeline.acceptance import Served, served_accept_length, served_conditional, simulate, speedup
from pipeline.errors import DataError


def test_simulated_accept_length_counts_the_bonus_token() -> None:
    nothing = simulate([[False, False]], [[True, True]])
    assert nothing.accept_length == 1.0
    assert simulate([[True, True], [True, True]], [[True, True], [True, True]]).accept_length == 3.0


def test_chain_ends_at_its_first_wrong_draft() -> None:
    counts = simulate([[True, True, False], [False, True, True], [True, True, True]], [[True] * 3] * 3)
    assert counts.survivors == (2, 1, 1)
    assert counts.accept_length == 1 + 4 / 3
    assert counts.accuracy == (2 / 3, 2 / 3, 1.0)
    assert counts.conditional == (2 / 3, 1 / 2, 1.0)


def test_chain_ends_at_the_end_of_the_answer() -> None:
    counts = simulate([[True, True], [True, True]], [[True, True], [True, False]])
    assert counts.survivors == (2, 1)
    assert counts.rows == (2, 1)


def test_rows_without_a_first_label_start_no_chain() -> None:
    counts = simulate([[True, True], [True, True]], [[False, True], [True, True]])
    assert (counts.starts, counts.survivors) == (1, (1, 1))


def test_counts_add_up_over_batches_of_different_steps() -> None:
    one, three = simulate([[True]], [[True]]), simulate([[True], [True], [False]], [[True]] * 3)
    total = one + three
    assert (total.starts, total.survivors, total.rows) == (2, (2, 1, 0), (2, 1, 1))


def test_served_accept_length_pools_tokens() -> None:
    requests = [Served(completion_tokens=300, verify_ct=100), Served(completion_tokens=10, verify_ct=10)]
    assert served_accept_length(requests) == 310 / 110


def test_served_accept_length_without_a_drafter_is_refused() -> None:
    with pytest.raises(DataError, match="without a drafter"):
        served_accept_length([Served(completion_tokens=300, verify_ct=0)])


def test_served_acceptance_by_position_reads_the_histogram() -> None:
    requests = [
        Served(completion_tokens=9, verify_ct=5, correct_drafts=(2, 1, 2)),
        Served(completion_tokens=5, verify_ct=5, correct_drafts=(5,)),
    ]
    assert served_conditional(requests) == (3 / 10, 2 / 3)


def test_speedup_pairs_repetitions_and_shows_the_spread() -> None:
    result = speedup([10.0, 20.0, 10.0], [15.0, 24.0, 14.0])
    assert (result.median, result.low, result.high, result.repetitions) == (1.4, 1.2, 1.5, 3)


@pytest.mark.parametrize(("baseline", "draft"), [([], []), ([10.0], [12.0, 13.0]), ([0.0], [1.0])])
def test_speedup_without_a_baseline_is_refused(baseline: list[float], draft: list[float]) -> None:
    with pytest.raises(DataError, match="baseline"):
        speedup(baseline, draft)
