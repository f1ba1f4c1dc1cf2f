"""Finds Reshapes that mix the elements of neighboring rows, so that only some batch sizes work."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from irlint.dims import Expr
from irlint.findings.faults import Rule, Severity
from irlint.inference.known import Demand, Known
from irlint.inference.origins import inputs_of
from irlint.model import Problem
from irlint.model.tensor import Type, tensor_shape

RESHAPE = "Reshape"

#: The number of axes of a table.
TABLE = 2

MIXED_ROWS = Rule(
    "IRL614",
    "mixed-rows",
    Severity.WARNING,
    "A Reshape mixes the elements of neighboring rows and works only for some batch sizes.",
    why=(
        "With a target of [-1, 25], a batch of 25 rows of 26 features becomes 26 rows: each has elements of two "
        "input rows. The model fails for batches that are no multiple of 25. Usually, the number of features before "
        "the Reshape has changed, and its target has not. irlint does not report targets that join or divide whole "
        "rows."
    ),
    fix="Correct the target, or what computes the rows.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,13] x, float[batch,13] z) => (float[n,25] y) {
  s = Constant <value_ints = [-1, 25]> () c = Concat <axis = 1> (x, z) y = Reshape (c, s)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,13] x, float[batch,13] z) => (float[n,26] y) {
  s = Constant <value_ints = [-1, 26]> () c = Concat <axis = 1> (x, z) y = Reshape (c, s)
}""",
)


def problems(known: Known) -> Iterator[Problem]:
    """A problem for each condition on sizes under which a Reshape mixes rows."""
    seen: set[str] = set()
    for demand in known.requires:
        relation, *more = demand.requirement.any_of
        is_divisible = relation.kind == "%" and not more and demand.node.op == RESHAPE
        if is_divisible and not demand.graph and not demand.when and demand.requirement.condition not in seen:
            for problem in _mixed(demand, known):
                seen.add(demand.requirement.condition)
                yield problem


def _mixed(demand: Demand, known: Known) -> Iterator[Problem]:
    node = demand.node
    given, made = inputs_of(node, known)[0], known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
    before, after = _elements_of_row(given), _elements_of_row(made)
    if not before or not after or before % after == 0 or after % before == 0:
        return
    change = f"write {before} for {after} in" if len(tensor_shape(made) or ()) == TABLE else "correct"
    fault = MIXED_ROWS.fault(
        f"the rows of input 0 have {before} elements, and those of the result {after}: rows are mixed, and only sizes "
        f"with {demand.requirement.condition} work",
        help=f"{change} the target, or pass rows of {after} elements",
        marks=tuple((0, axis) for axis in range(1, len(tensor_shape(given) or ()))),
        remark=f"{before} elements",
        input=0,
    )
    yield Problem(fault, demand.graph, node, place=node.place)


def _elements_of_row(known: Type | None) -> int:
    """The number of elements for each index of the first axis. 0 if it is unknown, or if the first axis is static."""
    first, *rest = tensor_shape(known) or (None,)
    numbers = [dim for dim in rest if isinstance(dim, int)]
    return prod(numbers) if isinstance(first, Expr) and rest and len(numbers) == len(rest) else 0
