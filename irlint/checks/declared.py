"""Compares declared types and shapes with the inferred ones."""

from __future__ import annotations

from collections.abc import Iterator, Set

from irlint.dims import Expr, Shape
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.inference.known import Known
from irlint.inference.questions import outputs_for
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Declaration, Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Optional, Sequence, Tensor, Type, disagree, shape_text
from irlint.ops.shared.type_variables import types_text

if TYPE_CHECKING:
    from irlint.inference.agreement import SizeFacts

SHAPE_CONTRADICTED = Rule(
    "IRL601",
    "declared-shape-wrong",
    Severity.ERROR,
    "The declared shape differs from the inferred one.",
    why=(
        "OpenVINO never compares the declared shapes of a layer's ports with the inferred ones, and ONNX Runtime only "
        "warns. A wrong declaration misleads readers and tools, until a later step fails. In an IR it is an error, "
        "because a correct writer never writes it; at an input port it is a warning. Writers of IR version 10 were "
        "less exact: in their files it is a warning in a body, and a note at an input port. In ONNX it is a warning, "
        "because runtimes infer the shape again. It is an error in ONNX if ONNX Runtime cannot infer a size, uses the "
        "declared one, and then refuses a node. An initializer whose graph input declares another shape is refused. "
        "One name for two different sizes is a warning: ONNX Runtime reuses buffers of sizes with the same name, and "
        "fails at run time if the sizes differ."
    ),
    fix="Correct the declaration, or write the model again with the tool that made it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,4] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(Refusal("onnxruntime"),),
    role="declaration",
    fixable=True,
    accepted=("openvino_ir",),
)


TYPE_CONTRADICTED = Rule(
    "IRL602",
    "declared-type-wrong",
    Severity.ERROR,
    "The declared element type differs from the inferred one.",
    why=(
        "ONNX Runtime refuses to load such a model, except if the value is the output of a Constant, or if it ignores "
        "the declaration. OpenVINO ignores the declared type, but other readers of the file use it; in an IR, irlint "
        "therefore warns. The warning is a note in IR version 10, and at an unused output port other than the first."
    ),
    fix="Correct the declaration, or insert the missing conversion.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (int64[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(Refusal("onnxruntime"),),
    fixable=True,
    accepted=("openvino_ir",),
)


#: A name with more declarations than this is compared only at the first node that computes it.
MOST_DECLARATIONS = 8


def problems(known: Known) -> list[Problem]:
    """The problems of declared types and shapes that contradict the inferred ones, and of the names of sizes.

    If one wrong declaration explains those of the next nodes, their problems name the first problem in ``because``. If
    the user passed shapes (``known.overridden``), only these are compared.
    """
    if known.overridden:
        from irlint.checks import given

        return given.problems(known)
    facts = _size_facts(known)
    compared = [_Comparison(graph, known, facts) for graph in graphs(known.model)]
    found = [problem for each in compared for problem in each.problems()]
    if known.format.declared_shapes_hold:
        return found
    if facts is not None:
        from irlint.checks.merged import with_refusals

        found = with_refusals(found, known)
    found = _with_grouped_branches(found, known)
    if not known.requires and not any(_declares_named_size(node) for each in compared for node in each.inexact):
        return found
    from irlint.checks import size_names

    return [*found, *size_names.problems(known, found)]


def _with_grouped_branches(found: list[Problem], known: Known) -> list[Problem]:
    stale = [each for each in found if each.graph and each.because is None and _is_stale_shape(each)]
    if len(stale) < 2:
        return found
    from irlint.checks import stale_branches

    return stale_branches.grouped(found, stale, known)


def _is_stale_shape(problem: Problem) -> bool:
    """Whether a problem is a wrong declared shape that runtimes ignore."""
    return problem.fault.rule is SHAPE_CONTRADICTED and problem.fault.severity is Severity.WARNING


def _size_facts(known: Known) -> SizeFacts | None:
    """The conditions on dynamic sizes; None if the model has no dynamic size."""
    shapes = [each.shape for each in known.kinds() if isinstance(each, Tensor) and each.shape]
    if not any(isinstance(dim, Expr) for shape in shapes for dim in shape):
        return None
    from irlint.inference.agreement import size_facts

    return size_facts(known)


def _declares_named_size(node: Node) -> bool:
    declared = [each.type for value in node.outputs if value is not None for each in value.declared]
    return any(isinstance(dim, Expr) for each in declared if isinstance(each, Tensor) for dim in each.shape or ())


class _Comparison:
    """The declarations of one graph, compared with the inferred types."""

    def __init__(self, graph: Graph, known: Known, facts: SizeFacts | None) -> None:
        self.graph = graph
        self.known = known
        self.facts = facts
        #: The nodes whose declared types are not exactly the inferred ones.
        self.inexact: list[Node] = []
        #: For each value with a wrong declaration, the problem that explains it: its own, or that of an earlier node.
        self._roots: dict[Value, Problem] = {}
        self._used_values: Set[Value | None] | None = None
        #: (id of an inferred type, id of a declaration) of pairs that agree. Many nodes of an IR share both objects.
        self._agreeing: set[tuple[int, int]] = set()

    def problems(self) -> Iterator[Problem]:
        """The problems of the graph, in the order of its nodes."""
        known = self.known
        with_misread_shape = {
            each.node for each in known.model.problems if each.place and each.place.attribute == "shape"
        }
        exact_pairs: set[tuple[int, int]] = set()
        for node in self._nodes_to_compare():
            if _is_as_declared(node, known, exact_pairs):
                continue
            self.inexact.append(node)
            if node not in known.faulted and node not in with_misread_shape and node in known.calls:
                yield from self._problems_at(node)

    def _nodes_to_compare(self) -> Iterator[Node]:
        """The nodes to compare. If a name has more than MOST_DECLARATIONS declarations, only the first node with this
        name is compared."""
        values = [value for node in self.graph.nodes for value in node.outputs if value is not None]
        common_names = {value.name for value in values if len(value.declared) > MOST_DECLARATIONS}
        if self.known.format.ports_declare or not common_names:
            yield from self.graph.nodes
            return
        seen: set[str] = set()
        for node in self.graph.nodes:
            names = common_names.intersection([value.name for value in node.outputs if value is not None])
            if not names or not seen.issuperset(names):
                seen |= names
                yield node

    def _problems_at(self, node: Node) -> Iterator[Problem]:
        known = self.known
        port_problems = (
            list(_input_port_problems(node, self.graph, known, self.facts)) if known.format.ports_declare else []
        )
        yield from port_problems
        clashes: dict[tuple[Type | None, Type], Problem] = {}
        for port, value, declaration in _declarations(node):
            fault = self._fault(node, port, value, declaration)
            if fault is None:
                continue
            clash = known.types.get(value), declaration.type
            root = self._roots.get(value) or self._root(node, port, declaration)
            if root is None and fault.rule is SHAPE_CONTRADICTED:
                root = port_problems[0] if port_problems else clashes.get(clash)
            problem = Problem(
                fault,
                self.graph.path,
                node,
                value.name,
                node.located(declaration.place) or node.place,
                disputes=tuple(each for each in node.outputs if each is not None),
                because=root,
            )
            self._roots.setdefault(value, root or problem)
            clashes.setdefault(clash, root or problem)
            yield problem

    def _fault(self, node: Node, port: int, value: Value, declaration: Declaration) -> Fault | None:
        """The fault of the declaration of an output, with its severity."""
        known, graph = self.known, self.graph
        inferred = known.types.get(value)
        pair = id(inferred), id(declaration)
        if pair in self._agreeing:
            return None
        source = source_text(node, known, graph.path)
        fault = _contradiction(inferred, declaration, known, self.facts, port=port, within=graph.path, source=source)
        if fault is None:
            self._agreeing.add(pair)
            return None
        if fault.rule is TYPE_CONTRADICTED:
            if _declares_stored_type(node, declaration, graph):
                return None
            if known.format.ports_declare and port and not self._is_used(value):
                fault = fault.lowered(Severity.NOTE)
        elif node.op == known.format.constant_node:
            from irlint.checks.clashes import constant_fault

            fault = constant_fault(fault, value, declaration, graph)
        elif node.op == known.format.input_node and known.format.ports_declare:
            from irlint.checks.clashes import parameter_fault

            fault = parameter_fault(fault, inferred, declaration.type, graph.path)
        if (node.op == "Constant" and node.domain == "") or _is_ignored_by_onnxruntime(declaration, value, graph):
            fault = fault.lowered(Severity.WARNING)
        is_lenient = known.model.format_version == known.format.lenient_version
        return _lowered_for_lenient_version(fault, graph) if is_lenient else fault

    def _is_used(self, value: Value) -> bool:
        if self._used_values is None:
            self._used_values = {each for node in self.graph.nodes for each in node.inputs}
        return value in self._used_values

    def _root(self, node: Node, port: int, declaration: Declaration) -> Problem | None:
        """The problem of the declaration of an input, if it explains the declaration of output ``port``.

        It does if the operator computes the declared output from the declared inputs. None otherwise.
        """
        known, roots = self.known, self._roots
        root = next((roots[value] for value in node.inputs if value is not None and value in roots), None)
        if root is None:
            return None
        declared_types = {value: value.type for value in node.inputs if value is not None and value in roots}
        outputs = outputs_for(known, node, known.types_of(node.inputs, declared_types))
        if outputs is None or port >= len(outputs):
            return None
        return None if _contradiction(outputs[port], declaration, known, self.facts, port=port) else root


def _declarations(node: Node) -> Iterator[tuple[int, Value, Declaration]]:
    for port, value in enumerate(node.outputs):
        if value is not None:
            yield from ((port, value, declaration) for declaration in value.declared)


def _is_as_declared(node: Node, known: Known, exact_pairs: set[tuple[int, int]]) -> bool:
    """Whether the outputs of a node have exactly their declared types, and its input ports repeat the types of the
    connected output ports.

    ``exact_pairs`` caches pairs of ``id``, because many nodes share types and declarations.
    """
    type_of = known.types.get
    for value in node.outputs:
        if value is not None and value.declared:
            given = type_of(value)
            pair = id(given), id(value.declared)
            if pair in exact_pairs:
                continue
            if not all(_is_exactly(given, declaration.type) for declaration in value.declared):
                return False
            exact_pairs.add(pair)
    for port, value in zip(node.input_ports, node.inputs):
        if value is None:
            continue
        pair = id(value.declared), id(port)
        if pair in exact_pairs:
            continue
        if not value.declared or not _is_exactly(value.declared[0].type, port.type):
            return False
        exact_pairs.add(pair)
    return True


def _is_exactly(type: Type | None, declared: Type) -> bool:
    if not (isinstance(type, Tensor) and isinstance(declared, Tensor)):
        return False
    return declared.dtype in (None, type.dtype) and _has_declared_sizes(type.shape, declared.shape)


def _has_declared_sizes(shape: Shape | None, declared: Shape | None) -> bool:
    """Whether a shape equals the declared one. Axes whose declared size is unknown are not compared."""
    if shape == declared:
        return True
    if shape is None or declared is None or len(shape) != len(declared):
        return False
    return all(stated is None or stated == dim for dim, stated in zip(shape, declared))


def _is_ignored_by_onnxruntime(declaration: Declaration, value: Value, graph: Graph) -> bool:
    if declaration.by == "port":
        return False
    from irlint.checks.types import is_used_by_onnxruntime

    return not is_used_by_onnxruntime(declaration, value, graph)


def _input_port_problems(node: Node, graph: Graph, known: Known, facts: SizeFacts | None) -> Iterator[Problem]:
    """A problem for each wrong input port whose connected output port is declared correctly."""
    for index, (port, value) in enumerate(zip(node.input_ports, node.inputs)):
        given = known.types.get(value) if value is not None else None
        stated = value.type if value is not None else None
        if not isinstance(given, Tensor) or not isinstance(stated, Tensor) or stated.shape == port.type.shape:
            continue
        text = _clash_text(given.shape, port.type.shape, known, facts)
        if not text or not stated.shape or _clash_text(given.shape, stated.shape, known, facts):
            continue
        both_ports_declare_it = len(node.input_ports) == 1 and any(
            each.type.shape == port.type.shape for each in node.output_ports
        )
        subject = "both ports declare" if both_ports_declare_it else f"input port {port.id} declares"
        from irlint.checks.clashes import port_text

        fault = SHAPE_CONTRADICTED.fault(
            port_text(given.shape, port.type.shape, subject),
            help=f"declare {shape_text(given.shape)}, or pass {shape_text(port.type.shape)}",
            input=index,
            severity=Severity.NOTE if known.model.format_version == known.format.lenient_version else Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, None, node.located(port.place))


def _declares_stored_type(node: Node, declaration: Declaration, graph: Graph) -> bool:
    """Whether a Convert of float16 weights declares float16, as OpenVINO writes for weights that the model returns."""
    stored = graph.constants.get(node.inputs[0]) if node.op == "Convert" and node.inputs and node.inputs[0] else None
    declared = declaration.type
    return stored is not None and isinstance(declared, Tensor) and declared.dtype == stored.tensor.dtype == "float16"


def _lowered_for_lenient_version(fault: Fault, graph: Graph) -> Fault:
    if fault.rule is TYPE_CONTRADICTED:
        return fault.lowered(Severity.NOTE)
    return fault.lowered(Severity.WARNING) if graph.path else fault


def source_text(node: Node, known: Known, within: str) -> str:
    """The source of the type with which a declaration is compared, as subject and verb: "the operator computes"."""
    if within and node.op == known.format.input_node:
        return "the enclosing layer passes"
    has_type_attributes = node.op in (known.format.input_node, known.format.constant_node)
    return "its attributes say" if has_type_attributes else "the operator computes"


def _contradiction(
    inferred: Type | None,
    declaration: Declaration,
    known: Known,
    facts: SizeFacts | None,
    *,
    port: int,
    within: str = "",
    source: str = "the operator computes",
) -> Fault | None:
    """The fault of the declaration of an output; None if both types can be true."""
    declared = declaration.type
    if declaration.flaw or _are_equal_tensors(inferred, declared):
        return None
    if disagree(inferred, declared):
        return _type_fault(
            inferred, declared, f"{_declaration_text(declaration, port, within)} is declared as", known, source
        )
    containers, inner, stated = _innermost(inferred, declared)
    if not isinstance(inner, Tensor) or not isinstance(stated, Tensor):
        return None
    text = _clash_text(inner.shape, stated.shape, known, facts, returned=declaration.by == "output" and not within)
    if not text:
        return None
    from irlint.checks.clashes import broadcast_notes, clash_axis, correction

    where = _declaration_text(declaration, port, within)
    axis = None if containers else clash_axis(inner.shape, stated.shape, text)
    if axis is not None and inner.shape is not None and stated.shape is not None:
        message = f"axis {axis} of {where} is declared as {stated.shape[axis]}; {source} {inner.shape[axis]}"
    else:
        message = (
            f"{where} is declared as {containers}{shape_text(stated.shape)}; {source} {shape_text(inner.shape)}: {text}"
        )
    return SHAPE_CONTRADICTED.fault(
        message,
        help=correction(inner.shape, stated.shape, axis),
        notes=broadcast_notes(inner.shape, stated.shape, known),
        severity=Severity.ERROR if known.format.declared_shapes_hold else Severity.WARNING,
    )


def _are_equal_tensors(inferred: Type | None, declared: Type) -> bool:
    if not isinstance(inferred, Tensor) or not isinstance(declared, Tensor):
        return False
    return inferred.dtype == declared.dtype and inferred.shape == declared.shape


def _declaration_text(declaration: Declaration, port: int, within: str) -> str:
    """The name of a declaration in a message, such as "value_info of output 0"."""
    if declaration.by == "port":
        return f"output {port}"
    if declaration.by == "value_info":
        return f"value_info of output {port}"
    return f"output {port}, a {'body' if within else 'graph'} {declaration.by},"


def _type_fault(inferred: Type | None, declared: Type, where: str, known: Known, source: str) -> Fault:
    from irlint.checks.clashes import conversion

    stated, given = types_text(declared, inferred)
    return TYPE_CONTRADICTED.fault(
        f"{where} {stated}; {source} {given}",
        help=f"declare {given}, or {conversion(inferred, declared)}",
        severity=Severity.ERROR if known.format.declared_types_hold else Severity.WARNING,
    )


def _innermost(inferred: Type | None, declared: Type) -> tuple[str, Type | None, Type | None]:
    """(the containers in words, such as "elements of ", the inferred type inside, the declared type inside)."""
    containers = ""
    inner: Type | None = inferred
    declared_inner: Type | None = declared
    while isinstance(inner, (Sequence, Optional)) and isinstance(declared_inner, (Sequence, Optional)):
        containers += "elements of " if isinstance(declared_inner, Sequence) else "a value of "
        inner, declared_inner = inner.element, declared_inner.element
    return containers, inner, declared_inner


def _clash_text(
    inferred: Shape | None, declared: Shape | None, known: Known, facts: SizeFacts | None, *, returned: bool = False
) -> str:
    """The text about the axes on which two shapes cannot be equal; "" if they can. ``returned``: an output of the model
    has the shapes."""
    if inferred == declared or (known.format.no_dims_means_unknown and not declared):
        return ""
    from irlint.inference.agreement import NO_FACTS, clashes

    return "; ".join(clashes(inferred, declared, facts or NO_FACTS, returned=returned))
