"""Finds sizes that depend on data where a weight needs one number, and that only a Transpose moves to this axis."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.checks.frozen import FROZEN_SIZE
from irlint.dims import Expr, symbols
from irlint.findings.statements import Requirement
from irlint.inference.known import Demand, Known
from irlint.inference.origins import Makers, inputs_of
from irlint.inference.questions import asked_again
from irlint.model import Problem
from irlint.model.tensor import Tensor, Type

#: The operator that changes the order of axes, by both formats.
TRANSPOSE = "Transpose"


def problems(known: Known) -> Iterator[Problem]:
    """A problem for each node that requires a size that depends on data to be one number. Its first input is the output
    of a Transpose, its second input is a weight, and without the Transpose the node would fix no size."""
    graph = known.model.graph
    inputs = [known.types.get(value) for value in graph.inputs] if graph is not None else []
    of_inputs = {name for each in inputs for name in _names(each)}
    fixing = [(each, _fixing(each.requirement)) for each in known.requires if not each.graph and not each.when]
    computed = [
        (demand, *found)
        for demand, found in fixing
        if found is not None and symbols(found[0]).isdisjoint(of_inputs) and _is_computed(found[0])
    ]
    if not computed:
        return
    makers = Makers(known)
    for demand, size, number in computed:
        if _is_transposed(demand, size, makers):
            yield _problem(demand, size, number, makers)


def _names(known: Type | None) -> Iterator[str]:
    """The symbols in the shape of a value."""
    for dim in known.shape or () if isinstance(known, Tensor) else ():
        yield from symbols(dim) if dim is not None else ()


def _fixing(requirement: Requirement) -> tuple[Expr, int] | None:
    """The size and the number that a requirement equates; None if the requirement does not fix a size."""
    relation, *more = requirement.any_of
    pairs = ((relation.left, relation.right), (relation.right, relation.left))
    found = [(one, other) for one, other in pairs if isinstance(one, Expr) and isinstance(other, int)]
    return found[0] if found and relation.kind == "==" and not more else None


def _is_computed(size: Expr) -> bool:
    """Whether a size is computed from other sizes, as along an axis that a convolution slides over. A size that is not,
    a single symbol, is merely unknown and may be the needed number."""
    return f"{size!s}" not in symbols(size)


def _is_transposed(demand: Demand, size: Expr, makers: Makers) -> bool:
    """Whether input 0 of a node, with this size, is the output of a Transpose, input 1 is a constant, and the node has
    no fault and fixes no size if input 0 is the input of the Transpose instead."""
    node, known = demand.node, makers.known
    given = inputs_of(node, known)
    maker = makers.of(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    before = maker.node if maker is not None else None
    value = before.inputs[0] if before is not None and before.op == TRANSPOSE and before.inputs else None
    first, weight = given[0] if given else None, node.inputs[1] if len(node.inputs) > 1 else None
    if value is None or not isinstance(first, Tensor) or size not in (first.shape or ()):
        return False
    if not makers.is_constant(weight) or makers.is_constant(value):
        return False
    answer = asked_again(known, node, [known.types.get(value), *given[1:]])
    if answer is None or answer.outputs is None or answer.faults:
        return False
    return all(_fixing(each) is None for each in answer.requirements)


def _problem(demand: Demand, size: Expr, number: int, makers: Makers) -> Problem:
    """The problem of a size of input 0 that depends on data and must be ``number``."""
    node = demand.node
    first = inputs_of(node, makers.known)[0]
    axes = [axis for axis, dim in enumerate(first.shape or ()) if dim == size] if isinstance(first, Tensor) else []
    maker = makers.of(node.inputs[0]) if node.inputs[0] is not None else None
    transposing = maker.node.label if maker is not None and maker.node is not None else ""
    fault = FROZEN_SIZE.fault(
        f"axis {axes[0]} of input 0 is {size!s}, which depends on data, but only {number} works",
        help=f"connect the input of {TRANSPOSE} {transposing!r}: with it, every size works",
        marks=tuple((0, axis) for axis in axes),
        remark=f"only {number} works",
        notes=(f"this node needs {demand.requirement.condition}: {demand.requirement.why}",),
    )
    sizes = tuple((name, None) for name in sorted(symbols(size)))
    return Problem(fault, demand.graph, node, place=node.place, sizes=sizes)
