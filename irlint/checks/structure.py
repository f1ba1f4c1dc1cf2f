"""Names and order: what nothing defines, what is defined twice, and what uses itself."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Rule, Severity
from irlint.inference.walk import Known
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.order import graphs, ordered, used
from irlint.model.tensor import Tensor
from irlint.schemas import OFFICIAL_DOMAINS, latest_opset

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
    why="""Each name stands for one value (single static assignment); with two, nobody can tell which one a node means.
The names of a graph stand for its bodies' nodes, too.
ONNX Runtime tolerates two constants of one name in the main graph, and takes the last: there it is a warning.""",
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
tools that walk the list once, refuse the model or get it wrong. In a body ONNX Runtime refuses it as well.""",
    mend="Sort the nodes: `onnxruntime`'s optimizer and `onnx-graphsurgeon` write them sorted.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (z) z = Neg (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { z = Neg (x) y = Relu (z) }""",
)


DUPLICATE_NODE = Rule(
    "IRL109",
    "duplicate-node-name",
    Severity.ERROR,
    "Two nodes of one ONNX graph have one name.",
    why="""A node may go without a name, but two nodes of one graph may not share one: ONNX Runtime refuses the model with "two
nodes with same node name". The ONNX checker does not look at it.""",
    mend="Rename one of the nodes, or leave its name empty.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { [same] z = Relu (x) [same] y = Neg (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { [one] z = Relu (x) [other] y = Neg (z) }""",
)

MISSING_IR_VERSION = Rule(
    "IRL802",
    "missing-ir-version",
    Severity.ERROR,
    "The ONNX model does not say which version of the format it has.",
    why="The IR version fixes how the file is read; the ONNX checker and ONNX Runtime refuse a model without it.",
    mend="Set `ir_version`, 8 or later for a current model.",
)

OPSET_TOO_NEW = Rule(
    "IRL803",
    "opset-too-new",
    Severity.WARNING,
    "The model imports an opset that is newer than any that irlint knows.",
    why="Operators may mean something else there; they are judged by the newest opset that is known, and only some runtimes load it.",
    mend="Update irlint and the onnx package, or export the model for an older opset.",
    bad="""<ir_version: 8, opset_import: ["" : 999]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)


OUTER_VALUE_RETURNED = Rule(
    "IRL112",
    "outer-value-returned",
    Severity.ERROR,
    "A body returns a value of the graph around it.",
    why="""The outputs of a body have to be made inside it. ONNX Runtime refuses a body that hands out a value of an outer graph
as it is.""",
    mend="Put an Identity into the body, and return its output.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, bool c) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] x) { }, else_branch = e () => (float[2,3] b) { b = Neg (x) }>
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, bool c) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Identity (x) }, else_branch = e () => (float[2,3] b) { b = Neg (x) }>
}""",
)

TYPE_MISSING = Rule(
    "IRL403",
    "element-type-missing",
    Severity.ERROR,
    "A graph input, or a declaration, has no element type.",
    why="""A runtime cannot allocate an input whose element type it is not told; ONNX Runtime refuses the model, and also one
that declares a value with the element type "undefined".""",
    mend="Declare the element type.",
)


def problems(known: Known) -> list[Problem]:
    """Undefined and duplicate names, cycles and wrong order, in every graph; the versions that the file states."""
    found: list[Problem] = list(_versions(known.model))
    if known.model.format == "onnx" and known.model.graph is not None:
        found += _untyped(known.model.graph)
        for graph in (known.model.graph, *(function.graph for function in known.model.functions.values())):
            found += _bodies(graph, frozenset())
    for graph in graphs(known.model):
        found += _undefined(graph)
        found += _duplicates(graph, known.model)
        found += _duplicate_nodes(graph) if known.model.format == "onnx" else ()
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


def _versions(model: Model) -> Iterator[Problem]:
    if model.format != "onnx":
        return
    if model.format_version is None:
        yield Problem(MISSING_IR_VERSION.fault("the model has no ir_version", help="set ir_version, for example to 8"))
    for domain, version in model.opsets.items():
        newest = latest_opset(domain) if domain in OFFICIAL_DOMAINS else 0
        if 0 < newest < version:
            name = domain or "ai.onnx"
            fault = OPSET_TOO_NEW.fault(
                f"the model imports opset {version} of {name}; the newest one known is {newest}",
                help=f"import opset {newest} of {name} or older, or update irlint and onnx",
            )
            yield Problem(fault)


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
        second, one = _maker(value, graph, makers), _maker(other, graph, makers)
        fault = DUPLICATE_NAME.fault(
            f"{value.name!r} is twice {one}" if one == second else f"{value.name!r} is {second} and also {one}",
            help="rename one of them, and what uses it",
            severity=Severity.WARNING if _tolerated(graph, makers, value, other) else None,
        )
        yield Problem(fault, graph.path, node, value.name, node.place if node is not None else None)


def _duplicate_nodes(graph: Graph) -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for node in graph.nodes:
        other = first.setdefault(node.name, node) if node.name and node.op != "Constant" else node
        if other is not node:
            fault = DUPLICATE_NODE.fault(
                f"nodes {other.index} ({other.op}) and {node.index} ({node.op}) are both named {node.name!r}",
                help="rename one of them, or leave its name empty",
            )
            yield Problem(fault, graph.path, node, place=node.place)


def _tolerated(graph: Graph, makers: dict[Value, Node], *values: Value) -> bool:
    """Whether values of one name are constants of the main graph: of such ONNX Runtime takes the last."""
    return not _is_body(graph) and all(_constant(value, graph, makers) for value in values)


def _constant(value: Value, graph: Graph, makers: dict[Value, Node]) -> bool:
    """Whether a value is an initializer or made by a Constant node."""
    return makers[value].op == "Constant" if value in makers else value in graph.constants


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
            severity=Severity.ERROR if _is_body(graph) else None,
        )
        yield Problem(fault, graph.path, node, value.name, node.place)


def _is_body(graph: Graph) -> bool:
    return bool(graph.path) and not (graph.path.startswith("function:") and "/" not in graph.path)


def _untyped(graph: Graph) -> Iterator[Problem]:
    for value in graph.inputs:
        if value not in graph.constants and value.type is None:
            fault = TYPE_MISSING.fault(f"the graph input {value.name!r} has no type", help="declare its type")
            yield Problem(fault, graph.path, value=value.name)
    values = {*graph.inputs, *(value for node in graph.nodes for value in node.outputs if value is not None)}
    for value in sorted(values, key=lambda value: value.name):
        for declaration in value.declared:
            if isinstance(declaration.type, Tensor) and declaration.type.dtype is None:
                fault = TYPE_MISSING.fault(
                    f"{value.name!r} is declared, by {declaration.by}, with no element type",
                    help="declare its element type",
                )
                yield Problem(fault, graph.path, value=value.name)
                break


def _bodies(graph: Graph, outer: frozenset[str]) -> Iterator[Problem]:
    """What bodies may not do with the values around them: ``outer`` are the names that ``graph`` sees."""
    visible = set(outer) | {value.name for value in (*graph.inputs, *graph.constants)}
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _returned(body)
            yield from _shadowed(body, visible)
            yield from _bodies(body, frozenset(visible))
        visible.update(value.name for value in node.outputs if value is not None)


def _returned(body: Graph) -> Iterator[Problem]:
    captured = set(body.captured)
    for position, value in enumerate(body.outputs):
        if value in captured:
            fault = OUTER_VALUE_RETURNED.fault(
                f"output {position} of the body is {value.name!r}, a value of a graph around it",
                help=f"return Identity({value.name}) instead",
            )
            yield Problem(fault, body.path, value=value.name)


def _shadowed(body: Graph, visible: set[str]) -> Iterator[Problem]:
    for node in body.nodes:
        for port, value in enumerate(node.outputs):
            if value is not None and value.name in visible:
                fault = DUPLICATE_NAME.fault(
                    f"{value.name!r} is output {port} of node {node.index} ({node.op}), and also a value of a graph around",
                    help="rename the one in the body",
                )
                yield Problem(fault, body.path, node, value.name)
