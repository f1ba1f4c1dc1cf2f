"""Searches the edits that fix a problem: makes candidates, tries them, and keeps those that fix most problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.checks.frozen import NO_SIZES_FIT
from irlint.checks.structure import UNDEFINED_NAME
from irlint.dims import Expr
from irlint.findings.edits import Edit
from irlint.findings.faults import ELEMENT_TYPES
from irlint.fixes import lost_nodes, objections
from irlint.fixes.arrangements import (
    rearranged,
    transposed_as_declared,
    transposed_before,
    transposed_constants,
    with_other_lists,
)
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.case import Case
from irlint.fixes.cautions import is_only_shown, is_plausible_redeclaration, is_unsure, may_lack_node
from irlint.fixes.clashes import Clashes
from irlint.fixes.computed import computed, nodes_that_compute, read_on_other_axis, with_lost_part
from irlint.fixes.conditions import allows_many_sizes
from irlint.fixes.disconnected import disconnects
from irlint.fixes.editor import Editor
from irlint.fixes.elsewhere import changes_rank, elsewhere, is_doubted, is_supported, or_help
from irlint.fixes.fixable import may_be_fixed
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.lost_results import inserted_as_declared
from irlint.fixes.new_axes import without_new_axes
from irlint.fixes.odd_ones import as_all_siblings, without_odd_transpose
from irlint.fixes.other_values import EVIDENT, LAST_RESORT, ONLY_SUGGESTED, POSSIBLE, PROBABLE
from irlint.fixes.parts import without_unread_parts
from irlint.fixes.quantization import as_other_users, as_quantized_everywhere
from irlint.fixes.ranking import (
    Tried,
    different,
    groups,
    is_outranked,
    is_unlike_siblings,
    keeping_most_values,
    keeps_order,
    most_shown,
    of_best_rank,
    one_of_equivalent,
    padding_half_windows,
    proves_little,
    shared,
    unambiguous,
    using_most_unused_values,
    with_declared_results,
    with_fewest_requirements,
    without_second_casts,
)
from irlint.fixes.ratios import as_sound_siblings
from irlint.fixes.rechecking import Outcome, Rechecked
from irlint.fixes.relations import connected_as_joined
from irlint.fixes.retyped import as_output_is_declared, nodes_that_give_types, retyped
from irlint.fixes.rewired import (
    as_several_siblings,
    bypassed,
    earlier_of_other_rank,
    exchanged_weights,
    moved_to_other_input,
    reshaped_weights,
    rewired,
    with_other_output,
    with_other_sizes,
    with_other_trip_count,
    without_repeated,
)
from irlint.fixes.rivals import with_lost_strides, with_rivals, with_strides, without_lists_of_inserted
from irlint.fixes.scales import fitting_scales
from irlint.fixes.sister_inputs import (
    declared_as_several_inputs,
    declared_as_similar_input,
    declared_in_order,
    with_batch_axis,
    with_other_rank,
)
from irlint.fixes.sizes import SizeTrials, resized, with_other_axes
from irlint.fixes.states import of_other_sizes
from irlint.fixes.trials import Trials, limits_sizes
from irlint.fixes.variadic import with_lost_input
from irlint.inference.consequences import DECLARED
from irlint.inference.known import Known
from irlint.inference.origins import Makers, inputs_of, shape_of
from irlint.model import Graph, Node, Problem
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.ops.shared.filters import BIAS_MISMATCH, CHANNELS_MISMATCH
from irlint.records import record, replaced

#: The shape functions are asked at most this many times for one file.
QUESTIONS = 4000

#: At most this many candidates are tried in each stage of the search for one problem.
CANDIDATES = 240

#: For this many nodes before the faulty one, all probable candidates are tried. For the others, only evident ones are.
NODES = 8

#: Weights are exchanged with weights of other nodes: at the faulty node, and at this many nodes before it.
EXCHANGED = 2

#: ``Candidate.evidence`` of a wide candidate: it makes the change of the previous candidate in several places.
EVERYWHERE = -1

#: A wide candidate has at most this many edits for each problem that it fixes.
PER_FAULT = 4


@record
class Found:
    """Alternative edits that fix a problem equally well."""

    alternatives: tuple[tuple[Edit, ...], ...]
    #: The outcome of the first alternative, with the problems that all alternatives fix.
    outcome: Outcome
    #: Whether no caution applies.
    sure: bool
    #: Whether the edits may be written to the file (see ``is_only_shown``).
    written: bool
    #: Whether the general help of the rule is printed as well: it states another cause that is as likely.
    or_help: bool
    #: Whether the rest of the model supports the edits.
    supported: bool = True
    #: Less likely edits of other places that fix as much.
    elsewhere: tuple[tuple[Edit, ...], ...] = ()


class Search:
    """Searches for edits that fix problems of one graph. Problems in its bodies need ``rechecked``."""

    def __init__(
        self, known: Known, graph: Graph, makers: Makers, problems: Sequence[Problem], rechecked: Rechecked | None
    ) -> None:
        self.known = known
        self.graph = graph
        self.makers = makers
        self.clashes = Clashes(known, makers)
        self.problems = problems
        self.trials = Trials(
            makers, graph, problems, QUESTIONS, allows_many_sizes, may_reach_bodies=rechecked is not None
        )
        self.size_trials = SizeTrials(known, rechecked) if rechecked is not None else None
        self.editor = Editor(known, graph, makers, self.trials.users)
        self.inputs = Inputs(self.editor)
        #: The candidates of the last search that only a comparison with similar nodes excludes.
        self.excluded_by_similarity: list[Tried] = []

    @cached_property
    def _faulty(self) -> set[Node]:
        return lost_nodes.faulty(self.trials)

    def best(self, problem: Problem, refused: Collection[tuple[Edit, ...]] = ()) -> Found | None:
        """The best edits except the ``refused`` ones; None if none or too many fix the problem, or by an objection."""
        trials = self.size_trials if problem.graph else self.trials
        best, rivals = self._best(problem, trials, refused) if trials is not None else ([], [])
        if not best or objections.is_rejected(case := self._case(best[0], problem, rivals)):
            return None
        alternatives = different(tried.candidate.edits for tried in best)
        if len(alternatives) > 1 and any(tried.outcome.in_body for tried in best):
            return None
        case = replaced(case, unused_value_fixes=trials is not None and self._unused_value_fixes(problem, trials))
        help = or_help(problem, case.candidate, self.inputs, self.clashes)
        help = help or (may_lack_node(case) and len(alternatives) == 1)
        others = self._elsewhere(problem, best, rivals)
        sure = not is_unsure(case) and not is_doubted(best, others)
        return Found(alternatives, shared(best), sure, not is_only_shown(case), help, is_supported(best), others)

    def _elsewhere(self, problem: Problem, best: Sequence[Tried], every: list[Tried]) -> tuple[tuple[Edit, ...], ...]:
        if not problem.is_error or is_supported(best) or problem.fault.rule.family == ELEMENT_TYPES:
            return ()
        if not problem.graph and not any(tried.candidate.resizes_input for tried in every):
            sizes = resized(problem, self.clashes.of(problem), self.editor, self.trials)
            ranks = earlier_of_other_rank(problem.node, self.inputs) if problem.node and changes_rank(best) else ()
            every = [*every, *self._tried(chain(sizes, ranks), problem, self.trials)]
        return elsewhere(best, every, self.inputs, lambda tried: objections.may_be_named(self._case(tried, problem)))

    def _case(self, tried: Tried, problem: Problem, rivals: Sequence[Tried] = ()) -> Case:
        others = tuple(each.candidate for each in rivals if each.order[0] <= tried.order[0] and each is not tried)
        outranked = bool(rivals) and is_outranked(tried, self.excluded_by_similarity, self.inputs)
        return Case(tried.candidate, problem, tried.outcome, self.problems, self.inputs, others, outranked)

    def _unused_value_fixes(self, problem: Problem, trials: Trials | SizeTrials) -> bool:
        node = problem.node
        if node is None or not self.inputs.may_take_unused(node):
            return False
        several = self.inputs.with_unused([node], {}, any_rank=True)
        return any(trials.outcome(candidate.edits, problem) is not None for candidate in several)

    def _best(
        self, problem: Problem, trials: Trials | SizeTrials, refused: Collection[tuple[Edit, ...]]
    ) -> tuple[list[Tried], list[Tried]]:
        """(best candidates, all candidates that fix the problem). The first list is [] if too many are equally good."""
        best, every = list[Tried](), list[Tried]()
        self.excluded_by_similarity = []
        for stage in self._stages(problem, trials):
            tried = list(self._tried(stage, problem, trials))
            if len(tried) > 1:
                tried = unambiguous(with_declared_results(tried, problem, self.trials), problem)
            tried = [each for each in tried if each.candidate.edits not in refused]
            self.excluded_by_similarity += [
                each for each in tried if objections.is_excluded_by_similarity(self._case(each, problem))
            ]
            tried = [each for each in tried if not objections.is_excluded(self._case(each, problem))]
            if not tried:
                continue
            every += tried
            best = of_best_rank((*best, *tried))
            if self._is_convincing(best, problem):
                break
        best = self._narrowed(with_lost_strides(best, self.excluded_by_similarity), problem)
        if best and best[0].order[1] > EVIDENT and all(edit.kind == "insert" for edit in best[0].candidate.edits):
            declared = (each for each in every if is_plausible_redeclaration(each.candidate, self.inputs))
            best += [each for each in declared if each.order[0] == best[0].order[0] and each not in best]
        if len(groups(best)) == 1:
            best = with_rivals(best, every, self.inputs)
        limit = most_shown(best)
        if len(groups(best)) > limit and best[0].order[1] > EVIDENT:
            best = [each for each in best if each.candidate.node is best[0].candidate.node]
        if len(groups(best)) > limit and best[0].order[1] > EVIDENT:
            return [], every
        return with_strides([each for group in groups(best)[:limit] for each in group], every), every

    def _is_convincing(self, best: Sequence[Tried], problem: Problem) -> bool:
        """Whether later stages need not be tried."""
        candidates = [tried.candidate for tried in best]
        if len(groups(best)) != 1 or best[0].order[1] > PROBABLE or all(each.adds_attribute for each in candidates):
            return False
        strong = [each for each in candidates if each.grade == EVIDENT or not (each.swaps and limits_sizes(problem))]
        changes = any(each.changes_node or each.grade == EVIDENT for each in strong)
        return changes and not best[0].outcome.divides_batch and self._fixes_all(problem, best[0].outcome.fixed)

    def _narrowed(self, best: list[Tried], problem: Problem) -> list[Tried]:
        """The best candidates that remain after the tie-breakers."""
        tie_breakers: tuple[Callable[[list[Tried]], list[Tried]], ...] = (
            lambda several: using_most_unused_values(
                without_lists_of_inserted(several, self.known) or several, self.inputs
            ),
            lambda several: without_second_casts(one_of_equivalent(several, problem), self.inputs),
            lambda several: [each for each in several if not disconnects(self._case(each, problem))],
            lambda several: [each for each in several if keeps_order(each, self.inputs)],
            lambda several: [each for each in several if not is_unlike_siblings(each, self.inputs)],
            lambda several: keeping_most_values(several, self.inputs),
            lambda several: padding_half_windows(several, self.inputs),
            lambda several: with_fewest_requirements(several, problem, self.trials),
            lambda several: [
                each for each in several if not objections.differs_from_siblings(self._case(each, problem))
            ],
        )
        for narrowed in tie_breakers:
            if len(groups(best)) > 1:
                best = narrowed(best) or best
        return best

    def _stages(self, problem: Problem, trials: Trials | SizeTrials) -> Iterator[Iterator[Candidate]]:
        """The candidates in groups that are tried one after another. Groups that the model supports most come first."""
        node, inputs, editor, limits = problem.node, self.inputs, self.editor, limits_sizes(problem)
        assert node is not None
        is_error = problem.is_error
        if problem.graph:
            declared = resized(problem, self.clashes.of(problem), editor, trials)
            yield chain(with_other_trip_count(problem, inputs), of_other_sizes(problem, editor), declared)
            return
        if problem.fault.rule is UNDEFINED_NAME:
            yield from self._stages_for_undefined(problem, node)
            return
        if problem.fault.rule.family == ELEMENT_TYPES:
            yield from self._stages_for_types(problem, node)
            return
        yield editor.constants.distinct.candidates(node)
        yield chain(inputs.blocks.with_numbers_of_twins_near(node), inputs.connected_as_in_other_blocks(node))
        clashing = self.clashes.of(problem)
        nodes = self.clashes.nodes_to_change(node, clashing)
        computing = dict.fromkeys(each for user in (node, *nodes) for each in nodes_that_compute(user, editor))
        connected = dict.fromkeys((*nodes, *computing))
        yield (replaced(found, node=each) for each in connected for found in inputs.blocks.connected_as_twins(each))
        counts = as_sound_siblings(node, problem, self.problems, editor)
        yield chain(counts, as_all_siblings(node, editor), without_odd_transpose(nodes, inputs))
        near = (node, *nodes[:NODES])
        lost = (lost_nodes.inserted_as_at_siblings(each, inputs) for each in near)
        yield chain(inserted_as_declared((node, *nodes), inputs), *lost)
        yield chain(inputs.surroundings.candidates_near(node, connected), connected_as_joined(near, inputs))
        yield chain.from_iterable(exchanged_weights(each, inputs) for each in near[: 1 + EXCHANGED] if is_error)
        yield chain(reshaped_weights(node, inputs), without_unread_parts(node, editor))
        yield with_lost_input([node, *nodes], inputs) if is_error else iter(())
        unused = inputs.with_only_unused([node, *nodes]), inputs.with_unused_of_other_type(node)
        yield chain(*unused, inputs.with_unused_inserted(node), lost_nodes.with_unused_list(node, inputs))
        yield chain.from_iterable(as_other_users(each, editor) for each in near)
        yield lost_nodes.joined_with_unused([node, *nodes], inputs) if is_error else iter(())
        joined = [node, *nodes, *computing]
        yield chain(without_repeated(joined, inputs), *(with_lost_part(each, inputs) for each in joined))
        yield chain(declared_in_order(node, editor), declared_as_several_inputs(node, editor))
        yield declared_as_similar_input(node, editor) if is_error or limits else iter(())
        targets = editor.constants.with_copied_sizes(node), editor.constants.with_declared_sizes(node)
        yield chain(with_other_rank(problem, node, editor), *targets)
        is_of_output = problem.fault.rule.family == DECLARED and not limits
        if problem.fault.rule.family == DECLARED:
            yield editor.constants.reshaped_as_declared(node)
            without = bypassed(node, (), inputs) if is_of_output else ()
            yield chain(as_output_is_declared(problem, node, inputs), without)
            yield transposed_as_declared(problem, node, editor)
        declared_types = [each.type for each in node.outputs if each is not None and each.name == problem.value]
        yield chain(editor.candidates_at(node, declared_types if is_of_output else ()), with_other_lists(node, editor))
        yield chain(computed(node, editor), editor.constants.with_divided_axis(node))
        if problem.fault.rule is EQUAL_SIZES:
            yield chain.from_iterable(read_on_other_axis(each, editor) for each in near)
        if not is_of_output:
            redeclared = with_other_axes(problem, node, editor) if problem.fault.rule is not AXIS_OUT_OF_RANGE else ()
            without = chain(bypassed(node, (), inputs), without_new_axes(node, editor)) if is_error else ()
            yield chain(rearranged(problem, node, editor), redeclared, without)
            yield with_batch_axis(node, editor) if is_error else iter(())
        before = transposed_before(node, nodes, editor) if is_error else ()
        without = bypassed(node, nodes, inputs) if is_error or limits else ()
        yield chain(self._at_others(nodes, node, editor), without, before)
        of_rank = with_other_output([node, *nodes], inputs) if is_error or limits else ()
        yield chain(lost_nodes.with_lost_pooling([node, *nodes], inputs), of_rank)
        strided = lost_nodes.with_lost_strides(nodes, inputs) if is_error else ()
        yield chain(inputs.with_unused([node, *nodes], {}), resized(problem, clashing, editor, trials), strided)
        constants = dict.fromkeys(end for value, axis in clashing for end in self.clashes.constants_of(value, axis))
        shapes = [shape_of(value, self.known) for value in (*dict(clashing), *node.inputs, *node.outputs)]
        sizes = dict.fromkeys(dim for shape in shapes for dim in shape or () if isinstance(dim, int) and dim > 1)
        if problem.fault.rule in (CHANNELS_MISMATCH, BIAS_MISMATCH) and node.inputs[1:] and node.inputs[1]:
            rank = len(shape_of(node.inputs[1], self.known) or ())
            constants.update({(node.inputs[1], axis): None for axis in range(min(rank, 2))})
        may_resize_weights = problem.fault.rule in (CHANNELS_MISMATCH, BIAS_MISMATCH, BROADCAST_MISMATCH)
        yield transposed_constants(constants, node, editor) if is_error else iter(())
        yield editor.constants.resized(constants, sizes, weights=may_resize_weights)
        joins = [each for each in (node, *nodes) if sum(map(inputs.is_made, each.inputs)) > 1]
        if is_error:
            yield as_several_siblings(node, inputs)
            yield with_other_sizes([node, *nodes, *computing], inputs, same_rank=False)
            yield rewired(list(dict.fromkeys((node, *joins))), inputs)
        elif limits and all(isinstance((shape_of(each, self.known) or ())[axis], Expr) for each, axis in clashing):
            yield chain(with_other_sizes([node, *nodes, *computing], inputs), rewired(joins, inputs))
        for each in self.trials.unsatisfiable_nodes if problem.fault.rule is NO_SIZES_FIT else ():
            axes = range(len(shape_of(each.inputs[0], self.known) or ()))
            places = [(value, axis) for value in each.inputs[:1] if value is not None for axis in axes]
            farther = [other for other in self.clashes.all_nodes_before(each, places) if other not in nodes]
            yield self._at_others(farther, each, editor)
        if limits:
            shared = dict.fromkeys(each for place in clashing for each in self.clashes.nodes_before(node, [place]))
            others = self._at_others([each for each in shared if each not in nodes], node, editor)
            yield (replaced(candidate, grade=LAST_RESORT) for candidate in others)

    def _stages_for_undefined(self, problem: Problem, node: Node) -> Iterator[Iterator[Candidate]]:
        undefined = [value for value in self.graph.undefined if problem.value in (None, value.name)]
        port = next((at for at, value in enumerate(node.inputs) if value in undefined), None)
        lost = lost_nodes.with_unused_inputs(node, port, self.inputs) if port is not None else ()
        yield (Candidate(edits, EVIDENT, evidence=1) for edits in lost)
        yield self.inputs.with_unused([node], {node: port}) if port is not None else iter(())
        yield as_other_users(node, self.editor)

    def _stages_for_types(self, problem: Problem, node: Node) -> Iterator[Iterator[Candidate]]:
        inputs, makers = self.inputs, nodes_that_give_types(node, self.inputs)
        yield chain(inputs.blocks.with_numbers_of_twins_near(node), inputs.connected_as_in_other_blocks(node))
        yield (replaced(each, node=maker) for maker in makers for each in inputs.blocks.connected_as_twins(maker))
        yield (replaced(each, node=maker) for maker in makers for each in inputs.with_unused_of_other_type(maker))
        yield lost_nodes.inserted_as_at_siblings(node, self.inputs)
        others = chain(as_quantized_everywhere(node, self._faulty, self.editor), as_other_users(node, self.editor))
        yield chain(inputs.with_unused_of_other_type(node), inputs.with_unused_inserted(node), others)
        yield (candidate for candidate in self.editor.candidates_at(node) if candidate.swaps)
        without = bypassed(node, (), inputs) if problem.is_error else ()
        yield chain(moved_to_other_input(node, inputs), without, retyped(problem, node, inputs))

    def _tried(self, candidates: Iterable[Candidate], problem: Problem, trials: Trials | SizeTrials) -> Iterator[Tried]:
        narrow: Tried | None = None
        for at, candidate in enumerate(self._widened(candidates, problem)):
            if at >= CANDIDATES or trials.questions_left <= 0:
                break
            is_wide = candidate.evidence == EVERYWHERE
            narrow = narrow if is_wide else None
            distinct = self.editor.constants.distinct
            repeats = candidate.evidence <= 0 and bool(distinct.stored) and distinct.repeats(candidate.edits)
            outcome = trials.outcome(candidate.edits, problem) if not repeats else None
            if outcome is None or (is_wide and len(candidate.edits) > PER_FAULT * max(1, len(outcome.fixed))):
                continue
            if candidate.redeclares and set(outcome.stale) & set(self.graph.outputs):
                continue
            if candidate.grade < POSSIBLE and proves_little(problem, outcome, self.known):
                candidate = replaced(candidate, grade=POSSIBLE, sure=candidate.sure and problem.is_error)
            if distinct.pair and distinct.separates(candidate.edits):
                candidate = replaced(candidate, grade=EVIDENT, evidence=max(0, candidate.evidence) + SEVERAL)
            if fitting := fitting_scales(candidate.edits, outcome.types, self.inputs):
                candidate = replaced(candidate, evidence=max(0, candidate.evidence) + fitting)
            drawbacks = len(outcome.stale) + outcome.keeps_limit + (candidate.grade == ONLY_SUGGESTED)
            drawbacks += outcome.divides_batch
            order = drawbacks - len(outcome.fixed), candidate.grade, len(outcome.stale), -candidate.evidence
            if narrow is not None and is_wide and outcome.new_divisions < narrow.outcome.new_divisions:
                before, lost = narrow.order, narrow.outcome.divides_batch - outcome.divides_batch
                order = before[0] - lost, before[1], before[2], before[3] - 1
            narrow = Tried(order, candidate, outcome)
            yield narrow

    def _widened(self, candidates: Iterable[Candidate], problem: Problem) -> Iterator[Candidate]:
        """The candidates, and wide ones: the same node or value at all faulty users, or a number in all targets."""
        seen, is_error = dict[tuple[Edit, ...], None](), problem.is_error
        for candidate in candidates:
            alone = candidate.edits[0] if len(candidate.edits) == 1 else None
            kinds = ("insert", "input") if candidate.grade == EVIDENT else ("insert",)
            if alone is not None and alone.kind in kinds and len(self._faulty) > 1:
                edits = lost_nodes.at_all_faulty(alone, self.inputs, self._faulty)
                if edits is not None:
                    count = (problem.fault.rule is NO_SIZES_FIT) - (alone.kind == "input")
                    yield replaced(candidate, edits=edits, evidence=candidate.evidence + count)
            yield candidate
            if alone is not None and alone.name == TRANSPOSE and is_error:
                edits = lost_nodes.at_all_faulty(alone, self.inputs, set(self.trials.nodes))
                if edits is not None:
                    yield replaced(candidate, edits=edits, evidence=EVERYWHERE)
            if alone is not None and alone.kind == "constant" and alone.of == "entries":
                wide = self.editor.constants.in_every_target(alone, by_place=is_error)
                seen.update(several := {each: None for each in wide if each not in seen})
                yield from (replaced(candidate, edits=each, evidence=EVERYWHERE) for each in several)

    def _fixes_all(self, problem: Problem, fixed: Sequence[Problem]) -> bool:
        """Whether ``fixed`` contains all other root problems that may be fixed."""
        others = (each for each in self.problems if each is not problem and each.because is None)
        fixable = (each for each in others if may_be_fixed(each, self.known))
        return all(any(each is other for other in fixed) for each in fixable)

    def _at_others(self, nodes: Sequence[Node], node: Node, editor: Editor) -> Iterator[Candidate]:
        """Candidates for ``nodes``, which come before ``node``: probable ones for the nearest, evident ones for all."""
        count, others = 0, inputs_of(node, self.known)
        farther: list[Node] = []
        for each in nodes:
            if count >= NODES:
                farther.append(each)
                continue
            types = [*others, *(value.type for value in each.outputs if value is not None)]
            found = [
                replaced(candidate, node=each)
                for candidate in chain(
                    editor.candidates_at(each, types), with_other_lists(each, editor, types), computed(each, editor)
                )
                if candidate.grade < POSSIBLE or candidate.swaps
            ]
            yield from found
            count += any(not candidate.swaps for candidate in found)
        for each in farther:
            evident = (candidate for candidate in editor.candidates_at(each) if candidate.grade == EVIDENT)
            yield from (replaced(candidate, node=each) for candidate in evident)
