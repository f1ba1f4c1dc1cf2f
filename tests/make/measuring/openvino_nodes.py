"""Models of one node that the front end of OpenVINO for ONNX is asked about: node tests and cases, and what comes of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from irlint.checks import every_problem
from irlint.inference.walk import inferred
from irlint.parsers.onnx import read
from irlint.schemas import official_versions
from irlint.targets.openvino_nodes import errors
from irlint.targets.openvino_traits import traits
from irlint.targets.uses import uses

TESTS = Path(__file__).resolve().parents[2]

#: Element types of which every one is given to all inputs of one type, and to each input alone.
TOGETHER = [
    "FLOAT",
    "FLOAT16",
    "DOUBLE",
    "BFLOAT16",
    "INT32",
    "INT64",
    "INT8",
    "UINT8",
    "INT16",
    "UINT16",
    "UINT32",
    "UINT64",
    "BOOL",
    "STRING",
    "FLOAT8E4M3FN",
    "INT4",
]
USUAL = ("FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16", "INT32", "INT8")
ALONE = ("FLOAT", "FLOAT16", "DOUBLE", "INT64")

#: Domains of operators of which the front end has converters.
DOMAINS = ("", "ai.onnx.ml", "com.microsoft", "org.openvinotoolkit")

#: Those of which element types are tried: an operator of the others has few.
TYPED = ("", "com.microsoft")

#: Constants up to so many elements are given another element type.
SMALL = 64


@cache
def nodes() -> list[tuple[str, bytes]]:
    """The models of one node, each with the name of its operator; one that is asked already is not asked again."""
    found: dict[bytes, str] = {}
    for model in _every():
        for value in model.graph.output:
            value.ClearField("type")
        del model.graph.value_info[:]
        model.ir_version = 8
        node = model.graph.node[0]
        found.setdefault(model.SerializeToString(deterministic=True), f"{node.domain}:{node.op_type}")
    return [(name, data) for data, name in found.items()]


@cache
def traits_of_nodes() -> list[tuple[str, Set[str]]]:
    """The operators of these models, and the traits of their nodes."""
    found = []
    for name, data in nodes():
        known = inferred(read("m.onnx", data))
        assert known.model.graph is not None
        node = known.model.graph.nodes[0]
        use = next(each for each in uses(known) if each.node is node)
        versions = official_versions(node.op, "")[1:] if not node.domain else ()
        found.append((name, traits(use, versions, errors(known).get(node, ()))))
    return found


@cache
def graphs() -> list[bytes]:
    """Models of several nodes: the examples of rules that break them, and cases."""
    found = [path.read_bytes() for path in sorted((TESTS.parent / "fixtures" / "onnx" / "bad").glob("*.onnx"))]
    operator = _notation().Operator
    return found + [_document(each.model) for each in _cases() if not isinstance(each.model, operator)]


@cache
def errors_of_graphs() -> list[list[str]]:
    """The codes of the errors of these models that follow from no other."""
    found = []
    for data in graphs():
        model = read("m.onnx", data)
        known = inferred(model) if model.graph is not None else None
        problems = every_problem(known) if known is not None else model.problems
        found.append(sorted({each.fault.rule.code for each in problems if each.is_error and each.because is None}))
    return found


def _every() -> Iterator[onnx.ModelProto]:
    bases = [(model, fed) for model, fed in _bases() if model.graph.node[0].domain in DOMAINS]
    chosen: dict[tuple[str, str], list[onnx.ModelProto]] = {}
    tried: set[object] = set()
    values = _values(model for model, _ in bases)
    for model, fed in bases:
        node = model.graph.node[0]
        chosen.setdefault((node.domain, node.op_type), []).append(model)
        yield model
        if _is_new(model, tried):
            yield from _stamped(model)
            yield from _sized(model)
            yield from _constants(model, fed, 1)
            yield from _constants(model, fed, 0)
            yield from _flipped(model)
            yield from _attributes(model, values, tried)
    for (domain, _), models in chosen.items():
        for place, model in enumerate(_different(models) if domain in TYPED else []):
            yield from _typed(model, USUAL if place else TOGETHER, ALONE if place == 0 else ())
            for stamped in list(_stamped(model))[:1] if place == 0 else []:
                yield from _typed(stamped, TOGETHER, ())


def _is_new(model: onnx.ModelProto, tried: set[object]) -> bool:
    """Whether no node with these attributes and as many inputs and outputs was tried."""
    node = model.graph.node[0]
    form = (node.op_type, frozenset(each.name for each in node.attribute), len(node.input), len(node.output))
    is_new = form not in tried
    tried.add(form)
    return is_new


def _flipped(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with the other truth value in a constant of one element."""
    for at, tensor in enumerate(model.graph.initializer):
        if tensor.data_type == TensorProto.BOOL and int(np.prod(tensor.dims)) == 1:
            made = _copy(model)
            other = np.logical_not(numpy_helper.to_array(tensor))
            made.graph.initializer[at].CopyFrom(numpy_helper.from_array(np.asarray(other), tensor.name))
            yield made


def _bases() -> Iterator[tuple[onnx.ModelProto, list[Any]]]:
    """Models of one node, with what is fed to them where there is something."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = list(collect_testcases(None))
    for case in cases:
        if len(case.model.graph.node) == 1 and not case.model.functions and "_expanded" not in case.name:
            yield _copy(case.model), list(case.data_sets[0][0]) if case.data_sets else []
    for each in _cases():
        if isinstance(each.model, _notation().Operator):
            model = onnx.ModelProto()
            model.ParseFromString(_document(each.model))
            yield model, []


def _notation() -> Any:
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from cases import notation

    return notation


def _document(model: Any) -> bytes:
    from cases.models import document

    return bytes(document(model)[1])


def _cases() -> Iterator[Any]:
    """The cases of ONNX."""
    notation = _notation()
    for path in notation.files():
        for _, line in notation.lines(path):
            yield from (each for each in notation.cases(line) if each.model.format == "onnx")


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(model)
    return made


def _sized(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with other sizes for those of 0."""
    made = _copy(model)
    for value in made.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.WhichOneof("value") == "dim_value" and not dim.dim_value:
                dim.dim_value = 2
    yield made


def _constants(model: onnx.ModelProto, fed: list[Any], first: int) -> Iterator[onnx.ModelProto]:
    """The model with constants for its inputs from one on."""
    made = _copy(model)
    for value, array in list(zip(model.graph.input, fed))[first:]:
        tensor = array if isinstance(array, TensorProto) else None
        if isinstance(array, (np.ndarray, np.generic)) and value.type.HasField("tensor_type"):
            tensor = numpy_helper.from_array(np.asarray(array))
        if tensor is not None and tensor.data_type == value.type.tensor_type.elem_type:
            tensor = _named(tensor, value.name)
            made.graph.initializer.append(tensor)
            made.graph.input.remove(value)
    if len(made.graph.initializer) > len(model.graph.initializer):
        yield made


def _named(tensor: TensorProto, name: str) -> TensorProto:
    made = TensorProto()
    made.CopyFrom(tensor)
    made.name = name
    return made


def _stamped(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model at each version of its operator."""
    node = model.graph.node[0]
    for version in official_versions(node.op_type, "") if not node.domain else ():
        made = _copy(model)
        for entry in made.opset_import:
            entry.version = version if entry.domain in ("", "ai.onnx") else entry.version
        yield made


def _values(models: Iterator[onnx.ModelProto]) -> dict[tuple[str, str], dict[bytes, onnx.AttributeProto]]:
    """Texts and numbers that attributes of operators have."""
    found: dict[tuple[str, str], dict[bytes, onnx.AttributeProto]] = {}
    for model in models:
        node = model.graph.node[0]
        for each in node.attribute:
            if each.type == each.STRING or (each.type == each.INT and abs(each.i) < 32):
                found.setdefault((node.op_type, each.name), {})[each.SerializeToString()] = each
    return found


def _attributes(
    model: onnx.ModelProto, values: dict[tuple[str, str], Any], tried: set[object]
) -> Iterator[onnx.ModelProto]:
    """The model without each attribute, and with other values of it; without its last input, and its last output."""
    node = model.graph.node[0]
    names = frozenset(each.name for each in node.attribute)
    for at, attribute in enumerate(node.attribute):
        if (node.op_type, names, attribute.name) in tried:
            continue
        tried.add((node.op_type, names, attribute.name))
        made = _copy(model)
        del made.graph.node[0].attribute[at]
        yield made
        for value in list(values.get((node.op_type, attribute.name), {}).values())[:12]:
            made = _copy(model)
            made.graph.node[0].attribute[at].CopyFrom(value)
            yield made
    if (node.op_type, len(node.input), len(node.output)) in tried:
        return
    tried.add((node.op_type, len(node.input), len(node.output)))
    if len(node.input) > 1:
        made = _copy(model)
        made.graph.node[0].input.pop()
        yield made
    if len(node.output) > 1:
        made = _copy(model)
        made.graph.node[0].output.pop()
        made.graph.output.pop()
        yield made


def _different(models: list[onnx.ModelProto]) -> list[onnx.ModelProto]:
    """A model with the most inputs, and one with the fewest, and one with the most attributes."""
    models = [each for each in models if not any(a.type == a.GRAPH for a in each.graph.node[0].attribute)]
    if not models:
        return []
    found = [
        max(models, key=lambda each: len(each.graph.node[0].input)),
        min(models, key=lambda each: len(each.graph.node[0].input) + len(each.graph.node[0].attribute)),
        max(models, key=lambda each: len(each.graph.node[0].attribute)),
    ]
    return [each for at, each in enumerate(found) if not any(each is other for other in found[:at])]


def _typed(model: onnx.ModelProto, together: Sequence[str], alone: Sequence[str]) -> Iterator[onnx.ModelProto]:
    """The model with other element types: of all inputs that have one type, and of each input."""
    own = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    own |= {value.name: value.data_type for value in model.graph.initializer}
    groups: dict[int, list[str]] = {}
    for name in dict.fromkeys(model.graph.node[0].input):
        if own.get(name):
            groups.setdefault(own[name], []).append(name)
    for place, names in enumerate(groups.values()):
        for kind in together if place == 0 else [each for each in USUAL if each in together]:
            yield from _retyped(model, names, kind)
        for name in names[:3] if len(names) > 1 else []:
            for kind in alone:
                yield from _retyped(model, [name], kind)


def _retyped(model: onnx.ModelProto, names: list[str], kind: str) -> Iterator[onnx.ModelProto]:
    number = TensorProto.DataType.Value(kind)
    made = _copy(model)
    for value in made.graph.input:
        if value.name in names:
            value.type.tensor_type.elem_type = number
    for tensor in made.graph.initializer:
        if tensor.name in names:
            try:
                tensor.CopyFrom(_cast(tensor, number))
            except Exception:
                return
    yield made


def _cast(tensor: TensorProto, number: int) -> TensorProto:
    array = numpy_helper.to_array(tensor)
    if array.size > SMALL or number == TensorProto.STRING or array.dtype == object:
        raise ValueError(tensor.name)
    with np.errstate(all="ignore"):
        cast = array.astype(np.float32).astype(helper.tensor_dtype_to_np_dtype(number))
    return numpy_helper.from_array(cast, tensor.name)
