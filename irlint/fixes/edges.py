"""Edges of an IR that lead from the wrong layer: an input port declares another type than its edge brings, and another layer gives it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from irlint.checks.sources import declared_text, downstream, fits, named
from irlint.findings.faults import Severity
from irlint.findings.statements import Requirement
from irlint.fixes.trials import DECLARED, Change, Trials
from irlint.inference.causes import contradicts, differ
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Port, Problem, Value
from irlint.model.order import used_values
from irlint.records import record, replaced

#: So many ports of a file are looked at, with so many questions to operators in all; more that differ are of an old writer.
PORTS = 8
QUESTIONS = 1200

#: So many layers are tried for one port, and so many that fit are named.
CANDIDATES = 16
TOLD = 2


@record(eq=False)
class Stray:
    """An input port that gets another type than it declares."""

    node: Node
    index: int
    value: Value

    @property
    def port(self) -> Port:
        return self.node.input_ports[self.index]


@record(eq=False)
class Mended:
    """A wrong edge: the problem that it is told at, the help, and the problems that are gone with the edge that is meant."""

    root: Problem
    help: str
    gone: Sequence[Problem]


def with_meant_edges(problems: list[Problem], known: Known, misled: Container[str]) -> list[Problem]:
    """The problems; of a wrong edge one that says which edge is meant, from which the others follow."""
    graph = known.model.graph
    counted = [each for each in problems if each.node is not None and not each.graph and _counts(each)]
    nodes = {each.node for each in counted if each.fault.rule.family in misled}
    if graph is None or not nodes:
        return problems
    asked = (node for node in graph.nodes if node in known.calls)
    strays = [each for node in asked for each in _strays(node, known)]
    touched = [each for each in strays if each.node in nodes]
    if not touched or len(touched) > PORTS:
        return problems
    search = _Search(known, graph, counted, strays)
    found: list[Mended] = []
    for stray in touched:
        reference = search.reference(stray)
        if reference is None or any(reference is each for mended in found for each in mended.gone):
            continue
        mended = search.mended(stray, reference)
        if mended is not None:
            found.append(mended)
    return _with_roots(problems, found)


def _counts(problem: Problem) -> bool:
    return problem.fault.severity is not Severity.NOTE


def _strays(node: Node, known: Known) -> Iterator[Stray]:
    """The ports of a node that was asked: those of layers on cycles, and of layers that cannot be read, tell nothing."""
    for index, (port, value) in enumerate(zip(node.input_ports, node.inputs)):
        if value is None or value.type == port.type:
            continue
        given = known.types.get(value)
        if differ(given, port.type, known.format) and not contradicts(given, value):
            yield Stray(node, index, value)


class _Search:
    """Looks for the edges that are meant in the main graph of a model."""

    def __init__(self, known: Known, graph: Graph, problems: Sequence[Problem], strays: Sequence[Stray]) -> None:
        self.known = known
        self.graph = graph
        self.problems = problems
        self.strays = strays
        self.makers = {value: node for node in graph.nodes for value in node.outputs if value is not None}
        self._trials: Trials | None = None

    @property
    def trials(self) -> Trials:
        if self._trials is None:
            self._trials = Trials(self.known, self.graph, self.problems, QUESTIONS, _any)
        return self._trials

    def reference(self, stray: Stray) -> Problem | None:
        """What the wrong edge is told at: what the operator says, else what is said of the port, else of an output."""
        own = [each for each in self.problems if each.node is stray.node and each.because is None]
        by_rule = [each for each in own if each.by_rule]
        by_rule.sort(key=lambda each: -each.fault.severity.rank)
        place = stray.node.located(stray.port.place)
        of_port = [each for each in own if each.fault.rule.family == DECLARED and each.place == place]
        return next(iter((*by_rule, *of_port)), None)

    def mended(self, stray: Stray, reference: Problem) -> Mended | None:
        """The edge that is meant, where one is found with which the problem is gone."""
        for other in self.strays:
            if other is stray or other.value is stray.value:
                continue
            if self._fits(other.value, stray) and self._fits(stray.value, other):
                gone = self._gone(reference, (stray, other.value), (other, stray.value))
                if gone is not None:
                    return Mended(reference, self._swapped(stray, other, gone), gone)
        used = used_values(self.graph)
        spare = [each for each in self.makers if each not in used and self._fits(each, stray)]
        tried = [(each, self._gone(reference, (stray, each))) for each in spare[:CANDIDATES]]
        fitting = [(each, gone) for each, gone in tried if gone is not None]
        if not 0 < len(fitting) <= TOLD:
            return None
        return Mended(reference, self._led(stray, [each for each, _ in fitting], fitting[0][1]), fitting[0][1])

    def _fits(self, value: Value, stray: Stray) -> bool:
        maker = self.makers.get(value)
        if maker is None or maker is stray.node or not fits(value, stray.port.type, self.known):
            return False
        return not maker.inputs or maker not in downstream(stray.node, self.graph)

    def _gone(self, reference: Problem, *edges: tuple[Stray, Value]) -> list[Problem] | None:
        """What is gone with other edges; None where the problem is not, or others come."""
        inputs: dict[Node, dict[int, Value]] = {}
        for stray, value in edges:
            inputs.setdefault(stray.node, {})[stray.index] = value
        outcome = self.trials.outcome_of(Change(inputs=inputs), reference) if reference.by_rule else None
        if outcome is None and not all(self._is_sound(node, given) for node, given in inputs.items()):
            return None
        ports = {(stray.node, stray.node.located(stray.port.place)) for stray, _ in edges}
        return [
            each
            for each in self.problems
            if each is reference
            or any(each is gone for gone in (outcome.fixed if outcome is not None else ()))
            or (each.fault.rule.family == DECLARED and (each.node, each.place) in ports)
        ]

    def _is_sound(self, node: Node, given: dict[int, Value]) -> bool:
        """Whether a node alone has no fault with other inputs, and gives what it declares."""
        values = [given.get(index, value) for index, value in enumerate(node.inputs)]
        answer = asked_again(
            self.known, node, [None if each is None else self.known.types.get(each) for each in values]
        )
        if answer is None or answer.outputs is None or any(each.severity.rank for each in answer.faults):
            return False
        return not any(value and contradicts(made, value) for value, made in zip(node.outputs, answer.outputs))

    # --- words --------------------------------------------------------------------------------------------------------

    def _swapped(self, one: Stray, other: Stray, gone: Sequence[Problem]) -> str:
        first, second = self.makers[one.value], self.makers[other.value]
        return (
            f"the edges from layers {first.id} and {second.id} are swapped: input port {one.port.id} of layer {one.node.id} "
            f"declares the {declared_text(one.port)} that {named(second)} gives, and input port {other.port.id} of layer "
            f"{other.node.id} the {declared_text(other.port)} of {named(first)}; with {self._edge(other.value, one)} and "
            f"{self._edge(one.value, other)} {_gone_text(gone)}"
        )

    def _led(self, stray: Stray, values: Sequence[Value], gone: Sequence[Problem]) -> str:
        wrong = self.makers[stray.value]
        edges = ", or with ".join(self._edge(each, stray) for each in values)
        makers = " and ".join(named(self.makers[each]) for each in values)
        verb = "gives" if len(values) == 1 else "give"
        return (
            f"the edge from layer {wrong.id} is the wrong one: input port {stray.port.id} declares "
            f"{declared_text(stray.port)}, as {makers}, which nothing uses, {verb}; with {edges} {_gone_text(gone)}"
        )

    def _edge(self, value: Value, stray: Stray) -> str:
        maker = self.makers[value]
        return f'from-layer="{maker.id}" from-port="{value.port}" to-layer="{stray.node.id}" to-port="{stray.port.id}"'


def _any(requirement: Requirement) -> bool:
    """That a node may demand what it will with an edge that the file declares."""
    return True


def _gone_text(gone: Sequence[Problem]) -> str:
    return "this and what follows from it are gone" if len(gone) > 1 else "this is gone"


def _with_roots(problems: list[Problem], found: Sequence[Mended]) -> list[Problem]:
    """The problems, those that are gone with an edge that is meant as following from the one that tells of it."""
    if not found:
        return problems
    roots = {id(each): mended for mended in found for each in mended.gone}
    renewed: dict[int, Problem] = {}

    def new(problem: Problem) -> Problem:
        if id(problem) not in renewed:
            mended, fault, because = roots.get(id(problem)), problem.fault, problem.because
            if mended is not None and mended.root is problem:
                fault, because = fault.changed(help=mended.help, role="connection"), None
            elif mended is not None:
                because = mended.root
            because = None if because is None else new(because)
            same = fault is problem.fault and because is problem.because
            renewed[id(problem)] = problem if same else replaced(problem, fault=fault, because=because)
        return renewed[id(problem)]

    return [new(each) for each in problems]
