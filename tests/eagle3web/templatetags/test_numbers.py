import pytest
from django.template import Context, Template

from eagle3web.templatetags.numbers import model, signs
from eagle3web.text import visible


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


def test_signs_are_small_marks_that_say_their_names() -> None:
    mark = '<span class="unseen" title="{}">{}</span>'.format
    found = signs(visible("<b>a\u200b\x1b\x7f"))
    escape, delete = mark("control character 0x1b", "␛"), mark("control character 0x7f", "␡")
    assert found == f"&lt;b&gt;a{mark('ZERO WIDTH SPACE', '⟨U+200B⟩')}{escape}{delete}"


def test_signs_of_lone_surrogates_and_of_none() -> None:
    assert "⟨U+D83D⟩" in signs(visible("\ud83d"))
    assert signs("2 < 3") == "2 &lt; 3"


def test_numbers_in_templates_do_not_break() -> None:
    template = Template("{% load numbers %}{{ n|count }} {{ n|tokens }} {{ text|unbroken }}")
    assert template.render(Context({"n": 12_345, "text": "<5 s"})) == "12\u00a0345 12.3\u00a0k &lt;5\u00a0s"
