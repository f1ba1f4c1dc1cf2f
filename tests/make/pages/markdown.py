"""Pages that are written in Markdown: the guide, and the change log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

CODE = re.compile(r"IRL\d{3,4}")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A heading with the text below it; ``anchor`` is "" above the first heading."""

    anchor: str
    title: str
    text: str


@dataclass(frozen=True)
class Text:
    """A text in Markdown as markup; ``title`` is its first heading."""

    title: str
    markup: str
    sections: tuple[Section, ...]


def rendered(text: str, moved: Callable[[str], str], rule: Callable[[str], str]) -> Text:
    """A text as markup: headings have anchors, ``moved`` gives a link's new address, and a rule's code in backticks
    is a link to ``rule`` of it, unless that is ""."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(COMMENT.sub("", text))
    names: dict[str, int] = {}
    sections = [Section("", "", "")]
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = plain(tokens[at + 1])
            anchor = anchored(title, names)
            token.attrSet("id", anchor)
            sections.append(Section(anchor, title, ""))
        elif token.type == "inline":
            token.children = list(_linked(token.children or [], moved, rule))
            if tokens[at - 1].type != "heading_open":
                last = sections.pop()
                sections.append(Section(last.anchor, last.title, f"{last.text} {plain(token)}".strip()))
    markup = parser.renderer.render(tokens, parser.options, {})
    markup = markup.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    title = next((each.title for each in sections if each.title), "")
    return Text(title, markup, tuple(each for each in sections if each.title or each.text))


def plain(token: Token) -> str:
    """The words of a piece of text without its marks."""
    return "".join(each.content or " " for each in token.children or [] if not each.type.endswith(("_open", "_close")))


def anchored(title: str, names: dict[str, int]) -> str:
    """The anchor of a heading, as GitHub makes it; ``names`` counts those of the page."""
    stem = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
    count = names[stem] = names.get(stem, -1) + 1
    return f"{stem}-{count}" if count else stem


def _linked(children: list[Any], moved: Callable[[str], str], rule: Callable[[str], str]) -> Iterator[Any]:
    """The pieces of a text with their new addresses; a link whose address is "" leaves its text."""
    inside = dropped = False
    for each in children:
        if each.type == "link_open":
            address = moved(str(each.attrGet("href")))
            dropped = not address
            each.attrSet("href", address)
        elif each.type == "image":
            each.attrSet("src", moved(str(each.attrGet("src"))))
        if each.type in ("link_open", "link_close"):
            inside = each.type == "link_open"
            if not dropped:
                yield each
        elif each.type == "code_inline" and not inside and CODE.fullmatch(each.content) and rule(each.content):
            markup = Token("html_inline", "", 0)
            markup.content = f'<a href="{escape(rule(each.content))}"><code>{each.content}</code></a>'
            yield markup
        else:
            yield each
