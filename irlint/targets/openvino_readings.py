"""What follows where releases of OpenVINO read nodes of ONNX models otherwise than they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from irlint.findings.faults import Severity
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.records import record, replaced
from irlint.schemas import official, official_versions
from irlint.targets import tables
from irlint.targets.objections import RESTRICTED_IN_RELEASE, Objection

NAME = "openvino"

#: The operators whose axes became an input with opset 18.
REDUCING = frozenset(
    {
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSumSquare",
    }
)


#: The fact of the releases that read only that branch of an If which its condition takes, where that is known.
OTHER_BRANCH = "onnx-form If.other-branch"


#: The operators that some release reads otherwise.
READ_OTHERWISE = REDUCING | {"ReduceSum", "Shape", "If"}


@record
class Reading:
    """Another reading of nodes: the fact of the releases that read them as they are written, where a node has one; the
    node as it is read else; the message, and the help."""

    fact: Callable[[Node, int], str | None]
    read: Callable[[Node], Node]
    text: str
    help: str


def _without(*names: str) -> Callable[[Node], Node]:
    def read(node: Node) -> Node:
        return replaced(node, attributes={name: each for name, each in node.attributes.items() if name not in names})

    return read


def _part(node: Node, opset: int) -> str | None:
    if node.op != "Shape" or not any(name in node.attributes for name in ("start", "end")):
        return None
    return "onnx-form Shape.part" if opset >= 15 else "onnx-form Shape.part-early"


def _axes(node: Node, opset: int) -> str | None:
    is_input = node.op in REDUCING and len(node.inputs) > 1 and node.inputs[1] is not None
    early = "" if opset >= 18 else "-early"
    return f"onnx-form {node.op}.axes-input{early}" if is_input else None


def _attribute(node: Node, opset: int) -> str | None:
    late = (node.op in REDUCING and opset >= 18) or (node.op == "ReduceSum" and opset >= 13)
    return f"onnx-form {node.op}.axes-attribute" if late and "axes" in node.attributes else None


def _decided(node: Node, _: int) -> str | None:
    return OTHER_BRANCH if node.op == "If" else None


def _open(node: Node) -> Node:
    """An If whose branch is unknown."""
    return replaced(node, inputs=(Value(""), *node.inputs[1:]))


READINGS = (
    Reading(_part, _without("start", "end"), "gives the whole shape where Shape has start or end",
            "take the part with Slice or Gather"),
    Reading(_axes, lambda node: replaced(node, inputs=node.inputs[:1]), "reduces all axes where axes is an input",
            "write the model at opset 17"),
    Reading(_attribute, _without("axes"), "reduces all axes where axes is an attribute at this opset",
            "give axes as an input"),
    Reading(_decided, _open, "reads both branches of an If, whatever its condition is", "take the If away"),
)  # fmt: skip


def objections(known: Known, releases: int, opset: int | None = None) -> Iterator[tuple[int, Objection]]:
    """What does not fit any more where nodes of the main graph are read otherwise."""
    graph = known.model.graph
    stated = opset or known.model.opsets.get("", 0)
    others = [
        each for node in (graph.nodes if graph is not None else ()) for each in _otherwise(node, stated, releases)
    ]
    for group, read in _by_releases(others):
        found = _first_new(known, inferred(_with(known.model, {node: reading.read(node) for node, reading in read})))
        if found is not None and found.node is not None:
            readings = dict.fromkeys(reading for _, reading in read)
            text = (
                f"the release {' and '.join(each.text for each in readings)}; then {found.node.op}: "
                f"{found.fault.message}"
            )
            yield group, Objection(RESTRICTED_IN_RELEASE, text, next(iter(readings)).help)


#: A node that some releases, given as bits, read otherwise.
Other = tuple[int, Node, Reading]


def _otherwise(node: Node, opset: int, releases: int) -> Iterator[Other]:
    if node.domain or node.op not in READ_OTHERWISE:
        return
    for reading in READINGS:
        fact = reading.fact(node, opset)
        refusing = releases & ~tables.holds(NAME, fact) if fact is not None else 0
        if refusing:
            yield refusing, node, reading


def _by_releases(others: Sequence[Other]) -> Iterator[tuple[int, list[tuple[Node, Reading]]]]:
    """The nodes that are read otherwise, for each group of releases that do so with the same ones."""
    groups: dict[tuple[int, ...], int] = {}
    for at in range(len(tables.releases(NAME)) if others else 0):
        these = tuple(place for place, (releases, *_) in enumerate(others) if releases >> at & 1)
        if these:
            groups[these] = groups.get(these, 0) | 1 << at
    for these, group in groups.items():
        yield group, [others[place][1:] for place in these]


def _with(model: Model, read: Mapping[Node, Node]) -> Model:
    graph = model.graph
    assert graph is not None
    return replaced(model, graph=replaced(graph, nodes=tuple(read.get(node, node) for node in graph.nodes)))


def _first_new(before: Known, after: Known) -> Problem | None:
    """The first error about shapes at a node that had none; in a branch of which nobody knows whether it runs, it is a
    warning."""
    wrong = {problem.node for problem in before.problems if problem.is_error}
    return next(
        (
            each
            for each in after.problems
            if each.fault.rule.severity is Severity.ERROR
            and (each.is_error or each.graph)
            and each.node is not None
            and each.node not in wrong
            and each.fault.rule.family in ("broadcasting", "shapes")
        ),
        None,
    )


def lifted(known: Known) -> tuple[Known, Mapping[Node, Node]]:
    """The model with those of its nodes that are older than their operator written for its first version, as the front
    end reads them, and what these nodes were; initializers are constants, inputs or not."""
    graph = known.model.graph
    if graph is None:
        return known, {}
    early = {node: first for node in graph.nodes if (first := _first_version(node))}
    read = {node: replaced(node, version=first) for node, first in early.items()}
    found = inferred(_with(known.model, read)) if read else known
    given = {each: graph.constants[each] for each in graph.inputs if each in graph.constants}
    constant = {each: stored.tensor for each, stored in given.items() if not stored.parts}
    if constant or found.faulted:
        found = replaced(found, types={**found.types, **constant})
        _fill_types(found, graph)
    return found, {other: node for node, other in read.items()}


def _fill_types(known: Known, graph: Graph) -> None:
    """Gives those element types behind faults that the schemas decide: of outputs that have the type of an input."""
    for node in graph.nodes:
        schema = official(node.op, node.version, "") if not node.domain and isinstance(node.version, int) else None
        if schema is None:
            continue
        given = {
            formal.variable: known.types.get(value)
            for formal, value in reversed([*zip(schema.inputs, node.inputs)])
            if value is not None
        }
        for formal, value in zip(schema.outputs, node.outputs):
            own, other = known.types.get(value) if value is not None else None, given.get(formal.variable)
            is_open = own is None or (isinstance(own, Tensor) and own.dtype is None)
            if value is not None and is_open and isinstance(other, Tensor) and other.dtype is not None:
                known.types[value] = replaced(own, dtype=other.dtype) if own is not None else Tensor(other.dtype)


def both_branches(known: Known, releases: int) -> tuple[int, Known | None]:
    """The releases that read both branches of each If, and the model without the value that decides its branch; None
    without such a value."""
    graph = known.model.graph
    reading = releases & ~tables.holds(NAME, OTHER_BRANCH)
    decided = (
        [node for node in graph.nodes if node.op == "If" and _is_decided(known, node)] if graph and reading else []
    )
    return (reading, inferred(_with(known.model, {node: _open(node) for node in decided}))) if decided else (0, None)


def _is_decided(known: Known, node: Node) -> bool:
    """Whether the condition of an If is known."""
    condition = known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    return isinstance(condition, Tensor) and condition.scalar is not None


def _first_version(node: Node) -> int:
    """The first version of the operator of a node that is older, else 0."""
    versions = official_versions(node.op, "") if not node.domain and isinstance(node.version, int) else ()
    return versions[0] if versions and isinstance(node.version, int) and node.version < versions[0] else 0
