"""Letters for long symbols: in a snippet, a letter replaces each long name of a dynamic size and is explained once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_uppercase

from irlint.dims import Expr, MaybeDim, symbols
from irlint.records import replaced
from irlint.snippets.drawing import Drawing, Line, Piece, Row

#: A symbol with more than LONG characters gets a letter. In a size of more than LONG_SIZE characters, a symbol with
#: more than LONG_WITHIN characters gets a letter, too.
LONG = 20
LONG_WITHIN = 8
LONG_SIZE = 24

#: Text in quotation marks is a name and is not changed.
_QUOTED = re.compile(r"(`[^`]*`|'[^']*'|\"[^\"]*\")")


def letters_for(dims: Iterable[MaybeDim], taken: Iterable[str]) -> dict[str, str]:
    """An unused letter for each long symbol in these sizes, as long as there are letters. Letters in ``taken`` are not
    used."""
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
    """The text with letters in place of the symbols, outside of quotation marks and of names that contain them."""
    if not any(name in text for name in letters):
        return text
    pattern = re.compile(rf"(?<![\w.:/])({'|'.join(map(re.escape, letters))})(?!\w|[.:/]\w)")
    parts = _QUOTED.split(text)
    return "".join(
        part if at % 2 else pattern.sub(lambda found: letters[found[1]], part) for at, part in enumerate(parts)
    )


def with_letters(drawing: Drawing, letters: Mapping[str, str]) -> Drawing:
    """The snippet with letters in place of the symbols, and a legend for them. Names stay."""
    if not letters:
        return drawing

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

    table = drawing.table
    if table is not None:
        table = replaced(table, rows=tuple(map(row, table.rows)), remark=shortened(table.remark))
    return replaced(
        drawing,
        lines=tuple(map(line, drawing.lines)),
        table=table,
        notes=tuple(map(shortened, drawing.notes)),
        letters=tuple(letters.items()),
    )
