"""Split and VariadicSplit."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, Expr, MaybeDim, at_least, bounds, ceildiv, floordiv, symbols, total
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import agree, divides, explain_size, reaches, warn
from irlint.findings.wording import counted, least_help, multiple_help, size_help, that_divides
from irlint.model.tensor import INTEGERS, Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.layout.joining import static_product
from irlint.ops.shared import contents as fold
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.compiling import readable_constants
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import entries, length, number, stated_size
from irlint.ops.shared.sizes import exact_quotient
from irlint.ops.signatures import PARTS, with_roles

SPLIT_SUM = Rule(
    "IRL341",
    "split-sizes-mismatch",
    Severity.ERROR,
    "The sizes of the parts do not add up to the size of the split axis.",
    why="Every element must belong to exactly one part. Runtimes refuse sizes with a smaller or larger sum.",
    fix=(
        "Use sizes that add up to the size of the axis, or give the axis that size. In OpenVINO, one size may be -1: "
        "the remaining elements."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[3,4] b) <int64[2] split = {2, 3}> { a, b = Split <axis = 0> (x, split) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[4,4] b) <int64[2] split = {2, 4}> { a, b = Split <axis = 0> (x, split) }""",
    refused=(Refusal("onnxruntime", ("dead if sized",)),),
)

SPLIT_UNEVEN = Rule(
    "IRL342",
    "split-not-divisible",
    Severity.ERROR,
    "An axis cannot be split into the requested number of equal parts.",
    why="If no sizes are given, all parts are equal. In ONNX from opset 18 on, the last part may be smaller.",
    fix="Use a number of parts that divides the size of the axis, list the sizes, or correct the size of the axis.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[2,4] b, float[2,4] c, float[2,4] d) { a, b, c, d = Split <axis = 0> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[2,4] b, float[2,4] c) { a, b, c = Split <axis = 0> (x) }""",
    refused=(Refusal("onnxruntime", ("dead if sized", "as declared")),),
)

SPLIT_COUNT = Rule(
    "IRL343",
    "split-count-mismatch",
    Severity.ERROR,
    "The number of parts is not stated exactly once, or differs from the number of outputs.",
    why=(
        "Each output needs a part. Runtimes refuse a node with more outputs than parts, and ONNX nodes with fewer "
        "outputs than listed sizes."
    ),
    fix="List one size for each output, or add or remove outputs.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[4,4] b) <int64[3] split = {2, 3, 1}> { a, b = Split <axis = 0> (x, split) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[6,4] x) => (float[2,4] a, float[4,4] b) <int64[2] split = {2, 4}> { a, b = Split <axis = 0> (x, split) }""",
    refused=(Refusal("onnxruntime"),),
    accepted=("openvino_ir",),
)


def part(x: Tensor, axis: int, start: MaybeDim, *, extent: MaybeDim) -> Tensor:
    """``x`` with the ``extent`` elements of ``axis`` from ``start`` on."""
    assert x.shape is not None
    shape = (*x.shape[:axis], extent, *x.shape[axis + 1 :])
    if x.extent is not None:
        from irlint.ops.shared import bounds

        places = [(start if other == axis else 0, 1) for other in range(len(shape))]
        return Tensor(x.dtype, shape, None, bounds.taken(x, places))
    if x.value is None or not isinstance(start, int) or not fold.fits(shape):
        return Tensor(x.dtype, shape)
    assert isinstance(extent, int)
    inner = static_product(x.shape[axis + 1 :])
    row = static_product(x.shape[axis:])
    chosen = (
        x.value[offset + start * inner : offset + (start + extent) * inner]
        for offset in range(0, len(x.value), row or 1)
    )
    return Tensor(x.dtype, shape, tuple(entry for chunk in chosen for entry in chunk))


def split_up(x: Tensor, axis: int, sizes: Sequence[MaybeDim]) -> tuple[Tensor, ...]:
    """The parts into which ``x`` is split along ``axis``; ``sizes`` has their sizes on this axis."""
    starts: list[MaybeDim] = [0]
    for extent in sizes:
        starts.append(total((starts[-1], extent)))
        explain_size(axis, extent, part_of=x.shape[axis] if x.shape is not None else None)
    return tuple(part(x, axis, start, extent=extent) for start, extent in zip(starts, sizes))


def even_sizes(dim: MaybeDim, count: int, axis: int) -> tuple[MaybeDim, ...]:
    """The sizes of ``count`` equal parts of an axis. Raises a ``SPLIT_UNEVEN`` fault."""
    if not divides(count, dim, f"axis {axis} is split into {count} equal parts"):
        parts = f"split axis {axis} into a number of parts {that_divides(dim, count, least=2)}, " if dim != 1 else ""
        raise SPLIT_UNEVEN.fault(
            f"axis {axis} of input 0 is {dim}, which is not a multiple of {count}, the number of parts",
            help=f"{parts}write the sizes, or {multiple_help(axis, count)}",
            input=0,
            marks=((0, axis),),
        )
    return (None if dim is None else exact_quotient(dim, count),) * count


def nearly_even_sizes(dim: MaybeDim, count: int, axis: int) -> tuple[MaybeDim, ...]:
    """The sizes of ``count`` parts of an axis, as in ONNX Split-18. Raises a ``SPLIT_UNEVEN`` fault."""
    if dim is None:
        return (None,) * count
    chunk = ceildiv(dim, count)
    if count == 2:
        return (chunk, floordiv(dim, 2))
    last = dim - chunk * (count - 1)
    if not reaches(
        dim,
        chunk * (count - 1),
        f"axis {axis} is split into {count} parts of {chunk}, of which the last may be smaller",
    ):
        raise SPLIT_UNEVEN.fault(
            f"axis {axis} of input 0 is {dim}: {count - 1} parts of {chunk} need {chunk * (count - 1)} elements",
            help=f"split axis {axis} into fewer parts, write the sizes, or {multiple_help(axis, count)}",
            input=0,
            marks=((0, axis),),
        )
    return (*(chunk,) * (count - 1), last)


def _example_text(dim: MaybeDim, sizes: Sequence[MaybeDim]) -> str:
    """The end of the help with correct equal sizes, if the stated sizes are equal; else ""."""
    if not isinstance(dim, int) or len(set(sizes)) != 1 or dim % len(sizes):
        return ""
    return f", such as {[dim // len(sizes)] * len(sizes)}"


def stated_sizes(dim: MaybeDim, sizes: Sequence[MaybeDim], axis: int, *, input: int | None) -> tuple[MaybeDim, ...]:
    """The ``sizes`` of the parts of an axis of size ``dim``; one unknown size is computed from the others.

    Raises a ``SPLIT_SUM`` or ``SIZE_NEGATIVE`` fault.
    """
    place = "`split`" if input is None else f"input {input}"
    checked = [stated_size(entry, input, f"entry {position} of {place}") for position, entry in enumerate(sizes)]
    unknown = [position for position, entry in enumerate(checked) if entry is None]
    known = total(entry for entry in checked if entry is not None)
    if not unknown and not agree(dim, known, f"the sizes of the parts add up to axis {axis}"):
        raise SPLIT_SUM.fault(
            f"the sizes in {place} add up to {known} and axis {axis} of input 0 is {dim}",
            help=f"use sizes that add up to {dim}{_example_text(dim, checked)}, or {size_help(axis, known)}",
            input=input if input is not None else 0,
            marks=((0, axis),),
        )
    if unknown and not reaches(dim, known, f"the sizes of the parts do not exceed axis {axis}"):
        raise SPLIT_SUM.fault(
            f"the known sizes in {place} add up to {known}, but axis {axis} of input 0 is {dim}",
            help=f"use sizes that add up to {dim}, or {least_help(axis, known)}",
            input=input if input is not None else 0,
            marks=((0, axis),),
        )
    if len(unknown) == 1 and dim is not None and known is not None:
        rest: Dim = dim - known
        checked[unknown[0]] = rest if at_least(rest, 0) else None
    return tuple(checked)


def _expect_count(found: int | None, context: Context, what: str) -> None:
    """Checks that the number of parts that ``what`` states is the number of outputs."""
    if found is None or found == context.outputs:
        return
    raise SPLIT_COUNT.fault(
        f"{what} states {counted(found, 'part')} and the node has {counted(context.outputs, 'output')}",
        help=f"state {counted(context.outputs, 'part')}, or use {counted(found, 'output')}",
    )


def _expect_outputs(num_outputs: int, context: Context) -> None:
    """Checks that `num_outputs` is the number of outputs.

    Fewer outputs are a warning: OpenVINO and ONNX's inference ignore the parts without an output.
    """
    try:
        _expect_count(num_outputs, context, "`num_outputs`")
    except Fault as fault:
        if context.outputs > num_outputs:
            raise
        warn(fault.lowered(Severity.WARNING))


def _unsplit(x: Tensor, context: Context) -> tuple[Tensor, ...]:
    return (Tensor(x.dtype),) * context.outputs


@onnx("Split", since=1)
def split_by_attribute_or_input(
    input: Tensor, split: Tensor | None = None, *, axis: int | None = None, context: Context
) -> tuple[Tensor, ...]:
    """ONNX Split-1: sizes from an attribute or an input ``split``. The input has the data's element type."""
    attribute = context.node.attributes.get("split")
    listed = tuple(attribute.value) if attribute is not None and attribute.kind == "INTS" else None
    if listed is None and split is not None:
        return _onnx_split(input, (None,) * context.outputs, axis or 0, context=context, input=1)
    return _onnx_split(input, listed, axis or 0, context=context, input=None)


@onnx("Split", since=2)
@with_roles(split=PARTS)
def split_by_attribute(
    input: Tensor, *, axis: int = 0, split: Ints | None = None, context: Context
) -> tuple[Tensor, ...]:
    """ONNX Split-2 and 11: sizes from an attribute."""
    return _onnx_split(input, split, axis, context=context, input=None)


@onnx("Split", since=18, late=True)
@onnx("Split", since=13, until=17)
@with_roles(split=PARTS)
def split_by_input(
    input: Tensor, split: Tensor | None = None, *, axis: int = 0, num_outputs: int | None = None, context: Context
) -> tuple[Tensor, ...]:
    """ONNX Split-13 and 18: sizes from an input. ``num_outputs`` belongs to Split-18."""
    if split is not None:
        if num_outputs is not None:
            raise SPLIT_COUNT.fault(
                "the node has both sizes (input 1) and `num_outputs`; only one of them is allowed",
                help="remove `num_outputs`",
                attribute="num_outputs",
            )
        expect_rank(split, 1, 1, what="split")
        _expect_count(length(split), context, "input 1")
        return _onnx_split(input, entries(split) or (None,) * context.outputs, axis, context=context, input=1)
    if context.version < 18:
        return _onnx_split(input, None, axis, context=context, input=None)
    if num_outputs is None:
        raise SPLIT_COUNT.fault(
            "the node has neither sizes (input 1) nor `num_outputs`; from opset 18 on one of them is needed",
            help=f"write num_outputs={context.outputs}",
        )
    if num_outputs < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `num_outputs` is {num_outputs}; it must be at least 1",
            help=f"write num_outputs={context.outputs}",
            attribute="num_outputs",
        )
    _expect_outputs(num_outputs, context)
    if input.shape is None:
        return _unsplit(input, context)
    place = axis_of(axis, len(input.shape))
    return split_up(input, place, nearly_even_sizes(input.shape[place], num_outputs, place))


def _onnx_split(
    x: Tensor, sizes: Sequence[MaybeDim] | None, axis: int, *, context: Context, input: int | None
) -> tuple[Tensor, ...]:
    if sizes is not None:
        _expect_count(len(sizes), context, "`split`" if input is None else f"input {input}")
    if x.shape is None:
        return _unsplit(x, context)
    place = axis_of(axis, len(x.shape))
    if sizes is None:
        return split_up(x, place, even_sizes(x.shape[place], context.outputs, place))
    return split_up(x, place, stated_sizes(x.shape[place], sizes, place, input=input))


@openvino("Split", absent={"num_splits": 0})
def ov_split(data: Tensor, axis: Tensor, *, num_splits: int, context: Context) -> tuple[Tensor, ...]:
    """OpenVINO Split-1."""
    expect_type(axis, 1, INTEGERS)
    expect_one(axis, 1, "axis", scalar=True)
    if num_splits < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `num_splits` is {num_splits}; it must be at least 1",
            help=f'write num_splits="{context.outputs}"',
            attribute="num_splits",
        )
    if context.outputs > num_splits:
        _expect_count(num_splits, context, "`num_splits`")
    place = number(axis)
    if data.shape is None or not isinstance(place, int):
        return _split_anywhere(data, num_splits)
    place = axis_of(place, len(data.shape))
    _expect_long_enough(data.shape[place], num_splits, place)
    return split_up(data, place, even_sizes(data.shape[place], num_splits, place))


def _expect_long_enough(dim: MaybeDim, count: int, axis: int) -> None:
    """Checks, as the library does, that a dynamic size may be at least the number of parts."""
    most = bounds(dim)[1] if isinstance(dim, Expr) else None
    if most is not None and most < count:
        raise SPLIT_UNEVEN.fault(
            f"axis {axis} of input 0 is at most {most} and is split into {count} equal parts",
            help=f"make axis {axis} at least {count}, or split it into fewer parts",
            input=0,
            marks=((0, axis),),
        )


def _split_anywhere(x: Tensor, count: int) -> tuple[Tensor, ...]:
    """The ``count`` parts into which ``x`` is split along an unknown axis."""
    return (Tensor(x.dtype, None if x.shape is None else (None,) * len(x.shape)),) * count


@openvino("VariadicSplit", compiles=readable_constants(1, 2))
@with_roles(split_lengths=PARTS)
def ov_variadic_split(data: Tensor, axis: Tensor, split_lengths: Tensor, *, context: Context) -> tuple[Tensor, ...]:
    """OpenVINO VariadicSplit-1: one size may be -1 for the remaining elements."""
    expect_one(axis, 1, "axis")
    expect_rank(split_lengths, 2, 1, what="split_lengths")
    sizes = entries(split_lengths)
    if sizes is None and split_lengths.shape is not None and _depends_on_inputs(split_lengths.shape[0]):
        raise SPLIT_SUM.fault(
            f"input 2 (split_lengths) is {shape_text(split_lengths.shape)}: OpenVINO creates no output if the number "
            "of parts is dynamic",
            help="fix the number of entries of input 2",
            input=2,
        )
    if sizes is not None and context.outputs > len(sizes):
        _expect_count(len(sizes), context, "input 2")
    place = number(axis)
    if sizes is None or data.shape is None or not isinstance(place, int):
        return _split_anywhere(data, context.outputs)
    place = axis_of(place, len(data.shape))
    return split_up(data, place, _with_rest(data.shape[place], sizes, place))


def _depends_on_inputs(dim: MaybeDim) -> bool:
    """Whether a size depends on the sizes of the model's inputs."""
    return isinstance(dim, Expr) and all(name[:1] != "_" for name in symbols(dim))


def _with_rest(dim: MaybeDim, sizes: Sequence[MaybeDim], axis: int) -> tuple[MaybeDim, ...]:
    rests = [position for position, entry in enumerate(sizes) if entry == -1]
    if len(rests) > 1:
        raise SPLIT_SUM.fault(
            f"entries {rests[0]} and {rests[1]} of input 2 are both -1; only one entry may be -1",
            help="write the sizes of all parts but one",
            input=2,
        )
    if not rests:
        return stated_sizes(dim, sizes, axis, input=2)
    others = [stated_size(entry, 2, f"entry {i} of input 2") for i, entry in enumerate(sizes) if i != rests[0]]
    known = total(others)
    rest = None if dim is None or known is None else dim - known
    if not reaches(dim, known, f"the sizes of the parts do not exceed axis {axis}"):
        warn(
            SPLIT_SUM.fault(
                f"without the -1, the sizes in input 2 add up to {known}, but axis {axis} of input 0 is only {dim}: "
                "OpenVINO loads the layer, and replaces the -1 by 0",
                help=f"use sizes that add up to {dim}, or {least_help(axis, known)}",
                input=2,
                marks=((0, axis),),
                severity=Severity.WARNING,
            )
        )
        rest = 0
    return (*others[: rests[0]], rest, *others[rests[0] :])
