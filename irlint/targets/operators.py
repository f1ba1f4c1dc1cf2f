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

#: The domains of which releases with ``schema`` facts know the versions up to their opset, where no fact differs.
BY_OPSET = ("", "ai.onnx.ml")


def name(use: Use) -> str:
    """The operator as tables name it."""
    return f"opset:{use.node.op.lower()}" if isinstance(use.version, str) else f"{use.node.domain}:{use.node.op}"


def version_of(use: Use) -> int | None:
    """The version that a node imports: of an operation of an IR the number of its opset, None where it has none."""
    if isinstance(use.version, str):
        number = use.version.removeprefix("opset")
        return int(number) if number.isdecimal() else 0
    return use.version


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
    for each in range((version_of(use) or 0) - 1, 0, -1) if isinstance(use.version, str) else ():
        if not releases & ~serving(runtime.table, name(use), each):
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
        types = {key: frozenset(each.split(";")) for key, _, each in (part.partition("=") for part in constraints)}
        for each in versions.split(","):
            since, _, until = each.partition("-")
            first, last = EVERY if each == "*" else (int(since), int(until or since))
            found.append(Row(first, last, types, releases))
    return tuple(found)


def serving(table: str, name: str, version: int) -> int:
    """The releases with a row of a version of an operator."""
    having = 0
    for row in rows(table, name):
        having |= row.releases if row.serves(version) else 0
    return having


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
    domain, _, op = name.partition(":")
    found: dict[tuple[int, bool], int] = {}
    for since in official_versions(op, domain) if domain in BY_OPSET and tables.has(table, "schema ") else ():
        schema = official(op, since, domain)
        removed = schema is not None and schema.deprecated
        found[since, removed] = tables.holds(table, f"opset {domain} {since}")
    for text, releases in tables.facts(table, f"schema {name} "):
        number, removal = map(int, text.split())
        found[number, bool(removal)] = releases
    return tuple((*each, found[each]) for each in sorted(found, reverse=True) if found[each])


@cache
def counts(table: str, name: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The least and the greatest number of inputs and of outputs of an operator of ONNX Runtime's own, each with the
    releases that have these; those that no fact names have the numbers of its schema."""
    if not tables.has(table, "counts "):
        return ()
    found = [(tuple(map(int, text.split())), having) for text, having in tables.facts(table, f"counts {name} ")]
    domain, _, op = name.partition(":")
    own = of_runtime(op, domain) if domain not in OFFICIAL_DOMAINS else None
    if own is not None:
        others = -1
        for _, having in found:
            others &= ~having
        found.append(((own.min_input, own.max_input, own.min_output, own.max_output), others))
    return tuple(found)


def versions(runtime: Runtime, use: Use, releases: int) -> Iterator[tuple[int | None, int]]:
    """The version of the operator that each release uses for the node; None if the release has none."""
    imported = version_of(use)
    if not tables.has(runtime.table, "schema "):
        is_open = imported is None and use.node.domain in OFFICIAL_DOMAINS
        if not (is_open and rows(runtime.table, name(use))):
            yield (imported or 0) if isinstance(use.version, str) else _official_version(use, imported), releases
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
