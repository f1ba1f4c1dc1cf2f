"""The values of a model as a table."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.dims.notation import as_message
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.model.formats import FORMATS
from irlint.reporters.canvas import cut, display, wrapped
from irlint.reporters.plain import headed, safe, spelled

#: The longest value in the table, in characters.
SHOWN = 48

#: The largest widths to which columns are aligned. Longer entries shift what follows.
WIDEST = (48, 24, 40)

#: On a page of limited width, names and types keep at least this width. Values with less room are omitted.
LEAST_NAME = 24
LEAST_TYPE = 32
LEAST_CONTENTS = 12

#: The further lines of a type are indented by this many columns.
MORE = 6

Row = tuple[str, str, str, str]


def rendered(
    listing: dict[str, Any], encoding: str = "utf-8", columns: int | None = None, *, every: bool = False
) -> str:
    """The values of each graph, then the requirements; characters that ``encoding`` lacks are escaped.

    ``columns`` limits the width. Without ``every``, constants are omitted unless all values are constants.
    """
    return spelled(_rendered(listing, encoding, columns, every), encoding)


def _rendered(listing: dict[str, Any], encoding: str, columns: int | None, every: bool) -> str:
    shown = [entry for entry in listing["values"] if every or "constant" not in entry.get("marks", ())] or listing[
        "values"
    ]
    graphs: dict[str, list[dict[str, Any]]] = {"": []}
    for entry in shown:
        graphs.setdefault(entry["graph"], []).append(entry)
    rows = {graph: [_row(entry, listing, encoding) for entry in entries] for graph, entries in graphs.items()}
    parts = []
    for graph, each in rows.items():
        head = headed(listing) if not graph else f"graph {safe(graph)}"
        parts.append(f"{head}\n{''.join(f'  {line}{chr(10)}' for line in _lines(each, columns))}")
    hidden = len(listing["values"]) - len(shown)
    if hidden:
        parts[-1] += f"  and {counted(hidden, 'constant')}, which -v lists\n"
    if listing["requires"]:
        conditions = [
            (as_message(each["condition"]), safe(f"{each['op']} {each['node']}: {each['why']}"))
            for each in listing["requires"]
        ]
        parts.append(f"requires\n{''.join(_condition(*each, conditions, columns) for each in conditions)}")
    if listing["symbols"]:
        lines = "".join(f"  {name} = {safe(text)}\n" for name, text in listing["symbols"].items())
        parts.append(f"symbols\n{lines}")
    return "\n".join(parts)


def _condition(condition: str, why: str, conditions: list[tuple[str, str]], columns: int | None) -> str:
    """The lines for a condition and its reason. The column of reasons is the same for all ``conditions``."""
    width = min(max(len(each) for each, _ in conditions), 60 if columns is None else columns // 2)
    if columns is None:
        return f"  {condition:{width}}  {why}\n"
    room = columns - width - 4
    lines = wrapped(why, room)
    if len(condition) > width:
        return "".join(f"  {each}\n" for each in (condition, *(f"{' ' * width}  {line}" for line in lines)))
    return "".join(f"  {condition if not at else '':{width}}  {line}\n" for at, line in enumerate(lines))


def _row(entry: dict[str, Any], listing: dict[str, Any], encoding: str) -> Row:
    nodes_are_named = any(listing["format"] == form.name and form.input_node for form in FORMATS)
    name = f"{entry['name']} {entry['node']}" if nodes_are_named else entry["name"]
    marks = entry.get("marks", ())
    maker = entry["op"] or ("input" if "input" in marks else "initializer")
    texts = (name, f"{maker}, output" if "output" in marks else maker, type_of(entry))
    first, second, third = (spelled(safe(text), encoding) for text in texts)
    return first, second, third, contents(entry["value"])


def table(listing: dict[str, Any]) -> list[Row]:
    """A row for each value: (name with the path of its body, origin, type, known numbers).

    The origin is an operator, ``input`` or ``initializer``.
    """
    rows = (_row(entry, listing, "utf-8") for entry in listing["values"])
    graphs = (f"{safe(entry['graph'])}: " if entry["graph"] else "" for entry in listing["values"])
    return [(f"{graph}{name}", *rest) for graph, (name, *rest) in zip(graphs, rows)]  # type: ignore[misc]


def _lines(rows: list[Row], columns: int | None) -> Iterator[str]:
    widths = [min(max((display(row[column]) for row in rows), default=0), limit) for column, limit in enumerate(WIDEST)]
    if columns is None:
        yield from ("  ".join(map(_padded, row, (*widths, 0))).rstrip() for row in rows)
        return
    name_width, maker_width, type_width = widths
    name_width = min(name_width, max(LEAST_NAME, columns - 6 - maker_width - min(type_width, LEAST_TYPE)))
    room = columns - 6 - name_width - maker_width
    for name, maker, type_text, numbers in rows:
        head = f"{_padded(cut(name, name_width), name_width)}  {_padded(cut(maker, maker_width), maker_width)}"
        if display(type_text) > room:
            yield head.rstrip()
            yield from (" " * MORE + line for line in wrapped(type_text, columns - MORE - 2))
            continue
        text = _padded(type_text, min(type_width, room))
        left = room - display(text) - 2
        shown = f"  {cut(numbers, left)}" if numbers and left >= LEAST_CONTENTS else ""
        yield f"{head}  {text}{shown}".rstrip()


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - display(text))


def type_of(entry: dict[str, Any]) -> str:
    """The type of a value, such as ``float32[1, N]``, or ``float32[...]`` if its rank is unknown."""
    shape = "[...]" if entry["shape"] is None else f"[{', '.join(map(str, entry['shape']))}]"
    return f"{entry['dtype'] or '?'}{as_message(shape)}"


def contents(value: Any) -> str:
    """The known numbers of a value, such as ``= [1, 2.5, N]``, cut to SHOWN characters."""
    if value is None:
        return ""
    text = _entry(value)
    if len(text) <= SHOWN:
        return f"= {text}"
    kept = text[: SHOWN - len(", ...]")].rpartition(", ")[0]
    return f"= {kept}, ...]" if kept else f"= {cut(text, SHOWN)}"


def _entry(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_entry, value))}]"
    return f"{value:g}" if isinstance(value, float) else safe(as_message(str(value)))
