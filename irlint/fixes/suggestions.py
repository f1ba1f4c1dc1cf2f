"""Suggestions: the edits that reports show for findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from itertools import islice

from irlint.binding.calls import ATTRIBUTE_KIND, INPUT_COUNT
from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.checks.hygiene import UNUSED_NODE
from irlint.checks.structure import CYCLE
from irlint.findings.edits import Edit, Fix
from irlint.findings.faults import OF_SIZES, Severity
from irlint.fixes.rechecking import Rechecked
from irlint.fixes.suggestion import Suggestion, as_data
from irlint.inference.origins import Makers
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Problem
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.fixes.flow import Flow
    from irlint.fixes.odd_shapes import OddShape, OddShapes
    from irlint.fixes.rechecking import Outcome
    from irlint.fixes.search import Search

#: Edits are tried for at most this many findings of a file.
FINDINGS = 3

#: At most this many equally good alternatives are suggested.
SUGGESTED = 2

#: At most this many different problems are examined. Problems for which no edits are known count.
ATTEMPTS = 12

#: The search for one problem ends after this many edits that do not pass the check of the file.
REFUSED = 3

#: How often a file is checked again for one finding.
FEWEST_CHECKS, MOST_CHECKS = 2, 200

#: Between these limits, all checks for one finding visit at most this many nodes.
NODES_CHECKED = 6_000

#: This many bytes count as one node.
BYTES = 2_000

#: The help beside another shape for a constant, whose numbers may still lie in the order of the old shape.
TRANSPOSED = "transpose its numbers, if only their order is wrong"

#: No corrections are derived from a document with more problems, or more bytes.
MOST_PROBLEMS, LONGEST = 1_000, 1 << 24


class Suggestions:
    """Searches for edits that fix the findings of one model."""

    def __init__(self, makers: Makers, problems: Sequence[Problem], rechecked: Rechecked) -> None:
        self.makers = makers
        self.known = makers.known
        self.problems = problems
        self.rechecked = rechecked
        self.searched = 0
        self._search: Search | None = None
        self._found: list[Suggestion] = []
        self._kinds: set[tuple[str, str, str | None]] = set()
        self._unfixed: list[Problem] = []
        self._document: Any = None
        self._flow: Flow | None = None
        self._odd_shapes: OddShapes | None = None

    def again(self) -> None:
        """Allows ``FINDINGS`` more searches."""
        self.searched = 0
        self._kinds.clear()

    @cached_property
    def _most_checks(self) -> int:
        """The number of times that the file may be checked again for one finding."""
        return min(max(FEWEST_CHECKS, NODES_CHECKED // max(self.cost, 1)), MOST_CHECKS)

    @cached_property
    def cost(self) -> int:
        """The cost of checking the file again, in nodes."""
        return self.known.model.nodes + len(self.problems) + self.rechecked.size // BYTES

    @property
    def _worst_first(self) -> Sequence[Problem]:
        return sorted(self.problems, key=lambda each: -each.fault.severity.rank)

    def rooted(self) -> list[Problem]:
        """The problems. Problems that the fix of another problem also fixes get that problem as ``because``."""
        causes: dict[int, Problem] = {}
        roots: set[int] = set()
        self._search_problems()
        for problem in self._worst_first:
            suggestion = None if id(problem) in causes else self.of(problem)
            if suggestion is None or len(suggestion.alternatives) > 1:
                continue
            if not suggestion.sure and not self._fixes_all_errors(suggestion):
                continue
            fixed = [each for each in suggestion.outcome.fixed if each.because is None and id(each) not in causes]
            index = suggestion.alternatives[0][0].index
            root = min(fixed, key=lambda each: (id(each) not in roots, not each.is_error, _is_lesser(each, index)))
            roots.add(id(root))
            following = (each for each in fixed if id(each) not in roots and (root.is_error or not each.is_error))
            causes.update({id(each): root for each in following})
        self._found = [replaced(each, sure=each.sure and not self._leaves_similar_error(each)) for each in self._found]
        causes.update(self._unused_nodes())
        if not causes:
            return list(self.problems)
        return [
            replaced(each, because=cause) if (cause := causes.get(id(each.because or each))) is not None else each
            for each in self.problems
        ]

    def _fixes_all_errors(self, found: Suggestion) -> bool:
        """Whether edits fix several errors and leave none."""
        fixed = {id(each) for each in found.outcome.fixed}
        errors = [each for each in self.problems if each.is_error and each.because is None]
        return len(errors) > 1 and all(id(each) in fixed for each in errors)

    def _unused_nodes(self) -> Iterator[tuple[int, Problem]]:
        """(id of the problem of an unused node, problem that connects the node's result)."""
        for problem in self.problems if self._found else ():
            made = {value.name for value in problem.node.outputs if value} if problem.node is not None else set()
            for found in self._found if problem.fault.rule is UNUSED_NODE else ():
                connected = {edit.value for edits in found.alternatives for edit in edits if edit.kind == "input"}
                if not connected.isdisjoint(made):
                    yield id(problem), found.problem

    def _search_problems(self) -> None:
        """Searches suggestions for all problems, and drops suggestions that fix less than others."""
        fixed: set[int] = set()
        for problem in self._worst_first:
            suggestion = None if id(problem) in fixed else self.of(problem)
            if suggestion is not None and len(suggestion.alternatives) == 1 and suggestion.sure:
                fixed.update(id(each) for each in suggestion.outcome.fixed)
        self._found = [each for each in self._found if not self._fixes_less(each)]

    def _fixes_less(self, found: Suggestion) -> bool:
        """Whether the only alternative for another problem fixes all that this suggestion fixes, and more.

        Also, whether that alternative connects the value that this suggestion connects to an inserted node.
        """
        fixed = {id(each) for each in found.outcome.fixed}
        others = [each for each in self._found if len(each.alternatives) == 1 and each is not found]
        connected = {
            edit.value
            for each in others
            for edit in each.alternatives[0]
            if each.fix is not None and edit.kind == "input"
        }
        inserted = {name for edits in found.alternatives for edit in edits for name in edit.inputs}
        if found.fix is None and not connected.isdisjoint(inserted):
            return True
        likelier = (each for each in others if each.sure or found.fix is None)
        return any(fixed < {id(each) for each in other.outcome.fixed} for other in likelier)

    def _leaves_similar_error(self, found: Suggestion) -> bool:
        """Whether an error of the same rule and operator remains without a fix. Probably the fix misses their cause."""
        fixed = {id(each) for each in found.outcome.fixed}
        unfixed = (each.problem for each in self._found if each.fix is None and each.problem.is_error)
        return any(_kind(each) == _kind(found.problem) and id(each) not in fixed for each in (*self._unfixed, *unfixed))

    def of(self, problem: Problem) -> Suggestion | None:
        """The suggestion for a problem; None if none is found, a limit is reached, or an equal problem was searched."""
        if problem.because is not None or problem.fault.severity is Severity.NOTE:
            return None
        for found in self._found:
            if any(each is problem for each in found.outcome.fixed):
                help = found.help and (problem.fault.help or found.help)
                return found if found.problem is problem else replaced(found, problem=problem, help=help)
        kind = problem.fault.rule.code, problem.fault.message, problem.node.op if problem.node is not None else None
        if self.searched >= FINDINGS or len(self._kinds) >= ATTEMPTS or kind in self._kinds:
            return None
        self._kinds.add(kind)
        from irlint.fixes.corrections import may_be_corrected

        suggestion = self._from_document(problem)
        self.searched += suggestion is not None
        if suggestion is None and not may_be_corrected(problem):
            suggestion = self._searched(problem)
        suggestion = self._corrected(problem) if suggestion is None else self._with_other_declaration(suggestion)
        if suggestion is None:
            self._unfixed += [problem] if problem.is_error else []
            return None
        fix = suggestion.fix
        if fix is not None and not self._is_confirmed(fix, problem):
            if self.cost <= NODES_CHECKED and self.rechecked.stays_at_node(fix.edits, problem):
                self._unfixed += [problem] if problem.is_error else []
                return None
            suggestion = replaced(suggestion, sure=False)
        self._found.append(suggestion)
        return suggestion

    def may_be_of_weights(self, problem: Problem) -> bool:
        """Whether weights of another shape may be the cause of an error (see ``Suggestion.may_be_of_weights``)."""
        rule = problem.fault.rule
        if not problem.is_error or problem.because is not None or problem.node is None or rule is TYPE_CONTRADICTED:
            return False
        found = self.of(problem) if rule.family in OF_SIZES else None
        return rule.family in OF_SIZES and (found is None or found.may_be_of_weights)

    def odd_shapes(self, problem: Problem) -> list[OddShape]:
        """The constants whose shapes cause the problem, and differ from those of their twins in other blocks.

        [] if a suggestion is sure, if the model is large, or if no number in the node's name can be that of a block.
        """
        if problem.node is None or not any(map(str.isdigit, problem.node.name[:-1])):
            return []
        found, graph = self.of(problem), self.known.model.graph
        is_sure = found is not None and found.sure and len(found.alternatives) == 1 and not found.help
        if is_sure or graph is None or self.cost > NODES_CHECKED or problem.because is not None:
            return []
        if self._odd_shapes is None:
            from irlint.fixes.odd_shapes import OddShapes

            self._odd_shapes = OddShapes(self.makers, graph, self.problems)
        return self._odd_shapes.causing(problem)

    def _is_confirmed(self, fix: Fix, problem: Problem) -> bool:
        """Whether the file can be written with a fix and, if it is small enough to check, has no new finding.

        All errors that follow from the problem must disappear.
        """
        if self.cost > NODES_CHECKED:
            return self.rechecked.is_writable(fix.edits)
        outcome = self.rechecked.outcome(fix.edits, problem)
        following = (each for each in self.problems if each.because is problem and each.is_error)
        return outcome is not None and all(any(each is one for one in outcome.fixed) for each in following)

    def _from_document(self, problem: Problem) -> Suggestion | None:
        """The correction that the rest of the document implies: by the first group of edits that fix an error."""
        form = self.known.model.format
        if form is None or not form.intended or len(self.problems) > MOST_PROBLEMS or self.rechecked.size > LONGEST:
            return None
        if self._document is None:
            self._document = import_module(f"irlint.fixes.{form.intended}").Intended(
                self.known, self.rechecked.document
            )
        left = self._most_checks
        for stage in self._document.stages(problem):
            found: list[tuple[tuple[Edit, ...], Outcome]] = []
            for edits in islice(stage, left):
                left -= 1
                outcome = self.rechecked.outcome(edits, problem)
                if outcome is None or outcome.new_warnings:
                    continue
                if problem.by_rule or any(each.is_error for each in outcome.fixed):
                    found.append((edits, outcome))
            found = [each for each in found if not self._breaks_flow(each[0])]
            if found:
                best = _best(problem, found)
                is_unsure = best is not None and any(edit.order for edit in best.alternatives[0])
                return replaced(best, help=TRANSPOSED) if best is not None and is_unsure else best
        return None

    def _breaks_flow(self, edits: Sequence[Edit]) -> bool:
        graph = self.known.model.graph
        if not any(edit.kind == "input" or edit.inputs for edit in edits):
            return False
        if self._flow is None and graph is not None:
            from irlint.fixes.flow import Flow

            self._flow = Flow(self.known, graph)
        return self._flow is not None and self._flow.is_broken_by(edits)

    def _corrected(self, problem: Problem) -> Suggestion | None:
        """The correction of a misspelled name, a wrong opset import, or a cycle."""
        from irlint.fixes.corrections import corrections
        from irlint.fixes.names import is_ambiguous

        def fixes(edits: tuple[Edit, ...]) -> bool:
            return self.rechecked.outcome(edits, problem) is not None

        found: list[tuple[tuple[Edit, ...], Outcome]] = []
        values = set()
        for at, edits in enumerate(islice(corrections(problem, self.known), self._most_checks)):
            self.searched += not at
            values.add(edits[0].value)
            outcome = self.rechecked.outcome(edits, problem)
            if outcome is None or self._breaks_flow(edits):
                continue
            if found and edits[0].of == "shape" and not self._fixes_others(outcome):
                continue
            if edits[0].kind == "opset" and found and len(outcome.fixed) <= len(found[0][1].fixed):
                continue
            if edits[0].kind == "opset":
                found.clear()
            found.append((edits, outcome))
            chosen = edits[0].kind in ("opset", "rename") or problem.fault.rule is ATTRIBUTE_KIND
            chosen = chosen or (problem.fault.rule is INPUT_COUNT and bool(edits[0].called))
            if chosen and not self._leaves_consequence(problem, outcome):
                break
        best = _best(problem, found)
        of_several = problem.fault.rule is CYCLE and len(values) > 1 and not (found and found[0][0][0].called)
        is_unsure = best is not None and (
            is_ambiguous(
                problem, best.alternatives[0], lambda edits: self.rechecked.outcome(edits, problem) is not None
            )
            or self._shares(best)
        )
        best = replaced(best, sure=False) if best is not None and (of_several or is_unsure) else best
        if best is None or problem.fault.rule not in (TYPE_CONTRADICTED, SHAPE_CONTRADICTED):
            return best
        from irlint.fixes.redeclared import cast_as_at_other_outputs, or_transposed

        if problem.fault.rule is SHAPE_CONTRADICTED:
            return replaced(best, help=or_transposed(best.alternatives[0]))

        return replaced(best, help=cast_as_at_other_outputs(problem, self.known))

    def _fixes_others(self, outcome: Outcome) -> bool:
        """Whether problems disappear that are not about declarations inside the graph."""
        graph = self.known.model.graph
        outputs = {value.name for value in graph.outputs} if graph is not None else set()
        return any(
            each.is_error or each.fault.rule is not SHAPE_CONTRADICTED or each.value in outputs
            for each in outcome.fixed
        )

    def _shares(self, found: Suggestion) -> bool:
        """Whether the fix only connects a value that other nodes also use, and no other block confirms this."""
        (edit, *more), graph = found.alternatives[0], self.known.model.graph
        if graph is None or more or edit.kind != "input" or edit.called or found.problem.fault.rule is not INPUT_COUNT:
            return False
        return any(value is not None and value.name == edit.value for node in graph.nodes for value in node.inputs)

    def _leaves_consequence(self, problem: Problem, outcome: Outcome) -> bool:
        """Whether edits with this outcome leave a problem that follows from ``problem``."""
        fixed = {id(each) for each in outcome.fixed}
        return any(each.because is problem and id(each) not in fixed for each in self.problems)

    def _with_other_declaration(self, found: Suggestion) -> Suggestion:
        """The suggestion. If a declaration may be wrong instead, correcting it is an alternative."""
        is_inserted = (found.alternatives[0][0].kind, found.alternatives[0][0].of) == ("insert", "node")
        wiring = self._document.wiring if is_inserted and self._document is not None else None
        if wiring is not None and not wiring.is_layer_missing:
            from irlint.fixes.redeclared import instead_of_conversion

            other = instead_of_conversion(found.alternatives[0], self.known)
            fits = bool(other) and self.rechecked.outcome(other, found.problem) is not None
            return replaced(found, alternatives=(other, *found.alternatives)[:SUGGESTED]) if fits else found
        if found.problem.fault.rule is not TYPE_CONTRADICTED or len(found.outcome.fixed) > 1:
            return found
        from irlint.fixes.redeclared import instead_of_type, may_not_convert

        others = tuple(instead_of_type(found.alternatives[0], found.problem, self.known))
        if may_not_convert(found.problem, self.known):
            return replaced(found, alternatives=(*others, *found.alternatives))
        return replaced(found, alternatives=(*found.alternatives, *others))

    def _searched(self, problem: Problem) -> Suggestion | None:
        graph = self.known.model.graph
        if graph is None or problem.node is None:
            return None
        from irlint.fixes.fixable import may_be_fixed, may_be_fixed_in_body
        from irlint.fixes.search import Search

        if not may_be_fixed(problem, self.known) and not may_be_fixed_in_body(problem):
            return None
        self.searched += 1
        if problem.graph and self.cost <= NODES_CHECKED:
            from irlint.fixes.bodies import found_in_body

            inside = found_in_body(problem, self.known, self.problems, self.rechecked)
            if inside is not None:
                return Suggestion(problem, inside.alternatives, inside.outcome, "", inside.sure, inside.written)
        if self._search is None:
            rechecked = self.rechecked if self.cost <= NODES_CHECKED else None
            self._search = Search(self.known, graph, self.makers, self.problems, rechecked)
        refused: list[tuple[Edit, ...]] = []
        first: Suggestion | None = None
        while len(refused) < REFUSED and (found := self._search.best(problem, refused)) is not None:
            is_in_body = found.outcome.in_body and self.rechecked.is_writable(found.alternatives[0])
            if is_in_body and self.rechecked.outcome(found.alternatives[0], problem) is None:
                refused += found.alternatives
                continue
            help = problem.fault.help if found.or_help else ""
            may_name = not self.known.format.ports_declare
            alternatives, others = (
                tuple(tuple(as_data(each, graph, may_name=may_name) for each in edits) for edits in several)
                for several in (found.alternatives, found.elsewhere)
            )
            suggestion = Suggestion(
                problem, alternatives, found.outcome, help, found.sure, found.written, found.supported, others
            )
            if suggestion.fix is None:
                return suggestion if first is None else first
            if self._is_confirmed(suggestion.fix, problem):
                return replaced(suggestion, sure=all(map(self.rechecked.is_writable, refused)))
            if not self.rechecked.is_writable(suggestion.fix.edits):
                return replaced(suggestion, sure=False)
            first = suggestion if first is None else first
            refused += found.alternatives
        return first


def _kind(problem: Problem) -> tuple[str, str | None]:
    return problem.fault.rule.code, problem.node.op if problem.node is not None else None


def _is_lesser(problem: Problem, index: int | None) -> tuple[bool, bool]:
    """Whether a safe fix would hide a problem, and whether it is not at the node with this index."""
    return problem.fault.rule.fixable, _index(problem) != index


def _index(problem: Problem) -> int | None:
    """The index of the node of a problem in the main graph; None in other graphs."""
    return problem.node.index if problem.node is not None and not problem.graph else None


def _best(problem: Problem, found: Sequence[tuple[tuple[Edit, ...], Outcome]]) -> Suggestion | None:
    """The edits that fix most problems, cause fewest problems, and change fewest nodes; None if too many are equal."""
    orders = [
        (outcome.new_warnings - len(outcome.fixed), len({each.index for each in edits})) for edits, outcome in found
    ]
    several = [each for each, order in zip(found, orders) if order == min(orders)]
    best = list(
        {tuple(replaced(each, called="") for each in edits): (edits, outcome) for edits, outcome in several}.values()
    )
    if not 0 < len(best) <= SUGGESTED:
        return None
    return Suggestion(problem, tuple(edits for edits, _ in best), best[0][1])
