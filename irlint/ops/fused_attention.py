"""The fused attentions of ONNX Runtime (domain com.microsoft)."""

from __future__ import annotations

from irlint.diagnostics import agree
from irlint.dims import MaybeDim, Shape, floordiv, largest, product, same, total
from irlint.ops import onnx
from irlint.ops.attention import (
    CACHE_MISMATCH,
    FUSED_MISMATCH,
    HEADS_MISMATCH,
    INPUTS_MISMATCH,
    MASK_MISMATCH,
    per_head,
)
from irlint.ops.attribute_values import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.axes import Ints
from irlint.ops.expected import Expected, check, first_known, scalar_dim, size
from irlint.tensor import Tensor, shape_text

MS = "com.microsoft"

HIDDEN = ("hidden_size", None)
BATCH_OF_SEQUENCES = (("batch_size", None), ("sequence_length", None), HIDDEN)


def _sizes_of_three(bias: MaybeDim, qkv_hidden_sizes: Ints | None, num_heads: int) -> tuple[MaybeDim, MaybeDim]:
    """The hidden sizes of query and value that a projection to ``bias`` columns gives."""
    if not qkv_hidden_sizes:
        hidden = None if bias is None else floordiv(bias, 3)
        per_head(hidden, num_heads, "a third of the columns of the weights", 1)
        return hidden, hidden
    if len(qkv_hidden_sizes) != 3 or qkv_hidden_sizes[0] != qkv_hidden_sizes[1]:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`qkv_hidden_sizes` is {list(qkv_hidden_sizes)}; expected are three sizes, the first two of them equal",
            help="write the hidden sizes of query, key and value",
            attribute="qkv_hidden_sizes",
        )
    for hidden in qkv_hidden_sizes:
        per_head(hidden, num_heads, "a hidden size in `qkv_hidden_sizes`", 1)
    whole = sum(qkv_hidden_sizes)
    if not agree(bias, whole, "the hidden sizes cover the columns of the weights"):
        raise FUSED_MISMATCH.fault(
            f"the weights have {bias} columns and `qkv_hidden_sizes` is {list(qkv_hidden_sizes)}, which is {whole} in all",
            help="let the three sizes add up to the columns of the weights",
            input=1,
        )
    return qkv_hidden_sizes[0], qkv_hidden_sizes[2]


def _projected(
    x: Tensor, weights: Tensor, bias: Tensor | None, sizes: Ints | None, num_heads: int, rank: int = 3
) -> tuple[MaybeDim, MaybeDim]:
    """The hidden sizes of query and value, after making sure that input, weights and bias fit."""
    axes = BATCH_OF_SEQUENCES if rank == 3 else (("token_count", None), HIDDEN)
    check(x, Expected(0, "input", axes, INPUTS_MISMATCH))
    columns = first_known(size(weights, 1, 2), size(bias, 0, 1))
    rows = ("input hidden size", size(x, rank - 1, rank))
    check(weights, Expected(1, "weights", (rows, ("3*hidden_size", columns)), FUSED_MISMATCH))
    check(bias, Expected(2, "bias", (("columns of the weights", columns),), FUSED_MISMATCH))
    return _sizes_of_three(columns, sizes, num_heads)


def _present(x: Tensor, past: Tensor | None, index: int, num_heads: int, hidden: MaybeDim, shared: int) -> Shape:
    """The keys and values [2, batch, heads, total length, head size] that an attention gives on."""
    batch, length = size(x, 0, 3), size(x, 1, 3)
    head = per_head(hidden, num_heads, "the hidden size", 0)
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
    return (2, batch, num_heads, past_length if shared else total((past_length, length)), head)


@onnx("Attention", domain=MS)
def ms_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    *,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    past_present_share_buffer: int = 0,
    qkv_hidden_sizes: Ints | None = None,
    rotary_embedding_dim: int = 0,
    scale: float | None = None,
    unidirectional: int = 0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft Attention: the projection of the input to query, key and value, and their attention."""
    hidden, value_hidden = _projected(input, weights, bias, qkv_hidden_sizes, num_heads)
    present = _present(input, past, 4, num_heads, hidden, past_present_share_buffer)
    if past is None or not past_present_share_buffer:
        _expect_mask(mask_index, 3, "mask_index", (size(input, 0, 3), size(input, 1, 3), present[3]), twice=True)
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(input.dtype, y), Tensor(input.dtype, present)


def _expect_mask(
    mask: Tensor | None,
    index: int,
    name: str,
    sizes: tuple[MaybeDim, MaybeDim, MaybeDim],
    *,
    twice: bool = False,
    others: tuple[MaybeDim, ...] = (),
) -> None:
    """Makes sure that a mask of one to three axes has one of the shapes that ONNX Runtime reads.

    ``sizes`` are batch, length and total length; ``others`` further lengths of the keys. ``twice`` tells that the mask
    may hold two numbers for each sequence, or a single column, which is not looked at.
    """
    if mask is None or mask.shape is None or not 1 <= len(mask.shape) <= 3:
        return
    batch, length, total_length = sizes
    allowed: list[Shape] = [(batch,), (total((product((3, batch)), 2)),), (batch, total_length), sizes]
    allowed += [(batch, other) for other in others]
    if twice:
        allowed += [(product((2, batch)),), (1, 1), (batch, 1)]
    shapes = [shape for shape in allowed if len(shape) == len(mask.shape)]
    if any(all(same(own, dim) is not False for own, dim in zip(mask.shape, shape)) for shape in shapes):
        return
    raise MASK_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(mask.shape)}; allowed is {' or '.join(map(shape_text, shapes))}: the batch "
        f"is {batch}, the queries are {length} long and the keys {total_length}",
        help=f"give {name} one of these shapes",
        input=index,
    )


@onnx("DecoderMaskedSelfAttention", domain=MS)
def decoder_masked_self_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    beam_width: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    *,
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    past_present_share_buffer: int = 0,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """com.microsoft DecoderMaskedSelfAttention: one step of a decoder."""
    hidden, value_hidden = _projected(input, weights, bias, None, num_heads)
    present = _present(input, past, 4, num_heads, hidden, 1)
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(input.dtype, y), Tensor(input.dtype, present)


@onnx("QAttention", domain=MS)
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
    do_rotary: int = 0,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    past_present_share_buffer: int = 0,
    scale: float | None = None,
    unidirectional: int = 0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft QAttention: Attention with quantized input and weights."""
    hidden, value_hidden = _projected(input, weight, bias, None, num_heads)
    present = _present(input, past, 8, num_heads, hidden, past_present_share_buffer)
    y = (size(input, 0, 3), size(input, 1, 3), value_hidden)
    return Tensor(bias.dtype, y), Tensor(bias.dtype, present)


@onnx("PackedAttention", domain=MS)
def packed_attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor,
    token_offset: Tensor,
    cumulative_sequence_length: Tensor,
    attention_bias: Tensor | None = None,
    *,
    num_heads: int,
    qkv_hidden_sizes: Ints | None = None,
    scale: float | None = None,
) -> Tensor:
    """com.microsoft PackedAttention: Attention of [token_count, hidden_size], all sequences in one."""
    _, value_hidden = _projected(input, weights, bias, qkv_hidden_sizes, num_heads, rank=2)
    return Tensor(input.dtype, (size(input, 0, 2), value_hidden))


@onnx("QOrderedAttention", domain=MS)
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
    scale_qkt_gemm: Tensor | None = None,
    scale_qkt_softmax: Tensor | None = None,
    scale_values_gemm: Tensor | None = None,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    *,
    num_heads: int,
    order_input: int,
    order_output: int,
    order_weight: int,
    qkv_hidden_sizes: Ints | None = None,
    unidirectional: int = 0,
) -> Tensor:
    """com.microsoft QOrderedAttention: quantized, the weights of query, key and value apart."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    hidden = qkv_hidden_sizes[2] if qkv_hidden_sizes and len(qkv_hidden_sizes) == 3 else size(v_bias, 0, 1)
    per_head(hidden, num_heads, "the hidden size of the value", 7)
    return Tensor(input.dtype, (size(input, 0, 3), size(input, 1, 3), hidden))


@onnx("QOrderedLongformerAttention", domain=MS)
def q_ordered_longformer_attention(
    input: Tensor,
    scale_input: Tensor,
    weight: Tensor,
    scale_weight: Tensor,
    bias: Tensor,
    scale_bias: Tensor,
    scale_qkv_gemm: Tensor,
    mask: Tensor,
    global_weight: Tensor,
    scale_global_weight: Tensor,
    global_bias: Tensor,
    scale_global_gemm: Tensor,
    global_: Tensor,
    scale_output: Tensor,
    *,
    num_heads: int,
    order_global_weight: int,
    order_input: int,
    order_output: int,
    order_weight: int,
    window: int,
) -> Tensor:
    """com.microsoft QOrderedLongformerAttention: the shape of the input."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    per_head(size(input, 2, 3), num_heads, "the hidden size", 0)
    return Tensor(input.dtype, input.shape)


@onnx("LongformerAttention", domain=MS)
def longformer_attention(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    mask: Tensor,
    global_weight: Tensor,
    global_bias: Tensor,
    global_: Tensor,
    *,
    num_heads: int,
    window: int,
) -> Tensor:
    """com.microsoft LongformerAttention: the shape of the input."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    per_head(size(input, 2, 3), num_heads, "the hidden size", 0)
    return Tensor(input.dtype, input.shape)


# --- query, key and value apart ---------------------------------------------------------------------------------------


@onnx("MultiHeadAttention", domain=MS)
def multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    key_padding_mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft MultiHeadAttention; query, key and value may be packed into the query, key and value into the key."""
    shared = past_sequence_length is not None
    outputs = _multi_head(query, key, value, past_key, past_value, 6, num_heads, packed=1, shared=shared)
    scores = outputs[3].shape
    if not shared and scores is not None:
        batch, _, length, total_length = scores
        lengths = () if past_key is None else (size(key, 1, 3),)
        _expect_mask(key_padding_mask, 4, "key_padding_mask", (batch, length, total_length), others=lengths)
    return outputs


@onnx("DecoderMaskedMultiHeadAttention", domain=MS)
def decoder_masked_multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    mask_index: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    beam_width: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    output_qk: int = 0,
    past_present_share_buffer: int = 0,
    scale: float | None = None,
) -> tuple[Tensor, ...]:
    """com.microsoft DecoderMaskedMultiHeadAttention; without a key the query holds all three side by side."""
    packed = 3 if key is None and query.rank == 3 else 1
    shared = bool(past_present_share_buffer)
    return _multi_head(query, key, value, past_key, past_value, 5, num_heads, packed=packed, shared=shared)


def _multi_head(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    past_key: Tensor | None,
    past_value: Tensor | None,
    past_index: int,
    num_heads: int,
    *,
    packed: int,
    shared: bool,
) -> tuple[Tensor, ...]:
    """Output, present key, present value and scores; ``packed`` blocks stand side by side in a query of three axes."""
    batch, length, hidden = _query_axes(query, num_heads, packed)
    head = per_head(hidden, num_heads, "the hidden size of the query", 0)
    keys = _key_length(key, batch, length, hidden, num_heads, head)
    value_hidden = _value_hidden(value, batch, keys, hidden)
    past = None
    for index, name, tensor in ((past_index, "past_key", past_key), (past_index + 1, "past_value", past_value)):
        axes = (("batch_size", batch), ("num_heads", num_heads), ("past_sequence_length", past), ("head_size", None))
        check(tensor, Expected(index, name, axes, CACHE_MISMATCH))
        past = first_known(past, size(tensor, 2, 4))
    whole = past if shared and past_key is not None else total((past, keys)) if past_key is not None else keys
    value_head = per_head(value_hidden, num_heads, "the hidden size of the value", 2)
    y = None if query.shape is None else (batch, length, value_hidden)
    scores = whole if not shared else None
    return (
        Tensor(query.dtype, y),
        Tensor(query.dtype, (batch, num_heads, whole, head)),
        Tensor(query.dtype, (batch, num_heads, whole, value_head)),
        Tensor(query.dtype, (batch, num_heads, length, scores)),
    )


def _query_axes(query: Tensor, num_heads: int, packed: int) -> tuple[MaybeDim, MaybeDim, MaybeDim]:
    """Batch, length and hidden size of a query, which has five axes where key and value are packed into it."""
    if query.shape is None:
        return None, None, None
    if len(query.shape) == 5:
        axes = (
            ("batch_size", None),
            ("sequence_length", None),
            ("num_heads", num_heads),
            ("3", 3),
            ("head_size", None),
        )
        check(query, Expected(0, "query", axes, INPUTS_MISMATCH))
        return query.shape[0], query.shape[1], product((num_heads, query.shape[4]))
    check(query, Expected(0, "query", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    hidden = query.shape[2]
    return query.shape[0], query.shape[1], floordiv(hidden, packed) if hidden is not None else None


def _key_length(
    key: Tensor | None, batch: MaybeDim, length: MaybeDim, hidden: MaybeDim, num_heads: int, head: MaybeDim
) -> MaybeDim:
    """The length of the key: [batch, length, hidden], [batch, heads, length, head] or packed with the value."""
    if key is None:
        return length
    if key.shape is None:
        return None
    axes = {
        4: (("batch_size", batch), ("num_heads", num_heads), ("kv_sequence_length", None), ("head_size", head)),
        5: (
            ("batch_size", batch),
            ("kv_sequence_length", None),
            ("num_heads", num_heads),
            ("2", 2),
            ("head_size", head),
        ),
    }.get(len(key.shape), (("batch_size", batch), ("kv_sequence_length", None), ("hidden_size", hidden)))
    check(key, Expected(1, "key", axes, INPUTS_MISMATCH))
    return key.shape[2] if len(key.shape) == 4 else key.shape[1]


def _value_hidden(value: Tensor | None, batch: MaybeDim, keys: MaybeDim, hidden: MaybeDim) -> MaybeDim:
    if value is None:
        return hidden
    if value.shape is None:
        return None
    if len(value.shape) == 4:
        check(
            value,
            Expected(
                2,
                "value",
                (("batch_size", batch), ("num_heads", None), ("kv_sequence_length", keys), ("head_size", None)),
                INPUTS_MISMATCH,
            ),
        )
        return product((value.shape[1], value.shape[3]))
    axes = (("batch_size", batch), ("kv_sequence_length", keys), ("v_hidden_size", None))
    check(value, Expected(2, "value", axes, INPUTS_MISMATCH))
    return value.shape[2]


@onnx("PackedMultiHeadAttention", domain=MS)
def packed_multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    token_offset: Tensor | None = None,
    cumulative_sequence_length: Tensor | None = None,
    attention_bias: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
    scale: float | None = None,
) -> Tensor:
    """com.microsoft PackedMultiHeadAttention: [token_count, hidden_size], or [token_count, num_heads, 3, head_size]."""
    tokens = query.shape[0] if query.shape else None
    if query.rank == 4:
        axes = (("token_count", None), ("num_heads", num_heads), ("3", 3), ("head_size", None))
        check(query, Expected(0, "query", axes, INPUTS_MISMATCH))
        return Tensor(query.dtype, (tokens, product((num_heads, size(query, 3, 4)))))
    check(query, Expected(0, "query", (("token_count", None), HIDDEN), INPUTS_MISMATCH))
    hidden = size(query, 1, 2) if value is None else size(value, 1, 2)
    return Tensor(query.dtype, (tokens, hidden))


@onnx("DecoderAttention", domain=MS)
def decoder_attention(
    query: Tensor,
    key: Tensor,
    q_weight: Tensor,
    kv_weight: Tensor,
    bias: Tensor,
    key_padding_mask: Tensor | None = None,
    key_cache: Tensor | None = None,
    value_cache: Tensor | None = None,
    static_kv: Tensor | None = None,
    use_past: Tensor | None = None,
    has_layer_state: Tensor | None = None,
    has_key_padding_mask: Tensor | None = None,
    *,
    mask_filter_value: float = -10000.0,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """com.microsoft DecoderAttention: query and key are [sequence, batch, hidden]; the caches grow as the flags say."""
    axes = (("sequence_length", None), ("batch_size", None), HIDDEN)
    check(query, Expected(0, "query", axes, INPUTS_MISMATCH))
    head = per_head(size(query, 2, 3), num_heads, "the hidden size", 0)
    cache = Tensor(query.dtype, (size(query, 1, 3), num_heads, None, head))
    return Tensor(query.dtype, query.shape), cache, cache


# --- grouped queries --------------------------------------------------------------------------------------------------


def _grouped(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    num_heads: int,
    kv_num_heads: int,
    one_length: bool = False,
) -> tuple[Shape | None, MaybeDim]:
    """The shape of the output and the head size, after making sure that query, key and value fit.

    ``one_length`` tells that the key has to be as long as the query.
    """
    if num_heads < 1 or kv_num_heads < 1 or num_heads % kv_num_heads:
        raise HEADS_MISMATCH.fault(
            f"`num_heads` is {num_heads} and `kv_num_heads` is {kv_num_heads}: the second has to divide the first",
            help="check the numbers of heads",
            attribute="kv_num_heads",
        )
    if (key is None) != (value is None):
        raise INPUTS_MISMATCH.fault(
            "key and value have to be given both, or neither where they are packed into the query",
            help="connect both inputs",
            input=1 if key is None else 2,
        )
    check(query, Expected(0, "query", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    if query.shape is None:
        return None, None
    batch, length, hidden = query.shape
    if key is None:
        head = per_head(hidden, num_heads + 2 * kv_num_heads, "the hidden size of the packed query", 0, "all heads")
        return (batch, length, product((num_heads, head))), head
    head = per_head(hidden, num_heads, "the hidden size of the query", 0)
    columns = product((kv_num_heads, head))
    for index, name, tensor in ((1, "key", key), (2, "value", value)):
        kv_length = ("sequence_length", length) if one_length else ("kv_sequence_length", None)
        axes = (("batch_size", batch), kv_length, ("kv_num_heads*head_size", columns))
        check(tensor, Expected(index, name, axes, INPUTS_MISMATCH))
    return (batch, length, hidden), head


def _cache_length(
    past_key: Tensor | None, past_value: Tensor | None, batch: MaybeDim, kv_num_heads: int, head: MaybeDim
) -> MaybeDim:
    """The length of the caches at inputs 3 and 4; a quantized cache may pack the head size."""
    length = first_known(size(past_key, 2, 4), size(past_value, 2, 4))
    for index, name, past in ((3, "past_key", past_key), (4, "past_value", past_value)):
        plain = past is not None and past.dtype in ("float32", "float16", "bfloat16")
        axes = (("batch_size", batch), ("kv_num_heads", kv_num_heads), ("cache length", length))
        check(past, Expected(index, name, (*axes, ("head_size", head if plain else None)), CACHE_MISMATCH))
    return length


@onnx("GroupQueryAttention", domain=MS)
def group_query_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    seqlens_k: Tensor | None = None,
    total_sequence_length: Tensor | None = None,
    cos_cache: Tensor | None = None,
    sin_cache: Tensor | None = None,
    position_ids: Tensor | None = None,
    attention_bias: Tensor | None = None,
    head_sink: Tensor | None = None,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    q_norm_weight: Tensor | None = None,
    k_norm_weight: Tensor | None = None,
    *,
    causal: int = 1,
    do_rotary: int = 0,
    k_quant_type: str = "NONE",
    kv_cache_bit_width: int = 0,
    kv_num_heads: int,
    local_window_size: int = -1,
    num_heads: int,
    qk_norm_epsilon: float = 1e-6,
    qk_output: int = 0,
    rotary_interleaved: int = 0,
    scale: float | None = None,
    sliding_window_cache: int = 0,
    smooth_softmax: int = -1,
    softcap: float = 0.0,
    v_quant_type: str = "NONE",
) -> tuple[Tensor, ...]:
    """com.microsoft GroupQueryAttention: the caches grow to the total length where they are shorter."""
    alone = past_key is None and past_value is None
    y, head = _grouped(query, key, value, num_heads, kv_num_heads, one_length=alone)
    if (past_key is None) != (past_value is None):
        raise CACHE_MISMATCH.fault(
            "past_key and past_value have to be given both or neither",
            help=CACHE_MISMATCH.advice,
            input=3 if past_key is None else 4,
        )
    batch = y[0] if y else None
    past = _cache_length(past_key, past_value, batch, kv_num_heads, head)
    whole = scalar_dim(total_sequence_length)
    if past_key is None:
        present = first_known(whole, size(key, 1, 3) if key is not None else size(query, 1, 3))
    else:
        present = None if whole is None or past is None else largest(past, whole)
    packed = size(past_key, 3, 4) if past_key is not None else head
    cache = (batch, kv_num_heads, present, packed)
    dtype = past_key.dtype if past_key is not None else query.dtype
    scores = (batch, num_heads, y[1] if y else None, whole)
    return (
        Tensor(query.dtype, y),
        Tensor(dtype, cache),
        Tensor(past_value.dtype if past_value is not None else query.dtype, cache),
        Tensor(query.dtype, scores),
    )


@onnx("SparseAttention", domain=MS)
def sparse_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    block_row_indices: Tensor | None = None,
    block_col_indices: Tensor | None = None,
    total_sequence_length: Tensor | None = None,
    key_total_sequence_lengths: Tensor | None = None,
    cos_cache: Tensor | None = None,
    sin_cache: Tensor | None = None,
    *,
    do_rotary: int = 0,
    kv_num_heads: int,
    num_heads: int,
    rotary_interleaved: int = 0,
    scale: float | None = None,
    sparse_block_size: int,
) -> tuple[Tensor, ...]:
    """com.microsoft SparseAttention: the caches keep their shape."""
    y, head = _grouped(query, key, value, num_heads, kv_num_heads)
    batch = y[0] if y else None
    length = _cache_length(past_key, past_value, batch, kv_num_heads, head)
    cache = Tensor(query.dtype, (batch, kv_num_heads, length, head))
    return Tensor(query.dtype, y), cache, cache


@onnx("PagedAttention", domain=MS)
def paged_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    key_cache: Tensor | None = None,
    value_cache: Tensor | None = None,
    cumulative_sequence_length: Tensor | None = None,
    past_seqlens: Tensor | None = None,
    block_table: Tensor | None = None,
    cos_cache: Tensor | None = None,
    sin_cache: Tensor | None = None,
    slot_mapping: Tensor | None = None,
    head_sink: Tensor | None = None,
    q_norm_weight: Tensor | None = None,
    k_norm_weight: Tensor | None = None,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    attention_metadata: Tensor | None = None,
    *,
    do_rotary: int = 0,
    is_causal: int = 1,
    k_cache_dtype: str = "",
    k_quant_type: str = "NONE",
    kv_cache_layout: str = "SEPARATE",
    kv_num_heads: int,
    local_window_size: int = -1,
    num_heads: int,
    qk_norm_epsilon: float = 1e-6,
    rotary_interleaved: int = 0,
    rotary_offset: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    v_cache_dtype: str = "",
    v_head_size: int = 0,
    v_quant_type: str = "NONE",
) -> tuple[Tensor, ...]:
    """com.microsoft PagedAttention: [token_count, hidden_size]; the caches keep their shapes."""
    check(query, Expected(0, "query", (("token_count", None), HIDDEN), INPUTS_MISMATCH))
    hidden = size(query, 1, 2)
    if key is None and hidden is not None:
        hidden = product(
            (num_heads, per_head(hidden, num_heads + 2 * kv_num_heads, "the packed query", 0, "all heads"))
        )
    if v_head_size:
        hidden = num_heads * v_head_size
    caches = tuple(Tensor(x.dtype, x.shape) if x is not None else Tensor() for x in (key_cache, value_cache))
    return Tensor(query.dtype, (size(query, 0, 2), hidden)), *caches
