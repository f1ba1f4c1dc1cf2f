"""Letters in place of the long names of dynamic sizes in a snippet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_uppercase

from irlint.dims import Expr, MaybeDim, symbols
from irlint.records import replaced
from irlint.snippets.drawing import Line, Piece, Row, Snippet

#: A symbol of more than LONG characters gets a letter. In a size of more than LONG_SIZE characters, a symbol of more
#: than LONG_WITHIN characters also gets one.
LONG = 20
LONG_WITHIN = 8
LONG_SIZE = 24

_QUOTED = re.compile(r"(`[^`]*`|'[^']*'|\"[^\"]*\")")


def letters_for(dims: Iterable[MaybeDim], taken: Iterable[str]) -> dict[str, str]:
    """A letter for each long symbol in ``dims``, while there are letters that are neither symbols nor in ``taken``."""
    every: dict[str, None] = {}
    long: dict[str, None] = {}
    for dim in dims:
        if not isinstance(dim, Expr):
            continue
        names = sorted(symbols(dim))
        every.update(dict.fromkeys(names))
        limit = LONG_WITHIN if len(f"{dim}") > LONG_SIZE else LONG
        long.update(dict.fromkeys(name for name in names if len(name) > limit))
    unused = [letter for letter in ascii_uppercase if letter not in every and letter not in set(taken)]
    return dict(zip(long, unused))


def lettered(text: str, letters: Mapping[str, str]) -> str:
    """The text with letters in place of symbols, except for quoted text and parts of longer names."""
    if not any(name in text for name in letters):
        return text
    pattern = re.compile(rf"(?<![\w.:/])({'|'.join(map(re.escape, letters))})(?!\w|[.:/]\w)")
    parts = _QUOTED.split(text)
    return "".join(
        part if at % 2 else pattern.sub(lambda found: letters[found[1]], part) for at, part in enumerate(parts)
    )


def with_letters(snippet: Snippet, letters: Mapping[str, str]) -> Snippet:
    """The snippet with ``letters`` in place of symbols, except in names."""
    if not letters:
        return snippet

    def shortened(text: str) -> str:
        return lettered(text, letters)

    def piece(each: Piece) -> Piece:
        if not each.name:
            return replaced(each, text=shortened(each.text), label=shortened(each.label))
        before = each.text.removesuffix(each.name)
        return replaced(each, text=shortened(before) + each.name, label=shortened(each.label))

    def line(each: Line) -> Line:
        return replaced(each, pieces=tuple(map(piece, each.pieces)), comment=shortened(each.comment))

    def row(each: Row) -> Row:
        dims = None if each.dims is None else tuple(map(shortened, each.dims))
        return replaced(each, dims=dims, origins=tuple(map(shortened, each.origins)))

    table = snippet.table
    if table is not None:
        table = replaced(table, rows=tuple(map(row, table.rows)), remark=shortened(table.remark))
    return replaced(
        snippet,
        lines=tuple(map(line, snippet.lines)),
        table=table,
        notes=tuple(map(shortened, snippet.notes)),
        letters=tuple(letters.items()),
    )
