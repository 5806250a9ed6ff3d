import pytest

from eagle3web.templatetags.numbers import model


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/srv/models/SmolLM2-135M", '<span title="/srv/models/SmolLM2-135M">SmolLM2-135M</span>'),
        ("/srv/models/SmolLM2-135M/", '<span title="/srv/models/SmolLM2-135M/">SmolLM2-135M</span>'),
        ("org/Model-7B", "org/Model-7B"),
        ("/", "/"),
        ("", ""),
        ("/a/<b>\x1b", '<span title="/a/&lt;b&gt;␛">&lt;b&gt;␛</span>'),
    ],
)
def test_model_is_called_by_its_last_part(path: str, shown: str) -> None:
    assert model(path) == shown
