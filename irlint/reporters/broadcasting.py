"""The results of broadcast rules, as text."""

from __future__ import annotations

from irlint.lazy_typing import Any
from irlint.reporters.ansi import PIPE_WIDTH
from irlint.reporters.canvas import Canvas, wrapped
from irlint.reporters.plain import spelled
from irlint.reporters.tables import table
from irlint.snippets.drawing import Row, Table

#: The remark beside sizes that cannot be broadcast with each other.
REMARK = "cannot be broadcast"


def rendered(found: dict[str, Any], encoding: str = "utf-8", columns: int = PIPE_WIDTH, color: bool = False) -> str:
    """The rules, grouped by their results. Characters that ``encoding`` lacks are escaped."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in found["rules"]:
        groups.setdefault(str([each[key] for key in ("holds", "shape", "requires", "message", "offsets")]), []).append(
            each
        )
    blocks = [_block(rules, found["shapes"], columns, color) for rules in groups.values()]
    return spelled("\n".join(blocks), encoding)


def _block(rules: list[dict[str, Any]], shapes: list[Any], columns: int, color: bool) -> str:
    canvas = Canvas(columns, color, gutter=0, severity="error")
    wide = max(len(each["rule"]) for each in rules)
    for each in rules:
        canvas.lines.append(f"{canvas.painted(each['rule'].ljust(wide), 'head')}  {each['where']}")
    for sentence in dict.fromkeys(each["sentence"] for each in rules):
        _write(canvas, f"{sentence[0].upper()}{sentence[1:]}.")
    answer = rules[0]
    if answer["holds"] is not None:
        table(_table(answer, shapes), canvas)
    for lead, text in _notes(answer):
        _write(canvas, f"{lead}{text}")
    return canvas.text


def _write(canvas: Canvas, text: str) -> None:
    lines = wrapped(text, canvas.columns - 2, canvas.columns - 4)
    canvas.lines += [f"  {line}" if not at else f"    {line}" for at, line in enumerate(lines)]


def _table(answer: dict[str, Any], shapes: list[Any]) -> Table:
    marked = {index: tuple(axis for at, axis in answer["marks"] if at == index) for index in range(len(shapes))}
    rows = [
        Row(f"shape {index}", _dims(shape), marked=marked[index], offset=answer["offsets"][index])
        for index, shape in enumerate(shapes)
    ]
    if answer["holds"]:
        rows.append(Row("result", _dims(answer["shape"])))
    return Table(tuple(rows), "right", REMARK if answer["marks"] else "")


def _dims(shape: list[Any] | None) -> tuple[str, ...] | None:
    return None if shape is None else tuple("?" if dim is None else str(dim) for dim in shape)


def _notes(answer: dict[str, Any]) -> list[tuple[str, str]]:
    if answer["holds"] is None:
        return [("not asked: ", answer["message"])]
    if not answer["holds"]:
        return [("refused: ", answer["message"]), *([("help: ", answer["help"])] if answer["help"] else [])]
    rows = [("as long as ", condition) for condition in answer["requires"]]
    return [*rows, ("warning: ", answer["message"])] if answer["message"] else rows
