"""Finds casts after which every number of the input is another number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isfinite

from irlint.checks.reductions import softmax_axis
from irlint.checks.transfer_table import KEEPING
from irlint.checks.transfers import Interval, Site, of_type
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node, Value
from irlint.model.tensor import BITS, FLOATS, INTEGERS, Tensor
from irlint.ops.shared.contents import INFINITE_FROM

CAST_LOSES = Rule(
    "IRL745",
    "cast-loses-every-number",
    Severity.WARNING,
    "A Cast changes every number of its input, or a Clip before it admits numbers that the new type does not hold.",
    why="irlint knows the range of the input, for example from a Clip or an activation. The new type cannot represent "
    "any number in this range, so each one becomes another number, infinity or 0. After a "
    "Sigmoid or Softmax, an integer can only be 0, unless rounding gives 1. The rule also reports a Clip to the range "
    "of another type, such as 0 to 255 before a Cast to int8. Runtimes convert the numbers without a message, and "
    "different runtimes return different numbers.",
    fix="Convert to a type that can represent the numbers, or scale the numbers before the Cast.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (int32[2] y) <float h = {0.5}> { s = Sigmoid (x) m = Mul (s, h) y = Cast <to = 6> (m) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (int32[2] y) <float h = {255.0}> { s = Sigmoid (x) m = Mul (s, h) y = Cast <to = 6> (m) }""",
    role="value",
)

#: Half of the smallest positive number of each type. Numbers of a magnitude below it become 0.
VANISHING: Mapping[str, float] = {"float16": 2.0**-25, "float8_e4m3fn": 2.0**-10, "float8_e5m2": 2.0**-17}

#: (limit, result) of each 8-bit type. Numbers of a magnitude above ``limit`` become the largest number of the type;
#: without saturation, they become ``result``.
BEYOND: Mapping[str, tuple[float, str]] = {
    "float8_e4m3fn": (464, "NaN"),
    "float8_e4m3fnuz": (248, "NaN"),
    "float8_e5m2": (61440, "infinite"),
    "float8_e5m2fnuz": (61440, "NaN"),
}

#: The floating-point types whose conversions may lose every number.
LOSING = frozenset(("float16", "bfloat16", *BEYOND))

#: Operators whose results lie between 0 and 1, or between -1 and 1, and reach these limits only by rounding.
BELOW_1 = frozenset(("Sigmoid", "Softmax", "SoftMax", "Tanh", "Erf", "Softsign", "SoftSign"))

#: The operators of BELOW_1 whose result is exactly 1 if the axis has one element.
OF_ROWS = frozenset(("Softmax", "SoftMax"))

#: Operators that may stand between a Clip and a conversion to integers.
ROUNDING = frozenset(("Round", "Floor", "Ceil", "Ceiling"))


def faults(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a cast in which every number becomes 0, infinite or another number; none if a number may remain."""
    given, made = values.tensor(node, 0), values.known.types.get(node.outputs[0]) if node.outputs[0] else None
    if given is None or not isinstance(made, Tensor) or made.dtype is None or made.dtype == given.dtype:
        return
    if made.dtype not in INTEGERS and made.dtype not in LOSING:
        return
    if given.dtype in INTEGERS and BITS[given.dtype] < 16:
        return
    # The rule of the operator reports constants that are too large for the type.
    is_constant = given.value is not None or given.extent is not None
    span = values.intervals.whole(node.inputs[0])
    is_weight = is_constant and given.dtype in FLOATS and span.low < span.high
    if is_constant and not is_weight and (made.dtype != "float16" or given.dtype not in FLOATS):
        return
    source = _computed_by(values, node.inputs[0])
    clip = _clip_beyond(values, source, span, made.dtype)
    if clip:
        yield CAST_LOSES.fault(clip, help=f"clip to the numbers of {made.dtype} before the conversion", input=0)
        return
    if made.dtype in INTEGERS and source is not None and _is_below_1(source, given):
        yield CAST_LOSES.fault(
            f"input 0 is {span.text}, and `{source.label}` reaches these limits only by rounding: every number between "
            f"them becomes 0 in {made.dtype}",
            help="compare input 0 with a threshold, or round it, before the conversion",
            input=0,
        )
        return
    becomes = _lost(span, made.dtype, saturates=Site(node, made.dtype).number("saturate", 1) != 0)
    if becomes == "0" or (becomes and not is_constant):
        yield CAST_LOSES.fault(
            f"input 0 is {span.text}: every number becomes {becomes} in {made.dtype}",
            help="convert to a wider type, or scale the numbers before",
            input=0,
        )


def _clip_beyond(values: Values, source: Node | None, span: Interval, dtype: str) -> str:
    """The message about a Clip to numbers beyond the range of a small integer type, and a cast to this type. A rounding
    may stand between the two. "" if there is no such Clip."""
    if source is not None and source.op in ROUNDING:
        source = values.maker(source, 0)
    if source is None or source.op not in ("Clip", "Clamp") or dtype not in INTEGERS or BITS[dtype] > 16:
        return ""
    held = of_type(dtype)
    if not isfinite(span.high - span.low) or (span.low > held.low - 1 and span.high < held.high + 1):
        return ""
    return (
        f"`{source.label}` limits input 0 to {span.low:g} to {span.high:g}, and {dtype} holds {held.low:g} to "
        f"{held.high:g}: numbers beyond it become others"
    )


def _is_below_1(node: Node, result: Tensor) -> bool:
    """Whether a node computes numbers of a magnitude below 1, except that rounding may give exactly 1."""
    if node.op not in OF_ROWS:
        return node.op in BELOW_1
    return result.shape is not None and _is_last_axis(node, len(result.shape)) and result.shape[-1] not in (None, 1)


def _is_last_axis(node: Node, rank: int) -> bool:
    """Whether a Softmax works on the last of ``rank`` axes."""
    return softmax_axis(node, rank) == -1


def _computed_by(values: Values, value: Value | None) -> Node | None:
    """The node that computes the elements of a value; None if no node does. Operators that only move elements are
    skipped."""
    node = values.makers.get(value) if value is not None else None
    while node is not None and node.op in KEEPING and (before := values.maker(node, 0)) is not None:
        node = before
    return node


def _lost(span: Interval, dtype: str, *, saturates: bool) -> str:
    """What every number of ``span`` becomes in the element type ``dtype``; "" if a number of ``span`` may remain."""
    if span.is_zero or span.why:
        return ""
    if dtype not in INTEGERS:
        if max(abs(span.low), abs(span.high)) < VANISHING.get(dtype, 0):
            return "0"
        if dtype in BEYOND:
            limit, beyond = BEYOND[dtype]
            is_beyond = limit < span.low < inf or -inf < span.high < -limit
            return ("the same number" if saturates else beyond) if is_beyond else ""
        limit = INFINITE_FROM[dtype]
        return "infinite" if limit < inf and (span.low >= limit or span.high <= -limit) else ""
    held = of_type(dtype)
    if span.high < held.low or span.low > held.high or (held.low == 0 == span.high):
        return "another number"
    return "0" if span.low > -1 and span.high < 1 else ""
