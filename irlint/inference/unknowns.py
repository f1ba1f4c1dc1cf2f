"""Fills unknown sizes from the declarations in the file, or else with new symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from irlint.dims import Bounds, Dim, Expr, Shape, bounds, symbol, symbols, unused_name
from irlint.model import Declaration, Model, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import UNKNOWN, Ends, Optional, Ramp, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType

#: Only this many characters of a longer name become part of a symbol.
LONGEST = 200


class Unknowns:
    """The symbols for the unknown sizes of a model, one for each place, with names that the file does not use.

    ``sizes`` maps places to symbols, and ``symbols`` maps their names to the names of the sizes in the file.
    """

    def __init__(self, symbols: Mapping[str, str], declared: Callable[[], Iterable[str]]) -> None:
        self.sizes: dict[object, Dim] = {}
        self.symbols = dict(symbols)
        self.names = set(symbols)
        self._declared: Callable[[], Iterable[str]] | None = declared
        self._counts: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def named(self, known: Type, value: Value, name: str, *, intervals: bool = False) -> Type:
        """``known`` with a new symbol for every dynamic size, and with ``intervals`` also for sizes with bounds.

        ``name`` is the name of the input from which the names of symbols are formed.
        """
        if not isinstance(known, Tensor) or known.shape is None:
            return known
        dims = list(known.shape)
        for axis, dim in enumerate(known.shape):
            if dim is None:
                dims[axis] = self._of_input(value, name, axis)
            elif intervals and isinstance(dim, Expr):
                dims[axis] = self._of_input(value, name, axis, bounds(dim))
        return Tensor(known.dtype, tuple(dims), known.value, known.extent)

    def _of_input(self, value: Value, name: str, axis: int, limits: Bounds = (0, None)) -> Dim:
        place = (value, axis)
        if place not in self.sizes:
            if self._declared is not None:
                self.names.update(self._declared())
                self._declared = None
            unused = unused_name(identifier(f"{name}_{axis}"), self.names, self._numbers)
            self.symbols[unused] = f"{name}[{axis}]"
            self.sizes[place] = symbol(unused, limits[0] or 0, limits[1])
        return self.sizes[place]

    def of_node(self, node: Node, path: tuple[Node, ...], key: object, upper: int | None = None, lower: int = 0) -> Dim:
        """The symbol of an unknown size of a node, which has bounds ``lower`` and ``upper``.

        Equal nodes, keys and paths of calls have the same symbol. If a key ends with a ``Value``, the node does not
        matter.
        """
        place = place_of(node, path, key)
        if place not in self.sizes:
            stem = identifier(f"_{node.op.lower()}")
            self._counts[stem] = count = self._counts.get(stem, -1) + 1
            self.sizes[place] = symbol(f"{stem}_{count}", lower, upper, by_data=True)
        return self.sizes[place]

    def settled(
        self,
        inferred: Type | None,
        declarations: Sequence[Declaration],
        *,
        node: Node,
        path: tuple[Node, ...],
        port: int,
        no_dims_means_unknown: bool,
    ) -> Type | None:
        """An output's type: the inferred one, with unknown parts filled from the declarations and then with symbols."""
        known: Type = inferred if inferred is not None else UNKNOWN
        if is_whole(known):
            return known
        for declaration in declarations:
            known = filled(known, _stated(declaration.type, no_dims_means_unknown)) or known
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        dims = tuple(
            self.of_node(node, path, (port, axis)) if dim is None else dim for axis, dim in enumerate(known.shape)
        )
        return Tensor(known.dtype, dims, known.value, known.extent)


def is_whole(known: Type | None) -> bool:
    """Whether a tensor's type is complete, so that a declaration has nothing to fill."""
    return type(known) is Tensor and known.dtype is not None and known.shape is not None and None not in known.shape


def place_of(node: Node, path: tuple[Node, ...], key: object) -> object:
    """The key of a size in ``Unknowns.sizes``."""
    if isinstance(key, tuple) and key and isinstance(key[-1], Value):
        return key, path
    return node, key, path


def _stated(declared: Type, no_dims_means_unknown: bool) -> Type:
    """The type that a declaration states; a shape without dims may mean an unknown shape."""
    if no_dims_means_unknown and isinstance(declared, Tensor) and declared.shape == ():
        return Tensor(declared.dtype)
    return declared


def filled(known: Type | None, declared: Type | None) -> Type | None:
    """``known`` with its unknowns filled from a declaration; it never overrides what is known."""
    match known, declared:
        case (None, _) | (_, None):
            return declared if known is None else known
        case Tensor(), Tensor():
            return _filled_tensor(known, declared)
        case SequenceType(element, length), SequenceType(stated):
            return SequenceType(element or stated, length)
        case Optional(element, present), Optional(stated):
            return Optional(element or stated, present)
        case SparseTensor(dtype, shape), SparseTensor(stated, dims):
            return SparseTensor(dtype or stated, dims if shape is None else shape)
    return declared if known == UNKNOWN else known


def _filled_tensor(known: Tensor, declared: Tensor) -> Tensor:
    return Tensor(known.dtype or declared.dtype, _filled_shape(known.shape, declared.shape), known.value, known.extent)


def _filled_shape(known: Shape | None, declared: Shape | None) -> Shape | None:
    if known is None or declared is None:
        return declared if known is None else known
    if len(known) != len(declared):
        return known
    return tuple([stated if dim is None else dim for dim, stated in zip(known, declared)])


def opened(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known`` without sizes that contain other symbols than ``names``; these sizes become unknown."""
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    dims = tuple(None if isinstance(dim, Expr) and not symbols(dim) <= names else dim for dim in known.shape)
    return known if dims == known.shape else Tensor(known.dtype, dims)


def numbers_in(known: Tensor) -> tuple[Dim, ...]:
    """The sizes in the summary of values that are not stored individually."""
    return () if known.extent is None else _numbers(known.extent)


def _numbers(extent: object) -> tuple[Dim, ...]:
    """The sizes in the ``extent`` of values, which may contain symbols."""
    from irlint.model.descriptions import Columns, Ratio, Ratios

    match extent:
        case Columns(columns, ends):
            return tuple(number for each in (*columns, ends) for number in _numbers(each))
        case Ratios(entries):
            numerators = (each.numerator if isinstance(each, Ratio) else each for each in entries)
            return tuple(each for each in numerators if isinstance(each, Expr))
        case Ramp(first, steps):
            return (first, *steps)
        case Ends(least, most):
            return (least, most)
    return ()


def names_in(types: Sequence[Type | None]) -> frozenset[str]:
    """The symbols in the shapes and values of ``types``."""
    found: set[str] = set()
    for known in types:
        if isinstance(known, Tensor):
            for dim in (*(known.shape or ()), *(known.value or ()), *numbers_in(known)):
                if isinstance(dim, Expr):
                    found |= symbols(dim)
    return frozenset(found)


def declared_names(model: Model) -> frozenset[str]:
    """The names of sizes in the declarations of inputs, outputs and values of a model."""
    values = (
        value
        for graph in graphs(model)
        for value in (*graph.inputs, *graph.outputs, *(each for node in graph.nodes for each in node.outputs))
    )
    types = {id(each.type): each.type for value in values if value is not None for each in value.declared}
    return names_in(list(types.values()))


def identifier(text: str) -> str:
    """A Python identifier made from a name of the model; only the first LONGEST characters are used."""
    name = text[:LONGEST]
    name = name.translate({ord(each): "_" for each in set(name) if not (each.isalnum() and each.isascii())})
    while "__" in name:
        name = name.replace("__", "_")
    return f"d{name}" if name[:1].isdigit() else name or "_"


def constant_type(tensor: Tensor) -> Tensor:
    """The stored type of a constant, without regard to declarations. If a size is negative, the shape is unknown."""
    return Tensor(tensor.dtype) if tensor.shape is not None and _falls_below_0(tensor.shape) else tensor


@lru_cache(1024)
def _falls_below_0(shape: Shape) -> bool:
    return any(isinstance(dim, int) and dim < 0 for dim in shape)
