"""Constants whose bytes are missing, too few, not as many as their shape needs, or not where the format has them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from irlint.dims import Shape, elements
from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted, shortened
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Constant, Graph, Node, Problem, Stored
from irlint.model.formats import Format
from irlint.model.order import graphs, live, used_values
from irlint.model.tensor import Extent, Tensor, shape_text
from irlint.parsers.weights import Weights, byte_size
from irlint.records import replaced

#: Of so many missing files it is looked up whether another one beside the model is meant.
MOST_SOUGHT = 16

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


WEIGHTS_LINKED = Rule(
    "IRL712",
    "weights-linked",
    Severity.WARNING,
    "The file that holds the weights is a link, or is reached through a folder outside of the model's.",
    why="""onnx.load and the ONNX checker follow no symbolic link, open no file of several hard links, and take no path that
leads out of the model's folder: whoever gives away a model could name any file of the machine otherwise. ONNX Runtime follows
what leads back into the folder, but for tensors in bodies and in attributes of other operators than Constant.""",
    mend="Put the file itself beside the model.",
)


NOT_A_NUMBER = Rule(
    "IRL734",
    "constant-not-a-number",
    Severity.WARNING,
    "A constant holds what is not a number.",
    why="""Whatever is computed with it is not a number either: the training diverged, or the file was damaged. Of large
constants this is known with `--weights` only.""",
    mend="Export the model again from weights that are sound.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = {nan, 1.0}> { y = Mul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = {0.5, 1.0}> { y = Mul (x, w) }""",
)


INFINITE = Rule(
    "IRL735",
    "weights-infinite",
    Severity.NOTE,
    "A large constant holds infinite numbers.",
    why="""Masks are infinite on purpose; weights are so where training diverged or a conversion to float16 overflowed. It is
known with `--weights` only.""",
    mend="Look whether it is a mask; else export the model again, with a wider type.",
)


def problems(known: Known) -> list[Problem]:
    """Missing, short and ill-sized constants, one problem for each weights file and for each other constant; initializers
    that are no inputs, one problem for each graph.
    """
    found: list[Problem] = []
    missing: dict[str, list[tuple[Graph, str, Stored, bool]]] = {}
    short: dict[str, list[tuple[Graph, str, Constant, Node | None, bool]]] = {}
    linked: dict[str, list[tuple[str, Stored, bool]]] = {}
    idle: frozenset[str | Node] = frozenset()
    for graph in graphs(known.model):
        if not known.format.unused_constants_are_read:
            idle = _unread(graph)
        for name, constant, node in _constants(graph, known):
            stored = constant.stored
            unread = (name if node is None else node) in idle
            if constant.faults:
                found += _stated(known.format, graph, name, constant, node, unread=unread)
            if not unread and _has_strange_numbers(constant.tensor):
                found += _value_problems(graph, name, constant, node)
            if stored is not None and stored.linked:
                linked.setdefault(stored.file or "", []).append((name, stored, _checker_looks(graph, node)))
            if stored is not None and stored.file is not None and (stored.available is None or stored.reason):
                missing.setdefault(stored.file, []).append((graph, name, stored, unread))
            elif stored is not None and stored.file is not None and _too_short(constant):
                short.setdefault(stored.file, []).append((graph, name, constant, node, unread))
            elif not _is_whole(constant):
                found += [
                    _lowered(each) if unread else each for each in _size_problems(graph, name, constant, node, known)
                ]
    if short:
        alive = {graph: live(graph, known.format.keeps_alive) for graph in graphs(known.model)}
        for cases in short.values():
            cases.sort(key=lambda case: case[4] or (case[3] is not None and case[3] not in alive[case[0]]))
    found += _missing_problems(missing, known)
    found += [_short_problem(file, cases, known) for file, cases in short.items()]
    found += [_linked_problem(file, entries) for file, entries in linked.items()]
    return found


def _has_strange_numbers(tensor: Tensor) -> bool:
    """Whether a number may be among those that were read that is none, or an infinite one."""
    if type(tensor) is Weights and tensor.is_finite:
        return False
    if tensor.value is None:
        return tensor.extent is not None
    entries: Any = tensor.value
    total: Any = sum(entries)
    return total != total or isinstance(tensor.extent, Extent)


def _value_problems(graph: Graph, name: str, constant: Constant, node: Node | None) -> Iterator[Problem]:
    """What is wrong with the numbers of a constant, as far as they were read; in the tables of other operators NaN may separate."""
    tensor = constant.tensor
    if node is not None and node.op not in ("Constant", "Const"):
        return
    if isinstance(tensor.extent, Extent):
        nans, infinities = tensor.extent.nans, tensor.extent.infinities
    else:
        nans, infinities = sum([entry != entry for entry in tensor.value or ()]), 0
    if not nans and not infinities:
        return
    count = elements(tensor.shape or ())  # type: ignore[arg-type]
    told = f"of the {counted(count, 'element')} of {tensor.dtype}{shape_text(tensor.shape)}"
    if nans:
        fault = NOT_A_NUMBER.fault(
            f"{nans} {told} {'is' if nans == 1 else 'are'} not a number", help="export the weights again"
        )
        yield Problem(fault, graph.path, node, name, constant.place)
    if infinities:
        fault = INFINITE.fault(
            f"{infinities} {told} {'is' if infinities == 1 else 'are'} infinite", help=INFINITE.advice
        )
        yield Problem(fault, graph.path, node, name, constant.place)


def _stated(
    form: Format, graph: Graph, name: str, constant: Constant, node: Node | None, *, unread: bool
) -> Iterator[Problem]:
    """What its parser found in a constant, as bad as ONNX Runtime takes it where the constant stands."""
    for fault in constant.faults:
        if unread and not fault.rule.is_refused(form.loaded_by, "unused constant"):
            fault = fault.at_most(Severity.WARNING)
        elif _checker_looks(graph, node):
            fault = fault.lowered(Severity.ERROR)
        yield Problem(fault, graph.path, node, name, constant.place)


def _checker_looks(graph: Graph, node: Node | None) -> bool:
    """Whether ONNX Runtime has the ONNX checker look at a constant: it makes initializers of the Constants of the main graph
    and of functions before."""
    if node is not None and node.op != "Constant":
        return True
    return bool(graph.path) and not graph.path.startswith("function:")


def _unread(graph: Graph) -> frozenset[str | Node]:
    """The names of the initializers of the main graph that nothing uses, and its Constants: ONNX Runtime drops them without a look."""
    if graph.path:
        return frozenset()
    read = used_values(graph)
    nodes = [node for node in graph.nodes if node.op == "Constant" and read.isdisjoint(filter(None, node.outputs))]
    return frozenset([*(value.name for value in graph.constants if value not in read), *nodes])


def _lowered(problem: Problem) -> Problem:
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))


def _constants(graph: Graph, known: Known) -> Iterator[tuple[str, Constant, Node | None]]:
    makers = {value: node for node in graph.nodes if node.op == "Const" for value in node.outputs if value is not None}
    for value, constant in graph.constants.items():
        yield value.name, constant, makers.get(value)
    # Nodes with the same attributes share them.
    plain: set[int] = set()
    for node in graph.nodes:
        if id(node.attributes) in plain:
            continue
        held = [each.value for each in node.attributes.values() if isinstance(each.value, Constant)]
        if not held:
            plain.add(id(node.attributes))
        for constant in held:
            yield node.label, constant, node


def _needed(constant: Constant) -> int | None:
    return _bytes_of(constant.tensor.dtype, constant.tensor.shape)


@lru_cache(1024)
def _bytes_of(dtype: str | None, shape: Shape | None) -> int | None:
    if shape is None or dtype is None or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        return None
    return byte_size(dtype, elements(shape))  # type: ignore[arg-type]


def _is_whole(constant: Constant) -> bool:
    """Whether a constant has the very bytes that its shape needs."""
    stored, needed = constant.stored, _needed(constant)
    return stored is not None and stored.size == needed is not None and _in_blocks(constant, needed) == needed


def _in_blocks(constant: Constant, needed: int) -> int:
    """The bytes of an IR's constant: elements of 3 and 6 bits lie in blocks of 3 bytes."""
    return -(-needed // 3) * 3 if constant.tensor.dtype in ("uint3", "uint6") else needed


def _too_short(constant: Constant) -> bool:
    stored = constant.stored
    assert stored is not None and stored.available is not None
    size = stored.size if stored.size is not None else _needed(constant)
    return size is not None and stored.available < size


def _linked_problem(file: str, entries: list[tuple[str, Stored, bool]]) -> Problem:
    """The problem of a file that the ONNX checker does not open; ``entries`` tell of each constant whether it looks at it."""
    entries = sorted(entries, key=lambda entry: not entry[2])
    name, stored, looked_at = entries[0]
    fault = WEIGHTS_LINKED.fault(
        f"the constant {name!r}{_and_more(len(entries) - 1)} in {file}, which {stored.linked}",
        help=f"put a copy of {file} beside the model",
        severity=Severity.ERROR if looked_at else None,
    )
    return Problem(fault, "", value=name)


def _and_more(count: int) -> str:
    return " is stored" if not count else f" and {count} more are stored"


def _missing_problems(missing: Mapping[str, list[tuple[Graph, str, Stored, bool]]], known: Known) -> Iterator[Problem]:
    makers: dict[tuple[Graph, str], Node] = {}
    for graph in {entries[0][0] for entries in missing.values()}:
        for node in graph.nodes:
            for value in node.outputs:
                if value is not None:
                    makers.setdefault((graph, value.name), node)
    every = (each.stored for graph in graphs(known.model) for each in graph.constants.values()) if missing else ()
    taken = {each.file for each in every if each is not None}
    for at, (file, entries) in enumerate(missing.items()):
        yield _missing_problem(file, entries, known, makers.get(entries[0][:2]), taken if at < MOST_SOUGHT else None)


def _missing_problem(
    file: str,
    entries: list[tuple[Graph, str, Stored, bool]],
    known: Known,
    maker: Node | None,
    taken: Collection[str | None] | None,
) -> Problem:
    graph, name, stored, _ = entries[0]
    label = maker.name if maker is not None and maker.name else name
    what = f"{len(entries)} constants are" if len(entries) > 1 else f"the constant {label!r} is"
    reason = stored.reason or f"{file} does not exist"
    told = f"which{reason.removeprefix(file)}" if file and reason.startswith(file) else f"and {reason}"
    beside = posixpath.join(posixpath.dirname(known.model.path.replace(os.sep, "/")), file)
    fault = WEIGHTS_MISSING.fault(
        f"{what} stored in {shortened(file) or 'a file'}, {told}",
        help=f'fetch it: git lfs pull --include "{beside}"'
        if "LFS" in reason
        else _way_to([each for _, _, each, _ in entries], known, taken),
        severity=Severity.WARNING if _all_dead(entries, known) else None,
    )
    is_constant_node = maker is not None and not graph.constants.keys().isdisjoint(maker.outputs)
    place = next(iter(graph.constants.values())).place if graph.constants else None
    return Problem(fault, "", value=None if is_constant_node else name, place=place)


def _way_to(stored: Sequence[Stored], known: Known, taken: Collection[str | None] | None) -> str:
    """How to put a missing file in its place; where ``taken``, the files that constants name, are given, one beside the model is sought."""
    file, reason = stored[0].file, stored[0].reason or "does not exist"
    if not file or stored[0].available is not None:
        return "write where the data lies: the name of a file as location, and whole numbers as offset and length"
    if reason.endswith("is an absolute path; runtimes refuse it"):
        name = file.replace("\\", "/").rpartition("/")[2]
        return f"write the location relative to the model's folder: {shortened(name)}, where the file lies beside the model"
    other = ""
    if taken is not None and reason.endswith("does not exist"):
        from irlint.checks.misnamed import misnamed

        other = misnamed(file, stored, known.model.path, taken)
    return f"put {shortened(file)} beside the model{f': {shortened(other)}' if other else ''}"


def _all_dead(entries: list[tuple[Graph, str, Stored, bool]], known: Known) -> bool:
    """Whether the runtime reads none of the constants: nothing uses them, or OpenVINO creates no layer that does."""
    if all(unread for *_, unread in entries):
        return True
    if not known.format.keeps_alive:
        return False
    alive = {
        (graph, value.name)
        for graph in {entry[0] for entry in entries}
        for node in live(graph, known.format.keeps_alive)
        for value in node.outputs
        if value is not None
    }
    return not any((graph, name) in alive for graph, name, *_ in entries)


def _short_problem(file: str, cases: list[tuple[Graph, str, Constant, Node | None, bool]], known: Known) -> Problem:
    graph, name, constant, node, unread = cases[0]
    stored = constant.stored
    assert stored is not None and stored.available is not None
    size = stored.size if stored.size is not None else _needed(constant) or 0
    more = (
        f"; so {'does' if len(cases) == 2 else 'do'} {counted(len(cases) - 1, 'more constant')}"
        if len(cases) > 1
        else ""
    )
    label = node.name if node is not None and node.name else name
    fault = WEIGHTS_TOO_SHORT.fault(
        f"{label!r} needs {counted(size, 'byte')} from offset {stored.offset} of {file}, which has "
        f"{counted(stored.offset + stored.available, 'byte')}: it reaches {counted(size - stored.available, 'byte')} past the end{more}",
        help=(len(cases) == 1 and _other_offset(file, size, known)) or f"copy {file} again together with the model",
        severity=Severity.WARNING if unread else None,
    )
    return Problem(fault, graph.path, node, name, constant.place)


def _other_offset(file: str, size: int, known: Known) -> str:
    """The offset of the only bytes of a file that no constant has, where they are as many as one needs; "" where there are no such."""
    from irlint.checks.sources import holes

    found = [(offset, length) for each, offset, length in holes(known) if each == file]
    if [length for _, length in found] != [size]:
        return ""
    return f"with offset {found[0][0]} this is gone: the {counted(size, 'byte')} there belong to no other constant"


def _stored_text(size: int) -> str:
    return f"{counted(size, 'byte')} {'is' if size == 1 else 'are'} stored"


def _size_problems(graph: Graph, name: str, constant: Constant, node: Node | None, known: Known) -> Iterator[Problem]:
    shape = constant.tensor.shape
    negative = [axis for axis, dim in enumerate(shape or ()) if isinstance(dim, int) and dim < 0]
    if negative and shape is not None and not constant.parts:
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
            f"{constant.tensor.dtype}{list(shape or ())} takes up whole blocks of 3 bytes, {whole} in all; "
            f"{_stored_text(stored.size)}, which OpenVINO loads",
            help=f"store {whole} bytes",
            severity=Severity.WARNING,
        )
        yield Problem(fault, graph.path, node, name, constant.place)
    if stored.size == needed or (spare and stored.size > needed):
        return
    count = elements(shape or ())  # type: ignore[arg-type]
    called = f"the constant {name!r}, " if node is None else ""
    cut = node is None and stored.file is not None and stored.size < needed <= (stored.available or 0)
    fault = CONSTANT_SIZE.fault(
        f"{called}{constant.tensor.dtype}{list(shape or ())}{',' * bool(called)} has {counted(count, 'element')} and needs "
        f"{counted(needed, 'byte')}; " + (f"the entry `length` is {stored.size}" if cut else _stored_text(stored.size)),
        help=f"write {needed} in the entry `length`" if cut else _way_out(constant, count, stored.size, node, known),
    )
    made = tuple(value for value in node.outputs if value is not None) if node is not None else ()
    yield Problem(fault, graph.path, node, name, constant.place, disputes=made)


def _way_out(constant: Constant, count: int, size: int, node: Node | None, known: Known) -> str:
    """What to do about a constant of another number of bytes than its ``count`` elements need."""
    again = "write the constant again with the shape of its data"
    if node is not None and node.output_ports:
        from irlint.checks.const_attributes import correction

        return correction(constant, node, size, known) or again
    kind = next((each for each in PLAIN if constant.tensor.dtype in each), ())
    meant = next((each for each in kind if count and byte_size(each, count) == size), None)
    if meant is None:
        return again
    return f"{size} bytes are exactly what {meant} needs: correct the element type, or {again}"


#: The element types of one kind.
PLAIN = (
    ("float16", "float32", "float64"),
    ("int8", "int16", "int32", "int64"),
    ("uint8", "uint16", "uint32", "uint64"),
)
