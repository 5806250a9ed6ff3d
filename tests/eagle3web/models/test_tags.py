"""What may be asked of a host."""

import pytest
from django.core.exceptions import ValidationError

from eagle3web.models.tags import validate_tags


@pytest.mark.parametrize("value", [[], ["h200"], ["h200", "nvme", "rack-7.b_2"]])
def test_tags_are_accepted(value: object) -> None:
    validate_tags(value)


@pytest.mark.parametrize("value", ["h200", {"h200": 1}, [""], ["H200"], ["a b"], [7], ["x" * 41], ["a"] * 17, None])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        validate_tags(value)
