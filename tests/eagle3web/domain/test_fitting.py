import pytest

from eagle3web.domain.fitting import fit


@pytest.mark.parametrize(("value", "bits", "fitted"), [(-5, 31, 0), (7, 31, 7), (2**40, 31, 2**31 - 1), (2**70, 63, 2**63 - 1)])
def test_fit_takes_the_nearest_number_that_a_column_holds(value: int, bits: int, fitted: int) -> None:
    assert fit(value, bits=bits) == fitted
