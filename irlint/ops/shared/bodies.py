"""What runs of a body have in common: values that are one of two, and values that a loop carries on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from irlint.dims import Expr, MaybeDim, Shape, product, same, symbols
from irlint.findings.faults import Fault, Rule, Severity, refused
from irlint.findings.statements import warn
from irlint.findings.wording import are, counted, either, listed
from irlint.model import Graph, Value
from irlint.model.tensor import UNKNOWN, Contents, Optional, Scalar, Tensor, Type, disagree, shape_text, type_text
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context
from irlint.ops.shared.type_variables import kind_text, types_text
from irlint.records import replaced

#: A loop's body is run so many times, at most, to find out what changes from one iteration to the next.
ROUNDS = 3

#: A loop without inner bodies is followed iteration by iteration for at most so many nodes.
FOLLOWED = 512

#: Loops that hold others deeper than this take what they carry as unknown, and run their body once.
DEEPEST_SEARCH = 4

#: The most inputs of a body that a message lists.
SHOWN = 6

BODY_ARITY = Rule(
    "IRL390",
    "body-arity-wrong",
    Severity.ERROR,
    "A body has more or fewer inputs or outputs than its node gives to it or takes from it.",
    why="""The inputs and outputs of a body are tied to those of its node by their order. Runtimes refuse a node whose
        body has one too many or one too few.""",
    fix="""Give the body the inputs and outputs that the message counts. A branch of If has no inputs: it uses the
        values of the graph around it by name.""",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t (float[2,3] i) => (float[2,3] a) { a = Relu (i) }, else_branch = e () => (float[2,3] b) \
{ b = Neg (x) }>
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) }, else_branch = e () => (float[2,3] b) { b = Neg \
(x) }>
}""",
    refused=(refused("onnxruntime", "live", "dead"), refused("openvino_frontend")),
)

BODY_TYPES = Rule(
    "IRL391",
    "body-types-differ",
    Severity.ERROR,
    "A body's input or output has another type than the node, or the other branch, gives it.",
    why="""What a node gives to its body, and what both branches of an If return, has to be of one element type: a
        value cannot be of two. The condition of a Loop, and every input of a Scan's body, has to be declared in the
        shape that it gets,
too. Runtimes refuse the model when they load it.""",
    fix="Cast the value in the body or in one of the branches, or correct what the body declares.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) }, else_branch = e () => (double[2,3] b) { b = Cast \
<to = 11> (x) }>
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) }, else_branch = e () => (float[2,3] b) { b = Neg \
(x) }>
}""",
    refused=(refused("onnxruntime"),),
)

SCAN_LENGTH = Rule(
    "IRL394",
    "scan-length-mismatch",
    Severity.ERROR,
    "The values that a node scans together, or that it stacks, have different lengths.",
    why="""One iteration takes one slice of every scanned input, so all of them have to be equally long on the axis
        that is scanned: runtimes refuse the model. What the iterations of a Loop add to one scan output has to be of
        one shape: it fails when it runs.""",
    fix="Make the lengths equal, or name the axis that is meant in `scan_input_axes`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] xs, float[4,2] ys, float[2] s) => (float[2] t) {
  t = Scan <num_scan_inputs = 2, body = b (float[2] i, float[2] x, float[2] y) => (float[2] o) { o = Sum (i, x, y) }> \
(s, xs, ys)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] xs, float[3,2] ys, float[2] s) => (float[2] t) {
  t = Scan <num_scan_inputs = 2, body = b (float[2] i, float[2] x, float[2] y) => (float[2] o) { o = Sum (i, x, y) }> \
(s, xs, ys)
}""",
)

CONTROL_INPUT = Rule(
    "IRL392",
    "control-input-invalid",
    Severity.ERROR,
    "The condition or the trip count of a node with bodies is not a single value of its type.",
    why="""A condition is one boolean and a trip count one whole number. Runtimes refuse several of them, or look only
        at the first one.""",
    fix="Reduce the value to a single element of that type (ReduceMin, Squeeze, Gather, Cast).",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (bool[2] c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) }, else_branch = e () => (float[2,3] b) { b = Neg \
(x) }>
}""",
    good=BODY_ARITY.good,
)

CARRIED_TYPE = Rule(
    "IRL393",
    "carried-value-changes",
    Severity.ERROR,
    "A value that a loop carries on leaves the body in another type, or another fixed shape, than it came in.",
    why="""What one iteration leaves behind is what the next one begins with: its element type has to stay the same,
        and in Scan its shape as well. Runtimes refuse the model. OpenVINO loads an IR whose back edge leaves another
        shape behind, and
fails in the second iteration.""",
    fix="Cast or reshape the value at the end of the body, or before the loop.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] xs, float[2] s) => (float[2] t) {
  t = Scan <num_scan_inputs = 1, body = b (float[2] i, float[2] x) => (float[1] o) { o = ReduceSum <keepdims = 1> (i) \
}> (s, xs)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] xs, float[2] s) => (float[2] t) {
  t = Scan <num_scan_inputs = 1, body = b (float[2] i, float[2] x) => (float[2] o) { o = Add (i, x) }> (s, xs)
}""",
)


def joined(a: Type | None, b: Type | None) -> Type | None:
    """What is known of a value that is ``a`` or ``b``: sizes and contents that differ are None."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        dtype = a.dtype if a.dtype == b.dtype else None
        return Tensor(dtype, joined_shape(a.shape, b.shape), _joined_contents(a.value, b.value))
    if isinstance(a, SequenceType) and isinstance(b, SequenceType):
        length = a.length if same(a.length, b.length) else None
        return SequenceType(_joined_element(a, b), length)
    if isinstance(a, Optional) and isinstance(b, Optional):
        return Optional(joined(a.element, b.element), a.present if a.present == b.present else None)
    return a if a == b else UNKNOWN


def joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of what has the shape ``a`` or ``b``; None where the ranks differ."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(left if same(left, right) else None for left, right in zip(a, b))


def _joined_element(a: SequenceType, b: SequenceType) -> Type | None:
    for empty, other in ((a, b), (b, a)):
        if empty.length == 0 and other.element is not None:
            return other.element
    return joined(a.element, b.element) if a.element is not None and b.element is not None else None


def _joined_contents(a: Contents | None, b: Contents | None) -> Contents | None:
    if a is None or b is None or len(a) != len(b):
        return None
    value = tuple(left if _alike(left, right) else None for left, right in zip(a, b))
    return value if any(entry is not None for entry in value) else None


def _alike(a: Scalar, b: Scalar) -> bool:
    if isinstance(a, Expr) or isinstance(b, Expr):
        return not (isinstance(a, float) or isinstance(b, float)) and same(a, b) is True
    return a == b


def carried(
    step: Callable[[Sequence[Type | None]], Sequence[Type | None]],
    initial: Sequence[Type | None],
    context: Context,
    *,
    key: object = "carried",
    search: bool = True,
) -> tuple[Type | None, ...]:
    """What holds for the carried values at the start of every iteration, their first one included.

    ``step`` gives what a body makes of them. A size that changes becomes an unknown one; what has not settled after
    ``ROUNDS`` runs is wholly unknown, and without ``search`` everything is.
    """
    current = tuple(initial)
    for _ in range(ROUNDS if search else 0):
        after = step(current)
        widened = tuple(_named(joined(a, b), context, (key, index)) for index, (a, b) in enumerate(zip(current, after)))
        if widened == current:
            return current
        current = widened
    return tuple(_featureless(known) for known in initial)


def unrolled(
    body: Graph, initial: Sequence[Type | None], number: Tensor, *, count: MaybeDim, context: Context
) -> tuple[int, tuple[Type | None, ...], list[tuple[Type | None, ...]]] | None:
    """How often the body of an ONNX Loop runs, the condition and carried values in the end, and what each iteration
    adds to the scans.

    ``initial`` is the condition and the carried values at first, ``count`` the trip count, None where it states no end.
    The result is None where it is not known when the loop ends, where that takes more than ``FOLLOWED`` nodes, and
    where a size depends on the data of one iteration: the names of such sizes mean another size in the next one.
    """
    most = FOLLOWED // max(1, len(body.nodes))
    if nesting(body) > 1 or isinstance(count, Expr) or (count is not None and count > most):
        return None
    state = tuple(initial)
    added: list[tuple[Type | None, ...]] = []
    for trip in range(most + 1):
        goes_on = truth(state[0]) if trip != count else False
        if goes_on is None:
            return None
        if not goes_on:
            return trip, state, added
        outputs = context.run(body, (replaced(number, value=(trip,)), *state), "tried")
        added.append(outputs[len(state) :])
        state = outputs[: len(state)]
        if any(name.startswith("_") for name in passing(state, initial)):
            return None
    return None


def _named(known: Type | None, context: Context, key: object) -> Type | None:
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    shape = tuple(context.unknown((key, axis)) if dim is None else dim for axis, dim in enumerate(known.shape))
    return replaced(known, shape=shape)


def _featureless(known: Type | None) -> Type | None:
    if isinstance(known, Tensor):
        return Tensor(known.dtype)
    if isinstance(known, SequenceType):
        element = known.element
        return SequenceType(Tensor(element.dtype) if isinstance(element, Tensor) else element)
    return known


def passing(inputs: Iterable[Type | None], initial: Iterable[Type | None]) -> frozenset[str]:
    """The names of sizes that stand only for one iteration: in ``inputs`` of a body, and not in ``initial``."""
    return _names(inputs) - _names(initial)


def _names(types: Iterable[Type | None]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for known in types:
        if isinstance(known, Tensor):
            for entry in (*(known.shape or ()), *(known.value or ())):
                if isinstance(entry, Expr):
                    found |= symbols(entry)
    return found


def outside(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known`` without the sizes and contents that ``names`` occur in."""
    if isinstance(known, SequenceType):
        return SequenceType(outside(known.element, names), _outside(known.length, names))
    if isinstance(known, Optional):
        return Optional(outside(known.element, names), known.present)
    if not isinstance(known, Tensor) or not names:
        return known
    shape = None if known.shape is None else tuple(_outside(dim, names) for dim in known.shape)
    value = known.value
    if value is not None:
        value = tuple(None if isinstance(entry, Expr) and symbols(entry) & names else entry for entry in value)
    return Tensor(known.dtype, shape, value)


def _outside(dim: MaybeDim, names: frozenset[str]) -> MaybeDim:
    return None if isinstance(dim, Expr) and symbols(dim) & names else dim


def nesting(body: Graph) -> int:
    """How many bodies stand inside each other in ``body``, itself included."""
    deepest, waiting = 1, [(body, 1)]
    while waiting:
        graph, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(inner, depth + 1) for node in graph.nodes for _, inner in node.bodies]
    return deepest


def graph_inputs(body: Graph) -> tuple[Value, ...]:
    """The inputs of an ONNX body that its node has to give: those without an initializer."""
    return tuple(value for value in body.inputs if value not in body.constants)


def arity_fault(body: Graph, name: str, kind: str, *, expected: int, why: str) -> Fault | None:
    """The fault of a body that has other than ``expected`` inputs or outputs (``kind``), None where it has so many."""
    found = len(graph_inputs(body)) if kind == "input" else len(body.outputs)
    if found == expected or (kind == "input" and len(body.inputs) == expected):
        return None
    lost = max(expected - found, 0) if kind == "input" else 0
    names = [each.name for each in body.undefined]
    uses = (
        f": its nodes use {listed([repr(each) for each in names])}, which nothing defines"
        if 0 < len(names) <= lost
        else ""
    )
    return BODY_ARITY.fault(
        f"`{name}` has {counted(found, kind)}; expected {are(expected)} "
        f"{counted(expected, kind) if expected else 'none'}: {why}",
        help=(f"give `{name}` {counted(expected, kind)}" if expected else f"remove the {kind}s of `{name}`") + uses,
        attribute=name,
        notes=_taken(body, name) if kind == "input" else (),
        loses=lost,
    )


def _taken(body: Graph, name: str) -> tuple[str, ...]:
    """A sentence on the inputs of a body."""
    names = [f"`{each.name}`" for each in graph_inputs(body)]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN + 1 else ""
    return (f"`{name}` takes {', '.join(names[:SHOWN]) + more if more else listed(names)}",) if names else ()


def single(known: Type | None, what: str, dtypes: Sequence[str], *, input: int | None = None) -> Fault | None:
    """The fault of a condition or a trip count that is no single value of one of ``dtypes``, None where it can be
    one."""
    if not isinstance(known, Tensor):
        return None
    if known.dtype is not None and known.dtype not in dtypes:
        return CONTROL_INPUT.fault(
            f"{what} is {known.dtype}, expected is {either(*dtypes)}",
            help=f"cast {what} to {dtypes[0]}",
            input=input,
        )
    if known.shape is None or same(product(known.shape), 1) is not False:
        return None
    return CONTROL_INPUT.fault(
        f"{what} is {type_text(known)}, expected is a single element",
        help=f"reduce {what} to one element",
        input=input,
    )


def check_same_types(thens: Sequence[Type | None], elses: Sequence[Type | None], first: str, *, second: str) -> None:
    """Makes sure that two branches give the same types. Raises a ``BODY_TYPES`` fault."""
    for position, (a, b) in enumerate(zip(thens, elses)):
        if not disagree(a, b):
            continue
        left, right = types_text(a, b)
        raise BODY_TYPES.fault(
            f"output {position} is {left} in `{first}` and {right} in `{second}`: both have to be of one type",
            help=f"cast output {position} of one of the branches",
            attribute=second,
        )


def check_arity(body: Graph, name: str, inputs: int, *, outputs: int, context: Context, why: str) -> None:
    """Makes sure that a body has so many inputs and outputs. Raises a ``BODY_ARITY`` fault."""
    first = "the condition comes first, and " if outputs > context.outputs else ""
    faults = (
        arity_fault(body, name, "input", expected=inputs, why=why),
        arity_fault(body, name, "output", expected=outputs, why=f"{first}the node has {context.outputs}"),
    )
    for fault in faults:
        if fault is not None:
            raise fault


def check_input_types(body: Graph, name: str, given: Sequence[Type | None]) -> None:
    """Makes sure that the inputs that a body declares are of the types that it gets. Raises a ``BODY_TYPES`` fault."""
    for position, (value, known) in enumerate(zip(body.inputs, given)):
        if not disagree(value.type, known):
            continue
        declared, found = types_text(value.type, known)
        raise BODY_TYPES.fault(
            f"input {position} of `{name}` ({value.name}) is declared as {declared}, and the node gives it {found}",
            help=f"declare it as {found}, or cast what the node is given",
            attribute=name,
        )


def check_input_shapes(body: Graph, name: str, given: Sequence[Type | None]) -> None:
    """Makes sure that the inputs that a body declares can have the shapes that it gets: ONNX Runtime merges the two
    when it loads the model, for the condition of a Loop and all inputs of a Scan's body. Raises a ``BODY_TYPES`` fault.
    """
    for position, (value, known) in enumerate(zip(body.inputs, given)):
        declared = value.type
        if not isinstance(declared, Tensor) or not isinstance(known, Tensor) or None in (declared.shape, known.shape):
            continue
        assert declared.shape is not None and known.shape is not None
        alike = len(declared.shape) == len(known.shape)
        if alike and all(same(a, b) is not False for a, b in zip(declared.shape, known.shape)):
            continue
        raise BODY_TYPES.fault(
            f"input {position} of `{name}` ({value.name}) is declared as {shape_text(declared.shape)}, and the node "
            "gives it "
            f"{shape_text(known.shape)}",
            help=f"declare it as {shape_text(known.shape)}, or reshape what the node is given",
            attribute=name,
        )


def as_declared(body: Graph, given: Sequence[Type | None]) -> tuple[Type | None, ...]:
    """What comes into the body of a Loop, of the sizes that its inputs declare, and of no known ones where they declare
    none.

    ONNX Runtime takes the element type of what a Loop carries from what comes in, and its shape from the body.
    """
    return tuple(
        Tensor(known.dtype, _stated_sizes(value.type)) if isinstance(known, Tensor) else known
        for value, known in zip(body.inputs, given)
    )


def _stated_sizes(declared: Type | None) -> Shape | None:
    if not isinstance(declared, Tensor) or declared.shape is None:
        return None
    return tuple(size if isinstance(size, int) else None for size in declared.shape)


def states_sizes(body: Graph, given: Sequence[Type | None]) -> bool:
    """Whether the inputs of a body declare other numbers of axes or sizes than those that come in."""
    pairs = ((_stated_sizes(value.type), known) for value, known in zip(body.inputs, given))
    return any(
        sizes is not None and isinstance(known, Tensor) and not _contains(known.shape, sizes) for sizes, known in pairs
    )


def _contains(shape: Shape | None, sizes: Shape) -> bool:
    """Whether a shape has all ``sizes`` that are known."""
    if shape is None or len(shape) != len(sizes):
        return False
    return all(size is None or size == dim for size, dim in zip(sizes, shape))


def check_carried_shapes(
    body: Graph, initial: Sequence[Type | None], after: Sequence[Type | None], *, again: bool
) -> None:
    """Warns of inputs that a body declares in a shape in which they never come: at first, or ``again`` from the body
    itself."""
    for position, (value, before, result) in enumerate(zip(body.inputs[1:], initial, after), 1):
        first = _never(value.type, before)
        fits = isinstance(before, Tensor) and _contains(before.shape, _stated_sizes(value.type) or ())
        if not first and not (again and fits and _never(value.type, result)):
            continue
        assert isinstance(value.type, Tensor)
        came = before if first else result
        assert isinstance(came, Tensor)
        source = "the node gives it" if first else f"output {position - 1} of the body, which comes back there, is"
        fault = BODY_TYPES.fault(
            f"input {position} of `body` ({value.name}) is declared as {shape_text(value.type.shape)}, and {source} "
            f"{shape_text(came.shape)}",
            help=f"declare it as {shape_text(came.shape)}" if first else "leave its changing sizes open",
            attribute="body",
            severity=Severity.WARNING,
        )
        warn(fault)


def _never(declared: Type | None, known: Type | None) -> bool:
    """Whether a tensor cannot have the shape that is declared."""
    if not isinstance(declared, Tensor) or not isinstance(known, Tensor) or None in (declared.shape, known.shape):
        return False
    assert declared.shape is not None
    assert known.shape is not None
    if len(declared.shape) != len(known.shape):
        return True
    return any(isinstance(size, int) and same(size, dim) is False for size, dim in zip(declared.shape, known.shape))


def truth(known: Type | None) -> bool | None:
    """Whether the one element of a condition is true, None where that is not known."""
    scalar = known.scalar if isinstance(known, Tensor) else None
    return None if scalar is None or isinstance(scalar, Expr) else bool(scalar)


def check_all_tensors(outputs: Sequence[Type | None], first: int) -> None:
    """Makes sure that what a body gives, from its output ``first`` on, can be stacked. Raises a ``BODY_TYPES``
    fault."""
    for position, known in enumerate(outputs, first):
        if known is not None and not isinstance(known, Tensor):
            raise BODY_TYPES.fault(
                f"output {position} of `body` is {kind_text(known)}, and the node stacks what every iteration gives "
                "there: "
                "that has to be a tensor",
                help="carry the value from one iteration to the next, or return a tensor",
                attribute="body",
            )


def stacked(known: Type | None, trips: MaybeDim, axis: int) -> Type | None:
    """The slices of all iterations, joined on a new axis."""
    if not isinstance(known, Tensor):
        return UNKNOWN
    if known.shape is None:
        return Tensor(known.dtype)
    return Tensor(known.dtype, (*known.shape[:axis], trips, *known.shape[axis:]))
