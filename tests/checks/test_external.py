"""Constants in files beside the model that decide a shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import irlint


@pytest.mark.parametrize(("ir_version", "codes"), [(3, ["IRL707"]), (4, [])])
def test_what_is_fed_takes_the_place_of_an_initializer_from_ir_version_4_on(
    tmp_path: Path, ir_version: int, codes: list[str]
) -> None:
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [2]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 2])]
    stored = numpy_helper.from_array(np.array([3, 2], np.int64), "s")
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "s"], ["y"])], "g", inputs, outputs, [stored])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=ir_version)
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="w.bin")
    assert [finding.rule.code for finding in irlint.check(path).findings] == codes
