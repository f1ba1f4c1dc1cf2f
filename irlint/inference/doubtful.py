"""Finds the values whose types are doubtful because of errors at earlier nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import symbol
from irlint.inference.known import Known
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs, ordered
from irlint.model.tensor import Tensor, Type


def note_doubts(known: Known, own: Mapping[Node, Sequence[Problem]], doubts: dict[Value, Problem]) -> None:
    """Adds the outputs of nodes with errors to ``doubts``, and the values that are computed from doubtful values.

    A value that is computed from doubtful values is not doubtful itself if its declared type is the inferred type.
    """
    # The second pass, in reverse, carries doubts from bodies to the enclosing graphs.
    every = list(graphs(known.model))
    for graph in (*every, *reversed(every)) if len(every) > 1 else every:
        for node in ordered(graph).nodes:
            error = (
                next((problem for problem in own.get(node, ()) if problem.is_error), None)
                if node in known.faulted
                else None
            )
            operands = (*node.inputs, *(value for _, body in node.bodies for value in body.outputs))
            cause = error or next((doubts[value] for value in operands if value in doubts), None)
            if cause is None:
                continue
            for value in filter(None, node.outputs):
                if error is not None or value.type is None or value.type != known.types.get(value):
                    doubts.setdefault(value, cause)


def with_unknown_sizes(known: Type | None, *, ranked: bool) -> Type | None:
    """The type with a new symbol for each size if ``ranked``, else the type with an unknown rank."""
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    if not ranked:
        return Tensor(known.dtype)
    return Tensor(known.dtype, tuple(symbol(f"_open_{axis}") for axis in range(len(known.shape))))
