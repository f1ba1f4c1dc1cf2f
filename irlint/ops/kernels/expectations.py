"""What an operator expects of the axes of an input, where its other inputs and attributes tell their sizes."""

from __future__ import annotations

from irlint.dims import MaybeDim
from irlint.findings.faults import Rule
from irlint.findings.statements import agree
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor, shape_text
from irlint.records import record


@record
class Expected:
    """What an input has to be: its index and name, and each axis as (what it is, its size)."""

    index: int
    name: str
    axes: tuple[tuple[str, MaybeDim], ...]
    rule: Rule


def check(x: Tensor | None, expected: Expected) -> None:
    """Makes sure that an input can have the axes that are expected. Raises a fault of the expectation's rule."""
    if x is None or x.shape is None:
        return
    words = ", ".join(what for what, _ in expected.axes)
    if len(x.shape) != len(expected.axes):
        raise expected.rule.fault(
            f"input {expected.index} ({expected.name}) is {shape_text(x.shape)} with {counted(len(x.shape), 'axis', 'axes')}; "
            f"expected are {len(expected.axes)}: [{words}]",
            help=f"give {expected.name} the axes [{words}]",
            input=expected.index,
        )
    for axis, (found, (what, size)) in enumerate(zip(x.shape, expected.axes)):
        if agree(found, size, f"axis {axis} of {expected.name} is {what}"):
            continue
        raise expected.rule.fault(
            f"axis {axis} of input {expected.index} ({expected.name}, {shape_text(x.shape)}) is {found}; "
            f"expected is {what}, which is {size}",
            help=f"give {expected.name} the shape [{words}]",
            input=expected.index,
            marks=((expected.index, axis),),
            aligned="left",
        )


def first_known(*sizes: MaybeDim) -> MaybeDim:
    """The first size that is a number, else the first that is known."""
    return next(
        (size for size in sizes if isinstance(size, int)), next((size for size in sizes if size is not None), None)
    )


def size(x: Tensor | None, axis: int, rank: int) -> MaybeDim:
    """The size of an axis of a tensor of that rank, None for any other."""
    return x.shape[axis] if x is not None and x.shape is not None and len(x.shape) == rank else None
