"""TopK, NonZero, Unique, Compress, Bucketize and SearchSorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product as combinations

from irlint.dims import Expr, MaybeDim, Shape, at_least, bounds, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, explain_size, reaches
from irlint.findings.wording import counted, least_help
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Contents, Scalar, Tensor, Type
from irlint.ops import LATER, OPENVINO, Context, onnx, openvino, without_rule
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, without_strings
from irlint.ops.shared.contents import fits, positions, strides
from irlint.ops.shared.element_types import ARITHMETIC, INDEX_NAMES, INDEX_TYPES, IndexType, common_type, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import number, stated_size
from irlint.ops.shared.sizes import narrower
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT

TOPK_TOO_LARGE = Rule(
    "IRL349",
    "topk-exceeds-axis",
    Severity.ERROR,
    "TopK asks for more elements than the axis has.",
    why=(
        'k must not exceed the size of the axis. ONNX Runtime fails with "Axis has less than the requested k '
        'elements", and OpenVINO fails when it compiles the model.'
    ),
    fix="Reduce k to the size of the axis, or enlarge the axis. For a dynamic axis, use Min(k, size) from the Shape.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8] x) => (float[1,10] v, int64[1,10] i) <int64[1] k = {10}> { v, i = TopK (x, k) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8] x) => (float[1,5] v, int64[1,5] i) <int64[1] k = {5}> { v, i = TopK (x, k) }""",
)

_SEARCH = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="s" type="Parameter" version="opset1"><data shape="2,7" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>2</dim><dim>7</dim></port></output></layer>
<layer id="1" name="v" type="Parameter" version="opset1"><data shape="ROWS,4" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>ROWS</dim><dim>4</dim></port></output></layer>
<layer id="2" name="find" type="SearchSorted" version="opset15"><data right_mode="false" output_type="i64"/><input>\
<port id="0"/><port id="1"/></input><output><port id="2" precision="I64"><dim>ROWS</dim><dim>4</dim></port></output>\
</layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>\
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"""

SORTED_SEQUENCE_MISMATCH = Rule(
    "IRL353",
    "sorted-sequence-mismatch",
    Severity.ERROR,
    "The shape of the sorted sequences of a SearchSorted contradicts the shape of the values.",
    why=(
        "OpenVINO accepts either one sequence for all values, or one sequence for each row of values. In the second "
        "case, both inputs must have equal sizes on all axes but the last."
    ),
    fix="Give the sorted sequence one axis, or the sizes of the values on all axes but the last.",
    bad=_SEARCH.replace("ROWS", "3"),
    good=_SEARCH.replace("ROWS", "2"),
)


# --- TopK -------------------------------------------------------------------------------------------------------------


def lines(shape: Sequence[int], axis: int) -> list[list[int]]:
    """The lines of a tensor along ``axis``, each as the row-major offsets of its elements."""
    widths = strides(shape)
    others = [range(1) if other == axis else range(dim) for other, dim in enumerate(shape)]
    starts = [sum(a * b for a, b in zip(position, widths)) for position in combinations(*others)]
    return [[start + step * widths[axis] for step in range(shape[axis])] for start in starts]


def top_values(x: Tensor, axis: int, k: int, *, largest: bool) -> tuple[Contents | None, Contents | None]:
    """(the ``k`` largest or smallest values along ``axis``, their indices), if they are known and few."""
    value, shape = x.value, x.shape
    if value is None or shape is None or not fits(shape) or any(not isinstance(entry, (int, float)) for entry in value):
        return None, None
    result = (*shape[:axis], k, *shape[axis + 1 :])
    if not fits(result):
        return None, None
    values: list[Scalar] = [None] * len(positions(result))
    indices: list[Scalar] = list(values)
    for line, target in zip(lines(shape, axis), lines(result, axis)):  # type: ignore[arg-type]
        order = sorted(range(len(line)), key=lambda i: value[line[i]], reverse=largest)  # type: ignore[arg-type, return-value]
        for offset, index in zip(target, order):
            values[offset], indices[offset] = value[line[index]], index
    return tuple(values), tuple(indices)


def _top(
    x: Tensor, k: MaybeDim, axis: int, *, index_dtype: str, context: Context, ordered: bool, largest: bool
) -> tuple[Tensor, Tensor]:
    """(values, indices) of TopK. ``k`` is not negative.

    Raises a ``TOPK_TOO_LARGE``, ``INPUT_RANK_REFUSED`` or ``AXIS_OUT_OF_RANGE`` fault.
    """
    if x.shape is None:
        return Tensor(x.dtype), Tensor(index_dtype)
    expect_rank(x, 0, least=1)
    place = axis_of(axis, len(x.shape))
    dim = x.shape[place]
    if k is not None and not reaches(dim, k, f"axis {place} has at least {k} elements"):
        raise TOPK_TOO_LARGE.fault(
            f"k is {k} and axis {place} of input 0 has {counted(dim, 'element')}",
            help=f"use a k of at most {dim}, or {least_help(place, k)}",
            input=0,
            marks=((0, place),),
        )
    if k is None:
        k = context.unknown("k", dim if isinstance(dim, int) else None)
    elif isinstance(dim, int) and (dim == 0 or at_least(k, dim)):
        k = dim
    shape = (*x.shape[:place], k, *x.shape[place + 1 :])
    explain_size(place, k, part_of=dim)
    values, indices = top_values(x, place, k, largest=largest) if isinstance(k, int) and ordered else (None, None)
    return Tensor(x.dtype, shape, values), Tensor(index_dtype, shape, indices)


@onnx("TopK", since=1)
def topk_1(X: Tensor, *, axis: int = -1, k: int, context: Context) -> tuple[Tensor, Tensor]:
    """ONNX TopK-1."""
    if k <= 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `k` is {k}; it has to be at least 1", help="use a k of at least 1", attribute="k"
        )
    return _top(X, k, axis, index_dtype="int64", context=context, ordered=True, largest=True)


def _has_unknown_size(inputs: Sequence[Type | None], attributes: Mapping[str, object]) -> bool:
    """Whether the size of TopK's axis is unknown, so that ONNX's inference does not read K."""
    X, axis = inputs[0], attributes.get("axis", -1)
    if (
        not isinstance(X, Tensor)
        or not X.shape
        or not isinstance(axis, int)
        or not -len(X.shape) <= axis < len(X.shape)
    ):
        return True
    return not isinstance(X.shape[axis], int)


@onnx("TopK", since=10, may_be_external={"K": _has_unknown_size})
def topk_10(X: Tensor, K: Tensor, *, axis: int = -1, context: Context) -> tuple[Tensor, Tensor]:
    """ONNX TopK-10."""
    return topk_11(X, K, axis=axis, context=context)


@onnx("TopK", since=11, may_be_external={"K": _has_unknown_size})
def topk_11(
    X: Tensor, K: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1, context: Context
) -> tuple[Tensor, Tensor]:
    """ONNX TopK-11 and -24."""
    expect_rank(K, 1, 1, what="K")
    expect_one(K, 1, "K")
    k = stated_size(number(K), 1, "K")
    return _top(X, k, axis, index_dtype="int64", context=context, ordered=bool(sorted), largest=bool(largest))


TopMode = Literal["max", "min"]
TopSort = Literal["value", "index", "none"]
_TOPK_ABSENT = {"axis": 0, "mode": "max", "sort": "none"}


@group
@record
class Top:
    """The attributes of OpenVINO's TopK."""

    axis: int
    mode: TopMode
    sort: TopSort


def _compiled_count(layer: Layer) -> Fault | None:
    """The fault of k = 0 for data with elements. The plugin checks k only if all sizes are known."""
    sizes, k = layer.sizes(0), layer.inputs[1]
    if not sizes or 0 in sizes or not isinstance(k, Tensor) or number(k) != 0 or 0 not in layer.varying:
        return None
    return not_compiled("k is 0, but the CPU plugin requires at least 1", help="use a k of at least 1", input=1)


_COMPILED_TOP = first_of(without_strings, _compiled_count)


@openvino("TopK", until=2, absent=_TOPK_ABSENT, compiles=_COMPILED_TOP)
def ov_topk_1(
    data: Tensor, k: Tensor, *, top: Top, index_element_type: IndexType = "i32", context: Context
) -> tuple[Tensor, Tensor]:
    """OpenVINO TopK-1."""
    expect_type(k, 1, {"int8", "int32", "int64"})
    return _ov_top(data, k, top, index_type=index_element_type, context=context)


@openvino("TopK", since=3, until=10, absent=_TOPK_ABSENT, compiles=_COMPILED_TOP)
def ov_topk_3(
    data: Tensor, k: Tensor, *, top: Top, index_element_type: IndexType = "i32", context: Context
) -> tuple[Tensor, Tensor]:
    """OpenVINO TopK-3."""
    return _ov_top(data, k, top, index_type=index_element_type, context=context)


@openvino("TopK", since=11, absent=_TOPK_ABSENT, compiles=_COMPILED_TOP)
def ov_topk_11(
    data: Tensor, k: Tensor, *, top: Top, stable: bool = False, index_element_type: IndexType = "i32", context: Context
) -> tuple[Tensor, Tensor]:
    """OpenVINO TopK-11."""
    if stable and top.sort == "none":
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            'stable="true" with sort="none"; only a result that is sorted by value or index can be stable',
            help='write sort="value" or sort="index"',
            attribute="stable",
        )
    return _ov_top(data, k, top, index_type=index_element_type, context=context)


def _ov_top(data: Tensor, k: Tensor, top: Top, *, index_type: str, context: Context) -> tuple[Tensor, Tensor]:
    expect_type(k, 1, INTEGERS)
    expect_rank(k, 1, 0, what="k")
    count = stated_size(number(k), 1, "k")
    ordered, largest = top.sort == "value", top.mode == "max"
    index_dtype = INDEX_NAMES[index_type]
    return _top(data, count, top.axis, index_dtype=index_dtype, context=context, ordered=ordered, largest=largest)


# --- NonZero ----------------------------------------------------------------------------------------------------------


def truth(entry: Scalar) -> bool | None:
    """Whether an element differs from 0, if that is known."""
    if isinstance(entry, Expr):
        return at_least(entry, 1) or None
    return None if entry is None else bool(entry)


def _nonzero(x: Tensor, dtype: str, context: Context) -> Tensor:
    """The indices of the elements that differ from 0: [rank, count]."""
    # The first size of the result for a scalar is unknown, because it depends on the format and the runtime.
    rank = x.rank or None
    known = None if x.value is None else [truth(entry) for entry in x.value]
    if x.extent is not None:
        from irlint.ops.shared.bounds import all_positions, one_number

        if at_least(one_number(x), 1):
            return all_positions(x.shape, dtype)
    if known is None or None in known:
        most = None if x.shape is None else product(x.shape)
        count = context.unknown(("nonzero", context.node.inputs[0]), None if most is None else bounds(most)[1])
        return Tensor(dtype, (rank, count))
    found = sum(1 for entry in known if entry)
    if rank is None or x.shape is None or not fits(x.shape):
        return Tensor(dtype, (rank, found))
    nonzero = [position for position, entry in zip(positions(x.shape), known) if entry]
    return Tensor(dtype, (rank, found), tuple(position[axis] for axis in range(rank) for position in nonzero))


@onnx("NonZero", since=9, may_be_external={"X": None})
def nonzero(X: Tensor, *, context: Context) -> Tensor:
    """ONNX NonZero-9 and 13."""
    return _nonzero(X, "int64", context)


@openvino("NonZero", since=3, ignores_extra_inputs=True)
def ov_nonzero(data: Tensor, *, output_type: IndexType = "i64", context: Context) -> Tensor:
    """OpenVINO NonZero-3: [rank, count]; for a scalar, [1, 1] or [0, 0]."""
    indices = _nonzero(data, INDEX_NAMES[output_type], context)
    if data.shape != () or indices.shape is None or not isinstance(indices.shape[1], int):
        return indices
    return Tensor(indices.dtype, (indices.shape[1], indices.shape[1]))


# --- Unique -----------------------------------------------------------------------------------------------------------


def distinct(x: Tensor, axis: int | None) -> int | None:
    """The number of distinct elements, or of distinct slices along ``axis``; None if it is unknown."""
    value, shape = x.value, x.shape
    if value is None or shape is None or not fits(shape) or any(not isinstance(v, (int, float)) for v in value):
        return None
    if axis is None:
        return len(set(value))
    columns = lines(shape, axis)  # type: ignore[arg-type]
    if not columns:
        return None
    return len({tuple(value[offset] for offset in offsets) for offsets in zip(*columns)})


def _unique(
    x: Tensor, axis: int | None, index_dtype: str, *, count_dtype: str, context: Context
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(unique elements or slices, indices of first occurrences, indices into the unique elements, counts)."""
    if x.shape is None:
        count = context.unknown("unique")
        shape: Shape | None = (count,) if axis is None else None
        return Tensor(x.dtype, shape), *_unique_lists(count, None, index_dtype, count_dtype=count_dtype)
    place = None if axis is None else axis_of(axis, len(x.shape))
    total = product(x.shape) if place is None else x.shape[place]
    found = 1 if total == 1 else distinct(x, place)
    least, most = (None, None) if total is None else bounds(total)
    count = context.unknown("unique", most, min(least or 0, 1)) if found is None else found
    shape = (count,) if place is None else (*x.shape[:place], count, *x.shape[place + 1 :])
    return Tensor(x.dtype, shape), *_unique_lists(count, total, index_dtype, count_dtype=count_dtype)


def _unique_lists(
    count: MaybeDim, total: MaybeDim, index_dtype: str, *, count_dtype: str
) -> tuple[Tensor, Tensor, Tensor]:
    return Tensor(index_dtype, (count,)), Tensor(index_dtype, (total,)), Tensor(count_dtype, (count,))


@onnx("Unique", since=11, may_be_external={"X": None})
def unique(X: Tensor, *, axis: int | None = None, sorted: int = 1, context: Context) -> tuple[Tensor, ...]:
    """ONNX Unique-11."""
    return _unique(X, axis, "int64", count_dtype="int64", context=context)


@onnx("Unique", domain=MICROSOFT, may_be_external={"x": None})
def contrib_unique(x: Tensor, *, context: Context) -> tuple[Tensor, ...]:
    """com.microsoft Unique: (unique elements, indices into them, counts)."""
    expect_rank(x, 0, 1)
    values, counts, inverse, _ = _unique(x, None, "int64", count_dtype="int64", context=context)
    return values, inverse, counts


def _stored_axis(layer: Layer) -> Fault | None:
    """The fault of an axis that is not a Const. An axis that is computed from constants also has this fault."""
    if len(layer.inputs) < 2 or layer.inputs[1] is None or 1 in layer.stored:
        return None
    return not_compiled(
        "input 1 (axis) is not a Const, but OpenVINO cannot infer the layer without a constant axis",
        help="make input 1 a Const",
        input=1,
        forbidden=True,
    )


@openvino("Unique", since=10, fills_in=True, kept=True, compiles=first_of(without_strings, _stored_axis))
def ov_unique(
    data: Tensor,
    axis: Tensor | None = None,
    *,
    sorted: bool = True,
    index_element_type: IndexType = "i64",
    count_element_type: IndexType = "i64",
    context: Context,
) -> tuple[Tensor, ...]:
    """OpenVINO Unique-10."""
    index_dtype, count_dtype = INDEX_NAMES[index_element_type], INDEX_NAMES[count_element_type]
    if axis is None:
        return _unique(data, None, index_dtype, count_dtype=count_dtype, context=context)
    expect_type(axis, 1, INDEX_TYPES)
    expect_one(axis, 1, "axis")
    place = number(axis)
    if isinstance(place, int):
        return _unique(data, place, index_dtype, count_dtype=count_dtype, context=context)
    return Tensor(data.dtype, None), *_unique_lists(
        context.unknown("unique"), None, index_dtype, count_dtype=count_dtype
    )


# --- Compress ---------------------------------------------------------------------------------------------------------


@onnx("Compress", since=9, may_be_external={"condition": None})
def compress(input: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """ONNX Compress."""
    expect_rank(input, 0, least=1)
    if input.shape is None:
        return Tensor(input.dtype, (None,) if axis is None else None)
    place = None if axis is None else axis_of(axis, len(input.shape))
    total = product(input.shape) if place is None else input.shape[place]
    known = None if condition.value is None else [truth(entry) for entry in condition.value]
    count: MaybeDim = None
    if known is not None and None not in known and at_least(total, len(known)):
        count = sum(map(bool, known))
    elif known is not None and None not in known and isinstance(total, int):
        count = sum(map(bool, known[:total]))
    explain_size(place or 0, count, part_of=total)
    if place is None:
        return Tensor(input.dtype, (count,))
    return Tensor(input.dtype, (*input.shape[:place], count, *input.shape[place + 1 :]))


# --- sorted lists -----------------------------------------------------------------------------------------------------


@openvino("Bucketize", since=3, kept=True, refused_without={"output_type": "i64"})
def bucketize(data: Tensor, buckets: Tensor, *, output_type: IndexType, with_right_bound: bool = True) -> Tensor:
    """OpenVINO Bucketize-3."""
    expect_type(data, 0, ARITHMETIC)
    expect_type(buckets, 1, ARITHMETIC)
    expect_rank(buckets, 1, 1, what="buckets")
    return Tensor(INDEX_NAMES[output_type], data.shape)


@openvino("SearchSorted", since=15, kept=True, compiles=without_strings, ignores_extra_inputs=True)
def search_sorted(
    sorted_sequence: Tensor, values: Tensor, *, right_mode: bool = False, output_type: IndexType = "i64"
) -> Tensor:
    """OpenVINO SearchSorted-15."""
    common_type((sorted_sequence, values))
    expect_rank(sorted_sequence, 0, least=1)
    dtype = INDEX_NAMES[output_type]
    sequence, searched = sorted_sequence.shape, values.shape
    if sequence is None or len(sequence) == 1:
        return Tensor(dtype, searched)
    if searched is None:
        return Tensor(dtype, (*sequence[:-1], None))
    if len(sequence) != len(searched):
        raise SORTED_SEQUENCE_MISMATCH.fault(
            f"input 0 has {counted(len(sequence), 'axis', 'axes')} and input 1 has "
            f"{len(searched)}: both need the same number, unless input 0 has one axis",
            help="give both the same number of axes",
            input=1,
        )
    shape: list[MaybeDim] = []
    for axis, (a, b) in enumerate(zip(sequence[:-1], searched)):
        if not agree(a, b, f"axis {axis} is equal in the sequences and the values"):
            raise SORTED_SEQUENCE_MISMATCH.fault(
                f"axis {axis} is {a} in input 0 and {b} in input 1; all axes but the last have to be equal",
                help=f"make axis {axis} equal in both inputs",
                input=1,
                marks=((0, axis), (1, axis)),
                aligned="left",
            )
        shape.append(narrower(b, a))
    return Tensor(dtype, (*shape, searched[-1]))


without_rule("Bincount", domain=OPENVINO, help=LATER)
