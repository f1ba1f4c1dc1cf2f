"""Small models of one operator, what the engines say of them, and what irlint says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cases.models import OV_NAMES, Fed, ir_document
from onnx import helper, numpy_helper

from irlint.dims import evaluated, symbols
from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.model.tensor import Optional, Tensor
from irlint.model.tensor import Sequence as SequenceType

#: What an engine or irlint says: the element type and shape of every output, or the text of a refusal.
#: A dim is an int, or None where it is not fixed; a shape is None where the rank is not known.
Verdict = list[tuple[str | None, tuple[int | None, ...] | None]] | str


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


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
    known = inferred(model)
    for problem in (*model.problems, *known.problems):
        if problem.fault.severity is Severity.ERROR:
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
    inputs: Sequence[Fed],
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
    return [case for case in all_node_cases() if case.model.graph.node[0].op_type in ops]


@lru_cache(maxsize=1)
def all_node_cases() -> list[Any]:
    """All of ONNX's own node tests."""
    import warnings

    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(collect_testcases(None))


def without_output_shapes(case: Any, constants: bool = True, symbolic: bool = False) -> onnx.ModelProto:
    """A node test's model without declared output shapes; small inputs of rank at most 1 become constants.

    With ``symbolic`` every size of 2 or more of an input that is left is a symbol named after it (``d5``).
    """
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    for output in graph.output:
        _clear_shapes(output.type)
    inputs = case.data_sets[0][0] if case.data_sets else []
    kept = []
    for info, array in zip(list(graph.input), inputs):
        known = array if isinstance(array, onnx.TensorProto) else np.asarray(array) if _is_array(array) else None
        if constants and info.type.HasField("tensor_type") and _is_small(known):
            graph.initializer.append(known if isinstance(known, onnx.TensorProto) else _initializer(known, info))
            continue
        if symbolic:
            _name_sizes(info.type)
        kept.append(info)
    del graph.input[:]
    graph.input.extend(kept)
    return model


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _is_small(value: Any) -> bool:
    if isinstance(value, onnx.TensorProto):
        return len(value.dims) <= 1 and int(np.prod(value.dims)) <= 16
    return value is not None and value.ndim <= 1 and value.size <= 16


def _initializer(array: Any, info: onnx.ValueInfoProto) -> onnx.TensorProto:
    tensor = numpy_helper.from_array(array, info.name)
    assert tensor.data_type == info.type.tensor_type.elem_type, info.name
    return tensor


def _clear_shapes(known: onnx.TypeProto) -> None:
    kind = known.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        getattr(known, kind).ClearField("shape")
    elif kind in ("sequence_type", "optional_type"):
        _clear_shapes(getattr(known, kind).elem_type)


def _name_sizes(known: onnx.TypeProto) -> None:
    if not known.HasField("tensor_type"):
        return
    for dim in known.tensor_type.shape.dim:
        if dim.dim_value >= 2:
            dim.dim_param = f"d{dim.dim_value}"


def node_case_difference(case: Any, symbolic: bool = False) -> str | None:
    """What irlint says wrongly, or does not know, of a node test's outputs; None where all is right.

    The text begins with ``wrong`` or ``unknown``. With ``symbolic`` the inputs' sizes are symbols, and the results are
    compared for their real sizes.
    """
    from irlint.parsers import onnx as parser

    model = parser.read("model.onnx", without_output_shapes(case, symbolic=symbolic).SerializeToString())
    known = inferred(model)
    for problem in (*model.problems, *known.problems):
        severity = problem.fault.severity
        if severity is Severity.ERROR:
            return f"wrong: {problem.fault.rule.code} {problem.fault.message}"
    assert model.graph is not None
    found = [_difference(known.types.get(v), array) for v, array in zip(model.graph.outputs, case.data_sets[0][1])]
    texts = [f"{text} (output {position})" for position, text in enumerate(found) if text is not None]
    return min(texts, key=lambda text: not text.startswith("wrong"), default=None)


_ARRAY_TYPES = {"object": "string", "float4_e2m1fn": "float4_e2m1", "float8_e8m0fnu": "float8_e8m0"}


def _difference(known: Any, value: Any) -> str | None:
    """What is wrong or unknown of one output, given the value that it really has."""
    if isinstance(value, onnx.TensorProto):
        return _shape_difference(known, tuple(value.dims), None)
    if _is_array(value):
        kind = "string" if value.dtype.kind in "US" else _ARRAY_TYPES.get(str(value.dtype), str(value.dtype))
        return _shape_difference(known, value.shape, kind)
    if isinstance(known, Optional):
        if known.present is not None and known.present is not (value is not None):
            return f"wrong: the optional is {value}, irlint says present: {known.present}"
        return _difference(known.element, value) if value is not None else None
    if value is None:
        return None if known is None or known == Tensor() else f"wrong: nothing, irlint says {known}"
    if not isinstance(value, (list, tuple)):
        return f"unknown: {type(value)}"
    if not isinstance(known, SequenceType):
        return f"{'unknown' if known is None else 'wrong'}: a sequence, irlint says {known}"
    if known.length is not None and _size(known.length) not in (len(value), None):
        return f"wrong: {len(value)} elements, irlint says {known.length}"
    alike = len({np.shape(element) for element in value}) == 1
    texts = [_difference(known.element, element) for element in value]
    return next((text for text in texts if text is not None and (alike or text.startswith("wrong"))), None)


def _shape_difference(known: Any, shape: tuple[int, ...], dtype: str | None) -> str | None:
    if isinstance(known, Optional):
        known = known.element
    if not isinstance(known, Tensor):
        return f"{'unknown' if known is None else 'wrong'}: the output is {shape}, irlint says {known}"
    if known.dtype is not None and dtype is not None and known.dtype != dtype:
        return f"wrong: the output is {dtype}, irlint says {known.dtype}"
    sizes = None if known.shape is None else tuple(_size(dim) for dim in known.shape)
    if sizes == shape and known.dtype is not None:
        return None
    text = f"the output is {shape}, irlint says {known.dtype} {known.shape and [str(dim) for dim in known.shape]}"
    agrees = sizes is None or (len(sizes) == len(shape) and all(a in (b, None) for a, b in zip(sizes, shape)))
    return f"{'unknown' if agrees else 'wrong'}: {text}"


def _size(dim: Any) -> int | None:
    """The number that a size is where ``d5`` is 5; None where it depends on anything else."""
    if dim is None or isinstance(dim, int):
        return dim
    names = symbols(dim)
    if not all(name[:1] == "d" and name[1:].isdecimal() for name in names):
        return None
    return evaluated(dim, {name: int(name[1:]) for name in names})
