"""The facts of a table as its file has them: those that differ in one list of names are one, and those that the schemas
imply are left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from itertools import combinations, product

from irlint.schemas import RUNTIME_DOMAINS, of_runtime, official, official_names, official_versions
from irlint.targets.operators import BY_OPSET

#: The facts by the releases that they hold for.
Facts = Mapping[str, Set[str]]

#: The kinds of facts whose words may be lists, and the conditions that hold for each entry of a list.
_OF_NODES = ("refuses", "doubts", "leaves", "fails")
_OF_ERRORS = ("reads", "rejects")
_LISTING = re.compile(r"(?:^|(?<= ))((?:type|gives|rank) \d+) (\S+)")


def apart(fact: str) -> Iterator[str]:
    """The facts that one with lists stands for."""
    kind, _, rest = fact.partition(" ")
    if kind == "op":
        name, versions, *constraints = rest.split(" ")
        named = [(key, each.split(";")) for key, _, each in (part.partition("=") for part in constraints)]
        for version, *types in product(versions.split(","), *(each for _, each in named)):
            yield " ".join([kind, name, version, *(f"{key}={each}" for (key, _), each in zip(named, types))])
    elif kind in _OF_NODES:
        parts = _LISTING.split(fact)
        for types in product(*(each.split(",") for each in parts[2::3])):
            yield _LISTING.sub(r"\1 {}", fact).format(*types)
    elif kind in _OF_ERRORS and rest.count(" "):
        name, codes = rest.split(" ")
        yield from (f"{kind} {name} {each}" for each in codes.split(","))
    else:
        yield fact


#: Of other facts about nodes, those with so few conditions are looked at.
FEW = 3


def pruned(facts: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The facts about nodes without the releases in which another one holds that asks for less; all others as they
    are."""
    return {fact: releases.difference(*_wider(fact, facts)) for fact, releases in facts.items()}


def _wider(fact: str, facts: Mapping[str, frozenset[str]]) -> Iterator[frozenset[str]]:
    """The releases of the facts with few of the conditions of a fact, in their order."""
    kind, _, rest = fact.partition(" ")
    name, _, text = rest.partition(" ")
    conditions = text.split(" & ") if kind in _OF_NODES else []
    for count in range(1, min(FEW, len(conditions) - 1) + 1):
        for fewer in combinations(conditions, count):
            yield facts.get(f"{kind} {name} {' & '.join(fewer)}", frozenset())


def joined(facts: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Fewer facts that say the same."""
    rows: dict[tuple[object, ...], set[tuple[frozenset[str], ...]]] = defaultdict(set)
    found: dict[str, frozenset[str]] = {}
    for fact, releases in facts.items():
        kind = fact.partition(" ")[0]
        if kind == "op":
            _, name, *lists = re.split(" |=", fact)
            shape = re.sub(r"=\S+", "={}", " ".join(fact.split(" ")[3:]))
            values = [lists[0], *lists[2::2]]
            rows[f"op {name} {{}} {shape}".rstrip(), releases].add(tuple(frozenset([each]) for each in values))
        elif kind in _OF_NODES and _LISTING.search(fact):
            values = [each[2] for each in _LISTING.finditer(fact)]
            rows[_LISTING.sub(r"\1 {}", fact), releases].add(tuple(frozenset([each]) for each in values))
        elif kind in _OF_ERRORS and fact.count(" ") > 1:
            start, _, code = fact.rpartition(" ")
            rows[f"{start} {{}}", releases].add((frozenset([code]),))
        else:
            found[fact] = releases
    for (shape, releases), lists in rows.items():
        between = ";" if str(shape).startswith("op ") else ","
        for row in _merged(lists):
            texts = [(between if at else ",").join(sorted(each, key=_number)) for at, each in enumerate(row)]
            found[str(shape).format(*texts)] = releases  # type: ignore[assignment]
    return found


def _number(text: str) -> tuple[int, str]:
    digits = text.partition("-")[0]
    return (int(digits) if digits.isdecimal() else 0), text


def _merged(rows: set[tuple[frozenset[str], ...]]) -> list[tuple[frozenset[str], ...]]:
    """Rows of lists, of which those that differ in one list became one."""
    before = 0
    while len(rows) != before:
        before = len(rows)
        for at in reversed(range(len(next(iter(rows))))):
            groups: dict[tuple[frozenset[str], ...], frozenset[str]] = {}
            for row in sorted(rows, key=lambda row: [sorted(each) for each in row]):
                rest = (*row[:at], *row[at + 1 :])
                groups[rest] = groups.get(rest, frozenset()) | row[at]
            rows = {(*rest[:at], each, *rest[at:]) for rest, each in groups.items()}
    return sorted(rows, key=lambda row: [sorted(each) for each in row])


def implied(facts: Facts) -> dict[str, set[str]]:
    """What the schemas say of releases that have ``schema`` facts, as ``operators`` reads it where no fact says another
    thing."""
    found: dict[str, set[str]] = {}
    schemas = {fact: releases for fact, releases in facts.items() if fact.startswith("schema ")}
    for domain in BY_OPSET if schemas else ():
        for op in official_names(domain):
            for since in official_versions(op, domain):
                schema = official(op, since, domain)
                removed = int(schema is not None and schema.deprecated)
                having = facts.get(f"opset {domain} {since}", ())
                found[f"schema {domain}:{op} {since} {removed}"] = set(having)
    for fact, releases in schemas.items():
        name = fact.split(" ")[1]
        domain, _, op = name.partition(":")
        schema = of_runtime(op, domain) if domain in RUNTIME_DOMAINS else None
        if schema is not None:
            found |= {f"attribute {name} {each}": set(releases) for each in schema.attributes}
            numbers = (schema.min_input, schema.max_input, schema.min_output, schema.max_output)
            own = f"counts {name} {' '.join(map(str, numbers))}"
            others = (each for other, each in facts.items() if other.startswith(f"counts {name} ") and other != own)
            found[own] = set(releases).difference(*others)
    return found
