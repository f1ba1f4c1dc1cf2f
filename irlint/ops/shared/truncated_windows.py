"""Numbers of windows in libraries whose division rounds towards zero."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, at_least, guarded, largest, smallest
from irlint.dims.polynomials import lone_atom
from irlint.dims.proofs import fed
from irlint.findings.statements import reaches
from irlint.ops.shared.windows import ceiling_of, floor_of, parts_of_largest


def truncated_count(size: Dim, span: Dim, stride: int, *, pads: int, filled: bool) -> MaybeDim:
    """The number of windows of ``span`` elements on an axis: trunc((size + pads - span) / stride) + 1.

    ``pads`` is the sum of both paddings. ``filled``: the size is at least 1. Sources: ONNX Runtime 1.32 and the shape
    inference of onnx, as measured.
    """
    room, least = size + pads - span, 1 + pads - span
    count, most = floor_of(room + stride, stride), ceiling_of(room + stride, stride)
    if at_least(least if filled else guarded(fed, room), 0):
        return count
    once = at_least(least + stride if filled else guarded(fed, most), 1)
    return largest(count, 1 if once else smallest(most, 1))


def filled(shape: Shape, first: int) -> Shape | None:
    """``shape``, after requiring that its spatial axes, which begin at ``first``, have elements.

    None if the batch may be 0.
    """
    if not _is_filled(shape[0]):
        return None
    last = first + len(shape) - 2
    return tuple(_at_least_one(dim, axis) if first <= axis < last else dim for axis, dim in enumerate(shape))


def _is_filled(dim: MaybeDim) -> bool:
    """Whether a size is certainly at least 1, if all sizes of the model's inputs are at least 1."""
    return at_least(guarded(fed, dim), 1) is True


def _at_least_one(dim: MaybeDim, axis: int) -> MaybeDim:
    if dim is None or _is_filled(dim) or not reaches(dim, 1, f"axis {axis} is not empty") or not lone_atom(dim, "max"):
        return dim
    return largest(*parts_of_largest(dim), 1)
