"""Searches the edits that fix a problem. A guess (edits that may help) is tried; the candidates that fix most problems
are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.checks.frozen import NO_SIZES_FIT
from irlint.checks.structure import UNDEFINED_NAME
from irlint.dims import Expr, product
from irlint.findings.edits import Edit
from irlint.fixes.arrangements import (
    listed,
    rearranged,
    transposed_as_declared,
    transposed_before,
    transposed_constants,
)
from irlint.fixes.blocks import as_other_users
from irlint.fixes.clashes import Clashes
from irlint.fixes.computed import computed, read_otherwise
from irlint.fixes.contents import JOIN
from irlint.fixes.doubts import (
    Case,
    changes_sizes,
    is_against_others,
    is_doubtful,
    is_mistaken,
    is_unlike,
    strands,
)
from irlint.fixes.fixable import may_be_fixed
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inferred_again import WholeTrials
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.lost_nodes import everywhere, faulty, joined_left_over, with_left_over
from irlint.fixes.other_values import GUESS, LAST, SELDOM, UNSURE, USUAL
from irlint.fixes.outcomes import DECLARED, Outcome
from irlint.fixes.ranking import (
    SUGGESTED,
    Tried,
    are_equivalent,
    deciding,
    different,
    first,
    groups,
    rests,
    same_shapes,
    shared,
)
from irlint.fixes.rechecking import Rechecked
from irlint.fixes.retyped import behind, retyped, sources
from irlint.fixes.rewired import (
    bypassed,
    counted_otherwise,
    declared_alike,
    exchanged_weights,
    moved,
    rewired,
    weights_as_elsewhere,
)
from irlint.fixes.rivals import explaining, with_rivals, with_strides
from irlint.fixes.sizes import (
    batched,
    declared_as_sibling,
    declared_in_order,
    declared_otherwise,
    leaves_sizes,
    resized,
)
from irlint.fixes.trials import ELEMENT_TYPES, Trials, is_demand
from irlint.fixes.unsure import is_unsure, may_lack_node
from irlint.inference.known import Known
from irlint.inference.origins import Makers, inputs_of, shape_of
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import downstream
from irlint.model.tensor import Tensor
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.ops.shared.filters import BIAS_MISMATCH, CHANNELS_MISMATCH, KERNEL_SHAPE_MISMATCH
from irlint.records import record, replaced

#: At most this many questions are put to the shape functions for one file.
QUESTIONS = 2000

#: At most this many guesses are tried for one problem at each stage.
CANDIDATES = 240

#: The guesses are made for at most this many of the nodes that lead to a clashing size, the nearest ones.
NODES = 8

#: A mark in ``Guess.count``, not a count: this guess is the previous one, applied to every constant with the number.
WIDER = -1

#: A number that is wrong everywhere causes a fault for at most so many constants, such as the targets of one attention.
PER_FAULT = 4

#: A Concat that had one value at least this often is given another part of the shape.
TWICE = 2


@record
class Found:
    """Edits that fix a problem equally well, as alternatives.

    * ``outcome``: the outcome of the first alternative, without problems that another alternative does not fix.
    * ``sure``: no doubt speaks against the guess.
    * ``written``: the edits change no declared size and transpose no constant. Edits without both are only suggested.
    * ``or_help``: the general help states another cause, which is as likely.
    """

    alternatives: tuple[tuple[Edit, ...], ...]
    outcome: Outcome
    sure: bool
    written: bool
    or_help: bool


class Search:
    """Searches for edits of one model. With ``rechecked``, the caller checks the file again with the edits, and
    problems in bodies are searched, too."""

    def __init__(
        self, known: Known, graph: Graph, makers: Makers, problems: Sequence[Problem], rechecked: Rechecked | None
    ) -> None:
        self.known = known
        self.graph = graph
        self.makers = makers
        self.clashes = Clashes(known, makers)
        self.problems = problems
        self.trials = Trials(known, graph, problems, QUESTIONS, leaves_sizes, rechecked=rechecked is not None)
        self.whole = WholeTrials(known, rechecked) if rechecked is not None else None
        self.guesses = Guesses(known, graph, makers, self.trials.users)
        self.inputs = Inputs(self.guesses)

    @cached_property
    def _faulty(self) -> set[Node]:
        return faulty(self.trials)

    def best(self, problem: Problem, refused: Collection[tuple[Edit, ...]] = ()) -> Found | None:
        """The best edits for a problem except the ``refused`` ones. None if no edit fixes it, if too many do, if the
        best guess is doubtful, or if there are several and one reaches a body."""
        trials = self.whole if problem.graph else self.trials
        best, rivals = self._best(problem, trials, refused) if trials is not None else ([], [])
        if not best or is_doubtful(case := self._case(best[0], problem, rivals)):
            return None
        alternatives = different(each.guess.edits for each in best)
        if len(alternatives) > 1 and any(each.outcome.in_body for each in best):
            return None
        case = replaced(case, left_over=trials is not None and self._may_take_left_over(problem, trials))
        written = not any(changes_sizes(each) or self._transposes_constant(each) for each in best[0].guess.edits)
        or_help = self._or_help(problem, case.guess) or (may_lack_node(case) and len(alternatives) == 1)
        return Found(alternatives, shared(best), not is_unsure(case), written, or_help)

    def _case(self, tried: Tried, problem: Problem, rivals: Sequence[Tried] = ()) -> Case:
        others = tuple(each.guess for each in rivals if each.order[0] <= tried.order[0] and each is not tried)
        unproven = bool(rivals) and tried.guess.count <= 0
        outranked = unproven and any(each.order <= tried.order for each in self.against)
        return Case(tried.guess, problem, tried.outcome, self.problems, self.inputs, others, outranked)

    def _may_take_left_over(self, problem: Problem, trials: Trials | WholeTrials) -> bool:
        """Whether an unused value in place of an input of the node fixes a problem."""
        node = problem.node
        if node is None or not self.inputs.may_take_left_over(node):
            return False
        several = self.inputs.unused([node], {}, any_rank=True)
        return any(trials.outcome(each.edits, problem) is not None for each in several)

    def _demands(self, tried: Tried, problem: Problem) -> int:
        """The number of requirements that the node has after a guess."""
        carried = self.trials.carried(tried.guess.edits, problem.node) if problem.node is not None else None
        return len(carried[0].requirements) if carried is not None else 0

    def _keeps_order(self, tried: Tried) -> bool:
        """Whether a guess gives a Concat, which had one value twice, inputs in the order of the nodes that compute
        them."""
        edit = tried.guess.edits[0]
        node, before = self.inputs.edited(edit)
        value = self.trials.values.get(str(edit.value))
        if edit.kind != "input" or node is None or node.op != JOIN or node.inputs.count(before) < TWICE:
            return False
        after = [value if at == edit.input else each for at, each in enumerate(node.inputs)]
        makers = [self.makers.of(each) for each in after if each is not None]
        places = [each.node.index for each in makers if each is not None and each.node is not None]
        return places == sorted(places)

    def _using_most(self, best: list[Tried]) -> list[Tried]:
        """Of guesses, those that use most of the unused values."""
        unused = {value.name for value, _ in self.inputs.spare}
        taken = [
            len(unused.intersection(name for edit in each.guess.edits for name in (str(edit.value), *edit.inputs)))
            for each in best
        ]
        return [each for each, count in zip(best, taken) if count == max(taken)]

    def _keeping(self, best: list[Tried]) -> list[Tried]:
        """Of guesses that only connect values, those after which nodes lack the fewest values that they had."""
        if not all(edit.kind == "input" for each in best for edit in each.guess.edits):
            return best
        fewest = min(len(self.inputs.taken(each.guess.edits)) for each in best)
        return [each for each in best if len(self.inputs.taken(each.guess.edits)) == fewest]

    def _transposes_constant(self, edit: Edit) -> bool:
        """Whether a Transpose is inserted before a constant. Perhaps only the dims of the constant are wrong."""
        return edit.kind == "insert" and edit.name == TRANSPOSE and self.makers.is_constant(self.inputs.edited(edit)[1])

    def _or_help(self, problem: Problem, guess: Guess) -> bool:
        """Whether the general help states another cause that is as likely: a wrong constant where a guess changes an
        axis that no other node uses, or a lost node where a guess changes a weight. If an axis is out of range for
        several inputs of one rank, then the axis itself must be wrong, so there is no other cause."""
        about_axes = isinstance(guess.about, str) and "ax" in guess.about
        if problem.fault.rule in (CHANNELS_MISMATCH, BROADCAST_MISMATCH) and guess.likely == UNSURE:
            return True
        if problem.fault.rule is KERNEL_SHAPE_MISMATCH and not guess.sure:
            return True
        if problem.node is None or guess.count or not about_axes or guess.within not in (None, problem.node):
            return False
        ranks = [each.rank for each in inputs_of(problem.node, self.known) if isinstance(each, Tensor)]
        if problem.fault.rule is AXIS_OUT_OF_RANGE and len(ranks) > 1 and len(set(ranks)) == 1:
            return False
        return any(self.makers.is_constant(value) for value, _ in self.clashes.of(problem))

    def _best(
        self,
        problem: Problem,
        trials: Trials | WholeTrials,
        refused: Collection[tuple[Edit, ...]],
    ) -> tuple[list[Tried], list[Tried]]:
        """The most likely guesses among those that fix most problems, [] if too many are equally good; and all that
        fix the problem."""
        best: list[Tried] = []
        declared: list[Tried] = []
        every: list[Tried] = []
        self.against: list[Tried] = []
        for stage in self._stages(problem, trials):
            tried = deciding(list(self._tried(stage, problem, trials)), problem)
            tried = [each for each in tried if each.guess.edits not in refused]
            self.against += [each for each in tried if is_unlike(self._case(each, problem))]
            tried = [each for each in tried if not is_mistaken(self._case(each, problem))]
            declared += [each for each in tried if each.guess.redeclares]
            every += tried
            best = first((*best, *tried))
            likely = len(groups(best)) == 1 and best[0].order[1] <= SELDOM and not all(each.guess.adds for each in best)
            if (
                likely
                and any(each.guess.changes_node or each.guess.likely == USUAL for each in best)
                and self._all_gone(problem, best[0].outcome.fixed)
            ):
                break
        if len(groups(best)) > 1:
            best = self._using_most(explaining(best, self.known) or best)
        if len(groups(best)) > 1 and are_equivalent(best):
            best = best[:1]
        elif len(groups(best)) > 1 and same_shapes(best, problem):
            best = [min(best, key=rests)]
        if len(groups(best)) > 1:
            best = [each for each in best if not strands(self._case(each, problem))] or best
        if len(groups(best)) > 1:
            best = [each for each in best if self._keeps_order(each)] or best
        if len(groups(best)) > 1:
            best = self._keeping(best)
        if len(groups(best)) > 1 and is_demand(problem):
            least = min(self._demands(each, problem) for each in best)
            best = [each for each in best if self._demands(each, problem) == least]
        if len(groups(best)) > 1:
            best = [each for each in best if not is_against_others(self._case(each, problem))] or best
        if best and [edit.kind for edit in best[0].guess.edits] == ["insert"]:
            best += [each for each in declared if each.order[0] == best[0].order[0] and each not in best]
        if len(groups(best)) == 1:
            best = with_rivals(best, every, self.inputs)
        if len(groups(best)) > SUGGESTED and best[0].order[1] > USUAL:
            best = [each for each in best if each.guess.within is best[0].guess.within]
        if len(groups(best)) > SUGGESTED and best[0].order[1] > USUAL:
            return [], every
        return with_strides([each for group in groups(best)[:SUGGESTED] for each in group], every), every

    def _stages(self, problem: Problem, trials: Trials | WholeTrials) -> Iterator[Iterator[Guess]]:
        """The guesses in stages, by kind of evidence: other blocks and unused values first, new connections last."""
        node, inputs, guesses, graph = problem.node, self.inputs, self.guesses, self.graph
        assert node is not None
        if problem.graph:
            yield chain(counted_otherwise(problem, inputs), resized(problem, self.clashes.of(problem), guesses, trials))
            return
        if problem.fault.rule is UNDEFINED_NAME:
            missing = (
                at for at, value in enumerate(node.inputs) if value in graph.undefined and _is_meant(value, problem)
            )
            port = next(missing, None)
            yield inputs.unused([node], {node: port}) if port is not None else iter(())
            yield as_other_users(node, guesses)
            return
        if problem.fault.rule.family == ELEMENT_TYPES:
            yield chain(self._as_twins(node), inputs.as_in_other_blocks(node))
            makers = sources(node, inputs)
            yield (replaced(guess, within=each) for each in makers for guess in inputs.blocks.as_wired(each))
            yield (replaced(guess, within=each) for each in makers for guess in inputs.left_over_of_type(each))
            yield chain(inputs.left_over_of_type(node), inputs.left_over_before(node), as_other_users(node, guesses))
            yield (each for each in guesses.at(node) if each.swaps)
            yield chain(moved(node, inputs), retyped(problem, node, inputs))
            return
        yield chain(self._as_twins(node), inputs.as_in_other_blocks(node))
        clashing = self.clashes.of(problem)
        nodes = self._behind(node, clashing)
        nodes = list(dict.fromkeys((*self.clashes.emptying(nodes), *nodes)))
        yield (replaced(guess, within=each) for each in nodes for guess in inputs.blocks.as_wired(each))
        yield weights_as_elsewhere(node, inputs)
        yield exchanged_weights(node, inputs) if problem.is_error else iter(())
        yield chain(inputs.left_over([node, *nodes]), inputs.left_over_before(node), with_left_over(node, inputs))
        yield chain.from_iterable(as_other_users(each, guesses) for each in (node, *nodes[:NODES]))
        yield joined_left_over([node, *nodes], inputs) if problem.is_error else iter(())
        yield chain(declared_in_order(node, guesses), declared_alike(node, guesses))
        yield declared_as_sibling(node, guesses) if problem.is_error and not is_demand(problem) else iter(())
        yield guesses.contents.copied(node)
        of_outputs = problem.fault.rule.family == DECLARED and not is_demand(problem)
        if problem.fault.rule.family == DECLARED:
            yield guesses.contents.as_declared(node)
            yield behind(problem, node, inputs)
            yield transposed_as_declared(problem, node, guesses)
        declared_types = [each.type for each in node.outputs if each is not None and each.name == problem.value]
        yield chain(guesses.at(node, declared_types if of_outputs else ()), listed(node, guesses))
        yield chain(computed(node, guesses), guesses.contents.divided(node))
        if problem.fault.rule is EQUAL_SIZES:
            yield chain.from_iterable(read_otherwise(each, guesses) for each in (node, *nodes[:NODES]))
        if problem.fault.rule.family != DECLARED or is_demand(problem):
            of_declared = not is_demand(problem) and problem.fault.rule is not AXIS_OUT_OF_RANGE
            declared = declared_otherwise(problem, node, guesses) if of_declared else ()
            yield chain(rearranged(problem, node, guesses), declared)
            yield batched(node, guesses) if problem.is_error else iter(())
        before = transposed_before(node, nodes, guesses) if problem.is_error else ()
        is_grave = problem.is_error or is_demand(problem)
        yield chain(self._at_others(nodes, node, guesses), bypassed(node, nodes, inputs) if is_grave else (), before)
        yield chain(inputs.unused([node, *nodes], {}), resized(problem, clashing, guesses, trials))
        ends = dict.fromkeys(end for value, axis in clashing for end in self.clashes.ends(value, axis))
        shapes = [
            shape_of(value, self.known) for value in (*(each for each, _ in clashing), *node.inputs, *node.outputs)
        ]
        sizes = dict.fromkeys(dim for shape in shapes for dim in shape or () if isinstance(dim, int) and dim > 1)
        filters = problem.fault.rule in (CHANNELS_MISMATCH, BIAS_MISMATCH)
        if filters and node.inputs[1:] and node.inputs[1]:
            ends.update({(node.inputs[1], axis): None for axis in (0, 1)})
        of_table = problem.fault.rule is BROADCAST_MISMATCH
        yield transposed_constants(ends, guesses) if problem.is_error else iter(())
        yield guesses.contents.resized(ends, sizes, weights=filters or of_table)
        joins = [each for each in (node, *nodes) if sum(map(inputs.is_made, each.inputs)) > 1]
        dims = ((shape_of(value, self.known) or ())[axis] for value, axis in clashing)
        if problem.is_error:
            yield rewired(list(dict.fromkeys((node, *joins))), inputs)
        elif is_grave and all(isinstance(dim, Expr) for dim in dims):
            yield rewired(joins, inputs)
        for each in self.trials.contradicted if problem.fault.rule is NO_SIZES_FIT else ():
            axes = range(len(shape_of(each.inputs[0], self.known) or ()))
            places = [(value, axis) for value in each.inputs[:1] if value is not None for axis in axes]
            yield self._at_others([other for other in self._behind(each, places) if other not in nodes], each, guesses)
        if is_demand(problem):
            shared = dict.fromkeys(each for place in clashing for each in self.clashes.behind(node, [place]))
            others = self._at_others([each for each in shared if each not in nodes], node, guesses)
            yield (replaced(guess, likely=LAST) for guess in others)

    def _behind(self, node: Node, clashing: Sequence[tuple[Value, int]]) -> list[Node]:
        """The nodes that lead to clashing sizes, also those that compute the parts of a joined size."""
        products = [each for place in clashing for each in self.clashes.joined([place])]
        parts = (each for place in products for each in self.clashes.joined([place]))
        apart = (each for place in (*products, *parts) for each in self.clashes.behind(node, [place]))
        return list(dict.fromkeys((*self.clashes.behind(node, clashing), *apart)))

    def _tried(self, guesses: Iterable[Guess], problem: Problem, trials: Trials | WholeTrials) -> Iterator[Tried]:
        narrow: Tried | None = None
        for at, guess in enumerate(self._widened(guesses, problem)):
            if at >= CANDIDATES or trials.left <= 0:
                break
            narrow = narrow if guess.count == WIDER else None
            outcome = trials.outcome(guess.edits, problem)
            if (
                outcome is not None
                and guess.count == WIDER
                and len(guess.edits) > PER_FAULT * max(1, len(outcome.fixed))
            ):
                continue
            if outcome is not None and not (guess.redeclares and set(outcome.stale) & set(self.graph.outputs)):
                if guess.likely < GUESS and _makes_one(problem, outcome, self.known):
                    guess = replaced(guess, likely=GUESS, sure=guess.sure and problem.is_error)
                worth = len(outcome.fixed) - len(outcome.stale) - outcome.left - (guess.likely == UNSURE)
                order = -worth, guess.likely, len(outcome.stale), -guess.count
                if narrow is not None and guess.count == WIDER and outcome.divides < narrow.outcome.divides:
                    order = *narrow.order[:-1], narrow.order[-1] - 1
                narrow = Tried(order, guess, outcome)
                yield narrow

    def _widened(self, guesses: Iterable[Guess], problem: Problem) -> Iterator[Guess]:
        """The guesses. Before a guess that inserts one node comes a wider one, if several users of the value are
        faulty: it inserts the node before each of them. After a guess that changes a number in one constant comes one
        that changes the number in every target shape. The wider guess ranks first if it needs fewer divisibility
        conditions than the narrow one."""
        seen: set[tuple[Edit, ...]] = set()
        for guess in guesses:
            alone = guess.edits[0] if len(guess.edits) == 1 else None
            if alone is not None and alone.kind == "insert":
                edits = everywhere(alone, self.inputs, self._faulty)
                if edits is not None:
                    yield replaced(guess, edits=edits, count=guess.count + (problem.fault.rule is NO_SIZES_FIT))
            yield guess
            if alone is not None and alone.name == TRANSPOSE and problem.is_error:
                edits = everywhere(alone, self.inputs, set(self.trials.nodes))
                yield from () if edits is None else (replaced(guess, edits=edits, count=WIDER),)
            if alone is not None and alone.kind == "constant" and alone.of == "entries":
                edits = self.guesses.contents.everywhere(alone)
                if edits is not None and edits not in seen:
                    seen.add(edits)
                    yield replaced(guess, edits=edits, count=WIDER)

    def _all_gone(self, problem: Problem, gone: Sequence[Problem]) -> bool:
        """Whether ``gone`` contains all other root problems that may be fixed."""
        left = (each for each in self.problems if each.because is None and may_be_fixed(each, self.known))
        return all(any(each is other for other in gone) for each in left if each is not problem)

    def _as_twins(self, node: Node) -> Iterator[Guess]:
        """Guesses that give this node, or one before it, the numbers of the nodes in the same place of other blocks."""
        yield from self.inputs.blocks.as_twins(node)
        for each, guess in self.inputs.blocks.differing:
            if each is not node and node in downstream(each, self.graph):
                yield replaced(guess, within=each)

    def _at_others(self, nodes: Sequence[Node], node: Node, guesses: Guesses) -> Iterator[Guess]:
        """Guesses for nodes before the faulty one: those for the nearest nodes, then those that make a farther one like
        others of its operator."""
        asked, others = 0, inputs_of(node, self.known)
        farther: list[Node] = []
        for each in nodes:
            if asked >= NODES:
                farther.append(each)
                continue
            types = [*others, *(value.type for value in each.outputs if value is not None)]
            found = [
                replaced(guess, within=each)
                for guess in chain(guesses.at(each, types), listed(each, guesses, types), computed(each, guesses))
                if guess.likely < GUESS or guess.swaps
            ]
            yield from found
            asked += any(not guess.swaps for guess in found)
        usual = ((each, guess) for each in farther for guess in guesses.at(each) if guess.likely == USUAL)
        yield from (replaced(guess, within=each) for each, guess in usual)


def _makes_one(problem: Problem, outcome: Outcome, known: Known) -> bool:
    """Whether a guess fixes a problem only by making a clashing size 1. Size 1 broadcasts to any size, so this proves
    little."""
    before = inputs_of(problem.node, known) if problem.node is not None else []
    for index, axis in problem.fault.marks:
        if not 0 <= index < min(len(before), len(outcome.inputs)):
            continue
        one, other = (
            each.shape if isinstance(each, Tensor) else None for each in (before[index], outcome.inputs[index])
        )
        if one is None or other is None or len(one) != len(other) or not -len(one) <= axis < len(one):
            continue
        if other[axis] == 1 != one[axis] and product(one) != product(other):
            return True
    return False


def _is_meant(value: Value | None, problem: Problem) -> bool:
    return value is not None and (problem.value is None or value.name == problem.value)
