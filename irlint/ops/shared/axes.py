"""Checks of axes, and negative axes counted from 0."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.wording import counted, span

Ints = tuple[int, ...]
Floats = tuple[float, ...]

PERM_LENGTH = Rule(
    "IRL333",
    "transpose-perm-mismatch",
    Severity.ERROR,
    "`perm` does not list every axis of the data exactly once.",
    why="A Transpose moves every axis to exactly one position. Runtimes refuse a `perm` whose length is not the rank.",
    fix="List each axis of the data once, counted from 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,224,224,3] x) => (float[3,1,224] y) { y = Transpose <perm = [3, 0, 1]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,224,224,3] x) => (float[1,3,224,224] y) { y = Transpose <perm = [0, 3, 1, 2]> (x) }""",
)


AXIS_OUT_OF_RANGE = Rule(
    "IRL300",
    "axis-out-of-range",
    Severity.ERROR,
    "An axis is out of range for its tensor.",
    why="A tensor of rank r has the axes 0 to r-1, or -r to -1 counted from the end. Runtimes refuse any other axis.",
    fix="Use an axis in the range of the message.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[2,6] y) { y = Concat <axis = 2> (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[2,6] y) { y = Concat <axis = 1> (x, z) }""",
    refused=(Refusal("onnxruntime"),),
)

AXIS_REPEATED = Rule(
    "IRL301",
    "axis-repeated",
    Severity.ERROR,
    "A list of axes contains one axis twice.",
    why=(
        "Each axis can be reduced, removed or moved only once. Runtimes refuse a repeated axis, or compute an "
        "unintended result."
    ),
    fix="List each axis once. -1 is the last axis.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x) => (float[2,3,4] y) { y = Transpose <perm = [0, 1, 1]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x) => (float[2,4,3] y) { y = Transpose <perm = [0, 2, 1]> (x) }""",
)


def axis_of(axis: int, rank: int, what: str = "axis", *, input: int = 0, negative: bool = True) -> int:
    """An axis of an input of ``rank`` axes, counted from 0; ``what`` is its name in the message.

    Raises an ``AXIS_OUT_OF_RANGE`` fault; unless ``negative``, negative axes are out of range.
    """
    lowest = -rank if negative else 0
    if lowest <= axis < rank:
        return axis + rank if axis < 0 else axis
    allowed = span(lowest, rank - 1) if rank else "none, as it is a scalar"
    raise AXIS_OUT_OF_RANGE.fault(
        f"{what} is {axis} and input {input} has {counted(rank, 'axis', 'axes')}; allowed: {allowed}",
        help=_in_range(lowest, rank) + _or_more_axes(axis, lowest, rank)
        if rank
        else "give the input at least one axis",
        input=input,
    )


def _or_more_axes(axis: int, lowest: int, rank: int) -> str:
    """The end of the help: to add the one or two axes that are missing before the axis exists; else ""."""
    needed = axis + 1 if axis >= 0 else -axis if lowest else 0
    return f", or give the input {needed} axes" if rank < needed <= rank + 2 else ""


def _in_range(lowest: int, rank: int) -> str:
    return "use axis 0" if lowest == rank - 1 else f"use an axis in the range {span(lowest, rank - 1)}"


def axes_of(
    axes: Sequence[int], rank: int, what: str = "axes", *, input: int = 0, negative: bool = True, repeats: bool = False
) -> tuple[int, ...]:
    """Several axes of an input, counted from 0. See ``axis_of``.

    Raises an ``AXIS_OUT_OF_RANGE`` fault or, unless ``repeats`` are allowed, an ``AXIS_REPEATED`` fault.
    """
    result = tuple(axis_of(axis, rank, what, input=input, negative=negative) for axis in axes)
    if repeats or len(set(result)) == len(result):
        return result
    twice = next(axis for position, axis in enumerate(result) if axis in result[:position])
    raise AXIS_REPEATED.fault(
        f"{what} is {list(axes)} for a tensor of {counted(rank, 'axis', 'axes')}: axis {twice} appears twice",
        help=f"list axis {twice} once",
        input=input,
    )


def result_axis(axis: int, rank: int, *, negative: bool = True) -> int:
    """An axis of an output of ``rank`` axes, counted from 0.

    Raises an ``AXIS_OUT_OF_RANGE`` fault; unless ``negative``, negative axes are out of range.
    """
    lowest = -rank if negative else 0
    if lowest <= axis < rank:
        return axis % rank
    raise AXIS_OUT_OF_RANGE.fault(
        f"axis is {axis} and the result has {counted(rank, 'axis', 'axes')}; allowed: {span(lowest, rank - 1)}",
        help=_in_range(lowest, rank),
        input=0,
    )
