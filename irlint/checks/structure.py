"""Names and order: what nothing defines, what is defined twice, and what uses itself."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Graph, Problem, Value
from irlint.model.order import graphs, ordered, used

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


def problems(known: Known) -> list[Problem]:
    """Undefined names and cycles, in every graph."""
    return [problem for graph in graphs(known.model) for problem in (*_undefined(graph), *_cycles(graph))]


def _undefined(graph: Graph) -> Iterator[Problem]:
    for value in graph.undefined:
        node = next((node for node in graph.nodes if value in node.inputs), None)
        if node is None:
            node = next((node for node in graph.nodes if value in used(node)), None)
        text = "no input, initializer or node output of this graph or one around it has that name"
        if node is None:
            owner = "body" if "/" in graph.path else "function" if graph.path.startswith("function:") else "graph"
            fault = UNDEFINED_NAME.fault(
                f"the {owner} output {value.name!r} is not defined: {text}",
                help=_close(value.name, graph) or "name a value that the graph computes",
            )
            yield Problem(fault, graph.path, value=value.name)
            continue
        index = node.inputs.index(value) if value in node.inputs else None
        where = f"input {index}, " if index is not None else "its body uses "
        fault = UNDEFINED_NAME.fault(
            f"{where}{value.name!r}, is not defined: {text}"
            if index is not None
            else f"{where}{value.name!r}, which is not defined: {text}",
            help=_close(value.name, graph) or f"define {value.name!r}, or connect another value",
            input=index,
        )
        yield Problem(fault, graph.path, node, value.name, node.place)


def _close(name: str, graph: Graph) -> str:
    from difflib import get_close_matches

    names = [value.name for value in _definitions(graph)]
    close = get_close_matches(name, names, n=1, cutoff=0.8)
    return f"did you mean `{close[0]}`?" if close else ""


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
        names = [node.label for node in order.cyclic]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        fault = CYCLE.fault(
            f"{len(names)} nodes use each other's results: {', '.join(names[:8])}{more}"
            if len(names) > 1
            else "the node uses its own result",
            help="break the circle: one of these inputs has to come from outside it",
        )
        yield Problem(fault, graph.path, order.cyclic[0], place=order.cyclic[0].place)
