"""Nodes that choose between bodies or repeat one: If, Loop and TensorIterator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.dims import MaybeDim, Shape, at_least, largest, product, same
from irlint.findings.faults import Severity
from irlint.findings.statements import agree, warn
from irlint.model import Graph
from irlint.model.tensor import UNKNOWN, Optional, Tensor, Type, disagree, shape_text, type_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.kernels.bodies import (
    BODY_ARITY,
    BODY_TYPES,
    CARRIED_TYPE,
    CONTROL_INPUT,
    DEEPEST_SEARCH,
    as_declared,
    carried,
    check_all_tensors,
    check_arity,
    check_carried_shapes,
    check_input_shapes,
    check_input_types,
    joined,
    nesting,
    outside,
    passing,
    single,
    stacked,
    states_sizes,
    truth,
    unrolled,
)
from irlint.ops.kernels.port_maps import (
    PORT_MAP_BROKEN,
    Entries,
    check_as_stated,
    check_each_once,
    check_inputs_mapped,
    check_outputs_mapped,
    concatenated,
    given,
    merged_inputs,
    of_stated_types,
    ordered,
    same_iterations,
    sliced,
    tied,
)
from irlint.ops.kernels.sizes import narrower
from irlint.ops.kernels.type_variables import types_text
from irlint.parsers.openvino.types import BackEdge, PortMapEntry

BackEdges = Sequence[BackEdge]

CONDITIONS = frozenset({"bool"})
TRIP_COUNTS = frozenset({"int32", "int64"})

#: Trip counts from here on stand for "as often as the condition holds".
ENDLESS = 2**31 - 1


# --- If ---------------------------------------------------------------------------------------------------------------


@onnx("If", since=11, unread={"cond": None})
def if_(cond: Tensor, *, then_branch: Graph, else_branch: Graph, context: Context) -> tuple[Type | None, ...]:
    """ONNX If-11: the outputs of the branch that runs; sizes that differ between two possible branches are unknown."""
    return _either(cond, then_branch, else_branch, context=context, join=joined)


@onnx("If", since=1, unread={"cond": None})
def if_of_one_shape(
    cond: Tensor, *, then_branch: Graph, else_branch: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX If-1: both branches give the same shapes."""
    return _either(cond, then_branch, else_branch, context=context, join=_of_one_shape)


def _of_one_shape(a: Type | None, b: Type | None) -> Type | None:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return joined(a, b)
    if a.shape is None or b.shape is None:
        return Tensor(a.dtype or b.dtype, b.shape if a.shape is None else a.shape)
    why = "before opset 11 both branches of an If give one shape"
    if len(a.shape) == len(b.shape) and all(agree(left, right, why) for left, right in zip(a.shape, b.shape)):
        return Tensor(a.dtype, tuple(map(narrower, a.shape, b.shape)))
    raise BODY_TYPES.fault(
        f"an output is {shape_text(a.shape)} in `then_branch` and {shape_text(b.shape)} in `else_branch`: {why}",
        help="import opset 11 or later, where the shapes may differ",
        attribute="else_branch",
    )


def _either(
    cond: Tensor,
    then_branch: Graph,
    else_branch: Graph,
    *,
    context: Context,
    join: Callable[[Type | None, Type | None], Type | None],
) -> tuple[Type | None, ...]:
    fault = single(cond, "the condition", ("bool",), input=0)
    if fault is not None:
        raise fault
    why = "a branch uses the values of the graph around it by name"
    check_arity(then_branch, "then_branch", 0, outputs=context.outputs, context=context, why=why)
    check_arity(else_branch, "else_branch", 0, outputs=context.outputs, context=context, why=why)
    chosen = truth(cond)
    maybe = chosen is None
    thens = context.run(then_branch, (), dead=chosen is False, maybe=maybe)
    elses = context.run(else_branch, (), dead=chosen is True, maybe=maybe)
    _check_same_types(thens, elses, "then_branch", second="else_branch")
    if chosen is not None:
        return thens if chosen else elses
    return tuple(join(a, b) for a, b in zip(thens, elses))


def _check_same_types(thens: Sequence[Type | None], elses: Sequence[Type | None], first: str, *, second: str) -> None:
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


# --- Loop -------------------------------------------------------------------------------------------------------------


@onnx("Loop", unread={"m": None, "cond": None})
def loop(
    m: Tensor | None = None, cond: Tensor | None = None, *v_initial: Type | None, body: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX Loop: the final carried values, then the scan outputs, stacked on a new first axis."""
    scans = context.outputs - len(v_initial)
    if scans < 0:
        raise BODY_ARITY.fault(
            f"the node carries {len(v_initial)} values and has {context.outputs} outputs; expected is one for each",
            help="name an output for every carried value",
        )
    why = "the iteration number, the condition and the carried values"
    check_arity(body, "body", 2 + len(v_initial), outputs=1 + context.outputs, context=context, why=why)
    for fault in (single(m, "the trip count", ("int64",), input=0), single(cond, "the condition", ("bool",), input=1)):
        if fault is not None:
            raise fault
    number = Tensor("int64", _declared_scalar(body, 0))
    start = Tensor("bool", _declared_scalar(body, 1), (True if cond is None else truth(cond),))
    initial = (start, *v_initial)
    check_input_types(body, "body", (number, *initial))
    check_input_shapes(body, "body", (None, cond))
    never = truth(cond) is False or _count(m) == 0

    def step(state: Sequence[Type | None]) -> tuple[Type | None, ...]:
        return context.run(body, (number, *state), quiet=True)[: len(initial)]

    state = carried(step, initial, context, search=nesting(body) <= DEEPEST_SEARCH)
    exact = (
        None
        if never or state == initial or not _ends(m)
        else unrolled(body, initial, number, count=_count(m), context=context)
    )
    if nesting(body) <= DEEPEST_SEARCH and (never or states_sizes(body, (number, *state))):
        context.run(body, as_declared(body, (number, *state)), stated=True)
    runs = truth(start) and (m is None or _at_least_once(m))
    outputs = context.run(body, (number, *state), dead=never, maybe=not runs)
    _check_carried(initial, outputs[: len(initial)])
    check_carried_shapes(body, initial, outputs, again=not never and _count(m) != 1)
    trips = exact[0] if exact else _trips(m, state[0], outputs[0], never=never)
    own = passing(state, initial)
    finals = exact[1][1:] if exact else [_final(a, b, trips) for a, b in zip(v_initial, outputs[1:])]
    check_all_tensors(outputs[len(initial) :], len(initial))
    stacks = [stacked(known, trips, 0) for known in outputs[len(initial) :]]
    return tuple(outside(known, own) for known in (*finals, *stacks))


def _declared_scalar(body: Graph, position: int) -> Shape:
    """The shape of an iteration number or a condition: that of the body's input where it is [1], else a scalar."""
    declared = body.inputs[position].type if position < len(body.inputs) else None
    return (1,) if isinstance(declared, Tensor) and declared.shape is not None and len(declared.shape) == 1 else ()


def _count(m: Tensor | None) -> MaybeDim:
    """The trip count that a tensor states, None where it is not known or states no end."""
    count = m.ints[0] if m is not None and m.ints is not None and len(m.ints) == 1 else None
    if isinstance(count, int):
        return max(0, count) if count < ENDLESS else None
    return count if count is None or at_least(count, 0) else largest(0, count)


def _at_least_once(m: Tensor) -> bool:
    count = m.ints[0] if m.ints is not None and len(m.ints) == 1 else None
    return bool(at_least(count, 1))


def _ends(m: Tensor | None) -> bool:
    """Whether it is known which trip count a tensor states, and be it that it states no end."""
    return m is None or isinstance(m.scalar, int)


def _trips(m: Tensor | None, before: Type | None, after: Type | None, *, never: bool) -> MaybeDim:
    """How often a body runs whose condition is ``before`` and ``after`` an iteration, None where it may end early."""
    if never:
        return 0
    return _count(m) if truth(before) and truth(after) else None


def _check_carried(initial: Sequence[Type | None], after: Sequence[Type | None]) -> None:
    fault = single(after[0], "output 0 of the body, the condition,", ("bool",))
    if fault is not None and isinstance(after[0], Tensor) and after[0].dtype == "bool":
        warn(fault.lowered(Severity.WARNING))
    elif fault is not None:
        raise fault
    for position, (a, b) in enumerate(zip(initial, after)):
        if disagree(_plain(a, b), b):
            left, right = types_text(_plain(a, b), b)
            raise CARRIED_TYPE.fault(
                f"a carried value is {left} at first (input {position + 1}) and {right} as output {position} of the body",
                help=f"cast output {position} of the body to {left}",
                input=position + 1,
            )


def _plain(initial: Type | None, after: Type | None) -> Type | None:
    """A carried value at first; where it is an optional and the body gives none, what it holds."""
    return initial.element if isinstance(initial, Optional) and not isinstance(after, Optional) else initial


def _final(initial: Type | None, after: Type | None, trips: MaybeDim) -> Type | None:
    """A carried value after the last iteration."""
    if trips == 0:
        return initial
    return after if at_least(trips, 1) else joined(_plain(initial, after), after)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _check_flag(known: Tensor, what: str, kinds: frozenset[str], *, index: int) -> None:
    """Makes sure that a condition or a trip count can be one value; OpenVINO reads any element type, and takes the first."""
    if known.dtype is not None and known.dtype not in kinds:
        fault = single(Tensor(known.dtype), what, sorted(kinds), input=index)
        if fault is not None:
            warn(fault.lowered(Severity.WARNING))
    if known.shape is None or (len(known.shape) <= 1 and same(product(known.shape), 1) is not False):
        return
    fault = CONTROL_INPUT.fault(
        f"{what} is {type_text(known)}, expected is a scalar or one element on one axis",
        help=f"reshape {what} to a scalar",
        input=index,
    )
    if len(known.shape) > 1 or known.value is not None:
        raise fault
    warn(fault.lowered(Severity.WARNING))


@openvino("If", since=8)
def ov_if(
    condition: Tensor,
    *inputs: Tensor | None,
    then_body: Graph,
    else_body: Graph,
    then_port_map: Entries = (),
    else_port_map: Entries = (),
    context: Context,
) -> tuple[Type | None, ...]:
    """OpenVINO If-8: the outputs of the branch that runs; what differs between two possible branches is unknown."""
    _check_flag(condition, "the condition", CONDITIONS, index=0)
    every = (condition, *inputs)
    chosen = truth(condition)
    longer = max(then_port_map, else_port_map, key=lambda entries: len(ordered(entries, "output")))
    check_outputs_mapped(longer, context.outputs, "then_body" if longer is then_port_map else "else_body")
    thens = _branch(then_body, "then_body", then_port_map, inputs=every, context=context, runs=chosen)
    elses = _branch(
        else_body,
        "else_body",
        else_port_map,
        inputs=every,
        context=context,
        runs=None if chosen is None else not chosen,
    )
    if chosen is not None:
        return thens if chosen else elses
    _check_same_types(thens, elses, "then_body", second="else_body")
    return tuple(_joined_or_scalar(a, b) for a, b in zip(thens, elses))


def _branch(
    body: Graph, name: str, entries: Entries, *, inputs: Sequence[Tensor | None], context: Context, runs: bool | None
) -> tuple[Type | None, ...]:
    """The outputs of a branch that always runs, never, or perhaps (None).

    Where the condition is a constant, OpenVINO only reads the branch that never runs, with the types that its Parameters
    state, and infers nothing for an output that an else branch does not give.
    """
    ties = tied(body, name)
    arguments: list[Type | None] = [None] * len(body.inputs)
    for entry in ordered(entries, "input"):
        place = ties.parameter(entry)
        if runs is not False:
            arguments[place] = given(entry, inputs)[1]
    places = [ties.result(entry) for entry in ordered(entries, "output")]
    check_each_once(places, name)
    if runs is False:
        context.run(body, arguments)
        return ()
    check_as_stated(body, arguments, context)
    if runs is None or name == "then_body":
        check_outputs_mapped(entries, context.outputs, name)
    outputs = context.run(body, arguments, maybe=runs is None)
    missing = context.outputs - len(places)
    return (*(outputs[place] for place in places), *(UNKNOWN,) * missing)


def _joined_or_scalar(a: Type | None, b: Type | None) -> Type | None:
    """``joined``, where OpenVINO takes a scalar beside a tensor of one axis as one of one element."""
    tensors = (a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and sorted((a.rank or 0, b.rank or 0)) == [0, 1]:
        if a.shape is not None and b.shape is not None:
            tensors = (Tensor(a.dtype, a.shape or (1,)), Tensor(b.dtype, b.shape or (1,)))
    return joined(*tensors)


@openvino("TensorIterator")
def tensor_iterator(
    *inputs: Tensor | None, body: Graph, port_map: Entries = (), back_edges: BackEdges = (), context: Context
) -> tuple[Type | None, ...]:
    """OpenVINO TensorIterator-1: as many iterations as the sliced inputs have slices."""
    check_inputs_mapped(port_map, 0, len(inputs))
    outputs, trips = _iterated(body, inputs, port_map, back_edges=back_edges, context=context)
    results: list[Type | None] = []
    ties = tied(body, "body")
    found = check_outputs_mapped(port_map, context.outputs, "body")
    if all(entry.axis is None for entry in ordered(port_map, "input")):
        trips = next((_uncounted(entry) for entry in found if entry.axis is not None), None)
    for entry in found:
        known = outputs[ties.result(entry)]
        if entry.axis is not None and isinstance(known, Tensor):
            _expect_axis_of_scalar(known, entry)
            known = concatenated(known, entry, None if trips is None else trips * max(0, entry.part_size))
        results.append(known)
    return tuple(results)


def _expect_axis_of_scalar(known: Tensor, entry: PortMapEntry) -> None:
    """Makes sure that scalars are stacked along axis 0, the one axis that OpenVINO takes for them."""
    if known.shape == () and entry.axis != 0:
        raise PORT_MAP_BROKEN.fault(
            f'layer {entry.internal_layer_id} of the body gives a scalar, and the port map stacks it along axis="{entry.axis}"',
            help='write axis="0"',
        )


def _uncounted(entry: PortMapEntry) -> int | None:
    """The iterations that the library takes from its first output with an axis, where no input is sliced."""
    return abs(entry.end - entry.start) // entry.part_size if entry.part_size > 0 else None


def _opened(x: Tensor, place: int, context: Context) -> Tensor:
    if x.shape is None or 0 not in x.shape:
        return x
    dims = (context.unknown(("empty", place, axis)) if dim == 0 else dim for axis, dim in enumerate(x.shape))
    return Tensor(x.dtype, tuple(dims))


def _iterated(
    body: Graph,
    inputs: Sequence[Tensor | None],
    entries: Entries,
    *,
    back_edges: BackEdges,
    context: Context,
    opens: bool = False,
) -> tuple[tuple[Type | None, ...], MaybeDim]:
    """What a body gives in its last iteration, and how many slices the sliced inputs have.

    With ``opens`` nothing is known of a size of 0 in a value that is carried on, as it may grow, and Parameters take the
    element types that they are given: so the library's Loop has it.
    """
    ties = tied(body, "body")
    merged = merged_inputs(entries, back_edges, ties)
    arguments: list[Type | None] = [None] * len(body.inputs)
    counts = []
    for entry in ordered(entries, "input"):
        index, x = given(entry, inputs)
        place = ties.parameter(entry)
        if entry.axis is not None:
            x, count = sliced(x, entry, index)
            counts.append((index, count))
        arguments[place] = _opened(x, place, context) if opens and place in merged else x
    if not opens:
        arguments = of_stated_types(body, arguments)
    check_as_stated(body, arguments, context)
    places = [place for place in merged if arguments[place] is not None]

    def run(state: Sequence[Type | None], quiet: bool = True) -> tuple[Type | None, ...]:
        values = list(arguments)
        for place, known in zip(places, state):
            values[place] = known
        return context.run(body, values, quiet=quiet)

    def step(state: Sequence[Type | None]) -> tuple[Type | None, ...]:
        outputs = run(state)
        return tuple(outputs[merged[place]] for place in places)

    initial = tuple(arguments[place] for place in places)
    state = carried(step, initial, context, search=nesting(body) <= DEEPEST_SEARCH)
    state = tuple(a if isinstance(b, Tensor) and b.shape is None else b for a, b in zip(initial, state))
    if state != initial and nesting(body) <= DEEPEST_SEARCH:
        run(
            [Tensor(known.dtype, known.shape) if isinstance(known, Tensor) else known for known in initial], quiet=False
        )
    own = passing(state, initial)
    return tuple(outside(known, own) for known in run(state, quiet=False)), same_iterations(counts)


@openvino("Loop", since=5)
def ov_loop(
    trip_count: Tensor,
    execution_condition: Tensor,
    *inputs: Tensor | None,
    body: Graph,
    port_map: Entries = (),
    back_edges: BackEdges = (),
    context: Context,
) -> tuple[Type | None, ...]:
    """OpenVINO Loop-5: iterations until the trip count is reached or the body's condition is false."""
    _check_flag(trip_count, "the trip count", TRIP_COUNTS, index=0)
    _check_flag(execution_condition, "the condition", CONDITIONS, index=1)
    every = (trip_count, execution_condition, *inputs)
    check_inputs_mapped(port_map, 2, len(every))
    conditions = [entry for entry in port_map if entry.kind == "output" and entry.purpose == "execution_condition"]
    if not conditions:
        context.run(body, [None] * len(body.inputs))
        return _without_condition(context.outputs)
    outputs, _ = _iterated(body, every, port_map, back_edges=back_edges, context=context, opens=True)
    ties = tied(body, "body")
    again = outputs[ties.result(conditions[0])]
    if isinstance(again, Tensor) and again.rank is not None and again.rank > 1:
        raise CONTROL_INPUT.fault(
            f"the condition that the body gives is {type_text(again)}, expected is a scalar or one element on one axis",
            help="reshape the condition to a scalar",
        )
    trips = _ov_trips(trip_count, truth(again))
    results: list[Type | None] = []
    for entry in check_outputs_mapped(port_map, context.outputs, "body"):
        known = outputs[ties.result(entry)]
        if isinstance(known, Tensor) and truth(execution_condition) is False:
            known = Tensor(known.dtype)
        elif isinstance(known, Tensor) and entry.axis is not None:
            shape = known.shape or (1,)
            size = shape[entry.axis] if -len(shape) <= entry.axis < len(shape) else None
            known = concatenated(known, entry, product((trips, size)))
        results.append(known)
    return tuple(results)


def _ov_trips(trip_count: Tensor, after: bool | None) -> MaybeDim:
    """How often the body runs; None where its condition may end it early, or nothing else does."""
    if after is False:
        return 1
    count = trip_count.scalar
    if after is None or count is None:
        return None
    count = int(count) if isinstance(count, float) else count
    if isinstance(count, int):
        return count if 0 <= count < 2**63 - 1 else None
    return count


def _without_condition(outputs: int) -> tuple[Type | None, ...]:
    fault = PORT_MAP_BROKEN.fault(
        'the port map has no output with purpose="execution_condition": '
        "OpenVINO infers nothing for the outputs of such a Loop",
        help="add an <output> with that purpose for the Result that tells whether to go on",
    )
    if outputs > 1:
        raise fault
    warn(fault.lowered(Severity.WARNING))
    return (UNKNOWN,) * outputs
