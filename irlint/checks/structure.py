"""Finds undefined names and cycles and, in IRs of version 10, colliding tensor names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.findings.faults import Rule, Severity, refused
from irlint.findings.wording import counted, either
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, used, varying
from irlint.model.tensor import Tensor

#: At most this many unused values are named for an input in a cycle.
UNUSED = 6

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
    refused=(refused("onnxruntime"), refused("openvino_frontend"), refused("tensorrt_rtx")),
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
        refused("onnxruntime"),
        refused("tensorrt_rtx"),
    ),
)


#: For this many undefined names, similar names are searched.
SEARCHED = 3

#: If a cycle has at least two nodes more than this, only this many are listed in a message, else all.
SHOWN_ON_CYCLE = 4


def problems(known: Known) -> list[Problem]:
    """The undefined names and the cycles of every graph, and the tensor names that collide in an IR of version 10."""
    searched = SEARCHED
    found: list[Problem] = []
    for graph in graphs(known.model):
        found += _undefined(graph, known, searched)
        found += _cycles(graph, known)
        searched = max(0, searched - len(graph.undefined))
    if known.format.lenient_version and known.model.format_version == known.format.lenient_version:
        from irlint.checks import collisions

        found += collisions.problems(known)
    return found


def _undefined(graph: Graph, known: Known, searched: int) -> Iterator[Problem]:
    """The problems of the undefined names of a graph. For the first ``searched`` names only, the help names a similar
    value."""
    if not graph.undefined:
        return
    wanted = dict.fromkeys(graph.undefined)
    direct: dict[Value, Node] = {}
    inside: dict[Value, Node] = {}
    for node in graph.nodes:
        for value in used(node):
            if value in wanted:
                (direct if value in node.inputs else inside).setdefault(value, node)
    from irlint.checks.intended import close_value, help_for, spare_values

    unused = spare_values(graph)
    for at, value in enumerate(graph.undefined):
        user = direct.get(value) or inside.get(value)
        close = close_value(value, user, graph, unused, known) if at < searched else ""
        help = (
            f"did you mean `{close}`?" if close else help_for(value, user, graph, unused, known, searched=at < searched)
        )
        if user is None:
            fault = UNDEFINED_NAME.fault(
                f"the graph output {value.name!r} is not defined: {_NOWHERE}", help=help, intended=close
            )
            yield Problem(fault, graph.path, value=value.name)
            continue
        index = user.inputs.index(value) if value in direct else None
        text = f"input {index}, {value.name!r}, is" if index is not None else f"its body uses {value.name!r}, which is"
        fault = UNDEFINED_NAME.fault(f"{text} not defined: {_NOWHERE}", help=help, input=index, intended=close)
        yield Problem(fault, graph.path, user, value.name, user.place)


_NOWHERE = "no input, initializer or node output of this graph or an enclosing one has that name"


def _cycles(graph: Graph, known: Known) -> Iterator[Problem]:
    """The problem of the nodes of a graph that depend on each other."""
    order = known.order(graph)
    if order.cyclic:
        names = [_shortened(node.label) for node in order.cyclic]
        more = f" and {len(names) - SHOWN_ON_CYCLE} more" if len(names) > SHOWN_ON_CYCLE + 1 else ""
        shown = names[:SHOWN_ON_CYCLE] if more else names
        fault = CYCLE.fault(
            f"{len(names)} nodes use each other's results: {', '.join(shown)}{more}"
            if len(names) > 1
            else "the node uses its own result",
            help=_help_for(order.cyclic, graph, known) or _help_to_break(order.cyclic),
            notes=(*_shortest(order.cyclic), *_links(order.cyclic, len(shown))),
        )
        yield Problem(fault, graph.path, order.cyclic[0], place=order.cyclic[0].place)


def _help_to_break(cyclic: Sequence[Node]) -> str:
    """The help to break a cycle, at the only input in it that a later node computes if there is only one."""
    backward = backward_inputs(cyclic)
    if len(backward) != 1 or len(cyclic) == 1:
        return "break the cycle: one of these inputs has to come from outside of it"
    (node, index) = backward[0]
    return (
        f"connect a value from outside of the cycle as input {index} of {node.op} {_shortened(node.label)!r}: it is "
        "the only one of these inputs that a later node computes"
    )


def _shortest(cyclic: Sequence[Node]) -> Iterator[str]:
    """The note that lists the shortest cycle, if there are several: of those through the first inputs that later nodes
    compute."""
    makers: dict[Value | None, Node] = {value: node for node in cyclic for value in node.outputs if value}
    users: dict[Node, list[Node]] = {}
    for node in cyclic:
        for value in node.inputs:
            if value in makers:
                users.setdefault(makers[value], []).append(node)
    backward = backward_inputs(cyclic)[:SHOWN_ON_CYCLE]
    found = [_path(node, makers[node.inputs[index]], users) for node, index in backward]
    best = min((each for each in found if each), key=len, default=[])
    if 0 < len(best) < len(cyclic):
        names = [f"{node.op} {_shortened(node.label)!r}" for node in (*best, best[0])]
        shown = names if len(names) <= 2 * SHOWN_ON_CYCLE else [*names[:SHOWN_ON_CYCLE], "...", *names[-2:]]
        yield f"the shortest cycle has {counted(len(best), 'node')}: {' -> '.join(shown)}"


def _path(start: Node, end: Node, users: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """The nodes of the shortest path along uses from one node to another; [] if there is none."""
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


def _links(cyclic: Sequence[Node], shown: int) -> Iterator[str]:
    """The notes about the inputs of nodes in a cycle that are outputs of nodes in the cycle: first, at most ``shown``
    outputs of nodes that come later in the file; then all inputs of the first ``shown`` nodes."""
    backward = backward_inputs(cyclic)
    makers: dict[Value | None, Node] = {value: node for node in cyclic for value in node.outputs if value is not None}
    edges = [(node, index) for node in cyclic[:shown] for index, value in enumerate(node.inputs) if value in makers]
    for node, index in dict.fromkeys((*backward[:shown], *edges)):
        maker = makers[node.inputs[index]]
        given = f"the output of {maker.op} {_shortened(maker.label)!r}" if maker is not node else "its own output"
        later = ", which comes later in the file" if (node, index) in backward and maker is not node else ""
        yield f"input {index} of {node.op} {_shortened(node.label)!r} is {given}{later}"


def backward_inputs(cyclic: Sequence[Node]) -> list[tuple[Node, int]]:
    """The inputs of nodes in a cycle that are outputs of the node itself or of a node later in the file."""
    makers = {value: node for node in cyclic for value in node.outputs if value is not None}
    return [
        (node, index)
        for node in cyclic
        for index, value in enumerate(node.inputs)
        if value in makers and makers[value].index >= node.index
    ]


def _help_for(cyclic: Sequence[Node], graph: Graph, known: Known) -> str:
    """The help to connect an unused layer to one of the inputs in a cycle. "" unless there is exactly one input for
    which unused layers have the declared type. In ONNX: the unused values for the only input in the cycle that a later
    node computes."""
    if not known.format.ports_declare:
        return _unused_for(cyclic, graph, known)
    from irlint.checks.sources import SEARCHED, makers_of_unused, unused

    makers = makers_of_unused(graph)
    made = {value for node in cyclic for value in node.outputs if value is not None}
    ports = [
        (node, index)
        for node in cyclic
        for index, value in enumerate(node.inputs)
        if value in made and node.input_ports[index].type.shape in makers
    ]
    found = [
        f"{text.removesuffix(' declares')} of {node.op} {_shortened(node.label)!r} declares"
        for node, index in (ports if len(ports) <= SEARCHED else ())
        if (text := unused(node, index, makers, graph))
    ]
    return found[0] if len(found) == 1 else ""


def _unused_for(cyclic: Sequence[Node], graph: Graph, known: Known) -> str:
    """The help to connect one of the unused values of the element type that the node's other inputs have; "" if several
    inputs are made by later nodes, or if there are no such values, or too many."""
    from irlint.checks.intended import spare_values

    backward = backward_inputs(cyclic)
    if len(backward) != 1:
        return ""
    (node, index) = backward[0]
    made = {value for each in cyclic for value in each.outputs}
    types = [known.types.get(value) for value in node.inputs if value is not None and value not in made]
    dtypes = {each.dtype for each in types if isinstance(each, Tensor)}
    changing = varying(graph, known.order(graph).nodes)
    others = {value for at, value in enumerate(node.inputs) if at != index} & (changing | made)
    unused = [each for each in spare_values(graph) if each not in made and each not in graph.outputs]
    unused = [each for each in unused if others or each in changing]
    given = [(each, known.types.get(each)) for each in unused]
    fitting = [each for each, type in given if isinstance(type, Tensor) and (not dtypes or type.dtype in dtypes)]
    if not 0 < len(fitting) <= UNUSED:
        return ""
    names = either(*(f"`{each.name}`" for each in fitting))
    return f"connect {names}, which nothing uses, as input {index} of {node.op} {_shortened(node.label)!r}"


def _shortened(name: str) -> str:
    """The name of a node; only the end of a long one."""
    return name if len(name) <= 48 else f"...{name[-45:]}"
