"""The one thing to change with which a finding is gone: candidates are tried, and only what mends the model is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from irlint.checks.structure import UNDEFINED_NAME
from irlint.dims import product
from irlint.findings.faults import Severity
from irlint.inference.causes import contradicts
from irlint.inference.known import Known
from irlint.inference.origins import Makers, Position, inputs_of, shape_of, steps
from irlint.inference.trials import DECLARED, Outcome, Trials, is_demand
from irlint.model import Graph, Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.ops.kernels.axes import AXIS_OUT_OF_RANGE
from irlint.pictures.arrangements import listed, rearranged
from irlint.pictures.candidates import Candidates, Lever, swapped
from irlint.pictures.feeds import feeds, leaves_sizes
from irlint.pictures.operands import Operands
from irlint.pictures.other_values import GUESS, SELDOM, USUAL
from irlint.pictures.reasons import Naming
from irlint.pictures.tables import ELEMENT_TYPES, TYPED
from irlint.records import record, replaced

#: Of the first so many findings of a file a lever is looked for, with so many questions to operators in all.
FINDINGS = 3
QUESTIONS = 2000

#: So many changes are tried for one finding at each stage, and so many of them told.
CANDIDATES = 240
TOLD = 2

#: Clashing sizes are followed back through so many nodes, of which the nearest are asked.
FARTHEST = 64
NODES = 8


@record
class Tried:
    """A change with what it does away with; the least ``order`` is the best."""

    order: tuple[int, int, int]
    lever: Lever
    outcome: Outcome


class Levers:
    """Looks for the levers of the findings of one model."""

    def __init__(self, known: Known, makers: Makers, problems: Sequence[Problem]) -> None:
        self.known = known
        self.makers = makers
        self.problems = problems
        self.looked = 0
        self._trials: Trials | None = None
        self._candidates: Candidates | None = None
        self._told: list[tuple[list[Lever], Outcome]] = []

    def of(self, problem: Problem, naming: Callable[[], Naming]) -> str:
        """``with axis = 1 this and the 3 that follow are gone``; "" where nothing does it, too much does, or enough was tried."""
        graph = self.known.model.graph
        if graph is None or not _may_have_one(problem, self.known):
            return ""
        for levers, outcome in self._told:
            if any(each is problem for each in outcome.gone):
                return f"{_told(levers, naming(), problem.node)} {_gone(problem, outcome, self.problems)}"
        if self.looked >= FINDINGS:
            return ""
        self.looked += 1
        if self._trials is None or self._candidates is None:
            self._trials = Trials(self.known, graph, self.problems, QUESTIONS, leaves_sizes)
            self._candidates = Candidates(self.known, graph, self.makers, self._trials.users)
        best = self._best(problem, graph, self._trials, self._candidates)
        if not best:
            return ""
        levers = [_located(each.lever, problem) for each in best[:TOLD]]
        self._told.append((levers, best[0].outcome))
        told = f"{_told(levers, naming(), problem.node)} {_gone(problem, best[0].outcome, self.problems)}"
        or_held = self._or_constant(problem, best[0].lever) and problem.fault.help
        return f"{told}; or {problem.fault.help}" if or_held else told

    def _or_constant(self, problem: Problem, lever: Lever) -> bool:
        """Whether a constant may as well be wrong as the axis that a lever names, which no other node has."""
        if lever.count or "ax" not in str(lever.about) or lever.within not in (None, problem.node):
            return False
        return any(self.makers.is_constant(value) for value, _ in self._clashing(problem))

    def _best(self, problem: Problem, graph: Graph, trials: Trials, candidates: Candidates) -> list[Tried]:
        """The changes that do away with most, and of these the likely ones; none where too many do."""
        best: list[Tried] = []
        for stage in self._stages(problem, graph, trials, candidates):
            best = _first((*best, *_deciding(list(self._tried(stage, problem, trials)), problem)))
            meant = best and best[0].order[1] <= SELDOM and not all(each.lever.adds for each in best)
            if meant and self._all_gone(problem, best[0].outcome.gone):
                break
        if len(best) > TOLD and best[0].order[1] > USUAL:
            best = [each for each in best if each.lever.within is best[0].lever.within]
        return best if len(best) <= TOLD or best[0].order[1] == USUAL else []

    def _stages(
        self, problem: Problem, graph: Graph, trials: Trials, candidates: Candidates
    ) -> Iterator[Iterator[Lever]]:
        """What to try, the nearest first."""
        node, operands = problem.node, Operands(candidates)
        assert node is not None
        if problem.fault.rule is UNDEFINED_NAME:
            missing = (
                at for at, value in enumerate(node.inputs) if value in graph.undefined and _is_meant(value, problem)
            )
            port = next(missing, None)
            yield operands.unused([node], {node: port}) if port is not None else iter(())
            return
        if problem.fault.rule.family == ELEMENT_TYPES:
            yield (each for each in candidates.at(node) if each.told is swapped)
            yield operands.retyped(node)
            return
        yield chain(candidates.at(node), listed(node, self.makers))
        if problem.fault.rule.family != DECLARED:
            yield rearranged(problem, node, self.makers)
        clashing = self._clashing(problem)
        nodes = self._behind(node, clashing)
        yield self._at_others(nodes, node, candidates)
        yield operands.unused([node, *nodes], {})
        yield feeds(problem, clashing, self.makers, trials)
        ends = dict.fromkeys(end for value, axis in clashing for end in self._ends(value, axis))
        shapes = [
            shape_of(value, self.known) for value in (*(each for each, _ in clashing), *node.inputs, *node.outputs)
        ]
        sizes = dict.fromkeys(dim for shape in shapes for dim in shape or () if isinstance(dim, int) and dim > 1)
        yield candidates.resized(ends, sizes)

    def _tried(self, levers: Iterable[Lever], problem: Problem, trials: Trials) -> Iterator[Tried]:
        for at, lever in enumerate(levers):
            if at >= CANDIDATES or trials.left <= 0:
                break
            outcome = trials.outcome(lever.change, problem)
            if outcome is not None:
                if lever.likely < GUESS and _is_stretched(problem, outcome, self.known):
                    lever = replaced(lever, likely=GUESS)
                worth = len(outcome.gone) - len(outcome.stale)
                yield Tried((-worth, lever.likely, -lever.count), lever, outcome)

    def _all_gone(self, problem: Problem, gone: Sequence[Problem]) -> bool:
        """Whether no other finding of the family of ``problem`` is left that may be of the same mistake."""
        left = (each for each in self.problems if each.because is None and _may_have_one(each, self.known))
        return all(any(each is other for other in gone) for each in left if each is not problem)

    def _clashing(self, problem: Problem) -> list[tuple[Value, int]]:
        """The sizes that the finding is about."""
        node, fault = problem.node, problem.fault
        assert node is not None
        if fault.rule.family == DECLARED and not is_demand(problem):
            for value in node.outputs:
                shape, declared = shape_of(value, self.known), value.type if value is not None else None
                if value is None or value.name != problem.value or shape is None or not isinstance(declared, Tensor):
                    continue
                pairs = zip(shape, declared.shape or ())
                found = [(value, axis) for axis, (one, other) in enumerate(pairs) if one != other]
                return [*found, *self._joined(found)]
            return []
        first = shape_of(node.inputs[0], self.known) if node.inputs else None
        found = []
        for index, axis in fault.marks or tuple((0, each) for each in range(len(first or ()))):
            value = node.inputs[index] if 0 <= index < len(node.inputs) else None
            shape = shape_of(value, self.known)
            if value is not None and shape is not None and -len(shape) <= axis < len(shape):
                found.append((value, axis % len(shape)))
        return found

    def _joined(self, clashing: Sequence[tuple[Value, int]]) -> list[tuple[Value, int]]:
        """The sizes that a node has made one of, where the clashing sizes come from several."""
        found = []
        for value, axis in clashing:
            *_, (node, made, place) = ((None, value, axis), *steps(value, axis, self.makers, FARTHEST))
            if node is None:
                continue
            for each in self.makers.deciding(node, Position(node.outputs.index(made), place)):
                given = node.inputs[each.port]
                if given is not None and not each.in_contents:
                    found.append((given, each.index))
        return found if len(found) > 1 else []

    def _behind(self, node: Node, clashing: Sequence[tuple[Value, int]]) -> list[Node]:
        """The nodes that only one of the clashing sizes has come through, the nearest first."""
        paths: dict[Value, dict[Node, int]] = {}
        for value, axis in clashing:
            path = paths.setdefault(value, {})
            for at, (each, _, _) in enumerate(steps(value, axis, self.makers, FARTHEST)):
                path[each] = min(at, path.get(each, at))
        shared = set.intersection(*map(set, paths.values())) if len(paths) > 1 else set()
        near = sorted(
            ((at, each) for path in paths.values() for each, at in path.items() if each not in shared), key=_at
        )
        direct = [
            maker.node for value in node.inputs if value is not None and (maker := self.makers.of(value)) is not None
        ]
        every = dict.fromkeys((*(each for each in direct if each is not None), *(each for _, each in near)))
        return [each for each in every if self._may_change(each, node)]

    def _may_change(self, node: Node, faulty: Node) -> bool:
        call = self.known.calls.get(node)
        fixed = (self.known.format.constant_node, self.known.format.input_node)
        return node is not faulty and call is not None and not node.bodies and not call.broken and node.op not in fixed

    def _at_others(self, nodes: Sequence[Node], node: Node, candidates: Candidates) -> Iterator[Lever]:
        asked = 0
        for each in nodes:
            others = inputs_of(node, self.known)
            levers = [
                replaced(lever, within=each)
                for lever in chain(candidates.at(each, others), listed(each, self.makers, others))
                if lever.likely < GUESS or lever.told is swapped
            ]
            yield from levers
            asked += any(lever.told is not swapped for lever in levers)
            if asked >= NODES:
                return

    def _ends(self, value: Value, axis: int) -> Iterator[tuple[Value, int]]:
        """The constants that a size is of."""
        from irlint.inference.origins import trail

        found = trail(value, axis, self.makers)
        if found is not None and self.makers.is_constant(found.value):
            yield found.value, found.axis


def _is_stretched(problem: Problem, outcome: Outcome, known: Known) -> bool:
    """Whether a clashing size is 1 with a change, of other elements than before: that fits whatever it meets."""
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


def _at(found: tuple[int, Node]) -> int:
    return found[0]


def _deciding(found: list[Tried], problem: Problem) -> list[Tried]:
    """Those of the changes that say something: not the many values of one attribute that all do, unless other nodes have one."""
    limit = 1 if problem.fault.rule is AXIS_OUT_OF_RANGE else TOLD
    counts: dict[object, int] = {}
    for each in found:
        if each.lever.count >= 0:
            counts[_kind(each)] = counts.get(_kind(each), 0) + 1
    return [
        each
        for each in found
        if each.lever.about is None or each.lever.count > 0 or counts.get(_kind(each), limit) <= limit
    ]


def _kind(tried: Tried) -> tuple[object, ...]:
    return tried.lever.within, tried.lever.about, tried.lever.likely


def _first(found: Sequence[Tried]) -> list[Tried]:
    return [each for each in found if each.order == min(other.order for other in found)]


def _located(lever: Lever, problem: Problem) -> Lever:
    """A lever that says where it is, if it is a change of a node and not of what the graph holds or is given."""
    at_node = lever.within is None and (lever.change.calls or lever.change.inputs)
    return replaced(lever, within=problem.node) if at_node else lever


def _is_meant(value: Value | None, problem: Problem) -> bool:
    return value is not None and (problem.value is None or value.name == problem.value)


def _may_have_one(problem: Problem, known: Known) -> bool:
    node = problem.node
    if node is None or problem.graph or problem.because is not None or node not in known.calls or node.bodies:
        return False
    family = problem.fault.rule.family
    if problem.fault.severity is Severity.NOTE or problem.fault.role == "connection":
        return False
    if problem.fault.rule is UNDEFINED_NAME or is_demand(problem):
        return len(problem.sizes) <= 1
    if family == DECLARED:
        from irlint.inference.agreement import disagrees, terms_of

        given = [value for value in node.outputs if value is not None and value.name == problem.value]
        terms = terms_of(known)
        return any(
            contradicts(each := known.types.get(value), value) or disagrees(each, value, terms) for value in given
        )
    return problem.by_rule and problem.is_error and family in TYPED


# --- words ------------------------------------------------------------------------------------------------------------


def _told(levers: Sequence[Lever], naming: Naming, here: Node | None) -> str:
    """``with strides = [2, 2] in Conv[3], or in Conv[5],``."""
    places: dict[str, list[str]] = {}
    for lever in levers:
        node = lever.within if lever.within is not here else None
        places.setdefault(lever.told(naming), []).append(f" in {naming.short(node)}" if node is not None else "")
    told = [what + ", or".join(dict.fromkeys(within)) for what, within in places.items()]
    several = len(told) > 1 or any(", or" in each for each in told)
    return f"with {', or with '.join(told)}" + "," * several


def _gone(problem: Problem, outcome: Outcome, problems: Sequence[Problem]) -> str:
    others = [each for each in outcome.gone if each is not problem]
    following = [each for each in problems if each.because is problem]
    count, stale = len(others), len(outcome.stale)
    whole = bool(following) and count == len(following) and all(each.because is problem for each in others)
    if count and whole:
        told = f"this and the {count} that {'follows' if count == 1 else 'follow'} are gone"
    else:
        told = f"this and {count} more are gone" if count else "this is gone"
    has = "declaration has" if stale == 1 else "declarations have"
    return f"{told}, and {stale} {has} to follow" if stale else told
