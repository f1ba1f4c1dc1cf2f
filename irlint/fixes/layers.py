"""Corrections for the layers of an IR, derived from the rest of the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise, product

from irlint.binding.calls import (
    ATTRIBUTE_VALUE,
    MISSING_ATTRIBUTE,
    closest,
)
from irlint.binding.openvino_texts import allowed_texts
from irlint.checks.intended import plain
from irlint.dims import elements
from irlint.findings.edits import Edit
from irlint.fixes.document import MISLED, PORTS, ROOT, Stages
from irlint.fixes.operations import Operations, of_layer, renamed
from irlint.inference.contradictions import differ
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant, Node, Problem, Value
from irlint.model.order import graph_at, graphs, users
from irlint.model.tensor import Tensor
from irlint.ops.signatures import signature
from irlint.parsers.faults import UNSUPPORTED_IR_VERSION
from irlint.parsers.openvino.constants import INVALID_CONST
from irlint.parsers.openvino.types import renamed_type
from irlint.parsers.openvino.xml import decoded
from irlint.parsers.weights import byte_size
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.fixes.wiring import Wiring

#: The versions of the format, and the element that identifies each. Files of version 11 may have both elements.
VERSIONS = {"11": b"<rt_info", "10": b"<meta_data"}

#: Brackets that may surround a list of numbers.
BRACKETS = "[](){}"

#: If a layer has more unknown attributes, none of them is taken for a misspelling.
UNKNOWN = 4

#: The offsets of constants are exchanged in models with at most this many constants.
CONSTANTS = 256

#: The attributes that give the type of a constant and the place of its bytes.
STORED = ("element_type", "shape", "offset", "size")


class Intended:
    """Proposes edits that the rest of the document implies. ``data`` has the bytes of the document."""

    def __init__(self, known: Known, data: bytes) -> None:
        self.known = known
        self.data = data

    @cached_property
    def wiring(self) -> Wiring | None:
        """The edges of the main graph."""
        graph = self.known.model.graph
        if graph is None or not self.data:
            return None
        from irlint.fixes.outline import Outline
        from irlint.fixes.wiring import Wiring

        return Wiring(self.known, graph, Outline(decoded(self.data).text, (), (ROOT,)))

    def stages(self, problem: Problem) -> Stages:
        """Groups of edits that may fix a problem, the likely groups first."""
        if problem.fault.rule is UNSUPPORTED_IR_VERSION:
            yield ((Edit("ir_version", "graph", name="version", value=each),) for each in self._format_versions())
            return
        node, graph = problem.node, self.known.model.graph
        if graph is None:
            return
        if (problem.is_error or problem.by_rule) and any(each.bodies for each in graph.nodes):
            from irlint.fixes.port_maps import STAGES

            yield from (stage(problem, self.known) for stage in STAGES)
        if problem.graph:
            for stage in self._of_constants(problem) if node is not None and problem.is_error else ():
                yield (tuple(replaced(edit, graph=problem.graph) for edit in edits) for edits in stage)
            return
        if node is not None:
            yield from self._of_layer(problem, node)
        if self.wiring is not None:
            yield from self.wiring.stages(problem)
        if node is not None and problem.is_error and problem.fault.rule.family in MISLED:
            yield from ([*self._as_users_declare(each, transposed=True)] for each in self._constants_before(node))

    def _format_versions(self) -> list[str]:
        """The format versions to try: the version that an element of the file shows, else all known versions."""
        if b"Runtime_version" in self.data:
            return ["11"]
        return [version for version, mark in VERSIONS.items() if mark in self.data][-1:] or list(VERSIONS)

    def _of_layer(self, problem: Problem, node: Node) -> Stages:
        rule, name = problem.fault.rule, problem.fault.attribute
        yield from Operations(self.known, self._nodes).stages(problem, node)
        if rule in (ATTRIBUTE_VALUE, MISSING_ATTRIBUTE) and name:
            groups = self._values(node, name, problem.fault.intended)
            yield from ([(_set(node, name, each),) for each in group] for group in groups)
        if not node.name:
            yield [(of_layer(node, "name", f"{node.op}_{node.index}"),)]
        if rule is INVALID_CONST:
            yield [(renamed(node, node.op),)]
        if node.op in (self.known.format.constant_node, self.known.format.input_node):
            yield from self._corrected_attributes(node)
        elif problem.is_error:
            yield from self._of_constants(problem)

    def _of_constants(self, problem: Problem) -> Stages:
        """If a wrong edge or constant may cause the error, corrects constants and parameters of its graph."""
        graph = graph_at(self.known.model, problem.graph)
        if graph is None or problem.node is None or problem.fault.rule.family not in MISLED:
            return
        own = set(graph.nodes)
        yield from ([*self._types_that_fit_bytes(each, problem.node)] for each in self._with_wrong_size if each in own)
        yield from ([*self._as_users_declare(each)] for each in self._constants_before(problem.node))
        for each in self._contradicting_ports:
            if each in own:
                yield [(_set(each, name, value),) for name, value in self._expected_attributes(each).items()]

    @cached_property
    def _nodes(self) -> list[Node]:
        return [node for graph in graphs(self.known.model) for node in graph.nodes]

    @cached_property
    def _users(self) -> dict[Value, list[Node]]:
        return {value: nodes for graph in graphs(self.known.model) for value, nodes in users(graph).items()}

    @cached_property
    def _contradicting_ports(self) -> list[Node]:
        """The constants and parameters whose ports contradict their attributes; none if more than ``PORTS`` do."""
        stated = (self.known.format.constant_node, self.known.format.input_node)
        found = [
            node
            for node in self._nodes
            if node.op in stated
            and any(
                differ(self.known.types.get(value), value.type, self.known.format) for value in node.outputs if value
            )
        ]
        return found if len(found) <= PORTS else []

    @cached_property
    def _with_wrong_size(self) -> list[Node]:
        """At most ``PORTS`` constants with more or fewer bytes than their type and shape need."""
        from irlint.checks.const_attributes import is_mismeasured

        made = [each for graph in graphs(self.known.model) for each in graph.constants.items()]
        wrong = [value for value, constant in made if is_mismeasured(constant)]
        nodes = self._nodes if wrong else ()
        return [node for node in nodes if node.outputs and node.outputs[0] in wrong][:PORTS]

    def _types_that_fit_bytes(self, node: Node, faulty: Node) -> Iterator[tuple[Edit, ...]]:
        """Gives a constant an element type that fits its bytes, and that its port, users or ``faulty`` have."""
        from irlint.checks.const_attributes import declared_by_users

        constant, value = self._constant(node), node.outputs[0] if node.outputs else None
        shape = constant.tensor.shape if constant is not None else None
        if constant is None or constant.stored is None or shape is None or value is None:
            return
        others = [self.known.types.get(each) for each in faulty.inputs if each is not None]
        types = [*(port.type for port in node.output_ports), *declared_by_users(node, self.known), *others]
        count = elements(tuple(each for each in shape if isinstance(each, int)))
        for dtype in dict.fromkeys(each.dtype for each in types if isinstance(each, Tensor) and each.dtype):
            if dtype == constant.tensor.dtype or byte_size(dtype, count) != constant.stored.size:
                continue
            place = {"node": node.label, "index": node.index, "name": value.name, "layer": node.id or ""}
            called = f"output port {node.output_ports[0].id}"
            declared = Edit("declaration", dtype=dtype, called=called, **place)  # type: ignore[arg-type]
            is_declared = node.output_ports[0].type.dtype == dtype
            edits = (_set(node, "element_type", renamed_type(dtype) or dtype), declared)
            yield edits[:1] if is_declared else edits

    def _values(self, node: Node, name: str, intended: str | None) -> Iterator[Sequence[str]]:
        """Groups of equally likely texts for an attribute."""
        attribute = node.attributes.get(name)
        text = str(attribute.value) if attribute is not None else ""
        cleaned = _without_brackets(text)
        if cleaned and cleaned != text:
            yield [cleaned]
        call = self.known.calls.get(node)
        operator = call.operator if call is not None else None
        annotations = signature(operator.function).attributes if operator is not None else {}
        annotation = annotations.get(name, ("", None))[0]
        if operator is not None and annotation.startswith("DType") and node.output_ports:
            yield [renamed_type(node.output_ports[-1].type.dtype or "") or "i64"]
        words = allowed_texts(text, annotation, operator) if operator is not None and annotation else []
        yield _nearest(text, words) or ([intended] if intended in words else [])
        others = (each.attributes.get(name) for each in self._of_type(node) if each is not node)
        yield from ([each] for each in dict.fromkeys(str(each.value) for each in others if each is not None))
        yield [each for each in words if text and each.startswith(text)]
        yield words
        if annotation.startswith("bool"):
            yield ["false", "true"]

    def _of_type(self, node: Node) -> Iterator[Node]:
        return (each for graph in graphs(self.known.model) for each in graph.nodes if each.op == node.op)

    def _corrected_attributes(self, node: Node) -> Stages:
        """Corrects one or two attributes of a constant or parameter, so that they fit its ports and its bytes."""
        unknown = [each for each in node.attributes if each not in STORED]
        lacking = [each for each in STORED if each not in node.attributes]
        for old, new in product(unknown if len(unknown) <= UNKNOWN else (), lacking):
            place = {"node": node.label, "index": node.index, "op": node.op, "layer": node.id or ""}
            yield [(Edit("rename", "attribute", "", name=old, value=new, **place),)]  # type: ignore[arg-type]
        yield self._as_users_declare(node)
        yield self._as_namesakes_store(node)
        yield self._exchanged_offsets(node)
        expected = self._expected_attributes(node)
        single = [(_set(node, name, value),) for name, value in expected.items()]
        yield single
        yield (
            (*one, *other)
            for at, one in enumerate(single)
            for other in single[at + 1 :]
            if node.op == self.known.format.constant_node
        )

    def _as_namesakes_store(self, node: Node) -> Iterator[tuple[Edit, ...]]:
        """Moves a constant to the bytes of another constant, which has its port's type, if similar layers use both. The
        names of similar layers differ only in numbers."""
        constant, port = self._constant(node), node.output_ports[0].type if node.output_ports else None
        if constant is None or port is None or constant.tensor.shape == port.shape:
            return
        uses = self._uses(node)
        namesakes = [each for each in self._of_type(node) if uses and each is not node and self._uses(each) == uses]
        lists = {each: stored.tensor for each in namesakes if (stored := self._constant(each)) is not None}
        wanted = constant.tensor.dtype, port.shape
        fitting = [each for each, given in lists.items() if given.value and (given.dtype, given.shape) == wanted]
        if len({lists[each].value for each in fitting}) == 1:
            texts = [(name, str(fitting[0].attributes[name].value)) for name in STORED]
            yield tuple(_set(node, name, text) for name, text in texts if str(node.attributes[name].value) != text)

    def _uses(self, node: Node) -> set[tuple[str, str, int]]:
        """(operation, name without numbers, port) of each user of a layer, except users with names like ``Add_3``."""
        uses = ((user, value) for value in node.outputs if value for user in self._users.get(value, ()))
        found = ((user.op, plain(user.name), user.inputs.index(value)) for user, value in uses)
        return {each for each in found if each[1].replace(each[0], "").strip("_/.")}

    def _exchanged_offsets(self, node: Node) -> Iterator[tuple[Edit, ...]]:
        """Exchanges the offsets of two constants, if no stored bytes overlap afterwards."""
        stored = {each: self._constant(each) for each in self._nodes if each.op == self.known.format.constant_node}
        spans = {
            each: (constant.stored.offset, constant.stored.size)
            for each, constant in stored.items()
            if constant is not None and constant.stored is not None and constant.stored.size is not None
        }
        if node not in spans or len(spans) > CONSTANTS:
            return
        offset, size = spans[node]
        for other, (start, length) in spans.items():
            after = {**spans, node: (start, size), other: (offset, length)}
            if length != size and not _overlap(after.values()):
                yield _set(node, "offset", str(start)), _set(other, "offset", str(offset))

    def _constants_before(self, node: Node) -> list[Node]:
        stored = (each for each in self._nodes if each.op == self.known.format.constant_node)
        return [each for each in stored if each.outputs and each.outputs[0] in node.inputs]

    def _as_users_declare(self, node: Node, *, transposed: bool = False) -> Iterator[tuple[Edit, ...]]:
        """Gives a constant the shape of its users' ports, if its bytes fit. ``transposed``: whether axes move."""
        from irlint.checks.const_attributes import declared_by_users

        constant, port = self._constant(node), node.output_ports[0].type if node.output_ports else None
        users = dict.fromkeys(each.shape for each in declared_by_users(node, self.known))
        shape = next(iter(users)) if len(users) == 1 else None
        sizes = tuple(each for each in shape or () if isinstance(each, int))
        if constant is None or port is None or shape is None or port.shape == shape or len(sizes) < len(shape):
            return
        from irlint.fixes.node_edits import permuted

        order = permuted(constant.tensor.shape or (), sizes)
        if bool(order) is not transposed:
            return
        dtype, value = constant.tensor.dtype, node.outputs[0] if node.outputs else None
        if value is None or constant.stored is None or byte_size(dtype or "", elements(sizes)) != constant.stored.size:
            return
        declared = Edit(
            "declaration",
            "node",
            "",
            node.label,
            node.index,
            value.name,
            layer=node.id or "",
            before=port.shape,
            called=f"output port {node.output_ports[0].id}",
            shape=sizes,
        )
        yield replaced(_set(node, "shape", ",".join(map(str, sizes))), order=order), declared

    def _constant(self, node: Node) -> Constant | None:
        values = [value for value in node.outputs if value is not None]
        found = (graph.constants.get(value) for graph in graphs(self.known.model) for value in values)
        return next((each for each in found if each is not None), None)

    def _expected_attributes(self, node: Node) -> dict[str, str]:
        """The texts that the output port and the stored bytes imply, by attribute. Attributes that fit are omitted."""
        port = node.output_ports[0].type if node.output_ports else Tensor(None, None)
        stated = {name: str(node.attributes[name].value) for name in STORED if name in node.attributes}
        found: dict[str, str] = {}
        if (name := renamed_type(port.dtype or "")) and name != stated.get("element_type"):
            found["element_type"] = name
        sizes = None if port.shape is None else ["?" if dim is None else str(dim) for dim in port.shape]
        if sizes is not None and sizes != [each.strip() for each in stated.get("shape", "").split(",")]:
            found["shape"] = ",".join(sizes)
        shape = [each for each in port.shape or () if isinstance(each, int)]
        if node.op != self.known.format.constant_node or sizes is None or len(shape) < len(sizes) or not port.dtype:
            return found
        from irlint.checks.sources import unused_offset

        needed = byte_size(port.dtype, elements(shape))
        if needed is not None and str(needed) != stated.get("size") and self._may_have_size(node, needed):
            found["size"] = str(needed)
        constant = self._constant(node)
        place = unused_offset(needed, constant, self.known) if needed and constant is not None else None
        if place is not None:
            found["offset"] = str(place)
        return found

    def _may_have_size(self, node: Node, size: int) -> bool:
        from irlint.checks.const_attributes import can_grow, declared_by_users

        constant = self._constant(node)
        stored = constant.stored if constant is not None else None
        if constant is None or stored is None or stored.size is None or size <= stored.size:
            return True
        shapes = {each.shape for each in declared_by_users(node, self.known)} - {constant.tensor.shape}
        return not shapes and can_grow(constant, size, self.known)


def _overlap(spans: Iterable[tuple[int, int]]) -> bool:
    """Whether two different spans (start, length) have a byte in common."""
    found = sorted(set(spans))
    return any(start + length > following for (start, length), (following, _) in pairwise(found))


def _set(node: Node, name: str, value: str) -> Edit:
    return Edit("attribute", "node", "", node.label, node.index, name, value, op=node.op, layer=node.id or "")


def _nearest(text: str, words: Sequence[str]) -> list[str]:
    """The words that are most similar to a text; [] if none is similar."""
    if not text or closest(text, words) is None:
        return []
    ratios = {word: SequenceMatcher(None, word, text).ratio() for word in words}
    return [word for word, ratio in ratios.items() if ratio == max(ratios.values())]


def _without_brackets(text: str) -> str:
    """The text as numbers, separated by commas."""
    for each in BRACKETS:
        text = text.replace(each, " ")
    return ",".join(text.replace(";", " ").replace(",", " ").split())
