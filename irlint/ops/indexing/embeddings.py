"""OpenVINO's EmbeddingBag, EmbeddingSegments, SegmentMax and SparseFillEmptyRows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from irlint.dims import MaybeDim, Shape, at_least
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree
from irlint.findings.wording import counted, size_help
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import OPENVINO, Context, openvino, without_rule
from irlint.ops.shared.broadcast import merged
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, without_strings
from irlint.ops.shared.element_types import INDEX_TYPES, common_type, expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE, IndexedAxis, out_of_range
from irlint.ops.shared.shape_inputs import number

_FILL = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="v" type="Parameter" version="opset1"><data shape="4" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>4</dim></port></output></layer>
<layer id="1" name="d" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output>\
<port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="2" name="i" type="Parameter" version="opset1"><data shape="ROWS,2" element_type="i64"/><output>\
<port id="0" precision="I64"><dim>ROWS</dim><dim>2</dim></port></output></layer>
<layer id="3" name="z" type="Parameter" version="opset1"><data shape="" element_type="f32"/><output>\
<port id="0" precision="FP32"/></output></layer>
<layer id="4" name="fill" type="SparseFillEmptyRows" version="opset16"><input><port id="0"/><port id="1"/>\
<port id="2"/><port id="3"/></input><output><port id="4" precision="I64"><dim>-1</dim><dim>2</dim></port>\
<port id="5" precision="FP32"><dim>-1</dim></port><port id="6" precision="BOOL"><dim>-1</dim></port></output></layer>
<layer id="5" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="4" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="4" to-port="1"/>\
<edge from-layer="2" from-port="0" to-layer="4" to-port="2"/>\
<edge from-layer="3" from-port="0" to-layer="4" to-port="3"/>\
<edge from-layer="4" from-port="4" to-layer="5" to-port="0"/>
</edges></net>"""

SPARSE_ROWS_MISMATCH = Rule(
    "IRL351",
    "sparse-rows-mismatch",
    Severity.ERROR,
    "The shapes of the values, the indices and the dense shape of sparse rows contradict each other.",
    why="OpenVINO requires a [row, column] pair for each value, and a dense shape with two entries.",
    fix="Use indices of shape [n, 2] for n values, and a dense shape with two entries.",
    bad=_FILL.replace("ROWS", "5"),
    good=_FILL.replace("ROWS", "4"),
)

_BAGS = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="t" type="Parameter" version="opset1"><data shape="10,4" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>10</dim><dim>4</dim></port></output></layer>
<layer id="1" name="i" type="Parameter" version="opset1"><data shape="3,2" element_type="i64"/><output>\
<port id="0" precision="I64"><dim>3</dim><dim>2</dim></port></output></layer>
<layer id="2" name="w" type="Parameter" version="opset1"><data shape="3,COUNT" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>3</dim><dim>COUNT</dim></port></output></layer>
<layer id="3" name="bags" type="EmbeddingBagPackedSum" version="opset3"><input><port id="0"/><port id="1"/>\
<port id="2"/></input><output><port id="3" precision="FP32"><dim>3</dim><dim>4</dim></port></output></layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>\
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>\
<edge from-layer="3" from-port="3" to-layer="4" to-port="0"/>
</edges></net>"""

SEGMENTS_MISMATCH = Rule(
    "IRL352",
    "embedding-segments-mismatch",
    Severity.ERROR,
    "The indices, segments or weights of an embedding lookup or a segment reduction contradict each other.",
    why=(
        "OpenVINO requires one weight for each index and, with segments, one segment id for each index. Weights are "
        "allowed only for sums, and segment ids must be sorted."
    ),
    fix="Give the weights and the segment ids the shape of the indices.",
    bad=_BAGS.replace("COUNT", "3"),
    good=_BAGS.replace("COUNT", "2"),
)

BagReduction = Literal["sum", "mean"]


# --- embeddings -------------------------------------------------------------------------------------------------------


def _bags(table: Tensor, count: MaybeDim) -> Tensor:
    """``count`` reduced rows of ``table``. Raises an ``INPUT_RANK_REFUSED`` fault for a scalar."""
    expect_rank(table, 0, least=1)
    return Tensor(table.dtype, None if table.shape is None else (count, *table.shape[1:]))


def _length(tensor: Tensor, index: int, what: str) -> MaybeDim:
    """The length of a list. Raises an ``INPUT_RANK_REFUSED`` fault."""
    expect_rank(tensor, index, 1, what=what)
    return None if tensor.shape is None else tensor.shape[0]


def _expect_shape_of_indices(indices: Tensor, others: Sequence[tuple[int, str, Tensor | None]]) -> Shape | None:
    """The common shape of the indices and of ``others``, which has (index of the input, its name, tensor).

    Raises a ``SEGMENTS_MISMATCH`` fault.
    """
    shape = indices.shape
    for index, what, tensor in others:
        if tensor is not None:
            by_input: list[Shape | None] = [None] * (index + 1)
            by_input[1], by_input[index] = shape, tensor.shape
            shape = merged(by_input, SEGMENTS_MISMATCH, f"{what} has one entry for each index")
    return shape


def _check_weights(table: Tensor, weights: Tensor | None, index: int, *, reduction: str) -> None:
    if weights is None:
        return
    by_input: list[Tensor | None] = [None] * (index + 1)
    by_input[0], by_input[index] = table, weights
    common_type(by_input)
    if reduction != "sum":
        raise SEGMENTS_MISMATCH.fault(
            f'there are weights (input {index}), but reduction is "{reduction}": weights are allowed only for a sum',
            help="remove the weights",
            input=index,
            attribute="reduction",
        )


def _check_rows(table: Tensor, indices: Tensor) -> None:
    expect_type(indices, 1, INDEX_TYPES)
    if table.shape:
        fault = out_of_range(indices, IndexedAxis(table.shape[0], 0, negative=False), index=1)
        if fault is not None:
            raise fault


def _compiled_bags(weights: int) -> Callable[[Layer], Fault | None]:
    """The check that no input holds strings, and that indices and weights have known sizes.

    ``weights`` is the index of the input with the weights.
    """

    def refused(layer: Layer) -> Fault | None:
        if len(layer.inputs) <= weights or layer.inputs[weights] is None:
            return None
        for index in (1, weights):
            if layer.sizes(index) is None:
                return not_compiled(
                    f"a size of input {index} is dynamic, but the CPU plugin compares the sizes of indices and weights "
                    "when it compiles the model",
                    help=f"write the sizes of input {index}, or remove the weights",
                    input=index,
                )
        return None

    return first_of(without_strings, refused)


@openvino("EmbeddingBagOffsetsSum", since=3, fills_in=True, compiles=_compiled_bags(4))
def embedding_bag_offsets_sum(
    emb_table: Tensor,
    indices: Tensor,
    offsets: Tensor,
    default_index: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
) -> Tensor:
    """OpenVINO EmbeddingBagOffsetsSum-3."""
    return embedding_bag_offsets(emb_table, indices, offsets, default_index, per_sample_weights)


@openvino("EmbeddingBagOffsets", since=15, fills_in=True, compiles=_compiled_bags(4))
def embedding_bag_offsets(
    emb_table: Tensor,
    indices: Tensor,
    offsets: Tensor,
    default_index: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
    *,
    reduction: BagReduction = "sum",
) -> Tensor:
    """OpenVINO EmbeddingBagOffsets-15."""
    _length(indices, 1, "indices")
    count = _length(offsets, 2, "offsets")
    expect_rank(default_index, 3, 0, what="default_index")
    _check_rows(emb_table, indices)
    common_type((indices, offsets, default_index), first=1)
    expect_rank(per_sample_weights, 4, 1, what="per_sample_weights")
    _check_weights(emb_table, per_sample_weights, 4, reduction=reduction)
    _expect_shape_of_indices(indices, ((4, "per_sample_weights", per_sample_weights),))
    return _bags(emb_table, count)


@openvino("EmbeddingBagPackedSum", since=3, fills_in=True, compiles=_compiled_bags(2))
def embedding_bag_packed_sum(emb_table: Tensor, indices: Tensor, per_sample_weights: Tensor | None = None) -> Tensor:
    """OpenVINO EmbeddingBagPackedSum-3."""
    return embedding_bag_packed(emb_table, indices, per_sample_weights)


@openvino("EmbeddingBagPacked", since=15, fills_in=True, compiles=_compiled_bags(2))
def embedding_bag_packed(
    emb_table: Tensor,
    indices: Tensor,
    per_sample_weights: Tensor | None = None,
    *,
    reduction: BagReduction = "sum",
) -> Tensor:
    """OpenVINO EmbeddingBagPacked-15."""
    for index, what, tensor in ((1, "indices", indices), (2, "per_sample_weights", per_sample_weights)):
        expect_rank(tensor, index, 2, what=what)
    _check_rows(emb_table, indices)
    _check_weights(emb_table, per_sample_weights, 2, reduction=reduction)
    shape = _expect_shape_of_indices(indices, ((2, "per_sample_weights", per_sample_weights),))
    return _bags(emb_table, None if shape is None else shape[0])


@openvino("EmbeddingSegmentsSum", since=3, fills_in=True, compiles=_compiled_bags(5))
def embedding_segments_sum(
    emb_table: Tensor,
    indices: Tensor,
    segment_ids: Tensor,
    num_segments: Tensor,
    default_index: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
) -> Tensor:
    """OpenVINO EmbeddingSegmentsSum-3."""
    for index, what, tensor in ((1, "indices", indices), (2, "segment_ids", segment_ids)):
        _length(tensor, index, what)
    expect_rank(num_segments, 3, 0, what="num_segments")
    expect_rank(default_index, 4, 0, what="default_index")
    _check_rows(emb_table, indices)
    common_type((indices, segment_ids, num_segments, default_index), first=1)
    _check_weights(emb_table, per_sample_weights, 5, reduction="sum")
    _expect_shape_of_indices(indices, ((2, "segment_ids", segment_ids), (5, "per_sample_weights", per_sample_weights)))
    return _bags(emb_table, _at_least_0(number(num_segments)))


def _at_least_0(count: MaybeDim) -> MaybeDim:
    """The number of segments. OpenVINO reads a negative number as 0."""
    return max(count, 0) if isinstance(count, int) else count


# --- segments ---------------------------------------------------------------------------------------------------------

FillMode = Literal["zero", "lowest"]


@openvino("SegmentMax", since=16, kept=True, absent={"fill_mode": "zero"}, fills_in=True)
def segment_max(
    data: Tensor, segment_ids: Tensor, num_segments: Tensor | None = None, *, fill_mode: FillMode
) -> Tensor:
    """OpenVINO SegmentMax-16."""
    expect_type(segment_ids, 1, INDEX_TYPES)
    expect_type(num_segments, 2, INDEX_TYPES)
    expect_rank(num_segments, 2, 0, what="num_segments")
    rows = _length(segment_ids, 1, "segment_ids")
    expect_rank(data, 0, least=1)
    if data.shape is not None and not agree(data.shape[0], rows, "each row has a segment id"):
        raise SEGMENTS_MISMATCH.fault(
            f"axis 0 is {data.shape[0]} in input 0 and input 1 has {counted(rows, 'entry', 'entries')}; each row needs "
            "a segment id",
            help=f"give segment_ids {counted(data.shape[0], 'entry', 'entries')}, or {size_help(0, rows)}",
            input=1,
            marks=((0, 0), (1, 0)),
            aligned="left",
        )
    ids = segment_ids.ints
    known_ids = [entry for entry in ids or () if isinstance(entry, int)]
    if any(later < earlier for earlier, later in pairwise(known_ids)):
        raise SEGMENTS_MISMATCH.fault(
            f"input 1 is {known_ids}; segment ids have to be sorted", help="sort the rows by their segment", input=1
        )
    if num_segments is not None:
        return _bags(data, _at_least_0(number(num_segments)))
    are_all_known = ids is not None and len(known_ids) == len(ids) and bool(known_ids)
    return _bags(data, known_ids[-1] + 1 if are_all_known else None)


# --- sparse rows ------------------------------------------------------------------------------------------------------


def _sparse_fault(message: str, help: str, index: int) -> Fault:
    return SPARSE_ROWS_MISMATCH.fault(message, help=help, input=index)


@openvino("SparseFillEmptyRows", since=16)
def sparse_fill_empty_rows(
    values: Tensor, dense_shape: Tensor, indices: Tensor, default_value: Tensor, *, context: Context
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO SparseFillEmptyRows-16: (indices, values, mask of the empty rows)."""
    common_type((dense_shape, indices), first=1)
    expect_type(indices, 2, INDEX_TYPES)
    expect_rank(default_value, 3, 0, what="default_value")
    count = _length(values, 0, "values")
    expect_rank(indices, 2, 2, what="indices")
    pairs: Shape = indices.shape if indices.shape is not None else (None, None)
    if not agree(count, pairs[0], "input 2 has one pair for each value") or not agree(
        pairs[1], 2, "each pair is a row and a column"
    ):
        raise _sparse_fault(
            f"input 0 has {counted(count, 'value')} and input 2 is {shape_text(indices.shape)}; input 2 has to be "
            f"[{'number of values' if count is None else count}, 2]",
            "give each value a row and a column",
            2,
        )
    if not agree(_length(dense_shape, 1, "dense_shape"), 2, "the dense shape has rows and columns"):
        raise _sparse_fault(
            f"input 1 is {shape_text(dense_shape.shape)}; a dense shape has two entries",
            "write the number of rows and the number of columns",
            1,
        )
    dense_sizes = dense_shape.ints or (None, None)
    _check_positions(indices, dense_sizes)
    known_count = _filled_count(indices, dense_sizes[0])
    filled = context.unknown("rows") if known_count is None else known_count
    return (
        Tensor(indices.dtype, (filled, 2)),
        Tensor(values.dtype, (filled,)),
        Tensor("bool", (_mask_length(dense_sizes[0]),)),
    )


def _mask_length(rows: MaybeDim) -> MaybeDim:
    """The length of the mask. OpenVINO reads -1 as an unknown number of rows, and a smaller number as 0 rows."""
    if at_least(rows, 0) is not False:
        return rows
    return 0 if at_least(-1, rows) and rows != -1 else None


def _check_positions(indices: Tensor, dense_sizes: Sequence[MaybeDim]) -> None:
    numbers = indices.ints or ()
    for axis, what in enumerate(("row", "column")):
        limit = dense_sizes[axis]
        wrong = [n for n in numbers[axis::2] if isinstance(n, int) and isinstance(limit, int) and not 0 <= n < limit]
        if wrong:
            raise INDEX_OUT_OF_RANGE.fault(
                f"input 2 holds the {what} {wrong[0]}, and the dense shape, input 1, has {counted(limit, what)}",
                help=f"use {what}s of 0 to {limit - 1}" if limit else "remove the values",
                input=2,
            )


def _filled_count(indices: Tensor, rows: MaybeDim) -> int | None:
    """The number of values plus the number of empty rows; None if it is unknown."""
    numbers = indices.ints
    if numbers is None or not isinstance(rows, int) or any(not isinstance(entry, int) for entry in numbers):
        return None
    return len(numbers) // 2 + rows - len(set(numbers[::2]))


without_rule(
    "FillEmptyRows",
    domain=OPENVINO,
    help="write `SparseFillEmptyRows`, which is the name of this operation in OpenVINO",
)
