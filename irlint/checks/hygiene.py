"""Finds parts of an ONNX model that nothing uses: initializers, inputs, nodes, functions, imports and declarations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set

from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted, shortened
from irlint.inference.known import Known
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.order import graphs, used, used_values
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS

UNUSED_INITIALIZER = Rule(
    "IRL901",
    "unused-initializer",
    Severity.NOTE,
    "An initializer is unused.",
    why=(
        "Its bytes are stored, shipped and loaded for nothing. Sometimes it is unused because an edit disconnected "
        "it by mistake."
    ),
    fix="Remove it, or connect the node that should use it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = Add (x, w) }""",
    fixable=True,
)


UNUSED_INPUT = Rule(
    "IRL902",
    "unused-input",
    Severity.NOTE,
    "An input of the model is unused.",
    why="Callers must feed it, but it has no effect on the outputs.",
    fix="Remove it from the inputs, or connect the node that should use it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }""",
)


UNUSED_FUNCTION = Rule(
    "IRL903",
    "unused-function",
    Severity.NOTE,
    "A function of the model is never called.",
    why="It is stored and checked for nothing. Perhaps a call uses the wrong function name.",
    fix="Remove the function, or call it by its domain, name and overload.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }
<domain: "my", opset_import: ["" : 17]>
F (a) => (b) { b = Neg (a) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
g (float[2,3] x) => (float[2,3] y) { y = my.F (x) }
<domain: "my", opset_import: ["" : 17]>
F (a) => (b) { b = Neg (a) }""",
)


UNUSED_IMPORT = Rule(
    "IRL904",
    "unused-opset-import",
    Severity.NOTE,
    "The model imports a domain that no node uses.",
    why="A runtime that does not know the domain or the version may refuse the model, although no node needs it.",
    fix="Remove the import.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    fixable=True,
)


UNUSED_NODE = Rule(
    "IRL905",
    "node-without-use",
    Severity.NOTE,
    "The results of some nodes are never used.",
    why=(
        "Runtimes load the weights of such nodes, and then remove the nodes. If the result was intended as an output "
        "of the model, callers do not get it. OpenVINO never writes a layer whose result is unused. If an IR has one, "
        "an edit removed the layer that used the result, and the model computes something else."
    ),
    fix="Use their results in other nodes, add them to the outputs, or remove the nodes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) z = Neg (x) w = Abs (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y, float[2,3] w) { y = Relu (x) z = Neg (x) w = Abs (z) }""",
    fixable=True,
)


UNDEFINED_DECLARATION = Rule(
    "IRL906",
    "value-info-without-value",
    Severity.NOTE,
    "value_info declares a name that no value has.",
    why="The entry is left over from a value that was renamed or removed.",
    fix="Remove the entry, or give it the name of the intended value.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float[2,3] old> { z = Relu (x) y = Neg (z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float[2,3] z> { z = Relu (x) y = Neg (z) }""",
    fixable=True,
)


#: The maximum number of names in a message.
_SHOWN = 4


def problems(known: Known) -> list[Problem]:
    """One problem for each kind of unused part, in each graph and in the model."""
    model = known.model
    every = list(graphs(model))
    found: list[Problem] = []
    for graph in every:
        found += _unused_parts(graph)
        found += _undefined_declaration_problem(graph)
    return [*found, *_unused_functions(model), *_unused_imports(model, every)]


def _unused_parts(graph: Graph) -> Iterator[Problem]:
    """The problems of unused initializers, nodes and, in the main graph, inputs."""
    needed = used_values(graph)
    constants = unused_initializers(graph, needed)
    if constants:
        listed = f"{counted(len(constants), 'initializer')}: {_listed(value.name for value in constants)}"
        yield _problem(UNUSED_INITIALIZER, f"nothing uses {listed}", graph, constants[0].name)
    inputs = [value for value in graph.inputs if value not in needed and value not in graph.constants and value.name]
    if inputs and not graph.path:
        listed = f"{counted(len(inputs), 'input')}: {_listed(value.name for value in inputs)}"
        yield _problem(UNUSED_INPUT, f"nothing uses {listed}", graph, inputs[0].name)
    dead = unused_nodes(graph, needed)
    if dead:
        names = _listed(node.label or node.op for node in dead)
        contribute = "contributes" if len(dead) == 1 else "contribute"
        text = f"{counted(len(dead), 'node')} {contribute} to no output of the graph: {names}"
        end = next(node for node in dead if needed.isdisjoint(node.outputs))
        yield _problem(UNUSED_NODE, text, graph, None, end)


def unused_initializers(graph: Graph, needed: Collection[Value]) -> list[Value]:
    """The named initializers that nothing uses. ``needed`` are the used values."""
    constants = [value for value in graph.constants if value not in needed and value.name]
    if constants:
        # A name that is defined twice is in use if one of its values is.
        names = {value.name for value in needed}
        constants = [value for value in constants if value.name not in names]
    return constants


def unused_nodes(graph: Graph, needed: Set[Value]) -> list[Node]:
    """The nodes that contribute to no output; [] if the graph has no outputs. ``needed`` are the used values."""
    ends = [node for node in graph.nodes if needed.isdisjoint(node.outputs) and _has_no_side_effects(node)]
    if ends:
        # A name that is defined twice is in use if one of its values is.
        names = {value.name for value in needed}
        ends = [node for node in ends if all(value is None or value.name not in names for value in node.outputs)]
    return _with_sources(graph, ends) if ends and graph.outputs else []


def _has_no_side_effects(node: Node) -> bool:
    """Whether a node has outputs, and its domain has only operators without other effects."""
    return bool(node.outputs) and (node.domain in OFFICIAL_DOMAINS or node.domain == MICROSOFT)


def _with_sources(graph: Graph, ends: list[Node]) -> list[Node]:
    """The nodes ``ends``, and all nodes whose results only nodes of the list use. The list is in the order of the
    graph."""
    dead = set(ends)
    users: dict[Value, set[Node]] = {}
    makers: dict[Value, Node] = {}
    for node in graph.nodes:
        for value in used(node):
            users.setdefault(value, set()).add(node)
        makers.update((value, node) for value in node.outputs if value is not None)
    outputs = set(graph.outputs)
    waiting = list(ends)
    while waiting:
        for value in used(waiting.pop()):
            maker = makers.get(value)
            if maker is None or maker in dead or not outputs.isdisjoint(maker.outputs):
                continue
            if all(users.get(each, set()) <= dead for each in maker.outputs if each is not None):
                dead.add(maker)
                waiting.append(maker)
    return [node for node in graph.nodes if node in dead]


def _undefined_declaration_problem(graph: Graph) -> Iterator[Problem]:
    names = undefined_declarations(graph)
    if names:
        text = f"value_info declares {counted(len(names), 'name')} that no value has: {_listed(names)}"
        yield _problem(UNDEFINED_DECLARATION, text, graph, names[0])


def undefined_declarations(graph: Graph) -> list[str]:
    """The names that ``value_info`` declares although no value of the graph or its bodies has them."""
    if not graph.undefined_value_info:
        return []
    names_in_bodies: set[str] = set()
    waiting = [body for node in graph.nodes for _, body in node.bodies]
    while waiting:
        body = waiting.pop()
        names_in_bodies.update(value.name for value in (*body.inputs, *body.constants))
        for node in body.nodes:
            names_in_bodies.update(value.name for value in node.outputs if value is not None)
            waiting += [each for _, each in node.bodies]
    return [name for name in dict.fromkeys(graph.undefined_value_info) if name not in names_in_bodies]


def _unused_functions(model: Model) -> Iterator[Problem]:
    if not model.functions:
        return
    assert model.graph is not None
    called: set[tuple[str, str, str]] = set()
    waiting = [model.graph]
    while waiting:
        for node in waiting.pop().nodes:
            waiting += [body for _, body in node.bodies]
            key = node.domain, node.op, node.overload
            if key in model.functions and key not in called:
                called.add(key)
                waiting.append(model.functions[key].graph)
    unused = [
        f"{domain}.{name}".strip(".")
        for domain, name, overload in model.functions
        if (domain, name, overload) not in called
    ]
    if unused:
        are = "is" if len(unused) == 1 else "are"
        text = f"{counted(len(unused), 'function')} of the model {are} never called: {_listed(unused)}"
        yield _problem(UNUSED_FUNCTION, text, model.graph, None)


def _unused_imports(model: Model, every: Iterable[Graph]) -> Iterator[Problem]:
    unused = unused_imports(model, every)
    if unused:
        assert model.graph is not None
        text = f"the model imports {counted(len(unused), 'domain')} that no node uses: {_listed(unused)}"
        yield _problem(UNUSED_IMPORT, text, model.graph, None)


def unused_imports(model: Model, every: Iterable[Graph]) -> list[str]:
    """The imported domains that no node and no function has, except ai.onnx; [] if the model lacks a needed import."""
    if all(domain in ("", "ai.onnx") for domain, _ in model.imports):
        return []
    present = {node.domain for graph in every for node in graph.nodes} | {domain for domain, _, _ in model.functions}
    if not present <= model.opsets.keys():
        return []
    unused = [domain for domain, _ in model.imports if domain not in present and domain not in ("", "ai.onnx")]
    return list(dict.fromkeys(unused))


def _problem(rule: Rule, text: str, graph: Graph, value: str | None, node: Node | None = None) -> Problem:
    return Problem(rule.fault(text, help=rule.advice), graph.path, node, value)


def _listed(names: Iterable[str]) -> str:
    """The first _SHOWN names in quotes, and the number of the others."""
    all_names = list(names)
    more = len(all_names) - _SHOWN
    return ", ".join(repr(shortened(name)) for name in all_names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
