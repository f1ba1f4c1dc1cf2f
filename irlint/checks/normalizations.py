"""Finds normalizations that divide by 0 or take the root of a negative number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from irlint.checks.examined import LARGEST_EPSILON, LEAST_EPSILON
from irlint.checks.factors import RESULT_CONSTANT
from irlint.checks.values import Values, number_in
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node
from irlint.ops.shared.contents import extent, rounded

EPSILON_UNUSABLE = Rule(
    "IRL741",
    "epsilon-unusable",
    Severity.WARNING,
    "A normalization divides by 0, by the root of a negative number, or by a number that data do not change.",
    why="A normalization divides by the square root of variance plus epsilon. Epsilon keeps that sum above 0: a "
    "channel may have a variance of 0, and the variance of a single element is 0. In float16, numbers below 3e-8 are "
    "0. Without epsilon, equal elements, such as padding, become NaN. An epsilon of 10,000 or more makes all results "
    "almost equal. Runtimes compute this without a message; OpenVINO refuses a negative epsilon in a "
    "BatchNormalization.",
    fix="Set epsilon to 1e-5, or to at least 6e-8 in float16.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b) => (float[1,2,3] y)
{ y = InstanceNormalization <epsilon = -1.0> (x, s, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b) => (float[1,2,3] y)
{ y = InstanceNormalization <epsilon = 0.00001> (x, s, b) }""",
    role="nan",
)

#: Normalizations that do not subtract the mean.
UNCENTERED = frozenset(
    ("RMSNormalization", "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", "NormalizeL2")
)


#: The helps of normalizations that a small epsilon does not fix.
HELPS: Mapping[str, str] = {"LRN": "set `bias` to a positive number, such as 1"}


def faults(values: Values, node: Node, name: str, epsilon: float | None) -> Iterator[Fault]:
    """The fault of a normalization: its attribute ``name`` is unusable, or it computes means of single elements.

    ``epsilon`` is the value of the attribute, or None for its default.
    """
    found, input = "", None
    if epsilon is None or LEAST_EPSILON <= epsilon < LARGEST_EPSILON:
        if _divides(node) and _normalizes_one(values, node):
            yield RESULT_CONSTANT.fault(
                "each mean is the mean of 1 element, and an element minus itself is 0: the result does not depend on "
                "input 0",
                help="normalize other axes",
                input=0,
            )
        return
    if epsilon >= LARGEST_EPSILON:
        found = _too_large(values, node, name, epsilon)
    elif node.op == "LRN":
        found = _lrn(node, epsilon)
    elif epsilon < 0:
        found = f"{name} is {epsilon:g}: the root of a variance below {-epsilon:g} plus {name} does not exist"
    elif node.op.startswith("BatchNorm"):
        found, input = _zero_variance(values, node, epsilon), 4
    elif epsilon == 0 and _normalizes_one(values, node):
        found = f"{name} is 0, and each mean is that of 1 element: the variance is 0, and the result is NaN"
    elif epsilon == 0 and _divides(node):
        equal = "0" if node.op in UNCENTERED else "equal"
        found = f"{name} is 0: elements that are all {equal}, such as padding, become NaN"
    if found:
        yield EPSILON_UNUSABLE.fault(
            found,
            help=HELPS.get(node.op, f"set `{name}` to 1e-5, in float16 to at least 6e-8"),
            attribute=name,
            input=input,
        )


def _too_large(values: Values, node: Node, name: str, epsilon: float) -> str:
    """The message about an epsilon that is much larger than variances; "" for an LRN, or if a known variance is as
    large."""
    span = extent(values.tensor(node, 4)) if node.op.startswith("BatchNorm") else None
    is_small = span is None or span.most is None or epsilon > LARGEST_EPSILON * span.most
    if node.op == "LRN" or not _divides(node) or not is_small:
        return ""
    return f"{name} is {epsilon:g}, and the variance is negligible beside it: results are almost equal"


def _lrn(node: Node, bias: float) -> str:
    """The message about the bias of an LRN, which divides by (bias + a sum of squares) ** beta; "" if it is sound."""
    attribute = node.attributes.get("beta")
    beta = 0.75 if attribute is None else number_in(attribute)
    if beta is None or not beta > 0:
        return ""
    if bias == 0:
        return "bias is 0: elements that are all 0, such as padding, become NaN"
    return "" if beta.is_integer() else f"bias is {bias:g}: a sum of squares below {-bias:g} has no power of {beta:g}"


def _zero_variance(values: Values, node: Node, epsilon: float) -> str:
    """The message about a BatchNormalization whose epsilon is 0, or becomes 0 in float16, and whose variance contains
    0; "" for other numbers and in training mode."""
    tensor, training = values.tensor(node, 4), node.attributes.get("training_mode")
    dtype = tensor.dtype if tensor is not None else None
    used = rounded(epsilon, "float16") if dtype == "float16" else epsilon
    span = extent(tensor) if used == 0 else None
    if span is None or not span.has_zero or (training is not None and training.value):
        return ""
    which = "0" if epsilon == 0 else f"{epsilon:g}, which is 0 in float16"
    return f"epsilon is {which}, and input 4 (var) contains 0: the channel is divided by 0"


def _divides(node: Node) -> bool:
    """Whether a normalization divides. All do, except an MVN that only subtracts the mean."""
    divides = node.attributes.get("normalize_variance")
    return node.op != "MVN" or divides is None or str(divides.value).lower() in ("true", "1")


def _normalizes_one(values: Values, node: Node) -> bool:
    """Whether each mean that a normalization computes is the mean of a single element; False if this is unknown."""
    tensor = values.tensor(node, 0)
    if tensor is None or tensor.shape is None:
        return False
    if node.op == "InstanceNormalization":
        sizes = tensor.shape[2:]
    elif node.op == "LayerNormalization":
        axis = node.attributes.get("axis")
        sizes = tensor.shape[axis.value if axis is not None else -1 :]
    elif node.op == "MVN":
        axes = values.tensor(node, 1)
        chosen = axes.ints if axes is not None else None
        rank = len(tensor.shape)
        sizes = tuple(tensor.shape[at] for at in chosen or () if isinstance(at, int) and -rank <= at < rank)
    else:
        return False
    return bool(sizes) and all(isinstance(size, int) for size in sizes) and prod(sizes) == 1  # type: ignore[arg-type]
