"""Findings about large constants where their numbers are read, and that nothing is read otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import irlint
from irlint.parsers import weights as lying
from irlint.run.files import Settings
from irlint.run.one_file import inspected

SHAPE = (300, 7)


def weights(*odd: float, dtype: str = "float32") -> numpy.ndarray:
    numbers = numpy.linspace(0.5, 1.5, SHAPE[0] * SHAPE[1], dtype="float64")
    numbers[-1 - len(odd) : -1] = odd
    with numpy.errstate(all="ignore"):
        return numbers.reshape(SHAPE).astype(dtype)


def model(tensor: TensorProto, op: str, dtype: int, **attributes: int) -> onnx.ModelProto:
    inputs = ["x", "w"] if op == "Div" else ["w"]
    given = [helper.make_tensor_value_info("x", tensor.data_type, [1])] if op == "Div" else []
    output = helper.make_tensor_value_info("y", dtype, tensor.dims)
    graph = helper.make_graph([helper.make_node(op, inputs, ["y"], **attributes)], "g", given, [output], [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def codes_of(path: Path, *, read: bool = True) -> list[str]:
    return [finding.rule.code for finding in inspected(str(path), settings=Settings(weights=read))[1]]


@pytest.mark.parametrize("where", ["raw", "field", "external", "constant"])
def test_numbers_are_found_wherever_they_lie(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lying, "PIECE", 1001)
    path = tmp_path / "m.onnx"
    numbers = weights(float("nan"), float("-inf"), 1e6)
    tensor = numpy_helper.from_array(numbers, "w")
    if where == "field":
        tensor = helper.make_tensor("w", TensorProto.FLOAT, SHAPE, numbers.flatten().tolist())
    proto = model(tensor, "Cast", TensorProto.FLOAT16, to=TensorProto.FLOAT16)
    if where == "constant":
        del proto.graph.initializer[:]
        proto.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    onnx.save(proto, path, save_as_external_data=where == "external", location="m.data", size_threshold=0)
    assert sorted(codes_of(path)) == ["IRL733", "IRL734", "IRL735"]
    assert codes_of(path, read=False) == []


@pytest.mark.parametrize(
    ("dtype", "odd", "codes"),
    [
        ("float32", (), []),
        ("float64", (1e40,), ["IRL733"]),
        ("float32", (1e5,), ["IRL733"]),
        ("float32", (65504.0,), []),
        ("float16", (float("inf"),), ["IRL735"]),
        ("int64", (2**40,), ["IRL733"]),
        ("int64", (60000,), []),
    ],
)
def test_casts(tmp_path: Path, dtype: str, odd: tuple[float, ...], codes: list[str]) -> None:
    path = tmp_path / "m.onnx"
    tensor = numpy_helper.from_array(weights(*odd, dtype=dtype), "w")
    onnx.save(model(tensor, "Cast", TensorProto.FLOAT16, to=TensorProto.FLOAT16), path)
    assert codes_of(path) == codes


def test_divisors(tmp_path: Path) -> None:
    for odd, codes in (((), []), ((0.0,), ["IRL732"]), ((-1.0,), [])):
        onnx.save(model(numpy_helper.from_array(weights(*odd), "w"), "Div", TensorProto.FLOAT), tmp_path / "m.onnx")
        assert codes_of(tmp_path / "m.onnx") == codes


def test_bytes_that_are_given(tmp_path: Path) -> None:
    tensor = numpy_helper.from_array(weights(float("nan")), "w")
    data = model(tensor, "Identity", TensorProto.FLOAT).SerializeToString()
    assert [finding.rule.code for finding in inspected("m.onnx", data, Settings(weights=True))[1]] == ["IRL734"]
    assert inspected("m.onnx", data)[1] == ()


def test_the_function_of_the_package_reads_them_on_request(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model(numpy_helper.from_array(weights(float("nan")), "w"), "Identity", TensorProto.FLOAT), path)
    assert [finding.rule.code for finding in irlint.check(path, weights=True).findings] == ["IRL734"]
    assert irlint.check(path).findings == ()
