"""Fills unknown sizes from the declarations in the file, else with new symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from irlint.dims import Bounds, Dim, Expr, Shape, bounds, symbol, symbols, unused_name
from irlint.model import Declaration, Model, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import UNKNOWN, Ends, Optional, Ramp, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType

#: The name of a symbol has at most this many characters of the name in the file.
LONGEST = 200


class Unknowns:
    """The symbols for the unknown sizes of a model, one for each place."""

    def __init__(self, symbols: Mapping[str, str], declared_names: Callable[[], Iterable[str]]) -> None:
        #: The symbols, by place.
        self.sizes: dict[object, Dim] = {}
        #: The names of sizes in the file, by the names of symbols.
        self.symbols = dict(symbols)
        #: The names that no new symbol of an input may have.
        self.names = set(symbols)
        self._declared_names: Callable[[], Iterable[str]] | None = declared_names
        self._last_of_node: dict[str, int] = {}
        self._last_of_input: dict[str, int] = {}

    def named(self, known: Type, value: Value, name: str, *, intervals: bool = False) -> Type:
        """The type of an input, with a new symbol for each unknown size. The names of the symbols begin with ``name``.

        With ``intervals``, an ``Expr`` is also replaced by a new symbol, which has the bounds of the ``Expr``.
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
            if self._declared_names is not None:
                self.names.update(self._declared_names())
                self._declared_names = None
            unused = unused_name(identifier(f"{name}_{axis}"), self.names, self._last_of_input)
            self.symbols[unused] = f"{name}[{axis}]"
            self.sizes[place] = symbol(unused, limits[0] or 0, limits[1])
        return self.sizes[place]

    def of_node(self, node: Node, path: tuple[Node, ...], key: object, upper: int | None = None, lower: int = 0) -> Dim:
        """The symbol of an unknown size of a node, with its bounds. ``place_of`` states which sizes are the same."""
        place = place_of(node, path, key)
        if place not in self.sizes:
            stem = identifier(f"_{node.op.lower()}")
            self._last_of_node[stem] = number = self._last_of_node.get(stem, -1) + 1
            self.sizes[place] = symbol(f"{stem}_{number}", lower, upper, by_data=True)
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
        """The inferred type of an output. Declarations fill unknown parts, then new symbols fill unknown sizes."""
        known: Type = inferred if inferred is not None else UNKNOWN
        if is_complete(known):
            return known
        for declaration in declarations:
            known = filled(known, _stated(declaration.type, no_dims_means_unknown)) or known
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        dims = tuple(
            self.of_node(node, path, (port, axis)) if dim is None else dim for axis, dim in enumerate(known.shape)
        )
        return Tensor(known.dtype, dims, known.value, known.extent)


def is_complete(known: Type | None) -> bool:
    """Whether the element type and all sizes of a tensor are known."""
    return type(known) is Tensor and known.dtype is not None and known.shape is not None and None not in known.shape


def place_of(node: Node, path: tuple[Node, ...], key: object) -> object:
    """The key of an unknown size of a node, within the function calls ``path``.

    If ``key`` ends with a ``Value``, the result is the same for all nodes, so that they share the size.
    """
    if isinstance(key, tuple) and key and isinstance(key[-1], Value):
        return key, path
    return node, key, path


def _stated(declared: Type, no_dims_means_unknown: bool) -> Type:
    if no_dims_means_unknown and isinstance(declared, Tensor) and declared.shape == ():
        return Tensor(declared.dtype)
    return declared


def filled(known: Type | None, declared: Type | None) -> Type | None:
    """``known`` with its unknown parts from a declaration."""
    match known, declared:
        case (None, _) | (_, None):
            return declared if known is None else known
        case Tensor(), Tensor():
            return _filled_tensor(known, declared)
        case SequenceType(element, length, elements), SequenceType(stated):
            return SequenceType(element or stated, length, elements)
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


def without_other_symbols(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known``, but a size is unknown if it contains a symbol that is not in ``names``."""
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    dims = tuple(None if isinstance(dim, Expr) and not symbols(dim) <= names else dim for dim in known.shape)
    return known if dims == known.shape else Tensor(known.dtype, dims)


def numbers_in(known: Tensor) -> tuple[Dim, ...]:
    """The sizes in ``extent``."""
    return () if known.extent is None else _numbers(known.extent)


def _numbers(extent: object) -> tuple[Dim, ...]:
    from irlint.model.descriptions import Columns, Ratio, Ratios

    match extent:
        case Columns(columns, ends):
            return tuple(number for part in (*columns, ends) for number in _numbers(part))
        case Ratios(entries):
            numerators = (entry.numerator if isinstance(entry, Ratio) else entry for entry in entries)
            return tuple(numerator for numerator in numerators if isinstance(numerator, Expr))
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
        for value in (*graph.inputs, *graph.outputs, *(output for node in graph.nodes for output in node.outputs))
    )
    types = {
        id(declaration.type): declaration.type
        for value in values
        if value is not None
        for declaration in value.declared
    }
    return names_in(list(types.values()))


def identifier(text: str) -> str:
    """A Python identifier from the first LONGEST characters of a name."""
    name = text[:LONGEST]
    name = name.translate({ord(letter): "_" for letter in set(name) if not (letter.isalnum() and letter.isascii())})
    while "__" in name:
        name = name.replace("__", "_")
    return f"d{name}" if name[:1].isdigit() else name or "_"


def constant_type(tensor: Tensor) -> Tensor:
    """The stored type of a constant; its shape is unknown if a size is negative."""
    return Tensor(tensor.dtype) if tensor.shape is not None and _has_negative_size(tensor.shape) else tensor


@lru_cache(1024)
def _has_negative_size(shape: Shape) -> bool:
    return any(isinstance(dim, int) and dim < 0 for dim in shape)
