"""All rules, and how users select them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import import_module

from irlint.findings import wording
from irlint.findings.faults import Rule
from irlint.policy.rule_index import RULES


@cache
def every_rule() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    return tuple(by_code(code) for code in sorted(RULES, key=in_order))


@cache
def by_code(code: str) -> Rule:
    """The rule with a code. Raises ValueError if there is none."""
    if code not in RULES:
        raise ValueError(f"there is no rule {code!r}")
    names = vars(import_module(f"irlint.{RULES[code]}")).values()
    return next(each for each in names if isinstance(each, Rule) and each.code == code)


def in_order(code: str) -> tuple[str, int, str]:
    """The sort key of a code: its family, then its number. A code with four digits comes after those with three."""
    return code[:4], len(code), code


def named(rule: Rule, name: str) -> bool:
    """Whether ``name`` is the code or the name of a rule, or a prefix of its code.

    If a prefix is the code of another rule, it selects only that rule.
    """
    if not name or rule.name == name or rule.code == name.upper():
        return bool(name)
    return name.upper() not in RULES and rule.code.startswith(name.upper())


@lru_cache(maxsize=1024)
def codes(name: str) -> frozenset[str]:
    """The codes of the rules that a code, a prefix of codes or a name selects."""
    return frozenset(rule.code for rule in every_rule() if named(rule, name))


def verified(option: str, names: list[str]) -> list[str]:
    """The names of rules in an option. Raises ValueError for a name that selects no rule."""
    for name in names:
        if not codes(name):
            raise ValueError(f"{option}: unknown rule {name!r}{suggestion(name, every_rule())}")
    return names


def suggestion(name: str, rules: Iterable[Rule]) -> str:
    """A text such as ``, did you mean 'IRL201'?``; "" if no code or name is similar."""
    close = closest(name, [text for rule in rules for text in (rule.code, rule.name)])
    return f", did you mean {close!r}?" if close else ""


def closest(name: str, names: Iterable[str]) -> str | None:
    """The most similar name, or None if no name is similar."""
    return wording.closest(name, names)
