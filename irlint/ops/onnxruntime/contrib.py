"""Operators of ONNX Runtime for generation, gradients and other purposes, and operators of ai.onnx.preview."""

from __future__ import annotations

from irlint.dims import MaybeDim, ceildiv, floordiv, product, same
from irlint.findings.statements import agree, divides, reaches
from irlint.lazy_typing import Literal
from irlint.model import Graph
from irlint.model.tensor import Tensor, shape_text, tensor_shape
from irlint.ops import Context, onnx, without_rule
from irlint.ops.nn.attention import HEADS_MISMATCH, INPUTS_MISMATCH
from irlint.ops.shared.attributes import (
    ATTRIBUTE_OUT_OF_RANGE,
    expect_attribute,
    expect_range,
    expect_regex,
    numbered_type,
    the_one_of,
)
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.bodies import BODY_TYPES, check_input_types
from irlint.ops.shared.body_arity import check_arity
from irlint.ops.shared.expectations import Expected, check, expect_one, expect_rank
from irlint.ops.shared.operands import MATMUL_MISMATCH
from irlint.ops.shared.shape_inputs import number
from irlint.ops.shared.sizes import size
from irlint.ops.shared.windows import arranged, channel_axis, per_axis, spatial
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT, NCHWC

BlockedMode = Literal["nearest", "linear"]
BlockedCoordinates = Literal["asymmetric", "align_corners", "half_pixel"]
Metric = Literal["euclidean", "sqeuclidean"]
Strings = tuple[str, ...]


# --- generation -------------------------------------------------------------------------------------------------------


@group
@record
class Generation:
    """The common attributes of operators that generate sequences."""

    decoder: Graph
    eos_token_id: int
    pad_token_id: int
    decoder_start_token_id: int = -1
    encoder: Graph | None = None
    init_decoder: Graph | None = None
    model_type: int = 0
    no_repeat_ngram_size: int = 0
    vocab_size: int = -1

    @property
    def vocabulary(self) -> int | None:
        """The number of tokens in the vocabulary; None if it is unknown."""
        return self.vocab_size if self.vocab_size > 0 else None


def _batch_size(input_ids: Tensor) -> MaybeDim:
    expect_rank(input_ids, 0, least=2)
    return None if input_ids.shape is None else input_ids.shape[0]


@onnx("BeamSearch", domain=MICROSOFT)
def beam_search(
    input_ids: Tensor,
    max_length: Tensor,
    min_length: Tensor | None = None,
    num_beams: Tensor | None = None,
    num_return_sequences: Tensor | None = None,
    length_penalty: Tensor | None = None,
    *others: Tensor,
    generation: Generation,
    early_stopping: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """com.microsoft BeamSearch-1: sequences, the score of each sequence, and the scores of every step."""
    names = ("max_length", "min_length", "num_beams", "num_return_sequences")
    for index, (name, tensor) in enumerate(zip(names, (max_length, min_length, num_beams, num_return_sequences)), 1):
        expect_one(tensor, index, name)
    batch = _batch_size(input_ids)
    returned = number(num_return_sequences)
    scores_of_steps = (None, batch, number(num_beams), generation.vocabulary)
    score_type = length_penalty.dtype if length_penalty is not None else "float32"
    return (
        Tensor("int32", (batch, returned, number(max_length))),
        Tensor(score_type, (batch, returned)),
        Tensor(score_type, scores_of_steps),
    )


@onnx("GreedySearch", domain=MICROSOFT)
def greedy_search(
    input_ids: Tensor,
    max_length: Tensor,
    *others: Tensor,
    generation: Generation,
) -> Tensor:
    """com.microsoft GreedySearch-1: sequences [batch, max_length]."""
    expect_one(max_length, 1, "max_length")
    return Tensor("int32", (_batch_size(input_ids), number(max_length)))


@onnx("Sampling", domain=MICROSOFT)
def sampling(
    input_ids: Tensor,
    max_length: Tensor,
    *others: Tensor,
    custom: int = 0,
    generation: Generation,
    filter_value: float = -1e20,
    min_tokens_to_keep: int = 0,
    presence_penalty: float = 0.0,
    temperature: float = 1.0,
    top_p: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """com.microsoft Sampling-1: sequences [batch, max_length], and filtered logits [batch, vocabulary]."""
    expect_one(max_length, 1, "max_length")
    batch = _batch_size(input_ids)
    logits = Tensor("float32", (batch, generation.vocabulary))
    return Tensor("int32", (batch, number(max_length))), logits


@onnx("NGramRepeatBlock", domain=MICROSOFT)
def ngram_repeat_block(input_ids: Tensor, scores: Tensor, *, ngram_size: int) -> Tensor:
    """com.microsoft NGramRepeatBlock-1: the scores, with -infinity for tokens that would repeat an n-gram."""
    expect_attribute(ngram_size, 1, "ngram_size")
    return Tensor(scores.dtype, scores.shape)


@onnx("Tokenizer", domain=MICROSOFT)
def tokenizer(
    x: Tensor,
    *,
    mark: int,
    mincharnum: int,
    pad_value: str,
    separators: Strings | None = None,
    tokenexp: str | None = None,
) -> Tensor:
    """com.microsoft Tokenizer-1: the tokens of each string, on a new last axis."""
    expect_rank(x, 0, 1, 2)
    expect_attribute(mincharnum, 1, "mincharnum")
    if separators is None and tokenexp is None:
        the_one_of(separators=separators, tokenexp=tokenexp)
    if tokenexp is not None and separators is None:
        expect_regex(tokenexp, "tokenexp", least=1)
    if separators == ():
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            "attribute `separators` is an empty list; ONNX Runtime needs at least one expression",
            help='write an expression, or an empty string ([""]) for one token per character',
            attribute="separators",
        )
    for separator in separators or ():
        expect_regex(separator, "separators")
    if separators == ("",) and mincharnum > 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `mincharnum` is {mincharnum} and the only separator is empty: every token is one character",
            help="write 1, or separators that are not empty",
            attribute="mincharnum",
        )
    if x.shape is None:
        return Tensor("string")
    # If the input is empty, ONNX Runtime adds no axis.
    if any(same(dim, 0) for dim in x.shape):
        return Tensor("string", x.shape)
    return Tensor("string", (*x.shape, None))


# --- ai.onnx.preview --------------------------------------------------------------------------------------------------


@onnx("FlexAttention", since=1, domain="ai.onnx.preview", macs=("dot_product", "q", "k"))
def flex_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    prob_mod: Graph | None = None,
    scale: float | None = None,
    score_mod: Graph | None = None,
    softmax_precision: int | None = None,
    context: Context,
) -> Tensor:
    """ai.onnx.preview FlexAttention-1. ``score_mod`` and ``prob_mod`` keep the shape of the scores."""
    batch, heads, length, head = (size(q, axis, 4) for axis in range(4))
    key_heads, key_length = size(k, 1, 4), size(k, 2, 4)
    lengths = (("kv_num_heads", key_heads), ("kv_sequence_length", key_length))
    query = (("batch_size", batch), ("q_num_heads", heads), ("q_sequence_length", length), ("head_size", head))
    check(q, Expected(0, "Q", query, INPUTS_MISMATCH))
    check(k, Expected(1, "K", (("batch_size", batch), *lengths, ("the head_size of Q", head)), INPUTS_MISMATCH))
    check(v, Expected(2, "V", (("batch_size", batch), *lengths, ("v_head_size", size(v, 3, 4))), INPUTS_MISMATCH))
    if isinstance(key_heads, int) and key_heads > 0 and not divides(key_heads, heads, "query heads share key heads"):
        raise HEADS_MISMATCH.fault(
            f"the query has {heads} heads and the key has {key_heads}: {heads} is not a multiple of {key_heads}",
            help="use a number of key heads that divides the number of query heads",
            input=1,
        )
    dtype = "float64" if q.dtype == "float64" else "float32"
    if softmax_precision is not None:
        dtype = numbered_type(softmax_precision, context, "softmax_precision")
    scores = Tensor(dtype, (batch, heads, length, key_length))
    for name, body in (("score_mod", score_mod), ("prob_mod", prob_mod)):
        if body is not None:
            _check_modifier(name, body, scores, context=context)
    return Tensor(q.dtype, (batch, heads, length, size(v, 3, 4)))


def _check_modifier(name: str, body: Graph, scores: Tensor, *, context: Context) -> None:
    check_arity(body, name, 1, outputs=1, context=context, why="the scores", node="")
    check_input_types(body, name, (scores,))
    after = context.run(body, (scores,))[0]
    known = tensor_shape(after)
    assert scores.shape is not None
    why = f"`{name}` keeps the shape of the scores"
    if known is None or (len(known) == 4 and all(agree(a, b, why) for a, b in zip(known, scores.shape))):
        return
    raise BODY_TYPES.fault(
        f"`{name}` returns {shape_text(known)} for the scores {shape_text(scores.shape)}: it must keep the shape",
        help=f"change only the values in `{name}`, not the shape",
        attribute=name,
    )


# --- gradients --------------------------------------------------------------------------------------------------------


@onnx("SoftmaxGrad", "LogSoftmaxGrad", "SoftmaxGrad_13", "LogSoftmaxGrad_13", domain=MICROSOFT)
@onnx("SoftmaxGrad")
def softmax_grad(dy: Tensor, y: Tensor, *, axis: int = 1, description: str = "") -> Tensor:
    """com.microsoft SoftmaxGrad-1 and similar gradients. ``y`` is the output of Softmax or LogSoftmax."""
    return Tensor(dy.dtype, dy.shape if y.shape is None else y.shape)


@onnx("GeluGrad", "FastGeluGrad", "QuickGeluGrad", "ReluGrad", "SigmoidGrad", "TanhGrad", domain=MICROSOFT)
@onnx("GeluGrad")
def activation_grad(dy: Tensor, x: Tensor, *, alpha: float = 1.702, description: str = "") -> Tensor:
    """com.microsoft GeluGrad-1 and similar gradients. The output has the shape of ``x``."""
    return Tensor(dy.dtype, dy.shape if x.shape is None else x.shape)


@onnx("LayerNormalizationGrad", domain=MICROSOFT)
@onnx("LayerNormalizationGrad")
def layer_normalization_grad(
    dy: Tensor,
    x: Tensor,
    *more: Tensor,
    axis: int = -1,
    description: str = "",
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:
    """com.microsoft LayerNormalizationGrad-1: the gradients of X, scale and bias."""
    dx = Tensor(dy.dtype, dy.shape if x.shape is None else x.shape)
    if dx.shape is None:
        return dx, Tensor(dy.dtype), Tensor(dy.dtype)
    of_parameter = Tensor(dy.dtype, dx.shape[axis_of(axis, len(dx.shape), input=1) :])
    return dx, of_parameter, of_parameter


@onnx("SoftmaxCrossEntropyLossGrad", domain=MICROSOFT)
def softmax_cross_entropy_loss_grad(
    dy: Tensor,
    log_prob: Tensor,
    label: Tensor | None = None,
    weight: Tensor | None = None,
    *,
    description: str = "",
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """com.microsoft SoftmaxCrossEntropyLossGrad-1. If ``dy`` is omitted, ``log_prob`` is input 0."""
    if label is None:
        return Tensor(dy.dtype, dy.shape)
    return Tensor(log_prob.dtype, log_prob.shape)


@onnx("SGD")
def sgd(w: Tensor, dw: Tensor, *, description: str = "", lr: float = 0.01) -> Tensor:
    """SGD, a step of stochastic gradient descent that exporters of training graphs write."""
    return Tensor(w.dtype, w.shape)


# --- other operators of com.microsoft ---------------------------------------------------------------------------------


@onnx("ComplexMul", "ComplexMulConj", domain=MICROSOFT)
def complex_multiplication(a: Tensor, b: Tensor) -> Tensor:
    """com.microsoft ComplexMul-1 and ComplexMulConj-1."""
    return Tensor(a.dtype, a.shape if a.shape == b.shape else None)


@onnx("SampleOp", domain=MICROSOFT)
def sample_op(x: Tensor) -> Tensor:
    """com.microsoft SampleOp-1."""
    return Tensor(x.dtype, x.shape)


@onnx("MurmurHash3", domain=MICROSOFT)
def murmur_hash(x: Tensor, *, positive: int = 1, seed: int = 0) -> Tensor:
    """com.microsoft MurmurHash3-1."""
    return Tensor("uint32" if positive else "int32", x.shape)


@onnx("CDist", domain=MICROSOFT, late=True)
def cdist(a: Tensor, b: Tensor, *, metric: Metric = "sqeuclidean") -> Tensor:
    """com.microsoft CDist-1: [M, K] distances between the rows of [M, N] and [K, N]."""
    expect_rank(a, 0, 2)
    expect_rank(b, 1, 2)
    columns = None if a.shape is None else a.shape[1]
    check(b, Expected(1, "B", (("rows", None), ("columns of A", columns)), MATMUL_MISMATCH))
    return Tensor(a.dtype, (a.shape[0] if a.shape else None, b.shape[0] if b.shape else None))


@onnx("TorchEmbedding", domain=MICROSOFT)
def torch_embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: Tensor | None = None,
    scale_grad_by_freq: Tensor | None = None,
) -> Tensor:
    """com.microsoft TorchEmbedding-1: a row of ``weight`` for each index."""
    expect_rank(weight, 0, 2)
    columns = None if weight.shape is None else weight.shape[1]
    return Tensor(weight.dtype, None if indices.shape is None else (*indices.shape, columns))


@onnx("UnfoldTensor", domain=MICROSOFT)
def unfold_tensor(input: Tensor, *, dim: int = -1, size: int, step: int = 1) -> Tensor:
    """com.microsoft UnfoldTensor-1: the windows of axis ``dim``, on a new last axis."""
    if size < 1 or step < 1:
        name, value = ("size", size) if size < 1 else ("step", step)
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{name}` is {value}; expected at least 1", help="use 1 or more", attribute=name
        )
    if input.shape is None:
        return Tensor(input.dtype)
    axis = axis_of(dim, len(input.shape), "dim")
    length = input.shape[axis]
    if not reaches(length, size, f"axis {axis} has a window of {size} elements"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `size` is {size} and axis {axis} of input 0 is {length}: a window must not exceed the axis",
            help=f"use at most {length}",
            attribute="size",
        )
    windows = None if length is None else floordiv(length - size, step) + 1
    return Tensor(input.dtype, (*input.shape[:axis], windows, *input.shape[axis + 1 :], size))


@onnx("DynamicTimeWarping", domain=MICROSOFT)
def dynamic_time_warping(input: Tensor) -> Tensor:
    """com.microsoft DynamicTimeWarping-1: a path [2, steps]."""
    return Tensor("int32", (2, None))


@onnx("BifurcationDetector", domain=MICROSOFT)
def bifurcation_detector(
    src_tokens: Tensor,
    cur_tokens: Tensor,
    prev_suffix_match_idx: Tensor,
    pred_tokens: Tensor | None = None,
    *,
    max_ngram_size: int = 3,
    min_ngram_size: int = 1,
) -> tuple[Tensor, Tensor]:
    """com.microsoft BifurcationDetector-1: a list of tokens, and an index."""
    return Tensor("int64", (None,)), Tensor("int64", ())


@onnx("WordConvEmbedding", domain=MICROSOFT, macs=("embedded_words",))
def word_conv_embedding(
    sequence: Tensor,
    w: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    char_embedding_size: int = -1,
    conv_window_size: int = -1,
    embedding_size: int = -1,
) -> Tensor:
    """com.microsoft WordConvEmbedding-1: an embedding for each word."""
    width = w.shape[0] if w.shape else None
    return Tensor(w.dtype, None if sequence.shape is None else (*sequence.shape[:1], width))


without_rule("ATen", help="export the model again without the fallback to ATen: the node calls an operator of PyTorch")


# --- channels in blocks -----------------------------------------------------------------------------------------------


#: The possible numbers of channels in a block. The processor determines the number.
_BLOCK_SIZES = (8, 16)


@onnx("ReorderInput", domain=NCHWC)
def reorder_input(X: Tensor, *, channels_last: int = 0) -> Tensor:
    """com.microsoft.nchwc ReorderInput: rounds the number of channels up to a multiple of the block size.

    The number is None if it differs between processors.
    """
    x = X.shape
    if x is None or len(x) < 2:
        return Tensor(X.dtype)
    first = 1 if channels_last else 2
    channels = x[channel_axis(len(x), first)]
    rounded = {block * ceildiv(channels, block) for block in _BLOCK_SIZES} if isinstance(channels, int) else {None}
    return Tensor(X.dtype, arranged(x[0], rounded.pop() if len(rounded) == 1 else None, spatial(x, first)))


@onnx("ReorderOutput", domain=NCHWC)
def reorder_output(X: Tensor, *, channels: int = 0, channels_last: int = 0) -> Tensor:
    """com.microsoft.nchwc ReorderOutput: the first ``channels`` channels, no longer in blocks."""
    expect_range((channels,), 1, "channels")
    if X.shape is None or len(X.shape) < 2:
        return Tensor(X.dtype)
    return Tensor(X.dtype, arranged(X.shape[0], channels, X.shape[2:], first=1 if channels_last else 2))


@onnx("Upsample", domain=NCHWC)
def nchwc_upsample(
    X: Tensor,
    *,
    scales: Ints,
    mode: BlockedMode = "nearest",
    coordinate_transformation_mode: BlockedCoordinates = "asymmetric",
) -> Tensor:
    """com.microsoft.nchwc Upsample by integer factors, one for each axis."""
    if mode == "nearest" and coordinate_transformation_mode != "asymmetric":
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `coordinate_transformation_mode` is {coordinate_transformation_mode}; in mode nearest, it "
            "must be asymmetric",
            help="remove `coordinate_transformation_mode`",
            attribute="coordinate_transformation_mode",
        )
    if any(scales[axis : axis + 1] not in ((), (1,)) for axis in (0, 1)):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `scales` is {list(scales)}; batch and channels must keep their size",
            help="write 1 for the first two axes",
            attribute="scales",
        )
    if X.shape is None:
        return Tensor(X.dtype)
    per_axis(scales, len(X.shape), "scales")
    expect_range(scales, 1, "scales")
    return Tensor(X.dtype, tuple(product((dim, scale)) for dim, scale in zip(X.shape, scales)))
