"""Compares the sizes that two models accept for their shared inputs, by symbol and at combinations of sizes."""

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

#: Symbols are replaced by values at most this many times, because a value may be a symbol.
MAX_CHAIN = 8

#: The largest number of sizes that are tried for each symbol, and of combinations.
TRIED_SIZES = 5
TRIED_POINTS = 600

#: The largest number of sizes that are drawn for all combinations.
DRAWN = 60_000

#: Longer texts of sizes are not read as expressions.
LONGEST_SUM = 200


Point = Mapping[str, int]


def tensor_of(known: Type | None) -> Tensor | SparseTensor | None:
    """The tensor type of a value or, for sequences and optional values, of its elements; else None."""
    while isinstance(known, (SequenceType, Optional)):
        known = known.element
    return known if isinstance(known, (Tensor, SparseTensor)) else None


@record
class Axis:
    """An axis of an input that both models have, and its size in each."""

    end: End
    axis: int
    old: MaybeDim
    new: MaybeDim


def shared_axes(pairs: Iterable[tuple[End, End]]) -> list[Axis]:
    """The axes of inputs that have the same rank in both models."""
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
    """The possible sizes of an axis of an input; None if that is too complex."""
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
    """The inputs that a model accepts.

    ``texts`` maps symbols to names in the file that are expressions of other sizes: ``past + 1``.
    """

    contract: Contract
    texts: Mapping[str, str]


@record
class Broken:
    """A condition of the new model that the sizes ``point`` violate, although both models accept each size alone.

    ``name`` is the symbol of axes that the new model makes equal, if that is the condition.
    """

    point: Point
    condition: Condition | None = None
    name: str = ""


def broken_conditions(axes: Sequence[Axis], old: Taken, new: Taken) -> list[Broken]:
    """The conditions on several sizes that the new model has and the old one does not."""
    several = [each for each in new.contract.conditions if not each.when and not _is_of_one(each, new.contract)]
    formulas = [(each, Formula(each.text)) for each in several]
    found: dict[str, Broken] = {}
    for point in points(axes, old, new):
        env, clash = carried(axes, point)
        if clash:
            found.setdefault(clash, Broken(point, name=clash))
            continue
        for condition, formula in formulas:
            if condition.text not in found and _holds(formula, env) is False:
                found[condition.text] = Broken(point, condition)
    return list(found.values())


def _is_of_one(condition: Condition, contract: Contract) -> bool:
    """Whether a condition is about one axis alone; such conditions are compared as sets of sizes."""
    relations = condition.demand.requirement.any_of
    names = {
        str(settled(symbol(name), contract))
        for each in relations
        for side in (each.left, each.right)
        for name in symbols(side)
    }
    left = [name for name in names if not name.isdecimal()]
    return len(left) <= 1 and all(name in contract.sizes for name in left)


def points(axes: Sequence[Axis], taken: Taken, other: Taken) -> Iterator[Point]:
    """Sizes for the symbols of the old model that it accepts; the new model accepts each of them alone."""
    old, new = taken.contract, other.contract
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
        mine, before = sizes_of(one, old), spans.get(str(one))
        if mine is not None and theirs is not None and before is not None:
            joint = met(mine, theirs)
            spans[str(one)] = None if joint is None else met(before, joint)
    tried = {name: _tried(sizes) for name, sizes in spans.items()}
    formulas = [Formula(each.text) for each in old.conditions if not each.when]
    sums = [(name, formula) for name, text in taken.texts.items() if (formula := _sum(text)) is not None]
    given = {str(each.old): settled(each.old, old) for each in axes if isinstance(each.old, Expr)}
    for sizes in _combined(tried):
        point = _whole_point(given, _summed(sizes, sums))
        if point is not None and all(_holds(each, point) is not False for each in formulas):
            yield point


def carried(axes: Iterable[Axis], point: Point) -> tuple[dict[str, int], str]:
    """The sizes of the new model's symbols for sizes of the old model's, and a symbol that would need two sizes, or
    ""."""
    env: dict[str, int] = {}
    for each in axes:
        if each.old is None or not isinstance(each.new, Expr):
            continue
        size = each.old if isinstance(each.old, int) else point.get(str(each.old))
        if size is not None and env.setdefault(str(each.new), size) != size:
            return env, str(each.new)
    return env, ""


def _whole_point(given: Mapping[str, Dim], sizes: Point) -> Point | None:
    """The sizes of all symbols of the old model, computed from ``sizes``; None if some are missing.

    ``given`` maps the other symbols to expressions of those in ``sizes``.
    """
    try:
        return {**sizes, **{name: evaluated(dim, sizes) for name, dim in given.items()}}
    except KeyError:
        return None


def _sum(text: str) -> Formula | None:
    """The formula for a name that is an expression of other sizes, such as ``past + 1``; None for any other name."""
    if not any(sign in text for sign in "+-*/") or "**" in text or len(text) > LONGEST_SUM:
        return None
    if not all(each.isalnum() or each in "_+-*/() " for each in text):
        return None
    try:
        return Formula(text)
    except (SyntaxError, TypeError):
        return None


def _summed(sizes: Point, sums: Iterable[tuple[str, Formula]]) -> Point:
    """The sizes; those whose names are expressions are computed."""
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
    """A few sizes of a set: the smallest ones, at most TRIED_SIZES, and a larger one; [] if it is empty or None."""
    if sizes is None or sizes.is_empty:
        return []
    least, greatest = sizes.least, sizes.greatest
    end = least + 4 * sizes.modulus + 64
    found = [size for size in range(least, end if greatest is None else min(end, greatest) + 1) if size in sizes]
    return [*found[:TRIED_SIZES], *found[-1:]] if len(found) > TRIED_SIZES else found


def _combined(tried: Mapping[str, list[int]]) -> Iterator[Point]:
    """Combinations of sizes: all if there are few, else a sample that is the same in every run."""
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
    """Whether a condition is true; None if it is about other sizes than these."""
    try:
        return formula.holds(sizes)
    except (KeyError, ZeroDivisionError):
        return None
