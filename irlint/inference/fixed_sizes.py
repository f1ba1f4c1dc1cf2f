"""Which declarations of outputs follow from a size of an input that is fixed."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor


def fixing(problem: Problem, node: Node, fixed: Mapping[str, Problem], known: Known) -> Problem | None:
    """What fixes a size of an input that the file declares of an output where the node gives another one; ``fixed`` has the problems by
    the symbols of sizes."""
    for value in node.outputs:
        found = known.types.get(value) if value is not None and value.name == problem.value else None
        if value is None or not isinstance(found, Tensor):
            continue
        for declaration in value.declared:
            declared = declaration.type.shape if isinstance(declaration.type, Tensor) else None
            for given, size in zip(found.shape or (), declared or ()):
                if given != size and f"{size}" in fixed:
                    return fixed[f"{size}"]
    return None
