"""The accepted sizes of a model in the form that tools need: a range and a step for each symbol, and valid examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from irlint.contracts.contract import Contract
from irlint.contracts.derived import Dependence, dependence, joint, ones
from irlint.contracts.fitting import FARTHEST, points
from irlint.contracts.formulas import Formula
from irlint.contracts.sizes import ALL, Sizes
from irlint.dims import Dim, Expr, Shape, symbols
from irlint.records import NOTHING, record, replaced

#: The names and shapes of inputs; the shape is None if the rank is unknown.
Inputs = tuple[tuple[str, "Shape | None"], ...]


@record
class Progression:
    """The sizes ``first``, ``first + step``, … up to ``last`` (None: no end).

    ``is_complete`` is True if the set from which the progression was taken has no other size.
    """

    first: int
    step: int
    last: int | None
    is_complete: bool = True

    def __contains__(self, size: int) -> bool:
        return size >= self.first and (self.last is None or size <= self.last) and (size - self.first) % self.step == 0


@record
class Free:
    """A symbolic size of an input.

    ``label`` is its name in the file, or "". ``leader`` is the symbol that it equals, or its own name. ``sizes`` are
    the sizes that it can have for some sizes of the other symbols. The ``least`` sizes of all symbols together satisfy
    all conditions, and so do all ``usual`` and all ``greatest`` sizes. ``conditions`` are about the leader alone.
    ``ones`` is the greatest size for which a size inside the model is at most 1, or 0.
    """

    name: str
    label: str
    leader: str
    sizes: Sizes
    least: int
    usual: int
    greatest: int
    conditions: tuple[str, ...] = ()
    ones: int = 0

    @property
    def is_open(self) -> bool:
        """Whether the size has no upper limit, or one above FARTHEST, which tools cannot use."""
        return self.sizes.greatest is None or self.sizes.greatest > FARTHEST

    @property
    def fixed(self) -> int | None:
        """The only possible size, or None."""
        return self.sizes.single


@record
class Profile:
    """The inputs of a model with their shapes, and the symbols in these shapes.

    ``named`` is True if runtimes know the inputs by these names. ``equal`` has the equalities of two symbols,
    ``together`` the other conditions on several symbols, and ``branches`` the paths of bodies that may never run, each
    with a condition of this body. ``notes`` state which shapes the user has given instead of those in the file.
    """

    path: str
    inputs: Inputs
    named: bool
    symbols: Mapping[str, Free]
    equal: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    branches: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    dependence: Dependence = Dependence(NOTHING, frozenset())


def profile_of(
    path: str,
    inputs: Inputs,
    contract: Contract,
    labels: Mapping[str, str],
    *,
    named: bool,
    computed: Iterable[Dim] = (),
) -> Profile:
    """The profile of a model with these inputs.

    ``labels`` maps symbols to their names in the file, or to "". ``computed`` are sizes inside the model. Raises
    ValueError if the conditions contradict each other, or if no sizes that satisfy them are found.
    """
    if not contract.satisfiable:
        demands = " and ".join(each.requirement.condition for each in contract.impossible)
        raise ValueError(f"no sizes fit: {demands}")
    names = _symbols(inputs)
    values = {name: _value(name, contract.values) for name in names}
    fixed = {name: value for name, value in values.items() if isinstance(value, int)}
    leaders = {name: str(value) for name, value in values.items() if value is not None and name not in fixed}
    leaders = {name: leaders.get(name, name) for name in names}
    roots = sorted({leaders[name] for name in names if name not in fixed})
    texts = [each.text for each in contract.conditions if not each.when]
    alone, together = _split(texts)
    equal = tuple(text for text in together if _is_equality(text, leaders))

    known: dict[str, int | str] = {**leaders, **fixed}
    least, usual, greatest = points(
        roots, contract.sizes, texts, known, [relations for _, relations in joint(contract)]
    )
    depends = dependence(contract)
    multiples = {name: each.dim for name, each in depends.multiples.items()}
    smallest = ones(computed, {**contract.values, **multiples})
    free = {
        name: Free(
            name,
            labels.get(name, name),
            leaders[name],
            _only(fixed[name]) if name in fixed else contract.sizes.get(leaders[name], ALL),
            least[name],
            usual[name],
            greatest[name],
            tuple(alone.get(leaders[name], ())),
            smallest.get(name, 0),
        )
        for name in names
    }
    branches = tuple((each.when, each.text) for each in contract.conditions if each.when)
    others = tuple(text for text in together if text not in equal and not _names(text) <= fixed.keys())
    return Profile(path, inputs, named, free, equal, others, branches, dependence=depends)


def _symbols(inputs: Inputs) -> list[str]:
    """The symbols in the shapes of inputs, sorted."""
    dims = [dim for _, shape in inputs for dim in shape or ()]
    return sorted({name for dim in dims if isinstance(dim, Expr) for name in symbols(dim)})


def _value(name: str, values: Mapping[str, Dim]) -> Dim | None:
    """The number or the root that a symbol equals; None if the symbol equals no other."""
    found: Dim | None = None
    while name in values:
        found = values[name]
        if isinstance(found, int):
            return found
        name = str(found)
    return found


def _is_equality(text: str, leaders: Mapping[str, str]) -> bool:
    """Whether a condition is the equality of two symbols with the same leader."""
    one, equals, other = text.partition(" == ")
    return bool(equals) and one in leaders and leaders[one] == leaders.get(other)


def _only(size: int) -> Sizes:
    return Sizes(1, (((size, size),),))


def _names(text: str) -> set[str]:
    """The symbols in a condition."""
    return set(Formula(text).names)


def _split(texts: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The conditions on one symbol, by its name, and the conditions on several."""
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
    """The longest progression in a set that is not empty; of equally long progressions, the one with the smallest step.

    An infinite progression is longer than a finite one. Of a finite set, only sizes up to FARTHEST are examined.
    """
    if sizes.greatest is not None and sizes.greatest > FARTHEST:
        found = progression(_without_far_ends(sizes))
        return found if found.last is not None else replaced(found, last=_last(found, sizes))
    steps = [step for step in range(1, sizes.modulus + 1) if sizes.modulus % step == 0]
    for step in steps:
        for residue in range(step):
            tails = [sizes.classes[each][-1:] for each in range(residue, sizes.modulus, step)]
            if all(tail and tail[0][1] is None for tail in tails):
                starts = [
                    each + sizes.modulus * tail[0][0] for each, tail in zip(range(residue, sizes.modulus, step), tails)
                ]
                return _compared(max(starts) - sizes.modulus + step, step, None, sizes)
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
    return _compared(last + (count - 1) * negated, -negated if count > 1 else 1, last, sizes)


def _without_far_ends(sizes: Sizes) -> Sizes:
    """The sizes, where each interval that ends beyond FARTHEST has no end."""
    far = FARTHEST // sizes.modulus
    classes = [
        tuple((low, None if high is not None and high >= far else high) for low, high in each) for each in sizes.classes
    ]
    return Sizes(sizes.modulus, tuple(classes))


def _last(found: Progression, sizes: Sizes) -> int:
    """The last size of a progression that is in the set, which an infinite progression leaves at its first end."""
    ends = [
        residue + sizes.modulus * each[-1][1]
        for residue, each in enumerate(sizes.classes)
        if each and each[-1][1] is not None and (residue - found.first) % gcd(found.step, sizes.modulus) == 0
    ]
    least = min(ends)
    return least - (least - found.first) % found.step


def _compared(first: int, step: int, last: int | None, sizes: Sizes) -> Progression:
    """The progression, compared with all sizes of the set up to FARTHEST or, for an infinite set, up to a multiple."""
    found = Progression(first, step, last)
    end = sizes.greatest if sizes.greatest is not None else first + 4 * sizes.modulus + 64
    is_complete = all(size in found for size in sizes.elements(min(end, FARTHEST)))
    return replaced(found, is_complete=is_complete)
