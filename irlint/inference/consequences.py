"""Finds the direct cause of a problem among the other problems.

A value is doubtful if a problem makes its type wrong. That problem is the cause of another problem at a node that uses
the value, if the other problem disappears with another type of the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from irlint.binding.calls import (
    ATTRIBUTE_VALUE,
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    MISSING_OPSET_IMPORT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
)
from irlint.inference.contradictions import contradicts
from irlint.inference.known import Known
from irlint.inference.questions import asked_again, outputs_for
from irlint.model import Node, Problem, Value
from irlint.model.tensor import UNKNOWN, tensor_shape

#: Families of rules (`findings.faults.FAMILIES`).
STRUCTURE, BROADCASTING, TYPES, OPERATORS = "structure", "broadcasting", "element-types", "operators"
DECLARED, WEIGHTS = "declarations", "weights"

#: If a node has more problems than this, only two of each kind are examined as causes.
MANY = 64


class Consequences:
    """The problems by node and by graph, and the values whose types are doubtful."""

    def __init__(self, problems: Sequence[Problem], known: Known) -> None:
        self.known = known
        self.all = problems
        self.own: dict[Node, list[Problem]] = {}
        for problem in problems:
            if problem.node is not None:
                self.own.setdefault(problem.node, []).append(problem)
        #: Two problems of each kind, for nodes with more than MANY problems.
        self.two_of_each_kind: dict[Node, list[Problem]] = {}
        #: The first problem that an operator's rule found, by node, code and attribute.
        self.first: dict[tuple[Node, str, str | None], Problem] = {}
        #: The errors about the element types of operands, by operand.
        self.refused: dict[Value, list[Problem]] = {}
        #: The first error in the wiring of each graph.
        self.wiring: dict[str, Problem] = {}
        #: The first error of each graph about a node that lacks an input.
        self.unconnected: dict[str, Problem] = {}
        #: The first error about an id that several layers have.
        self.repeated_id = next((problem for problem in problems if problem.fault.loses and _is_wiring(problem)), None)
        #: By graph: the errors that leave values undefined, and the number of undefined names.
        self.losses: dict[str, list[Problem]] = {}
        self.undefined: dict[str, int] = {}
        #: The problems of wrong imports, by the importing function ("" for the model) and the domain: (problem, the
        #: doubtful values).
        self.imports: dict[tuple[str, str], tuple[Problem, Set[Value]]] = {}
        self.port_maps: list[Problem] | None = None
        self.input_counts: dict[Node | None, Problem] | None = None
        #: The problems that make values doubtful.
        self.doubts: dict[Value, Problem] = {}
        #: The problems of ids that several layers have, by the outputs of these layers.
        self.ambiguous: dict[Value, Problem] = {}
        #: The problems that fix the sizes of symbols.
        self.fixed: dict[str, Problem] = {}
        #: The problems of values with a declared rank that differs from the inferred rank.
        self.ranks: dict[Value, Problem] = {}
        for problem in problems:
            self._note(problem)
        if self.repeated_id is not None and known.format.ports_declare:
            from irlint.inference.shared_values import ambiguous_outputs

            self.ambiguous = ambiguous_outputs(problems, known)
        is_faulted = any(problem.is_error and problem.node in known.faulted for problem in problems)
        if is_faulted and not known.format.declared_shapes_hold:
            from irlint.inference.doubtful import note_doubts

            note_doubts(known, self.own, self.doubts)
        #: The causes of problems that disappear with the declared type of a constant, by the id of the problem.
        self.causes_of_stale: Mapping[int, Problem] = {}
        if any(problem.fault.rule.family == DECLARED and problem.node is None for problem in problems):
            from irlint.inference.shared_values import causes_of_stale

            self.causes_of_stale = causes_of_stale(problems, known)

    def _note(self, problem: Problem) -> None:
        fault, node, graph = problem.fault, problem.node, problem.graph
        if fault.role == "undefined":
            self.undefined[graph] = self.undefined.get(graph, 0) + 1
        for name, _ in problem.sizes:
            self.fixed.setdefault(name, problem)
        domain = node.domain if fault.rule is MISSING_OPSET_IMPORT and node is not None else problem.domain
        if domain is not None:
            self.imports.setdefault((_importer(graph), domain), (problem, frozenset(problem.disputes)))
        if problem.is_error:
            self._note_error(problem)
        if node is not None:
            self._note_at_node(problem, node)

    def _note_error(self, problem: Problem) -> None:
        fault, node, graph = problem.fault, problem.node, problem.graph
        if _is_wiring(problem):
            self.wiring.setdefault(graph, problem)
        if fault.loses:
            body = dict(node.bodies).get(fault.attribute or "") if node is not None else None
            self.losses.setdefault(graph if body is None else body.path, []).append(problem)
        for value in problem.disputes:
            self.doubts.setdefault(value, problem)

    def _note_at_node(self, problem: Problem, node: Node) -> None:
        fault = problem.fault
        if problem.by_rule:
            self.first.setdefault((node, fault.rule.code, fault.attribute), problem)
        if fault.rule is INPUT_COUNT and problem.is_error and None in node.inputs:
            self.unconnected.setdefault(problem.graph, problem)
        if problem.by_rule and problem.is_error and fault.rule.family == TYPES:
            for value in dict.fromkeys(filter(None, node.inputs)):
                self.refused.setdefault(value, []).append(problem)
        if fault.rule.family == DECLARED:
            self._note_ranks(problem.value, problem, node)

    def _note_ranks(self, name: str | None, problem: Problem, node: Node) -> None:
        for value in node.outputs:
            if value is None or value.name != name:
                continue
            found, declared = tensor_shape(self.known.types.get(value)), tensor_shape(value.type)
            if found is not None and declared is not None and len(found) != len(declared):
                self.ranks.setdefault(value, problem)

    def cause(self, problem: Problem) -> Problem | None:
        """The direct cause of a problem, or None."""
        fault, node = problem.fault, problem.node
        if id(problem) in self.causes_of_stale:
            return self.causes_of_stale[id(problem)]
        if fault.role == "absence":
            return self._cause_of_absence(problem)
        if fault.role == "undefined":
            return self._cause_of_undefined_name(problem)
        if _is_wiring(problem):
            return self._cause_of_wiring(problem)
        if node is None:
            return None
        wrong_import, disputed = self.imports.get((_importer(problem.graph), node.domain), (None, frozenset()))
        if wrong_import is not None and _may_follow_from_import(problem, disputed):
            return wrong_import
        return self._cause_at_node(problem, node) or self._cause_at_operands(problem, node)

    # --- the graph ----------------------------------------------------------------------------------------------------

    def _cause_of_absence(self, problem: Problem) -> Problem | None:
        if problem.node is None:
            return next(
                (other for other in self.all if _is_wiring(other) or other.fault.rule is UNKNOWN_OPERATOR), None
            )
        others = (other for other in self.own[problem.node] if other.fault.role != "absence")
        return next(others, None) or self.wiring.get(problem.graph)

    def _cause_of_undefined_name(self, problem: Problem) -> Problem | None:
        """The first problem that loses values, if the losses explain all undefined names of the graph."""
        losses = self.losses.get(problem.graph, [])
        return losses[0] if sum(other.fault.loses for other in losses) >= self.undefined[problem.graph] else None

    def _cause_of_wiring(self, problem: Problem) -> Problem | None:
        """The problem that causes a warning at a port or edge, such as a missing input; or None."""
        if problem.is_error:
            return None
        if problem.fault.role == "edge":
            return self.unconnected.get(problem.graph) or self._error_in_port_map(problem)
        if problem.node is None or problem.graph in self.wiring or problem.fault.input is None:
            return None
        if self.input_counts is None:
            wrong = [other for other in reversed(self.all) if other.fault.rule is INPUT_COUNT]
            self.input_counts = {other.node: other for other in wrong}
        return self.input_counts.get(problem.node)

    def _error_in_port_map(self, problem: Problem) -> Problem | None:
        """The error in the port map of the node whose body has ``problem``, or None."""
        if not problem.graph:
            return None
        from irlint.ops.shared.port_maps import PORT_MAP_BROKEN

        if self.port_maps is None:
            self.port_maps = [other for other in self.all if other.fault.rule is PORT_MAP_BROKEN and other.is_error]
        return next((other for other in self.port_maps if problem.graph.startswith(_path_of_bodies(other))), None)

    # --- the node -----------------------------------------------------------------------------------------------------

    def _cause_at_node(self, problem: Problem, node: Node) -> Problem | None:
        fault, others = problem.fault, [other for other in self._examined(node) if other is not problem]
        if fault.rule in (UNKNOWN_ATTRIBUTE, MISSING_ATTRIBUTE, ATTRIBUTE_VALUE):
            return _cause_of_attribute(problem, others)
        if fault.rule is INPUT_COUNT:
            return self._cause_of_input_count(problem, node)
        if fault.rule is CUSTOM_OPERATOR:
            return next((other for other in others if other.fault.rule is MISSING_OPSET_IMPORT), None)
        attribute = next((other for other in others if other.fault.role == "attribute"), None)
        if attribute is not None and _may_follow_from_attribute(problem, attribute):
            return attribute
        if fault.rule.family == DECLARED:
            return self._cause_of_declaration(problem, node, others)
        return self._cause_before_rule(problem, node, others)

    def _cause_of_declaration(self, problem: Problem, node: Node, others: Sequence[Problem]) -> Problem | None:
        stored = next((other for other in others if other.disputes and other.fault.rule.family == WEIGHTS), None)
        return stored or self._fixed_size(problem, node) or self._refusing_user(problem, node)

    def _cause_before_rule(self, problem: Problem, node: Node, others: Sequence[Problem]) -> Problem | None:
        fault = problem.fault
        if not problem.by_rule:
            return None
        if fault.attribute is not None:
            first = self.first.get((node, fault.rule.code, fault.attribute), problem)
            if first is not problem:
                return first
        port = next((other for other in others if _is_wiring(other) and other.fault.input is None), None)
        if port is not None and (port.is_error or not problem.is_error):
            return port
        return self._error_in_bodies(problem, node)

    def _examined(self, node: Node) -> list[Problem]:
        """The problems of a node; the first two of each kind if they are more than MANY."""
        own = self.own[node]
        if len(own) <= MANY:
            return own
        if node not in self.two_of_each_kind:
            counts: dict[object, int] = {}
            kept = []
            for other in own:
                fault = other.fault
                kind = (
                    fault.rule.code,
                    fault.role,
                    other.is_error,
                    other.by_rule,
                    fault.input is None,
                    not other.disputes,
                )
                counts[kind] = count = counts.get(kind, 0) + 1
                if count <= 2:
                    kept.append(other)
            self.two_of_each_kind[node] = kept
        return self.two_of_each_kind[node]

    def _fixed_size(self, problem: Problem, node: Node) -> Problem | None:
        if not self.fixed or problem.sizes or problem.is_error:
            return None
        from irlint.inference.fixed_sizes import fixing

        return fixing(problem, node, self.fixed, self.known)

    def _refusing_user(self, problem: Problem, node: Node) -> Problem | None:
        """The problem of a node that refuses the inferred type of an output, but accepts its declared type; or None."""
        if problem.is_error:
            return None
        declared = {value: value.type for value in node.outputs if value is not None}
        for other in (other for value in declared for other in self.refused.get(value, ())):
            assert other.node is not None
            if outputs_for(self.known, other.node, self.known.types_of(other.node.inputs, declared)) is not None:
                return other
        return None

    def _cause_of_input_count(self, problem: Problem, node: Node) -> Problem | None:
        if None not in node.inputs:
            return None
        return self.wiring.get(problem.graph) or self.repeated_id

    def _error_in_bodies(self, problem: Problem, node: Node) -> Problem | None:
        """The error in a body that breaks the node's port map, or None."""
        if not node.bodies:
            return None
        from irlint.ops.shared.port_maps import PORT_MAP_BROKEN

        if problem.fault.rule is not PORT_MAP_BROKEN:
            return None
        path = _path_of_bodies(problem)
        return next(
            (
                other
                for other in self.all
                if other.is_error and other.graph.startswith(path) and other.fault.rule.family in (STRUCTURE, OPERATORS)
            ),
            None,
        )

    # --- the operands -------------------------------------------------------------------------------------------------

    def _cause_at_operands(self, problem: Problem, node: Node) -> Problem | None:
        if not problem.by_rule and problem.fault.rule.family != DECLARED:
            return None
        ambiguous = next((self.ambiguous[value] for value in node.inputs if value in self.ambiguous), None)
        lacks_input = problem.by_rule and None in node.inputs
        return (
            ambiguous
            or self._first_refusal(problem)
            or (self.wiring.get(problem.graph) if lacks_input else None)
            or self._wrong_rank(problem, node)
            or self._cause_of_doubt(problem, node)
        )

    def _first_refusal(self, problem: Problem) -> Problem | None:
        if problem.fault.rule.family != TYPES or problem.fault.input is None:
            return None
        from irlint.inference.shared_values import first_refused

        return first_refused(problem, self.refused, self.known)

    def _cause_of_doubt(self, problem: Problem, node: Node) -> Problem | None:
        """The problem that makes an input doubtful, if ``problem`` disappears with another type of the input."""
        doubt = next((self.doubts[value] for value in node.inputs if value in self.doubts), None)
        if doubt is None or (doubt.node is node and not set(doubt.disputes).intersection(node.inputs)):
            return None
        # The check of declarations finds the cause of a wrong declaration itself.
        if doubt.fault.rule.family == problem.fault.rule.family == DECLARED:
            return None
        return doubt if self._disappears_without_doubt(problem, node) else None

    def _wrong_rank(self, problem: Problem, node: Node) -> Problem | None:
        """The problem of an input's declared type, if ``problem`` disappears with this type of the input; else None."""
        if not problem.by_rule or not problem.is_error:
            return None
        for value in dict.fromkeys(value for value in node.inputs if value is not None and value in self.ranks):
            answer = asked_again(self.known, node, self.known.types_of(node.inputs, {value: value.type}))
            if answer is not None and answer.outputs is not None and not answer.faults:
                return self.ranks[value]
        return None

    def _disappears_without_doubt(self, problem: Problem, node: Node) -> bool:
        """Whether the problem disappears if the doubtful inputs get other types.

        If ``declared_shapes_hold``, these are the declared types; otherwise types with unknown sizes. After an error
        that leaves names undefined or ambiguous, element types are unknown, too.
        """
        from irlint.inference.doubtful import with_unknown_sizes

        doubted = [value for value in node.inputs if value is not None and value in self.doubts]
        if self.known.format.declared_shapes_hold:
            others = {value: value.type for value in doubted}
        else:
            # If the error is in another graph, even the rank is unknown: another branch may run without the error.
            others = {
                value: UNKNOWN
                if self.doubts[value].fault.loses
                else with_unknown_sizes(self.known.types.get(value), ranked=self.doubts[value].graph == problem.graph)
                for value in doubted
            }
        answer = asked_again(self.known, node, self.known.types_of(node.inputs, others))
        if answer is None:
            return False
        if problem.by_rule:
            return answer.outputs is not None and all(fault.rule is not problem.fault.rule for fault in answer.faults)
        pairs = zip(node.outputs, answer.outputs or ())
        return any(
            value is not None and value.name == problem.value and not contradicts(found, value)
            for value, found in pairs
        )


def _cause_of_attribute(problem: Problem, others: Sequence[Problem]) -> Problem | None:
    """The cause of an unknown, missing or invalid attribute, or None."""
    fault = problem.fault
    damage = next(filter(_is_wiring, others), None)
    if damage is not None:
        return damage
    unknown = [other for other in others if other.fault.rule is UNKNOWN_ATTRIBUTE]
    if fault.rule is MISSING_ATTRIBUTE:
        cause = next(filter(_is_misspelled, unknown), None) or next(filter(_has_too_many_inputs, others), None)
        if cause is not None:
            return cause
    foreign = [problem, *unknown] if fault.rule is UNKNOWN_ATTRIBUTE else unknown
    if problem.is_error or all(map(_is_misspelled, foreign)):
        return None
    return next((other for other in others if other.fault.rule is INPUT_COUNT and other.is_error), None)


def _is_misspelled(problem: Problem) -> bool:
    return problem.fault.role == "attribute"


def _has_too_many_inputs(problem: Problem) -> bool:
    fault, node = problem.fault, problem.node
    if fault.rule is not INPUT_COUNT or not problem.is_error or node is None or fault.input is None:
        return False
    return fault.input < len(node.inputs) and node.inputs[fault.input] is not None


def _may_follow_from_attribute(problem: Problem, attribute: Problem) -> bool:
    if problem.fault.rule.family == DECLARED:
        return True
    misspelled = attribute.fault.rule is UNKNOWN_ATTRIBUTE and problem.fault.rule.family == OPERATORS
    return problem.by_rule and (problem.is_error or misspelled)


def _may_follow_from_import(problem: Problem, disputed: Set[Value]) -> bool:
    """Whether the problem may follow from a wrong import, with the doubtful values ``disputed`` (empty if unknown)."""
    fault, node = problem.fault, problem.node
    if disputed and (node is None or disputed.isdisjoint(value for value in node.outputs if value is not None)):
        return False
    if fault.rule is MISSING_OPSET_IMPORT or (disputed and fault.rule.family in (TYPES, BROADCASTING)):
        return True
    return not problem.by_rule and fault.rule.family == OPERATORS and fault.rule is not UNKNOWN_OPERATOR


def _importer(path: str) -> str:
    """The path of the function that imports the opsets of a graph; "" for the model."""
    return path.partition("/")[0] if path.startswith("function:") else ""


def _is_wiring(problem: Problem) -> bool:
    return problem.fault.role in ("wiring", "edge")


def _path_of_bodies(problem: Problem) -> str:
    """The common prefix of the paths of all bodies of the node that has ``problem``."""
    node = problem.node
    return f"{problem.graph}/" * bool(problem.graph) + f"{node.name or node.id}/" if node is not None else ""
