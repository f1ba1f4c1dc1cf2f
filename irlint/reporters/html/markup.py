"""How texts become part of a page: nothing that a model says is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irlint.reporters.plain import brief, safe

HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})

#: What messages quote.
CODE = re.compile("`([^`]+)`")

#: A text of a model is shown up to this many characters.
LONGEST = 1_000


def escaped(text: object) -> str:
    """A text as it may stand in an element or an attribute."""
    return safe(str(text)).translate(HTML)


def shown(text: object) -> str:
    """A text that may be long, without its middle then."""
    return brief(str(text), LONGEST).translate(HTML)


def prose(text: object) -> str:
    """A message: what stands between backticks is code."""
    return CODE.sub(r"<code>\1</code>", shown(text))


def folded(title: str, inside: str, *, kind: str = "", count: int | None = None, opened: bool = False) -> str:
    """What is opened by its title, which is markup."""
    number = f' <span class="count">{count:,}</span>' if count is not None else ""
    name = f' class="{kind}"' if kind else ""
    return f"<details{name}{' open' * opened}><summary>{title}{number}</summary>\n{inside}</details>\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str, kind: str = "") -> str:
    """A table of cells that are markup, the first of a row being its head."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    lines = []
    for first, *rest in rows:
        lines.append(f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>\n')
    return (
        f'<div class="scroll"><table class="{kind}"><caption>{caption}</caption><thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )
