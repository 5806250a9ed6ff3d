"""Markdown that people wrote → HTML that can do no harm: no markup of theirs, no images, no link that vouches for a target."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from eagle3web.text import visible

TAGS = frozenset(
    {
        "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
        "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = frozenset({"http", "https", "mailto"})


def render(text: str) -> SafeString:
    """HTML of a comment. What cannot be seen gets a sign first; an image becomes its description and is not loaded."""
    html = _parser().render(visible(text))
    clean = nh3.clean(
        html, tags=set(TAGS), attributes=ATTRIBUTES, url_schemes=set(SCHEMES), link_rel="nofollow noopener noreferrer"
    )
    return mark_safe(clean)  # noqa: S308  (this is what the sanitiser is for)  # nosec B308 B703


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; markup in the text comes out as text."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    for kind in ("heading_open", "heading_close"):
        parser.add_render_rule(kind, _heading)
    return parser


def _image(renderer: Any, tokens: Sequence[Token], index: int, options: Mapping[str, Any], env: Any) -> str:  # noqa: ANN401
    """Its description: loading an image would tell its server who reads here."""
    return f"[image: {escape(tokens[index].content)}]"


def _heading(renderer: Any, tokens: Sequence[Token], index: int, options: Mapping[str, Any], env: Any) -> str:  # noqa: ANN401
    """Two levels further down: the page has its own first and second headings."""
    level = min(6, int(tokens[index].tag[1]) + 2)
    return f"<{'/' if tokens[index].nesting < 0 else ''}h{level}>"
