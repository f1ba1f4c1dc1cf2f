"""Which releases of which runtimes take a model, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from irlint.checks.versions import IR_VERSION_TOO_NEW, OPSET_TOO_NEW
from irlint.fixes.explaining import every_problem
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Problem
from irlint.run.listing import worked_out
from irlint.targets import tables
from irlint.targets.objections import TARGET_NOT_KNOWN
from irlint.targets.restamping import lowest, restamped
from irlint.targets.verdicts import (
    REFUSED,
    RUNS,
    UNKNOWN,
    Reason,
    grouped,
    message,
    passes,
    reasons,
    refuses,
    short,
    verdict,
)


def taken(path: str, data: bytes | None = None) -> dict[str, Any]:
    """What ``irlint targets --format json`` prints.

    Raises OSError where the file cannot be opened, and ValueError where it is no model that can be read.
    """
    return taken_of(worked_out(path, data), path)


def taken_of(known: Known, path: str) -> dict[str, Any]:
    """What ``irlint targets --format json`` prints of a model that was worked out."""
    wrong = [
        each for each in every_problem(known) if each.is_error and each.because is None and not _is_of_limits(each)
    ]
    entries = [entry for runtime in known.format.runtimes for entry in _releases(known, runtime, wrong)]
    found: dict[str, Any] = {
        "schema": "irlint-targets-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        "targets": entries,
    }
    advice = None if wrong else _lower(known, entries)
    return found if advice is None else {**found, "restamp": advice}


def _is_of_limits(problem: Problem) -> bool:
    """Whether an error is that of a version which the releases themselves judge."""
    return problem.fault.rule in (IR_VERSION_TOO_NEW, OPSET_TOO_NEW)


def _lower(known: Known, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """With which opset and IR version more releases run the model as it is, and which do then; None where none do."""
    stamp = lowest(known)
    if stamp is None or all(each["verdict"] == RUNS for each in entries):
        return None
    then = restamped(known, stamp)
    runs: list[dict[str, str]] = []
    gained = False
    for runtime in known.format.runtimes:
        found = reasons(then, runtime, opset=stamp.opset)
        for column, release in enumerate(tables.releases(runtime)):
            if verdict(each for each in found if each.releases >> column & 1) == RUNS:
                runs.append({"name": runtime, "release": short(release)})
                before = next(each for each in entries if (each["name"], each["release"]) == (runtime, short(release)))
                gained = gained or before["verdict"] != RUNS
    return {"opset": stamp.opset, "ir_version": stamp.ir_version, "runs": runs} if gained else None


def _releases(known: Known, runtime: str, wrong: Sequence[Problem]) -> Iterator[dict[str, Any]]:
    """An entry for each release of a runtime, oldest first."""
    found = reasons(known, runtime)
    of_each = [(_unsound(each, refuses(known, runtime, each)), passes(known, runtime, each)) for each in wrong]
    broken = any(refuses(known, runtime, each) for each in wrong)
    for column, release in enumerate(tables.releases(runtime)):
        mine = [each for each in found if each.releases >> column & 1]
        outcome = verdict(mine)
        unsound = [entry for entry, passing in of_each if not passing >> column & 1]
        if broken:
            outcome = REFUSED
        elif unsound and outcome == RUNS:
            outcome = UNKNOWN
        entry = {"name": runtime, "release": short(release), "verdict": outcome}
        yield (
            entry
            if outcome == RUNS
            else {**entry, "reasons": [*map(_reason, *zip(*grouped(mine))), *unsound] if mine else unsound}
        )


def _reason(reason: Reason, nodes: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "rule": reason.objection.rule.name,
        "message": message(reason),
        "help": reason.objection.help,
    }
    if reason.use is not None:
        entry |= {"op": reason.use.node.op, "node": reason.use.node.label, "nodes": nodes}
    return entry


def _unsound(problem: Problem, refused: bool) -> dict[str, Any]:
    """An error of the check as a reason: some a release may only see when the model runs."""
    fault, node = problem.fault, problem.node
    name = fault.rule.name if refused else TARGET_NOT_KNOWN.name
    text = fault.message if node is None else f"{node.op}: {fault.message}"
    text += (
        ""
        if refused
        else f" ({fault.rule.code}); whether the release refuses that when it loads the model is not known"
    )
    entry: dict[str, Any] = {"rule": name, "message": text, "help": fault.help}
    return entry if node is None else {**entry, "op": node.op, "node": node.label, "nodes": 1}
