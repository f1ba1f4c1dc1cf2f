"""The problems of a model, each with the one that it follows from."""

from __future__ import annotations

from collections.abc import Sequence

from irlint import checks
from irlint.binding.calls import INPUT_COUNT, OPSET_LACKS_OPERATOR
from irlint.findings.faults import Severity
from irlint.inference.known import Known
from irlint.model import Problem


def every_problem(known: Known, targets: Sequence[str] = ()) -> list[Problem]:
    """What the parser, the walk and every check find in a model, each with the problem that it follows from;
    ``targets`` are releases that have to take it."""
    return explained(checks.found(known, targets), known)


def explained(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems of a model, each with the one that it follows from."""
    if not problems or known.model.graph is None:
        return problems
    from irlint.inference import causes

    with_help = _with_meant(problems, known) if known.format.ports_declare else _with_opsets(problems, known)
    return causes.explained(with_help, known)


def _with_opsets(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems; those of operators that begin with a later opset say what else that opset changes."""
    if all(each.fault.rule is not OPSET_LACKS_OPERATOR for each in problems):
        return problems
    from irlint.inference.opsets import with_what_else

    return with_what_else(problems, known)


def _with_meant(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems; those of missing edges name the layers that fit."""
    counted = [each.fault for each in problems if each.fault.severity is not Severity.NOTE]
    if any(fault.severity is Severity.ERROR for fault in counted):
        from irlint.parsers.openvino.edge_rules import DANGLING_EDGE, UNCONNECTED_PORT

        unfed = (DANGLING_EDGE, UNCONNECTED_PORT, INPUT_COUNT)
        if any(fault.severity is Severity.ERROR and fault.rule in unfed for fault in counted):
            from irlint.checks.sources import with_sources

            problems = with_sources(problems, known, unfed)
    return problems
