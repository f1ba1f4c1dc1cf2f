"""The values of a model as a table for people."""

from __future__ import annotations

from typing import Any

import pytest

from irlint.dims import broadcast_size, symbol
from irlint.reporters.listing import rendered


def listing(*entries: tuple[str, str | None, list[int | str], list[str]]) -> dict[str, Any]:
    values = [
        {"graph": "", "name": name, "node": name, "op": op, "dtype": "floa"
            "t32", "shape": shape, "value": None, "marks": marks}
        for name, op, shape, marks in entries
    ]  # fmt: skip
    return {"path": "m.onnx", "format": "onnx", "inputs": ["x"], "values": values, "requires": [], "symbols": {}}


X = ("x", None, [1, "N"], ["input"])
W = ("w", None, [3], ["constant"])
Y = ("y", "Relu", [1, "N"], ["output"])
LONG = (
    "/model/backbone/stages.0/blocks.11/mlp/fc2/Add_output_0",
    "Add",
    [1, "N", "2*((height + 3)//4)", "2*((width + 3)//4)", 256],
    [],
)


def test_outputs_are_marked_and_constants_left_out() -> None:
    assert rendered(listing(X, W, Y)).splitlines() == [
        "m.onnx (onnx)",
        "  x  input         float32[1, N]",
        "  y  Relu, output  float32[1, N]",
        "  and 1 constant, which -v lists",
    ]
    assert "  w  initializer   float32[3]" in rendered(listing(X, W, Y), every=True)
    assert "  w  initializer  float32[3]" in rendered(listing(W))


def test_a_broadcast_size_is_a_maximum() -> None:
    joint = broadcast_size(symbol("a"), (symbol("b") + 1) // 2)
    sizes = [str(joint), str(joint * joint + 1), "max(a, b)", "min(a, b, 1)", "max(a, b)*min(a, c, 1)"]
    text = listing(("y", "Add", sizes, []))
    text["requires"] = [{"condition": f"{joint!s} == 1 or N >= 2", "op": "Add", "node": "y", "why": "w"}]
    lines = rendered(text).splitlines()
    short = "max((b + 1)//2, a)"
    assert lines[1].endswith(f"float32[{short}, {short}*{short} + 1, max(a, b), min(a, b, 1), max(a, b)*min(a, c, 1)]")
    assert lines[-1] == f"  {short} == 1 or N >= 2  Add y: w"


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_lines_keep_within_a_page(columns: int) -> None:
    text = listing(X, LONG, Y)
    text["requires"] = [{"condition": "height >= 7", "op": "Conv", "node": LONG[0], "why": "the kernel is 7 on axis 2"}]
    lines = rendered(text, columns=columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert "2*((width + 3)//4)" in "".join(lines)


def test_a_long_type_stands_below() -> None:
    assert rendered(listing(X, LONG), columns=80).splitlines()[1:] == [
        "  x                                      input  float32[1, N]",
        "  /model/backbone/s.../fc2/Add_output_0  Add",
        "        float32[1, N, 2*((height + 3)//4), 2*((width + 3)//4), 256]",
    ]


def test_in_a_pipe_names_are_whole() -> None:
    assert LONG[0] in rendered(listing(X, LONG, Y))
