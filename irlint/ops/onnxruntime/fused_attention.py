"""Attentions of ONNX Runtime that project their input to query, key and value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as choices

from irlint.dims import Dim, MaybeDim, Shape, floordiv, product, same, total
from irlint.findings.statements import Relation, agree, divides, require_any
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.nn.attention import CACHE_MISMATCH, FUSED_MISMATCH, INPUTS_MISMATCH, MASK_MISMATCH, per_head
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT

HIDDEN = ("hidden_size", None)
BATCH_OF_SEQUENCES = (("batch_size", None), ("sequence_length", None), HIDDEN)


@group
@record
class MaskedHeads:
    """The attributes of the heads and of the mask."""

    num_heads: int
    mask_filter_value: float = -10000.0
    scale: float | None = None


def _hidden_sizes(columns: MaybeDim, qkv_hidden_sizes: Ints | None, num_heads: int) -> tuple[MaybeDim, MaybeDim]:
    """(hidden size of the query, hidden size of the value). ``columns`` is the number of columns of the weights."""
    if not qkv_hidden_sizes:
        if not divides(3, columns, "query, key and value have the same number of columns"):
            raise FUSED_MISMATCH.fault(
                f"the weights have {columns} columns, which is not a multiple of 3",
                help="use the same number of columns for query, key and value",
                input=1,
            )
        hidden = None if columns is None else floordiv(columns, 3)
        per_head(hidden, num_heads, "a third of the columns of the weights", index=1)
        return hidden, hidden
    if len(qkv_hidden_sizes) != 3 or qkv_hidden_sizes[0] != qkv_hidden_sizes[1]:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`qkv_hidden_sizes` is {list(qkv_hidden_sizes)}; expected three sizes, of which the first two are equal",
            help="write the hidden sizes of query, key and value",
            attribute="qkv_hidden_sizes",
        )
    for hidden in qkv_hidden_sizes:
        per_head(hidden, num_heads, "a hidden size in `qkv_hidden_sizes`", index=1)
    wanted = sum(qkv_hidden_sizes)
    if not agree(columns, wanted, "the number of columns of the weights is the sum of the hidden sizes"):
        raise FUSED_MISMATCH.fault(
            f"the weights have {columns} columns and `qkv_hidden_sizes` is {list(qkv_hidden_sizes)}, whose sum is "
            f"{wanted}",
            help="use three sizes whose sum is the number of columns of the weights",
            input=1,
        )
    return qkv_hidden_sizes[0], qkv_hidden_sizes[2]


def _projected(
    x: Tensor, weights: Tensor, bias: Tensor | None, *, sizes: Ints | None, num_heads: int, rank: int = 3
) -> tuple[MaybeDim, MaybeDim]:
    """(hidden size of the query, hidden size of the value). Checks the shapes of ``x``, ``weights`` and ``bias``.

    ``sizes`` is ``qkv_hidden_sizes``, and ``rank`` is the rank of ``x``: 2 if the tokens are packed, else 3.
    """
    axes = BATCH_OF_SEQUENCES if rank == 3 else (("token_count", None), HIDDEN)
    check(x, Expected(0, "input", axes, INPUTS_MISMATCH))
    columns = narrower(size(weights, 1, 2), size(bias, 0, 1))
    hidden = size(x, rank - 1, rank)
    if hidden is not None and weights.shape == (3 * hidden, hidden):
        raise FUSED_MISMATCH.fault(
            f"input 1 (weights) is {shape_text(weights.shape)}; expected {shape_text((hidden, 3 * hidden))}, which is "
            "the input hidden size, and the columns of query, key and value",
            help="if the weights of query, key and value are stacked on axis 0, join them along axis 1; otherwise "
            "transpose the weights",
            input=1,
            marks=((1, 0), (1, 1)),
            aligned="left",
        )
    rows = ("input hidden size", hidden)
    check(weights, Expected(1, "weights", (rows, ("3*hidden_size", columns)), FUSED_MISMATCH))
    check(bias, Expected(2, "bias", (("columns of the weights", columns),), FUSED_MISMATCH))
    return _hidden_sizes(columns, sizes, num_heads)


def _present_shape(
    x: Tensor, past: Tensor | None, index: int, *, num_heads: int, hidden: MaybeDim, share_buffer: int
) -> Shape:
    """The shape [2, batch, heads, length, head size] of the present keys and values.

    The length is that of the past and the new tokens, or with ``share_buffer`` that of the past.
    """
    batch, length = size(x, 0, 3), size(x, 1, 3)
    head = per_head(hidden, num_heads, "the hidden size", index=0)
    if past is None:
        return (2, batch, num_heads, length, head)
    past_length = size(past, 3, 5)
    axes = (
        ("2", 2),
        ("batch_size", batch),
        ("num_heads", num_heads),
        ("past_sequence_length", None),
        ("head_size", head),
    )
    check(past, Expected(index, "past", axes, CACHE_MISMATCH))
    return (2, batch, num_heads, past_length if share_buffer else total((past_length, length)), head)


@onnx("Attention", domain=MICROSOFT, macs=("projected", "weights"))
def ms_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    *,
    heads: MaskedHeads,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
    qkv_hidden_sizes: Ints | None = None,
    rotary_embedding_dim: int = 0,
    unidirectional: int = 0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft Attention: output [batch, length, v_hidden_size], and the present keys and values."""
    hidden, value_hidden = _projected(input, weights, bias, sizes=qkv_hidden_sizes, num_heads=heads.num_heads)
    present = _present_shape(
        input, past, 4, num_heads=heads.num_heads, hidden=hidden, share_buffer=past_present_share_buffer
    )
    if past is None or not past_present_share_buffer:
        expect_mask(
            mask_index, 3, "mask_index", sizes=(size(input, 0, 3), size(input, 1, 3), present[3]), attention_forms=True
        )
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(input.dtype, y), Tensor(input.dtype, present)


def expect_mask(
    mask: Tensor | None,
    index: int,
    name: str,
    *,
    sizes: tuple[MaybeDim, MaybeDim, MaybeDim],
    attention_forms: bool = False,
) -> None:
    """Checks a mask of one to three axes. Raises a ``MASK_MISMATCH`` fault.

    ``sizes`` are (batch, length of the queries, length of the keys with the past). With ``attention_forms``, further
    shapes are valid, which Attention and QAttention accept, but not MultiHeadAttention.
    """
    if mask is None or mask.shape is None or not 1 <= len(mask.shape) <= 3:
        return
    batch, length, total_length = sizes
    allowed: list[Shape] = [(batch,), (total((product((3, batch)), 2)),), (batch, total_length), sizes]
    if attention_forms:
        allowed += [(product((2, batch)),), (1, 1), (batch, 1)]
    shapes = [shape for shape in allowed if len(shape) == len(mask.shape)]
    if any(all(same(found, dim) is not False for found, dim in zip(mask.shape, shape)) for shape in shapes):
        _require_one_of(mask.shape, shapes, f"{name} has one of the shapes {' or '.join(map(shape_text, shapes))}")
        return
    raise MASK_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(mask.shape)}; allowed: {' or '.join(map(shape_text, shapes))}: the "
        f"batch size is {batch}, the length of the queries {length}, and the length of the keys {total_length}",
        help=f"give {name} one of these shapes",
        input=index,
    )


def _require_one_of(found: Shape, shapes: Sequence[Shape], why: str) -> None:
    """Adds the requirement, in conjunctive normal form, that ``found`` equals one of ``shapes``."""
    clauses: list[set[tuple[int, Dim]]] = []
    for choice in choices(*(tuple(enumerate(shape)) for shape in shapes)):
        clause = {(axis, dim) for axis, dim in choice if dim is not None and same(found[axis], dim) is not False}
        if any(dim is None or found[axis] is None for axis, dim in choice):
            continue
        if not any(same(found[axis], dim) for axis, dim in clause) and not any(other <= clause for other in clauses):
            clauses = [other for other in clauses if not clause <= other] + [clause]
    for clause in clauses:
        ordered = sorted(clause, key=lambda pair: (isinstance(pair[1], int), pair[0], str(pair[1])))
        relations = [Relation("==", size, dim) for axis, dim in ordered if (size := found[axis]) is not None]
        require_any(*relations, why=why)


@onnx("DecoderMaskedSelfAttention", domain=MICROSOFT, macs=("projected", "weights"))
def decoder_masked_self_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    *others: Tensor,
    heads: MaskedHeads,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft DecoderMaskedSelfAttention."""
    hidden, value_hidden = _projected(input, weights, bias, sizes=None, num_heads=heads.num_heads)
    present = _present_shape(input, past, 4, num_heads=heads.num_heads, hidden=hidden, share_buffer=1)
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(input.dtype, y), Tensor(input.dtype, present)


@onnx("QAttention", domain=MICROSOFT, macs=("projected", "weight"))
def q_attention(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    input_scale: Tensor,
    weight_scale: Tensor,
    mask_index: Tensor | None = None,
    input_zero_point: Tensor | None = None,
    weight_zero_point: Tensor | None = None,
    past: Tensor | None = None,
    *,
    heads: MaskedHeads,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
    unidirectional: int = 0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft QAttention: Attention with a quantized input and quantized weights."""
    hidden, value_hidden = _projected(input, weight, bias, sizes=None, num_heads=heads.num_heads)
    present = _present_shape(
        input, past, 8, num_heads=heads.num_heads, hidden=hidden, share_buffer=past_present_share_buffer
    )
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(bias.dtype, y), Tensor(bias.dtype, present)


@onnx("PackedAttention", domain=MICROSOFT, macs=("packed_projected",))
def packed_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor,
    *others: Tensor,
    num_heads: int,
    qkv_hidden_sizes: Ints | None = None,
    scale: float | None = None,
) -> Tensor:
    """com.microsoft PackedAttention: [token_count, v_hidden_size]."""
    _, value_hidden = _projected(input, weights, bias, sizes=qkv_hidden_sizes, num_heads=num_heads, rank=2)
    return Tensor(input.dtype, (size(input, 0, 2), value_hidden))


@onnx("QOrderedAttention", domain=MICROSOFT, macs=("projected_separately",))
def q_ordered_attention(
    input: Tensor,
    scale_input: Tensor,
    scale_q_gemm: Tensor,
    scale_k_gemm: Tensor,
    scale_v_gemm: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    v_weight: Tensor,
    scale_q_weight: Tensor,
    scale_k_weight: Tensor,
    scale_v_weight: Tensor,
    q_bias: Tensor,
    k_bias: Tensor,
    v_bias: Tensor,
    *others: Tensor,
    num_heads: int,
    order_input: int,
    order_output: int,
    order_weight: int,
    qkv_hidden_sizes: Ints | None = None,
    unidirectional: int = 0,
) -> Tensor:
    """com.microsoft QOrderedAttention."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    hidden = qkv_hidden_sizes[2] if qkv_hidden_sizes and len(qkv_hidden_sizes) == 3 else size(v_bias, 0, 1)
    per_head(hidden, num_heads, "the hidden size of the value", index=7)
    return Tensor(input.dtype, (size(input, 0, 3), size(input, 1, 3), hidden))


@onnx("QOrderedLongformerAttention", domain=MICROSOFT, macs=("unknown",))
def q_ordered_longformer_attention(
    input: Tensor,
    *others: Tensor,
    num_heads: int,
    order_global_weight: int,
    order_input: int,
    order_output: int,
    order_weight: int,
    window: int,
) -> Tensor:
    """com.microsoft QOrderedLongformerAttention."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    per_head(size(input, 2, 3), num_heads, "the hidden size", index=0)
    return Tensor(input.dtype, input.shape)


@onnx("LongformerAttention", domain=MICROSOFT, macs=("unknown",))
def longformer_attention(
    input: Tensor,
    *others: Tensor,
    num_heads: int,
    window: int,
) -> Tensor:
    """com.microsoft LongformerAttention."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    per_head(size(input, 2, 3), num_heads, "the hidden size", index=0)
    return Tensor(input.dtype, input.shape)
