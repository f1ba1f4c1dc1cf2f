"""Compares a declared shape with an inferred one: can both hold, given the requirements of the model?"""

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

#: Only sizes below this one are tried when the least size that satisfies a demand is searched.
LARGEST_LEAST = 64


@record
class Least:
    """The least size that a symbol can have, and the first demand that implies it."""

    size: int
    demand: Demand


@record(eq=False)
class Terms:
    """The facts about sizes in a model, without its declarations.

    ``least`` are the least sizes of symbols. ``equal`` are the pairs of sizes in an equality that an operator requires,
    alone or as an alternative. ``inputs`` are the symbols in the shapes of the model's inputs. ``joined`` are pairs of
    symbols of one input that a node broadcasts together. They are recorded only if the node also limits one of them to
    few sizes, a sign that its inputs are misaligned.
    """

    least: Mapping[str, Least] = NOTHING
    equal: Container[frozenset[Dim]] = frozenset()
    inputs: Container[str] = frozenset()
    joined: Collection[frozenset[str]] = ()


def terms_of(known: Known) -> Terms:
    """The terms of a model, from the result of inference."""
    graph = known.model.graph
    relations = (each for demand in known.requires for each in demand.requirement.any_of if each.kind == "==")
    equal = {frozenset((each.left, each.right)) for each in relations}
    axes = [names_in([known.types.get(value)]) for value in graph.inputs] if graph is not None else []
    return Terms(_leasts(known.requires), equal, frozenset().union(*axes), _joined(known.requires, axes))


def _joined(demands: Iterable[Demand], axes: Sequence[frozenset[str]]) -> Collection[frozenset[str]]:
    """The pairs of symbols of one input that a node requires to be equal, if it also limits one of them to few
    sizes."""
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
    """The least size of each symbol, from unconditional demands on one symbol."""
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
    """The first size for which ``left >= right`` holds; 0 if none is found."""
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
    """The contradictions between the two shapes, such as ``axis 0 is 3 against 2*N``; [] if both can hold.

    A declared symbol ``N`` of an input is also contradicted by an inferred number or by another symbol of an input,
    unless an operator requires the two to be equal. If the shape is declared for an output of the model (``returned``),
    a number always contradicts ``N``.
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
    """Whether an inferred shape contradicts one that the file declares for a value of the main graph."""
    return isinstance(found, Tensor) and any(
        isinstance(each.type, Tensor)
        and bool(clashes(found.shape, each.type.shape, terms, returned=each.by == "output"))
        for each in value.declared
    )


def _because(a: Dim, b: int, least: Mapping[str, Least]) -> str:
    """Why ``a`` cannot be ``b`` given the least sizes, as the end of a sentence; "" if it can."""
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
    """Texts about axes that give one symbol two values, such as ``axis 0 makes N 2, and axis 1 makes it 3``."""
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
    """The name of a dim that is a single symbol, else ""."""
    names = symbols(dim) if isinstance(dim, Expr) else frozenset()
    return next(iter(names)) if len(names) == 1 and str(dim) in names else ""


def _of_another_input(a: Dim, b: Dim, terms: Terms, returned: bool) -> bool:
    """Whether ``b`` is a symbol of an input, and ``a`` is a number or another symbol of an input that may differ from
    it.

    If ``a`` is a broadcast of ``b``, the result is True only for a pair in ``terms.joined``.
    """
    if _name(b) not in terms.inputs or (frozenset((a, b)) in terms.equal and not (returned and isinstance(a, int))):
        return False
    if joins(a, b):
        names = {_name(part) for part in broadcast_parts(a)}
        return any(each <= names for each in terms.joined)
    return isinstance(a, int) or (_name(a) in terms.inputs and a != b)


def joins(a: Dim | None, b: Dim | None) -> bool:
    """Whether ``a`` is the size to which ``b`` and other sizes are broadcast."""
    parts = () if a is None else broadcast_parts(a)
    return len(parts) > 1 and b in parts


def _stated(sizes: Mapping[str, tuple[int, int]], *dims: Dim) -> str:
    names = sorted({name for dim in dims for name in symbols(dim) if name in sizes})
    return ", ".join(f"axis {sizes[name][0]} makes {name} {sizes[name][1]}" for name in names)
