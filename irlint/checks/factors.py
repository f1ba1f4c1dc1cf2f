"""Finds factors and terms among the attributes that are NaN or infinite, or that make all results the same number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isfinite

from irlint.checks.examined import EXAMINED, FACTOR_LISTS, FACTORS
from irlint.checks.values import number_in
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Attribute, Node
from irlint.ops.shared.contents import are_finite

ATTRIBUTE_NOT_FINITE = Rule(
    "IRL742",
    "attribute-not-finite",
    Severity.WARNING,
    "An attribute from which results are computed is NaN or infinite, or 0 where a node divides by it.",
    why="Results that are computed with NaN are NaN. With infinity they are infinite or NaN, or 0 if an infinite "
    "epsilon is in the divisor. LeakyRelu and Elu multiply only negative numbers by `alpha`. OpenVINO refuses some of "
    "these attributes when it loads the model.",
    fix="Write the number that is intended.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = nan> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = 0.5> (x, w) }""",
    role="nan",
)
RESULT_CONSTANT = Rule(
    "IRL754",
    "result-constant",
    Severity.WARNING,
    "An attribute, a range or an empty axis makes every result of a node the same number.",
    why="With an `alpha` of 0, each result of a HardSigmoid is `beta`, and a Gemm omits its product. With a `gamma` of "
    "0, each result of a Selu is 0. With an infinite threshold, each result of a Shrink or a ThresholdedRelu is 0. The "
    "exponential of numbers that are all far below 0 is 0. Runtimes return 0 for the mean of no elements, and minus "
    "infinity for the maximum of no elements. The input has no effect on the results.",
    fix="Write the number that is intended.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = HardSigmoid <alpha = 0.0> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = HardSigmoid <alpha = 0.2> (x) }""",
    role="value",
)

#: For (operator, attribute, number): the message if the number removes the effect of the input on the results.
CONSTANT_WITH: Mapping[tuple[str, str, float], str] = {
    ("HardSigmoid", "alpha", 0): "every result is the same, whatever the input is",
    ("Selu", "gamma", 0): "every result is 0",
    ("Gemm", "alpha", 0): "the product of inputs 0 and 1 has no effect",
    ("ThresholdedRelu", "alpha", inf): "no number is above it, and every result is 0",
    ("Shrink", "lambd", inf): "no number is above it, and every result is 0",
}

#: Attributes that a Resize reads only in one mode, with the attribute that selects the mode and its value.
READ_IN: Mapping[str, tuple[str, str]] = {
    "extrapolation_value": ("coordinate_transformation_mode", "tf_crop_and_resize"),
    **dict.fromkeys(("cubic_coeff_a", "cube_coeff"), ("mode", "cubic")),
}

#: Attributes by which operators divide.
DIVIDING = frozenset((("Celu", "alpha"), ("LpPool", "p"), ("GlobalLpPool", "p")))

#: Operators whose ``alpha`` is a threshold.
THRESHOLDS = frozenset(("ThresholdedRelu",))


def not_finite(node: Node) -> list[Fault]:
    """A fault for each attribute that is infinite or NaN although it is a factor or term of the results. Attributes
    that may be infinite are reported only if they contain NaN."""
    if node.domain == "ai.onnx.ml":
        return []
    found = []
    for name, attribute in node.attributes.items():
        if name not in EXAMINED or not _is_read(node, name):
            continue
        number = _first_nan(attribute) if attribute.kind == "FLOATS" else number_in(attribute)
        if number is None:
            continue
        lost = CONSTANT_WITH.get((node.op, name, number))
        if lost is not None:
            help = f"write the `{name}` that is intended"
            found.append(RESULT_CONSTANT.fault(f"`{name}` is {number:g}: {lost}", help=help, attribute=name))
        if number == 0 and (node.op, name) in DIVIDING:
            help = f"write the `{name}` that is intended, such as 1"
            text = f"`{name}` is 0, and {node.op} divides by it"
            found.append(ATTRIBUTE_NOT_FINITE.fault(text, help=help, attribute=name))
        if isfinite(number):
            continue
        is_nan = number != number
        if is_nan or (name in FACTORS and node.op not in THRESHOLDS):
            text = "NaN" if is_nan else "infinite"
            help = f"write the `{name}` that is intended"
            found.append(ATTRIBUTE_NOT_FINITE.fault(f"`{name}` is {text}", help=help, attribute=name))
    return found


def _first_nan(attribute: Attribute) -> float | None:
    """The first NaN in a list of numbers; None if it contains none."""
    return next((number for number in attribute.value if number != number), None)


def _is_read(node: Node, name: str) -> bool:
    """Whether a node reads the attribute ``name`` in the mode that its other attributes select."""
    if name not in READ_IN:
        return True
    attribute, mode = READ_IN[name]
    found = node.attributes.get(attribute)
    text = found.value.decode() if found is not None and isinstance(found.value, bytes) else found and found.value
    return text == mode


def listed(node: Node) -> Iterator[Fault]:
    """A fault for each list of factors with an entry that is infinite or NaN."""
    for name in FACTOR_LISTS[node.op]:
        attribute = node.attributes.get(name)
        numbers = attribute.value if attribute is not None and attribute.kind == "FLOATS" else ()
        at = -1 if are_finite(numbers) else next((at for at, each in enumerate(numbers) if not isfinite(each)), -1)
        if at >= 0:
            yield ATTRIBUTE_NOT_FINITE.fault(
                f"entry {at} of `{name}` is {'NaN' if numbers[at] != numbers[at] else 'infinite'}",
                help="write the number that is intended",
                attribute=name,
            )
