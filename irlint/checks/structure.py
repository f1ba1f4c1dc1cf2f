"""Names and order: what nothing defines, what is defined twice, and what uses itself."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.checks import graphs
from irlint.diagnostics import Rule, Severity
from irlint.model import Graph, Model, Node, Problem, Value, ordered, used
from irlint.propagate import Known

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
)

DUPLICATE_NAME = Rule(
    "IRL102",
    "duplicate-name",
    Severity.ERROR,
    "Two values of one graph have one name.",
    why="Each name stands for one value (single static assignment); with two, nobody can tell which one a node means.",
    mend="Rename one of them, and what uses it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) y = Neg (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Relu (x) y = Neg (z) }""",
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

WRONG_ORDER = Rule(
    "IRL104",
    "nodes-not-sorted",
    Severity.WARNING,
    "A node stands before the node whose result it uses.",
    why="""The ONNX specification wants nodes in topological order. ONNX Runtime sorts them itself; the ONNX checker, and
tools that walk the list once, refuse the model or get it wrong.""",
    mend="Sort the nodes: `onnxruntime`'s optimizer and `onnx-graphsurgeon` write them sorted.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (z) z = Neg (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Neg (x) y = Relu (z) }""",
)


def problems(known: Known) -> list[Problem]:
    """Undefined and duplicate names, cycles and wrong order, in every graph."""
    found: list[Problem] = []
    for graph in graphs(known.model):
        found += _undefined(graph)
        found += _duplicates(graph, known.model)
        found += _order(graph, known.model)
    return found


def _undefined(graph: Graph) -> Iterator[Problem]:
    for value in graph.undefined:
        node = next((node for node in graph.nodes if value in node.inputs), None)
        if node is None:
            node = next((node for node in graph.nodes if value in used(node)), None)
        text = "no input, initializer or node output of this graph or one around it has that name"
        if node is None:
            fault = UNDEFINED_NAME.fault(
                f"the graph output {value.name!r} is not defined: {text}",
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
    return f"did you mean {close[0]!r}?" if close else ""


def _definitions(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    for value in graph.constants:
        if value not in graph.inputs:
            yield value
    for node in graph.nodes:
        yield from (value for value in node.outputs if value is not None)


def _duplicates(graph: Graph, model: Model) -> Iterator[Problem]:
    if model.format != "onnx":
        return
    makers: dict[Value, Node] = {value: node for node in graph.nodes for value in node.outputs if value is not None}
    first: dict[str, Value] = {}
    inputs = set(graph.inputs)
    for value in (*graph.inputs, *(v for v in graph.constants if v not in inputs), *makers):
        other = first.setdefault(value.name, value)
        if other is value:
            continue
        node = makers.get(value)
        fault = DUPLICATE_NAME.fault(
            f"{value.name!r} is {_maker(value, graph, makers)} and also {_maker(other, graph, makers)}",
            help="rename one of them, and what uses it",
        )
        yield Problem(fault, graph.path, node, value.name, node.place if node is not None else None)


def _maker(value: Value, graph: Graph, makers: dict[Value, Node]) -> str:
    node = makers.get(value)
    if node is not None:
        return f"output {node.outputs.index(value)} of node {node.index} ({node.op})"
    return "a graph input" if value in graph.inputs else "an initializer"


def _order(graph: Graph, model: Model) -> Iterator[Problem]:
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
    late = [(node, value) for node, value in order.late if node not in set(order.cyclic)]
    if model.format == "onnx" and late:
        node, value = late[0]
        more = f", and {len(late) - 1} more uses in this graph come too early" if len(late) > 1 else ""
        fault = WRONG_ORDER.fault(
            f"it uses {value.name!r}, which a later node makes{more}",
            help="sort the nodes so that each comes after those whose results it uses",
            input=node.inputs.index(value) if value in node.inputs else None,
        )
        yield Problem(fault, graph.path, node, value.name, node.place)
