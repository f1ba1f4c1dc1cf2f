"""Shortens the names in one finding: removes a common scope, and cuts long names.

A scope is a beginning of names that ends with ``/`` or ``.``, such as ``/layers.0/attn/``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from irlint.records import replaced
from irlint.reporters.canvas import cut, display, ending
from irlint.reporters.plain import safe
from irlint.snippets.drawing import Line, Piece, Snippet, Table

#: The sign that replaces the scope.
SCOPE = "~"

#: A scope is used only if it saves at least this many characters.
SAVED = 24

#: After one of these characters, the text of a scope is no beginning of a name.
_WITHIN = frozenset("_.-:/~")


def scope_of(names: Iterable[str], path: str = "", own: str = "") -> str:
    """The scope that saves most characters in ``names``, or "" if no scope saves enough.

    ``own`` is the name of the node at fault. If it contains ``/``, it must begin with the scope. ``path`` is the path
    of the file. It must not begin with the scope.
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
    """The text with ``~/`` or ``~.`` in place of the scope, wherever a name begins with the scope."""
    if not scope or scope not in text:
        return text
    parts = text.split(scope)
    result = parts[0]
    for part in parts[1:]:
        begins = not result or not (result[-1].isalnum() or result[-1] in _WITHIN)
        result += (f"{SCOPE}{scope[-1]}" if begins else scope) + part
    return result


def named_shortly(snippet: Snippet, scope: str) -> Snippet:
    """The snippet with its names ``without_scope``, and with unprintable characters escaped."""
    table, lines = snippet.table, snippet.lines
    rows = table.rows if table is not None else ()
    texts = {text for line in lines for each in line.pieces for text in (each.text, each.name, each.label)}
    texts |= {line.comment for line in lines} | {text for row in rows for text in (row.name, *row.origins)}
    short = {text: without_scope(safe(text), scope) for text in texts.union(snippet.notes)}
    if all(text == before for before, text in short.items()):
        return snippet

    def line(each: Line) -> Line:
        pieces = tuple(
            replaced(piece, text=short[piece.text], name=short[piece.name], label=short[piece.label])
            for piece in each.pieces
        )
        return replaced(each, pieces=pieces, comment=short[each.comment])

    if table is not None:
        named = (
            replaced(row, name=short[row.name], origins=tuple(map(short.__getitem__, row.origins))) for row in rows
        )
        table = replaced(table, rows=tuple(named))
    notes = tuple(map(short.__getitem__, snippet.notes))
    return replaced(snippet, lines=tuple(map(line, lines)), table=table, notes=notes)


def with_cut_names(snippet: Snippet, limit: int, wide: Collection[str]) -> Snippet:
    """The snippet with the names in ``wide`` cut to ``limit`` columns. Different names stay different."""
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
    """A text such as ``y: float[2]`` or ```y` is declared here``, with names replaced by their ``cuts``."""
    words = (word.strip("`,:") for word in text.split(" ")) if text else ()
    for word in words:
        if word in cuts:
            text = text.replace(word, cuts[word])
    return text


def distinct_texts(names: Iterable[str], limit: int, wide: Collection[str] | None = None) -> dict[str, str]:
    """A distinct text for each name, cut to ``limit`` columns. Equal texts also get a number.

    If ``wide`` is not None, only names in ``wide`` are cut.
    """
    texts = {name: tail(name, limit) if wide is None or name in wide else name for name in names}
    for ending_alike in _groups_with_one_text({name: _without_head(text) for name, text in texts.items()}):
        for name in ending_alike:
            if texts[name] != name:
                texts[name] = _with_difference(name, ending_alike, limit) or texts[name]
    for alike in _groups_with_one_text(texts):
        common = _common_folder_length(alike)
        for name in alike:
            texts[name] = name if texts[name] == name else cut(f"...{name[common:]}", limit)
    taken = set(texts.values())
    for alike in _groups_with_one_text(texts):
        for number, name in enumerate(alike[1:], 2):
            texts[name] = _numbered(texts[name], number, taken)
            taken.add(texts[name])
    return texts


def _without_head(text: str) -> str:
    return text.removeprefix("...").removeprefix(SCOPE)


def _with_difference(name: str, others: Iterable[str], limit: int) -> str:
    """The end of a name, from the part that distinguishes the name from ``others``.

    If necessary, omits the parts between this part and the last part. Returns "" if there is no such part, or no room.
    """
    parts = name.split("/")
    same = 0
    for other in others:
        if other != name:
            pairs = zip(reversed(parts), reversed(other.split("/")))
            same = max(same, next((at for at, (one, two) in enumerate(pairs) if one != two), 0))
    if not same or same >= len(parts):
        return ""
    first = len(parts) - 1 - same
    complete = "/".join(("...", *parts[first:]))
    short = f".../{parts[first]}/.../{parts[-1]}"
    return next((text for text in (complete, short) if display(text) <= limit), "")


def _groups_with_one_text(texts: dict[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(text, []).append(name)
    return [sorted(group, key=lambda name: name != texts[name]) for group in groups.values() if len(group) > 1]


def _common_folder_length(names: list[str]) -> int:
    first, last = min(names), max(names)
    same = next((at for at, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
    return first.rfind("/", 0, same) + 1


def _numbered(text: str, number: int, taken: Collection[str]) -> str:
    """The text with a number after it: the first from ``number`` on with which the text is not in ``taken``."""
    while (numbered := f"{text}#{number}") in taken:
        number += 1
    return numbered


def tail(name: str, limit: int) -> str:
    """The name, or as many of its last parts as fit: ``.../q_proj/MatMul_output_0``."""
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
