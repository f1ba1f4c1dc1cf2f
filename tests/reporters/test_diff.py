"""What two models differ in, as text and as Markdown."""

from __future__ import annotations

from typing import Any

from irlint.reporters.diff import SHOWN, markdown, rendered


def change(kind: str, message: str, *, breaking: bool = False, **details: Any) -> dict[str, Any]:
    return {"kind": kind, "breaking": breaking, "message": message, "name": "n", **details}


def diff(*changes: dict[str, Any], notes: tuple[str, ...] = ()) -> dict[str, Any]:
    sides = {
        side: {"path": f"{side}.onnx", "format": "onnx", "format_version": "8", "nodes": 3} for side in ("old", "new")
    }
    return {
        **sides,
        "compatible": not any(each["breaking"] for each in changes),
        "changes": list(changes),
        "notes": notes,
    }


def test_nothing() -> None:
    assert rendered(diff()) == "old.onnx (onnx) -> new.onnx (onnx)\ncompatible: no differences\n"
    assert markdown(diff()) == "### `old.onnx` → `new.onnx`\n\n**compatible: no differences**\n"


def test_sections() -> None:
    found = diff(
        change("input-removed", "input `x` is gone", breaking=True),
        change("input-widened", "axis 0"),
        change("opset-changed", "opset ai.onnx 13 -> 17"),
        change("operator-count", "Conv 3 -> 4"),
        change("operator-removed", "Relu 1 -> 0"),
        change("node-added", "Conv `c` is new", follow=1),
        change("node-changed", "Conv `d`: group 1 -> 2", follow=43, graph="if/then_branch"),
        notes=("new.onnx has 1 error",),
    )
    assert rendered(found).splitlines() == [
        "old.onnx (onnx) -> new.onnx (onnx)",
        "not compatible: 1 of 7 changes breaks users of the old model",
        "breaking",
        "  - input `x` is gone",
        "inputs and outputs",
        "  ~ axis 0",
        "opsets and operators",
        "  ~ Conv 3 -> 4, Relu 1 -> 0",
        "  ~ opset ai.onnx 13 -> 17",
        "nodes",
        "  + Conv `c` is new; 1 node after it changes with it",
        "  ~ Conv `d`: group 1 -> 2 (in `if/then_branch`); 43 nodes after it change with it",
        "note: new.onnx has 1 error",
    ]
    assert "#### nodes\n\n- Conv `c` is new; 1 node after it changes with it" in markdown(found)


def test_many_of_a_kind() -> None:
    many = [change("node-weights", f"Conv `{at}`") for at in range(SHOWN + 5)]
    assert rendered(diff(*many)).splitlines()[-1] == "  ~ 5 more node-weights, which --format json lists"
    assert f"<details><summary>nodes ({SHOWN + 5})</summary>\n\n- Conv `0`" in markdown(diff(*many))
    breaking = [change("output-removed", f"output `{at}`", breaking=True) for at in range(SHOWN + 5)]
    assert len(rendered(diff(*breaking)).splitlines()) == SHOWN + 8


def test_names_cannot_steer_a_terminal() -> None:
    assert "\\x1b[31m" in rendered(diff(change("node-added", "Conv `\x1b[31m`")))
    assert rendered(diff(change("node-added", "Conv `ä`")), "ascii").splitlines()[-1] == "  + Conv `\\xe4`"
