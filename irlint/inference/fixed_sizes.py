"""Which declarations of outputs follow from a size of an input that is fixed."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.dims import MaybeDim, symbols
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor, tensor_shape


def fixing(problem: Problem, node: Node, fixed: Mapping[str, Problem], known: Known) -> Problem | None:
    """What fixes a size of an input that the file declares of an output where the node gives the fixed one, or one that
    others are part of.

    ``fixed`` has the problems by the symbols of sizes.
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
    """Whether a size is the one that the symbol is fixed to, or has the symbol as a part."""
    if isinstance(given, int):
        return dict(problem.sizes).get(name) in (given, None)
    return given is not None and name in symbols(given)
