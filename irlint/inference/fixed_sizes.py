"""Finds wrong declarations of outputs that follow from a fixed size of an input."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.dims import MaybeDim, symbols
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor, tensor_shape


def fixing(problem: Problem, node: Node, fixed: Mapping[str, Problem], known: Known) -> Problem | None:
    """The problem that fixes a size of an input, if a wrong declaration at an output of ``node`` follows from it.

    The file declares the symbol of the input there, and the node gives the fixed size or a size that contains the
    symbol. ``fixed`` maps symbols to the problems that fix them.
    """
    for value in node.outputs:
        found = known.types.get(value) if value is not None and value.name == problem.value else None
        if value is None or not isinstance(found, Tensor):
            continue
        for declaration in value.declared:
            declared = tensor_shape(declaration.type)
            for given, size in zip(found.shape or (), declared or ()):
                name = f"{size}"
                if name in fixed and given != size and _is_of(given, name, fixed[name]):
                    return fixed[name]
    return None


def _is_of(given: MaybeDim, name: str, problem: Problem) -> bool:
    """Whether a size is the one to which the symbol is fixed, or contains the symbol."""
    if isinstance(given, int):
        return dict(problem.sizes).get(name) in (given, None)
    return given is not None and name in symbols(given)
