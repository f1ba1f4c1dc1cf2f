"""Checks of indices that are constants or are computed from sizes."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, Expr, MaybeDim, at_least, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import reaches_if_any
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor
from irlint.records import record

INDEX_OUT_OF_RANGE = Rule(
    "IRL346",
    "index-out-of-range",
    Severity.ERROR,
    "A known index is outside its axis.",
    why=(
        "An axis of size n has the indices 0 to n-1, and also -n to -1 if the operator counts from the end. irlint "
        "knows an index that is a constant or is computed from sizes, such as the Range of a sequence's length. ONNX "
        'Runtime fails with "indices element out of data bounds". OpenVINO\'s Gather and GatherND silently return '
        "zeros; for these, irlint warns."
    ),
    fix="Correct the index or the size of the axis. Often a table has too few rows for the ids.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x) => (float[1,3] y) <int64[1] indices = {4}> { y = Gather (x, indices) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x) => (float[1,3] y) <int64[1] indices = {3}> { y = Gather (x, indices) }""",
)

#: irlint checks at most this many symbolic indices of a tensor.
MOST_SYMBOLIC = 4


@record
class IndexedAxis:
    """An axis that is indexed."""

    #: The size of the axis.
    dim: MaybeDim
    axis: int
    #: The input with the axis.
    data: int = 0
    #: Whether indices may count from the end.
    negative: bool = True
    #: Whether an index that may be outside the axis becomes a requirement.
    demanded: bool = True


def extremes(x: Tensor) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """(Entries that may be the least, entries that may be the largest). If ``x`` is not empty, it contains them all."""
    if x.value is not None:
        numbers = sorted({entry for entry in x.value if isinstance(entry, int)})
        symbolic = list(dict.fromkeys(entry for entry in x.value if isinstance(entry, Expr)))[:MOST_SYMBOLIC]
        return (*numbers[:1], *symbolic), (*numbers[-1:], *symbolic)
    if x.extent is None:
        return (), ()
    from irlint.ops.shared.bounds import ends_of

    ends = ends_of(x)
    return ((), ()) if ends is None else ((ends.least,), (ends.most,))


def out_of_range(indices: Tensor, indexed: IndexedAxis, *, index: int) -> Fault | None:
    """The fault of an index that certainly lies outside an axis; None if there is no such index.

    ``index`` is the input with the indices.
    """
    dim = indexed.dim
    if dim is None or (indices.value is None and indices.extent is None):
        return None
    count = product(indices.shape or ())
    least, most = extremes(indices)
    wrong = next((entry for entry in most if not _is_before_end(entry, indexed, count)), None)
    if wrong is None:
        wrong = next((entry for entry in least if not _is_after_start(entry, indexed, count)), None)
    if wrong is None:
        return None
    allowed = "none" if dim == 0 else f"{-dim if indexed.negative else 0} to {dim - 1}"
    place = f"axis {indexed.axis}{f' of input {indexed.data}' if indexed.data else ''}"
    return INDEX_OUT_OF_RANGE.fault(
        f"input {index} holds the index {wrong}, and {place} has {counted(dim, 'element')}; allowed: {allowed}",
        help=_help(least, most, dim) or f"use indices in the range {allowed}, or correct the size of the axis",
        input=index,
        marks=((indexed.data, indexed.axis),),
    )


def _help(least: Sequence[Dim], most: Sequence[Dim], dim: Dim) -> str:
    """The help if there are several indices, which seem to count from 1; otherwise ""."""
    numbers = [each for each in (*least, *most) if isinstance(each, int)]
    if len(numbers) < len(least) + len(most) or not isinstance(dim, int) or not 0 < min(numbers) < max(numbers) == dim:
        return ""
    return f"subtract 1 from the indices, which are {min(numbers)} to {dim}, or give the axis {dim + 1} elements"


def _is_before_end(entry: Dim, indexed: IndexedAxis, count: MaybeDim) -> bool:
    if at_least(-1, entry):
        return True
    return reaches_if_any(count, indexed.dim, entry + 1, _why(entry, indexed), demanded=indexed.demanded)


def _is_after_start(entry: Dim, indexed: IndexedAxis, count: MaybeDim) -> bool:
    if at_least(entry, 0):
        return True
    left, least = (indexed.dim, -entry) if indexed.negative else (entry, 0)
    return reaches_if_any(count, left, least, _why(entry, indexed), demanded=indexed.demanded)


def _why(entry: Dim, indexed: IndexedAxis) -> str:
    place = f"axis {indexed.axis}{f' of input {indexed.data}' if indexed.data else ''}"
    size = "" if isinstance(entry, int) else f", which has {counted(indexed.dim, 'element')}"
    return f"index {entry} is read from {place}{size}"
