"""Linear attention, which keeps a state of fixed size instead of past keys and values. The heads are side by side on
the last axis."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, largest, product, same
from irlint.findings.faults import Severity
from irlint.findings.statements import Relation, require_any, warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.nn.attention import CACHE_MISMATCH, HEADS_MISMATCH, INPUTS_MISMATCH, check_groups, equal, per_head
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size
from irlint.schemas import MICROSOFT

UpdateRule = Literal["linear", "gated", "delta", "gated_delta"]

#: The update rules that use ``decay``, and those that use ``beta``.
_DECAYING = ("gated", "gated_delta")
_CORRECTING = ("delta", "gated_delta")


@onnx("LinearAttention", since=27, macs=("linear_attention",))
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: UpdateRule = "gated_delta",
) -> tuple[Tensor, Tensor]:
    """ONNX LinearAttention-27: the state is [batch, kv heads, d_k, d_v]. The update rule decides which of the gates
    ``decay`` and ``beta`` are needed; any other gate is refused."""
    sequence = _sequence(query, key, value)
    check_groups(q_num_heads, kv_num_heads)
    queries, values = _heads(query, value, (q_num_heads, kv_num_heads))
    keys = per_head(size(key, 2, 3), kv_num_heads, "the hidden size of the key", index=1, attribute="kv_num_heads")
    text = f"the head size is {queries} in input 0 (query) and {keys} in input 1 (key); expected one size"
    head = equal(queries, keys, INPUTS_MISMATCH, text=text, index=1, why="query and key have one head size")
    _check_needed(decay, beta, update_rule)
    for index, name, gate, rules in ((4, "decay", decay, _DECAYING), (5, "beta", beta, _CORRECTING)):
        if gate is not None and update_rule not in rules:
            raise INPUTS_MISMATCH.fault(
                f"input {index} ({name}) is connected, but `update_rule` is {update_rule!r}, which does not use {name}",
                help=f"remove {name}, or write {' or '.join(map(repr, rules))}",
                input=index,
            )
    _check_gates(decay, beta, sequence, kv_num_heads=kv_num_heads, head=head)
    present = _present(query, past_state, (sequence[0], kv_num_heads, head, values))
    return Tensor(query.dtype, (*sequence, product((q_num_heads, values)))), present


@onnx("LinearAttention", domain=MICROSOFT, macs=("linear_attention",))
def ms_linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    state_window: int = 0,
    update_rule: UpdateRule = "gated_delta",
) -> tuple[Tensor, Tensor]:
    """com.microsoft LinearAttention: the value may have more heads than the query, and the key may have fewer.

    With ``state_window``, the state has a leading axis of this size.
    """
    sequence = _sequence(query, key, value)
    if q_num_heads < kv_num_heads and q_num_heads > 0 and kv_num_heads % q_num_heads:
        raise HEADS_MISMATCH.fault(
            f"`q_num_heads` is {q_num_heads} and `kv_num_heads` is {kv_num_heads}: one must divide the other",
            help="check the numbers of heads",
            attribute="kv_num_heads",
        )
    if q_num_heads >= kv_num_heads:
        check_groups(q_num_heads, kv_num_heads)
    head, values = _heads(query, value, (q_num_heads, kv_num_heads))
    _check_key_heads(size(key, 2, 3), head, kv_num_heads)
    _check_needed(decay, beta, update_rule)
    _check_gates(decay, beta, sequence, kv_num_heads=kv_num_heads, head=head)
    if state_window:
        text = f"attribute `state_window` is {state_window}; on the CPU, ONNX Runtime supports only 0"
        advice = "write 0 to run the model on the CPU"
        warn(ATTRIBUTE_OUT_OF_RANGE.fault(text, help=advice, attribute="state_window", severity=Severity.WARNING))
    window = (state_window,) if state_window > 0 else ()
    present = _present(query, past_state, (*window, sequence[0], kv_num_heads, head, values))
    return Tensor(query.dtype, (*sequence, product((largest(q_num_heads, kv_num_heads), values)))), present


def _sequence(query: Tensor, key: Tensor, value: Tensor) -> tuple[MaybeDim, MaybeDim]:
    """The batch size and the length, which query, key and value share. Raises an ``INPUTS_MISMATCH`` fault."""
    inputs = ((0, "query", query), (1, "key", key), (2, "value", value))
    batch = narrower(*(size(x, 0, 3) for _, _, x in inputs))
    length = narrower(*(size(x, 1, 3) for _, _, x in inputs))
    axes = (("batch_size", batch), ("length", length), ("heads side by side", None))
    for index, name, x in inputs:
        check(x, Expected(index, name, axes, INPUTS_MISMATCH))
    return batch, length


def _heads(query: Tensor, value: Tensor, heads: tuple[int, int]) -> tuple[MaybeDim, MaybeDim]:
    """The head sizes of the query and of the value; ``heads`` are the numbers of their heads. Raises a
    ``HEADS_MISMATCH`` or ``ATTRIBUTE_OUT_OF_RANGE`` fault."""
    queries = per_head(size(query, 2, 3), heads[0], "the hidden size of the query", index=0, attribute="q_num_heads")
    values = per_head(size(value, 2, 3), heads[1], "the hidden size of the value", index=2, attribute="kv_num_heads")
    return queries, values


def _check_key_heads(hidden: MaybeDim, head: MaybeDim, kv_num_heads: int) -> None:
    """Checks that the key consists of heads of size ``head``, the head size of the query, and that the number of these
    heads divides ``kv_num_heads``. Raises a ``HEADS_MISMATCH`` fault."""
    if not isinstance(head, int) or not isinstance(hidden, int) or not head:
        return
    heads, rest = divmod(hidden, head)
    if rest or not heads or kv_num_heads % heads:
        raise HEADS_MISMATCH.fault(
            f"the hidden size of the key (input 1) is {hidden}, and the head size of the query is {head}: the number "
            f"of key heads would be {f'{hidden}/{head}' if rest else heads}, which does not divide `kv_num_heads`, "
            f"{kv_num_heads}",
            help="give the key the head size of the query, and a number of heads that divides kv_num_heads",
            input=1,
        )


def _check_needed(decay: Tensor | None, beta: Tensor | None, update_rule: UpdateRule) -> None:
    """Checks that all gates that the update rule needs are connected. Raises an ``INPUTS_MISMATCH`` fault."""
    for name, gate, rules in (("decay", decay, _DECAYING), ("beta", beta, _CORRECTING)):
        if gate is None and update_rule in rules:
            raise INPUTS_MISMATCH.fault(
                f"`update_rule` is {update_rule!r}, which needs {name}, but {name} is missing",
                help=f"connect {name}, or write another update_rule",
            )


def _check_gates(
    decay: Tensor | None,
    beta: Tensor | None,
    sequence: tuple[MaybeDim, MaybeDim],
    *,
    kv_num_heads: int,
    head: MaybeDim,
) -> None:
    """Checks the shapes of the gates: ``decay`` has one number for each head, or for each row of each head; ``beta``
    has one number for each head, or one for all heads. Raises an ``INPUTS_MISMATCH`` fault."""
    axes = (("batch_size", sequence[0]), ("length", sequence[1]))
    rows = product((kv_num_heads, head))
    for index, name, gate, other in ((4, "decay", decay, rows), (5, "beta", beta, 1)):
        check(gate, Expected(index, name, (*axes, ("heads", None)), INPUTS_MISMATCH))
        found = size(gate, 2, 3)
        why = f"axis 2 of {name} is {kv_num_heads} or {other}"
        if found is None or other is None or _is_one_of(found, (kv_num_heads, other), why):
            continue
        raise INPUTS_MISMATCH.fault(
            f"axis 2 of input {index} ({name}) is {found}; expected {kv_num_heads}, the heads of the value, or {other}",
            help=f"give axis 2 of {name} {kv_num_heads} or {other} elements",
            input=index,
            marks=((index, 2),),
            aligned="left",
        )


def _is_one_of(found: Dim, sizes: tuple[Dim, ...], why: str) -> bool:
    """Whether a size can be one of ``sizes``. If this is unproven, it becomes a requirement."""
    answers = {same(found, each) for each in sizes}
    if answers == {False}:
        return False
    if True not in answers:
        require_any(*(Relation("==", found, each) for each in sizes), why=why)
    return True


def _present(query: Tensor, past_state: Tensor | None, dims: tuple[MaybeDim, ...]) -> Tensor:
    """The new state of shape ``dims``, after checking that the past state has the same shape. Its element type is that
    of the past state or, if this is omitted, of the query. Raises a ``CACHE_MISMATCH`` fault."""
    names = ("state_window", "batch_size", "kv_num_heads", "d_k", "d_v")[-len(dims) :]
    check(past_state, Expected(3, "past_state", tuple(zip(names, dims)), CACHE_MISMATCH))
    return Tensor(past_state.dtype if past_state is not None else query.dtype, dims)
