"""Checks of the inputs and outputs of bodies, and the stacked outputs of all iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.dims import Expr, MaybeDim, Shape, product, same
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import either
from irlint.model import Graph, Value
from irlint.model.tensor import UNKNOWN, Tensor, Type, disagree, shape_text, type_text
from irlint.ops.shared.type_variables import kind_text, types_text

#: The search for types that change between iterations infers a body at most this many times.
ROUNDS = 3

#: A loop is inferred iteration by iteration if the iterations have at most this many nodes in total.
MOST_UNROLLED_NODES = 512

#: irlint runs bodies more than once, in search of types that change, only up to this depth of nested bodies.
DEEPEST_SEARCH = 4

BODY_ARITY = Rule(
    "IRL390",
    "body-arity-wrong",
    Severity.ERROR,
    "A body has the wrong number of inputs or outputs.",
    why=(
        "The inputs and outputs of a body correspond to those of its node by position. Runtimes refuse a body with "
        "more or fewer."
    ),
    fix=(
        "Give the body the number of inputs and outputs in the message, or add the inputs and outputs of the node that "
        "a new value of the body needs. A branch of If has no inputs: it uses values of the enclosing graph by name."
    ),
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
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("openvino_frontend")),
)

BODY_TYPES = Rule(
    "IRL391",
    "body-types-differ",
    Severity.ERROR,
    "A body's input or output differs in type from the node's value, or from the other branch.",
    why=(
        "An input of a body must have the element type of the value that the node passes to it. Both branches of an "
        "If must return the same element types. For the condition of a Loop, and for every input of a Scan's body, "
        "the declared shape must match too. Otherwise, runtimes refuse the model when they load it."
    ),
    fix="Cast the value in the body or in one of the branches, or correct the declaration in the body.",
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
    refused=(Refusal("onnxruntime"),),
)

SCAN_LENGTH = Rule(
    "IRL394",
    "scan-length-mismatch",
    Severity.ERROR,
    "The inputs that a node scans, or the slices that it stacks, have different sizes.",
    why=(
        "Each iteration of a Scan takes one slice of every scanned input, so all of these need the same size on the "
        "scanned axis; otherwise, runtimes refuse the model. All slices that a Loop stacks into one output need the "
        "same shape; otherwise, the Loop fails when it runs."
    ),
    fix="Make the sizes equal, or set `scan_input_axes` to the intended axis.",
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
    "The condition or the trip count of a node with bodies has the wrong type or more than one element.",
    why=(
        "A condition is one boolean, and a trip count is one integer. Runtimes refuse a larger tensor, or use only "
        "its first element."
    ),
    fix="Reduce the value to one element of the right type (ReduceMin, Squeeze, Gather, Cast).",
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
    "The body returns a loop-carried value with another element type or another fixed shape.",
    why=(
        "The result of an iteration is the input of the next one, so its element type must not change; in Scan, its "
        "shape must not change either. Runtimes refuse the model. OpenVINO loads an IR whose back edge changes the "
        "shape, and fails in the second iteration."
    ),
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


def nesting(body: Graph) -> int:
    """The depth of nested bodies; 1 if ``body`` has no inner bodies."""
    deepest, waiting = 1, [(body, 1)]
    while waiting:
        graph, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(inner, depth + 1) for node in graph.nodes for _, inner in node.bodies]
    return deepest


def graph_inputs(body: Graph) -> tuple[Value, ...]:
    """The inputs of an ONNX body that have no initializer, so the node must supply their values."""
    return tuple(value for value in body.inputs if value not in body.constants)


def control_fault(known: Type | None, what: str, dtypes: Sequence[str], *, input: int | None = None) -> Fault | None:
    """The fault of a condition or trip count; None if the value may be one element with a type in ``dtypes``."""
    if not isinstance(known, Tensor):
        return None
    if known.dtype is not None and known.dtype not in dtypes:
        return CONTROL_INPUT.fault(
            f"{what} is {known.dtype}, expected {either(*dtypes)}",
            help=f"cast {what} to {dtypes[0]}",
            input=input,
        )
    if known.shape is None or same(product(known.shape), 1) is not False:
        return None
    return CONTROL_INPUT.fault(
        f"{what} is {type_text(known)}, expected a single element",
        help=f"reduce {what} to one element",
        input=input,
    )


def swap_help(position: int, initial: Sequence[Type | None], after: Sequence[Type | None], *, body: Graph) -> str:
    """The help to swap the output at ``position`` of a body with another output.

    "" unless there is exactly one other output for which all carried values keep their types after the swap.
    """
    found = []
    for other in range(len(initial)):
        types = list(after[: len(initial)])
        types[position], types[other] = types[other], types[position]
        if other != position and not any(map(disagree, initial, types)):
            found.append(other)
    if len(found) != 1:
        return ""
    first, second = sorted((position, found[0]))
    names = " and ".join(f"`{body.outputs[at].name}`" for at in (first, second))
    return f"swap outputs {first} and {second} of the body, {names}"


def check_same_types(thens: Sequence[Type | None], elses: Sequence[Type | None], first: str, *, second: str) -> None:
    """Checks that the branches ``first`` and ``second`` return equal types. Raises a ``BODY_TYPES`` fault."""
    for position, (a, b) in enumerate(zip(thens, elses)):
        if not disagree(a, b):
            continue
        left, right = types_text(a, b)
        raise BODY_TYPES.fault(
            f"output {position} is {left} in `{first}` and {right} in `{second}`: both must have the same type",
            help=f"cast output {position} of one of the branches",
            attribute=second,
        )


def check_input_types(body: Graph, name: str, given: Sequence[Type | None], *, omitted: int | None = None) -> None:
    """Checks that a body declares the types of the values that it receives.

    ``omitted`` is the position of a body input for which the node has no input. A wrong type at this position is a
    warning, because runtimes do not compare it. Raises a ``BODY_TYPES`` fault.
    """
    for position, (value, known) in enumerate(zip(body.inputs, given)):
        if not disagree(value.type, known):
            continue
        declared, found = types_text(value.type, known)
        fault = BODY_TYPES.fault(
            f"input {position} of `{name}` ({value.name}) is declared as {declared}, and the node gives it {found}",
            help=f"declare it as {found}" + (", or cast the input of the node" if position != omitted else ""),
            attribute=name,
        )
        if position != omitted:
            raise fault
        warn(fault.lowered(Severity.WARNING))


def check_input_shapes(
    body: Graph, name: str, given: Sequence[Type | None], *, marked: Callable[[int, int], tuple[int, int]] | None = None
) -> None:
    """Checks that the values that a body receives can have its declared shapes. Raises a ``BODY_TYPES`` fault.

    ``marked(position, axis)`` returns the (input of the node, axis) of an axis of a received value.
    """
    for position, (value, known) in enumerate(zip(body.inputs, given)):
        declared = value.type
        if not isinstance(declared, Tensor) or not isinstance(known, Tensor) or None in (declared.shape, known.shape):
            continue
        assert declared.shape is not None and known.shape is not None
        same_rank = len(declared.shape) == len(known.shape)
        axes = [axis for axis, (a, b) in enumerate(zip(declared.shape, known.shape)) if same(a, b) is False]
        if same_rank and not axes:
            continue
        may_be_reshaped = same(product(declared.shape), product(known.shape)) is not False
        raise BODY_TYPES.fault(
            f"input {position} of `{name}` ({value.name}) is declared as {shape_text(declared.shape)}, and the node "
            f"gives it {shape_text(known.shape)}",
            help=f"declare it as {shape_text(known.shape)}, or "
            + ("reshape the input of the node" if may_be_reshaped else f"pass {shape_text(declared.shape)}"),
            attribute=name,
            marks=tuple(marked(position, axis) for axis in axes) if same_rank and marked is not None else (),
            aligned="left",
            passes=tuple(given),
        )


def with_declared_shapes(body: Graph, given: Sequence[Type | None]) -> tuple[Type | None, ...]:
    """The inputs of a Loop's body with the element types of ``given`` and the declared shapes, as in ONNX Runtime."""
    return tuple(
        Tensor(known.dtype, _static_sizes(value.type)) if isinstance(known, Tensor) else known
        for value, known in zip(body.inputs, given)
    )


def _static_sizes(declared: Type | None) -> Shape | None:
    if not isinstance(declared, Tensor) or declared.shape is None:
        return None
    return tuple(size if isinstance(size, int) else None for size in declared.shape)


def states_sizes(body: Graph, given: Sequence[Type | None]) -> bool:
    """Whether the inputs of a body declare a rank or a size that the received values do not certainly have."""
    pairs = ((_static_sizes(value.type), known) for value, known in zip(body.inputs, given))
    return any(
        sizes is not None and isinstance(known, Tensor) and not _contains(known.shape, sizes) for sizes, known in pairs
    )


def _contains(shape: Shape | None, sizes: Shape) -> bool:
    """Whether ``shape`` has the rank of ``sizes``, and every size that is known in ``sizes``."""
    if shape is None or len(shape) != len(sizes):
        return False
    return all(size is None or size == dim for size, dim in zip(sizes, shape))


def check_carried_shapes(
    body: Graph, initial: Sequence[Type | None], after: Sequence[Type | None], *, again: bool
) -> None:
    """Reports a ``BODY_TYPES`` warning if a carried value cannot have the declared shape of the body's input.

    With ``again``, the body has a second iteration, which receives the values ``after`` the first iteration.
    """
    for position, (value, before, result) in enumerate(zip(body.inputs[1:], initial, after), 1):
        at_first = is_impossible(value.type, before)
        fits = isinstance(before, Tensor) and _contains(before.shape, _static_sizes(value.type) or ())
        if not at_first and not (again and fits and is_impossible(value.type, result)):
            continue
        assert isinstance(value.type, Tensor)
        actual = before if at_first else result
        assert isinstance(actual, Tensor)
        source = "the node passes" if at_first else f"output {position - 1} of the body, which is passed back to it, is"
        fault = BODY_TYPES.fault(
            f"input {position} of `body` ({value.name}) is declared as {shape_text(value.type.shape)}, and {source} "
            f"{shape_text(actual.shape)}",
            help=f"declare it as {shape_text(actual.shape)}, or pass {shape_text(value.type.shape)}"
            if at_first
            else f"declare its changing sizes as dynamic, or return {shape_text(value.type.shape)}",
            attribute="body",
            severity=Severity.WARNING,
        )
        warn(fault)


def is_impossible(declared: Type | None, known: Type | None) -> bool:
    """Whether a tensor cannot have the declared shape."""
    if not isinstance(declared, Tensor) or not isinstance(known, Tensor) or None in (declared.shape, known.shape):
        return False
    assert declared.shape is not None
    assert known.shape is not None
    if len(declared.shape) != len(known.shape):
        return True
    return any(isinstance(size, int) and same(size, dim) is False for size, dim in zip(declared.shape, known.shape))


def truth(known: Type | None) -> bool | None:
    """The value of a condition; None if it is unknown."""
    scalar = known.scalar if isinstance(known, Tensor) else None
    return None if scalar is None or isinstance(scalar, Expr) else bool(scalar)


def check_all_tensors(outputs: Sequence[Type | None], first: int) -> None:
    """Checks that the outputs of a body from index ``first`` on are tensors. Raises a ``BODY_TYPES`` fault."""
    for position, known in enumerate(outputs, first):
        if known is not None and not isinstance(known, Tensor):
            raise BODY_TYPES.fault(
                f"output {position} of `body` is {kind_text(known)}, but the node stacks this output of every "
                "iteration, so it must be a tensor",
                help="carry the value from one iteration to the next, or return a tensor",
                attribute="body",
            )


def stacked(part: Type | None, trips: MaybeDim, axis: int) -> Type | None:
    """The slices of all iterations, stacked along a new axis of size ``trips``."""
    if not isinstance(part, Tensor):
        return UNKNOWN
    if part.shape is None:
        return Tensor(part.dtype)
    return Tensor(part.dtype, (*part.shape[:axis], trips, *part.shape[axis:]))
