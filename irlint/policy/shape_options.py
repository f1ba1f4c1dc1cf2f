"""Shapes of inputs as users write them: ``images=N,3,H,W``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

from irlint.dims import MaybeDim, Shape, symbol
from irlint.lazy_typing import TYPE_CHECKING
from irlint.records import NOTHING, record

if TYPE_CHECKING:
    from typing import SupportsIndex

    from irlint.costs.budgets import Budget
    from irlint.model.tensor import Tensor

#: The most digits of a size.
DIGITS = 19

#: How messages name the argument of the Python functions that replaces shapes.
BY = "shapes="


@record
class ModelShapes:
    """A ``[[models]]`` entry: requirements for the models that a glob matches."""

    #: The glob.
    file: str
    #: The shapes that replace the declared shapes of inputs.
    shapes: Mapping[str, Shape]
    #: The file and line of the entry.
    place: str
    #: The required inputs.
    takes: Mapping[str, Tensor] = NOTHING
    #: The conditions on sizes that the models must accept.
    accepts: tuple[str, ...] = ()
    #: The required outputs.
    returns: Mapping[str, Tensor] = NOTHING
    #: The limits on costs.
    budgets: tuple[Budget, ...] = ()

    @property
    def promises(self) -> bool:
        """Whether the entry states inputs, accepted sizes or outputs."""
        return bool(self.takes or self.accepts or self.returns)


def named_shapes(shapes: Mapping[str, str | Iterable[SupportsIndex | str | None]]) -> dict[str, Shape]:
    """The shapes of inputs, given as texts or lists, with a symbol for each name; "?" and None are unknown sizes.

    Raises ValueError for a negative size, and for an entry that is neither an integer nor an identifier.
    """
    return {name: _shape(name, entries) for name, entries in shapes.items()}


def _shape(name: str, entries: str | Iterable[SupportsIndex | str | None]) -> Shape:
    if isinstance(entries, str):
        return parsed_dims(entries)
    if not isinstance(entries, Iterable):
        raise ValueError(
            f"the shape of {name!r} is {entries!r}, where a list or a text such as 1,3,640,640 is expected"
        )
    return tuple(map(_dim, entries))


def parsed_shapes(options: Iterable[str]) -> dict[str, Shape]:
    """The shapes in options ``INPUT=DIMS``; ``INPUT=`` is a scalar. Raises ValueError."""
    result: dict[str, Shape] = {}
    for option in options:
        name, equals, dims = option.rpartition("=")
        if not equals or not name:
            raise ValueError(f"{option!r} is not of the form INPUT=DIMS, such as images=N,3,640,640")
        result[name] = parsed_dims(dims)
    return result


def parsed_dims(text: str) -> Shape:
    """The shape in a text such as ``N,3,?``; an empty text is a scalar. Raises ValueError."""
    return tuple(_dim(entry.strip()) for entry in text.split(",")) if text.strip() else ()


def _dim(entry: SupportsIndex | str | None) -> MaybeDim:
    if entry is None or entry == "?":
        return None
    if isinstance(entry, str) and entry.isdecimal() and len(entry) > DIGITS:
        raise ValueError(f"{entry[:DIGITS]}... is not a size: it has to fit into 64 bits")
    if isinstance(entry, str) and entry.isidentifier():
        return symbol(entry)
    try:
        size = int(entry) if isinstance(entry, str) and entry.isdecimal() else index(entry)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{entry!r} is not a size: it has to be an integer, a name such as N, or ?") from None
    if size < 0:
        raise ValueError(f"{size} is not a size: it has to be at least 0, a name, or ? for unknown")
    return size
