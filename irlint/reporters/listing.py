"""The values of a model as a table for people."""

from __future__ import annotations

from typing import Any

from irlint.reporters.plain import safe

#: Contents longer than this are cut in the table.
SHOWN = 48


def rendered(listing: dict[str, Any]) -> str:
    """One line for each value under a heading for each graph, then what the model requires."""
    parts = []
    graphs: dict[str, list[dict[str, Any]]] = {}
    for entry in listing["values"]:
        graphs.setdefault(entry["graph"], []).append(entry)
    for graph, entries in graphs.items():
        head = f"{safe(listing['path'])} ({listing['format']})" if not graph else f"graph {safe(graph)}"
        parts.append(f"{head}\n{_rows(entries, listing)}")
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


def _rows(entries: list[dict[str, Any]], listing: dict[str, Any]) -> str:
    rows = []
    for entry in entries:
        name = entry["name"] if listing["format"] == "onnx" else f"{entry['name']} {entry['node']}"
        maker = entry["op"] or ("input" if entry["name"] in listing["inputs"] else "initializer")
        shape = "[...]" if entry["shape"] is None else f"[{', '.join(map(str, entry['shape']))}]"
        rows.append((safe(name), safe(maker), f"{entry['dtype'] or '?'}{shape}", _contents(entry["value"])))
    widths = [min(max(len(row[column]) for row in rows), limit) for column, limit in enumerate((48, 24, 40))]
    lines = [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c:{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    return "\n".join(lines) + "\n"


def _contents(value: Any) -> str:
    if value is None:
        return ""
    text = str(value).replace("'", "")
    return f"= {text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'}"
