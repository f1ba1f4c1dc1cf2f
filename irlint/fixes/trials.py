"""Trials: edits are applied to an inferred model, and the affected nodes are inferred again.

A requirement is strict if it limits the sizes of the model's inputs too much (``Trials._is_strict``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.checks.frozen import NARROW_SIZE, NO_SIZES_FIT
from irlint.contracts.simplified import without_common_factors
from irlint.dims import symbols
from irlint.findings.edits import Edit
from irlint.findings.faults import ELEMENT_TYPES, Severity
from irlint.findings.statements import Requirement
from irlint.fixes.axes import is_undone, mixes_axes
from irlint.fixes.changes import Change, Trial, defined, grave
from irlint.fixes.conditions import (
    couples,
    divides,
    divides_by_size,
    equates_others,
    fixes_product,
    key,
    limit_of,
    names,
    needs_multiple,
    unsatisfiable,
    usual_sizes_meet_all,
)
from irlint.fixes.inserted import RESHAPE
from irlint.fixes.rechecking import Outcome, is_of_state, sets_no_size
from irlint.inference.answers import Answer
from irlint.inference.consequences import DECLARED
from irlint.inference.contradictions import contradicts
from irlint.inference.origins import Makers, inputs_of
from irlint.inference.unknowns import filled, names_in
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import downstream, graphs, ordered
from irlint.model.tensor import UNKNOWN, Tensor, Type, tensor_shape
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.records import NOTHING

if TYPE_CHECKING:
    from irlint.inference.agreement import SizeFacts

#: A function: whether a requirement allows enough sizes for a usable model.
AllowsSizes = Callable[[Requirement], bool]


class Trials:
    """Tries edits of the main graph. Asks the shape functions of operators at most ``most_questions`` times.

    With ``may_reach_bodies``, edits may change inputs of bodies. The caller then checks the file again.
    """

    def __init__(
        self,
        makers: Makers,
        graph: Graph,
        problems: Sequence[Problem],
        most_questions: int,
        allows_sizes: AllowsSizes,
        *,
        may_reach_bodies: bool = False,
    ) -> None:
        self.known = known = makers.known
        self.format = known.format
        self.may_reach_bodies = may_reach_bodies
        self.questions_left = most_questions
        self.allows_sizes = allows_sizes
        self.makers = makers
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
        self.values = {value.name: value for value in defined(graph)}
        self.by_index = {node.index: node for node in graph.nodes}
        self.graph = graph
        self.conditions = {key(each.requirement) for each in known.requires}
        self.limits = {limit_of(each.requirement) for each in known.requires if not allows_sizes(each.requirement)}
        self.requirements: dict[Node, dict[object, Requirement]] = {}
        for demand in known.requires:
            self.requirements.setdefault(demand.node, {})[key(demand.requirement)] = demand.requirement
        given = [known.types.get(value) for value in graph.inputs]
        given += [known.types.get(v) for each in nodes if each.op == self.format.input_node for v in each.outputs if v]
        self.input_symbols = names_in(given)
        self.axes = [{each for each in names_in([one]) if "[" not in known.symbols.get(each, each)} for one in given]
        self.unsatisfiable = unsatisfiable(known, problems)
        self.unsatisfiable_nodes = [
            each.node for each in known.requires if each.requirement.condition in self.unsatisfiable
        ]
        self.problems: dict[Node, list[Problem]] = {}
        #: The problems of declarations of constant nodes, by the name of the constant.
        self.declared: dict[str, list[Problem]] = {}
        for problem in problems:
            if problem.node is not None and problem.fault.severity is not Severity.NOTE:
                self.problems.setdefault(problem.node, []).append(problem)
                if problem.node.op == self.format.constant_node and problem.fault.rule.family == DECLARED:
                    self.declared.setdefault(problem.value or "", []).append(problem)

    def change(self, edits: Sequence[Edit]) -> Change | None:
        """The effect of edits; None if the graph does not have what an edit names."""
        change = Change(self)
        return change if all(map(change.add, edits)) else None

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits. None if the edits do not fix the problem, cause another problem, or cannot be tried."""
        change, node = self.change(edits), problem.node
        if change is None or node is None or (change.touches(node) and not self._fixes(change, problem)):
            return None
        trial = Trial(change, problem, edits)
        trial.fixed = [each for value, given in change.types.items() for each in self._fixed_declarations(value, given)]
        types, touched = trial.types, []
        for each, changed in self._touched(change, types):
            touched.append(each)
            inputs = self._inputs(change, each, types)
            follows = None if each is node and self._still_clashes(problem, inputs) else self._step(trial, each, inputs)
            if follows is None or (each is node and not any(fixed is problem for fixed in trial.fixed)):
                return None
            changed += follows
        if any(each.fault.rule is NO_SIZES_FIT for each in (problem, *trial.fixed)):
            if not self._usual_sizes_fit(trial, touched):
                trial.fixed = [each for each in trial.fixed if each.fault.rule is not NO_SIZES_FIT]
            elif node not in touched and not set(touched).isdisjoint(self.unsatisfiable_nodes):
                trial.fixed += [problem] if problem.fault.rule is NO_SIZES_FIT else []
        if not any(each is problem for each in trial.fixed):
            return None
        adds_axis = any(edit.kind == "declaration" and len(edit.shape or ()) > len(edit.before or ()) for edit in edits)
        keeps_order = problem.fault.rule.family == ELEMENT_TYPES or trial.in_body or adds_axis
        reshaped = () if keeps_order else (each for each in touched if each.op == RESHAPE)
        mixes = any(self._mixes(change, each, types) for each in reshaped)
        return Outcome(
            tuple(trial.fixed),
            tuple(trial.stale),
            tuple(self._inputs(change, node, types)),
            types,
            mixes_axes=mixes,
            keeps_limit=trial.keeps_limit,
            new_divisions=trial.new_divisions,
            in_body=trial.in_body,
            divides_batch=bool(trial.requirements) and self._divides_batch(trial.requirements),
        )

    def _divides_batch(self, requirements: Sequence[Requirement]) -> bool:
        """Whether a new requirement is that a batch size, the first size of an input, is a multiple of a number."""
        new = [each for each in requirements if key(each) not in self.conditions and needs_multiple(each)]
        firsts = {(tensor_shape(self.known.types.get(value)) or (None,))[0] for value in self.inputs} if new else set()
        return any(names(each) <= {str(dim) for dim in firsts} for each in new)

    def _usual_sizes_fit(self, trial: Trial, touched: Sequence[Node]) -> bool:
        """Whether usual sizes meet all requirements after a trial, except for old limits on sizes elsewhere."""
        every = (each for each in self.known.requires if not each.graph and not each.when)
        stated = [each.requirement for each in every if each.node not in touched]
        limits = [each for each in stated if limit_of(each) in self.limits and each.condition not in self.unsatisfiable]
        return usual_sizes_meet_all([*(each for each in stated if each not in limits), *trial.requirements])

    def _mixes(self, change: Change, node: Node, types: Mapping[Value, Type | None]) -> bool:
        """Whether a Reshape only joined or divided axes before a change, and mixes them after it."""
        output = node.outputs[0] if node.outputs else None
        if output is None or node in self.problems or not node.inputs or output not in types:
            return False
        before = mixes_axes(inputs_of(node, self.known)[0], self.known.types.get(output))
        after = mixes_axes(self._inputs(change, node, types)[0], types[output])
        return before is False and after is True and not is_undone(node, types, self.makers, self.users)

    def _fixed_declarations(self, value: Value, given: Type) -> list[Problem]:
        """The problems of a constant node's declaration that its new type fixes."""
        declared = self.declared.get(value.name, [])
        return [] if not declared or self._contradicts_declaration(given, value) else declared

    def answer_after(self, edits: Sequence[Edit], node: Node) -> tuple[Answer, list[Requirement]] | None:
        """(answer of a node after edits, requirements of the nodes before it). None if a node fails, or if the edits do
        not affect the node."""
        change = self.change(edits)
        if change is None:
            return None
        types: dict[Value, Type | None] = dict(change.types)
        demands: list[Requirement] = []
        for each, changed in self._touched(change, types):
            answer = self._answer(change, each, self._inputs(change, each, types))
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
        """(node, empty list) for each node that a change affects, in topological order.

        The caller adds the changed outputs of the node to the list. The users of these outputs then follow.
        """
        queue: list[int] = []
        waiting: set[int] = set()
        users = (each for value in types for each in self.users.get(value, ()))
        nodes = [*change.calls, *change.inputs, *change.removed, *change.input_types, *users]
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
        """Whether the faulty node itself has no fault after the change. This one question excludes most changes."""
        assert problem.node is not None
        inputs = self._inputs(change, problem.node, change.types)
        if self._still_clashes(problem, inputs):
            return False
        answer = self._answer(change, problem.node, inputs)
        if answer is None or answer.outputs is None or grave(answer.faults):
            return False
        if limits_sizes(problem):
            return self._meets(problem, answer.requirements)
        return problem.fault.rule.family != DECLARED or not any(
            value is not None and value.name == problem.value and self._contradicts_declaration(given, value)
            for value, given in zip(problem.node.outputs, answer.outputs)
        )

    def _still_clashes(self, problem: Problem, inputs: Sequence[Type | None]) -> bool:
        """Whether two inputs that are broadcast still differ on an axis where neither has size 1."""
        node = problem.node
        call = self.known.calls.get(node) if node is not None else None
        is_product = call is not None and call.operator is not None and bool(call.operator.macs)
        if problem.fault.rule is not BROADCAST_MISMATCH or node is None or is_product or node.attributes:
            return False
        shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
        if len(shapes) != 2:
            return False
        pairs = zip(reversed(shapes[0]), reversed(shapes[1]))
        return any(
            type(one) is int and type(other) is int and one != other and 1 not in (one, other) for one, other in pairs
        )

    def _contradicts_declaration(self, given: Type | None, value: Value) -> bool:
        from irlint.inference.agreement import disagrees, size_facts

        if self._size_facts is None:
            self._size_facts = size_facts(self.known)
        return contradicts(given, value) or disagrees(given, value, self._size_facts)

    def _answer(self, change: Change, node: Node, inputs: Sequence[Type | None]) -> Answer | None:
        if self.questions_left <= 0:
            return None
        self.questions_left -= 1
        return self.makers.ask(node, inputs, change.calls.get(node))

    def _inputs(self, change: Change, node: Node, types: Mapping[Value, Type | None]) -> list[Type | None]:
        """The types of a node's inputs after a change."""
        other, given, known = change.inputs.get(node, NOTHING), change.input_types.get(node, NOTHING), self.known.types
        inputs: list[Type | None] = []
        for port in range(max(len(node.inputs), max(other, default=-1) + 1)):
            value = other[port] if port in other else node.inputs[port] if port < len(node.inputs) else None
            if port in given:
                inputs.append(given[port])
            elif value is None or value in types:
                inputs.append(types[value] if value is not None else None)
            else:
                inputs.append(known.get(value, None if port in other else UNKNOWN))
        removed = change.removed.get(node, ())
        return [each for port, each in enumerate(inputs) if port not in removed]

    def _step(self, trial: Trial, node: Node, inputs: Sequence[Type | None]) -> list[Value] | None:
        """The changed outputs of a node; None if the change is not allowed."""
        call = self.known.calls.get(node)
        if call is None:
            return None
        if node.bodies or call.function is not None:
            trial.in_body = True
            return [] if self.may_reach_bodies else None
        own = self.problems.get(node, [])
        if call.operator is None or call.broken:
            return []
        answer = self._answer(trial.change, node, inputs)
        if answer is None or (answer.requirements and not self._accepts(trial, node, answer.requirements)):
            return None
        trial.requirements += answer.requirements
        codes = {fault.rule.code for fault in grave(answer.faults)}
        if codes - {problem.fault.rule.code for problem in own}:
            return None
        trial.fixed += [
            problem
            for problem in own
            if problem.fault.rule.code not in codes and _shows_in_answer(problem, trial.change)
        ]
        trial.fixed += [each for each in own if limits_sizes(each) and self._meets(each, answer.requirements)]
        return [] if answer.outputs is None else self._changed_outputs(trial, node, answer.outputs)

    def _accepts(self, trial: Trial, node: Node, requirements: Sequence[Requirement]) -> bool:
        of_types = trial.problem.fault.rule.family == ELEMENT_TYPES
        if not (of_types or self._reveals(trial) or self._may_require(trial.problem, node, requirements)):
            if not self._is_behind(trial, node):
                return False
            trial.keeps_limit = True
        trial.new_divisions += sum(divides(each) and key(each) not in self.conditions for each in requirements)
        trial.keeps_limit = trial.keeps_limit or self._keeps_limit(trial.problem, requirements)
        return True

    def _is_behind(self, trial: Trial, node: Node) -> bool:
        """Whether a node follows the faulty node, and the change only gives inputs of the faulty node other entries.

        The sizes after the faulty node were unknown, so a limit there may be old.
        """
        faulty, change = trial.problem.node, trial.change
        if faulty is None or not trial.problem.is_error or not change.only_types or node is faulty:
            return False
        shapes = {value: tensor_shape(self.known.types.get(value)) for value in faulty.inputs if value is not None}
        if not all(value in shapes and shapes[value] == tensor_shape(type) for value, type in change.types.items()):
            return False
        trial.behind = trial.behind or downstream(faulty, self.graph)
        return node in trial.behind

    def _reveals(self, trial: Trial) -> bool:
        """Whether limits on sizes that appear existed before: an error hid them.

        The edits set no sizes, or only declare other shapes for inputs of the model.
        """
        change = trial.change
        if not trial.problem.is_error:
            return False
        only_declares = change.only_types and all(value in self.inputs for value in change.types)
        return only_declares or all(map(sets_no_size, trial.edits))

    def _keeps_limit(self, problem: Problem, requirements: Sequence[Requirement]) -> bool:
        """Whether the problem's node keeps a strict requirement, or fixes another product of sizes instead of one."""
        node = problem.node
        before = self.requirements.get(node, {}) if node is not None and limits_sizes(problem) else {}
        fixing = problem.fault.rule is NO_SIZES_FIT and any(map(fixes_product, before.values()))
        new = (each for each in requirements if key(each) not in self.conditions)
        kept = any(key(each) in before and self._is_strict(each) for each in requirements)
        return kept or (fixing and any(map(fixes_product, new)))

    def _may_require(self, problem: Problem, node: Node, requirements: Sequence[Requirement]) -> bool:
        """Whether no new requirement of a node is strict. A node that fixed a product of sizes may fix another product.

        If the problem is a limit on sizes, a new requirement that equates different symbols must replace one.
        """
        held = self.limits if not limits_sizes(problem) else ()
        new = [each for each in requirements if key(each) not in self.conditions and limit_of(each) not in held]
        strict = [each for each in new if not self._is_of_other_faults(each) and self._is_strict(each)]
        if self.graph.path and node is not problem.node:  # The file is checked again with the edits of a body.
            strict = [each for each in strict if not is_of_state(each, self.known.model)]
        stated, keys = self.requirements.get(node, {}), {key(each) for each in requirements}
        if problem.sizes or problem.fault.rule is NO_SIZES_FIT:
            equates = equates_others if problem.sizes else couples
            lost = sum(map(equates, (each for at, each in stated.items() if at not in keys)))
            strict += [each for each in new if problem.sizes and fixes_product(each)]
            strict += [each for each in new if equates(each) and not fixes_product(each)][lost:]
        # A node with a fault states no requirement.
        may_fix = any(map(fixes_product, stated.values())) or (node is problem.node and not stated)
        return not strict or (may_fix and all(map(fixes_product, strict)))

    def _meets(self, problem: Problem, requirements: Sequence[Requirement]) -> bool:
        """Whether a node with these requirements no longer limits the sizes of the problem."""
        # Usual sizes meet all remaining conditions of a contradiction (see ``_usual_sizes_fit``).
        limits = self._limits if problem.fault.rule is NO_SIZES_FIT else self._is_strict
        if any(map(limits, requirements)):
            return False
        before = self.requirements.get(problem.node, {}) if problem.node is not None else {}
        keys = {key(each) for each in requirements}
        if problem.fault.rule in (NO_SIZES_FIT, EQUAL_SIZES):
            couples = any(equates_others(each) or divides_by_size(each) for each in requirements)
            return not (problem.fault.rule is EQUAL_SIZES and couples) and not before.keys() <= keys
        sizes = {name for name, _ in problem.sizes}
        narrowing = {at for at, each in before.items() if names(each) & sizes}
        return problem.fault.rule is not NARROW_SIZE or not narrowing & keys

    def _is_strict(self, requirement: Requirement) -> bool:
        """Whether a requirement allows few sizes, is part of a contradiction, or equates axes of one input."""
        return requirement.condition in self.unsatisfiable or self._limits(requirement)

    def _limits(self, requirement: Requirement) -> bool:
        """Whether a requirement allows few sizes, or equates axes of one input."""
        if not self.allows_sizes(requirement):
            return True
        wide = [without_common_factors(relation) for relation in requirement.any_of if relation.right != 1]
        sides = [(symbols(each.left), symbols(each.right)) for each in wide if each.kind == "=="]
        pairs = [one | other for one, other in sides if len(one) == len(other) == 1 and one != other]
        joined = [pair for pair in pairs if any(pair <= axes for axes in self.axes)]
        return bool(joined) and len(wide) <= len(joined)

    def _is_of_other_faults(self, requirement: Requirement) -> bool:
        """Whether a requirement concerns sizes that are unknown because of other faults."""
        return len(self.known.faulted) > 1 and not names(requirement) <= self.input_symbols

    def _changed_outputs(self, trial: Trial, node: Node, outputs: Sequence[Type | None]) -> list[Value] | None:
        own, changed = self.problems.get(node, []), []
        for value, given in zip(node.outputs, outputs):
            if value is None or given is None:
                continue
            before = [
                problem for problem in own if problem.fault.rule.family == DECLARED and problem.value == value.name
            ]
            if contradicts(given, value) or (before and self._contradicts_declaration(given, value)):
                if before:
                    continue
                if not trial.change.may_be_stale:
                    return None
                trial.stale.append(value)
            if before and self._contradicts_declaration(self.known.types.get(value), value):
                trial.fixed += before
            settled = filled(given, value.type) or given
            if settled != self.known.types.get(value):
                if value in self.captured:
                    trial.in_body = True
                    if not self.may_reach_bodies:
                        return None
                trial.types[value] = settled
                changed.append(value)
        return changed


def limits_sizes(problem: Problem) -> bool:
    """Whether the problem is a limit on sizes: a node fixes dynamic sizes, equates two sizes, or allows no sizes."""
    rule = problem.fault.rule
    return bool(problem.sizes) or rule is EQUAL_SIZES or rule is NO_SIZES_FIT


def _shows_in_answer(problem: Problem, change: Change) -> bool:
    """Whether a problem is fixed if the operator's answer lacks it: a rule states it, or its input changes."""
    node, index = problem.node, problem.fault.input
    if problem.by_rule or node is None or index is None:
        return problem.by_rule
    return index in change.inputs.get(node, NOTHING) or index in change.input_types.get(node, NOTHING)
