"""Writes helps for input ports of an IR that have no source or are missing, and finds bytes of weights files that no
Const uses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from irlint.binding import Binder
from irlint.dims import Shape, elements
from irlint.findings.faults import Rule
from irlint.findings.wording import are, counted, either
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Constant, Graph, Node, Port, Problem, Value
from irlint.model.order import downstream, graph_at, graphs, used_values
from irlint.model.tensor import BITS, UNKNOWN, Tensor, Type, shape_text, type_text
from irlint.ops.shared.port_maps import PORT_MAP_BROKEN
from irlint.parsers.openvino.edge_rules import DANGLING_EDGE
from irlint.parsers.openvino.types import renamed_type
from irlint.parsers.weights import byte_size
from irlint.records import NOTHING, replaced

#: The maximum number of layers that a help names.
SHOWN = 3

#: The maximum number of ports that get a help of this module.
SEARCHED = 10


def with_sources(problems: list[Problem], known: Known, rules: Collection[Rule]) -> list[Problem]:
    """The problems. The first SEARCHED errors of ``rules`` get a help to connect or restore a layer, or to remove the
    port."""
    about_ports = [each for each in problems if each.is_error and each.fault.rule in rules]
    searched = {id(each) for each in about_ports[:SEARCHED]}
    return [_with_source(each, known) if id(each) in searched else each for each in problems]


def _with_source(problem: Problem, known: Known) -> Problem:
    """The problem. If exactly one port without a value causes the problem, it gets a help for this port."""
    node, fault = problem.node, problem.fault
    if node is None:
        return problem
    if fault.rule is PORT_MAP_BROKEN:
        return replaced(problem, fault=fault.changed(help=_help_for_lost_port(problem, node) or fault.help))
    index = _unconnected_port(problem, node)
    if index is None:
        return problem
    if fault.rule is DANGLING_EDGE:
        help = _help_to_restore_const(node, index, known) or _help_to_restore_layer(node.input_ports[index])
    else:
        graph = graph_at(known.model, problem.graph)
        unused = help_to_connect_unused(node, index, makers_of_unused(graph), graph) if graph is not None else ""
        help = f"{fault.help}: {unused}" if unused else fault.help
        help += ", or remove the port" * _is_removable_port(node, index, known)
    return replaced(problem, fault=fault.changed(help=help))


def _unconnected_port(problem: Problem, node: Node) -> int | None:
    """The index of the port without a value that a problem is about; None unless there is exactly one."""
    if problem.fault.rule is DANGLING_EDGE:
        if problem.place is None or problem.place.attribute != "from-layer" or node.inputs.count(None) != 1:
            return None
        index: int | None = node.inputs.index(None)
    else:
        index = problem.fault.input
    if index is None or index >= len(node.input_ports) or node.inputs[index : index + 1] != (None,):
        return None
    return index


def makers_of_unused(graph: Graph) -> dict[Shape, list[tuple[Node, Value]]]:
    """For each declared shape, the (node, value) pairs of the unused values with this shape.

    Scalars and values without a declared shape are omitted.
    """
    needed = used_values(graph)
    found: dict[Shape, list[tuple[Node, Value]]] = {}
    for maker, value in _outputs(graph):
        if value not in needed and isinstance(value.type, Tensor) and value.type.shape:
            found.setdefault(value.type.shape, []).append((maker, value))
    return found


def help_to_connect_unused(
    node: Node, index: int, makers: Mapping[Shape, Sequence[tuple[Node, Value]]], graph: Graph
) -> str:
    """The help to connect an unused layer that has the type that input port ``index`` declares.

    Returns "" if no layer fits, or more than SHOWN do. ``makers`` is the result of ``makers_of_unused``.
    """
    declared = node.input_ports[index].type
    of_port_type = [
        maker
        for maker, value in (makers.get(declared.shape, ()) if declared.shape else ())
        if maker is not node and _is_of_port_type(value.type, declared)
    ]
    dependents = downstream(node, graph) if of_port_type else ()
    fitting = [maker for maker in of_port_type if maker not in dependents]
    if not 0 < len(fitting) <= SHOWN:
        return ""
    return f"connect {' or '.join(map(named, fitting))}, which is unused and has the type that input {index} declares"


def _is_removable_port(node: Node, index: int, known: Known) -> bool:
    """Whether the port is the last one, and the operation accepts the inputs before it."""
    before = node.inputs[:index]
    return index + 1 == len(node.inputs) and None not in before and _accepts(node, before, known)


def _accepts(node: Node, inputs: tuple[Value | None, ...], known: Known) -> bool:
    """Whether a node with ``inputs`` instead of its own inputs certainly has no warning or error."""
    other = replaced(node, inputs=inputs, input_ports=node.input_ports[: len(inputs)])
    call, faults = Binder(known.model).bound(other, NOTHING, within_function=False)
    if any(each.severity.rank for each in faults):
        return False
    types = [None if value is None else known.types.get(value, UNKNOWN) for value in inputs]
    answer = asked_again(known, other, types, call)
    return answer is not None and answer.outputs is not None and not any(each.severity.rank for each in answer.faults)


# --- port maps --------------------------------------------------------------------------------------------------------


def _help_for_lost_port(problem: Problem, node: Node) -> str:
    """The help for an entry of a port map whose input port the layer lacks, although its output ports have later ids.

    Returns "" if the problem is about anything else.
    """
    lost = range(len(node.inputs), min((port.id for port in node.output_ports), default=0))
    maps = {name: each.value for name, each in node.attributes.items() if name.endswith("port_map")}
    found = [
        (name, entry)
        for name, entries in maps.items()
        for entry in entries
        if entry.place == problem.place and entry.kind == "input" and entry.external_port_id in lost
    ]
    if len(found) != 1:
        return ""
    name, entry = found[0]
    body = dict(node.bodies).get(name.replace("port_map", "body")) or dict(node.bodies).get("body")
    inner = (
        next((each for each in body.nodes if each.id == entry.internal_layer_id), None) if body is not None else None
    )
    declared = inner.outputs[0].type if inner is not None and inner.outputs and inner.outputs[0] is not None else None
    fitting = [
        port.id
        for port in node.input_ports
        if isinstance(declared, Tensor) and port.type.shape == declared.shape and port.id < len(node.inputs)
    ]
    ids = either(*[f'"{each}"' for each in fitting]) if fitting else ""
    others = f"; or write external_port_id={ids}, whichever input now carries this value" * bool(fitting)
    what = f" of {named(inner)}" if inner is not None and declared is not None else ""
    return (
        f"restore input port {entry.external_port_id} with an edge to the source{what}: the output ports begin at "
        f"{lost.stop}, so this port is missing{others}"
    )


# --- missing constants ------------------------------------------------------------------------------------------------


def _help_to_restore_const(node: Node, index: int, known: Known) -> str:
    """The help to restore a missing Const; "" unless exactly one range of unused bytes has the needed size."""
    port = node.input_ports[index]
    shape, dtype = port.type.shape, port.type.dtype
    sizes = [dim for dim in shape or () if isinstance(dim, int)]
    size = byte_size(dtype, elements(tuple(sizes))) if shape and len(sizes) == len(shape) and dtype in BITS else None
    found = [each for each in holes(known) if each[2] == size]
    if not size or len(found) != 1:
        return ""
    file, offset, _ = found[0]
    data = (
        f'<data element_type="{renamed_type(dtype or "")}" shape="{",".join(map(str, sizes))}" '
        f'offset="{offset}" size="{size}"/>'
    )
    return (
        f"restore the layer as a Const with {data}: these {size} bytes of {file} belong to no other layer, and their "
        f"number fits the {declared_text(port)} of input port {port.id}"
    )


def _help_to_restore_layer(port: Port) -> str:
    gives = f"which gives the {declared_text(port)} that input port {port.id} declares, " if port.type.shape else ""
    return f"restore the layer, {gives}or connect the edge to another layer"


def holes(known: Known) -> Iterator[tuple[str, int, int]]:
    """(file, offset, number of bytes) of each range of a weights file that no constant uses.

    A constant that extends past the end of its file uses no bytes, since its offset or its size is wrong.
    """
    ends: dict[str, int] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    for graph in graphs(known.model):
        for constant in graph.constants.values():
            stored = constant.stored
            if stored is None or stored.size is None or stored.file is None or stored.available is None:
                continue
            used = spans.setdefault(stored.file, [])
            ends[stored.file] = stored.offset + stored.available
            if stored.size <= stored.available:
                used.append((stored.offset, stored.size))
    for file, found in spans.items():
        at = 0
        for offset, size in (*sorted(found), (ends[file], 0)):
            if offset > at:
                yield file, at, offset - at
            at = max(at, offset + size)


def help_to_move(file: str, known: Known) -> str:
    """The help to move all constants behind unused bytes, if these explain that constants extend past the end of a
    file: they are as many as the missing ones, or the only unused ones between constants and more than those."""
    spans = []
    end = 0
    for graph in graphs(known.model):
        for value, constant in graph.constants.items():
            stored = constant.stored
            if stored is not None and stored.file == file and stored.size is not None and stored.available is not None:
                maker = known.makers(graph).get(value)
                spans.append((stored.offset, stored.size, maker.name if maker is not None else value.name))
                end = stored.offset + stored.available
    missing = max([offset + size for offset, size, _ in spans], default=0) - end
    at, last, gaps = 0, "", []
    for offset, size, name in sorted(spans):
        if offset - at >= missing:
            gaps.append((offset - at, last))
        if offset + size > at:
            at, last = offset + size, name
    exact = [each for each in gaps if each[0] == missing]
    if missing <= 0 or len(exact or gaps) != 1:
        return ""
    length, name = (exact or gaps)[0]
    place = f"{counted(length, 'byte')} behind `{name}`" if name else f"the first {counted(length, 'byte')}"
    unused = f"{place} {are(length)} used by no constant"
    moved = f"{unused}: subtract {length} from the offsets behind {'it' if name else 'them'}"
    return moved if exact else f"{moved}, or copy {file} again together with the model"


def unused_offset(size: int, constant: Constant, known: Known) -> int | None:
    """The offset of the only range of exactly ``size`` bytes that no constant uses; None if there is none, or several.

    For a constant that extends past the end of its file, also None if other bytes are unused: the file may be cut.
    """
    ranges = list(holes(known))
    found = [offset for _, offset, length in ranges if length == size]
    stored = constant.stored
    is_short = stored is not None and stored.available is not None and stored.available < size
    return found[0] if len(found) == 1 and not (is_short and len(ranges) > 1) else None


# --- names and types --------------------------------------------------------------------------------------------------


def named(node: Node) -> str:
    """The operator, the name and the id of a layer: ``Const 'w' (layer 3)``."""
    return f"{node.op} {node.label!r} (layer {node.id})"


def declared_text(port: Port) -> str:
    """The type or shape that a port declares: ``float32[2, 3]``, or ``[2, 3]``."""
    return shape_text(port.type.shape) if port.type.dtype is None else type_text(port.type)


def _outputs(graph: Graph) -> Iterator[tuple[Node, Value]]:
    for node in graph.nodes:
        for value in node.outputs:
            if value is not None:
                yield node, value


def _is_of_port_type(given: Type | None, declared: Type) -> bool:
    """Whether a value of type ``given`` has the shape and the element type that a port declares.

    Scalars never do. An unknown element type of the value or of the port counts as equal.
    """
    if not isinstance(given, Tensor) or not isinstance(declared, Tensor) or not given.shape:
        return False
    return (given.shape == declared.shape and None in (given.dtype, declared.dtype)) or given == declared
