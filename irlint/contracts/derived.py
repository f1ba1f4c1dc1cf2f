"""Dependences between the sizes of inputs, such as ``M == 2*H``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from irlint.contracts.contract import Contract
from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import decided, replaced_in, simplified
from irlint.contracts.sizes import Sizes, met, solved
from irlint.dims import Dim, TooComplex, substituted, symbol, symbols
from irlint.dims.polynomials import terms_of
from irlint.findings.statements import Relation
from irlint.records import record

#: The most computed sizes that ``ones`` examines.
MOST_COMPUTED = 400


@record
class Linear:
    """The size ``factor*root + rest``, which depends on one other size."""

    #: The symbol of the other size.
    root: str
    factor: int
    rest: int
    #: The condition that states the dependence, or "".
    text: str = ""

    @property
    def dim(self) -> Dim:
        """The size as an expression."""
        return symbol(self.root, 1) * self.factor + self.rest


@record
class Dependence:
    """The dependences between sizes."""

    #: The size of each symbol that depends only on one other symbol, linearly and increasingly.
    linear: Mapping[str, Linear]
    #: The symbols in equations and alternatives that ``linear`` does not express.
    tied: frozenset[str]

    def of(self, root: str) -> list[Linear]:
        """The sizes that depend linearly on ``root``."""
        return [linear for linear in self.linear.values() if linear.root == root]


def dependence(contract: Contract) -> Dependence:
    """The dependences that the unconditional conditions of a contract state."""
    linear: dict[str, Linear] = {}
    tied: set[str] = set()
    for text, relations in joint(contract):
        names = symbols_in(relations)
        found = _linear(relations[0], text) if len(relations) == 1 else None
        if found is not None:
            name, dependent = found
            roots = {size.root for size in linear.values()}
            if name not in linear and name not in roots and dependent.root not in linear:
                linear[name] = dependent
                continue
        if len(relations) > 1 or relations[0].kind == "==":
            tied |= names
    has_changed = True
    while has_changed:
        has_changed = False
        for name, size in list(linear.items()):
            if name in tied or size.root in tied:
                tied |= {name, size.root}
                del linear[name]
                has_changed = True
    return Dependence(linear, frozenset(tied))


def joint(contract: Contract) -> list[tuple[str, tuple[Relation, ...]]]:
    """The unconditional conditions on several sizes: the text and the alternatives of each.

    Known values are inserted. Alternatives that never hold are omitted, and conditions that always or never hold.
    """
    found = []
    for condition in contract.conditions:
        if condition.when:
            continue
        reduced = [
            simplified(replaced_in(relation, contract.values)) for relation in condition.demand.requirement.any_of
        ]
        possible = tuple(dict.fromkeys(relation for relation in reduced if decided(relation) is not False))
        if any(decided(relation) for relation in possible) or len(symbols_in(possible)) < 2:
            continue
        found.append((condition.text, possible))
    return found


def _linear(relation: Relation, text: str) -> tuple[str, Linear] | None:
    """(symbol, its size), if the relation makes the size a linear expression of one other symbol; else None."""
    if relation.kind != "==":
        return None
    terms = terms_of(relation.left - relation.right)
    rest = terms.get((), 0)
    linear = [(monomial[0].name, factor) for monomial, factor in terms.items() if len(monomial) == 1]
    if len(linear) != 2 or len(terms) != 2 + bool(rest) or not all(name for name, _ in linear):
        return None
    choices = []
    for (name, factor), (root, other) in (linear, linear[::-1]):
        if abs(factor) == 1 and factor * other < 0:
            choices.append((name, Linear(root, abs(other), -factor * rest, text)))
    return max(choices, key=lambda choice: (choice[1].rest >= 0, choice[0]), default=None)


def linear_form(a: Dim) -> Linear | None:
    """A size as Linear with a positive integer factor; None for other forms."""
    terms = terms_of(a)
    rest = terms.get((), 0)
    if len(terms) != 1 + bool(rest):
        return None
    ((monomial, factor),) = ((monomial, factor) for monomial, factor in terms.items() if monomial)
    return Linear(monomial[0].name, factor, rest) if len(monomial) == 1 and monomial[0].name and factor > 0 else None


def narrowed(sizes: Sizes, linear: Iterable[tuple[Linear, Sizes]]) -> Sizes | None:
    """Those of a root's ``sizes`` for which all sizes that depend on the root are allowed.

    ``linear`` has each dependent size with its allowed sizes. Returns None if no size of the root remains, or if the
    sets are too complex.
    """
    found: Sizes | None = sizes
    for dependent, allowed in linear:
        found = None if found is None else met(found, _roots(dependent, allowed))
    return None if found is None or found.is_empty else found


def _roots(dependent: Linear, sizes: Sizes) -> Sizes:
    """The sizes of the root for which the dependent size is in ``sizes``."""
    classes = []
    for residue in range(sizes.modulus):
        first, residue_of_dependent = divmod(dependent.factor * residue + dependent.rest, sizes.modulus)
        intervals = []
        for low, high in sizes.classes[residue_of_dependent]:
            least = max(0, -((first - low) // dependent.factor))
            last = None if high is None else (high - first) // dependent.factor
            if last is None or least <= last:
                intervals.append((least, last))
        classes.append(tuple(intervals))
    return Sizes(sizes.modulus, tuple(classes))


def ones(computed: Iterable[Dim], values: Mapping[str, Dim]) -> dict[str, int]:
    """The greatest size of each symbol for which a computed size is at most 1.

    Symbols are first replaced by their ``values``. Computed sizes with several symbols are ignored.
    """
    found: dict[str, int] = {}
    for dim in _with_one_symbol(computed, values):
        (name,) = symbols(dim)
        sizes = solved([Relation(">=", 1, dim)])
        greatest = None if sizes is None or sizes.is_empty else sizes.greatest
        if greatest is not None:
            found[name] = max(found.get(name, 0), greatest)
    return found


def _with_one_symbol(computed: Iterable[Dim], values: Mapping[str, Dim]) -> Sequence[Dim]:
    """The distinct computed sizes with one symbol, at most MOST_COMPUTED."""
    found: dict[Dim, None] = {}
    for dim in computed:
        try:
            replaced = dim
            for _ in range(len(values)):
                before, replaced = replaced, substituted(replaced, {**values})
                if before == replaced:
                    break
        except (TooComplex, ZeroDivisionError):
            continue
        if len(symbols(replaced)) == 1 and len(found) < MOST_COMPUTED:
            found[replaced] = None
    return list(found)
