"""Computes the verdicts of releases on a model. ``releases`` is a bit mask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.formats import FORMATS
from irlint.records import record
from irlint.schemas import OFFICIAL_DOMAINS, official
from irlint.targets import judge, tables
from irlint.targets.objections import STAYS_ON_CPU, TARGET_NOT_KNOWN, Reason
from irlint.targets.runtimes import RUNTIMES as RECORDS
from irlint.targets.runtimes import Runtime
from irlint.targets.tables import short
from irlint.targets.uses import Use

#: The runtimes with a table, in the order of reports.
RUNTIMES = tuple(dict.fromkeys(name for form in FORMATS for name in form.runtimes))

RUNS, REFUSED, UNKNOWN = "runs", "refused", "unknown"

#: A number of a release has at most this many digits.
DIGITS = 9


@record
class Target:
    """A release of a runtime that the user names."""

    runtime: str
    release: str
    #: The index of the measured release that gives the verdict; None if all measured releases are newer.
    column: int | None
    #: Whether the named release was not measured, and ``column`` is the last measured one before it.
    uses_earlier_release: bool = False

    @property
    def label(self) -> str:
        """The target as the user writes it: ``onnxruntime@1.17``."""
        return f"{self.runtime}@{self.release}"


@cache
def target(text: str) -> Target:
    """The target in a text such as ``onnxruntime@1.17``. Raises ValueError if the text names no runtime or no number.

    ``openvino@2024`` is the newest release of 2024. ``openvino`` is the newest of all releases.
    """
    name, at, asked = text.strip().partition("@")
    if name not in RUNTIMES:
        from difflib import get_close_matches

        close = get_close_matches(name, RUNTIMES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(RUNTIMES)}"
        raise ValueError(f"unknown target {text!r}; {hint}")
    releases = [short(each) for each in tables.releases(name)]
    if not at:
        return Target(name, releases[-1], len(releases) - 1)
    if not all(part.isdecimal() and len(part) <= DIGITS for part in asked.split(".")):
        raise ValueError(f"target {text!r}: a release is a number such as {releases[-1]}")
    wanted = _numbers(asked)
    if len(wanted) == 1 and wanted < _numbers(releases[0])[:1]:
        return Target(name, asked, None)
    at_most = [place for place, each in enumerate(releases) if _numbers(each) <= wanted[:2]]
    if len(wanted) == 1:
        at_most = [place for place, each in enumerate(releases) if _numbers(each)[:1] <= wanted]
    if not at_most:
        return Target(name, asked, None)
    column = at_most[-1]
    is_earlier = _numbers(releases[column])[: len(wanted)] < wanted[:2]
    release = releases[column] if len(wanted) == 1 and not is_earlier else asked
    return Target(name, release, column, is_earlier)


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def too_old(asked: Target) -> Fault:
    """The fault for a target that is older than the measured releases."""
    first = short(tables.releases(asked.runtime)[0])
    text = f"{asked.label}: releases before {first} were not measured"
    return TARGET_NOT_KNOWN.fault(text, help="load the model once with the release itself")


def record_of(known: Known, runtime: str) -> Runtime:
    """The record of the runtime named ``runtime`` for models of this format."""
    return RECORDS[known.format.runtimes[runtime]]


def reasons(known: Known, runtime: str, releases: int | None = None, opset: int | None = None) -> list[Reason]:
    """The reasons why ``releases`` (default: all) object to a model. ``opset`` replaces the opset of the nodes."""
    if known.model.graph is None:
        return []
    every = (1 << len(tables.releases(runtime))) - 1
    asked = every if releases is None else releases
    found = judge.reasons(known, record_of(known, runtime), asked, opset)
    return [each for each in found if each.releases]


def refused(known: Known, runtime: str, errors: Sequence[Problem]) -> list[int]:
    """For each error, the releases that refuse to load a model with this error.

    A release that ``falls_back`` to ONNX Runtime refuses the same errors as ONNX Runtime.
    """
    from irlint.inference import loading

    loads = known.format.loaded_by if record_of(known, runtime).falls_back else known.format.runtimes[runtime]
    every = loading.refused(known, loads, errors, newest=False)
    newest = loading.refused(known, loads, errors, newest=True)
    last = 1 << len(tables.releases(runtime)) - 1
    measured = [_releases_with_fact(known, runtime, "rejects", each) for each in errors]
    return [-1 if always else last * lately | mask for always, lately, mask in zip(every, newest, measured)]


def passes(known: Known, runtime: str, problem: Problem) -> int:
    """The releases that loaded models with an error like ``problem`` when they were measured.

    They may still refuse the node because of a condition of its operator (``conditions.py``).
    """
    return _releases_with_fact(known, runtime, "reads", problem) & ~_releases_with_fact(
        known, runtime, "rejects", problem
    )


def _releases_with_fact(known: Known, runtime: str, kind: str, problem: Problem) -> int:
    """The releases with a fact of ``kind`` (``reads`` or ``rejects``, see ``runtimes.py``) about an error."""
    rule, node, table = problem.fault.rule, problem.node, record_of(known, runtime).table
    found = tables.holds(table, f"{kind} {rule.code}")
    if node is not None and rule.family != "declarations":
        for codes, releases in tables.facts(table, f"{kind} {node.domain}:{node.op} "):
            found |= 0 if {rule.code, rule.family}.isdisjoint(codes.split(",")) else releases
    return found


def verdict(found: Iterable[Reason]) -> str:
    """The verdict of a release with these objections."""
    result = RUNS
    for each in found:
        if each.objection.is_certain:
            return REFUSED
        if each.objection.rule is not STAYS_ON_CPU:
            result = UNKNOWN
    return result


def on_cpu(found: Iterable[Reason]) -> int:
    """The number of nodes that stay on the CPU."""
    return sum(each.nodes for each in found if each.objection.rule is STAYS_ON_CPU)


def grouped(found: Iterable[Reason]) -> Iterator[tuple[Reason, int]]:
    """(first of equal objections, number of their nodes) of one release; unknown results come last."""
    groups: dict[object, tuple[Reason, int]] = {}
    for each in found:
        node = each.use.node if each.use is not None else None
        key = (node and (node.domain, node.op), each.objection.rule.code, each.objection.text)
        first, count = groups.get(key, (each, 0))
        groups[key] = first, count + each.nodes
    yield from sorted(groups.values(), key=lambda pair: pair[0].objection.rule is TARGET_NOT_KNOWN)


def operator(use: Use) -> str:
    """An operator with its version, or with the opset of its layer: ``Gelu (20)``."""
    node, version = use.node, use.version
    if isinstance(version, int):
        schema = official(node.op, version, node.domain) if node.domain in OFFICIAL_DOMAINS else None
        version = schema.since if schema is not None else version
    domain = f"{node.domain}." if node.domain and not isinstance(version, str) else ""
    return f"{domain}{node.op}" + (f" ({version})" if version is not None else "")


def message(reason: Reason) -> str:
    """An objection with its operator and version: ``Gelu (20): no CPU kernel ...``."""
    if reason.use is None:
        return reason.objection.text
    return f"{operator(reason.use)}: {reason.objection.text}"
