"""Summaries of elements that few models need: columns of index tuples, and floats that are ratios of sizes."""

from __future__ import annotations

from irlint.dims import Dim, ceildiv, floordiv
from irlint.model.tensor import Ends, Ramp, Scalar
from irlint.records import record


@record
class Columns:
    """A summary of a tensor with a short last axis, such as a list of index tuples."""

    #: For each position of the last axis, a summary of its elements.
    columns: tuple[Ramp | Ends | None, ...]
    #: The bounds of all elements.
    ends: Ends | None = None


@record
class Ratio:
    """The float nearest to ``numerator / divisor``, with the same floor and ceiling as the exact quotient."""

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
