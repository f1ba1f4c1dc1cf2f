"""Parses numbers, element types and shapes in IR documents. Defines the entries of port maps, and back edges."""

from __future__ import annotations

from collections.abc import Callable

from irlint.dims import MaybeDim, Shape, symbol
from irlint.lazy_typing import Literal
from irlint.model import Place
from irlint.records import record

_LARGEST = 2**63 - 1
#: The number of digits of _LARGEST.
_DIGITS = 19
DIGITS = frozenset("0123456789")

#: The blanks that OpenVINO skips around numbers and names.
BLANKS = " \t\n\v\f\r"

_BY_ELEMENT_TYPE: dict[str, str | None] = {
    "dynamic": None,
    "undefined": None,
    "boolean": "bool",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i4": "int4",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u1": "uint1",
    "u2": "uint2",
    "u3": "uint3",
    "u4": "uint4",
    "u6": "uint6",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "nf4": "nf4",
    "f4e2m1": "float4_e2m1",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0",
    "string": "string",
}

_ONLY_LOWER = frozenset({"dynamic", "undefined", "boolean", "f16", "f32", "f64"})

_BY_PRECISION: dict[str, str | None] = {
    **_BY_ELEMENT_TYPE,
    **{name.upper(): dtype for name, dtype in _BY_ELEMENT_TYPE.items() if name not in _ONLY_LOWER},
    "UNSPECIFIED": None,
    "BOOL": "bool",
    "BIN": "uint1",
    "bin": "uint1",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
}


def renamed_type(text: str, *, port: bool = False) -> str | None:
    """The IR's name for an element type such as "FP32", "F32" or "float32"; None if unknown."""
    dtypes = {_BY_ELEMENT_TYPE.get(text.lower()), _BY_PRECISION.get(text.upper()), text.lower()} - {None}
    names = _BY_PRECISION if port else _BY_ELEMENT_TYPE
    return next((name for name, dtype in reversed(names.items()) if dtype in dtypes), None)


def element_type(text: str) -> str | None:
    """The element type in an attribute, in upper or lower case; None if dynamic. Raises ValueError."""
    try:
        return _BY_ELEMENT_TYPE[text.lower()]
    except KeyError:
        raise ValueError(f'"{text}" is not an element type') from None


def stored_type(text: str) -> str | None:
    """The element type of a Const; None if dynamic.

    Raises ValueError unless OpenVINO accepts the text as an attribute and as the precision of a port.
    """
    element_type(text)
    return port_precision(text)


def port_precision(text: str) -> str | None:
    """The element type in the ``precision`` of a port; None if dynamic. Raises ValueError."""
    try:
        return _BY_PRECISION[text]
    except KeyError:
        raise ValueError(f'"{text}" is not a precision') from None


def integer(text: str) -> int:
    """The decimal integer in a text, from -(2**63 - 1) to 2**63 - 1; raises ValueError."""
    signed = text.lstrip(BLANKS)
    digits = signed[1:] if signed[:1] in ("+", "-") else signed
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f'"{text}" is not an integer')
    if len(digits) > _DIGITS:
        digits = digits.lstrip("0") or "0"
    number = int(digits) if len(digits) <= _DIGITS else None
    if number is None or number > _LARGEST:
        raise ValueError(f'"{text}" is not an integer of 64 bits')
    return -number if signed[:1] == "-" else number


def natural(text: str) -> int:
    """An ``integer`` of at least 0; raises ValueError."""
    number = integer(text)
    if number < 0:
        raise ValueError(f'"{text}" is below 0')
    return number


def leading_number(text: str) -> tuple[int, str]:
    """(number at the beginning of a text, rest of the text). Reads as a C++ stream does. Raises ValueError."""
    stripped = text.lstrip(BLANKS)
    sign = stripped[:1] if stripped[:1] in ("+", "-") else ""
    length = len(sign)
    while stripped[length : length + 1] in DIGITS:
        length += 1
    return integer(stripped[:length]), stripped[length:].strip(BLANKS)


def partial_shape(text: str, name: str | Callable[[int], str]) -> Shape | None:
    """The shape in a text such as ``1..8,?,3``; None for ``...``, an unknown rank. Raises ValueError.

    The symbol for an interval is named ``name(axis)`` or, if ``name`` is a text, ``NAME_AXIS``.
    """
    inner = text.strip(BLANKS)
    if inner[:1] == "[" and inner[-1:] == "]":
        inner = inner[1:-1].strip(BLANKS)
    if inner == "...":
        return None
    if not inner:
        return ()
    return tuple(_dimension(field, axis, name, text) for axis, field in enumerate(inner.split(",")))


#: The phrase that ``odd_size`` uses for an interval such as ``5..1``.
EMPTY_INTERVAL = "an empty interval"


def odd_size(text: str) -> str:
    """A phrase about the first entry of a shape that does not mean what it states to OpenVINO, or "".

    Example: ``entry 0 is "5..1", an empty interval, which OpenVINO reads as any size``.
    """
    inner = text.strip(BLANKS).removeprefix("[").removesuffix("]")
    for axis, field in enumerate(inner.split(",") if inner.strip(" .") else ()):
        low, interval, high = field.strip(BLANKS).partition("..")
        try:
            lower, upper = _bound(low), _bound(high) if high else None
        except ValueError:
            continue
        if not interval and (lower < -1 or lower > _LARGEST or "-" in low[1:] or low == "-"):
            size = max(0, lower) if lower <= _LARGEST else 0
            return f'entry {axis} is "{field.strip(BLANKS)}", which OpenVINO reads as {size}'
        if upper is not None and upper < lower:
            return f'entry {axis} is "{field.strip()}", {EMPTY_INTERVAL}, which OpenVINO reads as any size'
    return ""


def _dimension(field: str, axis: int, name: str | Callable[[int], str], text: str) -> MaybeDim:
    field = field.strip(BLANKS)
    if not field:
        raise ValueError(f'entry {axis} of the shape "{text}" is empty')
    if field in ("?", "-1"):
        return None
    low, interval, high = field.partition("..")
    try:
        lower = max(0, _bound(low))
        upper = _bound(high) if high else None
    except ValueError:
        raise ValueError(f'entry {axis} of the shape "{text}" is "{field}", which is not a size') from None
    if not interval:
        return lower if lower <= _LARGEST else 0
    if upper is not None and upper > _LARGEST:
        upper = None
    if (upper is None and lower == 0) or (upper is not None and upper < lower):
        return None
    return symbol(f"{name}_{axis}" if isinstance(name, str) else name(axis), lower, upper)


def _bound(text: str) -> int:
    """The number at the beginning of a text, or 0. Raises ValueError for characters other than digits and "-"."""
    if not DIGITS.issuperset(text.replace("-", "")):
        raise ValueError(text)
    sign, digits = text[:1].rstrip("0123456789"), text[1:] if text[:1] == "-" else text
    digits = digits.partition("-")[0].lstrip("0")[: _DIGITS + 1]
    return int(f"{sign}{digits or 0}")


@record
class PortMapEntry:
    """The connection of a port of a layer to a ``Parameter`` or a ``Result`` of its body, with OpenVINO's defaults."""

    kind: Literal["input", "output"]
    external_port_id: int | None
    #: The ``Node.id`` of the ``Parameter`` or ``Result``.
    internal_layer_id: str | None
    #: The axis along which the value is sliced for each iteration; None if it is not sliced.
    axis: int | None = None
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1
    purpose: str = ""
    place: Place | None = None


@record
class BackEdge:
    """Passes the value of a ``Result`` of a body to a ``Parameter`` in the next iteration. Both fields are a
    ``Node.id``."""

    from_layer: str | None
    to_layer: str | None
    place: Place | None = None
