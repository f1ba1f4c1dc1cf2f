"""Names and order: what nothing defines, what is defined twice, and what uses itself."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings import wording
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, ordered, used, used_values

UNDEFINED_NAME = Rule(
    "IRL101",
    "undefined-name",
    Severity.ERROR,
    "A node or a graph output uses a name that nothing defines.",
    why="""A name has to be a graph input, an initializer or the output of a node, in this graph or in one around it.
Runtimes refuse the model: there is nothing that they could read.""",
    mend="Correct the name, or add the input, initializer or node that defines it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x, missing) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }""",
    role="undefined",
)


CYCLE = Rule(
    "IRL103",
    "graph-cycle",
    Severity.ERROR,
    "Nodes use each other's results in a circle.",
    why="No node of the circle can be computed first; runtimes refuse the model.",
    mend="Break the circle; a recurrence is written with Loop, Scan or TensorIterator.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Add (x, y) y = Relu (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Add (x, x) y = Relu (z) }""",
)


#: Of so many names that nothing defines, those are looked for that they are like.
SEARCHED = 3

#: So many values that nothing uses are named, and so many nodes of a circle.
SHOWN = 3
SHOWN_ON_CYCLE = 4


def problems(known: Known) -> list[Problem]:
    """Undefined names and cycles, in every graph."""
    searched = SEARCHED
    found: list[Problem] = []
    for graph in graphs(known.model):
        found += _undefined(graph, searched)
        found += _cycles(graph)
        searched = max(0, searched - len(graph.undefined))
    return found


def _undefined(graph: Graph, searched: int) -> Iterator[Problem]:
    """The names of a graph that nothing defines; of the first ``searched`` of them, with a name that is like them."""
    if not graph.undefined:
        return
    wanted = dict.fromkeys(graph.undefined)
    direct: dict[Value, Node] = {}
    inside: dict[Value, Node] = {}
    for node in graph.nodes:
        for value in used(node):
            if value in wanted:
                (direct if value in node.inputs else inside).setdefault(value, node)
    spare = _without_user(graph)
    for place, value in enumerate(graph.undefined):
        user = direct.get(value) or inside.get(value)
        close = _close(value.name, graph, spare) if place < searched else ""
        help = close or _connect(value.name, spare)
        if user is None:
            fault = UNDEFINED_NAME.fault(f"the graph output {value.name!r} is not defined: {_NOWHERE}", help=help)
            yield Problem(fault, graph.path, value=value.name)
            continue
        index = user.inputs.index(value) if value in direct else None
        text = f"input {index}, {value.name!r}, is" if index is not None else f"its body uses {value.name!r}, which is"
        fault = UNDEFINED_NAME.fault(f"{text} not defined: {_NOWHERE}", help=help, input=index)
        yield Problem(fault, graph.path, user, value.name, user.place)


_NOWHERE = "no input, initializer or node output of this graph or one around it has that name"


def _without_user(graph: Graph) -> list[Value]:
    """What the nodes of a graph make, and its inputs and initializers, that nothing uses."""
    needed = used_values(graph)
    return [value for value in dict.fromkeys(_definitions(graph)) if value.name and value not in needed]


def _connect(name: str, spare: list[Value]) -> str:
    """The help for a name that is like no other."""
    if not spare:
        return f"define {name!r}, or connect another value"
    names = ", ".join(repr(value.name) for value in spare[:SHOWN])
    more = f" and {len(spare) - SHOWN} more" if len(spare) > SHOWN else ""
    return f"define {name!r}, or connect a value that nothing uses yet: {names}{more}"


def _close(name: str, graph: Graph, spare: list[Value]) -> str:
    """The question whether another name is meant, first one that nothing uses; one of another block, which differs in digits
    only, is not."""
    plain = _without_digits(name)
    for values in (spare, _definitions(graph)):
        names = [value.name for value in values if _without_digits(value.name) != plain]
        close = wording.closest(name, names, 0.8)
        if close is not None:
            return f"did you mean `{close}`?"
    return ""


def _without_digits(name: str) -> str:
    return name.translate(_DIGITS)


_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def _definitions(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    for value in graph.constants:
        if value not in graph.inputs:
            yield value
    for node in graph.nodes:
        yield from (value for value in node.outputs if value is not None)


def _cycles(graph: Graph) -> Iterator[Problem]:
    order = ordered(graph)
    if order.cyclic:
        names = [_short(node.label) for node in order.cyclic]
        more = f" and {len(names) - SHOWN_ON_CYCLE} more" if len(names) > SHOWN_ON_CYCLE + 1 else ""
        shown = names[:SHOWN_ON_CYCLE] if more else names
        fault = CYCLE.fault(
            f"{len(names)} nodes use each other's results: {', '.join(shown)}{more}"
            if len(names) > 1
            else "the node uses its own result",
            help="break the circle: one of these inputs has to come from outside it",
        )
        yield Problem(fault, graph.path, order.cyclic[0], place=order.cyclic[0].place)


def _short(name: str) -> str:
    """A name of a node; of a long path its end."""
    return name if len(name) <= 48 else f"...{name[-45:]}"
