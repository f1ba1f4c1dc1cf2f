"""Loops whose trip count is a dynamic size, and whose condition compares a growing number with the size."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Expr, MaybeDim, same, symbol
from irlint.model import Graph
from irlint.model.tensor import Tensor, Type
from irlint.ops import Context
from irlint.ops.shared.bodies import DEEPEST_SEARCH, nesting, truth

#: The symbol for the number of iterations that follow, before the last one. No model has a symbol with a space.
FOLLOWING = "following iterations"


def lasts_for(
    body: Graph,
    number: Tensor,
    initial: Sequence[Type | None],
    *,
    state: Sequence[Type | None],
    count: MaybeDim,
    context: Context,
) -> bool:
    """Whether the condition of an ONNX Loop holds after each of ``count`` iterations except the last.

    ``state`` are the types at the start of every iteration.
    """
    if not isinstance(count, Expr) or nesting(body) > DEEPEST_SEARCH:
        return False
    first = context.run(body, (number.changed(value=(0,)), *initial), "tried")
    # ``iteration`` stands for any iteration except the last. If a value grows by the same number in this iteration and
    # in the first iteration, it grows by this number in every iteration.
    iteration = count - 2 - symbol(FOLLOWING, by_data=True)
    steps = [_step(before, after) for before, after in zip(initial, first)]
    values = [None if step is None else step[0] + step[1] * iteration for step in steps]
    given = [
        known if value is None or not isinstance(known, Tensor) else known.changed(value=(value,))
        for known, value in zip(state, values)
    ]
    later = context.run(body, (number.changed(value=(iteration,)), *given), "tried")
    grown = all(
        step is None or value is None or (isinstance(after, Tensor) and same(_integer(after), value + step[1]))
        for step, value, after in zip(steps, values, later)
    )
    return grown and truth(later[0]) is True


def _step(before: Type | None, after: Type | None) -> tuple[int, int] | None:
    """(Initial number of a carried value, its change in one iteration); None if one of them is unknown."""
    first, second = (_integer(known) if isinstance(known, Tensor) else None for known in (before, after))
    return (first, second - first) if isinstance(first, int) and isinstance(second, int) else None


def _integer(known: Tensor) -> MaybeDim:
    """The integer in a tensor of one element; None for other tensors."""
    return None if isinstance(known.scalar, (bool, float)) else known.scalar
