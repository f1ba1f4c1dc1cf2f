"""Corrections for wrong edges of an IR, by declared types of ports, unused values, and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations, islice, product

from irlint.binding.calls import INPUT_COUNT
from irlint.checks.intended import plain
from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule
from irlint.fixes.document import MISLED, PORTS, ROOT, Edits, Input, Stages, Wire, Wires, number
from irlint.fixes.new_layers import CONVERT, LISTED
from irlint.fixes.node_edits import layer_called
from irlint.fixes.other_outputs import is_usual, other_outputs
from irlint.fixes.outline import Outline
from irlint.inference.contradictions import contradicts, differ
from irlint.inference.known import Known
from irlint.model import Graph, Node, Port, Problem, Value
from irlint.model.order import downstream, used_values
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.parsers.openvino.edge_rules import DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_LAYER_ID, UNCONNECTED_PORT
from irlint.parsers.openvino.layers import INVALID_PORT, MISSING_ATTRIBUTE
from irlint.parsers.openvino.types import renamed_type

#: The rules about edges, and about the consequences of missing edges.
OF_EDGES: frozenset[Rule] = frozenset(
    (DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_LAYER_ID, UNCONNECTED_PORT, INVALID_PORT, MISSING_ATTRIBUTE, INPUT_COUNT)
)

#: If more layers, ids or edges are affected, no correction is searched.
FEW = 6

#: The names of inputs that are lists of integers, by operation.
LISTS = {"Transpose": "order", "Unsqueeze": "axes", "Squeeze": "axes", "Reshape": "pattern"}

#: The operation between a computed scalar and a list with one entry, by the shapes before and after it.
SCALARS: Mapping[tuple[Shape | None, Shape | None], str] = {((), (1,)): "Unsqueeze", ((1,), ()): "Squeeze"}

#: At most this many combinations of corrections are tried for several edges.
COMBINATIONS = 4_096

#: The similarity (``difflib`` ratio) of the names of inputs that belong together.
SIMILAR = 0.6

#: If at most this many ids have no layer, they are taken for the ids of removed layers.
GAPS = 2


class Wiring:
    """The edges of the main graph of a model."""

    def __init__(self, known: Known, graph: Graph, outline: Outline | None = None) -> None:
        self.known = known
        self.graph = graph
        self.wires = Wires(graph, ROOT)
        self._found_dependents: dict[Node, Set[Node]] = {}
        if outline is not None:
            self.wires.read(outline)

    def stages(self, problem: Problem) -> Stages:
        """Groups of edits that may fix a problem, the likely groups first."""
        if problem.fault.rule in OF_EDGES:
            yield from self._ids()
            yield self._ids_of_ports()
            yield from self._edges()
        elif problem.fault.rule.family in MISLED and problem.is_error:
            yield from self._from_wrong_layers()

    # --- ids ----------------------------------------------------------------------------------------------------------

    def _ids(self) -> Stages:
        """Gives layers without an id of their own the ids that only edges name, neighboring ids first."""
        nodes = self.graph.nodes
        ids = [number(node.id or "") for node in nodes]
        named = {id for wire in self.wires.every for id in (wire.ids[0], wire.ids[2]) if id is not None}
        lacking = [at for at, node in enumerate(nodes) if self.wires.own_id(node) is None]
        missing = sorted(named.difference(ids))
        if len(missing) > FEW or len(lacking) > FEW:
            return
        found = [(at, id) for at, id in product(lacking, missing)]
        between = [(at, id) for at, id in found if id - 1 in ids[at - 1 : at] or id + 1 in ids[at + 1 : at + 2]]
        for several in (between, found):
            yield [(_edit(nodes[at], "attribute", "layer", name="id", value=str(id)),) for at, id in several]

    def _ids_of_ports(self) -> Iterator[Edits]:
        """Gives input ports that share an id the ids that only edges name."""
        nodes = {self.wires.own_id(node): node for node in self.graph.nodes}
        for layer, port in dict.fromkeys(wire.target for wire in self.wires.broken[:FEW]):
            for node in (nodes[layer],) if port is not None and layer in nodes else ():
                ids = [each.id for each in node.input_ports]
                if port in ids:
                    continue
                for at, id in enumerate(ids):
                    if ids.count(id) > 1:
                        yield (_edit(node, "attribute", "port", name="id", value=str(port), input=at, before=id),)

    # --- edges --------------------------------------------------------------------------------------------------------

    def _edges(self) -> Stages:
        """Corrects edges that begin or end nowhere, several edges into one port, and missing edges."""
        broken, doubled = self.wires.broken, list(self.wires.doubled)
        if len(broken) <= FEW:
            alone = [list(self._corrected(each)) for each in broken]
            yield self._using_all_layers(self._combined(alone))
            yield (edits for each in alone for edits in each)
            yield self._ports(broken)
        for target, several in doubled[:FEW]:
            yield self._using_all_layers(self._separated(target, several))
            yield ((self._connected(value, target),) for value in self._values(several))
        if not broken and not doubled and not self.is_layer_missing:
            for target in self.wires.unconnected[:FEW]:
                yield self._using_all_layers(self._as_at_namesakes(target))
                yield self._using_all_layers(self.connecting(target, self.unused))
            for target in self.wires.unconnected[:FEW]:
                yield self._using_all_layers(
                    self.connecting(target, [value for _, _, value in self.wires.makers.values()])
                )

    def _combined(self, several: Sequence[Sequence[Edits]]) -> Iterator[Edits]:
        for each in product(*several) if 0 < len(several) <= 3 else ():
            edits = tuple(dict.fromkeys(edit for edits in each for edit in edits))
            if len({(edit.index, edit.input) for edit in edits}) == len(edits):
                yield edits

    def _corrected(self, wire: Wire) -> Iterator[Edits]:
        """Leads a broken edge to an input without an edge, or lets the edge start at a fitting value."""
        value, target = self.wires.value(wire), self.wires.target(wire)
        if value is not None:
            for each in self._near(wire, self.wires.unconnected):
                if _has_type(value.type, self._port(each).type):
                    yield (self._connected(value, each),)
        elif target is not None:
            named = [each for end, each in self.wires.outputs.items() if end[0] == wire.ids[0]]
            for other in dict.fromkeys((*named, *self.unused)):
                if other in named or self._fits(other, target):
                    yield (self._connected(other, target),)

    def _near(self, wire: Wire, inputs: Sequence[Input]) -> list[Input]:
        """The inputs of the layer that the edge names; all inputs if there is no such layer."""
        own = [each for each in inputs if self.wires.own_id(each[0]) == wire.ids[2]]
        return own or list(inputs)

    def _separated(self, target: Input, several: Sequence[Wire]) -> Iterator[Edits]:
        """Separates edges into one port: one of them moves to an input without an edge, or is removed."""
        values = self._values(several)
        for value in values:
            kept = self._connected(value, target)
            for other in (each for each in values if each is not value):
                for empty in self.wires.unconnected[:FEW]:
                    if _has_type(other.type, self._port(empty).type):
                        yield kept, self._connected(other, empty)
            if not self.wires.unconnected:
                yield (kept,)

    def _values(self, several: Sequence[Wire]) -> list[Value]:
        return [each for each in dict.fromkeys(map(self.wires.value, several)) if each is not None]

    def connecting(self, target: Input, values: Iterable[Value]) -> Iterator[Edits]:
        """The edits that connect a value to the input ``target``, for each of ``values`` that fits this input."""
        return ((self._connected(each, target),) for each in values if self._fits(each, target))

    def _as_at_namesakes(self, target: Input) -> Iterator[Edits]:
        """Connects the last fitting value of the kind that all similar layers have at this input; each of the values if
        their names have only operations and numbers. Layers are similar if they have one operation, and their names
        differ only in numbers."""
        node, at = target
        others = [each for each in self.graph.nodes if each is not node and node.name and _kind(each) == _kind(node)]
        given = [each.inputs[at] for each in others if at < len(each.inputs)]
        kinds = {_kind(self.wires.makers[value.name][0]) for value in given if value is not None}
        if len(kinds) == 1:
            values = [value for maker, _, value in self.wires.makers.values() if _kind(maker) in kinds]
            found = list(self.connecting(target, values))
            yield from found if any(map(_is_generic, kinds)) else found[-1:]

    def _ports(self, broken: Sequence[Wire]) -> Iterator[Edits]:
        """Adds the ports that edges name and layers lack."""
        nodes = {self.wires.own_id(node): node for node in self.graph.nodes}
        edits: dict[tuple[object, ...], Edit] = {}
        for wire in broken:
            value, target = self.wires.value(wire), self.wires.target(wire)
            if value is None and target is not None and wire.ids[1] is not None and wire.ids[0] in nodes:
                node, port = nodes[wire.ids[0]], self._port(target)
                edits[node, "output", wire.ids[1]] = self._inserted(node, None, wire.ids[1], port.type)
            elif target is None and value is not None and wire.ids[3] is not None and wire.ids[2] in nodes:
                node, id = nodes[wire.ids[2]], wire.ids[3]
                at = sum(each.id < id for each in node.input_ports)
                type = value.type if isinstance(value.type, Tensor) else Tensor(None, None)
                edits[node, "input", id] = self._inserted(node, at, id, type)
        if edits:
            yield tuple(edits.values())

    def _inserted(self, node: Node, at: int | None, id: int, type: Tensor) -> Edit:
        dtype = type.dtype or ("float32" if at is None else "")
        shape = tuple(dim if isinstance(dim, int) else None for dim in type.shape or ())
        return _edit(node, "insert", "port", value=str(id), input=at, shape=shape, dtype=dtype)

    # --- edges from the wrong layer -----------------------------------------------------------------------------------

    def _from_wrong_layers(self) -> Stages:
        """Corrects edges into ports that declare another type than the value has."""
        mismatched = self.mismatched
        if not 0 < len(mismatched) <= PORTS:
            return
        yield self._using_all_layers(self.exchanged(mismatched))
        yield self._from_other_outputs(mismatched if not self._unused_layers else ())
        for target, _ in mismatched:
            yield self._using_all_layers(self.connecting(target, self.unused))
        yield self._declared_as_similar_input(mismatched)
        yield from self._with_inserted_layer(mismatched)
        if not self.unused:
            for target, value in mismatched:
                if not self._is_own_constant(value):
                    yield self.connecting(target, [each for _, _, each in self.wires.makers.values()])

    def _from_other_outputs(self, mismatched: Sequence[tuple[Input, Value]]) -> Iterator[Edits]:
        """Connects another output of the same layer in place of a value, at all ports that this output fits.

        A Convert is an alternative, unless the value keeps a user, is a float, or no similar layer has users of it.
        """
        for value in dict.fromkeys(value for _, value in mismatched):
            maker = self.wires.makers[value.name][0]
            for other in other_outputs(value, maker, self.known.types):
                fitting = [target for target, each in mismatched if each is value and self._fits(other, target)]
                if not fitting:
                    continue
                yield tuple(self._connected(other, each) for each in fitting)
                given, dtype = self.known.types.get(value), self._port(fitting[0]).type.dtype or ""
                is_integer = isinstance(given, Tensor) and given.dtype in INTEGERS
                kept = self._uses[value.name] > len(fitting)
                if is_integer and not kept and not is_usual(other, value, maker, self.graph):
                    yield self._before(fitting, CONVERT, "destination_type", renamed_type(dtype))

    def _is_own_constant(self, value: Value) -> bool:
        """Whether a value is a constant with one user. Then its edge is right, and its shape or values are wrong."""
        return value in self.graph.constants and self._uses[value.name] == 1

    def _declared_as_similar_input(self, mismatched: Sequence[tuple[Input, Value]]) -> Iterator[Edits]:
        """Declares an input of the model as its port does, if an input with a similar name has this type."""
        model_inputs = [node for node in self.graph.nodes if node.op == self.known.format.input_node]
        makers = {value: node for node in model_inputs for value in node.outputs}
        for target, value in mismatched:
            declared, node = self._port(target).type, makers.get(value)
            if node is None or not isinstance(value.type, Tensor):
                continue
            for other, sibling in makers.items():
                if other is not None and sibling is not node and other.type == declared and _are_similar(sibling, node):
                    dtype = (declared.dtype or "") if declared.dtype != value.type.dtype else ""
                    shape = declared.shape if declared.shape != value.type.shape else None
                    rest = {"name": value.name, "dtype": dtype, "shape": shape, "before": value.type.shape}
                    yield (_edit(node, "declaration", "node", called=f'input "{node.name}"', **rest),)
                    break

    def _with_inserted_layer(self, mismatched: Sequence[tuple[Input, Value]]) -> Stages:
        """Inserts a Convert, or an operation that takes an unused constant, before all ports of one type."""
        from irlint.checks.const_attributes import is_mismeasured

        for value in dict.fromkeys(value for _, value in mismatched):
            given = self.known.types.get(value)
            targets = [target for target, each in mismatched if each is value]
            port = self._port(targets[0])
            same_type = [each for each in targets if self._port(each).type == port.type]
            if not isinstance(given, Tensor):
                continue
            constant = self.graph.constants.get(value)
            if constant is not None and is_mismeasured(constant):
                continue
            if port.type.dtype not in (None, given.dtype):
                yield [self._before(same_type, CONVERT, "destination_type", renamed_type(port.type.dtype or ""))]
                continue
            op = SCALARS.get((given.shape, port.type.shape)) if constant is None else None
            if op is not None:
                yield [self._before(same_type, op, LISTS[op], (0,))]
            lists = [known.value for each in self.unused if (known := self._known_list(each)) is not None]
            yield (self._before(same_type, op, LISTS[op], entries) for entries in lists for op in LISTED)

    def _known_list(self, value: Value) -> Tensor | None:
        known = self.known.types.get(value)
        if not isinstance(known, Tensor) or value not in self.graph.constants:
            return None
        return known if known.dtype in INTEGERS and known.value is not None else None

    def _before(self, targets: Sequence[Input], op: str, name: str, value: object) -> Edits:
        return tuple(_edit(node, "insert", "node", name=op, value=((name, value),), input=at) for node, at in targets)

    def exchanged(self, mismatched: Sequence[tuple[Input, Value]]) -> Iterator[Edits]:
        """Swaps the values of two ports, if each value fits the other port."""
        for (one, first), (other, second) in combinations(mismatched, 2):
            if first is not second and self._fits(second, one) and self._fits(first, other):
                yield self._connected(second, one), self._connected(first, other)

    @cached_property
    def mismatched(self) -> list[tuple[Input, Value]]:
        """The inputs with another type than their ports declare, and their values."""
        found: list[tuple[Input, Value]] = []
        for node in self.graph.nodes:
            for at, (port, value) in enumerate(zip(node.input_ports, node.inputs)):
                if value is None or value.type == port.type or self.wires.own_id(node) is None:
                    continue
                given = self.known.types.get(value)
                if differ(given, port.type, self.known.format) and not contradicts(given, value):
                    found.append(((node, at), value))
        return found

    # --- values -------------------------------------------------------------------------------------------------------

    @cached_property
    def unused(self) -> list[Value]:
        """The outputs of all layers without any used output."""
        used = used_values(self.graph)
        nodes = (node for node in self.graph.nodes if not any(value in used for value in node.outputs))
        return [value for node in nodes for value in node.outputs if value is not None]

    @cached_property
    def is_layer_missing(self) -> bool:
        """Whether at most ``GAPS`` ids of layers are missing, so that a layer was probably removed."""
        ids = {each for node in self.graph.nodes if (each := number(node.id or "")) is not None}
        return bool(ids) and 0 < max(ids) + 1 - len(ids) <= GAPS

    def _using_all_layers(self, several: Iterable[Edits]) -> Iterator[Edits]:
        return filter(self._uses_all_layers, islice(several, COMBINATIONS))

    def _uses_all_layers(self, edits: Edits) -> bool:
        """Whether each layer with outputs has a user after edits."""
        names = {edit.value for edit in edits if edit.kind == "input"}
        if len(self._unused_layers) > len(names):
            return False
        replaced: list[Value] = []
        for edit in edits:
            node = self.wires.nodes.get(edit.index or 0)
            given = node.inputs if node is not None and edit.input is not None else ()
            replaced += [value for value in given[edit.input or 0 :][:1] if value is not None]
        lost = Counter(value.name for value in replaced)
        changed = [self.wires.makers[name][0] for name in lost if name in self.wires.makers]
        return all(
            any(value and (value.name in names or self._uses[value.name] > lost[value.name]) for value in node.outputs)
            for node in (*self._unused_layers, *changed)
        )

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter(value.name for node in self.graph.nodes for value in node.inputs if value is not None)

    @cached_property
    def _unused_layers(self) -> list[Node]:
        uses = self._uses
        return [
            node
            for node in self.graph.nodes
            if node.outputs and not any(value and uses[value.name] for value in node.outputs)
        ]

    def _port(self, input: Input) -> Port:
        node, at = input
        return node.input_ports[at]

    def _dependents(self, node: Node) -> Set[Node]:
        if node not in self._found_dependents:
            self._found_dependents[node] = downstream(node, self.graph)
        return self._found_dependents[node]

    def _fits(self, value: Value, target: Input) -> bool:
        """Whether a value has the type that a port declares, and does not depend on the port's layer."""
        maker = self.wires.makers[value.name][0]
        if not _has_type(value.type, self._port(target).type) or maker is target[0]:
            return False
        return not maker.inputs or maker not in self._dependents(target[0])

    def _connected(self, value: Value, target: Input) -> Edit:
        (maker, port, _), (node, at) = self.wires.makers[value.name], target
        return _edit(node, "input", "node", value=value.name, input=at, called=layer_called(maker, port))


def _kind(node: Node) -> tuple[str, str]:
    return node.op, plain(node.name)


def _is_generic(kind: tuple[str, str]) -> bool:
    """Whether the names of layers of a kind, such as ``Gather_12``, have only the operation and numbers."""
    op, name = kind
    return not name.replace(op, "").strip("_/.")


def _are_similar(one: Node, other: Node) -> bool:
    """Whether two layers have similar names, such as ``past.0.k`` and ``past.1.v``."""
    return bool(one.name) and SequenceMatcher(None, one.name, other.name).ratio() >= SIMILAR


def _has_type(given: Type | None, declared: Tensor) -> bool:
    """Whether a value has the declared shape, and no other element type than declared."""
    if not isinstance(given, Tensor):
        return False
    return given.shape == declared.shape and (None in (given.dtype, declared.dtype) or given.dtype == declared.dtype)


def _edit(node: Node, kind: str, of: str, **rest: object) -> Edit:
    return Edit(kind, of, "", node.label, node.index, op=node.op, layer=node.id or "", **rest)  # type: ignore[arg-type]
