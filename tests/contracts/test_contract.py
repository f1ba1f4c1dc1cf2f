"""What a whole model demands: each condition once, solved, with the node that is the first to demand it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from contracts.positions import HEAD as HEAD_OF_POSITIONS
from contracts.positions import POSITIONS

import irlint


def contract(text: str, folder: Path, head: str = HEAD) -> dict[str, Any]:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(head + text).SerializeToString())
    return irlint.contract(path)


@pytest.mark.parametrize("name", MODELS)
def test_conditions(name: str, tmp_path: Path) -> None:
    text, expected = MODELS[name]
    found = contract(text, tmp_path)["requires"]
    assert [
        f"{each['condition']} if {each['when']}" if "when" in each else each["condition"] for each in found
    ] == expected


def test_the_first_node_and_how_many(tmp_path: Path) -> None:
    nodes = "".join(f"y{i} = MatMul (x, b) " for i in range(3))
    (found,) = contract(f"g (float[N,3] x, float[M,K] b) => (y0) {{ {nodes} }}", tmp_path)["requires"]
    assert (found["node"], found["op"], found["nodes"]) == ("y0", "MatMul", 3)
    assert found["why"] == "axis 1 of input 0 and axis 0 of input 1 are summed over together"


def test_no_sizes_fit(tmp_path: Path) -> None:
    nodes = "r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s)"
    found = contract(f"g (float[n] x, float[6] a, float[12] b) => (y, z) {{ {nodes} }}", tmp_path)
    assert found["satisfiable"] is False
    assert [each["node"] for each in found["contradiction"]] == ["y", "z"]


def test_sizes_that_the_data_decide_are_not_demanded(tmp_path: Path) -> None:
    found = contract(
        "g (float[N] x, float[6] a) => (y) { i = NonZero (x) j = Cast <to = 1> (i) y = MatMul (j, a) }", tmp_path
    )
    assert found["requires"] == []
    assert found["undecided"] == 1


def test_errors_of_the_model_are_noted(tmp_path: Path) -> None:
    found = contract("g (float[N,3] x) => (y) { r = Relu (x) y = Softmax <axis = 2> (r) }", tmp_path)
    path = f"{tmp_path.as_posix()}/m.onnx"
    assert found["notes"] == [f"{path} has 1 error, so later shapes may be unknown: see `irlint {path}`"]
    assert "notes" not in contract("g (float[N,3] x) => (y) { y = Relu (x) }", tmp_path)


def test_a_mask_has_one_of_several_shapes(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = (
        '<ir_version: 8, opset_import: ["com.microsoft" : 1]>\n'
        "g (float[B,S,8] x, float[8,24] w, float[24] b, int32[B,T] m, float[2,B,2,P,4] past) => (y, p) "
        "{ y, p = com.microsoft.Attention <num_heads = 2> (x, w, b, m, past) }"
    )
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    assert [each["condition"] for each in irlint.contract(path)["requires"]] == ["T == P + S or T == 1"]


def test_what_follows_from_others_is_not_reported(tmp_path: Path) -> None:
    layer = "a{0} = Add (x{0}, m) s{0} = MatMul (a{0}, w) x{1} = MatMul (s{0}, v) "
    layers = "".join(layer.format(at, at + 1) for at in range(3)).replace("x0", "x")
    found = contract(f"g (float[B,S,4] x, float[B,T,1] m, float[4,6] w, float[6,4] v) => (x3) {{ {layers} }}", tmp_path)
    assert [each["condition"] for each in found["requires"]] == ["S == T or S == 1 or T == 1"]
    assert found["outputs"][0]["shape"] == ["B", "max(S, T)", 4]


def test_outputs_are_reported_where_the_conditions_hold(tmp_path: Path) -> None:
    slices = (
        "<int64[1] a = {0}, int64[1] e = {8}, int64[1] ax = {0}> { s = Slice (x, a, e, ax) y = Add (x, s) z = Relu "
        "(s) }"
    )
    found = contract(f"g (float[N,3] x) => (y, z) {slices}", tmp_path)
    assert [each["condition"] for each in found["requires"]] == ["N <= 8"]
    assert [each["shape"] for each in found["outputs"]] == [["N", 3], ["N", 3]]


def test_frozen_sizes_are_reported_once(tmp_path: Path) -> None:
    text, _ = MODELS["frozen batch"]
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + text.replace("{ y", "{ z = Reshape (x, s) y")).SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL608"]
    assert (found.node, found.severity.value) == ("z", "warning")
    assert found.message == "`batch` of `x` is dynamic, but only 1 works"


@pytest.mark.parametrize("name", ["multiple", "window", "broadcast", "concatenated", "branch", "flattened"])
def test_what_leaves_a_choice_is_not_frozen(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    assert not {"IRL608", "IRL609"} & {each.rule.code for each in irlint.check(path).findings}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name: str, tmp_path: Path) -> None:
    text, expected = POSITIONS[name]
    assert [each["condition"] for each in contract(text, tmp_path, HEAD_OF_POSITIONS)["requires"]] == expected


def errors(folder: Path, *length: int) -> list[str]:
    report = irlint.check(folder / "m.onnx", shapes={"x": (2, *length)} if length else {})
    return [each.message for each in report.findings if each.severity.value == "error"]


def test_positions_past_a_table_are_reported_in_words(tmp_path: Path) -> None:
    text, _ = POSITIONS["a table"]
    (found,) = contract(text, tmp_path)["requires"]
    assert (found["condition"], found["op"], found["why"]) == (
        "S <= 7",
        "Gather",
        "index S - 1 is taken of axis 0, which has 7 elements",
    )
    assert errors(tmp_path, 300) == ["input 1 holds the index 299, and axis 0 has 7 elements; allowed: -7 to 6"]
    assert not errors(tmp_path, 7)


def test_positions_of_which_only_none_would_fit_are_an_error(tmp_path: Path) -> None:
    text = POSITIONS["clipped too high"][0]
    assert contract(text, tmp_path)["satisfiable"] is False
    assert [each[:33] for each in errors(tmp_path)] == ["no size of `S` of `x` works: this"]
