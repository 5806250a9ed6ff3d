"""What a seed means."""

from itertools import islice

from tests.faults.driver import faults
from tests.faults.kinds import FAULTS


def test_equal_seeds_draw_equal_faults_and_others_do_not() -> None:
    drawn = [[fault.name for fault in islice(faults(seed), 60)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_every_fault_is_drawn_before_one_comes_again() -> None:
    assert {fault.name for fault in islice(faults(5), len(FAULTS))} == set(FAULTS)


def test_some_faults_alone() -> None:
    assert {fault.name for fault in islice(faults(1, "freeze"), 30)} == {name for name in FAULTS if name.startswith("freeze")}
