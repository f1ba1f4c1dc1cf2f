"""Slice and SliceScatter against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import evaluated, symbol
from irlint.findings.statements import collected_arithmetic
from irlint.model.tensor import Tensor
from irlint.ops.layout.slicing import FAR, Range, range_length, range_positions, slice_by_inputs, sliced

H = symbol("H")


INDEX = st.one_of(st.integers(-12, 12), st.sampled_from([FAR, -FAR, 1 << 62, -(1 << 62)]))


@given(st.integers(0, 9), INDEX, INDEX, st.sampled_from([1, 2, 3, -1, -2, -3]))
def test_length_is_numpys(size: int, start: int, end: int, step: int) -> None:
    expected = np.arange(size)[slice(0 if step < 0 and start < -size else start, end, step)]
    taken = Range(start, end, step)
    assert range_length(size, taken) == len(expected)
    positions = range_positions(size, taken)
    assert positions is not None
    assert list(positions) == expected.tolist()
    symbolic = range_length(H, taken)
    assert symbolic is not None
    assert evaluated(symbolic, {"H": size}) == len(expected)


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (0, FAR, 1, "H"),
        (1, FAR, 2, "H//2"),
        (0, FAR, 2, "(H + 1)//2"),
        (0, 5, 1, "min(H, 5)"),
        (-1, FAR, 1, "min(H, 1)"),
        (0, -1, 1, "max(H - 1, 0)"),
        (-1, -FAR, -1, "H"),
        (0, H // 2, 1, "H//2"),
        (H // 2, FAR, 1, "H - H//2"),
        (0, H - 1, 1, "max(H - 1, 0)"),
        (0, H - 3, 1, "None"),
        (0, None, 1, "None"),
    ],
)
def test_symbolic_length(start: object, end: object, step: int, expected: str) -> None:
    assert str(range_length(H, Range(start, end, step))) == expected  # type: ignore[arg-type]


def test_contents_of_a_shape_are_sliced() -> None:
    shape = Tensor("int64", (4,), (1, 3, H, None))
    one = Tensor("int64", (1,), (2,))
    result = slice_by_inputs(shape, one, Tensor("int64", (1,), (FAR,)))
    assert result == Tensor("int64", (2,), (H, None))


@pytest.mark.parametrize(
    ("start", "end", "step", "details"),
    [
        (10, 12, 1, "the slice starts at 10 and axis 0 has 8 elements: the slice is empty"),
        (10, 7, -1, ""),
        (3, 3, 1, ""),
    ],
)
def test_the_cause_of_an_empty_slice(start: int, end: int, step: int, details: str) -> None:
    with collected_arithmetic() as found:
        assert sliced(Tensor("float32", (8,)), (Range(start, end, step),)).shape == (0,)
    assert [each.details for each in found] == [details]
