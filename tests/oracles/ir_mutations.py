"""Small random changes to IRs: each mutation changes a document and its weights in place and returns what it
touched."""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

#: A document's root, and its weights.
Document = tuple[Any, bytearray]
Mutation = Callable[[Any, bytearray, Random], str | None]

TYPES = ("f32", "f16", "i64", "i32", "u8", "boolean", "i8", "f64", "bf16", "string")
PRECISIONS = ("FP32", "FP16", "I64", "I32", "U8", "BOOL", "I8")
WORDS = (
    "",
    "foo",
    "numpy",
    "none",
    "explicit",
    "same_upper",
    "floor",
    "f32",
    "true",
    "-1",
    "1.5",
    "nearest",
    "add",
    "linear",
)
OPERATIONS = (
    "Add",
    "Concat",
    "Relu",
    "Softmax",
    "MatMul",
    "Reshape",
    "Transpose",
    "Gather",
    "Squeeze",
    "Unsqueeze",
    "ReduceMean",
    "Select",
    "Equal",
    "Broadcast",
    "ShapeOf",
    "Divide",
    "Split",
    "VariadicSplit",
    "Tile",
    "TopK",
    "Convolution",
    "GroupConvolution",
    "MaxPool",
    "Convert",
    "Sigmoid",
    "LogicalAnd",
    "StridedSlice",
    "Slice",
    "Range",
    "CumSum",
    "Nowhere",
    "Result",
    "Parameter",
    "Const",
)
BYTES = {"i64": ("q", 8), "i32": ("i", 4), "u64": ("Q", 8), "u8": ("B", 1), "i8": ("b", 1)}


def layers(root: Any, fits: Callable[[Any], object] = lambda layer: True) -> list[Any]:
    return [layer for layer in root.iter("layer") if fits(layer)]


def chosen(found: list[Any], random: Random) -> Any:
    return random.choice(found) if found else None


def text(layer: Any, what: str = "") -> str:
    return f"{layer.get('type')} {layer.get('name')} {what}".strip()


def data(layer: Any) -> Any:
    found = layer.find("data")
    return {} if found is None else found.attrib


def another(number: int, random: Random) -> int:
    return random.choice([number + 1, number - 1, 0, -number, -1, 1, 2, number * 2, 100, -100])


def changed_list(text: str, random: Random) -> str:
    """A text of numbers with one of them changed, one more or one fewer."""
    parts = text.split(",") if text.strip() else []
    match random.randrange(4):
        case 0 if parts:
            del parts[random.randrange(len(parts))]
        case 1:
            parts.append(random.choice(["0", "1", "2"]))
        case _ if parts:
            at = random.randrange(len(parts))
            parts[at] = str(another(int(parts[at]), random)) if parts[at].strip().lstrip("-").isdecimal() else "1"
    return ", ".join(parts)


# --- attributes -------------------------------------------------------------------------------------------------------


def attributed(root: Any, random: Random) -> Any:
    return chosen(layers(root, lambda layer: data(layer) and layer.get("type") not in ("Const", "Parameter")), random)


def change_attribute(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = attributed(root, random)
    if layer is None:
        return None
    name = random.choice(list(data(layer)))
    old = data(layer)[name]
    if old.lower() in ("true", "false"):
        new = random.choice(["true" if old.lower() == "false" else "false", "maybe"])
    elif old in TYPES:
        new = random.choice(TYPES)
    elif all(part.strip().lstrip("-").isdecimal() for part in old.split(",")):
        new = changed_list(old, random)
    else:
        new = random.choice(WORDS)
    data(layer)[name] = new
    return text(layer, f"{name}: {old} -> {new}")


def remove_attribute(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = attributed(root, random)
    if layer is None:
        return None
    name = random.choice(list(data(layer)))
    return text(layer, f"{name}: {data(layer).pop(name)} removed")


def misspell_attribute(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = attributed(root, random)
    if layer is None:
        return None
    name = random.choice(list(data(layer)))
    at = random.randrange(len(name))
    new = random.choice([name[:at] + name[at + 1 :], name[:at] + "x" + name[at:], name + "s", name.upper()]) or "x"
    data(layer)[new] = data(layer).pop(name)
    return text(layer, f"{name} -> {new}")


# --- Parameters and Consts --------------------------------------------------------------------------------------------


def change_parameter(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root, lambda layer: layer.get("type") == "Parameter" and "shape" in data(layer)), random)
    if layer is None:
        return None
    name = random.choice(["shape", "shape", "element_type"])
    old = data(layer).get(name)
    data(layer)[name] = changed_list(old, random) if name == "shape" else random.choice(TYPES)
    return text(layer, f"{name}: {old} -> {data(layer)[name]}")


def constant(root: Any, random: Random, fits: Callable[[Any], object] = lambda layer: True) -> Any:
    stored = layers(root, lambda layer: layer.get("type") == "Const" and len(data(layer)) >= 4 and fits(layer))
    return chosen(stored, random)


def change_constant(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = constant(root, random)
    if layer is None:
        return None
    name = random.choice(["shape", "shape", "shape", "element_type", "offset", "size"])
    old = data(layer)[name]
    if name == "shape":
        new = random.choice(
            [changed_list(old, random), ", ".join(reversed(old.replace(" ", "").split(","))), f"1, {old}"]
        )
    elif name == "element_type":
        new = random.choice(TYPES)
    else:
        new = str(random.choice([int(old) + 1, int(old) + 8, int(old) * 2, 0, max(int(old) - 4, 0), 10**9]))
    data(layer)[name] = new.strip(", ")
    return text(layer, f"{name}: {old} -> {new}")


def change_entry(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = constant(
        root, random, lambda layer: data(layer)["element_type"] in BYTES and int(data(layer)["size"]) <= 64
    )
    if layer is None or not int(data(layer)["size"]):
        return None
    code, size = BYTES[data(layer)["element_type"]]
    at = int(data(layer)["offset"]) + size * random.randrange(int(data(layer)["size"]) // size)
    (old,) = struct.unpack_from(f"<{code}", weights, at)
    new = another(old, random)
    try:
        struct.pack_into(f"<{code}", weights, at, new)
    except struct.error:
        return None
    return text(layer, f"entry: {old} -> {new}")


# --- layers -----------------------------------------------------------------------------------------------------------


def change_type(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root), random)
    old = text(layer)
    layer.set("type", random.choice(OPERATIONS))
    return f"{old} -> {layer.get('type')}"


def change_version(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root), random)
    old = layer.get("version")
    layer.set("version", random.choice([*(f"opset{n}" for n in range(1, 18)), "opset99", "extension", ""]))
    return text(layer, f"{old} -> {layer.get('version')}")


def remove_layer(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root), random)
    parent = layer.getparent()
    parent.remove(layer)
    edges = parent.getparent().find("edges")
    if random.random() < 0.5 and edges is not None:
        for edge in list(edges):
            if layer.get("id") in (edge.get("from-layer"), edge.get("to-layer")):
                edges.remove(edge)
    return text(layer)


def change_layer_id(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root), random)
    old = layer.get("id")
    layer.set("id", random.choice([each.get("id") for each in layers(root)] + ["999999"]))
    return text(layer, f"{old} -> {layer.get('id')}")


# --- ports ------------------------------------------------------------------------------------------------------------


def remove_port(root: Any, weights: bytearray, random: Random) -> str | None:
    port = chosen([port for port in root.iter("port") if port.getparent().getparent().tag == "layer"], random)
    if port is None:
        return None
    side = port.getparent()
    side.remove(port)
    return text(side.getparent(), f"{side.tag} port {port.get('id')}")


def add_port(root: Any, weights: bytearray, random: Random) -> str | None:
    port = chosen([port for port in root.iter("port") if port.getparent().getparent().tag == "layer"], random)
    if port is None:
        return None
    side = port.getparent()
    new = copy.deepcopy(port)
    new.set("id", random.choice([str(int(port.get("id")) + 50), port.get("id")]))
    side.append(new)
    return text(side.getparent(), f"{side.tag} port {new.get('id')}")


def declare_another_dim(root: Any, weights: bytearray, random: Random) -> str | None:
    dim = chosen([dim for dim in root.iter("dim") if dim.text and dim.text.lstrip("-").isdecimal()], random)
    if dim is None:
        return None
    side = dim.getparent().getparent()
    old = dim.text
    if random.random() < 0.3:
        dim.getparent().remove(dim)
        new = "removed"
    else:
        new = dim.text = str(random.choice([int(old) + 1, 1, -1, 100]))
    return text(side.getparent(), f"{side.tag} dim {old} -> {new}")


def declare_another_type(root: Any, weights: bytearray, random: Random) -> str | None:
    port = chosen([port for port in root.iter("port") if port.get("precision")], random)
    if port is None:
        return None
    old = port.get("precision")
    port.set("precision", random.choice(PRECISIONS))
    return text(port.getparent().getparent(), f"{old} -> {port.get('precision')}")


# --- edges ------------------------------------------------------------------------------------------------------------


def edge_text(edge: Any) -> str:
    return "{} -> {}".format(*(f"{edge.get(end + '-layer')}.{edge.get(end + '-port')}" for end in ("from", "to")))


def remove_edge(root: Any, weights: bytearray, random: Random) -> str | None:
    edge = chosen([edge for edge in root.iter("edge") if edge.get("from-port")], random)
    if edge is None:
        return None
    edge.getparent().remove(edge)
    return edge_text(edge)


def rewire(root: Any, weights: bytearray, random: Random) -> str | None:
    edge = chosen([edge for edge in root.iter("edge") if edge.get("from-port")], random)
    if edge is None:
        return None
    old = edge_text(edge)
    other = random.choice([each for each in edge.getparent() if each.tag == "edge"])
    edge.set("from-layer", other.get("from-layer"))
    edge.set("from-port", other.get("from-port") if random.random() < 0.8 else random.choice("019"))
    return f"{old} now {edge_text(edge)}"


def swap_edges(root: Any, weights: bytearray, random: Random) -> str | None:
    edge = chosen([edge for edge in root.iter("edge") if edge.get("from-port")], random)
    if edge is None:
        return None
    others = [each for each in edge.getparent() if each is not edge]
    near = [each for each in others if each.get("to-layer") == edge.get("to-layer")]
    other = chosen(near if near and random.random() < 0.6 else others, random)
    if other is None:
        return None
    for name in ("to-layer", "to-port"):
        mine, theirs = edge.get(name), other.get(name)
        edge.set(name, theirs)
        other.set(name, mine)
    return f"{edge_text(edge)} and {edge_text(other)}"


# --- bodies and variables ---------------------------------------------------------------------------------------------


def change_port_map(root: Any, weights: bytearray, random: Random) -> str | None:
    maps = ("port_map", "then_port_map", "else_port_map", "back_edges")
    entry = chosen([entry for name in maps for each in root.iter(name) for entry in each], random)
    if entry is None:
        return None
    match random.randrange(5):
        case 0:
            entry.getparent().remove(entry)
            return f"{entry.tag} removed"
        case 1:
            entry.getparent().append(copy.deepcopy(entry))
            return f"{entry.tag} twice"
        case _:
            name = random.choice(list(entry.attrib))
            old = entry.get(name)
            entry.set(name, str(another(int(old), random)) if old.lstrip("-").isdecimal() else "1")
            return f"{entry.tag} {name}: {old} -> {entry.get(name)}"


def change_variable(root: Any, weights: bytearray, random: Random) -> str | None:
    layer = chosen(layers(root, lambda layer: layer.get("type") in ("ReadValue", "Assign")), random)
    if layer is None:
        return None
    name = random.choice(list(data(layer)))
    old = data(layer)[name]
    if name == "variable_shape":
        data(layer)[name] = changed_list(old, random)
    elif name == "variable_type":
        data(layer)[name] = random.choice(TYPES)
    else:
        data(layer)[name] = random.choice([f"{old}x", data(random.choice(layers(root, data))).get(name, "")])
    return text(layer, f"{name}: {old} -> {data(layer)[name]}")


MUTATIONS: tuple[Mutation, ...] = (
    change_attribute,
    change_attribute,
    change_attribute,
    remove_attribute,
    misspell_attribute,
    change_parameter,
    change_parameter,
    change_constant,
    change_constant,
    change_entry,
    change_entry,
    change_entry,
    change_type,
    change_type,
    change_version,
    remove_layer,
    change_layer_id,
    remove_port,
    add_port,
    declare_another_dim,
    declare_another_dim,
    declare_another_type,
    remove_edge,
    rewire,
    rewire,
    rewire,
    swap_edges,
    swap_edges,
    change_port_map,
    change_variable,
)


def mutants(root: Any, weights: bytes, random: Random) -> Iterator[tuple[str, Document]]:
    """Any number of changed copies of a document and its weights, each with its mutation and what that touched."""
    while True:
        copied = copy.deepcopy(root), bytearray(weights)
        mutation = random.choice(MUTATIONS)
        touched = mutation(*copied, random)
        if touched is not None:
            yield f"{mutation.__name__} {touched}", copied
