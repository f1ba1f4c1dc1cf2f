"""Computes the MACs (multiply-accumulate operations) of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from irlint.dims import MaybeDim, Shape, TooComplex, broadcast_size, product, total
from irlint.findings.faults import Fault
from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor, Type, tensor_shape
from irlint.ops.shared.shape_inputs import number
from irlint.records import record


@record
class Operation:
    """The data of a node that formulas use."""

    #: The types of inputs, by the parameters of the operator's rule.
    types: Mapping[str, Type | None]
    #: The shapes of inputs, by the same parameters.
    named: Mapping[str, Shape | None]
    #: The shapes of inputs and outputs, by index.
    inputs: Sequence[Shape | None]
    outputs: Sequence[Shape | None]
    attributes: Mapping[str, Any]

    @property
    def output(self) -> Shape | None:
        """The shape of the first output."""
        return self.outputs[0] if self.outputs else None

    def attribute(self, name: str, default: Any) -> Any:
        """The value of an attribute, or ``default``."""
        return self.attributes.get(name, default)


#: The attributes that transpose the first matrix.
TRANSPOSED = ("transA", "transpose_a")


def operation(
    parameters: Sequence[str], inputs: Sequence[Type | None], outputs: Sequence[Type | None], attributes: Any
) -> Operation:
    """The operation of a node whose inputs have the names ``parameters``."""
    shapes = [tensor_shape(known) for known in inputs]
    types, named = dict(zip(parameters, inputs)), dict(zip(parameters, shapes))
    return Operation(types, named, shapes, [tensor_shape(known) for known in outputs], attributes)


def _size(shape: Shape | None) -> MaybeDim:
    return None if shape is None else product(shape)


def _axis(shape: Shape | None, axis: int) -> MaybeDim:
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _size_after(shape: Shape | None, count: int) -> MaybeDim:
    """The product of the sizes after the first ``count`` axes; None if there are fewer."""
    return None if shape is None or len(shape) < count else product(shape[count:])


def _windowed(node: Operation, weights: str, first: int = 1) -> MaybeDim:
    """Convolutions: an output element is a sum over a filter, the axes of ``weights`` from ``first`` on."""
    return product((_size(node.output), _size_after(node.named.get(weights), first)))


def _scattered(node: Operation, data: str, weights: str, first: int = 1) -> MaybeDim:
    """Transposed convolutions: a data element times a filter, the axes of ``weights`` from ``first`` on."""
    return product((_size(node.named.get(data)), _size_after(node.named.get(weights), first)))


def _matrix(node: Operation, left: str) -> MaybeDim:
    """Matrix products: an output element is a sum over the contracted axis of ``left``."""
    shape = node.named.get(left)
    is_transposed = any(node.attribute(name, 0) for name in TRANSPOSED) and shape is not None and len(shape) > 1
    return product((_size(node.output), _axis(shape, -2 if is_transposed else -1)))


def _batch_transposed(node: Operation) -> MaybeDim:
    """FusedMatMul. With ``transBatchA``, the first axis of the matrices precedes the batch axes."""
    shape = node.named.get("a")
    if shape is not None and node.attribute("transBatchA", 0) and len(shape) > 2:
        axis = 0 if node.attribute("transA", 0) else -1
        return product((_size(node.output), shape[axis]))
    return _matrix(node, "a")


def _attending_lstm(node: Operation) -> MaybeDim:
    """com.microsoft AttnLSTM."""
    # Once: memory x memory layer. At each step: W and R of all gates, the query layer, scores, values, attention layer.
    x, inputs = node.named.get("x"), [*node.inputs, *[None] * 14]
    query, keys, scores, memory, layer = inputs[8], inputs[9], inputs[10], inputs[11], inputs[13]
    if not x or not keys or not scores or memory is None or len(memory) != 3:
        return None
    positions = product((memory[1], total((product(scores), product((keys[0], memory[2]))))))
    weights = (node.named.get("w"), node.named.get("r"), query)
    step = (*map(_size, weights), 0 if layer is None else _size(layer), positions)
    return total((product((*x[:-1], total(step))), product((*memory[:2], _size(keys)))))


def _recurrent(node: Operation) -> MaybeDim:
    """Recurrent layers: every entry of the sequence and every state is multiplied by all gates' weights."""
    x = node.named.get("x")
    weights = total((_size(node.named.get("w")), _size(node.named.get("r"))))
    return None if not x else product((*x[:-1], weights))


def _einsum(node: Operation) -> MaybeDim:
    """Einsum: the product of the sizes of all labels, times the number of inputs minus 1."""
    from irlint.ops.math.einsum import ELLIPSIS, equation_terms

    terms, _ = equation_terms(str(node.attribute("equation", "")).replace(" ", ""))
    sizes: dict[object, list[MaybeDim]] = {}
    for term, shape in zip(terms, node.inputs):
        if shape is None:
            return None
        dots = term.index(ELLIPSIS) if ELLIPSIS in term else len(term)
        width = len(shape) - sum(label != ELLIPSIS for label in term)
        covered = [(ELLIPSIS, place - width) for place in range(width)] if dots < len(term) else []
        for label, dim in zip((*term[:dots], *covered, *term[dots + 1 :]), shape):
            sizes.setdefault(label, []).append(dim)
    return product((len(terms) - 1, *(broadcast_size(*dims) for dims in sizes.values())))


# --- attention --------------------------------------------------------------------------------------------------------


def _scores(rows: MaybeDim, keys: MaybeDim, *widths: MaybeDim) -> MaybeDim:
    """Attention: rows times keys times the sum of ``widths``, the sizes of a key and of a value."""
    return product((rows, keys, total(widths)))


def _rows(shape: Shape | None) -> MaybeDim:
    """The product of all sizes but the last."""
    return None if not shape else product(shape[:-1])


def _attention(node: Operation) -> MaybeDim:
    """ONNX Attention, with inputs [batch, heads, length, size] or [batch, length, heads * size]."""
    query, key, past = (node.named.get(name) for name in ("q", "k", "past_key"))
    keys = total((_axis(key, -2), _axis(past, 2) if "past_key" in node.named and past is not None else 0))
    return _scores(_rows(node.output), keys, _axis(query, -1), _axis(node.output, -1))


def _dot_product(node: Operation, query: str, key: str) -> MaybeDim:
    """ScaledDotProductAttention and FlexAttention, with inputs [..., length, size]."""
    keys = _axis(node.named.get(key), -2)
    return _scores(_rows(node.output), keys, _axis(node.named.get(query), -1), _axis(node.output, -1))


def _multi_head(node: Operation) -> MaybeDim:
    """com.microsoft MultiHeadAttention.

    The query may be packed with keys and values as [batch, length, heads, 3, size].
    """
    query, key, past = (node.named.get(name) for name in ("query", "key", "past_key"))
    output = node.output
    if query is None or output is None or len(output) != 3:
        return None
    source = query if key is None else key
    new = _axis(source, 2 if len(source) == 4 else 1)
    if past is None:
        keys = new
    elif node.named.get("past_sequence_length") is not None:
        # The cache has room for all keys.
        keys = _axis(past, 2)
    else:
        keys = total((new, _axis(past, 2)))
    width = product((query[2], query[4])) if len(query) == 5 else _axis(query, -1)
    return _scores(_rows(output), keys, width, output[-1])


def _grouped(node: Operation) -> MaybeDim:
    """com.microsoft GroupQueryAttention."""
    stated, cache = node.types.get("total_sequence_length"), node.outputs[1] if len(node.outputs) > 1 else None
    keys = number(stated) if isinstance(stated, Tensor) else None
    if keys is None:
        keys = _axis(cache, 2) if cache is not None or node.named.get("past_key") else _axis(node.output, 1)
    return _scores(_rows(node.output), keys, _axis(node.output, -1), _axis(node.output, -1))


def _projected(node: Operation, weights: str) -> MaybeDim:
    """com.microsoft Attention, which multiplies the input by the weights of query, key and value first."""
    columns, past = _axis(node.named.get(weights), 1), node.named.get("past")
    x, values = node.named.get("input"), _axis(node.output, -1)
    keys = total((_axis(x, 1), 0 if past is None else _axis(past, 3)))
    if columns is None or values is None:
        return None
    widths = (columns - values) // 2
    return total((product((_size(x), columns)), _scores(_rows(x), keys, widths, values)))


def _packed_projected(node: Operation) -> MaybeDim:
    """com.microsoft PackedAttention, with an input [tokens, hidden] and ``token_offset`` [batch, length]."""
    columns, values = _axis(node.named.get("weights"), 1), _axis(node.output, -1)
    x, keys = node.named.get("input"), _axis(node.inputs[3] if len(node.inputs) > 3 else None, 1)
    if columns is None or values is None:
        return None
    return total((product((_size(x), columns)), _scores(_rows(x), keys, (columns - values) // 2, values)))


def _packed_heads(node: Operation) -> MaybeDim:
    """com.microsoft PackedMultiHeadAttention: PackedAttention without the projection."""
    keys = _axis(node.inputs[4] if len(node.inputs) > 4 else None, 1)
    query, values = node.named.get("query"), _axis(node.output, -1)
    width = values if query is not None and len(query) == 4 else _axis(query, -1)
    return _scores(_rows(node.output), keys, width, values)


def _projected_separately(node: Operation) -> MaybeDim:
    """com.microsoft QOrderedAttention, with the weights of query, key and value as three inputs."""
    x, weights = node.named.get("input"), [node.named.get(f"{name}_weight") for name in "qkv"]
    columns = [_axis(matrix, 1) for matrix in weights]
    attended = _scores(_rows(x), _axis(x, 1), columns[0], columns[2])
    return total((product((_size(x), total(columns))), attended))


def _linear_attention(node: Operation) -> MaybeDim:
    """LinearAttention as a recurrence.

    Each head of the keys updates its state, and each head of the output reads a state. Update rules with a delta read
    the state once more.
    """
    state = node.outputs[1] if len(node.outputs) > 1 else None
    rows = _rows(node.named.get("query"))
    query, value = _axis(node.named.get("query"), -1), _axis(node.named.get("value"), -1)
    heads, shared = node.attribute("q_num_heads", 0), node.attribute("kv_num_heads", 0)
    if query is None or value is None or heads < 1 or shared < 1:
        return None
    key_size, value_size = (state[-2], state[-1]) if state and len(state) > 1 else (query // heads, value // shared)
    updates = 2 if "delta" in node.attribute("update_rule", "gated_delta") else 1
    return product((rows, max(heads, shared) + updates * shared, key_size, value_size))


def _experts(node: Operation, step: int = 2) -> MaybeDim:
    """MoE and QMoE: each row is multiplied by the matrices of ``k`` experts.

    The matrices are every ``step``th input from the third input on.
    """
    matrices = node.inputs[2 : 3 + 2 * step : step]
    sizes = [
        product((_size_after(shape, 1), _weights_per_byte(node, f"fc{index}_expert_weight_bits") if step > 2 else 1))
        for index, shape in enumerate(matrices, 1)
        if shape is not None
    ]
    return product((_rows(node.named.get("input")), node.attribute("k", 1), total(sizes)))


def _weights_per_byte(node: Operation, name: str) -> int:
    bits = node.attribute(name, None) or node.attribute("expert_weight_bits", 4)
    return 8 // bits if 0 < bits <= 8 else 1


def _embedded_words(node: Operation) -> MaybeDim:
    """com.microsoft WordConvEmbedding: a convolution over the characters of words."""
    words, w = node.named.get("sequence"), node.named.get("w")
    window = _axis(w, 2)
    places = None if window is None else total((_axis(words, 1), product((-1, window)), 1))
    return product((_axis(words, 0), places, _size(w)))


def _linear_model(node: Operation) -> MaybeDim:
    """ai.onnx.ml models: each row is multiplied by all coefficients and support vectors."""
    numbers = sum(len(node.attribute(name, ())) for name in ("support_vectors", "coefficients"))
    return product((_rows(node.named.get("x")), numbers))


def _unknown(node: Operation) -> MaybeDim:
    """Operators without a closed formula."""
    return None


#: The formulas of the MACs, by the names that the decorators of operators use.
FORMULAS: Mapping[str, Callable[..., MaybeDim]] = {
    "windowed": _windowed,
    "scattered": _scattered,
    "matrix": _matrix,
    "batch_transposed": _batch_transposed,
    "recurrent": _recurrent,
    "einsum": _einsum,
    "attention": _attention,
    "dot_product": _dot_product,
    "multi_head": _multi_head,
    "grouped": _grouped,
    "projected": _projected,
    "experts": _experts,
    "attending_lstm": _attending_lstm,
    "packed_projected": _packed_projected,
    "packed_heads": _packed_heads,
    "projected_separately": _projected_separately,
    "linear_attention": _linear_attention,
    "embedded_words": _embedded_words,
    "linear_model": _linear_model,
    "unknown": _unknown,
}


def macs(formula: Sequence[str | int], node: Operation) -> MaybeDim:
    """The MACs of a node; None if a size or the formula is unknown, or if an attribute is invalid."""
    name, *arguments = formula
    try:
        return FORMULAS[str(name)](node, *arguments)
    except (Fault, TooComplex):
        return None
