"""RotaryEmbedding of ONNX, and checks of rotary tables."""

from __future__ import annotations

from irlint.dims import MaybeDim, divisible, floordiv
from irlint.findings.faults import Severity
from irlint.findings.statements import reaches, warn
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.nn.attention import FUSED_MISMATCH, HEADS_MISMATCH, INPUTS_MISMATCH, per_head, require_heads
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE, IndexedAxis, out_of_range
from irlint.ops.shared.sizes import dim_of


@onnx("RotaryEmbedding", since=23)
def rotary_embedding(
    x: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """ONNX RotaryEmbedding-23. The last axis of both tables is half as long as the rotated part of a head."""
    if num_heads is not None and num_heads < 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `num_heads` is {num_heads}; it has to be at least 0",
            help="write the number of heads; if input 0 has four axes, you can remove the attribute",
            attribute="num_heads",
        )
    head = _head_size(x, num_heads)
    sequence_axes = _sequence_axes(x)
    half = rotary_embedding_dim // 2 if rotary_embedding_dim else None if head is None else floordiv(head, 2)
    if not rotary_embedding_dim and head is not None and divisible(head, 2) is False:
        warn(
            HEADS_MISMATCH.fault(
                f"the head size is {head}, which is odd, but the specification rotates two halves",
                help="use an even head size",
                input=0,
                severity=Severity.WARNING,
            )
        )
    outer = (("positions", dim_of(cos_cache.shape, 0)),) if position_ids is not None else sequence_axes
    for index, name, cache in ((1, "cos_cache", cos_cache), (2, "sin_cache", sin_cache)):
        check(cache, Expected(index, name, (*outer, ("half of the rotated size", half)), FUSED_MISMATCH))
    check(position_ids, Expected(3, "position_ids", sequence_axes, FUSED_MISMATCH))
    if position_ids is not None:
        check_rows(x, dim_of(cos_cache.shape, 0), position_ids, index=3, cache=1)
    return Tensor(x.dtype, x.shape)


def check_rows(x: Tensor, rows: MaybeDim, positions: Tensor, *, index: int, cache: int) -> None:
    """Checks that the table, input ``cache``, has a row for each position of ``x``.

    ``rows`` is the number of rows, and ``positions`` is input ``index``. Raises an ``INDEX_OUT_OF_RANGE`` fault.
    """
    expect_rows(rows, dim_of(x.shape, -2), "the positions of a sequence", cache=cache)
    if positions.rank == 2:
        check_positions(positions, index, rows, table=cache)


def expect_rows(rows: MaybeDim, count: MaybeDim, what: str, *, cache: int) -> None:
    """Checks that the table, input ``cache``, has at least ``count`` rows. ``what`` explains ``count`` in the message.

    Raises an ``INDEX_OUT_OF_RANGE`` fault.
    """
    if reaches(rows, count, f"input {cache} has a row for each of {what}"):
        return
    raise INDEX_OUT_OF_RANGE.fault(
        f"input {cache} has {rows} rows, but {what} need {count}",
        help=f"use sequences of at most {rows} positions, or add rows to the table",
        input=cache,
        marks=((cache, 0),),
    )


def check_positions(positions: Tensor, index: int, rows: MaybeDim, *, table: int) -> None:
    """Checks that the known positions, input ``index``, are below ``rows``, the rows of input ``table``.

    Raises an ``INDEX_OUT_OF_RANGE`` fault.
    """
    fault = out_of_range(positions, IndexedAxis(rows, 0, data=table, negative=False), index=index)
    if fault is not None:
        raise fault


def _head_size(x: Tensor, num_heads: int | None) -> MaybeDim:
    if x.shape is None:
        return None
    if len(x.shape) == 4:
        return x.shape[3]
    if len(x.shape) != 3:
        raise INPUTS_MISMATCH.fault(
            f"input 0 is {shape_text(x.shape)}; expected [batch, length, hidden size] or [batch, heads, length, head "
            "size]",
            help="reshape input 0 to [batch, heads, length, head size]",
            input=0,
        )
    return per_head(x.shape[2], require_heads(num_heads, "num_heads"), "the hidden size", index=0)


def _sequence_axes(x: Tensor) -> tuple[tuple[str, MaybeDim], tuple[str, MaybeDim]]:
    shape = x.shape
    if shape is None:
        return ("batch_size", None), ("sequence_length", None)
    return ("batch_size", shape[0]), ("sequence_length", shape[-2])
