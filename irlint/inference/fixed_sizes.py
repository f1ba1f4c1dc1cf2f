"""Finds wrong declarations of outputs that follow from the fixed size of an input."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.dims import MaybeDim, symbols
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor, tensor_shape


def fixing(problem: Problem, node: Node, fixed: Mapping[str, Problem], known: Known) -> Problem | None:
    """The cause of the wrong declaration that ``problem`` reports at ``node``, if a fixed size is the cause; else None.

    ``fixed`` has, for each symbol, the problem that fixes its size.
    """
    for value in node.outputs:
        found = known.types.get(value) if value is not None and value.name == problem.value else None
        if value is None or not isinstance(found, Tensor):
            continue
        for declaration in value.declared:
            declared = tensor_shape(declaration.type)
            for inferred, size in zip(found.shape or (), declared or ()):
                name = f"{size}"
                if name in fixed and inferred != size and _comes_from(inferred, name, fixed[name]):
                    return fixed[name]
    return None


def _comes_from(inferred: MaybeDim, name: str, problem: Problem) -> bool:
    """Whether a size contains the symbol ``name``, or is a number that ``problem`` allows for this symbol."""
    if isinstance(inferred, int):
        return dict(problem.sizes).get(name) in (inferred, None)
    return inferred is not None and name in symbols(inferred)
