"""Rules for people: a page for each, and the table of all."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from irlint.diagnostics import Rule

WIDTH = 100


def page(rule: Rule) -> str:
    """What a rule is about, why, an example that breaks it, one that keeps it, and how to mend it."""
    parts = [f"{rule.code} {rule.name} ({rule.severity.value})", _wrapped(rule.summary)]
    if rule.why:
        parts.append(f"Why\n{_wrapped(rule.why)}")
    if rule.bad:
        parts.append(f"Bad\n{_example(rule.bad)}")
    if rule.good:
        parts.append(f"Good\n{_example(rule.good)}")
    if rule.mend:
        parts.append(f"How to mend it\n{_wrapped(rule.mend)}")
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(
            " ".join(each.split()), WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        for each in paragraphs
    )


def _example(text: str) -> str:
    return textwrap.indent(text.strip("\n"), "    ")


def table(rules: Iterable[Rule]) -> str:
    """A line for each rule: code, severity, name and what it states."""
    rows = [(rule.code, rule.severity.value, rule.name, rule.summary) for rule in rules]
    name_width = max((len(row[2]) for row in rows), default=0)
    return "".join(f"{code}  {severity:7}  {name:{name_width}}  {text}\n" for code, severity, name, text in rows)


def markdown(rules: Iterable[Rule]) -> str:
    """The README's table of rules."""
    rows = [f"| {rule.code} | `{rule.name}` | {rule.severity.value} | {rule.summary} |" for rule in rules]
    return "\n".join(["| code | rule | severity | what it finds |", "| --- | --- | --- | --- |", *rows]) + "\n"
