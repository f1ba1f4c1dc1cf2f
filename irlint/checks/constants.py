"""Constants whose bytes are missing, too few, or not as many as their shape needs."""

from __future__ import annotations

import math
import os
import posixpath
from collections.abc import Iterator

from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Known
from irlint.model import Constant, Graph, Node, Problem, Stored
from irlint.model.order import graphs, live, used
from irlint.parsers.weights import byte_size
from irlint.records import replaced

WEIGHTS_MISSING = Rule(
    "IRL701",
    "weights-missing",
    Severity.ERROR,
    "The file that holds the weights is not there, or cannot be used.",
    why="A model and its weights travel as separate files; without the second one no runtime can load the first.",
    mend="Put the weights file beside the model, under the name that the message gives.",
)


WEIGHTS_TOO_SHORT = Rule(
    "IRL702",
    "weights-too-short",
    Severity.ERROR,
    "A constant lies past the end of the file that holds the weights.",
    why="The weights file was cut short, or belongs to another version of the model; runtimes refuse to load the pair.",
    mend="Copy or download the weights again, together with the model that they belong to.",
)


CONSTANT_SIZE = Rule(
    "IRL703",
    "constant-size-mismatch",
    Severity.ERROR,
    "A constant has more or fewer bytes than its shape and element type need.",
    why="""Runtimes compare the two when they load the model, and refuse it where they differ. ONNX Runtime does not look at
an initializer that nothing uses: there it is a warning.""",
    mend="Write the constant again, with a shape and an element type that belong to its data.",
)


NEGATIVE_SIZE = Rule(
    "IRL704",
    "constant-dim-negative",
    Severity.ERROR,
    "A constant's shape has a size below 0.",
    why="A constant's data has one shape, and every size in it is a whole number of at least 0.",
    mend="Write the sizes that the data has.",
)


def problems(known: Known) -> list[Problem]:
    """Missing, short and ill-sized constants, one problem for each weights file and for each other constant; initializers
    that are no inputs, one problem for each graph.
    """
    found: list[Problem] = []
    missing: dict[str, list[tuple[Graph, str, Stored]]] = {}
    short: dict[str, list[tuple[Graph, str, Constant, Node | None]]] = {}
    for graph in graphs(known.model):
        idle = frozenset() if known.format.unused_constants_are_read else _unread(graph)
        for name, constant, node in _constants(graph, known):
            stored = constant.stored
            if stored is not None and stored.file is not None and (stored.available is None or stored.reason):
                missing.setdefault(stored.file, []).append((graph, name, stored))
            elif stored is not None and stored.file is not None and _too_short(constant):
                short.setdefault(stored.file, []).append((graph, name, constant, node))
            else:
                unread = name in idle
                found += [
                    _lowered(each) if unread else each for each in _size_problems(graph, name, constant, node, known)
                ]
    if short:
        alive = {graph: live(graph, known.format.keeps_alive) for graph in graphs(known.model)}
        for cases in short.values():
            cases.sort(key=lambda case: case[3] is not None and case[3] not in alive[case[0]])
    found += [_missing_problem(file, entries, known) for file, entries in missing.items()]
    found += [_short_problem(file, cases) for file, cases in short.items()]
    return found


def _unread(graph: Graph) -> frozenset[str]:
    """The initializers of the main graph that nothing uses: ONNX Runtime drops them without a look."""
    if graph.path:
        return frozenset()
    read = {value for node in graph.nodes for value in used(node)} | set(graph.outputs)
    return frozenset(value.name for value in graph.constants if value not in read)


def _lowered(problem: Problem) -> Problem:
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))


def _constants(graph: Graph, known: Known) -> Iterator[tuple[str, Constant, Node | None]]:
    makers = {value: node for node in graph.nodes if node.op == "Const" for value in node.outputs if value is not None}
    for value, constant in graph.constants.items():
        yield value.name, constant, makers.get(value)
    for node in graph.nodes:
        for attribute in node.attributes.values():
            if isinstance(attribute.value, Constant):
                yield node.label, attribute.value, node


def _needed(constant: Constant) -> int | None:
    shape = constant.tensor.shape
    if shape is None or constant.tensor.dtype is None or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        return None
    return byte_size(constant.tensor.dtype, math.prod(shape))  # type: ignore[arg-type]


def _in_blocks(constant: Constant, needed: int) -> int:
    """The bytes of an IR's constant: elements of 3 and 6 bits lie in blocks of 3 bytes."""
    return -(-needed // 3) * 3 if constant.tensor.dtype in ("uint3", "uint6") else needed


def _too_short(constant: Constant) -> bool:
    stored = constant.stored
    assert stored is not None and stored.available is not None
    size = stored.size if stored.size is not None else _needed(constant)
    return size is not None and stored.available < size


def _missing_problem(file: str, entries: list[tuple[Graph, str, Stored]], known: Known) -> Problem:
    graph, name, stored = entries[0]
    maker = next((node for node in graph.nodes if any(v is not None and v.name == name for v in node.outputs)), None)
    label = maker.name if maker is not None and maker.name else name
    what = f"{len(entries)} constants are" if len(entries) > 1 else f"the constant {label!r} is"
    reason = stored.reason or f"{file} does not exist"
    told = f"which{reason.removeprefix(file)}" if file and reason.startswith(file) else f"and {reason}"
    beside = posixpath.join(posixpath.dirname(known.model.path.replace(os.sep, "/")), file)
    fault = WEIGHTS_MISSING.fault(
        f"{what} stored in {file or 'a file'}, {told}",
        help=f'fetch it: git lfs pull --include "{beside}"' if "LFS" in reason else f"put {file} beside the model",
        severity=Severity.WARNING if known.format.keeps_alive and _all_dead(entries, known) else None,
    )
    is_constant_node = maker is not None and not graph.constants.keys().isdisjoint(maker.outputs)
    place = next(iter(graph.constants.values())).place if graph.constants else None
    return Problem(fault, "", value=None if is_constant_node else name, place=place)


def _all_dead(entries: list[tuple[Graph, str, Stored]], known: Known) -> bool:
    """Whether OpenVINO creates none of the constants."""
    alive = {
        (graph, value.name)
        for graph in {graph for graph, _, _ in entries}
        for node in live(graph, known.format.keeps_alive)
        for value in node.outputs
        if value is not None
    }
    return not any((graph, name) in alive for graph, name, _ in entries)


def _short_problem(file: str, cases: list[tuple[Graph, str, Constant, Node | None]]) -> Problem:
    graph, name, constant, node = cases[0]
    stored = constant.stored
    assert stored is not None and stored.available is not None
    size = stored.size if stored.size is not None else _needed(constant) or 0
    more = f"; so do {len(cases) - 1} more constants" if len(cases) > 1 else ""
    label = node.name if node is not None and node.name else name
    fault = WEIGHTS_TOO_SHORT.fault(
        f"{label!r} needs {size} bytes from offset {stored.offset} of {file}, which has "
        f"{stored.offset + stored.available} bytes: it reaches {size - stored.available} bytes past the end{more}",
        help=f"copy {file} again together with the model",
    )
    return Problem(fault, graph.path, node, name, constant.place)


def _size_problems(graph: Graph, name: str, constant: Constant, node: Node | None, known: Known) -> Iterator[Problem]:
    shape = constant.tensor.shape
    negative = [axis for axis, dim in enumerate(shape or ()) if isinstance(dim, int) and dim < 0]
    if negative and shape is not None:
        fault = NEGATIVE_SIZE.fault(
            f"axis {negative[0]} is {shape[negative[0]]}", help="write the size that the data has"
        )
        yield Problem(fault, graph.path, node, name, constant.place)
        return
    stored, needed = constant.stored, _needed(constant)
    if stored is None or stored.size is None or needed is None:
        return
    spare = known.format.bytes_may_be_spare
    if spare and needed <= stored.size < (whole := _in_blocks(constant, needed)):
        fault = CONSTANT_SIZE.fault(
            f"{constant.tensor.dtype}{list(shape or ())} takes up whole blocks of 3 bytes, {whole} in all; {stored.size} bytes "
            "are stored, which OpenVINO loads",
            help=f"store {whole} bytes",
            severity=Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, name, constant.place)
    if stored.size == needed or (spare and stored.size > needed):
        return
    elements = math.prod(shape or ())  # type: ignore[arg-type]
    fault = CONSTANT_SIZE.fault(
        f"{constant.tensor.dtype}{list(shape or ())} has {elements} elements and needs {needed} bytes; "
        f"{stored.size} bytes are stored",
        help="write the constant again with the shape of its data",
    )
    made = tuple(value for value in node.outputs if value is not None) if node is not None else ()
    yield Problem(fault, graph.path, node, name, constant.place, disputes=made)
