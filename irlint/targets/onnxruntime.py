"""Whether a release of ONNX Runtime takes an operator: its schemas, its CPU kernels, and the functions that stand for
operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from irlint.inference.known import Known
from irlint.records import record, replaced
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS, Formal, OfficialSchema, of_runtime, official, official_versions
from irlint.targets import onnxruntime_forms, onnxruntime_limits, tables
from irlint.targets.bodies import body
from irlint.targets.bodies import known as knows_bodies
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.tables import short, spans
from irlint.targets.uses import LEFT_OUT, Use, uses

NAME = "onnxruntime"

#: Whether the releases were asked themselves.
MEASURED = True

#: The furthest stage that was measured.
STAGE = "loaded"

#: An operator that is replaced by its contents, which takes no kernel.
WITHOUT_KERNEL = "Constant"

#: The first opset in which the casts are sound that the runtime inserts around nodes of float16.
FIRST_WITH_CASTS = 6

#: An operator that is taken away where what it takes, or what it gives, can stand for both.
REMOVED = "Identity"

#: The releases whose functions may have operators that another opset changed.
LAX = frozenset({"1.15", "1.16"})

#: Functions that stand for operators are followed so deep.
MAX_DEPTH = 8


@record
class Kernel:
    """A CPU kernel: the versions that it serves, the element types by constraint, and the releases that have it as
    bits."""

    since: int
    until: int | None
    types: Mapping[str, frozenset[str]]
    releases: int

    def serves(self, version: int) -> bool:
        """Whether it is one of a version of the operator: with an open end it serves only its own."""
        return self.since == version or (self.until is not None and self.since < version <= self.until)


@cache
def kernels(domain: str, op: str) -> tuple[Kernel, ...]:
    """The kernels of an operator in any release."""
    found = []
    for text, releases in tables.facts(NAME, f"kernel {domain}:{op} "):
        since, until, *constraints = text.split(" ")
        types = {name: frozenset(each.split(";")) for name, _, each in (part.partition("=") for part in constraints)}
        found.append(Kernel(int(since), None if until == "-" else int(until), types, releases))
    return tuple(found)


@cache
def schemas(domain: str, op: str) -> tuple[tuple[int, bool, int], ...]:
    """The versions of an operator, the latest first: where each begins, whether it removes the operator, and the
    releases."""
    rows = [(*map(int, text.split()), releases) for text, releases in tables.facts(NAME, f"schema {domain}:{op} ")]
    return tuple((since, bool(removed), releases) for since, removed, releases in sorted(rows, reverse=True))


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of ONNX Runtime, given as bits, have against an ONNX model; ``opset`` stands for that of its
    nodes."""
    found = [Reason(having, objection) for having, objection in onnxruntime_limits.objections(known, releases)]
    reading = {domain: releases & ~having for domain, having in onnxruntime_limits.too_new(known, releases).items()}
    for use in uses(known, lambda use: onnxruntime_forms.apart(use.node), opset):
        taking = reading.get(use.node.domain, releases)
        found += [Reason(having, objection, use) for having, objection in objections(use, taking)]
        absent = releases & ~taking & ~_having(use)
        if absent:
            found.append(Reason(absent, _no_schema(use), use))
    return found


def _having(use: Use) -> int:
    """The releases that have an operator of this name in some version."""
    rows = schemas(use.node.domain, use.node.op)
    return _union(releases for _, removed, releases in rows if not removed)


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def objections(use: Use, releases: int, depth: int = 0) -> list[tuple[int, Objection]]:
    """What the releases, given as bits, have against an operator: each objection with those that have it."""
    found: list[tuple[int, Objection]] = []
    for version, having in _versions(use, releases):
        if version is None:
            found.append((having, _no_schema(use)))
        else:
            wrong = list(onnxruntime_forms.objections(use, version, having))
            found += wrong
            for refusing, objection in wrong:
                having &= ~refusing if objection.is_certain else having
            found += _without_kernel(use, version, having, depth)
    if not use.certain:
        return [(having, _unsure(each, "it stands in a branch that never runs, which")) for having, each in found]
    if use.node.op == REMOVED and use.node.domain == "" and not use.spans:
        return [(having, _unsure(each, "which")) for having, each in found]
    return found


def _unsure(objection: Objection, why: str) -> Objection:
    text = f"{objection.text}; {why} the runtime may take away before it looks for kernels"
    return Objection(TARGET_NOT_KNOWN, text, objection.help)


def _versions(use: Use, releases: int) -> Iterator[tuple[int | None, int]]:
    """The version of the operator that each release gives to the node, None where it has none."""
    imported = use.version if isinstance(use.version, int) else None
    left = releases
    for since, removed, having in schemas(use.node.domain, use.node.op):
        mine = left & having
        if mine and (imported is None or since <= imported):
            left &= ~mine
            yield (None if removed else since), mine
    if left:
        yield None, left


def _no_schema(use: Use) -> Objection:
    node = use.node
    rows = schemas(node.domain, node.op)
    if not rows:
        if node.domain in OFFICIAL_DOMAINS and official_versions(node.op, node.domain):
            text = "no release that was measured has the operator"
            return Objection(OPERATOR_NOT_IN_RELEASE, text, "write it with operators of an earlier opset")
        if node.domain in OFFICIAL_DOMAINS or node.domain == MICROSOFT:
            return Objection(OPERATOR_NOT_IN_RELEASE, "no release that was measured has an operator of this name")
        text = "a custom operator, which a release takes where its library is registered"
        return Objection(TARGET_NOT_KNOWN, text, "register the library of the operator, and load the model once")
    imported = use.version
    first = min(since for since, removed, _ in rows if not removed)
    removed = next(
        (since for since, removed, _ in rows if removed and isinstance(imported, int) and since <= imported), 0
    )
    if removed:
        text = f"opset {removed} removed it; the node is of opset {imported}"
        return Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the model at an opset below {removed}")
    if isinstance(imported, int) and first > imported:
        text = f"it begins with opset {first}; the node is of opset {imported}"
        return Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the model at opset {first} or later")
    having = 0
    for since, removed_, releases in rows:
        if not removed_ and isinstance(imported, int) and since <= imported:
            having |= releases
    text = f"not in the release; {spans(NAME, having)} it"
    return Objection(OPERATOR_NOT_IN_RELEASE, text, "use one of these releases, or write it with other operators")


def _without_kernel(use: Use, version: int, releases: int, depth: int) -> Iterator[tuple[int, Objection]]:
    """The objections of the releases in which the operator has this version."""
    node = use.node
    if node.op == WITHOUT_KERNEL and node.domain == "":
        return
    schema = _schema(node.domain, node.op, version)
    serving = [each for each in kernels(node.domain, node.op) if each.serves(version)]
    sure = unsure = present = 0
    for kernel in serving:
        present |= kernel.releases
        answer = _admits(kernel, schema, use)
        sure |= kernel.releases if answer else 0
        unsure |= kernel.releases if answer is None else 0
    admitted = sure | unsure
    left = releases & ~admitted
    doubtful = releases & unsure & ~sure
    if doubtful:
        text = f"version {version}: its element types are not all known, and kernels are there for some of them"
        yield doubtful, Objection(TARGET_NOT_KNOWN, text, "declare the types of its inputs")
    if not left:
        return
    if not knows_bodies():
        yield left, _without_package(use, version)
        return
    lax = left & _lax()
    for having, is_lax in ((lax, True), (left & ~lax, False)):
        inside = body(use, version, lax=is_lax) if having and depth < MAX_DEPTH else None
        if inside is not None:
            yield from _of_body(use, version, having, inside, depth)
        elif having:
            yield from _refusals(use, version, having, present, serving, admitted)


def _without_package(use: Use, version: int) -> Objection:
    text = f"no kernel of version {version} for {_text(use)}; a function may stand for it, which the package onnx has"
    return Objection(TARGET_NOT_KNOWN, text, "install the package onnx, and ask again")


@cache
def _lax() -> int:
    """The releases that take a function though an operator in it is another one at the opset of the model."""
    return sum(1 << at for at, each in enumerate(tables.releases(NAME)) if short(each) in LAX)


def _of_body(
    use: Use, version: int, releases: int, inside: Sequence[Use], depth: int
) -> Iterator[tuple[int, Objection]]:
    """The objections to the nodes of the function that stands for an operator, as objections to the operator."""
    lacking = f"no kernel of version {version} for {_text(use)}, and the function that stands for it needs"
    for each in inside:
        for having, objection in objections(replaced(each, certain=True), releases, depth + 1):
            text = f"{lacking} {each.node.op} ({objection.text})"
            yield having, Objection(objection.rule, text, objection.help)
            releases &= ~having


def _refusals(
    use: Use, version: int, left: int, present: int, serving: Sequence[Kernel], admitted: int
) -> Iterator[tuple[int, Objection]]:
    if left & present:
        made = _made(use, version, serving, left & present)
        allowed = "" if made else _allowed(serving, left & present)
        later = f"; {spans(NAME, admitted)} one" if admitted else ""
        yield (
            left & present,
            Objection(
                ELEMENT_TYPE_NOT_IN_RELEASE,
                f"version {version} has no CPU kernel {f'that makes {made} of' if made else 'for'} {_text(use)}{later}",
                f"cast to what its kernels take: {allowed}" if allowed else "use another element type",
            ),
        )
    missing = left & ~present
    if missing:
        yield missing, Objection(OPERATOR_NOT_IN_RELEASE, *_no_kernel(use, version, missing, present, admitted))


def _no_kernel(use: Use, version: int, missing: int, present: int, admitted: int) -> tuple[str, str]:
    """The words for a version that no kernel of a release serves, and the help."""
    text = f"no CPU kernel of version {version}"
    if admitted or present:
        text += f"; {spans(NAME, admitted or present)} one"
    earlier = [
        each for each in kernels(use.node.domain, use.node.op) if each.releases & missing and each.since < version
    ]
    if earlier:
        last = max(each.until or each.since for each in earlier)
        text += f"; kernels end at version {last}"
        following = [since for since, _, _ in schemas(use.node.domain, use.node.op) if since > last]
        return text, f"write the model at an opset of at most {min(following) - 1}"
    return (
        text,
        "use such a release, or write it with other operators"
        if admitted or present
        else "write it with other operators",
    )


def _made(use: Use, version: int, serving: Sequence[Kernel], releases: int) -> str:
    """The element types of the outputs where it is these that the kernels lack, and not those of the inputs."""
    schema = _schema(use.node.domain, use.node.op, version)
    taken = replaced(use, outputs=())
    if not use.inputs or not any(_admits(each, schema, taken) for each in serving if each.releases & releases):
        return ""
    return " and ".join(dict.fromkeys(each or "an unknown type" for each in use.outputs if each != LEFT_OUT))


def _text(use: Use) -> str:
    """The element types of the inputs, or of the outputs where it has none."""
    types = list(dict.fromkeys(each for each in use.inputs or use.outputs if each != LEFT_OUT))
    return " and ".join(each or "an unknown type" for each in types) or "its types"


def _allowed(serving: Iterable[Kernel], releases: int) -> str:
    names: dict[str, None] = {}
    for kernel in serving:
        if kernel.releases & releases:
            for each in next(iter(kernel.types.values()), ()):
                names[each] = None
    return ", ".join(sorted(names)[:8])


@cache
def _schema(domain: str, op: str, version: int) -> OfficialSchema | None:
    versions = official_versions(op, domain) if domain in OFFICIAL_DOMAINS else ()
    if versions and version >= versions[0]:
        return official(op, version, domain)
    return of_runtime(op, domain) or (official(op, versions[0], domain) if versions else None)


def _admits(kernel: Kernel, schema: OfficialSchema | None, use: Use) -> bool | None:
    """Whether the type constraints of a kernel admit the types of a node; None where these are not known."""
    answer: bool | None = True
    for name, allowed in kernel.types.items():
        known = _type_of(name, schema, use)
        if known is None:
            answer = None
        elif known != LEFT_OUT and not _fits(known, allowed, use):
            return False
    return answer


def _fits(known: str, allowed: frozenset[str], use: Use) -> bool:
    """Whether a type is among those of a constraint; casts from float16 are inserted, but around nodes with bodies."""
    if known in allowed:
        return True
    if known != "float16" or "float32" not in allowed or use.node.bodies:
        return False
    return use.opset == 0 or use.opset >= FIRST_WITH_CASTS


def _type_of(name: str, schema: OfficialSchema | None, use: Use) -> str | None:
    """The type of the first input or output that a constraint is about: a type variable, or a formal's name."""
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


def _places(formals: Sequence[Formal], formal: Formal, index: int, count: int) -> range:
    last = count if formal.option == "variadic" and index == len(formals) - 1 else index + 1
    return range(index, min(last, count))
