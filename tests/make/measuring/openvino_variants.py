"""Variants of a model of one node: at other opsets, with other element types, shapes, constants, attributes and
inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from irlint.schemas import official, official_versions

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
USUAL = ("FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16", "INT32", "INT64", "INT8", "UINT8")
STAMPED = ("FLOAT16", "DOUBLE", "BFLOAT16", "INT32", "INT8", "UINT8", "BOOL")
ALONE = ("FLOAT", "FLOAT16", "DOUBLE", "INT64")

#: Those of which element types and shapes are tried: an operator of the others has few.
TYPED = ("", "com.microsoft")

#: Constants up to so many elements are given another element type.
SMALL = 64

#: Of so many forms of an operator element types and shapes are tried.
FORMS = 4

#: Numbers that every attribute of one whole number is tried with.
NUMBERS = (-1, 0, 1, 2, 3)


def variants(
    bases: Sequence[tuple[onnx.ModelProto, list[Any]]], is_sound: Callable[[onnx.ModelProto], bool]
) -> Iterator[tuple[onnx.ModelProto, onnx.ModelProto | None]]:
    """The models, each with what is fed to it, and what is asked besides of those that are sound; with the model that
    each was made from."""
    chosen: dict[tuple[str, str], list[onnx.ModelProto]] = {}
    tried: set[object] = set()
    values = _values(model for model, _ in bases)
    for model, fed in bases:
        node = model.graph.node[-1]
        yield model, None
        if not is_sound(model):
            continue
        if (node.domain, node.op_type) not in chosen:
            yield from ((each, model) for each in _more_attributes(model))
        chosen.setdefault((node.domain, node.op_type), []).append(model)
        if _is_new(model, tried):
            constant = list(_constants(model, fed, 1))
            chosen[node.domain, node.op_type] += constant
            made = (_stamped(model), _sized(model), constant, _constants(model, fed, 0), _flipped(model))
            yield from ((each, model) for each in chain(*made, _attributes(model, values, tried)))
            yield from ((computed, each) for each in constant for computed in _computed(each))
    for (domain, _), models in chosen.items():
        for place, model in enumerate(_different(models) if domain in TYPED else []):
            yield from ((each, model) for each in (_shaped(model) if place < 2 else ()))
            typed = _typed(model, USUAL if place else TOGETHER, () if place else ALONE, groups=3 if place < 2 else 1)
            yield from ((each, model) for each in typed)
            for stamped in _stamped(model) if place == 0 else ():
                yield stamped, model
                yield from ((each, stamped) for each in _typed(stamped, STAMPED, (), groups=1))


def copied(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a model."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    return made


def _is_new(model: onnx.ModelProto, tried: set[object]) -> bool:
    """Whether no node with these attributes and as many inputs and outputs was tried."""
    node = model.graph.node[-1]
    form = (node.op_type, frozenset(each.name for each in node.attribute), len(node.input), len(node.output))
    is_new = form not in tried
    tried.add(form)
    return is_new


def _flipped(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with the other truth value in a constant of one element."""
    for at, tensor in enumerate(model.graph.initializer):
        if tensor.data_type == TensorProto.BOOL and int(np.prod(tensor.dims)) == 1:
            made = copied(model)
            other = np.logical_not(numpy_helper.to_array(tensor))
            made.graph.initializer[at].CopyFrom(numpy_helper.from_array(np.asarray(other), tensor.name))
            yield made


def _computed(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with a node that adds 0 behind each constant of numbers, so that it is known and yet none."""
    for tensor in model.graph.initializer:
        if tensor.data_type not in (TensorProto.INT64, TensorProto.FLOAT, TensorProto.INT32):
            continue
        made = copied(model)
        asked = made.graph.node.pop()
        asked.input[:] = [f"{name}.sum" if name == tensor.name else name for name in asked.input]
        zero = helper.make_tensor(f"{tensor.name}.zero", tensor.data_type, [], [0])
        made.graph.initializer.append(zero)
        made.graph.node.append(helper.make_node("Add", [tensor.name, zero.name], [f"{tensor.name}.sum"]))
        made.graph.node.append(asked)
        yield made


def _shaped(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with another rank of each input, and with another last size."""
    for at, value in list(enumerate(model.graph.input))[:4]:
        if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
            continue
        rank = len(value.type.tensor_type.shape.dim)
        made = copied(model)
        made.graph.input[at].type.tensor_type.shape.dim.add().dim_value = 2
        yield made
        if rank:
            made = copied(model)
            made.graph.input[at].type.tensor_type.shape.dim.pop()
            yield made
            made = copied(model)
            last = made.graph.input[at].type.tensor_type.shape.dim[-1]
            last.dim_value += 1
            yield made
        made = copied(model)
        made.graph.input[at].type.tensor_type.ClearField("shape")
        yield made


def _sized(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with other sizes for those of 0."""
    made = copied(model)
    for value in made.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.WhichOneof("value") == "dim_value" and not dim.dim_value:
                dim.dim_value = 2
    yield made


def _constants(model: onnx.ModelProto, fed: list[Any], first: int) -> Iterator[onnx.ModelProto]:
    """The model with constants for its inputs from one on."""
    made = copied(model)
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
    """The model at each version of its operator, and before the first."""
    node = model.graph.node[-1]
    versions = official_versions(node.op_type, "") if not node.domain else ()
    for version in (*versions, versions[0] - 1) if versions and versions[0] > 7 else versions:
        made = copied(model)
        for entry in made.opset_import:
            entry.version = version if entry.domain in ("", "ai.onnx") else entry.version
        yield made


def _values(models: Iterable[onnx.ModelProto]) -> dict[tuple[str, str], dict[bytes, onnx.AttributeProto]]:
    """Texts and numbers that attributes of operators have."""
    found: dict[tuple[str, str], dict[bytes, onnx.AttributeProto]] = {}
    for model in models:
        node = model.graph.node[-1]
        for each in node.attribute:
            if each.type == each.STRING or (each.type == each.INT and abs(each.i) < 32):
                found.setdefault((node.op_type, each.name), {})[each.SerializeToString()] = each
    return found


def _attributes(
    model: onnx.ModelProto, values: dict[tuple[str, str], Any], tried: set[object]
) -> Iterator[onnx.ModelProto]:
    """The model without each attribute, and with other values of it; without its last input, and its last output."""
    node = model.graph.node[-1]
    names = frozenset(each.name for each in node.attribute)
    for at, attribute in enumerate(node.attribute):
        if (node.op_type, names, attribute.name) in tried:
            continue
        tried.add((node.op_type, names, attribute.name))
        made = copied(model)
        del made.graph.node[-1].attribute[at]
        yield made
        numbers = (helper.make_attribute(attribute.name, each) for each in NUMBERS if attribute.type == attribute.INT)
        for value in (*list(values.get((node.op_type, attribute.name), {}).values())[:12], *numbers):
            made = copied(model)
            made.graph.node[-1].attribute[at].CopyFrom(value)
            yield made
    if (node.op_type, len(node.input), len(node.output)) in tried:
        return
    tried.add((node.op_type, len(node.input), len(node.output)))
    if len(node.input) > 1:
        made = copied(model)
        made.graph.node[-1].input.pop()
        yield made
    if len(node.output) > 1:
        made = copied(model)
        made.graph.node[-1].output.pop()
        made.graph.output.pop()
        yield made


def _more_attributes(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with each attribute of one number that its operator has in some version, and that it does not have."""
    node = model.graph.node[-1]
    found: dict[str, str] = {}
    for version in official_versions(node.op_type, node.domain):
        schema = official(node.op_type, version, node.domain)
        found |= {name: kind for name, (kind, _) in schema.attributes.items()} if schema is not None else {}
    given = {each.name for each in node.attribute}
    for name, kind in found.items():
        for value in {"INT": (0, 1), "FLOAT": (0.9,)}.get(kind, ()) if name not in given else ():
            made = copied(model)
            made.graph.node[-1].attribute.append(helper.make_attribute(name, value))
            yield made


def _different(models: list[onnx.ModelProto]) -> list[onnx.ModelProto]:
    """Models that differ in attributes, in the number of inputs, and in ranks: the most inputs and the fewest first."""
    models = [each for each in models if not any(a.type == a.GRAPH for a in each.graph.node[-1].attribute)]
    found: dict[object, onnx.ModelProto] = {}
    for model in [*sorted(models, key=_size)[-1:], *sorted(models, key=_size)]:
        found.setdefault(_form(model), model)
    return list(found.values())[:FORMS]


def _size(model: onnx.ModelProto) -> tuple[int, int, int]:
    node = model.graph.node[-1]
    return len(node.input), len(node.attribute), -len(model.graph.initializer)


def _form(model: onnx.ModelProto) -> object:
    node = model.graph.node[-1]
    ranks = tuple(len(value.type.tensor_type.shape.dim) for value in model.graph.input)
    return frozenset(each.name for each in node.attribute), len(node.input), ranks


def _typed(
    model: onnx.ModelProto, together: Sequence[str], alone: Sequence[str], *, groups: int
) -> Iterator[onnx.ModelProto]:
    """The model with other element types: of all inputs that have one type, of so many types, and of each input."""
    own = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    own |= {value.name: value.data_type for value in model.graph.initializer}
    alike: dict[int, list[str]] = {}
    for name in dict.fromkeys(model.graph.node[-1].input):
        if own.get(name):
            alike.setdefault(own[name], []).append(name)
    for place, names in enumerate(list(alike.values())[:groups]):
        for kind in together if place == 0 else [each for each in USUAL if each in together]:
            yield from _retyped(model, names, kind)
        for name in names[:3] if len(names) > 1 else []:
            for kind in alone:
                yield from _retyped(model, [name], kind)


def _retyped(model: onnx.ModelProto, names: list[str], kind: str) -> Iterator[onnx.ModelProto]:
    number = TensorProto.DataType.Value(kind)
    made = copied(model)
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
