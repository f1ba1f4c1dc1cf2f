"""Finds names of sizes that a file uses for two different sizes."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Dim, Expr, TooComplex, same, substituted, symbol, symbols
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import Relation
from irlint.findings.wording import first_few
from irlint.inference.known import Demand, Known
from irlint.inference.unknowns import names_in
from irlint.model import Declaration, Graph, Node, Problem, Value
from irlint.model.tensor import Tensor, tensor_shape
from irlint.records import NOTHING, record, replaced

#: Comparisons assume that input sizes are at least this number, because 1 is often a special case.
LEAST = 2

#: At most this many sizes of one name are compared with each other.
MOST_SIZES = 16

_REUSE = "ONNX Runtime may use one buffer for values whose sizes have the same names; it fails if the sizes differ"


@record
class Place:
    """An axis for which the file declares a named size."""

    value: Value
    axis: int
    #: The inferred size.
    size: Dim
    #: The node that computes the value; None for inputs and initializers.
    node: Node | None


def problems(known: Known, found: Collection[Problem]) -> list[Problem]:
    """At most one problem: input sizes that must differ have the same name, or names stand for two sizes.

    Values with a problem of ``found``, and values computed from them, are ignored.
    """
    graph = known.model.graph
    if graph is None:
        return []
    places = _places(graph, known)
    wrong = _wrong_values(found, graph, known)
    shared = list(_shared_name_problem(graph, places, wrong, known))
    if shared:
        return shared
    inputs = _input_symbols(known)
    clashes = [pair for each in places.values() if (pair := _clash(each, wrong, known, inputs)) is not None]
    return [_clashes_problem(clashes, known)] if clashes else []


def _places(graph: Graph, known: Known) -> dict[str, list[Place]]:
    """The places of each name in the main graph, except for optional inputs."""
    optional = set(graph.inputs).intersection(graph.constants) if known.model.inputs_have_defaults else ()
    found: dict[str, list[Place]] = {}
    values: list[tuple[Value, Node | None]] = [(value, None) for value in (*graph.inputs, *graph.constants)]
    values += [(value, node) for node in graph.nodes for value in node.outputs if value is not None and value.declared]
    for value, node in dict(values).items():
        given = known.types.get(value)
        if value in optional or not isinstance(given, Tensor) or given.shape is None:
            continue
        for declaration in value.declared:
            for axis, name in _named_axes(declaration, len(given.shape)):
                size = given.shape[axis]
                if size is not None:
                    found.setdefault(name, []).append(Place(value, axis, size, node))
    return found


def _named_axes(declaration: Declaration, rank: int) -> Iterator[tuple[int, str]]:
    """(axis, name) of each axis declared with a name; nothing if the declared rank is not ``rank``."""
    shape = tensor_shape(declaration.type)
    if shape is not None and len(shape) == rank:
        sizes = ((axis, dim) for axis, dim in enumerate(shape) if isinstance(dim, Expr))
        yield from ((axis, str(dim)) for axis, dim in sizes if str(dim) in symbols(dim))


def _wrong_values(found: Collection[Problem], graph: Graph, known: Known) -> set[Value | None]:
    """The outputs with a problem of ``found``, and the values computed from them."""
    wrong = {(each.node, each.value) for each in found}
    values: set[Value | None] = set()
    for node in known.order(graph).nodes:
        if not values.isdisjoint(node.inputs):
            values.update(node.outputs)
        values.update(each for each in node.outputs if each is not None and (node, each.name) in wrong)
    return values


def _clash(
    places: Sequence[Place], wrong: Collection[Value | None], known: Known, inputs: Container[str]
) -> tuple[Place, Place] | None:
    """The first two places of a name whose sizes certainly differ. Two axes of the same input or initializer are not
    compared."""
    first: dict[Dim, Place] = {}
    for place in places:
        if place.value not in wrong:
            first.setdefault(place.size, place)
    sizes = list(first)[:MOST_SIZES]
    for at, size in enumerate(sizes):
        for other_size in sizes[at + 1 :]:
            is_in_one_constant = first[size].value is first[other_size].value and first[size].node is None
            if (
                not is_in_one_constant
                and _differ(size, other_size, inputs)
                and not _may_be_required_equal(size, other_size, known)
            ):
                return first[size], first[other_size]
    return None


def _differ(one: Dim, other: Dim, inputs: Container[str]) -> bool:
    """Whether two sizes differ for all values of their symbols. Symbols of ``inputs`` are at least LEAST."""
    names = {name: symbol(name, LEAST) for name in (*symbols(one), *symbols(other)) if name in inputs}
    try:
        return same(substituted(one, names), substituted(other, names)) is False
    except TooComplex:
        return False


def _may_be_required_equal(one: Dim, other: Dim, known: Known) -> bool:
    return any(
        {each.left, each.right} == {one, other} for demand in known.requires for each in demand.requirement.any_of
    )


def _clashes_problem(clashes: Sequence[tuple[Place, Place]], known: Known) -> Problem:
    one, other = clashes[0]
    more = len(clashes) - 1
    also = f", and {more} other name{'s' * (more > 1)} of the graph {'are' if more > 1 else 'is'} used for two" * bool(
        more
    )
    name = _declared_name(one, known)
    fault = SHAPE_CONTRADICTED.fault(
        f"{name!r} is the name of two sizes: axis {one.axis} of {one.value.name!r} is {one.size}, and "
        f"axis {other.axis} of {other.value.name!r} is {other.size}{also}",
        help=f"correct what changes the size, or give axis {other.axis} of {other.value.name!r} a name of its own",
        notes=(_REUSE,),
        severity=Severity.WARNING,
        role="size",
    )
    node = other.node
    return Problem(fault, "", node, other.value.name, node.place if node is not None else None)


def _declared_name(place: Place, known: Known) -> str:
    """The name that the file gives to the size at a place; "" if it has none."""
    for declaration in place.value.declared:
        shape = tensor_shape(declaration.type)
        if shape is not None and place.axis < len(shape) and isinstance(shape[place.axis], Expr):
            name = str(shape[place.axis])
            return known.symbols.get(name, name)
    return ""


# --- inputs -----------------------------------------------------------------------------------------------------------


def _shared_name_problem(
    graph: Graph, places: Mapping[str, Sequence[Place]], wrong: Collection[Value | None], known: Known
) -> Iterator[Problem]:
    """The problem of the only name of input sizes, if a node needs sizes that differ although all have this name."""
    name = _shared_name(graph, places)
    if name is None:
        return
    demands = (
        each for each in known.requires if _is_unmet_condition_on(each, name) and not set(each.node.inputs) & set(wrong)
    )
    demand = next(demands, None)
    if demand is None or not _can_work_with_separate_names(demand.node, graph, known):
        return
    of_inputs = [place for place in places[name] if place.value in graph.inputs]
    fault = _shared_name_fault(name, of_inputs, demand, known)
    yield Problem(fault, demand.graph, demand.node, place=demand.node.place)


def _shared_name(graph: Graph, places: Mapping[str, Sequence[Place]]) -> str | None:
    """The only name of input sizes. None if inputs have several names, or if the name is always on the same axis, such
    as axis 0 of several inputs."""
    inputs = set(graph.inputs)
    axes = {name: {place.axis for place in each if place.value in inputs} for name, each in places.items()}
    named = [name for name, each in axes.items() if each]
    return named[0] if len(named) == 1 and len(axes[named[0]]) > 1 else None


def _symbols(demand: Demand) -> frozenset[str]:
    relations = demand.requirement.any_of
    return frozenset().union(*[symbols(each.left) | symbols(each.right) for each in relations])


def _is_unmet_condition_on(demand: Demand, name: str) -> bool:
    """Whether an unconditional demand involves only ``name``, and is false for every size of LEAST or more."""
    return not demand.when and _symbols(demand) == {name} and _is_unmet(demand, (name,))


def _is_unmet(demand: Demand, inputs: Container[str]) -> bool:
    return all(each.kind == "==" and _differ(each.left, each.right, inputs) for each in demand.requirement.any_of)


def _can_work_with_separate_names(node: Node, graph: Graph, known: Known) -> bool:
    """Whether sizes can meet a condition of the node if each axis of each input has its own name."""
    separate = with_separate_names(graph, known)
    inputs = _input_symbols(separate)
    return any(each.node is node and not _is_unmet(each, inputs) for each in separate.requires)


def _input_symbols(known: Known) -> frozenset[str]:
    graph = known.model.graph
    return names_in([known.types.get(value) for value in graph.inputs]) if graph is not None else frozenset()


def with_separate_names(graph: Graph, known: Known) -> Known:
    """The result of a new inference in which each dynamic axis of each input has its own name."""
    from irlint.inference.walk import Walk

    shapes = {
        value: tuple(
            symbol(f"_apart_{at}_{axis}", 1) if isinstance(dim, Expr) else dim for axis, dim in enumerate(given.shape)
        )
        for at, value in enumerate(graph.inputs)
        if isinstance(given := known.types.get(value), Tensor) and given.shape and value not in graph.constants
    }
    return replaced(Walk(known.model, shapes).known(graph), overridden=NOTHING)


def with_consequences(found: Sequence[Problem], known: Known) -> list[Problem]:
    """The problems. If separate names of the axes solve a problem, it becomes a warning, and its ``because`` is the
    problem of the shared name."""
    from irlint.checks import frozen

    graph = known.model.graph
    sizes = [each for each in found if each.fault.rule in (frozen.FROZEN_SIZE, frozen.NO_SIZES_FIT)]
    root = next(each for each in found if each.fault.role == "size")
    if graph is None or not sizes or _shared_name(graph, _places(graph, known)) is None:
        return list(found)
    remaining = {(each.node, each.fault.rule) for each in frozen.problems(with_separate_names(graph, known))}
    solved = {id(each) for each in sizes if (each.node, each.fault.rule) not in remaining}
    return [
        replaced(each, because=root, fault=each.fault.lowered(Severity.WARNING)) if id(each) in solved else each
        for each in found
    ]


def _shared_name_fault(name: str, places: Sequence[Place], demand: Demand, known: Known) -> Fault:
    axes = [f"axis {place.axis} of {place.value.name!r}" for place in places]
    relation: Relation = demand.requirement.any_of[0]
    return SHAPE_CONTRADICTED.fault(
        f"{known.symbols.get(name, name)!r} is the name of input sizes that must differ ({first_few(axes, 3)}): "
        f"here {relation} is needed",
        help="give axes whose sizes may differ their own names",
        notes=(_REUSE,),
        severity=Severity.WARNING,
        role="size",
    )
