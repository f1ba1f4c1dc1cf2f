"""Compares the sizes that two models accept for their shared inputs: for each axis, and at combinations of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from irlint.contracts.conditions import conditions
from irlint.contracts.contract import Condition, Contract
from irlint.contracts.formulas import Formula
from irlint.contracts.interface import End
from irlint.contracts.sizes import ALL, Sizes, between, met
from irlint.dims import Dim, Expr, MaybeDim, TooComplex, bounds, evaluated, substituted, symbol, symbols
from irlint.model.tensor import Optional, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.records import record

#: Symbols are replaced by values in at most this many rounds, because a value may be a symbol.
MAX_CHAIN = 8

#: For each symbol, at most this many of the smallest sizes are tried, and a larger one.
TRIED_SIZES = 5

#: At most this many combinations of sizes are tried if all are tried; a sample has one more.
TRIED_POINTS = 600

#: The sizes in all combinations of a sample are at most this many, but at least 8 combinations are drawn.
DRAWN = 60_000

#: Names of sizes with more characters are not read as expressions.
LONGEST_SUM = 200

#: A size for each symbol.
Point = Mapping[str, int]


def tensor_of(known: Type | None) -> Tensor | SparseTensor | None:
    """The tensor type, or the tensor type of the elements of a sequence or optional type; None for any other type."""
    while isinstance(known, (SequenceType, Optional)):
        known = known.element
    return known if isinstance(known, (Tensor, SparseTensor)) else None


@record
class Axis:
    """An axis of an input that both models have, and the size of this axis in the old and in the new model.

    ``end`` is the input of the new model, also after the two models are ``swapped``.
    """

    end: End
    axis: int
    old: MaybeDim
    new: MaybeDim


def shared_axes(pairs: Iterable[tuple[End, End]]) -> list[Axis]:
    """The axes of the shared inputs that are tensors of the same rank in both models."""
    found = []
    for old, new in pairs:
        one, other = tensor_of(old.type), tensor_of(new.type)
        if one is None or other is None or one.shape is None or other.shape is None:
            continue
        if len(one.shape) == len(other.shape):
            found += [Axis(new, axis, *dims) for axis, dims in enumerate(zip(one.shape, other.shape))]
    return found


def swapped(axes: Iterable[Axis]) -> list[Axis]:
    """The same axes with the two models exchanged."""
    return [Axis(each.end, each.axis, each.new, each.old) for each in axes]


def settled(dim: Dim, contract: Contract) -> Dim:
    """A size in which symbols are replaced by the number or symbol that they equal."""
    for _ in range(MAX_CHAIN):
        before = dim
        try:
            dim = substituted(dim, contract.values)
        except TooComplex:
            return before
        if dim is before or dim == before:
            break
    return dim


def sizes_of(dim: MaybeDim, contract: Contract) -> Sizes | None:
    """The possible sizes of an axis of an input whose size is ``dim``; None if that is too complex."""
    if dim is None:
        return ALL
    dim = settled(dim, contract)
    if isinstance(dim, int):
        return between(dim, dim)
    low, high = bounds(dim)
    return met(contract.sizes.get(str(dim), ALL), between(max(low or 1, 1), high))


def sizes_text(name: str, sizes: Sizes) -> str:
    """``any size``, ``only 3``, or the conditions on the sizes."""
    if sizes.single is not None:
        return f"only {sizes.single}"
    texts = conditions(name, sizes)
    if texts is None:
        return "no size" if sizes.is_empty else f"some sizes from {sizes.least} on"
    return " and ".join(f"`{text}`" for text in texts) or "any size"


@record
class Taken:
    """The contract of a model, and ``texts``: the names in the file of symbols, such as ``past + 1``."""

    contract: Contract
    texts: Mapping[str, str]


@record
class Broken:
    """A condition of the new model that sizes of the old model's symbols, ``point``, violate.

    The old model accepts these sizes, and the new model accepts each of them alone. If axes of the new model have one
    symbol, and of the old model different ones, ``condition`` is None and ``name`` is this symbol.
    """

    point: Point
    condition: Condition | None = None
    name: str = ""


def broken_conditions(axes: Sequence[Axis], old: Taken, new: Taken) -> list[Broken]:
    """The conditions of the new model on several sizes that a tried combination of sizes of the old model violates."""
    several = [each for each in new.contract.conditions if not each.when and not _is_of_one(each, new.contract)]
    formulas = [(each, Formula(each.text)) for each in several]
    found: dict[str, Broken] = {}
    for point in points(axes, old, new):
        new_point, clash = carried(axes, point)
        if clash:
            found.setdefault(clash, Broken(point, name=clash))
            continue
        for condition, formula in formulas:
            if condition.text not in found and _holds(formula, new_point) is False:
                found[condition.text] = Broken(point, condition)
    return list(found.values())


def _is_of_one(condition: Condition, contract: Contract) -> bool:
    """Whether a condition limits a single symbol; the sets of sizes of this symbol are then compared instead."""
    relations = condition.demand.requirement.any_of
    names = {
        str(settled(symbol(name), contract))
        for each in relations
        for side in (each.left, each.right)
        for name in symbols(side)
    }
    dynamic = [name for name in names if not name.isdecimal()]
    return len(dynamic) <= 1 and all(name in contract.sizes for name in dynamic)


def points(axes: Sequence[Axis], old_taken: Taken, new_taken: Taken) -> Iterator[Point]:
    """Sizes of the old model's symbols that it accepts together and of which the new model accepts each alone.

    Yields nothing if the old model has a static size that the new one does not accept.
    """
    old, new = old_taken.contract, new_taken.contract
    spans: dict[str, Sizes | None] = {}
    for each in axes:
        one = None if each.old is None else settled(each.old, old)
        theirs = sizes_of(each.new, new)
        if isinstance(one, int) and theirs is not None and one not in theirs:
            return
        if not isinstance(one, Expr):
            continue
        for name in sorted(symbols(one)):
            spans.setdefault(name, ALL)
        ours, before = sizes_of(one, old), spans.get(str(one))
        if ours is not None and theirs is not None and before is not None:
            joint = met(ours, theirs)
            spans[str(one)] = None if joint is None else met(before, joint)
    tried = {name: _tried(sizes) for name, sizes in spans.items()}
    formulas = [Formula(each.text) for each in old.conditions if not each.when]
    sums = [(name, formula) for name, text in old_taken.texts.items() if (formula := _sum(text)) is not None]
    given = {str(each.old): settled(each.old, old) for each in axes if isinstance(each.old, Expr)}
    for sizes in _combined(tried):
        point = _complete_point(given, _with_sums(sizes, sums))
        if point is not None and all(_holds(each, point) is not False for each in formulas):
            yield point


def carried(axes: Iterable[Axis], point: Point) -> tuple[dict[str, int], str]:
    """The sizes of the new model's symbols that follow from ``point``, sizes of the old model's symbols, and "".

    If a symbol of the new model would need two sizes, returns it in place of "".
    """
    found: dict[str, int] = {}
    for each in axes:
        if each.old is None or not isinstance(each.new, Expr):
            continue
        size = each.old if isinstance(each.old, int) else point.get(str(each.old))
        if size is not None and found.setdefault(str(each.new), size) != size:
            return found, str(each.new)
    return found, ""


def _complete_point(given: Mapping[str, Dim], sizes: Point) -> Point | None:
    """The sizes with those of all other axes of the old model; None if a symbol has no size.

    ``given`` maps the size of each axis, as a text, to an expression of the symbols in ``sizes``.
    """
    try:
        return {**sizes, **{name: evaluated(dim, sizes) for name, dim in given.items()}}
    except KeyError:
        return None


def _sum(text: str) -> Formula | None:
    """The formula of a name that is an expression of other sizes, such as ``past + 1``; None for any other name."""
    if not any(sign in text for sign in "+-*/") or "**" in text or len(text) > LONGEST_SUM:
        return None
    if not all(each.isalnum() or each in "_+-*/() " for each in text):
        return None
    try:
        return Formula(text)
    except (SyntaxError, TypeError):
        return None


def _with_sums(sizes: Point, sums: Iterable[tuple[str, Formula]]) -> Point:
    """The sizes, where each symbol whose name is a formula has the value of this formula if it is at least 1."""
    found = dict(sizes)
    for name, formula in sums:
        try:
            size = formula.value(sizes) if name in sizes else None
        except (KeyError, ZeroDivisionError):
            size = None
        if isinstance(size, int) and size > 0:
            found[name] = size
    return found


def _tried(sizes: Sizes | None) -> list[int]:
    """The TRIED_SIZES smallest sizes of a set and a larger one; [] for an empty set or None."""
    if sizes is None or sizes.is_empty:
        return []
    least, greatest = sizes.least, sizes.greatest
    end = least + 4 * sizes.modulus + 64
    found = [size for size in range(least, end if greatest is None else min(end, greatest) + 1) if size in sizes]
    return [*found[:TRIED_SIZES], *found[-1:]] if len(found) > TRIED_SIZES else found


def _combined(tried: Mapping[str, list[int]]) -> Iterator[Point]:
    """All combinations of the tried sizes; if they are more than TRIED_POINTS, a sample that is always the same."""
    count = 1
    for sizes in tried.values():
        count *= len(sizes)
    if count <= TRIED_POINTS:
        yield from (dict(zip(tried, sizes)) for sizes in product(*tried.values()))
        return
    from random import Random

    draw = Random(0)
    yield {name: sizes[0] for name, sizes in tried.items()}
    for at in range(max(min(TRIED_POINTS, DRAWN // max(len(tried), 1)), 8)):
        few = 2 if at % 2 else TRIED_SIZES
        yield {name: draw.choice(list(islice(sizes, few))) for name, sizes in tried.items()}


def _holds(formula: Formula, sizes: Point) -> bool | None:
    """Whether a condition is true; None if a symbol has no size, or if a divisor is 0."""
    try:
        return formula.holds(sizes)
    except (KeyError, ZeroDivisionError):
        return None
