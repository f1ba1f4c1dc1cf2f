"""If and Loop of ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Expr, MaybeDim, Shape, at_least, largest, product, same
from irlint.findings.faults import Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.model import Graph, Value
from irlint.model.tensor import Ends, Optional, Tensor, Type, disagree, shape_text, tensor_shape
from irlint.ops import Context, Runs, onnx
from irlint.ops.shared.bodies import (
    BODY_ARITY,
    BODY_TYPES,
    CARRIED_TYPE,
    DEEPEST_SEARCH,
    SCAN_LENGTH,
    check_all_tensors,
    check_carried_shapes,
    check_input_shapes,
    check_input_types,
    check_same_types,
    control_fault,
    nesting,
    stacked,
    states_sizes,
    swap_help,
    truth,
    with_declared_shapes,
)
from irlint.ops.shared.body_arity import check_arity, help_for_state
from irlint.ops.shared.carrying import carried, joined, new_symbols, unrolled, without_symbols
from irlint.ops.shared.sizes import narrower
from irlint.ops.shared.type_variables import types_text
from irlint.parsers.faults import TYPE_MISSING
from irlint.parsers.openvino.types import BackEdge

BackEdges = Sequence[BackEdge]

#: irlint treats a trip count of at least this number as no limit.
NO_LIMIT = 2**31 - 1

#: A loop has a second iteration if its trip count is at least this number.
SECOND = 2


# --- If ---------------------------------------------------------------------------------------------------------------


@onnx("If", since=11, may_be_external={"cond": None})
def if_(cond: Tensor, *, then_branch: Graph, else_branch: Graph, context: Context) -> tuple[Type | None, ...]:
    """ONNX If-11 and later."""
    thens, elses = _branches(cond, then_branch, else_branch, context=context)
    chosen = truth(cond)
    if chosen is not None:
        return thens if chosen else elses
    return tuple(joined(a, b) for a, b in zip(thens, elses))


@onnx("If", since=1, may_be_external={"cond": None})
def if_of_one_shape(
    cond: Tensor, *, then_branch: Graph, else_branch: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX If-1: both branches return the same shapes."""
    thens, elses = _branches(cond, then_branch, else_branch, context=context)
    chosen = truth(cond)
    pairs = zip(thens, elses, then_branch.outputs, else_branch.outputs)
    for a, b, output, other_output in pairs:
        _check_shapes(_as_loaded(a, output), _as_loaded(b, other_output), chosen)
    if chosen is not None:
        return thens if chosen else elses
    return tuple(_of_one_shape(a, b) for a, b in zip(thens, elses))


def _as_loaded(known: Type | None, output: Value) -> Type | None:
    """The type that ONNX Runtime infers for a branch's output. It drops a shape that contradicts the declared shape."""
    for declaration in output.declared:
        declared = declaration.type
        if isinstance(known, Tensor) and isinstance(declared, Tensor) and _clash(known.shape, declared.shape):
            return Tensor(known.dtype)
    return known


def _clash(one: Shape | None, other: Shape | None) -> bool:
    """Whether two shapes certainly differ."""
    if one is None or other is None:
        return False
    return len(one) != len(other) or any(same(a, b) is False for a, b in zip(one, other))


def _of_one_shape(a: Type | None, b: Type | None) -> Type | None:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor) or _clash(a.shape, b.shape):
        return joined(a, b)
    if a.shape is None or b.shape is None:
        return Tensor(a.dtype or b.dtype, b.shape if a.shape is None else a.shape)
    return Tensor(a.dtype, tuple(map(narrower, a.shape, b.shape)))


def _check_shapes(a: Type | None, b: Type | None, chosen: bool | None) -> None:
    """Checks that two branches return the same shape.

    Raises a ``BODY_TYPES`` fault. If it is known which branch is ``chosen``, reports the fault as a warning.
    """
    if not isinstance(a, Tensor) or not isinstance(b, Tensor) or a.shape is None or b.shape is None:
        return
    why = "before opset 11, both branches of an If have to return the same shape"
    if _clash(a.shape, b.shape):
        fault = BODY_TYPES.fault(
            f"an output is {shape_text(a.shape)} in `then_branch` and {shape_text(b.shape)} in `else_branch`: {why}",
            help="import opset 11 or later, in which the shapes may differ",
            attribute="else_branch",
        )
        if chosen is None:
            raise fault
        warn(fault.lowered(Severity.WARNING))
    for left, right in zip(a.shape, b.shape) if chosen is None else ():
        agree(left, right, why)


def _branches(
    cond: Tensor, then_branch: Graph, else_branch: Graph, *, context: Context
) -> tuple[tuple[Type | None, ...], tuple[Type | None, ...]]:
    """The outputs of both branches. Raises faults of arity and of types."""
    fault = control_fault(cond, "the condition", ("bool",), input=0)
    if fault is not None:
        raise fault
    why = "a branch uses the values of the enclosing graph by name"
    branches = ((then_branch, "then_branch"), (else_branch, "else_branch"))
    for (branch, name), (other, other_name) in zip(branches, reversed(branches)):
        node = "the node" + f" and `{other_name}`" * (len(other.outputs) != len(branch.outputs))
        check_arity(branch, name, 0, outputs=context.outputs, context=context, why=why, node=node)
    chosen = truth(cond)
    thens = context.run(then_branch, (), "maybe" if chosen is None else "always" if chosen else "never")
    elses = context.run(else_branch, (), "maybe" if chosen is None else "never" if chosen else "always")
    check_same_types(thens, elses, "then_branch", second="else_branch")
    return thens, elses


# --- Loop -------------------------------------------------------------------------------------------------------------


@onnx("Loop", may_be_external={"m": None, "cond": None})
def loop(
    m: Tensor | None = None, cond: Tensor | None = None, *v_initial: Type | None, body: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX Loop: the final carried values, then the scan outputs, stacked along a new first axis."""
    _check_loop(m, cond, v_initial, body=body, context=context)
    number = Tensor("int64", _declared_scalar(body, 0))
    start = Tensor("bool", _declared_scalar(body, 1), (True if cond is None else truth(cond),))
    initial = (start, *v_initial)
    check_input_types(body, "body", (number, *initial), omitted=1 if cond is None else None)
    check_input_shapes(body, "body", (None, cond), marked=lambda position, axis: (position, axis))
    never = truth(cond) is False or _count(m) == 0
    searched = nesting(body) <= DEEPEST_SEARCH

    def step(state: Sequence[Type | None]) -> tuple[Type | None, ...]:
        return context.run(body, (number, *state), "tried")[: len(initial)]

    state = carried(step, initial, context, search=searched)
    if searched and not never and state != initial:
        context.run(body, (number, *map(_without_value, initial)), _runs(start, m))
        _run_again(step(initial), initial, number, m=m, body=body, context=context)
    exact = None
    if not never and state != initial and _has_known_limit(m):
        exact = unrolled(body, initial, number, count=_count(m), context=context)
    if searched and (never or states_sizes(body, (number, *state))):
        context.run(body, with_declared_shapes(body, (number, *state)), "as declared")
    trips = _known_count(m, body, number, initial=initial, state=state, context=context)
    number = _numbers(number, m, state[0]) if not never else number
    outputs = context.run(body, (number, *state), "never" if never else _runs(start, m))
    _check_carried(initial, outputs[: len(initial)], body)
    check_carried_shapes(body, initial, outputs, again=not never and _count(m) != 1)
    added: Sequence[Sequence[Type | None]] = ()
    if exact is not None:
        trips, (_, *finals), added = exact
    else:
        trips = _trips(m, state[0], outputs[0], never=never) if trips is None else trips
        finals = [_final(a, b, trips) for a, b in zip(v_initial, outputs[1:])]
    check_all_tensors(outputs[len(initial) :], len(initial))
    _check_stacked(added, len(v_initial))
    stacks = [stacked(known, trips, 0) for known in outputs[len(initial) :]]
    of_one_iteration = new_symbols(state, initial)
    return tuple(without_symbols(known, of_one_iteration) for known in (*finals, *stacks))


def _without_value(known: Type | None) -> Type | None:
    return Tensor(known.dtype, known.shape) if isinstance(known, Tensor) else known


def _run_again(
    first: Sequence[Type | None],
    initial: Sequence[Type | None],
    number: Tensor,
    *,
    m: Tensor | None,
    body: Graph,
    context: Context,
) -> None:
    """Runs the body for the second iteration, unless the loop ends before it."""
    count = _count(m)
    continues = truth(initial[0]) and truth(first[0]) and not (isinstance(count, int) and count < SECOND)
    all_tensors = all(isinstance(known, Tensor) for known in (*first, *initial))
    # A symbol for a data-dependent size of the first iteration stands for another size in the second iteration.
    depends_on_data = any(name.startswith("_") for name in new_symbols(first, initial))
    if continues and all_tensors and not depends_on_data:
        is_certain = _has_known_limit(m) or at_least(count, SECOND)
        context.run(body, (number, *first), "second" if is_certain else "maybe second")


def _check_loop(
    m: Tensor | None, cond: Tensor | None, v_initial: Sequence[Type | None], *, body: Graph, context: Context
) -> None:
    """Checks a Loop with its carried values. Raises faults of arity and of types."""
    values = len(v_initial)
    if context.outputs < values:
        raise BODY_ARITY.fault(
            f"the node carries {counted(values, 'value')} and has {counted(context.outputs, 'output')}; expected one "
            "output for each carried value",
            help="add an output for every carried value",
        )
    why = "the iteration number, the condition and the carried values"
    passed, states = (None, cond, *v_initial), range(2, 3 + values)
    help = help_for_state(body, passed, "Loop", states=states, outputs=1 + context.outputs)
    check_arity(body, "body", 2 + values, outputs=1 + context.outputs, context=context, why=why, help=help)
    for fault in (
        control_fault(m, "the trip count", ("int64",), input=0),
        control_fault(cond, "the condition", ("bool",), input=1),
    ):
        if fault is not None:
            raise fault
    if cond is None and body.inputs[1].type is None:
        raise TYPE_MISSING.fault(
            "input 1 of `body`, the condition, has no type, and the node has no condition that determines the type",
            help="declare the type bool",
        )


def _known_count(
    m: Tensor | None,
    body: Graph,
    number: Tensor,
    *,
    initial: Sequence[Type | None],
    state: Sequence[Type | None],
    context: Context,
) -> MaybeDim:
    """The trip count, if it is a dynamic size and the changing condition never ends the loop early; otherwise None."""
    count = _count(m)
    if not truth(initial[0]) or truth(state[0]) is not None or not isinstance(count, Expr):
        return None
    from irlint.ops.shared.trips import lasts_for

    return count if lasts_for(body, number, initial, state=state, count=count, context=context) else None


def _numbers(number: Tensor, m: Tensor | None, condition: Type | None) -> Tensor:
    """The iteration number. Its range is known if the trip count is known and at least 1, and the condition never ends
    the loop."""
    count = _count(m)
    if count is None or not truth(condition) or not at_least(count, 1):
        return number
    return Tensor(number.dtype, number.shape, None, Ends(0, count - 1))


def _runs(start: Tensor, m: Tensor | None) -> Runs:
    """Returns "always" if the body certainly runs at least once, and "maybe" otherwise."""
    return "always" if truth(start) and (m is None or _at_least_once(m)) else "maybe"


def _declared_scalar(body: Graph, position: int) -> Shape:
    """The shape of the iteration number (position 0) or the condition (1): [1] if the body declares axes, else []."""
    declared = body.inputs[position].type if position < len(body.inputs) else None
    return (1,) if isinstance(declared, Tensor) and declared.shape else ()


def _count(m: Tensor | None) -> MaybeDim:
    """The trip count; None if it is omitted or unknown, or so large that it is no limit."""
    count = m.ints[0] if m is not None and m.ints is not None and len(m.ints) == 1 else None
    if isinstance(count, int):
        return max(0, count) if count < NO_LIMIT else None
    return count if count is None or at_least(count, 0) else largest(0, count)


def _at_least_once(m: Tensor) -> bool:
    count = m.ints[0] if m.ints is not None and len(m.ints) == 1 else None
    return bool(at_least(count, 1))


def _has_known_limit(m: Tensor | None) -> bool:
    """Whether the trip count is a known integer or is omitted."""
    return m is None or isinstance(m.scalar, int)


def _trips(m: Tensor | None, before: Type | None, after: Type | None, *, never: bool) -> MaybeDim:
    """The number of iterations; None if the trip count is unknown, or if the condition ``before`` or ``after`` an
    iteration may end the loop."""
    if never:
        return 0
    return _count(m) if truth(before) and truth(after) else None


def _check_carried(initial: Sequence[Type | None], after: Sequence[Type | None], body: Graph) -> None:
    """Checks that the body keeps the types of the condition and the carried values.

    Raises a ``CONTROL_INPUT`` or ``CARRIED_TYPE`` fault.
    """
    fault = control_fault(after[0], "output 0 of the body, the condition,", ("bool",))
    if fault is not None and isinstance(after[0], Tensor) and after[0].dtype == "bool":
        warn(fault.lowered(Severity.WARNING))
    elif fault is not None:
        raise fault.changed(help=swap_help(0, initial, after, body=body) or fault.help)
    for position, (a, b) in enumerate(zip(initial, after)):
        if disagree(_unwrapped(a, b), b):
            left, right = types_text(_unwrapped(a, b), b)
            swap = swap_help(position, [_unwrapped(one, other) for one, other in zip(initial, after)], after, body=body)
            help = swap or f"cast output {position} of the body to {left}, or pass {right} as input {position + 1}"
            if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
                help = f"{swap}, or " * bool(swap) + f"return {left} as output {position} of the body"
            raise CARRIED_TYPE.fault(
                f"a carried value is {left} at first (input {position + 1}) and {right} as output {position} of the "
                "body",
                help=help,
                input=position + 1,
            )


def _unwrapped(initial: Type | None, after: Type | None) -> Type | None:
    """The initial type of a carried value. If the body returns no Optional, an Optional becomes its element type."""
    return initial.element if isinstance(initial, Optional) and not isinstance(after, Optional) else initial


def _check_stacked(added: Sequence[Sequence[Type | None]], first_output: int) -> None:
    """Checks the slices that each iteration has ``added`` to the scan outputs. Raises a ``SCAN_LENGTH`` fault."""
    # ONNX Runtime compares only the numbers of elements.
    for trip, slices in enumerate(added):
        for index, (first, later) in enumerate(zip(added[0], slices), first_output):
            shape, other = tensor_shape(first), tensor_shape(later)
            if shape is not None and other is not None and _differ(product(shape), product(other)):
                raise SCAN_LENGTH.fault(
                    f"output {index} stacks slices: iteration 0 adds {shape_text(shape)} and iteration {trip} adds "
                    f"{shape_text(other)}; all slices must have the same shape",
                    help="return the value in the same shape in every iteration",
                )


def _differ(one: MaybeDim, other: MaybeDim) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one != other


def _final(initial: Type | None, after: Type | None, trips: MaybeDim) -> Type | None:
    """The type of a carried value after the last iteration."""
    if trips == 0:
        return initial
    return after if at_least(trips, 1) else joined(_unwrapped(initial, after), after)
