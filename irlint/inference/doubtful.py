"""The values whose types are doubtful because of errors, and their types without what the errors decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import symbol
from irlint.inference.known import Known
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs, ordered
from irlint.model.tensor import Tensor, Type


def note_doubts(known: Known, own: Mapping[Node, Sequence[Problem]], doubts: dict[Value, Problem]) -> None:
    """Adds the outputs of nodes with errors, and all that is inferred from them, unless the file declares the same
    types. What a body returns reaches the enclosing graph, so bodies are visited before it, too."""
    every = list(graphs(known.model))
    for graph in (*every, *reversed(every)) if len(every) > 1 else every:
        for node in ordered(graph).nodes:
            error = next((each for each in own.get(node, ()) if each.is_error), None) if node in known.faulted else None
            given = (*node.inputs, *(value for _, body in node.bodies for value in body.outputs))
            cause = error or next((doubts[value] for value in given if value in doubts), None)
            if cause is not None:
                for value in node.outputs:
                    if value is not None and (
                        error is not None or value.type is None or value.type != known.types.get(value)
                    ):
                        doubts.setdefault(value, cause)


def with_unknown_sizes(known: Type | None, *, ranked: bool) -> Type | None:
    """A type with a new symbol for each size, or with an unknown rank unless ``ranked``."""
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    if not ranked:
        return Tensor(known.dtype)
    return Tensor(known.dtype, tuple(symbol(f"_open_{axis}") for axis in range(len(known.shape))))
