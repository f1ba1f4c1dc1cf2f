"""Quotients of sizes: of whole numbers towards zero."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, at_least, floordiv, guarded, largest
from irlint.dims.proofs import fed


def truncated(a: Dim, b: Dim) -> MaybeDim:
    """a / b rounded towards zero, exact where sizes of inputs are at least 1; None where b may be negative, or it is too complex."""
    return guarded(_truncated, a, b)


def _truncated(a: Dim, b: Dim) -> MaybeDim:
    if at_least(-1, b):
        a, b = -a, -b
    if not at_least(fed(b), 1):
        return None
    if at_least(fed(a), 0):
        return floordiv(a, b)
    if at_least(0, fed(a)):
        return -floordiv(-a, b)
    above, below = largest(a, 0), largest(-a, 0)
    return None if above is None or below is None else floordiv(above, b) - floordiv(below, b)
