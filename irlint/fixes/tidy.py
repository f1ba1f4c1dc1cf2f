"""The safe fix of a finding: what goes, moves or gets a name so that a model is in order and computes the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from irlint.binding.calls import MISSING_OPSET_IMPORT
from irlint.checks import hygiene, initializers, names, versions
from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem
from irlint.model.order import graphs, ordered, used, used_values
from irlint.parsers.faults import DOMAIN_SPELLED_OUT
from irlint.parsers.onnx import interface
from irlint.parsers.onnx.messages import STANDARD
from irlint.schemas import IR_VERSIONS, MICROSOFT

#: The IR version that a model gets which has none: each release that runs current opsets takes it.
USUAL_IR_VERSION = 8

#: What a graph is named that has no name.
GRAPH_NAME = "graph"


def safe_edits(known: Known, problem: Problem, found: Collection[Problem]) -> tuple[Edit, ...]:
    """The edits with which a problem, one of those that were ``found``, disappears while the model computes the same; () where
    there are none."""
    tidied = TIDIED.get(problem.fault.rule)
    if tidied is None or known.model.graph is None or problem.graph.startswith("function:"):
        return ()
    return tuple(tidied(known, problem, found))


Tidied = Callable[[Known, Problem, Collection[Problem]], Iterator[Edit]]


def _graph(known: Known, problem: Problem) -> Graph:
    return next(graph for graph in graphs(known.model) if graph.path == problem.graph)


def _order(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    graph = _graph(known, problem)
    order = ordered(graph)
    if not order.cyclic:
        yield Edit("order", graph=graph.path, order=tuple(node.index for node in order.nodes))


def _node_name(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    """A name of its own for the node that has that of another one."""
    node = problem.node
    if node is None:
        return
    taken = {each.name for graph in graphs(known.model) for each in graph.nodes}
    alike = [
        each for each in found if each.fault.rule is problem.fault.rule and each.node and each.node.name == node.name
    ]
    free = (f"{node.name}_{number}" for number in range(1, len(taken) + len(alike) + 2))
    new = [name for name in free if name not in taken]
    yield Edit("rename", "node", problem.graph, node.name, node.index, value=new[alike.index(problem)])


def _initializers(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    graph = _graph(known, problem)
    inputs = {value.name for value in graph.inputs}
    for value in hygiene.unused_initializers(graph, used_values(graph)):
        if value.name not in inputs:
            yield Edit("remove", "initializer", graph.path, name=value.name)


def _nodes(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    graph = _graph(known, problem)
    for node in _apart(graph, hygiene.unused_nodes(graph, used_values(graph))):
        yield Edit("remove", "node", graph.path, node.label, node.index)


def _apart(graph: Graph, unused: list[Node]) -> list[Node]:
    """The unused nodes that no value of a used node leads to: a runtime may fuse nodes otherwise once such a value has one user less."""
    idle = set(unused)
    makers = {value: node for node in graph.nodes for value in node.outputs}
    linked: dict[Node, set[Node]] = {node: set() for node in unused}
    tied: list[Node] = []
    for node in unused:
        for value in used(node):
            maker = makers.get(value)
            if value in graph.captured or (maker is not None and maker not in idle):
                tied.append(node)
            elif maker is not None:
                linked[node].add(maker)
                linked[maker].add(node)
    kept = set(tied)
    while tied:
        found = linked[tied.pop()] - kept
        kept |= found
        tied += found
    return [node for node in unused if node not in kept]


def _stray(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    graph = _graph(known, problem)
    for name in hygiene.stray_names(graph):
        yield Edit("remove", "value_info", graph.path, name=name)


def _stale(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    """What ``value_info`` declares of a value inside a graph, where nothing else says that the operators are at fault."""
    graph = _graph(known, problem)
    outer = {value.name for value in (*graph.inputs, *graph.outputs)}
    doubtful = any(each.is_error or _is_of_output(known, each) for each in found)
    if not doubtful and problem.value and problem.value not in outer:
        yield Edit("remove", "value_info", graph.path, name=problem.value)


def _is_of_output(known: Known, problem: Problem) -> bool:
    """Whether a problem says that an output of a graph is declared wrongly."""
    if problem.fault.rule is not SHAPE_CONTRADICTED:
        return False
    return any(value.name == problem.value for value in _graph(known, problem).outputs)


def _unused_imports(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    for domain in hygiene.unused_imports(known.model, list(graphs(known.model))):
        yield Edit("remove", "opset_import", name=domain)


def _repeated_imports(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    """All but the first import of each domain that is imported with one version only."""
    imports = known.model.imports
    for domain in dict.fromkeys(domain for domain, _ in imports):
        listed = [version for each, version in imports if each == domain]
        if len(listed) > 1 and len(set(listed)) == 1:
            yield Edit("remove", "opset_import", name=domain, index=0)


def _missing_import(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    """The import of ONNX Runtime's own domain, of which there is one version."""
    if problem.node is not None and problem.node.domain == MICROSOFT:
        yield Edit("opset", "opset_import", name=MICROSOFT, value=1)


def _ir_version(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    opset = known.model.opsets.get("", 0)
    needed = [version for since, version in IR_VERSIONS.items() if since <= opset]
    if known.model.imports:
        yield Edit("ir_version", "graph", value=max([USUAL_IR_VERSION, *needed]))


def _domain(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    yield Edit("rename", "domain", problem.graph, name=STANDARD, value="")


def _graph_name(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    yield Edit("rename", "graph", problem.graph, value=GRAPH_NAME)


def _metadata(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    yield Edit("remove", "metadata")


def _nameless(known: Known, problem: Problem, found: Collection[Problem]) -> Iterator[Edit]:
    yield Edit("remove", "initializer", problem.graph)


#: How the findings of each rule that has a safe fix are fixed.
TIDIED: dict[Rule, Tidied] = {
    names.WRONG_ORDER: _order,
    names.DUPLICATE_NODE: _node_name,
    hygiene.UNUSED_INITIALIZER: _initializers,
    hygiene.UNUSED_NODE: _nodes,
    hygiene.UNUSED_IMPORT: _unused_imports,
    hygiene.STRAY_DECLARATION: _stray,
    SHAPE_CONTRADICTED: _stale,
    versions.DUPLICATE_IMPORT: _repeated_imports,
    versions.MISSING_IR_VERSION: _ir_version,
    MISSING_OPSET_IMPORT: _missing_import,
    DOMAIN_SPELLED_OUT: _domain,
    interface.NAMELESS_GRAPH: _graph_name,
    interface.DUPLICATE_METADATA: _metadata,
    initializers.INITIALIZER_WITHOUT_NAME: _nameless,
}
