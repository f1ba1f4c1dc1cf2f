"""The broadcast rules of both formats."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from irlint.dims import MaybeDim, Shape, broadcast_size, same, symbols
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import Relation, agree, require_any
from irlint.findings.wording import counted, listed
from irlint.model.tensor import shape_text
from irlint.ops.shared.sizes import narrower
from irlint.records import record

BROADCAST_MISMATCH = Rule(
    "IRL201",
    "broadcast-mismatch",
    Severity.ERROR,
    "Two inputs of an elementwise operator have different sizes on an axis, and neither size is 1.",
    why=(
        "Shapes are aligned at their last axes. On each axis, the sizes must be equal, or one of them must be 1. "
        'Otherwise, no runtime can compute the node: ONNX Runtime fails with "Incompatible dimensions", and OpenVINO '
        'with "Argument shapes are inconsistent.".'
    ),
    fix=(
        "Make the sizes equal, or insert axes of size 1 (Unsqueeze, Reshape) to align the shapes. For example, a "
        "bias of 64 channels needs the shape [64, 1, 1] for data of the shape [N, 64, H, W]."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,56,56] x, float[32,1,1] b) => (float[1,64,56,56] y) { y = Add (x, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,56,56] x, float[64,1,1] b) => (float[1,64,56,56] y) { y = Add (x, b) }""",
    refused=(
        Refusal("onnxruntime", ("dead if sized", "as declared")),
        Refusal("openvino_frontend", ("dead if sized",)),
        Refusal("tensorrt_rtx", ("dead if sized",)),
    ),
)

UNIDIRECTIONAL_MISMATCH = Rule(
    "IRL202",
    "unidirectional-broadcast-mismatch",
    Severity.ERROR,
    "An input cannot be broadcast to the shape of another input.",
    why=(
        "The operator broadcasts in one direction: the input must not enlarge the result. The result of PRelu has the "
        "shape of the first input, and the result of Gemm the shape of the product. The input must not have more axes "
        "than the result. Aligned at the last axis, each of its sizes must be 1 or equal to the size of the result."
    ),
    fix=(
        "Give the input at most as many axes as the result has, and make each of its sizes 1 or the size of the "
        "aligned axis."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,4,4] x, float[5,1,1] slope) => (float[1,3,4,4] y) { y = PRelu (x, slope) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,4,4] x, float[3,1,1] slope) => (float[1,3,4,4] y) { y = PRelu (x, slope) }""",
)

SHAPES_DIFFER = Rule(
    "IRL203",
    "shapes-differ",
    Severity.ERROR,
    "Inputs that must have the same shape have different shapes.",
    why=(
        'Without broadcasting, every size must be the same. In OpenVINO, this is `auto_broadcast="none"`. In ONNX, '
        "it applies to opsets below 7, and to Max, Min, Sum and Mean in opsets below 8."
    ),
    fix='Make the shapes equal, or enable broadcasting: `auto_broadcast="numpy"` in an IR, or a newer opset in ONNX.',
    bad="""<ir_version: 3, opset_import: ["" : 7]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Max (x, b) }""",
    good="""<ir_version: 3, opset_import: ["" : 7]>
g (float[2,3] x, float[2,3] b) => (float[2,3] y) { y = Max (x, b) }""",
)


@record
class Clash:
    """The indices of two inputs whose sizes cannot be broadcast."""

    left: int
    right: int


def _padded_to_match(small: Shape, large: Shape) -> str:
    """The text of ``small`` with as many 1s at its end as it needs to match ``large``; "" if 1s do not help."""
    if not 0 < len(small) < len(large):
        return ""
    for start in range(len(large) - len(small)):
        if all(same(a, b) for a, b in zip(small, large[start:])):
            return shape_text((*small, *([1] * (len(large) - start - len(small)))))
    return ""


def _mismatch_help(shapes: Sequence[Shape | None], first: int, second: int, *, pairs: Sequence[tuple[int, int]]) -> str:
    """The help for clashing axes; ``pairs`` has (axis of input ``first``, axis of input ``second``) of each clash."""
    for small, large in ((second, first), (first, second)):
        a, b = shapes[small], shapes[large]
        padded = _padded_to_match(a, b) if a is not None and b is not None else ""
        if padded:
            return f"reshape input {small} from {shape_text(a)} to {padded}, which aligns equal sizes"
    left, right = (_axes_text(sorted(set(axes))) for axes in zip(*pairs))
    if left == right:
        return f"make {left} equal in both inputs, or 1 in one of them"
    left, right = (_sizes_text(shapes[index], axes) for index, axes in zip((first, second), zip(*pairs)))
    one = "one of them" if len(pairs) == 1 else "one of each pair"
    return f"make {left} in input {first} equal to {right} in input {second}, or {one} 1"


def _axes_text(axes: Sequence[int]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {listed([str(axis) for axis in axes])}"


def _sizes_text(shape: Shape | None, axes: Sequence[int]) -> str:
    return "" if shape is None else listed([str(shape[axis]) for axis in axes])


def broadcast(shapes: Sequence[Shape | None], first: int = 0) -> Shape | None:
    """The shape that NumPy's rule gives for ``shapes``; None if a rank is unknown.

    ``first`` is the input index of the first shape. Raises a ``BROADCAST_MISMATCH`` fault. Sources: ONNX "Broadcasting
    in ONNX", multidirectional; OpenVINO "Broadcast Rules For Elementwise Operations", ``numpy``.
    """
    known = [(index, shape) for index, shape in enumerate(shapes) if shape is not None]
    if len(known) > 1 and len(known) == len(shapes) and all(shape == known[0][1] for _, shape in known[1:]):
        return known[0][1]
    rank = max((len(shape) for _, shape in known), default=0)
    result: list[MaybeDim] = []
    clashes: list[tuple[int, Clash]] = []
    for axis in range(rank):
        column = [(index, shape[axis - rank]) for index, shape in known if len(shape) >= rank - axis]
        found = broadcast_dim(column, f"axis {axis}")
        if isinstance(found, Clash):
            clashes.append((axis, found))
        result.append(None if isinstance(found, Clash) else found)
    if clashes:
        raise _mismatch(shapes, rank, clashes, first=first)
    return None if len(known) < len(shapes) else tuple(result)


def _mismatch(
    shapes: Sequence[Shape | None],
    rank: int,
    clashes: Sequence[tuple[int, Clash]],
    *,
    first: int,
) -> Fault:
    left, right = clashes[0][1].left, clashes[0][1].right
    padded: tuple[Shape | None, ...] = (*(None for _ in range(first)), *shapes)

    from irlint.ops.shared.facts import clash_text

    def own(index: int, axis: int) -> tuple[int, int]:
        return index + first, axis - rank + len(shapes[index] or ())

    pairs = [(own(each.left, axis), own(each.right, axis)) for axis, each in clashes]
    same_inputs = [(one[1], other[1]) for one, other in pairs if (one[0], other[0]) == (left + first, right + first)]
    return BROADCAST_MISMATCH.fault(
        clash_text(padded, pairs, aligned=True),
        help=_mismatch_help(padded, left + first, right + first, pairs=same_inputs),
        input=right + first,
        marks=tuple(mark for pair in pairs for mark in pair),
        remark="differ, and neither is 1",
    )


def broadcast_dim(column: Sequence[tuple[int, MaybeDim]], where: str) -> MaybeDim | Clash:
    """The size to which the sizes of an axis are broadcast; a Clash if two of them certainly clash.

    ``column`` has the (index, size) pairs of the axis. Equalities that are not proven become requirements.
    """
    found: list[tuple[int, MaybeDim]] = []
    for index, dim in column:
        if dim != 1 and dim not in [other for _, other in found]:
            found.append((index, dim))
    if len(found) < 2:
        return found[0][1] if found else 1
    wide = [(index, dim) for index, dim in found if dim is not None and same(dim, 1) is False]
    for position, (right, b) in enumerate(wide):
        for left, a in wide[:position]:
            if same(a, b) is False:
                return Clash(left, right)
    entries = [dim for _, dim in found]
    sure = next((dim for _, dim in wide if isinstance(dim, int)), wide[0][1] if wide else None)
    for other in entries:
        if sure is None or other is None or other is sure or same(other, sure):
            continue
        require_any(
            Relation("==", other, sure),
            Relation("==", other, 1),
            why=f"{where} broadcasts {other} to {sure}",
        )
    if sure is not None:
        return sure
    for a, b in combinations([dim for dim in entries if dim is not None], 2):
        require_any(
            Relation("==", a, b),
            Relation("==", a, 1),
            Relation("==", b, 1),
            why=f"{where} broadcasts {a} with {b}",
        )
    if any(name.startswith("_") for dim in entries if dim is not None for name in symbols(dim)):
        return None
    return broadcast_size(*entries)


def stretched(target: Shape | None, shape: Shape | None, index: int, *, onto: int = 0, what: str = "") -> Shape | None:
    """Returns ``target`` after checking that ``shape`` can be broadcast to it.

    ``index`` and ``onto`` are the input indices of ``shape`` and ``target``. Raises an ``UNIDIRECTIONAL_MISMATCH``
    fault. Source: ONNX "Broadcasting in ONNX", unidirectional.
    """
    if target is None or shape is None:
        return target
    what = what or f"input {index}"
    if len(shape) > len(target):
        raise UNIDIRECTIONAL_MISMATCH.fault(
            f"{what} has {counted(len(shape), 'axis', 'axes')}, and the shape to which it is broadcast has "
            f"{len(target)}: {shape_text(shape)} to {shape_text(target)}",
            help=f"remove the leading axes of {what}, so that it has at most {len(target)}",
            input=index,
        )
    offset = len(target) - len(shape)
    clashes = []
    for axis, dim in enumerate(shape):
        if not stretches(dim, target[offset + axis], f"axis {axis} of {what} is broadcast to axis {offset + axis}"):
            clashes.append((offset + axis, axis))
    if clashes:
        wide, axis = clashes[0]
        allowed = "1" if target[wide] == 1 else f"1 or {target[wide]}"
        both_shapes = f": {shape_text(shape)} onto {shape_text(target)}" if len(clashes) > 1 else ""
        raise UNIDIRECTIONAL_MISMATCH.fault(
            f"axis {axis} of {what} is {shape[axis]}; to be broadcast to axis {wide}, it must be {allowed}"
            f"{both_shapes}",
            help=f"change {shape[axis]} in {what} to {allowed}, or make axis {wide} of the other shape {shape[axis]}",
            input=index,
            marks=tuple(mark for wide, axis in clashes for mark in ((onto, wide), (index, axis))),
            remark=f"differ, and input {index} is broadcast only where it is 1",
        )
    return target


def stretches(dim: MaybeDim, onto: MaybeDim, why: str) -> bool:
    """Whether a size may be 1 or equal to ``onto``. If this is not proven, it becomes a requirement."""
    if dim == 1 or dim is None or onto is None:
        return True
    equal, one = same(dim, onto), same(dim, 1)
    if equal or one:
        return True
    if equal is False and one is False:
        return False
    relations = [Relation("==", dim, onto)] if equal is None else []
    relations += [Relation("==", dim, 1)] if one is None else []
    require_any(*relations, why=why)
    return True


def merged(
    shapes: Sequence[Shape | None], rule: Rule = SHAPES_DIFFER, why: str = "the shapes must be equal"
) -> Shape | None:
    """The common shape of inputs that must have equal shapes; None if no shape is known.

    Raises a fault of ``rule``; ``why`` is the reason in its message.
    """
    known = [(index, shape) for index, shape in enumerate(shapes) if shape is not None]
    if not known:
        return None
    first, result = known[0]
    for index, shape in known[1:]:
        if len(shape) != len(result):
            raise rule.fault(
                f"input {first} is {shape_text(result)} and input {index} is {shape_text(shape)}: {why}",
                help="give both the same number of axes",
                input=index,
            )
        clashes = [
            axis
            for axis, (a, b) in enumerate(zip(result, shape))
            if not agree(a, b, f"axis {axis} has the same size in inputs {first} and {index}")
        ]
        if clashes:
            from irlint.ops.shared.facts import clash_text

            pairs = [((first, axis), (index, axis)) for axis in clashes]
            raise rule.fault(
                f"{clash_text({first: result, index: shape}, pairs)}, and {why}",
                help=f"make axis {clashes[0]} equal in both inputs",
                input=index,
                marks=tuple(mark for pair in pairs for mark in pair),
                remark="differ",
            )
        result = tuple(map(narrower, result, shape))
    return result
