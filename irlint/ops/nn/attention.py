"""Attention of ONNX, and the rules and checks that all attention operators share."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, MaybeDim, Shape, floordiv, product, same, total
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Relation, agree, divides, reaches, require_any, warn
from irlint.findings.wording import FEW, counted, either, that_divides
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.broadcast import broadcast
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size

HEADS_MISMATCH = Rule(
    "IRL380",
    "attention-heads-mismatch",
    Severity.ERROR,
    "The numbers of heads are missing, or do not divide the hidden sizes or each other.",
    why=(
        "If the inputs have three axes, the last axis contains all heads. The number of heads must then be known and "
        "must divide the size of this axis. With grouped queries, the number of key heads must divide the number of "
        "query heads. Runtimes refuse any other node. GroupQueryAttention of ONNX Runtime also refuses head sizes "
        "that are not a multiple of 8, or of 16 with a rotary embedding."
    ),
    fix="Set the numbers of heads, and check that head size times heads is the hidden size.",
    bad="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,4,10] q, float[2,6,10] k, float[2,6,10] v) => (float[2,4,10] y) { y = Attention <q_num_heads = 3, \
kv_num_heads = 3> (q, k, v) }""",
    good="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,4,12] q, float[2,6,12] k, float[2,6,12] v) => (float[2,4,12] y) { y = Attention <q_num_heads = 3, \
kv_num_heads = 3> (q, k, v) }""",
)

INPUTS_MISMATCH = Rule(
    "IRL381",
    "attention-inputs-mismatch",
    Severity.ERROR,
    "The sizes of the query, key and value of an attention contradict each other.",
    why=(
        "The query is multiplied with the key, so both need the same head size. Key and value need the same length. "
        "All three need the same batch. Otherwise, runtimes refuse the node."
    ),
    fix=(
        "Check the order of the axes (batch, heads, length, head size), and check that key and value come from the "
        "same sequence."
    ),
    bad="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,5] k, float[2,3,6,8] v) => (float[2,3,4,8] y) { y = Attention (q, k, v) }""",
    good="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v) => (float[2,3,4,8] y) { y = Attention (q, k, v) }""",
)

MASK_MISMATCH = Rule(
    "IRL382",
    "attention-mask-mismatch",
    Severity.ERROR,
    "The mask or bias of an attention cannot be broadcast to its scores.",
    why=(
        "The scores have the shape [batch, heads, query length, key length]. The mask is broadcast to this shape, so "
        "each of its sizes must be equal or 1. Otherwise, runtimes refuse the node."
    ),
    fix="Use the query length and the key length as the last two axes of the mask.",
    bad="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[5,6] m) => (float[2,3,4,8] y) { y = Attention (q, k, \
v, m) }""",
    good="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[4,6] m) => (float[2,3,4,8] y) { y = Attention (q, k, \
v, m) }""",
)

CACHE_MISMATCH = Rule(
    "IRL383",
    "attention-cache-mismatch",
    Severity.ERROR,
    "The shapes of an attention's past keys and values contradict its inputs, or only one of the two is connected.",
    why=(
        "Past keys and past values have the shape [batch, heads, length, head size], with the numbers of heads and the "
        "head sizes of key and value. Runtimes refuse a node with only past keys or only past values."
    ),
    fix="Connect both inputs, with the batch, the number of heads and the head size of key and value.",
    bad="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[2,5,7,8] pk, float[2,5,7,8] pv) => (float[2,3,4,8] y, \
float[2,3,13,8] nk, float[2,3,13,8] nv) {
  y, nk, nv = Attention (q, k, v, , pk, pv)
}""",
    good="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[2,3,7,8] pk, float[2,3,7,8] pv) => (float[2,3,4,8] y, \
float[2,3,13,8] nk, float[2,3,13,8] nv) {
  y, nk, nv = Attention (q, k, v, , pk, pv)
}""",
)

FUSED_MISMATCH = Rule(
    "IRL384",
    "transformer-input-mismatch",
    Severity.ERROR,
    "A table or weight of a transformer operator does not have the shape that the other inputs require.",
    why=(
        "Projection weights must fit the input that is multiplied by them. Embedding tables and rotary tables must fit "
        "the input that reads their rows. Runtimes refuse other shapes, most of them only when the node runs."
    ),
    fix="Give the input the shape in the message.",
    bad="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] x, float[50,8] c, float[50,8] s, int64[2,4] p) => (float[2,3,4,8] y) { y = RotaryEmbedding (x, c, \
s, p) }""",
    good="""<ir_version: 11, opset_import: ["" : 23]>
g (float[2,3,4,8] x, float[50,4] c, float[50,4] s, int64[2,4] p) => (float[2,3,4,8] y) { y = RotaryEmbedding (x, c, \
s, p) }""",
)


def per_head(
    hidden: MaybeDim, heads: int, what: str, *, index: int, attribute: str = "num_heads", advice: str = ""
) -> MaybeDim:
    """The size of a head: ``hidden`` divided by the number of heads.

    ``what`` is the name of ``hidden`` in the message. If ``advice`` is not empty, it is the help.
    Raises a ``HEADS_MISMATCH`` or ``ATTRIBUTE_OUT_OF_RANGE`` fault.
    """
    if heads < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`{attribute}` is {heads}; expected at least 1", help="write the number of heads", attribute=attribute
        )
    if hidden is None:
        return None
    if not divides(heads, hidden, f"{what} is divided into {heads} heads"):
        raise HEADS_MISMATCH.fault(
            f"{what} (input {index}) is {hidden}, and `{attribute}` is {heads}: {hidden} is not a multiple of {heads}",
            help=advice or _help_for_heads(hidden, heads, attribute),
            input=index,
        )
    return floordiv(hidden, heads)


def _help_for_heads(hidden: MaybeDim, heads: int, attribute: str) -> str:
    if not isinstance(hidden, int) or hidden < 1:
        return f"use a `{attribute}` that divides the hidden size"
    return f"use a `{attribute}` {that_divides(hidden, heads)}, or a hidden size that {heads} divides"


def require_heads(heads: int | None, attribute: str) -> int:
    """The number of heads. Raises a ``HEADS_MISMATCH`` fault if it is missing."""
    if heads is None:
        raise HEADS_MISMATCH.fault(
            f"`{attribute}` is missing: inputs with three axes require the number of heads",
            help=f"write `{attribute}`, or give the inputs four axes",
        )
    return heads


def broadcast_under(rule: Rule, shapes: Sequence[Shape | None], text: str, *, index: int) -> Shape | None:
    """The shape to which ``shapes`` are broadcast. Raises a fault of ``rule``; its message begins with ``text``."""
    try:
        return broadcast(shapes)
    except Fault as fault:
        raise rule.fault(f"{text}: {fault.message.rpartition(': ')[2]}", help=rule.advice, input=index) from None


def equal(a: MaybeDim, b: MaybeDim, rule: Rule, *, text: str, index: int, why: str) -> MaybeDim:
    """The more precise one of two sizes that must be equal. Raises a fault of ``rule`` with the message ``text``."""
    if agree(a, b, why):
        return narrower(a, b)
    raise rule.fault(text, help=rule.advice, input=index)


# --- ONNX -------------------------------------------------------------------------------------------------------------


@onnx("Attention", since=23, macs=("attention",))
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX Attention-23 and later. Query, key and value have four axes, or three with all heads on the last axis."""
    if (past_key is None) != (past_value is None):
        connected, missing = (4, "past_value") if past_value is None else (5, "past_key")
        raise CACHE_MISMATCH.fault(
            f"input {connected} is connected, but {missing} is not; expected both inputs or neither",
            help=CACHE_MISMATCH.advice,
            input=connected,
        )
    _check_mode(qk_matmul_output_mode, context.outputs)
    if scale is not None and not scale > 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `scale` is {scale:g}; it must be above 0",
            help="remove `scale`; it defaults to the reciprocal of the square root of the head size",
            attribute="scale",
        )
    _warn_of_value_type(q, v)
    flat = _is_flat((q, k, v))
    advice = _help_for_flat_heads((q, k, v), q_num_heads, kv_num_heads) if flat else ""
    query = _input_sizes(q, 0, "q", heads=q_num_heads, flat=flat, advice=advice)
    key = _input_sizes(k, 1, "kv", heads=kv_num_heads, flat=flat, advice=advice)
    value = _input_sizes(v, 2, "kv", heads=kv_num_heads, flat=flat, advice=advice)
    batch = _common_batch(query, key, value)
    past = _past_length(key, value, past_key, past_value=past_value)
    total_length = total((past, key[2])) if past_key is not None else key[2]
    check(nonpad_kv_seqlen, Expected(6, "nonpad_kv_seqlen", (("batch_size", batch),), INPUTS_MISMATCH))
    _check_onnx_mask(attn_mask, (batch, query[1], query[2], total_length), padded=context.version >= 24)
    if flat is None:
        y: Shape | None = None
    else:
        y = (batch, query[2], product((query[1], value[3]))) if flat else (batch, query[1], query[2], value[3])
    return (
        Tensor(q.dtype, y),
        Tensor(k.dtype, (batch, key[1], total_length, key[3])),
        Tensor(v.dtype, (batch, key[1], total_length, value[3])),
        Tensor(q.dtype, (batch, query[1], query[2], total_length)),
    )[: context.outputs]


def _warn_of_value_type(q: Tensor, v: Tensor) -> None:
    if q.dtype is None or v.dtype is None or q.dtype == v.dtype:
        return
    fault = ELEMENT_TYPES_DIFFER.fault(
        f"input 0 (Q) is {q.dtype} and input 2 (V) is {v.dtype}: the specification allows it, but ONNX Runtime "
        "refuses it",
        help=f"cast input 2 to {q.dtype}",
        input=2,
    )
    warn(fault.lowered(Severity.WARNING))


def _check_mode(mode: int, outputs: int) -> None:
    """Checks ``qk_matmul_output_mode``. An invalid mode is an error.

    It is only a warning if it is -1, or if the node has no fourth output, because runtimes do not check these cases.
    """
    if 0 <= mode <= 3:
        return
    fault = ATTRIBUTE_OUT_OF_RANGE.fault(
        f"`qk_matmul_output_mode` is {mode}; allowed: 0 to 3", help="use 0 to 3", attribute="qk_matmul_output_mode"
    )
    if outputs > 3 and mode != -1:
        raise fault
    warn(fault.lowered(Severity.WARNING))


def _is_flat(tensors: Sequence[Tensor]) -> bool | None:
    """Whether query, key and value have three axes instead of four; None if all their ranks are unknown."""
    ranks = [(index, len(x.shape)) for index, x in enumerate(tensors) if x.shape is not None]
    for index, rank in ranks:
        if rank in (3, 4) and rank == ranks[0][1]:
            continue
        other = f", and input {ranks[0][0]} has {ranks[0][1]}" if rank in (3, 4) else ""
        raise INPUTS_MISMATCH.fault(
            f"input {index} has {counted(rank, 'axis', 'axes')}{other}; query, key and value must all have 3 axes, or "
            "all have 4",
            help=INPUTS_MISMATCH.advice,
            input=index,
        )
    return ranks[0][1] == 3 if ranks else None


#: The sizes of a query, key or value: (batch, heads, length, head size).
Sizes = tuple[MaybeDim, MaybeDim, MaybeDim, MaybeDim]

#: The largest head size that a help suggests.
_LARGEST_HEAD = 4096


def _help_for_flat_heads(inputs: Sequence[Tensor], queries: int | None, keys: int | None) -> str:
    """The help that names valid numbers of heads for inputs of three axes; "" if no numbers can be suggested."""
    query, key, value = (size(x, 2, 3) for x in inputs)
    if queries is None or keys is None or not isinstance(query, int) or not isinstance(key, int) or not key:
        return ""
    if query % key or not isinstance(value, int):
        return ""
    head_sizes = [head for head in range(1, min(key, _LARGEST_HEAD) + 1) if key % head == 0]
    pairs = [(query // head, key // head) for head in head_sizes if value % (key // head) == 0]
    if not query or (queries, keys) in pairs:
        return ""
    with_one_change = [pair for pair in pairs if queries == pair[0] or keys == pair[1]]
    fewer = [pair for pair in pairs if pair[0] < queries][:1]
    more = [pair for pair in pairs if pair[0] > queries][-1:]
    if len(pairs) <= FEW and query == key:
        fewer, more = pairs[::-1], []
    return _heads_text(with_one_change or fewer + more, queries, keys)


def _heads_text(pairs: Sequence[tuple[int, int]], queries: int, keys: int) -> str:
    if not pairs:
        return ""
    if all(new_queries == new_keys not in (queries, keys) for new_queries, new_keys in pairs):
        text = f"write {either(*(count for count, _ in pairs))} for `q_num_heads` and `kv_num_heads`"
        return text + f", or use hidden sizes that {queries} divides" * (queries == keys)
    texts = []
    for new_queries, new_keys in pairs:
        changed = ((new_queries, queries, "q_num_heads"), (new_keys, keys, "kv_num_heads"))
        texts.append(" and ".join(f"{new} for `{name}`" for new, old, name in changed if new != old))
    return f"write {', or '.join(texts)}"


def _input_sizes(x: Tensor, index: int, prefix: str, *, heads: int | None, flat: bool | None, advice: str) -> Sizes:
    attribute = f"{prefix}_num_heads"
    if flat:
        heads = require_heads(heads, attribute)
        batch, length, hidden = x.shape or (None, None, None)
        head = per_head(hidden, heads, "the hidden size", index=index, attribute=attribute, advice=advice)
        return batch, heads, length, head
    if x.shape is None:
        return None, heads, None, None
    batch, found, length, head = x.shape
    if heads is not None and heads > 0 and not agree(found, heads, f"input {index} has {heads} heads"):
        raise HEADS_MISMATCH.fault(
            f"axis 1 of input {index} is {found} and `{attribute}` is {heads}: expected the same number",
            help="remove the attribute, which is for inputs with three axes",
            input=index,
            marks=((index, 1),),
            aligned="left",
        )
    return batch, found, length, head


def _common_batch(query: Sizes, key: Sizes, value: Sizes) -> MaybeDim:
    """The batch size. Checks all sizes of query, key and value that must be equal."""
    batch = query[0]
    for index, sizes in ((1, key), (2, value)):
        text = f"the batch is {batch} in input 0 and {sizes[0]} in input {index}; expected one batch"
        batch = equal(
            batch,
            sizes[0],
            INPUTS_MISMATCH,
            text=text,
            index=index,
            why="query, key and value have the same batch size",
        )
    text = f"the head size is {query[3]} in input 0 (Q) and {key[3]} in input 1 (K); expected one size"
    equal(query[3], key[3], INPUTS_MISMATCH, text=text, index=1, why="query and key have one head size")
    text = f"the length is {key[2]} in input 1 (K) and {value[2]} in input 2 (V); expected one length"
    equal(key[2], value[2], INPUTS_MISMATCH, text=text, index=2, why="key and value have one length")
    text = f"input 1 (K) has {key[1]} heads and input 2 (V) has {value[1]}; expected the same number"
    equal(key[1], value[1], HEADS_MISMATCH, text=text, index=2, why="key and value have one number of heads")
    check_groups(query[1], key[1])
    return batch


def check_groups(queries: MaybeDim, keys: MaybeDim) -> None:
    """Checks that the number of key heads divides the number of query heads. Raises a ``HEADS_MISMATCH`` fault."""
    if queries is None or keys is None or same(queries, keys):
        return
    if isinstance(keys, int) and keys > 0 and divides(keys, queries, f"{queries} query heads share {keys} key heads"):
        return
    if not isinstance(keys, int):
        require_any(
            Relation("==", queries, keys),
            Relation("==", queries % keys, 0),
            why="the number of key heads divides the number of query heads",
        )
        return
    raise HEADS_MISMATCH.fault(
        f"the query has {queries} heads and the key has {keys}: {queries} is not a multiple of {keys}",
        help="for grouped queries, use a number of key heads that divides the number of query heads",
        input=1,
    )


def _past_length(key: Sizes, value: Sizes, past_key: Tensor | None, *, past_value: Tensor | None) -> MaybeDim:
    length = narrower(size(past_key, 2, 4), size(past_value, 2, 4))
    for index, name, past, sizes in ((4, "past_key", past_key, key), (5, "past_value", past_value, value)):
        batch, heads, _, head = sizes
        axes = (("batch_size", batch), ("kv_num_heads", heads), ("past_sequence_length", length), ("head_size", head))
        check(past, Expected(index, name, axes, CACHE_MISMATCH))
    return length


def _check_onnx_mask(mask: Tensor | None, scores: Sizes, padded: bool) -> None:
    """Checks that the mask can be broadcast to the scores. If ``padded``, the last axis of the mask may be shorter."""
    if mask is None or mask.shape is None:
        return
    text = f"input 3 (attn_mask) is {shape_text(mask.shape)} and the scores are {shape_text(scores)}"
    if len(mask.shape) > 4:
        raise MASK_MISMATCH.fault(f"{text}; allowed: at most 4 axes", help=MASK_MISMATCH.advice, input=3)
    clashes = []
    for axis in range(len(mask.shape)):
        score_axis = axis + 4 - len(mask.shape)
        dim, score = mask.shape[axis], scores[score_axis]
        why = f"axis {axis} of the mask is broadcast to axis {score_axis} of the scores"
        if same(dim, 1) or dim is None or score is None:
            continue
        possible = reaches(score, dim, why) if padded and score_axis == 3 else _is_one_or(dim, score, why)
        if not possible:
            clashes.append(axis)
    if clashes:
        axis = clashes[0]
        score = scores[axis + 4 - len(mask.shape)]
        shorter = padded and axis == len(mask.shape) - 1
        expected = f"at most {score}" if shorter else "1" if score == 1 else f"1 or {score}"
        raise MASK_MISMATCH.fault(
            f"{text}: axis {axis} of the mask is {mask.shape[axis]}, expected {expected}",
            help=MASK_MISMATCH.advice,
            input=3,
            marks=tuple((3, axis) for axis in clashes),
        )


def _is_one_or(dim: Dim, score: Dim, why: str) -> bool:
    """Whether ``dim`` can be 1 or ``score``. If this is possible but unproven, it becomes a requirement."""
    is_score, is_one = same(dim, score), same(dim, 1)
    if is_score is False and is_one is False:
        return False
    if not is_score and not is_one:
        require_any(Relation("==", dim, score), Relation("==", dim, 1), why=why)
    return True
