"""ScaledDotProductAttention of OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape
from irlint.findings.statements import agree
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import openvino
from irlint.ops.nn.attention import INPUTS_MISMATCH, MASK_MISMATCH, broadcast_under, equal
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED, REAL, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower


@openvino("ScaledDotProductAttention", since=13, absent={"causal": False}, macs=("dot_product", "query", "key"))
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    scale: Tensor | None = None,
    sink: Tensor | None = None,
    *,
    causal: bool,
) -> Tensor:
    """OpenVINO ScaledDotProductAttention-13: [N..., L, Ev].

    The query is [N..., L, E], the key [N..., S, E], and the value [N..., S, Ev]. The leading axes N are broadcast.
    With ``causal``, OpenVINO ignores the mask.
    """
    for index, tensor in enumerate((query, key, value)):
        expect_type(tensor, index, REAL)
    dtype = common_type((query, key, value))
    for index, extra in ((3, None if causal else attention_mask), (4, scale), (5, sink)):
        _check_extra_type(dtype, extra, index, booleans=index == 3)
    _check_ranks((query, key, value))
    outer, length, keys = _result_axes(query, key, value)
    if not causal:
        outer, length = _masked_axes(outer, length, keys, mask=attention_mask)
    if scale is not None and scale.shape:
        check(scale, Expected(4, "scale", (("1", 1),), INPUTS_MISMATCH))
    _check_sink(sink, query.shape)
    if query.shape is None or outer is None:
        return Tensor(dtype)
    return Tensor(dtype, (*outer, length, value.shape[-1] if value.shape else None))


def _check_extra_type(dtype: str | None, tensor: Tensor | None, index: int, *, booleans: bool) -> None:
    if tensor is None or tensor.dtype is None or dtype is None or tensor.dtype == dtype:
        return
    if booleans and tensor.dtype == "bool":
        return
    allowed = f"bool or {dtype}" if booleans else dtype
    raise ELEMENT_TYPE_REFUSED.fault(
        f"input {index} is {tensor.dtype}; with a query of {dtype}, it must be {allowed}",
        help=f"convert input {index} to {dtype}",
        input=index,
    )


def _check_ranks(tensors: Sequence[Tensor]) -> None:
    for index, tensor in enumerate(tensors):
        if tensor.shape is not None and len(tensor.shape) < 3:
            raise INPUTS_MISMATCH.fault(
                f"input {index} is {shape_text(tensor.shape)}; expected at least 3 axes",
                help=f"reshape input {index} to [batch, heads, length, head size]",
                input=index,
            )


def _result_axes(query: Tensor, key: Tensor, value: Tensor) -> tuple[Shape | None, MaybeDim, MaybeDim]:
    """(leading axes after broadcasting, length of the query, length of the key)."""
    shapes = [x.shape for x in (query, key, value) if x.shape is not None]
    text = "the leading axes of query, key and value cannot be broadcast with each other"
    outer = broadcast_under(INPUTS_MISMATCH, [shape[:-2] for shape in shapes], text, index=1)
    q, k, v = query.shape, key.shape, value.shape
    if q and k:
        text = f"the head size is {q[-1]} in input 0 (query) and {k[-1]} in input 1 (key); expected one size"
        equal(q[-1], k[-1], INPUTS_MISMATCH, text=text, index=1, why="query and key have one head size")
    keys = narrower(k[-2] if k else None, v[-2] if v else None)
    if k and v:
        text = f"the length is {k[-2]} in input 1 (key) and {v[-2]} in input 2 (value); expected one length"
        equal(k[-2], v[-2], INPUTS_MISMATCH, text=text, index=2, why="key and value have one length")
    return outer, q[-2] if q else None, keys


def _masked_axes(
    outer: Shape | None, length: MaybeDim, keys: MaybeDim, *, mask: Tensor | None
) -> tuple[Shape | None, MaybeDim]:
    """(leading axes, length of the query), both after broadcasting with the mask."""
    if mask is None or not mask.shape or outer is None:
        return outer, length
    if len(mask.shape) == 1:
        raise MASK_MISMATCH.fault(
            f"input 3 (attention_mask) is {shape_text(mask.shape)}; expected at least 2 axes, or a scalar",
            help=MASK_MISMATCH.advice,
            input=3,
        )
    scores = (*outer, length, keys)
    text = f"input 3 (attention_mask) is {shape_text(mask.shape)} and the scores are {shape_text(scores)}"
    masked = broadcast_under(MASK_MISMATCH, (scores, mask.shape), text, index=3)
    assert masked is not None
    return masked[:-2], masked[-2]


def _check_sink(sink: Tensor | None, query: Shape | None) -> None:
    if sink is None or sink.shape is None or query is None:
        return
    text = f"input 5 (sink) is {shape_text(sink.shape)}; expected the rank of the query, and a last axis of 1"
    if len(sink.shape) != len(query) or not agree(sink.shape[-1], 1, "the last axis of the sink is 1"):
        raise INPUTS_MISMATCH.fault(text, help="give the sink the axes [batch or 1, heads, length or 1, 1]", input=5)
    broadcast_under(INPUTS_MISMATCH, (sink.shape[:-1], query[:-1]), text, index=5)
