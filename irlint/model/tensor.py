"""The type of a value: its element type, its shape, and its elements if they are few."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, bounds
from irlint.lazy_typing import TYPE_CHECKING, Any, ClassVar, Literal
from irlint.records import record

if TYPE_CHECKING:
    from irlint.model.descriptions import Columns, Ratios

#: A tensor with more elements has no ``value``.
CONTENTS_LIMIT = 256

#: The sizes of element types in bits. Strings are missing, and floats of 6 bits, because ONNX packs these only in
#: raw_data.
BITS: dict[str, int] = {
    "bool": 8,
    "int2": 2,
    "uint1": 1,
    "uint2": 2,
    "uint3": 3,
    "int4": 4,
    "uint4": 4,
    "uint6": 6,
    "int8": 8,
    "uint8": 8,
    "int16": 16,
    "uint16": 16,
    "int32": 32,
    "uint32": 32,
    "int64": 64,
    "uint64": 64,
    "nf4": 4,
    "float4_e2m1": 4,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0": 8,
    "bfloat16": 16,
    "float16": 16,
    "float32": 32,
    "float64": 64,
    "complex64": 64,
    "complex128": 128,
}

#: The element types of ONNX's TensorProto.DataType; the first one has the number 1.
NUMBERED_TYPES = (
    "float32",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "float64",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "uint4",
    "int4",
    "float4_e2m1",
    "float8_e8m0",
    "uint2",
    "int2",
    "float6_e2m3",
    "float6_e3m2",
)

SIGNED = frozenset({"int2", "int4", "int8", "int16", "int32", "int64"})
UNSIGNED = frozenset({"uint1", "uint2", "uint3", "uint4", "uint6", "uint8", "uint16", "uint32", "uint64"})
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset(name for name in BITS if "float" in name or name == "nf4")

Scalar = Dim | float | bool | None
Contents = tuple[Scalar, ...]


@record
class Extent:
    """A summary of numbers."""

    #: The smallest and the largest finite number.
    least: float | None = None
    most: float | None = None
    has_zero: bool = False
    nans: int = 0
    infinities: int = 0


@record
class Ramp:
    """A summary of elements: element (i, j, …) is ``first + steps[0]*i + steps[1]*j + …``."""

    first: Dim
    steps: tuple[Dim, ...]


@record
class Ends:
    """The smallest and the largest of the elements."""

    least: Dim
    most: Dim


class Tensor:
    """A dense tensor.

    ``dtype`` is None if the element type is unknown, and ``shape`` is None if the rank is unknown. ``value`` has the
    elements in row-major order, with None for an unknown element. ``value`` is None if no element is known, or if the
    tensor has more than ``CONTENTS_LIMIT`` elements. ``extent`` is then a summary of the elements, or None.
    """

    __slots__ = ("dtype", "extent", "shape", "value")
    __match_args__: ClassVar[tuple[Literal["dtype"], Literal["shape"], Literal["value"], Literal["extent"]]] = (
        "dtype",
        "shape",
        "value",
        "extent",
    )

    def __init__(
        self,
        dtype: str | None = None,
        shape: Shape | None = None,
        value: Contents | None = None,
        extent: Extent | Ramp | Ends | Columns | Ratios | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.value = value
        self.extent = extent

    def __repr__(self) -> str:
        return f"Tensor(dtype={self.dtype!r}, shape={self.shape!r}, value={self.value!r}, extent={self.extent!r})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tensor) or self.dtype != other.dtype or self.shape != other.shape:
            return False
        return self.value == other.value and self.extent == other.extent

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape, self.value, self.extent))

    def changed(self, **changes: Any) -> Tensor:
        """A copy with other values for some fields."""
        return Tensor(**{name: getattr(self, name) for name in self.__match_args__ if name not in changes}, **changes)

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def scalar(self) -> Scalar:
        """The element of a tensor with one known element, else None."""
        return self.value[0] if self.value is not None and len(self.value) == 1 else None

    @property
    def ints(self) -> tuple[MaybeDim, ...] | None:
        """The elements as integers, with None for an unknown element; None without a ``value`` of integers."""
        if self.value is None or any(isinstance(entry, float) and not entry.is_integer() for entry in self.value):
            return None
        return tuple(int(entry) if isinstance(entry, (bool, float)) else entry for entry in self.value)


@record
class SparseTensor:
    """A sparse tensor (ONNX ``sparse_tensor_type``)."""

    dtype: str | None = None
    shape: Shape | None = None


@record
class Sequence:
    """A sequence. ``element`` is the type that all elements have; ``elements`` has the type of each one, if known."""

    element: Type | None = None
    length: MaybeDim = None
    elements: tuple[Type | None, ...] | None = None


@record
class Optional:
    """An optional value. ``present`` is None if unknown."""

    element: Type | None = None
    present: bool | None = None


@record
class Map:
    """A map from scalar keys to values."""

    key: str | None = None
    value: Type | None = None


@record
class Opaque:
    """A type that a library registers."""

    domain: str = ""
    name: str = ""


Type = Tensor | SparseTensor | Sequence | Optional | Map | Opaque

UNKNOWN = Tensor()


def tensor_shape(known: Type | None) -> Shape | None:
    """The shape of a tensor; None for an unknown rank and for other types."""
    return known.shape if isinstance(known, Tensor) else None


def element_type(known: Type | None) -> str | None:
    """The element type of a tensor, or of the tensors in a sequence or optional; None if it is unknown."""
    while isinstance(known, (Sequence, Optional)):
        known = known.element
    return known.dtype if isinstance(known, Tensor) else None


def disagree(one: Type | None, other: Type | None) -> bool:
    """Whether two known types differ in kind or element type. Shapes are not compared."""
    if one is None or other is None or UNKNOWN in (one, other):
        return False
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return None not in (one.dtype, other.dtype) and one.dtype != other.dtype
    if type(one) is not type(other):
        return True
    if isinstance(one, SparseTensor) and isinstance(other, SparseTensor):
        return None not in (one.dtype, other.dtype) and one.dtype != other.dtype
    if isinstance(one, (Sequence, Optional)) and isinstance(other, (Sequence, Optional)):
        return disagree(one.element, other.element)
    if isinstance(one, Map) and isinstance(other, Map):
        return (None not in (one.key, other.key) and one.key != other.key) or disagree(one.value, other.value)
    return one != other


def shape_text(shape: Shape | None) -> str:
    """``[1, 3, H, ?]``; ``[...]`` for an unknown rank."""
    if shape is None:
        return "[...]"
    return f"[{', '.join('?' if dim is None else f'{dim}' for dim in shape)}]"


def size_text(dim: MaybeDim) -> str:
    """``3``, ``?``, ``H``, or a symbol with its bounds: ``x_0 (2 to 8)``."""
    if dim is None or isinstance(dim, int):
        return "?" if dim is None else str(dim)
    low, high = bounds(dim)
    if high is not None:
        return f"{dim} ({low or 0} to {high})"
    return f"{dim} (at least {low})" if (low or 0) > 1 and str(dim).isidentifier() else str(dim)


def type_text(known: Type | None) -> str:
    """``float32[1, 3, H, W]``, ``seq(float32[?])``, ``optional(...)``, ``map(string, float32)``."""
    match known:
        case None:
            return "?"
        case Tensor(dtype, shape):
            return f"{dtype or '?'}{shape_text(shape)}"
        case SparseTensor(dtype, shape):
            return f"sparse({dtype or '?'}{shape_text(shape)})"
        case Sequence(element):
            return f"seq({type_text(element)})"
        case Optional(element):
            return f"optional({type_text(element)})"
        case Map(key, value):
            return f"map({key or '?'}, {type_text(value)})"
        case Opaque(domain, name):
            return f"opaque({domain}, {name})"
