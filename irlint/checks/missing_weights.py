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

#: For this many missing files, a file with another name is searched beside the model.
MOST_SOUGHT = 16


def missing_problems(missing: Mapping[str, list[Case]], known: Known) -> Iterator[Problem]:
    """One problem for each missing file; ``missing`` maps the name of a file to the constants in it."""
    makers: dict[tuple[Graph, str], Node] = {}
    for graph in {cases[0].graph for cases in missing.values()}:
        named = ((value.name, node) for node in graph.nodes for value in node.outputs if value is not None)
        for name, node in named:
            makers.setdefault((graph, name), node)
    every = [each.stored for graph in graphs(known.model) for each in graph.constants.values()]
    taken = [each for each in every if each is not None and each.file]
    for at, (file, cases) in enumerate(missing.items()):
        maker = makers.get((cases[0].graph, cases[0].name))
        yield _missing_problem(file, cases, known, maker, taken if at < MOST_SOUGHT else None)


def _missing_problem(
    file: str, cases: list[Case], known: Known, maker: Node | None, taken: Sequence[Stored] | None
) -> Problem:
    """The problem of a missing file; ``maker`` is the node of its first constant."""
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
        else _help_for([each.stored for each in cases], known, taken),
        severity=Severity.WARNING if _are_unread(cases, known) else None,
    )
    is_constant_node = maker is not None and not graph.constants.keys().isdisjoint(maker.outputs)
    place = next(iter(graph.constants.values())).place if graph.constants else None
    return Problem(fault, "", value=None if is_constant_node else name, place=place)


def _help_for(stored: Sequence[Stored], known: Known, taken: Sequence[Stored] | None) -> str:
    """The help for a missing file: correct its location, or put the file beside the model.

    ``stored`` are the positions of the constants in the missing file, and ``taken`` the positions of all constants. If
    ``taken`` is not None, the help may name another file: one that has unused bytes at exactly these positions, or one
    to rename.
    """
    file, reason = stored[0].file, stored[0].reason or "does not exist"
    if not file or stored[0].available is not None:
        return "write the position of the data: a file name as location, and integers as offset and length"
    if reason.endswith("is an absolute path; runtimes refuse it"):
        name = file.replace("\\", "/").rpartition("/")[2]
        return f"write the location relative to the model's folder: {shortened(name)} if the file is beside the model"
    other = ""
    if taken is not None and reason.endswith("does not exist"):
        from irlint.checks.misnamed import misnamed

        around = _file_around(stored, taken)
        if around:
            return f"write the location {shortened(around)}: no other constant uses its bytes at these offsets"
        other = misnamed(file, stored, known.model.path, {each.file for each in taken})
    return f"put {shortened(file)} beside the model{f': {shortened(other)}' if other else ''}"


def _file_around(stored: Sequence[Stored], taken: Sequence[Stored]) -> str:
    """The only readable file that other constants use in which all positions ``stored`` fit between the other
    constants (see ``_fits_between``); "" if there is none or more than one."""
    found = []
    for file in dict.fromkeys(each.file for each in taken if each.available is not None and not each.reason):
        spans = [
            (each.offset, each.offset + (each.size or 0), each.available or 0) for each in taken if each.file == file
        ]
        end = max(offset + available for offset, _, available in spans)
        if all(_fits_between(each, spans, end) for each in stored):
            found.append(file)
    return (found[0] or "") if len(found) == 1 else ""


def _fits_between(stored: Stored, spans: Sequence[tuple[int, int, int]], end: int) -> bool:
    """Whether bytes of a file that ends at ``end`` overlap no constant, and begin at 0 or at the end of a constant, or
    end where a constant begins. ``spans`` are the offset, the end and the available bytes of each constant."""
    begin, behind = stored.offset, stored.offset + (stored.size or 0)
    separate = all(behind <= first or last <= begin for first, last, _ in spans)
    return begin < behind <= end and separate and any(begin in (last, 0) or behind == first for first, last, _ in spans)


def _are_unread(cases: list[Case], known: Known) -> bool:
    """Whether the runtime reads none of the constants: nothing uses them, or OpenVINO does not create their layers."""
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
    """The problem of a file that the ONNX checker does not open, because the file or a folder on its path is a link; an
    error if the checker examines one of the constants."""
    case = next((each for each in cases if is_checked(each.graph, each.node)), None)
    shown, others = case or cases[0], len(cases) - 1
    stored = f"and {others} more are stored" if others else "is stored"
    fault = WEIGHTS_LINKED.fault(
        f"the constant {shown.name!r} {stored} in {file}, which {shown.stored.linked}",
        help=f"put a copy of {file} beside the model",
        severity=Severity.ERROR if case is not None else None,
    )
    return Problem(fault, "", value=shown.name)
