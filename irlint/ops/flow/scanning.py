"""Scan of ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.model import Graph
from irlint.model.tensor import UNKNOWN, Tensor, Type, shape_text
from irlint.ops import Context, onnx
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, Ints, axis_of
from irlint.ops.shared.bodies import (
    BODY_ARITY,
    CARRIED_TYPE,
    SCAN_LENGTH,
    check_all_tensors,
    check_input_shapes,
    check_input_types,
    stacked,
    swap_help,
)
from irlint.ops.shared.body_arity import check_arity, help_for_state
from irlint.ops.shared.broadcast import merged

SCAN_OF_NOTHING = Rule(
    "IRL305",
    "scan-of-empty-axis",
    Severity.ERROR,
    "A Scan iterates over an empty axis.",
    why=(
        "Since opset 9, ONNX Runtime takes the first slice before the first iteration. It fails when it runs the node "
        "if the axis has size 0. A Loop may have no iterations."
    ),
    fix="Correct the operator that made the axis empty, often a Slice, or use a Loop.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[0,2] x) => (float[0,2] y) {
  y = Scan <num_scan_inputs = 1, body = b (float[2] i) => (float[2] o) { o = Relu (i) }> (x)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] x) => (float[3,2] y) {
  y = Scan <num_scan_inputs = 1, body = b (float[2] i) => (float[2] o) { o = Relu (i) }> (x)
}""",
)


@onnx("Scan", since=9)
def scan(
    *initial_state_and_scan_inputs: Tensor | None,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: Ints | None = None,
    scan_input_directions: Ints | None = None,
    scan_output_axes: Ints | None = None,
    scan_output_directions: Ints | None = None,
    context: Context,
) -> tuple[Type | None, ...]:
    """ONNX Scan-9: the final states, then the stacked scan outputs."""
    states, scanned = _split_inputs(initial_state_and_scan_inputs, num_scan_inputs)
    scans = context.outputs - len(states)
    why = "the states and one slice of every scanned input"
    passed, may_lack = (*states, *(None for _ in scanned)), range(len(states) + 1)
    help = help_for_state(body, passed, "Scan", states=may_lack, outputs=context.outputs)
    check_arity(body, "body", len(passed), outputs=context.outputs, context=context, why=why, help=help)
    axes = _per_scan("scan_input_axes", scan_input_axes, len(scanned))
    _check_directions("scan_input_directions", scan_input_directions, len(scanned))
    _check_directions("scan_output_directions", scan_output_directions, scans)
    length, slices = _slices(scanned, axes, len(states))
    if length == 0:
        _warn_of_empty_axis(scanned, axes, len(states))

    def marked(position: int, axis: int) -> tuple[int, int]:
        at = position - len(states)
        if at < 0:
            return position, axis
        return position, axis + (axis >= axes[at] % len(scanned[at].shape or (0,)))

    check_input_shapes(body, "body", (*states, *slices), marked=marked)
    states, outputs = _scanned(states, slices, body, context=context)
    out_axes = _per_scan("scan_output_axes", scan_output_axes, scans)
    stacks = [
        stacked(known, length, _output_axis(known, axis, position))
        for position, (known, axis) in enumerate(zip(outputs[len(states) :], out_axes))
    ]
    return (*outputs[: len(states)], *stacks)


@onnx("Scan", since=8)
def scan_of_batches(
    sequence_lens: Tensor | None = None,
    *initial_state_and_scan_inputs: Tensor | None,
    body: Graph,
    num_scan_inputs: int,
    directions: Ints | None = None,
    context: Context,
) -> tuple[Type | None, ...]:
    """ONNX Scan-8: axis 0 of all inputs is the batch, and axis 1 of the scanned inputs is the sequence."""
    states, scanned = _split_inputs(initial_state_and_scan_inputs, num_scan_inputs)
    why = "the states and one slice of every scanned input"
    check_arity(
        body,
        "body",
        len(initial_state_and_scan_inputs),
        outputs=context.outputs,
        context=context,
        why=why,
        first=1,
    )
    _check_directions("directions", directions, len(scanned))
    batch, unbatched = _unbatched(sequence_lens, (*states, *scanned))
    _, slices = _slices(unbatched[len(states) :], (0,) * len(scanned), len(states) + 1, axis_shift=1)
    check_input_shapes(body, "body", (*unbatched[: len(states)], *slices))
    length = next((x.shape[0] for x in unbatched[len(states) :] if x.shape), None)
    _, outputs = _scanned(unbatched[: len(states)], slices, body, context=context)
    finals = [stacked(known, batch, 0) for known in outputs[: len(states)]]
    stacks = [stacked(stacked(known, length, 0), batch, 0) for known in outputs[len(states) :]]
    return (*finals, *stacks)


def _split_inputs(
    inputs: Sequence[Tensor | None], num_scan_inputs: int
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    count = len(inputs) - num_scan_inputs
    if num_scan_inputs < 1 or count < 0:
        raise BODY_ARITY.fault(
            f"`num_scan_inputs` is {num_scan_inputs} and the node has "
            f"{counted(len(inputs), 'state or scanned input', 'states and scanned inputs')}; "
            f"allowed: {'1' if len(inputs) == 1 else f'1 to {len(inputs)}'}",
            help="set `num_scan_inputs` to the number of scanned inputs, which are the last inputs",
            attribute="num_scan_inputs",
        )
    tensors = tuple(x or UNKNOWN for x in inputs)
    return tensors[:count], tensors[count:]


def _per_scan(name: str, given: Ints | None, count: int) -> Ints:
    """An attribute with ``count`` entries, by default zeros. Raises a ``BODY_ARITY`` fault."""
    if given is None:
        return (0,) * count
    if len(given) != count:
        raise BODY_ARITY.fault(
            f"`{name}` has {counted(len(given), 'entry', 'entries')} and {counted(count, 'value is', 'values are')} "
            "scanned: expected one entry for each value",
            help=f"give `{name}` {counted(count, 'entry', 'entries')}"
            + f", or set `num_scan_inputs = {len(given)}`" * (bool(given) and "output" not in name),
            attribute=name,
        )
    return given


def _check_directions(name: str, given: Ints | None, count: int) -> None:
    wrong = [entry for entry in _per_scan(name, given, count) if entry not in (0, 1)]
    if wrong:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`{name}` has the entry {wrong[0]}; allowed: 0 (forward) and 1 (backward)",
            help="use 0 or 1",
            attribute=name,
        )


def _slices(
    scanned: Sequence[Tensor], axes: Ints, first: int, *, axis_shift: int = 0
) -> tuple[MaybeDim, tuple[Tensor, ...]]:
    """(common length of the scanned inputs, their slices).

    ``first`` is the index of the first scanned input. Messages add ``axis_shift``, the number of removed axes.
    Raises a ``SCAN_LENGTH`` or ``AXIS_OUT_OF_RANGE`` fault.
    """
    length: MaybeDim = None
    source, slices = (first, 0), []
    for index, (x, axis) in enumerate(zip(scanned, axes), first):
        if x.shape is None:
            slices.append(Tensor(x.dtype))
            continue
        at = axis_of(axis, len(x.shape), "the scanned axis", input=index)
        slices.append(Tensor(x.dtype, (*x.shape[:at], *x.shape[at + 1 :])))
        found = x.shape[at]
        if length is None:
            length, source = found, (index, at + axis_shift)
        elif not agree(found, length, f"inputs {source[0]} and {index} are scanned together"):
            raise SCAN_LENGTH.fault(
                f"axis {source[1]} of input {source[0]} is {length} and axis {at + axis_shift} of input {index} is "
                f"{found}: both are scanned, so they must be equal",
                help="make the sizes equal, or scan another axis",
                input=index,
                marks=(source, (index, at + axis_shift)),
                aligned="left",
                remark="differ",
            )
        elif isinstance(found, int):
            length = found
    return length, tuple(slices)


def _warn_of_empty_axis(scanned: Sequence[Tensor], axes: Ints, first: int) -> None:
    """Reports a ``SCAN_OF_NOTHING`` fault for the first scanned input whose scanned axis is empty."""
    for index, (x, axis) in enumerate(zip(scanned, axes), first):
        if x.shape is not None and x.shape[axis] == 0:
            at = axis % len(x.shape)
            warn(
                SCAN_OF_NOTHING.fault(
                    f"axis {at} of input {index} has size 0, and the node scans it; expected at least one slice",
                    help="make the axis longer, or use a Loop, which may have no iterations",
                    input=index,
                    marks=((index, at),),
                    remark="is empty",
                )
            )
            return


def _scanned(
    states: Sequence[Tensor], slices: Sequence[Tensor], body: Graph, *, context: Context
) -> tuple[tuple[Tensor, ...], tuple[Type | None, ...]]:
    """(states without values, outputs of the body). Raises a ``CARRIED_TYPE`` or ``BODY_TYPES`` fault."""
    bare = tuple(Tensor(x.dtype, x.shape) for x in states)
    check_input_types(body, "body", (*bare, *slices))
    outputs = list(context.run(body, (*bare, *slices)))
    for position, state in enumerate(bare):
        after = outputs[position]
        if not isinstance(after, Tensor):
            continue
        if state.dtype is not None and after.dtype is not None and state.dtype != after.dtype:
            raise CARRIED_TYPE.fault(
                f"state {position} is {state.dtype} at first and {after.dtype} as output {position} of the body",
                help=swap_help(position, bare, outputs, body=body)
                or f"cast output {position} of the body to {state.dtype}, or pass {after.dtype} at first",
            )
        _check_state_shape(state.shape, after.shape, position)
        shape = after.shape if state.shape is None else state.shape
        outputs[position] = Tensor(state.dtype or after.dtype, shape)
    check_all_tensors(outputs[len(bare) :], len(bare))
    return bare, tuple(outputs)


def _check_state_shape(before: Shape | None, after: Shape | None, position: int) -> None:
    """Checks that the body does not change the shape of a state. Raises a ``CARRIED_TYPE`` fault."""
    if before is None or after is None:
        return
    why = f"state {position} keeps its shape from one iteration to the next"
    if len(before) == len(after) and all(agree(b, a, why) for a, b in zip(before, after)):
        return
    raise CARRIED_TYPE.fault(
        f"state {position} is {shape_text(before)} at first and {shape_text(after)} as output {position} of the "
        "body: the shape of a state must not change",
        help=f"return the state in its original shape, pass {shape_text(after)} at first, or use a Loop",
    )


def _output_axis(known: Type | None, axis: int, position: int) -> int:
    if not isinstance(known, Tensor) or known.shape is None:
        return 0
    rank = len(known.shape) + 1
    if -rank <= axis < rank:
        return axis % rank
    raise AXIS_OUT_OF_RANGE.fault(
        f"entry {position} of `scan_output_axes` is {axis} and the stacked output has {counted(rank, 'axis', 'axes')}; "
        f"allowed: {-rank} to {rank - 1}",
        help=f"use an axis in the range {-rank} to {rank - 1}",
        attribute="scan_output_axes",
    )


def _unbatched(sequence_lens: Tensor | None, inputs: Sequence[Tensor]) -> tuple[MaybeDim, tuple[Tensor, ...]]:
    """(size of axis 0, inputs without this axis). Raises a ``SCAN_LENGTH`` fault for a scalar or different sizes."""
    for index, x in enumerate(inputs, 1):
        if x.shape == ():
            raise SCAN_LENGTH.fault(
                f"input {index} is a scalar; axis 0 is the batch of all states and scanned inputs",
                help=f"give input {index} an axis for the batch",
                input=index,
            )
    shapes = [None if x is None or not x.shape else x.shape[:1] for x in (sequence_lens, *inputs)]
    batch = merged(shapes, SCAN_LENGTH, "axis 0 is the batch of all inputs")
    bare = tuple(Tensor(x.dtype, None if not x.shape else x.shape[1:]) for x in inputs)
    return (batch[0] if batch else None), bare
