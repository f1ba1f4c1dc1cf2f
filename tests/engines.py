"""Small models of one operator, what the engines say of them, and what irlint says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from irlint.diagnostics import Severity
from irlint.propagate import propagated
from irlint.tensor import Tensor

#: OpenVINO's element types by irlint's names.
OV_TYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "boolean",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64)},
    "string": "string",
}
OV_NAMES = {text: name for name, text in OV_TYPES.items()}

#: What an engine or irlint says: the element type and shape of every output, or the text of a refusal.
#: A dim is an int, or None where it is not fixed; a shape is None where the rank is not known.
Verdict = list[tuple[str | None, tuple[int | None, ...] | None]] | str


class Input:
    """A graph input: ``Input("float32", 2, None, 4)``; ``dims=None`` by ``Input.any_rank("float32")``."""

    def __init__(self, dtype: str, *dims: int | str | None) -> None:
        self.dtype, self.dims = dtype, dims  # type: tuple[str, tuple[int | str | None, ...] | None]

    @classmethod
    def any_rank(cls, dtype: str) -> Input:
        result = cls(dtype)
        result.dims = None
        return result


Given = Input | np.ndarray | None

# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def ir_document(
    op: str, version: str, inputs: Sequence[Given], attributes: Mapping[str, object] | None = None, outputs: int = 1
) -> tuple[bytes, bytes]:
    """An IR (xml, bin) of one layer: Parameters for ``Input``s (a dim may be a text as "1..8"), Consts for arrays."""
    layers, edges, weights = [], [], b""
    for index, given in enumerate(inputs):
        if isinstance(given, np.ndarray):
            kind = OV_TYPES[str(given.dtype)]
            shape = ",".join(map(str, given.shape))
            data = f'element_type="{kind}" shape="{shape}" offset="{len(weights)}" size="{given.nbytes}"'
            weights += given.tobytes()
            layers.append(_layer(index, f"in{index}", "Const", "opset1", data, (), (kind, given.shape)))
        else:
            kind, dims = OV_TYPES[given.dtype], given.dims
            text = "..." if dims is None else ",".join("?" if dim is None else str(dim) for dim in dims)
            data = f'element_type="{kind}" shape="{text}"'
            ports = () if dims is None else tuple(dim if isinstance(dim, int) else -1 for dim in dims)
            layers.append(_layer(index, f"in{index}", "Parameter", "opset1", data, (), (kind, ports)))
        edges.append((index, 0, len(inputs), index))
    data = " ".join(f'{name}="{_attribute_text(value)}"' for name, value in (attributes or {}).items())
    me = len(inputs)
    layers.append(_layer(me, "node", op, version, data, range(me), None, range(me, me + outputs)))
    for port in range(outputs):
        layers.append(_layer(me + 1 + port, f"out{port}", "Result", "opset1", "", (0,), None))
        edges.append((me, me + port, me + 1 + port, 0))
    text = "".join(
        f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n' for a, b, c, d in edges
    )
    xml = f'<?xml version="1.0"?>\n<net name="g" version="11">\n<layers>\n{"".join(layers)}</layers>\n<edges>\n{text}</edges>\n</net>\n'
    return xml.encode(), weights


def _attribute_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _layer(
    index: int,
    name: str,
    op: str,
    version: str,
    data: str,
    inputs: Sequence[int],
    output: tuple[str, Sequence[int]] | None,
    bare_outputs: Sequence[int] = (),
) -> str:
    text = f'<layer id="{index}" name="{name}" type="{op}" version="{version}">'
    text += f"<data {data}/>" if data else ""
    if len(inputs):
        text += "<input>" + "".join(f'<port id="{port}"/>' for port in inputs) + "</input>"
    if output is not None:
        dims = "".join(f"<dim>{dim}</dim>" for dim in output[1])
        text += f'<output><port id="0" precision="{output[0]}">{dims}</port></output>'
    elif len(bare_outputs):
        text += "<output>" + "".join(f'<port id="{p}" precision="dynamic"/>' for p in bare_outputs) + "</output>"
    return text + "</layer>\n"


@lru_cache(maxsize=1)
def _core() -> Any:
    import openvino

    return openvino.Core()


def openvino_verdict(xml: bytes, weights: bytes) -> Verdict:
    """What ``openvino.Core().read_model`` makes of an IR."""
    import openvino

    try:
        model = _core().read_model(xml, openvino.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
    except Exception as error:
        return str(error)
    result: list[tuple[str | None, tuple[int | None, ...] | None]] = []
    for output in model.outputs:
        shape = output.get_partial_shape()
        name = output.get_element_type().get_type_name()
        dims = None if shape.rank.is_dynamic else tuple(None if d.is_dynamic else d.get_length() for d in shape)
        result.append((None if name == "dynamic" else OV_NAMES.get(name, name), dims))
    return result


def irlint_on_ir(xml: bytes, weights: bytes) -> Verdict:
    """What irlint makes of an IR: its first error, or the types of its outputs."""
    from irlint.parsers import openvino as parser

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        path.write_bytes(xml)
        if weights:
            path.with_suffix(".bin").write_bytes(weights)
        return verdict(parser.read(path))


def verdict(model: Any) -> Verdict:
    """irlint's verdict on a parsed model."""
    known = propagated(model)
    for problem in (*model.problems, *known.problems):
        if (problem.fault.severity or problem.fault.rule.severity) is Severity.ERROR:
            return f"{problem.fault.rule.code} {problem.fault.message}"
    assert model.graph is not None
    return [_plain(known.types.get(value)) for value in model.graph.outputs]


def _plain(known: Any) -> tuple[str | None, tuple[int | None, ...] | None]:
    if not isinstance(known, Tensor):
        return (None, None)
    shape = known.shape
    return known.dtype, None if shape is None else tuple(d if isinstance(d, int) else None for d in shape)


def assert_same_verdict(
    op: str,
    version: str,
    inputs: Sequence[Given],
    attributes: Mapping[str, object] | None = None,
    outputs: int = 1,
    finer: bool = False,
) -> Verdict:
    """Both refuse the layer, or both give its outputs the same types and shapes; returns irlint's verdict.

    With ``finer`` irlint may know a dim that OpenVINO leaves open.
    """
    xml, weights = ir_document(op, version, inputs, attributes, outputs)
    theirs, ours = openvino_verdict(xml, weights), irlint_on_ir(xml, weights)
    if isinstance(theirs, str) or isinstance(ours, str):
        assert isinstance(theirs, str) == isinstance(ours, str), f"openvino: {theirs}\nirlint: {ours}"
        return ours
    assert [dtype for dtype, _ in theirs] == [dtype for dtype, _ in ours]
    if not finer:
        assert ours == theirs
        return ours
    for (_, mine), (_, other) in zip(ours, theirs):
        if other is not None:
            assert mine is not None and len(mine) == len(other)
            assert all(b is None or a == b for a, b in zip(mine, other)), f"openvino: {theirs}\nirlint: {ours}"
    return ours


# --- ONNX -------------------------------------------------------------------------------------------------------------


def onnx_model(
    op: str,
    inputs: Sequence[Given],
    attributes: Mapping[str, Any] | None = None,
    opset: int = 21,
    domain: str = "",
    outputs: int = 1,
) -> onnx.ModelProto:
    """A model of one node: graph inputs for ``Input``s (texts are dim_params), initializers for arrays, "" for None."""
    names = ["" if given is None else f"in{index}" for index, given in enumerate(inputs)]
    graph_inputs, initializers = [], []
    for name, given in zip(names, inputs):
        if isinstance(given, np.ndarray):
            initializers.append(numpy_helper.from_array(given, name))
        elif given is not None:
            graph_inputs.append(helper.make_tensor_value_info(name, _onnx_type(given.dtype), given.dims))
    results = [f"out{port}" for port in range(outputs)]
    node = helper.make_node(op, names, results, name="node", domain=domain, **(attributes or {}))
    empties = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "g", graph_inputs, empties, initializers)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _onnx_type(dtype: str) -> int:
    names = {"float32": "FLOAT", "float64": "DOUBLE", "string": "STRING"}
    return TensorProto.DataType.Value(names.get(dtype, dtype.upper()))


def onnx_verdict(model: onnx.ModelProto) -> Verdict:
    """What strict ``onnx.shape_inference`` with data propagation makes of a model."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        return str(error)
    return [_declared(output) for output in inferred.graph.output]


def _declared(info: onnx.ValueInfoProto) -> tuple[str | None, tuple[int | None, ...] | None]:
    tensor = info.type.tensor_type
    dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type)) if tensor.elem_type else None
    if not tensor.HasField("shape"):
        return dtype, None
    return dtype, tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim)


def onnxruntime_verdict(model: onnx.ModelProto) -> Verdict:
    """What ONNX Runtime makes of a model when it loads it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    except Exception as error:
        return str(error)
    found: list[tuple[str | None, tuple[int | None, ...] | None]] = []
    for output in session.get_outputs():
        found.append((output.type, tuple(dim if isinstance(dim, int) else None for dim in output.shape)))
    return found


def irlint_on_onnx(model: onnx.ModelProto) -> Verdict:
    """What irlint makes of an ONNX model: its first error, or the types of its outputs."""
    from irlint.parsers import onnx as parser

    return verdict(parser.read("model.onnx", model.SerializeToString()))


def node_cases(*ops: str) -> list[Any]:
    """ONNX's own node tests whose first node is one of ``ops``."""
    return [case for case in _all_node_cases() if case.model.graph.node[0].op_type in ops]


@lru_cache(maxsize=1)
def _all_node_cases() -> list[Any]:
    import warnings

    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(collect_testcases(None))


def without_output_shapes(case: Any, constants: bool = True) -> onnx.ModelProto:
    """A node test's model without declared output shapes; small inputs of rank at most 1 become constants."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    for output in graph.output:
        output.type.tensor_type.ClearField("shape")
    inputs = case.data_sets[0][0] if case.data_sets else []
    kept = []
    for info, array in zip(list(graph.input), inputs):
        small = isinstance(array, np.ndarray) and array.ndim <= 1 and array.size <= 16 and array.dtype != object
        if constants and small and info.type.HasField("tensor_type"):
            tensor = array if isinstance(array, onnx.TensorProto) else numpy_helper.from_array(array, info.name)
            graph.initializer.append(tensor)
        else:
            kept.append(info)
    del graph.input[:]
    graph.input.extend(kept)
    return model


def node_case_difference(case: Any) -> str | None:
    """What irlint says wrongly, or does not know, of a node test's output shapes; None where all is right."""
    ours = irlint_on_onnx(without_output_shapes(case))
    if isinstance(ours, str):
        return ours
    expected = case.data_sets[0][1]
    for position, (array, (_, shape)) in enumerate(zip(expected, ours)):
        if isinstance(array, np.ndarray) and shape != array.shape:
            return f"output {position} is {array.shape}, irlint says {shape}"
    return None
