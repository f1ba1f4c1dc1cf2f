"""Where each size of a value comes from, for people."""

from __future__ import annotations

from typing import Any

import pytest

from irlint.reporters.why import rendered


def rendered_lines(
    *axes: tuple[int | str, list[str]], name: str = "y", shape: list[int | str] | None = None, columns: int = 80
) -> list[str]:
    why: dict[str, Any] = {
        "path": "m.onnx",
        "format": "onnx",
        "graph": "",
        "name": name,
        "node": "",
        "op": "Relu",
        "dtype": "float32",
        "shape": [size for size, _ in axes] if axes else shape,
        "value": None,
    }
    why["axes"] = [
        {"axis": at, "size": size, "steps": [{"text": text} for text in texts]} for at, (size, texts) in enumerate(axes)
    ]
    return rendered(why, "ascii", columns).splitlines()


def test_axes_that_one_place_declares_share_a_line() -> None:
    x, w = "declared: graph input `x`", "declared: graph input `w`"
    lines = rendered_lines(
        (1, [f"1 is {x}"]), ("N", [f"N is {x}"]), (4, [f"4 is {w}"]), (8, [f"8 is {x}"]), (8, [f"8 is {x}"])
    )
    assert lines[1:] == [
        "y  Relu  float32[1, N, 4, 8, 8]",
        "  axes 0, 1, 3, 4  1, N and 8 are declared: graph input `x`",
        "  axis 2           4 is declared: graph input `w`",
    ]


def test_each_step_has_a_line_and_long_ones_go_on_below() -> None:
    steps = ["H//4 = floor((H//2 - 2) / 2) + 1 in MaxPool[1] (kernel 2, stride 2)", "H is declared: graph input `x`"]
    assert rendered_lines(("H//4", steps), columns=60)[2:] == [
        "  axis 0  H//4 = floor((H//2 - 2) / 2) + 1 in MaxPool[1]",
        "              (kernel 2, stride 2)",
        "          H is declared: graph input `x`",
    ]


@pytest.mark.parametrize(
    ("shape", "line"), [([], "it is a scalar, and has no axes"), (None, "not even the number of its axes is known")]
)
def test_without_axes(shape: list[int | str] | None, line: str) -> None:
    assert rendered_lines(shape=shape)[2:] == [f"  {line}"]


def test_a_name_of_the_model_does_not_steer_the_terminal() -> None:
    assert all(line.isprintable() and line.isascii() for line in rendered_lines((1, ["1 is \x1b[31m ü"]), name="ü\n"))
