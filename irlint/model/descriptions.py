"""What is known of contents that few models have: index tuples by their columns, and floating-point numbers between
whole ones."""

from __future__ import annotations

from irlint.dims import Dim, ceildiv, floordiv
from irlint.model.tensor import Ends, Ramp, Scalar
from irlint.records import record


@record
class Columns:
    """Contents of which none is kept, of a tensor whose last axis is short: what is known of the entries at each
    position of it, and the ``ends`` of all."""

    columns: tuple[Ramp | Ends | None, ...]
    ends: Ends | None = None


@record
class Ratio:
    """The floating-point number next to ``numerator / divisor``, a whole number above 0; no whole number lies between
    the two."""

    numerator: Dim
    divisor: int

    def __floor__(self) -> Dim:
        return floordiv(self.numerator, self.divisor)

    def __ceil__(self) -> Dim:
        return ceildiv(self.numerator, self.divisor)


@record
class Ratios:
    """Contents of floating-point numbers some of which are ratios."""

    entries: tuple[Scalar | Ratio, ...]
