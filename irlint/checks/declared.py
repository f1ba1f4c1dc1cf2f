"""What the file declares of a value against what its operators give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache

from irlint.dims import Expr, Shape, broadcast_parts, elements, same
from irlint.findings.faults import Fault, Rule, Severity, refused
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Declaration, Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Optional, Sequence, Tensor, Type, disagree, shape_text
from irlint.ops.kernels.type_variables import types_text

if TYPE_CHECKING:
    from irlint.checks.merged import Refusal
    from irlint.inference.agreement import Terms

SHAPE_CONTRADICTED = Rule(
    "IRL601",
    "declared-shape-wrong",
    Severity.ERROR,
    "The shape that the file declares is not the one that the operators give.",
    why="""OpenVINO never compares the dims of a layer's ports with what it infers, and ONNX Runtime only warns: a stale shape
loads, and misleads every tool and person that reads it until something downstream breaks. A correct writer never writes
such an IR; in ONNX the declaration is an annotation that runtimes recompute, hence a warning, and an error where ONNX
Runtime cannot infer a size, takes the declared one, and then refuses a node. What an initializer holds counts, whatever is declared
of it; an input that declares something else is refused. One name for two sizes is a warning: ONNX Runtime reuses buffers of sizes
with one name, and fails at run time where these differ.""",
    mend="Correct the declaration, or write the model again with the tool that made it.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,4] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(refused("onnxruntime"),),
    role="declaration",
    fixable=True,
)


TYPE_CONTRADICTED = Rule(
    "IRL602",
    "declared-type-wrong",
    Severity.ERROR,
    "The element type that the file declares is not the one that the operators give.",
    why="""ONNX Runtime refuses such a model when it loads it, except for what a Constant holds. OpenVINO takes the type that it infers, and leaves everyone who
reads the file with another one.""",
    mend="Correct the declaration, or insert the conversion that is missing.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (int64[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(refused("onnxruntime"),),
    fixable=True,
)


#: Of nodes that make values of a name that is declared more often, only the first one is compared with these.
MANY = 8


def problems(known: Known) -> list[Problem]:
    """Declarations that contradict what was inferred, of a chain of them only the one where it begins; where shapes are given to
    inputs, those that contradict these."""
    if known.overridden:
        from irlint.checks import given

        return given.problems(known)
    terms = _terms(known)
    unlike: list[Node] = []
    found = [problem for graph in graphs(known.model) for problem in _graph_problems(graph, known, terms, unlike)]
    if known.format.declared_shapes_hold:
        return found
    found = _grouped(found if terms is None else _with_refusals(found, known), known)
    if not known.requires and not any(map(_names_sizes, unlike)):
        return found
    from irlint.checks import size_names

    return [*found, *size_names.problems(known, found)]


def _grouped(found: list[Problem], known: Known) -> list[Problem]:
    """The problems; of several stale shapes in bodies among which nodes choose one that counts them."""
    stale = [each for each in found if each.graph and each.because is None and _is_stale(each)]
    if len(stale) < 2:
        return found
    from irlint.checks import stale_branches

    return stale_branches.grouped(found, stale, known)


def _is_stale(problem: Problem) -> bool:
    """Whether a problem is a declared shape that runtimes pass over."""
    return problem.fault.rule is SHAPE_CONTRADICTED and problem.fault.severity is Severity.WARNING


def _terms(known: Known) -> Terms | None:
    """What must hold beside the declarations; None in a model without open sizes, where nothing does."""
    shapes = [each.shape for each in known.kinds() if isinstance(each, Tensor) and each.shape]
    if not any(isinstance(dim, Expr) for shape in shapes for dim in shape):
        return None
    from irlint.inference.agreement import terms_of

    return terms_of(known)


def _names_sizes(node: Node) -> bool:
    """Whether the file declares a size of an output of a node by a name."""
    declared = [each.type for value in node.outputs if value is not None for each in value.declared]
    return any(isinstance(dim, Expr) for each in declared if isinstance(each, Tensor) for dim in each.shape or ())


def _graph_problems(graph: Graph, known: Known, terms: Terms | None, unlike: list[Node]) -> Iterator[Problem]:
    """The problems of a graph; adds the nodes that do not give just what is declared to ``unlike``."""
    roots: dict[Value, Problem] = {}
    alike: set[tuple[int, int]] = set()
    used = cache(lambda: {value for node in graph.nodes for value in node.inputs})
    misread = {each.node for each in known.model.problems if each.place and each.place.attribute == "shape"}
    judged: set[str] = set()
    for node in graph.nodes:
        often = [value.name for value in node.outputs if value is not None and len(value.declared) > MANY]
        if often and judged.issuperset(often):
            continue
        judged.update(often)
        if _is_as_declared(node, known, alike):
            continue
        unlike.append(node)
        if node in known.faulted or node in misread or node not in known.calls:
            continue
        ports = list(_of_inputs(node, graph, known, terms)) if known.format.ports_declare else []
        yield from ports
        clashes: dict[tuple[Type | None, Type], Problem] = {}
        for port, value in enumerate(node.outputs):
            for declaration in value.declared if value is not None else ():
                assert value is not None
                fault = _fault(value, declaration, known, terms, node=node, port=port, graph=graph, used=used)
                if fault is None:
                    continue
                root = roots.get(value) or _root(node, port, declaration, roots, known, terms)
                clash = (known.types.get(value), declaration.type)
                if root is None and fault.rule is SHAPE_CONTRADICTED:
                    root = ports[0] if ports else clashes.get(clash)
                problem = Problem(
                    fault,
                    graph.path,
                    node,
                    value.name,
                    node.located(declaration.place) or node.place,
                    disputes=tuple(each for each in node.outputs if each is not None),
                    because=root,
                )
                roots.setdefault(value, root or problem)
                clashes.setdefault(clash, root or problem)
                yield problem


def _is_as_declared(node: Node, known: Known, alike: set[tuple[int, int]]) -> bool:
    """Whether what comes in and what is given are tensors of just the declared types; ``alike`` are pairs of types that are equal,
    by their identities: many nodes have the same ones."""
    for value in node.outputs:
        if value is not None and value.declared:
            given = known.types.get(value)
            for declaration in value.declared:
                if not _are_alike(given, declaration.type, alike):
                    return False
    for port, value in zip(node.input_ports, node.inputs):
        if value is not None and not (value.declared and _are_alike(value.declared[0].type, port.type, alike)):
            return False
    return True


def _are_alike(one: Type | None, other: Type, alike: set[tuple[int, int]]) -> bool:
    pair = id(one), id(other)
    if pair in alike:
        return True
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return False
    if one.shape != other.shape or (one.dtype != other.dtype and other.dtype is not None):
        return False
    alike.add(pair)
    return True


def _with_refusals(found: list[Problem], known: Known) -> list[Problem]:
    """The problems, and those of declared sizes that ONNX Runtime takes, and with which it then refuses a node."""
    from irlint.checks.merged import refusals

    refused = refusals(known)
    if not refused:
        return found
    worse: dict[tuple[Node | None, str | None], Problem] = {}
    for graph in graphs(known.model):
        for node in graph.nodes:
            for port, value in enumerate(node.outputs):
                if value is not None and value in refused:
                    fault = _refusal(value, port, refused[value], known)
                    disputes = tuple(each for each in node.outputs if each is not None)
                    worse[node, value.name] = Problem(
                        fault, graph.path, node, value.name, node.place, disputes=disputes
                    )
    return [worse.pop((each.node, each.value), each) for each in found] + list(worse.values())


def _refusal(value: Value, port: int, refusal: Refusal, known: Known) -> Fault:
    inferred = known.types[value]
    declared = next(each.type for each in value.declared if isinstance(each.type, Tensor))
    assert isinstance(inferred, Tensor)
    assert isinstance(declared, Tensor)
    return SHAPE_CONTRADICTED.fault(
        f"output {port} is declared as {shape_text(declared.shape)}; the operator gives {shape_text(inferred.shape)}: where "
        f"it infers no number ONNX Runtime takes the declared one, and refuses {refusal.node.op} {refusal.node.label!r} "
        f"({refusal.fault.message})",
        help=f"declare {shape_text(inferred.shape)}, or remove the declaration",
        severity=Severity.ERROR,
    )


def _fault(
    value: Value,
    declaration: Declaration,
    known: Known,
    terms: Terms | None,
    *,
    node: Node,
    port: int,
    graph: Graph,
    used: Callable[[], Collection[Value | None]],
) -> Fault | None:
    """The fault of a declaration of an output, as bad as it is for this node and this version of the format."""
    fault = _contradiction(
        known.types.get(value), declaration, known, terms, port=port, within=graph.path, gives=gives(node, known)
    )
    if fault is None or (fault.rule is TYPE_CONTRADICTED and _unpacks(node, declaration, graph)):
        return None
    if node.op == known.format.constant_node and fault.rule is SHAPE_CONTRADICTED:
        fault = _of_bytes(fault, value, declaration, graph)
    if known.format.ports_declare and node.op == known.format.input_node and fault.rule is SHAPE_CONTRADICTED:
        fault = _of_a_parameter(fault, known.types.get(value), declaration.type)
    if (node.op == "Constant" and node.domain == "") or _is_passed_over(declaration, value, graph):
        fault = fault.lowered(Severity.WARNING)
    if known.format.ports_declare and fault.rule is TYPE_CONTRADICTED and port and value not in used():
        fault = fault.lowered(Severity.NOTE)
    lax = known.model.format_version == known.format.lax_version
    return _of_an_old_writer(fault, graph) if lax else fault


def _of_bytes(fault: Fault, value: Value, declaration: Declaration, graph: Graph) -> Fault:
    """The fault of what a constant declares, which tells where its bytes are as many as the declared shape needs."""
    from irlint.parsers.weights import byte_size

    constant, declared = graph.constants.get(value), declaration.type
    size = constant.stored.size if constant is not None and constant.stored is not None else None
    if constant is None or size is None or not isinstance(declared, Tensor):
        return fault
    held = constant.tensor
    needed = [
        byte_size(held.dtype, elements(shape))  # type: ignore[arg-type]
        for shape in (declared.shape, held.shape)
        if held.dtype and shape is not None and all(isinstance(dim, int) and dim >= 0 for dim in shape)
    ]
    if len(needed) < 2 or needed[0] != size or needed[1] == size:
        return fault
    texts = [f"{held.dtype}{shape_text(shape)}" for shape in (declared.shape, held.shape)]
    return fault.changed(
        notes=(*fault.notes, f"its {size} bytes are those of {texts[0]}; {texts[1]} needs {needed[1]}"),
        help=f"correct the shape of the constant to {shape_text(declared.shape)}",
    )


def _is_passed_over(declaration: Declaration, value: Value, graph: Graph) -> bool:
    """Whether a runtime looks at another declaration of the value, or at none."""
    if declaration.by == "port":
        return False
    from irlint.checks.types import counts

    return not counts(declaration, value, graph)


def _of_inputs(node: Node, graph: Graph, known: Known, terms: Terms | None) -> Iterator[Problem]:
    """Input ports of an IR whose dims are not those that the value's own port states, and that the operators give."""
    for index, (port, value) in enumerate(zip(node.input_ports, node.inputs)):
        given = known.types.get(value) if value is not None else None
        stated = value.type if value is not None else None
        if not isinstance(given, Tensor) or not isinstance(stated, Tensor) or stated.shape == port.type.shape:
            continue
        text = _clash(given.shape, port.type.shape, known, terms)
        if not text or not stated.shape or _clash(given.shape, stated.shape, known, terms):
            continue
        both = len(node.input_ports) == 1 and any(each.type.shape == port.type.shape for each in node.output_ports)
        fault = SHAPE_CONTRADICTED.fault(
            _port_text(
                given.shape, port.type.shape, text, "both ports declare" if both else f"input port {port.id} declares"
            ),
            help=f"declare {shape_text(given.shape)}",
            input=index,
            severity=Severity.NOTE if known.model.format_version == known.format.lax_version else Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, None, node.located(port.place))


def _port_text(given: Shape | None, declared: Shape | None, text: str, port: str) -> str:
    """What comes in, and what is declared: the one size that differs, or the whole shapes."""
    axis = _only_axis(given, declared)
    if axis is not None and given is not None and declared is not None:
        return f"{given[axis]} comes in on axis {axis}, and {port} {declared[axis]}"
    return f"{shape_text(given)} comes in, and {port} {shape_text(declared)}"


def _only_axis(one: Shape | None, other: Shape | None) -> int | None:
    """The axis on which two shapes cannot be equal, where they may be on all others."""
    if one is None or other is None or len(one) != len(other):
        return None
    axes = [axis for axis, (a, b) in enumerate(zip(one, other)) if same(a, b) is False]
    return axes[0] if len(axes) == 1 else None


def _joined_axis(given: Shape | None, declared: Shape | None, text: str) -> int | None:
    """The one axis that a clash is about, where a declared size has been joined with another one there."""
    from irlint.inference.agreement import joins

    pairs = enumerate(zip(given or (), declared or ()))
    return next((axis for axis, (a, b) in pairs if joins(a, b) and text == f"axis {axis} is {b} against {a}"), None)


def _unpacks(node: Node, declaration: Declaration, graph: Graph) -> bool:
    """Whether a Convert of compressed weights declares the type that they are stored in: OpenVINO's own writer does so
    where the weights are an output of the model.
    """
    stored = graph.constants.get(node.inputs[0]) if node.op == "Convert" and node.inputs and node.inputs[0] else None
    declared = declaration.type
    return stored is not None and isinstance(declared, Tensor) and declared.dtype == stored.tensor.dtype == "float16"


def _of_an_old_writer(fault: Fault, graph: Graph) -> Fault:
    """A fault as loud as it is in version 10, whose writers kept other precisions, and other dims inside bodies."""
    if fault.rule is TYPE_CONTRADICTED:
        return fault.lowered(Severity.NOTE)
    return fault.lowered(Severity.WARNING) if graph.path else fault


def gives(node: Node, known: Known) -> str:
    """Who says otherwise than a declaration: the operator, or the attributes of a node that is an input or a constant."""
    stated = node.op in (known.format.input_node, known.format.constant_node)
    return "its attributes say" if stated else "the operator gives"


def _contradiction(
    inferred: Type | None,
    declaration: Declaration,
    known: Known,
    terms: Terms | None,
    *,
    port: int,
    within: str = "",
    gives: str = "the operator gives",
) -> Fault | None:
    """The fault of a declaration of an output of a node in the graph ``within``, None where both types can be true."""
    if declaration.flaw:
        return None
    declared = declaration.type
    if isinstance(inferred, Tensor) and isinstance(declared, Tensor):
        if inferred.dtype == declared.dtype and inferred.shape == declared.shape:
            return None
    owner = "body" if within else "graph"
    where = {"port": f"output {port}", "value_info": f"value_info of output {port}"}.get(
        declaration.by, f"output {port}, a {owner} {declaration.by},"
    )
    if disagree(inferred, declared):
        stated, given = types_text(declared, inferred)
        return TYPE_CONTRADICTED.fault(
            f"{where} is declared as {stated}; {gives} {given}",
            help=f"declare {given}, or {_way(inferred, declared)}",
            severity=Severity.ERROR if known.format.declared_types_hold else Severity.WARNING,
        )
    held: Type | None = inferred
    stated_type: Type | None = declared
    what = ""
    while isinstance(held, (Sequence, Optional)) and isinstance(stated_type, (Sequence, Optional)):
        what += "elements of " if isinstance(stated_type, Sequence) else "a value of "
        held, stated_type = held.element, stated_type.element
    if not isinstance(held, Tensor) or not isinstance(stated_type, Tensor):
        return None
    returned = declaration.by == "output" and not within
    text = _clash(held.shape, stated_type.shape, known, terms, returned=returned)
    if not text:
        return None
    axis = None if what or "; " in text else _only_axis(held.shape, stated_type.shape)
    if axis is None and not what:
        axis = _joined_axis(held.shape, stated_type.shape, text)
    if axis is not None and held.shape is not None and stated_type.shape is not None:
        told = f"axis {axis} of {where} is declared as {stated_type.shape[axis]}; {gives} {held.shape[axis]}"
    else:
        told = f"{where} is declared as {what}{shape_text(stated_type.shape)}; {gives} {shape_text(held.shape)}: {text}"
    return SHAPE_CONTRADICTED.fault(
        told,
        help=_correction(held.shape, stated_type.shape, axis),
        notes=_joining(held.shape, stated_type.shape, known),
        severity=Severity.ERROR if known.format.declared_shapes_hold else Severity.WARNING,
    )


def _joining(given: Shape | None, declared: Shape | None, known: Known) -> tuple[str, ...]:
    """What the node demands that has broadcast a declared size together with another one."""
    from irlint.inference.agreement import joins

    for a, b in zip(given or (), declared or ()):
        if not joins(a, b):
            continue
        parts = {*broadcast_parts(a)} if a is not None else set()
        for demand in known.requires:
            if any({each.left, each.right} == parts for each in demand.requirement.any_of):
                own = [each.requirement.condition for each in known.requires if each.node is demand.node]
                label = f"{demand.node.op} {demand.node.label!r}"
                return (f"{label} has joined {b} with another size, and works only where {', and '.join(own)}",)
    return ()


def _of_a_parameter(fault: Fault, given: Type | None, declared: Type | None) -> Fault:
    """A fault that names the attribute of the layer, to which nothing leads."""
    stated, shape = getattr(given, "shape", None), getattr(declared, "shape", None)
    if not stated or not shape or not all(isinstance(dim, int) for dim in (*stated, *shape)):
        return fault
    sizes = ",".join(map(str, shape))
    return fault.changed(
        help=f'if {shape_text(shape)} is meant, write shape="{sizes}"; else declare {shape_text(stated)}'
    )


def _correction(given: Shape | None, declared: Shape | None, axis: int | None) -> str:
    """What to correct: what leads here, or the declaration, unless what is given is empty or nothing that anyone would write."""
    if not given or any(dim == 0 or (isinstance(dim, Expr) and len(str(dim)) > READABLE) for dim in given):
        return "correct what leads here" if given else f"declare {shape_text(given)}, or correct what leads here"
    if axis is not None and declared is not None:
        return f"if {declared[axis]} is meant, correct what gives {given[axis]}; else declare {shape_text(given)}"
    return f"if {shape_text(declared)} is meant, correct what leads here; else declare {shape_text(given)}"


#: A declaration of longer sizes is not proposed.
READABLE = 24


def _way(given: Type | None, wanted: Type) -> str:
    """How a value of one type becomes one of another."""
    if isinstance(given, Tensor) and isinstance(wanted, Tensor):
        return f"convert the value to {wanted.dtype}"
    return "cast the elements" if type(given) is type(wanted) else "connect another value"


def _clash(
    inferred: Shape | None, declared: Shape | None, known: Known, terms: Terms | None, *, returned: bool = False
) -> str:
    if inferred == declared or (known.format.no_dims_tell_nothing and not declared):
        return ""
    from irlint.inference.agreement import NO_TERMS, clashes

    return "; ".join(clashes(inferred, declared, terms or NO_TERMS, returned=returned))


def _root(
    node: Node, port: int, declaration: Declaration, roots: Mapping[Value, Problem], known: Known, terms: Terms | None
) -> Problem | None:
    """The problem further up, where the declaration is right for what the file declares of the node's inputs."""
    root = next((roots[value] for value in node.inputs if value is not None and value in roots), None)
    if root is None:
        return None
    inputs = [
        None if value is None else value.type if value in roots else known.types.get(value) for value in node.inputs
    ]
    answer = asked_again(known, node, inputs)
    outputs = answer.outputs if answer is not None else None
    if outputs is None or port >= len(outputs):
        return None
    return root if _contradiction(outputs[port], declaration, known, terms, port=port) is None else None
