"""Small random changes to ONNX models: each mutation changes a copy in place and returns what it touched, None where it
cannot."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

Mutation = Callable[[onnx.ModelProto, Random], str | None]

NUMBERS = (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT, AttributeProto.STRING)

#: Element types that a change of type chooses from, and operators that a change of operator does.
TYPES = (1, 2, 3, 6, 7, 9, 10, 11)
OPERATORS = (
    "Add",
    "Relu",
    "MatMul",
    "Softmax",
    "Reshape",
    "Transpose",
    "Concat",
    "Cast",
    "Gather",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "ReduceSum",
    "Identity",
    "Where",
    "Equal",
    "Slice",
    "Expand",
    "Shape",
    "Gemm",
    "Div",
    "Split",
    "Clip",
    "Tile",
    "TopK",
    "Conv",
    "MaxPool",
    "Neg",
    "Dropout",
    "NonZero",
    "Pow",
    "Max",
    "ArgMax",
    "CumSum",
    "Mod",
    "Nowhere",
)


def graphs(model: onnx.ModelProto) -> list[onnx.GraphProto]:
    """The main graph and all bodies inside it."""
    found = [model.graph]
    for graph in found:
        found += [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return found


def chosen(model: onnx.ModelProto, random: Random, fits: Callable[[NodeProto], object] = bool) -> NodeProto | None:
    """A node of any graph that ``fits``."""
    nodes = [node for graph in graphs(model) for node in graph.node if fits(node)]
    return random.choice(nodes) if nodes else None


def names(model: onnx.ModelProto) -> list[str]:
    graph = model.graph
    made = [name for node in graph.node for name in node.output if name]
    return [info.name for info in graph.input] + [tensor.name for tensor in graph.initializer] + made


def number(random: Random, old: int) -> int:
    return random.choice([old + 1, old - 1, 0, -old, -1, 1, 2, old * 2, 100, -100])


# --- nodes ------------------------------------------------------------------------------------------------------------


def drop_input(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: node.input)
    if node is None:
        return None
    index = random.randrange(len(node.input))
    if random.random() < 0.5:
        del node.input[index]
    else:
        node.input[index] = ""
    return node.op_type


def add_input(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random)
    if node is None:
        return None
    node.input.append(random.choice([*names(model), ""]))
    return node.op_type


def swap_inputs(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: len(set(node.input)) > 1)
    if node is None:
        return None
    one, other = random.sample(range(len(node.input)), 2)
    node.input[one], node.input[other] = node.input[other], node.input[one]
    return node.op_type


def connect_another(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: node.input)
    if node is None:
        return None
    node.input[random.randrange(len(node.input))] = random.choice([*names(model), "missing"])
    return node.op_type


def change_outputs(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: node.output)
    if node is None:
        return None
    index = random.randrange(len(node.output))
    match random.randrange(4):
        case 0:
            node.output.append("extra")
        case 1:
            node.output[index] = ""
        case 2:
            node.output[index] += "_"
        case _:
            node.output[index] = random.choice(names(model))
    return node.op_type


def change_operator(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random)
    if node is None:
        return None
    node.op_type = random.choice(OPERATORS)
    return node.op_type


def duplicate_node(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice([graph for graph in graphs(model) if graph.node])
    node = copy.deepcopy(random.choice(graph.node))
    if random.random() < 0.5:
        node.output[:] = [name and f"{name}_2" for name in node.output]
    graph.node.append(node)
    return node.op_type


def delete_node(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice([graph for graph in graphs(model) if graph.node])
    return graph.node.pop(random.randrange(len(graph.node))).op_type


def swap_nodes(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice(graphs(model))
    if len(graph.node) < 2:
        return None
    one, other = random.sample(range(len(graph.node)), 2)
    kept = copy.deepcopy(graph.node[one])
    graph.node[one].CopyFrom(graph.node[other])
    graph.node[other].CopyFrom(kept)
    return kept.op_type


# --- attributes -------------------------------------------------------------------------------------------------------


def change_attribute(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: any(each.type in NUMBERS for each in node.attribute))
    if node is None:
        return None
    attribute = random.choice([each for each in node.attribute if each.type in NUMBERS])
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = number(random, attribute.i)
        case AttributeProto.FLOAT:
            attribute.f = random.choice([-1.0, 0.0, attribute.f * 2])
        case AttributeProto.STRING:
            attribute.s = random.choice([b"", b"foo", attribute.s.swapcase(), attribute.s + b"x", b"SAME_UPPER"])
        case _:
            entries = list(attribute.ints)
            if entries and random.random() < 0.7:
                entries[random.randrange(len(entries))] = number(random, entries[0])
            else:
                entries.append(1)
            attribute.ints[:] = entries
    return f"{node.op_type}.{attribute.name}"


def remove_attribute(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: node.attribute)
    if node is None:
        return None
    return f"{node.op_type}.{node.attribute.pop(random.randrange(len(node.attribute))).name}"


def repeat_attribute(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: node.attribute)
    if node is None:
        return None
    node.attribute.append(random.choice(node.attribute))
    return f"{node.op_type}.{node.attribute[-1].name}"


def add_attribute(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random)
    if node is None:
        return None
    node.attribute.append(helper.make_attribute(random.choice(["axis", "mode", "nothing"]), random.choice([0, 1, "a"])))
    return f"{node.op_type}.{node.attribute[-1].name}"


def retype_attribute(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: any(each.type in NUMBERS for each in node.attribute))
    if node is None:
        return None
    attribute = random.choice([each for each in node.attribute if each.type in NUMBERS])
    attribute.CopyFrom(helper.make_attribute(attribute.name, random.choice([1, 1.5, "a", [1, 2], [1.0]])))
    return f"{node.op_type}.{attribute.name}"


def change_target_type(model: onnx.ModelProto, random: Random) -> str | None:
    node = chosen(model, random, lambda node: any(each.name in ("to", "dtype") for each in node.attribute))
    if node is None:
        return None
    next(each for each in node.attribute if each.name in ("to", "dtype")).i = random.choice([*TYPES, 0, 99])
    return node.op_type


# --- initializers -----------------------------------------------------------------------------------------------------


def initializers(model: onnx.ModelProto, fits: Callable[[TensorProto], object] = bool) -> list[TensorProto]:
    known = [tensor for graph in graphs(model) for tensor in graph.initializer if tensor.data_type in TYPES]
    return [tensor for tensor in known if fits(tensor)]


def replace(tensor: TensorProto, array: Any) -> None:
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), tensor.name))


def reshape_initializer(model: onnx.ModelProto, random: Random) -> str | None:
    found = initializers(model)
    if not found:
        return None
    tensor = random.choice(found)
    array = numpy_helper.to_array(tensor)
    match random.randrange(4):
        case 0:
            array = array[None]
        case 1 if array.ndim and len(array):
            array = array[0]
        case 2 if array.ndim > 1:
            array = array.T
        case _ if array.ndim and array.size:
            axis = random.randrange(array.ndim)
            shape = list(array.shape)
            shape[axis] = random.choice([shape[axis] + 1, shape[axis] - 1, 1])
            array = np.resize(array, shape)
    replace(tensor, array)
    return tensor.name


def claim_another_dim(model: onnx.ModelProto, random: Random) -> str | None:
    found = initializers(model, lambda tensor: tensor.dims)
    if not found:
        return None
    tensor = random.choice(found)
    axis = random.randrange(len(tensor.dims))
    tensor.dims[axis] = random.choice([tensor.dims[axis] + 1, -1, 0])
    return tensor.name


def change_entry(model: onnx.ModelProto, random: Random) -> str | None:
    found = initializers(model, lambda tensor: tensor.data_type in (6, 7) and 0 < np.prod(tensor.dims) < 64)
    if not found:
        return None
    tensor = random.choice(found)
    array = numpy_helper.to_array(tensor).copy()
    flat = array.reshape(-1)
    index = random.randrange(flat.size)
    flat[index] = number(random, int(flat[index]))
    replace(tensor, array)
    return tensor.name


def retype_initializer(model: onnx.ModelProto, random: Random) -> str | None:
    found = initializers(model)
    if not found:
        return None
    tensor = random.choice(found)
    dtype = helper.tensor_dtype_to_np_dtype(random.choice(TYPES))
    with np.errstate(all="ignore"):
        replace(tensor, numpy_helper.to_array(tensor).astype(dtype))
    return tensor.name


def remove_initializer(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice(graphs(model))
    if not graph.initializer:
        return None
    return graph.initializer.pop(random.randrange(len(graph.initializer))).name


# --- graphs and models ------------------------------------------------------------------------------------------------


def changed_type(info: onnx.ValueInfoProto, random: Random) -> str | None:
    if not info.type.HasField("tensor_type"):
        return None
    tensor = info.type.tensor_type
    dims = tensor.shape.dim
    match random.randrange(4):
        case 0:
            tensor.elem_type = random.choice(TYPES)
        case 1 if dims:
            del dims[random.randrange(len(dims))]
        case 2:
            dims.add().dim_value = 2
        case _ if dims:
            dim = random.choice(dims)
            dim.dim_value = dim.dim_value + 1
    return info.name


def change_input(model: onnx.ModelProto, random: Random) -> str | None:
    inputs = [info for graph in graphs(model) for info in graph.input]
    return changed_type(random.choice(inputs), random) if inputs else None


def change_output(model: onnx.ModelProto, random: Random) -> str | None:
    outputs = [info for graph in graphs(model) for info in graph.output]
    return changed_type(random.choice(outputs), random) if outputs else None


def remove_input(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice([graph for graph in graphs(model) if graph.input] or [model.graph])
    return graph.input.pop(random.randrange(len(graph.input))).name if graph.input else None


def cut(model: onnx.ModelProto, random: Random) -> str | None:
    graph = random.choice(graphs(model))
    if len(graph.output) > 1 and random.random() < 0.5:
        return graph.output.pop(random.randrange(len(graph.output))).name
    graph.output.add().name = random.choice([*names(model), "missing"])
    return graph.output[-1].name


def change_opset(model: onnx.ModelProto, random: Random) -> str | None:
    opset = random.choice(model.opset_import)
    opset.version = random.choice([1, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 22, 23])
    return str(opset.version)


def change_ir_version(model: onnx.ModelProto, random: Random) -> str | None:
    model.ir_version = random.choice([3, 4, 8])
    return str(model.ir_version)


MUTATIONS: tuple[Mutation, ...] = (
    drop_input,
    add_input,
    swap_inputs,
    connect_another,
    change_outputs,
    change_operator,
    duplicate_node,
    delete_node,
    swap_nodes,
    change_attribute,
    change_attribute,
    remove_attribute,
    repeat_attribute,
    add_attribute,
    retype_attribute,
    change_target_type,
    reshape_initializer,
    reshape_initializer,
    claim_another_dim,
    change_entry,
    change_entry,
    retype_initializer,
    remove_initializer,
    change_input,
    change_output,
    remove_input,
    cut,
    change_opset,
    change_ir_version,
)


def mutants(model: onnx.ModelProto, random: Random) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Any number of changed copies of ``model``, each with the name of its mutation and what that touched."""
    while True:
        copied = onnx.ModelProto()
        copied.CopyFrom(model)
        mutation = random.choice(MUTATIONS)
        touched = mutation(copied, random)
        if touched is not None:
            yield f"{mutation.__name__} {touched}", copied
