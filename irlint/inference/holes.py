"""What becomes of sizes that a rule leaves open: the file's declaration fills them, a symbol stands for what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from irlint.dims import Bounds, Dim, Expr, MaybeDim, Shape, bounds, symbol, symbols, unused_name
from irlint.model import Declaration, Model, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import UNKNOWN, Ends, Optional, Ramp, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType

#: Of a longer name only so many characters become part of a symbol.
LONGEST = 200


class Holes:
    """The symbols of one model for sizes that nothing tells, each made once for its place, with a name that the file does not declare.

    ``sizes`` maps the places to them, and ``symbols`` their names to what the file calls the size.
    """

    def __init__(self, symbols: Mapping[str, str], declared: Callable[[], Iterable[str]]) -> None:
        self.sizes: dict[object, Dim] = {}
        self.symbols = dict(symbols)
        self.names = set(symbols)
        self._declared: Callable[[], Iterable[str]] | None = declared
        self._counts: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def named(self, known: Type, value: Value, name: str, *, intervals: bool = False) -> Type:
        """``known`` with a symbol of the input's own for every size that is open, or one of the ``intervals``."""
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
            free = unused_name(identifier(f"{name}_{axis}"), self.names, self._numbers)
            self.symbols[free] = f"{name}[{axis}]"
            self.sizes[place] = symbol(free, limits[0] or 0, limits[1])
        return self.sizes[place]

    def of_node(self, node: Node, path: tuple[Node, ...], key: object, upper: int | None = None, lower: int = 0) -> Dim:
        """The size that nothing tells: one for each node and key, or for each key that is a value, in each call on ``path``."""
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
        no_dims_tell_nothing: bool,
    ) -> Type | None:
        """An output's type: what was inferred, its holes filled from the declarations, what is left given a symbol."""
        known: Type = inferred if inferred is not None else UNKNOWN
        if is_whole(known):
            return known
        for declaration in declarations:
            declared = declaration.type
            if no_dims_tell_nothing and isinstance(declared, Tensor) and declared.shape == ():
                declared = Tensor(declared.dtype)
            known = filled(known, declared) or known
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        dims = tuple(
            self.of_node(node, path, (port, axis)) if dim is None else dim for axis, dim in enumerate(known.shape)
        )
        return Tensor(known.dtype, dims, known.value, known.extent)


def is_whole(known: Type | None) -> bool:
    """Whether a tensor's type has nothing left that a declaration could fill."""
    return type(known) is Tensor and known.dtype is not None and known.shape is not None and None not in known.shape


def place_of(node: Node, path: tuple[Node, ...], key: object) -> object:
    """What ``Holes.sizes`` has a size under."""
    if isinstance(key, tuple) and key and isinstance(key[-1], Value):
        return key, path
    return node, key, path


def filled(known: Type | None, declared: Type | None) -> Type | None:
    """``known`` with its holes filled from a declaration; it never overrides what is known."""
    if known is None or declared is None:
        return known if known is not None else declared
    if isinstance(known, SequenceType) and isinstance(declared, SequenceType):
        return SequenceType(known.element or declared.element, known.length)
    if isinstance(known, Optional) and isinstance(declared, Optional):
        return Optional(known.element or declared.element, known.present)
    if isinstance(known, SparseTensor) and isinstance(declared, SparseTensor):
        return SparseTensor(known.dtype or declared.dtype, known.shape if known.shape is not None else declared.shape)
    if known == UNKNOWN and not isinstance(declared, Tensor):
        return declared
    if not isinstance(known, Tensor) or not isinstance(declared, Tensor):
        return known
    dtype = known.dtype or declared.dtype
    if known.shape is None or declared.shape is None:
        return Tensor(dtype, declared.shape if known.shape is None else known.shape, known.value, known.extent)
    if len(known.shape) != len(declared.shape) or None not in known.shape:
        return Tensor(dtype, known.shape, known.value, known.extent)
    dims: list[MaybeDim] = [b if a is None else a for a, b in zip(known.shape, declared.shape)]
    return Tensor(dtype, tuple(dims), known.value, known.extent)


def opened(known: Type | None, names: frozenset[str]) -> Type | None:
    """``known`` with a hole for each size that other symbols than ``names`` are part of."""
    if not isinstance(known, Tensor) or known.shape is None:
        return known
    dims = tuple(None if isinstance(dim, Expr) and not symbols(dim) <= names else dim for dim in known.shape)
    return known if dims == known.shape else Tensor(known.dtype, dims)


def numbers_in(known: Tensor) -> tuple[Dim, ...]:
    """The numbers that describe contents of which none is kept."""
    return () if known.extent is None else _numbers(known.extent)


def _numbers(extent: object) -> tuple[Dim, ...]:
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
    """The symbols in the shapes and contents of ``types``."""
    found: set[str] = set()
    for known in types:
        if isinstance(known, Tensor):
            for dim in (*(known.shape or ()), *(known.value or ()), *numbers_in(known)):
                if isinstance(dim, Expr):
                    found |= symbols(dim)
    return frozenset(found)


def declared_names(model: Model) -> frozenset[str]:
    """The names of sizes that a model declares of its inputs, outputs and values."""
    values = (
        value
        for graph in graphs(model)
        for value in (*graph.inputs, *graph.outputs, *(each for node in graph.nodes for each in node.outputs))
    )
    return names_in([each.type for value in values if value is not None for each in value.declared])


def identifier(text: str) -> str:
    """A Python identifier for a name of the model, of the first characters of a very long one."""
    name = text[:LONGEST]
    name = name.translate({ord(each): "_" for each in set(name) if not (each.isalnum() and each.isascii())})
    while "__" in name:
        name = name.replace("__", "_")
    return f"d{name}" if name[:1].isdigit() else name or "_"


def constant_type(tensor: Tensor) -> Tensor:
    """A constant's type: what is stored, whatever is declared of it; without a shape that has a size below 0."""
    return Tensor(tensor.dtype) if tensor.shape is not None and _falls_below_0(tensor.shape) else tensor


@lru_cache(1024)
def _falls_below_0(shape: Shape) -> bool:
    return any(isinstance(dim, int) and dim < 0 for dim in shape)
