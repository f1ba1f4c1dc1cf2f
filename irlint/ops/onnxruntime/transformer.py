"""Operators of ONNX Runtime for transformers, except attention: embeddings, experts, positions and padding."""

from __future__ import annotations

from irlint.dims import MaybeDim, floordiv, product, total
from irlint.findings.faults import Severity
from irlint.findings.statements import divides, reaches, warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.nn.attention import FUSED_MISMATCH, HEADS_MISMATCH, INPUTS_MISMATCH, per_head
from irlint.ops.nn.normalization import expect_epsilon
from irlint.ops.nn.rotary_embedding import check_positions, check_rows, expect_rows
from irlint.ops.onnxruntime.fused_attention import BATCH_OF_SEQUENCES, HIDDEN
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.shape_inputs import number
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT


@onnx("RotaryEmbedding", domain=MICROSOFT)
def ms_rotary_embedding(
    input: Tensor,
    position_ids: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    *,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Tensor:
    """com.microsoft RotaryEmbedding. Axis 1 of both tables is half as long as the rotated part of a head."""
    expect_attribute(num_heads, 0, "num_heads")
    expect_attribute(rotary_embedding_dim, 0, "rotary_embedding_dim")
    if input.rank not in (None, 3, 4):
        check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    if rotary_embedding_dim > 0 and num_heads == 0:
        raise HEADS_MISMATCH.fault(
            "`rotary_embedding_dim` is present without `num_heads`; ONNX Runtime needs both",
            help="write `num_heads`",
            attribute="rotary_embedding_dim",
        )
    half = _rotated_half(input, cos_cache, num_heads, rotary_embedding_dim=rotary_embedding_dim)
    axes = (("max_sequence_length", size(cos_cache, 0, 2)), ("half of the rotated size", half))
    check(cos_cache, Expected(2, "cos_cache", axes, FUSED_MISMATCH))
    check(sin_cache, Expected(3, "sin_cache", axes, FUSED_MISMATCH))
    rows = size(cos_cache, 0, 2)
    if not is_packed_batching:
        _check_shape_of_positions(input, position_ids)
        check_rows(input, rows, position_ids, index=1, cache=2)
    length, first = size(input, -2, input.rank or 0), number(position_ids)
    if position_ids.rank in (0, 1) and first is not None:
        expect_rows(rows, total((first, length)), f"the positions from {first} on", cache=2)
    return Tensor(input.dtype, input.shape)


def _rotated_half(input: Tensor, cos_cache: Tensor, num_heads: int, *, rotary_embedding_dim: int) -> MaybeDim:
    """The expected size of axis 1 of the tables; the size of ``cos_cache`` if the inputs do not determine one."""
    width = size(cos_cache, 1, 2)
    if input.shape is None or (input.rank == 4 and rotary_embedding_dim):
        return width
    if input.rank == 4:
        return floordiv(input.shape[3], 2) if input.shape[3] is not None else width
    hidden = input.shape[2]
    if num_heads > 0:
        head = per_head(hidden, num_heads, "the hidden size", index=0)
        if rotary_embedding_dim:
            return rotary_embedding_dim // 2
        return width if head is None else floordiv(head, 2)
    if isinstance(width, int) and width > 0 and not divides(2 * width, hidden, "the head size divides the hidden size"):
        raise FUSED_MISMATCH.fault(
            f"axis 1 of input 2 (cos_cache) is {width}, so the head size is {2 * width}; the hidden size of input 0 is "
            f"{hidden}, which is not a multiple of {2 * width}",
            help="give axis 1 of the tables half of the head size",
            input=2,
            marks=((2, 1),),
            aligned="left",
        )
    return width


def _check_shape_of_positions(input: Tensor, position_ids: Tensor) -> None:
    """Checks that ``position_ids`` holds one first position for all sequences, or a position for each token."""
    if position_ids.rank is None or input.shape is None:
        return
    if position_ids.rank < 2:
        axes: tuple[tuple[str, MaybeDim], ...] = (("the first position", 1),) * position_ids.rank
    else:
        axes = (("batch_size", input.shape[0]), ("sequence_length", input.shape[-2]))
    check(position_ids, Expected(1, "position_ids", axes, FUSED_MISMATCH))


@onnx("GemmaRotaryEmbedding", domain=MICROSOFT)
def gemma_rotary_embedding(emb: Tensor, q: Tensor, q_rot: Tensor, k: Tensor, k_rot: Tensor) -> tuple[Tensor, Tensor]:
    """com.microsoft GemmaRotaryEmbedding."""
    return Tensor(q.dtype, q.shape), Tensor(k.dtype, k.shape)


# --- embeddings, experts and positions --------------------------------------------------------------------------------


@onnx("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(
    input_ids: Tensor,
    segment_ids: Tensor | None = None,
    word_embedding: Tensor | None = None,
    position_embedding: Tensor | None = None,
    segment_embedding: Tensor | None = None,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 1,
) -> tuple[Tensor, ...]:
    """com.microsoft EmbedLayerNormalization: the embedding, a mask index, and the sum that is normalized."""
    expect_epsilon(epsilon)
    tables = ((2, "word_embedding", word_embedding), (3, "position_embedding", position_embedding))
    dtype = word_embedding.dtype if word_embedding is not None else None
    outputs = _embedded(
        dtype,
        input_ids,
        segment_ids,
        tables=(*tables, (4, "segment_embedding", segment_embedding)),
        gamma=gamma,
        beta=beta,
    )
    length = size(input_ids, 1, 2)
    for index, ids, table in ((0, input_ids, 2), (1, segment_ids, 4), (8, position_ids, 3)):
        rows = size((word_embedding, position_embedding, segment_embedding)[table - 2], 0, 2)
        if ids is not None:
            check_positions(ids, index, rows, table=table)
        elif index == 8:
            expect_rows(rows, length, "the positions of a sequence", cache=table)
    return outputs


@onnx("QEmbedLayerNormalization", domain=MICROSOFT)
def q_embed_layer_normalization(
    input_ids: Tensor,
    segment_ids: Tensor | None = None,
    word_embedding_quant: Tensor | None = None,
    position_embedding_quant: Tensor | None = None,
    segment_embedding: Tensor | None = None,
    gamma_quant: Tensor | None = None,
    beta_quant: Tensor | None = None,
    *others: Tensor,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    """com.microsoft QEmbedLayerNormalization: the embedding, and a mask index."""
    tables = (
        (2, "word_embedding_quant", word_embedding_quant),
        (3, "position_embedding_quant", position_embedding_quant),
        (4, "segment_embedding", segment_embedding),
    )
    return _embedded("float32", input_ids, segment_ids, tables=tables, gamma=gamma_quant, beta=beta_quant)[:2]


def _embedded(
    dtype: str | None,
    ids: Tensor,
    segments: Tensor | None,
    *,
    tables: tuple[tuple[int, str, Tensor | None], ...],
    gamma: Tensor | None,
    beta: Tensor | None,
) -> tuple[Tensor, ...]:
    """(embedding [batch, sequence, hidden], mask index, sum that is normalized)."""
    batch, length = size(ids, 0, 2), size(ids, 1, 2)
    sequence_axes = (("batch_size", batch), ("sequence_length", length))
    check(ids, Expected(0, "input_ids", sequence_axes, INPUTS_MISMATCH))
    check(segments, Expected(1, "segment_ids", sequence_axes, INPUTS_MISMATCH))
    hidden = narrower(*(size(table, 1, 2) for _, _, table in tables))
    for index, name, table in tables:
        check(table, Expected(index, name, (("rows", None), ("hidden_size", hidden)), FUSED_MISMATCH))
    for index, name, vector in ((5, "gamma", gamma), (6, "beta", beta)):
        check(vector, Expected(index, name, (("hidden_size", hidden),), FUSED_MISMATCH))
    y = Tensor(dtype, (batch, length, hidden))
    return y, Tensor("int32", (batch,)), y


ExpertActivation = Literal["relu", "gelu", "silu", "swiglu", "identity"]


@group
@record
class Mixture:
    """The common attributes of MoE and QMoE."""

    activation_alpha: float = 1.0
    activation_beta: float = 0.0
    activation_type: ExpertActivation = "relu"
    k: int = 1
    normalize_routing_weights: int = 0
    swiglu_fusion: int = 0
    swiglu_limit: float | None = None
    swiglu_limit_after_activation: int = 0
    use_sparse_mixer: int = 0


@group
@record
class QuantizedExperts:
    """The attributes of QMoE for quantized weights."""

    accuracy_level: int = 0
    block_size: int = 0
    expert_weight_bits: int = 4
    fc1_expert_weight_bits: int | None = None
    fc2_expert_weight_bits: int | None = None
    fc3_expert_weight_bits: int | None = None
    quant_type: str = "int"
    weights_prepacked: int = -1


@onnx("MoE", domain=MICROSOFT, macs=("experts",))
def mixture_of_experts(
    input: Tensor,
    router_probs: Tensor,
    fc1_experts_weights: Tensor,
    *others: Tensor,
    mixture: Mixture,
) -> Tensor:
    """com.microsoft MoE."""
    _check_mixture(input, router_probs, mixture)
    return Tensor(input.dtype, input.shape)


@onnx("QMoE", domain=MICROSOFT, macs=("experts", 3))
def quantized_mixture_of_experts(
    input: Tensor,
    router_probs: Tensor,
    fc1_experts_weights: Tensor,
    *others: Tensor,
    mixture: Mixture,
    quantized: QuantizedExperts,
) -> Tensor:
    """com.microsoft QMoE."""
    _check_mixture(input, router_probs, mixture)
    return Tensor(input.dtype, input.shape)


def _check_mixture(input: Tensor, router_probs: Tensor, mixture: Mixture) -> None:
    _warn_of_limit_after_activation(mixture.swiglu_limit_after_activation)
    _expect_k_experts(router_probs, mixture.k)
    tokens = product(input.shape[:-1]) if input.shape else None
    check(router_probs, Expected(1, "router_probs", (("tokens", tokens), ("experts", None)), INPUTS_MISMATCH))


def _warn_of_limit_after_activation(swiglu_limit_after_activation: int) -> None:
    if swiglu_limit_after_activation == 0:
        return
    warn(
        ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `swiglu_limit_after_activation` is {swiglu_limit_after_activation}; by the specification, 1 "
            "needs CUDA, and on the CPU, ONNX Runtime refuses every value but 0",
            help="write 0 to run the model on the CPU",
            attribute="swiglu_limit_after_activation",
            severity=Severity.WARNING,
        )
    )


def _expect_k_experts(router_probs: Tensor, k: int) -> None:
    expect_attribute(k, 1, "k")
    experts = size(router_probs, 1, 2)
    if not reaches(experts, k, "there are at least k experts"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `k` is {k}, but axis 1 of input 1, the number of experts, is {experts}",
            help=f"choose at most {experts} experts",
            attribute="k",
        )


@onnx("RelativePositionBias", domain=MICROSOFT, may_be_external={"query_length": None, "key_length": None})
def relative_position_bias(
    bias_table: Tensor, query_length: Tensor, key_length: Tensor, *, is_bidirectional: int = 0, max_distance: int
) -> Tensor:
    """com.microsoft RelativePositionBias: [1, heads, query length, key length] from ``bias_table`` [buckets, heads]."""
    check(bias_table, Expected(0, "bias_table", (("buckets", None), ("num_heads", None)), FUSED_MISMATCH))
    shape = (1, size(bias_table, 1, 2), number(query_length), number(key_length))
    return Tensor(bias_table.dtype, shape)


@onnx("GatedRelativePositionBias", domain=MICROSOFT)
def gated_relative_position_bias(
    query_layer: Tensor,
    query_bias: Tensor,
    rel_pos: Tensor,
    weight: Tensor,
    bias: Tensor,
    eco_a: Tensor,
    token_offset: Tensor | None = None,
    *,
    num_heads: int,
) -> Tensor:
    """com.microsoft GatedRelativePositionBias: [batch, heads, length, length].

    If ``token_offset`` is present, the tokens of ``query_layer`` are packed.
    """
    source, rank = (token_offset, 2) if token_offset is not None else (query_layer, 3)
    batch, length = size(source, 0, rank), size(source, 1, rank)
    axes = (("1", None), ("num_heads", num_heads), ("sequence_length", length), ("sequence_length", length))
    check(rel_pos, Expected(2, "rel_pos", axes, FUSED_MISMATCH))
    return Tensor(query_layer.dtype, (batch, num_heads, length, length))


@onnx("RemovePadding", domain=MICROSOFT)
def remove_padding(input: Tensor, sequence_token_count: Tensor) -> tuple[Tensor, ...]:
    """com.microsoft RemovePadding: tokens, offsets of tokens, offsets of sequences, and the maximum length."""
    check(input, Expected(0, "input", BATCH_OF_SEQUENCES, INPUTS_MISMATCH))
    batch, length = size(input, 0, 3), size(input, 1, 3)
    return (
        Tensor(input.dtype, (None, size(input, 2, 3))),
        Tensor("int32", (batch, length)),
        Tensor("int32", (total((batch, 1)),)),
        Tensor("int32", (1,)),
    )


@onnx("RestorePadding", domain=MICROSOFT)
def restore_padding(input: Tensor, token_offset: Tensor) -> Tensor:
    """com.microsoft RestorePadding: [batch, sequence, hidden] from [tokens, hidden]."""
    check(input, Expected(0, "input", (("tokens", None), HIDDEN), INPUTS_MISMATCH))
    axes = (("batch_size", None), ("sequence_length", None))
    check(token_offset, Expected(1, "token_offset", axes, INPUTS_MISMATCH))
    return Tensor(input.dtype, (size(token_offset, 0, 2), size(token_offset, 1, 2), size(input, 1, 2)))
