"""Dependences between sizes of inputs: multiples of one other size (``M == 2*H``), and dependences of other forms."""

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

#: ``ones`` examines at most this many computed sizes.
MOST_COMPUTED = 400


@record
class Multiple:
    """A size that is ``factor*root + rest``, where ``root`` is the symbol of another size.

    ``text`` is the condition that states this, or "".
    """

    root: str
    factor: int
    rest: int
    text: str = ""

    @property
    def dim(self) -> Dim:
        """The size as an expression."""
        return symbol(self.root, 1) * self.factor + self.rest


@record
class Dependence:
    """The dependences between sizes.

    ``multiples`` maps the symbol of each size that is a multiple of another size to this Multiple. ``tied`` are the
    symbols of sizes that depend on others in another form.
    """

    multiples: Mapping[str, Multiple]
    tied: frozenset[str]

    def of(self, root: str) -> list[Multiple]:
        """The multiples of the size ``root``."""
        return [each for each in self.multiples.values() if each.root == root]


def dependence(contract: Contract) -> Dependence:
    """The dependences that the unconditional conditions of a contract state."""
    multiples: dict[str, Multiple] = {}
    tied: set[str] = set()
    for text, relations in joint(contract):
        names = symbols_in(relations)
        found = _multiple(relations[0], text) if len(relations) == 1 else None
        if found is not None:
            name, multiple = found
            roots = {each.root for each in multiples.values()}
            if name not in multiples and name not in roots and multiple.root not in multiples:
                multiples[name] = multiple
                continue
        if len(relations) > 1 or relations[0].kind == "==":
            tied |= names
    has_changed = True
    while has_changed:
        has_changed = False
        for name, each in list(multiples.items()):
            if name in tied or each.root in tied:
                tied |= {name, each.root}
                del multiples[name]
                has_changed = True
    return Dependence(multiples, frozenset(tied))


def joint(contract: Contract) -> list[tuple[str, tuple[Relation, ...]]]:
    """The unconditional conditions on several sizes: the text of each, and its alternatives with known values inserted.

    Alternatives that never hold are removed, and conditions that always hold are omitted.
    """
    found = []
    for condition in contract.conditions:
        if condition.when:
            continue
        reduced = [simplified(replaced_in(each, contract.values)) for each in condition.demand.requirement.any_of]
        possible = tuple(dict.fromkeys(each for each in reduced if decided(each) is not False))
        if any(decided(each) for each in possible) or len(symbols_in(possible)) < 2:
            continue
        found.append((condition.text, possible))
    return found


def _multiple(relation: Relation, text: str) -> tuple[str, Multiple] | None:
    """The symbol that an equality makes a multiple of another one, and this Multiple; None for any other relation."""
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
            choices.append((name, Multiple(root, abs(other), -factor * rest, text)))
    return max(choices, key=lambda each: (each[1].rest >= 0, each[0]), default=None)


def multiple_of(a: Dim) -> Multiple | None:
    """The size ``a`` as a Multiple with a positive factor; None if it has another form."""
    terms = terms_of(a)
    rest = terms.get((), 0)
    if len(terms) != 1 + bool(rest):
        return None
    ((monomial, factor),) = ((monomial, factor) for monomial, factor in terms.items() if monomial)
    return Multiple(monomial[0].name, factor, rest) if len(monomial) == 1 and monomial[0].name and factor > 0 else None


def narrowed(sizes: Sizes, multiples: Iterable[tuple[Multiple, Sizes]]) -> Sizes | None:
    """The members of ``sizes``, sizes of a root, for which each multiple of the root is one of its allowed sizes.

    ``multiples`` has each multiple with its allowed sizes. Returns None if the sets are too complex, or if no size of
    the root is possible.
    """
    found: Sizes | None = sizes
    for multiple, allowed in multiples:
        found = None if found is None else met(found, _roots(multiple, allowed))
    return None if found is None or found.is_empty else found


def _roots(multiple: Multiple, sizes: Sizes) -> Sizes:
    """The sizes of the root for which the multiple is in ``sizes``, computed for each residue of the root."""
    classes = []
    for residue in range(sizes.modulus):
        first, residue_of_multiple = divmod(multiple.factor * residue + multiple.rest, sizes.modulus)
        intervals = []
        for low, high in sizes.classes[residue_of_multiple]:
            least = max(0, -((first - low) // multiple.factor))
            last = None if high is None else (high - first) // multiple.factor
            if last is None or least <= last:
                intervals.append((least, last))
        classes.append(tuple(intervals))
    return Sizes(sizes.modulus, tuple(classes))


def ones(computed: Iterable[Dim], values: Mapping[str, Dim]) -> dict[str, int]:
    """For each symbol, the greatest size of it for which a computed size is at most 1.

    Symbols are first replaced by their ``values``. Only computed sizes with a single symbol are examined, and at most
    MOST_COMPUTED of them.
    """
    found: dict[str, int] = {}
    for dim in _alone(computed, values):
        (name,) = symbols(dim)
        sizes = solved([Relation(">=", 1, dim)])
        greatest = None if sizes is None or sizes.is_empty else sizes.greatest
        if greatest is not None:
            found[name] = max(found.get(name, 0), greatest)
    return found


def _alone(computed: Iterable[Dim], values: Mapping[str, Dim]) -> Sequence[Dim]:
    """The distinct computed sizes with a single symbol, at most MOST_COMPUTED."""
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
