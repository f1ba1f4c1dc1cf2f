"""What releases of a runtime have against a model: one function judges any model for any target."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.inference.known import Known
from irlint.schemas import OFFICIAL_DOMAINS
from irlint.targets import limits, operators, tables
from irlint.targets.conditions import hold
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.operators import Refusal
from irlint.targets.runtimes import Runtime
from irlint.targets.uses import Use, uses


def reasons(known: Known, runtime: Runtime, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of a runtime, given as bits, have against a model; ``opset`` stands for that of its nodes."""
    found = [Reason(having, objection) for having, objection in limits.objections(known, runtime, releases)]
    refused = limits.too_new(known, runtime, releases)
    for use in uses(known, lambda use: _holding(runtime, use), opset):
        if not use.certain and runtime.skips_dead:
            continue
        judged = releases & ~refused.get(use.node.domain, 0)
        found += [Reason(having, objection, use) for having, objection in of_node(use, runtime, judged)]
        absent = releases & ~judged & ~_having(runtime, use)
        if absent:
            found.append(Reason(absent, _no_operator(runtime, use), use))
    return found


def name_of(use: Use) -> str:
    """The operator as tables name it: an operation of an IR by its opset."""
    domain = use.version if isinstance(use.version, str) else use.node.domain
    return f"{domain}:{use.node.op.lower() if isinstance(use.version, str) else use.node.op}"


def _holding(runtime: Runtime, use: Use) -> tuple[Refusal, ...]:
    """The refusals whose conditions hold for a node, what is certain first."""
    return tuple(each for each in operators.refusals(runtime.table, name_of(use)) if hold(each.conditions, use))


def of_node(use: Use, runtime: Runtime, releases: int, depth: int = 0) -> list[tuple[int, Objection]]:
    """What the releases have against a node: each objection with those that have it."""
    found: list[tuple[int, Objection]] = []
    for version, having in operators.versions(runtime, name_of(use), use, releases):
        if version is None:
            found.append((having, _no_operator(runtime, use)))
            continue
        refused = _of_operator(use, runtime, version, having)
        for refusing, _ in refused:
            having &= ~refusing
        found += refused
        found += _of_conditions(use, runtime, having)
    return found


def _of_operator(use: Use, runtime: Runtime, version: int, releases: int) -> list[tuple[int, Objection]]:
    """What is wrong with the operator and its element types, in the releases in which it has this version."""
    name = name_of(use)
    if use.node.domain not in runtime.domains and use.node.domain not in OFFICIAL_DOMAINS:
        return [(releases, Objection(TARGET_NOT_KNOWN, f"a custom operator, {runtime.custom}", runtime.advice))]
    serving = [each for each in operators.rows(runtime.table, name) if each.serves(version)]
    sure = unsure = present = 0
    for row in serving:
        answer = operators.admits(row, runtime, version, use)
        present |= row.releases
        sure |= row.releases if answer else 0
        unsure |= row.releases if answer is None else 0
    found = []
    doubtful = releases & unsure & ~sure
    if doubtful:
        text = "its element types are not all known, and the release takes some of them"
        found.append((doubtful, Objection(TARGET_NOT_KNOWN, text, "declare the types of its inputs")))
    missing = releases & ~present
    lacking = missing if runtime.is_complete else missing & tables.holds(runtime.table, f"lacks {name}")
    if lacking:
        text = f"no {runtime.part}"
        found.append((lacking, Objection(OPERATOR_NOT_IN_RELEASE, text, "write it with other operators")))
    if missing & ~lacking:
        text = "no node of it that was tried is accepted"
        found.append((missing & ~lacking, Objection(TARGET_NOT_KNOWN, text, runtime.advice)))
    return found


def _of_conditions(use: Use, runtime: Runtime, releases: int) -> Iterator[tuple[int, Objection]]:
    """What releases that have the operator have against the form of a node."""
    for each in _holding(runtime, use):
        refusing = releases & each.releases
        if not refusing:
            continue
        releases &= ~refusing
        text = " and ".join(stated.text for stated in each.conditions)
        if each.is_certain:
            typed = any(stated.condition.of_types for stated in each.conditions)
            rule = ELEMENT_TYPE_NOT_IN_RELEASE if typed else RESTRICTED_IN_RELEASE
            yield refusing, Objection(rule, f"the release refuses it with {text}", each.conditions[0].help)
        else:
            text = f"no node of it with {text} that was tried is accepted"
            yield refusing, Objection(TARGET_NOT_KNOWN, text, runtime.advice)


def _having(runtime: Runtime, use: Use) -> int:
    """The releases that have an operator of this name in some version."""
    found = 0
    for _, removed, releases in operators.schemas(runtime.table, name_of(use)):
        found |= 0 if removed else releases
    return found or -1


def _no_operator(runtime: Runtime, use: Use) -> Objection:
    return Objection(OPERATOR_NOT_IN_RELEASE, f"no {runtime.part}", "write it with other operators")
