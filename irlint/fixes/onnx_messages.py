"""Messages of ONNX that fixes write: attributes, constants, nodes and declared types, in the wire format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import pack

from irlint.fixes.wire import Message, Unwritable, encoded
from irlint.lazy_typing import Any
from irlint.model.tensor import NUMBERED_TYPES

#: Fields of AttributeProto, and its types (onnx.proto).
_NAME, _FLOAT, _INT, _STRING, _FLOATS, _INTS, _STRINGS, _TYPE = 1, 2, 3, 4, 7, 8, 9, 20
_BODY, _BODIES = 6, 11
_VALUES = (_FLOAT, _INT, _STRING, _FLOATS, _INTS, _STRINGS, _TYPE)
_IS_FLOAT, _IS_INT, _IS_STRING, _ARE_FLOATS, _ARE_INTS, _ARE_STRINGS = 1, 2, 3, 6, 7, 8

#: Fields of TensorProto: the general ones, and those that hold elements.
_DIMS, _DATA_TYPE, _TENSOR_NAME, _RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION = 1, 2, 8, 9, 13, 14
_ELEMENTS = (4, 5, 6, 7, 10, 11)

#: Fields of TypeProto and of its tensor, sequence and optional types.
_TENSOR_TYPE, _SEQUENCE_TYPE, _OPTIONAL_TYPE, _ELEMENT, _ELEM_TYPE, _SHAPE = 1, 4, 9, 1, 1, 2

#: Fields of TensorShapeProto and of its dims.
_DIM, _DIM_VALUE, _DIM_PARAM = 1, 1, 2

#: Fields of NodeProto.
INPUT, OUTPUT, NODE_NAME, OP_TYPE, ATTRIBUTE = 1, 2, 3, 4, 5

#: How ``struct`` packs the elements of constants that fixes write.
_PACKED = {
    "float32": "f", "float64": "d", "float16": "e", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "bool": "?",
}  # fmt: skip


def joined(message: Message) -> bytes:
    """The bytes of a new message."""
    return b"".join(piece for piece in message.pieces() if isinstance(piece, bytes))


def set_value(attribute: Message, name: str, value: Any) -> None:
    """Sets the name, type and value of an AttributeProto. Raises Unwritable for other types."""
    attribute.remove(field for field in attribute.fields if field.key >> 3 in _VALUES)
    attribute.set_text(_NAME, name)
    match value:
        case bool() | int():
            attribute.set_number(_INT, int(value))
            attribute.set_number(_TYPE, _IS_INT)
        case float():
            attribute.append_fixed(_FLOAT, pack("<f", value))
            attribute.set_number(_TYPE, _IS_FLOAT)
        case str():
            attribute.append(_STRING, value.encode("utf-8", "surrogateescape"))
            attribute.set_number(_TYPE, _IS_STRING)
        case tuple() if all(isinstance(each, str) for each in value):
            for each in value:
                attribute.append(_STRINGS, each.encode("utf-8", "surrogateescape"))
            attribute.set_number(_TYPE, _ARE_STRINGS)
        case tuple() if any(isinstance(each, float) for each in value):
            attribute.append(_FLOATS, pack(f"<{len(value)}f", *value))
            attribute.set_number(_TYPE, _ARE_FLOATS)
        case tuple():
            attribute.append(_INTS, b"".join(encoded(each) for each in value))
            attribute.set_number(_TYPE, _ARE_INTS)
        case _:
            raise Unwritable(f"an attribute cannot hold {type(value).__name__}")


def set_entries(tensor: Message, dtype: str, shape: Sequence[int], values: Sequence[Any]) -> None:
    """Replaces the elements, element type and dims of a TensorProto. Raises Unwritable for other element types."""
    if dtype not in _PACKED:
        raise Unwritable(f"constants of {dtype} are not written")
    tensor.remove(field for field in tensor.fields if field.key >> 3 in (*_ELEMENTS, _EXTERNAL_DATA, _DATA_LOCATION))
    set_dims(tensor, shape)
    tensor.set_number(_DATA_TYPE, NUMBERED_TYPES.index(dtype) + 1)
    raw = pack(f"<{len(values)}{_PACKED[dtype]}", *values)
    tensor.set_bytes(_RAW_DATA, raw)


def convert(tensor: Message, dtype: str) -> None:
    """Converts a TensorProto to another element type. Raises Unwritable, also without the package onnx."""
    try:
        from google.protobuf.message import DecodeError
        from onnx import TensorProto, numpy_helper
    except ImportError as error:
        raise Unwritable("elements are converted by the package onnx, which is not installed") from error
    raw = b"".join(piece if isinstance(piece, bytes) else tensor.data[piece[0] : piece[1]] for piece in tensor.pieces())
    try:
        proto = TensorProto.FromString(raw)
    except DecodeError as error:
        raise Unwritable("the constant is damaged") from error
    if proto.data_location == TensorProto.EXTERNAL:
        raise Unwritable("the elements are in another file")
    if dtype not in _PACKED:
        raise Unwritable(f"elements are not converted to {dtype}")
    try:
        array = numpy_helper.to_array(proto).astype(dtype)
    except (ValueError, TypeError) as error:
        raise Unwritable(f"the elements cannot be converted to {dtype}: {error}") from error
    tensor.remove(field for field in tensor.fields if field.key >> 3 in _ELEMENTS)
    tensor.set_number(_DATA_TYPE, number_of(dtype))
    tensor.set_bytes(_RAW_DATA, array.tobytes())


def set_dims(tensor: Message, shape: Iterable[int]) -> None:
    """Gives a TensorProto another shape."""
    tensor.remove(field for field in tensor.fields if field.key >> 3 == _DIMS)
    raw = b"".join(encoded(dim) for dim in shape)
    if raw:
        tensor.append(_DIMS, raw)


def constant(name: str, values: Sequence[int]) -> bytes:
    """A TensorProto of type int64 with one axis."""
    tensor = Message(b"", 0, 0, is_new=True)
    set_entries(tensor, "int64", (len(values),), values)
    tensor.set_text(_TENSOR_NAME, name)
    return joined(tensor)


def node(op: str, name: str, inputs: Iterable[str], output: str, attributes: Iterable[tuple[str, Any]]) -> bytes:
    """A NodeProto with one output."""
    message = Message(b"", 0, 0, is_new=True)
    for each in inputs:
        message.append(INPUT, each.encode("utf-8", "surrogateescape"))
    message.append(OUTPUT, output.encode("utf-8", "surrogateescape"))
    message.set_text(NODE_NAME, name)
    message.set_text(OP_TYPE, op)
    for key, value in attributes:
        attribute = Message(b"", 0, 0, is_new=True)
        set_value(attribute, key, value)
        message.append(ATTRIBUTE, joined(attribute))
    return joined(message)


def number_of(dtype: str) -> int:
    """The number of an element type in onnx.proto (TensorProto.DataType)."""
    return NUMBERED_TYPES.index(dtype) + 1


def only(message: Message, number: int) -> Message:
    """The message in a field, added if it is missing. Raises Unwritable if it is in several pieces."""
    found = message.of(number)
    if len(found) > 1:
        raise Unwritable("a declared type is in several pieces")
    if not found:
        message.append(number, Message(b"", 0, 0, is_new=True))
    return message.inner(message.of(number)[0])


def set_type(stated: Message, dtype: str, shape: Sequence[int | str | None] | None) -> None:
    """Writes the element type and the shape of the tensors in a TypeProto; "" and None keep them."""
    for number in (_SEQUENCE_TYPE, _OPTIONAL_TYPE):
        if stated.of(number):
            set_type(only(only(stated, number), _ELEMENT), dtype, shape)
            return
    tensor = only(stated, _TENSOR_TYPE)
    if dtype:
        tensor.set_number(_ELEM_TYPE, number_of(dtype))
    if shape is not None:
        set_sizes(only(tensor, _SHAPE), shape)


def set_sizes(shape: Message, sizes: Sequence[int | str | None]) -> None:
    """Writes the dims of a TensorShapeProto: an integer, a name, or None for unknown. "" keeps a dim."""
    dims = shape.of(_DIM)
    if len(dims) != len(sizes):
        shape.remove(dims)
        shape.append(_DIM, *[Message(b"", 0, 0, is_new=True) for _ in sizes])
    for field, size in zip(shape.of(_DIM), sizes):
        if (size is not None and not isinstance(size, (int, str))) or size == "":
            continue
        dim = shape.inner(field)
        dim.fields = [each for each in dim.fields if each.key >> 3 not in (_DIM_VALUE, _DIM_PARAM)]
        if isinstance(size, int):
            dim.set_number(_DIM_VALUE, size)
        elif size is not None:
            dim.set_text(_DIM_PARAM, size)


def body_in(node: Message, attribute: str, position: int | None) -> Message:
    """The GraphProto in an attribute. Raises Unwritable if it, or the attribute, occurs several times."""
    named = [field for field in node.of(ATTRIBUTE) if node.text_in(field, _NAME) == attribute]
    if len(named) != 1:
        raise Unwritable(f"a node has {len(named)} attributes {attribute!r}")
    holder = node.inner(named[0])
    bodies = holder.of(_BODY if position is None else _BODIES)
    if position is None and len(bodies) != 1:
        raise Unwritable("a body is in several pieces")
    return holder.inner(bodies[position or 0])
