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

#: Values are inserted in at most this many rounds. Several rounds are needed if the value of a symbol has a symbol.
MAX_CHAIN = 8

#: This many of the smallest sizes of each symbol are tried, and a larger one.
TRIED_SIZES = 5

#: If there are more combinations of sizes than this, only a random sample of them is tried.
TRIED_POINTS = 600

#: The most sizes that the combinations of a sample have together. A sample has at least 8 combinations.
DRAWN = 60_000

#: Longer names are not read as expressions.
LONGEST_FORMULA = 200

Point = Mapping[str, int]


def tensor_of(known: Type | None) -> Tensor | SparseTensor | None:
    """The tensor type. For a sequence or optional type, that of the elements. None for other types."""
    while isinstance(known, (SequenceType, Optional)):
        known = known.element
    return known if isinstance(known, (Tensor, SparseTensor)) else None


@record
class Axis:
    """An axis of an input that both models have. ``old`` and ``new`` are its sizes in the two models."""

    #: The input of the new model, even if the models are ``swapped``.
    end: End
    axis: int
    old: MaybeDim
    new: MaybeDim


def shared_axes(pairs: Iterable[tuple[End, End]]) -> list[Axis]:
    """The axes of the shared inputs that are tensors of one rank in both models."""
    found = []
    for old, new in pairs:
        one, other = tensor_of(old.type), tensor_of(new.type)
        if one is None or other is None or one.shape is None or other.shape is None:
            continue
        if len(one.shape) == len(other.shape):
            found += [Axis(new, axis, *dims) for axis, dims in enumerate(zip(one.shape, other.shape))]
    return found


def swapped(axes: Iterable[Axis]) -> list[Axis]:
    """The axes with the two models exchanged."""
    return [Axis(axis.end, axis.axis, axis.new, axis.old) for axis in axes]


def resolved(dim: Dim, contract: Contract) -> Dim:
    """A size with its symbols replaced by the numbers or symbols that they equal."""
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
    """The possible sizes of an input's axis; None if they are too complex."""
    if dim is None:
        return ALL
    dim = resolved(dim, contract)
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
class Accepted:
    """The contract of a model, and the names of its symbols."""

    contract: Contract
    #: The names of symbols in the file, such as ``past + 1``.
    texts: Mapping[str, str]


@record
class Violation:
    """A condition of the new model, and sizes that violate the condition. Both models accept each size alone."""

    #: Sizes of the old model's symbols, which the old model accepts together.
    point: Point
    #: None if the new model has one symbol for different sizes of the old model.
    condition: Condition | None = None
    #: This symbol if ``condition`` is None.
    name: str = ""


def violations(axes: Sequence[Axis], old: Accepted, new: Accepted) -> list[Violation]:
    """The conditions of the new model that sizes of the old model violate, each with the first such combination.

    Considers only conditions on several sizes.
    """
    several = [
        condition
        for condition in new.contract.conditions
        if not condition.when and not _limits_one_symbol(condition, new.contract)
    ]
    formulas = [(condition, Formula(condition.text)) for condition in several]
    found: dict[str, Violation] = {}
    for point in points(axes, old, new):
        new_point, clash = carried(axes, point)
        if clash:
            found.setdefault(clash, Violation(point, name=clash))
            continue
        for condition, formula in formulas:
            if condition.text not in found and _holds(formula, new_point) is False:
                found[condition.text] = Violation(point, condition)
    return list(found.values())


def _limits_one_symbol(condition: Condition, contract: Contract) -> bool:
    relations = condition.demand.requirement.any_of
    names = {
        str(resolved(symbol(name), contract))
        for relation in relations
        for side in (relation.left, relation.right)
        for name in symbols(side)
    }
    dynamic = [name for name in names if not name.isdecimal()]
    return len(dynamic) <= 1 and all(name in contract.sizes for name in dynamic)


def points(axes: Sequence[Axis], old_accepted: Accepted, new_accepted: Accepted) -> Iterator[Point]:
    """Yields sizes of the old model's symbols that the old model accepts together.

    The new model accepts each of these sizes alone. If the new model refuses a static size of the old model, yields
    nothing.
    """
    old, new = old_accepted.contract, new_accepted.contract
    spans: dict[str, Sizes | None] = {}
    for axis in axes:
        dim = None if axis.old is None else resolved(axis.old, old)
        new_sizes = sizes_of(axis.new, new)
        if isinstance(dim, int) and new_sizes is not None and dim not in new_sizes:
            return
        if not isinstance(dim, Expr):
            continue
        for name in sorted(symbols(dim)):
            spans.setdefault(name, ALL)
        old_sizes, before = sizes_of(dim, old), spans.get(str(dim))
        if old_sizes is not None and new_sizes is not None and before is not None:
            shared = met(old_sizes, new_sizes)
            spans[str(dim)] = None if shared is None else met(before, shared)
    tried = {name: _tried(sizes) for name, sizes in spans.items()}
    formulas = [Formula(condition.text) for condition in old.conditions if not condition.when]
    named_formulas = [
        (name, formula) for name, text in old_accepted.texts.items() if (formula := _formula_of_name(text)) is not None
    ]
    dims = {str(axis.old): resolved(axis.old, old) for axis in axes if isinstance(axis.old, Expr)}
    for sizes in _combined(tried):
        point = _complete_point(dims, _with_named_formulas(sizes, named_formulas))
        if point is not None and all(_holds(formula, point) is not False for formula in formulas):
            yield point


def carried(axes: Iterable[Axis], point: Point) -> tuple[dict[str, int], str]:
    """(the sizes of the new model's symbols at ``point``, a symbol that would need two different sizes, or "")."""
    found: dict[str, int] = {}
    for axis in axes:
        if axis.old is None or not isinstance(axis.new, Expr):
            continue
        size = axis.old if isinstance(axis.old, int) else point.get(str(axis.old))
        if size is not None and found.setdefault(str(axis.new), size) != size:
            return found, str(axis.new)
    return found, ""


def _complete_point(dims: Mapping[str, Dim], sizes: Point) -> Point | None:
    try:
        return {**sizes, **{name: evaluated(dim, sizes) for name, dim in dims.items()}}
    except KeyError:
        return None


def _formula_of_name(text: str) -> Formula | None:
    """The formula of a name such as ``past + 1``; None for other names."""
    if not any(sign in text for sign in "+-*/") or "**" in text or len(text) > LONGEST_FORMULA:
        return None
    if not all(character.isalnum() or character in "_+-*/() " for character in text):
        return None
    try:
        return Formula(text)
    except (SyntaxError, TypeError):
        return None


def _with_named_formulas(sizes: Point, named_formulas: Iterable[tuple[str, Formula]]) -> Point:
    found = dict(sizes)
    for name, formula in named_formulas:
        try:
            size = formula.value(sizes) if name in sizes else None
        except (KeyError, ZeroDivisionError):
            size = None
        if isinstance(size, int) and size > 0:
            found[name] = size
    return found


def _tried(sizes: Sizes | None) -> list[int]:
    """The TRIED_SIZES smallest sizes, then a larger one; [] for an empty set or None."""
    if sizes is None or sizes.is_empty:
        return []
    least, greatest = sizes.least, sizes.greatest
    end = least + 4 * sizes.modulus + 64
    found = [size for size in range(least, end if greatest is None else min(end, greatest) + 1) if size in sizes]
    return [*found[:TRIED_SIZES], *found[-1:]] if len(found) > TRIED_SIZES else found


def _combined(tried: Mapping[str, list[int]]) -> Iterator[Point]:
    """All combinations of sizes. If there are more than TRIED_POINTS, yields a sample with a fixed seed."""
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
    """Whether a condition holds; None if a symbol has no size or a divisor is 0."""
    try:
        return formula.holds(sizes)
    except (KeyError, ZeroDivisionError):
        return None
