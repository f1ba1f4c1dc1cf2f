"""Checks the data of constants: missing files, wrong sizes, links, and numbers that are not finite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from irlint.dims import Shape, elements
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Constant, Graph, Node, Problem, Stored, Value
from irlint.model.formats import Format
from irlint.model.order import graphs, live, used, used_values
from irlint.model.tensor import Extent, Tensor, shape_text
from irlint.parsers.weights import Weights, byte_size
from irlint.records import record, replaced

#: The maximum number of offsets that a help names.
PLACES = 3

WEIGHTS_MISSING = Rule(
    "IRL701",
    "weights-missing",
    Severity.ERROR,
    "The file with the weights is missing or unusable.",
    why="A model and its weights are separate files, and runtimes cannot load the model without the weights.",
    fix="Put the weights file beside the model, under the name that the message gives.",
    accepted=("openvino_ir",),
)


WEIGHTS_TOO_SHORT = Rule(
    "IRL702",
    "weights-too-short",
    Severity.ERROR,
    "A constant extends past the end of the weights file.",
    why="The weights file is incomplete, or belongs to another version of the model. Runtimes refuse to load the pair.",
    fix="Copy or download the weights again, together with the model that they belong to.",
)


CONSTANT_SIZE = Rule(
    "IRL703",
    "constant-size-mismatch",
    Severity.ERROR,
    "A constant has more or fewer bytes than its shape and element type need.",
    why=(
        "Runtimes compare the number of bytes with the shape and the type when they load the model, and refuse a "
        "difference. ONNX Runtime does not check an unused initializer; in that case, irlint warns."
    ),
    fix="Write the constant again with the shape and element type of its data.",
)


NEGATIVE_SIZE = Rule(
    "IRL704",
    "constant-dim-negative",
    Severity.ERROR,
    "The shape of a constant has a negative size.",
    why=(
        "A stored tensor has a fixed shape, in which every size is an integer of at least 0. Runtimes refuse the model."
    ),
    fix="Write the sizes of the stored data.",
)


WEIGHTS_LINKED = Rule(
    "IRL712",
    "weights-linked",
    Severity.WARNING,
    "The weights file is a link, or its path leads out of the model's folder.",
    why=(
        "A model must not be able to read any file of the machine. Therefore onnx.load and the ONNX checker follow "
        "no symbolic links, open no files with several hard links, and accept no paths out of the model's folder. "
        "ONNX Runtime follows links that stay inside the folder, except for tensors in bodies and in attributes of "
        "operators other than Constant."
    ),
    fix="Put a copy of the file beside the model.",
)


NOT_A_NUMBER = Rule(
    "IRL734",
    "constant-not-a-number",
    Severity.WARNING,
    "A constant contains NaN.",
    why=(
        "Every result computed from it is NaN too. Either the training diverged, or the file is damaged. irlint "
        "checks large constants only with `--weights`."
    ),
    fix="Export the model again from valid weights.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = {nan, 1.0}> { y = Mul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = {0.5, 1.0}> { y = Mul (x, w) }""",
)


INFINITE = Rule(
    "IRL735",
    "weights-infinite",
    Severity.NOTE,
    "A large constant contains infinity.",
    why=(
        "Masks contain infinity on purpose. Weights contain infinity if the training diverged or if a conversion to "
        "float16 overflowed. irlint checks large constants only with `--weights`."
    ),
    fix="Check whether the constant is a mask. Otherwise, export the model again with a wider type.",
)


#: Operators that select elements or test them. For these, NaN may have no effect, or may mark a missing element.
SELECTING = frozenset(("Where", "Select", "IsNaN"))


@record
class Case:
    """A constant in its graph. ``node`` is the node with the constant, None for an initializer. ``unread``: the runtime
    does not read the constant."""

    graph: Graph
    name: str
    constant: Constant
    node: Node | None
    unread: bool

    @property
    def file(self) -> str:
        """The file with the data of the constant; "" if the data is in the model file."""
        return (self.constant.stored.file or "") if self.constant.stored is not None else ""

    @property
    def stored(self) -> Stored:
        """The position of the data of the constant, which must have one."""
        assert self.constant.stored is not None
        return self.constant.stored

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The outputs of the node with the constant; () for an initializer."""
        return () if self.node is None else tuple(value for value in self.node.outputs if value is not None)

    def problem(self, fault: Fault, disputes: tuple[Value, ...] = ()) -> Problem:
        """A problem at this constant."""
        return Problem(fault, self.graph.path, self.node, self.name, self.constant.place, disputes=disputes)


def problems(known: Known) -> list[Problem]:
    """One problem for each weights file that is missing, too short or linked. Also the problems of each constant that
    has a wrong size, NaN, infinity, or faults from the parser."""
    found: list[Problem] = []
    missing: dict[str, list[Case]] = {}
    short: dict[str, list[Case]] = {}
    linked: dict[str, list[Case]] = {}
    for case in _cases(known):
        constant, stored = case.constant, case.constant.stored
        if constant.faults:
            found += _parser_problems(case, known.format)
        if not case.unread and _may_have_value_problems(constant.tensor):
            found += _value_problems(case)
        if stored is not None and stored.linked:
            linked.setdefault(case.file, []).append(case)
        if _is_missing(stored):
            missing.setdefault(case.file, []).append(case)
        elif _is_short(constant):
            short.setdefault(case.file, []).append(case)
        elif not _has_exact_size(constant):
            found += [_lowered(each) if case.unread else each for each in _size_problems(case, known)]
    if missing:
        from irlint.checks.missing_weights import missing_problems

        found += missing_problems(missing, known)
    found += _short_problems(short, known)
    if linked:
        from irlint.checks.missing_weights import linked_problem

        found += [linked_problem(file, cases) for file, cases in linked.items()]
    return found


def _is_missing(stored: Stored | None) -> bool:
    """Whether the data of a constant is in a file that does not exist or cannot be read."""
    return stored is not None and stored.file is not None and (stored.available is None or bool(stored.reason))


def _may_have_value_problems(tensor: Tensor) -> bool:
    """Whether ``_value_problems`` may find a problem: the values contain NaN, or only a summary of them (``Extent``) is
    known."""
    if type(tensor) is Weights and tensor.is_moderate:
        return False
    if tensor.value is None:
        return tensor.extent is not None
    entries: Any = tensor.value
    total: Any = sum(entries)
    return total != total or isinstance(tensor.extent, Extent)


def _value_problems(case: Case) -> Iterator[Problem]:
    """The problems of a constant that contains NaN or infinity. Infinity is a problem only in large constants, which
    have a summary (``Extent``). Attributes of operators other than Constant are skipped: NaN may separate entries of
    their tables."""
    tensor = case.constant.tensor
    if case.node is not None and case.node.op not in ("Constant", "Const"):
        return
    if isinstance(tensor.extent, Extent):
        nans, infinities = tensor.extent.nans, tensor.extent.infinities
    else:
        nans, infinities = sum([entry != entry for entry in tensor.value or ()]), 0
    nans = 0 if nans and _is_selected(case) else nans
    for rule, number, what, help in (
        (NOT_A_NUMBER, nans, "NaN", "export the weights again"),
        (INFINITE, infinities, "infinite", INFINITE.advice),
    ):
        if number:
            count = elements(tensor.shape or ())  # type: ignore[arg-type]
            total = f"of the {counted(count, 'element')} of {tensor.dtype}{shape_text(tensor.shape)}"
            yield case.problem(rule.fault(f"{number} {total} {'is' if number == 1 else 'are'} {what}", help=help))


def _is_selected(case: Case) -> bool:
    """Whether all nodes that use a constant only select its elements or test them."""
    made = case.outputs or tuple(value for value in case.graph.constants if value.name == case.name)
    nodes = [node for node in case.graph.nodes if not set(made).isdisjoint(used(node))]
    return bool(nodes) and all(node.op in SELECTING for node in nodes)


def _parser_problems(case: Case, form: Format) -> Iterator[Problem]:
    """The faults that the parser found in a constant. A fault is at most a warning if the runtime does not read the
    constant and accepts this fault in unread constants. It is an error if ONNX Runtime checks the constant."""
    for fault in case.constant.faults:
        if case.unread and not fault.rule.is_refused(form.loaded_by, "unused constant"):
            fault = fault.at_most(Severity.WARNING)
        elif is_checked(case.graph, case.node):
            fault = fault.lowered(Severity.ERROR)
        yield case.problem(fault)


def is_checked(graph: Graph, node: Node | None) -> bool:
    """Whether ONNX Runtime passes a constant to the ONNX checker. It does so for constants of bodies, and for
    attributes of operators other than Constant; not for the initializers and the Constants of the main graph and of
    functions."""
    if node is not None and node.op != "Constant":
        return True
    return bool(graph.path) and not graph.path.startswith("function:")


def _unread(graph: Graph) -> frozenset[str | Node]:
    """The names of the unused initializers and the unused Constants of the main graph, which ONNX Runtime removes
    without reading them. Bodies and functions have none."""
    if graph.path:
        return frozenset()
    read = used_values(graph)
    nodes = [node for node in graph.nodes if node.op == "Constant" and read.isdisjoint(filter(None, node.outputs))]
    return frozenset([*(value.name for value in graph.constants if value not in read), *nodes])


def _lowered(problem: Problem) -> Problem:
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))


def _cases(known: Known) -> Iterator[Case]:
    """The constants of a model that are not sound (see ``_is_sound``). In each graph, initializers and constants of
    Const layers come first, then constants in attributes."""
    for graph in graphs(known.model):
        stored = [pair for pair in graph.constants.items() if not _is_sound(pair[1])]
        inside = [pair for pair in _in_attributes(graph) if not _is_sound(pair[1])]
        if not (stored or inside):
            continue
        ignored = frozenset() if known.format.unused_constants_are_read else _unread(graph)
        makers = {value: node for node in graph.nodes if node.op == "Const" for value in node.outputs}
        for value, constant in stored:
            node = makers.get(value)
            yield Case(graph, value.name, constant, node, (value.name if node is None else node) in ignored)
        for node, constant in inside:
            yield Case(graph, node.label, constant, node, node in ignored)


def _is_sound(constant: Constant) -> bool:
    """Whether the data of a constant is present, has exactly the size that its shape needs, and has no problems of
    values."""
    stored = constant.stored
    if constant.faults or stored is None or stored.linked or stored.reason or not _has_exact_size(constant):
        return False
    if stored.file is not None and (stored.available is None or stored.available < (stored.size or 0)):
        return False
    return not _may_have_value_problems(constant.tensor)


def _in_attributes(graph: Graph) -> Iterator[tuple[Node, Constant]]:
    """The constants in attributes of nodes, each with its node. Nodes whose output is a constant of the graph are
    omitted."""
    # Nodes with equal attributes share one mapping.
    without_constants: set[int] = set()
    for node in graph.nodes:
        if id(node.attributes) in without_constants or (node.outputs and node.outputs[0] in graph.constants):
            continue
        constants = [each.value for each in node.attributes.values() if isinstance(each.value, Constant)]
        if not constants:
            without_constants.add(id(node.attributes))
        yield from ((node, constant) for constant in constants)


def _needed(constant: Constant) -> int | None:
    return bytes_of(constant.tensor.dtype, constant.tensor.shape)


@lru_cache(1024)
def bytes_of(dtype: str | None, shape: Shape | None) -> int | None:
    """The number of bytes that a constant needs; None if its type, its rank or one of its sizes is unknown."""
    if shape is None or dtype is None or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        return None
    return byte_size(dtype, elements(shape))  # type: ignore[arg-type]


def _has_exact_size(constant: Constant) -> bool:
    """Whether a constant has exactly as many bytes as its shape needs."""
    stored, needed = constant.stored, _needed(constant)
    return stored is not None and stored.size == needed is not None and _in_blocks(constant, needed) == needed


def _in_blocks(constant: Constant, needed: int) -> int:
    """The number of bytes that OpenVINO writes for a constant that needs ``needed`` bytes. OpenVINO stores numbers of 3
    and 6 bits in complete blocks of 3 bytes."""
    return -(-needed // 3) * 3 if constant.tensor.dtype in ("uint3", "uint6") else needed


def _is_short(constant: Constant) -> bool:
    """Whether the weights file ends before the end of the data of a constant."""
    stored = constant.stored
    if stored is None or stored.file is None or stored.available is None:
        return False
    size = stored.size if stored.size is not None else _needed(constant)
    return size is not None and stored.available < size


def _short_problems(short: Mapping[str, list[Case]], known: Known) -> Iterator[Problem]:
    """One problem for each file that is too short, at the first constant past its end that the runtime reads. If the
    runtime reads none of these constants, at the first one."""
    if not short:
        return
    alive = {graph: live(graph, known.format.keeps_alive) for graph in graphs(known.model)}
    for file, cases in short.items():
        cases.sort(key=lambda case: case.unread or (case.node is not None and case.node not in alive[case.graph]))
        yield _short_problem(file, cases, known)


def _short_problem(file: str, cases: Sequence[Case], known: Known) -> Problem:
    """The problem of a file that is too short, at the first of its cases."""
    from irlint.checks.sources import help_to_move

    case, others = cases[0], len(cases) - 1
    node, stored = case.node, case.stored
    assert stored.available is not None
    size = stored.size if stored.size is not None else _needed(case.constant) or 0
    extend = counted(others, "more constant extends", "more constants extend")
    more = f"; {extend} past the end, too" if others else ""
    label = node.name if node is not None and node.name else case.name
    fault = WEIGHTS_TOO_SHORT.fault(
        f"{label!r} needs {counted(size, 'byte')} from offset {stored.offset} of {file}, which has "
        f"{counted(stored.offset + stored.available, 'byte')}: it extends {counted(size - stored.available, 'byte')} "
        f"past the end{more}",
        help=help_to_move(file, known) or f"copy {file} again together with the model"
        if others
        else _help_for_end(file, size, stored.offset + stored.available, known),
        severity=Severity.WARNING if case.unread else None,
    )
    return case.problem(fault)


def _help_for_end(file: str, size: int, end: int, known: Known) -> str:
    """The help for the only constant past the ``end`` of a file. The bytes of other constants show what is wrong."""
    from irlint.checks.sources import help_to_move, holes

    copy = f"copy {file} again together with the model"
    unused = [(offset, length) for each, offset, length in holes(known) if each == file]
    found = [str(offset) for offset, length in unused if length == size]
    if 0 < len(found) <= PLACES:
        fixed = f"fixed by offset {' or '.join(found)}: the {counted(size, 'byte')} there belong to no other constant"
        return fixed if len(unused) == 1 else f"{fixed}; if {file} is incomplete, copy it again together with the model"
    moved = help_to_move(file, known)
    if moved:
        return moved
    is_cut_off = end == 0 or any(offset + length == end for offset, length in unused)
    return copy if is_cut_off else f"correct the offset: other constants use the last byte of {file}; or {copy}"


def _stored_text(size: int) -> str:
    return f"{counted(size, 'byte')} {'is' if size == 1 else 'are'} stored"


def _size_problems(case: Case, known: Known) -> Iterator[Problem]:
    """The problems of the shape of a constant, or of the number of its bytes."""
    constant = case.constant
    stored, needed, shape = constant.stored, _needed(constant), constant.tensor.shape
    negative = _negative(shape) if not constant.parts else None
    if negative is not None:
        text = f"axis {negative[0]} is {negative[1]}"
        yield case.problem(NEGATIVE_SIZE.fault(text, help="write the size of the data"))
        return
    if stored is None or stored.size is None or needed is None:
        return
    may_have_more = known.format.constants_may_be_longer
    if may_have_more and needed <= stored.size < _in_blocks(constant, needed):
        yield case.problem(_block_fault(constant, stored.size, _in_blocks(constant, needed)))
    if stored.size < needed or (stored.size > needed and not may_have_more):
        yield case.problem(_size_fault(case, stored.size, needed, known), disputes=case.outputs)


def _negative(shape: Shape | None) -> tuple[int, int] | None:
    """The first axis with a size below 0, and that size; None if there is none."""
    sizes = [(axis, dim) for axis, dim in enumerate(shape or ()) if isinstance(dim, int)]
    return next((each for each in sizes if each[1] < 0), None)


def _block_fault(constant: Constant, size: int, needed: int) -> Fault:
    return CONSTANT_SIZE.fault(
        f"{constant.tensor.dtype}{list(constant.tensor.shape or ())} is stored in complete blocks of 3 bytes, "
        f"{needed} in all; {_stored_text(size)}, which OpenVINO loads",
        help=f"store {needed} bytes",
        severity=Severity.WARNING,
    )


def _size_fault(case: Case, size: int, needed: int, known: Known) -> Fault:
    """The fault of a constant that has ``size`` bytes and needs ``needed`` bytes. If ``size`` is too small but the file
    has enough bytes, the entry ``length`` of an ONNX initializer is wrong."""
    from irlint.checks.const_attributes import help_for_size

    constant, stored, node = case.constant, case.stored, case.node
    shape = list(constant.tensor.shape or ())
    count = elements(constant.tensor.shape or ())  # type: ignore[arg-type]
    what = (
        f"{constant.tensor.dtype}{shape}"
        if node is not None
        else f"the constant {case.name!r}, {constant.tensor.dtype}{shape},"
    )
    cut = node is None and stored.file is not None and size < needed <= (stored.available or 0)
    return CONSTANT_SIZE.fault(
        f"{what} has {counted(count, 'element')} and needs {counted(needed, 'byte')}; "
        + (f"the entry `length` is {size}" if cut else _stored_text(size)),
        help=f"write {needed} in the entry `length`" if cut else help_for_size(constant, size, node, known),
    )
