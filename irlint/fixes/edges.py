"""What follows from an edge of an IR that leads from the wrong layer: the problems that disappear with the edge that the ports declare."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from irlint.findings.edits import Edit
from irlint.findings.faults import Severity
from irlint.findings.statements import Requirement
from irlint.fixes.document import PORTS, Input
from irlint.fixes.trials import DECLARED, Trials
from irlint.fixes.wiring import Wiring
from irlint.inference.causes import contradicts
from irlint.inference.known import Known
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Problem, Value
from irlint.records import record, replaced

#: So many questions to operators are asked for the edges of a file, so many layers are tried for a port, and so many may fit.
QUESTIONS = 1200
CANDIDATES = 16
FITTING = 2


@record(eq=False)
class Followed:
    """The problem that a wrong edge is reported at, and all that disappear with the right one."""

    root: Problem
    gone: Sequence[Problem]


def with_roots(problems: list[Problem], known: Known, misled: Container[str]) -> list[Problem]:
    """The problems; those that a wrong edge brings follow from the one that it is reported at."""
    graph = known.model.graph
    counted = [each for each in problems if each.node and not each.graph and each.fault.severity is not Severity.NOTE]
    nodes = {each.node for each in counted if each.fault.rule.family in misled}
    if graph is None or not nodes:
        return problems
    wiring = Wiring(known, graph)
    touched = [(input, value) for input, value in wiring.strays if input[0] in nodes and input[0] in known.calls]
    if not 0 < len(touched) <= PORTS:
        return problems
    edges = _Edges(known, graph, counted)
    found: list[Followed] = []
    for several in _guesses(wiring, touched):
        tried = [each for each in map(edges.followed, several) if each is not None]
        if 0 < len(tried) <= FITTING and not any(tried[0].root is each for one in found for each in one.gone):
            found.append(tried[0])
    return _following(problems, found)


def _guesses(wiring: Wiring, touched: Sequence[tuple[Input, Value]]) -> Iterator[list[tuple[Edit, ...]]]:
    """The edges that the ports declare: each two exchanged, and for each port those from layers that lead nowhere."""
    for edits in wiring.exchanged(wiring.strays):
        if any((edits[0].index, edits[0].input) == (node.index, at) for (node, at), _ in touched):
            yield [edits]
    for target, _ in touched:
        yield list(wiring.fed(target, wiring.unused))[:CANDIDATES]


class _Edges:
    """Tries other edges in the main graph of a model."""

    def __init__(self, known: Known, graph: Graph, problems: Sequence[Problem]) -> None:
        self.known = known
        self.problems = problems
        self.trials = Trials(known, graph, problems, QUESTIONS, _any)

    def followed(self, edits: Sequence[Edit]) -> Followed | None:
        """What disappears with other edges; None where nothing does, or other problems appear."""
        change = self.trials.change(edits)
        inputs = {node: dict(given) for node, given in change.inputs.items()} if change is not None else {}
        node = next(iter(inputs), None)
        root = self._root(node, next(iter(inputs[node]))) if node is not None else None
        if change is None or root is None:
            return None
        outcome = self.trials.outcome_of(change, root) if root.by_rule else None
        if outcome is None and not all(self._is_sound(each, given) for each, given in inputs.items()):
            return None
        ports = {(each, each.located(each.input_ports[at].place)) for each, given in inputs.items() for at in given}
        fixed = {id(each) for each in (outcome.fixed if outcome is not None else ())} | {id(root)}
        return Followed(
            root,
            [
                each
                for each in self.problems
                if id(each) in fixed or (each.fault.rule.family == DECLARED and (each.node, each.place) in ports)
            ],
        )

    def _root(self, node: Node, at: int) -> Problem | None:
        """What a wrong edge is reported at: what the operator finds, else what is found at the port."""
        own = [each for each in self.problems if each.node is node and each.because is None]
        by_rule = sorted((each for each in own if each.by_rule), key=lambda each: -each.fault.severity.rank)
        place = node.located(node.input_ports[at].place)
        of_port = [each for each in own if each.fault.rule.family == DECLARED and each.place == place]
        return next(iter((*by_rule, *of_port)), None)

    def _is_sound(self, node: Node, given: dict[int, Value]) -> bool:
        """Whether a node alone has no fault with other inputs, and gives what it declares."""
        values = [given.get(index, value) for index, value in enumerate(node.inputs)]
        types = [None if each is None else self.known.types.get(each) for each in values]
        answer = asked_again(self.known, node, types)
        if answer is None or answer.outputs is None or any(each.severity.rank for each in answer.faults):
            return False
        return not any(value and contradicts(made, value) for value, made in zip(node.outputs, answer.outputs))


def _any(requirement: Requirement) -> bool:
    """That a node may demand what it will with an edge that the file declares."""
    return True


def _following(problems: list[Problem], found: Iterable[Followed]) -> list[Problem]:
    """The problems, those that disappear with another edge as following from the one that it is reported at."""
    roots = {id(each): one.root for one in found for each in one.gone}
    if not roots:
        return problems
    renewed: dict[int, Problem] = {}

    def new(problem: Problem) -> Problem:
        if id(problem) not in renewed:
            root, fault = roots.get(id(problem)), problem.fault
            because = problem.because if root is None else None if root is problem else root
            because = None if because is None else new(because)
            fault = fault.changed(role="connection") if root is problem else fault
            same = fault is problem.fault and because is problem.because
            renewed[id(problem)] = problem if same else replaced(problem, fault=fault, because=because)
        return renewed[id(problem)]

    return [new(each) for each in problems]
