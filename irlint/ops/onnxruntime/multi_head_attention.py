"""Attentions of ONNX Runtime with query, key and value as inputs."""

from __future__ import annotations

from irlint.dims import MaybeDim, floordiv, product, total
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.nn.attention import CACHE_MISMATCH, INPUTS_MISMATCH, per_head
from irlint.ops.onnxruntime.fused_attention import BATCH_OF_SEQUENCES, HIDDEN, MaskedHeads, expect_mask
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size
from irlint.schemas import MICROSOFT


@onnx("MultiHeadAttention", domain=MICROSOFT, macs=("multi_head",))
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
    heads: MaskedHeads,
    unidirectional: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft MultiHeadAttention. The query may include key and value, and the key may include the value."""
    share_buffer = past_sequence_length is not None
    outputs = _multi_head(
        query,
        key,
        value,
        past_key=past_key,
        past_value=past_value,
        past_index=6,
        num_heads=heads.num_heads,
        blocks=1,
        share_buffer=share_buffer,
    )
    hidden, value_hidden = size(query, 2, 3), size(outputs[0], 2, 3)
    length_of_bias = total((hidden, hidden, value_hidden))
    check(bias, Expected(3, "bias", (("2 * hidden_size + v_hidden_size", length_of_bias),), INPUTS_MISMATCH))
    scores = outputs[3].shape
    if not share_buffer and scores is not None:
        batch, _, length, total_length = scores
        expect_mask(key_padding_mask, 4, "key_padding_mask", sizes=(batch, length, total_length))
    return outputs


@onnx("DecoderMaskedMultiHeadAttention", domain=MICROSOFT, macs=("multi_head",))
def decoder_masked_multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    mask_index: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *others: Tensor,
    heads: MaskedHeads,
    output_qk: int = 0,
    past_present_share_buffer: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft DecoderMaskedMultiHeadAttention. Without a key, the query includes key and value."""
    blocks = 3 if key is None and query.rank == 3 else 1
    share_buffer = bool(past_present_share_buffer)
    return _multi_head(
        query,
        key,
        value,
        past_key=past_key,
        past_value=past_value,
        past_index=5,
        num_heads=heads.num_heads,
        blocks=blocks,
        share_buffer=share_buffer,
    )


def _multi_head(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    *,
    past_key: Tensor | None,
    past_value: Tensor | None,
    past_index: int,
    num_heads: int,
    blocks: int,
    share_buffer: bool,
) -> tuple[Tensor, ...]:
    """(output, present key, present value, scores).

    ``blocks`` is 3 if the last axis of a query with three axes contains query, key and value; 1 for a query alone."""
    batch, length, hidden = _query_axes(query, num_heads, blocks)
    head = per_head(hidden, num_heads, "the hidden size of the query", index=0)
    keys = _key_length(key, batch, length, hidden=hidden, num_heads=num_heads, head=head)
    value_hidden = _value_hidden_size(value, batch, keys, hidden=hidden)
    past = None
    for index, name, tensor in ((past_index, "past_key", past_key), (past_index + 1, "past_value", past_value)):
        axes = (("batch_size", batch), ("num_heads", num_heads), ("past_sequence_length", past), ("head_size", None))
        check(tensor, Expected(index, name, axes, CACHE_MISMATCH))
        past = narrower(past, size(tensor, 2, 4))
    present = keys
    if past_key is not None:
        present = past if share_buffer else total((past, keys))
    value_head = per_head(value_hidden, num_heads, "the hidden size of the value", index=2)
    y = None if query.shape is None else (batch, length, value_hidden)
    scores = present if not share_buffer else None
    return (
        Tensor(query.dtype, y),
        Tensor(query.dtype, (batch, num_heads, present, head)),
        Tensor(query.dtype, (batch, num_heads, present, value_head)),
        Tensor(query.dtype, (batch, num_heads, length, scores)),
    )


def _query_axes(query: Tensor, num_heads: int, blocks: int) -> tuple[MaybeDim, MaybeDim, MaybeDim]:
    """(batch size, length, hidden size) of the query."""
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
    return query.shape[0], query.shape[1], floordiv(hidden, blocks) if hidden is not None else None


def _key_length(
    key: Tensor | None, batch: MaybeDim, length: MaybeDim, *, hidden: MaybeDim, num_heads: int, head: MaybeDim
) -> MaybeDim:
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


def _value_hidden_size(value: Tensor | None, batch: MaybeDim, keys: MaybeDim, *, hidden: MaybeDim) -> MaybeDim:
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


@onnx("PackedMultiHeadAttention", domain=MICROSOFT, macs=("packed_heads",))
def packed_multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    *others: Tensor,
    heads: MaskedHeads,
) -> Tensor:
    """com.microsoft PackedMultiHeadAttention. A query of four axes includes key and value."""
    tokens = query.shape[0] if query.shape else None
    if query.rank == 4:
        axes = (("token_count", None), ("num_heads", heads.num_heads), ("3", 3), ("head_size", None))
        check(query, Expected(0, "query", axes, INPUTS_MISMATCH))
        return Tensor(query.dtype, (tokens, product((heads.num_heads, size(query, 3, 4)))))
    check(query, Expected(0, "query", (("token_count", None), HIDDEN), INPUTS_MISMATCH))
    hidden = size(query, 1, 2) if value is None else size(value, 1, 2)
    return Tensor(query.dtype, (tokens, hidden))


@onnx("DecoderAttention", domain=MICROSOFT, macs=("unknown",))
def decoder_attention(
    query: Tensor,
    key: Tensor,
    *others: Tensor,
    mask_filter_value: float = -10000.0,
    num_heads: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """com.microsoft DecoderAttention. The length of the caches is unknown, because boolean inputs determine it."""
    axes = (("sequence_length", None), ("batch_size", None), HIDDEN)
    check(query, Expected(0, "query", axes, INPUTS_MISMATCH))
    head = per_head(size(query, 2, 3), num_heads, "the hidden size", index=0)
    cache = Tensor(query.dtype, (size(query, 1, 3), num_heads, None, head))
    return Tensor(query.dtype, query.shape), cache, cache
