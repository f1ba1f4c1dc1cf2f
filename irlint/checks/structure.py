"""Finds undefined names and cycles and, in IRs of version 10, colliding tensor names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.wording import counted, either
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, used, varying
from irlint.model.tensor import Tensor

#: The maximum number of unused values in the help for a cycle.
MOST_UNUSED = 6

UNDEFINED_NAME = Rule(
    "IRL101",
    "undefined-name",
    Severity.ERROR,
    "A node or a graph output uses a name that nothing defines.",
    why=(
        "A name must be a graph input, an initializer or the output of a node, in this graph or in an enclosing one. "
        "Runtimes refuse the model, because the value does not exist."
    ),
    fix="Correct the name, or add the input, initializer or node that defines it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x, missing) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }""",
    role="undefined",
    refused=(Refusal("onnxruntime"), Refusal("openvino_frontend"), Refusal("tensorrt_rtx")),
    uncalled=False,
)


CYCLE = Rule(
    "IRL103",
    "graph-cycle",
    Severity.ERROR,
    "Nodes use each other's results in a cycle.",
    why="Each node of the cycle needs the result of another one first, so none can run. Runtimes refuse the model.",
    fix="Break the cycle. For a recurrence, use Loop, Scan or TensorIterator.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Add (x, y) y = Relu (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Add (x, x) y = Relu (z) }""",
    uncalled=False,
    refused=(
        Refusal("onnxruntime"),
        Refusal("tensorrt_rtx"),
    ),
)


#: The maximum number of undefined names for which irlint searches a similar name.
SEARCHED = 3

#: The maximum number of nodes of a cycle in a message. A single further node is also shown.
SHOWN_ON_CYCLE = 4


def problems(known: Known) -> list[Problem]:
    """The problems of undefined names, of cycles and, in IRs of version 10, of colliding tensor names."""
    searched = SEARCHED
    found: list[Problem] = []
    for graph in graphs(known.model):
        found += _undefined_names(graph, known, searched)
        found += _cycle_problem(graph, known)
        searched = max(0, searched - len(graph.undefined))
    if known.format.lenient_version and known.model.format_version == known.format.lenient_version:
        from irlint.checks import collisions

        found += collisions.problems(known)
    return found


def _undefined_names(graph: Graph, known: Known, searched: int) -> Iterator[Problem]:
    """The problems of undefined names. A similar value is searched only for the first ``searched`` names."""
    if not graph.undefined:
        return
    undefined = dict.fromkeys(graph.undefined)
    users: dict[Value, Node] = {}
    users_in_bodies: dict[Value, Node] = {}
    for node in graph.nodes:
        for value in used(node):
            if value in undefined:
                (users if value in node.inputs else users_in_bodies).setdefault(value, node)
    from irlint.checks.intended import close_value, help_for, help_for_output, unused_outside, unused_values

    unused = [*unused_values(graph), *unused_outside(graph, known)]
    for at, value in enumerate(graph.undefined):
        user = users.get(value) or users_in_bodies.get(value)
        close = close_value(value, user, graph, unused, known) if at < searched else ""
        if close:
            help = f"did you mean `{close}`?"
        elif user is None and not graph.path:
            help = help_for_output(value, graph, unused, known)
        else:
            help = help_for(value, user, graph, unused, known, searched=at < searched)
        if user is None:
            fault = UNDEFINED_NAME.fault(
                f"the graph output {value.name!r} is not defined: {_NOWHERE}", help=help, intended=close
            )
            yield Problem(fault, graph.path, value=value.name)
            continue
        index = user.inputs.index(value) if value in users else None
        text = f"input {index}, {value.name!r}, is" if index is not None else f"its body uses {value.name!r}, which is"
        fault = UNDEFINED_NAME.fault(f"{text} not defined: {_NOWHERE}", help=help, input=index, intended=close)
        yield Problem(fault, graph.path, user, value.name, user.place)


_NOWHERE = "no input, initializer or node output of this graph or an enclosing one has that name"


def _cycle_problem(graph: Graph, known: Known) -> Iterator[Problem]:
    """One problem for all nodes of a graph that are on cycles."""
    order = known.order(graph)
    if order.cyclic:
        names = [_shortened(node.label) for node in order.cyclic]
        more = f" and {len(names) - SHOWN_ON_CYCLE} more" if len(names) > SHOWN_ON_CYCLE + 1 else ""
        shown = names[:SHOWN_ON_CYCLE] if more else names
        fault = CYCLE.fault(
            f"{len(names)} nodes use each other's results: {', '.join(shown)}{more}"
            if len(names) > 1
            else "the node uses its own result",
            help=_help_to_connect_layer(order.cyclic, graph, known) or _help_to_break(order.cyclic),
            notes=(*_shortest_cycle_note(order.cyclic), *_connection_notes(order.cyclic, len(shown))),
        )
        yield Problem(fault, graph.path, order.cyclic[0], place=order.cyclic[0].place)


def _help_to_break(cyclic: Sequence[Node]) -> str:
    """The help to break a cycle. If it has exactly one backward input (see ``backward_inputs``), the help names the
    input."""
    backward = backward_inputs(cyclic)
    if len(backward) != 1 or len(cyclic) == 1:
        return "break the cycle: one of these inputs has to come from outside of it"
    (node, index) = backward[0]
    return (
        f"connect a value from outside of the cycle as input {index} of {node.op} {_shortened(node.label)!r}: it is "
        "the only one of these inputs that a later node computes"
    )


def _shortest_cycle_note(cyclic: Sequence[Node]) -> Iterator[str]:
    """The note that lists the shortest cycle through one of the first backward inputs; nothing if all nodes are on
    it."""
    makers: dict[Value | None, Node] = {value: node for node in cyclic for value in node.outputs if value}
    users: dict[Node, list[Node]] = {}
    for node in cyclic:
        for value in node.inputs:
            if value in makers:
                users.setdefault(makers[value], []).append(node)
    backward = backward_inputs(cyclic)[:SHOWN_ON_CYCLE]
    found = [_shortest_path(node, makers[node.inputs[index]], users) for node, index in backward]
    best = min((each for each in found if each), key=len, default=[])
    if 0 < len(best) < len(cyclic):
        names = [f"{node.op} {_shortened(node.label)!r}" for node in (*best, best[0])]
        shown = names if len(names) <= 2 * SHOWN_ON_CYCLE else [*names[:SHOWN_ON_CYCLE], "...", *names[-2:]]
        yield f"the shortest cycle has {counted(len(best), 'node')}: {' -> '.join(shown)}"


def _shortest_path(start: Node, end: Node, users: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """The nodes of the shortest path from ``start`` to ``end``, each a user of the node before; [] if there is none."""
    before: dict[Node, Node] = {start: start}
    waiting = [start]
    for node in waiting:
        if node is end:
            break
        new = [each for each in users.get(node, ()) if each not in before]
        before |= dict.fromkeys(new, node)
        waiting += dict.fromkeys(new)
    path = [end] if end in before else []
    while path and path[-1] is not start:
        path.append(before[path[-1]])
    return path[::-1]


def _connection_notes(cyclic: Sequence[Node], shown: int) -> Iterator[str]:
    """The notes about connections in a cycle: the first ``shown`` backward inputs, then all of the first ``shown``
    nodes."""
    backward = backward_inputs(cyclic)
    makers: dict[Value | None, Node] = {value: node for node in cyclic for value in node.outputs if value is not None}
    edges = [(node, index) for node in cyclic[:shown] for index, value in enumerate(node.inputs) if value in makers]
    for node, index in dict.fromkeys((*backward[:shown], *edges)):
        maker = makers[node.inputs[index]]
        given = f"the output of {maker.op} {_shortened(maker.label)!r}" if maker is not node else "its own output"
        later = ", which comes later in the file" if (node, index) in backward and maker is not node else ""
        yield f"input {index} of {node.op} {_shortened(node.label)!r} is {given}{later}"


def backward_inputs(cyclic: Sequence[Node]) -> list[tuple[Node, int]]:
    """(node, index) of each backward input in a cycle: it is an output of the node itself or of a later node."""
    makers = {value: node for node in cyclic for value in node.outputs if value is not None}
    return [
        (node, index)
        for node in cyclic
        for index, value in enumerate(node.inputs)
        if value in makers and makers[value].index >= node.index
    ]


def _help_to_connect_layer(cyclic: Sequence[Node], graph: Graph, known: Known) -> str:
    """The help to connect an unused layer or value; "" unless it fits exactly one input in the cycle."""
    if not known.format.ports_declare:
        return _help_to_connect_value(cyclic, graph, known)
    from irlint.checks.sources import SEARCHED, help_to_connect_unused, makers_of_unused

    makers = makers_of_unused(graph)
    cycle_values = {value for node in cyclic for value in node.outputs if value is not None}
    ports = [
        (node, index)
        for node in cyclic
        for index, value in enumerate(node.inputs)
        if value in cycle_values and node.input_ports[index].type.shape in makers
    ]
    found = [
        f"{text.removesuffix(' declares')} of {node.op} {_shortened(node.label)!r} declares"
        for node, index in (ports if len(ports) <= SEARCHED else ())
        if (text := help_to_connect_unused(node, index, makers, graph))
    ]
    return found[0] if len(found) == 1 else ""


def _help_to_connect_value(cyclic: Sequence[Node], graph: Graph, known: Known) -> str:
    """The help to connect unused values of a fitting element type to the only backward input of a cycle."""
    from irlint.checks.intended import unused_values

    backward = backward_inputs(cyclic)
    if len(backward) != 1:
        return ""
    (node, index) = backward[0]
    cycle_values = {value for each in cyclic for value in each.outputs}
    types = [known.types.get(value) for value in node.inputs if value is not None and value not in cycle_values]
    dtypes = {each.dtype for each in types if isinstance(each, Tensor)}
    varying_values = varying(graph, known.order(graph).nodes)
    other_varying_inputs = {value for at, value in enumerate(node.inputs) if at != index} & (
        varying_values | cycle_values
    )
    unused = [each for each in unused_values(graph) if each not in cycle_values and each not in graph.outputs]
    unused = [each for each in unused if other_varying_inputs or each in varying_values]
    given = [(each, known.types.get(each)) for each in unused]
    fitting = [each for each, type in given if isinstance(type, Tensor) and (not dtypes or type.dtype in dtypes)]
    if not 0 < len(fitting) <= MOST_UNUSED:
        return ""
    names = either(*(f"`{each.name}`" for each in fitting))
    return f"connect {names}, which nothing uses, as input {index} of {node.op} {_shortened(node.label)!r}"


def _shortened(name: str) -> str:
    return name if len(name) <= 48 else f"...{name[-45:]}"
