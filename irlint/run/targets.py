"""Which runtime releases load a model, and why others do not, as data."""

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
from irlint.run.listing import dim_entry, inferred_file
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
LOWEST_SHARED_OPSET = 9


def targets_data(
    path: str,
    data: bytes | None = None,
    named: Sequence[str] = (),
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
    *,
    covers: bool = False,
) -> dict[str, Any]:
    """The data of ``irlint targets --format json``, for all releases or only for the targets ``named``.

    ``shapes`` replace the declared shapes of inputs. With ``covers``, an entry has a ``coverage`` if its runtime
    leaves some nodes on the CPU. Raises like ``listing.shapes_data``, and ValueError for an unknown target.
    """
    requested = [target(each) for each in named]
    known = inferred_file(path, data, shapes, given_by)
    found = targets_data_of(known, path)
    if covers:
        found = {**found, "targets": _with_coverage(known, found["targets"])}
    if not requested:
        return found
    chosen = [_entry_of_target(each, found["targets"]) for each in requested if _has_entries(each, found["targets"])]
    gained = {(each["name"], each["release"]) for each in found.get("restamp", {}).get("runs", ())}
    if any(each["verdict"] != RUNS and (each["name"], each["release"]) in gained for each in chosen):
        return {**found, "targets": chosen}
    return {**{key: value for key, value in found.items() if key != "restamp"}, "targets": chosen}


def _with_coverage(known: Known, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for entry in entries:
        runtime = record_of(known, entry["name"])
        if runtime.falls_back:
            column = [short(each) for each in tables.releases(entry["name"])].index(entry["release"])
            entry = {**entry, "coverage": _coverage_entry(coverage(known, runtime, column))}
        found.append(entry)
    return found


def _coverage_entry(found: Coverage) -> dict[str, Any]:
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


def _has_entries(target: Target, entries: Sequence[dict[str, Any]]) -> bool:
    """Whether the runtime of a target reads the format of the model."""
    return any(each["name"] == target.runtime for each in entries)


def _entry_of_target(target: Target, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The entry of a target. If its release was not measured, uses the last measured release before it."""
    if target.column is None:
        fault = too_old(target)
        reason = {"rule": fault.rule.name, "message": fault.message, "help": fault.help}
        return {"name": target.runtime, "release": target.release, "verdict": UNKNOWN, "reasons": [reason]}
    entry = [each for each in entries if each["name"] == target.runtime][target.column]
    return {**entry, "release": target.release, "assumed": entry["release"]} if target.uses_earlier_release else entry


def targets_data_of(known: Known, path: str) -> dict[str, Any]:
    """The data of ``irlint targets --format json`` for an inferred model."""
    problems = every_problem(known)
    entries = _entries(known, known.format.runtimes, problems)
    found: dict[str, Any] = {
        "schema": "irlint-targets-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        "targets": entries,
    }
    advice = None if _load_errors(problems) else _restamp_advice(known, entries)
    return found if advice is None else {**found, "restamp": advice}


def entries_of(known: Known, runtimes: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of the releases of ``runtimes``, oldest first. Omits runtimes that do not read the model's format."""
    return _entries(known, [each for each in runtimes if each in known.format.runtimes], every_problem(known))


def _entries(known: Known, runtimes: Iterable[str], problems: Sequence[Problem]) -> list[dict[str, Any]]:
    entries = [entry for runtime in runtimes for entry in _entries_of_runtime(known, runtime, _load_errors(problems))]
    at_compilation = [each for each in problems if _is_compile_error(each) and each.because is None]
    return [_with_compile_errors(entry, at_compilation) for entry in entries] if known.format.compiles else entries


def _load_errors(problems: Sequence[Problem]) -> list[Problem]:
    """The errors of a model, without errors at compilation, and without errors about the IR version or an opset."""
    return [each for each in problems if each.is_error and not _is_compile_error(each) and not _is_version_limit(each)]


def _is_compile_error(problem: Problem) -> bool:
    return problem.fault.stage == "compile"


def _is_version_limit(problem: Problem) -> bool:
    """Whether an error is about the IR version or an opset. The tables of releases state these limits instead."""
    return problem.fault.rule in (IR_VERSION_TOO_NEW, OPSET_TOO_NEW)


def _restamp_advice(known: Known, entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The highest of the opsets with which most releases run the model, its IR version, and these releases.

    Returns None if no opset lets more releases run the model than its own.
    """
    least = lowest(known)
    if least is None or all(each["verdict"] == RUNS for each in entries):
        return None
    candidates = list({each.opset: each for each in stamps(known)}.values())
    ends = [least, *[each for each in candidates if each.opset >= LOWEST_SHARED_OPSET][-1:]]
    runs, stamp = max(((_running_releases(known, each), each) for each in ends), key=lambda pair: len(pair[0]))
    before = {(each["name"], each["release"]) for each in entries if each["verdict"] == RUNS}
    if before.issuperset(runs):
        return None
    while candidates:
        middle = len(candidates) // 2
        found = _running_releases(known, candidates[middle])
        if len(found) >= len(runs):
            stamp, runs, candidates = candidates[middle], found, candidates[:middle]
        else:
            candidates = candidates[middle + 1 :]
    listed = [{"name": name, "release": release} for name, release in runs]
    return {"opset": stamp.opset, "ir_version": stamp.ir_version, "runs": listed}


def _running_releases(known: Known, stamp: Stamp) -> list[tuple[str, str]]:
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


def _entries_of_runtime(known: Known, runtime: str, errors: Sequence[Problem]) -> Iterator[dict[str, Any]]:
    """An entry for each release of a runtime, oldest first."""
    found = reasons(known, runtime)
    roots = list(_roots_with_releases(known, runtime, errors))
    stage = record_of(known, runtime).stage
    for column, release in enumerate(tables.releases(runtime)):
        bit = 1 << column
        objections = [each for each in found if each.releases & bit]
        outcome = verdict(objections)
        certain = [_reason_of_error(each, True) for each, _, refusing in roots if refusing & bit]
        uncertain = [
            _reason_of_error(each, False) for each, passing, refusing in roots if not (passing | refusing) & bit
        ]
        if certain:
            outcome = REFUSED
        elif uncertain and outcome == RUNS:
            outcome = UNKNOWN
        listed = [_reason_of_objection(each, nodes) for each, nodes in grouped(objections)] + certain + uncertain
        yield {
            "name": runtime,
            "release": short(release),
            **({"stage": stage} if stage else {}),
            "verdict": outcome,
            **({"fallback": on_cpu(objections)} if outcome == RUNS and on_cpu(objections) else {}),
            "reasons": [] if outcome == RUNS and not on_cpu(objections) else listed,
        }


def _roots_with_releases(known: Known, runtime: str, errors: Sequence[Problem]) -> Iterator[tuple[Problem, int, int]]:
    """(root error, releases that load a model despite it, releases that refuse it or an error that follows from it).

    A set of releases is a bit mask.
    """
    refusing_root: dict[int, int] = {}
    for error, refusing in zip(errors, refused(known, runtime, errors)):
        root = id(_root_of(error))
        refusing_root[root] = refusing_root.get(root, 0) | refusing & ~passes(known, runtime, error)
    for error in errors:
        if error.because is None:
            yield error, passes(known, runtime, error), refusing_root[id(error)]


def _root_of(problem: Problem) -> Problem:
    """The root of a problem, or the problem itself."""
    while problem.because is not None:
        problem = problem.because
    return problem


def _with_compile_errors(entry: dict[str, Any], errors: Sequence[Problem]) -> dict[str, Any]:
    """The entry of a release, with the errors at compilation.

    These errors were measured on one release. If there are any, the verdict of any other release becomes UNKNOWN.
    """
    if entry["verdict"] == REFUSED:
        return entry
    if entry["release"] != openvino_cpu.RELEASE:
        unclear = [_reason_at_compilation(each, TARGET_NOT_KNOWN.name) for each in errors]
        return {**entry, "verdict": UNKNOWN, "reasons": [*entry["reasons"], *unclear]} if errors else entry
    refusals = [_reason_at_compilation(each, each.fault.rule.name) for each in errors]
    verdict = REFUSED if errors else entry["verdict"]
    return {**entry, "stage": "compiled", "verdict": verdict, "reasons": [*entry["reasons"], *refusals]}


def _reason_at_compilation(problem: Problem, rule: str) -> dict[str, Any]:
    text = f"{_message(problem)} (measured on {openvino_cpu.RELEASE})"
    return {**_reason_of_error(problem, True), "rule": rule, "message": text}


def _reason_of_objection(reason: Reason, nodes: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "rule": reason.objection.rule.name,
        "message": message(reason),
        "help": reason.objection.help,
    }
    if reason.use is not None:
        entry |= {"op": reason.use.node.op, "node": reason.use.node.label, "nodes": nodes}
    return entry


def _message(problem: Problem) -> str:
    message = problem.fault.message
    return message if problem.node is None else f"{problem.node.op}: {message}"


def _reason_of_error(problem: Problem, refused: bool) -> dict[str, Any]:
    """An error as a reason. ``refused`` states whether the release certainly refuses it."""
    fault, node = problem.fault, problem.node
    name = fault.rule.name if refused else TARGET_NOT_KNOWN.name
    text = _message(problem)
    text += "" if refused else f" ({fault.rule.code}); the release may refuse it when the model is loaded"
    entry: dict[str, Any] = {"rule": name, "message": text, "help": fault.help}
    return entry if node is None else {**entry, "op": node.op, "node": node.label, "nodes": 1}
