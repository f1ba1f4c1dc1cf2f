"""IRs that OpenVINO itself wrote give no finding above a note, and irlint's types are OpenVINO's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from cases.models import Fed as Given
from cases.models import Input, ir_document
from oracles.engines import _core, all_node_cases, assert_same_verdict

import irlint
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Graph
from irlint.model.tensor import Tensor, type_text
from irlint.parsers import openvino as parser
from irlint.parsers.openvino.types import element_type

pytestmark = pytest.mark.oracle

#: One of so many of ONNX's node tests.
STEP = 8

Key = tuple[str, str, int]


def converted(case: Any, folder: Path) -> Any:
    """The node test as OpenVINO's model, None where OpenVINO does not take it."""
    path = folder / "model.onnx"
    onnx.save(case.model, str(path))
    try:
        return _core().read_model(str(path))
    except Exception:
        return None


def with_open_axes(model: Any) -> bool:
    """Opens every second axis of every input, from the first one on; False where OpenVINO refuses that."""
    import openvino

    shapes = {}
    for source in model.inputs:
        shape = source.get_partial_shape()
        if not shape.rank.is_dynamic:
            dims = [-1 if axis % 2 == 0 or dim.is_dynamic else dim.get_length() for axis, dim in enumerate(shape)]
            shapes[source] = openvino.PartialShape(dims)
    try:
        model.reshape(shapes)
    except Exception:
        return False
    return True


def theirs(model: Any, path: str = "") -> Iterator[tuple[Key, Any]]:
    """Each output of each operation of OpenVINO's model and of its bodies."""
    for operation in model.get_ordered_ops():
        name, kind = operation.get_friendly_name(), operation.get_type_name()
        if kind != "Result":
            for output in operation.outputs():
                yield (path, name, output.get_index()), output
        if kind in ("Loop", "TensorIterator"):
            yield from theirs(operation.get_function(), f"{path}/{name}/body")
        if kind == "If":
            yield from theirs(operation.get_function(0), f"{path}/{name}/then_body")
            yield from theirs(operation.get_function(1), f"{path}/{name}/else_body")


def ours(known: Known, graph: Graph, path: str = "") -> Iterator[tuple[Key, Any]]:
    """What irlint knows of each output of each layer of the IR and of its bodies."""
    for node in graph.nodes:
        for port, value in enumerate(node.outputs):
            if value is not None:
                yield (path, node.name, port), known.types.get(value)
        for name, attribute in node.attributes.items():
            if attribute.kind == "GRAPH":
                yield from ours(known, attribute.value, f"{path}/{node.name}/{name}")


def without_declared_types(xml: str) -> str:
    """An IR whose ports declare nothing: every type has to be worked out from Parameters and Consts."""
    return re.sub(r'(<port id="\d+" )precision="\w+"', r'\1precision="dynamic"', re.sub("<dim>[^<]*</dim>", "", xml))


def difference(output: Any, known: Any) -> str | None:
    """Where irlint does not know a type as OpenVINO does, or contradicts it."""
    dtype, shape = output.get_element_type().get_type_name(), output.get_partial_shape()
    text = f"openvino: {dtype}{shape}, irlint: {type_text(known)}"
    if not isinstance(known, Tensor):
        return text
    if dtype != "dynamic" and known.dtype != element_type(dtype):
        return text
    if shape.rank.is_dynamic:
        return None
    if known.shape is None or len(known.shape) != len(shape):
        return text
    for mine, their in zip(known.shape, shape):
        low, high = their.get_min_length(), their.get_max_length()
        if low == high and mine != low:
            return text
        if isinstance(mine, int) and not (low <= mine and (high < 0 or mine <= high)):
            return text
    return None


def written(model: Any, folder: Path, compressed: bool = False) -> Path | None:
    """The IR that OpenVINO writes of its model, None where it stops."""
    import openvino

    path = folder / "model.xml"
    try:
        openvino.save_model(model, str(path), compress_to_fp16=compressed)
    except RuntimeError:
        return None
    return path


def differences(path: Path) -> list[str]:
    """Findings above a note on an IR, and the outputs on whose types irlint and OpenVINO differ."""
    found = [
        f"{finding.rule.code} {finding.message}"
        for finding in irlint.check(path).folded().findings
        if finding.severity.value != "note" or finding.rule.code in ("IRL502", "IRL599")
        # An axis that was opened here may have a size beside it that fixes it, and the CPU plugin may take none that is
        # open.
        if finding.rule.code not in ("IRL525", "IRL608")
    ]
    read = dict(theirs(_core().read_model(str(path))))
    path.write_text(without_declared_types(path.read_text("utf-8")), "utf-8")
    parsed = parser.read(path)
    assert parsed.graph is not None
    mine = dict(ours(inferred(parsed), parsed.graph))
    assert read.keys() == mine.keys()
    return found + [f"{key}: {text}" for key, output in read.items() if (text := difference(output, mine[key]))]


def test_node_tests_as_openvino_writes_them(tmp_path: Path) -> None:
    found, taken = {}, 0
    for case in all_node_cases()[::STEP]:
        model = converted(case, tmp_path)
        path = written(model, tmp_path) if model is not None else None
        if path is None:
            continue
        taken += 1
        found[case.name] = differences(path)
        opened = written(model, tmp_path) if with_open_axes(model) else None
        if opened is not None:
            found[f"{case.name}, open"] = differences(opened)
    assert {name: texts for name, texts in found.items() if texts} == {}
    assert taken >= 180


def test_compressed_weights(tmp_path: Path) -> None:
    found = {}
    for case in all_node_cases()[:: STEP * 5]:
        model = converted(case, tmp_path)
        path = written(model, tmp_path, compressed=True) if model is not None else None
        if path is not None:
            found[case.name] = differences(path)
    assert {name: texts for name, texts in found.items() if texts} == {}
    assert len(found) >= 35


@pytest.mark.parametrize(
    ("op", "version", "inputs"),
    [
        ("Squeeze", "opset1", (Input("float32", 1, 2, 1), Input("int64", 1))),
        ("Squeeze", "opset1", (Input("float32", 1, 2, 1), Input("int64"))),
        ("Squeeze", "opset1", (Input("float32", 1, 2, 1), Input("int64", 2))),
        ("Squeeze", "opset1", (Input("float32", 3, 2, 4), Input("int64", 1))),
        ("Squeeze", "opset15", (Input("float32", 1, 2, 1), Input("int64", 1))),
        ("Squeeze", "opset15", (Input("float32", 3, 2, 4), Input("int64", 1))),
        ("NonZero", "opset3", (np.array(1.0, np.float32),)),
        ("NonZero", "opset3", (np.array(0, np.int64),)),
        ("NonZero", "opset3", (Input("float32"),)),
    ],
)
def test_what_openvino_knows_of_unknown_contents(op: str, version: str, inputs: tuple[Given, ...]) -> None:
    assert_same_verdict(op, version, inputs, finer=version == "opset15")


def test_openvino_gives_a_broadcast_by_numpy_a_third_input(tmp_path: Path) -> None:
    inputs = (Input("float32", 1, 3), np.array([2, 3], np.int64), np.array(0, np.uint8))
    xml, weights = ir_document("Broadcast", "opset1", inputs, {"mode": "numpy"})
    (tmp_path / "model.xml").write_bytes(xml)
    (tmp_path / "model.bin").write_bytes(weights)
    assert not irlint.check(tmp_path / "model.xml").folded().findings
