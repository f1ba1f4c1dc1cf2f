"""The result of each broadcast rule of ONNX and OpenVINO for a list of shapes, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.dims import Shape
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.lazy_typing import Any
from irlint.ops.layout.expanding import expanded, mapped, repeated
from irlint.ops.math.elementwise import legacy_broadcast
from irlint.ops.shared.auto_broadcast import Broadcasting, broadcast_by
from irlint.ops.shared.broadcast import broadcast, merged, stretched
from irlint.records import record
from irlint.run.listing import dim_entry

Shapes = Sequence[Shape]


@record
class BroadcastRule:
    """A rule by which operators of ONNX or OpenVINO broadcast shapes."""

    name: str
    #: The format and the operators that use the rule.
    where: str
    sentence: str
    #: Computes the resulting shape from the shapes and ``--axis``. Raises Fault if the shapes cannot be broadcast.
    result: Callable[[Shapes, int | None], Shape | None]
    #: The number of shapes that the rule takes; None means any number from 2.
    shape_count: int | None = None
    needs_axis: bool = False
    #: The index of the shape whose first axis is aligned with ``--axis``; None if the rule ignores ``--axis``.
    aligned_shape: int | None = None


def _stretched(shapes: Shapes, axis: int | None) -> Shape | None:
    for index, shape in enumerate(shapes[1:], 1):
        stretched(shapes[0], shape, index)
    return shapes[0]


def _pdpd(shapes: Shapes, axis: int | None) -> Shape | None:
    return broadcast_by(Broadcasting("pdpd", -1 if axis is None else axis), shapes)


def _mapped(shapes: Shapes, axis: int | None) -> Shape | None:
    assert axis is not None
    return mapped(shapes[0], shapes[1], range(axis, axis + len(shapes[0])))


#: The rules in the order of reports. Sources: ONNX "Broadcasting in ONNX", Add-6 and Expand-8; OpenVINO "Broadcast
#: Rules For Elementwise Operations" and Broadcast-3.
RULES = (
    BroadcastRule(
        "multidirectional",
        "ONNX from opset 7 on: Add, Mul, Where, Max, Expand",
        "shapes are aligned at their last axis; on each axis, all sizes are equal or 1",
        lambda shapes, axis: broadcast(shapes),
    ),
    BroadcastRule(
        "unidirectional",
        "ONNX: the slope of PRelu, C of Gemm",
        "the result is the first shape; the other shapes are aligned with its last axis, and each of their sizes is 1 "
        "or the size of the first shape",
        _stretched,
    ),
    BroadcastRule(
        "legacy",
        "ONNX up to opset 6: Add, Mul, Pow with broadcast=1",
        "the second shape is one element, or equals consecutive axes of the first shape: from `axis` on, or the last "
        "axes",
        lambda shapes, axis: legacy_broadcast(shapes[0], shapes[1], 1, axis=axis),
        shape_count=2,
        aligned_shape=1,
    ),
    BroadcastRule(
        "none",
        'OpenVINO: auto_broadcast="none"',
        "all shapes are equal",
        lambda shapes, axis: merged(shapes),
    ),
    BroadcastRule(
        "numpy",
        'OpenVINO: auto_broadcast="numpy"',
        "shapes are aligned at their last axis; on each axis, all sizes are equal or 1",
        lambda shapes, axis: broadcast(shapes),
    ),
    BroadcastRule(
        "pdpd",
        'OpenVINO: auto_broadcast="pdpd"',
        "only the second shape is stretched; its axes are aligned with the axes of the first from `axis` on, or with "
        "the last axes if `axis` is -1",
        _pdpd,
        shape_count=2,
        aligned_shape=1,
    ),
    BroadcastRule(
        "broadcast-numpy",
        "OpenVINO: Broadcast with mode numpy, of data to a target",
        "the result is the target; the data is aligned with its last axis, and each size of the data is 1 or the size "
        "of the target",
        lambda shapes, axis: repeated(shapes[0], shapes[1]),
        shape_count=2,
    ),
    BroadcastRule(
        "broadcast-explicit",
        "OpenVINO: Broadcast with mode explicit, of data to a target",
        "the axes of the data are aligned with the axes of the target from `axis` on; each size of the data is 1 or "
        "the size of the target",
        _mapped,
        shape_count=2,
        needs_axis=True,
        aligned_shape=0,
    ),
    BroadcastRule(
        "broadcast-bidirectional",
        "OpenVINO: Broadcast with mode bidirectional, of data to a target",
        "data and target are aligned at their last axis; the two sizes on each axis are equal, or one of the two is 1",
        lambda shapes, axis: expanded(shapes[0], shapes[1]),
        shape_count=2,
    ),
)


def broadcast_data(shapes: Shapes, axis: int | None = None, rule: str | None = None) -> dict[str, Any]:
    """The data of ``irlint broadcast --format json``: an entry for each rule, or only for the rule named ``rule``.

    Raises ValueError if there are fewer than two shapes, or if ``rule`` does not apply to them.
    """
    if len(shapes) < 2:
        raise ValueError("name at least two shapes, such as 1,64,56,56 64,1,1")
    chosen = [each for each in RULES if rule in (None, each.name)]
    if rule is not None and (reason := _inapplicable(chosen[0], shapes, axis)):
        raise ValueError(reason)
    return {
        "schema": "irlint-broadcast-1",
        "shapes": [_shape_entry(shape) for shape in shapes],
        "axis": axis,
        "rules": [_rule_entry(each, shapes, axis) for each in chosen],
    }


def _inapplicable(rule: BroadcastRule, shapes: Shapes, axis: int | None) -> str:
    """Why a rule does not apply to these shapes and this axis, or ""."""
    if rule.shape_count is not None and len(shapes) != rule.shape_count:
        return f"{rule.name} takes {rule.shape_count} shapes, and there are {len(shapes)}"
    if rule.needs_axis and axis is None:
        return f"{rule.name} needs --axis"
    return ""


def _offsets(rule: BroadcastRule, shapes: Shapes, axis: int | None) -> list[int]:
    """For each shape, the column of its first axis, if the shapes are aligned as the rule aligns them."""
    rank, aligned = max(map(len, shapes)), rule.aligned_shape
    if aligned is not None and axis is not None and 0 <= axis <= rank - len(shapes[aligned]):
        return [axis if index == aligned else 0 for index in range(len(shapes))]
    return [rank - len(shape) for shape in shapes]


def _shape_entry(shape: Shape | None) -> list[object] | None:
    return None if shape is None else [dim_entry(dim) for dim in shape]


def _rule_entry(rule: BroadcastRule, shapes: Shapes, axis: int | None) -> dict[str, Any]:
    """The entry of a rule. ``holds`` is None if the rule does not apply."""
    entry: dict[str, Any] = {
        "rule": rule.name,
        "where": rule.where,
        "sentence": rule.sentence,
        "holds": None,
        "shape": None,
        "requires": [],
        "message": _inapplicable(rule, shapes, axis),
        "help": "",
        "offsets": _offsets(rule, shapes, axis),
        "marks": [],
    }
    if entry["message"]:
        return entry
    with stated() as statements:
        try:
            result = rule.result(shapes, axis)
        except Fault as fault:
            marks = [list(mark) for mark in fault.marks]
            return {**entry, "holds": False, "message": fault.message, "help": fault.help, "marks": marks}
    requires = list(dict.fromkeys(each.condition for each in statements.requirements))
    message = "; ".join(fault.message for fault in statements.faults)
    return {**entry, "holds": True, "shape": _shape_entry(result), "requires": requires, "message": message}
