"""Checks the functions of an ONNX model: their parameters, recursion, opsets and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Function, Graph, Model, Node, Problem
from irlint.schemas import OFFICIAL_DOMAINS, latest_opset, official

RECURSIVE_FUNCTION = Rule(
    "IRL131",
    "recursive-function",
    Severity.ERROR,
    "A function calls itself, directly or through others.",
    why="Inlining such a function never ends. ONNX Runtime refuses the model even if nothing calls the function.",
    fix="Write the recurrence with Loop or Scan.",
    bad="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half (x) }
<domain: "f", opset_import: ["" : 21, "f" : 1]>
Half (a) => (b) { c = Neg (a) b = f.Half (c) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half (x) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b) { c = Neg (a) b = Neg (c) }""",
)

FUNCTION_PARAMETERS = Rule(
    "IRL132",
    "function-parameters-invalid",
    Severity.ERROR,
    "Two of the inputs and outputs of a function have the same name.",
    why=(
        "ONNX Runtime makes an operator of each function, and its parameters need different names. It refuses the "
        "model even if nothing calls the function."
    ),
    fix=(
        "Give each input and output its own name. If the function returns one value twice, or returns an input, add "
        "an Identity for it."
    ),
    bad="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y, float[2] z) { y, z = f.Half (x) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b, b) { b = Neg (a) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y, float[2] z) { y, z = f.Half (x) }
<domain: "f", opset_import: ["" : 21]>
Half (a) => (b, c) { b = Neg (a) c = Identity (b) }""",
)

FUNCTION_OPSET = Rule(
    "IRL133",
    "function-opset-differs",
    Severity.WARNING,
    "A function imports an opset in which its operators have other versions than in the model's opset.",
    why=(
        "Runtimes replace each call by the nodes of the function, and these become nodes of the model. The ONNX "
        "checker refuses a function whose operators have other versions than in the model; ONNX Runtime runs it."
    ),
    fix="Import the opset of the model in the function, and write the function's nodes for that opset.",
    bad="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half (x) }
<domain: "f", opset_import: ["" : 12]>
Half (a) => (b) { b = Neg (a) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half (x) }
<domain: "f", opset_import: ["" : 13]>
Half (a) => (b) { b = Neg (a) }""",
)

UNDECLARED_REFERENCE = Rule(
    "IRL134",
    "undeclared-attribute-reference",
    Severity.WARNING,
    "A node of a function refers to an attribute that the function does not have.",
    why="No call can set such an attribute, so the node uses the operator's default. Runtimes report nothing unless "
    "the operator requires the attribute.",
    fix="Declare the attribute in the function, or correct the name.",
    bad="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half <slope = 0.5> (x) }
<domain: "f", opset_import: ["" : 21]>
Half <slope> (a) => (b) { b = LeakyRelu <alpha: float = @alpha> (a) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Half <slope = 0.5> (x) }
<domain: "f", opset_import: ["" : 21]>
Half <slope> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) }""",
)

SHADOWED_OPERATOR = Rule(
    "IRL135",
    "function-shadows-operator",
    Severity.NOTE,
    "A function has the name of an ONNX operator.",
    why="ONNX Runtime uses its own operator and ignores the function; other tools use the function.",
    fix="Move the function to a domain of its own.",
    bad="""<ir_version: 10, opset_import: ["" : 21]>
g (float[2] x) => (float[2] y) { y = Relu (x) }
<domain: "", opset_import: ["" : 21]>
Relu (a) => (b) { b = Neg (a) }""",
    good="""<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
g (float[2] x) => (float[2] y) { y = f.Relu (x) }
<domain: "f", opset_import: ["" : 21]>
Relu (a) => (b) { b = Neg (a) }""",
)


def problems(known: Known) -> list[Problem]:
    """The problems of all functions of a model, whether they are called or not."""
    model = known.model
    found = list(_recursions(model))
    for function in model.functions.values():
        path = function.graph.path
        found += [
            Problem(fault, path) for fault in (*_parameter_faults(function), *_shadowed_operator(function, model))
        ]
        found += _opset_problem(function, model)
        found += _undeclared_references(function)
    return found


def _parameter_faults(function: Function) -> Iterator[Fault]:
    """The faults of the names of a function, its inputs and its outputs: missing names, and names of two values."""
    inputs = [value.name for value in function.graph.inputs]
    outputs = [value.name for value in function.graph.outputs]
    if not function.name:
        text = "the function has no name; the ONNX checker refuses it"
        yield FUNCTION_PARAMETERS.fault(text, help="give it a name", severity=Severity.WARNING)
    if function.unnamed:
        yield FUNCTION_PARAMETERS.fault(
            f"{function.unnamed} of the function has the empty name", help="give it a name, or remove it"
        )
    for position, name in enumerate(outputs):
        if name in outputs[:position]:
            yield FUNCTION_PARAMETERS.fault(
                f"outputs {outputs.index(name)} and {position} of the function are both {name!r}",
                help=f"rename output {position} and compute it by an Identity of {name!r}",
            )
        elif name in inputs:
            yield FUNCTION_PARAMETERS.fault(
                f"output {position} of the function is {name!r}, which is its input {inputs.index(name)}",
                help=f"return an Identity of {name!r}",
            )


def _shadowed_operator(function: Function, model: Model) -> Iterator[Fault]:
    version = model.opsets.get(function.domain)
    if function.domain in OFFICIAL_DOMAINS and version and official(function.name, version, function.domain):
        name = f"{function.domain or 'ai.onnx'}.{function.name}"
        yield SHADOWED_OPERATOR.fault(
            f"the function has the name of the operator {name}, which ONNX Runtime uses instead",
            help="move the function to a domain of its own",
        )


def _nodes(graph: Graph) -> Iterator[tuple[Graph, Node]]:
    """(graph, node) of each node in a graph and its bodies."""
    for node in graph.nodes:
        yield graph, node
        for _, body in node.bodies:
            yield from _nodes(body)


#: (graph, node, called function) of each call in a function.
Calls = dict[Function, list[tuple[Graph, Node, Function]]]


def _recursions(model: Model) -> Iterator[Problem]:
    """A problem for each cycle of calls. A cycle that shares a function with a reported cycle is skipped."""
    calls = _calls(model)
    components = _components({function: [callee for _, _, callee in called] for function, called in calls.items()})
    reported: set[Function] = set()
    for function, called in calls.items():
        for graph, node, callee in called:
            if components[function] is not components[callee] or function in reported or callee in reported:
                continue
            chain = _call_chain(callee, function, calls, components)
            if reported.intersection(chain):
                continue
            reported.update(chain)
            text = "the function calls itself"
            if callee is not function:
                text += f": {' calls '.join(each.name for each in (function, *chain))}"
            fault = RECURSIVE_FUNCTION.fault(text, help="write the recurrence with Loop or Scan")
            yield Problem(fault, graph.path, node)


def _calls(model: Model) -> Calls:
    calls: Calls = {}
    for function in model.functions.values():
        named = (
            (graph, node, model.functions.get((node.domain, node.op, node.overload)))
            for graph, node in _nodes(function.graph)
        )
        calls[function] = [(graph, node, callee) for graph, node, callee in named if callee is not None]
    return calls


def _components(calls: Mapping[Function, Sequence[Function]]) -> dict[Function, Function]:
    """A representative of the strongly connected component of each function (Kosaraju's algorithm)."""
    callers: dict[Function, list[Function]] = {}
    for function, called in calls.items():
        for callee in called:
            callers.setdefault(callee, []).append(function)
    components: dict[Function, Function] = {}
    for function in reversed(_callees_first(calls)):
        waiting = [] if function in components else [function]
        while waiting:
            at = waiting.pop()
            if at not in components:
                components[at] = function
                waiting += callers.get(at, ())
    return components


def _callees_first(calls: Mapping[Function, Sequence[Function]]) -> list[Function]:
    """The functions in postorder of a depth-first search: callees before their callers, except in cycles."""
    found: list[Function] = []
    seen: set[Function] = set()
    for start in calls:
        waiting = [] if start in seen else [(start, iter(calls[start]))]
        seen.add(start)
        while waiting:
            at, callees = waiting[-1]
            callee = next((each for each in callees if each not in seen), None)
            if callee is None:
                found.append(at)
                waiting.pop()
            else:
                seen.add(callee)
                waiting.append((callee, iter(calls[callee])))
    return found


def _call_chain(
    start: Function, goal: Function, calls: Calls, components: Mapping[Function, Function]
) -> list[Function]:
    """The shortest chain of calls from ``start`` to ``goal`` inside their component, with both ends."""
    before: dict[Function, Function | None] = {start: None}
    for at in (waiting := [start]):
        if at is goal:
            break
        for _, _, callee in calls[at]:
            if callee not in before and components[callee] is components[goal]:
                before[callee] = at
                waiting.append(callee)
    chain: list[Function] = []
    step: Function | None = goal
    while step is not None:
        chain.append(step)
        step = before[step]
    return chain[::-1]


def _opset_problem(function: Function, model: Model) -> Iterator[Problem]:
    """One problem for all nodes of a function whose operator has another version in the opset of the model."""
    differing = []
    for graph, node in _nodes(function.graph):
        function_opset, model_opset = function.opsets.get(node.domain), model.opsets.get(node.domain)
        if (
            function_opset is None
            or model_opset is None
            or function_opset == model_opset
            or node.domain not in OFFICIAL_DOMAINS
        ):
            continue
        if not 0 < function_opset <= latest_opset(node.domain):
            continue
        function_operator, model_operator = (
            official(node.op, version, node.domain) for version in (function_opset, model_opset)
        )
        if (function_operator or model_operator) and (
            function_operator is None or model_operator is None or function_operator.since != model_operator.since
        ):
            if function_operator is None or model_operator is None:
                only = function_opset if model_operator is None else model_opset
                difference = f", and only opset {only} has the operator"
            else:
                difference = ", which has another version of the operator"
            differing.append((graph, node, function_opset, model_opset, difference))
    if not differing:
        return
    graph, node, function_opset, model_opset, difference = differing[0]
    more = f"; {counted(len(differing) - 1, 'more node differs', 'more nodes differ')}" if len(differing) > 1 else ""
    fault = FUNCTION_OPSET.fault(
        f"the function imports opset {function_opset} of {node.domain or 'ai.onnx'}, and the model imports opset "
        f"{model_opset}{difference}{more}",
        help=f"import opset {model_opset} in the function, and write its nodes for that opset",
    )
    yield Problem(fault, graph.path, node)


def _undeclared_references(function: Function) -> Iterator[Problem]:
    """A problem for each reference to an attribute that the function does not declare."""
    for graph, node in _nodes(function.graph):
        for name, attribute in node.attributes.items():
            if attribute.reference is None or attribute.reference in function.attributes:
                continue
            listed = ", ".join(f"`{each}`" for each in function.attributes) or "no attributes"
            fault = UNDECLARED_REFERENCE.fault(
                f"attribute `{name}` refers to `{attribute.reference}` of the function, which declares {listed}",
                help=f"declare `{attribute.reference}` in the function, or correct the name",
                attribute=name,
            )
            yield Problem(fault, graph.path, node)
