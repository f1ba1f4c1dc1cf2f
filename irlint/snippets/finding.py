"""Makes the snippet of each finding: its place, the lines of the model, the table of shapes, and the origins of
sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Expr
from irlint.findings.report import Finding, Related
from irlint.inference.origins import Makers, Trail, chain, inputs_of, shape_of, trail
from irlint.inference.questions import asked_again
from irlint.lazy_typing import TYPE_CHECKING, Protocol
from irlint.model import Model, Node, Place, Problem, Value
from irlint.model.tensor import BITS, shape_text
from irlint.parsers.opening import whole
from irlint.records import replaced
from irlint.snippets.drawing import Drawing, Line, Table
from irlint.snippets.first_bytes import first_lines
from irlint.snippets.reasons import Naming, reasons, text
from irlint.snippets.tables import clashing, contradicted, marked_axes

if TYPE_CHECKING:
    from irlint.snippets.neighbourhood import Surroundings

#: Long symbols are searched in the shapes of at most this many inputs and outputs of a node.
MANY = 64

#: At most this many sizes of a finding are explained, and at most this many of its inputs are listed as related.
REASONS = 4
RELATED = 8

#: At most this many findings of a file get a drawing of the surrounding nodes.
AROUND = 200

Group = tuple[object, ...]


def group(finding: Finding) -> Group:
    """The key of a finding. Findings with equal keys differ only in the node; a report shows the first of them in
    full."""
    return finding.path, finding.rule.code, finding.severity, finding.op, finding.message, finding.help


def drawn(
    model: Model,
    makers: Makers,
    problems: Sequence[Problem],
    findings: Sequence[Finding],
    data: bytes | None,
    limit: int | None,
    *,
    around: bool = False,
    pictures: Pictures | None = None,
) -> list[Finding]:
    """The findings of one file, some of them with their snippet as ``detail``.

    ``problems`` and ``findings`` have the same order. At most ``limit`` findings of a rule get a snippet: no finding
    that follows from another one, and only the first of equal findings. If ``limit`` is None, all findings get one.
    With ``around``, the first ``AROUND`` snippets also get the surrounding nodes. ``data`` are the bytes of the file,
    if they were read before.

    Raises OSError if the file has to be opened, but cannot be.
    """
    seen: set[Group] = set()
    counts: dict[str, int] = {}
    result = []
    for problem, finding in zip(problems, findings):
        key, code = group(finding), finding.rule.code
        if limit is not None and (finding.because or key in seen or counts.get(code, 0) >= limit):
            result.append(finding)
            continue
        seen.add(key)
        counts[code] = counts.get(code, 0) + 1
        pictures = pictures or Pictures(model, makers, data)
        drawing = pictures.drawing(problem)
        if around and sum(counts.values()) <= AROUND:
            drawing = replaced(drawing, around=pictures.surroundings.of(problem))
        result.append(replaced(finding, detail=drawing))
    return _with_errors_before(problems, result, pictures) if pictures is not None else result


def _with_errors_before(problems: Sequence[Problem], findings: list[Finding], pictures: Pictures) -> list[Finding]:
    """The findings, where each warning about a stale declaration refers (``behind``) to the first error about a size
    that the node of the declaration computes or keeps: both have the same cause. Only findings with a snippet are
    examined, and no errors that follow from others."""
    stale = {
        problem.node: at
        for at, (problem, finding) in enumerate(zip(problems, findings))
        if finding.detail and problem.fault.rule is SHAPE_CONTRADICTED and problem.node and not problem.is_error
    }
    for problem, finding in zip(problems, findings) if stale else ():
        if not problem.is_error or problem.node is None or finding.because or not finding.detail:
            continue
        for each in pictures.trails(problem, current=pictures.current(problem)):
            for node in (*each.kept, *((each.maker.node,) if each.maker and each.maker.node else ())):
                at = stale.pop(node, None)
                if at is not None:
                    detail = replaced(findings[at].detail, behind=finding.fingerprint)
                    findings[at] = replaced(findings[at], detail=detail)
    return findings


class Painter(Naming, Protocol):
    """How the snippets of one format are made. The module of ``snippets`` with the name of the format has a class
    ``Painter``."""

    def element_type(self, dtype: str | None) -> str:
        """The name of an element type in this format."""

    def place(self, problem: Problem) -> tuple[str, str, str]:
        """The text that states the place of the finding, the name in this text, and the text without the name."""

    def lines(self, problem: Problem, trails: Sequence[Trail], *, current: bool) -> tuple[Line, ...]:
        """The lines of the model that the finding is about. Inferred shapes are shown only if ``current`` (see
        ``Pictures.current``)."""

    def table(self, problem: Problem) -> Table | None:
        """The table of the shapes that the finding compares; None if it compares no shapes."""


class Pictures:
    """Makes the snippets for the findings of one model."""

    def __init__(self, model: Model, makers: Makers, data: bytes | None) -> None:
        self.model = model
        self.makers = makers
        self.known = makers.known
        self.data = data
        self._painter: Painter | None = None
        self._surroundings: Surroundings | None = None
        self._present: dict[Node, list[int]] = {}

    def present_inputs(self, node: Node) -> list[int]:
        """The indices of the inputs of a node that are not omitted, in order."""
        if node not in self._present:
            self._present[node] = [at for at, value in enumerate(node.inputs) if value is not None]
        return self._present[node]

    @property
    def surroundings(self) -> Surroundings:
        """The drawings of the nodes around a finding."""
        if self._surroundings is None:
            from irlint.snippets.neighbourhood import Surroundings

            self._surroundings = Surroundings(self)
        return self._surroundings

    @property
    def painter(self) -> Painter:
        """The painter of the model's format."""
        if self._painter is None:
            module = import_module(f"irlint.snippets.{self.known.format.name}")
            self._painter = module.Painter(self.model, self.known, self.makers, self._bytes())
        return self._painter

    def _bytes(self) -> bytes:
        """The text of the document; b"" for a binary format."""
        if not self.known.format.has_lines:
            return b""
        if self.data is None:
            self.data = whole(self.model.path, "document")
        return self.data

    def drawing(self, problem: Problem) -> Drawing:
        """The snippet of a problem."""
        if self.model.graph is None and (self.model.format is None or not self.model.format.has_lines):
            return first_lines(self.model, problem.fault.rule, self.data)
        painter, current = self.painter, self.current(problem)
        trails = self.trails(problem, current=current)
        lines = painter.lines(problem, trails, current=current)
        table = painter.table(problem) if current else None
        notes = dict.fromkeys(
            (
                *reasons(trails, painter, tabled=table is not None),
                *self._overridden(trails),
                *self._entries_and_bodies(problem, current),
                *problem.fault.notes,
            )
        )
        place, name, unnamed = painter.place(problem)
        drawing = Drawing(place, lines, table, tuple(notes), name, unnamed)
        return self._lettered(self._with_types(drawing, problem), problem, trails)

    def _with_types(self, drawing: Drawing, problem: Problem) -> Drawing:
        """The snippet with the format's names of element types in its notes, and as ``types`` for the message and the
        help."""
        texts = (problem.fault.message, problem.fault.help, *drawing.notes)
        types = {
            name: short
            for name in BITS
            if any(name in text for text in texts) and (short := self.painter.element(name)) != name
        }
        if not types:
            return drawing
        from irlint.snippets.letters import lettered

        return replaced(
            drawing, notes=tuple(lettered(note, types) for note in drawing.notes), types=tuple(types.items())
        )

    def _lettered(self, drawing: Drawing, problem: Problem, trails: Sequence[Trail]) -> Drawing:
        """The snippet with letters in place of long symbols."""
        node = problem.node
        values = [*node.inputs[:MANY], *node.outputs[:MANY]] if node is not None else []
        shapes = (shape_of(value, self.known) for value in (*values, *(each.value for each in trails)))
        dims = [dim for shape in shapes if shape is not None for dim in shape if isinstance(dim, Expr)]
        if not dims:
            return drawing
        from irlint.snippets.letters import letters_for, with_letters

        return with_letters(drawing, letters_for(dims, drawing.names))

    def trails(self, problem: Problem, *, current: bool) -> list[Trail]:
        """The path of each clashing size back to its origin."""
        wanted = [*(self._clashing(problem) if current else ()), *self._disputed(problem)]
        found = [trail(value, axis, self.makers) for value, axis in wanted[:REASONS]]
        return [each for each in found if each is not None]

    def _overridden(self, trails: Sequence[Trail]) -> Iterator[str]:
        """Sentences on sizes that --shape or the configuration gives, if a clashing size is computed from them."""
        for each in trails if self.known.overridden else ():
            *_, last = chain(each.value, each.axis, self.makers)
            if last.value in self.known.overridden and last.value is not each.value:
                yield text(last, self.painter)

    def _entries_and_bodies(self, problem: Problem, current: bool) -> list[str]:
        """Sentences on the origins of the entries of computed lists, and on the outputs of bodies."""
        if problem.node is None or not current:
            return []
        from irlint.snippets.entries import entry_notes

        found = entry_notes(problem.fault, problem.node, self.makers, self.painter)
        if problem.node.bodies:
            from irlint.snippets.bodies import body_notes

            found += body_notes(problem.fault, problem.node, self.makers, self.painter)
        return found

    def _clashing(self, problem: Problem) -> list[tuple[Value, int]]:
        """The inputs and axes that the fault marks, in the order of its marks."""
        node = problem.node
        if node is None:
            return []
        marks = marked_axes(problem.fault, node, self.known)
        axes = [(index, axis) for index, each in marks.items() for axis in each]
        order = {mark: position for position, mark in enumerate(problem.fault.marks)}
        axes.sort(key=lambda mark: order.get(mark, len(order)))
        return [(value, axis) for index, axis in axes if (value := node.inputs[index]) is not None]

    def _disputed(self, problem: Problem) -> list[tuple[Value, int]]:
        """The axes on which a declaration contradicts the inferred shape: of an output, or of an input port."""
        found = contradicted(problem, self.known)
        if found is not None:
            return [(found.value, axis) for axis in found.axes]
        node, index = problem.node, problem.fault.input
        if problem.fault.rule is not SHAPE_CONTRADICTED or node is None or index is None or index >= len(node.inputs):
            return []
        value, port = node.inputs[index], node.input_ports[index] if index < len(node.input_ports) else None
        shape, declared = shape_of(value, self.known), port.type.shape if port is not None else None
        if value is None or shape is None or declared is None or len(shape) != len(declared):
            return []
        return [(value, axis) for axis in clashing(shape, declared)]

    def current(self, problem: Problem) -> bool:
        """Whether the known types are those with which the fault was found. They may be other types, because a body or
        a function is inferred more than once."""
        node, fault = problem.node, problem.fault
        if node is None or not fault.marks or not problem.graph:
            return True
        answer = asked_again(self.known, node, inputs_of(node, self.known))
        faults = answer.faults if answer is not None else ()
        return any(each.rule is fault.rule and each.message == fault.message for each in faults)


def related(makers: Makers, problem: Problem) -> tuple[tuple[Related, Place | None], ...]:
    """The nodes that compute the inputs at fault, or the graph inputs and initializers that they are, each with its
    place in the file. The caller adds the line."""
    node, fault = problem.node, problem.fault
    if node is None:
        return ()
    indices = [index for index, _ in fault.marks]
    if fault.input is not None:
        indices.append(fault.input)
    found = []
    for index in sorted(set(indices))[:RELATED]:
        value = node.inputs[index] if 0 <= index < len(node.inputs) else None
        maker = makers.of(value) if value is not None else None
        if value is None or maker is None:
            continue
        label = maker.node.label if maker.node is not None else value.name
        place = maker.node.place if maker.node is not None else value.place
        shape = shape_of(value, makers.known)
        what = f"input {index}" if shape is None else f"input {index}, {shape_text(shape)},"
        found.append((Related(label, f"{what} comes from here"), place))
    return tuple(found)
