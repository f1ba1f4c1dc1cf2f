"""Questions about requirements: what they fix, equate and divide."""

from __future__ import annotations

from irlint.contracts.fixed import fixes_products
from irlint.contracts.simplified import decided, key_of, simplified, without_common_factors
from irlint.dims import symbols
from irlint.findings.statements import Requirement


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
