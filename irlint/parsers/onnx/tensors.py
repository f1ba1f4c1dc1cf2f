"""Reads TensorProto and SparseTensorProto. Only small tensors get elements."""

from __future__ import annotations

import os
import posixpath
from functools import lru_cache

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant, Stored
from irlint.model.tensor import BITS, CONTENTS_LIMIT, FLOATS, INTEGERS, NUMBERED_TYPES, Contents, Tensor
from irlint.parsers import opening, weights
from irlint.parsers.onnx import protobuf, unused_fields
from irlint.parsers.opening import beside, is_url
from irlint.parsers.weights import WEIGHTS_TYPES, Weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irlint.dims import Shape
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

    #: (tensor without elements, number of elements, size in bytes). Both numbers are None if the tensor is too large
    #: for its elements to be kept. The size is also None for strings and unknown types.
    Form = tuple[Tensor, int | None, int | None]

    #: (size of a file or None, why the file cannot be read or None, why the ONNX checker refuses the path or None).
    FileFacts = tuple[int | None, str | None, str | None]

#: The element types of TensorProto.DataType by number.
DTYPES = dict(enumerate(NUMBERED_TYPES, 1))

_FLOAT_DATA, _INT32_DATA, _STRING_DATA, _INT64_DATA, _DOUBLE_DATA, _UINT64_DATA = 4, 5, 6, 7, 10, 11

#: The floating-point types that ``int32_data`` holds as bit patterns, one in each number.
CODED = frozenset(name for name in FLOATS if BITS[name] in (8, 16))

#: The typed fields of element types. Other types use ``int32_data``.
_TYPED_FIELDS = {
    "float32": _FLOAT_DATA,
    "complex64": _FLOAT_DATA,
    "float64": _DOUBLE_DATA,
    "complex128": _DOUBLE_DATA,
    "int64": _INT64_DATA,
    "uint32": _UINT64_DATA,
    "uint64": _UINT64_DATA,
}

#: The wire types of the fields that hold elements, by number.
VALUE_WIRES = {4: (5, 2), 5: (0, 2), 6: (2,), 7: (0, 2), 9: (2,), 10: (1, 2), 11: (0, 2)}
_VALUE_KEYS = frozenset(number << 3 | wire for number, wires in VALUE_WIRES.items() for wire in wires)
_CODES_KEYS = frozenset({_INT32_DATA << 3, _INT32_DATA << 3 | protobuf.DELIMITED})

_NAME, _RAW_DATA = 8 << 3 | 2, 9 << 3 | 2

_PLAIN_KEYS = frozenset({1 << 3, 2 << 3, _NAME, _RAW_DATA})

#: The largest number of bytes of dims, type and name in a plain TensorProto.
_HEAD_BYTES = 192

#: The numbers of TensorProto.DataLocation: DEFAULT and EXTERNAL.
_LOCATIONS = (0, 1)
_EXTERNAL = 1

#: A Git LFS pointer has at most this many bytes.
_POINTER_SIZE = 1024


class Files:
    """The external data files of the model at ``path``."""

    def __init__(self, path: str) -> None:
        self.model = path
        self.folder = os.path.dirname(path)
        self._facts: dict[str, FileFacts] = {}

    def path(self, location: str) -> str:
        """The path of the file at ``location``. As in runtimes, the location ends at a NUL."""
        return beside(self.model, location.partition("\0")[0])

    def facts(self, location: str) -> FileFacts:
        """The facts about the file at a ``location``, examined once."""
        location = location.partition("\0")[0]
        if location not in self._facts:
            self._facts[location] = self._examined(location)
            if opening.trace is not None:
                opening.trace.beside(location, self._facts[location])
        return self._facts[location]

    def _examined(self, location: str) -> FileFacts:
        if not location:
            return None, "it has no location", None
        if is_url(self.model):
            from irlint.parsers.remote.session import examined

            return examined(self.model, location)
        path = self.path(location)
        if _is_absolute(location):
            return None, f"{location} is an absolute path; runtimes refuse it", None
        if not opening.within(
            os.path.abspath(path.replace("\\", "/")), [os.path.abspath(self.folder.replace("\\", "/"))]
        ):
            return None, f"{location} is outside of the model's folder", None
        try:
            status = os.stat(path)
            if not os.path.isfile(path):
                return None, f"{location} is not a file", None
            if not opening.within(
                os.path.realpath(path), [os.path.dirname(os.path.realpath(self.model)), os.path.realpath(self.folder)]
            ):
                return None, f"{location} is a symbolic link that leads out of the model's folder", None
            if status.st_size <= _POINTER_SIZE and weights.is_lfs_pointer(weights.slice_of(path, 0, 100)):
                return status.st_size, f"{location} is a Git LFS pointer", None
        except FileNotFoundError:
            return None, f"{location} does not exist", None
        except OSError as error:
            return None, f"{location} cannot be read: {error.strerror}", None
        return status.st_size, None, _refused_link(path, location, status.st_nlink)


def facts_beside(model: str, location: str) -> FileFacts:
    """The facts about an external data file of the model at the path ``model``."""
    return Files(model).facts(location)


def plain_constant(data: Buffer, start: int, end: int) -> tuple[str, Constant] | None:
    """(name, constant) of a TensorProto with dims, type, name and raw data in this order. None for other messages."""
    head = data[start : min(end, start + _HEAD_BYTES)]
    at = 0
    try:
        while head[at] == 1 << 3:
            at += 2 if head[at + 1] < 128 else 3
        at += 2
        name_length, begin = head[at + 1], at + 2
        behind = begin + name_length
        if head[at - 2] != 2 << 3 or head[at] != _NAME or name_length > 127 or head[behind] != _RAW_DATA:
            return None
        size, first = protobuf.length(head, behind + 1)
    except (IndexError, protobuf.Damage):
        return None
    if size != end - start - first:
        return None
    form = _form_of(head[:at])
    if form is None:
        return None
    name = head[begin:behind].decode("utf-8", "surrogateescape")
    return name, _raw_constant(form, data, start + first, end)


@lru_cache(1024)
def _form_of(head: bytes) -> Form | None:
    """The form of a tensor by the fields ``dims`` and ``data_type`` in ``head``.

    Returns None if ``head`` is damaged or has other fields, and if the type is string or unknown.
    """
    try:
        found = protobuf.fields(head, 0, len(head))
    except protobuf.Damage:
        return None
    form = _form(tuple(found.get(1 << 3, ())), found.get(2 << 3, (0,))[-1])
    return form if found.keys() <= {1 << 3, 2 << 3} and form[0].dtype not in (None, "string") else None


def _raw_constant(form: Form, data: Buffer, start: int, end: int) -> Constant:
    """The constant of this form with the raw data ``data[start:end]``."""
    tensor, count, needed = form
    size = end - start
    dtype = tensor.dtype
    if size == needed and count is not None and dtype is not None:
        if count and dtype in WEIGHTS_TYPES:
            tensor = Weights(tensor, form, data[start:end])
        else:
            tensor = (_integers if dtype in INTEGERS else _decoded)(dtype, tensor.shape, count, data[start:end])
    return Constant(tensor, Stored(size, start, None, size))


def constant(data: Buffer, found: Fields, files: Files, depth: int) -> Constant:
    """The constant for a TensorProto at ``depth`` with the fields ``found``. Raises Damage.

    ``stored.size`` is None for strings, unknown types, packed varints above ``protobuf.COUNTED_BYTES``, and external
    data without a length or with length 0.
    """
    if found.keys() <= _PLAIN_KEYS and _RAW_DATA in found:
        form = _form(tuple(found.get(1 << 3, ())), found.get(2 << 3, (0,))[-1])
        if form[0].dtype not in (None, "string"):
            return _raw_constant(form, data, *found[_RAW_DATA][-1])
    dims = tuple(protobuf.integers(data, found, 1))
    dtype = DTYPES.get(protobuf.last_int32(found, 2 << 3))
    external = protobuf.last_known(found, 14 << 3, _LOCATIONS) == _EXTERNAL
    unused_fields.check_fields(
        data, found, unused_fields.OF_EXTERNAL_TENSOR if external else unused_fields.OF_TENSOR, depth
    )
    filled = found.keys() & _VALUE_KEYS
    keys: list[str] = []
    if external:
        entries = string_pairs(data, found.get(13 << 3 | 2, ()), depth + 1)
        stored, value = _external(dict(entries), files, dtype, dims)
        keys = [key for key, _ in entries]
    elif spans := found.get(9 << 3 | 2):
        stored, value = _raw(data, spans[-1], dtype, dims)
    else:
        stored, value = _typed(data, found, dtype, dims)
    coded = dtype in CODED and not filled.isdisjoint(_CODES_KEYS)
    has_other_keys = external and not _are_plain(keys)
    if dtype is None or dtype == "string" or len(filled) + external > 1 or coded or has_other_keys:
        from irlint.parsers.onnx.tensor_faults import tensor_faults

        faults = tensor_faults(data, found, dtype, dims, keys, external=external)
        return Constant(Tensor(dtype, dims, None if faults and not external else value), stored, None, faults)
    return Constant(Tensor(dtype, dims, value), stored)


def _decoded(dtype: str, shape: Shape | None, count: int, raw: bytes) -> Tensor:
    return Tensor(dtype, shape, weights.contents(dtype, count, raw))


#: Integer constants with the same elements, such as the target shapes of several Reshapes, share one tensor.
_integers = lru_cache(1024)(_decoded)


@lru_cache(1024)
def _form(dims: tuple[int, ...], number: int) -> Form:
    """The form of a tensor with these ``dims`` and this ``data_type``. Both are unsigned varints."""
    sizes = tuple(map(protobuf.signed, dims))
    dtype, count = DTYPES.get(protobuf.int32(number)), _small_count(sizes)
    return Tensor(dtype, sizes), count, None if count is None else weights.byte_size(dtype, count)


def sparse_constant(data: Buffer, found: Fields, files: Files, depth: int) -> tuple[str, Constant]:
    """(name, dense constant) of a SparseTensorProto at ``depth`` with the fields ``found``. Raises Damage.

    The ``parts`` of the dense constant are two constants: the values and, if present, the indices.
    """
    from irlint.parsers.onnx.tensor_faults import sparse_faults

    values_fields = protobuf.merged(data, found.get(1 << 3 | 2, ()), depth + 1)
    indices_fields = protobuf.merged(data, found.get(2 << 3 | 2, ()), depth + 1)
    dims = tuple(protobuf.integers(data, found, 3))
    values = constant(data, values_fields, files, depth + 1)
    indices = constant(data, indices_fields, files, depth + 1) if indices_fields else None
    faults = sparse_faults(data, indices_fields, values, indices, dims)
    parts = (values,) if indices is None else (values, indices)
    dense = Constant(Tensor(values.tensor.dtype, dims), faults=faults, parts=parts)
    return protobuf.last_text(data, values_fields, 8), dense


def _raw(data: Buffer, span: Span, dtype: str | None, dims: tuple[int, ...]) -> tuple[Stored, Contents | None]:
    """(where ``raw_data`` is, its elements or None). Elements are kept if they are few and match the shape."""
    start, end = span
    stored = Stored(end - start, offset=start, available=end - start)
    count = _small_count(dims)
    if count is None or weights.byte_size(dtype, count) != end - start:
        return stored, None
    return stored, weights.contents(dtype, count, data[start:end])


def _typed(data: Buffer, found: Fields, dtype: str | None, dims: tuple[int, ...]) -> tuple[Stored, Contents | None]:
    """Like ``_raw``, for the typed field of ``dtype``, such as ``float_data``. Raises Damage."""
    if dtype is None or dtype == "string":
        return Stored(None, coded=_coded_span(found, _STRING_DATA)), None
    number = _TYPED_FIELDS.get(dtype, _INT32_DATA)
    width = {_FLOAT_DATA: 4, _DOUBLE_DATA: 8}.get(number)
    entries = protobuf.fixed_count(found, number, width) if width else protobuf.integers_count(data, found, number)
    if entries is None:
        return Stored(None, coded=_coded_span(found, number)), None
    element_bytes = width or max(1, BITS.get(dtype, 8) // 8)
    packed = found.get(number << 3 | protobuf.DELIMITED, ())
    offset = packed[0][0] if width and len(packed) == 1 and packed[0][1] - packed[0][0] == entries * width else 0
    coded = None if offset else _coded_span(found, number)
    size = entries * element_bytes
    stored = Stored(size, offset, available=size, coded=coded)
    count = _small_count(dims)
    if count is None or weights.byte_size(dtype, count) != size:
        return stored, None
    if width:
        return stored, weights.contents(dtype, count, protobuf.fixed(data, found, number, width))
    mask = (1 << 8 * element_bytes) - 1
    codes = protobuf.integers(data, found, number)
    raw = b"".join((code & mask).to_bytes(element_bytes, "little") for code in codes)
    return stored, weights.contents(dtype, count, raw)


def _coded_span(found: Fields, number: int) -> tuple[int, int] | None:
    """The span from the start of the first to the end of the last length-delimited occurrence of a field, or None."""
    spans = found.get(number << 3 | protobuf.DELIMITED)
    return (spans[0][0], spans[-1][1]) if spans else None


def _external(
    entries: Mapping[str, str], files: Files, dtype: str | None, dims: tuple[int, ...]
) -> tuple[Stored, Contents | None]:
    """Like ``_raw``, for external data."""
    location = entries.get("location", "")
    file_size, reason, link = files.facts(location)
    offset, length = _natural(entries.get("offset", "0")), _natural(entries.get("length", "0"))
    if offset is None:
        reason = reason or f"its offset is {entries['offset']!r}, not an integer of at least 0"
    if length is None:
        reason = reason or f"its length is {entries['length']!r}, not an integer of at least 0"
    length = length or None
    count = _small_count(dims)
    available = None if file_size is None else file_size - (offset or 0)
    if available is not None and count == 0:
        available = max(0, available)
    stored = Stored(length, offset or 0, location, available, reason, link)
    size = None if count is None else weights.byte_size(dtype, count)
    if count is None or reason or not size or length not in {None, size} or size > (available or 0):
        return stored, None
    try:
        return stored, weights.contents(dtype, count, weights.slice_of(files.path(location), offset or 0, size))
    except OSError as error:
        return Stored(length, offset or 0, location, available, f"{location} cannot be read: {error.strerror}"), None


def string_entries(data: Buffer, spans: list[Span] | tuple[()], depth: int = 1) -> dict[str, str]:
    """The entries of StringStringEntryProto messages; the last entry of a key counts. Raises Damage."""
    return dict(string_pairs(data, spans, depth))


def string_pairs(data: Buffer, spans: list[Span] | tuple[()], depth: int) -> list[tuple[str, str]]:
    """(key, value) of each StringStringEntryProto. Raises Damage."""
    pairs = []
    for start, end in spans:
        entry = protobuf.fields(data, start, end, None, depth)
        pairs.append((protobuf.last_text(data, entry, 1), protobuf.last_text(data, entry, 2)))
    return pairs


def _are_plain(keys: list[str]) -> bool:
    """Whether the keys of external data are distinct, and each is location, offset or length."""
    return len(set(keys)) == len(keys) and all(key in ("location", "offset", "length") for key in keys)


def _small_count(dims: tuple[int, ...]) -> int | None:
    """The number of elements; None if a dim is negative, or if there are more than CONTENTS_LIMIT."""
    count = 1
    for dim in sorted(dims):
        count *= dim
        if dim < 0 or count > CONTENTS_LIMIT:
            return None
    return count


def _natural(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _is_absolute(location: str) -> bool:
    """Whether a path is absolute on any operating system."""
    drive, _ = os.path.splitdrive(location)
    return bool(drive) or location.replace("\\", "/").startswith("/")


def _refused_link(path: str, location: str, names: int) -> str | None:
    """Why the ONNX checker refuses the path to an existing file, such as ``is a symbolic link``."""
    if ".." in location.replace("\\", "/").split("/") and posixpath.normpath(location).split("/")[0] == "..":
        return "has a path that leaves the model's folder and returns to it"
    if os.path.islink(path):
        return "is a symbolic link"
    return f"has {names} hard links" if names > 1 else None
