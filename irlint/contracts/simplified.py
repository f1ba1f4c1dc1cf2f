"""Simplifies relations between sizes of at least 1, and decides whether they always or never hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, prod

from irlint.dims import Dim, Expr, TooComplex, at_least, divisible, floordiv, same, substituted, symbol, symbols
from irlint.dims.extremes import extreme
from irlint.dims.polynomials import (
    Atom,
    Monomial,
    Terms,
    atom_dim,
    atoms_of,
    canonical,
    divided,
    lone_atom,
    terms_of,
    without,
)
from irlint.findings.statements import Relation
from irlint.records import replaced

#: Values are inserted in at most this many rounds. Several rounds are needed if the value of a symbol has a symbol.
MAX_CHAIN = 8


def replaced_in(relation: Relation, values: Mapping[str, Dim]) -> Relation:
    """The relation with symbols replaced by their ``values``. Symbols without a value get the lower bound 1."""
    for _ in range(MAX_CHAIN):
        names = symbols(relation.left) | symbols(relation.right)
        known = {name: values.get(name, symbol(name, 1)) for name in names}
        try:
            left, right = substituted(relation.left, known), substituted(relation.right, known)
        except (TooComplex, ZeroDivisionError):
            return relation
        before, relation = relation, replaced(relation, left=left, right=right)
        if relation == before:
            break
    return relation


def simplified(relation: Relation) -> Relation:
    """An equivalent relation between sizes of at least 1.

    Common terms, common factors and multiples of a divisor are removed.
    """
    relation = _without_multiples_of_divisor(relation) if relation.kind == "%" else _without_shared_terms(relation)
    reduced = without_common_factors(relation)
    left, right = terms_of(reduced.left), terms_of(reduced.right)
    number = gcd(*left.values(), *right.values())
    if number > 1:
        left = {monomial: factor // number for monomial, factor in left.items()}
        right = {monomial: factor // number for monomial, factor in right.items()}
    return replaced(relation, left=canonical(left), right=canonical(right)) if number > 1 else reduced


def without_common_factors(relation: Relation) -> Relation:
    """An equivalent relation, divided by the atoms that are factors of every term."""
    left, right = terms_of(relation.left), terms_of(relation.right)
    common = _common([*left, *right])
    if not common:
        return relation
    return replaced(relation, left=canonical(_divided(left, common)), right=canonical(_divided(right, common)))


def _without_shared_terms(relation: Relation) -> Relation:
    """A relation without common or subtracted terms: ``d >= c`` for ``a >= a + c - d``."""
    left, right = terms_of(relation.left), terms_of(relation.right)
    shared = any(monomial and monomial in right for monomial in left)
    subtracts = any(factor < 0 for terms in (left, right) for monomial, factor in terms.items() if monomial)
    if not shared and not (subtracts and left.keys() - {()} and right.keys() - {()}):
        return relation
    try:
        difference = terms_of(relation.left - relation.right)
    except TooComplex:
        return relation
    constant = difference.get((), 0)
    positive = {monomial: factor for monomial, factor in difference.items() if monomial and factor > 0}
    negative = {monomial: -factor for monomial, factor in difference.items() if monomial and factor < 0}
    if positive and constant:
        negative[()] = -constant
    one = canonical(positive) if positive else constant
    return replaced(relation, left=one, right=canonical(negative))


def _without_multiples_of_divisor(relation: Relation) -> Relation:
    """A divisibility without multiples of the divisor: ``4 % (N + 1)`` for ``(4*N) % (N + 1)``."""
    if not isinstance(relation.left, Expr) or not isinstance(relation.right, Expr):
        return relation
    try:
        quotient, rest = divided(relation.left, relation.right)
    except TooComplex:
        return relation
    if rest == 0:
        return Relation(">=", relation.right, 1)
    if quotient == 0 or (isinstance(rest, Expr) and len(rest.terms) >= len(relation.left.terms)):
        return relation
    return replaced(relation, left=abs(rest) if isinstance(rest, int) else rest)


def without_extremes(relation: Relation, facts: Sequence[Dim]) -> Relation:
    """The relation with a "min" or "max" replaced by one of its parts if ``facts`` decide which.

    Each fact is an expression that is at least 0. Afterwards, ``x == min(x, y)`` becomes ``y >= x``, and
    ``x == max(x, y)`` becomes ``x >= y``.
    """
    try:
        left, right = _without_decided_extremes(relation.left, facts), _without_decided_extremes(relation.right, facts)
    except TooComplex:
        return relation
    relation = replaced(relation, left=left, right=right)
    return _as_inequality(relation) or relation


def with_values(a: Dim, values: Mapping[str, Dim], facts: Sequence[Dim]) -> Dim:
    """A size with symbols replaced by ``values``, and "min" and "max" by a part if ``facts`` decide which."""
    try:
        resolved = _resolved(a, values)
        return _without_decided_extremes(
            resolved, [_resolved(fact, values) for fact in facts] if has_extremes(resolved) else ()
        )
    except (TooComplex, ZeroDivisionError):
        return a


def has_extremes(a: Dim, kinds: Collection[str] = ("min", "max")) -> bool:
    """Whether a size contains an operation of one of the ``kinds``."""
    return any(atom.kind in kinds or any(has_extremes(part, kinds) for part in atom.parts) for atom in atoms_of(a))


def without_limits(a: Dim) -> Dim:
    """The size without the numbers in each "min": H for min(H, 512)."""
    total: Dim = 0
    for monomial, factor in terms_of(a).items():
        term: Dim = factor
        for atom in monomial:
            term = term * (_without_limit(atom) if atom.parts else atom_dim(atom))
        total = total + term
    return total


def _without_limit(atom: Atom) -> Dim:
    parts = [without_limits(part) for part in atom.parts]
    if atom.kind == "//":
        return floordiv(*parts)
    if atom.kind == "min":
        parts = [part for part in parts if not isinstance(part, int)]
    return parts[0] if len(parts) == 1 else extreme(atom.kind, tuple(parts))


def _resolved(a: Dim, values: Mapping[str, Dim]) -> Dim:
    for _ in range(MAX_CHAIN):
        before, a = a, substituted(a, {name: values[name] for name in symbols(a) if name in values})
        if a == before:
            break
    return a


def _without_decided_extremes(a: Dim, facts: Sequence[Dim]) -> Dim:
    """The size with each "min" and "max" replaced by a part if ``facts`` decide which."""
    total: Dim = 0
    for monomial, factor in terms_of(a).items():
        term: Dim = factor
        for atom in monomial:
            term = term * (_part_of(atom, facts) if atom.parts else atom_dim(atom))
        total = total + term
    return total


def _part_of(atom: Atom, facts: Sequence[Dim]) -> Dim:
    parts = [_without_decided_extremes(part, facts) for part in atom.parts]
    if atom.kind == "//":
        return floordiv(*parts)
    for at, part in enumerate(parts):
        others = parts[:at] + parts[at + 1 :]
        if atom.kind == "min" and all(_is_at_least(other, part, facts) for other in others):
            return part
        if atom.kind == "max" and all(_is_at_least(part, other, facts) for other in others):
            return part
    return extreme(atom.kind, tuple(parts))


def _is_at_least(large: Dim, small: Dim, facts: Sequence[Dim]) -> bool:
    """Whether ``large >= small`` is proven, by itself or with the help of one fact."""
    difference = large - small
    return any(at_least(difference - fact, 0) is True for fact in (0, *facts))


def _as_inequality(relation: Relation) -> Relation | None:
    """``y >= x`` for ``x == min(x, y)``, ``x >= y`` for ``x == max(x, y)``, else None."""
    if relation.kind != "==":
        return None
    for side, other in ((relation.left, relation.right), (relation.right, relation.left)):
        for kind in ("min", "max"):
            found = lone_atom(other, kind)
            if found is not None and found[1] == 0 and len(found[0].parts) == 2 and side in found[0].parts:
                first, second = found[0].parts
                rest = second if first == side else first
                large, small = (rest, side) if kind == "min" else (side, rest)
                return Relation(">=", large, small)
    return None


def _common(monomials: list[Monomial]) -> Monomial:
    """The atoms that are factors of all monomials, without operations that may be less than 1."""
    if not monomials:
        return ()
    first, *others = monomials
    found: list[Atom] = []
    for atom in first:
        if atom.parts and (atom.low is None or atom.low < 1):
            continue
        if all(without(other, (*found, atom)) is not None for other in others):
            found.append(atom)
    return tuple(found)


def _divided(terms: Terms, common: Monomial) -> Terms:
    divided: Terms = {}
    for monomial, factor in terms.items():
        rest = without(monomial, common)
        assert rest is not None
        divided[rest] = factor
    return divided


def key_of(relations: Iterable[Relation]) -> object:
    """A key that ignores the order of relations and of the sides of equalities."""
    return frozenset(
        (
            relation.kind,
            frozenset((relation.left, relation.right)) if relation.kind == "==" else (relation.left, relation.right),
        )
        for relation in relations
    )


@lru_cache(4096)
def decided(relation: Relation) -> bool | None:
    """True if a relation is proven for all sizes, False if it is proven for none, else None."""
    left, right = relation.left, relation.right
    if relation.kind == "==":
        return False if _never_fills(left, right) or _never_fills(right, left) else same(left, right)
    if relation.kind == ">=":
        return at_least(left, right)
    if isinstance(right, int):
        return divisible(left, right) if right else False
    return _decided_by_a_divisor(left, right)


def _never_fills(sizes: Dim, parts: Dim) -> bool:
    """Whether a product of sizes never equals a product of their quotients, such as ``H*W`` and ``16*(H//2)*(W//2)``.

    Unless it is 0, ``H//d`` is between H / (2*d - 1) and H / d.
    """
    found = divisors(sizes, parts)
    if found is None:
        return False
    factor, of_sizes = found
    return not prod(of_sizes) <= factor <= prod(2 * each - 1 for each in of_sizes)


def divisors(sizes: Dim, parts: Dim) -> tuple[Fraction, tuple[int, ...]] | None:
    """(factor, divisor of each size) of a product of sizes and a product of their quotients; None for other sizes.

    For ``H*W`` and ``16*(H//2)*(W//2)``, (16, (2, 2)).
    """
    product, quotients = terms_of(sizes), terms_of(parts)
    if len(product) != 1 or len(quotients) != 1:
        return None
    ((names, factor),), ((atoms, count),) = product.items(), quotients.items()
    left, found = list(names), list[int]()
    for atom in atoms if len(atoms) == len(names) and factor > 0 else ():
        numerator, divisor = atom.parts if atom.kind == "//" else (None, None)
        size = lone_symbol(numerator)
        if size is None or size not in left or (size.low or 0) < 1 or not isinstance(divisor, int) or divisor < 1:
            return None
        left.remove(size)
        found.append(divisor)
    return (Fraction(count, factor), tuple(found)) if found else None


def lone_symbol(a: Dim | None) -> Atom | None:
    """The atom of a size that is a single symbol, else None."""
    terms = terms_of(a) if isinstance(a, Expr) else {}
    ((monomial, factor),) = terms.items() if len(terms) == 1 else (((), 0),)
    return monomial[0] if factor == 1 and len(monomial) == 1 and not monomial[0].parts else None


def _decided_by_a_divisor(left: Dim, right: Expr) -> bool | None:
    """As ``decided``, for the relation ``left % right == 0``."""
    if left == 0:
        return True if at_least(right, 1) else None
    if divisible(left, gcd(*right.terms.values())) is False:
        return False
    is_positive = at_least(left, 1) is True
    return False if is_positive and at_least(right, left + 1) is True else None


def text_of(relation: Relation) -> str:
    """The relation as the text of a condition. A number is on the right side.

    Unless a divisor is proven to be at least 1, the condition also requires this.
    """
    if relation.kind == "%" and at_least(relation.right, 1) is not True:
        return f"{relation.right!s} >= 1 and {relation}"
    if relation.kind == ">=" and isinstance(relation.left, int):
        return f"{relation.right!s} <= {relation.left!s}"
    if relation.kind == "==" and isinstance(relation.left, int):
        return f"{relation.right!s} == {relation.left!s}"
    return str(relation)
