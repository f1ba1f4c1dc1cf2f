"""Sequences of tensors and optional values, and what runs a body over a sequence: SequenceMap and Scan."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, at_least, ceildiv, product, same, total
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import agree, reaches
from irlint.findings.wording import counted
from irlint.model import Graph
from irlint.model.tensor import NUMBERED_TYPES, UNKNOWN, Optional, Tensor, Type, shape_text
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context, onnx
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.kernels.axes import AXIS_OUT_OF_RANGE, Ints, axis_of
from irlint.ops.kernels.bodies import (
    BODY_ARITY,
    CARRIED_TYPE,
    SCAN_LENGTH,
    check_arity,
    check_input_shapes,
    check_input_types,
    joined,
    stacked,
)
from irlint.ops.kernels.broadcast import merged
from irlint.ops.kernels.element_types import ELEMENT_TYPES_DIFFER
from irlint.ops.kernels.type_variables import type_key

POSITION_OUT_OF_RANGE = Rule(
    "IRL397",
    "sequence-position-out-of-range",
    Severity.ERROR,
    "A position lies outside of the sequence that it is meant for.",
    why="""A sequence of n elements has the positions -n to n-1; only SequenceInsert takes n as well, which appends. Runtimes
stop at any other.""",
    mend="Use a position that the sequence has; the message names the range.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { i = Constant <value_int = 1> () s = SequenceConstruct (x) y = SequenceAt (s, i) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { i = Constant <value_int = 0> () s = SequenceConstruct (x) y = SequenceAt (s, i) }""",
)

SPLIT_MISMATCH = Rule(
    "IRL398",
    "sequence-split-mismatch",
    Severity.ERROR,
    "The sizes that SplitToSequence is to cut do not add up to the axis, or are none.",
    why="The pieces have to cover the axis exactly, and none may be negative. Runtimes stop where they do not.",
    mend="Let the sizes add up to the axis, or give one size for all pieces.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,2] x) => (seq(float[M,2]) y) { s = Constant <value_ints = [4, 3]> () y = SplitToSequence <axis = 0> (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,2] x) => (seq(float[M,2]) y) { s = Constant <value_ints = [4, 2]> () y = SplitToSequence <axis = 0> (x, s) }""",
)

OPTIONAL_EMPTY = Rule(
    "IRL399",
    "optional-value-missing",
    Severity.ERROR,
    "The value of an optional is taken that has none, or an Optional is made of neither a value nor a type.",
    why="""OptionalGetElement needs a value to be there; runtimes stop where there is none. An Optional without an input has to
say in `type` what it could hold.""",
    mend="Ask with OptionalHasElement and take the value in a branch of an If, or give the Optional a value or a type.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { o = Optional <type = float[2]> () y = OptionalGetElement (o) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { o = Optional (x) y = OptionalGetElement (o) }""",
)


# --- sequences --------------------------------------------------------------------------------------------------------


@onnx("SequenceConstruct", since=11)
def sequence_construct(*inputs: Type | None) -> SequenceType:
    """ONNX SequenceConstruct-11."""
    element = inputs[0]
    for known in inputs[1:]:
        element = joined(element, known)
    return SequenceType(element, len(inputs))


@onnx("SequenceEmpty", since=11)
def sequence_empty(*, dtype: int | None = None, context: Context) -> SequenceType:
    """ONNX SequenceEmpty-11; without ``dtype`` it is one of float32."""
    if dtype is None:
        return SequenceType(Tensor("float32"), 0)
    if not 1 <= dtype <= len(NUMBERED_TYPES):
        numbered_type(dtype, context)
    return SequenceType(Tensor(NUMBERED_TYPES[dtype - 1]), 0)


@onnx("SequenceInsert", since=11)
def sequence_insert(input_sequence: Type, tensor: Tensor, position: Tensor | None = None) -> Type:
    """ONNX SequenceInsert-11; without a position at the end."""
    if not isinstance(input_sequence, SequenceType):
        return input_sequence
    held, added = type_key(input_sequence.element), type_key(tensor)
    if held is not None and added is not None and held != added:
        raise ELEMENT_TYPES_DIFFER.fault(
            f"input 0 is a sequence of {held} and input 1 is {added}: they have to be of one element type",
            help=f"cast input 1 to {held}",
            input=1,
        )
    length = input_sequence.length
    _check_position(position, length, 2, appends=True)
    element = joined(SequenceType(input_sequence.element, length), SequenceType(tensor, 1))
    assert isinstance(element, SequenceType)
    return SequenceType(element.element, total((length, 1)))


@onnx("SequenceErase", since=11)
def sequence_erase(input_sequence: Type, position: Tensor | None = None) -> Type:
    """ONNX SequenceErase-11; without a position the last element."""
    if not isinstance(input_sequence, SequenceType):
        return input_sequence
    _check_position(position, input_sequence.length, 1)
    return SequenceType(input_sequence.element, total((input_sequence.length, -1)))


@onnx("SequenceAt", since=11)
def sequence_at(input_sequence: Type, position: Tensor) -> Type | None:
    """ONNX SequenceAt-11."""
    if not isinstance(input_sequence, SequenceType):
        return UNKNOWN
    _check_position(position, input_sequence.length, 1)
    return input_sequence.element if input_sequence.element is not None else UNKNOWN


@onnx("SequenceLength", since=11)
def sequence_length(input_sequence: Type) -> Tensor:
    """ONNX SequenceLength-11."""
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    return Tensor("int64", (), None if length is None else (length,))


def _check_position(position: Tensor | None, length: MaybeDim, index: int, *, appends: bool = False) -> None:
    """Makes sure that a position can be one of a sequence. Raises a ``POSITION_OUT_OF_RANGE`` fault."""
    place = -1 if position is None else position.scalar
    if not isinstance(place, int) or (position is None and appends):
        return
    least = -place if place < 0 else place + (0 if appends else 1)
    if reaches(length, least, f"position {place} of a sequence is used"):
        return
    if length == 0 and not appends:
        text, advice = "the sequence has no elements", "insert an element first"
    else:
        text = f"position {place} of a sequence of {counted(length, 'element')}; allowed is -{length} to {total((length, 0 if appends else -1))}"
        advice = "use a position that the sequence has"
    raise POSITION_OUT_OF_RANGE.fault(text, help=advice, input=0 if position is None else index)


# --- cutting and joining ----------------------------------------------------------------------------------------------


@onnx("SplitToSequence", since=11)
def split_to_sequence(input: Tensor, split: Tensor | None = None, *, axis: int = 0, keepdims: int = 1) -> SequenceType:
    """ONNX SplitToSequence-11: slices of 1 without ``split``, of one size for a scalar, else of the sizes that it lists."""
    if input.shape is None:
        return SequenceType(Tensor(input.dtype))
    at = axis_of(axis, len(input.shape))
    before, size, after = input.shape[:at], input.shape[at], input.shape[at + 1 :]
    if split is None:
        middle: tuple[MaybeDim, ...] = (1,) if keepdims else ()
        return SequenceType(Tensor(input.dtype, (*before, *middle, *after)), size)
    length, piece = _pieces(split, size, at)
    return SequenceType(Tensor(input.dtype, (*before, piece, *after)), length)


def _pieces(split: Tensor, size: MaybeDim, axis: int) -> tuple[MaybeDim, MaybeDim]:
    """How many pieces an axis is cut into, and the size of each where all are of one."""
    if split.shape is None or split.ints is None:
        return (split.shape[0] if split.shape and len(split.shape) == 1 else None), None
    sizes = split.ints
    low = [entry for entry in sizes if at_least(entry, 0 if split.shape else 1) is False]
    if low:
        raise SPLIT_MISMATCH.fault(
            f"a piece is to have the size {low[0]}; expected is at least {0 if split.shape else 1}",
            help="let every size be positive",
            input=1,
        )
    if not split.shape:
        return _equal_pieces(sizes[0], size)
    whole = total(sizes)
    if not agree(size, whole, f"the pieces cover axis {axis}"):
        listed = " + ".join(map(str, sizes)) if len(sizes) <= 8 else "the sizes"
        raise SPLIT_MISMATCH.fault(
            f"axis {axis} of input 0 is {size} and {listed} is {whole}: the sizes have to add up to the axis",
            help=f"let the sizes in input 1 add up to {size}",
            input=1,
            marks=((0, axis),),
            aligned="left",
        )
    alike = sizes and all(same(entry, sizes[0]) for entry in sizes)
    return len(sizes), sizes[0] if alike else None


def _equal_pieces(piece: MaybeDim, size: MaybeDim) -> tuple[MaybeDim, MaybeDim]:
    if piece is None or size is None or not at_least(piece, 1):
        return None, None
    length = ceildiv(size, piece)
    return length, piece if same(length * piece, size) else size if length == 1 else None


@onnx("ConcatFromSequence", since=11)
def concat_from_sequence(input_sequence: Type, *, axis: int, new_axis: int = 0) -> Tensor:
    """ONNX ConcatFromSequence-11: Concat of the elements, or with ``new_axis`` a stack of them."""
    if new_axis not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`new_axis` is {new_axis}; allowed are 0 and 1", help="use 0 or 1", attribute="new_axis"
        )
    element = input_sequence.element if isinstance(input_sequence, SequenceType) else None
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    if length == 0:
        raise POSITION_OUT_OF_RANGE.fault(
            "the sequence has no elements to join", help="insert an element first", input=0
        )
    if not isinstance(element, Tensor) or element.shape is None:
        return Tensor(element.dtype if isinstance(element, Tensor) else None)
    rank = len(element.shape) + new_axis
    if not -rank <= axis < rank:
        raise AXIS_OUT_OF_RANGE.fault(
            f"axis is {axis} and the elements are {shape_text(element.shape)}: allowed is {-rank} to {rank - 1}"
            if rank
            else f"axis is {axis} and the elements are scalars, which only a new axis can join",
            help="use an axis that the elements have" if rank else "set `new_axis` to 1",
            attribute="axis",
        )
    if new_axis:
        known = stacked(element, length, axis % rank)
        assert isinstance(known, Tensor)
        return known
    at = axis % rank
    return Tensor(element.dtype, (*element.shape[:at], product((length, element.shape[at])), *element.shape[at + 1 :]))


# --- optional values --------------------------------------------------------------------------------------------------


@onnx("Optional", since=15)
def optional(input: Type | None = None, *, type: Type | None = None, context: Context) -> Optional:
    """ONNX Optional-15: what the input is, or nothing of the type that ``type`` names."""
    if input is not None:
        return Optional(input, True)
    if context.node.inputs:
        raise OPTIONAL_EMPTY.fault(
            "input 0 of the Optional has the empty name; expected is a value, or no input at all",
            help="remove the empty name",
            input=0,
        )
    if type is None:
        raise OPTIONAL_EMPTY.fault(
            "the Optional has neither an input nor the attribute `type`; expected is one of them",
            help="write `type`, or connect an input",
        )
    return Optional(type, False)


@onnx("OptionalHasElement", since=15)
def optional_has_element(input: Type | None = None) -> Tensor:
    """ONNX OptionalHasElement-15; from 18 on without an input it is false, and true for what is no optional."""
    present = input.present if isinstance(input, Optional) else input is not None
    unsure = isinstance(input, Tensor) and input == UNKNOWN
    return Tensor("bool", (), None if present is None or unsure else (present,))


@onnx("OptionalGetElement", since=15)
def optional_get_element(input: Type) -> Type | None:
    """ONNX OptionalGetElement-15; from 18 on what is no optional is given on as it is."""
    if not isinstance(input, Optional):
        return input
    if input.present is False:
        raise OPTIONAL_EMPTY.fault(
            "input 0 is an optional that holds no value",
            help="take the value in a branch of an If that asks OptionalHasElement",
            input=0,
        )
    return input.element if input.element is not None else UNKNOWN


# --- SequenceMap ------------------------------------------------------------------------------------------------------


@onnx("SequenceMap", since=17)
def sequence_map(
    input_sequence: Type, *additional_inputs: Type | None, body: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX SequenceMap-17: one output of the body for each element of the sequence."""
    inputs = (input_sequence, *additional_inputs)
    check_arity(
        body, "body", len(inputs), outputs=context.outputs, context=context, why="one for each input of the node"
    )
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    for index, known in enumerate(additional_inputs, 1):
        if not isinstance(known, SequenceType):
            continue
        if not agree(known.length, length, f"input {index} has an element for each of the first sequence"):
            raise SCAN_LENGTH.fault(
                f"input 0 has {counted(length, 'element')} and input {index} has {known.length}: they have to be equally many",
                help="give both sequences the same number of elements",
                input=index,
            )
    arguments = tuple(_element_of(known) for known in inputs)
    check_input_types(body, "body", arguments)
    return tuple(SequenceType(known, length) for known in context.run(body, arguments))


def _element_of(known: Type | None) -> Type | None:
    if isinstance(known, SequenceType):
        return known.element if known.element is not None else UNKNOWN
    return known


# --- Scan -------------------------------------------------------------------------------------------------------------


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
    """ONNX Scan-9: the final states, then what the body gave in every iteration, stacked on ``scan_output_axes``."""
    states, scanned = _split_inputs(initial_state_and_scan_inputs, num_scan_inputs)
    scans = context.outputs - len(states)
    why = "the states and one slice of every scanned input"
    check_arity(body, "body", len(initial_state_and_scan_inputs), outputs=context.outputs, context=context, why=why)
    axes = _per_scan("scan_input_axes", scan_input_axes, len(scanned))
    _check_directions("scan_input_directions", scan_input_directions, len(scanned))
    _check_directions("scan_output_directions", scan_output_directions, scans)
    length, slices = _slices(scanned, axes, len(states))
    check_input_shapes(body, "body", (*states, *slices))
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
    """ONNX Scan-8: a batch on axis 0 of everything, and the sequence on axis 1 of what is scanned."""
    states, scanned = _split_inputs(initial_state_and_scan_inputs, num_scan_inputs)
    why = "the states and one slice of every scanned input"
    check_arity(body, "body", len(initial_state_and_scan_inputs), outputs=context.outputs, context=context, why=why)
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
            f"`num_scan_inputs` is {num_scan_inputs} and the node has {len(inputs)} states and scanned inputs; "
            f"allowed is 1 to {len(inputs)}",
            help="count the inputs that are scanned; they are the last ones",
            attribute="num_scan_inputs",
        )
    known = tuple(x or UNKNOWN for x in inputs)
    return known[:count], known[count:]


def _per_scan(name: str, given: Ints | None, count: int) -> Ints:
    """An attribute with one entry for each scanned value, 0 where it is left out."""
    if not given:
        return (0,) * count
    if len(given) != count:
        raise BODY_ARITY.fault(
            f"`{name}` has {counted(len(given), 'entry', 'entries')} and {count} values are scanned: expected is one for each",
            help=f"give `{name}` {counted(count, 'entry', 'entries')}",
            attribute=name,
        )
    return given


def _check_directions(name: str, given: Ints | None, count: int) -> None:
    wrong = [entry for entry in _per_scan(name, given, count) if entry not in (0, 1)]
    if wrong:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`{name}` has the entry {wrong[0]}; allowed are 0 (forward) and 1 (backward)",
            help="use 0 or 1",
            attribute=name,
        )


def _slices(
    scanned: Sequence[Tensor], axes: Ints, first: int, *, axis_shift: int = 0
) -> tuple[MaybeDim, tuple[Tensor, ...]]:
    """The one length of all scanned inputs, and what an iteration gets of each; ``first`` is the first one's index."""
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
                f"axis {source[1]} of input {source[0]} is {length} and axis {at + axis_shift} of input {index} is {found}: "
                "both are scanned, and have to be equally long",
                help="make the lengths equal, or scan another axis",
                input=index,
                marks=(source, (index, at + axis_shift)),
                aligned="left",
                remark="differ",
            )
        elif isinstance(found, int):
            length = found
    return length, tuple(slices)


def _scanned(
    states: Sequence[Tensor], slices: Sequence[Tensor], body: Graph, *, context: Context
) -> tuple[tuple[Tensor, ...], tuple[Type | None, ...]]:
    """The states without contents, and the outputs of the body; the shape of a state stays the same."""
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
                help=f"cast output {position} of the body to {state.dtype}",
            )
        _check_state_shape(state.shape, after.shape, position)
        shape = after.shape if state.shape is None else state.shape
        outputs[position] = Tensor(state.dtype or after.dtype, shape)
    return bare, tuple(outputs)


def _check_state_shape(before: Shape | None, after: Shape | None, position: int) -> None:
    if before is None or after is None:
        return
    why = f"state {position} keeps its shape from one iteration to the next"
    if len(before) == len(after) and all(agree(b, a, why) for a, b in zip(before, after)):
        return
    raise CARRIED_TYPE.fault(
        f"state {position} is {shape_text(before)} at first and {shape_text(after)} as output {position} of the body: "
        "a state keeps its shape",
        help="let the body give the state the shape that it came in with, or use a Loop",
    )


def _output_axis(known: Type | None, axis: int, position: int) -> int:
    if not isinstance(known, Tensor) or known.shape is None:
        return 0
    rank = len(known.shape) + 1
    if -rank <= axis < rank:
        return axis % rank
    raise AXIS_OUT_OF_RANGE.fault(
        f"entry {position} of `scan_output_axes` is {axis} and the stacked output has {counted(rank, 'axis', 'axes')}: "
        f"allowed is {-rank} to {rank - 1}",
        help=f"use an axis in the range {-rank} to {rank - 1}",
        attribute="scan_output_axes",
    )


def _unbatched(sequence_lens: Tensor | None, inputs: Sequence[Tensor]) -> tuple[MaybeDim, tuple[Tensor, ...]]:
    """The batch of all inputs, and each without it."""
    shapes = [None if x is None or not x.shape else x.shape[:1] for x in (sequence_lens, *inputs)]
    batch = merged(shapes, SCAN_LENGTH, "axis 0 is the batch of all of them")
    bare = tuple(Tensor(x.dtype, None if not x.shape else x.shape[1:]) for x in inputs)
    return (batch[0] if batch else None), bare
