"""Guidelines: Markdown written by admins, shown to everybody as HTML that cannot act or fetch."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


@lru_cache(maxsize=128)
def guidelines_html(markdown: str) -> str:
    """Safe HTML. Remembered by the text itself, so that a new version is never shown as an old one.

    HTML in the source is shown as text. Images become their words: fetching one would tell its server who is at work.
    Headings begin at h2, below the page's own; links open beside the page, never instead of the item.
    """
    html = _parser().render(markdown)
    return nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}, "ol": {"start"}, "td": {"align"}, "th": {"align"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("heading_open", lambda self, tokens, i, *_: f"<{_lower(tokens[i].tag)}>")
    parser.add_render_rule("heading_close", lambda self, tokens, i, *_: f"</{_lower(tokens[i].tag)}>\n")
    parser.add_render_rule("image", lambda self, tokens, i, *_: nh3.clean_text(tokens[i].content))
    return parser


def _lower(tag: str) -> str:
    return f"h{min(int(tag[1:]) + 1, 6)}"
