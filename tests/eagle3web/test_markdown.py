import pytest

from eagle3web.markdown import render
from tests.support import factories as make


def test_markdown_becomes_html() -> None:
    assert render("**bold** and `code`\nnext") == "<p><strong>bold</strong> and <code>code</code><br>\nnext</p>\n"
    assert render("# Title") == "<h3>Title</h3>"
    assert "<table>" in render("a | b\n--|--\n1 | 2")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](data:text/html,1)", "[x](data:text/html,1)"),
        ("![cat](https://evil.example/c.png)", "<p>[image: cat]</p>"),
        ('<a href="https://x" onclick="y">z</a>', "&lt;a href="),
        ("a\u202eb\x1b[31m", "a⟨U+202E⟩b␛[31m"),
        ("<style>p{}</style>", "&lt;style&gt;"),
    ],
)
def test_nothing_of_theirs_runs_loads_or_hides(text: str, html: str) -> None:
    found = render(text)
    assert html in found
    assert not any(part in found for part in ("<script", "<img", "<style", '<a href="https://x', 'href="javascript'))


def test_links_do_not_vouch_for_their_target() -> None:
    assert render("[x](https://a.example/)") == (
        '<p><a href="https://a.example/" rel="nofollow noopener noreferrer">x</a></p>\n'
    )


def test_hostile_text_comes_out_as_text() -> None:
    found = render(make.HOSTILE)
    assert "<script" not in found
    assert "&lt;b&gt;bold" in found


def test_deep_nesting_ends() -> None:
    assert len(render(">" * 5000)) < 100_000
    assert len(render("[" * 9000)) < 100_000
