"""Escapes texts for a page, so that no text of a model becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irlint.reporters.plain import brief, safe

HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})

#: Quoted parts of messages.
CODE = re.compile("`([^`]+)`")

#: If a text of a model has more characters, its middle is omitted.
LONGEST = 1_000


def escaped(text: object) -> str:
    """A text, escaped for an element or an attribute."""
    return safe(str(text)).translate(HTML)


def shown(text: object) -> str:
    """An escaped text; the middle of a very long one is omitted."""
    return brief(str(text), LONGEST).translate(HTML)


def prose(text: object) -> str:
    """An escaped message; parts in backticks become code."""
    return CODE.sub(r"<code>\1</code>", shown(text))


def folded(title: str, inside: str, *, kind: str = "", count: int | None = None, opened: bool = False) -> str:
    """A part of the page that opens with a click on its title. ``title`` and ``inside`` are markup.

    ``count`` is a number beside the title, and ``kind`` is the CSS class.
    """
    number = f' <span class="count">{count:,}</span>' if count is not None else ""
    name = f' class="{kind}"' if kind else ""
    return f"<details{name}{' open' * opened}><summary>{title}{number}</summary>\n{inside}</details>\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str, kind: str = "") -> str:
    """A table. All cells are markup. The first cell of each row is the heading of the row."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    lines = []
    for first, *rest in rows:
        lines.append(f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>\n')
    return (
        f'<div class="scroll"><table class="{kind}"><caption>{caption}</caption><thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )
