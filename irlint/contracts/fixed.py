"""Finds dynamic sizes that the contract fixes: only 77 works, only 1 and 77 work, or ``H*W`` must be 64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.contracts.contract import Contract, Group
from irlint.contracts.implied import Alternatives
from irlint.contracts.simplified import decided, has_extremes, replaced_in, simplified, without_limits
from irlint.contracts.sizes import Sizes, between, met, solved
from irlint.dims import Bounds, Dim, Expr, TooComplex, evaluated, quotient, symbol, symbols
from irlint.dims.polynomials import atom_dim, atoms_of, terms_of
from irlint.findings.statements import Relation
from irlint.inference.known import Demand
from irlint.records import record, replaced

#: A fixed size has one value. If broadcasting also allows 1, it has two.
MOST_VALUES = 2

#: If more demands contradict each other, all are kept.
MOST_DEMANDS = 100


#: ``missing_entry`` tries equal sizes below this number.
LARGEST = 1024


def missing_entry(relation: Relation) -> int | None:
    """64 for a condition such as ``H*W == 63``: equal sizes of all symbols give 64, but never 63. Else None.

    The 63 is probably the length of a table that lacks an entry.
    """
    names, held = symbols(relation.left), relation.right
    if len(names) < 2 or not isinstance(held, int):
        return None
    try:
        given = {evaluated(relation.left, dict.fromkeys(names, size)) for size in range(1, LARGEST)}
    except (ArithmeticError, TooComplex):
        return None
    return held + 1 if held not in given and held + 1 in given else None


@record
class Fixed:
    """A symbol with a size that the contract fixes, or several symbols with a product that the contract fixes."""

    names: tuple[str, ...]
    #: The demands that fix the symbols, the most direct one first.
    demands: tuple[Demand, ...]
    #: The fixed size of a single symbol.
    size: int | None = None
    #: The condition on a product, such as ``H*W == 64``.
    condition: str = ""
    #: The alternative that broadcasting allows, such as ``1, by broadcasting``.
    broadcast: str = ""
    #: Another symbol, which has the fixed size, and which this symbol must equal.
    same_as: str = ""


@record
class FiniteSize:
    """A symbol with finitely many possible sizes, and the demands that limit them."""

    name: str
    demands: tuple[Demand, ...]
    sizes: Sizes


def fixed_sizes(contract: Contract, limits: dict[str, Bounds]) -> list[Fixed]:
    """The fixed symbols, then the fixed products whose symbols all have ``limits``."""
    found: list[Fixed] = []
    for name, sizes in contract.sizes.items():
        fixed = _single(name, sizes, contract, limits.get(name, (1, None)))
        if fixed is not None:
            found.append(fixed)
            found += [
                Fixed((other,), (demand,), fixed.size, "", fixed.broadcast, name)
                for other, demand in contract.equal.items()
                if _equals(other, name, contract)
            ]
    for joint in contract.joint:
        relations = _possible(joint.relations, contract)
        product = fixed_product(relations)
        if product is not None and joint.names <= limits.keys():
            names = tuple(sorted(joint.names, key=list(limits).index))
            broadcast = f"{product_text(product.left, 1)}, by broadcasting" if len(relations) > 1 else ""
            found.append(Fixed(names, (joint.demand,), None, product_text(product.left, product.right), broadcast))
    return found


def finite_sizes(contract: Contract, limits: dict[str, Bounds]) -> list[FiniteSize]:
    """The symbols with ``limits`` that equalities such as ``H//8 == 4`` limit to finitely many sizes.

    Omits fixed symbols, and symbols for which a demand that is no equality has an upper limit.
    """
    found: list[FiniteSize] = []
    for name, sizes in contract.sizes.items():
        low, high = limits.get(name, (1, None))
        possible = met(sizes, between(low or 1, high)) if name in limits else None
        limiting = contract.limiting.get(name, ())
        ending = [(demand, allowed) for demand, allowed in limiting if ends_sizes(demand.requirement.any_of)]
        others = [allowed for demand, allowed in limiting if not ends_sizes(demand.requirement.any_of)]
        is_bounded = any(allowed.greatest is not None for allowed in others)
        if possible is None or possible.greatest is None or possible.single is not None or not ending or is_bounded:
            continue
        bounding = tuple(demand for demand, allowed in ending if allowed.greatest is not None)
        found.append(FiniteSize(name, bounding or tuple(demand for demand, _ in ending), possible))
    return found


def _possible(relations: Alternatives, contract: Contract) -> Alternatives:
    """The alternatives that the possible sizes of symbols allow. If there is only one alternative, returns it."""
    if len(relations) == 1:
        return relations
    known: dict[str, Dim] = {
        name: symbol(name, possible.least, possible.greatest) for name, possible in contract.sizes.items()
    }
    return tuple(relation for relation in relations if decided(replaced_in(relation, known)) is not False)


def _single(name: str, sizes: Sizes, contract: Contract, limits: Bounds) -> Fixed | None:
    """The record of a symbol with one possible size, or with two, of which one is 1; else None."""
    possible = met(sizes, between(limits[0] or 1, limits[1]))
    listed = possible.few(MOST_VALUES) if possible is not None and not possible.is_empty else []
    if not listed or (len(listed) == MOST_VALUES and listed[0] != 1):
        return None
    limiting = contract.limiting[name]
    fixing = [demand for demand, allowed in limiting if listed[-1] in allowed.few(MOST_VALUES)]
    if len(listed) == 1:
        return Fixed((name,), _by_directness(fixing, limiting), listed[0])
    broadcasting = [demand for demand in fixing if _allows_one(demand)]
    if not broadcasting:
        return None
    return Fixed((name,), _by_directness(broadcasting, limiting), listed[-1], "", "1, by broadcasting")


def _by_directness(fixing: Sequence[Demand], limiting: Sequence[tuple[Demand, Sizes]]) -> tuple[Demand, ...]:
    """The demands that limit a size: first those in ``fixing``, then other equalities, then other demands."""
    first = {id(demand): demand for demand in fixing}
    others = {id(demand): demand for demand, _ in limiting if id(demand) not in first}
    return (*first.values(), *sorted(others.values(), key=lambda demand: not are_equalities(demand.requirement.any_of)))


def _allows_one(demand: Demand) -> bool:
    """Whether an alternative of the demand, except the first one, requires that a size equals 1."""
    return any(
        relation.kind == "==" and 1 in (relation.left, relation.right) for relation in demand.requirement.any_of[1:]
    )


def _equals(name: str, other: str, contract: Contract) -> bool:
    while isinstance(value := contract.values.get(name), Expr):
        name = f"{value!s}"
        if name == other:
            return True
    return False


def fixed_product(relations: Alternatives) -> Relation | None:
    """The equality of a product with a number: ``H*W == 64`` for ``H*W == 64 or H*W == 1``; else None."""
    if not are_equalities(relations):
        return None
    sides = [_with_number_on_the_right(relation) for relation in relations]
    found = [side for side in sides if side is not None and side.right != 1]
    if len(found) != 1 or None in sides or any(side is not None and side.left != found[0].left for side in sides):
        return None
    return found[0] if _is_product(found[0].left) else None


def fixes_products(relations: Alternatives) -> bool:
    """Whether every alternative sets a product of several sizes to a number."""
    sides = [_with_number_on_the_right(relation) if relation.kind == "==" else None for relation in relations]
    return all(side is not None and _is_product(side.left) for side in sides)


def are_equalities(relations: Sequence[Relation]) -> bool:
    """Whether every relation is an equality."""
    return all(relation.kind == "==" for relation in relations)


def ends_sizes(relations: Alternatives) -> bool:
    """Whether all relations are equalities, and none is a bound that is written as an equality.

    ``H == min(H, 512)`` is a bound: without the 512, it allows every size. ``3*H == min(H + 8, 100)`` is no bound:
    without the 100, it still allows finitely many sizes.
    """
    sides = (side for relation in relations for side in (relation.left, relation.right))
    if not are_equalities(relations) or not any(has_extremes(side, ("min",)) for side in sides):
        return are_equalities(relations)
    try:
        unlimited = [
            replaced(relation, left=without_limits(relation.left), right=without_limits(relation.right))
            for relation in relations
        ]
    except TooComplex:
        return False
    if len({name for relation in unlimited for name in (*symbols(relation.left), *symbols(relation.right))}) != 1:
        return False
    possible = [simplified(relation) for relation in unlimited if decided(relation) is not False]
    sizes = solved(possible) if not any(map(decided, possible)) else None
    return sizes is not None and sizes.greatest is not None


def units(relation: Relation) -> tuple[Relation, ...]:
    """For an equality of a product with 1, the equalities of its factors with 1; else ()."""
    sides = _with_number_on_the_right(relation) if relation.kind == "==" else None
    if sides is None:
        return ()
    factors, shift = _factors(sides.left)
    return (
        tuple(Relation("==", factor, 1) for factor in factors) if shift is not None and sides.right + shift == 1 else ()
    )


def _with_number_on_the_right(relation: Relation) -> Relation | None:
    """An equality of an expression with a number; None for other relations."""
    left, right = relation.left, relation.right
    if isinstance(left, int):
        left, right = right, left
    return Relation("==", left, right) if isinstance(left, Expr) and isinstance(right, int) else None


def product_text(dim: Dim, number: Dim) -> str:
    """The equality as a text with factors: ``(H - 2)*(W - 2) == 64``."""
    factors, shift = _factors(dim)
    if shift is None or not isinstance(number, int):
        return f"{dim!s} == {number!s}"
    texts = [f"{factor!s}" for factor in factors]
    return f"{'*'.join(text if text.isidentifier() else f'({text})' for text in texts)} == {number + shift}"


def _is_product(dim: Dim) -> bool:
    factors, _ = _factors(dim)
    return sum(bool(symbols(factor)) for factor in factors) > 1 and len(symbols(dim)) > 1


def _factors(dim: Dim) -> tuple[Sequence[Dim], int | None]:
    """(factors of a polynomial, the product of the factors minus the polynomial, or None if this is no number)."""
    shared: list[Dim] = []
    rest = dim
    for atom in dict.fromkeys(atoms_of(dim)):
        other = quotient(rest, atom_dim(atom))
        if other is not None and all(atom in monomial for monomial in terms_of(rest)):
            shared.append(atom_dim(atom))
            rest = other
    if shared:
        return ([*shared, rest] if rest != 1 else shared), 0
    return _linear_factors(dim)


def _linear_factors(dim: Dim) -> tuple[Sequence[Dim], int | None]:
    """As ``_factors``: the factors ``x + c`` and ``y + b``, and ``b*c - d``, for ``x*y + b*x + c*y + d``.

    Another polynomial is its own only factor.
    """
    terms = terms_of(dim)
    pair = next((monomial for monomial in terms if len(monomial) == 2), None)
    if pair is None or pair[0] is pair[1] or not terms.keys() <= {pair, pair[:1], pair[1:], ()}:
        return [dim], 0
    first, second = terms.get(pair[:1], 0), terms.get(pair[1:], 0)
    factors = [atom_dim(pair[0]) + second, atom_dim(pair[1]) + first]
    return factors, first * second - terms.get((), 0) if terms[pair] == 1 else None


def contradiction(demands: Sequence[Demand], limits: Mapping[str, Bounds]) -> Sequence[Demand]:
    """Those of the contradictory demands that are enough for a contradiction."""
    needed = [demand for demand in demands if _contradict([demand], limits)][:1] or demands
    for demand in demands if len(needed) <= MOST_DEMANDS else ():
        rest = [other for other in needed if other is not demand]
        needed = rest if rest and _contradict(rest, limits) else needed
    return needed


def _contradict(demands: Sequence[Demand], limits: Mapping[str, Bounds]) -> bool:
    group = Group(limits)
    group.add(demands)
    return bool(group.impossible)
