"""Checks known indices (constants, and positions computed from sizes) against the axis that they index."""

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

#: At most this many symbolic indices of a tensor are examined.
MOST_SYMBOLIC = 4


@record
class Room:
    """An indexed axis: axis ``axis`` of input ``data``, of size ``dim``.

    ``negative``: indices may count from the end. ``demanded``: runtimes fail at an index outside of the axis, so an
    unproven index becomes a requirement.
    """

    dim: MaybeDim
    axis: int
    data: int = 0
    negative: bool = True
    demanded: bool = True


def outermost(x: Tensor) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Two groups of numbers that certainly occur in a tensor that is not empty: candidates for its least number, and
    candidates for its largest."""
    if x.value is not None:
        numbers = sorted({entry for entry in x.value if isinstance(entry, int)})
        symbolic = list(dict.fromkeys(entry for entry in x.value if isinstance(entry, Expr)))[:MOST_SYMBOLIC]
        return (*numbers[:1], *symbolic), (*numbers[-1:], *symbolic)
    if x.extent is None:
        return (), ()
    from irlint.ops.shared.bounds import ends_of

    ends = ends_of(x)
    return ((), ()) if ends is None else ((ends.least,), (ends.most,))


def out_of_range(indices: Tensor, room: Room, *, index: int) -> Fault | None:
    """The fault of an index that certainly lies outside an axis; None otherwise. An index that may lie outside becomes
    a requirement, if ``room.demanded``.

    ``index`` is the input with the indices.
    """
    dim = room.dim
    if dim is None or (indices.value is None and indices.extent is None):
        return None
    count = product(indices.shape or ())
    least, most = outermost(indices)
    wrong = next((entry for entry in most if not _ends_behind(room, entry, count)), None)
    if wrong is None:
        wrong = next((entry for entry in least if not _starts_before(room, entry, count)), None)
    if wrong is None:
        return None
    allowed = "none" if dim == 0 else f"{-dim if room.negative else 0} to {dim - 1}"
    place = f"axis {room.axis}{f' of input {room.data}' if room.data else ''}"
    return INDEX_OUT_OF_RANGE.fault(
        f"input {index} holds the index {wrong}, and {place} has {counted(dim, 'element')}; allowed: {allowed}",
        help=_help(least, most, dim) or f"use indices in the range {allowed}, or correct the size of the axis",
        input=index,
        marks=((room.data, room.axis),),
    )


def _help(least: Sequence[Dim], most: Sequence[Dim], dim: Dim) -> str:
    """The help for several indices that count from 1; "" for others."""
    numbers = [each for each in (*least, *most) if isinstance(each, int)]
    if len(numbers) < len(least) + len(most) or not isinstance(dim, int) or not 0 < min(numbers) < max(numbers) == dim:
        return ""
    return f"subtract 1 from the indices, which are {min(numbers)} to {dim}, or give the axis {dim + 1} elements"


def _ends_behind(room: Room, entry: Dim, count: MaybeDim) -> bool:
    """Whether the axis can be long enough for the index ``entry``. If this is unproven, it becomes a requirement."""
    if at_least(-1, entry):
        return True
    return reaches_if_any(count, room.dim, entry + 1, _why(room, entry), demanded=room.demanded)


def _starts_before(room: Room, entry: Dim, count: MaybeDim) -> bool:
    """Whether the index ``entry`` can lie at or after the start of the axis. If this is unproven, it becomes a
    requirement."""
    if at_least(entry, 0):
        return True
    left, least = (room.dim, -entry) if room.negative else (entry, 0)
    return reaches_if_any(count, left, least, _why(room, entry), demanded=room.demanded)


def _why(room: Room, entry: Dim) -> str:
    place = f"axis {room.axis}{f' of input {room.data}' if room.data else ''}"
    size = "" if isinstance(entry, int) else f", which has {counted(room.dim, 'element')}"
    return f"index {entry} is read from {place}{size}"
