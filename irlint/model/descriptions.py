"""Summaries of elements that few models need: index tuples by their columns, and ratios of integers as floats."""

from __future__ import annotations

from irlint.dims import Dim, ceildiv, floordiv
from irlint.model.tensor import Ends, Ramp, Scalar
from irlint.records import record


@record
class Columns:
    """A summary of a tensor with a short last axis, such as a list of index tuples; no element is stored.

    ``columns`` has a summary of the elements at each position of the last axis, None if it is unknown. ``ends`` are the
    bounds of all elements, None if they are unknown.
    """

    columns: tuple[Ramp | Ends | None, ...]
    ends: Ends | None = None


@record
class Ratio:
    """The float that is nearest to ``numerator / divisor``. The divisor is above 0, and no integer is between the float
    and the exact quotient."""

    numerator: Dim
    divisor: int

    def __floor__(self) -> Dim:
        return floordiv(self.numerator, self.divisor)

    def __ceil__(self) -> Dim:
        return ceildiv(self.numerator, self.divisor)


@record
class Ratios:
    """Floating-point elements, some of which are ratios."""

    entries: tuple[Scalar | Ratio, ...]
