"""Port maps, which connect the inputs and outputs of an IR layer with the Parameters and Results of its bodies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from irlint.dims import Dim, MaybeDim, Shape, bounds, floordiv
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted, first_few
from irlint.model import Graph, Node, Place, Value
from irlint.model.order import live
from irlint.model.tensor import UNKNOWN, Tensor, Type
from irlint.ops import Context
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.bodies import BODY_TYPES, DEEPEST_SEARCH, SCAN_LENGTH, nesting
from irlint.parsers.openvino.types import BackEdge, PortMapEntry, element_type, partial_shape
from irlint.records import record

Entries = Sequence[PortMapEntry]

#: The maximum number of Results that a message names.
SHOWN = 3


#: A document with a correct port map.
GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="3,2" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>3</dim><dim>2</dim></port></output></layer>
<layer id="1" name="t" type="TensorIterator" version="opset1"><input><port id="0"/></input><output>\
<port id="1" precision="FP32"><dim>3</dim><dim>2</dim></port></output>
<port_map><input external_port_id="0" internal_layer_id="0" axis="0"/>\
<output external_port_id="1" internal_layer_id="2" axis="0"/></port_map>
<body><layers>
<layer id="0" name="s" type="Parameter" version="opset1"><data shape="1,2" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="1" name="a" type="Relu" version="opset1"><input><port id="0"/></input><output>\
<port id="1" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="2" name="o" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></body></layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""

PORT_MAP_BROKEN = Rule(
    "IRL395",
    "port-map-broken",
    Severity.ERROR,
    "A port map omits a port or a layer, or refers to one that does not exist.",
    why=(
        "The port map connects each input of the layer to a Parameter of its body, and each output to a Result, by "
        'their ids. If an id is missing, OpenVINO refuses the model with "unordered_map::at" or '
        '"vector::_M_range_check".'
    ),
    fix="Correct the id in the message, or add the missing entry.",
    bad=GOOD.replace('internal_layer_id="0" axis', 'internal_layer_id="7" axis'),
    good=GOOD,
)


@record
class Ties:
    """The positions of a body's inputs and outputs, by the ids of its Parameters and Results."""

    #: The name of the body.
    name: str
    #: The position of each Parameter among the inputs.
    parameters: dict[str, int]
    #: The position of each Result among the outputs.
    results: dict[str, int]

    def parameter(self, entry: PortMapEntry, entries: Entries = ()) -> int:
        """The position of the Parameter that an entry of ``entries`` names. Raises a ``PORT_MAP_BROKEN`` fault."""
        return self._found(self.parameters, entry, entries, kind="Parameter")

    def result(self, entry: PortMapEntry, entries: Entries = ()) -> int:
        """The position of the Result that an entry of ``entries`` names. Raises a ``PORT_MAP_BROKEN`` fault."""
        return self._found(self.results, entry, entries, kind="Result")

    def _found(self, known: dict[str, int], entry: PortMapEntry, entries: Entries, *, kind: str) -> int:
        id = entry.internal_layer_id
        if id in known:
            return known[id]
        used = {other.internal_layer_id for other in entries if other.kind == entry.kind}
        unused = known.keys() - used if entries else ()
        return _position(known, id, kind, name=self.name, unused=unused, place=entry.place)


def _position(
    known: dict[str, int],
    id: str | None,
    kind: str,
    *,
    name: str,
    unused: Collection[str] = (),
    place: Place | None = None,
) -> int:
    """The position of the layer ``id``; ``unused`` are the ids of layers without an entry in the port map."""
    if id in known:
        return known[id]
    layers = f"has no {kind}"
    if known:
        layers = (
            f"has the {kind} layers {', '.join(known)}" if len(known) > 1 else f"has the {kind} {next(iter(known))}"
        )
    raise PORT_MAP_BROKEN.fault(
        f"the port map of `{name}` refers to layer {id}, which is not a {kind} of the body: the body {layers}",
        help=f'write internal_layer_id="{next(iter(unused))}", the only unused {kind} of the body'
        if len(unused) == 1
        else f'write the id of a {kind} of the body as "internal_layer_id"',
        place=place,
    )


def tied(body: Graph, name: str) -> Ties:
    """The ``Ties`` of a body whose attribute is called ``name``."""
    places = {value: position for position, value in enumerate(body.inputs)}
    parameters = {
        str(node.id): places[node.outputs[0]]
        for node in body.nodes
        if node.outputs and node.outputs[0] is not None and node.outputs[0] in places
    }
    results: dict[str, int] = {}
    for node in body.nodes:
        if node.op == "Result" and node.inputs and node.inputs[0] is not None and len(results) < len(body.outputs):
            results[str(node.id)] = len(results)
    return Ties(name, parameters, results)


def read_values(body: Graph) -> set[Value | None]:
    """The values that a body uses to compute its Results. OpenVINO drops Parameters with any other value."""
    return {value for node in live(body, ("Result",)) for value in node.inputs}


def ordered(entries: Entries, kind: str) -> tuple[PortMapEntry, ...]:
    """The first entry of each external port with an id of at least 0, in the order of the ids. ``kind`` is "input" or
    "output"."""
    found: dict[int, PortMapEntry] = {}
    for entry in entries:
        if entry.kind == kind and entry.external_port_id is not None and entry.external_port_id >= 0:
            found.setdefault(entry.external_port_id, entry)
    return tuple(found[id] for id in sorted(found))


def input_of(entry: PortMapEntry, inputs: Sequence[Tensor | None]) -> tuple[int, Tensor]:
    """(Index, type) of the input that an entry names. Raises a ``PORT_MAP_BROKEN`` fault."""
    index = entry.external_port_id
    if index is not None and index < len(inputs):
        return index, inputs[index] or UNKNOWN
    raise PORT_MAP_BROKEN.fault(
        f'the port map has an input with external_port_id="{index}"; the layer has {counted(len(inputs), "input")}',
        help=f"write an id of 0 to {len(inputs) - 1}" if inputs else "remove the entry",
        place=entry.place,
    )


def check_inputs_mapped(entries: Entries, first: int, count: int, *, body: Graph) -> None:
    """Checks that every input from ``first`` on has an entry. Raises a ``PORT_MAP_BROKEN`` fault."""
    mapped = {entry.external_port_id for entry in ordered(entries, "input")}
    missing = [index for index in range(first, count) if index not in mapped]
    if missing:
        connected = {entry.internal_layer_id for entry in entries if entry.kind == "input"}
        unused = [id for id in tied(body, "body").parameters if id not in connected]
        inner = f' and internal_layer_id="{unused[0]}", the only Parameter without an input' if len(unused) == 1 else ""
        raise PORT_MAP_BROKEN.fault(
            f"input {missing[0]} has no entry in the port map, and OpenVINO requires one for every input",
            help=f'add an <input> with external_port_id="{missing[0]}"{inner}',
            input=missing[0],
        )


def check_parameters_tied(body: Graph, entries: Entries, ties: Ties, *, used: Collection[Value | None]) -> None:
    """Reports a ``PORT_MAP_BROKEN`` warning for each Parameter that the body uses, but that has no input.

    OpenVINO runs the body with an undefined value of such a Parameter. ``used`` are the values that the body uses.
    """
    connected = {entry.internal_layer_id for entry in entries if entry.kind == "input"}
    with_input = [entry.internal_layer_id for entry in ordered(entries, "input")]
    doubled = [entry for entry in ordered(entries, "input") if with_input.count(entry.internal_layer_id) > 1]
    help = "correct an entry that uses another Parameter twice"
    if len(doubled) == 2 and len({entry.internal_layer_id for entry in doubled}) == 1:
        ports = " and ".join(f'external_port_id="{entry.external_port_id}"' for entry in doubled)
        help = f"write this id in one of the entries with {ports}: both use Parameter {doubled[0].internal_layer_id}"
    for id, position in ties.parameters.items():
        if id not in connected and body.inputs[position] in used:
            fault = PORT_MAP_BROKEN.fault(
                f"the port map of `{ties.name}` connects no input to Parameter {id}, which the body uses: its value "
                "is undefined",
                help=f'add an <input> with internal_layer_id="{id}", or {help}',
                place=doubled[-1].place if doubled else None,
            )
            warn(fault.lowered(Severity.WARNING))


def check_unchanged_once(body: Graph, entries: Entries, ties: Ties, *, merged: Mapping[int, int]) -> None:
    """Reports a ``PORT_MAP_BROKEN`` fault if a Loop connects two inputs to a Parameter that never changes.

    OpenVINO removes such a Parameter when it compiles the Loop, and fails at the second entry. ``merged`` is the result
    of ``merged_inputs``.
    """
    places = [(ties.parameter(entry, entries), entry) for entry in ordered(entries, "input")]
    seen: dict[int, PortMapEntry] = {}
    for place, entry in places:
        value, first = body.inputs[place], seen.setdefault(place, entry)
        unchanged = place not in merged or body.outputs[merged[place]] is value
        if first is not entry and value in body.outputs and unchanged:
            warn(
                PORT_MAP_BROKEN.fault(
                    f"the port map of `{ties.name}` ties inputs {first.external_port_id} and {entry.external_port_id} "
                    f"to Parameter {entry.internal_layer_id}, which the body returns unchanged: OpenVINO fails when it "
                    "compiles the Loop",
                    help="give each input its own Parameter",
                    input=entry.external_port_id,
                    place=entry.place,
                )
            )


def check_outputs_mapped(
    entries: Entries, count: int, name: str, *, branch: Graph | None = None, others: Entries = ()
) -> tuple[PortMapEntry, ...]:
    """The entries of a layer's ``count`` outputs. Raises a ``PORT_MAP_BROKEN`` fault if an output has no entry.

    ``branch`` is the body if each of its Results is one output of the layer; ``others`` are the entries of the other
    branch.
    """
    found = ordered(entries, "output")
    if len(found) < count:
        ports = [entry.external_port_id for entry in ordered(others, "output")]
        is_known = branch is not None and len(ports) == count
        fact, help = (
            _without_entry(entries, ports, name, branch=branch) if branch is not None and is_known else ("", "")
        )
        raise PORT_MAP_BROKEN.fault(
            f"the layer has {counted(count, 'output')} and the port map of `{name}` connects {len(found)}{fact}",
            help=help or "add an <output> for each output of the layer",
        )
    return found


def _without_entry(entries: Entries, ports: Sequence[int | None], name: str, *, branch: Graph) -> tuple[str, str]:
    """(fact, help) of the outputs of an If and the Results of its branch without an entry; empty texts without such a
    Result. ``ports`` are the ids of all outputs in port maps."""
    outputs = [entry for entry in entries if entry.kind == "output"]
    mapped = {entry.external_port_id for entry in outputs}
    connected = {entry.internal_layer_id for entry in outputs}
    missing = [port for port in ports if port not in mapped]
    unused = [id for id in tied(branch, name).results if id not in connected]
    if not missing or not unused:
        return "", ""
    names = {str(node.id): node.name for node in branch.nodes}
    results = first_few([f"{id} (`{names[id]}`)" for id in unused], SHOWN)
    kind = "Result" if len(unused) == 1 else "Results"
    fact = f"; no entry is for output {ports.index(missing[0])}, or for {kind} {results} of the body"
    where = name.replace("body", "port_map")
    if len(missing) == len(unused) == 1:
        entry = f'<output external_port_id="{missing[0]}" internal_layer_id="{unused[0]}"/>'
        return fact, f"add {entry} to {where}"
    return fact, f'add an <output> with external_port_id="{missing[0]}" and the id of its Result to {where}'


def check_each_once(places: Sequence[int], name: str) -> None:
    """Checks that the outputs of a branch come from different Results. Raises a ``PORT_MAP_BROKEN`` fault.

    ``places`` has the position of the Result of each output.
    """
    twice = next((place for at, place in enumerate(places) if place in places[:at]), None)
    if twice is not None:
        raise PORT_MAP_BROKEN.fault(
            f"the port map of `{name}` connects two outputs to the Result at position {twice}, but OpenVINO uses each "
            "Result for one output",
            help="give each output its own Result",
        )


def merged_inputs(entries: Entries, back_edges: Sequence[BackEdge], ties: Ties) -> dict[int, int]:
    """{Position of a Parameter: position of the Result of its first back edge} for Parameters with an unsliced input.

    Raises a ``PORT_MAP_BROKEN`` fault if a back edge comes from a layer that is not a Result.
    """
    merged: dict[int, int] = {}
    unsliced = {entry.internal_layer_id for entry in entries if entry.kind == "input" and entry.axis is None}
    for edge in back_edges:
        if edge.to_layer not in unsliced or edge.to_layer not in ties.parameters:
            continue
        target = ties.parameters[edge.to_layer]
        merged.setdefault(target, _position(ties.results, edge.from_layer, "Result", name=ties.name, place=edge.place))
    return merged


#: OpenVINO reads this number of iterations as an unknown number.
_UNKNOWN_NUMBER = 2**63 - 1


def iterations(size: MaybeDim, entry: PortMapEntry) -> MaybeDim:
    """The number of slices of an axis; None if it is unknown.

    Raises a ``PORT_MAP_BROKEN`` fault if ``part_size`` is 0 and the size is known.
    """
    if entry.part_size == 0 and not isinstance(size, int):
        return None
    if entry.part_size == 0:
        raise PORT_MAP_BROKEN.fault(
            "`part_size` is 0, so no number of slices covers the input, and OpenVINO divides by zero",
            help="write the size of one slice",
            place=entry.place,
        )
    if entry.part_size < 0:
        return 0
    start, end = (_from_front(place, size) for place in (entry.start, entry.end))
    if start is None or end is None:
        return None
    distance = end - start
    if isinstance(distance, int):
        count = (abs(distance) + 1) // entry.part_size
        return count if count < _UNKNOWN_NUMBER else None
    if entry.start >= 0 and entry.end < 0:
        return floordiv(distance + 1, entry.part_size)
    return floordiv(1 - distance, entry.part_size) if entry.start < 0 <= entry.end else None


def _from_front(place: int, size: MaybeDim) -> MaybeDim:
    return place if place >= 0 else None if size is None else size + place


def sliced(x: Tensor, entry: PortMapEntry, index: int, *, counted: bool = True) -> tuple[Tensor, MaybeDim]:
    """(Slice of an input in one iteration, number of slices). The number is None if it is unknown or not ``counted``.

    Raises an ``AXIS_OUT_OF_RANGE`` or ``PORT_MAP_BROKEN`` fault.
    """
    if x.shape is None:
        return Tensor(x.dtype), None
    axis = axis_of(entry.axis or 0, len(x.shape), "the axis of a port map", input=index)
    shape = (*x.shape[:axis], max(0, entry.part_size), *x.shape[axis + 1 :])
    return Tensor(x.dtype, shape), iterations(x.shape[axis], entry) if counted else None


def concatenated(x: Tensor, entry: PortMapEntry, size: MaybeDim) -> Tensor:
    """The slices of all iterations, concatenated to ``size`` elements. Raises an ``AXIS_OUT_OF_RANGE`` fault."""
    if x.shape is None:
        return Tensor(x.dtype)
    shape: Shape = x.shape or (1,)
    axis = axis_of(entry.axis or 0, len(shape), "the axis of an output in the port map", input=0)
    return Tensor(x.dtype, (*shape[:axis], size, *shape[axis + 1 :]))


def same_iterations(counts: Sequence[tuple[int, MaybeDim]]) -> MaybeDim:
    """The number of iterations: the last known number of slices, as in OpenVINO.

    ``counts`` has (index of an input, number of its slices). Reports a ``SCAN_LENGTH`` warning if the numbers differ.
    """
    result: MaybeDim = None
    for index, count in counts:
        if not agree(result, count, f"input {index} has as many slices as earlier inputs"):
            warn(_uneven(index, count, result))
        if count is not None and (isinstance(count, int) or not isinstance(result, int)):
            result = count
    return result


def _uneven(index: int, count: MaybeDim, other: MaybeDim) -> Fault:
    return SCAN_LENGTH.fault(
        f"input {index} has {count} slices and an earlier input has {other}; OpenVINO uses the last known number",
        help="make the sliced axes of the inputs equal",
        input=index,
        severity=Severity.WARNING,
    )


def check_as_declared(body: Graph, arguments: Sequence[Type | None], context: Context) -> None:
    """Infers a body with the declared types of its Parameters, if these may not allow the types ``arguments``.

    Reports the faults that the body then has.
    """
    if nesting(body) > DEEPEST_SEARCH:
        return
    given = dict(zip(body.inputs, arguments))
    for node in body.nodes:
        known = given.get(node.outputs[0]) if node.op == "Parameter" and node.outputs and node.outputs[0] else None
        if isinstance(known, Tensor) and not (
            _declared_type(node) in (None, known.dtype) and _covers(_declared_shape(node), known.shape)
        ):
            context.run(body, [None] * len(body.inputs))
            return


def with_declared_types(body: Graph, arguments: Sequence[Type | None]) -> list[Type | None]:
    """The inputs of a TensorIterator's body with the element types that its Parameters declare, as in OpenVINO.

    Reports a ``BODY_TYPES`` warning if an element type differs.
    """
    places = {value: position for position, value in enumerate(body.inputs)}
    result = list(arguments)
    for node in body.nodes:
        place = places.get(node.outputs[0]) if node.op == "Parameter" and node.outputs and node.outputs[0] else None
        known = None if place is None else result[place]
        declared = _declared_type(node)
        if place is None or not isinstance(known, Tensor) or None in (declared, known.dtype) or known.dtype == declared:
            continue
        result[place] = Tensor(declared, known.shape)
        warn(
            BODY_TYPES.fault(
                f"Parameter {node.id} of the body declares {declared} but receives {known.dtype}; OpenVINO continues "
                f"with {declared}",
                help=f"declare it as {known.dtype}, or convert the input of the layer",
                severity=Severity.WARNING,
            )
        )
    return result


def declared_parameters(body: Graph) -> dict[int, Tensor]:
    """The declared types of the Parameters of a body, by position."""
    places = {value: position for position, value in enumerate(body.inputs)}
    return {
        places[node.outputs[0]]: Tensor(_declared_type(node), _declared_shape(node))
        for node in body.nodes
        if node.op == "Parameter" and node.outputs and node.outputs[0] is not None and node.outputs[0] in places
    }


def _declared_type(node: Node) -> str | None:
    attribute = node.attributes.get("element_type")
    try:
        return None if attribute is None else element_type(attribute.value)
    except ValueError:
        return None


def _declared_shape(node: Node) -> Shape | None:
    attribute = node.attributes.get("shape")
    try:
        return partial_shape(attribute.value if attribute is not None else "", "size")
    except ValueError:
        return None


def _covers(declared: Shape | None, actual: Shape | None) -> bool:
    if declared is None or actual is None or len(actual) != len(declared):
        return declared is None
    return all(dim is None or (known is not None and _covers_size(dim, known)) for dim, known in zip(declared, actual))


def _covers_size(declared: Dim, actual: Dim) -> bool:
    (least, most), (low, high) = bounds(declared), bounds(actual)
    return (low or 0) >= (least or 0) and (most is None or (high is not None and high <= most))
