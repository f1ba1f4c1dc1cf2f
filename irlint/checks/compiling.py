"""Finds layers that OpenVINO reads but its CPU plugin does not compile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from irlint.binding.calls import Call
from irlint.findings.faults import Fault, Severity
from irlint.inference.answers import Unread
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.inference.recorded import place_of_fault
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, live
from irlint.model.tensor import INTEGERS, Tensor, Type, tensor_shape
from irlint.ops.shared.compiling import OF_OUTPUTS, Fact, Layer, known_shape, not_compiled
from irlint.ops.signatures import REQUIRED
from irlint.parsers.openvino.constants import INVALID_CONST
from irlint.parsers.openvino.types import stored_type
from irlint.parsers.weights import Weights
from irlint.records import record
from irlint.schemas.openvino_cpu import is_refused


def problems(known: Known) -> list[Problem]:
    """The problems of unusable constants, and of layers of the main graph that OpenVINO does not compile."""
    graph = known.model.graph
    assert graph is not None
    constants = [problem for each in graphs(known.model) for problem in _constants(known, each)]
    return constants + _refusals(known, graph)


def _refusals(known: Known, graph: Graph) -> list[Problem]:
    """A problem for each layer that the plugin does not compile."""
    sources = Sources(graph, known)
    constant = known.format.constant_node
    layers = [node for node in graph.nodes if node.op != constant]
    found = [(node, fault) for node in layers if (fault := _compile_fault(known, node, sources)) is not None]
    roots = {problem.node: problem for problem in reversed(known.problems)} if found else {}
    return [
        Problem(fault, graph.path, node, None, place_of_fault(node, fault), by_rule=True, because=roots.get(node))
        for node, fault in found
    ]


@record(frozen=False, eq=False)
class _Kind:
    """Facts about all layers with the same call and the same types. The numbers of their weights may differ."""

    #: (index, element type) of each input with a refused type.
    refused_types: list[tuple[int, str]]
    may_lack_rank: bool
    may_find_fault: bool
    #: Results with which the operation found no fault. The keys are names of facts; each entry of a value has, for each
    #: name, the indices for which the fact holds.
    sound_facts: dict[tuple[Fact, ...], set[tuple[frozenset[int], ...]]]


def _compile_fault(known: Known, node: Node, sources: Sources) -> Fault | None:
    """The fault for which the plugin does not compile a layer.

    Returns None if no result needs the layer, and if inference found a fault in it.
    """
    call = known.calls.get(node)
    if call is None or call.broken or call.operator is None or node in known.faulted:
        return None
    kind = sources.kind(node, call)
    if not (
        kind.may_find_fault or kind.refused_types or kind.may_lack_rank or (call.operator.compiles and sources.has_late)
    ):
        return None
    fault = (
        _operation_fault(known, call, node, kind, sources)
        or _element_type_fault(node, call, kind, sources)
        or _rank_fault(known, node, kind, sources)
    )
    return fault if fault is not None and node in sources.needed else None


def _element_type_fault(node: Node, call: Call, kind: _Kind, sources: Sources) -> Fault | None:
    for index, dtype in kind.refused_types:
        value = node.inputs[index]
        is_affected = value in sources.inputs if dtype == "dynamic" else sources.is_varying(value)
        if is_affected:
            moves_data = call.operator is not None and call.operator.moves_data
            return not_compiled(
                f"input {index} is {dtype}, and the CPU plugin has no {call.op} of this type",
                help=f"convert input {index} to a type that it has, such as f32",
                input=index,
                forbidden=dtype == "dynamic" or (dtype in ("bool", "string") and not moves_data),
            )
    return None


def _operation_fault(known: Known, call: Call, node: Node, kind: _Kind, sources: Sources) -> Fault | None:
    """The fault that the operation finds in its layer.

    If a layer has no fault, later layers of its kind with the same facts are not examined. The exception is an
    operation that reads numbers of weights.
    """
    if call.operator is None or call.operator.compiles is None or not kind.may_find_fault:
        return None
    facts: dict[Fact, frozenset[int]] = {}

    def indices(fact: Fact) -> frozenset[int]:
        if fact not in facts:
            facts[fact] = sources.indices(node, fact)
        return facts[fact]

    if any(tuple(map(indices, names)) in found for names, found in kind.sound_facts.items()):
        return None
    given = tuple([Unread(each) if type(each) is Weights else each for each in known.types_of(node.inputs)])
    fault = call.operator.compiles(Layer(given, tuple(known.types_of(node.outputs)), _arguments(call), indices))
    if fault is not None or any(type(each) is Unread and each.read for each in given):
        return fault
    if not facts:
        kind.may_find_fault = False
    else:
        kind.sound_facts.setdefault(tuple(facts), set()).add(tuple(facts.values()))
    return fault


def _refused_types(call: Call, inputs: Sequence[Type | None]) -> list[tuple[int, str]]:
    """(index, element type) of each input whose type the plugin refuses if the input is varying (see ``Sources``)."""
    typed = [(index, each.dtype or "dynamic") for index, each in enumerate(inputs) if isinstance(each, Tensor)]
    refused = [each for each in typed if is_refused(call.op, call.version, *each, sized=True)]
    if not refused or all(each is None or known_shape(each) is not None for each in inputs):
        return refused
    return [each for each in refused if is_refused(call.op, call.version, *each, sized=False)]


def _arguments(call: Call) -> dict[str, object]:
    """The attributes and defaults by name; each group of attributes is a record."""
    if call.signature is None:
        return {}
    written = call.attributes or {}
    defaults = {name: default for name, (_, default) in call.signature.attributes.items() if default is not REQUIRED}
    return {**defaults, **written, **call.signature.bound(written)}


# --- constants --------------------------------------------------------------------------------------------------------


def _constants(known: Known, graph: Graph) -> Iterator[Problem]:
    yield from _untyped_constants(known, graph)
    yield from _empty_constants(known, graph)


def _empty_constants(known: Known, graph: Graph) -> Iterator[Problem]:
    """The problems of constants without elements whose weights file is empty, if a layer reads the constant at load."""
    stored = [(value, constant.stored) for value, constant in graph.constants.items() if constant.stored is not None]
    empty = {value: each.file for value, each in stored if (each.size, each.offset, each.available) == (0, 0, 0)}
    if not empty:
        return
    alive, constants = live(graph, known.format.keeps_alive), {None, *graph.constants}
    for node in graph.nodes:
        operator = known.operator(node)
        if operator is None or node not in alive:
            continue
        for index in operator.read_at_load:
            value = node.inputs[index] if index < len(node.inputs) else None
            if value not in empty or constants.issuperset(node.inputs[:index]):
                continue
            fault = INVALID_CONST.fault(
                f"input {index} is a constant without elements, and {empty[value]} has no bytes: OpenVINO requires "
                "a position inside the file even for such a constant, and refuses the layer",
                help=f"write at least one byte into {empty[value]}",
                input=index,
            )
            yield Problem(fault, graph.path, node, place=place_of_fault(node, fault))


def _untyped_constants(known: Known, graph: Graph) -> Iterator[Problem]:
    """The problems of constants with a dynamic element type; warnings if no needed layer uses them."""
    untyped = [value for value, constant in graph.constants.items() if constant.tensor.dtype is None]
    if not untyped:
        return
    sources = Sources(graph, known)
    for value in untyped:
        node = sources.producers.get(value)
        attribute = None if node is None else node.attributes.get("element_type")
        if node is None or attribute is None or not _is_undetermined_type(attribute.value):
            continue
        is_needed = any(value in each.inputs and each in sources.needed for each in graph.nodes)
        fault = INVALID_CONST.fault(
            f'{node.label} has the element type "{attribute.value}", which no data can have',
            help="write the element type of its bytes",
            attribute="element_type",
            severity=Severity.ERROR if is_needed else Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, place=node.located(attribute.place))


def _is_undetermined_type(text: object) -> bool:
    try:
        return stored_type(str(text)) is None
    except ValueError:
        return False


# --- ranks ------------------------------------------------------------------------------------------------------------


def _may_lack_rank(known: Known, node: Node, inputs: Sequence[Type | None], outputs: Sequence[Type | None]) -> bool:
    """Whether the rank of a result may depend on unknown values of an input."""
    if not node.inputs or node.op == known.format.output_node:
        return False
    given = [each for each, value in zip(inputs, node.inputs) if value is not None]
    if None in map(tensor_shape, given):
        return False
    if any(map(_lacks_rank, outputs)):
        return True
    return any(isinstance(each, Tensor) and each.dtype in INTEGERS and each.value is None for each in given)


def _lacks_rank(type: Type | None) -> bool:
    return isinstance(type, Tensor) and type.shape is None


def _rank_fault(known: Known, node: Node, kind: _Kind, sources: Sources) -> Fault | None:
    late = sources.late_inputs(node)
    if not (late or kind.may_lack_rank):
        return None
    model_inputs = [index for index, value in enumerate(node.inputs) if value in sources.inputs]
    if not (late or model_inputs) or not _lacks_rank_without(late, model_inputs, node, known):
        return None
    last = (late or model_inputs)[-1]
    origin = "is computed when the model runs" if late else "is an input of the model"
    return not_compiled(
        f"the rank of the result depends on the value of input {last}, which {origin}",
        help=f"make input {last} a constant, or declare its size if that determines the rank",
        input=last,
    )


def _lacks_rank_without(late: Collection[int], model_inputs: Collection[int], node: Node, known: Known) -> bool:
    """Whether the rank of a result is unknown without the values of the ``late`` inputs.

    Returns False if any other input has unknown values. Input 0 and the inputs of the model are not considered.
    """
    given = known.types_of(node.inputs)
    for index, each in enumerate(given[1:], 1):
        if index in model_inputs:
            continue
        if isinstance(each, Tensor) and index in late:
            given[index] = Tensor(each.dtype, each.shape)
        elif not isinstance(each, Tensor) or each.value is None:
            return False
    answer = asked_again(known, node, given)
    return answer is not None and not answer.faults and any(map(_lacks_rank, answer.outputs or ()))


# --- where values come from -------------------------------------------------------------------------------------------


#: (fixed, varying, late), see ``Sources``; all are False if the origin is unknown.
Origin = tuple[bool, bool, bool]
UNKNOWN_ORIGIN: Origin = (False, False, False)


class Sources:
    """The origins of the values of a graph, and the layers whose values its results need.

    - Fixed: a value is computed only from constants, when OpenVINO compiles the model.
    - Varying: a value is computed when the model runs.
    - Late: a value is varying although it depends only on constants.
    """

    def __init__(self, graph: Graph, known: Known) -> None:
        self.known = known
        self.graph = graph
        self.constants = set(graph.constants)
        self.kinds: dict[tuple[int | None, ...], _Kind] = {}
        self.origins: dict[Value, Origin] = {}
        self.output_origins: dict[tuple[object, ...], Origin] = {}

    @cached_property
    def producers(self) -> Mapping[Value, Node]:
        """The layer that computes each value."""
        return self.known.makers(self.graph)

    @cached_property
    def users(self) -> Counter[Value | None]:
        """The number of uses of each value."""
        return Counter([value for node in self.graph.nodes for value in node.inputs])

    @cached_property
    def inputs(self) -> set[Value]:
        """The inputs of the model."""
        given = [node for node in self.graph.nodes if node.op == self.known.format.input_node]
        return {value for node in given for value in node.outputs if value is not None}

    @cached_property
    def results(self) -> set[Value | None]:
        """The values that are outputs of the model."""
        return {value for node in self.graph.nodes if node.op == self.known.format.output_node for value in node.inputs}

    @cached_property
    def used(self) -> set[Value]:
        """The inputs of the needed layers."""
        return {value for node in self.needed for value in node.inputs if value is not None}

    @cached_property
    def has_late(self) -> bool:
        """Whether any value of the graph is late."""
        calls = self.known.calls.items()
        not_folded = [node for node, call in calls if call.operator is not None and call.operator.kept]
        return any(self.is_late(value) for node in not_folded for value in node.outputs)

    @cached_property
    def needed(self) -> set[Node]:
        """The Results, Assigns and Parameters, and all layers whose values these need. A layer is not needed if only
        its shape is."""
        form = self.known.format
        waiting = [node for node in self.graph.nodes if node.op in form.keeps_alive]
        found = set(waiting)
        while waiting:
            node = waiting.pop()
            if self._depends_only_on_shapes(node):
                continue
            for value in node.inputs:
                producer = self.producers.get(value) if value is not None else None
                if producer is not None and producer not in found:
                    found.add(producer)
                    waiting.append(producer)
        return found

    def _depends_only_on_shapes(self, node: Node) -> bool:
        operator = self.known.operator(node)
        return operator is not None and operator.of_shape

    def _is_never_folded(self, node: Node) -> bool:
        operator = self.known.operator(node)
        return operator is not None and operator.kept

    def kind(self, node: Node, call: Call) -> _Kind:
        """The facts about all layers that have the same call and types as ``node``."""
        # ``known`` keeps calls and types alive, so an id belongs to one object only.
        type_of: Callable[[Value | None], Type | None] = self.known.types.get  # type: ignore[assignment]
        forms = [id(x.form if type(x) is Weights else x) for x in map(type_of, node.inputs)]
        key = (id(call), *forms, None, *map(id, map(type_of, node.outputs)))
        found = self.kinds.get(key)
        if found is None:
            inputs, outputs = self.known.types_of(node.inputs), self.known.types_of(node.outputs)
            found = self.kinds[key] = _Kind(
                refused_types=_refused_types(call, inputs),
                may_lack_rank=_may_lack_rank(self.known, node, inputs, outputs),
                may_find_fault=call.operator is not None and call.operator.compiles is not None,
                sound_facts={},
            )
        return found

    def indices(self, node: Node, fact: Fact) -> frozenset[int]:
        """The inputs or outputs of a layer for which a fact holds."""
        values = node.outputs if fact in OF_OUTPUTS else node.inputs
        return frozenset([at for at, value in enumerate(values) if value is not None and self._holds(fact, value)])

    def _holds(self, fact: Fact, value: Value) -> bool:
        match fact:
            case "fixed":
                fixed, _, _ = self._origin(value)
                return fixed
            case "varying":
                return self.is_varying(value)
            case "direct":
                return value in self.inputs
            case "stored":
                return value in self.constants
            case "shared":
                return self.users[value] > 1
            case "used":
                return value in self.used
        return value in self.results

    def is_varying(self, value: Value | None) -> bool:
        """Whether a value is computed when the model runs."""
        if value is None:
            return False
        _, varying, _ = self._origin(value)
        return varying

    def is_late(self, value: Value | None) -> bool:
        """Whether a value depends only on constants but is computed when the model runs, not when it is compiled."""
        if value is None:
            return False
        _, _, late = self._origin(value)
        return late

    def late_inputs(self, node: Node) -> list[int]:
        """The indices of the late inputs of a layer, except for index 0."""
        if not self.has_late:
            return []
        return [index for index, value in enumerate(node.inputs) if index and self.is_late(value)]

    def _cached_origin_of_outputs(self, node: Node, inputs: list[Origin]) -> Origin:
        key = (id(self.known.calls.get(node)), *inputs)
        found = self.output_origins.get(key)
        if found is None:
            found = self.output_origins[key] = self._origin_of_outputs(node, inputs)
        return found

    def _origin_of_outputs(self, node: Node, inputs: list[Origin]) -> Origin:
        fixed, varying, constant = True, False, True
        for is_fixed, is_varying, is_late in inputs:
            fixed, varying = fixed and is_fixed, varying or is_varying
            constant = constant and (is_fixed or is_late)
        late = constant and (not fixed or self._is_never_folded(node))
        return fixed and not late, varying or late, late

    def _origin(self, value: Value) -> Origin:
        """The origin of a value. On a cycle, inputs whose origin is not known yet count as unknown."""
        # An input in ``met`` without an origin is on a cycle.
        waiting, met = [value], set[Value]()
        while waiting:
            last = waiting[-1]
            node = self.producers.get(last)
            if last in self.origins:
                waiting.pop()
            elif last in self.constants or node is None or last in self.inputs:
                self.origins[last] = (last in self.constants, last in self.inputs, False)
            elif self._depends_only_on_shapes(node) or not node.inputs or any(node.bodies):
                self.origins[last] = UNKNOWN_ORIGIN
            else:
                used = [each for each in node.inputs if each is not None]
                met.add(last)
                unseen = [each for each in used if each not in self.origins and each not in met]
                if unseen:
                    waiting += unseen
                    continue
                self.origins[last] = self._cached_origin_of_outputs(
                    node, [self.origins.get(each, UNKNOWN_ORIGIN) for each in used]
                )
        return self.origins[value]
