"""Harmless variants of a model of one node: what one release refuses in a node has to hold for these as well."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import onnx.defs
from onnx import helper, numpy_helper

from irlint.inference.walk import inferred
from irlint.parsers.onnx import read
from irlint.schemas import of_runtime, official

from .openvino_variants import copied

#: Constants up to so many elements are made.
LARGEST = 4096

#: What is written for an attribute whose default is not known.
USUAL = {"INT": 1, "FLOAT": 1e-5}


def variants(data: bytes) -> Iterator[bytes]:
    """Sound models of the same node: with dynamic sizes, with a size of 1, with the default attributes written out,
    with constants for its inputs, and with inputs for its constants."""
    model = onnx.ModelProto.FromString(data)
    seen = {data}
    for made in (*_sized(model), *_written(model), *_constant(model), *_opened(model)):
        text = made.SerializeToString(deterministic=True)
        if text not in seen and _is_sound(text):
            seen.add(text)
            yield text


def _is_sound(data: bytes) -> bool:
    known = inferred(read("m.onnx", data))
    return not any(each.is_error for each in (*known.model.problems, *known.problems))


def _sized(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with a name for each size, for each but that of the first axis, and with 1 for the first size wherever
    that stands."""
    first = next((dim.dim_value for value in model.graph.input for dim in value.type.tensor_type.shape.dim), 0)
    for kind in ("names", "names but first", "ones"):
        made = copied(model)
        for value in made.graph.input:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                if kind == "ones" and dim.dim_value == first > 1:
                    dim.dim_value = 1
                elif kind != "ones" and dim.dim_value and (axis or kind == "names"):
                    dim.dim_param = f"size_{dim.dim_value}"
        yield made


def _written(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with the attributes of one number or text that its node leaves out: with those that have a default, and
    with all others too."""
    node = model.graph.node[-1]
    opset = next((each.version for each in model.opset_import if each.domain == node.domain), 1)
    has = {each.name for each in node.attribute}
    made = copied(model)
    try:
        for name, attribute in onnx.defs.get_schema(node.op_type, opset, node.domain).attributes.items():
            if name not in has and attribute.default_value.type:
                made.graph.node[-1].attribute.append(attribute.default_value)
    except onnx.defs.SchemaError:
        schema = of_runtime(node.op_type, node.domain) or official(node.op_type, opset, node.domain)
        for name, (kind, _) in schema.attributes.items() if schema is not None else ():
            if name not in has and kind in USUAL:
                made.graph.node[-1].attribute.append(helper.make_attribute(name, USUAL[kind]))
    if len(made.graph.node[-1].attribute) > len(has):
        yield made


def _constant(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with ones, or False, for its inputs from the second one on, for each alone, and for all of them."""
    count = len(model.graph.input)
    for places in dict.fromkeys([tuple(range(1, count)), *((at,) for at in range(min(count, 4))), tuple(range(count))]):
        made = copied(model)
        for at in reversed(places):
            value = model.graph.input[at]
            sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            if not value.type.HasField("tensor_type") or int(np.prod(sizes)) > LARGEST:
                break
            try:
                kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
                array = (np.zeros if kind == np.bool_ else np.ones)(sizes, kind)
                made.graph.initializer.append(numpy_helper.from_array(array, value.name))
            except (TypeError, ValueError, KeyError, NotImplementedError):
                break
            del made.graph.input[at]
        else:
            if places:
                yield made


def _opened(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model with inputs for its constants."""
    made = copied(model)
    for tensor in model.graph.initializer:
        made.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    del made.graph.initializer[:]
    if model.graph.initializer:
        yield made
