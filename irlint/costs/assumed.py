"""The sizes of symbols for which costs are compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from irlint.contracts.contract import Contract, contract_of
from irlint.contracts.interface import inputs
from irlint.contracts.profiles import sizes_near
from irlint.dims import Dim, Expr, MaybeDim, Shape, symbols
from irlint.dims.rounding import TYPICAL
from irlint.inference.known import Known
from irlint.model.tensor import tensor_shape

#: The heights and widths of images, in the order in which they are tried.
IMAGE_SIZES = (224, 256, 320, 384, 416, 512, 640)

#: The numbers of channels of images, by the rank of the input.
CHANNELS = {3: (3,), 4: (1, 3, 4)}


def assumed_sizes(known: Known, costs: Iterable[MaybeDim]) -> dict[str, int]:
    """The sizes of the symbols in ``costs`` for which the costs are compared, in the order of the inputs.

    A batch is 1. The height and the width of an image are the first of IMAGE_SIZES that the model accepts. Other sizes
    are TYPICAL. If the model does not accept these sizes together, sizes that it accepts are used.
    """
    wanted = _names(costs)
    if not wanted:
        return {}
    contract = contract_of(known)
    shapes = [tensor_shape(end.type) or () for end in inputs(known)]
    named = dict.fromkeys(name for shape in shapes for dim in shape for name in sorted(_names((dim,))))
    images = _of_images(shapes, contract)
    batches = _batches(shapes) - images
    wishes = [
        defaultdict(lambda: TYPICAL, {**dict.fromkeys(batches, 1), **dict.fromkeys(images, size)})
        for size in (IMAGE_SIZES if images else (TYPICAL,))
    ]
    found = sizes_near({*named, *wanted}, contract, wishes)
    order = [*named, *sorted(wanted - named.keys())]
    return {name: found[name] for name in order if name in wanted}


def _of_images(shapes: Iterable[Shape], contract: Contract) -> set[str]:
    """The symbols that are the height or width of images. A symbol that is also the size of another axis is omitted."""
    pairs: list[set[str]] = []
    others: set[str] = set()
    for shape in shapes:
        axes = _image_axes([_number(dim, contract) for dim in shape])
        pairs.append(_names(shape[axis] for axis in axes))
        others |= _names(dim for axis, dim in enumerate(shape) if axis not in axes)
    return {name for pair in pairs if pair.isdisjoint(others) for name in pair}


def _names(dims: Iterable[MaybeDim]) -> set[str]:
    return {name for dim in dims if isinstance(dim, Expr) for name in symbols(dim)}


def _number(dim: MaybeDim, contract: Contract) -> MaybeDim:
    """A size, or the number that the contract fixes for it."""
    value: Dim | None = contract.values.get(str(dim)) if isinstance(dim, Expr) else None
    return value if isinstance(value, int) else dim


def _image_axes(shape: Sequence[MaybeDim]) -> tuple[int, ...]:
    """The axes of height and width, if both are symbolic and beside an axis of channels."""
    rank = len(shape)
    channels = CHANNELS.get(rank, ())
    for axis, beside in ((rank - 3, (rank - 2, rank - 1)), (rank - 1, (rank - 3, rank - 2))):
        if channels and shape[axis] in channels and all(isinstance(shape[each], Expr) for each in beside):
            return beside
    return ()


def _batches(shapes: Sequence[Shape]) -> set[str]:
    """The symbols that are the size of the first axis of an input with several axes, and of no other axis."""
    first = _names(shape[0] for shape in shapes if len(shape) > 1)
    return first - _names(dim for shape in shapes for dim in shape[len(shape) > 1 :])
