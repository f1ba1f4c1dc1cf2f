"""Reports weights files that are missing, cannot be read or are links, with the constants in them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from irlint.checks.constants import WEIGHTS_LINKED, WEIGHTS_MISSING, Case, is_checked
from irlint.findings.faults import Severity
from irlint.findings.wording import shortened
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Stored
from irlint.model.order import graphs, live

#: The maximum number of missing files for which irlint looks for a file with another name.
SEARCHED = 16


def missing_problems(missing: Mapping[str, list[Case]], known: Known) -> Iterator[Problem]:
    """One problem for each missing file. ``missing`` maps each file to its constants."""
    makers: dict[tuple[Graph, str], Node] = {}
    for graph in {cases[0].graph for cases in missing.values()}:
        named = ((value.name, node) for node in graph.nodes for value in node.outputs if value is not None)
        for name, node in named:
            makers.setdefault((graph, name), node)
    every = [each.stored for graph in graphs(known.model) for each in graph.constants.values()]
    all_stored = [each for each in every if each is not None and each.file]
    for at, (file, cases) in enumerate(missing.items()):
        maker = makers.get((cases[0].graph, cases[0].name))
        yield _missing_problem(file, cases, known, maker, all_stored if at < SEARCHED else None)


def _missing_problem(
    file: str, cases: list[Case], known: Known, maker: Node | None, all_stored: Sequence[Stored] | None
) -> Problem:
    graph, name, stored = cases[0].graph, cases[0].name, cases[0].stored
    label = maker.name if maker is not None and maker.name else name
    what = f"{len(cases)} constants are" if len(cases) > 1 else f"the constant {label!r} is"
    reason = stored.reason or f"{file} does not exist"
    text = f"which{reason.removeprefix(file)}" if file and reason.startswith(file) else f"and {reason}"
    beside = posixpath.join(posixpath.dirname(known.model.path.replace(os.sep, "/")), file)
    fault = WEIGHTS_MISSING.fault(
        f"{what} stored in {shortened(file) or 'a file'}, {text}",
        help=f'fetch it: git lfs pull --include "{beside}"'
        if "LFS" in reason
        else _help_for_missing_file([each.stored for each in cases], known, all_stored),
        severity=Severity.WARNING if _are_unread(cases, known) else None,
    )
    is_constant_node = maker is not None and not graph.constants.keys().isdisjoint(maker.outputs)
    place = next(iter(graph.constants.values())).place if graph.constants else None
    return Problem(fault, "", value=None if is_constant_node else name, place=place)


def _help_for_missing_file(stored: Sequence[Stored], known: Known, all_stored: Sequence[Stored] | None) -> str:
    """The help: correct the location of the constants ``stored``, or put their file beside the model.

    ``all_stored`` are the positions of all constants. If None, the help names no other file.
    """
    file, reason = stored[0].file, stored[0].reason or "does not exist"
    if not file or stored[0].available is not None:
        return "write the position of the data: a file name as location, and integers as offset and length"
    if reason.endswith("is an absolute path; runtimes refuse it"):
        name = file.replace("\\", "/").rpartition("/")[2]
        return f"write the location relative to the model's folder: {shortened(name)} if the file is beside the model"
    renamed_file = ""
    if all_stored is not None and reason.endswith("does not exist"):
        from irlint.checks.misnamed import misnamed

        other_file = _file_with_unused_bytes(stored, all_stored)
        if other_file:
            return f"write the location {shortened(other_file)}: no other constant uses its bytes at these offsets"
        renamed_file = misnamed(file, stored, known.model.path, {each.file for each in all_stored})
    return f"put {shortened(file)} beside the model{f': {shortened(renamed_file)}' if renamed_file else ''}"


def _file_with_unused_bytes(stored: Sequence[Stored], all_stored: Sequence[Stored]) -> str:
    """The only readable file with unused bytes at all positions ``stored``; "" if there is none or more than one."""
    found = []
    for file in dict.fromkeys(each.file for each in all_stored if each.available is not None and not each.reason):
        spans = [
            (each.offset, each.offset + (each.size or 0), each.available or 0)
            for each in all_stored
            if each.file == file
        ]
        end = max(offset + available for offset, _, available in spans)
        if all(_fits_beside_constants(each, spans, end) for each in stored):
            found.append(file)
    return (found[0] or "") if len(found) == 1 else ""


def _fits_beside_constants(stored: Stored, spans: Sequence[tuple[int, int, int]], end: int) -> bool:
    """Whether the bytes at ``stored`` overlap no constant, and are adjacent to a constant or begin at 0.

    ``spans`` has (offset, end, available bytes) of each constant.
    """
    begin, behind = stored.offset, stored.offset + (stored.size or 0)
    separate = all(behind <= first or last <= begin for first, last, _ in spans)
    return begin < behind <= end and separate and any(begin in (last, 0) or behind == first for first, last, _ in spans)


def _are_unread(cases: list[Case], known: Known) -> bool:
    """Whether the runtime reads none of the constants of ``cases``."""
    if all(case.unread for case in cases):
        return True
    if not known.format.keeps_alive:
        return False
    alive = {
        (graph, value.name)
        for graph in {case.graph for case in cases}
        for node in live(graph, known.format.keeps_alive)
        for value in node.outputs
        if value is not None
    }
    return not any((case.graph, case.name) in alive for case in cases)


def linked_problem(file: str, cases: list[Case]) -> Problem:
    """The problem of a linked file; an error if the ONNX checker examines one of its constants."""
    case = next((each for each in cases if is_checked(each.graph, each.node)), None)
    shown, others = case or cases[0], len(cases) - 1
    stored = f"and {others} more are stored" if others else "is stored"
    fault = WEIGHTS_LINKED.fault(
        f"the constant {shown.name!r} {stored} in {file}, which {shown.stored.linked}",
        help=f"put a copy of {file} beside the model",
        severity=Severity.ERROR if case is not None else None,
    )
    return Problem(fault, "", value=shown.name)
