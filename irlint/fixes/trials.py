"""Trials: a trial applies edits to an inferred model, infers the affected nodes again, and reports which problems
disappear or appear. A requirement is strict if it leaves too few sizes (see ``Trials._leaves``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.checks.frozen import NARROW_SIZE, NO_SIZES_FIT
from irlint.contracts.simplified import without_common_factors
from irlint.dims import symbols
from irlint.findings.edits import Edit
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import Requirement
from irlint.fixes import inserted
from irlint.fixes.axes import mixes_axes
from irlint.fixes.changes import Change, Changes, bound
from irlint.fixes.conditions import divides, equates_others, fixes_product, have_sizes, key, names
from irlint.fixes.outcomes import DECLARED, Outcome
from irlint.inference.answers import Answer
from irlint.inference.contradictions import contradicts
from irlint.inference.known import Known
from irlint.inference.origins import inputs_of
from irlint.inference.questions import questions
from irlint.inference.unknowns import filled, names_in
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Graph, Node, Problem, Value
from irlint.model.order import graphs, ordered
from irlint.model.tensor import Tensor, Type
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.records import NOTHING, replaced

if TYPE_CHECKING:
    from irlint.inference.agreement import SizeFacts

#: The family of rules about element types.
ELEMENT_TYPES = "element-types"

#: A function: whether a requirement leaves enough sizes for a usable model.
Leaves = Callable[[Requirement], bool]


class Trial:
    """A trial of a change for a problem, which may be one ``of_types`` of elements: the types of values so far, the
    problems that disappear, the values whose declarations become wrong, whether a strict requirement of the problem's
    node is left, the number of new conditions on divisibility, and whether the change reaches a body."""

    __slots__ = ("change", "problem", "of_types", "types", "found", "stale", "left", "divides", "in_body", "demands")

    def __init__(self, change: Change, problem: Problem) -> None:
        self.change = change
        self.problem = problem
        self.of_types = problem.fault.rule.family == ELEMENT_TYPES
        self.types: dict[Value, Type | None] = dict(change.types)
        self.found: list[Problem] = []
        self.stale: list[Value] = []
        self.left = False
        self.divides = 0
        self.in_body = False
        self.demands: list[Requirement] = []


class Trials:
    """Tries edits of the main graph. ``left`` is the number of questions that may still be put to operators.

    ``leaves`` is False for requirements that leave too few sizes; ``_may_demand`` states which requirements a node may
    have after an edit. With ``rechecked``, the caller checks the file again, so a change may reach bodies.
    """

    def __init__(
        self,
        known: Known,
        graph: Graph,
        problems: Sequence[Problem],
        left: int,
        leaves: Leaves,
        *,
        rechecked: bool = False,
    ) -> None:
        self.known = known
        self.rechecked = rechecked
        self.left = left
        self.leaves = leaves
        self._ask = questions(known)
        self._size_facts: SizeFacts | None = None
        self.inputs = [value for value in graph.inputs if value not in graph.constants]
        self.nodes = nodes = ordered(graph).nodes
        self.order = {node: at for at, node in enumerate(nodes)}
        self.users: dict[Value, list[Node]] = {}
        for node in nodes:
            for value in dict.fromkeys(node.inputs):
                if value is not None:
                    self.users.setdefault(value, []).append(node)
        self.captured = {value for each in graphs(known.model) for value in each.captured}
        self.values = {value.name: value for value in _defined(graph)}
        self.by_index = {node.index: node for node in graph.nodes}
        self.graph = graph
        self.conditions = {key(each.requirement) for each in known.requires}
        self.demanded: dict[Node, dict[object, Requirement]] = {}
        for demand in known.requires:
            self.demanded.setdefault(demand.node, {})[key(demand.requirement)] = demand.requirement
        given = [known.types.get(value) for value in graph.inputs]
        given += [known.types.get(v) for each in nodes if each.op == known.format.input_node for v in each.outputs if v]
        self.fed = names_in(given)
        self.axes = [{each for each in names_in([one]) if "[" not in known.symbols.get(each, each)} for one in given]
        self.contradicting = _contradicting(known, problems)
        self.contradicted = [each.node for each in known.requires if each.requirement.condition in self.contradicting]
        self.problems: dict[Node, list[Problem]] = {}
        #: The problems of declarations of constant nodes, by the name of the constant.
        self.declared: dict[str, list[Problem]] = {}
        for problem in problems:
            if problem.node is not None and problem.fault.severity is not Severity.NOTE:
                self.problems.setdefault(problem.node, []).append(problem)
                if problem.node.op == known.format.constant_node and problem.fault.rule.family == DECLARED:
                    self.declared.setdefault(problem.value or "", []).append(problem)

    def change(self, edits: Sequence[Edit]) -> Change | None:
        """The effect of edits; None if an edit names something that the graph does not have."""
        found = Changes(self)
        return found.change if all(found.add(edit) for edit in edits) else None

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits, as ``outcome_of`` describes it; None also if they name something that is not there."""
        change = self.change(edits)
        return None if change is None else self.outcome_of(change, problem)

    def outcome_of(self, change: Change, problem: Problem) -> Outcome | None:
        """The outcome of a change. None if ``problem`` remains, if another problem or requirement appears, if the
        change reaches a body or the call of a function and is not checked again, or if no questions are left."""
        node = problem.node
        if node is None or (change.touches(node) and not self._fixes(change, problem)):
            return None
        trial = Trial(change, problem)
        trial.found = [each for value, given in change.types.items() for each in self._corrected(value, given)]
        types, touched = trial.types, []
        for each, changed in self._touched(change, types):
            touched.append(each)
            follows = None if each is node and self._still_clashes(change, problem, types) else self._step(trial, each)
            if follows is None or (each is node and not any(fixed is problem for fixed in trial.found)):
                return None
            changed += follows
        if problem.fault.rule is NO_SIZES_FIT and not self._have_sizes(trial, touched):
            return None
        if (
            problem.fault.rule is NO_SIZES_FIT
            and node not in touched
            and not set(touched).isdisjoint(self.contradicted)
        ):
            trial.found.append(problem)
        if not any(each is problem for each in trial.found):
            return None
        reshaped = () if trial.of_types else (each for each in touched if each.op == inserted.RESHAPE)
        scrambles = any(self._mixes(change, each, types) for each in reshaped)
        inputs = tuple(self._inputs(change, node, types))
        return Outcome(
            tuple(trial.found),
            tuple(trial.stale),
            inputs,
            types,
            scrambles=scrambles,
            left=trial.left,
            divides=trial.divides,
            in_body=trial.in_body,
        )

    def _have_sizes(self, trial: Trial, touched: Sequence[Node]) -> bool:
        """Whether some usual sizes meet all requirements after a trial together."""
        kept = [each for each in self.known.requires if not each.graph and not each.when and each.node not in touched]
        return have_sizes([*(each.requirement for each in kept), *trial.demands])

    def _mixes(self, change: Change, node: Node, types: Mapping[Value, Type | None]) -> bool:
        """Whether a faultless Reshape only joined or divided axes before a change, and mixes them after it."""
        output = node.outputs[0] if node.outputs else None
        if output is None or node in self.problems or not node.inputs or output not in types:
            return False
        before = mixes_axes(inputs_of(node, self.known)[0], self.known.types.get(output))
        return before is False and mixes_axes(self._inputs(change, node, types)[0], types[output]) is True

    def _corrected(self, value: Value, given: Type) -> list[Problem]:
        """The problems of a constant node's declaration that disappear because the new type agrees with the
        declaration."""
        return [] if self._is_wrong(given, value) else self.declared.get(value.name, [])

    def behind(self, edit: Edit, known: Type | None) -> Type | None:
        """The output type of an inserted node for an input type. Handles the operators of ``inserted.RESULTS``, and
        copies of nodes of the graph with one input. None if it is unknown."""
        if not isinstance(known, Tensor):
            return None
        if edit.inputs:
            return self._inserted(edit, known)
        if edit.name in inserted.RESULTS:
            result = inserted.RESULTS[edit.name](known, **dict(edit.value))
            # A fault about values that only disappears because the values are now unknown is not fixed.
            lost = result is not None and result.value is None and known.value is not None
            return None if lost and edit.name != inserted.CAST else result
        like = next((node for node in self.graph.nodes if node.op == edit.name and len(node.inputs) == 1), None)
        answer = self._ask(like, [known], None) if like is not None else None
        return answer.outputs[0] if answer is not None and answer.outputs else None

    def _inserted(self, edit: Edit, known: Tensor) -> Type | None:
        """The output type of an inserted node with several inputs; None if it fails or is unknown."""
        node = self.by_index.get(edit.index) if edit.index is not None else None
        others = [self.values.get(name) for name in edit.inputs]
        if node is None or edit.input is None or None in others or self.left <= 0:
            return None
        self.left -= 1
        attributes = {name: Attribute("INTS" if isinstance(v, tuple) else "INT", v) for name, v in edit.value}
        given = (node.inputs[edit.input], *others)
        new = replaced(node, name="", op=edit.name, inputs=given, outputs=node.outputs[:1], attributes=attributes)
        call, faults = bound(self.known, new)
        if faults or call.operator is None:
            return None
        answer = self._ask(new, [known, *(self.known.types.get(each) for each in others if each)], call)
        return answer.outputs[0] if answer is not None and answer.outputs and not _grave(answer.faults) else None

    def carried(self, edits: Sequence[Edit], node: Node) -> tuple[Answer, list[Requirement]] | None:
        """The answer of a node after edits, and the requirements of the nodes before it. None if one of these fails."""
        change = self.change(edits)
        if change is None:
            return None
        types: dict[Value, Type | None] = dict(change.types)
        demands: list[Requirement] = []
        for each, changed in self._touched(change, types):
            answer = self._answer(change, each, types)
            if each is node:
                return None if answer is None else (answer, demands)
            if answer is None or answer.outputs is None or self.order[each] > self.order[node]:
                return None
            demands += answer.requirements
            for value, given in zip(each.outputs, answer.outputs):
                settled = None if value is None or given is None else filled(given, value.type) or given
                if value is not None and settled is not None and settled != self.known.types.get(value):
                    types[value] = settled
                    changed.append(value)
        return None

    def _touched(self, change: Change, types: Mapping[Value, Type | None]) -> Iterator[tuple[Node, list[Value]]]:
        """The nodes that a change affects, in topological order, each with an empty list. The caller adds the values
        that changed to the list, and their users follow."""
        queue: list[int] = []
        waiting: set[int] = set()
        users = (each for value in types for each in self.users.get(value, ()))
        nodes = [*change.calls, *change.inputs, *change.given, *users]
        for each in dict.fromkeys(nodes):
            heappush(queue, self.order[each])
            waiting.add(self.order[each])
        while queue:
            changed: list[Value] = []
            yield self.nodes[heappop(queue)], changed
            for value in changed:
                for user in self.users.get(value, ()):
                    if self.order[user] not in waiting:
                        heappush(queue, self.order[user])
                        waiting.add(self.order[user])

    def _fixes(self, change: Change, problem: Problem) -> bool:
        """Whether the faulty node itself has no fault after the change. Most changes fail here, after one question."""
        assert problem.node is not None
        types = dict(change.types)
        if self._still_clashes(change, problem, types):
            return False
        answer = self._answer(change, problem.node, types)
        if answer is None or answer.outputs is None or _grave(answer.faults):
            return False
        if is_demand(problem):
            return self._meets(problem, answer.requirements)
        return problem.fault.rule.family != DECLARED or not any(
            value is not None and value.name == problem.value and self._is_wrong(given, value)
            for value, given in zip(problem.node.outputs, answer.outputs)
        )

    def _still_clashes(self, change: Change, problem: Problem, types: Mapping[Value, Type | None]) -> bool:
        """Whether the two inputs of a node that broadcasts them still differ on an axis where neither has size 1. False
        for products, which do not broadcast their last axes."""
        node = problem.node
        call = self.known.calls.get(node) if node is not None else None
        is_product = call is not None and call.operator is not None and bool(call.operator.macs)
        if problem.fault.rule is not BROADCAST_MISMATCH or node is None or is_product or node.attributes:
            return False
        inputs = self._inputs(change, node, types)
        shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
        if len(shapes) != 2:
            return False
        pairs = zip(reversed(shapes[0]), reversed(shapes[1]))
        return any(
            type(one) is int and type(other) is int and one != other and 1 not in (one, other) for one, other in pairs
        )

    def _is_wrong(self, given: Type | None, value: Value) -> bool:
        """Whether the file declares another type for a value than the given one, under the model's conditions on
        sizes."""
        from irlint.inference.agreement import disagrees, size_facts

        if self._size_facts is None:
            self._size_facts = size_facts(self.known)
        return contradicts(given, value) or disagrees(given, value, self._size_facts)

    def _answer(self, change: Change, node: Node, types: Mapping[Value, Type | None]) -> Answer | None:
        if self.left <= 0:
            return None
        self.left -= 1
        return self._ask(node, self._inputs(change, node, types), change.calls.get(node))

    def _inputs(self, change: Change, node: Node, types: Mapping[Value, Type | None]) -> list[Type | None]:
        """The inputs of a node after a change."""
        inputs = inputs_of(node, self.known)
        other, given = change.inputs.get(node, NOTHING), change.given.get(node, NOTHING)
        for port, value in enumerate(node.inputs):
            if port in other:
                value = other[port]
                inputs[port] = self.known.types.get(value) if value is not None else None
            if value is not None and value in types:
                inputs[port] = types[value]
            if port in given:
                inputs[port] = given[port]
        more = (other.get(port) for port in range(len(node.inputs), max(other, default=-1) + 1))
        known = self.known.types.get
        return [*inputs, *(None if value is None else types.get(value, known(value)) for value in more)]

    def _step(self, trial: Trial, node: Node) -> list[Value] | None:
        """The outputs of a node whose types change.

        None if a new fault appears; also for a new strict requirement, except in problems of element types; also if
        the node cannot be asked again.
        """
        call = self.known.calls.get(node)
        if call is None:
            return None
        if node.bodies or call.function is not None:
            trial.in_body = True
            return [] if self.rechecked else None
        own = self.problems.get(node, [])
        if call.operator is None or call.broken:
            return []
        answer = self._answer(trial.change, node, trial.types)
        if answer is None or (answer.requirements and not self._takes(trial, node, answer.requirements)):
            return None
        trial.demands += answer.requirements
        codes = {fault.rule.code for fault in _grave(answer.faults)}
        if codes - {each.fault.rule.code for each in own}:
            return None
        trial.found += [each for each in own if each.fault.rule.code not in codes and _is_judged(each, trial.change)]
        trial.found += [each for each in own if is_demand(each) and self._meets(each, answer.requirements)]
        return [] if answer.outputs is None else self._settled(trial, node, answer.outputs)

    def _takes(self, trial: Trial, node: Node, requirements: Sequence[Requirement]) -> bool:
        """Whether a node may have these requirements. Notes in the trial what speaks against them."""
        if not (trial.of_types or self._may_demand(trial.problem, node, requirements)):
            return False
        trial.divides += sum(divides(each) and key(each) not in self.conditions for each in requirements)
        trial.left = trial.left or self._keeps_demand(trial.problem, requirements)
        return True

    def _keeps_demand(self, problem: Problem, requirements: Sequence[Requirement]) -> bool:
        """Whether a strict requirement that the node of a demand had is left, perhaps at another node. Where no sizes
        work, also another one in place of one that fixed a product."""
        demanded = self.demanded.get(problem.node, {}) if problem.node is not None and is_demand(problem) else {}
        fixing = problem.fault.rule is NO_SIZES_FIT and any(map(fixes_product, demanded.values()))
        new = (each for each in requirements if key(each) not in self.conditions)
        kept = any(key(each) in demanded and not self._leaves(each) for each in requirements)
        return kept or (fixing and any(map(fixes_product, new)))

    def _may_demand(self, problem: Problem, node: Node, requirements: Sequence[Requirement]) -> bool:
        """Whether a node may have these requirements after a change for a problem.

        * It may have any requirement that some node had before, and new ones that are not strict or concern sizes that
          are unknown because of other faults.
        * If the problem is a fixed size, a new one counts as strict that fixes a product, or that equates different
          symbols and replaces none that did.
        * A node that fixed a product of sizes before may fix another product.
        """
        new = [each for each in requirements if key(each) not in self.conditions]
        strict = [each for each in new if not (self._is_of_a_fault(each) or self._leaves(each))]
        demanded, keys = self.demanded.get(node, {}), {key(each) for each in requirements}
        before = demanded.values()
        if problem.sizes:
            lost = sum(equates_others(each) for at, each in demanded.items() if at not in keys)
            strict += [each for each in new if fixes_product(each)]
            strict += [each for each in new if equates_others(each) and not fixes_product(each)][lost:]
        # A node that failed stated no requirement.
        may_fix = any(map(fixes_product, before)) or (node is problem.node and not before)
        return not strict or (may_fix and all(map(fixes_product, strict)))

    def _meets(self, problem: Problem, requirements: Sequence[Requirement]) -> bool:
        """Whether a node with these requirements no longer has the problem of a demand."""
        if not all(map(self._leaves, requirements)):
            return False
        before = self.demanded.get(problem.node, {}) if problem.node is not None else {}
        keys = {key(each) for each in requirements}
        if problem.fault.rule in (NO_SIZES_FIT, EQUAL_SIZES):
            equates = problem.fault.rule is EQUAL_SIZES and any(map(equates_others, requirements))
            return not equates and not before.keys() <= keys
        sizes = {name for name, _ in problem.sizes}
        about = {at for at, each in before.items() if names(each) & sizes}
        return problem.fault.rule is not NARROW_SIZE or not about & keys

    def _leaves(self, requirement: Requirement) -> bool:
        """Whether a requirement is not strict: it leaves more than a few sizes, is not part of a contradiction, and
        makes no two named axes of one input equal."""
        if requirement.condition in self.contradicting or not self.leaves(requirement):
            return False
        wide = [without_common_factors(each) for each in requirement.any_of if each.right != 1]
        sides = [(symbols(each.left), symbols(each.right)) for each in wide if each.kind == "=="]
        pairs = [one | other for one, other in sides if len(one) == len(other) == 1 and one != other]
        joined = [pair for pair in pairs if any(pair <= axes for axes in self.axes)]
        return not joined or len(wide) > len(joined)

    def _is_of_a_fault(self, requirement: Requirement) -> bool:
        """Whether a requirement concerns sizes that are unknown because of faults in other nodes."""
        return len(self.known.faulted) > 1 and not names(requirement) <= self.fed

    def _settled(self, trial: Trial, node: Node, outputs: Sequence[Type | None]) -> list[Value] | None:
        own, changed = self.problems.get(node, []), []
        for value, given in zip(node.outputs, outputs):
            if value is None or given is None:
                continue
            before = [each for each in own if each.fault.rule.family == DECLARED and each.value == value.name]
            if contradicts(given, value) or (before and self._is_wrong(given, value)):
                if before:
                    continue
                if not trial.change.stale:
                    return None
                trial.stale.append(value)
            if before and self._is_wrong(self.known.types.get(value), value):
                trial.found += before
            settled = filled(given, value.type) or given
            if settled != self.known.types.get(value):
                if value in self.captured:
                    trial.in_body = True
                    if not self.rechecked:
                        return None
                trial.types[value] = settled
                changed.append(value)
        return changed


def _defined(graph: Graph) -> Iterator[Value]:
    """The values that a graph defines, in an order in which the last of several with equal names counts: the nodes
    backwards, then constants, then inputs. Before them come the values of enclosing graphs that it uses."""
    yield from graph.captured
    for node in reversed(graph.nodes):
        yield from (value for value in node.outputs if value is not None)
    yield from graph.constants
    yield from graph.inputs


def is_demand(problem: Problem) -> bool:
    """Whether the problem is that a node fixes sizes that the inputs declare as dynamic, makes two of them equal, or
    leaves none."""
    rule = problem.fault.rule
    return bool(problem.sizes) or rule is EQUAL_SIZES or rule is NO_SIZES_FIT


def _contradicting(known: Known, problems: Iterable[Problem]) -> set[str]:
    """The conditions that no sizes meet together."""
    if all(each.fault.rule is not NO_SIZES_FIT for each in problems):
        return set()
    from irlint.contracts.contract import contract_of

    return {each.requirement.condition for each in contract_of(known).impossible}


def _is_judged(problem: Problem, change: Change) -> bool:
    """Whether asking the operator again shows if a problem remains: one that it reported, or one of a changed input."""
    node, index = problem.node, problem.fault.input
    if problem.by_rule or node is None or index is None:
        return problem.by_rule
    return index in change.inputs.get(node, NOTHING) or index in change.given.get(node, NOTHING)


def _grave(faults: Iterable[Fault]) -> list[Fault]:
    return [fault for fault in faults if fault.severity is not Severity.NOTE]
