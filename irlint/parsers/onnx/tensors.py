"""ONNX's TensorProto and SparseTensorProto: type, place and size of the contents, and the contents of small ones."""

from __future__ import annotations

import os
import posixpath

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant, Stored
from irlint.model.tensor import BITS, CONTENTS_LIMIT, NUMBERED_TYPES, Contents, Tensor
from irlint.parsers import weights
from irlint.parsers.onnx import protobuf

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

#: The element types of TensorProto.DataType by number.
DTYPES = dict(enumerate(NUMBERED_TYPES, 1))

_FLOAT_DATA, _INT32_DATA, _INT64_DATA, _DOUBLE_DATA, _UINT64_DATA = 4, 5, 7, 10, 11

#: The field that holds a type's elements where they are not in ``raw_data``; int32_data for all others.
_TYPED_FIELDS = {
    "float32": _FLOAT_DATA,
    "complex64": _FLOAT_DATA,
    "float64": _DOUBLE_DATA,
    "complex128": _DOUBLE_DATA,
    "int64": _INT64_DATA,
    "uint32": _UINT64_DATA,
    "uint64": _UINT64_DATA,
}

_EXTERNAL = 1
_POINTER_SIZE = 1024


class Files:
    """The external data files next to a model in ``folder``; each is looked at once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._seen: dict[str, tuple[int | None, str | None]] = {}

    def path(self, location: str) -> str:
        return os.path.join(self.folder, location)

    def size(self, location: str) -> tuple[int | None, str | None]:
        """The size of a file, None for a missing one, and why its bytes cannot be had."""
        if location not in self._seen:
            self._seen[location] = self._examined(location)
        return self._seen[location]

    def _examined(self, location: str) -> tuple[int | None, str | None]:
        if not location:
            return None, "no location is given"
        if _escapes(location):
            return None, f"{location} lies outside of the model's folder"
        path = self.path(location)
        try:
            size = os.stat(path).st_size
            if not os.path.isfile(path):
                return None, f"{location} is not a file"
            if size <= _POINTER_SIZE and weights.is_lfs_pointer(weights.slice_of(path, 0, 100)):
                return size, f"{location} is a Git LFS pointer"
        except FileNotFoundError:
            return None, f"{location} does not exist"
        except OSError as error:
            return None, f"{location} cannot be read: {error.strerror}"
        except ValueError:
            return None, f"{location} is no file name"
        return size, None


def constant(data: Buffer, found: Fields, files: Files) -> Constant:
    """The tensor of a TensorProto with the given fields; raises Damage.

    ``stored.size`` is None where it is not told: strings, unknown types, external data without a length (onnxruntime takes
    a length of 0 for none), and packed varints past ``protobuf.COUNTED_BYTES``.
    """
    dims = tuple(protobuf.integers(data, found, 1))
    dtype = DTYPES.get(protobuf.last(found, 2 << 3))
    if protobuf.last(found, 14 << 3) == _EXTERNAL:
        stored, value = _external(data, found, files, dtype, dims)
    elif spans := found.get(9 << 3 | 2):
        stored, value = _raw(data, spans[-1], dtype, dims)
    else:
        stored, value = _typed(data, found, dtype, dims)
    return Constant(Tensor(dtype, dims, value), stored)


def sparse_constant(data: Buffer, found: Fields) -> tuple[str, Constant]:
    """The name and the dense tensor that a SparseTensorProto with the given fields stands for; raises Damage."""
    values = protobuf.merged(data, found.get(1 << 3 | 2, ()))
    dims = tuple(protobuf.integers(data, found, 3))
    dtype = DTYPES.get(protobuf.last(values, 2 << 3))
    return protobuf.last_text(data, values, 8), Constant(Tensor(dtype, dims))


def _raw(data: Buffer, span: Span, dtype: str | None, dims: tuple[int, ...]) -> tuple[Stored, Contents | None]:
    start, end = span
    stored = Stored(end - start, offset=start, available=end - start)
    count = _small_count(dims)
    if count is None or weights.byte_size(dtype, count) != end - start:
        return stored, None
    return stored, weights.contents(dtype, count, data[start:end])


def _typed(data: Buffer, found: Fields, dtype: str | None, dims: tuple[int, ...]) -> tuple[Stored, Contents | None]:
    if dtype is None or dtype == "string":
        return Stored(None), None
    number = _TYPED_FIELDS.get(dtype, _INT32_DATA)
    width = {_FLOAT_DATA: 4, _DOUBLE_DATA: 8}.get(number)
    entries = protobuf.fixed_count(found, number, width) if width else protobuf.integers_count(data, found, number)
    if entries is None:
        return Stored(None), None
    each = width or max(1, BITS.get(dtype, 8) // 8)
    stored = Stored(entries * each, available=entries * each)
    count = _small_count(dims)
    if count is None or weights.byte_size(dtype, count) != entries * each:
        return stored, None
    if width:
        return stored, weights.contents(dtype, count, protobuf.fixed(data, found, number, width))
    mask = (1 << 8 * each) - 1
    codes = protobuf.integers(data, found, number)
    return stored, weights.contents(dtype, count, b"".join((c & mask).to_bytes(each, "little") for c in codes))


def _external(
    data: Buffer, found: Fields, files: Files, dtype: str | None, dims: tuple[int, ...]
) -> tuple[Stored, Contents | None]:
    entries = string_entries(data, found.get(13 << 3 | 2, ()))
    location = entries.get("location", "")
    file_size, reason = files.size(location)
    offset, length = _whole(entries.get("offset", "0")), _whole(entries.get("length", "0"))
    if offset is None:
        reason = reason or f"its offset is {entries['offset']!r}, not a whole number of at least 0"
    if length is None:
        reason = reason or f"its length is {entries['length']!r}, not a whole number of at least 0"
    length = length or None
    available = None if file_size is None else max(0, file_size - (offset or 0))
    stored = Stored(length, offset or 0, location, available, reason)
    count = _small_count(dims)
    size = None if count is None else weights.byte_size(dtype, count)
    if count is None or reason or not size or length not in {None, size} or size > (available or 0):
        return stored, None
    try:
        return stored, weights.contents(dtype, count, weights.slice_of(files.path(location), offset or 0, size))
    except OSError as error:
        return Stored(length, offset or 0, location, available, f"{location} cannot be read: {error.strerror}"), None


def string_entries(data: Buffer, spans: list[Span] | tuple[()]) -> dict[str, str]:
    """The StringStringEntryProto messages at the given places, the last one of a key counting; raises Damage."""
    entries = {}
    for start, end in spans:
        entry = protobuf.fields(data, start, end)
        entries[protobuf.last_text(data, entry, 1)] = protobuf.last_text(data, entry, 2)
    return entries


def _small_count(dims: tuple[int, ...]) -> int | None:
    """The number of elements, None where it is past the limit for contents or a dim is negative."""
    count = 1
    for dim in sorted(dims):
        count *= dim
        if dim < 0 or count > CONTENTS_LIMIT:
            return None
    return count


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _escapes(location: str) -> bool:
    """Whether a path leads out of the folder that it is relative to; a backslash counts as a slash everywhere."""
    path = location.replace("\\", "/")
    drive, _ = os.path.splitdrive(location)
    return bool(drive) or path.startswith("/") or posixpath.normpath(path).split("/")[0] == ".."
