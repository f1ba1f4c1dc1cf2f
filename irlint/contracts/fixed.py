"""Finds dynamic sizes of inputs that the contract fixes: only 77 works, only 1 and 77 work, or ``H*W`` must be 64; and
the demands that no sizes meet together."""

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

#: A size that is fixed except for broadcasting has this many possible values: the fixed one and 1.
MOST = 2

#: Of more demands that contradict each other, none is omitted.
MANY = 100


#: The largest equal sizes of which a table may have an entry too few.
LARGEST = 1024


def missing_entry(relation: Relation) -> int | None:
    """The number of entries that equal sizes need, if a table has one fewer, which they never need; else None."""
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
    """Symbols ``names`` whose contract fixes one ``size``, or a ``condition`` such as ``H*W == 64`` on their product.

    ``demands`` are the demands that fix the symbols, the most direct one first. ``one`` states what broadcasting allows
    instead, such as ``1, by broadcasting``, or is "". ``same_as`` is the symbol with the same fixed size that this
    symbol must equal, or "".
    """

    names: tuple[str, ...]
    demands: tuple[Demand, ...]
    size: int | None = None
    condition: str = ""
    one: str = ""
    same_as: str = ""


@record
class Narrow:
    """A symbol with finitely many possible ``sizes``, and the demands that limit them."""

    name: str
    demands: tuple[Demand, ...]
    sizes: Sizes


def fixed_sizes(contract: Contract, limits: dict[str, Bounds]) -> list[Fixed]:
    """The symbols that the contract fixes, then the products that it fixes.

    ``limits`` has the smallest and largest size of symbols. Products count only if all their symbols have limits.
    """
    found: list[Fixed] = []
    for name, sizes in contract.sizes.items():
        each = _single(name, sizes, contract, limits.get(name, (1, None)))
        if each is not None:
            found.append(each)
            found += [
                Fixed((other,), (demand,), each.size, "", each.one, name)
                for other, demand in contract.equal.items()
                if _equals(other, name, contract)
            ]
    for joint in contract.joint:
        relations = _possible(joint.relations, contract)
        product = fixed_product(relations)
        if product is not None and joint.names <= limits.keys():
            names = tuple(sorted(joint.names, key=list(limits).index))
            one = f"{product_text(product.left, 1)}, by broadcasting" if len(relations) > 1 else ""
            found.append(Fixed(names, (joint.demand,), None, product_text(product.left, product.right), one))
    return found


def narrow_sizes(contract: Contract, limits: dict[str, Bounds]) -> list[Narrow]:
    """The symbols that have ``limits`` and that an equality limits to finitely many sizes, as ``H//8 == 4`` does.

    Omitted are symbols with a single size, and symbols that another demand also limits from above. An equality such as
    ``H == min(H, 512)`` is such a bound.
    """
    found: list[Narrow] = []
    for name, sizes in contract.sizes.items():
        low, high = limits.get(name, (1, None))
        possible = met(sizes, between(low or 1, high)) if name in limits else None
        makers = contract.makers.get(name, ())
        ending = [(each, allowed) for each, allowed in makers if ends_sizes(each.requirement.any_of)]
        others = [allowed for each, allowed in makers if not ends_sizes(each.requirement.any_of)]
        is_bounded = any(allowed.greatest is not None for allowed in others)
        if possible is None or possible.greatest is None or possible.single is not None or not ending or is_bounded:
            continue
        limiting = tuple(each for each, allowed in ending if allowed.greatest is not None)
        found.append(Narrow(name, limiting or tuple(each for each, _ in ending), possible))
    return found


def _possible(relations: Alternatives, contract: Contract) -> Alternatives:
    """The alternatives that may hold for the possible sizes of the contract; a single alternative stays."""
    if len(relations) == 1:
        return relations
    known: dict[str, Dim] = {name: symbol(name, each.least, each.greatest) for name, each in contract.sizes.items()}
    return tuple(each for each in relations if decided(replaced_in(each, known)) is not False)


def _single(name: str, sizes: Sizes, contract: Contract, limits: Bounds) -> Fixed | None:
    """The record for a symbol with one possible size, or with 1 by broadcasting and one other size; else None."""
    possible = met(sizes, between(limits[0] or 1, limits[1]))
    listed = possible.few(MOST) if possible is not None and not possible.is_empty else []
    if not listed or (len(listed) == MOST and listed[0] != 1):
        return None
    makers = contract.makers[name]
    fixing = [demand for demand, allowed in makers if listed[-1] in allowed.few(MOST)]
    if len(listed) == 1:
        return Fixed((name,), _sorted(fixing, makers), listed[0])
    broadcasting = [demand for demand in fixing if _allows_one(demand)]
    if not broadcasting:
        return None
    return Fixed((name,), _sorted(broadcasting, makers), listed[-1], "", "1, by broadcasting")


def _sorted(fixing: Sequence[Demand], makers: Sequence[tuple[Demand, Sizes]]) -> tuple[Demand, ...]:
    """All demands that limit a size: the ``fixing`` ones first, then other equalities, then bounds."""
    first = {id(each): each for each in fixing}
    others = {id(each): each for each, _ in makers if id(each) not in first}
    return (*first.values(), *sorted(others.values(), key=lambda each: not are_equalities(each.requirement.any_of)))


def _allows_one(demand: Demand) -> bool:
    """Whether an alternative of a demand, other than the first, is that something equals 1."""
    return any(each.kind == "==" and 1 in (each.left, each.right) for each in demand.requirement.any_of[1:])


def _equals(name: str, other: str, contract: Contract) -> bool:
    """Whether the contract replaces the symbol ``name`` by the symbol ``other``, directly or in several steps."""
    while isinstance(value := contract.values.get(name), Expr):
        name = f"{value!s}"
        if name == other:
            return True
    return False


def fixed_product(relations: Alternatives) -> Relation | None:
    """The equality of a product of several sizes with a number: ``H*W == 64`` for ``H*W == 64 or H*W == 1``.

    Returns None if the relations are anything but one such equality, alone or with an alternative for the number 1.
    """
    if not are_equalities(relations):
        return None
    sides = [_sides(each) for each in relations]
    found = [each for each in sides if each is not None and each.right != 1]
    if len(found) != 1 or None in sides or any(each is not None and each.left != found[0].left for each in sides):
        return None
    return found[0] if _is_product(found[0].left) else None


def fixes_products(relations: Alternatives) -> bool:
    """Whether each alternative sets a product of several sizes to a number."""
    sides = [_sides(each) if each.kind == "==" else None for each in relations]
    return all(each is not None and _is_product(each.left) for each in sides)


def are_equalities(relations: Sequence[Relation]) -> bool:
    """Whether every relation is an equality."""
    return all(each.kind == "==" for each in relations)


def ends_sizes(relations: Alternatives) -> bool:
    """Whether relations that allow finitely many sizes are equalities rather than bounds.

    An equality with a "min" is a bound if it allows infinitely many sizes once the numbers in each "min" are removed:
    ``H == min(H, 512)`` is a bound, ``3*H == min(H + 8, 100)`` is not.
    """
    sides = (side for each in relations for side in (each.left, each.right))
    if not are_equalities(relations) or not any(has_extremes(side, ("min",)) for side in sides):
        return are_equalities(relations)
    try:
        unlimited = [
            replaced(each, left=without_limits(each.left), right=without_limits(each.right)) for each in relations
        ]
    except TooComplex:
        return False
    if len({name for each in unlimited for name in (*symbols(each.left), *symbols(each.right))}) != 1:
        return False
    possible = [simplified(each) for each in unlimited if decided(each) is not False]
    sizes = solved(possible) if not any(map(decided, possible)) else None
    return sizes is not None and sizes.greatest is not None


def units(relation: Relation) -> tuple[Relation, ...]:
    """The equality of each factor with 1 if a relation sets a product of sizes to 1; () for any other relation."""
    sides = _sides(relation) if relation.kind == "==" else None
    if sides is None:
        return ()
    factors, shift = _factors(sides.left)
    return tuple(Relation("==", each, 1) for each in factors) if shift is not None and sides.right + shift == 1 else ()


def _sides(relation: Relation) -> Relation | None:
    """An equality of the same sides, the expression on the left and the number on the right; None without a number."""
    left, right = relation.left, relation.right
    if isinstance(left, int):
        left, right = right, left
    return Relation("==", left, right) if isinstance(left, Expr) and isinstance(right, int) else None


def product_text(dim: Dim, number: Dim) -> str:
    """The equality of ``dim`` and ``number`` as a text, with ``dim`` in factors: ``(H - 2)*(W - 2) == 64``."""
    factors, shift = _factors(dim)
    if shift is None or not isinstance(number, int):
        return f"{dim!s} == {number!s}"
    texts = [f"{each!s}" for each in factors]
    return f"{'*'.join(text if text.isidentifier() else f'({text})' for text in texts)} == {number + shift}"


def _is_product(dim: Dim) -> bool:
    """Whether ``_factors`` finds at least two factors with symbols, and ``dim`` has at least two symbols."""
    factors, _ = _factors(dim)
    return sum(bool(symbols(each)) for each in factors) > 1 and len(symbols(dim)) > 1


def _factors(dim: Dim) -> tuple[Sequence[Dim], int | None]:
    """Factors of a polynomial, and the number by which their product exceeds it; None if it exceeds it by no number."""
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
    """As ``_factors``, for ``x*y + b*x + c*y + d``: the factors ``x + c`` and ``y + b``, and the number ``b*c - d``.

    Any other polynomial is its own factor.
    """
    terms = terms_of(dim)
    pair = next((monomial for monomial in terms if len(monomial) == MOST), None)
    if pair is None or pair[0] is pair[1] or not terms.keys() <= {pair, pair[:1], pair[1:], ()}:
        return [dim], 0
    first, second = terms.get(pair[:1], 0), terms.get(pair[1:], 0)
    factors = [atom_dim(pair[0]) + second, atom_dim(pair[1]) + first]
    return factors, first * second - terms.get((), 0) if terms[pair] == 1 else None


def contradiction(demands: Sequence[Demand], limits: Mapping[str, Bounds]) -> Sequence[Demand]:
    """The demands without those that are not needed for their contradiction: the first one that no sizes meet, if there
    is one."""
    needed = [each for each in demands if _contradict([each], limits)][:1] or demands
    for each in demands if len(needed) <= MANY else ():
        rest = [other for other in needed if other is not each]
        needed = rest if rest and _contradict(rest, limits) else needed
    return needed


def _contradict(demands: Sequence[Demand], limits: Mapping[str, Bounds]) -> bool:
    group = Group(limits)
    group.add(demands)
    return bool(group.impossible)
