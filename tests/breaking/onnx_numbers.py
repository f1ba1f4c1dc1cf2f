"""Ways in which people break ONNX models: wrong attributes and wrong constants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import AttributeProto, NodeProto, helper

from .onnx_graph import Change, Graph, misspelt, name_of, permutations, shown, way


def _set(graph: Graph, node: NodeProto, attribute: AttributeProto, value: object) -> Change:
    was = shown(attribute)
    if isinstance(value, list):
        attribute.ints[:] = value
    elif isinstance(value, int):
        attribute.i = value
    return Change(name_of(node), attribute.name, was, shown(attribute))


@way("flag")
def flag(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each)
        for node, each in graph.attributes("transA", "transB", "keepdims", "batch_first", "layout")
        if each.type == AttributeProto.INT
    )
    missing = graph.any(
        (node, name)
        for name, operators in (
            ("keepdims", ("ReduceMean", "ReduceSum", "ReduceMax", "ArgMax")),
            ("transB", ("Gemm",)),
            ("transA", ("Gemm",)),
        )
        for node in graph.of(*operators)
        if not any(each.name == name for each in node.attribute)
    )
    if found and (not missing or graph.random.random() < 0.7):
        return _set(graph, found[0], found[1], 1 - found[1].i)
    if not missing:
        return None
    node, name = missing
    node.attribute.append(helper.make_attribute(name, 0 if name == "keepdims" else 1))
    return Change(name_of(node), name, "not there", str(node.attribute[-1].i))


@way("axis off by one")
def axis(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each) for node, each in graph.attributes("axis", "batch_dims") if each.type == AttributeProto.INT
    )
    return _set(graph, *found, found[1].i + graph.random.choice((-1, 1))) if found else None


@way("axis of another layout")
def axis_of_layout(graph: Graph) -> Change | None:
    found = graph.any((node, each) for node, each in graph.attributes("axis") if each.i in (1, 2, 3, -1, -3))
    if not found:
        return None
    return _set(graph, *found, {1: 3, 3: 1, -1: 1, -3: -1, 2: 1}[found[1].i])


@way("concat or gather axis")
def join_axis(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each)
        for node, each in graph.attributes("axis")
        if node.op_type in ("Concat", "Gather", "Split", "Stack")
    )
    if not found:
        return None
    return _set(graph, *found, graph.any(each for each in (-2, -1, 0, 1, 2, 3) if each != found[1].i))


@way("axes")
def axes(graph: Graph) -> Change | None:
    places = dict.fromkeys(("Unsqueeze", "Squeeze", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), (1,)) | {
        "Slice": (3,)
    }
    constant = graph.any(graph.constant_inputs(places))
    attribute = graph.any((node, each) for node, each in graph.attributes("axes") if each.ints)
    if attribute and (not constant or graph.random.random() < 0.5):
        node, each = attribute
        values = list(each.ints)
        values[graph.random.randrange(len(values))] += graph.random.choice((-1, 1, 2))
        return _set(graph, node, each, values)
    if not constant:
        return None
    return _change_entry(graph, constant, lambda value: value + graph.random.choice((-1, 1, 2)))


@way("perm")
def perm(graph: Graph) -> Change | None:
    found = graph.any(graph.attributes("perm"))
    if not found:
        return None
    chosen = graph.any(each for each in permutations(len(found[1].ints)) if each != list(found[1].ints))
    if graph.random.random() < 0.1:
        node, each = found
        node.attribute.remove(each)
        return Change(name_of(node), "perm", shown(each), "not there")
    return _set(graph, *found, chosen) if chosen else None


def _change_entry(graph: Graph, found: tuple, new: Callable[[int], int]) -> Change | None:  # type: ignore[type-arg]
    node, constant = found
    values = constant.values.copy()
    flat = values.reshape(-1)
    at = graph.random.randrange(flat.size)
    was = flat.copy()
    flat[at] = new(flat[at])
    if (flat == was).all():
        return None
    constant.set(flat.reshape(values.shape))
    return Change(name_of(node), f"constant {constant.name}", str(was.tolist()), str(flat.tolist()))


@way("reshape target")
def reshape_target(graph: Graph) -> Change | None:
    found = graph.any(graph.constant_inputs({"Reshape": (1,)}))
    if not found:
        return None
    values = found[1].values.reshape(-1)
    if graph.random.random() < 0.25 and len(set(values.tolist())) > 1:
        one, other = graph.random.sample(range(values.size), 2)
        swapped = values.copy()
        swapped[[one, other]] = swapped[[other, one]]
        if (swapped == values).all():
            return None
        found[1].set(swapped)
        return Change(name_of(found[0]), f"constant {found[1].name}", str(values.tolist()), str(swapped.tolist()))
    return _change_entry(
        graph,
        found,
        lambda value: graph.random.choice((value * 2, value + 1, value - 1, value // 2, 7)) if value > 0 else 7,
    )


@way("head count in several constants")
def head_count(graph: Graph) -> Change | None:
    found = [
        (node, each)
        for node, each in graph.constant_inputs({"Reshape": (1,), "Concat": tuple(range(6))})
        if (each.values > 1).any()
    ]
    chosen = graph.any(found)
    if not chosen:
        return None
    number = graph.any(value for value in chosen[1].values.reshape(-1).tolist() if 1 < value < 2**31)
    if number is None:
        return None
    new = graph.any(each for each in (number * 2, number // 2, number + 1, number - 1) if each > 0)
    names = []
    for _, each in found:
        if number in each.values and each.name not in names:
            names.append(each.name)
            each.set(np.where(each.values == number, each.values.dtype.type(new), each.values))
    if len(names) < 2:
        return None
    return Change(name_of(chosen[0]), f"constants {', '.join(names)}", str(number), str(new))


@way("split sizes")
def split_sizes(graph: Graph) -> Change | None:
    constant = graph.any(graph.constant_inputs({"Split": (1,)}))
    attribute = graph.any((node, each) for node, each in graph.attributes("split") if each.ints)
    if attribute and (not constant or graph.random.random() < 0.5):
        values = list(attribute[1].ints)
        values[graph.random.randrange(len(values))] += graph.random.choice((-1, 1, 2))
        return _set(graph, *attribute, values)
    if constant:
        return _change_entry(graph, constant, lambda value: value + graph.random.choice((-1, 1, 2)))
    node = graph.any(graph.of("Split"))
    if not node or len(node.output) < 2 or node.output[-1] in graph.outputs() or graph.users(node.output[-1]):
        return None
    return None


@way("slice bounds")
def slice_bounds(graph: Graph) -> Change | None:
    constant = graph.any(graph.constant_inputs({"Slice": (1, 2, 4)}))
    attribute = graph.any((node, each) for node, each in graph.attributes("starts", "ends") if each.ints)
    if attribute and (not constant or graph.random.random() < 0.5):
        values = list(attribute[1].ints)
        values[graph.random.randrange(len(values))] += graph.random.choice((-1, 1, 2, -2))
        return _set(graph, *attribute, values)
    return (
        _change_entry(graph, constant, lambda value: graph.random.choice((value - 1, 0, value // 2, 1)))
        if constant
        else None
    )


@way("index of Gather")
def gather_index(graph: Graph) -> Change | None:
    constant = graph.any(graph.constant_inputs({"Gather": (1,)}))
    return _change_entry(graph, constant, lambda value: value + graph.random.choice((1, 2, 3, 4))) if constant else None


@way("scales, repeats, other numbers")
def numbers(graph: Graph) -> Change | None:
    places = {
        "Expand": (1,),
        "Tile": (1,),
        "Pad": (1,),
        "TopK": (1,),
        "ConstantOfShape": (0,),
        "OneHot": (1,),
        "Resize": (1, 2, 3),
        "Upsample": (1,),
        "Range": (0, 1, 2),
    }
    constant = graph.any(graph.constant_inputs(places, "iuf"))
    attribute = graph.any(
        (node, each)
        for node, each in graph.attributes("scales", "num_heads", "hidden_size", "value_ints", "blocksize", "pads")
        if node.op_type not in ("Conv", "MaxPool")
    )
    if constant and (not attribute or graph.random.random() < 0.7):
        if constant[1].values.dtype.kind == "f":
            return _change_entry(graph, constant, lambda value: value * graph.random.choice((2, 1.5, 0.5)))
        return _change_entry(
            graph, constant, lambda value: graph.random.choice((value + 1, value * 2, value - 1, value + 3))
        )
    if not attribute:
        return None
    node, each = attribute
    if each.type == AttributeProto.INT:
        return _set(graph, node, each, graph.random.choice((each.i + 1, each.i * 2, each.i - 1)))
    if each.type == AttributeProto.INTS and each.ints:
        values = list(each.ints)
        values[graph.random.randrange(len(values))] += 1
        return _set(graph, node, each, values)
    if each.type == AttributeProto.FLOATS and each.floats:
        was = shown(each)
        each.floats[graph.random.randrange(len(each.floats))] *= 1.5
        return Change(name_of(node), each.name, was, shown(each))
    return None


#: What people call attributes whose names they do not remember.
CALLED = {
    "kernel_s"
        "hape": "kernel_"
            "size", "pads": "padd"
                "ing", "strides": "stride", "axis": "dim", "perm": "dims", "group": "groups", "epsilon": "eps",
    "axes": "axis", "dilati"
        "ons": "dilation", "keepdims": "keepdim", "transB": "trans_b", "to": "dtype", "alpha": "negative_"
        "slope", "num_heads": "heads",
}  # fmt: skip


@way("misspelt attribute")
def misspelt_attribute(graph: Graph) -> Change | None:
    found = graph.any((node, each) for node, each in graph.attributes() if node.op_type != "Constant")
    if not found:
        return None
    node, each = found
    was = each.name
    each.name = CALLED[was] if was in CALLED and graph.random.random() < 0.3 else misspelt(was, graph.random)
    return Change(name_of(node), "name of an attribute", was, each.name) if each.name != was else None


@way("missing attribute")
def missing_attribute(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each) for node, each in graph.attributes() if node.op_type not in ("Constant", "If", "Loop", "Scan")
    )
    if not found:
        return None
    node, each = found
    change = Change(name_of(node), each.name, shown(each), "not there")
    node.attribute.remove(each)
    return change


@way("type of an attribute")
def attribute_type(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each)
        for node, each in graph.attributes()
        if each.type in (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT)
    )
    if not found:
        return None
    node, each = found
    was = shown(each)
    if each.type == AttributeProto.INT:
        new = helper.make_attribute(each.name, [each.i] if graph.random.random() < 0.5 else float(each.i))
    elif each.type == AttributeProto.FLOAT:
        new = helper.make_attribute(each.name, [each.f])
    elif each.ints:
        new = helper.make_attribute(
            each.name, each.ints[0] if len(set(each.ints)) == 1 else [float(value) for value in each.ints]
        )
    else:
        return None
    kinds = AttributeProto.AttributeType.Name
    change = Change(
        name_of(node), f"type of {each.name}", f"{kinds(each.type)} {was}", f"{kinds(new.type)} {shown(new)}"
    )
    each.CopyFrom(new)
    return change


@way("group, strides, pads, kernel")
def window(graph: Graph) -> Change | None:
    found = graph.any(
        (node, each)
        for node, each in graph.attributes("group", "strides", "pads", "kernel_shape", "dilations")
        if node.op_type in ("Conv", "ConvTranspose", "MaxPool", "AveragePool")
    )
    if not found:
        return None
    node, each = found
    if each.name == "group":
        return _set(
            graph,
            node,
            each,
            graph.any(value for value in (1, 2, 3, each.i * 2, each.i // 2) if value not in (0, each.i)),
        )
    values = list(each.ints)
    if not values:
        return None
    if graph.random.random() < 0.2:
        return _set(graph, node, each, values[: len(values) // 2] if graph.random.random() < 0.5 else values * 2)
    new = graph.random.choice((0, 1, 2, 3, 5)) if each.name == "pads" else graph.random.choice((1, 2, 3, 5, 7))
    changed = [new] * len(values)
    if graph.random.random() < 0.3:
        changed = values[:]
        changed[graph.random.randrange(len(values))] = new
    return _set(graph, node, each, changed) if changed != values else None


@way("Cast to another type")
def cast_type(graph: Graph) -> Change | None:
    found = graph.any((node, each) for node, each in graph.attributes("to"))
    if not found:
        return None
    return _set(graph, *found, graph.any(each for each in (1, 6, 7, 9, 10, 11) if each != found[1].i))
