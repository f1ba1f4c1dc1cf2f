"""Concat."""

from __future__ import annotations

import math
from collections.abc import Sequence

from irlint.dims import Shape, same, total
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import agree, wants_arithmetic
from irlint.findings.wording import axes_help, counted
from irlint.model.tensor import INTEGERS, Contents, Tensor, size_text
from irlint.ops import onnx, openvino
from irlint.ops.shared import contents as fold
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.element_types import common_type
from irlint.ops.shared.sizes import narrower

CONCAT_MISMATCH = Rule(
    "IRL340",
    "concat-shape-mismatch",
    Severity.ERROR,
    "Concatenated tensors differ on an axis other than the concatenation axis.",
    why=(
        "Concat joins tensors along one axis. All inputs must have the same number of axes, and the same size on "
        "every other axis. Runtimes refuse the model when they load it, or fail at the node."
    ),
    fix="Make the other axes equal (pad, crop, resize, transpose), or concatenate along the axis that differs.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,40,40] x, float[1,32,20,20] z) => (float[1,96,40,40] y) { y = Concat <axis = 1> (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,40,40] x, float[1,32,40,40] z) => (float[1,96,40,40] y) { y = Concat <axis = 1> (x, z) }""",
    refused=(Refusal("onnxruntime", ("dead if sized", "as declared")),),
)

# --- Concat -----------------------------------------------------------------------------------------------------------


def _rank_help(index: int, shape: Shape, known: Sequence[tuple[int, Shape]], *, part: str) -> str:
    """The help for the first ``shape`` with another rank than the first of the ``known`` shapes."""
    first, base = known[0]
    if len(known) == 2 and part == "input":
        return axes_help(index, len(base), first, rank_of_other=len(shape))
    if all(len(other) == len(base) for at, other in known if at != index):
        return f"give {part} {index} {counted(len(base), 'axis', 'axes')}"
    return f"give all {part}s the same number of axes"


def concatenated(shapes: Sequence[Shape | None], axis: int | None, *, part: str = "input") -> Shape | None:
    """The shape of concatenated tensors; None if no shape is known. Messages call a tensor ``part``.

    If ``axis`` is None, the tensors are stacked: all axes must be equal, and the result is the shape of one tensor.

    Raises a ``CONCAT_MISMATCH`` or ``AXIS_OUT_OF_RANGE`` fault. Source: ONNX Concat-13, OpenVINO Concat-1.
    """
    known = [(index, shape) for index, shape in enumerate(shapes) if shape is not None]
    if not known:
        return None
    first, base = known[0]
    is_input = part == "input"
    place = None if axis is None else axis_of(axis, len(base), input=first if is_input else 0)
    result, owners = list(base), [first] * len(base)
    clashes: list[tuple[int, int, int]] = []
    for index, shape in known[1:]:
        if len(shape) != len(base):
            raise CONCAT_MISMATCH.fault(
                f"{part} {first} has {counted(len(base), 'axis', 'axes')} and {part} {index} has {len(shape)}",
                help=_rank_help(index, shape, known, part=part),
                input=index if is_input else 0,
                aligned="left",
            )
        for other, size in enumerate(shape):
            before = result[other]
            if other == place:
                continue
            if not agree(before, size, f"axis {other} has to be equal in {part}s {owners[other]} and {index}"):
                clashes.append((other, owners[other], index))
            elif narrower(before, size) != before:
                result[other], owners[other] = size, index
    if clashes:
        raise _concat_fault(shapes, clashes, place=place, part=part)
    if place is None:
        return tuple(result)
    result[place] = total(None if shape is None else shape[place] for shape in shapes)
    if is_input and wants_arithmetic():
        from irlint.ops.shared.formulas import concatenated

        concatenated(shapes, result[place], place)
    return tuple(result)


def _concat_fault(
    shapes: Sequence[Shape | None], clashes: Sequence[tuple[int, int, int]], *, place: int | None, part: str
) -> Fault:
    inputs: dict[int, dict[int, None]] = {}
    for axis, first, index in clashes:
        inputs.setdefault(axis, {}).update({first: None, index: None})
    texts = [
        f"axis {axis} is {_sizes_text(shapes, axis, list(indices), part=part)}" for axis, indices in inputs.items()
    ]
    axis, _, index = clashes[0]
    others = sorted({axis for axis, _, _ in clashes})
    may_join = place is not None and len(others) == 1 and _are_equal(shapes, place)
    other_axis = f"join along axis {axis}, or " if may_join else ""
    joined = f"joined along axis {place}, so all other axes" if place is not None else "stacked, so all axes"
    return CONCAT_MISMATCH.fault(
        f"{'; '.join(texts)}; the {part}s are {joined} have to be equal",
        help=f"{other_axis}make axis {axis} equal in all {part}s",
        input=index if part == "input" else 0,
        marks=tuple(mark for axis, first, index in clashes for mark in ((first, axis), (index, axis)))
        if part == "input"
        else (),
        aligned="left",
        remark="differ",
    )


def _are_equal(shapes: Sequence[Shape | None], axis: int) -> bool:
    """Whether all shapes certainly have the same size on one axis."""
    sizes = [None if shape is None else shape[axis] for shape in shapes]
    return all(same(size, sizes[0]) for size in sizes)


def _sizes_text(shapes: Sequence[Shape | None], axis: int, indices: Sequence[int], *, part: str) -> str:
    sizes = []
    for index in indices:
        shape = shapes[index]
        assert shape is not None
        sizes.append(f"{size_text(shape[axis])} in {part} {index}")
    return f"{', '.join(sizes[:-1])} and {sizes[-1]}"


def joined_values(tensors: Sequence[Tensor], shape: Shape | None, axis: int) -> Contents | None:
    """The values of concatenated tensors with the result's ``shape``; None if they are unknown or too many."""
    if shape is None or not fold.fits(shape) or any(not fold.fits(x.shape) for x in tensors):
        return None
    if all(x.value is None for x in tensors):
        return None
    place = axis_of(axis, len(shape))
    rows: list[tuple[Contents, int]] = []
    for x in tensors:
        assert x.shape is not None
        inner = static_product(x.shape[place:])
        value = x.value if x.value is not None else (None,) * static_product(x.shape)
        rows.append((value, inner))
    outer = static_product(shape[:place])
    return tuple(
        entry for row in range(outer) for value, inner in rows for entry in value[row * inner : (row + 1) * inner]
    )


def static_product(dims: Shape) -> int:
    """The product of static sizes."""
    return math.prod(fold.static(dims))


def _concat(inputs: tuple[Tensor, ...], axis: int) -> Tensor:
    shape = concatenated([x.shape for x in inputs], axis)
    value = joined_values(inputs, shape, axis)
    dtype = common_type(inputs)
    missing = sum(x.value is None and x.extent is None for x in inputs)
    if value is not None or shape is None or missing == len(inputs) or (missing and dtype not in INTEGERS):
        return Tensor(dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(dtype, shape, None, bounds.concatenated(inputs, axis_of(axis, len(shape))))


@onnx("Concat", since=4)
@openvino("Concat", absent={"axis": 0})
def concat(*inputs: Tensor, axis: int) -> Tensor:
    """ONNX Concat-4 and later, OpenVINO Concat-1."""
    return _concat(inputs, axis)


@onnx("Concat", since=1)
def concat_along_default_axis(*inputs: Tensor, axis: int | None = None) -> Tensor:
    """ONNX Concat-1, along axis 1 by default."""
    return _concat(inputs, 1 if axis is None else axis)
