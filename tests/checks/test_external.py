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


def test_a_file_of_almost_the_name_is_proposed(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.zeros((2, 3), np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])] for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", *ends, [weights]), ir_version=8)
    settings = {"save_as_external_data": True, "location": "model.onnx.data", "size_threshold": 0}
    onnx.save(model, tmp_path / "model.onnx", **settings)
    (tmp_path / "model.onnx.data").rename(tmp_path / "model.onnx_data")
    (finding,) = irlint.check(tmp_path / "model.onnx", select=["IRL701"]).findings
    beside = "put model.onnx.data beside the model"
    assert finding.help == f"{beside}: model.onnx_data is there, give it that name if it is the same"
    (tmp_path / "model.onnx_data").rename(tmp_path / "other.onnx_data")
    (finding,) = irlint.check(tmp_path / "model.onnx", select=["IRL701"]).findings
    assert finding.help == beside
