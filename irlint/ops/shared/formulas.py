"""Formulas with numbers, such as ``8 + 1 + 1``, by which reports explain how a size is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.dims import Dim, Expr, MaybeDim, Shape, TooComplex, ceildiv, largest, smallest
from irlint.dims.polynomials import terms_of
from irlint.findings.statements import explain_size
from irlint.model.tensor import shape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from irlint.ops.shared.windows import Window

#: In a longer sum, only the first four and the last two terms are shown.
TERMS = 8


def windowed(window: Window, position: int, *, size: MaybeDim, dim: MaybeDim) -> None:
    """Explains the size of an axis after a sliding window: ``floor((224 + 3 + 3 - 7) / 4) + 1``."""
    span = window.spans[position]
    if size is None or dim is None or not isinstance(span, int):
        return
    try:
        _windowed(window, position, size=size, dim=dim, span=span)
    except TooComplex:
        return


def _windowed(window: Window, position: int, *, size: Dim, dim: Dim, span: int) -> None:
    from irlint.ops.shared.windows import ceiling_of, floor_of

    stride, axis, details = window.strides[position], window.first + position, _window_text(window, position)
    if window.same:
        if ceildiv(size, stride) == dim:
            formula = f"{size}" if stride == 1 else f"ceil({_factor(size)} / {stride})"
            explain_size(axis, dim, formula, f"{details}, auto_pad {window.auto_pad}")
        return
    before, after = window.begin[position], window.end[position]
    room = size + before + after - span
    inner = f"{size}" + f" + {before} + {after}" * bool(before or after) + f" - {span}"
    exact = f"{inner} + 1" if stride == 1 else f"({inner}) / {stride} + 1"
    least, most = floor_of(room + stride, stride), ceiling_of(room + stride, stride)
    counts: dict[str, tuple[MaybeDim, ...]] = {"floor": (least,), "ceil": (most,)}
    if room % stride == 0:
        counts = {"": (least,)}
    if isinstance(dim, Expr):
        counts["trunc"] = (largest(least, 1), largest(least, smallest(most, 1)))
    for name, alternatives in counts.items():
        if dim in alternatives:
            explain_size(axis, dim, f"{name}(({inner}) / {stride}) + 1" if name else exact, details)
            return


def transposed(window: Window, position: int, *, size: Dim, dim: Dim, added: int) -> None:
    """Explains the size of an axis after a transposed convolution: ``(7 - 1) * 2 + 3 - 1 - 1``."""
    span, stride = window.spans[position], window.strides[position]
    if not isinstance(span, int):
        return
    ends = (-window.begin[position], -window.end[position], added)
    if (size - 1) * stride + span + sum(ends) == dim:
        terms = [f" {'-' if end < 0 else '+'} {abs(end)}" for end in ends if end]
        formula = f"({size} - 1) * {stride} + {span}{''.join(terms)}"
        explain_size(window.first + position, dim, formula, _window_text(window, position))


def _window_text(window: Window, position: int) -> str:
    dilation, before, after = window.dilations[position], window.begin[position], window.end[position]
    return (
        f"kernel {window.kernel[position]}, stride {window.strides[position]}"
        + f", dilation {dilation}" * (dilation > 1)
        + f", pads {before}+{after}" * bool(before or after)
    )


def concatenated(shapes: Sequence[Shape | None], dim: MaybeDim, axis: int) -> None:
    """Explains the size of a concatenated axis: ``3 + 5``."""
    if any(shape is None for shape in shapes):
        return
    sizes = [shape[axis] for shape in shapes if shape is not None]
    texts = [_term(size) for size in sizes]
    if len(texts) > TERMS:
        texts = [*texts[:4], "...", *texts[-2:]]
    is_symbolic = len(sizes) <= TERMS and not all(isinstance(size, int) for size in sizes)
    terms = tuple(enumerate(map(_summand, sizes))) if is_symbolic else ()
    explain_size(axis, dim, " + ".join(texts), f"axis {axis} of its inputs", terms=terms)


def padded(data: Shape, shape: Shape, *, begin: Sequence[MaybeDim], end: Sequence[MaybeDim]) -> None:
    """Explains the sizes of padded axes: ``8 + 1 + 1``. Cropped axes are not explained."""
    for axis, (size, dim, before, after) in enumerate(zip(data, shape, begin, end)):
        if size is not None and isinstance(before, int) and isinstance(after, int) and min(before, after) >= 0:
            explain_size(axis, dim, f"{size} + {before} + {after}", f"pads {before}+{after} on axis {axis}")


def reshaped(data: Shape | None, target: Sequence[MaybeDim], shape: Sequence[MaybeDim]) -> None:
    """Explains the sizes after a reshape by the known entries of ``target``."""
    if all(entry is None for entry in target):
        return
    written = shape_text(tuple(target))
    source = "" if data is None else f"data {shape_text(data)}"
    for axis, (entry, dim) in enumerate(zip(target, shape)):
        if entry == -1:
            explain_size(axis, dim, "the size inferred for -1", f"shape {written}" + f", {source}" * bool(source))
        else:
            explain_size(axis, dim, f"entry {axis} of the shape {written}", source)


def flattened(shape: Shape, axis: int) -> None:
    """Explains the sizes of both axes of a flattened tensor: ``64 * 7 * 7``."""
    for side, dims in enumerate((shape[:axis], shape[axis:])):
        sizes = [_factor(dim) for dim in dims]
        explain_size(side, None, " * ".join(sizes) or "1", f"axis {axis}, input {shape_text(shape)}")


def listed(axes: Iterable[int], dims: Sequence[MaybeDim], entries: Sequence[MaybeDim], *, what: str) -> None:
    """Explains the sizes ``dims`` of ``axes`` by the ``entries`` of a list. ``what`` is the name of the list."""
    for position, (axis, dim) in enumerate(zip(axes, dims)):
        if entries[position] is not None:
            explain_size(axis, dim, f"entry {position} of {what} {shape_text(tuple(entries))}")


def scaled(
    axes: Iterable[int], sizes: Sequence[MaybeDim], *, factors: Sequence[object], dims: Sequence[MaybeDim]
) -> None:
    """Explains the sizes ``dims`` of scaled ``axes``: ``56 * 2``, rounded down."""
    for axis, size, factor, dim in zip(axes, sizes, factors, dims):
        if size is None or dim is None or not isinstance(factor, (int, float)):
            continue
        product, details = f"{_factor(size)} * {factor:g}", f"scale {factor:g} on axis {axis}"
        if float(factor).is_integer() and size * int(factor) == dim:
            explain_size(axis, dim, product, details)
        elif isinstance(size, int) and int(size * factor) == dim:
            explain_size(axis, dim, product if size * factor == dim else f"floor({product})", details)


def _factor(dim: MaybeDim) -> str:
    return f"({dim})" if " " in str(dim) else _term(dim)


def _summand(dim: MaybeDim) -> str:
    return f"({dim})" if dim is not None and len(terms_of(dim)) > 1 else _term(dim)


def _term(dim: MaybeDim) -> str:
    return "?" if dim is None else str(dim)
