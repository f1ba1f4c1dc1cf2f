"""Finds what the target releases of runtimes refuse in a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.checks import with_causes
from irlint.checks.early_opsets import KERNEL_ENDED, NO_KERNEL
from irlint.checks.versions import IR_VERSION_TOO_NEW, OPSET_TOO_NEW
from irlint.findings.faults import Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.records import replaced
from irlint.targets import tables
from irlint.targets.objections import TARGET_NOT_KNOWN
from irlint.targets.tables import short
from irlint.targets.verdicts import Target, grouped, reasons, record_of, target, too_old

#: Rules about the newest release of ONNX Runtime. If the user names a release, its results replace their warnings.
_OF_THE_NEWEST = (IR_VERSION_TOO_NEW, OPSET_TOO_NEW, NO_KERNEL, KERNEL_ENDED)


def of_targets(known: Known, targets: Sequence[str], found: Sequence[Problem]) -> list[Problem]:
    """The problems ``found`` and those of the targets whose runtimes load the format.

    The results of a target of ONNX Runtime replace the warnings about its newest release.
    """
    supported = [each for each in map(target, targets) if each.runtime in known.format.runtimes]
    if not supported:
        return list(found)
    runtimes = {each.runtime for each in supported}
    own_runtime = next(iter(known.format.runtimes))
    is_own_named = own_runtime in runtimes
    kept = [each for each in found if not is_own_named or each.is_error or each.fault.rule not in _OF_THE_NEWEST]
    newest = len(tables.releases(own_runtime)) - 1
    if any(each.runtime == own_runtime and each.column == newest for each in supported):
        kept = with_causes(kept, [_for_newest_release(each) for each in kept])
    for runtime in known.format.runtimes:
        if runtime in runtimes:
            kept += _problems_of_runtime(known, runtime, [each for each in supported if each.runtime == runtime])
    return kept


def _for_newest_release(problem: Problem) -> Problem:
    """The problem for the newest release: a warning that it does not compile a layer becomes an error."""
    if problem.fault.stage != "compile" or problem.fault.severity is not Severity.WARNING:
        return problem
    return replaced(problem, fault=problem.fault.lowered(Severity.ERROR))


def _problems_of_runtime(known: Known, runtime: str, targets: Sequence[Target]) -> Iterator[Problem]:
    columns = sum({1 << each.column for each in targets if each.column is not None})
    found = reasons(known, runtime, columns) if columns else []
    is_measured = record_of(known, runtime).is_measured
    for each in targets:
        if each.column is None:
            yield Problem(too_old(each), target=each.label)
            continue
        if each.uses_earlier_release:
            yield _not_measured_problem(each)
        of_release = [reason for reason in found if reason.releases >> each.column & 1]
        for reason, nodes in grouped(of_release):
            count = f" ({counted(nodes, 'node')})" if nodes > 1 else ""
            text = f"{each.label}: {reason.objection.text}{count}"
            rule = reason.objection.rule
            severity = None if is_measured or rule.severity is not Severity.ERROR else Severity.WARNING
            fault = rule.fault(text, help=reason.objection.help, severity=severity)
            problem = Problem(fault, target=each.label)
            use = reason.use
            yield problem if use is None else replaced(problem, graph=use.graph, node=use.node, place=use.node.place)


def _not_measured_problem(target: Target) -> Problem:
    assert target.column is not None
    measured = short(tables.releases(target.runtime)[target.column])
    text = (
        f"{target.label}: the release was not measured; irlint reports the results of the release before it, {measured}"
    )
    fault = TARGET_NOT_KNOWN.fault(text, help="load the model with the release once", severity=Severity.NOTE)
    return Problem(fault, target=target.label)
