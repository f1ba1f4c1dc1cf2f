"""Compares declared types and shapes with the inferred ones."""

from __future__ import annotations

from collections.abc import Iterator, Set

from irlint.dims import Expr, Shape
from irlint.findings.faults import Fault, Rule, Severity, refused
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
    refused=(refused("onnxruntime"),),
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
        "therefore warns. It is a note in IR version 10, and at an output port after the first that nothing uses."
    ),
    fix="Correct the declaration, or insert the missing conversion.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (int64[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(refused("onnxruntime"),),
    fixable=True,
    accepted=("openvino_ir",),
)


#: If a value has more declarations than this, only the first node that computes a value of its name is compared with
#: the declarations.
MANY = 8


def problems(known: Known) -> list[Problem]:
    """A problem for each declaration that contradicts the inferred type or shape, then problems about names of sizes.

    In a chain of nodes, only the first contradiction is a root; later problems name it in ``because``. If an option or
    the configuration gives shapes, only the inputs whose given shape contradicts the declared one are reported.
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
    found = _grouped(found, known)
    if not known.requires and not any(_names_sizes(node) for each in compared for node in each.unlike):
        return found
    from irlint.checks import size_names

    return [*found, *size_names.problems(known, found)]


def _grouped(found: list[Problem], known: Known) -> list[Problem]:
    """The problems ``found``, in which stale shapes in alternative bodies, such as the branches of an If, are one
    problem with their number."""
    stale = [each for each in found if each.graph and each.because is None and _is_stale(each)]
    if len(stale) < 2:
        return found
    from irlint.checks import stale_branches

    return stale_branches.grouped(found, stale, known)


def _is_stale(problem: Problem) -> bool:
    """Whether a problem is a wrong declared shape that runtimes ignore."""
    return problem.fault.rule is SHAPE_CONTRADICTED and problem.fault.severity is Severity.WARNING


def _size_facts(known: Known) -> SizeFacts | None:
    """The conditions on dynamic sizes; None if the model has no dynamic size."""
    shapes = [each.shape for each in known.kinds() if isinstance(each, Tensor) and each.shape]
    if not any(isinstance(dim, Expr) for shape in shapes for dim in shape):
        return None
    from irlint.inference.agreement import size_facts

    return size_facts(known)


def _names_sizes(node: Node) -> bool:
    """Whether the declaration of an output of the node contains a named size."""
    declared = [each.type for value in node.outputs if value is not None for each in value.declared]
    return any(isinstance(dim, Expr) for each in declared if isinstance(each, Tensor) for dim in each.shape or ())


class _Comparison:
    """The declarations of one graph, compared with the inferred types.

    ``unlike`` are the nodes that were compared and are not exactly as declared (see ``_is_as_declared``).
    """

    def __init__(self, graph: Graph, known: Known, facts: SizeFacts | None) -> None:
        self.graph = graph
        self.known = known
        self.facts = facts
        self.unlike: list[Node] = []
        #: The first problem of a chain, by each value in the chain.
        self._roots: dict[Value, Problem] = {}
        self._used: Set[Value | None] | None = None
        #: The ids of inferred types and of declarations that do not contradict them; many nodes of an IR share both.
        self._agreeing: set[tuple[int, int]] = set()

    def problems(self) -> Iterator[Problem]:
        """The problems of the graph, in the order of its nodes."""
        known = self.known
        misread = {each.node for each in known.model.problems if each.place and each.place.attribute == "shape"}
        alike: set[tuple[int, int]] = set()
        for node in self._compared():
            if _is_as_declared(node, known, alike):
                continue
            self.unlike.append(node)
            if node not in known.faulted and node not in misread and node in known.calls:
                yield from self._of_node(node)

    def _compared(self) -> Iterator[Node]:
        """The nodes to compare; of the nodes that compute an output of one name with more than MANY declarations, only
        the first. A port of an IR is one declaration."""
        made = [value for node in self.graph.nodes for value in node.outputs if value is not None]
        often = {value.name for value in made if len(value.declared) > MANY}
        if self.known.format.ports_declare or not often:
            yield from self.graph.nodes
            return
        seen: set[str] = set()
        for node in self.graph.nodes:
            names = often.intersection([value.name for value in node.outputs if value is not None])
            if not names or not seen.issuperset(names):
                seen |= names
                yield node

    def _of_node(self, node: Node) -> Iterator[Problem]:
        """The problems of the declarations of a node: of its input ports, then of its outputs."""
        known = self.known
        ports = list(_of_inputs(node, self.graph, known, self.facts)) if known.format.ports_declare else []
        yield from ports
        clashes: dict[tuple[Type | None, Type], Problem] = {}
        for port, value, declaration in _declarations(node):
            fault = self._fault(node, port, value, declaration)
            if fault is None:
                continue
            clash = known.types.get(value), declaration.type
            root = self._roots.get(value) or self._root(node, port, declaration)
            if root is None and fault.rule is SHAPE_CONTRADICTED:
                root = ports[0] if ports else clashes.get(clash)
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
        """The fault of a declaration of an output; None if the declaration can be true, or if a Convert declares the
        type of the stored weights.

        Some faults are only notes: types of unused ports of an IR after the first, and all types in IR version 10.
        Others are only warnings: an ONNX Constant, a declaration that runtimes ignore, and a shape in a body in IR
        version 10.
        """
        known, graph = self.known, self.graph
        inferred = known.types.get(value)
        pair = id(inferred), id(declaration)
        if pair in self._agreeing:
            return None
        stated = gives(node, known, graph.path)
        fault = _contradiction(inferred, declaration, known, self.facts, port=port, within=graph.path, gives=stated)
        if fault is None:
            self._agreeing.add(pair)
            return None
        if fault.rule is TYPE_CONTRADICTED:
            if _declares_stored_type(node, declaration, graph):
                return None
            if known.format.ports_declare and port and not self._is_used(value):
                fault = fault.lowered(Severity.NOTE)
        elif node.op == known.format.constant_node:
            from irlint.checks.clashes import of_bytes

            fault = of_bytes(fault, value, declaration, graph)
        elif node.op == known.format.input_node and known.format.ports_declare:
            from irlint.checks.clashes import of_a_parameter

            fault = of_a_parameter(fault, inferred, declaration.type, graph.path)
        if (node.op == "Constant" and node.domain == "") or _is_ignored(declaration, value, graph):
            fault = fault.lowered(Severity.WARNING)
        is_old = known.model.format_version == known.format.lenient_version
        return _of_an_old_writer(fault, graph) if is_old else fault

    def _is_used(self, value: Value) -> bool:
        if self._used is None:
            self._used = {each for node in self.graph.nodes for each in node.inputs}
        return value in self._used

    def _root(self, node: Node, port: int, declaration: Declaration) -> Problem | None:
        """The problem of an input from which the problem of a declaration follows. None if the inputs have no problem,
        or if the declaration would contradict the declared types of the inputs, too."""
        known, roots = self.known, self._roots
        root = next((roots[value] for value in node.inputs if value is not None and value in roots), None)
        if root is None:
            return None
        stated = {value: value.type for value in node.inputs if value is not None and value in roots}
        outputs = outputs_for(known, node, known.types_of(node.inputs, stated))
        if outputs is None or port >= len(outputs):
            return None
        return None if _contradiction(outputs[port], declaration, known, self.facts, port=port) else root


def _declarations(node: Node) -> Iterator[tuple[int, Value, Declaration]]:
    """Each declaration of an output of a node, with the port and the value of that output."""
    for port, value in enumerate(node.outputs):
        if value is not None:
            yield from ((port, value, declaration) for declaration in value.declared)


def _is_as_declared(node: Node, known: Known, alike: set[tuple[int, int]]) -> bool:
    """Whether the outputs of a node are tensors of exactly the declared types, and its input ports declare the same as
    the outputs to which they are connected. A declared type without an element type or a size fits any. ``alike``
    caches pairs of a type and declarations, or of declarations and a port, by their ``id``, because many nodes share
    them."""
    type_of = known.types.get
    for value in node.outputs:
        if value is not None and value.declared:
            given = type_of(value)
            pair = id(given), id(value.declared)
            if pair in alike:
                continue
            if not all(_are_alike(given, declaration.type) for declaration in value.declared):
                return False
            alike.add(pair)
    for port, value in zip(node.input_ports, node.inputs):
        if value is None:
            continue
        pair = id(value.declared), id(port)
        if pair in alike:
            continue
        if not value.declared or not _are_alike(value.declared[0].type, port.type):
            return False
        alike.add(pair)
    return True


def _are_alike(one: Type | None, other: Type) -> bool:
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return False
    return other.dtype in (None, one.dtype) and _has_sizes(one.shape, other.shape)


def _has_sizes(shape: Shape | None, declared: Shape | None) -> bool:
    """Whether a shape is exactly as declared, except for axes whose size is not declared."""
    if shape == declared:
        return True
    if shape is None or declared is None or len(shape) != len(declared):
        return False
    return all(stated is None or stated == dim for dim, stated in zip(shape, declared))


def _is_ignored(declaration: Declaration, value: Value, graph: Graph) -> bool:
    """Whether ONNX Runtime ignores a declaration of a value; False for ports of an IR."""
    if declaration.by == "port":
        return False
    from irlint.checks.types import counts

    return not counts(declaration, value, graph)


def _of_inputs(node: Node, graph: Graph, known: Known, facts: SizeFacts | None) -> Iterator[Problem]:
    """A problem for each input port of an IR whose dims contradict the inferred shape although the output port at the
    other end of its edge agrees with it."""
    for index, (port, value) in enumerate(zip(node.input_ports, node.inputs)):
        given = known.types.get(value) if value is not None else None
        stated = value.type if value is not None else None
        if not isinstance(given, Tensor) or not isinstance(stated, Tensor) or stated.shape == port.type.shape:
            continue
        text = _clash(given.shape, port.type.shape, known, facts)
        if not text or not stated.shape or _clash(given.shape, stated.shape, known, facts):
            continue
        both = len(node.input_ports) == 1 and any(each.type.shape == port.type.shape for each in node.output_ports)
        subject = "both ports declare" if both else f"input port {port.id} declares"
        from irlint.checks.clashes import port_text

        fault = SHAPE_CONTRADICTED.fault(
            port_text(given.shape, port.type.shape, subject),
            help=f"declare {shape_text(given.shape)}",
            input=index,
            severity=Severity.NOTE if known.model.format_version == known.format.lenient_version else Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, None, node.located(port.place))


def _declares_stored_type(node: Node, declaration: Declaration, graph: Graph) -> bool:
    """Whether a Convert of compressed weights declares the stored type, float16, as its output type. OpenVINO writes
    such a declaration if the weights are an output of the model."""
    stored = graph.constants.get(node.inputs[0]) if node.op == "Convert" and node.inputs and node.inputs[0] else None
    declared = declaration.type
    return stored is not None and isinstance(declared, Tensor) and declared.dtype == stored.tensor.dtype == "float16"


def _of_an_old_writer(fault: Fault, graph: Graph) -> Fault:
    """The fault with its severity in IR version 10: a note for a type, and a warning for a shape in a body."""
    if fault.rule is TYPE_CONTRADICTED:
        return fault.lowered(Severity.NOTE)
    return fault.lowered(Severity.WARNING) if graph.path else fault


def gives(node: Node, known: Known, within: str) -> str:
    """The subject and verb of a message about a wrong declaration, such as "the operator computes"."""
    if within and node.op == known.format.input_node:
        return "the enclosing layer passes"
    stated = node.op in (known.format.input_node, known.format.constant_node)
    return "its attributes say" if stated else "the operator computes"


def _contradiction(
    inferred: Type | None,
    declaration: Declaration,
    known: Known,
    facts: SizeFacts | None,
    *,
    port: int,
    within: str = "",
    gives: str = "the operator computes",
) -> Fault | None:
    """The fault of a declaration of an output of a node in the graph ``within``; None if the declared and the inferred
    type can both be true."""
    declared = declaration.type
    if declaration.flaw or _are_equal(inferred, declared):
        return None
    if disagree(inferred, declared):
        return _type_fault(inferred, declared, f"{_called(declaration, port, within)} is declared as", known, gives)
    what, held, stated = _innermost(inferred, declared)
    if not isinstance(held, Tensor) or not isinstance(stated, Tensor):
        return None
    text = _clash(held.shape, stated.shape, known, facts, returned=declaration.by == "output" and not within)
    if not text:
        return None
    from irlint.checks.clashes import broadcast_notes, clash_axis, correction

    where = _called(declaration, port, within)
    axis = None if what else clash_axis(held.shape, stated.shape, text)
    if axis is not None and held.shape is not None and stated.shape is not None:
        message = f"axis {axis} of {where} is declared as {stated.shape[axis]}; {gives} {held.shape[axis]}"
    else:
        message = f"{where} is declared as {what}{shape_text(stated.shape)}; {gives} {shape_text(held.shape)}: {text}"
    return SHAPE_CONTRADICTED.fault(
        message,
        help=correction(held.shape, stated.shape, axis),
        notes=broadcast_notes(held.shape, stated.shape, known),
        severity=Severity.ERROR if known.format.declared_shapes_hold else Severity.WARNING,
    )


def _are_equal(inferred: Type | None, declared: Type) -> bool:
    """Whether both types are tensors of the same element type and shape."""
    if not isinstance(inferred, Tensor) or not isinstance(declared, Tensor):
        return False
    return inferred.dtype == declared.dtype and inferred.shape == declared.shape


def _called(declaration: Declaration, port: int, within: str) -> str:
    """The name of an output in a message, such as "value_info of output 0"."""
    if declaration.by == "port":
        return f"output {port}"
    if declaration.by == "value_info":
        return f"value_info of output {port}"
    return f"output {port}, a {'body' if within else 'graph'} {declaration.by},"


def _type_fault(inferred: Type | None, declared: Type, where: str, known: Known, gives: str) -> Fault:
    from irlint.checks.clashes import conversion

    stated, given = types_text(declared, inferred)
    return TYPE_CONTRADICTED.fault(
        f"{where} {stated}; {gives} {given}",
        help=f"declare {given}, or {conversion(inferred, declared)}",
        severity=Severity.ERROR if known.format.declared_types_hold else Severity.WARNING,
    )


def _innermost(inferred: Type | None, declared: Type) -> tuple[str, Type | None, Type | None]:
    """The containers around two types in words, such as "elements of ", and the types inside; "" and both types if they
    are no containers."""
    what = ""
    held: Type | None = inferred
    stated: Type | None = declared
    while isinstance(held, (Sequence, Optional)) and isinstance(stated, (Sequence, Optional)):
        what += "elements of " if isinstance(stated, Sequence) else "a value of "
        held, stated = held.element, stated.element
    return what, held, stated


def _clash(
    inferred: Shape | None, declared: Shape | None, known: Known, facts: SizeFacts | None, *, returned: bool = False
) -> str:
    """The axes on which two shapes cannot be equal, as text; "" if they can. ``returned``: of a model's output."""
    if inferred == declared or (known.format.no_dims_means_unknown and not declared):
        return ""
    from irlint.inference.agreement import NO_FACTS, clashes

    return "; ".join(clashes(inferred, declared, facts or NO_FACTS, returned=returned))
