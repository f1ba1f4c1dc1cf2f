"""Transpose."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, same
from irlint.findings.wording import counted
from irlint.model.tensor import CONTENTS_LIMIT, INTEGERS, Contents, Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared import contents as fold
from irlint.ops.shared.axes import PERM_LENGTH, Ints, axes_of
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.shape_inputs import known_integers, length


def _help_of_order(rank: int) -> str:
    if rank < 2:
        return "list only axis 0" if rank else "remove the order"
    return f"list each of the axes 0 to {rank - 1} once"


def _name_of_order(input: int | None) -> str:
    return "perm" if input is None else f"the order (input {input})"


def transposed(x: Tensor, perm: Sequence[int] | None, input: int | None = None) -> Tensor:
    """``x`` with its axes in the order ``perm``, or in reverse order if ``perm`` is None.

    ``input`` is the index of the input that holds the order; None if an attribute holds it. Raises a ``PERM_LENGTH``,
    ``AXIS_OUT_OF_RANGE`` or ``AXIS_REPEATED`` fault.
    """
    if x.shape is None:
        if perm is not None:
            axes_of(perm, len(perm), "the order", negative=False)
        return Tensor(x.dtype, None if perm is None else (None,) * len(perm))
    rank = len(x.shape)
    order = tuple(range(rank))[::-1] if perm is None else tuple(perm)
    if len(order) != rank:
        raise PERM_LENGTH.fault(
            f"{_name_of_order(input)} has {counted(len(order), 'entry', 'entries')}, input 0 has "
            f"{counted(rank, 'axis', 'axes')}",
            help=f"reshape input 0 to {counted(len(order), 'axis', 'axes')}, or {_help_of_order(rank)}",
            input=0 if input is None else input,
            attribute="perm" if input is None else None,
        )
    axes_of(order, rank, "the order", negative=False)
    shape = tuple(x.shape[axis] for axis in order)
    value: Contents | None = None
    if x.value is not None and fold.fits(x.shape):
        value = fold.permuted(x.value, x.shape, order)
    if x.extent is None:
        return Tensor(x.dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(x.dtype, shape, value, bounds.permuted(x, order))


@onnx("Transpose")
def transpose(data: Tensor, *, perm: Ints | None = None) -> Tensor:
    """ONNX Transpose."""
    return transposed(data, perm)


@openvino("Transpose", read_at_load=(1,))
def ov_transpose(arg: Tensor, input_order: Tensor) -> Tensor:
    """OpenVINO Transpose-1; an empty order reverses the axes."""
    expect_type(input_order, 1, INTEGERS)
    expect_rank(input_order, 1, 1, what="input_order")
    listed = known_integers(input_order)
    if listed is not None:
        return transposed(arg, listed or None, 1) if listed or arg.shape is not None else Tensor(arg.dtype)
    count: MaybeDim = length(input_order)
    if arg.shape is None:
        return Tensor(arg.dtype, (None,) * count if isinstance(count, int) and count <= CONTENTS_LIMIT else None)
    if count is None and input_order.shape is not None:
        count = input_order.shape[0]
    if count != 0 and same(count, len(arg.shape)) is False:
        raise PERM_LENGTH.fault(
            f"{_name_of_order(1)} has {counted(count, 'entry', 'entries')}, input 0 has "
            f"{counted(len(arg.shape), 'axis', 'axes')}",
            help=_help_of_order(len(arg.shape)),
            input=1,
        )
    return Tensor(arg.dtype, (None,) * len(arg.shape))
