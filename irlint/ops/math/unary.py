"""Elementwise operators with one input."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from irlint.dims import Dim, Expr
from irlint.lazy_typing import Any, Literal
from irlint.model.tensor import Scalar, Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared import contents
from irlint.ops.shared.contents import Fold, computed
from irlint.ops.shared.element_types import ARITHMETIC, BITWISE, REAL, expect_type

RoundMode = Literal["half_to_even", "half_away_from_zero"]


def _absolute(x: Any) -> Scalar:
    return x if isinstance(x, Expr) and contents.not_less(x, 0) else abs(x)


def _rounding(rounded: Callable[[Any], Dim]) -> Fold:
    """A function that rounds floats to floats, and returns integers and symbolic sizes unchanged."""

    def fold(x: Any) -> Scalar:
        integer = x if isinstance(x, (int, Expr)) else rounded(x)
        return integer if integer is x or isinstance(integer, Expr) else float(integer)

    return fold


def _real(function: Callable[[Any], float]) -> Fold:
    """``function``, extended to return None for symbolic sizes."""
    return lambda x: None if isinstance(x, Expr) else function(x)


_floor, _ceiling, _round = _rounding(math.floor), _rounding(math.ceil), _rounding(round)
_square_root, _exponential, _logarithm = _real(math.sqrt), _real(math.exp), _real(math.log)
_reciprocal, _sign = _real(lambda x: 1.0 / x), _real(lambda x: (x > 0) - (x < 0))


def _positive_part(x: Scalar) -> Scalar:
    return contents.greater(x, 0)


# --- activations ------------------------------------------------------------------------------------------------------


@onnx(
    since=6,
    folds={
        "Relu": _positive_part,
        "Exp": _exponential,
        "Log": _logarithm,
        "Sqrt": _square_root,
        "Neg": operator.neg,
        "Abs": _absolute,
        "Floor": _floor,
        "Ceil": _ceiling,
        "Reciprocal": _reciprocal,
    },
)
@onnx("Sigmoid", "Tanh", since=6)
@onnx("Acos", "Asin", "Atan", "Cos", "Sin", "Tan", since=7)
@onnx(since=9, folds={"Sign": _sign})
@onnx("Acosh", "Asinh", "Atanh", "Cosh", "Sinh", "Erf", since=9)
@onnx(since=11, folds={"Round": _round})
@onnx(since=1, folds={"Not": operator.not_})
@onnx("Softplus", "Softsign", since=1)
@onnx("HardSwish", since=14, scratch=("intermediate",))
@onnx("Mish", since=18, scratch=("intermediate",))
@onnx("BitwiseNot", since=18)
@openvino(ignores_extra_inputs=True, folds={"LogicalNot": operator.not_})
def unary(x: Tensor, *, fold: Fold | None) -> Tensor:
    """Elementwise operators of ONNX, and OpenVINO LogicalNot."""
    if fold is not None and x.extent is not None:
        from irlint.ops.shared.quotients import rounded

        found = rounded(x, fold)
        if found is not None:
            return found
    return computed(fold, (x,), x.shape, dtype=x.dtype)


@openvino(
    ignores_extra_inputs=True,
    folds={
        "Abs": _absolute,
        "Ceiling": _ceiling,
        "Exp": _exponential,
        "Floor": _floor,
        "Log": _logarithm,
        "Negative": operator.neg,
        "Sign": _sign,
        "Sqrt": _square_root,
    },
)
@openvino(spellings=("ReLU",), ignores_extra_inputs=True, folds={"Relu": _positive_part})
@openvino(
    "Acos", "Asin", "Atan", "Cos", "Cosh", "Erf", "Sigmoid", "Sin", "Sinh", "Tan", "Tanh", ignores_extra_inputs=True
)
@openvino("Acosh", "Asinh", "Atanh", since=4, ignores_extra_inputs=True)
@openvino("HSwish", since=4, kept=True, ignores_extra_inputs=True)
@openvino("HSigmoid", since=5, ignores_extra_inputs=True)
def ov_unary(x: Tensor, *, fold: Fold | None) -> Tensor:
    """Elementwise operations of OpenVINO on numbers."""
    expect_type(x, 0, ARITHMETIC)
    return unary(x, fold=fold)


@openvino("Mish", since=4)
@openvino("SoftPlus", since=4, ignores_extra_inputs=True)
@openvino("SoftSign", since=9, ignores_extra_inputs=True)
@openvino("ErfInv", since=17, until=17, ignores_extra_inputs=True)
def ov_float_unary(x: Tensor) -> Tensor:
    """Elementwise operations of OpenVINO on floating-point numbers."""
    expect_type(x, 0, REAL)
    return Tensor(x.dtype, x.shape)


@openvino("Round", since=5)
def ov_round(x: Tensor, *, mode: RoundMode = "half_to_even") -> Tensor:
    """OpenVINO Round-5."""
    return computed(_round if mode == "half_to_even" else None, (x,), x.shape, dtype=x.dtype)


@openvino("BitwiseNot", since=13, kept=True, ignores_extra_inputs=True)
def ov_bitwise_not(x: Tensor) -> Tensor:
    """OpenVINO BitwiseNot-13 on integers or booleans."""
    expect_type(x, 0, BITWISE)
    return Tensor(x.dtype, x.shape)


@onnx("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Reciprocal", since=1)
def legacy_unary(x: Tensor, *, consumed_inputs: object = None) -> Tensor:
    """The first versions of ONNX activations, with the attribute ``consumed_inputs``."""
    return Tensor(x.dtype, x.shape)
