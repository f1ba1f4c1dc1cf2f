"""Reads the facts about a node that the conditions of ``conditions.py`` need."""

from __future__ import annotations

from math import prod

from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor
from irlint.targets.uses import OMITTED, Use


def attribute(use: Use, name: str, default: Any = None) -> Any:
    """The value of an attribute; bytes are decoded to text."""
    found = use.node.attributes.get(name)
    if found is not None and found.reference is not None:
        found = use.scope.get(found.reference)
    value = default if found is None else found.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def tensor(use: Use, index: int) -> Tensor | None:
    """The type of an input; None if it is omitted or not a tensor."""
    value = use.node.inputs[index] if index < len(use.node.inputs) else None
    known = use.types.get(value) if value is not None else None
    return known if isinstance(known, Tensor) else None


def given(use: Use, index: int) -> Tensor | None:
    """The type of an output; None if it is omitted or not a tensor."""
    value = use.node.outputs[index] if index < len(use.node.outputs) else None
    known = use.types.get(value) if value is not None else None
    return known if isinstance(known, Tensor) else None


def rank(use: Use, index: int) -> int | None:
    """The rank of an input; None if it is unknown."""
    known = tensor(use, index)
    return None if known is None else known.rank


def length(use: Use, index: int) -> int | None:
    """The number of elements of an input of rank 1; None if the input has another rank or an unknown size."""
    known = tensor(use, index)
    size = known.shape[0] if known is not None and known.shape is not None and len(known.shape) == 1 else None
    return size if isinstance(size, int) else None


def elements(use: Use, index: int) -> int | None:
    """The number of elements of an input; None if it is unknown."""
    known = tensor(use, index)
    sizes = None if known is None or known.shape is None else [size for size in known.shape if isinstance(size, int)]
    return None if sizes is None or known is None or len(sizes) != known.rank else prod(sizes)


def is_constant(use: Use, index: int) -> bool:
    """Whether an input is omitted, an initializer or the output of a Constant, or has known values."""
    if index >= len(use.inputs) or use.inputs[index] == OMITTED:
        return True
    known = tensor(use, index)
    if known is not None and known.value is not None and None not in known.value:
        return True
    return use.node.inputs[index] in use.constants


def is_computed(use: Use, index: int) -> bool:
    """Whether an input has known values but is neither an initializer nor the output of a Constant."""
    known = tensor(use, index)
    return (
        known is not None
        and known.value is not None
        and None not in known.value
        and use.node.inputs[index] not in use.constants
    )


def has_output(use: Use, index: int) -> bool:
    """Whether an output is not omitted."""
    return index < len(use.outputs) and use.outputs[index] != OMITTED
