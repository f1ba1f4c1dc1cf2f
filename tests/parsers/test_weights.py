"""Constants of floating-point numbers, which are read when somebody asks for them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from irlint.model.tensor import Tensor, disagree
from irlint.parsers.weights import WEIGHTS_TYPES, Weights, contents

NUMBERS = [0.0, -0.0, 1.5, -2.0, 65504.0, math.inf, -math.inf, math.nan]


def _raw(dtype: str, number: float) -> bytes:
    if dtype == "bfloat16":
        return np.float32(number).tobytes()[2:]
    return np.dtype(dtype).type(number).tobytes()


@pytest.mark.parametrize("dtype", sorted(WEIGHTS_TYPES))
def test_they_are_what_their_bytes_say(dtype: str) -> None:
    for number in NUMBERS:
        raw = _raw(dtype, 1.0) + _raw(dtype, number) + _raw(dtype, 3.0)
        known = Weights(Tensor(dtype, (3,)), None, raw)
        plain = Tensor(dtype, (3,), contents(dtype, 3, raw))
        is_large = dtype == "float16" and abs(number) >= 256
        assert known.is_moderate == (math.isfinite(number) and not is_large)
        assert repr(known) == repr(plain)
        if not math.isnan(number):
            assert known == plain and plain == known and hash(known) == hash(plain)
        assert known != Tensor(dtype, (3,)) and Tensor(dtype, (3,)) != known


def test_they_are_of_the_same_kind_as_other_tensors() -> None:
    known = Weights(Tensor("float32", (1,)), None, _raw("float32", 1.0))
    assert not disagree(known, Tensor("float32", (2,))) and not disagree(Tensor("float32"), known)
    assert disagree(known, Tensor("float16")) and disagree(Tensor("float16"), known)


def test_the_largest_of_a_type_is_not_moderate() -> None:
    for dtype in ("float16", "float32", "float64"):
        raw = _raw(dtype, float(np.finfo(dtype).max))
        known = Weights(Tensor(dtype, (1,)), None, raw)
        assert not known.is_moderate
