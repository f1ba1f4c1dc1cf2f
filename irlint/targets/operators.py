"""Reads the operators of releases from the rows of a table. ``releases`` is a bit mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from irlint.model.tensor import BITS
from irlint.records import record, replaced
from irlint.schemas import OFFICIAL_DOMAINS, Formal, OfficialSchema, of_runtime, official, official_versions
from irlint.targets import tables
from irlint.targets.conditions import DYNAMIC, BoundCondition, conditions_in, hold
from irlint.targets.runtimes import Runtime
from irlint.targets.tables import short
from irlint.targets.uses import OMITTED, Use


@record
class Row:
    """The versions and element types of an operator that releases accept."""

    since: int
    until: int
    #: The element types by constraint.
    types: Mapping[str, frozenset[str]]
    releases: int

    def serves(self, version: int) -> bool:
        """Whether the row covers a version."""
        return self.since <= version <= self.until


@record
class Refusal:
    """Conditions under which releases do not run a node on their device."""

    conditions: tuple[BoundCondition, ...]
    releases: int
    #: One of KINDS.
    kind: str


#: What a release does with a node: it leaves the node to the CPU, refuses the model, fails when the node runs, or is
#: not known.
KINDS = LEAVES, REFUSES, FAILS, DOUBTS = "leaves", "refuses", "fails", "doubts"


#: The first and last version of a row for all versions.
EVERY = (0, 1 << 31)

#: Domains whose official versions hold for releases with ``schema`` facts, unless such a fact states otherwise.
BY_OPSET = ("", "ai.onnx.ml")


def name(use: Use) -> str:
    """The name of an operator in tables."""
    return f"opset:{use.node.op.lower()}" if isinstance(use.version, str) else f"{use.node.domain}:{use.node.op}"


def version_of(use: Use) -> int | None:
    """The version of a node. For a layer of an IR, the number of its opset, or 0 if the opset has no number."""
    if isinstance(use.version, str):
        number = use.version.removeprefix("opset")
        return int(number) if number.isdecimal() and len(number) <= len("999") else 0
    return use.version


def is_custom(runtime: Runtime, use: Use) -> bool:
    """Whether an operator is custom, so that the tables do not show whether releases accept it."""
    if isinstance(use.version, str):
        from irlint.ops.index import OPENVINO

        op = use.node.op.lower()
        return not use.version.startswith("opset") or op not in {each.lower() for each in OPENVINO}
    if use.node.domain in OFFICIAL_DOMAINS:
        is_known = rows(runtime.table, name(use)) or tables.holds(runtime.table, f"lacks {name(use)}")
        return runtime.is_measured and not official_versions(use.node.op, use.node.domain) and not is_known
    return use.node.domain not in runtime.domains


def earlier_opset(runtime: Runtime, use: Use, releases: int) -> str:
    """The latest opset before the opset of a layer in which all ``releases`` have its operation; "" if there is
    none."""
    for each in range((version_of(use) or 0) - 1, 0, -1) if isinstance(use.version, str) else ():
        if not releases & ~serving(runtime.table, name(use), each):
            return f"opset{each}"
    return ""


def by_leniency(runtime: Runtime, releases: int) -> Iterator[tuple[int, bool]]:
    """(releases, whether they are lenient). Lenient releases accept a function body whose operators have other versions
    at the opset of the model."""
    lenient = releases & sum(
        1 << at for at, each in enumerate(tables.releases(runtime.table)) if short(each) in runtime.lenient
    )
    yield from (
        (having, is_lenient) for having, is_lenient in ((lenient, True), (releases & ~lenient, False)) if having
    )


@cache
def rows(table: str, name: str) -> tuple[Row, ...]:
    """The rows of an operator."""
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
    """The releases with a row for a version of an operator."""
    having = 0
    for row in rows(table, name):
        having |= row.releases if row.serves(version) else 0
    return having


@cache
def refusals(table: str, name: str) -> tuple[Refusal, ...]:
    """The refusals of an operator, in the order of KINDS."""
    return tuple(
        Refusal(conditions_in(row), releases, kind)
        for kind in KINDS
        for row, releases in tables.facts(table, f"{kind} {name} ")
    )


def is_refused_for_sizes(table: str, use: Use) -> bool:
    """Whether a release refuses a node because of its dynamic sizes."""
    found = (each.conditions for each in refusals(table, name(use)) if each.kind == REFUSES)
    return any(hold(conditions, use) for conditions in found if any(each.condition is DYNAMIC for each in conditions))


@cache
def schemas(table: str, name: str) -> tuple[tuple[int, bool, int], ...]:
    """(first opset of a version, whether the version removes the operator, releases), the latest version first."""
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
    """((least inputs, most inputs, least outputs, most outputs), releases) of an operator of ONNX Runtime."""
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
    """(version of the operator that the releases use for a node, or None if they have none; these releases)."""
    imported = version_of(use)
    if not tables.has(runtime.table, "schema "):
        is_unknown = imported is None and use.node.domain in OFFICIAL_DOMAINS
        if not (is_unknown and rows(runtime.table, name(use))):
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
    """The version of a node by the official schemas; 1 in other domains, or without an opset.

    If the opset is older than the first version, it is one less than the first version. Without schemas, it is the
    opset.
    """
    if imported is None or use.node.domain not in OFFICIAL_DOMAINS:
        return 1
    return _official_since(use.node.domain, use.node.op, imported)


@cache
def _official_since(domain: str, op: str, opset: int) -> int:
    found = official_versions(op, domain)
    return max((each for each in found if each <= opset), default=found[0] - 1 if found else opset)


def admits(row: Row, runtime: Runtime, version: int, use: Use) -> bool | None:
    """Whether the constraints of a row allow the element types of a node; None if a type is unknown and
    no other type is refused."""
    answer: bool | None = True
    for name, allowed in row.types.items():
        known = _type_of(name, version, use)
        if known is None:
            answer = None
        elif known != OMITTED and known not in allowed and not _can_be_cast(runtime, known, allowed, use):
            return False
    return answer


def _can_be_cast(runtime: Runtime, known: str, allowed: frozenset[str], use: Use) -> bool:
    """Whether the runtime inserts a Cast to an allowed type. It does not for nodes with bodies, or at early opsets."""
    other = runtime.casts.get(known)
    return other in allowed and not use.node.bodies and (use.opset == 0 or use.opset >= FIRST_WITH_CASTS)


#: The first opset in which ``to`` of Cast is an integer.
FIRST_WITH_CASTS = 6


def _type_of(name: str, version: int, use: Use) -> str | None:
    """The element type of a node that the constraint ``name`` limits. ``name`` is the index of an input (of an
    output if the node has no inputs), a type variable, or the name of a formal in the schema."""
    if name.isdecimal():
        given = use.inputs or use.outputs
        return given[int(name)] if int(name) < len(given) else OMITTED
    schema = _schema(use.node.domain, use.node.op, version)
    if schema is None:
        return use.inputs[0] if name == "T" and use.inputs else None
    for formals, types in ((schema.inputs, use.inputs), (schema.outputs, use.outputs)):
        for index, formal in enumerate(formals):
            if name not in (formal.variable, formal.name):
                continue
            for at in _places(formals, formal, index, len(types)):
                if types[at] != OMITTED:
                    return types[at]
    return OMITTED


@cache
def _schema(domain: str, op: str, version: int) -> OfficialSchema | None:
    found = official_versions(op, domain) if domain in OFFICIAL_DOMAINS else ()
    if found and version >= found[0]:
        return official(op, version, domain)
    return of_runtime(op, domain) or (official(op, found[0], domain) if found else None)


def _places(formals: Sequence[Formal], formal: Formal, index: int, count: int) -> range:
    last = count if formal.option == "variadic" and index == len(formals) - 1 else index + 1
    return range(index, min(last, count))


def unserved_output_types(use: Use, runtime: Runtime, version: int, serving: Sequence[Row], releases: int) -> str:
    """The element types of the outputs of a node, if the rows allow the types of its inputs; "" otherwise."""
    without_outputs = replaced(use, outputs=())
    mine = [each for each in serving if each.releases & releases]
    if not use.inputs or not any(admits(each, runtime, version, without_outputs) for each in mine):
        return ""
    return " and ".join(dict.fromkeys(each or "an unknown type" for each in use.outputs if each != OMITTED))


def allowed_types(serving: Sequence[Row], releases: int, use: Use) -> str:
    """At most eight element types that the first constraints of the rows allow.

    If an input has more than 8 bits and a type of more than 8 bits is allowed, types of at most 8 bits are omitted,
    except bool.
    """
    mine = (next(iter(each.types.values()), ()) for each in serving if each.releases & releases)
    found = {name for types in mine for name in types}
    if _is_wide(*use.inputs) and any(map(_is_wide, found)):
        found = {name for name in found if name not in BITS or BITS[name] > 8 or name == "bool"}
    return ", ".join(sorted(found)[:8])


def _is_wide(*types: str | None) -> bool:
    return any(BITS.get(name or "", 0) > 8 for name in types)
