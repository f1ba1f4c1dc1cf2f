"""Sequences of tensors, optional values and SequenceMap."""

from __future__ import annotations

from irlint.dims import MaybeDim, at_least, ceildiv, product, same, total
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, reaches, warn
from irlint.findings.wording import counted
from irlint.model import Graph
from irlint.model.tensor import NUMBERED_TYPES, UNKNOWN, Optional, Tensor, Type, shape_text
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context, onnx
from irlint.ops.layout.joining import concatenated, joined_values
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, axis_of
from irlint.ops.shared.bodies import (
    BODY_TYPES,
    SCAN_LENGTH,
    check_input_shapes,
    check_input_types,
    stacked,
)
from irlint.ops.shared.body_arity import check_arity
from irlint.ops.shared.carrying import joined
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.ops.shared.type_variables import type_key

POSITION_OUT_OF_RANGE = Rule(
    "IRL397",
    "sequence-position-out-of-range",
    Severity.ERROR,
    "A position is outside its sequence, or an empty sequence has no elements to join.",
    why=(
        "A sequence of n elements has the positions -n to n-1. SequenceInsert also accepts n, which appends an "
        "element. Runtimes fail for any other position. ConcatFromSequence needs at least one element."
    ),
    fix="Use a position in the range of the message, or insert an element first.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { i = Constant <value_int = 1> () s = SequenceConstruct (x) y = SequenceAt (s, i) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { i = Constant <value_int = 0> () s = SequenceConstruct (x) y = SequenceAt (s, i) }""",
)

#: The operator that reads one element of a sequence.
READER = "SequenceAt"

SPLIT_MISMATCH = Rule(
    "IRL398",
    "sequence-split-mismatch",
    Severity.ERROR,
    "The sizes of SplitToSequence do not add up to the size of the axis, or the list of sizes is empty.",
    why="The sizes must add up to the size of the axis, and no size may be negative. Otherwise, runtimes fail.",
    fix="Correct the sizes, or use a scalar: one size for all slices.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,2] x) => (seq(float[M,2]) y) { s = Constant <value_ints = [4, 3]> () y = SplitToSequence <axis = 0> (x, s) \
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,2] x) => (seq(float[M,2]) y) { s = Constant <value_ints = [4, 2]> () y = SplitToSequence <axis = 0> (x, s) \
}""",
)

OPTIONAL_EMPTY = Rule(
    "IRL399",
    "optional-value-missing",
    Severity.ERROR,
    "An empty optional is read, or an Optional has neither a value nor a type.",
    why=(
        "OptionalGetElement fails if the optional is empty. An Optional without an input must state the type of its "
        "missing value in `type`."
    ),
    fix=(
        "Test with OptionalHasElement and get the value in a branch of an If; or add a value or a type to the Optional."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { o = Optional <type = float[2]> () y = OptionalGetElement (o) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { o = Optional (x) y = OptionalGetElement (o) }""",
)


#: The types of at most this many elements of a sequence are kept.
MOST_ELEMENTS = 64

# --- sequences --------------------------------------------------------------------------------------------------------


@onnx("SequenceConstruct", since=11)
def sequence_construct(*inputs: Type | None) -> SequenceType:
    """ONNX SequenceConstruct-11."""
    element = inputs[0]
    for known in inputs[1:]:
        element = joined(element, known)
    return SequenceType(element, len(inputs), _few(inputs))


def _few(elements: tuple[Type | None, ...]) -> tuple[Type | None, ...] | None:
    """The elements, if there are at most ``MOST_ELEMENTS``."""
    return elements if len(elements) <= MOST_ELEMENTS else None


@onnx("SequenceEmpty", since=11)
def sequence_empty(*, dtype: int | None = None, context: Context) -> SequenceType:
    """ONNX SequenceEmpty-11."""
    if dtype is None:
        return SequenceType(Tensor("float32"), 0, ())
    return SequenceType(Tensor(numbered_type(dtype, context, also=frozenset(NUMBERED_TYPES), all_bits=True)), 0, ())


@onnx("SequenceInsert", since=11)
def sequence_insert(input_sequence: Type, tensor: Tensor, position: Tensor | None = None) -> Type:
    """ONNX SequenceInsert-11."""
    if not isinstance(input_sequence, SequenceType):
        return input_sequence
    element_type, added_type = type_key(input_sequence.element), type_key(tensor)
    if element_type is not None and added_type is not None and element_type != added_type:
        raise ELEMENT_TYPES_DIFFER.fault(
            f"input 0 is a sequence of {element_type} and input 1 is {added_type}: they must have the same element "
            "type",
            help=f"cast input 1 to {element_type}",
            input=1,
        )
    length = input_sequence.length
    _check_position(position, length, 2, appends=True)
    either = joined(SequenceType(input_sequence.element, length), SequenceType(tensor, 1))
    assert isinstance(either, SequenceType)
    place = _place_of(position, input_sequence, appends=True)
    elements = input_sequence.elements
    if elements is not None and place is not None:
        elements = _few((*elements[:place], tensor, *elements[place:]))
    return SequenceType(either.element, total((length, 1)), elements if place is not None else None)


@onnx("SequenceErase", since=11)
def sequence_erase(input_sequence: Type, position: Tensor | None = None) -> Type:
    """ONNX SequenceErase-11."""
    if not isinstance(input_sequence, SequenceType):
        return input_sequence
    _check_position(position, input_sequence.length, 1)
    place, elements = _place_of(position, input_sequence), None
    if input_sequence.elements is not None and place is not None:
        elements = (*input_sequence.elements[:place], *input_sequence.elements[place + 1 :])
    return SequenceType(input_sequence.element, total((input_sequence.length, -1)), elements)


@onnx("SequenceAt", since=11)
def sequence_at(input_sequence: Type, position: Tensor) -> Type | None:
    """ONNX SequenceAt-11."""
    if not isinstance(input_sequence, SequenceType):
        return UNKNOWN
    _check_position(position, input_sequence.length, 1)
    place = _place_of(position, input_sequence)
    element = input_sequence.element
    if input_sequence.elements is not None and place is not None:
        element = input_sequence.elements[place]
    return element if element is not None else UNKNOWN


@onnx("SequenceLength", since=11)
def sequence_length(input_sequence: Type) -> Tensor:
    """ONNX SequenceLength-11."""
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    return Tensor("int64", (), None if length is None else (length,))


def _place_of(position: Tensor | None, sequence: SequenceType, *, appends: bool = False) -> int | None:
    """The index of an element for which ``position`` stands; None if it is unknown. It is within the sequence.

    Without a position, SequenceInsert (``appends``) adds an element at the end, and SequenceErase removes the last one.
    """
    place = -1 if position is None else position.scalar
    if sequence.elements is None or not isinstance(place, int):
        return None
    length = len(sequence.elements)
    if position is None and appends:
        return length
    return place if place >= 0 else place + length


def _check_position(position: Tensor | None, length: MaybeDim, index: int, *, appends: bool = False) -> None:
    """Checks a position (input ``index``) in a sequence. Raises a ``POSITION_OUT_OF_RANGE`` fault."""
    place = -1 if position is None else position.scalar
    if not isinstance(place, int) or (position is None and appends):
        return
    least = -place if place < 0 else place + (0 if appends else 1)
    if reaches(length, least, f"position {place} is within the sequence"):
        return
    if length == 0 and not appends:
        text, help = "the sequence has no elements", "insert an element first"
    else:
        text = (
            f"the position is {place} and the sequence has {counted(length, 'element')}; allowed: -{length} to "
            f"{total((length, 0 if appends else -1))}"
        )
        help = "use a position within the sequence"
    raise POSITION_OUT_OF_RANGE.fault(text, help=help, input=0 if position is None else index)


# --- tensors and sequences --------------------------------------------------------------------------------------------


SPLIT_READ_DIFFERENTLY = Rule(
    "IRL560",
    "split-keepdims-unclear",
    Severity.NOTE,
    "`split` is a scalar and `keepdims` is 0: the specification keeps the axis, but ONNX Runtime removes the axis.",
    why=(
        "The specification ignores `keepdims` if `split` is present, and ONNX Runtime does so if `split` is a list. If "
        "`split` is the scalar 1, ONNX Runtime removes the axis; if the scalar is larger, the node fails when it "
        "runs. PyTorch exports `unbind` and loops over a tensor in this form, and expects that the axis is removed. "
        "irlint infers the shape that ONNX Runtime returns."
    ),
    fix=(
        "Remove the input `split`. The specification and ONNX Runtime then agree: slices of 1, and `keepdims = 0` "
        "removes the axis."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,2] x) => (seq(float[2]) y) { s = Constant <value_int = 1> () y = SplitToSequence <axis = 0, keepdims = 0> \
(x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,2] x) => (seq(float[2]) y) { y = SplitToSequence <axis = 0, keepdims = 0> (x) }""",
)


@onnx("SplitToSequence", since=11)
def split_to_sequence(input: Tensor, split: Tensor | None = None, *, axis: int = 0, keepdims: int = 1) -> SequenceType:
    """ONNX SplitToSequence-11, as ONNX Runtime reads ``keepdims``."""
    removes_axis = split is not None and split.shape == () and keepdims == 0
    if split is not None and removes_axis:
        warn(_read_differently(split))
    if input.shape is None:
        return SequenceType(Tensor(input.dtype))
    at = axis_of(axis, len(input.shape))
    before, size, after = input.shape[:at], input.shape[at], input.shape[at + 1 :]
    if split is None:
        middle: tuple[MaybeDim, ...] = (1,) if keepdims else ()
        return SequenceType(Tensor(input.dtype, (*before, *middle, *after)), size)
    length, piece = _pieces(split, size, at)
    sizes = split.ints if split.shape else None
    elements = None if sizes is None else tuple(Tensor(input.dtype, (*before, each, *after)) for each in sizes)
    element = Tensor(input.dtype, (*before, *(() if removes_axis else (piece,)), *after))
    return SequenceType(element, length, None if elements is None else _few(elements))


def _read_differently(split: Tensor) -> Fault:
    size = split.ints[0] if split.ints else None
    fails = at_least(size, 2)
    text = f"fails, as `split` is {size}" if fails else "removes the axis"
    return SPLIT_READ_DIFFERENTLY.fault(
        f"`split` is a scalar and `keepdims` is 0: the specification keeps the axis, but ONNX Runtime {text}",
        help="write a list of sizes" if fails else "remove the input `split`, so that every runtime removes the axis",
        attribute="keepdims",
        severity=Severity.WARNING if fails else None,
    )


def _pieces(split: Tensor, size: MaybeDim, axis: int) -> tuple[MaybeDim, MaybeDim]:
    """(number of slices, their size or None). Raises a ``SPLIT_MISMATCH`` fault."""
    if split.shape is None or split.ints is None:
        return (split.shape[0] if split.shape and len(split.shape) == 1 else None), None
    sizes = split.ints
    least = 0 if split.shape else 1
    too_small = [entry for entry in sizes if at_least(entry, least) is False]
    if too_small:
        raise SPLIT_MISMATCH.fault(
            f"a size in input 1 is {too_small[0]}; expected at least {least}",
            help=f"use sizes of at least {least}",
            input=1,
        )
    if not split.shape:
        return _equal_pieces(sizes[0], size)
    sum_of_sizes = total(sizes)
    if not agree(size, sum_of_sizes, f"the sizes of the slices add up to axis {axis}"):
        terms = " + ".join(map(str, sizes)) if 1 < len(sizes) <= 8 else "the sum of the sizes"
        raise SPLIT_MISMATCH.fault(
            f"axis {axis} of input 0 is {size} and {terms} is {sum_of_sizes}: the sizes must add up to the size of the "
            "axis",
            help=f"use sizes in input 1 that add up to {size}",
            input=1,
            marks=((0, axis),),
            aligned="left",
        )
    equal = sizes and all(same(entry, sizes[0]) for entry in sizes)
    return len(sizes), sizes[0] if equal else None


def _equal_pieces(piece: MaybeDim, size: MaybeDim) -> tuple[MaybeDim, MaybeDim]:
    if piece is None or size is None or not at_least(piece, 1):
        return None, None
    length = ceildiv(size, piece)
    return length, piece if same(length * piece, size) else size if length == 1 else None


@onnx("ConcatFromSequence", since=11)
def concat_from_sequence(input_sequence: Type, *, axis: int, new_axis: int = 0) -> Tensor:
    """ONNX ConcatFromSequence-11."""
    if new_axis not in (0, 1):
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`new_axis` is {new_axis}; allowed: 0 and 1 (ONNX Runtime treats any other value as 1)",
            help="use 0 or 1",
            attribute="new_axis",
        )
        warn(fault.lowered(Severity.WARNING))
        new_axis = 1
    element = input_sequence.element if isinstance(input_sequence, SequenceType) else None
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    if length == 0:
        raise POSITION_OUT_OF_RANGE.fault(
            "the sequence has no elements to join", help="insert an element first", input=0
        )
    elements = _tensors(input_sequence)
    shape = element.shape if isinstance(element, Tensor) else None
    if shape is None and elements:
        shape = elements[0].shape
    if not isinstance(element, Tensor) or shape is None:
        return Tensor(element.dtype if isinstance(element, Tensor) else None)
    rank = len(shape) + new_axis
    if not -rank <= axis < rank:
        raise AXIS_OUT_OF_RANGE.fault(
            f"axis is {axis} and the elements are {shape_text(shape)}; allowed: {-rank} to {rank - 1}"
            if rank
            else f"axis is {axis} and the elements are scalars, which can only be joined along a new axis",
            help=f"use an axis in the range {-rank} to {rank - 1}" if rank else "set `new_axis` to 1",
            attribute="axis",
        )
    at = axis % rank
    if elements:
        return _joined_elements(elements, at, new_axis=bool(new_axis))
    if new_axis:
        known = stacked(element, length, at)
        assert isinstance(known, Tensor)
        return known
    return Tensor(element.dtype, (*shape[:at], product((length, shape[at])), *shape[at + 1 :]))


def _tensors(sequence: Type) -> tuple[Tensor, ...]:
    """The elements of a sequence, if all are known tensors of known ranks; otherwise ()."""
    elements = sequence.elements if isinstance(sequence, SequenceType) else None
    tensors = tuple(each for each in elements or () if isinstance(each, Tensor) and each.shape is not None)
    return tensors if len(tensors) == len(elements or ()) else ()


def _joined_elements(elements: tuple[Tensor, ...], axis: int, *, new_axis: bool) -> Tensor:
    """The elements, joined along an axis. Raises a ``CONCAT_MISMATCH`` fault."""
    shapes = [each.shape for each in elements]
    shape = concatenated(shapes, None if new_axis else axis, part="element")
    if new_axis and shape is not None:
        elements = tuple(each.changed(shape=(*shape[:axis], 1, *shape[axis:])) for each in elements)
        shape = (*shape[:axis], len(elements), *shape[axis:])
    dtypes = {each.dtype for each in elements}
    return Tensor(dtypes.pop() if len(dtypes) == 1 else None, shape, joined_values(elements, shape, axis))


# --- optional values --------------------------------------------------------------------------------------------------


@onnx("Optional", since=15)
def optional(input: Type | None = None, *, type: Type | None = None, context: Context) -> Optional:
    """ONNX Optional-15."""
    if input is not None:
        return Optional(input, True)
    if context.node.inputs:
        raise OPTIONAL_EMPTY.fault(
            "input 0 of the Optional has the empty name; expected a value, or no input at all",
            help="remove the empty name",
            input=0,
        )
    if type is None:
        raise OPTIONAL_EMPTY.fault(
            "the Optional has neither an input nor the attribute `type`; expected one of them",
            help="write `type`, or connect an input",
        )
    return Optional(type, False)


@onnx("OptionalHasElement", since=15)
def optional_has_element(input: Type | None = None) -> Tensor:
    """ONNX OptionalHasElement-15 and -18."""
    present = input.present if isinstance(input, Optional) else input is not None
    is_unknown = isinstance(input, Tensor) and input == UNKNOWN
    return Tensor("bool", (), None if present is None or is_unknown else (present,))


@onnx("OptionalGetElement", since=15)
def optional_get_element(input: Type) -> Type | None:
    """ONNX OptionalGetElement-15 and -18."""
    if not isinstance(input, Optional):
        return input
    if input.present is False:
        raise OPTIONAL_EMPTY.fault(
            "input 0 is an empty optional",
            help="get the value in a branch of an If whose condition is OptionalHasElement",
            input=0,
        )
    return input.element if input.element is not None else UNKNOWN


# --- SequenceMap ------------------------------------------------------------------------------------------------------


@onnx("SequenceMap", since=17)
def sequence_map(
    input_sequence: Type, *additional_inputs: Type | None, body: Graph, context: Context
) -> tuple[Type | None, ...]:
    """ONNX SequenceMap-17."""
    inputs = (input_sequence, *additional_inputs)
    check_arity(
        body, "body", len(inputs), outputs=context.outputs, context=context, why="one input for each of the node"
    )
    length = input_sequence.length if isinstance(input_sequence, SequenceType) else None
    for index, known in enumerate(additional_inputs, 1):
        if not isinstance(known, SequenceType):
            continue
        if not agree(known.length, length, f"input {index} has as many elements as input 0"):
            raise SCAN_LENGTH.fault(
                f"input 0 has {counted(length, 'element')} and input {index} has {known.length}: the numbers must be "
                "equal",
                help="give both sequences the same number of elements",
                input=index,
            )
    arguments = tuple(_element_of(known) for known in inputs)
    check_input_types(body, "body", arguments)
    check_input_shapes(body, "body", arguments, marked=lambda position, axis: (position, axis))
    for position, value in enumerate(body.outputs):
        if value.type is None:
            raise BODY_TYPES.fault(
                f"output {position} of `body` ({value.name}) has no type; a SequenceMap requires a declared type",
                help="declare its element type",
                attribute="body",
            )
    return tuple(SequenceType(known, length) for known in context.run(body, arguments))


def _element_of(known: Type | None) -> Type | None:
    if isinstance(known, SequenceType):
        return known.element if known.element is not None else UNKNOWN
    return known
