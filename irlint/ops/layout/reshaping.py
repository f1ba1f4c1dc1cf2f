"""Reshape and Flatten."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, Expr, MaybeDim, Shape, at_least, product, quotient, same, symbols
from irlint.findings.faults import Fault, Proposal, Refusal, Rule, Severity
from irlint.findings.statements import Relation, divides, require_any, wants_arithmetic, warn
from irlint.findings.wording import counted
from irlint.model.tensor import INTEGERS, Tensor, shape_text, size_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.contents import rearranged
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.shape_inputs import entries
from irlint.ops.shared.sizes import exact_quotient

RESHAPE_COUNT = Rule(
    "IRL330",
    "reshape-count-mismatch",
    Severity.ERROR,
    "The target shape of a Reshape has another number of elements than the data.",
    why=(
        "Reshape keeps every element, so the product of the sizes must not change. A -1 in the target becomes the "
        "number of elements divided by the product of the other sizes; the quotient must be an integer. Runtimes fail "
        "at the node, often only at run time."
    ),
    fix=(
        "Use a target with the same number of elements, or replace the size that depends on the others by -1. If other "
        "nodes need the target, correct the size of the data: often the weights before are those of another model."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,84,80,80] x) => (float[1,84,6401] y) <int64[3] shape = {1, 84, 6401}> { y = Reshape (x, shape) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,84,80,80] x) => (float[1,84,6400] y) <int64[3] shape = {1, 84, -1}> { y = Reshape (x, shape) }""",
    refused=(
        Refusal("openvino_frontend", ("dead if sized",)),
        Refusal("tensorrt_rtx", ("dead if sized",)),
    ),
)

RESHAPE_TARGET = Rule(
    "IRL331",
    "reshape-target-invalid",
    Severity.ERROR,
    "The target of a Reshape has an invalid entry.",
    why=(
        "At most one entry may be -1; its size is computed from the others. An entry of 0 copies the size of the "
        "same axis of the data (ONNX without `allowzero`, OpenVINO with `special_zero`), so that axis must exist. "
        "Entries below -1 are invalid."
    ),
    fix="Use at most one -1, and 0 only for an axis that the data has.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x) => (float[2,A,B] y) <int64[3] shape = {2, -1, -1}> { y = Reshape (x, shape) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x) => (float[2,3,4] y) <int64[3] shape = {0, 3, -1}> { y = Reshape (x, shape) }""",
    refused=(Refusal("onnxruntime", ("dead if sized",)),),
)


# --- Reshape ----------------------------------------------------------------------------------------------------------


def reshaped(data: Shape | None, target: Sequence[MaybeDim], *, copies: bool) -> Shape:
    """The shape of ``data`` after a reshape to ``target``. With ``copies``, a 0 copies the data's size on that axis.

    Raises a ``RESHAPE_TARGET`` or ``RESHAPE_COUNT`` fault. Source: ONNX Reshape-5 to 25, OpenVINO Reshape-1.
    """
    _expect_valid_entries(data, target, copies)
    copied = {axis for axis, entry in enumerate(target) if entry == 0 and copies}
    stated = {axis: _stated(entry) for axis, entry in enumerate(target) if axis not in copied}
    if data is None:
        return tuple(stated.get(axis) for axis in range(len(target)))
    of_target, of_data = list(stated.values()), [1 if axis in copied else dim for axis, dim in enumerate(data)]
    unknown_axes = [axis for axis, dim in stated.items() if dim is None]
    if not unknown_axes:
        _expect_count(data, target, of_data, of_target=of_target, copies=copies)
        symbolic = [axis for axis, dim in stated.items() if isinstance(dim, Expr)]
        if len(symbolic) == 1 and 0 not in of_target and product(of_data) == 0:
            stated[symbolic[0]] = 0
    if len(unknown_axes) == 1:
        rest = [dim for dim in of_target if dim is not None]
        stated[unknown_axes[0]] = _inferred_size(data, target, of_data, rest=rest)
    return tuple(data[axis] if axis in copied else stated[axis] for axis in range(len(target)))


def _stated(entry: MaybeDim) -> MaybeDim:
    """The size that an entry of a target states; None if the entry is or may be -1."""
    return None if entry == -1 or (isinstance(entry, Expr) and at_least(entry, 0) is False) else entry


def _expect_valid_entries(data: Shape | None, target: Sequence[MaybeDim], copies: bool) -> None:
    text = shape_text(tuple(target))
    rests = [axis for axis, entry in enumerate(target) if entry == -1]
    if len(rests) > 1:
        raise RESHAPE_TARGET.fault(
            f"entries {rests[0]} and {rests[1]} of the target {text} are both -1", help="keep at most one -1", input=1
        )
    for axis, entry in enumerate(target):
        if isinstance(entry, int) and entry < -1:
            raise RESHAPE_TARGET.fault(
                f"entry {axis} of the target {text} is {entry}; the minimum is -1", help="use -1, 0 or a size", input=1
            )
        if entry == 0 and copies and data is not None and axis >= len(data):
            raise RESHAPE_TARGET.fault(
                f"entry {axis} of the target {text} is 0, and input 0 has no axis {axis} to copy",
                help=f"write the size of axis {axis}",
                input=1,
            )
    if rests and not copies and any(entry == 0 for entry in target) and not _may_be_empty(data):
        raise RESHAPE_TARGET.fault(
            f"the target is {text}: with a size of 0, the -1 can be any size",
            help="replace the -1 by the size",
            input=1,
        )


def _may_be_empty(data: Shape | None) -> bool:
    return data is None or any(dim is None or same(dim, 0) is not False for dim in data)


def _expect_count(
    data: Shape, target: Sequence[MaybeDim], of_data: Sequence[MaybeDim], *, of_target: Sequence[MaybeDim], copies: bool
) -> None:
    before, after = product(of_data), product(of_target)
    verdict = same(before, after, positive=0 not in (before, after))
    if verdict is None and before is not None and after is not None:
        require_any(Relation("==", before, after), why=f"{shape_text(data)} is reshaped to {shape_text(tuple(target))}")
    if verdict is False:
        incoming = _incoming_text(product(data) if None not in data else before)
        count = _count_text(data, target, after, copies=copies)
        message = f"{incoming}, the target {shape_text(tuple(target))} has {count}; input 0 is {shape_text(data)}"
        raise _count_fault(message, data, target, wanted_count=count)


def _count_text(data: Shape, target: Sequence[MaybeDim], after: MaybeDim, *, copies: bool) -> str:
    sizes = tuple(
        data[axis] if copies and entry == 0 and axis < len(data) else entry for axis, entry in enumerate(target)
    )
    count = product(sizes)
    return f"{after if count is None else count}"


def _incoming_text(count: MaybeDim) -> str:
    return f"{counted(count, 'element')} {'comes' if count == 1 else 'come'} in"


def _count_fault(message: str, data: Shape, target: Sequence[MaybeDim], *, wanted_count: str) -> Fault:
    """The fault of a wrong number of elements. It proposes another entry, if exactly one entry can correct the number.

    ``wanted_count`` is the number of elements for which the target is correct.
    """
    fitting = {axis: _fitting_entry(data, target, axis) for axis in range(len(target))}
    corrections = [(axis, entry) for axis, entry in fitting.items() if entry is not None]
    other = f"pass {wanted_count} elements as input 0"
    if len(corrections) != 1:
        count = product(data)
        noun = "the same number of elements" if count is None else counted(count, "element")
        return RESHAPE_COUNT.fault(message, help=f"use a target with {noun}, or {other}", input=0)
    axis, wanted = corrections[0]
    write = f"write {wanted} for the {target[axis]} in entry {axis} of the target"
    otherwise = f"{other}, or {write} and correct what then fails"
    return RESHAPE_COUNT.fault(
        message,
        help=f"{_product_text(data, target, axis, wanted=wanted)}{write}, or {other}",
        input=0,
        proposal=Proposal(1, axis, wanted, otherwise),
    )


def _product_text(data: Shape, target: Sequence[MaybeDim], axis: int, *, wanted: int) -> str:
    """The beginning of the help: the product that makes up a size of the data, if the target divides this size."""
    kept, factors = list(data), []
    for place, each in enumerate(target):
        if each in kept and place != axis:
            kept.remove(each)
        elif isinstance(each, int) and place != axis and each != 1:
            factors.append(each)
    if -1 in target or not 0 < len(factors) < 4:
        return ""
    return f"{product((wanted, *factors))} = {' * '.join(map(str, (wanted, *factors)))}: "


def _fitting_entry(data: Shape, target: Sequence[MaybeDim], axis: int) -> int | None:
    """The number that, as the entry at ``axis``, corrects the number of elements; None if there is no such number."""
    entry, before = target[axis], product(data)
    others = product(dim for place, dim in enumerate(target) if place != axis and dim != -1)
    if entry in (0, -1) or before is None or others in (None, 0) or 0 in target:
        return None
    if -1 in target:
        # With a -1 elsewhere, many numbers are correct, so only the size of the data on the same axis is suggested.
        is_aligned = len(data) == len(target) or tuple(target[:axis]) == data[:axis]
        own = data[axis] if axis < len(data) and is_aligned else None
        if not isinstance(own, int) or own == entry:
            return None
        return own if quotient(before, own * others) is not None else None
    wanted = quotient(before, others)
    return wanted if isinstance(wanted, int) and wanted > 0 else None


def _inferred_size(
    data: Shape, target: Sequence[MaybeDim], of_data: Sequence[MaybeDim], *, rest: Sequence[Dim]
) -> MaybeDim:
    """The unknown size of a target whose other sizes are ``rest``; None if it cannot be computed."""
    before, known = product(of_data), product(rest)
    if before is None or known is None or known == 0:
        return None
    exact = quotient(before, known)
    if exact is not None:
        return exact
    why = f"{shape_text(data)} is reshaped to {shape_text(tuple(target))}"
    if isinstance(known, Expr):
        require_any(Relation("%", before, known), why=why)
        return exact_quotient(before, known)
    if divides(known, before, why):
        return exact_quotient(before, known)
    if same(before, 0) is None:
        return None
    message = (
        f"{_incoming_text(before)}, which {'is' if before == 1 else 'are'} no multiple of {known}: input 0 is "
        f"{shape_text(data)}, the target {shape_text(tuple(target))}"
    )
    raise _count_fault(message, data, target, wanted_count=f"a multiple of {known}")


def _reshape(data: Tensor, target: Tensor, copies: bool) -> Tensor:
    expect_rank(target, 1, 1, what="shape")
    listed = entries(target)
    return Tensor(data.dtype) if listed is None else _as_target(data, listed, copies=copies)


def _as_target(data: Tensor, target: Sequence[MaybeDim], *, copies: bool) -> Tensor:
    shape = reshaped(data.shape, target, copies=copies)
    if wants_arithmetic():
        from irlint.ops.shared import formulas

        formulas.reshaped(data.shape, target, shape)
    return rearranged(data, shape)


@onnx("Reshape", since=1)
def reshape_by_attribute(data: Tensor, *, shape: Ints | None = None, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX Reshape-1."""
    if shape is None:
        raise RESHAPE_TARGET.fault("there is no target", help="write the attribute `shape`", attribute="shape")
    return _as_target(data, shape, copies=True)


@onnx("Reshape", since=5)
def reshape(data: Tensor, shape: Tensor, *, allowzero: int = 0) -> Tensor:
    """ONNX Reshape-5 and later. With ``allowzero=1`` (opset 14), 0 is a size."""
    if allowzero == 1 and shape.value is not None and 0 in shape.value and -1 in shape.value:
        axis = shape.value.index(0)
        is_copied = data.shape is not None and axis < len(data.shape) and data.shape[axis] != 0
        size = f" ({size_text(data.shape[axis])})" if is_copied and data.shape and data.shape[axis] is not None else ""
        copy = f"set `allowzero = 0`, so that 0 copies axis {axis} of input 0{size}, or " if is_copied else ""
        raise RESHAPE_TARGET.fault(
            f"the target is {shape_text(shape.ints)}: with allowzero=1, 0 and -1 cannot be combined",
            help=f"{copy}replace the -1 by the size",
            input=1,
        )
    copied = [] if allowzero == 1 else _copied_zeros(data.shape, shape)
    if copied and shape.value is not None and -1 in shape.value:
        raise RESHAPE_TARGET.fault(
            f"the target is {shape_text(shape.ints)} and copies the size 0 of axis {copied[0]}: "
            "with 0 elements, the -1 can be any size",
            help="replace the -1 by the size",
            input=1,
        )
    return _reshape(data, shape, copies=allowzero != 1)


def _copied_zeros(data: Shape | None, target: Tensor) -> list[int]:
    listed = entries(target)
    return [axis for axis, dim in enumerate(data or ()) if dim == 0 and listed and listed[axis : axis + 1] == (0,)]


def _is_inferred(entry: Dim) -> bool:
    """Whether OpenVINO can infer an entry: it has no symbol of a data-dependent size."""
    return all(not name.startswith("_") for name in symbols(entry))


@openvino("Reshape", absent={"special_zero": False})
def ov_reshape(data: Tensor, pattern: Tensor, *, special_zero: bool, context: Context) -> Tensor:
    """OpenVINO Reshape-1."""
    expect_type(pattern, 1, INTEGERS)
    listed = entries(pattern) or ()
    sure = all(entry is not None and _is_inferred(entry) for entry in listed) or not _may_be_empty(data.shape)
    if sure and not special_zero and 0 in listed and -1 in listed and not any(dim == 0 for dim in data.shape or ()):
        raise RESHAPE_TARGET.fault(
            f"the target is {shape_text(listed)} and input 0 is {shape_text(data.shape)}: without `special_zero`, 0 "
            "is a size, and OpenVINO allows -1 together with 0 only if input 0 has a size of 0",
            help='write special_zero="true" if the 0 should copy a size, or replace the -1 by the size',
            input=1,
        )
    try:
        return _reshape(data, pattern, copies=special_zero)
    except Fault as fault:
        uncounted = special_zero and fault.rule is RESHAPE_COUNT and not context.constant(0)
        result = _with_fewer_elements(data, listed) if uncounted else None
        if result is None:
            raise
        warn(fault.lowered(Severity.WARNING))
        return result


def _with_fewer_elements(data: Tensor, target: Sequence[MaybeDim]) -> Tensor | None:
    """The library's result for a target that copies sizes and has no more elements than the data; otherwise None."""
    if 0 not in target or -1 in target or data.shape is None or data.value is not None:
        return None
    shape = tuple(data.shape[axis] if entry == 0 else entry for axis, entry in enumerate(target))
    before, after = product(data.shape), product(shape)
    fewer = before is not None and after is not None and at_least(before, after) is True
    return Tensor(data.dtype, shape) if fewer else None


# --- Flatten ----------------------------------------------------------------------------------------------------------


def flattened(shape: Shape | None, axis: int) -> Shape:
    """[product of the sizes before ``axis``, product of the other sizes]."""
    if shape is None:
        return (None, None)
    return (product(shape[:axis]), product(shape[axis:]))


def _flatten(x: Tensor, axis: int, negative: bool) -> Tensor:
    if x.shape is None:
        return Tensor(x.dtype, (None, None))
    rank = len(x.shape)
    place = rank if axis == rank else axis_of(axis, rank, negative=negative)
    if wants_arithmetic():
        from irlint.ops.shared import formulas

        formulas.flattened(x.shape, place)
    return rearranged(x, flattened(x.shape, place))


@onnx("Flatten", since=1)
def flatten_from_front(input: Tensor, *, axis: int = 1) -> Tensor:
    """ONNX Flatten-1 and 9."""
    return _flatten(input, axis, negative=False)


@onnx("Flatten", since=11)
def flatten(input: Tensor, *, axis: int = 1) -> Tensor:
    """ONNX Flatten-11 and later."""
    return _flatten(input, axis, negative=True)
