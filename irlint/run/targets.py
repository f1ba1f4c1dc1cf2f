"""Which releases of which runtimes run a model, as data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.checks.versions import IR_VERSION_TOO_NEW, OPSET_TOO_NEW
from irlint.dims import Shape
from irlint.fixes.explaining import every_problem
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Problem
from irlint.records import NOTHING
from irlint.run.listing import dim_entry, worked_out
from irlint.schemas import openvino_cpu
from irlint.targets import tables
from irlint.targets.coverage import CPU, NPU, Coverage, coverage
from irlint.targets.coverage import REFUSED as NOT_COMPILED
from irlint.targets.coverage import REMOVED as NOWHERE
from irlint.targets.objections import TARGET_NOT_KNOWN, Reason
from irlint.targets.restamping import Stamp, lowest, restamped, stamps
from irlint.targets.tables import short
from irlint.targets.verdicts import (
    REFUSED,
    RUNS,
    UNKNOWN,
    Target,
    grouped,
    message,
    on_cpu,
    passes,
    reasons,
    record_of,
    refused,
    target,
    too_old,
    verdict,
)

#: The lowest opset that every runtime loads.
SHARED_OPSET = 9


def taken(
    path: str,
    data: bytes | None = None,
    named: Sequence[str] = (),
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
    *,
    covers: bool = False,
) -> dict[str, Any]:
    """The data of ``irlint targets --format json``, for all releases or only for the targets ``named``.

    ``shapes`` replace the declared shapes of inputs. With ``covers``, the entries of NPUs state where each node runs.
    Raises OSError if the file cannot be opened. Raises ValueError if the file is not a readable model, or if a target
    is unknown.
    """
    asked = [target(each) for each in named]
    known = worked_out(path, data, shapes, given_by)
    found = taken_of(known, path)
    if covers:
        found = {**found, "targets": _covered(known, found["targets"])}
    if not asked:
        return found
    chosen = [_chosen(each, found["targets"]) for each in asked if _is_asked(each, found["targets"])]
    gained = {(each["name"], each["release"]) for each in found.get("restamp", {}).get("runs", ())}
    if any(each["verdict"] != RUNS and (each["name"], each["release"]) in gained for each in chosen):
        return {**found, "targets": chosen}
    return {**{key: value for key, value in found.items() if key != "restamp"}, "targets": chosen}


def _covered(known: Known, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries; entries of NPUs also have the places of the nodes, the partitions and the dynamic values."""
    found = []
    for entry in entries:
        runtime = record_of(known, entry["name"])
        if runtime.falls_back:
            column = [short(each) for each in tables.releases(entry["name"])].index(entry["release"])
            entry = {**entry, "coverage": _coverage(coverage(known, runtime, column))}
        found.append(entry)
    return found


def _coverage(found: Coverage) -> dict[str, Any]:
    counts = Counter(found.places.values())
    return {
        "nodes": len(found.places),
        **{place: counts[place] for place in (NPU, CPU, NOWHERE, NOT_COMPILED)},
        "partitions": [
            {
                "place": each.place,
                "nodes": [node.label for node in each.nodes],
                "operators": dict(Counter(node.op for node in each.nodes).most_common()),
            }
            for each in found.partitions
        ],
        "dynamic": [
            {
                "name": value.name,
                "shape": None if type is None or type.shape is None else [dim_entry(dim) for dim in type.shape],
                **({} if node is None else {"op": node.op, "node": node.label}),
            }
            for value, type, node in found.dynamic
        ],
    }


def _is_asked(asked: Target, entries: Sequence[dict[str, Any]]) -> bool:
    """Whether the runtime of a target reads the format of the model, and thus has entries."""
    return any(each["name"] == asked.runtime for each in entries)


def _chosen(asked: Target, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The entry of a named release.

    A release that is newer than all measured releases gets the entry of the newest one, and an older release than all
    measured ones the verdict UNKNOWN.
    """
    if asked.column is None:
        fault = too_old(asked)
        reason = {"rule": fault.rule.name, "message": fault.message, "help": fault.help}
        return {"name": asked.runtime, "release": asked.release, "verdict": UNKNOWN, "reasons": [reason]}
    entry = [each for each in entries if each["name"] == asked.runtime][asked.column]
    return {**entry, "release": asked.release, "assumed": entry["release"]} if asked.uses_earlier_release else entry


def taken_of(known: Known, path: str) -> dict[str, Any]:
    """The data of ``irlint targets --format json`` for an inferred model."""
    problems = every_problem(known)
    entries = _entries(known, known.format.runtimes, problems)
    found: dict[str, Any] = {
        "schema": "irlint-targets-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        "targets": entries,
    }
    advice = None if _wrong(problems) else _lower(known, entries)
    return found if advice is None else {**found, "restamp": advice}


def entries_of(known: Known, runtimes: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of the ``runtimes`` that read the format of an inferred model, the oldest release of each first."""
    return _entries(known, [each for each in runtimes if each in known.format.runtimes], every_problem(known))


def _entries(known: Known, runtimes: Iterable[str], problems: Sequence[Problem]) -> list[dict[str, Any]]:
    entries = [entry for runtime in runtimes for entry in _releases(known, runtime, _wrong(problems))]
    late = [each for each in problems if _is_late(each) and each.because is None]
    return [_compiled(entry, late) for entry in entries] if known.format.compiles else entries


def _wrong(problems: Sequence[Problem]) -> list[Problem]:
    """The errors for which a release may refuse to load the model, except errors about versions."""
    return [each for each in problems if each.is_error and not _is_late(each) and not _is_of_limits(each)]


def _is_late(problem: Problem) -> bool:
    return problem.fault.stage == "compile"


def _is_of_limits(problem: Problem) -> bool:
    """Whether an error is about the IR version or an opset, whose limits are known for each release."""
    return problem.fault.rule in (IR_VERSION_TOO_NEW, OPSET_TOO_NEW)


def _lower(known: Known, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The highest opset with which the most releases run the model, its IR version, and these releases.

    Returns None if no opset lets another release run the model.
    """
    least = lowest(known)
    if least is None or all(each["verdict"] == RUNS for each in entries):
        return None
    candidates = list({each.opset: each for each in stamps(known)}.values())
    ends = [least, *[each for each in candidates if each.opset >= SHARED_OPSET][-1:]]
    runs, stamp = max(((_running(known, each), each) for each in ends), key=lambda pair: len(pair[0]))
    before = {(each["name"], each["release"]) for each in entries if each["verdict"] == RUNS}
    if before.issuperset(runs):
        return None
    while candidates:
        middle = len(candidates) // 2
        found = _running(known, candidates[middle])
        if len(found) >= len(runs):
            stamp, runs, candidates = candidates[middle], found, candidates[:middle]
        else:
            candidates = candidates[middle + 1 :]
    listed = [{"name": name, "release": release} for name, release in runs]
    return {"opset": stamp.opset, "ir_version": stamp.ir_version, "runs": listed}


def _running(known: Known, stamp: Stamp) -> list[tuple[str, str]]:
    """The releases that run a model with this opset and IR version."""
    then = restamped(known, stamp)
    runs: list[tuple[str, str]] = []
    for runtime in known.format.runtimes:
        found = reasons(then, runtime, opset=stamp.opset)
        runs += [
            (runtime, short(release))
            for column, release in enumerate(tables.releases(runtime))
            if verdict(each for each in found if each.releases >> column & 1) == RUNS
        ]
    return runs


def _releases(known: Known, runtime: str, wrong: Sequence[Problem]) -> Iterator[dict[str, Any]]:
    """An entry for each release of a runtime, oldest first."""
    found = reasons(known, runtime)
    of_each = list(_of_errors(known, runtime, wrong))
    stage = record_of(known, runtime).stage
    for column, release in enumerate(tables.releases(runtime)):
        mine = [each for each in found if each.releases >> column & 1]
        outcome = verdict(mine)
        broken = [_unsound(each, True) for each, _, refusing in of_each if refusing >> column & 1]
        doubtful = [
            _unsound(each, False) for each, passing, refusing in of_each if not (passing | refusing) >> column & 1
        ]
        unsound = broken + doubtful
        if broken:
            outcome = REFUSED
        elif unsound and outcome == RUNS:
            outcome = UNKNOWN
        listed = [_reason(each, nodes) for each, nodes in grouped(mine)] + unsound
        yield {
            "name": runtime,
            "release": short(release),
            **({"stage": stage} if stage else {}),
            "verdict": outcome,
            **({"fallback": on_cpu(mine)} if outcome == RUNS and on_cpu(mine) else {}),
            "reasons": [] if outcome == RUNS and not on_cpu(mine) else listed,
        }


def _of_errors(known: Known, runtime: str, errors: Sequence[Problem]) -> Iterator[tuple[Problem, int, int]]:
    """Each error that follows from no other error, and two sets of releases as bits.

    The first set loads models with such an error. The second set refuses the model because of this error or of an error
    that follows from it.
    """
    broken: dict[int, int] = {}
    for error, refusing in zip(errors, refused(known, runtime, errors)):
        root = id(_root(error))
        broken[root] = broken.get(root, 0) | refusing & ~passes(known, runtime, error)
    for error in errors:
        if error.because is None:
            yield error, passes(known, runtime, error), broken[id(error)]


def _root(problem: Problem) -> Problem:
    """The root from which a problem follows; the problem itself if it is a root."""
    while problem.because is not None:
        problem = problem.because
    return problem


def _compiled(entry: dict[str, Any], late: Sequence[Problem]) -> dict[str, Any]:
    """The entry of a release for an IR with the errors at compilation, ``late``, which were measured for one release.

    For every other release, these errors make the verdict UNKNOWN.
    """
    if entry["verdict"] == REFUSED:
        return entry
    if entry["release"] != openvino_cpu.RELEASE:
        unclear = [_late(each, TARGET_NOT_KNOWN.name) for each in late]
        return {**entry, "verdict": UNKNOWN, "reasons": [*entry["reasons"], *unclear]} if late else entry
    refusals = [_late(each, each.fault.rule.name) for each in late]
    verdict = REFUSED if late else entry["verdict"]
    return {**entry, "stage": "compiled", "verdict": verdict, "reasons": [*entry["reasons"], *refusals]}


def _late(problem: Problem, rule: str) -> dict[str, Any]:
    text = f"{_of_node(problem)} (measured on {openvino_cpu.RELEASE})"
    return {**_unsound(problem, True), "rule": rule, "message": text}


def _reason(reason: Reason, nodes: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "rule": reason.objection.rule.name,
        "message": message(reason),
        "help": reason.objection.help,
    }
    if reason.use is not None:
        entry |= {"op": reason.use.node.op, "node": reason.use.node.label, "nodes": nodes}
    return entry


def _of_node(problem: Problem) -> str:
    message = problem.fault.message
    return message if problem.node is None else f"{problem.node.op}: {message}"


def _unsound(problem: Problem, refused: bool) -> dict[str, Any]:
    """An error of the check as a reason; unless ``refused``, the release may report it only when the model runs."""
    fault, node = problem.fault, problem.node
    name = fault.rule.name if refused else TARGET_NOT_KNOWN.name
    text = _of_node(problem)
    text += "" if refused else f" ({fault.rule.code}); the release may refuse it when the model is loaded"
    entry: dict[str, Any] = {"rule": name, "message": text, "help": fault.help}
    return entry if node is None else {**entry, "op": node.op, "node": node.label, "nodes": 1}
