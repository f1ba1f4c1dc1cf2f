"""The operators that the releases of a runtime have, as the rows of its table state them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from irlint.records import record, replaced
from irlint.schemas import OFFICIAL_DOMAINS, Formal, OfficialSchema, of_runtime, official, official_versions
from irlint.targets import tables
from irlint.targets.conditions import DYNAMIC, Stated, hold, stated
from irlint.targets.runtimes import Runtime
from irlint.targets.tables import short
from irlint.targets.uses import LEFT_OUT, Use


@record
class Row:
    """An operator as releases, given as bits, have it: the versions that it serves, and the element types by
    constraint."""

    since: int
    until: int
    types: Mapping[str, frozenset[str]]
    releases: int

    def serves(self, version: int) -> bool:
        """Whether it is one of a version of the operator."""
        return self.since <= version <= self.until


@record
class Refusal:
    """Conditions under which releases, given as bits, do something else with a node than to take it: ``kind`` is one of
    ``KINDS``."""

    conditions: tuple[Stated, ...]
    releases: int
    kind: str


#: They leave the node to the CPU, refuse it, load it and fail when it runs, or it is not known.
KINDS = LEAVES, REFUSES, FAILS, DOUBTS = "leaves", "refuses", "fails", "doubts"


#: The versions of a row that serves every one.
EVERY = (0, 1 << 31)


def name(use: Use) -> str:
    """The operator as tables name it: an operation of an IR by its opset."""
    if isinstance(use.version, str):
        return f"{use.version}:{use.node.op.lower()}"
    return f"{use.node.domain}:{use.node.op}"


def is_custom(runtime: Runtime, use: Use) -> bool:
    """Whether no release was asked about an operator of this name and domain, or an operation of this opset."""
    if isinstance(use.version, str):
        from irlint.ops.index import OPENVINO

        op = use.node.op.lower()
        return not use.version.startswith("opset") or op not in {each.lower() for each in OPENVINO}
    if use.node.domain in OFFICIAL_DOMAINS:
        is_known = rows(runtime.table, name(use)) or tables.holds(runtime.table, f"lacks {name(use)}")
        return runtime.is_measured and not official_versions(use.node.op, use.node.domain) and not is_known
    return use.node.domain not in runtime.domains


def earlier_opset(runtime: Runtime, use: Use, releases: int) -> str:
    """The latest opset before that of an operation in which all of the releases have one of its name; "" for none."""
    number = str(use.version).removeprefix("opset")
    for each in range(int(number) - 1, 0, -1) if number.isdecimal() else ():
        having = sum({row.releases for row in rows(runtime.table, f"opset{each}:{use.node.op.lower()}")})
        if not releases & ~having:
            return f"opset{each}"
    return ""


def by_laxness(runtime: Runtime, releases: int) -> Iterator[tuple[int, bool]]:
    """The releases, and whether they take a function though an operator in it is another one at the opset."""
    lax = releases & sum(
        1 << at for at, each in enumerate(tables.releases(runtime.table)) if short(each) in runtime.lax
    )
    yield from ((having, is_lax) for having, is_lax in ((lax, True), (releases & ~lax, False)) if having)


@cache
def rows(table: str, name: str) -> tuple[Row, ...]:
    """The rows of an operator in any release."""
    found = []
    for text, releases in tables.facts(table, f"op {name} "):
        versions, *constraints = text.split(" ")
        since, _, until = versions.partition("-")
        first, last = EVERY if versions == "*" else (int(since), int(until or since))
        types = {key: frozenset(each.split(";")) for key, _, each in (part.partition("=") for part in constraints)}
        found.append(Row(first, last, types, releases))
    return tuple(found)


@cache
def refusals(table: str, name: str) -> tuple[Refusal, ...]:
    """The conditions under which releases refuse an operator."""
    return tuple(
        Refusal(stated(row), releases, kind)
        for kind in KINDS
        for row, releases in tables.facts(table, f"{kind} {name} ")
    )


def is_refused_for_sizes(table: str, use: Use) -> bool:
    """Whether a release refuses a node for its dynamic sizes."""
    found = (each.conditions for each in refusals(table, name(use)) if each.kind == REFUSES)
    return any(hold(conditions, use) for conditions in found if any(each.condition is DYNAMIC for each in conditions))


@cache
def schemas(table: str, name: str) -> tuple[tuple[int, bool, int], ...]:
    """The versions of an operator that releases know, the latest first: where each begins, whether it removes the
    operator, and the releases."""
    found = [(*map(int, text.split()), releases) for text, releases in tables.facts(table, f"schema {name} ")]
    return tuple((since, bool(removed), releases) for since, removed, releases in sorted(found, reverse=True))


def versions(runtime: Runtime, use: Use, releases: int) -> Iterator[tuple[int | None, int]]:
    """The version of the operator that each release uses for the node; None if the release has none."""
    imported = use.version if isinstance(use.version, int) else None
    if not tables.has(runtime.table, "schema "):
        is_open = imported is None and use.node.domain in OFFICIAL_DOMAINS and not isinstance(use.version, str)
        if not (is_open and rows(runtime.table, name(use))):
            yield _official_version(use, imported), releases
        return
    left = releases
    for since, removed, having in schemas(runtime.table, name(use)):
        mine = left & having
        if mine and (imported is None or since <= imported):
            left &= ~mine
            yield (None if removed else since), mine
    if left:
        yield None, left


def _official_version(use: Use, imported: int | None) -> int:
    """The version that a node has by the official schemas: one before the first where the opset is older."""
    if imported is None or use.node.domain not in OFFICIAL_DOMAINS:
        return 1
    return _begins(use.node.domain, use.node.op, imported)


@cache
def _begins(domain: str, op: str, opset: int) -> int:
    found = official_versions(op, domain)
    return max((each for each in found if each <= opset), default=found[0] - 1 if found else opset)


def admits(row: Row, runtime: Runtime, version: int, use: Use) -> bool | None:
    """Whether the constraints of a row allow the element types of a node; None if these are unknown."""
    answer: bool | None = True
    for name, allowed in row.types.items():
        known = _type_of(name, version, use)
        if known is None:
            answer = None
        elif known != LEFT_OUT and known not in allowed and not _is_cast(runtime, known, allowed, use):
            return False
    return answer


def _is_cast(runtime: Runtime, known: str, allowed: frozenset[str], use: Use) -> bool:
    """Whether the runtime casts such a value; around nodes with bodies it does not, nor before Cast takes every
    type."""
    other = runtime.casts.get(known)
    return other in allowed and not use.node.bodies and (use.opset == 0 or use.opset >= FIRST_WITH_CASTS)


#: The first opset in which Cast names its type by a number.
FIRST_WITH_CASTS = 6


def _type_of(name: str, version: int, use: Use) -> str | None:
    """The element type that a constraint is about: of the input with this index, or of the first input or output with
    this type variable or name."""
    if name.isdecimal():
        given = use.inputs or use.outputs
        return given[int(name)] if int(name) < len(given) else LEFT_OUT
    schema = _schema(use.node.domain, use.node.op, version)
    if schema is None:
        return use.inputs[0] if name == "T" and use.inputs else None
    for formals, types in ((schema.inputs, use.inputs), (schema.outputs, use.outputs)):
        for index, formal in enumerate(formals):
            if name not in (formal.variable, formal.name):
                continue
            for at in _places(formals, formal, index, len(types)):
                if types[at] != LEFT_OUT:
                    return types[at]
    return LEFT_OUT


@cache
def _schema(domain: str, op: str, version: int) -> OfficialSchema | None:
    found = official_versions(op, domain) if domain in OFFICIAL_DOMAINS else ()
    if found and version >= found[0]:
        return official(op, version, domain)
    return of_runtime(op, domain) or (official(op, found[0], domain) if found else None)


def _places(formals: Sequence[Formal], formal: Formal, index: int, count: int) -> range:
    last = count if formal.option == "variadic" and index == len(formals) - 1 else index + 1
    return range(index, min(last, count))


def made(use: Use, runtime: Runtime, version: int, serving: Sequence[Row], releases: int) -> str:
    """The element types of the outputs where it is these that the rows lack, and not those of the inputs."""
    taken = replaced(use, outputs=())
    mine = [each for each in serving if each.releases & releases]
    if not use.inputs or not any(admits(each, runtime, version, taken) for each in mine):
        return ""
    return " and ".join(dict.fromkeys(each or "an unknown type" for each in use.outputs if each != LEFT_OUT))


def allowed(serving: Sequence[Row], releases: int) -> str:
    """The element types of the first constraint of rows."""
    mine = (next(iter(each.types.values()), ()) for each in serving if each.releases & releases)
    return ", ".join(sorted({name for types in mine for name in types})[:8])
