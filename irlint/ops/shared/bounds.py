"""Descriptions of integer tensors that are too large to store.

A ``Ramp`` (a start, and a step along each axis) describes every entry, for example the values of a Range. ``Ends`` are
the least and the largest entry. ``Columns`` have a separate description for each position of the last axis.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from irlint.dims import (
    Dim,
    MaybeDim,
    Shape,
    TooComplex,
    at_least,
    guarded,
    largest,
    product,
    same,
    smallest,
    substituted,
    symbol,
    symbols,
)
from irlint.dims import bounds as limits
from irlint.dims.polynomials import Atom, terms_of
from irlint.lazy_typing import Any, TypeVar
from irlint.model.descriptions import Columns
from irlint.model.tensor import FLOATS, INTEGERS, Ends, Extent, Ramp, Scalar, Tensor
from irlint.ops.shared import contents

Found = TypeVar("Found")

#: A description of values that are not stored; None if nothing is known.
Described = Ramp | Ends | None

#: Element types whose arithmetic on sizes irlint treats as exact.
EXACT = frozenset({"int32", "int64", "float32", "float64"})

#: The integer types of ``EXACT``.
EXACT_INTEGERS = frozenset({"int32", "int64"})

#: The symbol for any entry of a tensor. No model has a symbol with a space.
ENTRY = "an entry"

#: ``Columns`` describe at most this many positions of the last axis.
MOST_COLUMNS = 8

# --- what is known about a tensor -------------------------------------------------------------------------------------


def ramp_of(x: Tensor) -> Ramp | None:
    """The values as a ramp; None if no ramp is known. Stored values can be a ramp along one axis."""
    if isinstance(x.extent, Ramp):
        return x.extent
    numbers = x.ints
    if not numbers or x.shape is None or x.dtype not in EXACT:
        return None
    first, *others = numbers
    if first is None or None in others:
        return None
    if all(entry == first for entry in others):
        return Ramp(first, (0,) * len(x.shape))
    wide = [axis for axis, dim in enumerate(x.shape) if dim != 1]
    steps = {b - a for a, b in zip(numbers, others)}  # type: ignore[operator]
    if len(wide) > 1 or len(steps) > 1:
        return None
    (step,) = steps
    return Ramp(first, tuple(step if axis == wide[0] else 0 for axis in range(len(x.shape))))


def one_number(x: Tensor) -> MaybeDim:
    """The number in all entries; None if the entries may differ."""
    ramp = ramp_of(x)
    return ramp.first if ramp is not None and all(step == 0 for step in ramp.steps) else None


def ends_of(x: Tensor) -> Ends | None:
    """The least and the largest entry; None if one of the two is unknown."""
    if isinstance(x.extent, Ends):
        return x.extent
    if isinstance(x.extent, Columns):
        return x.extent.ends
    if isinstance(x.extent, Ramp):
        return _unless_complex(_ends_of_ramp, x.extent, x.shape)
    if (
        isinstance(x.extent, Extent)
        and x.dtype in INTEGERS
        and x.extent.least is not None
        and x.extent.most is not None
    ):
        return Ends(int(x.extent.least), int(x.extent.most))
    numbers = x.ints
    least, most = (smallest(*numbers), largest(*numbers)) if numbers else (None, None)
    return None if least is None or most is None else Ends(least, most)


def _ends_of_ramp(ramp: Ramp, shape: Shape | None) -> Ends | None:
    least = most = ramp.first
    for step, dim in zip(ramp.steps, shape or ()):
        if step == 0:
            continue
        if dim is None:
            return None
        if at_least(step, 0):
            most = most + step * (dim - 1)
        elif at_least(0, step):
            least = least + step * (dim - 1)
        else:
            return None
    return Ends(least, most)


def _unless_complex(function: Callable[..., Found], *arguments: object) -> Found | None:
    """The result of a function; None if an expression is too complex."""
    try:
        return function(*arguments)
    except (TooComplex, ZeroDivisionError):
        return None


# --- sources of descriptions ------------------------------------------------------------------------------------------


def ranged(start: Scalar, step: Scalar, dtype: str | None) -> Described:
    """A ramp along one axis; None if ``start`` or ``step`` is not a known integer."""
    first, each = (Tensor(dtype, (), (entry,)).ints for entry in (start, step))
    if dtype not in EXACT or first is None or each is None or first[0] is None or each[0] is None:
        return None
    return Ramp(first[0], (each[0],))


def repeated(entry: Scalar, rank: int, dtype: str | None) -> Described:
    """A ramp with the same integer everywhere; None if ``entry`` is not a known integer."""
    numbers = Tensor(dtype, (), (entry,)).ints
    if dtype not in EXACT_INTEGERS or numbers is None or numbers[0] is None:
        return None
    return Ramp(numbers[0], (0,) * rank)


def summed(x: Tensor, axis: int, exclusive: bool, *, reverse: bool) -> Described:
    """The running sums along ``axis`` of a tensor whose entries are all equal."""
    number, dim = one_number(x), None if x.shape is None else x.shape[axis]
    if number is None or dim is None or x.shape is None or x.dtype not in EXACT:
        return None
    first = guarded(operator.mul, number, dim) if reverse else number
    if first is None:
        return None
    step = -number if reverse else number
    steps = tuple(step if place == axis else 0 for place in range(len(x.shape)))
    return Ramp(first - number if exclusive else first, steps)


def all_positions(shape: Shape | None, dtype: str | None) -> Tensor:
    """The indices of all elements, in row-major order, as a tensor [rank, number of elements]."""
    assert shape is not None
    described = Ramp(0, (0, 1)) if len(shape) == 1 and dtype in EXACT else None
    return Tensor(dtype, (len(shape), product(shape)), None, described)


# --- element by element -----------------------------------------------------------------------------------------------


def spread(x: Tensor, shape: Shape | None) -> Described:
    """The values broadcast to ``shape``."""
    ramp = ramp_of(x)
    if ramp is None or shape is None or x.shape is None:
        return ends_of(x)
    steps: list[Dim] = [0] * len(shape)
    offset = len(shape) - len(x.shape)
    for axis, (step, dim) in enumerate(zip(ramp.steps, x.shape)):
        if step == 0 or dim == 1:
            continue
        if same(dim, shape[axis + offset]) is not True:
            return ends_of(x)
        steps[axis + offset] = step
    return Ramp(ramp.first, tuple(steps))


def combined(
    fold: Callable[..., Scalar], tensors: Sequence[Tensor], shape: Shape | None, *, dtype: str | None
) -> Described:
    """The result of an elementwise operator. ``fold`` computes an entry from the entries of the tensors."""
    if shape is None or dtype not in EXACT or any(x.dtype not in EXACT for x in tensors):
        return None
    if fold in (contents.plus, contents.minus) and len(tensors) == 2:
        a, b = (spread(x, shape) for x in tensors)
        if isinstance(a, Ramp) and isinstance(b, Ramp):
            return _unless_complex(_added, a, b, fold)
    return _unless_complex(_applied, fold, tensors, shape)


def _added(a: Ramp, b: Ramp, fold: Callable[..., Any]) -> Ramp:
    return Ramp(fold(a.first, b.first), tuple(fold(one, other) for one, other in zip(a.steps, b.steps)))


def _applied(fold: Callable[..., Scalar], tensors: Sequence[Tensor], shape: Shape) -> Described:
    """The result of ``fold`` on the symbol ``ENTRY``, which stands for any entry of the only tensor that varies."""
    varying = [index for index, x in enumerate(tensors) if one_number(x) is None]
    if len(varying) > 1:
        return None
    index = varying[0] if varying else 0
    ends = ends_of(tensors[index])
    if ends is None:
        return None
    least = limits(ends.least)[0] or 0 if at_least(ends.least, 0) else -(1 << 62)
    entry = symbol(ENTRY, least, by_data=True)
    row = [entry if place == index else _typed_number(x) for place, x in enumerate(tensors)]
    try:
        found = fold(*row)
    except (ArithmeticError, TypeError, ValueError):
        return None
    if None in row or isinstance(found, (bool, float)) or found is None:
        return None
    direction = _direction(found)
    if direction is None:
        return None
    given = spread(tensors[index], shape)
    if isinstance(given, Ramp) and (factor := _factor(found, entry)) is not None:
        return Ramp(substituted(found, {ENTRY: given.first}), tuple(factor * step for step in given.steps))
    first, last = (substituted(found, {ENTRY: end}) for end in (ends.least, ends.most))
    return Ends(first, last) if direction >= 0 else Ends(last, first)


def _typed_number(x: Tensor) -> Scalar:
    """The number in all entries. A tensor of floats gives a float, because division depends on the type."""
    number = one_number(x)
    if x.dtype not in FLOATS:
        return number
    return float(number) if isinstance(number, int) else None


def _factor(found: Dim, entry: Dim) -> MaybeDim:
    """The amount by which ``found`` changes if ``entry`` grows by 1; None if this amount is not constant."""
    factor = substituted(found, {ENTRY: entry + 1}) - found
    return None if ENTRY in symbols(factor) else factor


def _direction(a: Dim) -> int | None:
    """1 if ``a`` rises when ``ENTRY`` rises, -1 if ``a`` falls, 0 if ``a`` is constant; None if this is unknown."""
    found = set()
    for monomial, factor in terms_of(a).items():
        directions = [_direction_of(atom) for atom in monomial]
        moving = [direction for direction in directions if direction != 0]
        alone = len(monomial) == 1 or all(atom.low is not None and atom.low >= 0 for atom in monomial)
        if None in moving or (moving and not alone):
            return None
        found |= {direction if factor > 0 else -direction for direction in moving if direction is not None}
    return None if len(found) > 1 else found.pop() if found else 0


def _direction_of(atom: Atom) -> int | None:
    if not atom.parts:
        return 1 if atom.name == ENTRY else 0
    directions = {_direction(part) for part in (atom.parts[:1] if atom.kind == "//" else atom.parts)} - {0}
    if atom.kind == "//" and (_direction(atom.parts[1]) != 0 or not at_least(atom.parts[0], 0)):
        return None
    return None if len(directions) > 1 else directions.pop() if directions else 0


def chosen(condition: Tensor, a: Tensor, b: Tensor, *, shape: Shape | None) -> Described:
    """The result of Where; None unless the condition has one value everywhere, or ``a`` and ``b`` are the same ramp."""
    entries = set(condition.value or ())
    if len(entries) == 1 and isinstance(next(iter(entries)), bool):
        return spread(a if entries.pop() else b, shape) if a.dtype in EXACT else None
    one, other = spread(a, shape), spread(b, shape)
    return one if isinstance(one, Ramp) and one == other else None


def converted(x: Tensor, dtype: str | None) -> Described | Columns:
    """The values converted to ``dtype``; None if this type may not hold all of them."""
    if isinstance(x.extent, Columns):
        return x.extent if dtype in EXACT else None
    if not isinstance(x.extent, (Ramp, Ends)):
        return None
    if dtype in EXACT:
        return x.extent
    ends = ends_of(x)
    if ends is None or not isinstance(ends.least, int) or not isinstance(ends.most, int) or dtype not in INTEGERS:
        return None
    return x.extent if None not in (contents.cast(ends.least, dtype), contents.cast(ends.most, dtype)) else None


# --- data movement ----------------------------------------------------------------------------------------------------


def rearranged(x: Tensor, shape: Shape | None) -> Described | Columns:
    """The values under another shape, in the same order."""
    if isinstance(x.extent, Columns) and shape and x.shape is not None and shape[-1] == x.shape[-1]:
        columns = [ends_of(column(x, position)) for position in range(len(x.extent.columns))]
        return Columns(tuple(columns), x.extent.ends)
    ramp = ramp_of(x)
    if ramp is None or shape is None or x.shape is None:
        return ends_of(x)
    if all(step == 0 for step in ramp.steps):
        return Ramp(ramp.first, (0,) * len(shape))
    before = [(dim, step) for dim, step in zip(x.shape, ramp.steps) if dim != 1]
    wide = [axis for axis, dim in enumerate(shape) if dim != 1]
    if [dim for dim, _ in before] != [shape[axis] for axis in wide]:
        return ends_of(x)
    steps: list[Dim] = [0] * len(shape)
    for axis, (_, step) in zip(wide, before):
        steps[axis] = step
    return Ramp(ramp.first, tuple(steps))


def permuted(x: Tensor, order: Sequence[int]) -> Described:
    """The values with the axes in another order."""
    if not isinstance(x.extent, Ramp):
        return ends_of(x)
    return Ramp(x.extent.first, tuple(x.extent.steps[axis] for axis in order))


def arranged(known: Described, axes: Sequence[int | None]) -> Described:
    """A ramp with its axes in the order ``axes``, where None is a new axis. Other descriptions stay unchanged."""
    if not isinstance(known, Ramp):
        return known
    return Ramp(known.first, tuple(0 if axis is None else known.steps[axis] for axis in axes))


def tiled(x: Tensor, repeats: Sequence[MaybeDim]) -> Described:
    """The values repeated along each axis."""
    ramp = ramp_of(x)
    unchanged = ramp is not None and all(step == 0 or times == 1 for step, times in zip(ramp.steps, repeats))
    return ramp if unchanged else ends_of(x)


def taken(x: Tensor, places: Sequence[tuple[MaybeDim, MaybeDim]]) -> Described:
    """The values of a slice; ``places`` has (first position, step) for each axis."""
    ramp = ramp_of(x)
    return None if ramp is None else _unless_complex(_taken, ramp, places)


def _taken(ramp: Ramp, places: Sequence[tuple[MaybeDim, MaybeDim]]) -> Described:
    first, steps = ramp.first, list[Dim]()
    for step, (start, stride) in zip(ramp.steps, places):
        if step == 0:
            steps.append(0)
            continue
        if start is None or stride is None:
            return None
        first = first + step * start
        steps.append(step * stride)
    return Ramp(first, tuple(steps))


def gathered(data: Tensor, indices: Tensor, axis: int) -> Described:
    """The values that Gather selects along ``axis``."""
    ramp, places = ramp_of(data), ramp_of(indices)
    if ramp is None or data.shape is None or indices.shape is None:
        return None
    before, step, after = ramp.steps[:axis], ramp.steps[axis], ramp.steps[axis + 1 :]
    if step == 0:
        return Ramp(ramp.first, (*before, *(0,) * len(indices.shape), *after))
    ends, dim = ends_of(indices), data.shape[axis]
    if places is None or ends is None or dim is None:
        return None
    start = places.first if at_least(ends.least, 0) else places.first + dim if at_least(-1, ends.most) else None
    if start is None:
        return None
    return _unless_complex(
        lambda: Ramp(ramp.first + step * start, (*before, *(step * inner for inner in places.steps), *after))
    )


def concatenated(tensors: Sequence[Tensor], axis: int) -> Described | Columns:
    """The values of tensors concatenated along ``axis``."""
    found = _concatenated(tensors, axis)
    if isinstance(found, Ramp) or any(x.shape is None or axis != len(x.shape) - 1 for x in tensors):
        return found
    sizes = [x.shape[-1] for x in tensors if x.shape is not None]
    if not all(isinstance(size, int) for size in sizes) or sum(sizes) > MOST_COLUMNS:  # type: ignore[arg-type]
        return found
    columns = [column(x, position) for x, size in zip(tensors, sizes) for position in range(size)]  # type: ignore[arg-type]
    known = tuple(ramp_of(x) or ends_of(x) for x in columns)
    return Columns(known, found) if any(description is not None for description in known) else found


def _concatenated(tensors: Sequence[Tensor], axis: int) -> Described:
    first, *others = map(ramp_of, tensors)
    if first is not None and all(step == 0 for step in first.steps) and all(ramp == first for ramp in others):
        return first
    parts = [x for x in tensors if x.value != ()]
    known = [ends for x in parts if (ends := ends_of(x)) is not None]
    filled = [at_least(product(x.shape or ()), 1) for x in parts]
    sure = [ends for ends, has_entries in zip(known, filled) if has_entries]
    if len(known) < len(parts) or not all(
        has_entries or _adds_nothing_if_empty(x, axis, sure) for x, has_entries in zip(parts, filled)
    ):
        return None
    least, most = smallest(*(ends.least for ends in known)), largest(*(ends.most for ends in known))
    return None if least is None or most is None else Ends(least, most)


def _adds_nothing_if_empty(x: Tensor, axis: int, others: Sequence[Ends]) -> bool:
    """Whether, if ``x`` is empty, the ends computed for ``x`` lie within the ends of another tensor."""
    ramp = ramp_of(x)
    if ramp is None or any(step != 0 for place, step in enumerate(ramp.steps) if place != axis):
        return False
    step = ramp.steps[axis]
    before = ramp.first - step
    return bool(at_least(step, 0)) and any(
        at_least(ramp.first, ends.least) and at_least(ends.most, before) for ends in others
    )


def column(x: Tensor, position: int) -> Tensor:
    """The entries at one position of the last axis, which has a known size."""
    assert x.shape is not None
    shape, length = x.shape[:-1], x.shape[-1]
    assert isinstance(length, int)
    if x.value is not None:
        return Tensor(x.dtype, shape, x.value[position::length])
    if isinstance(x.extent, Ramp):
        *steps, last = x.extent.steps
        return Tensor(x.dtype, shape, None, Ramp(x.extent.first + last * position, tuple(steps)))
    if isinstance(x.extent, Columns):
        return Tensor(x.dtype, shape, None, x.extent.columns[position])
    return Tensor(x.dtype, shape, None, x.extent if length == 1 else None)
