"""Counts of parameters that know nothing of irlint: by ONNX's schemas, and by the element types and uses of an IR's
constants."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx import defs, helper

#: Element types of which an input has to take one, to be computed with: numbers and truths; integers of 8 bits where it
#: takes none of 64 bits, which are quantized.
FLOATS = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)", "tensor(bfloat16)", "tensor(bool)"})
QUANTIZED, INDICES = frozenset({"tensor(int8)", "tensor(uint8)"}), frozenset({"tensor(int64)"})

#: Ends of the names of inputs that are no operands, whatever their type: of quantization parameters, and of Resize.
QUANTIZATION = ("scale", "scales", "zero_point", "roi")

#: Operators whose inputs decide which body runs, and how often.
FLOW = frozenset({"If", "Loop"})

#: Operators whose inputs are bounds, which may be numbers.
BOUNDS = frozenset({"Range"})

#: Operators whose inputs of those names are the weights that they multiply with.
SCALED = frozenset(
    {"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"}
)


def of_onnx(model: onnx.ModelProto) -> int:
    """The elements of the stored tensors that are operands: of an input for which the schema allows floating-point
    numbers, of a node on which an output depends by such inputs. Tensors that nothing uses are operands, too."""
    versions = {opset.domain: opset.version for opset in model.opset_import}
    graphs = list(_graphs(model.graph))
    data = {output.name for graph in graphs for output in graph.output}
    nodes = [node for graph in graphs for node in graph.node]
    found = -1
    while found < len(data):
        found = len(data)
        for node in nodes:
            if data.isdisjoint(node.output) and not _has_bodies(node):
                continue
            data.update(name for index, name in enumerate(node.input) if name and _is_operand(node, index, versions))
    used = {name for node in nodes for name in node.input} | {each.name for graph in graphs for each in graph.output}
    return sum(math.prod(dims) for name, dims in _stored(graphs) if name in data or name not in used)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _has_bodies(node: onnx.NodeProto) -> bool:
    return any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute)


def _stored(graphs: list[onnx.GraphProto]) -> Iterator[tuple[str, list[int]]]:
    for graph in graphs:
        yield from ((tensor.name, list(tensor.dims)) for tensor in graph.initializer)
        for node in graph.node:
            for attribute in node.attribute if node.op_type == "Constant" else ():
                value = helper.get_attribute_value(attribute)
                if attribute.name == "value":
                    yield node.output[0], list(value.dims)
                elif attribute.name in ("value_float", "value_int"):
                    yield node.output[0], []
                else:
                    yield node.output[0], [len(value)]


def _is_operand(node: onnx.NodeProto, index: int, versions: dict[str, int]) -> bool:
    """Whether the schema of a node lets an input be numbers to compute with that are no scales."""
    schema = defs.get_schema(node.op_type, versions[node.domain], node.domain)
    formal = schema.inputs[min(index, len(schema.inputs) - 1)]
    if node.op_type not in SCALED and formal.name.endswith(QUANTIZATION):
        return False
    if node.op_type in BOUNDS or (node.op_type in FLOW and formal.name in ("cond", "M")):
        return False
    types = frozenset(formal.types)
    return bool(types & FLOATS or (types & QUANTIZED and not types & INDICES))


#: Ports of OpenVINO's operations that take floating-point numbers and compute no element with them: the limits of a
#: FakeQuantize, and the scales of an Interpolate.
LIMITS = {"FakeQuantize": (1, 2, 3, 4), "Interpolate": (1, 2, 3)}

#: Element types of numbers that are computed with, and of compressed weights.
REAL, COMPRESSED = ("f16", "f32", "f64", "bf16"), ("i8", "u8", "i4", "u4", "nf4", "f8e4m3", "f8e5m2")

#: Operations that convert or move weights.
PASSING = ("Convert", "Reshape", "Transpose", "Unsqueeze", "Squeeze")


def of_ir(path: Path) -> int:
    """The elements of the constants that are floating-point numbers or compressed weights, and are used by another port
    than those of ``LIMITS`` and than that of the scale or zero point of a compressed weight. Constants of one place in
    the weights file count once."""
    root = ElementTree.parse(path).getroot()
    layers = {each.get("id", ""): each for each in root.findall("layers/layer")}
    edges = [(each.get("from-layer", ""), each.get("to-layer", ""), _port(layers, each)) for each in root.iter("edge")]
    users: dict[str, list[tuple[str, int]]] = defaultdict(list)
    sources: dict[tuple[str, int], str] = {}
    for source, target, port in edges:
        users[source].append((target, port))
        sources[target, port] = source
    counted: dict[tuple[str | None, ...], int] = {}
    for name, layer in layers.items():
        data = layer.find("data")
        if layer.get("type") != "Const" or data is None or data.get("element_type") not in REAL + COMPRESSED:
            continue
        ends = list(_ends(name, layers, users))
        if ends and all(_is_limit(target, port, layers, sources) for target, port in ends):
            continue
        sizes = [int(size) for size in (data.get("shape") or "").split(",") if size]
        counted[tuple(data.get(key) for key in ("offset", "element_type", "shape"))] = math.prod(sizes)
    return sum(counted.values())


def _port(layers: dict[str, ElementTree.Element], edge: ElementTree.Element) -> int:
    """The position of the input port to which an edge leads."""
    ports = layers[edge.get("to-layer", "")].findall("input/port")
    return [port.get("id") for port in ports].index(edge.get("to-port"))


def _ends(
    name: str, layers: dict[str, ElementTree.Element], users: dict[str, list[tuple[str, int]]]
) -> Iterator[tuple[str, int]]:
    """The layers and ports that a constant reaches, behind those that convert or move it."""
    for target, port in users[name]:
        if layers[target].get("type") in PASSING and port == 0:
            yield from _ends(target, layers, users)
        else:
            yield target, port


def _is_limit(
    target: str, port: int, layers: dict[str, ElementTree.Element], sources: dict[tuple[str, int], str]
) -> bool:
    """Whether a port takes a limit, or the scale or zero point of a compressed weight."""
    kind = layers[target].get("type") or ""
    if port in LIMITS.get(kind, ()):
        return True
    return kind in ("Subtract", "Multiply") and port == 1 and _is_compressed(sources[target, 0], layers, sources)


def _is_compressed(name: str, layers: dict[str, ElementTree.Element], sources: dict[tuple[str, int], str]) -> bool:
    """Whether a layer gives a compressed weight, or that less its zero point."""
    layer = layers[name]
    data = layer.find("data")
    if layer.get("type") == "Const":
        return data is not None and data.get("element_type") in COMPRESSED
    return layer.get("type") in (*PASSING, "Subtract") and _is_compressed(sources[name, 0], layers, sources)
