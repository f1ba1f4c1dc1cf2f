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


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A model whose weights, of 24 bytes, are to lie in ``model.onnx.data``, which is moved out of its folder."""
    weights = numpy_helper.from_array(np.zeros((2, 3), np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])] for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", *ends, [weights]), ir_version=8)
    settings = {"save_as_external_data": True, "location": "model.onnx.data", "size_threshold": 0}
    folder = tmp_path / "model"
    folder.mkdir()
    onnx.save(model, folder / "model.onnx", **settings)
    (folder / "model.onnx.data").rename(tmp_path / "moved")
    return folder / "model.onnx"


BESIDE = "put model.onnx.data beside the model"


def help_of(path: Path) -> str:
    (finding,) = irlint.check(path, select=["IRL701"]).findings
    return finding.help


def test_a_file_of_almost_the_name_is_proposed(outside: Path) -> None:
    assert help_of(outside) == BESIDE
    (outside.parent / "model.onnx_data").write_bytes(b"")
    assert help_of(outside) == f"{BESIDE}: model.onnx_data exists; rename it if it is the same file"


def test_a_file_of_the_size_that_is_needed_is_proposed(outside: Path) -> None:
    needed = "exists and has exactly the needed 24 bytes; rename it if it is the same file"
    (outside.parent / "weights.bin").write_bytes(bytes(24))
    (outside.parent / "short.bin").write_bytes(bytes(23))
    assert help_of(outside) == f"{BESIDE}: weights.bin {needed}"
    (outside.parent / "copy.bin").write_bytes(bytes(24))
    assert help_of(outside) == BESIDE


@pytest.mark.parametrize("name", ["other.onnx.data", "other.bin", "other_data"])
def test_the_weights_of_another_model_are_not_proposed(outside: Path, name: str) -> None:
    (outside.parent / name).write_bytes(bytes(24))
    (outside.parent / "other.onnx").write_bytes(b"")
    assert help_of(outside) == BESIDE


def test_no_link_is_proposed(outside: Path) -> None:
    link = outside.parent / "weights.bin"
    try:
        link.symlink_to(outside.parent.parent / "moved")
    except OSError:
        pytest.skip("no symbolic links here")
    assert help_of(outside) == BESIDE


def test_an_absolute_path_is_the_fault_even_beside_the_model(outside: Path) -> None:
    model = onnx.load(outside, load_external_data=False)
    absolute = str(outside.parent / "w.bin")
    (outside.parent / "w.bin").write_bytes(bytes(24))
    model.graph.initializer[0].external_data[0].value = absolute
    outside.write_bytes(model.SerializeToString())
    (found,) = irlint.check(outside, select=["IRL701"]).findings
    assert found.message.endswith(f"is stored in {absolute}, which is an absolute path; runtimes refuse it")
    assert found.help.endswith("model's folder: w.bin if the file is beside the model")


def test_a_length_that_is_too_short_is_named(outside: Path) -> None:
    model = onnx.load(outside, load_external_data=False)
    needed = 24
    (outside.parent / "w.bin").write_bytes(bytes(4 * needed))
    del model.graph.initializer[0].external_data[:]
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(needed - 2))):
        model.graph.initializer[0].external_data.add(key=key, value=value)
    outside.write_bytes(model.SerializeToString())
    (found,) = irlint.check(outside, select=["IRL703"]).findings
    assert found.message.endswith(f"; the entry `length` is {needed - 2}")
    assert found.help == f"write {needed} in the entry `length`"


def test_a_folder_that_a_link_leads_to_is_not_looked_through(outside: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "w.bin").write_bytes(bytes(24))
    try:
        (outside.parent / "sub").symlink_to(elsewhere)
    except OSError:
        pytest.skip("no symbolic links here")
    model = onnx.load(outside, load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "sub/weights.data"
    outside.write_bytes(model.SerializeToString())
    assert help_of(outside) == "put sub/weights.data beside the model"
    assert irlint.check(model.SerializeToString(), select=["IRL701"]).findings == ()


def test_a_folder_of_very_many_files_is_not_looked_through(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (outside.parent / "weights.bin").write_bytes(bytes(24))
    monkeypatch.setattr("irlint.checks.misnamed.MOST_FILES", 1)
    assert help_of(outside) == BESIDE


def test_the_file_around_the_bytes_of_a_constant_is_named(tmp_path: Path) -> None:
    names = ["u", "v", "w"]
    weights = [numpy_helper.from_array(np.zeros((64, 64), np.float32), name) for name in names]
    nodes = [helper.make_node("Add", [f"x{at}", name], [f"x{at + 1}"]) for at, name in enumerate(names)]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64])] for name in ("x0", "x3")]
    model = helper.make_model(helper.make_graph(nodes, "g", *ends, weights), ir_version=8)
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="m.data")
    broken = onnx.load(path, load_external_data=False)
    broken.graph.initializer[1].external_data[0].value = "old.data"
    path.write_bytes(broken.SerializeToString())
    assert help_of(path) == "write the location m.data: no other constant uses its bytes at these offsets"
    broken.graph.initializer[0].external_data[0].value = "old.data"
    broken.graph.initializer[0].external_data[1].value = "16"
    path.write_bytes(broken.SerializeToString())
    assert help_of(path) == "put old.data beside the model"
