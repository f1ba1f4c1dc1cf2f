"""The faults of a TensorProto or a SparseTensorProto."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from irlint.dims import elements
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.wording import are, counted
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant
from irlint.model.tensor import BITS
from irlint.parsers.onnx import protobuf
from irlint.parsers.onnx.tensors import CODED, VALUE_WIRES
from irlint.parsers.weights import byte_size

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

TENSOR_TYPE = Rule(
    "IRL708",
    "constant-type-undefined",
    Severity.ERROR,
    "A tensor has no valid element type.",
    why=(
        "TensorProto.data_type must be a type number of onnx.proto. If it is missing, 0 or another number, ONNX "
        "Runtime refuses the model, even if the tensor is unused."
    ),
    fix="Set data_type to the type of the elements, as onnx.numpy_helper.from_array does.",
    refused=(Refusal("onnxruntime", ("unused constant",)),),
)

STORED_TWICE = Rule(
    "IRL709",
    "constant-stored-twice",
    Severity.WARNING,
    "The elements of a tensor are stored in more than one place.",
    why=(
        "By onnx.proto, the elements must be in exactly one of raw_data, the typed fields and external data. The "
        "ONNX checker refuses the model. ONNX Runtime silently uses one of them, but refuses the model if the tensor "
        "is in a body or in an attribute of an operator other than Constant."
    ),
    fix="Keep the field with the right elements, and clear the others.",
)

MISPLACED_STRINGS = Rule(
    "IRL710",
    "strings-misplaced",
    Severity.ERROR,
    "The strings of a tensor are not stored in string_data, or their number differs from the shape.",
    why=(
        "By onnx.proto, strings must be in string_data, because they have no fixed size; raw_data, other fields and "
        "external data are not allowed. ONNX Runtime refuses the model if the tensor is used."
    ),
    fix="Store the strings in string_data, one for each element of the shape.",
)

EXTERNAL_ENTRIES = Rule(
    "IRL711",
    "external-data-malformed",
    Severity.ERROR,
    "The external data entries of a tensor have an unknown key, or two locations.",
    why=(
        "onnx.proto defines the keys location, offset, length and checksum. ONNX Runtime also accepts keys that begin "
        "with prepacked. It refuses a model with any other key, or with two locations."
    ),
    fix="Write location, offset and length once each, and remove unknown keys.",
)

SPARSE_TENSOR = Rule(
    "IRL713",
    "sparse-tensor-malformed",
    Severity.ERROR,
    "The values, indices and dims of a sparse tensor do not fit together.",
    why=(
        "A SparseTensorProto needs one int64 index for each value: a single number, or one number per axis. The "
        "indices must be within dims, unique and in ascending order. ONNX Runtime refuses the model if an index is "
        "missing or out of range. It accepts unsorted indices and smaller integer types, but the ONNX checker "
        "refuses these."
    ),
    fix="Write the sparse tensor with onnx.helper.make_sparse_tensor and with sorted indices.",
    refused=(Refusal("onnxruntime", ("unused constant",)),),
)

CODE_OUT_OF_RANGE = Rule(
    "IRL717",
    "constant-code-out-of-range",
    Severity.ERROR,
    "A number in int32_data does not fit the bits of its element type.",
    why=(
        "int32_data stores elements of 8 and 16 bits as integers. For float16, bfloat16 and the 8-bit floating-point "
        "types, these integers are bit patterns. If the tensor is used, ONNX Runtime refuses a number that is "
        'negative or has more bits ("data overflow").'
    ),
    fix=(
        "Store the bit pattern of each element, or store the elements in raw_data, as onnx.numpy_helper.from_array "
        "does."
    ),
)

#: The names of the fields of TensorProto that hold elements, by number.
VALUE_FIELDS = {
    4: "float_data",
    5: "int32_data",
    6: "string_data",
    7: "int64_data",
    9: "raw_data",
    10: "double_data",
    11: "uint64_data",
}

#: By a number of bits: matches packed varints if the value of one of them may need more bits.
_WIDE = {
    8: re.compile(rb"[\x80-\xff](?:[\x80-\xff]|[\x02-\x7f])"),
    16: re.compile(rb"[\x80-\xff]{2}(?:[\x80-\xff]|[\x04-\x7f])"),
}

#: The number of the field int32_data, and the keys of string_data and raw_data.
_CODES = 5
_STRINGS = 6 << 3 | 2
_RAW = 9 << 3 | 2

#: ONNX Runtime refuses a sparse tensor if the dense tensor would have more bytes.
_MOST_BYTES = 1 << 31

#: The numbers in a tensor of indices are examined only if there are at most this many.
_MOST_EXAMINED = 1 << 20


def tensor_faults(
    data: Buffer,
    found: Fields,
    dtype: str | None,
    dims: Sequence[int],
    keys: Sequence[str],
    *,
    external: bool,
) -> tuple[Fault, ...]:
    """The faults of a TensorProto. ``keys`` are the keys of its external data entries."""
    number = protobuf.last_int32(found, 2 << 3)
    if dtype is None:
        text = f"has the type {number}, which does not exist" if number else "has no type"
        return (TENSOR_TYPE.fault(f"the tensor {text}", help="set data_type to the type of its elements"),)
    filled = [
        name
        for field, name in VALUE_FIELDS.items()
        if any(_has_elements(found, field, wire) for wire in VALUE_WIRES[field])
    ]
    faults = list(_entry_faults(keys)) if external else []
    if dtype in CODED and not external and "raw_data" not in filled:
        faults += _code_faults(data, found, dtype)
    if dtype == "string" and (text := _strings_text(found, dims, filled, external)):
        faults.append(MISPLACED_STRINGS.fault(text, help="write one string for each element into string_data"))
    elif len(filled) + external > 1:
        places = [*(["a file"] if external else []), *filled]
        text = f"the elements of the tensor are stored {len(places)} times: in {' and in '.join(places)}"
        faults.append(STORED_TWICE.fault(text, help="keep the right elements, and clear the others"))
    return tuple(faults)


def _code_faults(data: Buffer, found: Fields, dtype: str) -> Iterable[Fault]:
    """The fault of the first number in ``int32_data`` that does not fit the bits of the element type."""
    bits = BITS[dtype]
    packed = found.get(_CODES << 3 | 2, ())
    if _CODES << 3 not in found and not any(_WIDE[bits].search(data, start, end) for start, end in packed):
        return
    codes = map(protobuf.int32, protobuf.integers(data, found, _CODES))
    wrong = next(((at, code) for at, code in enumerate(codes) if not 0 <= code < 1 << bits), None)
    if wrong is not None:
        text = f"element {wrong[0]} of the tensor is {wrong[1]} in int32_data; {dtype} has {bits} bits"
        yield CODE_OUT_OF_RANGE.fault(text, help=CODE_OUT_OF_RANGE.advice)


def _has_elements(found: Fields, field: int, wire: int) -> bool:
    values = found.get(field << 3 | wire, [])
    if wire != protobuf.DELIMITED or field == _STRINGS >> 3:
        return bool(values)
    # ``raw_data`` is singular: the last one counts.
    return any(start < end for start, end in (values[-1:] if field == _RAW >> 3 else values))


def _strings_text(found: Fields, dims: Sequence[int], filled: Sequence[str], external: bool) -> str:
    """What is wrong with the place or the number of the strings, or ""."""
    others = [name for name in filled if name != "string_data"]
    strings = len(found.get(_STRINGS, ()))
    if external:
        return "the tensor contains strings, but its data is external"
    if "raw_data" in others:
        return "the tensor contains strings, but its data is in raw_data"
    if others and not strings:
        return f"the tensor contains strings, but its data is in {' and '.join(others)}"
    count = elements(dims)
    if strings == count or any(dim < 0 for dim in dims):
        return ""
    stored = f"{counted(strings, 'string')} {are(strings)} in string_data"
    return f"{stored}; the shape {list(dims)} has {counted(count, 'element')}"


def _entry_faults(keys: Sequence[str]) -> Iterable[Fault]:
    if keys.count("location") > 1:
        text = f"the external data of the tensor has {keys.count('location')} entries `location`"
        yield EXTERNAL_ENTRIES.fault(text, help="keep one `location`")
    known = ("location", "offset", "length", "checksum")
    unknown = [key for key in keys if key not in known and not key.startswith("prepacked")]
    if unknown:
        key = f"the key `{unknown[0]}`" if unknown[0] else "no key"
        text = f"an entry of the external data of the tensor has {key}"
        yield EXTERNAL_ENTRIES.fault(
            f"{text}; the keys are location, offset, length and checksum", help="remove the entry"
        )


def sparse_faults(
    data: Buffer, indices_fields: Fields, values: Constant, indices: Constant | None, dims: tuple[int, ...]
) -> tuple[Fault, ...]:
    """The faults of a sparse tensor. ``indices_fields`` are the fields of the TensorProto ``indices``."""
    faults = [*values.faults, *(indices.faults if indices is not None else ())]
    if any(fault.severity is Severity.ERROR for fault in faults):
        return tuple(faults)
    text = _conversion_text(values, indices, dims)
    if text:
        return (*faults, _sparse_fault(text))
    assert indices is not None and indices.tensor.shape is not None
    count = elements(indices.tensor.shape)  # type: ignore[arg-type]
    if indices.stored is not None and indices.stored.file is not None:
        text = "the indices of the sparse tensor are in an external file, which the ONNX checker does not read"
        return (*faults, _sparse_fault(text, Severity.WARNING))
    if indices.tensor.dtype != "int64":
        text = f"the indices of the sparse tensor are {indices.tensor.dtype}; the format requires int64"
        faults.append(_sparse_fault(text, Severity.WARNING))
    dims_fault = None
    if not dims or 0 in dims:
        text = (
            f"the dims of the sparse tensor are {list(dims)}; the format requires one axis or more, and sizes of at "
            "least 1"
        )
        dims_fault = _sparse_fault(text, Severity.WARNING)
    numbers = _numbers(data, indices_fields, indices) if count <= _MOST_EXAMINED and 0 not in dims else None
    fault = None if numbers is None else _index_fault(numbers, len(indices.tensor.shape), dims)
    if dims_fault is not None and (fault is None or fault.severity is not Severity.ERROR):
        fault = dims_fault
    return (*faults, fault) if fault is not None else tuple(faults)


def _sparse_fault(text: str, severity: Severity | None = None) -> Fault:
    return SPARSE_TENSOR.fault(text, help=SPARSE_TENSOR.advice, severity=severity)


def _conversion_text(values: Constant, indices: Constant | None, dims: tuple[int, ...]) -> str:
    """Why ONNX Runtime cannot convert the sparse tensor to a dense one, or "". Does not read the indices themselves."""
    shape = values.tensor.shape or ()
    if any(dim < 0 for dim in dims):
        return f"the dims of the sparse tensor are {list(dims)}: a size is an integer of at least 0"
    if (size := byte_size(values.tensor.dtype, elements(dims)) or 0) > _MOST_BYTES:
        return (
            f"the dims of the sparse tensor are {list(dims)}: a dense one has {size} bytes, but ONNX Runtime "
            f"supports {_MOST_BYTES}"
        )
    if len(shape) != 1:
        return f"the values of the sparse tensor have the shape {list(shape)}; the format requires one axis"
    if values.tensor.dtype == "string":
        return "the values of the sparse tensor are strings, which ONNX Runtime cannot convert to a dense tensor"
    return "the sparse tensor has no indices" if indices is None else _parts_text(values, indices, len(dims))


def _parts_text(values: Constant, indices: Constant, rank: int) -> str:
    """Why the types, shapes or stored bytes of values and indices do not fit together, or ""."""
    (count,), shape = values.tensor.shape or (0,), list(indices.tensor.shape or ())
    if not rank and count and len(shape) != 1:
        return "the sparse tensor has no dims"
    if text := _size_text("values", values) or _size_text("indices", indices):
        return text
    if indices.tensor.dtype not in ("int64", "int32", "int16", "int8"):
        return f"the indices of the sparse tensor are {indices.tensor.dtype}; the format requires int64"
    if shape != ([count] if len(shape) < 2 else [count, rank]):
        return (
            f"the indices of the sparse tensor have the shape {shape}; for "
            f"{counted(count, 'value')} and {counted(rank, 'axis', 'axes')} it is [{count}] or [{count}, {rank}]"
        )
    return ""


def _size_text(what: str, part: Constant) -> str:
    """The fault in the number of stored bytes of ``part``, or "". ``what`` is ``values`` or ``indices``."""
    count = elements(part.tensor.shape or ())  # type: ignore[arg-type]
    needed = byte_size(part.tensor.dtype, count)
    stored = part.stored.size if part.stored is not None else None
    if count < 0 or (needed is not None and stored is not None and stored != needed):
        return (
            f"the {what} of the sparse tensor have the shape {list(part.tensor.shape or ())} and need {needed or 0} "
            "bytes; "
            f"{counted(stored or 0, 'byte')} {'is' if stored == 1 else 'are'} stored"
        )
    return ""


def _numbers(data: Buffer, indices_fields: Fields, indices: Constant) -> Sequence[int]:
    spans: Sequence[Span] = indices_fields.get(_RAW, ())
    if not spans:
        return protobuf.integers(data, indices_fields, 7 if indices.tensor.dtype == "int64" else 5)
    letters: Mapping[str | None, str] = {"int64": "q", "int32": "i", "int16": "h", "int8": "b"}
    start, end = spans[-1]
    return memoryview(data[start:end]).cast(letters[indices.tensor.dtype])  # type: ignore[call-overload,no-any-return]


def _index_fault(numbers: Sequence[int], indices_rank: int, dims: tuple[int, ...]) -> Fault | None:
    """The fault of the first index that is out of range, or else of the first index that breaks the ascending order."""
    limits = dims if indices_rank > 1 and dims else (elements(dims),)
    width = len(limits)
    rows = [tuple(numbers[at : at + width]) for at in range(0, len(numbers), width)]
    for position, row in enumerate(rows):
        if not all(0 <= index < limit for index, limit in zip(row, limits)):
            text = f"index {position} of the sparse tensor is {_index_text(row)}, and its dims are {list(dims)}"
            return _sparse_fault(text)
    for position, (row, after) in enumerate(pairwise(rows), 1):
        if after <= row:
            text = (
                f"index {position} of the sparse tensor is {_index_text(after)} after {_index_text(row)}; the format "
                "requires ascending order"
            )
            return _sparse_fault(text, Severity.WARNING)
    return None


def _index_text(row: tuple[int, ...]) -> str:
    return str(row[0]) if len(row) == 1 else str(list(row))
