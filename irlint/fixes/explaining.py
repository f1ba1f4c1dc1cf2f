"""The problems of a model, with their causes and further help."""

from __future__ import annotations

from collections.abc import Sequence

from irlint import checks
from irlint.binding.calls import INPUT_COUNT, OPSET_LACKS_OPERATOR
from irlint.dims import Shape, same
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, shape_text
from irlint.records import replaced

#: At most this many unused inputs are named.
MOST_UNUSED = 3


def every_problem(known: Known, targets: Sequence[str] = ()) -> list[Problem]:
    """All problems of a model; ``targets`` are releases that must load it. ``because`` is the root of each problem."""
    return explained(checks.found(known, targets), known)


def explained(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems of a model. ``because`` is the root of each problem."""
    if not problems or known.model.graph is None:
        return problems
    from irlint.inference import causes

    if known.format.ports_declare:
        with_help = [_with_changed_input(each, known) for each in _with_sources_of_edges(problems, known)]
    else:
        with_help = _with_opsets(_with_unused_inputs(problems, known), known)
    changed = [_with_need_of_body(_with_trip_count(each, known), known) for each in with_help]
    return causes.explained(_with_changed_causes(problems, changed), known)


def _with_changed_causes(before: Sequence[Problem], after: Sequence[Problem]) -> list[Problem]:
    """The problems ``after``, with the changed problems as their causes."""
    changed = {id(one): other for one, other in zip(before, after, strict=True)}
    found: dict[int, Problem] = {}

    def caused(problem: Problem) -> Problem:
        if id(problem) not in found:
            new = changed.get(id(problem), problem)
            cause = problem.because
            found[id(problem)] = new if cause is None else replaced(new, because=caused(cause))
        return found[id(problem)]

    return [caused(each) for each in before]


def _with_trip_count(problem: Problem, known: Known) -> Problem:
    """The problem. If its index is a loop's iteration number, a note states the loop's trip count."""
    node, fault = problem.node, problem.fault
    if not problem.graph or node is None or fault.input is None:
        return problem
    from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

    if fault.rule is not INDEX_OUT_OF_RANGE:
        return problem
    loops = ((each, body) for graph in graphs(known.model) for each in graph.nodes for _, body in each.bodies)
    loop, body = next(((each, body) for each, body in loops if body.path == problem.graph), (None, None))
    index = node.inputs[fault.input] if fault.input < len(node.inputs) else None
    count = loop.inputs[0] if loop is not None and loop.inputs else None
    given = known.types.get(count) if count is not None else None
    ints = given.ints if isinstance(given, Tensor) else None
    if loop is None or body is None or index is None or index not in body.inputs[:1] or not ints:
        return problem
    note = (
        f"`{index.name}` is the iteration number of {loop.op} {loop.label!r}, whose trip count (input 0) is {ints[0]}"
    )
    return replaced(problem, fault=fault.changed(notes=(*fault.notes, note)))


def _with_need_of_body(problem: Problem, known: Known) -> Problem:
    """The problem. If a body fails with the types that its node passes, the help is not to declare these types."""
    node, fault = problem.node, problem.fault
    body = dict(node.bodies).get(fault.attribute or "") if node is not None and fault.passes else None
    if body is None:
        return problem
    from irlint.inference.questions import faults_within

    found = faults_within(known, body, fault.passes)
    if not found:
        return problem
    node, message = found[0].node, found[0].fault.message
    note = f"with these sizes, {node.op}[{node.index}] of `{fault.attribute}` fails: {message}"
    help = f"pass the sizes that `{fault.attribute}` declares, which its nodes need"
    if faults_within(known, body, [value.type for value in body.inputs]):
        help = f"correct the nodes of `{fault.attribute}`, and make both shapes equal"
    return replaced(problem, fault=fault.changed(help=help, notes=(*fault.notes, note)))


def _with_changed_input(problem: Problem, known: Known) -> Problem:
    """The problem, with a note if exactly one input differs from the shape that its port declares."""
    node, fault = problem.node, problem.fault
    if node is None or not problem.by_rule or fault.severity is not Severity.ERROR:
        return problem
    changed = []
    for port, value in zip(node.input_ports, node.inputs):
        given = known.types.get(value) if value is not None else None
        shape = given.shape if isinstance(given, Tensor) else None
        if shape is not None and port.type.shape and _differ(shape, port.type.shape):
            changed.append((node.input_ports.index(port), port.type.shape))
    if len(changed) != 1:
        return problem
    index, declared = changed[0]
    note = f"input {index} is not the {shape_text(declared)} that the layer's port declares: correct what feeds it"
    return replaced(problem, fault=fault.changed(notes=(*fault.notes, note)))


def _differ(one: Shape, other: Shape) -> bool:
    return len(one) != len(other) or any(same(a, b) is False for a, b in zip(one, other))


def _with_unused_inputs(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems. Missing inputs get a note that names the unused inputs of the graph."""
    graph = known.model.graph
    missing = [problem for problem in problems if problem.fault.rule is INPUT_COUNT and _lacks_input(problem)]
    if not missing or graph is None:
        return problems
    used = {value for node in graph.nodes for value in node.inputs} | set(graph.outputs)
    used |= {value for body in graph.bodies for value in body.captured}
    unused = [f"`{value.name}`" for value in graph.inputs if value not in used and value not in graph.constants]
    if not 1 <= len(unused) <= MOST_UNUSED:
        return problems
    verb = "is an input" if len(unused) == 1 else "are inputs"
    note = f"{' and '.join(unused)} {verb} of the graph that nothing uses"
    return [
        replaced(problem, fault=problem.fault.changed(notes=(*problem.fault.notes, note)))
        if problem in missing
        else problem
        for problem in problems
    ]


def _lacks_input(problem: Problem) -> bool:
    node, index = problem.node, problem.fault.input
    return node is not None and index is not None and (index >= len(node.inputs) or node.inputs[index] is None)


def _with_opsets(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems. If an operator needs a later opset, the help names the nodes that this opset would break."""
    if all(problem.fault.rule is not OPSET_LACKS_OPERATOR for problem in problems):
        return problems
    from irlint.inference.opsets import with_nodes_to_rewrite

    return with_nodes_to_rewrite(problems, known)


def _with_sources_of_edges(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems. The help for a missing edge states how to restore its source."""
    rules = {problem.fault.rule for problem in problems if problem.is_error}
    if not rules:
        return problems
    from irlint.parsers.openvino.edge_rules import DANGLING_EDGE, UNCONNECTED_PORT

    unfed: tuple[Rule, ...] = (DANGLING_EDGE, UNCONNECTED_PORT, INPUT_COUNT)
    if any(each.is_error and each.node is not None and each.node.bodies for each in problems):
        from irlint.ops.shared.port_maps import PORT_MAP_BROKEN

        unfed = (*unfed, PORT_MAP_BROKEN)
    if rules.isdisjoint(unfed):
        return problems
    from irlint.checks.sources import with_sources

    return with_sources(problems, known, unfed)
