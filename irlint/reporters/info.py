"""The size and cost of a model, or of several models, as text and as Markdown."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from irlint.dims import Dim, symbol
from irlint.dims.expressions import FAILURES, dim_of
from irlint.dims.rounding import figure, magnitude, rounded, sizes_text
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.reporters.ansi import painted
from irlint.reporters.canvas import display
from irlint.reporters.markdown import MARKDOWN
from irlint.reporters.plain import headed, safe, spelled

#: The report names at most this many operators, as many conditions, and as many symbols.
SHOWN = 8

#: The largest number of characters of an expression: in general (LONGEST), and in a cell of a table (LONGEST_CELL).
LONGEST = 160
LONGEST_CELL = 48

Rows = list[tuple[str, str]]

#: The columns of a table of models.
COLUMNS = ("model", "format", "nodes", "parameters", "bytes", "MACs", "peak memory")


def rendered(info: dict[str, Any], encoding: str = "utf-8", *, color: bool = False) -> str:
    """The report as text; characters that ``encoding`` lacks are escaped."""
    if "models" in info:
        return spelled(_table(info["models"]), encoding)
    lines = [painted(headed(info), "head", color), _stamp(info)]
    for heading, rows in _blocks(info):
        lines += ["", painted(heading, "head", color), *_aligned(rows)]
    return spelled("\n".join([*lines, ""]), encoding)


def markdown(info: dict[str, Any]) -> str:
    """The report in Markdown."""
    if "models" in info:
        cells = [_cells(each) for each in info["models"]]
        return _grid(COLUMNS, [(_code(path), *rest) for path, *rest in cells])
    lines = [f"### {_code(info['path'])}", "", _stamp(info).translate(MARKDOWN)]
    for heading, rows in _blocks(info):
        lines += [
            "",
            f"#### {heading.translate(MARKDOWN)}",
            "",
            *(f"- {_code(name)}: {text.translate(MARKDOWN)}" for name, text in rows),
        ]
    return "\n".join([*lines, ""])


def size_text(size: int | str | None, sizes: Mapping[str, int], longest: int = LONGEST) -> str:
    """A rounded number or expression, cut to ``longest`` characters. The largest terms at ``sizes`` come first."""
    if size is None:
        return "not known"
    if isinstance(size, int):
        return figure(size)
    try:
        text = rounded(_dim(size), sizes)
    except FAILURES:
        text = safe(size)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _dim(size: int | str) -> Dim:
    """The number or expression that ``size`` writes. Raises one of FAILURES if it cannot be parsed."""
    return dim_of(ast.parse(str(size), mode="eval").body, partial(symbol, lower=1))


def _stamp(info: Mapping[str, Any]) -> str:
    """The versions and the producer of a model: ``version 8, opset 17, pytorch 2.1``."""
    opsets = ", ".join(f"{name or 'opset'} {version}" for name, version in info["opsets"].items())
    version = f"version {info['format_version']}" if info["format_version"] else ""
    return safe(", ".join(text for text in (version, opsets, info["producer"]) if text))


def _blocks(info: Mapping[str, Any]) -> Iterator[tuple[str, Rows]]:
    yield "takes", _interface_rows(info["inputs"])
    if info["requires"]:
        conditions = [each for each in info["requires"] if "when" not in each][:SHOWN]
        yield "as long as", [(each["condition"], f"{each['op']} {safe(each['node'])}") for each in conditions]
    yield "returns", _interface_rows(info["outputs"])
    yield "costs", costs(info)
    if info["dearest"]:
        yield title(info), dearest(info)
    named = [(name, f"is {safe(text)}") for name, text in info["symbols"].items() if _needs_explanation(name, info)]
    if named:
        yield "where", named[:SHOWN]


def _interface_rows(ends: Sequence[Mapping[str, Any]]) -> Rows:
    rows = []
    for each in ends:
        shape = "[...]" if each["shape"] is None else f"[{', '.join(map(str, each['shape']))}]"
        rows.append((safe(each["name"]), f"{each['dtype'] or '?'}{shape}"))
    return rows


def title(info: Mapping[str, Any]) -> str:
    """The heading of ``dearest``, with the sizes for which the order and the percentages hold."""
    sizes = sizes_text(info["sizes"])
    return f"most expensive nodes at {sizes}" if sizes else "most expensive nodes"


def dearest(info: Mapping[str, Any]) -> Rows:
    """The nodes with the most MACs."""
    return [_expensive_node(each, info) for each in info["dearest"]]


def costs(info: Mapping[str, Any]) -> Rows:
    """The nodes, parameters, bytes, MACs and peak memory of a model."""
    operators = info["by_operator"]
    first = [f"{each['nodes']} {safe(name)}" for name, each in list(operators.items())[:SHOWN]]
    more = [f"{len(operators) - SHOWN} more operators"] if len(operators) > SHOWN else []
    sizes = info["sizes"]
    rows = [
        ("nodes", _with(str(info["nodes"]), [*first, *more])),
        ("parameters", _with(figure(info["parameters"]), _types(info["parameters_by_type"])) + _unused(info)),
        ("bytes", _with(figure(info["bytes"]), _types(info["bytes_by_type"]))),
        ("MACs", size_text(info["macs"], sizes)),
        ("peak memory", f"{size_text(info['peak_memory'], sizes)}{' bytes' * (info['peak_memory'] is not None)}"),
    ]
    if sizes:
        rows.append(("order", f"largest terms first at {sizes_text(sizes)}"))
    if "uncounted" in info:
        names = ", ".join(f"{count} {safe(name)}" for name, count in info["uncounted"].items())
        rows.append(("not counted", f"{names}: irlint does not know these operators"))
    return rows


def _with(text: str, parts: Sequence[str]) -> str:
    return f"{text}: {', '.join(parts)}" if parts else text


def _unused(info: Mapping[str, Any]) -> str:
    count = info["parameters_without_node"]
    return f" (no node uses {figure(count)} of them)" if count else ""


def _types(counts: Mapping[str, int]) -> list[str]:
    return [f"{figure(count)} {dtype or 'unknown'}" for dtype, count in counts.items()]


def _expensive_node(each: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[str, str]:
    share = f", {_percent(each['macs'], info)}" if info["macs"] is not None else ""
    parameters = f", {counted(figure(each['parameters']), 'parameter')}" if each["parameters"] else ""
    place = f" in {safe(each['graph'])}" if each["graph"] else ""
    macs = size_text(each["macs"], info["sizes"])
    return safe(each["node"]), f"{each['op']}{place}: {macs} MACs{share}{parameters}"


def _percent(part: int | str, info: Mapping[str, Any]) -> str:
    """The share of ``part`` in all MACs, in percent."""
    try:
        one, every = (magnitude(_dim(each), info["sizes"]) for each in (part, info["macs"]))
    except FAILURES:
        return "part of all"
    return f"{100 * one / max(every, 1):.0f} %"


def _needs_explanation(name: str, info: Mapping[str, Any]) -> bool:
    """Whether the costs or the outputs mention the symbol ``name``, and no input has it as a size."""
    texts = [str(info["macs"]), str(info["peak_memory"]), *(str(each["shape"]) for each in info["outputs"])]
    declared = {dim for each in info["inputs"] for dim in each["shape"] or ()}
    return name not in declared and any(name in text for text in texts)


def _aligned(rows: Rows) -> list[str]:
    width = min(max((display(first) for first, _ in rows), default=0), 44)
    return [f"  {first}{' ' * (width - display(first))}  {second}" for first, second in rows]


# --- many models ------------------------------------------------------------------------------------------------------


def _cells(info: Mapping[str, Any]) -> tuple[str, ...]:
    if "error" in info:
        return (safe(info["path"]), safe(info["error"]))
    counts = (info["macs"], info["peak_memory"])
    return (
        safe(info["path"]),
        info["format"],
        str(info["nodes"]),
        figure(info["parameters"]),
        figure(info["bytes"]),
        *(size_text(count, info["sizes"], LONGEST_CELL) for count in counts),
    )


def _table(models: Sequence[Mapping[str, Any]]) -> str:
    rows = [COLUMNS, *map(_cells, models)]
    full = [row for row in rows if len(row) == len(COLUMNS)]
    widths = [max(display(row[at]) for row in full) for at in range(len(COLUMNS) - 1)]
    widths[0] = max(display(row[0]) for row in rows)
    lines = []
    for row in rows:
        cells = [f"{cell}{' ' * (width - display(cell))}" for cell, width in zip(row, widths)]
        lines.append("  ".join([*cells, *row[len(widths) :]]).rstrip())
    return "\n".join([*lines, ""])


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([row[0], *(cell.translate(MARKDOWN) for cell in row[1:])] for row in rows)]
    return "".join(f"| {' | '.join([*line, *[''] * (len(head) - len(line))])} |\n" for line in lines)


def _code(text: str) -> str:
    return f"`{safe(text).replace('`', chr(39))}`"
