"""Finds results that are never finite, rows of masks without a finite element, and casts that lose every number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite

from irlint.checks.examined import NARROW, SPREADING
from irlint.checks.factors import RESULT_CONSTANT
from irlint.checks.infinite import saturates
from irlint.checks.normalizations import EPSILON_UNUSABLE
from irlint.checks.transfer_table import CONVERTING, KEEPING, TRANSFERS
from irlint.checks.transfers import Interval, Parts, Site, of_type
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node, Value
from irlint.model.tensor import BITS, FLOATS, INTEGERS, Extent, Tensor
from irlint.ops.shared.contents import INFINITE_FROM, fits, positions, static
from irlint.parsers.weights import Weights

ALWAYS_NAN = Rule(
    "IRL743",
    "result-never-finite",
    Severity.WARNING,
    "A node gives NaN or infinity for every input.",
    why="Constants and activations bound the numbers that a node gets: a Sigmoid gives 0 to 1, an Exp nothing below 0. "
    "The root and the logarithm of a negative number do not exist, a divisor of 0 gives infinity, a product with "
    "infinity is infinite or NaN, and a row of a mask that is minus infinity everywhere leaves no element for a "
    "Softmax. Runtimes compute that without a message.",
    fix="Correct the sign, the divisor or the mask.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { s = Sigmoid (x) n = Neg (s) m = Sub (n, s) y = Log (m) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { s = Sigmoid (x) y = Log (s) }""",
    role="nan",
)
CAST_LOSES = Rule(
    "IRL745",
    "cast-loses-every-number",
    Severity.WARNING,
    "A Cast changes every number of its input, or a Clip before it admits numbers that the new type does not hold.",
    why="irlint knows the range of the input, for example from a Clip or an activation. The new type cannot represent "
    "any number in this range, so each one becomes another number, infinity or 0. An integer can only be 0 after a "
    "Sigmoid or Softmax, unless rounding gives 1. A Clip to 0 to 255 before a Cast to int8 is of another type, too. "
    "Runtimes do this without a message, "
    "and some return other numbers than others.",
    fix="Convert to a type that can represent the numbers, or scale the numbers before the Cast.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (int32[2] y) <float h = {0.5}> { s = Sigmoid (x) m = Mul (s, h) y = Cast <to = 6> (m) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (int32[2] y) <float h = {255.0}> { s = Sigmoid (x) m = Mul (s, h) y = Cast <to = 6> (m) }""",
    role="value",
)

#: The opset from which on a Softmax works on the last axis by default.
LAST_AXIS_SINCE = 13

#: Numbers below half of the least one become 0 in float16.
VANISHING = 2.0**-25

#: The help, by operator.
HELPS: Mapping[str, str] = {
    "Exp": "subtract the largest number before, or compute in a wider type",
    **dict.fromkeys(SPREADING, "write a finite number, such as -65504 in a mask"),
    **dict.fromkeys(("Div", "Divide", "Reciprocal"), "add a small number such as 1e-6 to the divisor"),
    **dict.fromkeys(
        ("Cast", "CastLike", "Convert", "ConvertLike"), "convert to a wider type, or scale the numbers before"
    ),
    **dict.fromkeys(("Asin", "Acos", "Acosh", "Atanh"), "clip input 0 to the numbers that the function is defined for"),
}

#: The input that makes a result infinite, if it is not the first.
FAULTY_INPUT: Mapping[str, int] = dict.fromkeys(("Div", "Divide"), 1)

#: The infinite operand that every result is equal to.
ABSORBED_BY: Mapping[str, float] = {
    **dict.fromkeys(("Add", "Sum", "Sub", "Subtract", "Max", "Maximum"), inf),
    **dict.fromkeys(("Min", "Minimum"), -inf),
}

#: Operators that compute a variance from squares.
AVERAGING = frozenset(("ReduceMean", "GlobalAveragePool"))

#: Operators whose results lie between 0 and 1, or between -1 and 1, and reach these limits only by rounding.
BELOW_1 = frozenset(("Sigmoid", "Softmax", "SoftMax", "Tanh", "Erf", "Softsign", "SoftSign"))

#: Those of them that are exactly 1 in a row of one element.
OF_ROWS = frozenset(("Softmax", "SoftMax"))

#: Operators between a Clip and the conversion to integers.
ROUNDING = frozenset(("Round", "Floor", "Ceil", "Ceiling"))

#: At most this many nested terms of a mask are followed.
STEPS = 4


def faults(values: Values, node: Node) -> Iterable[Fault]:
    """The faults of a node that hold for all inputs of the model."""
    return CHECKS.get(node.op, _never_finite)(values, node)


def _never_finite(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a node with a result element that is finite for no input of the model; none if there is none."""
    parts, shape = _each(values, node)
    at = next((at for at, part in enumerate(parts) if part.why), None)
    if at is not None:
        place = "" if len(parts) == 1 else _place(at, shape)
        yield ALWAYS_NAN.fault(
            f"{place}{parts[at].why}",
            help=HELPS.get(node.op, "correct the sign of input 0"),
            input=None if node.op in SPREADING else FAULTY_INPUT.get(node.op, 0),
        )


def _each(values: Values, node: Node) -> tuple[Parts, tuple[int, ...] | None]:
    """The intervals of the elements of a result, and the sizes of the last axes if they are broadcast from these."""
    parts = values.intervals.results(node)
    grid = values.intervals.grid_of(node) if len(parts) == 1 and not parts[0].why else None
    return (parts, None) if grid is None else (grid.parts, grid.shape)


def _place(at: int, shape: tuple[int, ...] | None) -> str:
    """The place of an element in a message: its number, or its index along the axes of ``shape``, the last ones of the
    result."""
    if shape is None:
        return f"element {at} of the result: "
    index = positions(shape)[at]
    texts = [f"index {each} of axis {axis - len(shape)}" for axis, each in enumerate(index) if shape[axis] > 1]
    return f"{' and '.join(texts)} of the result: "


def _absorbing(values: Values, node: Node) -> Iterable[Fault]:
    """A node that is never finite, also because an operand makes every result infinite; a mask is minus infinity."""
    yield from _never_finite(values, node)
    if saturates(values, node):
        return
    result, intervals = values.intervals.result(node), values.intervals
    if result.low == result.high == ABSORBED_BY[node.op] and any(
        each.low < each.high for each in map(intervals.whole, node.inputs)
    ):
        yield ALWAYS_NAN.fault(f"each result is {result.text}, whatever the operands are", help=HELPS["Add"])


def _quotient(values: Values, node: Node) -> Iterable[Fault]:
    # The rule of the operator reports a constant divisor that holds 0.
    """The fault of a floating-point division by a computed number, as ``_never_finite``; none for other divisions."""
    divisor = values.tensor(node, 1)
    if divisor is None or divisor.dtype not in FLOATS or type(divisor) is Weights:
        return
    if divisor.value is None or None in divisor.value:
        yield from _never_finite(values, node)


def _power(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a power with a constant exponent below 0 or with a fraction, as ``_never_finite``, or of differences
    from their mean; none for other exponents."""
    exponents = values.intervals.parts(node.inputs[1] if len(node.inputs) > 1 else None)
    if not all(each.low == each.high for each in exponents):
        return
    made = values.known.types.get(node.outputs[0]) if node.outputs[0] else None
    is_narrow = isinstance(made, Tensor) and made.dtype in NARROW
    if not is_narrow and all(each.low >= 0 and float(each.low).is_integer() for each in exponents):
        return
    found = list(_never_finite(values, node))
    if not found and len(exponents) == 1 and isfinite(exponents[0].low) and exponents[0].low % 1:
        found = list(_centered(values, node, exponents[0].low))
    yield from found


def _centered(values: Values, node: Node, exponent: float) -> Iterator[Fault]:
    """The fault of a power with a fraction whose base is the difference of a value from its mean: some differences are
    negative unless all are 0; none for other bases."""
    base = values.maker(node, 0)
    mean = values.maker(base, 1) if base is not None and base.op in ("Sub", "Subtract") else None
    if base is not None and mean is not None and mean.op == "ReduceMean" and mean.inputs[0] is base.inputs[0]:
        yield ALWAYS_NAN.fault(
            f"input 0 is the difference of a value from its mean (`{base.label}`), so numbers in it are negative, and "
            f"the exponent is {exponent:g}: such a power does not exist",
            help="use an exponent without a fraction, such as 2",
            input=1,
        )


def _root(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a root, as ``_never_finite``, or of the root of a mean of squares plus a negative number."""
    found = list(_never_finite(values, node))
    total = values.maker(node, 0) if not found else None
    if total is None or total.op != "Add":
        return found
    for index in (0, 1):
        epsilon, mean = values.number(total, index), values.maker(total, 1 - index)
        if epsilon is None or not epsilon < 0 or mean is None or mean.op not in AVERAGING:
            continue
        if values.intervals.result(mean).low >= 0:
            return [
                EPSILON_UNUSABLE.fault(
                    f"`{total.label}` adds {epsilon:g} to a mean that is 0 or more: the root of a mean below "
                    f"{-epsilon:g} does not exist",
                    help=f"add a small positive number, such as 1e-5, in `{total.label}`",
                    input=0,
                )
            ]
    return found


def _logarithm(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a logarithm, as ``_never_finite``, or of the logarithm of 0: of 0 alone, or of single elements of a
    computed value beside numbers of any size. Where other elements are at most 1, the logarithm of 0 may be a mask."""
    yield from _never_finite(values, node)
    parts, shape = _each(values, node)
    at = next((at for at, part in enumerate(parts) if part.is_infinite and part.low < 0), None)
    if at is not None and (all(part.is_infinite for part in parts) or any(part.high == inf for part in parts)):
        place = "" if all(part.is_infinite for part in parts) else _place(at, shape)
        yield ALWAYS_NAN.fault(
            f"{place}input 0 is 0: its logarithm is minus infinity",
            help="add a small number such as 1e-6 to input 0",
            input=0,
        )


def _softmax(values: Values, node: Node) -> Iterable[Fault]:
    """The faults of a Softmax with a mask of which a row is minus infinity everywhere, of scores that are multiplied by
    0, and of an axis of size 1 if the model returns the result."""
    tensor, value = values.tensor(node, 0), node.inputs[0] if node.inputs else None
    axis = _axis(node, len(tensor.shape)) if tensor is not None and tensor.shape is not None else None
    if value is None or tensor is None or axis is None:
        return
    yield from masked(values, value, 0, axis)
    factor = values.maker(node, 0)
    if (
        factor is not None
        and factor.op in ("Mul", "Multiply")
        and 0 in (values.number(factor, 0), values.number(factor, 1))
    ):
        yield RESULT_CONSTANT.fault(
            f"`{factor.label}` multiplies by 0: all results are equal",
            help=f"correct the factor in `{factor.label}`",
            input=0,
        )
    if tensor.shape is not None and tensor.shape[axis] == 1 and node.outputs[0] in values.graph.outputs:
        yield RESULT_CONSTANT.fault(
            f"axis {len(tensor.shape) + axis} is 1: every result is {0 if node.op == 'LogSoftmax' else 1}",
            help="use a Sigmoid for one class, or another axis",
            input=0,
        )


def masked(values: Values, value: Value, index: int, axis: int = -1) -> Iterator[Fault]:
    """The fault of the scores of a Softmax along an axis, or of their mask, of which a row is minus infinity
    everywhere. The axis is counted from the end."""
    found = _infinite_row(values, value, axis)
    if found is not None:
        row, name = found
        along = "" if axis == -1 else f" along axis {axis}"
        yield ALWAYS_NAN.fault(
            f"row {row}{along} of the mask `{name}` is minus infinity everywhere: its Softmax is NaN",
            help="leave at least one element of each row finite, or write -65504 instead of minus infinity",
            input=index,
        )


def _infinite_row(values: Values, value: Value, axis: int, steps: int = STEPS) -> tuple[int, str] | None:
    """The first row of a value, or of a term of it, that is minus infinity everywhere, and the name of the value; None
    if there is none."""
    tensor = values.known.types.get(value)
    node = values.makers.get(value)
    if not isinstance(tensor, Tensor) or not steps:
        return None
    if node is not None and node.op not in TRANSFERS and tensor.value is None and tensor.extent is None:
        return None
    row = row_of(-inf, *values.intervals.rows(value, axis), tensor)
    if row is not None:
        return row, values.name(value)
    if node is None or node.op not in ("Add", "Cast", "Convert", "Expand"):
        return None
    terms = [_infinite_row(values, each, axis, steps - 1) for each in node.inputs if each is not None]
    found = next((term for term in terms if term is not None), None)
    return found or (_overflowing_row(values, value, tensor) if node.op == "Add" and axis == -1 else None)


def _overflowing_row(values: Values, value: Value, tensor: Tensor) -> tuple[int, str] | None:
    """The first row of a sum whose known terms add up to minus infinity everywhere, and the name of the sum; None if
    there is none. A term without bounds is taken to be small, as scores are beside a mask."""
    shape = tensor.shape
    if shape is None or not fits(shape):
        return None
    masks = [
        values.intervals.spread_on(shape, term)
        for term in _terms(values, value)
        if isfinite(values.intervals.whole(term).low)
    ]
    if len(masks) < 2:
        return None
    site = Site(values.makers[value], tensor.dtype)
    sums = tuple([TRANSFERS["Add"](parts, site) for parts in zip(*masks)])
    row = row_of(-inf, sums, static(shape)[-1] if shape else 1, tensor)
    return None if row is None else (row, values.name(value))


def _terms(values: Values, value: Value, steps: int = STEPS) -> Iterator[Value]:
    """The values that nested additions add up to ``value``."""
    node = values.makers.get(value)
    if node is None or node.op != "Add" or not steps:
        yield value
        return
    for each in node.inputs:
        if each is not None:
            yield from _terms(values, each, steps - 1)


def _cast(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a cast in which every number becomes 0, infinite or another number; none if a number may remain."""
    given, made = values.tensor(node, 0), values.known.types.get(node.outputs[0]) if node.outputs[0] else None
    if given is None or not isinstance(made, Tensor) or made.dtype is None or made.dtype == given.dtype:
        return
    if made.dtype not in INTEGERS and made.dtype not in ("float16", "bfloat16"):
        return
    if given.dtype in INTEGERS and BITS[given.dtype] < 16:
        return
    # The rule of the operator reports constants that are too large for the type.
    is_constant = given.value is not None or given.extent is not None
    if is_constant and (made.dtype != "float16" or given.dtype not in FLOATS):
        return
    span = values.intervals.whole(node.inputs[0])
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
    becomes = _lost(span, made.dtype)
    if becomes == "0" or (becomes and not is_constant):
        yield CAST_LOSES.fault(
            f"input 0 is {span.text}: every number becomes {becomes} in {made.dtype}",
            help=HELPS["Cast"],
            input=0,
        )


def _clip_beyond(values: Values, source: Node | None, span: Interval, dtype: str) -> str:
    """The message about a cast of numbers that are clipped to a range beyond that of a small integer type, and rounded
    or not; "" if they are not."""
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


def _exponential(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of an exponential, as ``_never_finite``, or of one that is 0 for all inputs."""
    yield from _never_finite(values, node)
    result, given = values.intervals.result(node), values.intervals.whole(node.inputs[0])
    if result.is_zero and given.low < given.high:
        yield RESULT_CONSTANT.fault(
            f"input 0 is {given.text}: every exponential is 0", help="correct the sign or the size of input 0", input=0
        )


def _is_below_1(node: Node, result: Tensor) -> bool:
    """Whether a node computes numbers of a magnitude below 1, apart from rounding."""
    if node.op not in OF_ROWS:
        return node.op in BELOW_1
    return result.shape is not None and _is_last_axis(node, len(result.shape)) and result.shape[-1] not in (None, 1)


def _is_last_axis(node: Node, rank: int) -> bool:
    """Whether a Softmax works on the last of ``rank`` axes."""
    return _axis(node, rank) == -1


def _axis(node: Node, rank: int) -> int | None:
    """The axis of a Softmax of ``rank`` axes, counted from the end; None if it is unknown, or if there are several, as
    in an old opset."""
    attribute, is_old = node.attributes.get("axis"), isinstance(node.version, int) and node.version < LAST_AXIS_SINCE
    text = str(attribute.value if attribute is not None else 1 if is_old or isinstance(node.version, str) else -1)
    axis = int(text) if text.removeprefix("-").isdecimal() else rank
    axis = axis - rank if axis >= 0 else axis
    is_one = -rank <= axis < 0 and (axis == -1 or not is_old)
    return axis if is_one else None


def _computed_by(values: Values, value: Value | None) -> Node | None:
    """The node that computes the elements of a value, before operators that keep them; None if no node does."""
    node = values.makers.get(value) if value is not None else None
    while node is not None and node.op in KEEPING and (before := values.maker(node, 0)) is not None:
        node = before
    return node


def row_of(number: float, parts: Parts, width: int, tensor: Tensor) -> int | None:
    """The index of the first row of ``width`` intervals in which every element is ``number``; None if there is none or
    this is unknown."""
    if len(parts) == 1:
        span = tensor.extent
        infinite = isinstance(span, Extent) and span.infinities and span.least is None and not span.nans
        return 0 if parts[0].low == parts[0].high == number or (infinite and number == -inf) else None
    if width < 1:
        return None
    rows = (parts[at : at + width] for at in range(0, len(parts), width))
    return next((at for at, row in enumerate(rows) if all(each.low == each.high == number for each in row)), None)


def _lost(span: Interval, dtype: str) -> str:
    """What every number of ``span`` becomes in an element type that holds none of them; "" if it may hold one."""
    if span.is_zero or span.why:
        return ""
    if dtype not in INTEGERS:
        if max(abs(span.low), abs(span.high)) < VANISHING and dtype == "float16":
            return "0"
        limit = INFINITE_FROM[dtype]
        return "infinite" if limit < inf and (span.low >= limit or span.high <= -limit) else ""
    held = of_type(dtype)
    if span.high < held.low or span.low > held.high or (held.low == 0 == span.high):
        return "another number"
    return "0" if span.low > -1 and span.high < 1 else ""


#: The checks of operators; for others, whether their result is ever finite.
CHECKS: Mapping[str, Callable[[Values, Node], Iterable[Fault]]] = {
    **dict.fromkeys(("Div", "Divide"), _quotient),
    **dict.fromkeys(("Pow", "Power"), _power),
    "Exp": _exponential,
    "Sqrt": _root,
    "Log": _logarithm,
    **dict.fromkeys(("Softmax", "SoftMax", "LogSoftmax"), _softmax),
    **dict.fromkeys(CONVERTING, _cast),
    **dict.fromkeys(ABSORBED_BY, _absorbing),
}
