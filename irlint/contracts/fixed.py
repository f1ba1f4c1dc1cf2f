"""Finds dynamic sizes of inputs that the contract fixes: only 77 works, only 1 and 77 work, or only ``H*W == 64``
works."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.contracts.contract import Contract
from irlint.contracts.implied import Alternatives
from irlint.contracts.simplified import decided, has_extremes, replaced_in, simplified, without_limits
from irlint.contracts.sizes import Sizes, between, met, solved
from irlint.dims import Bounds, Dim, Expr, TooComplex, quotient, symbol, symbols
from irlint.dims.polynomials import atom_dim, atoms_of, terms_of
from irlint.findings.statements import Relation
from irlint.inference.known import Demand
from irlint.records import record, replaced

#: The number of sizes that work for a size that is fixed except for broadcasting: itself and 1.
MOST = 2


@record
class Fixed:
    """Symbols ``names`` for which only ``size`` works, or only sizes with the product ``condition``.

    ``demands`` are the demands that fix them; the first one is the most direct. ``one`` is what broadcasting allows
    instead, such as ``1, by broadcasting``, or "". ``same_as`` is the symbol that the symbol must equal, or "".
    """

    names: tuple[str, ...]
    demands: tuple[Demand, ...]
    size: int | None = None
    condition: str = ""
    one: str = ""
    same_as: str = ""


@record
class Narrow:
    """A symbol for which only a few ``sizes`` work, and the demands that end them."""

    name: str
    demands: tuple[Demand, ...]
    sizes: Sizes


def fixed_sizes(contract: Contract, limits: dict[str, Bounds]) -> list[Fixed]:
    """The symbols and products that the contract fixes; only symbols with ``limits`` count. Single symbols come
    first."""
    found: list[Fixed] = []
    for name, sizes in contract.sizes.items():
        each = _single(name, sizes, contract, limits.get(name, (1, None)))
        if each is not None:
            found.append(each)
            found += [
                Fixed((other,), (demand,), each.size, "", each.one, name)
                for other, demand in contract.equal.items()
                if _is(other, name, contract)
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
    """The symbols that an equality ends: ``H//8 == 4`` leaves 32 to 39. Symbols with a single size are not included,
    nor is ``H == min(H, 512)``, which is a bound."""
    found: list[Narrow] = []
    for name, sizes in contract.sizes.items():
        low, high = limits.get(name, (1, None))
        possible = met(sizes, between(low or 1, high)) if name in limits else None
        makers = contract.makers.get(name, ())
        equalities = [(each, own) for each, own in makers if ends_sizes(each.requirement.any_of)]
        bounded = any(own.greatest is not None and not ends_sizes(each.requirement.any_of) for each, own in makers)
        if possible is None or possible.greatest is None or not equalities or bounded or possible.single is not None:
            continue
        ends = tuple(each for each, own in equalities if own.greatest is not None)
        found.append(Narrow(name, ends or tuple(each for each, _ in equalities), possible))
    return found


def _possible(relations: Alternatives, contract: Contract) -> Alternatives:
    """The alternatives that are possible with the known sizes."""
    if len(relations) == 1:
        return relations
    known: dict[str, Dim] = {name: symbol(name, each.least, each.greatest) for name, each in contract.sizes.items()}
    return tuple(each for each in relations if decided(replaced_in(each, known)) is not False)


def _single(name: str, sizes: Sizes, contract: Contract, limits: Bounds) -> Fixed | None:
    """The record for a symbol with one possible size, or with one besides 1, which works by broadcasting; else None."""
    possible = met(sizes, between(limits[0] or 1, limits[1]))
    listed = possible.few(MOST) if possible is not None and not possible.is_empty else []
    if not listed or (len(listed) == MOST and listed[0] != 1):
        return None
    makers = contract.makers[name]
    few = [demand for demand, own in makers if listed[-1] in own.few(MOST)]
    if len(listed) == 1:
        return Fixed((name,), _first(few, makers), listed[0])
    stretching = [demand for demand in few if _stretches(demand)]
    if not stretching:
        return None
    return Fixed((name,), _first(stretching, makers), listed[-1], "", "1, by broadcasting")


def _first(demands: Sequence[Demand], makers: Sequence[tuple[Demand, Sizes]]) -> tuple[Demand, ...]:
    """All demands that limit a size: those that fix it first, then other equalities, then bounds."""
    found = {id(each): each for each in (*demands, *(demand for demand, _ in makers))}
    fixing = len({id(each) for each in demands})
    own, others = list(found.values())[:fixing], list(found.values())[fixing:]
    return (*own, *sorted(others, key=lambda each: not are_equalities(each.requirement.any_of)))


def _stretches(demand: Demand) -> bool:
    """Whether a demand allows a size or 1."""
    return any(each.kind == "==" and 1 in (each.left, each.right) for each in demand.requirement.any_of[1:])


def _is(name: str, other: str, contract: Contract) -> bool:
    """Whether a symbol must equal another one."""
    while isinstance(value := contract.values.get(name), Expr):
        name = f"{value!s}"
        if name == other:
            return True
    return False


def fixed_product(relations: Alternatives) -> Relation | None:
    """The equality of a product of several sizes with a number, as in ``H*W == 64``.

    None if the alternatives allow other products, except for 1.
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
    """Whether every relation is an equality. If such a requirement ends the sizes, as ``(H + 31)//32 == 7`` does, then
    one size of a later value is fixed."""
    return all(each.kind == "==" for each in relations)


def ends_sizes(relations: Alternatives) -> bool:
    """Whether relations that leave finitely many sizes are equalities, and leave finitely many also without their upper
    limits: ``H == min(H, 512)`` is a bound, ``H == min(H - 1, 512)`` is none."""
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
    """If a product of sizes has to be 1, the equality of each factor with 1; () for any other relation."""
    sides = _sides(relation) if relation.kind == "==" else None
    if sides is None:
        return ()
    factors, shift = _factors(sides.left)
    return tuple(Relation("==", each, 1) for each in factors) if shift is not None and sides.right + shift == 1 else ()


def _sides(relation: Relation) -> Relation | None:
    """The equality with the expression on the left and the number on the right; None if there are no such sides."""
    left, right = relation.left, relation.right
    if isinstance(left, int):
        left, right = right, left
    return Relation("==", left, right) if isinstance(left, Expr) and isinstance(right, int) else None


def product_text(dim: Dim, number: Dim) -> str:
    """A product of sizes and its number, as factors: ``(H - 2)*(W - 2) == 64``."""
    factors, shift = _factors(dim)
    if shift is None or not isinstance(number, int):
        return f"{dim!s} == {number!s}"
    texts = [f"{each!s}" for each in factors]
    return f"{'*'.join(text if text.isidentifier() else f'({text})' for text in texts)} == {number + shift}"


def _is_product(dim: Dim) -> bool:
    """Whether a polynomial plus some number is a product of several expressions, with more than one symbol in all."""
    factors, _ = _factors(dim)
    return sum(bool(symbols(each)) for each in factors) > 1 and len(symbols(dim)) > 1


def _factors(dim: Dim) -> tuple[Sequence[Dim], int | None]:
    """The factors of a polynomial, and the number by which their product exceeds it (None if they are not exact)."""
    shared: list[Dim] = []
    rest = dim
    for atom in dict.fromkeys(atoms_of(dim)):
        left = quotient(rest, atom_dim(atom))
        if left is not None and all(atom in monomial for monomial in terms_of(rest)):
            shared.append(atom_dim(atom))
            rest = left
    if shared:
        return ([*shared, rest] if rest != 1 else shared), 0
    return _linear_factors(dim)


def _linear_factors(dim: Dim) -> tuple[Sequence[Dim], int | None]:
    """As ``_factors``, for ``x*y + b*x + c*y + d``: the factors ``x + c`` and ``y + b``, and ``b*c - d``."""
    terms = terms_of(dim)
    pair = next((monomial for monomial in terms if len(monomial) == MOST), None)
    if pair is None or pair[0] is pair[1] or not terms.keys() <= {pair, pair[:1], pair[1:], ()}:
        return [dim], 0
    first, second = terms.get(pair[:1], 0), terms.get(pair[1:], 0)
    factors = [atom_dim(pair[0]) + second, atom_dim(pair[1]) + first]
    return factors, first * second - terms.get((), 0) if terms[pair] == 1 else None
