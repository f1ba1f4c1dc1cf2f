"""The one thing to change with which a finding is gone: candidates are tried, and only what mends the model is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations

from irlint.binding.calls import Call
from irlint.checks.structure import UNDEFINED_NAME
from irlint.dims import MaybeDim, product, quotient
from irlint.inference.causes import contradicts
from irlint.inference.known import Known
from irlint.inference.origins import Makers, Position, held_by, inputs_of, read_from, trail
from irlint.inference.trials import DECLARED, Change, Trials
from irlint.model import Graph, Node, Problem, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.pictures.reasons import Naming
from irlint.pictures.tables import ELEMENT_TYPES, TYPED
from irlint.records import record, replaced

#: Of the first so many findings of a file a lever is looked for, with so many questions to operators in all.
FINDINGS = 3
QUESTIONS = 1200

#: So many changes are tried for one finding, and so many of them told.
CANDIDATES = 160
TOLD = 2

#: Nodes that give so many inputs, and make so many clashing sizes, may be what has to change.
MAKERS = 4

#: Lists of one number, such as strides, get one less than this.
UNIFORM = 4

#: Lists are changed up to so many entries, and put in all orders up to so many.
ENTRIES = 8
ORDERED = 4


@record
class Lever:
    """A change, and what words it: ``axis = 1``; of several the most ``likely`` is told, 0 before 1."""

    told: Callable[[Naming], str]
    change: Change
    likely: int = 0


#: A change that was tried, with what it does away with, and its place among others: the least is the best.
Tried = tuple[tuple[int, int], Lever, list[Problem]]


class Levers:
    """Looks for the levers of the findings of one model."""

    def __init__(self, known: Known, makers: Makers, problems: Sequence[Problem]) -> None:
        self.known = known
        self.makers = makers
        self.problems = problems
        self.looked = 0
        self._trials: Trials | None = None

    def of(self, problem: Problem, naming: Callable[[], Naming]) -> str:
        """``with axis = 1 this and the 3 that follow are gone``; "" where nothing does it, too much does, or enough was tried."""
        graph = self.known.model.graph
        if graph is None or self.looked >= FINDINGS or not _may_have_one(problem, self.known):
            return ""
        self.looked += 1
        if self._trials is None:
            self._trials = Trials(self.known, graph, self.problems, QUESTIONS)
        best = self._best(_candidates(problem, graph, self.known, self.makers), problem, self._trials)
        if all(lever.told is _swapped for _, lever, _ in best):
            best = _first(best + self._best(_at_makers(problem, self.known, self.makers), problem, self._trials))
        if not best or len(best) > TOLD:
            return ""
        told = ", or with ".join(lever.told(naming()) for _, lever, _ in best)
        return f"with {told}{',' * (len(best) > 1)} {_gone(problem, best[0][2], self.problems)}"

    def _best(self, levers: Iterable[Lever], problem: Problem, trials: Trials) -> list[Tried]:
        """The changes that do away with most, and of these the likely ones."""
        found: list[Tried] = []
        for tried, lever in enumerate(levers):
            if tried >= CANDIDATES or trials.left <= 0:
                break
            gone = trials.gone(lever.change, problem)
            if gone is not None:
                found.append(((-len(gone), lever.likely), lever, gone))
        return _first(found)


def _first(found: Sequence[Tried]) -> list[Tried]:
    return [each for each in found if each[0] == min(order for order, _, _ in found)]


def _may_have_one(problem: Problem, known: Known) -> bool:
    node = problem.node
    if node is None or problem.graph or problem.because is not None or node not in known.calls or node.bodies:
        return False
    family = problem.fault.rule.family
    if problem.fault.rule is UNDEFINED_NAME:
        return True
    if family == DECLARED:
        given = (value for value in node.outputs if value is not None and value.name == problem.value)
        return any(contradicts(known.types.get(value), value) for value in given)
    return problem.by_rule and problem.is_error and family in TYPED


def _gone(problem: Problem, gone: Sequence[Problem], problems: Sequence[Problem]) -> str:
    others = [each for each in gone if each is not problem]
    following = [each for each in problems if each.because is problem]
    if not others and not following:
        return "this is gone"
    count = len(others)
    if following and count == len(following) and all(each.because is problem for each in others):
        return f"this and the {count} that {'follows' if count == 1 else 'follow'} are gone"
    return f"this and {count} more are gone" if count else "this is gone"


def _candidates(problem: Problem, graph: Graph, known: Known, makers: Makers) -> Iterator[Lever]:
    node = problem.node
    assert node is not None
    call = known.calls[node]
    if problem.fault.rule is UNDEFINED_NAME:
        yield from _unused_values(problem, node, graph, known)
        return
    yield from _at_node(node, call, known, makers, typed=problem.fault.rule.family == ELEMENT_TYPES)


def _at_makers(problem: Problem, known: Known, makers: Makers) -> Iterator[Lever]:
    """The likely changes of the nodes that give the node its inputs, and of those that make the clashing sizes."""
    node = problem.node
    if node is None or problem.fault.rule.family not in TYPED[:2]:
        return
    values: list[Value | None] = [*node.inputs[:MAKERS]]
    for index, axis in problem.fault.marks[:MAKERS]:
        given = node.inputs[index] if 0 <= index < len(node.inputs) else None
        found = trail(given, axis, makers) if given is not None else None
        values.append(found.value if found is not None else None)
    given_by = (makers.of(value) for value in values if value is not None and not makers.is_constant(value))
    nodes = dict.fromkeys(maker.node for maker in given_by if maker is not None and not maker.graph.path)
    for maker_node in nodes:
        call = known.calls.get(maker_node) if maker_node is not None else None
        if maker_node is None or maker_node is node or call is None or maker_node.bodies:
            continue
        for lever in _at_node(maker_node, call, known, makers, typed=False, others=inputs_of(node, known)):
            if not lever.likely:
                yield Lever(partial(_within, lever.told, maker_node), lever.change)


def _at_node(
    node: Node, call: Call, known: Known, makers: Makers, *, typed: bool, others: Sequence[Type | None] = ()
) -> Iterator[Lever]:
    inputs = inputs_of(node, known)
    yield from _attributes(node, call, inputs) if not typed else ()
    if sum(each is not None for each in node.inputs) > 1 and None not in node.inputs[:2]:
        left, right = node.inputs[:2]
        assert left is not None
        assert right is not None
        if known.types.get(left) != known.types.get(right):
            yield Lever(_swapped, Change(inputs={node: {0: right, 1: left}}))
    yield from _entries(node, call, inputs, makers, others) if not typed else ()


def _unused_values(problem: Problem, node: Node, graph: Graph, known: Known) -> Iterator[Lever]:
    """The values that nobody uses, in the place of an input that nothing defines."""
    missing = next(
        (at for at, value in enumerate(node.inputs) if value in graph.undefined and _is_meant(value, problem)), None
    )
    if missing is None:
        return
    used = {value for each in graph.nodes for value in each.inputs} | set(graph.outputs)
    for each in graph.nodes:
        for value in each.outputs if each is not node else ():
            if value is not None and value not in used and value in known.types:
                yield Lever(partial(_connected, value, missing), Change(inputs={node: {missing: value}}))


def _is_meant(value: Value | None, problem: Problem) -> bool:
    return value is not None and (problem.value is None or value.name == problem.value)


# --- attributes -------------------------------------------------------------------------------------------------------


def _attributes(node: Node, call: Call, inputs: Sequence[Type | None]) -> Iterator[Lever]:
    """Other values of the attributes that are numbers, flags or lists."""
    if call.signature is None:
        return
    given = call.attributes or {}
    shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
    rank = max(map(len, shapes), default=0)
    for name, (_, default) in call.signature.attributes.items():
        value = given.get(name, default)
        for other, likely in _others(name, value, rank, shapes):
            changed = replaced(call, attributes={**given, name: other})
            yield Lever(partial(_written, name, other), Change(calls={node: changed}), likely)


def _others(name: str, value: object, rank: int, shapes: Sequence[Sequence[object]]) -> Iterator[tuple[object, int]]:
    """Other values, each with how likely it is: axes and flags before sizes."""
    if isinstance(value, bool):
        yield not value, 0
    elif isinstance(value, int) and "axis" in name:
        yield from ((axis, 0) for axis in range(rank) if axis not in (value, value + rank))
    elif isinstance(value, int):
        if value in (0, 1):
            yield 1 - value, 0
        sizes = dict.fromkeys(dim for shape in shapes for dim in shape if isinstance(dim, int) and dim > 1)
        yield from ((size, 1) for size in list(sizes)[:ENTRIES] if size != value)
    elif isinstance(value, (tuple, list)) and value and all(isinstance(each, int) for each in value):
        for other, likely in _lists(tuple(value), rank):
            yield type(value)(other), likely


def _lists(value: tuple[int, ...], rank: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Other orders of axes, other single axes, and for lists of one number others of one number."""
    if len(value) == 1:
        yield from (((axis,), 0) for axis in range(rank + 1) if axis != value[0])
    elif len(set(value)) == 1:
        yield from (((each,) * len(value), 0) for each in range(UNIFORM) if each != value[0])
    if len(set(value)) < len(value) or not all(0 <= each < len(value) for each in value):
        return
    kept = tuple(each for each in value if each < rank)
    whole = (*kept, *(axis for axis in range(rank) if axis not in kept))
    if whole != value:
        yield whole, 0
    if rank <= ORDERED:
        likely = int(whole != value)
        yield from ((each, likely) for each in permutations(range(rank)) if each not in (value, whole))


# --- constants --------------------------------------------------------------------------------------------------------


def _entries(
    node: Node, call: Call, inputs: Sequence[Type | None], makers: Makers, others: Sequence[Type | None]
) -> Iterator[Lever]:
    """One other number in a constant that is an input of the node, or that an entry of an input comes from; ``others`` have sizes
    that it may have to be."""
    seen: set[tuple[Value, int]] = set()
    named = call.signature.inputs if call.signature is not None else ()
    for port, (value, known) in enumerate(zip(node.inputs, inputs)):
        entries = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
        if value is None or entries is None or len(entries) > ENTRIES:
            continue
        for index, entry in enumerate(entries):
            held = _held(value, index, makers)
            if held is None or held in seen or not isinstance(entry, int):
                continue
            seen.add(held)
            axes = port < len(named) and any(word in named[port] for word in ("ax", "order"))
            for wanted in _wanted(entries, index, (*inputs, *others), axes=axes):
                yield from _entry(*held, entry, wanted, makers)


def _held(value: Value, index: int, makers: Makers) -> tuple[Value, int] | None:
    """The constant, and the entry of it, that an entry of a value comes from."""
    at, position = read_from(value, Position(0, index, True), makers)
    if makers.is_constant(at):
        return (at, position.index) if position.in_contents else None
    maker = makers.of(at)
    if not position.in_contents or maker is None or maker.node is None:
        return None
    return held_by(maker.node, Position(maker.node.outputs.index(at), position.index, True), makers)


def _wanted(entries: Sequence[MaybeDim], index: int, inputs: Sequence[Type | None], *, axes: bool) -> Iterator[int]:
    """The numbers that an entry may have been meant to be: other ``axes``, or sizes and what is left of the elements."""
    found: dict[int, None] = {}
    if axes:
        rank = max((known.rank or 0 for known in inputs if isinstance(known, Tensor)), default=0)
        yield from (axis for axis in range(rank) if axis != entries[index])
        return
    for known in inputs:
        shape = known.shape if isinstance(known, Tensor) else None
        if not shape:
            continue
        copied = (
            shape[at] if entry == 0 and at < len(shape) else entry for at, entry in enumerate(entries) if at != index
        )
        rest, whole = product(entry for entry in copied if entry != -1), product(shape)
        left = quotient(whole, rest) if whole is not None and rest not in (None, 0) else None
        found.update(dict.fromkeys(dim for dim in (left, *shape) if isinstance(dim, int) and dim > 1))
    yield from (each for each in found if each != entries[index])


def _entry(constant: Value, index: int, entry: int, wanted: int, makers: Makers) -> Iterator[Lever]:
    known = makers.known.types.get(constant)
    if not isinstance(known, Tensor) or known.value is None or known.value[index] != entry:
        return
    contents = (*known.value[:index], wanted, *known.value[index + 1 :])
    where = f" (entry {index})" if len(contents) > 1 else ""
    told = partial(_held_otherwise, constant, f"{wanted} for {entry}", where)
    changed: Mapping[Value, Type] = {constant: Tensor(known.dtype, known.shape, contents)}
    yield Lever(told, Change(types=changed))


# --- words ------------------------------------------------------------------------------------------------------------


def _within(told: Callable[[Naming], str], node: Node, naming: Naming) -> str:
    return f"{told(naming)} in {naming.short(node)}"


def _swapped(naming: Naming) -> str:
    return "inputs 0 and 1 swapped"


def _connected(value: Value, index: int, naming: Naming) -> str:
    return f"{naming.called(value)}, which nothing uses, as input {index}"


def _written(name: str, value: object, naming: Naming) -> str:
    return naming.written(name, value)


def _held_otherwise(constant: Value, numbers: str, where: str, naming: Naming) -> str:
    return f"{numbers} in constant {naming.called(constant)}{where}"
