"""Compares a declared shape with the inferred shape, given the requirements of the model's operators."""

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

#: The search for the least size that meets a demand stops at this size.
MOST_TRIED = 64


@record
class LeastSize:
    """The least size of a symbol, and the first demand that implies it."""

    size: int
    demand: Demand


@record(eq=False)
class SizeFacts:
    """Facts about the sizes of a model that do not come from its declarations."""

    least: Mapping[str, LeastSize] = NOTHING
    #: The pairs of sizes in the equalities that operators require. An equality may be one of several alternatives.
    equal: Container[frozenset[Dim]] = frozenset()
    #: The symbols in the shapes of the model's inputs.
    inputs: Container[str] = frozenset()
    #: The pairs of symbols of one input that a node broadcasts together, probably because its inputs are misaligned.
    misaligned: Collection[frozenset[str]] = ()


def size_facts(known: Known) -> SizeFacts:
    """The facts about the sizes of a model."""
    graph = known.model.graph
    relations = (relation for demand in known.requires for relation in demand.requirement.any_of)
    equal = {frozenset((relation.left, relation.right)) for relation in relations if relation.kind == "=="}
    symbols_of_inputs = [names_in([known.types.get(value)]) for value in graph.inputs] if graph is not None else []
    return SizeFacts(
        _least_sizes(known.requires),
        equal,
        frozenset().union(*symbols_of_inputs),
        _misaligned(known.requires, symbols_of_inputs),
    )


def _misaligned(demands: Iterable[Demand], symbols_of_inputs: Sequence[frozenset[str]]) -> Collection[frozenset[str]]:
    """The pairs of symbols of one input that a node requires to be equal.

    Includes only pairs in which the node also limits one of the two symbols to a few numbers.
    """
    pairs: dict[Node, list[frozenset[str]]] = {}
    few: dict[Node, set[str]] = {}
    for demand in demands:
        relations = demand.requirement.any_of
        if demand.when or any(relation.kind != "==" for relation in relations):
            continue
        names = {frozenset((_name(relation.left), _name(relation.right))) - {""} for relation in relations}
        pairs_of_names = [pair for pair in names if len(pair) == 2]
        if len(pairs_of_names) == 1 and any(pairs_of_names[0] <= pair for pair in symbols_of_inputs):
            pairs.setdefault(demand.node, []).append(pairs_of_names[0])
        elif len(names) == 1 and len(next(iter(names))) == 1:
            few.setdefault(demand.node, set()).update(*names)
    return [pair for node, found in pairs.items() for pair in found if few.get(node, set()) & pair]


def _least_sizes(demands: Iterable[Demand]) -> dict[str, LeastSize]:
    """The least size of each symbol, from the demands that always apply and that contain no other symbol."""
    found: dict[str, LeastSize] = {}
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
        size = _least_size(name, left, right)
        if size and (name not in found or size > found[name].size):
            found[name] = LeastSize(size, demand)
    return found


def _least_size(name: str, left: Dim, right: Dim) -> int:
    """The first size of a symbol with ``left >= right``; 0 if none is found."""
    for size in range(MOST_TRIED):
        try:
            if evaluated(left, {name: size}) >= evaluated(right, {name: size}):
                return size
        except (TooComplex, ZeroDivisionError):
            return 0
    return 0


NO_FACTS = SizeFacts()


def clashes(
    inferred: Shape | None, declared: Shape | None, facts: SizeFacts = NO_FACTS, *, returned: bool = False
) -> list[str]:
    """The contradictions between two shapes, such as ``axis 0 is 3 against 2*N``; [] if both can hold.

    If the declared size is the symbol of an input, an inferred number contradicts it, and so does the symbol of another
    input. There is no contradiction if an operator requires the two sizes to be equal. In the declaration of a model's
    output (``returned``), an inferred number contradicts the symbol even then.
    """
    if inferred is None or declared is None or inferred == declared:
        return []
    if len(inferred) != len(declared):
        return [f"{counted(len(declared), 'axis', 'axes')} against {len(inferred)}"]
    pairs = [(axis, a, b) for axis, (a, b) in enumerate(zip(inferred, declared)) if a is not None and b is not None]
    found = [
        f"axis {axis} is {b} against {a}{_reason(a, b, facts.least)}"
        for axis, a, b in pairs
        if isinstance(b, int) and (same(a, b) is False or _reason(a, b, facts.least))
    ]
    if not found and any(isinstance(b, Expr) for _, _, b in pairs):
        found = [
            f"axis {axis} is {b} against {a}" for axis, a, b in pairs if _differs_from_input(a, b, facts, returned)
        ]
    return found or _joint_contradictions(pairs)


def disagrees(found: Type | None, value: Value, facts: SizeFacts) -> bool:
    """Whether an inferred shape contradicts a declared shape of a value of the main graph."""
    return isinstance(found, Tensor) and any(
        isinstance(declaration.type, Tensor)
        and bool(clashes(found.shape, declaration.type.shape, facts, returned=declaration.by == "output"))
        for declaration in value.declared
    )


def _reason(a: Dim, b: int, least: Mapping[str, LeastSize]) -> str:
    """Why the least sizes of symbols forbid that ``a`` equals ``b``, in parentheses; "" if they allow it."""
    if isinstance(a, int) or same(a, b) is False:
        return ""
    known = {name: least[name] for name in symbols(a) if name in least}
    try:
        raised = substituted(a, {name: symbol(name, least_size.size) for name, least_size in known.items()})
    except TooComplex:
        return ""
    if not known or same(raised, b) is not False:
        return ""
    reasons = [
        f"{least_size.demand.node.op} {least_size.demand.node.label!r} takes {name} >= {least_size.size}"
        for name, least_size in known.items()
    ]
    return f" ({', '.join(reasons)})"


def _joint_contradictions(pairs: list[tuple[int, Dim, Dim]]) -> list[str]:
    """The first contradiction between two axes, such as ``axis 0 makes N 2, and axis 1 makes it 3``; else []."""
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
            inferred, declared = (substituted(dim, {name: size for name, (_, size) in sizes.items()}) for dim in (a, b))
        except TooComplex:
            continue
        if same(inferred, declared) is False:
            return [f"axis {axis} is {b} against {a}, where {_sizes_text(sizes, a, b)}"]
    return []


def _name(dim: Dim) -> str:
    """The name of a dim that is a single symbol, else ""."""
    names = symbols(dim) if isinstance(dim, Expr) else frozenset()
    return next(iter(names)) if len(names) == 1 and str(dim) in names else ""


def _differs_from_input(a: Dim, b: Dim, facts: SizeFacts, returned: bool) -> bool:
    """Whether the declared size ``b`` is the symbol of an input and the inferred size ``a`` contradicts it.

    See ``clashes``. A size to which ``b`` and others are broadcast contradicts ``b`` only if the node is misaligned.
    """
    if _name(b) not in facts.inputs or (frozenset((a, b)) in facts.equal and not (returned and isinstance(a, int))):
        return False
    if joins(a, b):
        names = {_name(part) for part in broadcast_parts(a)}
        return any(pair <= names for pair in facts.misaligned)
    return isinstance(a, int) or (_name(a) in facts.inputs and a != b)


def joins(a: Dim | None, b: Dim | None) -> bool:
    """Whether ``a`` is the size to which ``b`` and other sizes are broadcast."""
    parts = () if a is None else broadcast_parts(a)
    return len(parts) > 1 and b in parts


def _sizes_text(sizes: Mapping[str, tuple[int, int]], *dims: Dim) -> str:
    names = sorted({name for dim in dims for name in symbols(dim) if name in sizes})
    return ", ".join(f"axis {sizes[name][0]} makes {name} {sizes[name][1]}" for name in names)
