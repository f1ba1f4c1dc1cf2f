"""Safe fixes of an IR: wrong port declarations inside a graph are corrected, and ignored attributes are removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from irlint.binding.calls import UNKNOWN_ATTRIBUTE
from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.dims import MaybeDim, Shape, elements, same
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.inference.questions import questions
from irlint.model import Constant, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, Type
from irlint.parsers.weights import byte_size

#: The rules of declarations that contradict the inferred type.
DECLARATIONS = (SHAPE_CONTRADICTED, TYPE_CONTRADICTED)


class Subject:
    """A model and its problems, with the tables that several fixes need."""

    def __init__(self, known: Known, found: Sequence[Problem]) -> None:
        self.known = known
        self.ask = questions(known)
        self.users: dict[Value, list[tuple[Node, int]]] = {}
        self.outputs: set[Value | None] = set()
        self.constants: dict[Value, Constant] = {}
        paths = [graph.path for graph in graphs(known.model)]
        self.repeated = {path for path in paths if paths.count(path) > 1} if len(set(paths)) < len(paths) else set()
        for graph in graphs(known.model):
            self.outputs.update(() if graph.path else graph.outputs)
            self.constants.update(graph.constants)
            for node in graph.nodes:
                for index, value in enumerate(node.inputs):
                    if value is not None:
                        self.users.setdefault(value, []).append((node, index))
        self.contradicted = Counter(problem.node for problem in found if problem.fault.rule in DECLARATIONS)
        self.with_consequences = {id(problem.because) for problem in found if problem.because is not None}
        self.is_doubtful = any(
            self.is_outer(problem) if problem.fault.rule in DECLARATIONS else problem.is_error
            for problem in found
            if problem.fault.severity is not Severity.NOTE
        )

    def is_outer(self, problem: Problem) -> bool:
        """Whether a problem is about the declaration of an input or an output of the model, or about no node."""
        if problem.graph or problem.node is None:
            return problem.node is None
        return problem.node.op == self.known.format.input_node or self.value(problem) in self.outputs

    def value(self, problem: Problem) -> Value | None:
        """The output that a problem is about; None if the problem is about an input port."""
        outputs = () if problem.node is None else problem.node.outputs
        return next((each for each in outputs if each is not None and each.name == problem.value), None)

    def is_certain(self, node: Node, value: Value, given: Tensor, wrong: Tensor) -> bool:
        """Whether the inferred type of a node is certain.

        The type is certain if the bytes of a constant fit no other, or if only the shapes of inputs decide it.
        """
        if node.op == self.known.format.constant_node:
            stored = self.constants[value].stored if value in self.constants else None
            return stored is not None and stored.size == _byte_size(given) != _byte_size(wrong)
        at_inputs = not node.attributes and not any(each in self.constants for each in node.inputs if each is not None)
        return at_inputs and given.dtype == wrong.dtype

    def refutes(self, node: Node, index: int, type: Tensor) -> bool:
        """Whether a node fails, or contradicts its declared outputs, if its input ``index`` has the type ``type``."""
        inputs: list[Type | None] = [None if each is None else self.known.types.get(each) for each in node.inputs]
        inputs[index] = type
        answer = self.ask(node, inputs, None)
        if answer is None or answer.outputs is None:
            return answer is not None and bool(answer.faults)
        pairs = zip(node.output_ports, answer.outputs)
        return any(isinstance(given, Tensor) and _contradicts(given, port.type) for port, given in pairs)


def safe_edits(known: Known, found: Sequence[Problem]) -> list[tuple[Edit, ...]]:
    """For each problem, edits that fix it and keep the outputs of the model; () if there are none."""
    if known.model.graph is None:
        return [()] * len(found)
    subject = Subject(known, found)
    return [
        tuple(SAFE_FIXES[problem.fault.rule](subject, problem))
        if problem.fault.rule in SAFE_FIXES and problem.graph not in subject.repeated
        else ()
        for problem in found
    ]


SafeFix = Callable[[Subject, Problem], Iterator[Edit]]


def _declared(subject: Subject, problem: Problem) -> Iterator[Edit]:
    """Declares the inferred type at a port, if the rest of the file shows that the declaration is wrong."""
    node = problem.node
    follows = problem.because is not None or id(problem) in subject.with_consequences
    if node is None or follows or subject.is_doubtful:
        return
    if node.op in (subject.known.format.input_node, subject.known.format.output_node):
        return
    value = subject.value(problem)
    if value is not None:
        yield from _of_output(subject, problem, node, value)
    elif problem.fault.input is not None:
        yield from _of_input(subject, problem, node, problem.fault.input)


def _of_input(subject: Subject, problem: Problem, node: Node, index: int) -> Iterator[Edit]:
    """Corrects the dims of an input port, if the node fails with the dims that the port declares."""
    declared, value = node.input_ports[index].type, node.inputs[index]
    given = subject.known.types.get(value) if value is not None else None
    if not isinstance(given, Tensor) or subject.contradicted[node] > 1:
        return
    if subject.refutes(node, index, given.changed(value=None, shape=declared.shape)):
        shape = _corrected(given.shape, declared.shape)
        yield Edit("declaration", "node", problem.graph, node.label, node.index, input=index, shape=shape)


def _of_output(subject: Subject, problem: Problem, node: Node, value: Value) -> Iterator[Edit]:
    given, stated = subject.known.types.get(value), value.type
    if not isinstance(given, Tensor) or not isinstance(stated, Tensor):
        return
    by_type = problem.fault.rule is TYPE_CONTRADICTED
    wrong = given.changed(value=None, **{"dtype": stated.dtype} if by_type else {"shape": stated.shape})
    users = subject.users.get(value, [])
    ports = [user.input_ports[index].type for user, index in users]
    is_sure = any(_contradicts(wrong, port) and not _contradicts(given, port) for port in ports)
    is_sure = is_sure or (bool(users) and subject.is_certain(node, value, given, wrong))
    if not is_sure and not any(subject.refutes(*user, wrong) for user in users):
        return
    stale = [user for user, port in zip(users, ports) if _contradicts(given, port)]
    for user, index in [(node, None), *stale]:
        port = stated if index is None else user.input_ports[index].type
        yield Edit(
            "declaration",
            "node",
            problem.graph,
            user.label,
            user.index,
            name=value.name if index is None else "",
            input=index,
            shape=None if by_type else _corrected(given.shape, port.shape),
            dtype=(given.dtype or "") if by_type else "",
        )


def _byte_size(tensor: Tensor) -> int | None:
    sizes = [dim for dim in tensor.shape or () if isinstance(dim, int)]
    return byte_size(tensor.dtype, elements(sizes)) if tensor.dtype and tensor.shape == tuple(sizes) else None


def _contradicts(given: Tensor, declared: Tensor) -> bool:
    if given.dtype and declared.dtype and given.dtype != declared.dtype:
        return True
    if given.shape is None or not declared.shape:
        return False
    pairs = list(zip(given.shape, declared.shape))
    return len(given.shape) != len(declared.shape) or any(same(one, other) is False for one, other in pairs)


def _corrected(given: Shape | None, declared: Shape | None) -> tuple[int | str | None, ...]:
    """The declared shape, corrected where it contradicts the shape ``given``. None is a dynamic dim."""
    assert given is not None
    if declared is None or len(declared) != len(given):
        return tuple(dim if isinstance(dim, int) else None for dim in given)
    return tuple(map(_corrected_dim, given, declared))


def _corrected_dim(given: MaybeDim, declared: MaybeDim) -> int | str | None:
    if same(given, declared) is False:
        declared = given
    return declared if isinstance(declared, int) else None


def _without_ignored_attribute(subject: Subject, problem: Problem) -> Iterator[Edit]:
    """Removes an attribute that only other versions have from all layers of the operation. They share one finding."""
    from irlint.binding.openvino_attributes import version_advice

    node, name = problem.node, problem.fault.attribute
    if node is None or name is None or problem.fault.severity is not Severity.NOTE:
        return
    graph_nodes = [(graph.path, each) for graph in graphs(subject.known.model) for each in graph.nodes]
    layers = [(path, each) for path, each in graph_nodes if each.op == node.op and name in each.attributes]
    if any(each.version != node.version or version_advice(each) for _, each in layers) or subject.repeated:
        return
    for path, each in layers:
        yield Edit("attribute", "node", path, each.label, each.index, name=name)


#: The safe fixes, by rule.
SAFE_FIXES: dict[Rule, SafeFix] = {
    SHAPE_CONTRADICTED: _declared,
    TYPE_CONTRADICTED: _declared,
    UNKNOWN_ATTRIBUTE: _without_ignored_attribute,
}
