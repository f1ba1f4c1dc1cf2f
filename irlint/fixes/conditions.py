"""Questions about requirements: what they fix, equate or divide, and how many sizes they allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.checks.frozen import NO_SIZES_FIT
from irlint.contracts.fixed import ends_sizes, fixes_products, units
from irlint.contracts.simplified import decided, divisors, key_of, simplified, without_common_factors
from irlint.contracts.sizes import solved
from irlint.dims import Dim, Expr, TooComplex, evaluated, symbols
from irlint.dims.polynomials import terms_of
from irlint.findings.statements import Relation, Requirement
from irlint.fixes.rechecking import Outcome
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.tensor import tensor_shape

#: A requirement that allows at most this many sizes is taken for a fault of the model.
FEW = 6

#: The sizes with which relations of one, two and three symbols are tried. At least ``VARIED`` numbers must be possible
#: for each symbol.
WIDE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 224, 256, 320, 512)
SAMPLES, VARIED = (WIDE, WIDE, (1, 2, 3, 4, 7, 8, 12, 16, 32, 64)), 3

#: The sizes with which a requirement on one size is tried.
LARGE = range(33, 66)

#: Multiples of many numbers, for formulas in which sizes are divided.
DIVISIBLE = (6720, 13440)

#: Conditions of more characters than this are not solved.
LONG = 240


def key(requirement: Requirement) -> object:
    """A key that is equal for requirements with the same relations, whichever side is first."""
    return key_of(requirement.any_of)


def limit_of(requirement: Requirement) -> object:
    """A key that is equal for requirements that limit sizes in the same way.

    Common factors, and alternatives that broadcast a size of 1, do not count.
    """
    relations = without_broadcasts_of_one(requirement.any_of)
    return key_of(tuple(simplified(without_common_factors(each)) for each in relations))


def fixes_product(requirement: Requirement) -> bool:
    """Whether a requirement fixes a product of sizes, and is not known to be impossible."""
    relations = [each for each in requirement.any_of if not _holds_only_for_zero(each)]
    reduced = (simplified(without_common_factors(each)) for each in relations)
    return fixes_products(requirement.any_of) and any(decided(each) is not False for each in reduced)


def _holds_only_for_zero(relation: Relation) -> bool:
    """Whether both sides of an equation are different multiples of one expression, which then must be 0."""
    left, right = terms_of(relation.left), terms_of(relation.right)
    if relation.kind != "==" or not left or left.keys() != right.keys():
        return False
    first = next(iter(left))
    is_multiple = all(left[each] * right[first] == right[each] * left[first] for each in left)
    return is_multiple and left[first] != right[first]


def names(requirement: Requirement) -> set[str]:
    """The symbols in a requirement."""
    return {
        name for relation in requirement.any_of for side in (relation.left, relation.right) for name in symbols(side)
    }


def equates_others(requirement: Requirement) -> bool:
    """Whether every relation equates expressions of different symbols. A relation of one symbol equates no others."""
    relations = [without_common_factors(each) for each in requirement.any_of]
    pairs = [(symbols(each.left), symbols(each.right)) for each in relations]
    return all(each.kind == "==" for each in relations) and all(
        one != other and len(one | other) > 1 for one, other in pairs
    )


def couples(requirement: Requirement) -> bool:
    """Whether every relation equates expressions of different symbols, and none equates an expression and a number."""
    sides = [side for each in requirement.any_of for side in (each.left, each.right)]
    return equates_others(requirement) and all(map(symbols, sides))


def divides(requirement: Requirement) -> bool:
    """Whether a requirement is only that a product of sizes is divisible by a number."""
    return all(relation.kind == "%" for relation in requirement.any_of)


def divides_by_size(requirement: Requirement) -> bool:
    """Whether a requirement is only that a size is divisible by another dynamic size."""
    return divides(requirement) and all(symbols(without_common_factors(each).right) for each in requirement.any_of)


def needs_multiple(requirement: Requirement) -> bool:
    """Whether a requirement on one size allows some large sizes and excludes others."""
    name, *more = sorted(names(requirement)) or ("",)
    if not name or more:
        return False
    try:
        met = [any(_holds(each, {name: size}) for each in requirement.any_of) for size in LARGE]
    except (ArithmeticError, TooComplex):
        return False
    return any(met) and not all(met)


def allows_many_sizes(requirement: Requirement) -> bool:
    """Whether a requirement allows more than ``FEW`` sizes. If it has several symbols, it must not fix a product."""
    if all(map(_holds_only_for_zero, requirement.any_of)) or not _usual_sizes_meet(requirement.any_of):
        return False
    if len(requirement.condition) > LONG:
        return True
    relations = [simplified(without_common_factors(each)) for each in requirement.any_of]
    relations = [each for each in relations if decided(each) is not False]
    if not relations:
        return False
    names = {name for relation in relations for name in (*symbols(relation.left), *symbols(relation.right))}
    if len(names) > 1:
        if all(map(_is_least_bound, relations)):
            return False
        wide = without_broadcasts_of_one(tuple(relations))
        if all(map(_leaves_rest, wide)):
            return False
        return not fixes_products(wide) or any(_factors_allow_many_sizes(units(each)) for each in wide)
    return _allow_many_sizes(relations) if names else any(decided(each) for each in relations)


def leaves_unmet_requirement(problem: Problem, outcome: Outcome, known: Known) -> bool:
    """Whether the problem is that no sizes fit, and another node still has a requirement that no usual sizes meet."""
    others = (each for each in known.requires if each.node is not problem.node and not each.graph)
    kept = (each for each in others if not any(value in outcome.types for value in each.node.inputs))
    return problem.fault.rule is NO_SIZES_FIT and any(not _usual_sizes_meet(each.requirement.any_of) for each in kept)


def leaves_another_formula(outcome: Outcome) -> bool:
    """Whether a node computes a formula of declared symbols that is not equal to the declared one for large sizes."""
    fixed = [each for each in outcome.fixed if each.fault.rule is SHAPE_CONTRADICTED]
    values = ((value, each.value) for each in fixed if each.node is not None for value in each.node.outputs)
    for value in (value for value, name in values if value is not None and value.name == name):
        dims = zip(tensor_shape(value.type) or (), tensor_shape(outcome.types.get(value)) or ())
        formulas = ((one, other) for one, other in dims if isinstance(one, Expr) and isinstance(other, Expr))
        if any(symbols(one) == symbols(other) and not _are_equal_for_some(one, other) for one, other in formulas):
            return True
    return False


def _are_equal_for_some(one: Dim, other: Dim) -> bool:
    """Whether two formulas are equal if all sizes are a large multiple of many numbers."""
    for size in DIVISIBLE:
        sizes = dict.fromkeys(symbols(one) | symbols(other), size)
        try:
            if evaluated(one, sizes) == evaluated(other, sizes):
                return True
        except (TooComplex, ZeroDivisionError):
            return True
    return False


@lru_cache(maxsize=256)
def _usual_sizes_meet(relations: tuple[Relation, ...]) -> bool:
    """Whether usual sizes meet one of the relations, with ``VARIED`` numbers for each symbol."""
    reduced = [without_common_factors(each) for each in relations]
    names = sorted({name for relation in reduced for side in (relation.left, relation.right) for name in symbols(side)})
    if not 1 < len(names) <= len(SAMPLES) or any(relation.kind == ">=" for relation in reduced):
        return True
    try:
        met = [sizes for sizes in _samples(names) if any(_holds(relation, sizes) for relation in reduced)]
    except (ArithmeticError, TooComplex):
        return True
    return all(len({sizes[name] for sizes in met}) >= VARIED for name in names)


def usual_sizes_meet_all(requirements: Sequence[Requirement]) -> bool:
    """Whether usual sizes meet all requirements, with several numbers for each symbol. True for too many symbols."""
    groups = list(dict.fromkeys(each.any_of for each in requirements))
    found = sorted({name for each in requirements for name in names(each)})
    if not 0 < len(found) <= len(SAMPLES):
        return True
    try:
        met = [
            sizes
            for sizes in _samples(found)
            if all(any(_holds(relation, sizes) for relation in group) for group in groups)
        ]
    except (ArithmeticError, TooComplex):
        return True
    return all(len({sizes[name] for sizes in met}) > 1 for name in found)


def _samples(names: Sequence[str]) -> Iterator[dict[str, int]]:
    for numbers in product(SAMPLES[len(names) - 1], repeat=len(names)):
        yield dict(zip(names, numbers))


def _holds(relation: Relation, sizes: Mapping[str, int]) -> bool:
    left, right = evaluated(relation.left, sizes), evaluated(relation.right, sizes)
    return left >= right if relation.kind == ">=" else left == right if relation.kind == "==" else left % right == 0


def _leaves_rest(relation: Relation) -> bool:
    """Whether a relation needs sizes with a rest, such as ``H*W == 5*(H//2)*(W//2)``. Few sizes have the same."""
    found = divisors(relation.left, relation.right) or divisors(relation.right, relation.left)
    return relation.kind == "==" and found is not None and found[0] != prod(found[1])


def _is_least_bound(relation: Relation) -> bool:
    """Whether a relation bounds dynamic sizes by 1, and fails if all sizes are 2, 3 or 4."""
    if relation.kind != ">=" or relation.left != 1:
        return False
    found = symbols(relation.right)
    return not any(_holds(relation, dict.fromkeys(found, size)) for size in (2, 3, 4))


def _factors_allow_many_sizes(factors: Sequence[Relation]) -> bool:
    """Whether there are factors, each of one symbol, and all allow many sizes."""
    alone = all(len(symbols(relation.left)) == 1 for relation in factors)
    return bool(factors) and alone and all(_allow_many_sizes([each], of_a_factor=True) for each in factors)


def _allow_many_sizes(relations: Sequence[Relation], *, of_a_factor: bool = False) -> bool:
    """Whether relations on one symbol allow many sizes and are no equalities. True if they cannot be solved."""
    sizes = solved(relations)
    if sizes is None or sizes.greatest is None:
        return True
    return not (sizes.is_empty or sizes.few(FEW) or (ends_sizes(tuple(relations)) and not of_a_factor))


def without_broadcasts_of_one(relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The alternatives of a requirement without those that broadcast a size of 1."""
    return tuple(relation for relation in relations if relation.right != 1) or relations


def unsatisfiable(known: Known, problems: Iterable[Problem]) -> set[str]:
    """The conditions that no sizes meet, if a problem says that there are some."""
    if all(problem.fault.rule is not NO_SIZES_FIT for problem in problems):
        return set()
    from irlint.contracts.contract import contract_of

    return {each.requirement.condition for each in contract_of(known).impossible}
