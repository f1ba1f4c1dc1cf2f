"""The outcome of edits. The model is checked again, as its file would be with the edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from importlib import import_module

from irlint import parsers
from irlint.dims import Shape, symbols
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import Requirement
from irlint.fixes.explaining import every_problem
from irlint.fixes.inserted import CAST
from irlint.inference.consequences import DECLARED
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Graph, Model, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Type
from irlint.parsers.opening import opened
from irlint.records import NOTHING, record

#: Files of more bytes are not checked again.
LARGEST = 1 << 26

#: Attributes that name the element type of a result. Some operators have others, such as ``output_datatype``.
TYPE_ATTRIBUTES = ("to", "destination_type", "output_type", "dtype")

#: The number of axes of an image.
IMAGE = 4

#: The family of rules about unused parts. Their problems are reported only if the model has no errors.
HYGIENE = "hygiene"

#: The element types of lists of sizes or axes.
SIZES = ("int32", "int64")

#: The number of constants of an exchange.
PAIR = 2

#: The conditions on sizes of each node, by its graph and label.
Required = dict[tuple[str, str], list[Requirement]]


@record
class Outcome:
    """The outcome of edits that fix a problem."""

    fixed: tuple[Problem, ...]
    #: The values whose declarations become wrong.
    stale: tuple[Value, ...] = ()
    #: The new types of the inputs of the problem's node.
    inputs: tuple[Type | None, ...] = ()
    #: The new types of values.
    types: Mapping[Value, Type | None] = NOTHING
    #: The number of new problems that safe fixes remove.
    new_warnings: int = 0
    #: Whether a Reshape that only joined or divided axes now mixes them.
    mixes_axes: bool = False
    #: Whether a limit on sizes remains, perhaps at another node, or appears after a node that had an error.
    keeps_limit: bool = False
    #: The number of new requirements by which a product of sizes must be divisible by a number.
    new_divisions: int = 0
    #: Whether the edits change an input of a body or a function, which the trial did not infer.
    in_body: bool = False
    #: Whether the model then accepts only multiples of a number as batch size.
    divides_batch: bool = False


class Rechecked:
    """A model that is checked again after edits. ``shapes`` are the shapes that the user gave for inputs."""

    def __init__(
        self, model: Model, data: bytes | None, problems: Sequence[Problem], shapes: Mapping[str, Shape]
    ) -> None:
        self.model = model
        self.data = data
        self.problems = problems
        self.shapes = shapes
        self._checked: dict[tuple[Edit, ...], list[Problem] | None] = {}
        #: By edits: the requirements of each node, by its graph and label.
        self._required: dict[tuple[Edit, ...], Required] = {}

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits. None if the problem remains, if the edits cause a problem that no safe fix removes, or
        if the file cannot be written.

        Notes, limits that the model already has, and warnings that earlier errors hid do not count as caused.
        """
        after = self._after(edits)
        return None if after is None else self.compared(after, problem, edits)

    def compared(self, after: Sequence[Problem], problem: Problem, edits: Sequence[Edit] = ()) -> Outcome | None:
        """The outcome of edits, by the problems of the changed model; None as for ``outcome``."""
        counts = Counter(map(_key, after))
        fixed = []
        for each in self.problems:
            key = _key(each)
            if counts[key]:
                counts[key] -= 1
            else:
                fixed.append(each)
        outputs = {value.name for value in self.model.graph.outputs} if self.model.graph is not None else set()
        new = [each for each in after if counts[_key(each)] > 0 and each.fault.severity.rank]
        new = [each for each in new if not self._repeats_limit(each)]
        graph = self.model.graph
        new = [each for each in new if not is_revealed(each.fault.rule, each.fault.severity, edits, graph)]
        if new and any(map(_fits_no_sizes, fixed)):
            new = [each for each in new if not self._was_hidden(each, tuple(edits))]
        if not all(_is_allowed(each, outputs) for each in new) or not any(each is problem for each in fixed):
            return None
        return Outcome(tuple(each for each in fixed if each.node is not None or each is problem), new_warnings=len(new))

    def _repeats_limit(self, problem: Problem) -> bool:
        """Whether another node already limits the same sizes of the inputs in the same way."""
        return bool(problem.sizes) and any(
            (each.fault.rule, each.sizes) == (problem.fault.rule, problem.sizes) for each in self.problems
        )

    def _was_hidden(self, problem: Problem, edits: tuple[Edit, ...]) -> bool:
        """Whether a limit on sizes is old: the node has no other conditions than before. If no sizes fit, only this is
        reported."""
        if not _is_size_warning(problem.fault.rule, problem.fault.severity) or problem.node is None:
            return False
        if () not in self._required:
            self._required[()] = _required(inferred(self.model, self.shapes))
        place = problem.graph, problem.node.label
        before, after = ({each.condition for each in self._required.get(key, {}).get(place, ())} for key in ((), edits))
        return bool(after) and after <= before

    def stays_at_node(self, edits: Sequence[Edit], problem: Problem) -> bool:
        """Whether the node keeps the problem, or gets another error or warning, after edits. False if the file with the
        edits cannot be checked."""
        after, node = self._after(edits), problem.node
        if after is None or node is None:
            return False
        before = {_key(each) for each in self.problems if each is not problem}
        return any(
            each.node is not None
            and (each.graph, each.node.label) == (problem.graph, node.label)
            and each.fault.severity.rank > 0
            and _key(each) not in before
            and not (problem.is_error and each.sizes)
            for each in after
        )

    def depends_on_state(self, edits: Sequence[Edit], problem: Problem) -> bool:
        """Whether the node of a problem is only sound for some sizes of a state, which a loop changes, after edits."""
        after, node = self._after(edits), problem.node
        if after is None or node is None:
            return False
        required = self._required[tuple(edits)].get((problem.graph, node.label), ())
        return any(is_of_state(each, self.model) for each in required)

    def is_writable(self, edits: Sequence[Edit]) -> bool:
        """Whether the file can be written with these edits. True if the file is too large to check or cannot be
        opened."""
        form = self.model.format
        return self._cannot_be_checked() or (
            form is not None and bool(form.writer) and self._written(edits) is not None
        )

    def _after(self, edits: Sequence[Edit]) -> list[Problem] | None:
        key = tuple(edits)
        if key not in self._checked:
            self._checked[key] = self._check(edits)
        return self._checked[key]

    def _check(self, edits: Sequence[Edit]) -> list[Problem] | None:
        form = self.model.format
        raw = self._written(edits) if form is not None and form.writer and not self._cannot_be_checked() else None
        model = parsers.read(self.model.path, raw) if raw is not None else None
        if model is None or model.graph is None:
            return None
        known = inferred(model, self.shapes)
        self._required[tuple(edits)] = _required(known)
        return every_problem(known)

    @property
    def document(self) -> bytes:
        """The bytes of the file; b"" if it is too large to check, or cannot be opened."""
        return b"" if self._cannot_be_checked() else self.data or b""

    @property
    def size(self) -> int:
        """The number of bytes to check."""
        return len(self.document)

    def _cannot_be_checked(self) -> bool:
        if self.data is None:
            try:
                with opened(self.model.path) as stream:
                    self.data = stream.read(LARGEST + 1)
            except OSError:
                return True
        return len(self.data) > LARGEST

    def _written(self, edits: Sequence[Edit]) -> bytes | None:
        """The file with these edits; None if they cannot be written."""
        from irlint.fixes.wire import Unwritable
        from irlint.parsers.onnx.protobuf import Damage

        assert self.model.format is not None
        data = self.data or b""
        try:
            pieces = import_module(f"irlint.fixes.{self.model.format.writer}").rewritten(data, self.model, edits)
        except (Unwritable, Damage, IndexError):
            return None
        return b"".join(piece if isinstance(piece, bytes) else data[piece[0] : piece[1]] for piece in pieces)


def is_of_state(requirement: Requirement, model: Model) -> bool:
    """Whether a requirement concerns a size that no input determines, and that a node with a body does."""
    found = {name for each in requirement.any_of for side in (each.left, each.right) for name in symbols(side)}
    return any(
        name.startswith(f"_{node.op.lower()}_")
        for name in found
        if name.startswith("_")
        for graph in graphs(model)
        for node in graph.nodes
        if node.bodies
    )


def _required(known: Known) -> Required:
    found: Required = {}
    for each in known.requires:
        found.setdefault((each.graph, each.node.label), []).append(each.requirement)
    return found


def is_revealed(rule: Rule, severity: Severity, edits: Sequence[Edit], graph: Graph | None) -> bool:
    """Whether edits may reveal a warning. Either it is about sizes, and the edits set no sizes, swap inputs, or declare
    an image with more axes: sizes after a wrong operator, opset, element type or rank were unknown. Or it is about
    bytes that a moved constant leaves unused.
    """
    from irlint.checks.left_over import WEIGHTS_LEFT_OVER

    if rule is WEIGHTS_LEFT_OVER:
        return any(edit.name == "offset" and edit.kind == "attribute" for edit in edits)
    if not _is_size_warning(rule, severity):
        return False
    return all(
        sets_no_size(each) or each.swaps or _adds_axis(each) or _exchanges_constants(each, graph) for each in edits
    )


def _exchanges_constants(edit: Edit, graph: Graph | None) -> bool:
    """Whether an edit connects a constant in place of one of its shape, and both are no lists of sizes or axes."""
    if graph is None or edit.kind != "input" or edit.graph or edit.input is None:
        return False
    nodes = (node for node in graph.nodes if node.index == edit.index)
    names = {each.name for node in nodes for each in node.inputs[edit.input : edit.input + 1] if each is not None}
    given = [each.tensor for value, each in graph.constants.items() if value.name in names | {edit.value}]
    may_set = any(each.dtype in SIZES or each.shape is None for each in given)
    return len(given) == PAIR and given[0].shape == given[1].shape and not may_set


def sets_no_size(edit: Edit) -> bool:
    match edit.kind, edit.of:
        case ("opset", _) | ("rename", "operator" | "domain") | ("constant", "type"):
            return True
        case "insert", "node":
            return edit.name == CAST
        case "attribute", "node":
            return edit.name in TYPE_ATTRIBUTES or (_has_only(edit.value, 0) and _has_only(edit.before, 0))
        case "constant", "entries":
            return _has_only(edit.value, -1)
    return edit.kind == "declaration" and bool(edit.dtype) and edit.shape is None


def _adds_axis(edit: Edit) -> bool:
    """Whether an edit declares an input of the model as an image, with more axes than before."""
    return edit.kind == "declaration" and len(edit.shape or ()) > max(IMAGE - 1, len(edit.before or ()))


def _has_only(entries: object, number: int) -> bool:
    return isinstance(entries, (tuple, list)) and set(entries) == {number}


def _fits_no_sizes(problem: Problem) -> bool:
    if problem.fault.rule.family != DECLARED:
        return False
    from irlint.checks.frozen import NO_SIZES_FIT

    return problem.fault.rule is NO_SIZES_FIT


def size_limits() -> tuple[Rule, ...]:
    """The rules about sizes of inputs that are declared dynamic. If no sizes fit, their problems are not reported."""
    from irlint.checks.equal_sizes import EQUAL_SIZES
    from irlint.checks.frozen import FROZEN_SIZE, NARROW_SIZE

    return FROZEN_SIZE, NARROW_SIZE, EQUAL_SIZES


def _is_size_warning(rule: Rule, severity: Severity) -> bool:
    """Whether a problem is a warning about sizes of the model's inputs."""
    return severity is Severity.WARNING and rule.family == DECLARED and rule in size_limits()


def _key(problem: Problem) -> tuple[object, ...]:
    fault, node = problem.fault, problem.node
    label = None if node is None else node.label
    return fault.rule.code, fault.severity, problem.graph, label, problem.value, fault.input


def _is_allowed(problem: Problem, outputs: Container[str | None]) -> bool:
    """Whether a problem that appears after edits is acceptable: it is only a note, errors hid it before, or a safe
    fix removes it."""
    if problem.fault.rule.family == HYGIENE or problem.fault.severity.rank == 0:
        return True
    return problem.fault.rule.fixable and not problem.is_error and problem.value not in outputs
