"""The MACs of an operator: its multiplications that are followed by an addition, by what its inputs and outputs are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from irlint.dims import MaybeDim, Shape, TooComplex, broadcast_size, product, total
from irlint.lazy_typing import Any
from irlint.model.tensor import Type, tensor_shape
from irlint.records import record


@record
class Operation:
    """A node as its formula sees it: the shapes of its inputs by parameter and in their order, those of its outputs,
    and the arguments of its rule."""

    named: Mapping[str, Shape | None]
    inputs: Sequence[Shape | None]
    outputs: Sequence[Shape | None]
    attributes: Mapping[str, Any]

    @property
    def output(self) -> Shape | None:
        """The shape of the first output."""
        return self.outputs[0] if self.outputs else None

    def attribute(self, name: str, default: Any) -> Any:
        """An attribute, ``default`` where the node has none."""
        return self.attributes.get(name, default)


#: The attributes that state whether the first matrix is transposed.
TRANSPOSED = ("transA", "transpose_a")


def operation(
    parameters: Sequence[str], inputs: Sequence[Type | None], outputs: Sequence[Type | None], attributes: Any
) -> Operation:
    """A node whose inputs have the names ``parameters``."""
    shapes = [tensor_shape(known) for known in inputs]
    return Operation(dict(zip(parameters, shapes)), shapes, [tensor_shape(known) for known in outputs], attributes)


def _size(shape: Shape | None) -> MaybeDim:
    return None if shape is None else product(shape)


def _axis(shape: Shape | None, axis: int) -> MaybeDim:
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _behind(shape: Shape | None, count: int) -> MaybeDim:
    """The number of elements for each index of the first ``count`` axes."""
    return None if shape is None or len(shape) < count else product(shape[count:])


def _windowed(node: Operation, weights: str, first: int = 1) -> MaybeDim:
    """A convolution: each element of the output is a sum over a filter, which are the axes of ``weights`` from
    ``first`` on."""
    return product((_size(node.output), _behind(node.named.get(weights), first)))


def _scattered(node: Operation, data: str, weights: str, first: int = 1) -> MaybeDim:
    """A transposed convolution: each element of ``data`` is added to the output as often as its filter has elements."""
    return product((_size(node.named.get(data)), _behind(node.named.get(weights), first)))


def _matrix(node: Operation, left: str) -> MaybeDim:
    """A product of matrices: each element of the output is a sum over the last axis of ``left``, or over the one before
    it where that is transposed."""
    shape = node.named.get(left)
    turned = any(node.attribute(name, 0) for name in TRANSPOSED) and shape is not None and len(shape) > 1
    return product((_size(node.output), _axis(shape, -2 if turned else -1)))


def _batch_transposed(node: Operation) -> MaybeDim:
    """FusedMatMul: with ``transBatchA`` the first axis of the matrices stands before the batch axes."""
    shape = node.named.get("a")
    if shape is not None and node.attribute("transBatchA", 0) and len(shape) > 2:
        axis = 0 if node.attribute("transA", 0) else -1
        return product((_size(node.output), shape[axis]))
    return _matrix(node, "a")


def _recurrent(node: Operation) -> MaybeDim:
    """Each entry of the sequence and the state before it are multiplied with the weights of every gate."""
    x = node.named.get("x")
    weights = total((_size(node.named.get("w")), _size(node.named.get("r"))))
    return None if not x else product((*x[:-1], weights))


def _einsum(node: Operation) -> MaybeDim:
    """The product of the sizes of all letters, once for each input but the first."""
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
    """The products of query and key, and those of the scores and the values: for each row of the query and each key."""
    return product((rows, keys, total(widths)))


def _rows(shape: Shape | None) -> MaybeDim:
    return None if not shape else product(shape[:-1])


def _attention(node: Operation) -> MaybeDim:
    """ONNX Attention: [batch, heads, length, size], or [batch, length, heads * size]."""
    query, key, past = (node.named.get(name) for name in ("q", "k", "past_key"))
    keys = total((_axis(key, -2), _axis(past, 2) if "past_key" in node.named and past is not None else 0))
    return _scores(_rows(node.output), keys, _axis(query, -1), _axis(node.output, -1))


def _dot_product(node: Operation) -> MaybeDim:
    """OpenVINO ScaledDotProductAttention: [..., length, size]."""
    keys = _axis(node.named.get("key"), -2)
    return _scores(_rows(node.output), keys, _axis(node.named.get("query"), -1), _axis(node.output, -1))


def _multi_head(node: Operation) -> MaybeDim:
    """com.microsoft MultiHeadAttention, whose query may be packed with the keys and values as [batch, length, heads, 3,
    size], and whose keys may have their heads on an axis of their own."""
    query, key, past = (node.named.get(name) for name in ("query", "key", "past_key"))
    output = node.output
    if query is None or output is None or len(output) != 3:
        return None
    source = query if key is None else key
    fresh = _axis(source, 2 if len(source) == 4 else 1)
    shares = node.named.get("past_sequence_length") is not None
    keys = fresh if past is None else _axis(past, 2) if shares else total((fresh, _axis(past, 2)))
    width = product((query[2], query[4])) if len(query) == 5 else _axis(query, -1)
    return _scores(_rows(output), keys, width, output[-1])


def _grouped(node: Operation) -> MaybeDim:
    """com.microsoft GroupQueryAttention: as many keys as the cache that it returns has."""
    keys = _axis(node.outputs[1], 2) if len(node.outputs) > 1 else None
    if keys is None and node.named.get("past_key") is None:
        keys = _axis(node.output, 1)
    return _scores(_rows(node.output), keys, _axis(node.output, -1), _axis(node.output, -1))


def _projected(node: Operation, weights: str) -> MaybeDim:
    """com.microsoft Attention: the input is multiplied with the weights of query, key and value first."""
    columns, past = _axis(node.named.get(weights), 1), node.named.get("past")
    x, values = node.named.get("input"), _axis(node.output, -1)
    keys = total((_axis(x, 1), 0 if past is None else _axis(past, 3)))
    if columns is None or values is None:
        return None
    widths = (columns - values) // 2
    return total((product((_size(x), columns)), _scores(_rows(x), keys, widths, values)))


def _experts(node: Operation) -> MaybeDim:
    """com.microsoft MoE: each row goes through the matrices of ``k`` experts."""
    matrices = [shape for shape in node.inputs[2:7:2] if shape is not None]
    return product(
        (_rows(node.named.get("input")), node.attribute("k", 1), total(_behind(each, 1) for each in matrices))
    )


def _linear_model(node: Operation) -> MaybeDim:
    """ai.onnx.ml LinearClassifier and LinearRegressor: each row with all coefficients."""
    return product((_rows(node.named.get("x")), len(node.attribute("coefficients", ()))))


def _unknown(node: Operation) -> MaybeDim:
    """What no closed form is known of."""
    return None


#: The formulas by the names that the decorators of operators give.
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
    "linear_model": _linear_model,
    "unknown": _unknown,
}


def macs(formula: Sequence[str | int], node: Operation) -> MaybeDim:
    """The MACs of a node by the formula that its operator states, None where its sizes or its formula are unknown."""
    name, *arguments = formula
    try:
        return FORMULAS[str(name)](node, *arguments)
    except TooComplex:
        return None
