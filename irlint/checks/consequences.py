"""Which problems of an IR only follow from others: of one mistake one is told."""

from __future__ import annotations

from irlint.dims import same
from irlint.inference.known import Known
from irlint.inference.walk import asked_again
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor
from irlint.records import replaced

#: Attributes that are missing, unknown or misread: what the file declares then shows what was meant.
ATTRIBUTES = frozenset({"IRL503", "IRL504", "IRL506"})
DECLARATIONS = frozenset({"IRL601", "IRL602"})

#: Edges, ids and layers that are missing or cannot be read.
WIRING = frozenset({"IRL105", "IRL106", "IRL107", "IRL108", "IRL110", "IRL111"})


def once(found: list[Problem], known: Known) -> list[Problem]:
    """The problems without those that follow from another one; what follows from an attribute is told with it."""
    facts = _Facts(found, known)
    effects: dict[Node, Problem] = {}
    for problem in found:
        if problem.node is not None and (facts.is_effect(problem) or facts.is_port_clash_again(problem)):
            effects.setdefault(problem.node, problem)
    result = []
    clashes: set[tuple[Node | None, str]] = set()
    for problem in found:
        if facts.follows(problem) or facts.is_port_clash_again(problem):
            continue
        if problem.fault.rule.code == "IRL601":
            clash = (problem.node, problem.fault.message.partition(" is declared ")[2])
            if clash in clashes:
                continue
            clashes.add(clash)
        cause = _is_cause(problem) or facts.is_port_clash(problem)
        effect = effects.pop(problem.node, None) if problem.node is not None and cause else None
        result.append(problem if effect is None else _merged(problem, effect))
    return result


def _is_cause(problem: Problem) -> bool:
    """Whether a problem says that a layer has another attribute than was meant."""
    fault = problem.fault
    return fault.rule.code in ATTRIBUTES and (fault.rule.code != "IRL503" or fault.help.startswith("did you mean"))


def _merged(problem: Problem, effect: Problem) -> Problem:
    """A problem of an attribute or an input port and what it does to the layer, in one; as bad as the worse of the two."""
    worst = max((each.fault.severity for each in (problem, effect)), key=lambda s: s.rank)
    joint = ": " if _is_cause(problem) else "; and "
    message = f"{problem.fault.message}{joint}{effect.fault.message}"
    return replaced(problem, fault=problem.fault.changed(message=message, severity=worst))


class _Facts:
    """What has been told of each layer, and of the graphs."""

    def __init__(self, found: list[Problem], known: Known) -> None:
        self.known = known
        self.codes: dict[Node, set[str]] = {}
        for problem in found:
            if problem.node is not None:
                self.codes.setdefault(problem.node, set()).add(problem.fault.rule.code)
        self.every = {problem.fault.rule.code for problem in found}
        errors = [problem for problem in found if problem.is_error]
        self.causes = {problem.node for problem in found if _is_cause(problem)}
        self.ported = {each.node for each in found if each.node is not None and self.is_port_clash(each)} - self.causes
        self.miscounted = {each.node for each in errors if each.fault.rule.code == "IRL507"}
        self.misported = {each.node for each in errors if each.fault.rule.code == "IRL111"}
        self.foreign = {each.node for each in found if each.fault.rule.code == "IRL503" and not _is_cause(each)}
        self.misspelled = {each.node for each in found if _is_cause(each) and each.fault.rule.code == "IRL503"}
        self.broken = {each.graph for each in errors if each.fault.rule.code[:4] in ("IRL1", "IRL5")}
        self.unwired = {each.graph for each in errors if each.fault.rule.code in WIRING}
        self.starved = {each.graph for each in errors if each.fault.rule.code == "IRL507" and _is_open(each.node)}
        self.unmapped = [_inside(each, each.node) for each in errors if each.fault.rule.code == "IRL395" and each.node]
        self.disputed = self._downstream(errors)
        self.clashed: set[Node] = set()
        self.damaged = _given_by(errors, "IRL110")
        self.retyped = _given_by(found, "IRL602")
        self.excused = {
            value
            for problem in errors
            if problem.fault.rule.code in ("IRL401", "IRL402") and problem.node is not None
            if self._is_right_as_declared(problem.node, self.retyped)
            for value in problem.node.inputs
        }

    def _downstream(self, errors: list[Problem]) -> dict[Value, Node]:
        """The values whose declared shapes are contradicted, each with the layer where that begins."""
        disputed: dict[Value, Node] = {}
        for problem in errors:
            if problem.node is not None and problem.fault.rule.code in ("IRL601", "IRL703"):
                disputed |= {value: problem.node for value in problem.node.outputs if value is not None}
        for graph in graphs(self.known.model) if disputed else ():
            for node in graph.nodes:
                cause = next((disputed[value] for value in node.inputs if value in disputed), None)
                if cause is not None:
                    clashing = (value for value in node.outputs if value is not None and self._clashes(value))
                    disputed |= {value: disputed.get(value, cause) for value in clashing}
        return disputed

    def _clashes(self, value: Value) -> bool:
        given, stated = self.known.types.get(value), value.type
        if not isinstance(given, Tensor) or not isinstance(stated, Tensor) or given.shape is None or not stated.shape:
            return False
        pairs = zip(given.shape, stated.shape)
        return len(given.shape) != len(stated.shape) or any(same(a, b) is False for a, b in pairs if b is not None)

    def is_effect(self, problem: Problem) -> bool:
        """Whether a problem comes of an attribute of its layer that another problem is about."""
        code = problem.fault.rule.code
        if problem.node not in self.causes or code in ATTRIBUTES:
            return False
        if code == "IRL510" and problem.node in self.misspelled:
            return True
        return code in DECLARATIONS or (problem.is_error and code[3] in "2345" and code != "IRL507")

    def is_port_clash(self, problem: Problem) -> bool:
        """Whether a problem says that another shape comes to an input port than it declares."""
        return problem.fault.rule.code == "IRL601" and problem.fault.message.startswith("input port ")

    def is_port_clash_again(self, problem: Problem) -> bool:
        """Whether a problem says of an output what another says of an input port of its layer."""
        return problem.fault.rule.code == "IRL601" and problem.node in self.ported and not self.is_port_clash(problem)

    def follows(self, problem: Problem) -> bool:
        """Whether a problem only follows from another one."""
        code, node = problem.fault.rule.code, problem.node
        if code == "IRL105" and not problem.is_error:
            return problem.graph in self.starved or any(problem.graph.startswith(path) for path in self.unmapped)
        if code == "IRL121":
            others = self.codes.get(node, set()) - {code} if node is not None else self.every & (WIRING | {"IRL501"})
            return bool(others)
        if node is None:
            return False
        return self.is_effect(problem) or self._follows(problem, code, node, self.codes[node])

    def _follows(self, problem: Problem, code: str, node: Node, own: set[str]) -> bool:
        if code in DECLARATIONS:
            excused = code == "IRL602" and not self.excused.isdisjoint(node.outputs)
            return excused or "IRL703" in own or self._is_right_as_declared(node, self.damaged)
        if code in ATTRIBUTES:
            if not problem.is_error and node in self.miscounted and node in self.foreign:
                return True
            return "IRL110" in own or (code == "IRL504" and node in self.misspelled)
        if code == "IRL108":
            return "IRL507" in own and not problem.is_error and problem.graph not in self.unwired
        if code == "IRL507":
            return self._is_unwired(problem, node) or ("IRL106" in self.every and _is_open(node))
        if code in ("IRL508", "IRL343"):
            return "IRL111" in own and (node in self.misported or not problem.is_error)
        if code == "IRL395":
            return any(path.startswith(_inside(problem, node)) for path in self.broken)
        if code == "IRL123":
            return problem.graph in self.unwired
        return code[3] in "234" and (self._is_unwired(problem, node) or self._repeats(node))

    def _repeats(self, node: Node) -> bool:
        """Whether a fault comes of a wrong declaration, or of what makes it wrong, of which another fault has come."""
        cause = next((self.disputed[value] for value in node.inputs if value in self.disputed), None)
        if cause is None or cause is node or not self._is_right_as_declared(node, set(self.disputed)):
            return False
        repeated = cause in self.clashed
        self.clashed.add(cause)
        return repeated

    def _is_unwired(self, problem: Problem, node: Node) -> bool:
        return problem.graph in self.unwired and None in node.inputs

    def _is_right_as_declared(self, node: Node, disputed: set[Value]) -> bool:
        """Whether a layer is sound for what the file declares of its disputed inputs."""
        if disputed.isdisjoint(node.inputs):
            return False
        types = self.known.types
        inputs = [
            None if value is None else value.type if value in disputed else types.get(value) for value in node.inputs
        ]
        answer = asked_again(self.known, node, inputs)
        return answer is not None and answer.outputs is not None


def _is_open(node: Node | None) -> bool:
    return node is not None and None in node.inputs


def _given_by(found: list[Problem], code: str) -> set[Value]:
    """The outputs of the layers of which a rule is told."""
    nodes = {problem.node for problem in found if problem.fault.rule.code == code}
    return {value for node in nodes if node is not None for value in node.outputs if value is not None}


def _inside(problem: Problem, node: Node) -> str:
    """How the paths of the bodies of a problem's node begin."""
    return f"{problem.graph}/" * bool(problem.graph) + f"{node.name or node.id}/"
