"""Exact sets of sizes of one symbol: integers of at least 1, by residue classes and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import count
from math import lcm

from irlint.contracts.piecewise import Interval, NeedsFinerModulus, Unsolvable, pieces_of, where
from irlint.dims import Expr, TooComplex, at_least, evaluated, symbol, symbols
from irlint.findings.statements import Relation
from irlint.records import record

#: Sets with a larger modulus are too complex.
MAX_MODULUS = 4096

#: The signs of ``left - right`` for which a relation holds. For "%", the sign is that of ``left % right``.
SIGNS = {"==": (0,), ">=": (0, 1), "%": (0,)}


@record
class Sizes:
    """A set of sizes of at least 1.

    ``classes[residue]`` has intervals of integers k. The set consists of the sizes ``residue + modulus*k``.
    """

    modulus: int
    classes: tuple[tuple[Interval, ...], ...]

    @property
    def is_empty(self) -> bool:
        return not any(self.classes)

    @property
    def is_full(self) -> bool:
        """Whether the set has all sizes."""
        return all(intervals == (_unlimited(residue),) for residue, intervals in enumerate(self.classes))

    @property
    def least(self) -> int:
        """The least size; raises ValueError for an empty set."""
        return min(
            residue + self.modulus * intervals[0][0] for residue, intervals in enumerate(self.classes) if intervals
        )

    @property
    def greatest(self) -> int | None:
        """The greatest size; None if the set is infinite, 0 if it is empty."""
        ends = [(residue, intervals[-1][1]) for residue, intervals in enumerate(self.classes) if intervals]
        greatest = 0
        for residue, last in ends:
            if last is None:
                return None
            greatest = max(greatest, residue + self.modulus * last)
        return greatest

    @property
    def single(self) -> int | None:
        """The only size; None if the set is empty or has several sizes."""
        if self.is_empty:
            return None
        least = self.least
        return least if self.greatest == least else None

    def __contains__(self, size: int) -> bool:
        at, residue = divmod(size, self.modulus)
        return any(low <= at and (high is None or at <= high) for low, high in self.classes[residue])

    def few(self, limit: int) -> list[int]:
        """All sizes in order; [] if the set has more than ``limit``."""
        found: list[int] = []
        for residue, intervals in enumerate(self.classes):
            for low, high in intervals:
                if high is None or len(found) + high - low >= limit:
                    return []
                found += [residue + self.modulus * at for at in range(low, high + 1)]
        return sorted(found)

    def beyond(self, size: int, step: int) -> Iterator[int]:
        """The sizes above ``size`` (``step`` 1) or below it (``step`` -1), the nearest first."""
        return merge(
            *(self._class_beyond(at, size, step) for at in range(self.modulus)), key=lambda element: step * element
        )

    def _class_beyond(self, residue: int, size: int, step: int) -> Iterator[int]:
        nearest = (size - residue) // self.modulus + 1 if step > 0 else -((residue - size) // self.modulus) - 1
        for low, high in self.classes[residue][::step]:
            if step < 0:
                numbers: Iterable[int] = range(nearest if high is None else min(high, nearest), low - 1, -1)
            else:
                numbers = count(max(low, nearest)) if high is None else range(max(low, nearest), high + 1)
            yield from (residue + self.modulus * at for at in numbers)

    def elements(self, end: int) -> Iterator[int]:
        """The sizes up to ``end``, in order, in time proportional to ``end``."""
        return (size for size in range(1, end + 1) if size in self)


ALL = Sizes(1, (((1, None),),))


def _unlimited(residue: int) -> Interval:
    """The interval of all sizes of a residue class. The size 0 does not exist."""
    return (0 if residue else 1, None)


def solved(relations: Iterable[Relation]) -> Sizes | None:
    """The sizes for which at least one of the relations holds. All relations are about one symbol.

    None without relations, or if the sizes are too complex.
    """
    found: Sizes | None = None
    for relation in relations:
        sizes = _of_relation(relation)
        if sizes is None:
            return None
        found = sizes if found is None else joined(found, sizes)
    return found


def _of_relation(relation: Relation) -> Sizes | None:
    if relation.kind == "%" and isinstance(relation.left, int) and isinstance(relation.right, Expr):
        return _dividing(relation.left, relation.right)
    if relation.kind == "%" and isinstance(relation.right, int) and relation.right > 1:
        if str(relation.left) in symbols(relation.left):
            return _multiples(relation.right)
    try:
        if relation.kind == "%":
            difference = relation.left % relation.right
        else:
            difference = relation.left - relation.right
    except (TooComplex, ZeroDivisionError):
        return None
    modulus = 1
    while modulus <= MAX_MODULUS:
        try:
            classes = [
                where(pieces_of(difference, residue, modulus), SIGNS[relation.kind].__contains__)
                for residue in range(modulus)
            ]
        except NeedsFinerModulus as needed:
            modulus *= needed.factor
        except (Unsolvable, KeyError):
            return None
        else:
            return Sizes(modulus, tuple(map(tuple, classes)))
    return None


def _multiples(number: int) -> Sizes | None:
    return Sizes(number, ((_unlimited(0),), *[()] * (number - 1))) if number <= MAX_MODULUS else None


def _dividing(number: int, divisor: Expr) -> Sizes | None:
    """The sizes for which ``divisor`` divides ``number``; None if ``number`` is too large.

    Only sizes up to ``number`` are tried, so the result is also None if ``divisor`` may be less than the size.
    """
    if number == 0:
        return _of_relation(Relation(">=", divisor, 1))
    (name,) = symbols(divisor)
    if abs(number) > MAX_MODULUS or at_least(divisor, symbol(name, 1)) is not True:
        return None
    try:
        divisors = [evaluated(divisor, {name: size}) for size in range(1, abs(number) + 1)]
    except (TooComplex, ZeroDivisionError):
        return None
    sizes = [size for size, value in enumerate(divisors, 1) if value and number % value == 0]
    return Sizes(1, (tuple(_union([(size, size) for size in sizes], [])),))


def met(one: Sizes, other: Sizes) -> Sizes | None:
    """The sizes in both sets; None if that is too complex."""
    return other if one is ALL else _merged(one, other, _intersection)


def joined(one: Sizes, other: Sizes) -> Sizes | None:
    """The sizes in at least one of the sets; None if that is too complex."""
    return _merged(one, other, _union)


def _merged(
    one: Sizes, other: Sizes, operation: Callable[[list[Interval], list[Interval]], list[Interval]]
) -> Sizes | None:
    """The result of ``operation`` for each residue of a common modulus; None if that is too large."""
    modulus = lcm(one.modulus, other.modulus)
    if modulus > MAX_MODULUS:
        return None
    classes = [
        tuple(operation(_lifted(one, residue, modulus), _lifted(other, residue, modulus))) for residue in range(modulus)
    ]
    return Sizes(modulus, tuple(classes))


def between(low: int, high: int | None) -> Sizes:
    """The sizes from ``low`` to ``high`` (None: no end)."""
    return Sizes(1, (((low, high),),))


def within(one: Sizes, other: Sizes) -> bool | None:
    """Whether every size of ``one`` is in ``other``; None if that is too complex."""
    modulus = lcm(one.modulus, other.modulus)
    if modulus > MAX_MODULUS:
        return None
    for residue in range(modulus):
        outer = _union(_lifted(other, residue, modulus), [])
        for low, high in _union(_lifted(one, residue, modulus), []):
            if not any(first <= low and (last is None or (high is not None and high <= last)) for first, last in outer):
                return False
    return True


def _lifted(sizes: Sizes, residue: int, modulus: int) -> list[Interval]:
    """The intervals of the set for a residue of a larger ``modulus``."""
    offset, residue_of_set = divmod(residue, sizes.modulus)
    step = modulus // sizes.modulus
    found = []
    for low, high in sizes.classes[residue_of_set]:
        first = max(0, -((offset - low) // step))
        last = None if high is None else (high - offset) // step
        if last is None or first <= last:
            found.append((first, last))
    return found


def _intersection(one: list[Interval], other: list[Interval]) -> list[Interval]:
    found = []
    for low, high in one:
        for first, last in other:
            begin = max(low, first)
            end = last if high is None else high if last is None else min(high, last)
            if end is None or begin <= end:
                found.append((begin, end))
    return sorted(found, key=_order)


def _union(one: list[Interval], other: list[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for low, high in sorted([*one, *other], key=_order):
        if found and (found[-1][1] is None or low <= found[-1][1] + 1):
            before = found[-1][1]
            end = None if before is None or high is None else max(before, high)
            found[-1] = (found[-1][0], end)
        else:
            found.append((low, high))
    return found


def _order(interval: Interval) -> int:
    return interval[0]
