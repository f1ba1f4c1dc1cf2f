"""The facts about a node that conditions use: attributes, values and ranks of inputs, and which outputs exist."""

from __future__ import annotations

from math import prod

from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor
from irlint.targets.uses import LEFT_OUT, Use


def attribute(use: Use, name: str, default: Any = None) -> Any:
    """The value of an attribute of the node, as text where it is one."""
    found = use.node.attributes.get(name)
    if found is not None and found.reference is not None:
        found = use.scope.get(found.reference)
    value = default if found is None else found.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def tensor(use: Use, index: int) -> Tensor | None:
    """What is known of an input; None for one that is left out, or is no tensor."""
    value = use.node.inputs[index] if index < len(use.node.inputs) else None
    known = use.types.get(value) if value is not None else None
    return known if isinstance(known, Tensor) else None


def given(use: Use, index: int) -> Tensor | None:
    """What is known of an output, as ``tensor`` does of inputs."""
    value = use.node.outputs[index] if index < len(use.node.outputs) else None
    known = use.types.get(value) if value is not None else None
    return known if isinstance(known, Tensor) else None


def rank(use: Use, index: int) -> int | None:
    """The rank of an input; None if it is unknown."""
    known = tensor(use, index)
    return None if known is None else known.rank


def length(use: Use, index: int) -> int | None:
    """The number of elements of a vector; None if it is unknown."""
    known = tensor(use, index)
    size = known.shape[0] if known is not None and known.shape is not None and len(known.shape) == 1 else None
    return size if isinstance(size, int) else None


def elements(use: Use, index: int) -> int | None:
    """The number of elements of an input; None if it is unknown."""
    known = tensor(use, index)
    sizes = None if known is None or known.shape is None else [size for size in known.shape if isinstance(size, int)]
    return None if sizes is None or known is None or len(sizes) != known.rank else prod(sizes)


def is_constant(use: Use, index: int) -> bool:
    """Whether the contents of an input are known; one that is left out counts, and so does one that is too large to be
    kept."""
    if index >= len(use.inputs) or use.inputs[index] == LEFT_OUT:
        return True
    known = tensor(use, index)
    if known is not None and known.value is not None and None not in known.value:
        return True
    return use.node.inputs[index] in use.constants


def is_computed(use: Use, index: int) -> bool:
    """Whether the contents of an input are known, and yet it is neither an initializer nor what a Constant gives."""
    known = tensor(use, index)
    return (
        known is not None
        and known.value is not None
        and None not in known.value
        and use.node.inputs[index] not in use.constants
    )


def has_output(use: Use, index: int) -> bool:
    """Whether an output is there."""
    return index < len(use.outputs) and use.outputs[index] != LEFT_OUT
