"""Relations between sizes of at least 1, with what is common to both sides taken out, and whether they always hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from irlint.dims import Dim, Expr, TooComplex, at_least, divisible, same, substituted, symbol, symbols
from irlint.dims.polynomials import Atom, Monomial, Terms, canonical, terms_of, without
from irlint.findings.statements import Relation
from irlint.records import replaced


def replaced_in(relation: Relation, values: Mapping[str, Dim]) -> Relation:
    """The relation with symbols replaced by what they are."""
    names = symbols(relation.left) | symbols(relation.right)
    known = {name: values[name] for name in names if name in values}
    if not known:
        return relation
    try:
        left, right = substituted(relation.left, known), substituted(relation.right, known)
    except (TooComplex, ZeroDivisionError):
        return relation
    return replace_until_stable(replaced(relation, left=left, right=right), values, known)


def replace_until_stable(relation: Relation, values: Mapping[str, Dim], done: Mapping[str, Dim]) -> Relation:
    """The relation after symbols that other symbols stand for were replaced in turn."""
    names = (symbols(relation.left) | symbols(relation.right)) & values.keys()
    return replaced_in(relation, values) if names - done.keys() else relation


def simplified(relation: Relation) -> Relation:
    """An equality or comparison without the symbols that every term of both sides has as a factor, and their common number."""
    if relation.kind == "%":
        return relation
    left, right = terms_of(relation.left), terms_of(relation.right)
    common = _common([*left, *right])
    if common:
        left, right = _divided(left, common), _divided(right, common)
    from math import gcd

    number = gcd(*left.values(), *right.values())
    if number > 1:
        left = {monomial: factor // number for monomial, factor in left.items()}
        right = {monomial: factor // number for monomial, factor in right.items()}
    return replaced(relation, left=canonical(left), right=canonical(right)) if common or number > 1 else relation


def _common(monomials: list[Monomial]) -> Monomial:
    """The symbols that all monomials have as factors."""
    if not monomials:
        return ()
    first, *others = monomials
    found: list[Atom] = []
    for atom in first:
        if atom.parts:
            continue
        wanted = (*found, atom)
        if all(without(other, tuple(wanted)) is not None for other in others):
            found.append(atom)
    return tuple(found)


def _divided(terms: Terms, common: Monomial) -> Terms:
    divided: Terms = {}
    for monomial, factor in terms.items():
        rest = without(monomial, common)
        assert rest is not None
        divided[rest] = factor
    return divided


@lru_cache(4096)
def decided(relation: Relation) -> bool | None:
    """Whether a relation holds, or fails, for all sizes of at least 1."""
    try:
        left, right = positive(relation.left), positive(relation.right)
    except TooComplex:
        return None
    if relation.kind == "==":
        return same(left, right)
    if relation.kind == ">=":
        return at_least(left, right)
    return divisible(left, right) if isinstance(right, int) else None


def positive(a: Dim) -> Dim:
    """The same expression of symbols that are at least 1; raises TooComplex."""
    if not isinstance(a, Expr):
        return a
    return substituted(a, {name: symbol(name, 1) for name in symbols(a)})
