"""The size of an axis after scaling, in the arithmetic of each runtime."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from irlint.dims import Expr, MaybeDim, floordiv
from irlint.model.tensor import Scalar
from irlint.ops.shared.contents import rounded

#: ``ratio`` compares a fraction with the runtime's arithmetic for each size from 0 to this number.
TRIED_SIZES = 4096


def float32_product(dim: int, scale: float) -> float | None:
    """dim * scale in float32 arithmetic; None if it overflows."""
    factor, size = rounded(scale, "float32"), rounded(float(dim), "float32")
    product = None if factor is None or size is None else rounded(factor * size, "float32")
    return product if product is not None and math.isfinite(product) else None


def onnx_scaled(dim: int, scale: float) -> int:
    """floor(dim * scale) in float32, as in ONNX Runtime; ``dim`` if the product overflows."""
    product = float32_product(dim, scale)
    return dim if product is None else math.floor(product)


def openvino_scaled(dim: int, scale: float) -> int:
    """floor(dim * (scale + 1e-6)) in float32, at least 0, as in OpenVINO; ``dim`` for a scale of 1 or an overflow."""
    if scale == 1:
        return dim
    product = float32_product(dim, scale + 1e-6)
    return dim if product is None else max(math.floor(product), 0)


#: A function of (size, scale) that returns the size after scaling.
ScaledSize = Callable[[int, float], int]


@lru_cache(maxsize=64)
def ratio(scale: float, scaled: ScaledSize) -> Fraction | None:
    """The fraction with a denominator of at most 32 that ``scale`` approximates.

    Returns None if there is no such fraction, or if ``scaled`` computes other sizes than the fraction.
    """
    fraction = Fraction(scale).limit_denominator(32)
    if fraction <= 0 or abs(float(fraction) - scale) > 1e-6 * scale:
        return None
    if fraction == scale and fraction.denominator.bit_count() == 1:
        return fraction
    numerator, denominator = fraction.numerator, fraction.denominator
    exact = all(scaled(dim, scale) == dim * numerator // denominator for dim in range(TRIED_SIZES + 1))
    return fraction if exact else None


def resized(dim: MaybeDim, scale: Scalar, scaled: ScaledSize) -> MaybeDim:
    """The size ``dim`` after scaling; None if it is unknown, or if the scale is not finite."""
    if scale is None or dim is None:
        return None
    if isinstance(scale, Expr):
        return dim * scale
    if not math.isfinite(scale):
        return None
    if isinstance(dim, int):
        return scaled(dim, float(scale))
    fraction = ratio(float(scale), scaled)
    return None if fraction is None else floordiv(dim * fraction.numerator, fraction.denominator)
