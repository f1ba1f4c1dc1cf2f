"""Checks one model file: from its bytes to its findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint import checks, parsers
from irlint.dims import Shape
from irlint.findings.faults import Severity
from irlint.findings.report import CheckedFile, Finding, Operand, Related, Silenced, with_roots
from irlint.findings.wording import bounded
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import IGNORE, MOST_LISTED, Graph, Model, Node, Place, Problem
from irlint.parsers.opening import file_bytes
from irlint.records import replaced
from irlint.run.files import DEFAULT, Settings, budgets, given_shapes

if TYPE_CHECKING:
    from irlint.costs.budgets import Budget
    from irlint.findings.edits import Fix
    from irlint.fixes.suggestions import Suggestions
    from irlint.inference.origins import Makers
    from irlint.policy.suppressions import Policy

#: The families of rules with suggested fixes.
FIXABLE_FAMILIES = ("structure", "broadcasting", "shapes", "element-types", "operators", "declarations", "versions")

#: At most this many findings of a rule in a file have snippets.
SNIPPETS_PER_RULE = 10

#: (line, column, line of the end, column after the end).
Span = tuple[int | None, int | None, int | None, int | None]

#: The span of a place in a file without lines.
NOWHERE: Span = (None, None, None, None)


def inspected(
    path: str, data: bytes | None = None, settings: Settings = DEFAULT
) -> tuple[CheckedFile, tuple[Finding, ...]]:
    """(entry of the file in the report, reported findings in document order). The entry counts suppressed findings.

    Raises OSError if the file cannot be opened.
    """
    if not settings.operators:
        return _inspected(path, data, settings)
    from irlint.ops.signed import in_force

    with in_force(settings.operators):
        return _inspected(path, data, settings)


def _inspected(path: str, data: bytes | None, settings: Settings) -> tuple[CheckedFile, tuple[Finding, ...]]:
    model = parsers.read(path, data, weights=settings.weights)
    shapes, sources = given_shapes(settings, path)
    missing = _missing(model, shapes)
    known = inferred(model, _without(shapes, missing), _without(sources, missing))
    found = _every_problem(known, settings, budgets(settings, path))
    found = _in_document_order(model, [*found, *_broken_promises(known, settings)])
    makers = _makers(known) if found else None
    suggestions = _suggestions(makers, found, data, shapes) if settings.explained else None
    if suggestions is not None:
        found = suggestions.rooted()
    findings = _findings(model, makers, found, data, with_operands=settings.operands)
    if settings.explained and model.graph is not None and any(problem.fault.rule.fixable for problem in found):
        findings = _with_safe_fixes(known, found, findings, data)
    checked = _checked(model, missing)
    ignores = settings.ignores and _may_ignore(model)
    if settings.policy is not None or ignores:
        found, findings, checked = _remaining(model, found, findings, checked, settings.policy, ignores)
    if suggestions is not None and (settings.drawn or settings.operands):
        if len(found) < len(suggestions.problems):
            suggestions.again()
        findings = _with_suggestions(suggestions, found, findings)
        if any(map(suggestions.may_be_of_weights, found)) and any(graph.constants for graph in _graphs(model)):
            from irlint.fixes.weight_shapes import with_weights

            findings = with_weights(suggestions, found, findings)
    if makers is not None and findings and settings.drawn and settings.explained:
        from irlint.snippets.finding import drawn

        limit = None if settings.every else SNIPPETS_PER_RULE
        findings = drawn(model, makers, found, findings, data, limit, around=settings.facts, suggestions=suggestions)
    return _with_details(checked, known, settings), tuple(findings)


def _with_details(checked: CheckedFile, known: Known, settings: Settings) -> CheckedFile:
    """The entry of a file, with facts and suppressed findings only if ``settings`` request them."""
    if checked.silenced and not settings.silenced:
        checked = replaced(checked, silenced=())
    if settings.facts and known.model.graph is not None:
        from irlint.run.facts import facts

        checked = replaced(checked, facts=facts(known, known.model.path))
    return checked


def _every_problem(known: Known, settings: Settings, limits: Sequence[Budget]) -> list[Problem]:
    """The problems of a model, limited as ``run.limited`` limits them, and explained if ``settings`` say so."""
    found = checks.found(known, settings.targets)
    if limits and known.model.graph is not None and not any(each.is_error for each in found):
        from irlint.costs.budgets import problems

        found = [*found, *problems(known, limits)]
    if not found:
        return found
    if len(found) > MOST_LISTED:
        from irlint.run.limited import limited

        found = limited(found, MOST_LISTED)
    if not settings.explained:
        return found
    from irlint.fixes.explaining import explained

    return explained(found, known)


def _makers(known: Known) -> Makers:
    from irlint.inference.origins import Makers

    return Makers(known)


def _broken_promises(known: Known, settings: Settings) -> list[Problem]:
    """Problems about contradictions between a model and the ``[[models]]`` entries of the configuration."""
    entries = settings.models.of(known.model.path) if settings.models else ()
    promises = [each for each in entries if each.promises]
    if not promises:
        return []
    from irlint.checks.pinned import Promise, broken

    stated = [Promise(each.takes, each.accepts, each.returns, each.place) for each in promises]
    return [problem for each in stated for problem in broken(known, each)]


def _suggestions(
    makers: Makers | None, found: Sequence[Problem], data: bytes | None, shapes: Mapping[str, Shape]
) -> Suggestions | None:
    """The search for suggested fixes of a model; None if no problem may have a suggested fix."""
    if makers is None:
        return None
    model = makers.known.model
    form = model.format
    has_document_fixes = form is not None and bool(form.intended) and any(each.is_error for each in found)
    if not has_document_fixes and (model.graph is None or not any(map(_may_be_fixed, found))):
        return None
    from irlint.fixes.rechecking import Rechecked
    from irlint.fixes.suggestions import Suggestions

    return Suggestions(makers, found, Rechecked(model, data, found, shapes))


def _may_be_fixed(problem: Problem) -> bool:
    return problem.fault.severity is not Severity.NOTE and problem.fault.rule.family in FIXABLE_FAMILIES


def _with_suggestions(
    suggestions: Suggestions, problems: Sequence[Problem], findings: Sequence[Finding]
) -> list[Finding]:
    result, proposals = [], None
    for problem, finding in zip(problems, findings):
        found = suggestions.of(problem)
        if found is not None:
            redeclares = any(edit.kind == "declaration" for edit in found.alternatives[0])
            is_doubtful = not redeclares and _removes_declaration(finding.fix)
            fix = found.fix if is_doubtful else finding.fix or found.fix
            finding = replaced(finding, suggestion=found.text, fix=fix)
        elif problem.fault.proposal is not None:
            from irlint.fixes.proposals import Proposals

            proposals = proposals or Proposals(suggestions)
            finding = replaced(finding, help=proposals.help(problem))
        result.append(finding)
    return result


def _removes_declaration(fix: Fix | None) -> bool:
    """Whether a fix only removes entries of ``value_info``. If another edit makes them right, they may be right."""
    return fix is not None and all((edit.kind, edit.of) == ("remove", "value_info") for edit in fix.edits)


def _with_safe_fixes(known: Known, found: list[Problem], findings: list[Finding], data: bytes | None) -> list[Finding]:
    from importlib import import_module

    from irlint.findings.edits import Fix

    edits = import_module(f"irlint.fixes.{known.format.safe_fixes}").safe_edits(known, found)
    replacements = [()] * len(edits)
    if known.format.has_lines and any(edits):
        writer = import_module(f"irlint.fixes.{known.format.writer}")
        replacements = writer.replacements(
            file_bytes(known.model.path, "document") if data is None else data, known.model, edits
        )
    return [
        replaced(finding, fix=Fix(each, replacements=texts)) if each else finding
        for finding, each, texts in zip(findings, edits, replacements)
    ]


def _may_ignore(model: Model) -> bool:
    """Whether metadata of the model or of one of its nodes may list rules to ignore."""
    if IGNORE in model.metadata:
        return True
    return any(node.metadata for graph in _graphs(model) for node in graph.nodes)


def _remaining(
    model: Model,
    found: list[Problem],
    findings: list[Finding],
    checked: CheckedFile,
    policy: Policy | None,
    ignores: bool,
) -> tuple[list[Problem], list[Finding], CheckedFile]:
    """(reported problems, reported findings, entry of the file with the counts of unreported findings)."""
    from irlint.policy.suppressions import Policy, ignored, remaining

    policy = policy or Policy()
    are_ignored, notices = ignored(model, found) if ignores else ([False] * len(found), [])
    pairs = [pair for pair, is_ignored in zip(zip(found, findings), are_ignored) if not is_ignored]
    by_model = [
        each for each, is_ignored in zip(findings, are_ignored) if is_ignored and policy.reports(each.rule.code)
    ]
    reported = remaining(policy, model.path, [finding for _, finding in pairs])
    checked = replaced(
        checked,
        suppressed=len(by_model) + reported.suppressed,
        used=reported.used,
        hidden=reported.hidden,
        errors_hidden=reported.errors_hidden,
        notices=tuple(notices),
        silenced=(*(Silenced(each, "model") for each in by_model), *reported.silenced),
    )
    return [pairs[at][0] for at, _ in reported.kept], with_roots([finding for _, finding in reported.kept]), checked


def _missing(model: Model, shapes: Mapping[str, Shape]) -> tuple[str, ...]:
    """The names in ``shapes`` that are not inputs of the model."""
    if not shapes or model.graph is None:
        return ()
    from irlint.inference.inputs import input_names

    inputs = input_names(model)
    return tuple(name for name in shapes if name not in inputs)


def _without(named: Mapping[str, Any], missing: tuple[str, ...]) -> dict[str, Any]:
    return {name: each for name, each in named.items() if name not in missing}


def _checked(model: Model, missing: tuple[str, ...]) -> CheckedFile:
    name = model.format.name if model.format is not None else None
    status = "unreadable" if model.graph is None else "checked"
    path = model.path.replace(os.sep, "/")
    producer = bounded(model.producer)
    return CheckedFile(path, name, model.format_version, model.nodes, status, missing=missing, producer=producer)


def _in_document_order(model: Model, found: Iterable[Problem]) -> list[Problem]:
    """The problems sorted by their places. Problems with the shapes that the user passed come first."""
    order: dict[str, int] = {}
    for graph in _graphs(model):
        order.setdefault(graph.path, len(order))

    def key(problem: Problem) -> tuple[int, int, int, str]:
        if problem.fault.role == "given":
            return (-1, problem.node.index if problem.node is not None else -1, -1, "")
        element = problem.place.element if problem.place is not None else -1
        index = problem.node.index if problem.node is not None else -1
        if model.format is not None and model.format.has_lines:
            return (0, element, index, problem.fault.rule.code)
        return (order.get(problem.graph, -1), index, element, problem.fault.rule.code)

    return sorted(found, key=key)


def _graphs(model: Model) -> list[Graph]:
    from irlint.model.order import graphs

    return list(graphs(model))


def _findings(
    model: Model, makers: Makers | None, found: list[Problem], data: bytes | None, *, with_operands: bool
) -> list[Finding]:
    if makers is None:
        return []
    from irlint.snippets.finding import related

    nodes = [related(makers, problem) for problem in found]
    places = [*(problem.place for problem in found), *(place for pairs in nodes for _, place in pairs)]
    positions = positions_of(model, places, data)
    operands_of = _operands(model, makers, found, data) if with_operands else [()] * len(found)
    counts: dict[str, int] = {}
    fingerprints = {id(problem): _fingerprint(problem, counts) for problem in found}
    result = []
    for problem, pairs, operands in zip(found, nodes, operands_of):
        fault, node = problem.fault, problem.node
        line, column, end_line, end_column = positions.get(problem.place, NOWHERE)
        result.append(
            Finding(
                path=model.path.replace(os.sep, "/"),
                rule=fault.rule,
                severity=fault.severity,
                message=fault.message,
                help=fault.help,
                graph=bounded(problem.graph),
                node=bounded(node.label) if node is not None else None,
                op=node.op if node is not None else None,
                op_version=_version(node),
                value=bounded(problem.value) if problem.value is not None else None,
                input=fault.input,
                line=line,
                column=column,
                related=tuple(
                    Related(each.node, each.message, positions.get(place, NOWHERE)[0]) for each, place in pairs
                ),
                fingerprint=fingerprints[id(problem)],
                because=fingerprints[id(problem.because)] if problem.because is not None else "",
                target=problem.target,
                index=node.index if node is not None else None,
                axis=_axis(operands, fault.input),
                operands=operands,
                end_line=end_line,
                end_column=end_column,
            )
        )
    return result


def _operands(model: Model, makers: Makers, found: list[Problem], data: bytes | None) -> list[tuple[Operand, ...]]:
    """For each problem, the inputs of its node that a finding lists."""
    from irlint.run.operands import operands
    from irlint.snippets.finding import Snippets

    snippets = Snippets(model, makers, data)
    return [operands(snippets, problem) for problem in found]


def _axis(operands: Iterable[Operand], at_fault: int | None) -> int | None:
    """The first axis at fault of the input ``at_fault`` or, if that has none, of any listed input; None without one."""
    marked = [each for each in operands if each.axes]
    marked.sort(key=lambda each: each.input != at_fault)
    return marked[0].axes[0] if marked else None


def _version(node: Node | None) -> str | None:
    if node is None or node.version is None:
        return None
    return node.version if isinstance(node.version, str) else str(node.version)


def _fingerprint(problem: Problem, counts: dict[str, int]) -> str:
    node = problem.node
    name = "" if node is None else node.label
    parts = [problem.fault.rule.code, problem.graph, name, problem.value or "", str(problem.fault.input)]
    if problem.target:
        parts.append(problem.target)
    return fingerprint(parts, counts)


def fingerprint(parts: Iterable[str], counts: dict[str, int]) -> str:
    """A hash of ``parts`` and of a serial number among calls with equal parts. ``counts`` stores the last number."""
    from hashlib import sha256

    key = "\0".join(parts)
    counts[key] = count = counts.get(key, 0) + 1
    return sha256(f"{key}\0{count}".encode("utf-8", "backslashreplace")).hexdigest()[:32]


def positions_of(model: Model, places: Iterable[Place | None], data: bytes | None) -> dict[Place | None, Span]:
    """The span of each place in the text of a model. Lines and columns count from 1. {} if the format has no lines."""
    wanted = {place for place in places if place is not None}
    if model.format is None or not model.format.has_lines or not wanted:
        return {}
    if data is None:
        data = file_bytes(model.path, "document")
    found = parsers.parser(model.format).positions_in(data, sorted({place.element for place in wanted}))
    result: dict[Place | None, Span] = {}
    for place in wanted:
        position = found.get(place.element)
        if position is not None:
            result[place] = position.of(place.attribute)
    return result
