"""Whether a shape that the file declares can hold beside the one that is inferred, axes together and under what must
hold."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from irlint.dims import Dim, Expr, Shape, TooComplex, broadcast_parts, evaluated, same, substituted, symbol, symbols
from irlint.findings.statements import Relation
from irlint.findings.wording import counted
from irlint.inference.known import Demand, Known
from irlint.inference.unknowns import names_in
from irlint.model import Node, Value
from irlint.model.tensor import Tensor, Type
from irlint.records import NOTHING, record

#: A size that a demand keeps from being small is looked for up to here.
LARGEST_LEAST = 64


@record
class Least:
    """The least size that a symbol can have, and the first demand that says so."""

    size: int
    demand: Demand


@record(eq=False)
class Terms:
    """What must hold in a model beside its declarations.

    ``least`` are the least sizes of symbols, ``equal`` the sizes that an operator demands to be equal, perhaps among
    other possibilities, and ``inputs`` the symbols in the shapes of the model's inputs. ``joined`` are the symbols of
    two axes of one input that a node broadcasts together, where it takes few sizes of one of them only: the ranks of
    its inputs are not those that were meant.
    """

    least: Mapping[str, Least] = NOTHING
    equal: Container[frozenset[Dim]] = frozenset()
    inputs: Container[str] = frozenset()
    joined: Collection[frozenset[str]] = ()


def terms_of(known: Known) -> Terms:
    """The terms of a model, from what was worked out of it."""
    graph = known.model.graph
    relations = (each for demand in known.requires for each in demand.requirement.any_of if each.kind == "==")
    equal = {frozenset((each.left, each.right)) for each in relations}
    axes = [names_in([known.types.get(value)]) for value in graph.inputs] if graph is not None else []
    return Terms(_leasts(known.requires), equal, frozenset().union(*axes), _joined(known.requires, axes))


def _joined(demands: Iterable[Demand], axes: Sequence[frozenset[str]]) -> Collection[frozenset[str]]:
    """The two symbols of one input that a node joins with each other, and one of them with a number, too."""
    pairs: dict[Node, list[frozenset[str]]] = {}
    few: dict[Node, set[str]] = {}
    for demand in demands:
        relations = demand.requirement.any_of
        if demand.when or any(each.kind != "==" for each in relations):
            continue
        names = {frozenset((_name(each.left), _name(each.right))) - {""} for each in relations}
        wide = [each for each in names if len(each) == 2]
        if len(wide) == 1 and any(wide[0] <= each for each in axes):
            pairs.setdefault(demand.node, []).append(wide[0])
        elif len(names) == 1 and len(next(iter(names))) == 1:
            few.setdefault(demand.node, set()).update(*names)
    return [each for node, found in pairs.items() for each in found if few.get(node, set()) & each]


def _leasts(demands: Iterable[Demand]) -> dict[str, Least]:
    """From the demands that hold always and are about one symbol alone."""
    found: dict[str, Least] = {}
    seen: set[Relation] = set()
    for demand in demands:
        relations = demand.requirement.any_of
        if demand.when or len(relations) != 1 or relations[0].kind != ">=" or relations[0] in seen:
            continue
        seen.add(relations[0])
        left, right = relations[0].left, relations[0].right
        names = symbols(left) | symbols(right)
        if len(names) != 1:
            continue
        (name,) = names
        size = _least(name, left, right)
        if size and (name not in found or size > found[name].size):
            found[name] = Least(size, demand)
    return found


def _least(name: str, left: Dim, right: Dim) -> int:
    """The first size from which ``left >= right`` can hold, 0 where none is found."""
    for size in range(LARGEST_LEAST):
        try:
            if evaluated(left, {name: size}) >= evaluated(right, {name: size}):
                return size
        except (TooComplex, ZeroDivisionError):
            return 0
    return 0


NO_TERMS = Terms()


def clashes(
    inferred: Shape | None, declared: Shape | None, terms: Terms = NO_TERMS, *, returned: bool = False
) -> list[str]:
    """Where the two shapes cannot both hold, or a size is declared as that of an input and is another; as texts.

    Of what the model is declared to have ``returned``, a number is another size than that of an input, even if the two
    have to be equal.
    """
    if inferred is None or declared is None or inferred == declared:
        return []
    if len(inferred) != len(declared):
        return [f"{counted(len(declared), 'axis', 'axes')} against {len(inferred)}"]
    pairs = [(axis, a, b) for axis, (a, b) in enumerate(zip(inferred, declared)) if a is not None and b is not None]
    found = [
        f"axis {axis} is {b} against {a}{_because(a, b, terms.least)}"
        for axis, a, b in pairs
        if isinstance(b, int) and (same(a, b) is False or _because(a, b, terms.least))
    ]
    if not found and any(isinstance(b, Expr) for _, _, b in pairs):
        found = [f"axis {axis} is {b} against {a}" for axis, a, b in pairs if _of_another_input(a, b, terms, returned)]
    return found or _together(pairs)


def disagrees(found: Type | None, value: Value, terms: Terms) -> bool:
    """Whether a shape cannot hold beside one that the file declares of a value of the main graph."""
    return isinstance(found, Tensor) and any(
        isinstance(each.type, Tensor)
        and bool(clashes(found.shape, each.type.shape, terms, returned=each.by == "output"))
        for each in value.declared
    )


def _because(a: Dim, b: int, least: Mapping[str, Least]) -> str:
    """Why ``a`` is not ``b``, where what must hold says it; "" where it does not."""
    if isinstance(a, int) or same(a, b) is False:
        return ""
    known = {name: least[name] for name in symbols(a) if name in least}
    try:
        raised = substituted(a, {name: symbol(name, each.size) for name, each in known.items()})
    except TooComplex:
        return ""
    if not known or same(raised, b) is not False:
        return ""
    reasons = [
        f"{each.demand.node.op} {each.demand.node.label!r} takes {name} >= {each.size}" for name, each in known.items()
    ]
    return f" ({', '.join(reasons)})"


def _together(pairs: list[tuple[int, Dim, Dim]]) -> list[str]:
    """The axes that give one name two sizes."""
    sizes: dict[str, tuple[int, int]] = {}
    for axis, a, b in pairs:
        for name, size in ((_name(a), b), (_name(b), a)):
            if not name or not isinstance(size, int):
                continue
            other, stated = sizes.setdefault(name, (axis, size))
            if stated != size:
                return [f"axis {other} makes {name} {stated}, and axis {axis} makes it {size}"]
    for axis, a, b in pairs:
        try:
            mine, theirs = (substituted(dim, {name: size for name, (_, size) in sizes.items()}) for dim in (a, b))
        except TooComplex:
            continue
        if same(mine, theirs) is False:
            return [f"axis {axis} is {b} against {a}, where {_stated(sizes, a, b)}"]
    return []


def _name(dim: Dim) -> str:
    """The name of a dim that is one symbol, "" for any other."""
    names = symbols(dim) if isinstance(dim, Expr) else frozenset()
    return next(iter(names)) if len(names) == 1 and str(dim) in names else ""


def _of_another_input(a: Dim, b: Dim, terms: Terms, returned: bool) -> bool:
    """Whether ``b`` is a size of an input, and ``a`` a number or a size of another one that nothing demands to be the
    same, or what ``b`` and another axis of its input have been joined to."""
    if _name(b) not in terms.inputs or (frozenset((a, b)) in terms.equal and not (returned and isinstance(a, int))):
        return False
    if joins(a, b):
        names = {_name(part) for part in broadcast_parts(a)}
        return any(each <= names for each in terms.joined)
    return isinstance(a, int) or (_name(a) in terms.inputs and a != b)


def joins(a: Dim | None, b: Dim | None) -> bool:
    """Whether ``a`` is what ``b`` and other sizes are broadcast to."""
    parts = () if a is None else broadcast_parts(a)
    return len(parts) > 1 and b in parts


def _stated(sizes: Mapping[str, tuple[int, int]], *dims: Dim) -> str:
    names = sorted({name for dim in dims for name in symbols(dim) if name in sizes})
    return ", ".join(f"axis {sizes[name][0]} makes {name} {sizes[name][1]}" for name in names)
