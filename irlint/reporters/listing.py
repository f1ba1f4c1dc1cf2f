"""The values of a model as a table for people."""

from __future__ import annotations

from irlint.lazy_typing import Any
from irlint.model.formats import FORMATS
from irlint.reporters.canvas import cut, display
from irlint.reporters.plain import headed, safe, spelled

#: Contents longer than this are cut in the table.
SHOWN = 48

#: The columns of the table are at most so wide; a longer text pushes what is behind it to the right.
WIDEST = (48, 24, 40)


def rendered(listing: dict[str, Any], encoding: str = "utf-8") -> str:
    """One line for each value under a heading for each graph, then what the model requires; what ``encoding`` does not
    have is escaped."""
    return spelled(_rendered(listing, encoding), encoding)


def _rendered(listing: dict[str, Any], encoding: str) -> str:
    parts = []
    graphs: dict[str, list[dict[str, Any]]] = {}
    for entry in listing["values"]:
        graphs.setdefault(entry["graph"], []).append(entry)
    for graph, entries in graphs.items():
        head = headed(listing) if not graph else f"graph {safe(graph)}"
        parts.append(f"{head}\n{_rows(entries, listing, encoding)}")
    if listing["requires"]:
        conditions = [
            (each["condition"], f"{each['op']} {safe(each['node'])}: {each['why']}") for each in listing["requires"]
        ]
        width = min(max(len(condition) for condition, _ in conditions), 60)
        lines = "".join(f"  {condition:{width}}  {why}\n" for condition, why in conditions)
        parts.append(f"requires\n{lines}")
    if listing["symbols"]:
        lines = "".join(f"  {name} = {safe(text)}\n" for name, text in listing["symbols"].items())
        parts.append(f"symbols\n{lines}")
    return "\n".join(parts)


def _rows(entries: list[dict[str, Any]], listing: dict[str, Any], encoding: str) -> str:
    rows = []
    nodes_are_named = any(listing["format"] == form.name and form.input_node for form in FORMATS)
    for entry in entries:
        name = f"{entry['name']} {entry['node']}" if nodes_are_named else entry["name"]
        maker = entry["op"] or ("input" if entry["name"] in listing["inputs"] else "initializer")
        texts = (name, maker, type_of(entry))
        rows.append((*(spelled(safe(text), encoding) for text in texts), contents(entry["value"])))
    widths = [min(max(display(row[column]) for row in rows), limit) for column, limit in enumerate(WIDEST)]
    lines = [f"  {'  '.join(map(_padded, row, (*widths, 0)))}".rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - display(text))


def type_of(entry: dict[str, Any]) -> str:
    """``float32[1, N]``, ``float32[...]`` for an unknown rank."""
    shape = "[...]" if entry["shape"] is None else f"[{', '.join(map(str, entry['shape']))}]"
    return f"{entry['dtype'] or '?'}{shape}"


def contents(value: Any) -> str:
    """``= [1, 2.5, N]``; of many entries only the first ones."""
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
    return f"{value:g}" if isinstance(value, float) else safe(str(value))
