"""Hashes of constants: the same for the same contents, however and wherever these are stored."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from irlint.model import Constant
from irlint.parsers import read
from irlint.parsers import weights as lying
from irlint.parsers.digests import Digests

COUNT = 3000


def model(tensor: TensorProto) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])], "g", [], [helper.make_tensor_value_info("y", 1, None)], [tensor]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def digest(tensor: TensorProto, folder: Path, *, external: bool = False) -> str | None:
    path = folder / "m.onnx"
    onnx.save(model(tensor), path, save_as_external_data=external, location="w.bin", size_threshold=0)
    found = read(path)
    assert found.graph is not None
    (constant,) = found.graph.constants.values()
    whole = Digests().of(constant, str(path))
    assert external or Digests().of(constant, "elsewhere.onnx", path.read_bytes()) == whole
    assert (whole is None) is bool(Digests.lack(constant))
    return whole


@pytest.mark.parametrize(
    "dtype", ["float32", "int64", "int32", "uint8", "int8", "float16", "bool", "uint64", "float64"]
)
def test_one_hash_for_one_contents(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lying, "PIECE", 1001)
    numbers = (numpy.arange(COUNT) % 120 - (60 if dtype[0] in "if" else 0)).astype(dtype)
    raw = numpy_helper.from_array(numbers, "w")
    kind = helper.np_dtype_to_tensor_dtype(numbers.dtype)
    typed = helper.make_tensor("w", kind, [COUNT], numbers.tolist())
    first = digest(raw, tmp_path)
    assert first is not None
    assert digest(typed, tmp_path) == first
    assert digest(raw, tmp_path, external=True) == first
    numbers[-1] = not numbers[-1]
    assert digest(numpy_helper.from_array(numbers, "w"), tmp_path) != first


def test_strings(tmp_path: Path) -> None:
    one, other = (
        digest(helper.make_tensor("w", TensorProto.STRING, [2], [b"one", text]), tmp_path) for text in (b"two", b"too")
    )
    assert one
    assert other not in (one, None)


def test_sparse_tensors_by_their_parts() -> None:
    def of(values: list[float]) -> Constant:
        sparse = helper.make_sparse_tensor(
            numpy_helper.from_array(numpy.float32(values), "w"), numpy_helper.from_array(numpy.int64([0, 5])), [3, 4]
        )
        found = model(numpy_helper.from_array(numpy.float32([1]), "v"))
        found.graph.sparse_initializer.append(sparse)
        graph = read("m.onnx", found.SerializeToString()).graph
        assert graph is not None
        return next(each for each in graph.constants.values() if each.parts)

    one, two, other = (Digests().of(of(values), "m.onnx") for values in ([1, 2], [1, 2], [1, 3]))
    assert one == two
    assert other not in (one, None)


def test_what_is_not_there_has_no_hash(tmp_path: Path) -> None:
    numbers = numpy_helper.from_array(numpy.zeros(COUNT, "float32"), "w")
    path = tmp_path / "m.onnx"
    onnx.save(model(numbers), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    (tmp_path / "w.bin").write_bytes(b"\0" * 100)
    graph = read(path).graph
    assert graph is not None
    (constant,) = graph.constants.values()
    assert Digests().of(constant, str(path)) is None
    assert Digests.lack(constant) == "w.bin ends before them"
