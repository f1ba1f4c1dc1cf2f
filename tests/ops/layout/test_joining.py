"""Concat and the splits against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.joining import concat, concatenated, joined_values
from irlint.ops.layout.splitting import _with_rest as with_rest
from irlint.ops.layout.splitting import even_sizes, nearly_even_sizes, split_up, stated_sizes

H, W, N = symbol("H"), symbol("W"), symbol("N")


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_contents_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    parts, start = [], 0
    for size in sizes:
        own = [size if place == axis % len(shape) else dim for place, dim in enumerate(shape)]
        parts.append(np.arange(start, start + int(np.prod(own))).reshape(own))
        start += parts[-1].size
    whole = np.concatenate(parts, axis)
    tensors = [Tensor("int64", part.shape, tuple(part.ravel().tolist())) for part in parts]
    joined = concat(*tensors, axis=axis)
    assert joined == Tensor("int64", whole.shape, tuple(whole.ravel().tolist()))
    assert split_up(joined, axis % len(shape), sizes) == tuple(tensors)


def test_unknown_contents_leave_holes() -> None:
    known, unknown = Tensor("int64", (2,), (1, H)), Tensor("int64", (1,))
    assert concat(known, unknown, axis=0).value == (1, H, None)
    assert joined_values([unknown, unknown], (2,), 0) is None
    assert joined_values([known, Tensor("int64", (N,))], (N + 2,), 0) is None


def test_symbolic_sizes() -> None:
    assert concatenated([(N, H, 3), (N, W, 3)], 1) == (N, H + W, 3)
    assert concatenated([(N, None), (N, 3)], 1) == (N, None)
    assert concatenated([None, (2, H)], 1) == (2, None)
    assert concatenated([None, None], 5) is None
    assert even_sizes(6 * N, 3, 0) == (2 * N,) * 3
    assert nearly_even_sizes(7, 3, 0) == (3, 3, 1)
    assert nearly_even_sizes(N, 1, 0) == (N,)
    assert [str(size) for size in nearly_even_sizes(H, 2, 0)] == ["(H + 1)//2", "H//2"]
    assert with_rest(H, (2, -1, 3), 0) == (2, H - 5, 3)
    assert stated_sizes(H, (2, None), 0, input=1) == (2, None)
    assert stated_sizes(10, (2, None), 0, input=1) == (2, 8)


def test_a_static_size_wins_over_a_symbol() -> None:
    with stated() as statements:
        assert concatenated([(H, 2), (20, 3), (H, 1)], 1) == (20, 6)
    assert {requirement.condition for requirement in statements.requirements} == {"H == 20", "20 == H"}
    with stated(), pytest.raises(Fault, match="axis 0 is 20 in input 1 and 40 in input 2"):
        concatenated([(H, 2), (20, 3), (40, 1)], 1)


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda: concatenated([(H, 2), (W, 2)], 1), "H == W"),
        (lambda: even_sizes(H, 4, 0), "H % 4 == 0"),
        (lambda: stated_sizes(H, (2, 3), 0, input=1), "H == 5"),
        (lambda: stated_sizes(H, (2, 3, None), 0, input=1), "H >= 5"),
        (lambda: with_rest(H, (2, -1), 0), "H >= 2"),
    ],
)
def test_requirements(call: Any, condition: str) -> None:
    with stated() as statements:
        call()
    assert [requirement.condition.replace("(H)", "H") for requirement in statements.requirements] == [condition]


@pytest.mark.parametrize(
    ("shapes", "axis", "message"),
    [
        (((1, 64, 40, 40), (1, 32, 20, 20)), 1, "axis 2 is 40 in input 0 and 20 in input 1; axis 3"),
        (((2, 3), (2, 3, 4)), 0, "input 0 has 2 axes and input 1 has 3"),
        (((H, 2), (H + 1, 2)), 1, "axis 0 is H in input 0 and H \\+ 1 in input 1"),
        (((2, 3), (2, 3)), 2, "allowed: -2 to 1"),
    ],
)
def test_mismatches(shapes: tuple[Any, ...], axis: int, message: str) -> None:
    with pytest.raises(Fault, match=message):
        concatenated(shapes, axis)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_sizes_beyond_the_axis_are_a_warning_in_openvino() -> None:
    with stated() as statements:
        assert with_rest(6, (2, 6, -1), 0) == (2, 6, 0)
    assert [fault.severity for fault in statements.faults] == [Severity.WARNING]
