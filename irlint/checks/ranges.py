"""Finds results that are never finite, and rows of masks without a finite element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite

from irlint.checks import zeros
from irlint.checks.examined import LOSSES, NARROW, SPREADING
from irlint.checks.reductions import matrix_product, softmax_axis
from irlint.checks.transfer_table import CONVERTING, TRANSFERS
from irlint.checks.transfers import Parts, Site
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, Extent, Tensor
from irlint.ops.shared.contents import fits, positions, static
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
#: Powers with an integer exponent below this number are finite if the data are small.
LARGE_EXPONENT = 16

#: The help, by operator.
HELPS: Mapping[str, str] = {
    "Exp": "subtract the largest number before, or compute in a wider type",
    **dict.fromkeys(SPREADING, "write a finite number, such as -65504 in a mask"),
    **dict.fromkeys(("Div", "Divide", "Reciprocal"), "add a small number such as 1e-6 to the divisor"),
    **dict.fromkeys(("Asin", "Acos", "Acosh", "Atanh"), "clip input 0 to the numbers that the function is defined for"),
}

#: The input that makes a result infinite, if it is not the first.
FAULTY_INPUT: Mapping[str, int] = dict.fromkeys(("Div", "Divide"), 1)

#: The infinities to which one operand may set all results, by operator.
ABSORBED_BY: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(("Add", "Sum", "Max", "Maximum"), (inf,)),
    **dict.fromkeys(("Sub", "Subtract"), (inf, -inf)),
    **dict.fromkeys(("Min", "Minimum"), (-inf,)),
}

#: Operators whose result is infinite if one operand is infinite and the others are finite.
ADDITIONS = frozenset(("Add", "Sub", "Subtract", "Neg", "Negative", "Identity"))

#: Operators that compute a variance from squares.
AVERAGING = frozenset(("ReduceMean", "GlobalAveragePool"))

#: At most this many nested terms of a mask are followed.
STEPS = 4


def faults(values: Values, node: Node) -> Iterable[Fault]:
    """The faults of a node that hold for all inputs of the model."""
    return CHECKS.get(node.op, _never_finite)(values, node)


def _never_finite(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a node with a result element that is finite for no input of the model; none if all may be finite."""
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
    """(intervals of the elements of a result, sizes of the last axes along which the intervals differ). The sizes are
    None if each element has an interval, or if one interval stands for all."""
    parts = values.intervals.results(node)
    grid = values.intervals.grid_of(node) if len(parts) == 1 and not parts[0].why else None
    return (parts, None) if grid is None else (grid.parts, grid.shape)


def _place(at: int, shape: tuple[int, ...] | None) -> str:
    """The place of an element in a message: its number, or its index along the last axes of the result, which have the
    sizes ``shape``."""
    if shape is None:
        return f"element {at} of the result: "
    index = positions(shape)[at]
    texts = [f"index {each} of axis {axis - len(shape)}" for axis, each in enumerate(index) if shape[axis] > 1]
    return f"{' and '.join(texts)} of the result: "


def _absorbing(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a node that is never finite, or that always has the same infinity as result because of an operand.

    A sum of minus infinity is not reported, because it may be a mask.
    """
    yield from _never_finite(values, node)
    from irlint.checks.infinite import saturates

    if saturates(values, node):
        return
    result, intervals = values.intervals.result(node), values.intervals
    if (
        result.low == result.high
        and result.low in ABSORBED_BY[node.op]
        and any(each.low < each.high for each in map(intervals.whole, node.inputs))
    ):
        yield ALWAYS_NAN.fault(f"each result is {result.text}, whatever the operands are", help=HELPS["Add"])


def _quotient(values: Values, node: Node) -> Iterable[Fault]:
    # The rule of the operator reports a constant divisor that holds 0.
    """The fault of a floating-point division by a computed number: the result is never finite, or the divisor contains
    0. None for other divisions."""
    divisor = values.tensor(node, 1)
    if divisor is None or divisor.dtype not in FLOATS or type(divisor) is Weights:
        return
    if divisor.value is None or None in divisor.value:
        found = list(_never_finite(values, node))
        yield from found or _by_zero(values, node, 1)


def _inverse(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a reciprocal: it is never finite, or its input contains 0 for all data."""
    found = list(_never_finite(values, node))
    return found or _by_zero(values, node, 0)


def _by_zero(values: Values, node: Node, index: int) -> Iterator[Fault]:
    """The fault of a division by an input that contains 0 for all data; none if a later node may replace the
    infinity."""
    reason = zeros.holds_zero(values, node.inputs[index])
    if reason and not zeros.is_replaced(values.users, node.outputs[0], node.op):
        yield ALWAYS_NAN.fault(
            f"input {index} contains 0 whatever the data are ({reason}): the quotient is infinite, or NaN for 0 / 0",
            help=HELPS["Div"],
            input=index,
        )


def _power(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of a power with a constant exponent: the result is never finite, or the base contains differences from
    a mean. Except in narrow types, small integer exponents have no fault."""
    exponents = values.intervals.parts(node.inputs[1] if len(node.inputs) > 1 else None)
    if not all(each.low == each.high for each in exponents):
        return
    made = values.known.types.get(node.outputs[0]) if node.outputs[0] else None
    is_narrow = isinstance(made, Tensor) and made.dtype in NARROW
    if not is_narrow and all(0 <= each.low < LARGE_EXPONENT and float(each.low).is_integer() for each in exponents):
        return
    found = list(_never_finite(values, node))
    if not found and len(exponents) == 1 and isfinite(exponents[0].low) and exponents[0].low % 1:
        found = list(_centered(values, node, exponents[0].low))
    yield from found


def _centered(values: Values, node: Node, exponent: float) -> Iterator[Fault]:
    """The fault of a power whose exponent has a fraction and whose base is the difference between a value and its mean.
    Some of these differences are negative unless all are 0. None for other bases."""
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
    """The fault of a root: it is never finite, or its input is a mean of squares plus a negative number."""
    found = list(_never_finite(values, node))
    total = values.maker(node, 0) if not found else None
    if total is None or total.op != "Add":
        return found
    for index in (0, 1):
        epsilon, mean = values.number(total, index), values.maker(total, 1 - index)
        if epsilon is None or not epsilon < 0 or mean is None or mean.op not in AVERAGING:
            continue
        if values.intervals.result(mean).low >= 0:
            from irlint.checks.normalizations import EPSILON_UNUSABLE

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
    """The fault of a logarithm that is never finite, or of a logarithm of 0.

    A logarithm of 0 is a fault if all elements are 0, if other elements have no upper limit, or if a product multiplies
    it by the 0. If the other elements have an upper limit, it may be a mask.
    """
    yield from _never_finite(values, node)
    yield from _times_itself(values, node)
    parts, shape = _each(values, node)
    at = next((at for at, part in enumerate(parts) if part.is_infinite and part.low < 0), None)
    if at is not None and (all(part.is_infinite for part in parts) or any(part.high == inf for part in parts)):
        place = "" if all(part.is_infinite for part in parts) else _place(at, shape)
        yield ALWAYS_NAN.fault(
            f"{place}input 0 is 0: its logarithm is minus infinity",
            help="add a small number such as 1e-6 to input 0",
            input=0,
        )


def _times_itself(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of the logarithm of a value that contains 0 for all data, if a product multiplies it by the value."""
    given, seen = values.intervals.origin(node.inputs[0]), {node.outputs[0]}
    if not zeros.holds_zero(values, given):
        return
    waiting = [node.outputs[0]]
    while waiting:
        value = waiting.pop()
        for user in values.users.get(value, ()) if value is not None else ():
            if user.op in ("Mul", "Multiply") and given in map(values.intervals.origin, user.inputs):
                yield ALWAYS_NAN.fault(
                    f"input 0 contains 0 whatever the data are, and `{user.label}` multiplies its logarithm, minus "
                    "infinity, by this 0, which gives NaN",
                    help="add a small number such as 1e-6 to input 0",
                    input=0,
                )
                return
            if user.op in ADDITIONS and user.outputs[0] not in seen:
                seen.add(user.outputs[0])
                waiting.append(user.outputs[0])


def _softmax(values: Values, node: Node) -> Iterable[Fault]:
    """The faults of a Softmax: a row of its mask is minus infinity everywhere, its scores are multiplied by 0, or its
    axis has size 1 and the model returns the result."""
    tensor, value = values.tensor(node, 0), node.inputs[0] if node.inputs else None
    axis = softmax_axis(node, len(tensor.shape)) if tensor is not None and tensor.shape is not None else None
    if value is None or tensor is None or axis is None:
        return
    yield from masked(values, value, 0, axis)
    factor = values.maker(node, 0)
    if (
        factor is not None
        and factor.op in ("Mul", "Multiply")
        and 0 in (values.number(factor, 0), values.number(factor, 1))
    ):
        yield _constant(
            f"`{factor.label}` multiplies by 0: all results are equal", f"correct the factor in `{factor.label}`"
        )
    if tensor.shape is not None and tensor.shape[axis] == 1 and node.outputs[0] in values.graph.outputs:
        yield _constant(
            f"axis {len(tensor.shape) + axis} is 1: every result is {0 if node.op == 'LogSoftmax' else 1}",
            "use a Sigmoid for one class, or another axis",
        )


def _loss(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a mean loss whose class weights are all 0; nothing for other losses."""
    reduction = node.attributes.get("reduction")
    is_mean = reduction is None or reduction.value in ("mean", b"mean")
    if is_mean and len(node.inputs) > 2 and values.intervals.whole(node.inputs[2]).is_zero:
        yield ALWAYS_NAN.fault(
            "input 2 (weight) is 0 for all classes, and the mean is divided by the sum of weights: 0 / 0 is NaN",
            help="write the weights that are intended, or omit them",
            input=2,
        )


def masked(values: Values, value: Value, index: int, axis: int = -1) -> Iterator[Fault]:
    """The fault of a Softmax along ``axis``, if a row of its scores or of their mask is minus infinity everywhere. The
    axis is counted from the end."""
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
    """(index of the first row of a value, or of a term of it, that is minus infinity everywhere; name of the value or
    term). None if there is no such row."""
    tensor = values.known.types.get(value)
    node = values.makers.get(value)
    if not isinstance(tensor, Tensor) or not steps:
        return None
    transfer = TRANSFERS.get(node.op) if node is not None else None
    if node is not None and transfer is None and tensor.value is None and tensor.extent is None:
        return None
    if transfer is matrix_product:  # Only the sign of sums of products is known.
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
    """(index of the first row of a sum whose terms add up to minus infinity everywhere, name of the sum). None if there
    is no such row. Terms without a lower limit, such as scores, count as 0, because a mask is much larger."""
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
    """The terms whose sum is ``value``. Terms that are sums themselves are split up."""
    node = values.makers.get(value)
    if node is None or node.op != "Add" or not steps:
        yield value
        return
    for each in node.inputs:
        if each is not None:
            yield from _terms(values, each, steps - 1)


def _exponential(values: Values, node: Node) -> Iterable[Fault]:
    """The fault of an exponential: it is never finite, or it is 0 for all inputs."""
    yield from _never_finite(values, node)
    result, given = values.intervals.result(node), values.intervals.whole(node.inputs[0])
    if result.is_zero and given.low < given.high:
        yield _constant(f"input 0 is {given.text}: every exponential is 0", "correct the sign or the size of input 0")


def _constant(message: str, help: str) -> Fault:
    """The fault of a result that is the same number for all inputs because of input 0."""
    from irlint.checks.factors import RESULT_CONSTANT

    return RESULT_CONSTANT.fault(message, help=help, input=0)


def _cast(values: Values, node: Node) -> Iterable[Fault]:
    from irlint.checks import casts

    return casts.faults(values, node)


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


#: The checks by operator. Other operators are checked by ``_never_finite``.
CHECKS: Mapping[str, Callable[[Values, Node], Iterable[Fault]]] = {
    **dict.fromkeys(("Div", "Divide"), _quotient),
    **dict.fromkeys(("Pow", "Power"), _power),
    "Reciprocal": _inverse,
    "Exp": _exponential,
    **dict.fromkeys(LOSSES, _loss),
    "Sqrt": _root,
    "Log": _logarithm,
    **dict.fromkeys(("Softmax", "SoftMax", "LogSoftmax"), _softmax),
    **dict.fromkeys(CONVERTING, _cast),
    **dict.fromkeys(ABSORBED_BY, _absorbing),
}
