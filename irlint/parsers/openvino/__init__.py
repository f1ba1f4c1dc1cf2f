"""Reads an OpenVINO IR document into a Model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import IGNORE, MOST_LISTED, Attribute, Graph, Model, Node, Place, Problem, bodies_among
from irlint.model.formats import OPENVINO
from irlint.parsers import opening
from irlint.parsers.faults import MALFORMED_XML, NOT_A_MODEL, UNSUPPORTED_IR_VERSION
from irlint.parsers.opening import file_bytes, is_url
from irlint.parsers.openvino.constants import WeightsFile, constant, want_small_constants, weights_beside
from irlint.parsers.openvino.edges import wired
from irlint.parsers.openvino.layers import (
    MISSING_ATTRIBUTE,
    Complaints,
    Element,
    Layer,
    LayerReader,
    Ordinals,
    first_children,
)
from irlint.parsers.openvino.outputs import RESULT_MISSING
from irlint.parsers.openvino.pre_process import check_pre_process
from irlint.parsers.openvino.repeated import RepeatedLayers, RestOrdinals, Sections, sections
from irlint.parsers.openvino.rt_info import check_attributes, check_meta_data
from irlint.parsers.openvino.types import BackEdge, PortMapEntry, natural
from irlint.parsers.openvino.wiring import Edge
from irlint.records import NOTHING

if TYPE_CHECKING:
    from irlint.parsers.openvino.positions import Position

#: Bodies at a greater depth of nesting are not read.
DEEPEST = 50
_BODIES = ("body", "then_body", "else_body")
_PORT_MAPS = ("port_map", "then_port_map", "else_port_map")
_BACK_EDGES = "back_edges"


def read(path: str | os.PathLike[str], data: bytes | None = None) -> Model:
    """The model in an IR document. If the document cannot be read, the model has no graph.

    ``data`` is the document, if the caller has read it. Raises OSError if the document cannot be opened.
    """
    name = os.fspath(path)
    if data is None:
        data = file_bytes(path, "document")
    found = None if is_url(name) else sections(data)
    root, problems = (found.root, []) if found is not None else _document(data)
    if root is None:
        return Model(name, OPENVINO, problems=tuple(problems))
    version, fault = _version(root)
    if fault is not None:
        place = Place(0, "version" if "version" in root.attrib else None)
        return Model(name, OPENVINO, version, problems=(*problems, Problem(fault, place=place)))
    weights = weights_beside(path)
    if opening.trace is not None:
        opening.trace.beside(weights.name, _facts(weights))
    if is_url(name):
        want_small_constants(root, weights)
    try:
        reader = _GraphReader(root, weights, int(version or 0), found)
        graph = reader.graph(root, "", root.get("name", ""), live=True)
    finally:
        weights.close()
    problems = _outside_errors(problems, reader.problems) + reader.problems
    problems.sort(key=lambda problem: problem.place.element if problem.place else -1)
    info = first_children(root).get("rt_info")
    return Model(
        name, OPENVINO, version, graph, metadata=_metadata(info), problems=tuple(problems), producer=_producer(info)
    )


def _document(data: bytes) -> tuple[Element | None, list[Problem]]:
    from irlint.parsers.openvino.document import document

    return document(data)


def facts_beside(model: str, _: str) -> tuple[int | None, str | None, bool]:
    """(size of the ``.bin`` file or None, why it cannot be read or None, whether irlint does not read it)."""
    weights = weights_beside(model)
    weights.close()
    return _facts(weights)


def _facts(weights: WeightsFile) -> tuple[int | None, str | None, bool]:
    return weights.size, weights.reason, weights.file is None


def positions_in(data: bytes, elements: Iterable[int]) -> Mapping[int, Position]:
    """The positions of start tags in a document, by their ordinals."""
    from irlint.parsers.openvino.positions import positions

    return positions(data, elements)


def _outside_errors(xml_problems: list[Problem], problems: list[Problem]) -> list[Problem]:
    """The XML problems whose elements have no error among ``problems``."""
    errors = {each.place.element for each in problems if each.place and each.fault.severity is Severity.ERROR}
    return [each for each in xml_problems if each.place is None or each.place.element not in errors]


def _metadata(info: Element | None) -> dict[str, str]:
    """The entries for irlint in an ``rt_info``.

    They are ``<irlint.ignore value="…"/>``, ``<irlint><ignore value="…"/>`` or ``<attribute name="irlint.ignore"
    value="…"/>``.
    """
    if info is None:
        return {}
    first, _, second = IGNORE.partition(".")
    found = [each for each in info.iterchildren(IGNORE, "attribute") if IGNORE in (each.tag, each.get("name"))]
    found += [each for parent in info.iterchildren(first) for each in parent.iterchildren(second)]
    texts = [each.get("value", "") for each in found]
    return {IGNORE: " ".join(texts)} if texts else {}


def _producer(info: Element | None) -> str:
    """The tool that wrote a model, such as ``openvino 2024.1.0``."""
    for entry in info.iterchildren("Runtime_version", "MO_version") if info is not None else ():
        if version := entry.get("value", "").partition("-")[0]:
            return f"openvino {version}"
    return ""


def _version(root: Element) -> tuple[str | None, Fault | None]:
    if str(root.tag).lower() != "net":
        return None, NOT_A_MODEL.fault(
            f"the root element is <{root.tag}>; that of an IR is <net>", help="name the .xml file of an IR"
        )
    text = root.get("version")
    if text is None:
        return None, UNSUPPORTED_IR_VERSION.fault(
            "<net> has no version; expected 10 or 11",
            help='write version="11" if the IR is of that version',
        )
    try:
        version = natural(text)
    except ValueError:
        version = -1
    if version in (10, 11):
        return str(version), None
    return text, UNSUPPORTED_IR_VERSION.fault(
        f'the IR is of version "{text}"; expected 10 or 11',
        help="convert the original model again with openvino.convert_model"
        if version < 10
        else "use a release of OpenVINO that writes version 11",
    )


class _GraphReader:
    def __init__(self, root: Element, weights: WeightsFile, version: int, found: Sections | None) -> None:
        self.layers = LayerReader(Ordinals(root) if found is None else RestOrdinals(found))
        self.sections = found
        self.weights = weights
        self.version = version
        self.problems: list[Problem] = []

    def graph(self, element: Element, path: str, name: str, *, live: bool, depth: int = 0) -> Graph:
        """The graph in a ``<net>`` or a body. ``live`` states whether OpenVINO creates the graph."""
        outer, self.layers.complaints = self.layers.complaints, Complaints()
        children = first_children(element)
        layers, edges, place = self._layers_edges_and_place(element, children)
        if len({layer.key for layer in layers}) < len(layers):
            from irlint.parsers.openvino.duplicate_layers import without_repetitions

            layers = without_repetitions(layers, self.layers)
        wired(layers, edges, self.layers, place, version=self.version, live=live)
        self._check_types(layers)
        if not path:
            self._check_results(element, children, layers)
            if "pre-process" in children:
                check_pre_process(children["pre-process"], layers, self.weights, self.layers)
            if "meta_data" in children and "rt_info" not in children:
                check_meta_data(children["meta_data"], self.layers)
        typed = [layer for layer in layers if layer.type]
        nodes = [self._node(layer, path, depth) for layer in typed]
        constants = {
            layer.values[0]: constant(layer, self.weights, self.layers)
            for layer, node in zip(typed, nodes)
            if node.op == "Const" and layer.values
        }
        outputs = tuple(v for layer in layers if layer.type == "Result" for v in layer.given[:1] if v is not None)
        if self.version > 10:
            check_attributes(layers, [v.place for v in outputs if v.place is not None], self.layers)
        if self.layers.complaints:
            self._report(dict(zip(typed, nodes)), path, live)
        self.layers.complaints = outer
        return Graph(
            path,
            name,
            tuple(value for layer in layers if layer.type == "Parameter" for value in layer.values[:1]),
            outputs,
            constants,
            tuple(nodes),
        )

    def _layers_edges_and_place(
        self, element: Element, children: dict[str, Element]
    ) -> tuple[list[Layer], Iterable[Element | Edge], Place]:
        elements, found = _children(children, "layers", "layer"), self.sections
        if found is not None:
            return RepeatedLayers(found, elements, self.layers).layers(), found.edges, Place(found.edges_at)
        layers = [
            self.layers.layer(element, at)
            for at, element in enumerate(elements)
            if not self.layers.is_only_counted(element)
        ]
        return layers, _children(children, "edges", "edge"), self._place(children.get("edges", element))

    def _check_types(self, layers: list[Layer]) -> None:
        refused = {each.layer for each in self.layers.complaints if each.fault.severity is Severity.ERROR}
        for layer in layers:
            if layer.type == "Parameter" and layer.data is None and layer not in refused:
                message = f"{layer.text} has no <data> with its shape and its element type"
                fault = MISSING_ATTRIBUTE.fault(message, help="add <data> with shape and element_type")
                self.layers.complain(fault, layer.place, layer)
            if layer.type or not layer.live or layer in refused:
                continue
            message = f'{layer.text} has type=""; expected the name of an operation'
            place = Place(layer.place.element, "type")
            self.layers.complain(MISSING_ATTRIBUTE.fault(message, help="write the name of the operation"), place, layer)

    def _check_results(self, root: Element, children: dict[str, Element], layers: list[Layer]) -> None:
        types = {layer.type for layer in layers}
        misspellings = {type for type in types if type.lower() == "result"} - {"Result"}
        misspelled = [layer for layer in layers if layer.type in misspellings] if misspellings else []
        for layer in misspelled:
            fault = RESULT_MISSING.fault(
                f'{layer.text} is of type "{layer.type}": only layers of type "Result" are outputs, '
                "and OpenVINO silently drops this one",
                help='write type="Result"',
            )
            self.layers.complain(fault, Place(layer.place.element, "type"), layer)
        if misspelled or not types.isdisjoint(("Result", "Assign", "")):
            return
        found = children.get("layers")
        text = f"none of the {len(layers)} layers is a Result" if layers else "<layers> is empty"
        fault = RESULT_MISSING.fault(
            f"{text if found is not None else '<net> has no <layers>'}: OpenVINO loads a model without outputs, "
            "which computes nothing",
            help="write the IR again, with a Result for each output of the model",
        )
        self.layers.complain(fault, self._place(root if found is None else found))

    def _report(self, nodes: dict[Layer, Node], path: str, live: bool) -> None:
        for complaint in self.layers.complaints:
            fault = complaint.fault if live else complaint.fault.lowered(Severity.WARNING)
            node = None if complaint.layer is None else nodes.get(complaint.layer)
            self.problems.append(Problem(fault, path, node, place=complaint.place))
        for key, first in self.layers.complaints.omitted.items():
            count = self.layers.complaints.counts[key] - MOST_LISTED
            fault = first.fault if live else first.fault.lowered(Severity.WARNING)
            self.problems.append(Problem(fault, path, place=first.place, count=count))

    def _node(self, layer: Layer, path: str, depth: int) -> Node:
        bodies = self._bodies(layer, path, depth) if layer.children else {}
        return Node(
            layer.name,
            layer.op,
            "openvino",
            layer.version,
            tuple(layer.given),
            layer.values,
            {**_without_texts_of_elements(layer.attributes), **bodies} if bodies else layer.attributes,
            layer.index,
            layer.place,
            layer.id or None,
            layer.inputs,
            layer.outputs,
            metadata=_metadata(layer.children.get("rt_info")) if layer.children else NOTHING,
            bodies=bodies_among(bodies) if bodies else (),
        )

    def _bodies(self, layer: Layer, path: str, depth: int) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for name in _PORT_MAPS:
            element = layer.children.get(name)
            if element is not None:
                found[name] = Attribute(
                    "PORT_MAP", self._port_map(element, layer), place=self._relative(layer, element)
                )
        edges = layer.children.get(_BACK_EDGES)
        if edges is not None:
            records = tuple(self._back_edge(edge, layer) for edge in edges.iterchildren("edge"))
            found[_BACK_EDGES] = Attribute("BACK_EDGES", records, place=self._relative(layer, edges))
        for name in _BODIES:
            element = layer.children.get(name)
            if element is not None:
                found |= self._body(element, name, layer, path, depth)
        return found

    def _body(self, element: Element, name: str, layer: Layer, path: str, depth: int) -> dict[str, Attribute]:
        if depth >= DEEPEST:
            message = f"bodies are nested more than {DEEPEST} deep: {layer.text} is not looked into"
            self.layers.complain(
                MALFORMED_XML.fault(message, help="nest them less deep", severity=Severity.WARNING), layer.place, layer
            )
            return {}
        body_path = f"{path}/" * bool(path) + f"{layer.name or layer.id}/{name}"
        graph = self.graph(element, body_path, element.get("name", ""), live=layer.live, depth=depth + 1)
        return {name: Attribute("GRAPH", graph, place=self._relative(layer, element))}

    def _port_map(self, element: Element, layer: Layer) -> tuple[PortMapEntry, ...]:
        return tuple(
            self._port_map_entry(entry, layer)
            for entry in element.iterchildren("*")
            if entry.tag in ("input", "output")
        )

    def _port_map_entry(self, element: Element, layer: Layer) -> PortMapEntry:
        internal = self.layers.number(element, "internal_layer_id", layer)
        is_condition = element.tag == "output" and element.get("purpose") == "execution_condition"
        names = ("axis", "start", "end", "stride", "part_size") if "axis" in element.attrib and not is_condition else ()
        numbers = {
            name: number
            for name in names
            if name in element.attrib
            for number in (self.layers.number(element, name, layer, signed=element.tag == "output" or name != "axis"),)
            if number is not None
        }
        return PortMapEntry(
            kind="input" if element.tag == "input" else "output",
            external_port_id=self.layers.number(element, "external_port_id", layer, signed=True),
            internal_layer_id=None if internal is None else str(internal),
            purpose=element.get("purpose", ""),
            place=self._place(element),
            **numbers,
        )

    def _back_edge(self, element: Element, layer: Layer) -> BackEdge:
        source = self.layers.number(element, "from-layer", layer)
        target = self.layers.number(element, "to-layer", layer)
        return BackEdge(
            None if source is None else str(source),
            None if target is None else str(target),
            self._place(element),
        )

    def _place(self, element: Element) -> Place:
        return Place(self.layers.ordinals[element])

    def _relative(self, layer: Layer, element: Element) -> Place:
        return Place(self.layers.ordinals[element] - layer.place.element)


def _children(children: dict[str, Element], parent: str, name: str) -> Iterable[Element]:
    element = children.get(parent)
    return () if element is None else element.iterchildren(name)


def _without_texts_of_elements(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes without texts that have the names of bodies, port maps or back edges. OpenVINO ignores them."""
    return {name: each for name, each in attributes.items() if name not in (*_BODIES, *_PORT_MAPS, _BACK_EDGES)}
