"""Finds infinity in weights and biases, in a term of a Softmax, and in padding that a later node multiplies or adds."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from irlint.checks.examined import PASSING, PRODUCTS, SATURATING, SCATTERING, SPREADING, STEPS
from irlint.checks.factors import ATTRIBUTE_NOT_FINITE
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.model import Node, Value
from irlint.model.tensor import Extent, Tensor
from irlint.ops.shared.contents import extent

OPERAND_INFINITE = Rule(
    "IRL740",
    "operand-infinite",
    Severity.WARNING,
    "A weight or bias contains infinity.",
    why="The infinity comes from a conversion to float16 that overflowed, or from a training that diverged. Every "
    "result computed with it is infinite, or NaN for 0 times infinity; a quotient by infinity is 0. Masks are not "
    "reported: they are added, and feed no product, convolution or normalization. A weight is also "
    "reported if it is the Cast, Transpose or Gather of a constant. Large weights are read only with `--weights`.",
    fix="Export the weights again, with a type that is wide enough.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {inf, 1.0, 1.0, 1.0}> { y = MatMul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {2.0, 1.0, 1.0, 1.0}> { y = MatMul (x, w) }""",
    role="nan",
)
#: Operators that multiply their elements, and add the products.
MULTIPLYING = PRODUCTS | {"Gemm"}

#: Operators that add neighboring elements of a tensor.
ADDING_UP = frozenset(
    ("AveragePool", "AvgPool", "GlobalAveragePool", "AdaptiveAvgPool", "ReduceMean", "ReduceSum", "CumSum")
)

#: Operators whose results are NaN if an input is NaN: products, sums, quotients and recurrent operators.
COMPUTING = MULTIPLYING | SPREADING | frozenset(("LSTM", "GRU", "RNN", "Div"))

#: Operators that subtract the largest element of a row from each element.
SUBTRACTING = frozenset(("Softmax", "SoftMax", "LogSoftmax"))


def of_input(values: Values, node: Node, index: int) -> Fault | None:
    """The fault of an input that is a constant with infinity, or that operators of PASSING compute from such a
    constant. None if the input is omitted or does not come from such a constant."""
    value = node.inputs[index]
    source = _source(values, value) if value is not None else None
    tensor = values.known.types.get(source) if source is not None else None
    span = extent(tensor) if isinstance(tensor, Tensor) else None
    if value is None or source is None or span is None or not span.infinities:
        return None
    what = f"input {index} (`{values.name(value)}`)"
    text = f"{counted(span.infinities, 'element')} of {what} {'is' if span.infinities == 1 else 'are'} infinite"
    if source is not value:
        number = counted(span.infinities, "infinite element")
        text = f"{what} comes from `{values.name(source)}`, which has {number}"
    return OPERAND_INFINITE.fault(
        text,
        help="export the weights again, with a type that is wide enough",
        input=index,
    )


def divisor(values: Values, node: Node) -> list[Fault]:
    """The fault of a divisor whose elements are all infinite; none for another divisor."""
    span = extent(values.tensor(node, 1))
    all_infinite = span is not None and span.infinities and span.least is None and not span.nans
    fault = of_input(values, node, 1) if all_infinite else None
    return [] if fault is None else [fault]


def _source(values: Values, value: Value, steps: int = STEPS) -> Value | None:
    """The value with known numbers from which a weight comes: the weight itself, or a constant before at most ``steps``
    operators of PASSING. None if there is no such value."""
    tensor = values.known.types.get(value)
    if isinstance(tensor, Tensor) and (tensor.value is not None or isinstance(tensor.extent, Extent)):
        return value
    node = values.makers.get(value) if steps else None
    if node is None or node.op not in PASSING or not node.inputs or node.inputs[0] is None:
        return None
    return _source(values, node.inputs[0], steps - 1)


def added(values: Values, node: Node) -> list[Fault]:
    """A fault for each small constant input of an Add that contains plus infinity, if an input of the Add is a product
    with a weight, or if a Softmax uses the sum. A constant with only minus infinity may be a mask, and is not reported.
    Nothing is reported if all users of the sum are activations of SATURATING."""
    if (
        node.op != "Add"
        or saturates(values, node)
        or not (_adds_to_product(values, node) or _is_subtracted(values, node.outputs[0]))
    ):
        return []
    terms = [values.tensor(node, index) for index in range(len(node.inputs))]
    masks = [tensor is None or inf not in (tensor.value or ()) for tensor in terms]
    found = [of_input(values, node, index) for index, is_mask in enumerate(masks) if not is_mask]
    return [fault for fault in found if fault is not None]


def saturates(values: Values, node: Node) -> bool:
    """Whether all users of a node are activations whose result for infinity is finite."""
    users = values.users.get(node.outputs[0], ()) if node.outputs[0] is not None else ()
    return bool(users) and all(user.op in SATURATING for user in users)


def _adds_to_product(values: Values, node: Node) -> bool:
    """Whether an input of the node is a product or a convolution with a constant weight."""
    makers = [values.makers.get(value) if value is not None else None for value in node.inputs]
    return any(maker is not None and _has_weight(values, maker) for maker in makers)


def _has_weight(values: Values, node: Node) -> bool:
    """Whether a node is a product or a convolution whose second input comes from a constant."""
    value = node.inputs[1] if node.op in PRODUCTS and len(node.inputs) > 1 else None
    for _ in range(STEPS):
        maker = values.makers.get(value) if value is not None else None
        if value is None or value in values.graph.constants or maker is None:
            break
        value = maker.inputs[0] if maker.op in PASSING and maker.inputs else None
    return value is not None and value in values.graph.constants


def _is_subtracted(values: Values, value: Value | None) -> bool:
    """Whether a user of a value subtracts its largest element from each element. If that is infinite, the result is
    NaN."""
    for user in _users(values, value):
        if user.op in SUBTRACTING:
            return True
        subtrahend = user.inputs[1] if user.op in ("Sub", "Subtract") and len(user.inputs) > 1 else None
        largest = values.makers.get(subtrahend) if subtrahend is not None else None
        if largest is not None and largest.op == "ReduceMax" and largest.inputs[0] is user.inputs[0]:
            return True
    return False


def padded(values: Values, node: Node, index: int, number: float) -> Iterator[Fault]:
    """The fault of a Pad that adds infinity or NaN (``number``, input ``index``) around values that a user multiplies
    or adds; none if the Pad may add no elements."""
    mode = node.attributes.get("mode") or node.attributes.get("pad_mode")
    is_constant = mode is None or mode.value in ("constant", b"constant")
    user = next(
        (each for each in _users(values, node.outputs[0]) if each.op in MULTIPLYING or each.op in ADDING_UP), None
    )
    if is_constant and user is not None and _pads(values, node, index):
        verb = "multiplies" if user.op in MULTIPLYING else "adds"
        yield OPERAND_INFINITE.fault(
            f"input {index} is {number:g}, and `{user.label}` {verb} this padding: the border is infinite or NaN",
            help="pad with 0",
            input=index,
        )


def filled(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a ConstantOfShape that fills its result with NaN, if a user computes with the NaN; none if users may
    replace it."""
    user = next((each for each in _users(values, node.outputs[0]) if each.op in COMPUTING or _adds(each)), None)
    if user is not None:
        yield ATTRIBUTE_NOT_FINITE.fault(
            f"`value` is NaN, and `{user.label}` computes with it",
            help="write the `value` that is intended, such as 0",
            attribute="value",
        )


def _adds(node: Node) -> bool:
    """Whether a node computes new elements from updates and the elements of its input, for example by adding them."""
    reduction = node.attributes.get("reduction")
    return node.op in SCATTERING and reduction is not None and reduction.value not in ("none", b"none")


def _pads(values: Values, node: Node, index: int) -> bool:
    """Whether a Pad is known to add elements."""
    counts = [values.tensor(node, at) for at in range(1, index)]
    return any(isinstance(count, int) and count > 0 for each in counts if each is not None for count in each.ints or ())


def _users(values: Values, value: Value | None, steps: int = STEPS) -> Iterator[Node]:
    """The nodes that use a value, directly or after up to ``steps`` operators that do not change its elements."""
    for user in values.users.get(value, ()) if value is not None else ():
        yield user
        if steps and user.op in PASSING and user.outputs and user.inputs[0] is value:
            yield from _users(values, user.outputs[0], steps - 1)
