"""OpenVINO's If, TensorIterator and Loop."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, product, same
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.model import Graph
from irlint.model.tensor import UNKNOWN, Tensor, Type, tensor_shape, type_text
from irlint.ops import Context, Runs, openvino
from irlint.ops.shared.back_edges import Iteration, check_back_edges
from irlint.ops.shared.bodies import CONTROL_INPUT, DEEPEST_SEARCH, check_same_types, control_fault, nesting, truth
from irlint.ops.shared.carrying import carried, joined, new_symbols, without_symbols
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.iterations import (
    CONDITION_TYPES,
    COUNT_TYPES,
    SlicedPort,
    check_condition,
    check_iteration_number,
    check_sliced_ports,
    check_trip_count,
)
from irlint.ops.shared.port_maps import (
    PORT_MAP_BROKEN,
    Entries,
    Ties,
    check_as_declared,
    check_each_once,
    check_inputs_mapped,
    check_outputs_mapped,
    check_parameters_tied,
    check_unchanged_once,
    concatenated,
    declared_parameters,
    input_of,
    merged_inputs,
    ordered,
    read_values,
    same_iterations,
    sliced,
    tied,
    with_declared_types,
)
from irlint.parsers.openvino.types import BackEdge, PortMapEntry
from irlint.records import record

BackEdges = Sequence[BackEdge]


def _check_control(known: Tensor, what: str, kinds: Sequence[str], *, index: int, strict: bool = False) -> None:
    """Checks that a condition or a trip count is one element of one of the types ``kinds``.

    Raises a ``CONTROL_INPUT`` fault. Unless ``strict``, wrong types and some wrong sizes are only warnings.
    """
    fault = control_fault(Tensor(known.dtype), what, kinds, input=index)
    if fault is not None:
        if strict:
            raise fault
        warn(fault.lowered(Severity.WARNING))
    if known.shape is None or (len(known.shape) <= 1 and same(product(known.shape), 1) is not False):
        return
    fault = CONTROL_INPUT.fault(
        f"{what} is {type_text(known)}, expected a scalar or one element on one axis",
        help=f"reshape {what} to a scalar",
        input=index,
    )
    if (
        (strict and isinstance(product(known.shape), int))
        or len(known.shape) > 1
        or known.value is not None
        or 0 in known.shape
    ):
        raise fault
    warn(fault.lowered(Severity.WARNING))


def _different_ranks(layer: Layer) -> Fault | None:
    """The fault of an output whose rank differs between the branches."""
    if 0 in layer.fixed or None in map(tensor_shape, layer.inputs):
        return None
    for index, known in enumerate(layer.outputs):
        if isinstance(known, Tensor) and known.shape is None and index in layer.used:
            return not_compiled(
                f"the branches give output {index} with different ranks, and the CPU plugin needs one rank",
                help=f"reshape output {index} of one branch to the rank of the other",
                input=0,
            )
    return None


@openvino("If", since=8, compiles=_different_ranks)
def ov_if(
    condition: Tensor,
    *inputs: Tensor | None,
    then_body: Graph,
    else_body: Graph,
    then_port_map: Entries = (),
    else_port_map: Entries = (),
    context: Context,
) -> tuple[Type | None, ...]:
    """OpenVINO If-8."""
    _check_control(condition, "the condition", ("bool",), index=0)
    all_inputs = (condition, *inputs)
    chosen = truth(condition)
    longer = max(then_port_map, else_port_map, key=lambda entries: len(ordered(entries, "output")))
    check_outputs_mapped(longer, context.outputs, "then_body" if longer is then_port_map else "else_body")
    thens = _branch(
        then_body, "then_body", then_port_map, inputs=all_inputs, others=longer, context=context, runs=chosen
    )
    elses = _branch(
        else_body,
        "else_body",
        else_port_map,
        inputs=all_inputs,
        others=longer,
        context=context,
        runs=None if chosen is None else not chosen,
    )
    if chosen is not None:
        return thens if chosen else elses
    check_same_types(thens, elses, "then_body", second="else_body")
    return tuple(_joined_or_scalar(a, b) for a, b in zip(thens, elses))


def _branch(
    body: Graph,
    name: str,
    entries: Entries,
    *,
    inputs: Sequence[Tensor | None],
    others: Entries,
    context: Context,
    runs: bool | None,
) -> tuple[Type | None, ...]:
    """The outputs of a branch; () if it never runs. Raises a ``PORT_MAP_BROKEN`` fault.

    ``others`` has an entry for each output. ``runs`` is None if the branch may run. If the branch never runs, OpenVINO
    infers it with the declared types of its Parameters.
    """
    ties = tied(body, name)
    arguments: list[Type | None] = [None] * len(body.inputs)
    for entry in ordered(entries, "input"):
        place = ties.parameter(entry, entries)
        if runs is not False:
            arguments[place] = input_of(entry, inputs)[1]
    places = [ties.result(entry, entries) for entry in ordered(entries, "output")]
    check_each_once(places, name)
    if runs is False:
        context.run(body, arguments)
        return ()
    check_as_declared(body, arguments, context)
    if runs is None or name == "then_body":
        check_outputs_mapped(entries, context.outputs, name, branch=body, others=others)
    outputs = context.run(body, arguments, "maybe" if runs is None else "always")
    missing = context.outputs - len(places)
    return (*(outputs[place] for place in places), *(UNKNOWN,) * missing)


def _joined_or_scalar(a: Type | None, b: Type | None) -> Type | None:
    """The type of a value that is ``a`` or ``b``."""
    # If one branch returns a scalar and the other a list, OpenVINO treats the scalar as a list of one element.
    tensors = (a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and sorted((a.rank or 0, b.rank or 0)) == [0, 1]:
        if a.shape is not None and b.shape is not None:
            tensors = (Tensor(a.dtype, a.shape or (1,)), Tensor(b.dtype, b.shape or (1,)))
    return joined(*tensors)


@openvino("TensorIterator")
def tensor_iterator(
    *inputs: Tensor | None, body: Graph, port_map: Entries = (), back_edges: BackEdges = (), context: Context
) -> tuple[Type | None, ...]:
    """OpenVINO TensorIterator-1."""
    inputs = inputs[: _connected_count(context)]
    check_inputs_mapped(port_map, 0, len(inputs), body=body)
    run = _iterated(body, inputs, port_map, back_edges=back_edges, context=context)
    counts = check_sliced_ports(run.sliced_inputs, inputs, ())
    outputs, trips = run.outputs, same_iterations(run.counts)
    check_back_edges(body, port_map, back_edges, ties=tied(body, "body"), first=run.first, trips=trips, widens=False)
    results: list[Type | None] = []
    ties = tied(body, "body")
    found = check_outputs_mapped(port_map, min(1, context.outputs), "body")
    if all(entry.axis is None for entry in ordered(port_map, "input")):
        trips = next((_trips_by_output(entry) for entry in found if entry.axis is not None), None)
    for entry in found:
        known = outputs[ties.result(entry, port_map)]
        if entry.axis is not None and isinstance(known, Tensor):
            _expect_axis_of_scalar(known, entry)
            known = concatenated(known, entry, None if trips is None else trips * max(0, entry.part_size))
        results.append(known)
    check_sliced_ports(_concatenated_outputs(found, results, outputs, ties=ties), (*inputs, *results), counts)
    return tuple(results)


def _concatenated_outputs(
    found: Sequence[PortMapEntry], results: Sequence[Type | None], outputs: Sequence[Type | None], *, ties: Ties
) -> list[SlicedPort]:
    return [
        SlicedPort(entry, result, outputs[ties.result(entry)])
        for entry, result in zip(found, results)
        if entry.axis is not None
    ]


def _connected_count(context: Context) -> int:
    """The number of inputs up to the last connected input. In IR 10, unconnected inputs may follow."""
    inputs = context.node.inputs
    return max((index for index, value in enumerate(inputs, 1) if value is not None), default=0)


def _expect_axis_of_scalar(known: Tensor, entry: PortMapEntry) -> None:
    """Checks that scalars are concatenated along axis 0. Raises a ``PORT_MAP_BROKEN`` fault."""
    if known.shape == () and entry.axis != 0:
        raise PORT_MAP_BROKEN.fault(
            f"layer {entry.internal_layer_id} of the body returns a scalar, but the port map concatenates it along "
            f'axis="{entry.axis}"',
            help='write axis="0"',
        )


def _trips_by_output(entry: PortMapEntry) -> int | None:
    """The number of iterations if no input is sliced; None if it is unknown.

    ``entry`` is the first concatenated output, from which OpenVINO computes the number.
    """
    return abs(entry.end - entry.start) // entry.part_size if entry.part_size > 0 else None


def _without_zeros(x: Type | None, place: int, context: Context) -> Type | None:
    """``x`` with a symbol in place of each size of 0, because such a size may grow in later iterations."""
    if not isinstance(x, Tensor) or x.shape is None or 0 not in x.shape:
        return x
    dims = (context.unknown(("empty", place, axis)) if dim == 0 else dim for axis, dim in enumerate(x.shape))
    return Tensor(x.dtype, tuple(dims))


@record
class _Run:
    """The result of all iterations of a body."""

    #: The outputs in the last iteration.
    outputs: tuple[Type | None, ...]
    #: (index of a sliced input, number of its slices).
    counts: Sequence[tuple[int, MaybeDim]]
    #: The sliced inputs that the body reads.
    sliced_inputs: Sequence[SlicedPort]
    first: Iteration


def _iterated(
    body: Graph,
    inputs: Sequence[Tensor | None],
    entries: Entries,
    *,
    back_edges: BackEdges,
    context: Context,
    is_loop: bool = False,
) -> _Run:
    """The result of the body of a TensorIterator or a Loop."""
    ties = tied(body, "body")
    merged = merged_inputs(entries, back_edges, ties)
    arguments, counts, slicings = _arguments(body, inputs, entries, ties=ties, counted=not is_loop)
    if is_loop:
        for place in (ties.parameter(entry, entries) for entry in ordered(entries, "input")):
            if place in merged:
                arguments[place] = _without_zeros(arguments[place], place, context)
    else:
        arguments = with_declared_types(body, arguments)
    check_as_declared(body, arguments, context)
    places = [place for place in merged if arguments[place] is not None]

    def run(state: Sequence[Type | None], runs: Runs = "tried") -> tuple[Type | None, ...]:
        values = list(arguments)
        for place, known in zip(places, state):
            values[place] = known
        return context.run(body, values, runs)

    firsts: list[tuple[Type | None, ...]] = []

    def step(state: Sequence[Type | None]) -> tuple[Type | None, ...]:
        outputs = run(state)
        firsts.append(outputs)
        return tuple(outputs[merged[place]] for place in places)

    initial = tuple(arguments[place] for place in places)
    state = carried(step, initial, context, search=nesting(body) <= DEEPEST_SEARCH)
    state = tuple(a if isinstance(b, Tensor) and b.shape is None else b for a, b in zip(initial, state))
    if state != initial and nesting(body) <= DEEPEST_SEARCH:
        run([Tensor(known.dtype, known.shape) if isinstance(known, Tensor) else known for known in initial], "always")
    second = tuple(firsts[0][merged[place]] for place in places) if firsts and state != initial else ()
    is_known = all(isinstance(known, Tensor) and known.shape is not None for known in second)
    depends_on_data = any(name.startswith("_") for name in new_symbols(second, initial))
    fails = bool(second) and is_known and not depends_on_data and not run(second, "probed")
    of_one_iteration = new_symbols(state, initial)
    outputs = tuple(without_symbols(known, of_one_iteration) for known in run(state, "always"))
    used = read_values(body)
    check_parameters_tied(body, entries, ties, used=used)
    sliced_inputs = [
        SlicedPort(entry, x, arguments[place]) for entry, x, place in slicings if body.inputs[place] in used
    ]
    return _Run(outputs, counts, sliced_inputs, Iteration(arguments, firsts[0] if firsts else (), fails))


def _arguments(
    body: Graph, inputs: Sequence[Tensor | None], entries: Entries, *, ties: Ties, counted: bool
) -> tuple[list[Type | None], list[tuple[int, MaybeDim]], list[tuple[PortMapEntry, Tensor, int]]]:
    """(values of the Parameters in the first iteration, numbers of slices, slicings).

    Numbers of slices are (index of the input, number); the number is None if it is unknown or not ``counted``. A
    slicing is (entry of the port map, type of the input, position of the Parameter).
    """
    arguments: list[Type | None] = [None] * len(body.inputs)
    counts: list[tuple[int, MaybeDim]] = []
    slicings: list[tuple[PortMapEntry, Tensor, int]] = []
    for entry in ordered(entries, "input"):
        index, x = input_of(entry, inputs)
        place = ties.parameter(entry, entries)
        arguments[place] = x
        if entry.axis is not None:
            arguments[place], count = sliced(x, entry, index, counted=counted)
            counts.append((index, count))
            slicings.append((entry, x, place))
    return arguments, counts, slicings


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
    """OpenVINO Loop-5."""
    _check_control(trip_count, "the trip count", COUNT_TYPES, index=0, strict=True)
    _check_control(execution_condition, "the condition", CONDITION_TYPES, index=1, strict=True)
    all_inputs = (trip_count, execution_condition, *inputs[: _connected_count(context) - 2])
    check_inputs_mapped(port_map, 2, len(all_inputs), body=body)
    ties = tied(body, "body")
    check_iteration_number(port_map, back_edges, ties, parameters=declared_parameters(body))
    conditions = [entry for entry in port_map if entry.kind == "output" and entry.purpose == "execution_condition"]
    if not conditions:
        context.run(body, [None] * len(body.inputs))
        raise PORT_MAP_BROKEN.fault(
            'the port map has no output with purpose="execution_condition": '
            "OpenVINO infers nothing for the outputs of such a Loop",
            help="add an <output> with that purpose for the Result with the condition to continue",
        )
    run = _iterated(body, all_inputs, port_map, back_edges=back_edges, context=context, is_loop=True)
    check_unchanged_once(body, port_map, ties, merged=merged_inputs(port_map, back_edges, ties))
    outputs = run.outputs
    next_condition = outputs[ties.result(conditions[0], port_map)]
    check_condition(next_condition)
    if truth(next_condition):
        check_trip_count(trip_count, port_map)
    trips = _ov_trips(trip_count, truth(next_condition))
    certain_trips = trips if truth(execution_condition) or trips in (0, 1) else None
    check_back_edges(body, port_map, back_edges, ties=ties, first=run.first, trips=certain_trips, widens=True)
    results: list[Type | None] = []
    found = check_outputs_mapped(port_map, min(1, context.outputs), "body")
    for entry in found:
        known = outputs[ties.result(entry, port_map)]
        if isinstance(known, Tensor) and truth(execution_condition) is False:
            known = Tensor(known.dtype)
        elif isinstance(known, Tensor) and entry.axis is not None:
            shape = known.shape or (1,)
            size = shape[entry.axis] if -len(shape) <= entry.axis < len(shape) else None
            known = concatenated(known, entry, product((trips, size)))
        results.append(known)
    sliced_ports = [*run.sliced_inputs, *_concatenated_outputs(found, results, outputs, ties=ties)]
    check_sliced_ports(sliced_ports, (*all_inputs, *results))
    return tuple(results)


def _ov_trips(trip_count: Tensor, next_condition: bool | None) -> MaybeDim:
    """The number of iterations; None if it is unknown. ``next_condition`` is the condition that the body returns."""
    if next_condition is False:
        return 1
    count = trip_count.scalar
    if next_condition is None or count is None:
        return None
    count = int(count) if isinstance(count, float) else count
    if isinstance(count, int):
        return None if count in (-1, 2**63 - 1) else max(0, count)
    return count
