"""Notes on constants that decide a clashing size, and that nodes without a problem use, too."""

from __future__ import annotations

import onnx.numpy_helper
import onnx.parser
import pytest
from numpy import zeros

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: The nodes of a model behind a Conv, and the notes on constants that they share with others.
MODELS = {
    "weights of another node": (
        "a = Conv (x, w) b = Conv (c, w) y = Relu (a)",
        ["`w` is also input 1 of Conv[2]; if that node needs it as it is, give Conv[3] one of its own"],
    ),
    "weights that only the faulty node uses": ("b = Conv (c, w) y = Relu (x)", []),
    "weights that are copied": ("a = Identity (w) b = Conv (c, w) y = Conv (x, a)", []),
    "a target of several nodes": (
        "r = Reshape (x, t) a = Reshape (x, t) b = MatMul (r, v) y = Relu (a)",
        ["`t` is also input 1 of Reshape[3]; if that node needs it as it is, give Reshape[2] one of its own"],
    ),
    "axes of several nodes": ("r = ReduceSum (x, i) b = MatMul (r, v) a = ReduceSum (x, i) y = Relu (a)", []),
    "a scalar that a Gather needs": (
        "s = Shape (x) g = Gather (s, k) b = Concat <axis = 0> (s, k) y = Relu (x)",
        ["`k` is also input 1 of Gather[3]; if that node needs it as it is, give Concat[4] one of its own"],
    ),
}
CONSTANTS = {"w": zeros((5, 3, 1, 1), "float32"), "v": zeros((5, 2), "float32")}


@pytest.mark.parametrize("name", MODELS)
def test_notes(name: str) -> None:
    nodes, expected = MODELS[name]
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[1,3,8,8] x) => (y, z) "
        "<int64[2] t = {-1, 8}, int64[1] i = {1}, int64 k = {0}> { c = Concat <axis = 1> (x, x) z = Neg (c) "
        f"{nodes} }}"
    )
    for each, array in CONSTANTS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, each))
    found = next(each for each in irlint.check(model).findings if each.severity.value == "error")
    assert found.detail is not None
    assert [note for note in found.detail.notes if "is also" in note] == expected
