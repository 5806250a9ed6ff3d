"""What counts as an engine's address."""

import pytest
from django.core.exceptions import ValidationError

from eagle3web.models.engine import validate_base_url


@pytest.mark.parametrize(
    "url",
    ["http://gpu-07:30000", "https://engines.example/k2", "http://127.0.0.1:8001", "http://[::1]:30000", "http://localhost"],
)
def test_base_urls_are_taken_also_with_hosts_of_one_word(url: str) -> None:
    validate_base_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gpu-07:30000",
        "ftp://gpu-07",
        "http://",
        "http://user:pw@gpu-07",
        "http://gpu-07?x=1",
        "http://gpu-07#x",
        "http://gpu 07",
        "http://gpu-07\n",
        "http://gpu-07:0",
        "http://gpu-07:99999",
        "http://gpu-07:x",
        "http://[::1",
        "javascript:alert(1)",
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        validate_base_url(url)
