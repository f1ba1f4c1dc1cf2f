"""Constants, external data and declarations that are broken, beside sound twins: irlint against ONNX Runtime on
both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import irlint
from irlint.findings.faults import Severity
from irlint.findings.report import Finding

pytestmark = pytest.mark.oracle

#: The sizes that the symbols of the inputs have in a run.
SIZES = {"N": 2, "M": 3}


def above_notes(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(finding for finding in found if finding.severity is not Severity.NOTE)


def reported(found: tuple[Finding, ...]) -> list[tuple[str, str | None, str]]:
    return [(finding.rule.code, finding.node, finding.message) for finding in found]


# --- ONNX Runtime -----------------------------------------------------------------------------------------------------


def failure(model: onnx.ModelProto | Path) -> str | None:
    """Why ONNX Runtime does not load a model, or not run it with ones, or ONNX's shape inference refuses it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    proto = onnx.load(model, load_external_data=False) if isinstance(model, Path) else model
    constants = {tensor.name for tensor in proto.graph.initializer}
    try:
        session = onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])
        session.run(None, {info.name: ones(info.type) for info in proto.graph.input if info.name not in constants})
        if not isinstance(model, Path):
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        return str(error)
    return None


def ones(known: onnx.TypeProto) -> Any:
    """A value of a type: ones, and 2 for a scalar."""
    tensor = known.tensor_type
    shape = [dim.dim_value or SIZES.get(dim.dim_param, 2) for dim in tensor.shape.dim]
    if tensor.elem_type == TensorProto.STRING:
        return np.full(shape, "a", object)
    return np.full(shape, 1 if shape else 2, helper.tensor_dtype_to_np_dtype(tensor.elem_type))


# --- constants, external data and declarations ------------------------------------------------------------------------


def stored(claimed: tuple[int, ...] = (3,), size: int = 3, dtype: type = np.float32) -> onnx.TensorProto:
    """An initializer ``b`` of ``size`` elements that says it has the shape ``claimed``."""
    tensor = numpy_helper.from_array(np.zeros(size, dtype), "b")
    del tensor.dims[:]
    tensor.dims.extend(claimed)
    return tensor


def external(location: str = "b.data", offset: int = 0, length: int = 12) -> onnx.TensorProto:
    tensor = stored()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": str(offset), "length": str(length)}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def sum_of(bias: onnx.TensorProto, *declared: onnx.ValueInfoProto, x: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """``y = x + b`` where b is an initializer, and a graph input where it is declared."""
    inputs = [helper.make_tensor_value_info("x", x, [2, 3]), *declared]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    node = helper.make_node("Add", ["x", "b"], ["y"], name="n")
    graph = helper.make_graph([node], "g", inputs, [output], [bias])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def declared(*dims: int | str, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info("b", dtype, dims)


#: The rule, its place (node or value), and what makes the broken model and its twin.
BUILT: list[tuple[str, str, Callable[[], onnx.ModelProto], Callable[[], onnx.ModelProto]]] = [
    ("IRL703", "b", lambda: sum_of(stored((3,), 5)), lambda: sum_of(stored((3,), 3))),
    ("IRL703", "b", lambda: sum_of(stored((3,), 2)), lambda: sum_of(stored((3,), 3))),
    ("IRL703", "b", lambda: sum_of(stored((2, 3), 3)), lambda: sum_of(stored((1, 3), 3))),
    ("IRL704", "b", lambda: sum_of(stored((-3,), 3)), lambda: sum_of(stored((3,), 3))),
    ("IRL201", "n", lambda: sum_of(stored((2,), 2)), lambda: sum_of(stored((1,), 1))),
    ("IRL402", "n", lambda: sum_of(stored(dtype=np.float64)), lambda: sum_of(stored())),
    ("IRL701", "b", lambda: sum_of(external("gone.data")), lambda: sum_of(external("b.data"))),
    ("IRL702", "b", lambda: sum_of(external(offset=16)), lambda: sum_of(external(offset=12))),
    ("IRL702", "b", lambda: sum_of(external(offset=24)), lambda: sum_of(external(offset=0))),
    ("IRL702", "b", lambda: sum_of(external(offset=400)), lambda: sum_of(external(offset=4))),
    ("IRL703", "b", lambda: sum_of(external(length=8)), lambda: sum_of(external(length=12))),
    ("IRL601", "b", lambda: sum_of(stored(), declared(4)), lambda: sum_of(stored(), declared(3))),
    ("IRL601", "b", lambda: sum_of(stored(), declared(1, 3)), lambda: sum_of(stored(), declared("K"))),
    ("IRL602", "b", lambda: sum_of(stored(), declared(3, dtype=7)), lambda: sum_of(stored(), declared(3))),
    ("IRL601", "b", lambda: sum_of(stored((4,), 4), declared(3)), lambda: sum_of(stored(), declared(3))),
    ("IRL602", "b", lambda: sum_of(stored(dtype=np.float64), declared(3)), lambda: sum_of(stored(), declared(3))),
    ("IRL403", "x", lambda: sum_of(stored(), x=0), lambda: sum_of(stored(), x=1)),
]


@pytest.mark.parametrize(("code", "place", "broken", "sound"), BUILT)
def test_built_pair(
    code: str,
    place: str,
    broken: Callable[[], onnx.ModelProto],
    sound: Callable[[], onnx.ModelProto],
    tmp_path: Path,
) -> None:
    (tmp_path / "b.data").write_bytes(bytes(24))
    bad, good = tmp_path / "bad.onnx", tmp_path / "good.onnx"
    bad.write_bytes(broken().SerializeToString())
    good.write_bytes(sound().SerializeToString())
    found = above_notes(irlint.check(bad).folded().findings)
    assert [(finding.rule.code, finding.node or finding.value) for finding in found] == [(code, place)], reported(found)
    assert found[0].severity is Severity.ERROR
    assert reported(above_notes(irlint.check(good).folded().findings)) == []
    assert failure(bad)
    assert failure(good) is None
