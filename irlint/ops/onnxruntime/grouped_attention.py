"""Attentions of ONNX Runtime in which query heads share key heads."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, largest, product
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.nn.attention import CACHE_MISMATCH, HEADS_MISMATCH, INPUTS_MISMATCH, per_head
from irlint.ops.nn.rotary_embedding import expect_rows
from irlint.ops.onnxruntime.fused_attention import BATCH_OF_SEQUENCES, HIDDEN
from irlint.ops.shared.attributes import expect_attribute
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.shape_inputs import number
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT

CacheQuantization = Literal["NONE", "PER_TENSOR", "PER_CHANNEL"]


@group
@record
class GroupedHeads:
    """The common attributes of GroupQueryAttention, SparseAttention and PagedAttention."""

    kv_num_heads: int
    num_heads: int
    do_rotary: int = 0
    rotary_interleaved: int = 0
    scale: float | None = None


@group
@record
class CacheOptions:
    """The common attributes of GroupQueryAttention and PagedAttention."""

    k_quant_type: CacheQuantization = "NONE"
    local_window_size: int = -1
    qk_norm_epsilon: float = 1e-6
    softcap: float = 0.0
    v_quant_type: CacheQuantization = "NONE"


def _output_and_head_size(
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    *,
    heads: GroupedHeads,
    one_length: bool = False,
) -> tuple[Shape | None, MaybeDim]:
    """(shape of the output, head size). If ``one_length``, query and key must have the same length."""
    num_heads, kv_num_heads = heads.num_heads, heads.kv_num_heads
    if num_heads < 1 or kv_num_heads < 1 or num_heads % kv_num_heads:
        raise HEADS_MISMATCH.fault(
            f"`num_heads` is {num_heads} and `kv_num_heads` is {kv_num_heads}: `kv_num_heads` must divide `num_heads`",
            help="check the numbers of heads",
            attribute="kv_num_heads",
        )
    if (key is None) != (value is None):
        raise INPUTS_MISMATCH.fault(
            f"input {2 if key is None else 1} is connected, but input {1 if key is None else 2} is not: key and value "
            "must both be connected, or both be packed into the query",
            help="connect both inputs",
            input=1 if key is None else 2,
        )
    check(query, Expected(0, "query", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    if query.shape is None:
        return None, None
    batch, length, hidden = query.shape
    if key is None:
        head = per_head(
            hidden, num_heads + 2 * kv_num_heads, "the hidden size of the packed query", index=0, attribute="all heads"
        )
        return (batch, length, product((num_heads, head))), head
    head = per_head(hidden, num_heads, "the hidden size of the query", index=0)
    columns = product((kv_num_heads, head))
    for index, name, tensor in ((1, "key", key), (2, "value", value)):
        kv_length = ("sequence_length", length) if one_length else ("kv_sequence_length", None)
        axes = (("batch_size", batch), kv_length, ("kv_num_heads*head_size", columns))
        check(tensor, Expected(index, name, axes, INPUTS_MISMATCH))
    return (batch, length, hidden), head


def _cache_length(
    past_key: Tensor | None, past_value: Tensor | None, batch: MaybeDim, *, kv_num_heads: int, head: MaybeDim
) -> MaybeDim:
    """The length of the caches, inputs 3 and 4. The head size of a quantized cache is not checked: it may be packed."""
    length = narrower(size(past_key, 2, 4), size(past_value, 2, 4))
    for index, name, past in ((3, "past_key", past_key), (4, "past_value", past_value)):
        unquantized = past is not None and past.dtype in ("float32", "float16", "bfloat16")
        axes = (("batch_size", batch), ("kv_num_heads", kv_num_heads), ("cache length", length))
        check(past, Expected(index, name, (*axes, ("head_size", head if unquantized else None)), CACHE_MISMATCH))
    return length


def _expect_valid_head_size(head: MaybeDim, *, rotated: bool) -> None:
    """Raises a ``HEADS_MISMATCH`` fault for a head size that GroupQueryAttention of ONNX Runtime refuses.

    If ``rotated``, the node has a rotary embedding. Source: ``group_query_attention_helper.h`` of ONNX Runtime.
    """
    for divisor, why in ((8, "GroupQueryAttention"), *(((16, "its rotary embedding"),) if rotated else ())):
        if isinstance(head, int) and head % divisor:
            raise HEADS_MISMATCH.fault(
                f"the head size is {head}; {why} of ONNX Runtime accepts only multiples of {divisor}",
                help=f"pad the head size to {head + -head % divisor}, or use Attention of ONNX",
            )


@onnx("GroupQueryAttention", domain=MICROSOFT, macs=("grouped",))
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
    query_seqlens: Tensor | None = None,
    *,
    heads: GroupedHeads,
    options: CacheOptions,
    causal: int = 1,
    k_norm_epsilon: float | None = None,
    kv_cache_bit_width: int = 0,
    q_norm_epsilon: float | None = None,
    qk_output: int = 0,
    sliding_window_cache: int = 0,
    smooth_softmax: int = -1,
) -> tuple[Tensor, ...]:
    """com.microsoft GroupQueryAttention. A cache that is shorter than the total length grows to the total length."""
    expect_attribute(causal, 0, "causal", most=1)
    without_past = past_key is None and past_value is None
    y, head = _output_and_head_size(query, key, value, heads=heads, one_length=without_past)
    if (past_key is None) != (past_value is None):
        raise CACHE_MISMATCH.fault(
            f"input {4 if past_key is None else 3} is connected, but input {3 if past_key is None else 4} is not: "
            "past_key and past_value must both be connected, or neither",
            help=CACHE_MISMATCH.advice,
            input=3 if past_key is None else 4,
        )
    _expect_valid_head_size(head, rotated=bool(heads.do_rotary) and cos_cache is not None)
    batch = y[0] if y else None
    check(query_seqlens, Expected(16, "query_seqlens", (("batch_size", batch),), INPUTS_MISMATCH))
    past = _cache_length(past_key, past_value, batch, kv_num_heads=heads.kv_num_heads, head=head)
    total_length = number(total_sequence_length)
    if cos_cache is not None:
        expect_rows(size(cos_cache, 0, 2), total_length, "the positions of the past and the new tokens", cache=7)
    if past_key is None:
        present = narrower(total_length, size(key, 1, 3) if key is not None else size(query, 1, 3))
    else:
        present = None if total_length is None or past is None else largest(past, total_length)
    cache_head = size(past_key, 3, 4) if past_key is not None else head
    cache = (batch, heads.kv_num_heads, present, cache_head)
    dtype = past_key.dtype if past_key is not None else query.dtype
    scores = (batch, heads.num_heads, y[1] if y else None, total_length)
    return (
        Tensor(query.dtype, y),
        Tensor(dtype, cache),
        Tensor(past_value.dtype if past_value is not None else query.dtype, cache),
        Tensor(query.dtype, scores),
    )


@onnx("SparseAttention", domain=MICROSOFT, macs=("unknown",))
def sparse_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    *others: Tensor,
    heads: GroupedHeads,
    sparse_block_size: int,
) -> tuple[Tensor, ...]:
    """com.microsoft SparseAttention. The caches keep their shape."""
    y, head = _output_and_head_size(query, key, value, heads=heads)
    batch = y[0] if y else None
    length = _cache_length(past_key, past_value, batch, kv_num_heads=heads.kv_num_heads, head=head)
    cache = Tensor(query.dtype, (batch, heads.kv_num_heads, length, head))
    return Tensor(query.dtype, y), cache, cache


@onnx("PagedAttention", domain=MICROSOFT, macs=("unknown",))
def paged_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    key_cache: Tensor | None = None,
    value_cache: Tensor | None = None,
    *others: Tensor,
    heads: GroupedHeads,
    options: CacheOptions,
    is_causal: int = 1,
    k_cache_dtype: str = "",
    kv_cache_layout: str = "SEPARATE",
    rotary_offset: int = 0,
    v_cache_dtype: str = "",
    v_head_size: int = 0,
) -> tuple[Tensor, ...]:
    """com.microsoft PagedAttention: [token_count, hidden_size]. The caches keep their shapes."""
    check(query, Expected(0, "query", (("token_count", None), HIDDEN), INPUTS_MISMATCH))
    hidden = size(query, 1, 2)
    if key is None and hidden is not None:
        all_heads = heads.num_heads + 2 * heads.kv_num_heads
        head = per_head(hidden, all_heads, "the packed query", index=0, attribute="all heads")
        hidden = product((heads.num_heads, head))
    if v_head_size:
        hidden = heads.num_heads * v_head_size
    caches = tuple(Tensor(x.dtype, x.shape) if x is not None else Tensor() for x in (key_cache, value_cache))
    return Tensor(query.dtype, (size(query, 0, 2), hidden)), *caches
