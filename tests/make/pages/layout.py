"""What all pages of the site share: the frame around a page, links between pages, and what the search knows of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

ASSETS = Path(__file__).resolve().parent
NAME = "irlint"

#: What stands in the head of every page: the title, and where it leads.
NAVIGATION = (
    ("Guide", "guide/index.html"),
    ("Rules", "rules/index.html"),
    ("Operators", "operators/index.html"),
    ("Playground", "playground/index.html"),
    ("Changes", "changelog.html"),
)

#: Of a text the search knows so many characters.
SEARCHED = 1_500


@dataclass(frozen=True)
class Entry:
    """What the search knows of a page, or of a section: its address in the site, title, kind and words."""

    address: str
    title: str
    kind: str
    words: str = ""


@dataclass(frozen=True)
class Page:
    """A page by its address in the site; ``body`` is markup in which links between pages begin with ``/``."""

    address: str
    title: str
    body: str
    entries: tuple[Entry, ...] = ()
    head: str = ""
    scripts: tuple[str, ...] = field(default=())

    def document(self) -> str:
        """The page as a file, with links that hold from wherever the site stands."""
        root = "../" * self.address.count("/")
        links = "".join(f'<a href="/{address}">{title}</a>' for title, address in NAVIGATION)
        scripts = "".join(f'<script src="/{name}"></script>\n' for name in ("search-index.js", "search.js"))
        scripts += "".join(f'<script type="module" src="/{name}"></script>\n' for name in self.scripts)
        text = (
            f'<!DOCTYPE html>\n<html lang="en" data-root="{root}">\n<head>\n<meta charset="utf-8">\n{self.head}'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="color-scheme" content="light dark">\n<title>{escape(self.title)} · {NAME}</title>\n'
            '<link rel="icon" href="data:,">\n<link rel="stylesheet" href="/style.css">\n</head>\n<body>\n'
            '<a class="skip" href="#content">to the content</a>\n'
            f'<header><a class="home" href="/index.html">{NAME}</a><nav aria-label="Site">{links}</nav>'
            '<search><label for="search">search</label> <input type="search" id="search" autocomplete="off" '
            'placeholder="rule, operator, word"><ol id="found" hidden></ol></search></header>\n'
            f'<main id="content">\n{self.body}</main>\n{scripts}</body>\n</html>\n'
        )
        return relative(text, root)


def relative(markup: str, root: str) -> str:
    """Markup whose links begin with ``root`` in place of ``/``."""
    return re.sub(r'(<[^>]*? (?:href|src)=")/(?!/)', rf"\g<1>{root}", markup)


def written(pages: Iterable[Page], folder: Path) -> None:
    """Writes pages, the search index and what stands beside this module into a folder."""
    entries: list[Entry] = []
    for page in pages:
        file = folder / page.address
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.document(), "utf-8", newline="\n")
        entries += page.entries
    for name in ("style.css", "search.js"):
        (folder / name).write_bytes((ASSETS / name).read_bytes())
    rows = [[each.address, each.title, each.kind, " ".join(each.words.split())[:SEARCHED]] for each in entries]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "search-index.js").write_text(f"const INDEX = [\n{lines}\n];\n", "utf-8", newline="\n")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are markup; it scrolls where it is wider than the page."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead>\n<tbody>\n{lines}</tbody></table></div>\n'


def listing(items: Iterable[str]) -> str:
    lines = "".join(f"<li>{item}</li>\n" for item in items)
    return f"<ul>\n{lines}</ul>\n"


def code(text: object) -> str:
    return f"<code>{escape(str(text))}</code>"


def linked(address: str, title: str) -> str:
    """A link to a page; ``title`` is markup."""
    return f'<a href="/{address}">{title}</a>'
