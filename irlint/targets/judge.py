"""Finds the objections of releases to a model. ``releases`` is a bit mask of the releases of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.records import replaced
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS, of_runtime, official, official_versions
from irlint.targets import limits, operators, tables
from irlint.targets.conditions import BoundCondition, hold, of_signature, requantized
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    STAYS_ON_CPU,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.operators import Refusal, Row
from irlint.targets.runtimes import RUNTIMES, Runtime
from irlint.targets.tables import spans
from irlint.targets.uses import OMITTED, Use, each_use, grouped

if TYPE_CHECKING:
    from irlint.targets.partitions import Optimized

#: The maximum depth of nested function bodies that replace operators.
MAX_DEPTH = 8

#: (releases, their objection).
Objections = Iterator[tuple[int, Objection]]

WITH_OTHERS = "write it with other operators"
WITH_SUCH = "use one of these releases, or write it with other operators"


def reasons(
    known: Known, runtime: Runtime, releases: int, opset: int | None = None, single: Sequence[Use] | None = None
) -> list[Reason]:
    """The reasons why releases object to a model. ``opset`` replaces the opset of the model.

    If ``single`` is passed, only these nodes are examined.
    """
    single = tuple(each_use(known, opset)) if single is None else single
    found = [Reason(having, objection) for having, objection in limits.objections(known, runtime, releases)]
    refused = limits.too_new(known, runtime, releases)
    optimized = _optimized(known, runtime.table) if runtime.falls_back else None
    keys = _Keys(runtime, releases)

    def distinction(use: Use) -> object:
        place = optimized.distinction(use) if optimized is not None else ()
        return place if place is None else (place, keys.distinction(use))

    for each in grouped(single, distinction):
        use = optimized.visible(each) if optimized is not None else each
        if use is None or (not use.may_run and runtime.skips_dead):
            continue
        if optimized is not None and optimized.stays_on_cpu(use):
            found.append(Reason(releases, _on_cpu(*optimized.why_on_cpu(use)), use))
            continue
        reading = releases & ~refused.get(use.node.domain, 0)
        mine = [Reason(having, objection, use) for having, objection in _of_checked_node(use, runtime, reading)]
        if optimized is not None and use.node in optimized.constant_fed and not mine:
            mine.append(Reason(releases, _constant_fed(use), use))
        found += mine
        absent = releases & ~reading & ~_releases_with_operator(runtime, use)
        if absent:
            found.append(Reason(absent, _unknown_operator(use, runtime), use))
    if runtime.falls_back:
        return found + _of_nodes_on_cpu(known, releases, opset, single, found=found)
    return found if opset is not None else found + _of_misread(known, runtime, releases, found)


def _optimized(known: Known, table: str) -> Optimized:
    from irlint.targets import partitions

    return partitions.optimized(known, table)


def _of_misread(known: Known, runtime: Runtime, releases: int, found: Sequence[Reason]) -> list[Reason]:
    """The refusals by releases that ignore attributes and inputs from later opsets. Releases that refuse the model in
    ``found`` are skipped."""
    for each in found:
        releases &= ~each.releases if each.objection.is_certain else releases
    if not tables.has(runtime.table, "drops "):
        return []
    from irlint.targets import misreading

    read = misreading.misread(known, runtime.table, releases)
    if read is None:
        return []
    why = f"the release ignores what {' and '.join(read.operators)} does not have at the opset of the model; then "
    help = "write the model at the opset that its nodes are written for"
    return [
        replaced(each, objection=Objection(each.objection.rule, f"{why}{each.objection.text}", help))
        for each in reasons(read.known, runtime, read.releases)
        if each.objection.is_certain
    ]


def _of_nodes_on_cpu(
    known: Known, releases: int, opset: int | None, single: Sequence[Use], *, found: Sequence[Reason]
) -> list[Reason]:
    """The objections of the newest ONNX Runtime to the nodes that stay on the CPU, because it runs them there."""
    left = {(each.use.node.op, each.use.inputs) for each in found if each.use and each.objection.rule is STAYS_ON_CPU}
    onnxruntime = RUNTIMES["onnxruntime"]
    newest = 1 << len(tables.releases(onnxruntime.table)) - 1
    nodes = [use for use in single if (use.node.op, use.inputs) in left]
    return [replaced(each, releases=releases) for each in reasons(known, onnxruntime, newest, opset, nodes)]


class _Keys:
    def __init__(self, runtime: Runtime, releases: int) -> None:
        self.table = runtime.table
        self.releases = releases
        #: For each signature: (index of a refusal that may hold, its conditions that depend on more than the
        #: signature).
        self.found: dict[object, tuple[tuple[int, tuple[BoundCondition, ...]], ...]] = {}

    def distinction(self, use: Use) -> object:
        """A key that differs for nodes with different objections: the refusals that hold, and the names of attributes
        if the node has a domain."""
        signature = use.node.domain, use.node.op, use.version, use.inputs, use.outputs, frozenset(use.faults)
        rows = self.found.get(signature)
        if rows is None:
            rows = self.found[signature] = tuple(self._possible(use))
        held = tuple([at for at, conditions in rows if hold(conditions, use)])
        return (held, tuple(use.node.attributes)) if use.node.domain else held

    def _possible(self, use: Use) -> Iterator[tuple[int, tuple[BoundCondition, ...]]]:
        for at, each in enumerate(operators.refusals(self.table, operators.name(use))):
            if each.releases & self.releases and hold([one for one in each.conditions if of_signature(one)], use):
                yield at, tuple(one for one in each.conditions if not of_signature(one))


def _holding_refusals(runtime: Runtime, use: Use) -> tuple[Refusal, ...]:
    return tuple(each for each in operators.refusals(runtime.table, operators.name(use)) if hold(each.conditions, use))


def _of_checked_node(use: Use, runtime: Runtime, releases: int) -> Objections:
    """The objections to a node. Releases that do not check nodes in a branch or body like this one are excluded."""
    places = [*use.graph.split("/")[1:], *(() if use.may_run else ("dead",))]
    for having, objection in of_node(use, runtime, releases):
        kind = "operator" if objection.rule is OPERATOR_NOT_IN_RELEASE else "node"
        for place in places:
            having &= ~tables.holds(runtime.table, f"passes-over {place} {kind}")
        if not having:
            continue
        if not use.may_run and runtime.drops_dead:
            yield (
                having,
                _unsure(
                    objection, "it is in a branch that never runs, and the runtime may remove this branch unchecked"
                ),
            )
        elif use.node.op in runtime.removable and not use.node.domain and not (use.reads_input and use.returns_output):
            yield having, _unsure(objection, "the runtime may remove it unchecked")
        else:
            yield having, objection


def _constant_fed(use: Use) -> Objection:
    text = "its inputs are constant or without elements, and the compiler refuses a partition without other inputs"
    return Objection(TARGET_NOT_KNOWN, text, "compute it when the model is written, or load the model once")


def _on_cpu(text: str, help: str = "write it with other operators") -> Objection:
    return Objection(STAYS_ON_CPU, f"{text}; it runs on the CPU", help)


def _unsure(objection: Objection, why: str) -> Objection:
    return Objection(TARGET_NOT_KNOWN, f"{objection.text}; {why}", objection.help)


def of_node(use: Use, runtime: Runtime, releases: int, depth: int = 0) -> Objections:
    """The objections to a node that runs."""
    if use.node.op in runtime.built_in and use.node.domain:
        return
    for version, having in operators.versions(runtime, use, releases):
        if version is None:
            yield having, _unknown_operator(use, runtime)
            continue
        for check in (_of_unknown_parts, _of_operator_and_types, _of_conditions):
            for refusing, objection in check(use, runtime, version, having, depth):
                left = runtime.falls_back and objection.is_certain and check is not _of_conditions
                having &= ~refusing if objection.is_certain or objection.rule is STAYS_ON_CPU else having
                yield refusing, _on_cpu(objection.text) if left else objection


def _of_unknown_parts(use: Use, runtime: Runtime, version: int, releases: int, _: int) -> Objections:
    """The objections to attributes, inputs and outputs that the operator does not have in a release."""
    node, name = use.node, operators.name(use)
    own = of_runtime(node.op, node.domain) if node.domain not in OFFICIAL_DOMAINS else None
    judges = node.domain not in OFFICIAL_DOMAINS and tables.has(runtime.table, "attribute ")
    for attribute in node.attributes if judges else ():
        having = tables.holds(runtime.table, f"attribute {name} {attribute}")
        lacking = releases & ~having if having or own is None or attribute not in own.attributes else 0
        if lacking:
            text = f"the operator has no attribute `{attribute}` in the release"
            yield lacking, Objection(OPERATOR_NOT_IN_RELEASE, text, "leave the attribute out, or use a later release")
            releases &= ~lacking
    for (least_in, most_in, least_out, most_out), having in operators.counts(runtime.table, name):
        mine = releases & having
        if mine and not (least_in <= len(use.inputs) <= most_in and least_out <= len(use.outputs) <= most_out):
            text = f"{counted(len(use.inputs), 'input')} and {counted(len(use.outputs), 'output')}; in the release the "
            text += f"operator takes {_range_text(least_in, most_in, 'input')} "
            text += f"and has {_range_text(least_out, most_out, 'output')}"
            yield mine, Objection(OPERATOR_NOT_IN_RELEASE, text, "use a release that has them")
    model_schema = official(node.op, use.version, node.domain) if isinstance(use.version, int) else None
    release_schema = (
        official(node.op, version, node.domain) if model_schema is not None and model_schema.since > version else None
    )
    if model_schema is None or release_schema is None:
        return
    more = next((name for name in node.attributes if name not in release_schema.attributes), None)
    if more is not None or len(use.inputs) > release_schema.max_input or len(use.outputs) > release_schema.max_output:
        what = f"the attribute `{more}` is" if more is not None else "its inputs and outputs are"
        text = f"{what} of version {model_schema.since}; the release has version {version}"
        yield releases, Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the node as version {version} has it")


def _range_text(least: int, most: int, noun: str) -> str:
    return counted(least if least == most else f"{least} to {most}", noun)


def _of_operator_and_types(use: Use, runtime: Runtime, version: int, releases: int, depth: int) -> Objections:
    node, name = use.node, operators.name(use)
    if not node.domain and node.op in runtime.built_in:
        return
    if operators.is_custom(runtime, use):
        what = f"an operation of `{use.version}`" if isinstance(use.version, str) else "a custom operator"
        yield releases, Objection(TARGET_NOT_KNOWN, f"{what}, {runtime.custom}", runtime.advice)
        return
    serving = [each for each in operators.rows(runtime.table, name) if each.serves(version)]
    sure = unsure = 0
    for row in serving:
        answer = operators.admits(row, runtime, version, use)
        sure |= row.releases if answer else 0
        unsure |= row.releases if answer is None else 0
    doubtful = releases & unsure & ~sure
    if doubtful:
        text = f"version {version}: its element types are not all known, and the release takes some of them"
        yield doubtful, Objection(TARGET_NOT_KNOWN, text, "declare the types of its inputs")
    left = releases & ~(sure | unsure)
    if left and runtime.inlines:
        yield from _of_inlined(use, runtime, version, left, serving, sure | unsure, depth)
    elif left:
        yield from _of_missing_row(use, runtime, version, left, serving, sure | unsure)


def _of_inlined(
    use: Use, runtime: Runtime, version: int, releases: int, serving: Sequence[Row], admitted: int, depth: int
) -> Objections:
    """The objections to the function body of a node without a kernel; without a body, to the missing kernel."""
    from irlint.targets import bodies

    if not bodies.known():
        text = f"no {runtime.part} of version {version} for {_types_text(use)}; a function may stand for it, "
        text += "which the package onnx has"
        yield releases, Objection(TARGET_NOT_KNOWN, text, "install the package onnx, and ask again")
        return
    for having, is_lenient in operators.by_leniency(runtime, releases):
        inside = bodies.body(use, version, lenient=is_lenient) if depth < MAX_DEPTH else None
        if inside is not None:
            yield from _of_body(use, runtime, version, having, inside, depth)
        else:
            yield from _of_missing_row(use, runtime, version, having, serving, admitted)


def _of_body(use: Use, runtime: Runtime, version: int, releases: int, inside: Sequence[Use], depth: int) -> Objections:
    lacking = f"no kernel of version {version} for {_types_text(use)}, and the function that stands for it needs"
    for each in inside:
        for having, objection in of_node(replaced(each, may_run=True), runtime, releases, depth + 1):
            text = f"{lacking} {each.node.op} ({objection.text})"
            yield having, Objection(objection.rule, text, objection.help)
            releases &= ~having


def _of_missing_row(
    use: Use, runtime: Runtime, version: int, releases: int, serving: Sequence[Row], admitted: int
) -> Objections:
    """The objections of releases that have no row for the version and the element types of a node."""
    present = 0
    for row in serving:
        present |= row.releases
    if releases & present:
        outputs = operators.unserved_output_types(use, runtime, version, serving, releases & present)
        allowed = "" if outputs else operators.allowed_types(serving, releases & present, use)
        link = f"that makes {outputs} of" if outputs else "for"
        text = f"version {version} has no {runtime.part} {link} {_types_text(use)}"
        text += f"; {spans(runtime.table, admitted)} one" if admitted else ""
        yield releases & present, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, _type_advice(use, allowed))
    missing = releases & ~present
    lacking = missing if runtime.is_complete else missing & tables.holds(runtime.table, f"lacks {operators.name(use)}")
    if lacking:
        yield lacking, _unserved_version(use, runtime, version, lacking, admitted or present)
    if missing & ~lacking:
        text = "every node of this operator that was tried was refused"
        yield missing & ~lacking, Objection(TARGET_NOT_KNOWN, text, runtime.advice)


def _type_advice(use: Use, allowed: str) -> str:
    if not allowed:
        return "use another element type"
    if use.node.op == "DequantizeLinear":
        return requantized(use, f"what it takes: {allowed}")
    return f"cast to what it takes: {allowed}"


def _unserved_version(use: Use, runtime: Runtime, version: int, missing: int, having: int) -> Objection:
    rows = operators.rows(runtime.table, operators.name(use))
    if not rows:
        return Objection(OPERATOR_NOT_IN_RELEASE, f"no {runtime.part} in any release that was measured", WITH_OTHERS)
    if isinstance(use.version, str):
        text = f"no {runtime.part}{f'; {spans(runtime.table, having)} one' if having else ''}"
        opset = operators.earlier_opset(runtime, use, missing)
        help = f"write the layer as one of {opset}" if opset else WITH_SUCH if having else WITH_OTHERS
        return Objection(OPERATOR_NOT_IN_RELEASE, text, help)
    text = (
        f"no {runtime.part} of version {version}"
        if any(each.until < operators.EVERY[1] for each in rows)
        else f"no {runtime.part}"
    )
    text += f"; {spans(runtime.table, having)} one" if having else ""
    earlier = [each for each in rows if each.releases & missing and each.since < version]
    if earlier:
        last = max(each.until for each in earlier)
        following = [since for since in official_versions(use.node.op, use.node.domain) if since > last]
        if following:
            text += f"; the last one is of version {last}"
            return Objection(
                OPERATOR_NOT_IN_RELEASE, text, f"write the model at an opset of at most {min(following) - 1}"
            )
    return Objection(OPERATOR_NOT_IN_RELEASE, text, WITH_SUCH if having else WITH_OTHERS)


def _of_conditions(use: Use, runtime: Runtime, _: int, releases: int, depth: int) -> Objections:
    for each in _holding_refusals(runtime, use):
        refusing = releases & each.releases
        if not refusing:
            continue
        releases &= ~refusing
        text = " and ".join(stated.text(use) for stated in each.conditions if not stated.negated)
        help = each.conditions[0].help(use)
        if each.kind == operators.LEAVES:
            yield refusing, _on_cpu(f"the provider does not take it with {text}", help)
            continue
        if each.kind == operators.FAILS:
            yield (
                refusing,
                Objection(TARGET_NOT_KNOWN, f"the release loads it, and fails when it runs with {text}", help),
            )
        elif each.kind == operators.REFUSES:
            typed = any(stated.condition.of_types for stated in each.conditions)
            rule = ELEMENT_TYPE_NOT_IN_RELEASE if typed else RESTRICTED_IN_RELEASE
            yield refusing, Objection(rule, f"{runtime.says} refuses it with {text}", help)
        else:
            yield refusing, Objection(TARGET_NOT_KNOWN, f"whether the release takes it with {text} is not known", help)


def _releases_with_operator(runtime: Runtime, use: Use) -> int:
    found = 0
    for _, removed, releases in operators.schemas(runtime.table, operators.name(use)):
        found |= 0 if removed else releases
    return found if tables.has(runtime.table, "schema ") else -1


def _unknown_operator(use: Use, runtime: Runtime) -> Objection:
    node, imported = use.node, use.version if isinstance(use.version, int) else 0
    rows = operators.schemas(runtime.table, operators.name(use))
    if not rows and node.domain not in OFFICIAL_DOMAINS and node.domain != MICROSOFT:
        return Objection(TARGET_NOT_KNOWN, f"a custom operator, {runtime.custom}", runtime.advice)
    if not rows:
        return Objection(OPERATOR_NOT_IN_RELEASE, "no release that was measured has the operator", WITH_OTHERS)
    removed = next((since for since, gone, _ in rows if gone and since <= imported), 0)
    if removed:
        text = f"opset {removed} removed it; the node is of opset {imported}"
        return Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the model at an opset below {removed}")
    first = min(since for since, gone, _ in rows if not gone)
    if first > imported:
        text = f"it begins with opset {first}; the node is of opset {imported}"
        return Objection(OPERATOR_NOT_IN_RELEASE, text, f"write the model at opset {first} or later")
    having = 0
    for since, gone, releases in rows:
        having |= releases if not gone and since <= imported else 0
    return Objection(OPERATOR_NOT_IN_RELEASE, f"not in the release; {spans(runtime.table, having)} it", WITH_SUCH)


def _types_text(use: Use) -> str:
    """The element types of the inputs, or of the outputs of a node without inputs."""
    types = list(dict.fromkeys(each for each in use.inputs or use.outputs if each != OMITTED))
    return " and ".join(each or "an unknown type" for each in types) or "its types"
