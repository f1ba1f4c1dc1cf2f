"""Sizes that the file declares free and that the graph has frozen, and models that no sizes fit."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Expr, evaluated, symbols
from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.known import Demand, Known
from irlint.inference.origins import inputs_of
from irlint.inference.questions import asked_again
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Node, Problem
from irlint.model.tensor import Tensor, Type

if TYPE_CHECKING:
    from irlint.contracts.contract import Contract

FROZEN_SIZE = Rule(
    "IRL608",
    "frozen-size",
    Severity.WARNING,
    "A size of an input is declared free, and the graph works with one value only.",
    why="""An exporter that traces a model with one example writes the example's sizes into Reshape targets, masks, states or position
tables. The declaration still promises that the size is free; the model loads, and fails on whoever feeds another one.""",
    mend="Export with that size as a dynamic one down to the node (-1, or the Shape of the input, in the target), or declare the one that works.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[n,128] y) { s = Constant <value_ints = [1, 128]> () y = Reshape (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,16,8] x) => (float[batch,128] y) { s = Constant <value_ints = [-1, 128]> () y = Reshape (x, s) }""",
)

NO_SIZES_FIT = Rule(
    "IRL609",
    "no-sizes-fit",
    Severity.ERROR,
    "The operators of the model demand of one size of its inputs what no size fulfils.",
    why="Each of them could work alone; together they cannot, whatever is fed, and the model fails at one of them.",
    mend="Correct the node whose demand is not meant.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[6] a, float[12] b) => (float[6] y, float[12] z) {
  r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[3] x, float[6] a, float[9] b) => (float[6] y, float[9] z) {
  r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s)
}""",
)


def problems(known: Known) -> list[Problem]:
    """One problem for each symbol that is frozen, and one for the first size that nothing fits."""
    graph = known.model.graph
    if known.overridden or graph is None or not any(demand.when == "" for demand in known.requires):
        return []
    places = _places(graph, known)
    if not places:
        return []
    from irlint.contracts.contract import contract_of

    contract = contract_of(known)
    if not contract.satisfiable:
        return _unsatisfiable(contract, places, known)
    found = []
    for name, sizes in contract.sizes.items():
        single = sizes.single
        if single is None or name not in places:
            continue
        demand = next(each.demand for each in contract.conditions if each.text == f"{name} == {single}")
        found.append(
            Problem(
                _frozen(name, single, places[name], demand, known), demand.graph, demand.node, place=demand.node.place
            )
        )
    return found


def _places(graph: Graph, known: Known) -> dict[str, tuple[str, int]]:
    """The name of the first input and the axis of each size that is a symbol of its own."""
    makers = {node.outputs[0]: node.name for node in graph.nodes if node.op == known.format.input_node and node.outputs}
    found: dict[str, tuple[str, int]] = {}
    for value in graph.inputs:
        given = known.types.get(value)
        for axis, dim in enumerate(given.shape or ()) if isinstance(given, Tensor) else ():
            if isinstance(dim, Expr) and str(dim) in symbols(dim):
                found.setdefault(str(dim), (makers.get(value) or value.name, axis))
    return found


def _frozen(name: str, size: int, place: tuple[str, int], demand: Demand, known: Known) -> Fault:
    input_name, axis = place
    told = known.symbols.get(name, name)
    named = f" (`{told}`)" if told == name else ""
    return FROZEN_SIZE.fault(
        f"axis {axis}{named} of the input {input_name!r} is declared free, and only {size} works: {demand.requirement.why}",
        help=_way_out(size, demand.node, known),
        marks=_frozen_axes(demand, known),
        remark="have to be equal",
    )


def _frozen_axes(demand: Demand, known: Known) -> tuple[tuple[int, int], ...]:
    """The axes of two inputs that have the sizes which the node demands to be equal; none where it is not certain which these are."""
    relation = demand.requirement.any_of[0]
    if relation.kind != "==" or len(demand.requirement.any_of) > 1:
        return ()
    left, right = (
        [
            (index, axis)
            for index, each in enumerate(inputs_of(demand.node, known))
            for axis, dim in enumerate(each.shape or () if isinstance(each, Tensor) else ())
            if dim == wanted
        ]
        for wanted in (relation.left, relation.right)
    )
    pairs = [(one, other) for one in left for other in right if one[0] != other[0]]
    return tuple(sorted(pairs[0])) if len(pairs) == 1 else ()


def _way_out(size: int, node: Node, known: Known) -> str:
    """What lets a node work for every size: another entry of its target, its matrices transposed, or another axis."""
    inputs = inputs_of(node, known)
    types = [each if isinstance(each, Tensor) else None for each in inputs]
    output = known.types.get(node.outputs[0]) if len(node.outputs) == 1 and node.outputs[0] is not None else None
    rank = len(output.shape) if isinstance(output, Tensor) and output.shape is not None else None
    if any(each is not None and each.value is not None and len(each.value) == rank for each in types[1:]):
        return f"let this node follow the input (-1, or its Shape, in a target), or declare {size}"
    axes = [
        (at, index)
        for index, each in enumerate(types)
        if each
        for at, dim in enumerate(each.shape or ())
        if dim == size
    ]
    if "axis" in node.attributes and len(axes) == 1:
        (at, index) = axes[0]
        return f"{size} is axis {at} of input {index}: if that one is meant, correct `axis`; or declare {size}"
    fitting = [f"input {index}" for index in range(len(types)) if _fits_transposed(index, node, inputs, known)]
    if fitting:
        return (
            f"with the last two axes of {' or of '.join(fitting)} exchanged it works for every size; or declare {size}"
        )
    return f"correct what leads here, so that it works for every size, or declare {size}"


def _unsatisfiable(contract: Contract, places: dict[str, tuple[str, int]], known: Known) -> list[Problem]:
    """The problem of what no size fulfils; it follows from an error of a node that demands a part of it."""
    demands = contract.impossible
    names = {
        name
        for each in demands
        for relation in each.requirement.any_of
        for name in (*symbols(relation.left), *symbols(relation.right))
    }
    if len(names) != 1:
        return []
    (name,) = names
    if name not in places or all(_holds_for_none(each, name) for each in demands):
        return []
    input_name, axis = places[name]
    last = demands[-1]
    others = "; ".join(
        f"{each.node.op} {each.node.label!r} demands {each.requirement.condition}" for each in demands[:-1]
    )
    named = [f"{each.node.op} {each.node.label!r}" for each in demands]
    fault = NO_SIZES_FIT.fault(
        f"no size of axis {axis} of the input {input_name!r} fits: {last.requirement.condition} here, and {others}"
        if others
        else f"no size of axis {axis} of the input {input_name!r} fits: {last.requirement.condition}",
        help=f"correct the one whose demand is not meant: {', '.join(dict.fromkeys(named))}",
    )
    nodes = {each.node for each in demands}
    root = next((each for each in known.problems if each.is_error and each.by_rule and each.node in nodes), None)
    return [Problem(fault, last.graph, last.node, place=last.node.place, because=root)]


def _holds_for_none(demand: Demand, name: str) -> bool:
    """Whether a demand holds for the size 0."""
    for relation in demand.requirement.any_of:
        try:
            left, right = evaluated(relation.left, {name: 0}), evaluated(relation.right, {name: 0})
        except ZeroDivisionError:
            continue
        if {"==": left == right, ">=": left >= right, "%": right and left % right == 0}[relation.kind]:
            return True
    return False


def _fits_transposed(index: int, node: Node, inputs: Sequence[Type | None], known: Known) -> bool:
    """Whether a node takes every size with the last two axes of an input exchanged."""
    given = inputs[index]
    if not isinstance(given, Tensor) or given.shape is None or len(given.shape) < 2:
        return False
    shape = (*given.shape[:-2], given.shape[-1], given.shape[-2])
    answer = asked_again(known, node, [*inputs[:index], Tensor(given.dtype, shape), *inputs[index + 1 :]])
    return answer is not None and answer.outputs is not None and not answer.requirements and not answer.faults
