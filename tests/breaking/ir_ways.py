"""The ways in which people break OpenVINO IRs: each changes a document, and returns what it changed, None where there
is no place for it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from lxml import etree

from .onnx_graph import Change, misspelt, permutations

Element = Any


@dataclass
class Document:
    """An IR that is being broken, its weights, and the chance by which."""

    root: Element
    weights: bytearray
    random: Random

    @property
    def layers(self) -> list[Element]:
        return list(self.root.find("layers"))

    @property
    def edges(self) -> list[Element]:
        return list(self.root.find("edges"))

    def of(self, *kinds: str) -> list[Element]:
        return [each for each in self.layers if each.get("type") in kinds]

    def any(self, among: Iterable[Any]) -> Any:
        """One of several by chance, None of none."""
        several = list(among)
        return self.random.choice(several) if several else None

    def attributes(self, *names: str) -> list[tuple[Element, Element, str]]:
        """The data attributes of these names, of any name where none is given; not those of constants and
        parameters."""
        found = []
        for layer in self.layers:
            data = layer.find("data")
            if data is not None and layer.get("type") not in ("Const", "Parameter"):
                found += [(layer, data, name) for name in data.attrib if not names or name in names]
        return found

    def edge_to(self, layer: str, port: str) -> Element | None:
        return next(
            (each for each in self.edges if each.get("to-layer") == layer and each.get("to-port") == port), None
        )

    def source(self, edge: Element) -> Element | None:
        return next((each for each in self.layers if each.get("id") == edge.get("from-layer")), None)

    def constants(self, kinds: tuple[str, ...] = ("i64", "i32")) -> list[tuple[Element, list[int]]]:
        """Small integer constants with their values."""
        found = []
        for layer in self.of("Const"):
            data = layer.find("data")
            if data.get("element_type") not in kinds or "offset" not in data.attrib:
                continue
            offset, size = int(data.get("offset")), int(data.get("size"))
            code = "q" if data.get("element_type") == "i64" else "i"
            if 0 < size <= 256 and offset + size <= len(self.weights) and size % struct.calcsize(code) == 0:
                found.append(
                    (layer, list(struct.unpack_from(f"<{size // struct.calcsize(code)}{code}", self.weights, offset)))
                )
        return found

    def set_constant(self, layer: Element, values: list[int]) -> None:
        """Writes the values of a constant at the end of the weights, since equal constants share a place."""
        data = layer.find("data")
        code = "q" if data.get("element_type") == "i64" else "i"
        data.set("offset", str(len(self.weights)))
        self.weights += struct.pack(f"<{len(values)}{code}", *values)


Way = Callable[[Document], Change | None]

WAYS: dict[str, Way] = {}


def way(name: str) -> Callable[[Way], Way]:
    def registered(function: Way) -> Way:
        WAYS[name] = function
        return function

    return registered


def where(layer: Element) -> str:
    return f"{layer.get('name')} ({layer.get('type')}, id {layer.get('id')})"


def _set(layer: Element, element: Element, name: str, value: str | None) -> Change | None:
    was, at = element.get(name), where(layer)
    if was == value:
        return None
    if value is None:
        del element.attrib[name]
    else:
        element.set(name, value)
    return Change(at, name, str(was), "not there" if value is None else value)


@way("flag")
def flag(document: Document) -> Change | None:
    found = document.any(each for each in document.attributes() if each[1].get(each[2]) in ("true", "false"))
    if not found:
        return None
    return _set(*found, "false" if found[1].get(found[2]) == "true" else "true")


@way("axis")
def axis(document: Document) -> Change | None:
    found = document.any(document.attributes("axis", "batch_dims", "seq_axis"))
    if not found:
        return None
    return _set(*found, str(int(found[1].get(found[2])) + document.random.choice((-1, 1, 2, -2))))


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.replace(",", " ").split()]


@way("strides, pads, dilations, kernel")
def window(document: Document) -> Change | None:
    found = document.any(
        document.attributes("strides", "pads_begin", "pads_end", "dilations", "kernel", "output_padding")
    )
    if not found:
        return None
    values = _numbers(found[1].get(found[2]))
    match document.random.randrange(4):
        case 0 if len(values) > 1:
            values.pop()
        case 1:
            values.append(values[-1] if values else 1)
        case 2:
            values = [each + document.random.choice((1, 2, 3)) for each in values]
        case _ if values:
            values[document.random.randrange(len(values))] += document.random.choice((-1, 1, 2))
    return _set(*found, ",".join(map(str, values)))


@way("entry of a constant")
def constant_entry(document: Document) -> Change | None:
    found = document.any(document.constants())
    if not found:
        return None
    layer, values = found
    at = document.random.randrange(len(values))
    new = values[:]
    new[at] = document.random.choice((values[at] + 1, values[at] - 1, values[at] * 2, values[at] // 2, 7))
    if new == values:
        return None
    document.set_constant(layer, new)
    return Change(where(layer), "values", str(values), str(new))


@way("order of a Transpose")
def transpose_order(document: Document) -> Change | None:
    orders = {
        edge.get("from-layer")
        for layer in document.of("Transpose")
        for edge in [document.edge_to(layer.get("id"), "1")]
        if edge is not None
    }
    found = document.any((layer, values) for layer, values in document.constants() if layer.get("id") in orders)
    if not found:
        return None
    layer, values = found
    new = document.any(each for each in permutations(len(values)) if each != values)
    if document.random.random() < 0.2:
        new = [*values, len(values)]
    if new is None:
        return None
    document.set_constant(layer, new)
    return Change(where(layer), "values", str(values), str(new))


@way("shape of a Const")
def constant_shape(document: Document) -> Change | None:
    layer = document.any(each for each in document.of("Const") if each.find("data").get("shape"))
    if layer is None:
        return None
    data = layer.find("data")
    values = _numbers(data.get("shape"))
    if len(values) > 1 and document.random.random() < 0.5:
        new = list(reversed(values))
    else:
        new = values[:]
        at = document.random.randrange(len(values))
        new[at] = max(1, document.random.choice((new[at] + 1, new[at] * 2, new[at] - 1)))
    return _set(layer, data, "shape", ", ".join(map(str, new)))


@way("offset or size of a Const")
def constant_place(document: Document) -> Change | None:
    layer = document.any(document.of("Const"))
    if layer is None or "size" not in layer.find("data").attrib:
        return None
    data = layer.find("data")
    if document.random.random() < 0.3:
        return _set(layer, data, "offset", str(len(document.weights) + 64 - int(data.get("size")) // 2))
    size = int(data.get("size"))
    return _set(layer, data, "size", str(document.random.choice((size * 2, size // 2, size + 4, max(0, size - 4)))))


@way("shape of a Parameter")
def parameter_shape(document: Document) -> Change | None:
    layer = document.any(each for each in document.of("Parameter") if each.find("data").get("shape"))
    if layer is None:
        return None
    data = layer.find("data")
    sizes = [each.strip() for each in data.get("shape").split(",")]
    at = document.random.randrange(len(sizes))
    match document.random.randrange(4):
        case 0 if len(sizes) == 4:
            sizes = [sizes[each] for each in ([0, 2, 3, 1] if sizes[1] in ("1", "3") else [0, 3, 1, 2])]
        case 1:
            del sizes[at]
        case 2:
            sizes.insert(at, "1")
        case _:
            if not sizes[at].isdigit():
                return None
            sizes[at] = str(max(1, int(sizes[at]) + document.random.choice((1, -1, 2, int(sizes[at])))))
    return _set(layer, data, "shape", ",".join(sizes))


@way("element type")
def element_type(document: Document) -> Change | None:
    among = [(each, each.find("data"), "element_type") for each in document.of("Parameter", "Const")]
    if document.random.random() < 0.4:
        among = document.attributes("destination_type", "output_type", "index_element_type")
    found = document.any(among)
    if not found:
        return None
    kind = document.random.choice(("f32", "f16", "i64", "i32", "u8", "boolean", "f64"))
    change = _set(*found, kind)
    if change and found[0].get("type") == "Const" and found[1].get("size") and document.random.random() < 0.5:
        size = {"f32": 4, "f16": 2, "i64": 8, "i32": 4, "u8": 1, "boolean": 1, "f64": 8}
        if size.get(change.was) != size[kind]:
            return Change(change.where, change.what, change.was, f"{change.now}, of another size")
    return change


@way("version of a layer")
def version(document: Document) -> Change | None:
    layer = document.any(each for each in document.layers if each.get("version"))
    new = document.random.choice(
        ("opset1", "opset99", "opset", "extension", "opset3", "opset8", "experimental", None, "Opset1")
    )
    return _set(layer, layer, "version", new)


@way("misspelt type")
def misspelt_type(document: Document) -> Change | None:
    layer = document.any(document.layers)
    called = {
        "ReLU": "Relu",
        "Convolution": "Conv",
        "MatMul": "Matmul",
        "Multiply": "Mul",
        "Const": "Constant",
        "Parameter": "Input",
        "Result": "Output",
        "SoftMax": "Softmax",
        "Subtract": "Sub",
    }
    was = layer.get("type")
    return _set(
        layer,
        layer,
        "type",
        called[was] if was in called and document.random.random() < 0.4 else misspelt(was, document.random),
    )


@way("misspelt attribute")
def misspelt_attribute(document: Document) -> Change | None:
    parameters = [
        (each, each.find("data"), name)
        for each in document.of("Const", "Parameter")
        for name in each.find("data").attrib
    ]
    found = document.any(document.attributes() if document.random.random() < 0.8 else parameters)
    if not found:
        return None
    layer, data, name = found
    new = misspelt(name, document.random)
    if new in data.attrib:
        return None
    items = [(new if each == name else each, value) for each, value in data.attrib.items()]
    data.attrib.clear()
    for each, value in items:
        data.set(each, value)
    return Change(where(layer), "name of an attribute", name, new)


@way("missing attribute")
def missing_attribute(document: Document) -> Change | None:
    found = document.any(document.attributes())
    return _set(*found, None) if found else None


@way("misspelt value")
def misspelt_value(document: Document) -> Change | None:
    found = document.any(each for each in document.attributes() if each[1].get(each[2]).replace("_", "").isalpha())
    return _set(*found, misspelt(found[1].get(found[2]), document.random)) if found else None


@way("missing layer attribute")
def missing_layer_attribute(document: Document) -> Change | None:
    layer = document.any(document.layers)
    name, at = document.random.choice(("type", "version", "id", "name")), where(layer)
    was = layer.attrib.pop(name)
    return Change(at, name, was, "not there", lost=name == "type")


@way("swapped edges")
def swapped_edges(document: Document) -> Change | None:
    layer = document.any(
        each
        for each in document.layers
        if each.find("input") is not None
        and len(each.find("input")) > 1
        and each.get("type") not in ("Add", "Multiply", "Maximum")
    )
    if layer is None:
        return None
    edges = [each for each in document.edges if each.get("to-layer") == layer.get("id")]
    if len(edges) < 2:
        return None
    one, other = document.random.sample(edges, 2) if document.random.random() < 0.3 else edges[:2]
    a, b = one.get("to-port"), other.get("to-port")
    one.set("to-port", b)
    other.set("to-port", a)
    return Change(where(layer), "edges", f"ports {a}, {b}", f"ports {b}, {a}")


def _shown(edge: Element) -> str:
    return " ".join(f"{name}={value}" for name, value in edge.attrib.items())


@way("edge from another layer")
def edge_from_other(document: Document) -> Change | None:
    edge = document.any(document.edges)
    to = next((each for each in document.layers if each.get("id") == edge.get("to-layer")), None)
    source = document.source(edge)
    if to is None or source is None:
        return None
    layers = document.layers
    near = layers[max(0, layers.index(to) - 12) : layers.index(to)]
    if document.random.random() < 0.4:
        near = [each for each in layers[: layers.index(to)] if each.get("type") == source.get("type")]
    if document.random.random() < 0.1:
        near = layers[layers.index(to) : layers.index(to) + 4]
    other = document.any(each for each in near if each is not source and each.find("output") is not None)
    if other is None:
        return None
    was = _shown(edge)
    edge.set("from-layer", other.get("id"))
    edge.set("from-port", other.find("output")[0].get("id"))
    return Change(where(to), "edge", was, _shown(edge))


@way("edge from another layer, whose own edge is gone")
def edges_exchanged(document: Document) -> Change | None:
    one, other = document.any(document.edges), document.any(document.edges)
    if one is other or abs(int(one.get("to-layer")) - int(other.get("to-layer"))) > 12:
        return None
    was = f"{_shown(one)}; {_shown(other)}"
    for name in ("from-layer", "from-port"):
        a, b = one.get(name), other.get(name)
        one.set(name, b)
        other.set(name, a)
    return Change("", "edges", was, f"{_shown(one)}; {_shown(other)}")


@way("removed edge")
def removed_edge(document: Document) -> Change | None:
    edge = document.any(document.edges)
    document.root.find("edges").remove(edge)
    return Change("", "edge", _shown(edge), "not there")


@way("end of an edge")
def edge_end(document: Document) -> Change | None:
    edge = document.any(document.edges)
    was = _shown(edge)
    name = document.random.choice(("from-layer", "to-layer", "from-port", "to-port"))
    edge.set(name, str(max(0, int(edge.get(name)) + document.random.choice((1, -1, 1, 100)))))
    return Change("", name, was, _shown(edge)) if _shown(edge) != was else None


@way("name of an end of an edge")
def edge_attribute(document: Document) -> Change | None:
    edge = document.any(document.edges)
    name = document.random.choice(("from-layer", "to-layer", "from-port", "to-port"))
    was, value = _shown(edge), edge.get(name)
    del edge.attrib[name]
    if document.random.random() < 0.6:
        edge.set(document.random.choice((name.replace("-", "_"), misspelt(name, document.random))), value)
    return Change("", "edge", was, _shown(edge))


@way("repeated edge")
def repeated_edge(document: Document) -> Change | None:
    edges = document.root.find("edges")
    edge = document.any(document.edges)
    copy = etree.Element(edge.tag, dict(edge.attrib))
    other = document.any(
        each
        for each in document.edges
        if each is not edge and abs(int(each.get("from-layer")) - int(edge.get("from-layer"))) < 10
    )
    if other is not None:
        copy.set("from-layer", other.get("from-layer"))
        copy.set("from-port", other.get("from-port"))
    edges.append(copy)
    return Change("", "edge", _shown(edge), f"also {_shown(copy)}")


@way("removed layer")
def removed_layer(document: Document) -> Change | None:
    layer = document.any(each for each in document.layers if each.get("type") != "Const")
    document.root.find("layers").remove(layer)
    if document.random.random() < 0.5:
        for edge in document.edges:
            if layer.get("id") in (edge.get("from-layer"), edge.get("to-layer")):
                document.root.find("edges").remove(edge)
    return Change(where(layer), "layer", layer.get("type"), "not there", lost=True)


@way("dropped layer, bypassed")
def dropped_layer(document: Document) -> Change | None:
    layer = document.any(document.of("Convert", "Transpose", "Unsqueeze", "Squeeze", "Reshape"))
    if layer is None:
        return None
    first = document.edge_to(layer.get("id"), "0")
    if first is None:
        return None
    for edge in document.edges:
        if edge.get("from-layer") == layer.get("id"):
            edge.set("from-layer", first.get("from-layer"))
            edge.set("from-port", first.get("from-port"))
        elif edge.get("to-layer") == layer.get("id"):
            document.root.find("edges").remove(edge)
    document.root.find("layers").remove(layer)
    return Change(where(layer), f"dropped {layer.get('type')}", "there", "not there")


@way("repeated id")
def repeated_id(document: Document) -> Change | None:
    layer, other = document.any(document.layers), document.any(document.layers)
    return _set(layer, layer, "id", other.get("id"))


@way("id of a port")
def port_id(document: Document) -> Change | None:
    found = document.any(
        (layer, port)
        for layer in document.layers
        for side in (layer.find("input"), layer.find("output"))
        if side is not None
        for port in side
        if port.tag == "port"
    )
    if not found:
        return None
    layer, port = found
    return _set(layer, port, "id", str(int(port.get("id")) + document.random.choice((1, 2, 5))))


@way("missing port")
def missing_port(document: Document) -> Change | None:
    found = document.any(
        (layer, side, port)
        for layer in document.layers
        for side in (layer.find("input"), layer.find("output"))
        if side is not None
        for port in side
        if port.tag == "port"
    )
    if not found:
        return None
    layer, side, port = found
    change = Change(where(layer), f"{side.tag} port {port.get('id')}", "there", "not there")
    side.remove(port)
    return change


@way("version of the file")
def net_version(document: Document) -> Change | None:
    root = document.root
    was = root.get("version")
    new = document.random.choice(("9", "12", "10.5", "", "1", None))
    if new is None:
        del root.attrib["version"]
    else:
        root.set("version", new)
    return Change("", "version", was, str(new))


@way("number that is none")
def no_number(document: Document) -> Change | None:
    found = document.any(
        each
        for each in document.attributes()
        if each[1].get(each[2]).replace(",", "").replace(" ", "").replace("-", "").isdigit()
    )
    if not found:
        return None
    text = found[1].get(found[2])
    new = document.random.choice(
        (
            f"[{text}]",
            f"({text})",
            text.replace(",", ";") if "," in text else text + ",",
            text.replace(",", " ") if "," in text else "auto",
            "",
        )
    )
    return _set(*found, new)
