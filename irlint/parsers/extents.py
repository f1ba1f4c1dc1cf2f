"""The range of the numbers in large constants, read in pieces with NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

from irlint.dims import elements
from irlint.lazy_typing import Any
from irlint.model import Constant, Graph, Model
from irlint.model.order import graphs
from irlint.model.tensor import Extent, Tensor
from irlint.parsers.opening import beside, leads_out
from irlint.parsers.weights import byte_size, contents, pieces
from irlint.records import replaced

#: The NumPy type of the numbers, or of the bit patterns, of each element type.
_CODES = {
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "int8": "i1",
    "uint8": "u1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "bfloat16": "<u2",
    "float8_e4m3fn": "u1",
    "float8_e4m3fnuz": "u1",
    "float8_e5m2": "u1",
    "float8_e5m2fnuz": "u1",
}


def measure(model: Model, data: bytes | None = None) -> None:
    """Adds an ``Extent`` to each readable constant that is too large to have been decoded. Changes the model in place.

    ``data`` are the bytes of the model, if the caller has them. Files outside of the model's folder are not read.
    """
    for graph in graphs(model):
        _measure_constants(graph, model, data)
        for node in graph.nodes:
            for name, attribute in node.attributes.items():
                if isinstance(attribute.value, Constant):
                    known = _measured(attribute.value, model, data)
                    if known is not attribute.value:
                        node.attributes[name] = replaced(attribute, value=known)  # type: ignore[index]


def _measure_constants(graph: Graph, model: Model, data: bytes | None) -> None:
    for value, constant in graph.constants.items():
        graph.constants[value] = _measured(constant, model, data)  # type: ignore[index]


def _measured(constant: Constant, model: Model, data: bytes | None) -> Constant:
    tensor, stored = constant.tensor, constant.stored
    if tensor.value is not None or stored is None or stored.reason or tensor.dtype not in _CODES:
        return constant
    shape = tensor.shape
    if shape is None or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        return constant
    size = byte_size(tensor.dtype, elements(shape))  # type: ignore[arg-type]
    if not size or size > (stored.available or 0) or (stored.file is None and not stored.offset):
        return constant
    if stored.file is not None and leads_out(beside(model.path, stored.file.partition("\0")[0]), model.path):
        return constant
    try:
        extent = _extent(tensor.dtype, pieces(model.path, stored.file, stored.offset, size, data))
    except OSError:
        return constant
    return replaced(constant, tensor=Tensor(tensor.dtype, tensor.shape, tensor.value, extent))


def _extent(dtype: str, pieces: Iterator[bytes]) -> Extent:
    least: float | None = None
    most: float | None = None
    has_zero, nans, infinities, rest = False, 0, 0, b""
    for piece in pieces:
        numbers, rest = _numbers(dtype, rest + piece)
        if not numbers.size:
            continue
        low, high, not_numbers, infinite = _ends(numbers)
        nans, infinities = nans + not_numbers, infinities + infinite
        if low is not None:
            least = low if least is None else min(least, low)
            most = high if most is None else max(most, high)
            has_zero = has_zero or (low <= 0 <= high and bool((numbers == 0).any()))
    return Extent(least, most, has_zero, nans, infinities)


def _ends(numbers: Any) -> tuple[Any, Any, int, int]:
    """(least finite number or None, greatest finite number or None, count of NaN, count of infinities)."""
    import numpy

    low, high = numbers.min().item(), numbers.max().item()
    if numbers.dtype.kind != "f" or (math.isfinite(low) and math.isfinite(high)):
        return low, high, 0, 0
    finite = numbers[numpy.isfinite(numbers)]
    nans = int(numpy.isnan(numbers).sum())
    infinities = int(numbers.size - finite.size) - nans
    if not finite.size:
        return None, None, nans, infinities
    return finite.min().item(), finite.max().item(), nans, infinities


def _numbers(dtype: str, data: bytes) -> tuple[Any, bytes]:
    """(decoded numbers, remaining bytes of an incomplete number)."""
    import numpy

    code = numpy.dtype(_CODES[dtype])
    count = len(data) // code.itemsize
    read = numpy.frombuffer(data, code, count)
    rest = data[count * code.itemsize :]
    if dtype == "float16":
        # NumPy compares float32 numbers many times as fast.
        return read.astype("<f4"), rest
    if dtype == "bfloat16":
        return (read.astype("<u4") << 16).view("<f4"), rest
    if dtype.startswith("float8"):
        return numpy.array(contents(dtype, 256, bytes(range(256))), "<f4")[read], rest
    return read, rest
