"""Safe fixes of an ONNX model: they remove, sort or name parts of the file, and the model computes the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count

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
from irlint.parsers.onnx.graph_records import STANDARD
from irlint.schemas import IR_VERSIONS, MICROSOFT

#: The IR version for a model without one. Each release that runs current opsets accepts it.
USUAL_IR_VERSION = 8

#: The name for a graph without a name.
GRAPH_NAME = "graph"


class Subject:
    """A model and its problems, with the tables that several fixes need."""

    def __init__(self, known: Known, found: Sequence[Problem]) -> None:
        self.known = known
        self.found = found
        self.every = list(graphs(known.model))
        self.graphs = {graph.path: graph for graph in reversed(self.every)}
        paths = Counter(graph.path for graph in self.every)
        self.unwritable = {graph.path for graph in self.every if graph.pieces > 1 or paths[graph.path] > 1}

    def graph(self, problem: Problem) -> Graph:
        """The graph of a problem."""
        return self.graphs[problem.graph]

    def is_writable(self, path: str) -> bool:
        """Whether edits of a graph can be written: the graph is no function, and occurs once, in one piece."""
        return not path.startswith("function:") and not any(
            path == each or not each or path.startswith(f"{each}/") for each in self.unwritable
        )

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether an operator may be wrong instead of a declaration: there is an error, or an output is declared
        wrong."""
        outputs = {path: {value.name for value in graph.outputs} for path, graph in self.graphs.items()}
        return any(
            problem.is_error or (problem.fault.rule is SHAPE_CONTRADICTED and problem.value in outputs[problem.graph])
            for problem in self.found
        )

    @cached_property
    def repeated_imports(self) -> dict[int, list[tuple[str, int]]]:
        """The repeated imports, by the ``id`` of their problem."""
        ids = [id(problem) for problem in self.found if problem.fault.rule is versions.DUPLICATE_IMPORT]
        return dict(zip(ids, versions.imported_twice(self.known.model)))

    @cached_property
    def new_names(self) -> dict[Node, str]:
        """New unique names for nodes with the name of another node."""
        used_names = {node.name for graph in self.every for node in graph.nodes}
        counts: dict[str, int] = {}
        found: dict[Node, str] = {}
        for problem in self.found:
            node = problem.node
            if problem.fault.rule is names.DUPLICATE_NODE and node is not None and node not in found:
                number = next(
                    each for each in count(counts.get(node.name, 1)) if f"{node.name}_{each}" not in used_names
                )
                counts[node.name] = number + 1
                found[node] = f"{node.name}_{number}"
        return found


def safe_edits(known: Known, found: Sequence[Problem]) -> list[tuple[Edit, ...]]:
    """For each problem, edits that fix it and keep the outputs of the model; () if there are none."""
    if known.model.graph is None or known.model.has_training_graphs:
        return [()] * len(found)
    subject = Subject(known, found)
    return [
        tuple(SAFE_FIXES[problem.fault.rule](subject, problem))
        if problem.fault.rule in SAFE_FIXES and subject.is_writable(problem.graph)
        else ()
        for problem in found
    ]


SafeFix = Callable[[Subject, Problem], Iterator[Edit]]


def _order(subject: Subject, problem: Problem) -> Iterator[Edit]:
    graph = subject.graph(problem)
    order = ordered(graph)
    if not order.cyclic:
        yield Edit("order", graph=graph.path, order=tuple(node.index for node in order.nodes))


def _node_name(subject: Subject, problem: Problem) -> Iterator[Edit]:
    node = problem.node
    if node is not None:
        yield Edit("rename", "node", problem.graph, node.name, node.index, value=subject.new_names[node])


def _initializers(subject: Subject, problem: Problem) -> Iterator[Edit]:
    graph = subject.graph(problem)
    if graph.annotated:
        return
    inputs = {value.name for value in graph.inputs}
    for value in hygiene.unused_initializers(graph, used_values(graph)):
        if value.name not in inputs:
            yield Edit("remove", "initializer", graph.path, name=value.name)


def _nodes(subject: Subject, problem: Problem) -> Iterator[Edit]:
    graph = subject.graph(problem)
    if problem.because is not None:
        return
    for node in _unconnected(graph, hygiene.unused_nodes(graph, used_values(graph))):
        yield Edit("remove", "node", graph.path, node.label, node.index)


def _unconnected(graph: Graph, unused: list[Node]) -> list[Node]:
    """The unused nodes without a connection to a used node. Removal of connected nodes may change how runtimes fuse."""
    every = set(unused)
    makers = {value: node for node in graph.nodes for value in node.outputs}
    linked: dict[Node, set[Node]] = {node: set() for node in unused}
    tied: list[Node] = []
    for node in unused:
        for value in used(node):
            maker = makers.get(value)
            if value in graph.captured or (maker is not None and maker not in every):
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


def _unused_value_info(subject: Subject, problem: Problem) -> Iterator[Edit]:
    graph = subject.graph(problem)
    for name in hygiene.undefined_declarations(graph):
        yield Edit("remove", "value_info", graph.path, name=name)


def _wrong_value_info(subject: Subject, problem: Problem) -> Iterator[Edit]:
    """Removes a wrong ``value_info`` entry of a value inside a graph, unless an operator may be wrong."""
    graph = subject.graph(problem)
    outer = {value.name for value in (*graph.inputs, *graph.outputs)}
    if problem.because is not None or any(each.because is problem for each in subject.found):
        return
    if not subject.is_doubtful and problem.value and problem.value not in outer:
        yield Edit("remove", "value_info", graph.path, name=problem.value)


def _unused_imports(subject: Subject, problem: Problem) -> Iterator[Edit]:
    for domain in hygiene.unused_imports(subject.known.model, subject.every):
        yield Edit("remove", "opset_import", name=domain)


def _repeated_imports(subject: Subject, problem: Problem) -> Iterator[Edit]:
    """Removes all but the first import of a domain, if all have one version."""
    imports: dict[str, list[int]] = {}
    for domain, version in subject.repeated_imports[id(problem)]:
        imports.setdefault(domain, []).append(version)
    for domain, listed in imports.items():
        if len(listed) > 1 and len(set(listed)) == 1:
            yield Edit("remove", "opset_import", name=domain, index=0)


def _missing_import(subject: Subject, problem: Problem) -> Iterator[Edit]:
    """Imports the domain of ONNX Runtime, which has only one version."""
    if problem.node is not None and problem.node.domain == MICROSOFT:
        yield Edit("opset", "opset_import", name=MICROSOFT, value=1)


def _ir_version(subject: Subject, problem: Problem) -> Iterator[Edit]:
    opset = subject.known.model.opsets.get("", 0)
    needed = [version for since, version in IR_VERSIONS.items() if since <= opset]
    if subject.known.model.imports:
        yield Edit("ir_version", "graph", value=max([USUAL_IR_VERSION, *needed]))


def _loadable(subject: Subject, problem: Problem) -> Iterator[Edit]:
    from irlint.fixes.requested import loadable

    if problem.is_error:
        yield from loadable(subject.known)


def _domain(subject: Subject, problem: Problem) -> Iterator[Edit]:
    yield Edit("rename", "domain", problem.graph, name=STANDARD, value="")


def _graph_name(subject: Subject, problem: Problem) -> Iterator[Edit]:
    yield Edit("rename", "graph", problem.graph, value=GRAPH_NAME)


def _metadata(subject: Subject, problem: Problem) -> Iterator[Edit]:
    yield Edit("remove", "metadata")


def _nameless(subject: Subject, problem: Problem) -> Iterator[Edit]:
    if not subject.graph(problem).annotated:
        yield Edit("remove", "initializer", problem.graph)


#: The safe fixes, by rule.
SAFE_FIXES: dict[Rule, SafeFix] = {
    names.WRONG_ORDER: _order,
    names.DUPLICATE_NODE: _node_name,
    hygiene.UNUSED_INITIALIZER: _initializers,
    hygiene.UNUSED_NODE: _nodes,
    hygiene.UNUSED_IMPORT: _unused_imports,
    hygiene.UNDEFINED_DECLARATION: _unused_value_info,
    SHAPE_CONTRADICTED: _wrong_value_info,
    versions.DUPLICATE_IMPORT: _repeated_imports,
    versions.MISSING_IR_VERSION: _ir_version,
    versions.IR_VERSION_TOO_NEW: _loadable,
    versions.OPSET_TOO_NEW: _loadable,
    MISSING_OPSET_IMPORT: _missing_import,
    DOMAIN_SPELLED_OUT: _domain,
    interface.NAMELESS_GRAPH: _graph_name,
    interface.DUPLICATE_METADATA: _metadata,
    initializers.INITIALIZER_WITHOUT_NAME: _nameless,
}
