"""Questions about requirements: what they fix, equate and divide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from irlint.contracts.fixed import fixes_products
from irlint.contracts.simplified import decided, key_of, simplified, without_common_factors
from irlint.dims import TooComplex, evaluated, symbols
from irlint.findings.statements import Relation, Requirement

#: The sizes with which relations of one, two and three symbols are tried, and how many numbers each symbol must take.
WIDE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 224, 256, 320, 512)
SAMPLES, VARIED = (WIDE, WIDE, (1, 2, 3, 4, 7, 8, 12, 16, 32, 64)), 3


def key(requirement: Requirement) -> object:
    """Equal for requirements with the same relations, whichever side stands first."""
    return key_of(requirement.any_of)


def fixes_product(requirement: Requirement) -> bool:
    """Whether a requirement fixes a product of sizes, and some sizes may meet it."""
    reduced = (simplified(without_common_factors(each)) for each in requirement.any_of)
    return fixes_products(requirement.any_of) and any(decided(each) is not False for each in reduced)


def names(requirement: Requirement) -> set[str]:
    """The symbols in a requirement."""
    return {name for each in requirement.any_of for side in (each.left, each.right) for name in symbols(side)}


def equates_others(requirement: Requirement) -> bool:
    """Whether every relation equates expressions of different symbols."""
    relations = [without_common_factors(each) for each in requirement.any_of]
    return all(each.kind == "==" and symbols(each.left) != symbols(each.right) for each in relations)


def divides(requirement: Requirement) -> bool:
    """Whether a requirement is that a product of sizes is divisible."""
    return all(each.kind == "%" for each in requirement.any_of)


@lru_cache(maxsize=256)
def is_met(relations: tuple[Relation, ...]) -> bool:
    """Whether usual sizes meet one of these relations, with several numbers for each of a few symbols. True for lower
    bounds."""
    reduced = [without_common_factors(each) for each in relations]
    names = sorted({name for each in reduced for side in (each.left, each.right) for name in symbols(side)})
    if not 1 < len(names) <= len(SAMPLES) or any(each.kind == ">=" for each in reduced):
        return True
    try:
        met = [sizes for sizes in _samples(names) if any(_holds(each, sizes) for each in reduced)]
    except (ArithmeticError, TooComplex):
        return True
    return all(len({sizes[name] for sizes in met}) >= VARIED for name in names)


def have_sizes(requirements: Sequence[Requirement]) -> bool:
    """Whether usual sizes meet all requirements together, with several numbers for each symbol. True if these are on
    too many symbols."""
    groups = list(dict.fromkeys(each.any_of for each in requirements))
    found = sorted({name for each in requirements for name in names(each)})
    if not 0 < len(found) <= len(SAMPLES):
        return True
    try:
        met = [each for each in _samples(found) if all(any(_holds(one, each) for one in group) for group in groups)]
    except (ArithmeticError, TooComplex):
        return True
    return all(len({sizes[name] for sizes in met}) > 1 for name in found)


def _samples(names: Sequence[str]) -> Iterator[dict[str, int]]:
    for numbers in product(SAMPLES[len(names) - 1], repeat=len(names)):
        yield dict(zip(names, numbers))


def _holds(relation: Relation, sizes: Mapping[str, int]) -> bool:
    left, right = evaluated(relation.left, sizes), evaluated(relation.right, sizes)
    return left >= right if relation.kind == ">=" else left == right if relation.kind == "==" else left % right == 0
