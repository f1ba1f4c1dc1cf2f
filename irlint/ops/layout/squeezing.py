"""Squeeze, Unsqueeze and ExpandDims."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Shape, same
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import size_help
from irlint.model import Node
from irlint.model.tensor import CONTENTS_LIMIT, Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, AXIS_REPEATED, Ints, axes_of, result_axis
from irlint.ops.shared.compiling import Layer, first_of, known_shape, not_compiled, readable_constants
from irlint.ops.shared.contents import rearranged
from irlint.ops.shared.element_types import ARITHMETIC, expect_type
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED, expect_list_of_axes, expect_rank
from irlint.ops.shared.shape_inputs import known_integers, length
from irlint.schemas import MICROSOFT

SQUEEZE_SIZE = Rule(
    "IRL332",
    "squeeze-size-not-one",
    Severity.ERROR,
    "A squeezed axis has a size other than 1.",
    why=(
        "Squeeze removes axes of size 1. ONNX runtimes refuse any other axis. OpenVINO silently keeps the axis, so "
        "the result has an unexpected axis; in an IR, irlint warns."
    ),
    fix=(
        "List only axes of size 1, select one element of the axis with Gather or Slice first, or correct what computes "
        "the size of the axis."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,1] x) => (float[1,1] y) <int64[1] axes = {1}> { y = Squeeze (x, axes) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,1] x) => (float[1,3] y) <int64[1] axes = {2}> { y = Squeeze (x, axes) }""",
    refused=(Refusal("onnxruntime", ("dead if sized",)),),
)


# --- Squeeze ----------------------------------------------------------------------------------------------------------


def squeezed(shape: Shape | None, axes: Sequence[int] | None) -> Shape | None:
    """``shape`` without ``axes``, by default without all axes of size 1; None if the result's rank is unknown.

    Raises a ``SQUEEZE_SIZE`` fault.
    """
    if shape is None:
        return None
    if axes is None:
        ones = _ones(shape)
        return None if None in ones else tuple(dim for dim, one in zip(shape, ones) if not one)
    for axis in axes:
        if not agree(shape[axis], 1, f"axis {axis} is removed"):
            raise _not_one(shape, axis)
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


def _ones(shape: Shape) -> list[bool | None]:
    return [same(dim, 1) for dim in shape]


def _declared_rank(node: Node) -> int | None:
    """The rank that the file declares for the output; None if it declares none."""
    # A declared shape of rank 0 is ignored: it may mean that the rank is unknown.
    declared = node.outputs[0].declared if node.outputs and node.outputs[0] is not None else ()
    types = [value.type for value in declared]
    return next((known.rank for known in types if isinstance(known, Tensor) and known.shape), None)


def _squeezed_to_rank(shape: Shape, ones: Sequence[bool | None], rank: int | None) -> Shape | None:
    """The shape without its axes of size 1, if exactly ``rank`` axes can remain; otherwise None."""
    least, most = ones.count(False), len(shape) - ones.count(True)
    if rank is None or not least <= rank <= most:
        return None
    if rank == most:
        return tuple(dim for dim, one in zip(shape, ones) if not one)
    return tuple(dim for dim, one in zip(shape, ones) if one is False) if rank == least else (None,) * rank


def _not_one(shape: Shape, axis: int, severity: Severity | None = None) -> Fault:
    return SQUEEZE_SIZE.fault(
        f"axis {axis} of input 0 is {shape[axis]} and is squeezed, which needs a size of 1"
        + ("; OpenVINO keeps the axis" if severity else ""),
        help=f"remove axis {axis} from the axes, select one of its elements first, or {size_help(axis, 1)}",
        input=0,
        marks=((0, axis),),
        severity=severity,
    )


def _squeeze(x: Tensor, axes: Sequence[int] | None, context: Context | None = None) -> Tensor:
    """``x`` without ``axes``, by default without all axes of size 1."""
    if axes is None and context is not None and x.shape is not None and None in (ones := _ones(x.shape)):
        return Tensor(x.dtype, _squeezed_to_rank(x.shape, ones, _declared_rank(context.node)))
    # By the specification, an empty list removes no axis. In ONNX Runtime, it removes all axes of size 1.
    if x.shape is None or (axes is not None and not axes and not all(same(dim, 1) is False for dim in x.shape)):
        return Tensor(x.dtype)
    places = None if axes is None else axes_of(axes, len(x.shape), repeats=True)
    return rearranged(x, squeezed(x.shape, places))


def _expect_from_front(axes: Sequence[int] | None) -> None:
    """Warns of negative axes before opset 11. The specification allows them from opset 11 on."""
    negative = [axis for axis in axes or () if axis < 0]
    if not negative:
        return
    warn(
        AXIS_OUT_OF_RANGE.fault(
            f"axes is {list(axes or ())}: before opset 11, the specification allows no negative axis; ONNX Runtime "
            f"counts {negative[0]} from the end, but its shape inference ignores this axis",
            help="count the axes from 0, or import opset 11 or later",
            attribute="axes",
            severity=Severity.WARNING,
        )
    )


@onnx("Squeeze", since=1)
def squeeze_from_front(data: Tensor, *, axes: Ints | None = None, context: Context | None = None) -> Tensor:
    """ONNX Squeeze-1."""
    _expect_from_front(axes)
    return _squeeze(data, axes, context)


@onnx("Squeeze", since=11)
def squeeze_by_attribute(data: Tensor, *, axes: Ints | None = None, context: Context | None = None) -> Tensor:
    """ONNX Squeeze-11."""
    return _squeeze(data, axes, context)


@onnx("Squeeze", since=13)
def squeeze(data: Tensor, axes: Tensor | None = None, *, context: Context | None = None) -> Tensor:
    """ONNX Squeeze-13 and later."""
    if axes is None:
        return _squeeze(data, None, context)
    expect_list_of_axes(axes)
    listed = known_integers(axes)
    if listed is not None:
        return _squeeze(data, listed)
    count = length(axes)
    if data.shape is None or count is None:
        return Tensor(data.dtype)
    return Tensor(data.dtype, (None,) * max(len(data.shape) - count, 0))


def _expect_numbers(axes: Tensor | None) -> None:
    """Checks that constant axes are numbers."""
    if axes is not None and axes.dtype == "bool" and axes.value is not None:
        expect_type(axes, 1, ARITHMETIC)


def _ov_squeeze(data: Tensor, axes: Tensor | None, *, skip: bool = False) -> Tensor:
    """The result of an OpenVINO Squeeze. It keeps listed axes of sizes other than 1, with a warning unless ``skip``."""
    expect_rank(axes, 1, 0, 1, what="axes")
    _expect_numbers(axes)
    if axes is None or axes.value == ():
        return _squeeze(data, None)
    listed = known_integers(axes)
    if data.shape is None:
        return Tensor(data.dtype)
    if not data.shape:
        _expect_axes_of_scalar(listed or ())
        return data
    if listed is None:
        return _squeezed_somewhere(data, rank=len(data.shape) - 1 if not skip and length(axes) == 1 else None)
    removed = []
    for axis in axes_of(listed, len(data.shape), repeats=True):
        one = same(data.shape[axis], 1)
        if one is None and skip:
            return Tensor(data.dtype)
        if one is not False:
            removed.append(axis)
        elif not skip:
            warn(_not_one(data.shape, axis, Severity.WARNING))
    return rearranged(data, squeezed(data.shape, removed))


def _expect_axes_of_scalar(listed: Sequence[int]) -> None:
    if any(axis not in (-1, 0) for axis in listed):
        raise AXIS_OUT_OF_RANGE.fault(
            f"axes is {list(listed)} and input 0 is a scalar; allowed: -1 to 0",
            help="remove the axes",
            input=1,
        )


def _squeezed_somewhere(data: Tensor, rank: int | None) -> Tensor:
    """``data`` after unknown axes are squeezed. ``rank`` is the rank of the result, or None if it is unknown.

    If no axis can have size 1, ``data`` is unchanged.
    """
    if data.shape is None or all(same(dim, 1) is False for dim in data.shape):
        return data
    return Tensor(data.dtype, None if rank is None else (None,) * rank)


def _without_axes(layer: Layer) -> Fault | None:
    """The fault of a Squeeze without axes whose data has dynamic sizes."""
    data, axes = layer.inputs[0], layer.inputs[1] if len(layer.inputs) > 1 else None
    if not isinstance(data, Tensor) or not (axes is None or (isinstance(axes, Tensor) and axes.value == ())):
        return None
    if data.shape is None or known_shape(data) is not None:
        return None
    if axes is not None and all(dim is not None and same(dim, 1) is not None for dim in data.shape):
        return None
    reason = "without input 1 (axes)" if axes is None else "since input 1 (axes) is empty,"
    return not_compiled(
        f"input 0 is {shape_text(data.shape)}, and {reason} every axis of size 1 is removed",
        help="list the axes, or write all sizes of input 0",
        input=0,
    )


_COMPILED = first_of(readable_constants(1), _without_axes)


@openvino("Squeeze", until=14, read_at_load=(1,), compiles=_COMPILED)
def ov_squeeze(data: Tensor, axes: Tensor | None = None) -> Tensor:
    """OpenVINO Squeeze-1. The library keeps axes of other sizes than 1."""
    return _ov_squeeze(data, axes)


@openvino("Squeeze", since=15, read_at_load=(1,), compiles=_COMPILED)
def ov_squeeze_or_skip(data: Tensor, axes: Tensor | None = None, *, allow_axis_skip: bool = False) -> Tensor:
    """OpenVINO Squeeze-15."""
    return _ov_squeeze(data, axes, skip=allow_axis_skip)


# --- Unsqueeze --------------------------------------------------------------------------------------------------------


def unsqueezed(shape: Shape, axes: Sequence[int]) -> Shape:
    """``shape`` with axes of size 1 inserted; ``axes`` are axes of the result, counted from 0."""
    result = list(shape)
    for axis in sorted(axes):
        result.insert(axis, 1)
    return tuple(result)


def _unsqueeze(x: Tensor, axes: Sequence[int], *, lenient: bool = False) -> Tensor:
    """``x`` with axes inserted. ``lenient``: repeated axes are inserted once, with a warning."""
    if x.shape is None:
        return Tensor(x.dtype)
    rank = len(x.shape) + len(set(axes) if lenient else axes)
    places = [result_axis(axis, rank) for axis in axes]
    if len(set(places)) < len(places):
        twice = next(axis for position, axis in enumerate(places) if axis in places[:position])
        fault = AXIS_REPEATED.fault(
            f"axes is {list(axes)}, which lists axis {twice} of the result more than once"
            + ("; OpenVINO inserts it once" if lenient else ""),
            help=f"list axis {twice} once",
            input=1 if lenient else 0,
            severity=Severity.WARNING if lenient else None,
        )
        if not lenient:
            raise fault
        warn(fault)
    return rearranged(x, unsqueezed(x.shape, sorted(set(places))))


@onnx("Unsqueeze", since=1)
def unsqueeze_from_front(data: Tensor, *, axes: Ints) -> Tensor:
    """ONNX Unsqueeze-1."""
    _expect_from_front(axes)
    return _unsqueeze(data, axes)


@onnx("Unsqueeze", since=11)
def unsqueeze_by_attribute(data: Tensor, *, axes: Ints) -> Tensor:
    """ONNX Unsqueeze-11."""
    return _unsqueeze(data, axes)


@onnx("Unsqueeze", since=13)
def unsqueeze(data: Tensor, axes: Tensor) -> Tensor:
    """ONNX Unsqueeze-13 and later."""
    expect_rank(axes, 1, 0, 1, what="axes")
    listed = known_integers(axes)
    if listed is not None:
        return _unsqueeze(data, listed)
    count = length(axes)
    if data.shape is None or count is None or count > CONTENTS_LIMIT:
        return Tensor(data.dtype)
    return Tensor(data.dtype, (None,) * (len(data.shape) + count))


@onnx("ExpandDims", domain=MICROSOFT)
def expand_dims(X: Tensor, axis: Tensor) -> Tensor:
    """com.microsoft ExpandDims: Unsqueeze of one axis."""
    named = known_integers(axis)
    if named is not None:
        return _unsqueeze(X, named)
    return Tensor(X.dtype, None if X.shape is None else (None,) * (len(X.shape) + 1))


@openvino("Unsqueeze", compiles=readable_constants(1))
def ov_unsqueeze(data: Tensor, axes: Tensor) -> Tensor:
    """OpenVINO Unsqueeze-1."""
    expect_rank(axes, 1, 0, 1, what="axes")
    _expect_numbers(axes)
    if axes.value == ():
        raise INPUT_RANK_REFUSED.fault(
            "input 1 (axes) is empty; the operation needs at least one axis", help="list an axis to insert", input=1
        )
    listed = known_integers(axes)
    if listed is None:
        return Tensor(data.dtype)
    return _unsqueeze(data, listed, lenient=True)
