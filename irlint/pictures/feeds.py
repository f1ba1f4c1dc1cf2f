"""With which sizes of one input a finding is gone: the sizes are solved for, not guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import gcd

from irlint.contracts.fixed import fixes_products
from irlint.contracts.simplified import simplified
from irlint.contracts.sizes import solved
from irlint.dims import Dim, MaybeDim, Shape, symbol, symbols
from irlint.findings.statements import Relation, Requirement
from irlint.findings.wording import listed
from irlint.inference.origins import Makers, shape_of, sources
from irlint.inference.trials import DECLARED, Change, Trials
from irlint.model import Problem, Value
from irlint.model.tensor import Tensor
from irlint.pictures.candidates import Lever
from irlint.pictures.other_values import GUESS, SELDOM
from irlint.pictures.reasons import Naming

#: What stands for the size that is solved for, and for the part that sizes in proportion have in common.
WANTED = symbol("a fed size", 1)

#: So many inputs are tried, and sizes so far away from the one that is there.
INPUTS = 3
FAR = 16_384

#: Neighbours that do as well are told of up to so many.
RANGE = 64

#: Demands that leave fewer sizes than this are no demands of a model that is meant to be so.
FEW = 6

#: Conditions of more characters than this are not solved, and of more than this not tried.
LONG = 120
LONGEST = 4_000

#: An input of so many axes is an image, whose spatial sizes go together.
IMAGE = 4

#: So many nodes are gone back through on the way to an input.
REACH = 600


def leaves_sizes(requirement: Requirement) -> bool:
    """Whether what a node demands of one size leaves more than a few; what is about several is taken to, but a product that is fixed."""
    if len(requirement.condition) > LONG:
        return True
    relations = [simplified(each) for each in requirement.any_of]
    names = {name for each in relations for name in (*symbols(each.left), *symbols(each.right))}
    if len(names) > 1:
        return not fixes_products(tuple(relations))
    sizes = solved(relations) if names else None
    return sizes is None or sizes.greatest is None or not (sizes.is_empty or sizes.few(FEW))


def feeds(problem: Problem, clashing: Sequence[tuple[Value, int]], makers: Makers, trials: Trials) -> Iterator[Lever]:
    """Other sizes of the inputs that the clashing ones come from by way of other nodes, one input at a time: all of its axes in proportion, and each; then the
    first axis of all that have it alike."""
    known, node = makers.known, problem.node
    axes: dict[Value, dict[int, None]] = {}
    for value, axis in clashing:
        for given, at in sources(value, axis, makers, REACH):
            shape = shape_of(given, known)
            if node is None or given in node.inputs or makers.is_constant(given):
                continue
            if shape is not None and isinstance(shape[at], int) and shape[at] != 0:
                axes.setdefault(given, {})[at] = None
    for given, every in list(axes.items())[:INPUTS] if node is not None else ():
        for at, some in enumerate(_together(shape_of(given, known) or (), tuple(sorted(every)))):
            yield from _fed(problem, [given], some, trials, whole=not at)
    for size in dict.fromkeys((shape_of(given, known) or (None,))[0] for given, every in axes.items() if 0 in every):
        batch = [given for given in trials.inputs if (shape_of(given, known) or (None,))[0] == size]
        if len(batch) > 1:
            yield from _fed(problem, batch, (0,), trials, whole=True)


def _together(shape: Shape, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The axes to change at once, the likely ones first: those longer than 1, of an image also the others of the same length; then
    the spatial ones, the first one, and of what is no image each."""
    is_image = len(shape) >= IMAGE
    long = tuple(axis for axis in axes if shape[axis] != 1) or axes
    if is_image:
        long = tuple(
            at for at, dim in enumerate(shape) if at in long or (dim != 1 and dim in [shape[each] for each in long])
        )
    spatial = tuple(axis for axis in long if axis > 1) if is_image else ()
    single = [(axis,) for axis in axes if not is_image or not axis]
    return [each for each in dict.fromkeys((long, spatial, *single)) if each]


def _fed(
    problem: Problem, given: Sequence[Value], axes: tuple[int, ...], trials: Trials, *, whole: bool
) -> Iterator[Lever]:
    """Inputs with other sizes on axes, on which all of them have the same."""
    types = {value: known for value in given if isinstance(known := trials.known.types.get(value), Tensor)}
    node, shape = problem.node, types[given[0]].shape
    assert node is not None
    assert shape is not None
    sizes = [dim for axis in axes if isinstance(dim := shape[axis], int)]
    common = gcd(*sizes)

    def change(part: Dim) -> Change:
        new = [size // common * part for size in sizes]
        changed = {value: Tensor(known.dtype, _with(known.shape or (), axes, new)) for value, known in types.items()}
        return Change(types=changed, stale=not trials.known.format.ports_declare)

    carried = trials.carried(change(WANTED), node)
    if carried is None:
        return
    answer, demands = carried
    if problem.fault.rule.family == DECLARED:
        wanted = _as_declared(problem, answer.outputs or ())
    else:
        wanted = [_without_one(each.any_of) for each in answer.requirements] if answer.outputs is not None else []
    ranges = _nearest(common, (*wanted, *(each.any_of for each in demands))) if wanted else []

    def fits(*parts: int) -> bool:
        return all(trials.outcome(change(part), problem) is not None for part in dict.fromkeys(parts))

    tried = [(each if fits(*each) else (_roundest(*each),) * 2) for each in ranges]
    fitting = [each for each in tried if each in ranges or fits(*each)]
    if not fitting:
        return
    if len(set(sizes)) > 1:
        fitting = [(best, best) for best in (_roundest(*fitting[0]),)]
    new = [size // common * fitting[0][0] for size in sizes]
    told = partial(_told, given, axes, sizes, new, fitting)
    yield Lever(told, change(_roundest(*fitting[0])), SELDOM if whole else GUESS)


def _without_one(relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """What is demanded without the sizes of 1 that are broadcast."""
    return tuple(each for each in relations if each.right != 1) or relations


def _with(shape: Shape, axes: Sequence[int], sizes: Sequence[Dim]) -> Shape:
    found = dict(zip(axes, sizes))
    return tuple(found.get(axis, dim) for axis, dim in enumerate(shape))


def _as_declared(problem: Problem, outputs: Sequence[object]) -> list[tuple[Relation, ...]]:
    """That the output is what the file declares for it."""
    assert problem.node is not None
    for value, given in zip(problem.node.outputs, outputs):
        declared = value.type if value is not None and value.name == problem.value else None
        if not isinstance(given, Tensor) or not isinstance(declared, Tensor):
            continue
        pairs: Iterable[tuple[MaybeDim, MaybeDim]] = zip(given.shape or (), declared.shape or ())
        return [
            (Relation("==", one, other),)
            for one, other in pairs
            if one is not None and isinstance(other, int) and one != other
        ]
    return []


def _nearest(size: int, demands: Iterable[Sequence[Relation]]) -> list[tuple[int, int]]:
    """The nearest sizes below and above one with which all of the demands hold that are about nothing else, each with the neighbours that
    do as well; none where ``size`` does, and where elements are only to be divided otherwise."""
    of_one = [each for each in demands if {name for one in each for name in _names(one)} == symbols(WANTED)]
    if not of_one or any(relation.kind == "%" for relations in of_one for relation in relations):
        return []

    condition = " and ".join(f"({' or '.join(map(str, relations))})" for relations in of_one)
    if len(condition) > LONGEST:
        return []
    try:
        code = compile(condition.replace(str(WANTED), "n"), "", "eval")
    except SyntaxError:  # sizes within sizes, deeper than Python reads them
        return []

    def fits(number: int) -> bool:
        try:
            return number > 0 and bool(
                eval(code, {"__builtins__": {}, "min": min, "max": max, "abs": abs, "n": number})
            )
        except ZeroDivisionError:
            return False

    if fits(size):
        return []
    below = next((near for near in range(size - 1, max(0, size - FAR), -1) if fits(near)), None)
    above = next((near for near in range(size + 1, size + FAR) if fits(near)), None)
    found = []
    for near, step in ((below, -1), (above, 1)):
        if near is not None:
            last = near
            while fits(last + step) and abs(last - near) < RANGE:
                last += step
            found.append((min(near, last), max(near, last)))
    return found


def _roundest(first: int, last: int) -> int:
    """Of the numbers from one to another the one that can be halved most often."""
    return max(range(first, last + 1), key=lambda number: number & -number)


def _names(relation: Relation) -> frozenset[str]:
    return symbols(relation.left) | symbols(relation.right)


def _told(
    given: Sequence[Value],
    axes: tuple[int, ...],
    old: Sequence[int],
    new: Sequence[int],
    fitting: Sequence[tuple[int, int]],
    naming: Naming,
) -> str:
    where = f"axis {axes[0]}" if len(axes) == 1 else f"axes {listed(list(map(str, axes)))}"
    if len(set(old)) == 1:
        ranges = (f"{first}" if first == last else f"{first} to {last}" for first, last in fitting)
        numbers = f"{' or '.join(ranges)} for {old[0]}"
    else:
        numbers = f"{' and '.join(map(str, new))} for {' and '.join(map(str, old))}"
    names = listed([naming.called(each) for each in given])
    by = naming.known.overridden.get(given[0])
    return f"{numbers} on {where} of input{'s' * (len(given) > 1)} {names}" + f", which {by} gives," * bool(by)
