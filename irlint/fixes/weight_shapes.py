"""Finds the weights that cause a problem because one of their axes has a wrong size.

The size becomes a symbol, the model is inferred again, and the demands of its nodes are solved for the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property

from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import without_common_factors
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.dims import Dim, MaybeDim, Shape, symbol
from irlint.findings.edits import Edit, message
from irlint.findings.report import Finding
from irlint.fixes.axes import mixes_axes
from irlint.fixes.clashes import Clashes
from irlint.fixes.editor import STRIDES
from irlint.fixes.elsewhere import NAMED as ALTERNATIVES
from irlint.fixes.explaining import every_problem
from irlint.fixes.inserted import RESHAPE
from irlint.fixes.node_edits import NodeEdits
from irlint.fixes.other_values import SPATIAL
from irlint.fixes.rechecking import Outcome, Rechecked
from irlint.fixes.suggestion import WEIGHTS, place
from irlint.inference.known import Demand, Known
from irlint.inference.origins import Makers, shape_of, sources
from irlint.inference.walk import Walk
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import FLOATS, Tensor
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.fixes.suggestions import Suggestions

#: The name of the symbol. No file can have it.
SIZE = "\0size"

#: The search for weights before a node stops at the first node by which more values than this were visited.
FARTHEST = 400

#: All walks for one problem visit at most this many nodes. A walk counts the nodes of a body or function once.
NODES = 12_000

#: At most this many weights get the new size together.
TOGETHER = 3

#: The new size is at most this many times the old one, or the old one this many times the new one.
RATIO = 16

#: An axis is not examined if its demands allow more sizes than this, up to a greatest one. If they have no greatest
#: size, at most this many sizes of other constants are tried.
SIZES = 4

#: At most this many findings are examined.
FINDINGS = 3

#: At most this many replacements are named as alternatives, each of up to TOGETHER weights.
NAMED = 2


@record
class Replacement:
    """Weights of other shapes, with which problems disappear. Only one size differs."""

    edits: tuple[Edit, ...]
    outcome: Outcome
    #: Whether another constant of the same rank, which is at least 2, has the new size on the same axis.
    is_usual: bool

    @property
    def text(self) -> str:
        """``change 80 to 60 on axis 1 of constant `W`; this also fixes 3 more``."""
        more = len(self.outcome.fixed) - 1
        return message(self.edits) + f"; this also fixes {more} more" * (more > 0)


def with_weights(suggestions: Suggestions, problems: Sequence[Problem], findings: Sequence[Finding]) -> list[Finding]:
    """The findings. Suggestions for errors without a fix also name weights that may be wrong.

    At most the first FINDINGS of these errors are examined.
    """
    search = WeightShapes(suggestions.makers, suggestions.rechecked)
    found: dict[int, list[Replacement]] = {}
    searched = 0
    for problem in problems:
        if id(problem) in found or searched >= FINDINGS or not suggestions.may_be_of_weights(problem):
            continue
        searched += 1
        replacements = search.replacements(problem, reveals=suggestions.of(problem) is None)
        for each in replacements[0].outcome.fixed if replacements else ():
            found.setdefault(id(each), replacements)
    return [
        _with_replacements(finding, problem, found[id(problem)], suggestions)
        if id(problem) in found and suggestions.may_be_of_weights(problem)
        else finding
        for problem, finding in zip(problems, findings)
    ]


def _with_replacements(
    finding: Finding, problem: Problem, replacements: Sequence[Replacement], suggestions: Suggestions
) -> Finding:
    """The finding with the replacements as suggestions, in place of edits that fix fewer problems."""
    suggestion, most = suggestions.of(problem), len(replacements[0].outcome.fixed)
    texts = [each.text for each in replacements]
    if suggestion is not None and suggestion.fix is not None:
        named = suggestion.elsewhere
        if len(suggestion.outcome.fixed) <= most and all(place(each) != WEIGHTS for each in named):
            named = (*named, *(each.edits for each in replacements))[: ALTERNATIVES - 1]
        return replaced(finding, suggestion=replaced(suggestion, elsewhere=named).text)
    if suggestion is None:
        texts.append(finding.help)
    elif len(suggestion.outcome.fixed) >= most:
        is_weight = all(edit.kind == "constant" and edit.of == "shape" for edit in suggestion.alternatives[0])
        is_decided = len(suggestion.alternatives) > 1 or (suggestion.help and not is_weight)
        if is_decided or len(suggestion.outcome.fixed) > most:
            return finding
        others = [each for each in replacements if each.text not in finding.suggestion]
        is_decided = is_weight and all(each.is_usual for each in replacements if each not in others)
        texts = [each.text for each in others if each.is_usual or not is_decided]
        texts.insert(len(texts) if is_weight else 0, finding.suggestion)
    return replaced(finding, suggestion="; or ".join(filter(None, dict.fromkeys(texts))))


class WeightShapes:
    """The search for weights of other shapes in one model."""

    def __init__(self, makers: Makers, rechecked: Rechecked) -> None:
        self.makers = makers
        self.known = makers.known
        self.rechecked = rechecked
        self.edits = NodeEdits(self.known, makers)
        self.given = {value: shape_of(value, self.known) or () for value in self.known.overridden}
        self.walks = 0
        self.reveals = False

    def replacements(self, problem: Problem, *, reveals: bool) -> list[Replacement]:
        """The replacements that fix a problem and most others, usual ones first; at most NAMED, or none.

        With ``reveals``, single sizes that nodes after the problem require do not count as caused (see ``_tried``).
        """
        self.reveals = reveals
        if problem.node is None:
            return []
        self.walks = NODES // max(self.known.model.nodes, 1)
        found: list[Replacement] = []
        seen: set[tuple[Value, int]] = set()
        for value, axis in self._axes(problem, problem.node):
            if self.walks <= 0:
                break
            if (value, axis) not in seen:
                found += self._of_axis(problem, value, axis, seen)
        most = max((len(each.outcome.fixed) for each in found), default=0)
        best = [each for each in found if len(each.outcome.fixed) == most]
        likely = [each for each in best if each.is_usual]
        best = [*likely, *(each for each in best if each not in likely)]
        return best if len(best) <= NAMED else likely if len(likely) <= NAMED else []

    def _is_usual(self, edits: Sequence[Edit]) -> bool:
        """See ``Replacement.is_usual``."""
        names = {edit.name for edit in edits}
        shapes = [shape for value, shape in self._shapes_of_constants.items() if value.name not in names]
        for edit in edits:
            (axis,) = (at for at, (one, other) in enumerate(zip(edit.before, edit.value)) if one != other)
            size, rank = edit.value[axis], len(edit.value)
            if any(len(shape) == rank > 1 and shape[axis] == size for shape in shapes):
                return True
        return False

    # --- axes ---------------------------------------------------------------------------------------------------------

    def _axes(self, problem: Problem, node: Node) -> Iterator[tuple[Value, int]]:
        """(weight, axis) for the axes that may decide a clashing size: the origins of the size.

        If the fault does not mark two inputs, and at bodies, whose inputs end the path of a size, these are also the
        axes of all weights before the node, the nearest first. The spatial axes of filters are omitted.
        """
        clashing = Clashes(self.known, self.makers).of(problem)
        axes = dict.fromkeys(pair for value, axis in clashing for pair in sources(value, axis, self.makers))
        is_partial = problem.graph or node.bodies or len({index for index, _ in problem.fault.marks}) < 2
        if not is_partial and not any(self._is_weight(value) for value, _ in axes):
            return
        weights = dict(self._weights_before(node))
        for weight in weights if is_partial else ():
            axes.update(dict.fromkeys((weight, axis) for axis in range(len(shape_of(weight, self.known) or ()))))
        for weight, axis in axes:
            shape = shape_of(weight, self.known) or ()
            size = shape[axis] if axis < len(shape) - weights.get(weight, len(shape)) else None
            if isinstance(size, int) and size > 1:
                yield weight, axis

    def _weights_before(self, node: Node) -> Iterator[tuple[Value, int]]:
        """(weight, number of its last axes that may be spatial) for the weights before a node, the nearest first."""
        waiting, seen, values = [(node, 0)], {node}, set[Value]()
        for each, spatial in waiting:
            captured = (value for _, body in each.bodies for value in body.captured)
            for value in dict.fromkeys((*each.inputs, *captured)):
                if value is None or value in values:
                    continue
                values.add(value)
                last = spatial or self._spatial(each, value)
                maker = self._node_of(value)
                if self._is_weight(value):
                    yield value, last
                elif maker is not None and maker not in seen:
                    seen.add(maker)
                    waiting.append((maker, last if all(map(self.makers.is_constant, maker.inputs)) else 0))
            if len(values) > FARTHEST:
                return

    def _spatial(self, node: Node, value: Value) -> int:
        """The number of spatial axes of the data of a node with strides, if the value is another input; else 0."""
        if STRIDES not in node.attributes or node.inputs[0] is value:
            return 0
        return max(len(shape_of(node.inputs[0], self.known) or ()) - SPATIAL, 0)

    def _node_of(self, value: Value) -> Node | None:
        """The node that computes a value.

        For an input or a stored constant of a body, it is the node of the body; for those of the main graph, None.
        """
        maker = self.makers.of(value)
        if maker is None:
            return None
        is_input = maker.node is None or maker.node.op == self.known.format.input_node
        return self._owners.get(maker.graph) if is_input else maker.node

    @cached_property
    def _owners(self) -> dict[Graph, Node]:
        nodes = (node for graph in graphs(self.known.model) for node in graph.nodes if node.bodies)
        return {body: node for node in nodes for _, body in node.bodies}

    def _is_weight(self, value: Value, *, one_axis: bool = False) -> bool:
        """Whether a value is a stored constant with axes: several, or one of floating-point numbers.

        With ``one_axis``, one axis of any element type is enough.
        """
        maker, known = self.makers.of(value), self.known.types.get(value)
        if maker is None or not maker.is_constant or not isinstance(known, Tensor):
            return False
        return bool(known.shape) and (one_axis or known.dtype in FLOATS or known.rank != 1)

    # --- sizes --------------------------------------------------------------------------------------------------------

    def _of_axis(
        self, problem: Problem, value: Value, axis: int, seen: set[tuple[Value, int]]
    ) -> Iterator[Replacement]:
        """The replacement with another size of an axis, and of the axes of other weights that must be equal to it."""
        axes = {value: axis}
        old = (shape_of(value, self.known) or ())[axis]
        assert isinstance(old, int)
        for _ in range(TOGETHER + 1):
            seen.update(axes.items())
            walked = self._walked(axes, symbol(SIZE, 1))
            if walked is None or _remains(problem, walked):
                return
            sizes, keeping = _allowed(walked, old)
            revealed = _without_size(walked) if self.reveals else frozenset[Node]()
            more = dict(pair for demand in keeping for pair in self._axes_of_size(demand.node, old))
            if not more.keys() - axes.keys():
                break
            axes = {**axes, **more}
        if not keeping and len(axes) <= TOGETHER:
            for size in self._sizes(sizes, value, axis):
                if size > 1 and size != old and old <= size * RATIO and size <= old * RATIO:
                    yield from self._tried(problem, axes, size, revealed)

    def _sizes(self, allowed: Sizes, value: Value, axis: int) -> list[int]:
        """The sizes to try for an axis: of many allowed ones, those of weights with otherwise the same shape."""
        if not allowed.is_full and allowed.greatest is not None:
            # A size that is divided may become 1, and is then broadcast. The greatest size is not.
            return [max(allowed.few(SIZES), default=0)]
        shape = shape_of(value, self.known) or ()
        rest = (shape[:axis], shape[axis + 1 :])
        same_rank = [other for other in self._shapes_of_constants.values() if len(other) == len(shape) > 1]
        sizes = dict.fromkeys(other[axis] for other in same_rank if (other[:axis], other[axis + 1 :]) == rest)
        return [size for size in sizes if isinstance(size, int) and size > 1 and size in allowed][:SIZES]

    @cached_property
    def _shapes_of_constants(self) -> Mapping[Value, Shape]:
        constants = (value for graph in graphs(self.known.model) for value in graph.constants)
        return {value: shape for value in constants if (shape := shape_of(value, self.known)) is not None}

    def _axes_of_size(self, node: Node, size: MaybeDim) -> Iterator[tuple[Value, int]]:
        """(weight, axis) for the weights that a node takes and that have one axis of a size."""
        for value in node.inputs:
            shape = shape_of(value, self.known) or ()
            if value is not None and shape.count(size) == 1 and self._is_weight(value, one_axis=True):
                yield value, shape.index(size)

    def _walked(self, axes: Mapping[Value, int], size: Dim) -> Known | None:
        graph = self.known.model.graph
        self.walks -= 1
        if self.walks < 0 or graph is None:
            return None
        walked = Walk(self.known.model, {**self.given, **self._shapes(axes, size)}).known(graph)
        return replaced(walked, overridden=self.known.overridden)

    def _shapes(self, axes: Mapping[Value, int], size: Dim) -> Mapping[Value, Shape]:
        shapes = {value: shape_of(value, self.known) or () for value in axes}
        return {value: (*shapes[value][:at], size, *shapes[value][at + 1 :]) for value, at in axes.items()}

    def _tried(
        self, problem: Problem, axes: Mapping[Value, int], size: int, revealed: Set[Node]
    ) -> Iterator[Replacement]:
        """The replacement with a size, if it fixes the problem.

        Single sizes that the ``revealed`` nodes require do not count as caused, except 1.
        """
        walked = self._walked(axes, size)
        if walked is None or any(self._mixes(node, walked) for node in walked.calls if node.op == RESHAPE):
            return
        edits = tuple(self.edits.constant(*pair, "shape") for pair in self._shapes(axes, size).items())
        if any(demand.node is problem.node and _is_of_unknown_size(demand) for demand in walked.requires):
            return
        stored = {maker.node for value in axes if (maker := self.makers.of(value)) is not None}
        revealed = revealed - {problem.node}
        found = (each for each in every_problem(walked) if each.node not in revealed or not _needs_one_size(each))
        after = [each for each in found if each.node is None or each.node not in stored]
        outcome = self.rechecked.compared(after, problem, edits)
        if outcome is not None:
            yield Replacement(edits, outcome, self._is_usual(edits))

    def _mixes(self, node: Node, walked: Known) -> bool:
        """Whether a Reshape mixes axes that it did not mix before."""
        (before, made), (given, new) = (
            [each.types.get(value) if value is not None else None for value in (*node.inputs[:1], *node.outputs[:1])]
            for each in (self.known, walked)
        )
        return (
            (before, made) != (given, new) and mixes_axes(given, new) is True and mixes_axes(before, made) is not True
        )


def _is_of_unknown_size(demand: Demand) -> bool:
    """Whether a demand concerns a size that no input determines, such as that of a state which a loop changes."""
    return any(name.startswith("_") for name in symbols_in(demand.requirement.any_of))


def _needs_one_size(problem: Problem) -> bool:
    return bool(problem.sizes) and all(size is not None and size > 1 for _, size in problem.sizes)


def _without_size(walked: Known) -> Set[Node]:
    """The nodes whose demands on sizes do not depend on the symbol."""
    dependent = {each.node for each in walked.requires if symbols_in(each.requirement.any_of) & {SIZE}}
    return {each.node for each in walked.requires} - dependent


def _remains(problem: Problem, walked: Known) -> bool:
    return any(each.node is problem.node and each.fault.rule is problem.fault.rule for each in walked.problems)


def _allowed(walked: Known, old: MaybeDim) -> tuple[Sizes, list[Demand]]:
    """(sizes that the demands on the symbol allow, demands that allow only the old size, or also 1)."""
    sizes, keeping = ALL, []
    for demand in walked.requires:
        relations = tuple(map(without_common_factors, demand.requirement.any_of))
        found = solved(relations) if symbols_in(relations) == {SIZE} else None
        if found is None:
            continue
        if set(found.few(SIZES)) - {1} == {old}:
            keeping.append(demand)
        else:
            sizes = met(sizes, found) or sizes
    return sizes, keeping
