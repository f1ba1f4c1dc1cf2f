"""Finds sizes that depend on data and that a Transpose moves to an axis whose size a weight fixes."""

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

TRANSPOSE = "Transpose"


def problems(known: Known) -> Iterator[Problem]:
    """A problem for each node whose weight fixes a data-dependent size only because input 0 is transposed."""
    graph = known.model.graph
    inputs = [known.types.get(value) for value in graph.inputs] if graph is not None else []
    input_symbols = {name for each in inputs for name in _symbols_in(each)}
    fixed_sizes = [(each, _fixed_size(each.requirement)) for each in known.requires if not each.graph and not each.when]
    computed = [
        (demand, *found)
        for demand, found in fixed_sizes
        if found is not None and symbols(found[0]).isdisjoint(input_symbols) and _is_computed(found[0])
    ]
    if not computed:
        return
    makers = Makers(known)
    for demand, size, number in computed:
        if _is_transposed(demand, size, makers):
            yield _problem(demand, size, number, makers)


def _symbols_in(known: Type | None) -> Iterator[str]:
    for dim in known.shape or () if isinstance(known, Tensor) else ():
        yield from symbols(dim) if dim is not None else ()


def _fixed_size(requirement: Requirement) -> tuple[Expr, int] | None:
    """(size, number) that a requirement equates; None if it does not fix a size."""
    relation, *more = requirement.any_of
    pairs = ((relation.left, relation.right), (relation.right, relation.left))
    found = [(one, other) for one, other in pairs if isinstance(one, Expr) and isinstance(other, int)]
    return found[0] if found and relation.kind == "==" and not more else None


def _is_computed(size: Expr) -> bool:
    """Whether a size is computed from other sizes. A single symbol is only unknown, and may be the needed number."""
    return f"{size!s}" not in symbols(size)


def _is_transposed(demand: Demand, size: Expr, makers: Makers) -> bool:
    """Whether input 0 is transposed, input 1 is constant, and the node fixes no size without the Transpose."""
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
    return all(_fixed_size(each) is None for each in answer.requirements)


def _problem(demand: Demand, size: Expr, number: int, makers: Makers) -> Problem:
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
