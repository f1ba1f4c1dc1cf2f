"""The accepted sizes of a model as ranges and steps, with valid examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from irlint.contracts.assumptions import contradiction
from irlint.contracts.contract import Contract
from irlint.contracts.derived import Dependence, dependence, joint, ones
from irlint.contracts.fitting import FARTHEST, Constraints, points
from irlint.contracts.formulas import Formula
from irlint.contracts.sizes import ALL, Sizes
from irlint.dims import Dim, Expr, Shape, symbols
from irlint.records import NOTHING, record, replaced

#: The names and shapes of inputs. The shape is None if the rank is unknown.
Inputs = tuple[tuple[str, "Shape | None"], ...]


@record
class Progression:
    """The sizes ``first``, ``first + step``, … up to ``last`` (None: no end)."""

    first: int
    step: int
    last: int | None
    #: Whether all sizes in the set up to FARTHEST belong to the progression.
    is_complete: bool = True

    def __contains__(self, size: int) -> bool:
        return size >= self.first and (self.last is None or size <= self.last) and (size - self.first) % self.step == 0

    @property
    def sizes(self) -> Sizes:
        """The progression as a set."""
        low, residue = divmod(self.first, self.step)
        intervals = ((low, None if self.last is None else (self.last - residue) // self.step),)
        return Sizes(self.step, tuple(intervals if at == residue else () for at in range(self.step)))


@record
class SymbolicSize:
    """A symbolic size of an input."""

    name: str
    #: The name in the file, or "".
    label: str
    #: The root of the symbol (see ``fitting``): a symbol that it equals, or the symbol itself.
    leader: str
    #: The sizes that the conditions on one symbol allow. Conditions on several symbols may exclude some of these sizes.
    sizes: Sizes
    #: The ``least`` sizes of all symbols together satisfy all conditions. So do the ``middle`` and ``greatest`` sizes.
    least: int
    middle: int
    greatest: int
    #: The conditions that are about no symbol but the leader.
    conditions: tuple[str, ...] = ()
    #: The greatest size for which some computed size inside the model is still at most 1; 0 if there is none.
    ones: int = 0

    @property
    def is_unbounded(self) -> bool:
        """Whether the size has no limit up to FARTHEST."""
        return self.sizes.greatest is None or self.sizes.greatest > FARTHEST

    @property
    def fixed(self) -> int | None:
        """The only possible size, or None."""
        return self.sizes.single


@record
class Profile:
    """The inputs of a model, and the symbols in their shapes."""

    path: str
    inputs: Inputs
    #: Whether runtimes know the inputs by these names.
    named: bool
    symbols: Mapping[str, SymbolicSize]
    #: The equalities of two symbols.
    equal: tuple[str, ...] = ()
    #: The other conditions on several symbols.
    together: tuple[str, ...] = ()
    #: (path of a body that may never run, condition of this body).
    branches: tuple[tuple[str, str], ...] = ()
    #: The shapes that the user passed, which replace those in the file.
    notes: tuple[str, ...] = ()
    dependence: Dependence = Dependence(NOTHING, frozenset())
    #: The unconditional conditions.
    constraints: Constraints = Constraints((), NOTHING)


def profile_of(
    path: str,
    inputs: Inputs,
    contract: Contract,
    labels: Mapping[str, str],
    *,
    named: bool,
    computed: Iterable[Dim] = (),
) -> Profile:
    """The profile of a model.

    ``labels`` are the names of symbols in the file, ``computed`` the sizes inside the model. Raises ValueError if no
    sizes that satisfy the conditions are found.
    """
    if not contract.satisfiable:
        raise ValueError(f"no sizes fit: {contradiction(contract.impossible)}")
    names = _symbols(inputs)
    known = _leaders(names, contract)
    fixed = {name: leader for name, leader in known.items() if isinstance(leader, int)}
    leaders = {name: name if isinstance(leader, int) else leader for name, leader in known.items()}
    texts = [condition.text for condition in contract.conditions if not condition.when]
    alone, together = _split(texts)
    equal = tuple(text for text in together if _is_equality(text, leaders))

    constraints = Constraints(texts, known, [relations for _, relations in joint(contract)])
    preferred = {
        name: progression(sizes).sizes
        for name in constraints.roots
        if (sizes := contract.sizes.get(name)) is not None and not sizes.is_empty
    }
    least, middle, greatest = points(constraints, contract.sizes, preferred)
    depends = dependence(contract)
    dependent = {name: size.dim for name, size in depends.linear.items()}
    greatest_for_ones = ones(computed, {**contract.values, **dependent})
    symbolic = {
        name: SymbolicSize(
            name,
            labels.get(name, name),
            leaders[name],
            _only(fixed[name]) if name in fixed else contract.sizes.get(leaders[name], ALL),
            least[name],
            middle[name],
            greatest[name],
            tuple(alone.get(leaders[name], ())),
            greatest_for_ones.get(name, 0),
        )
        for name in names
    }
    branches = tuple((condition.when, condition.text) for condition in contract.conditions if condition.when)
    others = tuple(text for text in together if text not in equal and not _names(text) <= fixed.keys())
    return Profile(path, inputs, named, symbolic, equal, others, branches, dependence=depends, constraints=constraints)


def sizes_near(names: Iterable[str], contract: Contract, wishes: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Sizes of symbols that a model accepts. Each of ``wishes`` has a size for every symbol.

    Returns the first wish that the model accepts. If the model accepts no wish, returns accepted sizes that are raised
    toward the first wish. If no accepted sizes are found, returns the first wish.
    """
    texts = [condition.text for condition in contract.conditions if not condition.when]
    every = sorted({*names, *(name for text in texts for name in _names(text))})
    conditions = [Formula(text) for text in texts]
    for wish in wishes:
        if _accepts(contract, conditions, {name: wish[name] for name in every}):
            return {name: wish[name] for name in every}
    constraints = Constraints(texts, _leaders(every, contract), [relations for _, relations in joint(contract)])
    try:
        found = constraints.nearest(contract.sizes, wishes[0])
    except ZeroDivisionError:
        found = None
    return found or {name: wishes[0][name] for name in every}


def _accepts(contract: Contract, conditions: Iterable[Formula], sizes: Mapping[str, int]) -> bool:
    try:
        return all(size in contract.sizes.get(name, ALL) for name, size in sizes.items()) and all(
            condition.holds(sizes) for condition in conditions
        )
    except ZeroDivisionError:
        return False


def _leaders(names: Iterable[str], contract: Contract) -> dict[str, int | str]:
    """For each symbol, its leader (see ``fitting``): the number or the root that the symbol equals."""
    roots = {name: _number_or_root(name, contract.values) for name in names}
    return {
        name: root if isinstance(root, int) else name if root is None else str(root) for name, root in roots.items()
    }


def _symbols(inputs: Inputs) -> list[str]:
    dims = [dim for _, shape in inputs for dim in shape or ()]
    return sorted({name for dim in dims if isinstance(dim, Expr) for name in symbols(dim)})


def _number_or_root(name: str, values: Mapping[str, Dim]) -> Dim | None:
    found: Dim | None = None
    while name in values:
        found = values[name]
        if isinstance(found, int):
            return found
        name = str(found)
    return found


def _is_equality(text: str, leaders: Mapping[str, str]) -> bool:
    one, equals, other = text.partition(" == ")
    return bool(equals) and one in leaders and leaders[one] == leaders.get(other)


def _only(size: int) -> Sizes:
    return Sizes(1, (((size, size),),))


def _names(text: str) -> set[str]:
    return set(Formula(text).names)


def _split(texts: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """(the conditions on one symbol, by this symbol; the conditions on several symbols)."""
    alone: dict[str, list[str]] = {}
    together = []
    for text in texts:
        names = _names(text)
        if len(names) == 1:
            alone.setdefault(names.pop(), []).append(text)
        else:
            together.append(text)
    return alone, together


def progression(sizes: Sizes) -> Progression:
    """The longest progression in a set that is not empty, with a step that divides the modulus of the set.

    Of several longest ones, that with the smallest step, then the last one if they are finite. An infinite progression
    is longer than a finite one, and an interval that ends beyond FARTHEST counts as infinite.
    """
    if sizes.greatest is not None and sizes.greatest > FARTHEST:
        found = progression(_without_far_ends(sizes))
        return found if found.last is not None else replaced(found, last=_last(found, sizes))
    steps = [step for step in range(1, sizes.modulus + 1) if sizes.modulus % step == 0]
    for step in steps:
        for residue in range(step):
            tails = [sizes.classes[class_residue][-1:] for class_residue in range(residue, sizes.modulus, step)]
            if all(tail and tail[0][1] is None for tail in tails):
                starts = [
                    class_residue + sizes.modulus * tail[0][0]
                    for class_residue, tail in zip(range(residue, sizes.modulus, step), tails)
                ]
                return _with_completeness(max(starts) - sizes.modulus + step, step, None, sizes)
    elements = list(sizes.elements(min(sizes.greatest or FARTHEST, FARTHEST)))
    # The number of sizes, the negated step, and the last size of the best progression.
    best: tuple[int, int, int] = (0, 0, 0)
    for step in steps:
        length: dict[int, int] = {}
        for size in elements:
            length[size] = length.get(size - step, 0) + 1
        last = max(length, key=lambda size: (length[size], size))
        best = max(best, (length[last], -step, last))
    count, negated, last = best
    return _with_completeness(last + (count - 1) * negated, -negated if count > 1 else 1, last, sizes)


def _without_far_ends(sizes: Sizes) -> Sizes:
    """The sizes, where intervals that end beyond FARTHEST have no end."""
    far = FARTHEST // sizes.modulus
    classes = [
        tuple((low, None if high is not None and high >= far else high) for low, high in intervals)
        for intervals in sizes.classes
    ]
    return Sizes(sizes.modulus, tuple(classes))


def _last(found: Progression, sizes: Sizes) -> int:
    """The last size up to which all sizes of the progression are in the set."""
    ends = [
        residue + sizes.modulus * intervals[-1][1]
        for residue, intervals in enumerate(sizes.classes)
        if intervals and intervals[-1][1] is not None and (residue - found.first) % gcd(found.step, sizes.modulus) == 0
    ]
    least = min(ends)
    return least - (least - found.first) % found.step


def _with_completeness(first: int, step: int, last: int | None, sizes: Sizes) -> Progression:
    """The progression. It is complete if it has all sizes of the set up to FARTHEST."""
    found = Progression(first, step, last)
    limits = [limit for intervals in sizes.classes for interval in intervals for limit in interval if limit is not None]
    # Above all limits of intervals, the set is periodic.
    end = (max(first // sizes.modulus, *limits) + 2) * sizes.modulus
    is_complete = all(size in found for size in sizes.elements(min(end, FARTHEST)))
    return replaced(found, is_complete=is_complete)
