from django.template import Context, Template

from tests.support.factories import HOSTILE


def test_markdown_is_rendered_and_markup_of_people_is_text() -> None:
    page = Template("{% load prose %}{{ text|markdown }}").render(Context({"text": f"**bold** {HOSTILE}"}))
    assert "<strong>bold</strong>" in page
    assert "<script>" not in page
