"""What several tests of the ONNX reader take."""

from __future__ import annotations

import onnx
import pytest
from onnx import AttributeProto, helper

RICH = """
m (float[N, 3, "H*W"] x, int64[K] unused, bool flag) => (float[N, M] y)
<float[2, 3] w = {1, 2, 3, 4, 5, 6}, int64[2] shape = {-1, 3}, float[N, "H*W"] mid>
{
  mid = Relu (x)
  [branch] z = If (flag) <
    then_branch = then () => (float[N] a) { a = Identity (mid) },
    else_branch = otherwise () => (b) { mid = Constant <value_ints = [1, 2]> () c = Cast <to = 1> (mid) b = Neg (c) }
  >
  y, , = Split <axis = -1, ratio: float = 0.5, mode = "up", list = [1.5, 2.5], texts = ["p", "q"]> (z, , w)
}
"""


@pytest.fixture(scope="session")
def rich() -> bytes:
    function = helper.make_function(
        "local",
        "Scaled",
        ["a"],
        ["b"],
        [helper.make_node("Mul", ["a", "a"], ["t"]), helper.make_node("LeakyRelu", ["t"], ["b"])],
        [helper.make_opsetid("", 18)],
        attributes=["alpha"],
    )
    reference = function.node[1].attribute.add()
    reference.name, reference.type, reference.ref_attr_name = "alpha", AttributeProto.FLOAT, "alpha"
    source = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "local" : 1]> {RICH}')
    source.functions.append(function)
    helper.set_model_props(source, {"author": "none"})
    return source.SerializeToString()
