"""Finds constants and lists of numbers in the weights of an IR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.lazy_typing import Any
from irlint.model import Constant, Model, Value
from irlint.model.order import graphs
from irlint.parsers.weights import byte_size, contents

#: At most this many bytes that belong to no constant are examined.
UNUSED = 1 << 16


def constants_with(model: Model, values: Sequence[Any], dtypes: Sequence[str]) -> Iterator[tuple[Value, Constant]]:
    """The constants of the main graph that have exactly these entries, as a scalar or a list."""
    for value, each in model.graph.constants.items() if model.graph is not None else ():
        tensor = each.tensor
        is_list = tensor.dtype in dtypes and tensor.shape in ((len(values),), ())
        if is_list and tuple(tensor.value or ()) == tuple(values):
            yield value, each


def offset_of(model: Model, values: Sequence[Any], dtype: str) -> int | None:
    """The offset of these entries in the weights; None if there is none, or the weights cannot be read."""
    from irlint.parsers.openvino.constants import weights_beside

    size = byte_size(dtype, len(values))
    if not size or model.graph is None:
        return None
    weights = weights_beside(model.path)
    try:
        for at in _places(model, size):
            if contents(dtype, len(values), weights.bytes_at(at, size)) == tuple(values):
                return at
    finally:
        weights.close()
    return None


def leaves_end_unused(model: Model, constant: Constant, offset: int) -> bool:
    """Whether the end of the weights becomes unused if this constant moves to another offset."""
    stored = constant.stored
    if stored is None or not stored.size:
        return False
    others = [each.stored for graph in graphs(model) for each in graph.constants.values() if each is not constant]
    ends = [each.offset + each.size for each in others if each is not None and each.size]
    return stored.offset + stored.size > max((*ends, offset + stored.size))


def _places(model: Model, size: int) -> Iterator[int]:
    """The offsets to examine: the starts and ends of constants, and aligned places in unused bytes."""
    every = [each.stored for graph in graphs(model) for each in graph.constants.values()]
    spans = sorted((each.offset, each.size) for each in every if each is not None and each.size)
    yield from dict.fromkeys((*(offset for offset, length in spans if length >= size), *(sum(each) for each in spans)))
    available = next((each.offset + each.available for each in every if each is not None and each.available), 0)
    behind, left = 0, UNUSED
    for offset, length in (*spans, (available, 0)):
        gap = range(behind - behind % -size, offset - size + 1, size)[: left // size]
        left -= len(gap) * size
        yield from gap
        behind = max(behind, offset + length)
