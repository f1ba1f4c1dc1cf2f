"""Quotients of sizes: exactly what runtimes compute for every size that an input can have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from irlint.dims import Dim, Expr, evaluated, symbol
from irlint.model.descriptions import Ratio, Ratios
from irlint.model.tensor import Tensor
from irlint.ops.math.casting import retyped
from irlint.ops.math.elementwise import arithmetic, div
from irlint.ops.math.unary import unary
from irlint.ops.shared import contents
from irlint.ops.shared.quotients import MOST_TIMES, product_ratio, quotient_ratio, truncated

H, W, DATA = symbol("H"), symbol("W"), symbol("D", by_data=True)

numbers = st.integers(-9, 9)
terms = st.tuples(numbers, numbers, numbers, st.integers(-40, 40))


def size(parts: tuple[int, int, int, int]) -> Dim:
    return parts[0] * H + parts[1] * W + parts[2] * DATA + parts[3]


@given(terms, st.integers(1, 9) | st.integers(-9, -1), st.integers(1, 50), st.integers(1, 50), st.integers(0, 50))
def test_law_whole_numbers_are_divided_towards_zero(
    parts: tuple[int, int, int, int], divisor: int, height: int, width: int, data: int
) -> None:
    found = truncated(size(parts), divisor)
    assert found is not None
    values = {"H": height, "W": width, "D": data}
    numerator = evaluated(size(parts), values)
    assert evaluated(found, values) == math.trunc(numerator / divisor)


def test_sizes_of_inputs_are_at_least_1_and_others_may_be_0() -> None:
    assert str(truncated(H - 1, 2)) == "(H - 1)//2"
    assert str(truncated(-H, 2)) == "-(H//2)"
    assert str(truncated(H, -2)) == "-(H//2)"
    assert str(truncated(10, H)) == "10//H"
    assert str(truncated(DATA - 1, 2)) == "max(D - 1, 0)//2"
    assert str(truncated(DATA, 2)) == "D//2"
    assert truncated(H, W - 3) is None
    assert truncated(H, DATA) is None


def test_a_remainder_is_that_of_the_divisor_or_of_a_dividend_that_is_not_negative() -> None:
    assert str(contents.floored_remainder(H - 1, 2)) == "(H + 1) % 2"
    assert contents.floored_remainder(H, W) is None
    assert str(contents.truncated_remainder(H, 2)) == "H % 2"
    assert contents.truncated_remainder(H - 1, 2) is None


# --- floating-point numbers -------------------------------------------------------------------------------------------


def rounded(ratio: Ratio, number: float) -> tuple[bool, bool]:
    """Whether the floor and the ceiling of a ratio at the size 1 of its symbol's factor are those of a float."""
    assert isinstance(ratio.numerator, int)
    return (
        ratio.numerator // ratio.divisor == math.floor(number),
        -(-ratio.numerator // ratio.divisor) == math.ceil(number),
    )


def at(ratio: object, height: int) -> Ratio:
    """A ratio for one size; a size that it is exactly is one over 1."""
    if isinstance(ratio, Ratio):
        return Ratio(evaluated(ratio.numerator, {"H": height}), ratio.divisor)
    assert isinstance(ratio, Expr)
    return Ratio(evaluated(ratio, {"H": height}), 1)


divisors = st.integers(1, (1 << 24) - 1) | st.integers(1, 64)


@given(divisors, st.data())
def test_law_a_float_quotient_has_the_floor_and_the_ceiling_of_the_exact_one(divisor: int, data: st.DataObject) -> None:
    """The sizes beside multiples are those that rounding could move, most of all the largest ones."""
    most = (1 << 24) - 1
    multiple = divisor * data.draw(st.integers(0, most // divisor))
    height = min(max(multiple + data.draw(st.integers(-1, 1)), 1), most)
    found = quotient_ratio(H, float(np.float32(divisor)))
    assert found is not None
    assert rounded(at(found, height), float(np.float32(height) / np.float32(divisor))) == (True, True)
    assert rounded(at(found, height), height / divisor) == (True, True)


@given(st.integers(1, MOST_TIMES), st.integers(0, 23), st.integers(1, 1 << 20), st.booleans())
def test_law_a_float_product_with_a_fraction(times: int, shift: int, height: int, divides: bool) -> None:
    factor = times / (1 << shift)
    found = quotient_ratio(H, factor) if divides else product_ratio(factor, H)
    assume(found is not None)
    number = np.float32(height) / np.float32(factor) if divides else np.float32(height) * np.float32(factor)
    assert rounded(at(found, height), float(number)) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("divisor", [3, 7, 32, 33])
def test_every_size_that_float32_counts(divisor: int) -> None:
    sizes = np.arange(1, 1 << 24, dtype=np.int64)
    found = sizes.astype(np.float32) / np.float32(divisor)
    assert (np.floor(found).astype(np.int64) == sizes // divisor).all()
    assert (np.ceil(found).astype(np.int64) == -(-sizes // divisor)).all()


@pytest.mark.parametrize("number", [0.0, math.inf, math.nan, 0.1, 1 / 3, float(1 << 24), 17.0 / 16])
def test_what_is_not_exact_is_not_known(number: float) -> None:
    assert product_ratio(H, number) is None or number in (0.0, float(1 << 24))
    assert quotient_ratio(H, number) is None or number == 17.0 / 16


def sized(dtype: str) -> Tensor:
    return Tensor(dtype, (2,), (H, 7 if dtype.startswith("int") else 7.0))


def test_ratios_are_known_until_they_are_rounded() -> None:
    two = Tensor("float32", (), (2.0,))
    quotient = div(sized("float32"), two)
    assert quotient == Tensor("float32", (2,), (None, 3.5), Ratios((Ratio(H, 2), 3.5)))
    assert retyped(quotient, "int64").value == (H // 2, 3)
    assert retyped(quotient, "float64").value == (None, 3.5)
    assert arithmetic(quotient, two, fold=contents.plus).value == (None, 5.5)
    floor, ceiling = (unary.__globals__[name] for name in ("_floor", "_ceiling"))
    assert unary(quotient, fold=floor).value == (H // 2, 3.0)
    assert unary(quotient, fold=ceiling).value == ((H + 1) // 2, 4.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_types_of_16_bits_do_not_count_to_every_size(dtype: str) -> None:
    assert div(sized(dtype), Tensor(dtype, (), (2.0,))).extent is None


def test_sizes_as_floats_are_not_divided_as_whole_numbers() -> None:
    a, b = (Tensor("float32", (1,), (each,)) for each in (H, W + 1))
    assert div(a, b).value == (None,)
    assert div(retyped(a, "int64"), retyped(b, "int64")).value == (H // (W + 1),)
