"""Makes the snippets of findings. Clashing sizes are the sizes that a fault marks as contradictory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Expr
from irlint.findings.report import Finding, Related
from irlint.inference.origins import Makers, Position, Trail, chain, inputs_of, shape_of, trail
from irlint.inference.questions import asked_again
from irlint.lazy_typing import TYPE_CHECKING, Protocol
from irlint.model import Graph, Model, Node, Place, Problem, Value
from irlint.model.tensor import BITS, shape_text
from irlint.parsers.opening import file_bytes
from irlint.records import replaced
from irlint.snippets.drawing import Line, Snippet, Table
from irlint.snippets.first_bytes import first_lines
from irlint.snippets.reasons import Naming, reasons, text
from irlint.snippets.tables import clashing, contradicted, marked_axes

if TYPE_CHECKING:
    from irlint.fixes.suggestions import Suggestions
    from irlint.snippets.neighbourhood import Surroundings

#: The largest number of inputs, and of outputs, whose shapes are searched for long symbols.
MANY = 64

#: The largest numbers of explained sizes, and of related inputs, of a finding.
REASONS = 4
RELATED = 8

#: The largest number of findings of a file with the surrounding nodes.
AROUND = 200

Group = tuple[object, ...]


def group(finding: Finding) -> Group:
    """The key of a finding. Findings with equal keys differ only in the node."""
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
    snippets: Snippets | None = None,
    suggestions: Suggestions | None = None,
) -> list[Finding]:
    """The findings of one file, with snippets as ``detail``.

    With a ``limit``, consequences and repetitions get no snippet, and at most ``limit`` findings of a rule get one.
    With ``around``, the first AROUND snippets have the surrounding nodes. With ``suggestions``, notes name
    constants that cause a finding because their shapes differ from those in other blocks. ``data`` are the bytes of the
    file, if the caller has them. Raises OSError if the file cannot be opened.
    """
    seen: set[Group] = set()
    counts: dict[str, int] = {}
    result = []
    graph = model.graph
    shared = _shared_constants(graph, makers.known.format.constant_node) if graph is not None else set()
    for problem, finding in zip(problems, findings):
        key, code = group(finding), finding.rule.code
        if limit is not None and (finding.because or key in seen or counts.get(code, 0) >= limit):
            result.append(finding)
            continue
        seen.add(key)
        counts[code] = counts.get(code, 0) + 1
        snippets = snippets or Snippets(model, makers, data)
        snippet = snippets.snippet(problem)
        odd = suggestions.odd_shapes(problem) if suggestions is not None else []
        if odd:
            from irlint.snippets.twins import notes_on_odd_shapes

            snippet = replaced(snippet, notes=(*snippet.notes, *notes_on_odd_shapes(odd, snippets.painter)))
        elif shared and graph is not None and finding.fix is None and problem.is_error and not problem.graph:
            from irlint.snippets.shared_constants import notes_on_shared_constants

            notes = notes_on_shared_constants(problem, graph, shared, makers, snippets.painter)
            snippet = replaced(snippet, notes=(*snippet.notes, *notes))
        if around and sum(counts.values()) <= AROUND:
            snippet = replaced(snippet, around=snippets.surroundings.of(problem))
        result.append(replaced(finding, detail=snippet))
    return _with_explanations(problems, result, snippets) if snippets is not None else result


def _shared_constants(graph: Graph, constant_node: str | None) -> set[Value]:
    """The initializers and results of constant nodes that several nodes use."""
    constants = {value for node in graph.nodes if node.op == constant_node for value in node.outputs}
    uses = Counter(value for node in graph.nodes for value in set(node.inputs))
    return {
        value
        for value, count in uses.items()
        if count > 1 and value is not None and (value in constants or value in graph.constants)
    }


def _with_explanations(problems: Sequence[Problem], findings: list[Finding], snippets: Snippets) -> list[Finding]:
    """The findings; a warning about a declaration is ``explained_by`` an error about a size of the same node."""
    stale = {
        problem.node: at
        for at, (problem, finding) in enumerate(zip(problems, findings))
        if finding.detail and problem.fault.rule is SHAPE_CONTRADICTED and problem.node and not problem.is_error
    }
    for problem, finding in zip(problems, findings) if stale else ():
        if not problem.is_error or problem.node is None or finding.because or not finding.detail:
            continue
        for each in snippets.trails(problem, types_match=snippets.types_match(problem)):
            for node in (*each.kept, *((each.maker.node,) if each.maker and each.maker.node else ())):
                at = stale.pop(node, None)
                if at is not None:
                    detail = replaced(findings[at].detail, explained_by=finding.fingerprint)
                    findings[at] = replaced(findings[at], detail=detail)
    return findings


class Painter(Naming, Protocol):
    """The part of a snippet that depends on the format, in ``irlint.snippets.FORMAT``."""

    def element_type(self, dtype: str | None) -> str:
        """The name of an element type in this format."""

    def place(self, problem: Problem) -> tuple[str, str, str]:
        """(text for the place of a problem, name in this text, text without the name)."""

    def lines(self, problem: Problem, trails: Sequence[Trail], *, types_match: bool) -> tuple[Line, ...]:
        """The lines for a problem. They show inferred types only if the fault is about them (``types_match``)."""

    def table(self, problem: Problem) -> Table | None:
        """The table of the shapes that a problem compares, or None."""


class Snippets:
    """Makes the snippets of one model."""

    def __init__(self, model: Model, makers: Makers, data: bytes | None) -> None:
        self.model = model
        self.makers = makers
        self.known = makers.known
        self.data = data
        self._painter: Painter | None = None
        self._surroundings: Surroundings | None = None
        self._present: dict[Node, list[int]] = {}

    def present_inputs(self, node: Node) -> list[int]:
        """The indices of the inputs of a node that are not omitted."""
        if node not in self._present:
            self._present[node] = [at for at, value in enumerate(node.inputs) if value is not None]
        return self._present[node]

    @property
    def surroundings(self) -> Surroundings:
        """The collector of the nodes around a finding."""
        if self._surroundings is None:
            from irlint.snippets.neighbourhood import Surroundings

            self._surroundings = Surroundings(self)
        return self._surroundings

    @property
    def painter(self) -> Painter:
        """The painter of the model's format."""
        if self._painter is None:
            module = import_module(f"irlint.snippets.{self.known.format.name}")
            self._painter = module.Painter(self.model, self.known, self.makers, self._document())
        return self._painter

    def _document(self) -> bytes:
        if not self.known.format.has_lines:
            return b""
        if self.data is None:
            self.data = file_bytes(self.model.path, "document")
        return self.data

    def snippet(self, problem: Problem) -> Snippet:
        """The snippet of a problem."""
        if self.model.graph is None and (self.model.format is None or not self.model.format.has_lines):
            return first_lines(self.model, problem.fault.rule, self.data)
        painter, types_match = self.painter, self.types_match(problem)
        trails = self.trails(problem, types_match=types_match)
        lines = painter.lines(problem, trails, types_match=types_match)
        table = painter.table(problem) if types_match else None
        notes = dict.fromkeys(
            (
                *reasons(trails, painter, tabled=table is not None),
                *self._overridden(trails),
                *self._entries_and_bodies(problem, types_match),
                *problem.fault.notes,
            )
        )
        place, name, unnamed = painter.place(problem)
        snippet = Snippet(place, lines, table, tuple(notes), name, unnamed)
        return self._with_letters(self._with_type_names(snippet, problem), problem, trails)

    def _with_type_names(self, snippet: Snippet, problem: Problem) -> Snippet:
        """The snippet with the format's names of element types in its notes and in ``types``."""
        texts = (problem.fault.message, problem.fault.help, *snippet.notes)
        types = {
            name: short
            for name in BITS
            if any(name in text for text in texts) and (short := self.painter.element(name)) != name
        }
        if not types:
            return snippet
        from irlint.snippets.letters import lettered

        return replaced(
            snippet, notes=tuple(lettered(note, types) for note in snippet.notes), types=tuple(types.items())
        )

    def _with_letters(self, snippet: Snippet, problem: Problem, trails: Sequence[Trail]) -> Snippet:
        node = problem.node
        values = [*node.inputs[:MANY], *node.outputs[:MANY]] if node is not None else []
        shapes = (shape_of(value, self.known) for value in (*values, *(each.value for each in trails)))
        dims = [dim for shape in shapes if shape is not None for dim in shape if isinstance(dim, Expr)]
        if not dims:
            return snippet
        from irlint.snippets.letters import letters_for, with_letters

        return with_letters(snippet, letters_for(dims, snippet.names))

    def trails(self, problem: Problem, *, types_match: bool) -> list[Trail]:
        """The path of each clashing size back to its origin, at most REASONS."""
        wanted = [*(self._clashing(problem) if types_match else ()), *self._disputed(problem)]
        found = [trail(value, axis, self.makers) for value, axis in wanted[:REASONS]]
        known = [each for each in found if each is not None]
        return [*known, *self._factors(known)][:REASONS]

    def _factors(self, trails: Sequence[Trail]) -> Iterator[Trail]:
        """The paths of the fixed sizes that a node joins with dynamic ones, if they do not divide a clashing size."""
        numbers = [each.dim for each in trails if isinstance(each.dim, int)]
        for each in trails if numbers else ():
            node = each.maker.node if each.maker is not None and isinstance(each.dim, Expr) else None
            if node is None or each.value not in node.outputs:
                continue
            for place in self.makers.deciding(node, Position(node.outputs.index(each.value), each.axis)):
                value = node.inputs[place.port]
                size = (shape_of(value, self.known) or ())[place.index] if not place.in_contents else None
                if value is not None and isinstance(size, int) and size > 1 and any(one % size for one in numbers):
                    yield from (one for one in (trail(value, place.index, self.makers),) if one is not None)

    def _overridden(self, trails: Sequence[Trail]) -> Iterator[str]:
        """Sentences on sizes from --shape or the configuration, if clashing sizes are computed from them."""
        for each in trails if self.known.overridden else ():
            *_, last = chain(each.value, each.axis, self.makers)
            if last.value in self.known.overridden and last.value is not each.value:
                yield text(last, self.painter)

    def _entries_and_bodies(self, problem: Problem, types_match: bool) -> list[str]:
        if problem.node is None or not types_match:
            return []
        from irlint.snippets.entries import entry_notes

        found = entry_notes(problem.fault, problem.node, self.makers, self.painter)
        if problem.node.bodies:
            from irlint.snippets.bodies import body_notes

            found += body_notes(problem.fault, problem.node, self.makers, self.painter)
        return found

    def _clashing(self, problem: Problem) -> list[tuple[Value, int]]:
        """(input, axis) of each mark of the fault, in the order of the marks."""
        node = problem.node
        if node is None:
            return []
        marks = marked_axes(problem.fault, node, self.known)
        axes = [(index, axis) for index, each in marks.items() for axis in each]
        order = {mark: position for position, mark in enumerate(problem.fault.marks)}
        axes.sort(key=lambda mark: order.get(mark, len(order)))
        return [(value, axis) for index, axis in axes if (value := node.inputs[index]) is not None]

    def _disputed(self, problem: Problem) -> list[tuple[Value, int]]:
        """(value, axis) of each axis on which a declaration contradicts the inferred shape."""
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

    def types_match(self, problem: Problem) -> bool:
        """Whether the known types are those of the fault. Bodies and functions are inferred more than once."""
        node, fault = problem.node, problem.fault
        if node is None or not fault.marks or not problem.graph:
            return True
        answer = asked_again(self.known, node, inputs_of(node, self.known))
        faults = answer.faults if answer is not None else ()
        return any(each.rule is fault.rule and each.message == fault.message for each in faults)


def related(makers: Makers, problem: Problem) -> tuple[tuple[Related, Place | None], ...]:
    """For each input at fault, what computes or declares it: (``Related`` without a line, place)."""
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
