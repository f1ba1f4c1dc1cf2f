"""Inputs that state a number, a list of numbers or a shape."""

from __future__ import annotations

from irlint.dims import Expr, MaybeDim, Shape, at_least
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import reaches
from irlint.model.tensor import CONTENTS_LIMIT, Tensor
from irlint.ops.shared.expectations import expect_rank

SIZE_NEGATIVE = Rule(
    "IRL361",
    "size-negative",
    Severity.ERROR,
    "A size or count in an input or attribute is negative.",
    why="An axis has at least 0 elements. Runtimes refuse the node when they load or run it.",
    fix="Use 0 or more. Negative sizes have a meaning only in Reshape and in some targets of OpenVINO.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float[2,3] y) <int64[2] shape = {2, -3}> { y = ConstantOfShape (shape) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float[2,3] y) <int64[2] shape = {2, 3}> { y = ConstantOfShape (shape) }""",
)


def length(tensor: Tensor) -> int | None:
    """The number of entries of a list; 1 for a scalar, None if the number is unknown."""
    if tensor.value is not None:
        return len(tensor.value)
    if tensor.shape is None:
        return None
    if not tensor.shape:
        return 1
    return tensor.shape[0] if isinstance(tensor.shape[0], int) else None


def entries(tensor: Tensor) -> tuple[MaybeDim, ...] | None:
    """The integers in a list; None if the number of entries is unknown or too large."""
    known = tensor.ints
    if known is not None:
        return known
    count = length(tensor)
    return None if count is None or count > CONTENTS_LIMIT else (None,) * count


def known_integers(tensor: Tensor | None) -> tuple[int, ...] | None:
    """The integers in a list; None if an entry is unknown or symbolic."""
    known = tensor.ints if tensor is not None else None
    if known is None or not all(isinstance(entry, int) for entry in known):
        return None
    return tuple(entry for entry in known if isinstance(entry, int))


def number(tensor: Tensor | None) -> MaybeDim:
    """The integer in a tensor of one element; None if it is unknown."""
    known = tensor.ints if tensor is not None else None
    return known[0] if known is not None and len(known) == 1 else None


def stated_size(entry: MaybeDim, index: int | None, what: str) -> MaybeDim:
    """Returns ``entry`` of input ``index`` as a size; ``what`` is its name. Raises a ``SIZE_NEGATIVE`` fault."""
    if reaches(entry, 0, f"{what} is a size"):
        return entry
    place = "" if index is None or f"input {index}" in what else f" in input {index}"
    raise SIZE_NEGATIVE.fault(
        f"{what} is {entry}{place}; a size must be at least 0", help="use a size of 0 or more", input=index
    )


def stated_shape(tensor: Tensor, index: int) -> Shape | None:
    """The shape that an ONNX input lists; None if the rank is unknown.

    Raises an ``INPUT_RANK_REFUSED`` or ``SIZE_NEGATIVE`` fault.
    """
    expect_rank(tensor, index, 1)
    listed = entries(tensor)
    if listed is None:
        return None
    return tuple(stated_size(entry, index, f"entry {position}") for position, entry in enumerate(listed))


def openvino_shape(tensor: Tensor, index: int) -> Shape | None:
    """The shape that an OpenVINO input lists, where -1 is an unknown size; None if the rank is unknown."""
    listed = entries(tensor)
    return None if listed is None else tuple(_openvino_size(entry) for entry in listed)


def _openvino_size(entry: MaybeDim) -> MaybeDim:
    """The size that OpenVINO reads: numbers below -1 are 0."""
    if isinstance(entry, Expr):
        return entry if at_least(entry, 0) else 0 if at_least(0, entry) else None
    if entry is None or entry == -1 or entry >= 2**63 - 1:
        return None
    return max(entry, 0)
