"""Linear attention. The last axis of query, key and value contains all heads."""

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

_WITH_DECAY = ("gated", "gated_delta")
_WITH_BETA = ("delta", "gated_delta")


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
    """ONNX LinearAttention-27: output [batch, length, q heads * d_v], and state [batch, kv heads, d_k, d_v]."""
    batch, length = _batch_and_length(query, key, value)
    check_groups(q_num_heads, kv_num_heads)
    queries, values = _head_sizes(query, value, q_num_heads=q_num_heads, kv_num_heads=kv_num_heads)
    keys = per_head(size(key, 2, 3), kv_num_heads, "the hidden size of the key", index=1, attribute="kv_num_heads")
    text = f"the head size is {queries} in input 0 (query) and {keys} in input 1 (key); expected one size"
    head = equal(queries, keys, INPUTS_MISMATCH, text=text, index=1, why="query and key have one head size")
    _expect_needed_gates(decay, beta, update_rule)
    for index, name, gate, rules in ((4, "decay", decay, _WITH_DECAY), (5, "beta", beta, _WITH_BETA)):
        if gate is not None and update_rule not in rules:
            raise INPUTS_MISMATCH.fault(
                f"input {index} ({name}) is connected, but `update_rule` is {update_rule!r}, which does not use {name}",
                help=f"remove {name}, or write {' or '.join(map(repr, rules))}",
                input=index,
            )
    _check_gates(decay, beta, batch, length=length, kv_num_heads=kv_num_heads, head=head)
    present = _new_state(query, past_state, (batch, kv_num_heads, head, values))
    return Tensor(query.dtype, (batch, length, product((q_num_heads, values)))), present


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
    """com.microsoft LinearAttention. With ``state_window``, the state has a leading axis of this size.

    Unlike in ONNX, the value may have more heads than the query, and the key may have fewer.
    """
    batch, length = _batch_and_length(query, key, value)
    if q_num_heads < kv_num_heads and q_num_heads > 0 and kv_num_heads % q_num_heads:
        raise HEADS_MISMATCH.fault(
            f"`q_num_heads` is {q_num_heads} and `kv_num_heads` is {kv_num_heads}: one must divide the other",
            help="check the numbers of heads",
            attribute="kv_num_heads",
        )
    if q_num_heads >= kv_num_heads:
        check_groups(q_num_heads, kv_num_heads)
    head, values = _head_sizes(query, value, q_num_heads=q_num_heads, kv_num_heads=kv_num_heads)
    _check_key_heads(size(key, 2, 3), head, kv_num_heads)
    _expect_needed_gates(decay, beta, update_rule)
    _check_gates(decay, beta, batch, length=length, kv_num_heads=kv_num_heads, head=head)
    if state_window:
        text = f"attribute `state_window` is {state_window}; on the CPU, ONNX Runtime supports only 0"
        advice = "write 0 to run the model on the CPU"
        warn(ATTRIBUTE_OUT_OF_RANGE.fault(text, help=advice, attribute="state_window", severity=Severity.WARNING))
    window = (state_window,) if state_window > 0 else ()
    present = _new_state(query, past_state, (*window, batch, kv_num_heads, head, values))
    return Tensor(query.dtype, (batch, length, product((largest(q_num_heads, kv_num_heads), values)))), present


def _batch_and_length(query: Tensor, key: Tensor, value: Tensor) -> tuple[MaybeDim, MaybeDim]:
    inputs = ((0, "query", query), (1, "key", key), (2, "value", value))
    batch = narrower(*(size(x, 0, 3) for _, _, x in inputs))
    length = narrower(*(size(x, 1, 3) for _, _, x in inputs))
    axes = (("batch_size", batch), ("length", length), ("heads side by side", None))
    for index, name, x in inputs:
        check(x, Expected(index, name, axes, INPUTS_MISMATCH))
    return batch, length


def _head_sizes(query: Tensor, value: Tensor, *, q_num_heads: int, kv_num_heads: int) -> tuple[MaybeDim, MaybeDim]:
    """(head size of the query, head size of the value)."""
    queries = per_head(size(query, 2, 3), q_num_heads, "the hidden size of the query", index=0, attribute="q_num_heads")
    values = per_head(
        size(value, 2, 3), kv_num_heads, "the hidden size of the value", index=2, attribute="kv_num_heads"
    )
    return queries, values


def _check_key_heads(hidden: MaybeDim, head: MaybeDim, kv_num_heads: int) -> None:
    """Checks that the key has heads of size ``head``, and that the number of key heads divides ``kv_num_heads``."""
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


def _expect_needed_gates(decay: Tensor | None, beta: Tensor | None, update_rule: UpdateRule) -> None:
    for name, gate, rules in (("decay", decay, _WITH_DECAY), ("beta", beta, _WITH_BETA)):
        if gate is None and update_rule in rules:
            raise INPUTS_MISMATCH.fault(
                f"`update_rule` is {update_rule!r}, which needs {name}, but {name} is missing",
                help=f"connect {name}, or write another update_rule",
            )


def _check_gates(
    decay: Tensor | None,
    beta: Tensor | None,
    batch: MaybeDim,
    *,
    length: MaybeDim,
    kv_num_heads: int,
    head: MaybeDim,
) -> None:
    axes = (("batch_size", batch), ("length", length))
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
    """Whether ``found`` can be one of ``sizes``. If this is possible but unproven, it becomes a requirement."""
    answers = {same(found, size) for size in sizes}
    if answers == {False}:
        return False
    if True not in answers:
        require_any(*(Relation("==", found, size) for size in sizes), why=why)
    return True


def _new_state(query: Tensor, past_state: Tensor | None, dims: tuple[MaybeDim, ...]) -> Tensor:
    """The new state, of shape ``dims``. Checks that the past state has the same shape."""
    names = ("state_window", "batch_size", "kv_num_heads", "d_k", "d_v")[-len(dims) :]
    check(past_state, Expected(3, "past_state", tuple(zip(names, dims)), CACHE_MISMATCH))
    return Tensor(past_state.dtype if past_state is not None else query.dtype, dims)
