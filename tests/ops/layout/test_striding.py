"""StridedSlice against OpenVINO."""

from __future__ import annotations

import pytest

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.model.tensor import Tensor
from irlint.ops.layout import striding

H = symbol("H")


@pytest.mark.parametrize(
    ("count", "rank", "masks", "expected"),
    [
        (2, 3, ((), ()), [("range", 0, 0), ("range", 1, 1), ("kept", 2, 2)]),
        (2, 3, ((0,), ()), [("new", 0, 0), ("range", 0, 1), ("kept", 1, 2), ("kept", 2, 2)]),
        (2, 3, ((), (1,)), [("range", 0, 0), ("kept", 1, 1), ("kept", 2, 1)]),
        (2, 1, ((), (0,)), [("range", 0, 1)]),
    ],
)
def test_plan(count: int, rank: int, masks: tuple[tuple[int, ...], tuple[int, ...]], expected: object) -> None:
    nothing = frozenset[int]()
    new_axis, ellipsis = map(frozenset, masks)
    assert striding.strided_plan(rank, count, striding.Masks(nothing, nothing, new_axis, nothing, ellipsis)) == expected
    with pytest.raises(Fault, match="at most one may be an ellipsis"):
        striding.strided_plan(rank, count, striding.Masks(nothing, nothing, nothing, nothing, frozenset({0, 1})))


def test_contents() -> None:
    shape = Tensor("int64", (4,), (1, 3, H, None))

    def taken(begin: int, end: int, **masks: tuple[int, ...]) -> Tensor:
        first, last = Tensor("int64", (1,), (begin,)), Tensor("int64", (1,), (end,))
        every = {"begin_mask": (0,), "end_mask": (0,), **masks}
        return striding.strided_slice(shape, first, last, **every, context=None)  # type: ignore[arg-type]

    assert taken(2, 3) == Tensor("int64", (1,), (H,))
    assert taken(-2, 0, end_mask=(1,)) == Tensor("int64", (2,), (H, None))
    assert taken(2, 3, shrink_axis_mask=(1,)) == Tensor("int64", (), (H,))
    assert taken(2, 3, new_axis_mask=(1,)) == Tensor("int64", (1, 4), (1, 3, H, None))
