"""Shortens the names in one finding: their common scope is stated once, and long names are cut but stay distinct."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from irlint.records import replaced
from irlint.reporters.canvas import cut, display, ending
from irlint.reporters.plain import safe
from irlint.snippets.drawing import Line, Piece, Row, Snippet, Table

#: The sign that replaces the scope.
SCOPE = "~"

#: A scope is used only if at least two names have it and they become this many characters shorter in total.
SAVED = 24

#: Characters that may belong to a name. A scope begins only where none of these is before it.
_WITHIN = frozenset("_.-:/~")


def scope_of(names: Iterable[str], path: str = "", own: str = "") -> str:
    """The scope that saves most characters: ``/layers.0/attn/`` for names such as ``/layers.0/attn/q_proj/MatMul``. ""
    if no scope saves enough, if a name begins with SCOPE, or if ``path``, the path of the file, begins with the scope.

    Names without ``/`` are divided at full stops. If ``own``, the name of the node at fault, contains ``/``, it begins
    with the scope.
    """
    every = set(names)
    inside = own if "/" in own else ""
    if any(name.startswith(SCOPE) for name in every):
        return ""
    saved: dict[str, int] = {}
    for name in every:
        sign = "/" if "/" in name else "."
        at = name.find(sign, 1)
        while 0 < at < len(name) - 1:
            scope = name[: at + 1]
            saved[scope] = saved.get(scope, 0) + len(scope) - 2
            at = name.find(sign, at + 1)
    around = [scope for scope in saved if inside.startswith(scope)] if inside else saved
    best = max(around, key=lambda scope: (saved[scope], len(scope)), default="")
    pays = best and saved[best] >= SAVED and saved[best] > len(best) - 2 and not path.startswith(best)
    return best if pays else ""


def without_scope(text: str, scope: str) -> str:
    """The text with ``~/`` or ``~.`` in place of the scope at the beginning of names."""
    if not scope or scope not in text:
        return text
    parts = text.split(scope)
    result = parts[0]
    for part in parts[1:]:
        begins = not result or not (result[-1].isalnum() or result[-1] in _WITHIN)
        result += (f"{SCOPE}{scope[-1]}" if begins else scope) + part
    return result


def named_shortly(snippet: Snippet, scope: str) -> Snippet:
    """The snippet with the scope removed from its names, and without control characters."""

    def short(text: str) -> str:
        return without_scope(safe(text), scope) if text else ""

    def line(each: Line) -> Line:
        pieces = tuple(
            replaced(piece, text=short(piece.text), name=short(piece.name), label=short(piece.label))
            for piece in each.pieces
        )
        return replaced(each, pieces=pieces, comment=short(each.comment))

    def row(each: Row) -> Row:
        return replaced(each, name=short(each.name), origins=tuple(map(short, each.origins)))

    table = snippet.table
    if table is not None:
        table = replaced(table, rows=tuple(map(row, table.rows)))
    return replaced(snippet, lines=tuple(map(line, snippet.lines)), table=table, notes=tuple(map(short, snippet.notes)))


def with_cut_names(snippet: Snippet, limit: int, wide: Collection[str]) -> Snippet:
    """The snippet with its ``wide`` names cut to at most ``limit`` columns. Equal names are cut equally, and different
    names stay different."""
    texts = distinct_texts(snippet.names, limit, wide)
    cuts = {name: text for name, text in texts.items() if text != name}
    if not cuts:
        return snippet

    def piece(each: Piece) -> Piece:
        short = cuts.get(each.name)
        if short is None:
            return replaced(each, label=_cut_within(each.label, cuts)) if each.label else each
        before = each.text.removesuffix(each.name)
        return replaced(each, text=before + short, name=short, label=_cut_within(each.label, cuts))

    lines = tuple(
        replaced(line, pieces=tuple(map(piece, line.pieces)), comment=_cut_within(line.comment, cuts))
        for line in snippet.lines
    )
    table: Table | None = snippet.table
    if table is not None:
        rows = tuple(replaced(row, name=cuts.get(row.name, row.name)) for row in table.rows)
        table = replaced(table, rows=rows)
    return replaced(snippet, lines=lines, table=table)


def _cut_within(text: str, cuts: dict[str, str]) -> str:
    """A text with names, such as ``y: float[2]`` or ```y` is declared here``, with the names cut."""
    words = (word.strip("`,:") for word in text.split(" ")) if text else ()
    for word in words:
        if word in cuts:
            text = text.replace(word, cuts[word])
    return text


def distinct_texts(names: Iterable[str], limit: int, wide: Collection[str] | None = None) -> dict[str, str]:
    """For each name a text of at most ``limit`` columns, or longer if a number must distinguish it. With ``wide``, only
    these names are cut. Different names get different texts."""
    texts = {name: tail(name, limit) if wide is None or name in wide else name for name in names}
    for ending_alike in _groups_with_one_text({name: _without_head(text) for name, text in texts.items()}):
        for name in ending_alike:
            if texts[name] != name:
                texts[name] = _with_difference(name, ending_alike, limit) or texts[name]
    for alike in _groups_with_one_text(texts):
        common = _common_folder(alike)
        for name in alike:
            texts[name] = name if texts[name] == name else cut(f"...{name[common:]}", limit)
    taken = set(texts.values())
    for alike in _groups_with_one_text(texts):
        for number, name in enumerate(alike[1:], 2):
            texts[name] = _numbered(texts[name], number, taken)
            taken.add(texts[name])
    return texts


def _without_head(text: str) -> str:
    """The text without its beginning: the sign for the scope, or for the part that was cut."""
    return text.removeprefix("...").removeprefix(SCOPE)


def _with_difference(name: str, others: Iterable[str], limit: int) -> str:
    """The name from the last part on that distinguishes it from all ``others``, which have the same end; if necessary,
    without the parts between this part and the last. "" if no part distinguishes it, or if there is no room."""
    parts = name.split("/")
    same = 0
    for other in others:
        if other != name:
            pairs = zip(reversed(parts), reversed(other.split("/")))
            same = max(same, next((at for at, (one, two) in enumerate(pairs) if one != two), 0))
    if not same or same >= len(parts):
        return ""
    first = len(parts) - 1 - same
    whole = "/".join(("...", *parts[first:]))
    short = f".../{parts[first]}/.../{parts[-1]}"
    return next((text for text in (whole, short) if display(text) <= limit), "")


def _groups_with_one_text(texts: dict[str, str]) -> list[list[str]]:
    """The groups of names that have the same text; in each group, names that are not cut come first."""
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(text, []).append(name)
    return [sorted(group, key=lambda name: name != texts[name]) for group in groups.values() if len(group) > 1]


def _common_folder(names: list[str]) -> int:
    """The length of the longest folder with which all names begin."""
    first, last = min(names), max(names)
    same = next((at for at, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
    return first.rfind("/", 0, same) + 1


def _numbered(text: str, number: int, taken: Collection[str]) -> str:
    """The text with a number, from ``number`` on, with which it is not ``taken``."""
    while (numbered := f"{text}#{number}") in taken:
        number += 1
    return numbered


def tail(name: str, limit: int) -> str:
    """The name; if it is too long, as many of its last parts as fit: ``.../q_proj/MatMul_output_0``."""
    if display(name) <= limit:
        return name
    at = name.find("/", 1)
    while at > 0:
        if display(name[at:]) + 3 <= limit:
            return f"...{name[at:]}"
        at = name.find("/", at + 1)
    end = ending(name, max(1, limit - 3))
    part = next((at for at in range(len(end) // 2) if end[at] in "._" and end[at + 1] not in "._"), -1)
    return f"...{end[part + 1 :]}"
