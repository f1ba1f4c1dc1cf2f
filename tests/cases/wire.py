"""Small ONNX models by the bytes of their fields: what protobuf refuses, and what it takes, though no writer writes
it."""

from __future__ import annotations


def varint(value: int, size: int = 0) -> bytes:
    """A varint, in at least so many bytes."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 127 or len(out) + 1 < size:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def group(depth: int, inside: bytes = b"") -> bytes:
    """Groups in each other, of the number 15."""
    return varint(15 << 3 | 3) * depth + inside + varint(15 << 3 | 4) * depth


def value(name: bytes, *dims: bytes, number: bytes = field(1, 1)) -> bytes:
    """A ValueInfoProto of a tensor."""
    shape = field(2, b"".join(field(1, dim) for dim in dims))
    return field(1, name) + field(2, field(1, number + shape))


_TWO, _THREE = field(1, 2), field(1, 3)
_X, _Y = value(b"x", _TWO, _THREE), value(b"y", _TWO, _THREE)
_AXIS = field(1, b"axis") + field(3, 0)
_INT = field(20, 2)


def model(
    more: bytes = b"",
    *,
    graph: bytes = b"",
    node: bytes = b"",
    axis: bytes = _AXIS + _INT,
    x: bytes = _X,
    y: bytes = _Y,
    name: bytes = b"x",
    last: bytes = b"",
) -> bytes:
    """y = Softmax (x), with more bytes in its messages."""
    softmax = field(1, name) + field(2, b"y") + field(4, b"Softmax") + field(5, axis) + node
    main = field(1, softmax) + last + field(2, b"g") + field(11, x) + field(12, y) + graph
    return field(1, 8) + field(8, field(2, 17)) + field(7, main) + more


def _initializer(more: bytes, number: bytes = field(2, 1)) -> bytes:
    return field(5, field(1, 1) + number + field(8, b"w") + more + field(9, b"four"))


_CONSTANT = field(
    1, field(2, b"y") + field(4, b"Constant") + field(5, field(1, b"value_int") + field(3, 1) + field(20, 2))
)
_CUT = b"\x0a\x05k"
_ENTRY = field(1, b"k") + field(2, b"v")
_OTHER = field(4, field(1, field(1, field(1, 1))))
_TENSOR = field(1, field(1, 1) + field(2, field(1, _TWO) + field(1, _THREE)))


def _product(perm: bytes) -> bytes:
    """z = MatMul (Transpose (x), x)."""
    attribute = field(5, field(1, b"perm") + perm + field(20, 7))
    transposed = field(1, b"x") + field(2, b"t") + field(4, b"Transpose") + attribute
    return field(1, transposed) + field(1, field(1, b"t") + field(1, b"x") + field(2, b"z") + field(4, b"MatMul"))


def _coded(number: int, code: int) -> bytes:
    """z = Cast (w), of a tensor of the type with that number, whose one element stands in int32_data."""
    cast = field(4, b"Cast") + field(5, field(1, b"to") + field(3, 1) + field(20, 2))
    tensor = field(1, 1) + field(2, number) + field(5, code) + field(8, b"w")
    return model(graph=field(5, tensor), last=field(1, field(1, b"w") + field(2, b"z") + cast))


#: Models that protobuf refuses, by what is wrong in them.
REFUSED = {
    "metadata of the node": model(node=field(9, _CUT)),
    "metadata of the graph": model(graph=field(16, _CUT)),
    "metadata of an input": model(x=_X + field(4, _CUT)),
    "metadata of an initializer": model(graph=_initializer(field(16, _CUT))),
    "metadata after sound metadata": model(node=field(9, _ENTRY) + field(9, _CUT)),
    "a size of metadata that is too small": model(node=field(9, b"\x0a\x01k\x12\x00v")),
    "device of the node": model(node=field(10, field(2, field(4, field(2, _CUT))))),
    "quantization annotation": model(graph=field(14, field(2, _CUT))),
    "training info": model(field(20, field(1, field(1, field(5, _CUT))))),
    "device of the model": model(field(26, _CUT)),
    "segment of an initializer": model(graph=_initializer(field(3, b"\x08"))),
    "external data of an initializer with bytes": model(graph=_initializer(field(13, _CUT))),
    "packed numbers that nobody reads": model(graph=_initializer(field(7, b"\x80"))),
    "floats that nobody reads": model(graph=_initializer(field(4, b"abc"))),
    "a tensor in an attribute of type INT": model(axis=_AXIS + _INT + field(5, field(13, _CUT))),
    "a type in two pieces, the first of which is cut": model(
        y=field(1, b"y") + field(2, _TENSOR + b"\x61\x12") + field(2, b"\x08\x01\x08\x01\x08\x01\x08")
    ),
    "a kind of type before another": model(y=field(1, b"y") + field(2, field(7, _CUT) + _TENSOR)),
    "key of 6 bytes": model(varint(900 << 3, 6) + b"\1"),
    "size of 6 bytes": model(varint(900 << 3 | 2) + varint(1, 6) + b"k"),
    "size of 6 bytes in an initializer": model(
        graph=field(5, field(1, 1) + field(2, 1) + field(8, b"w") + varint(9 << 3 | 2) + varint(4, 6) + b"four")
    ),
    "size of 2 GB": model(varint(900 << 3 | 2) + varint(2**31 - 1) + b"k"),
    "field number 2**29": model(varint(2**29 << 3) + b"\1"),
    "group of the number 0": model(b"\x03\x04"),
    "number 0 in a group": model(group(1, b"\0\1")),
    "101 groups": model(group(101)),
    "99 groups in the graph, with a group more inside": model(graph=group(100)),
    "damage in a group": model(node=group(1, b"\x0a\x7f")),
    "long key in a group": model(group(1, varint(900 << 3, 6) + b"\1")),
    "varint of 11 bytes in a group": model(group(1, b"\x08" + b"\x80" * 10 + b"\1")),
    "end of another group": model(varint(15 << 3 | 3) + varint(16 << 3 | 4)),
}

#: Models that ONNX Runtime loads, and that are sound.
TAKEN = {
    "plain": model(),
    "opset 0, and only a Constant": (
        field(1, 8)
        + field(8, field(2, 0))
        + field(7, _CONSTANT + field(2, b"g") + field(12, value(b"y", number=field(1, 7))))
    ),
    "int8 of more bits": _coded(3, 256),
    "float16 of 16 bits": _coded(10, 65535),
    "metadata": model(node=field(9, _ENTRY) + field(9, b"") + field(9, field(2, b"v") + field(1, b"k"))),
    "long metadata": model(node=field(9, field(1, b"k") + field(2, b"v" * 20_000)) + field(9, field(1, b"k" * 300))),
    "key of 5 bytes": model(varint(900 << 3, 5) + b"\1"),
    "size of 5 bytes": model(varint(900 << 3 | 2) + varint(1, 5) + b"k"),
    "field number 2**29 - 1": model(varint((2**29 - 1) << 3) + b"\1"),
    "key whose fifth byte has more bits": model(b"\xa0\xb8\x80\x80\x10\x01"),
    "100 groups": model(group(100)),
    "99 groups in the graph": model(graph=group(99)),
    "varint of 10 bytes": model(varint(900 << 3) + b"\x80" * 9 + b"\1"),
    "data_type of 64 bits": model(graph=_initializer(b"", field(2, 2**32 + 1))),
    "element type of 64 bits": model(y=value(b"y", _TWO, _THREE, number=field(1, 2**33 + 1))),
    "unknown data_location": model(graph=_initializer(field(14, 0) + field(14, 7))),
    "data_location of 64 bits": model(graph=_initializer(field(14, 2**32))),
    "unknown type of an attribute behind a known one": model(axis=_AXIS + _INT + field(20, 99)),
    "type of an attribute of 64 bits": model(axis=_AXIS + field(20, 2**32 + 2)),
    "no floats in an attribute of type INT": model(axis=_AXIS + _INT + field(7, b"")),
    "dim_value behind dim_param": model(y=value(b"y", field(2, b"N") + _TWO, _THREE)),
    "dim_param between two dim_value": model(y=value(b"y", field(1, 9) + field(2, b"N") + _TWO, _THREE)),
    "a tensor type between two others": model(y=field(1, b"y") + field(2, field(1, field(1, 7)) + _OTHER + _TENSOR)),
    "numbers packed before others": model(last=_product(field(8, b"\1") + field(8, 0))),
    "name that is no UTF-8": model(last=field(1, field(1, b"x") + field(2, b"\xff") + field(4, b"Relu"))),
    "two names, one no UTF-8": model(
        last=field(1, field(1, b"x") + field(2, b"\xff") + field(4, b"Relu"))
        + field(1, field(1, b"x") + field(2, b"\\xff") + field(4, b"Relu"))
    ),
}

#: Models that are wrong by what counts of several values, or by names that differ, and the rules that they break.
WRONG = {
    "float16 of more bits": (_coded(10, 65536), "IRL717"),
    "bfloat16 below 0": (_coded(16, -1), "IRL717"),
    "another name that only looks like the one": (model(name=b"\\xff", x=value(b"\xff", _TWO, _THREE)), "IRL101"),
    "unknown data_location behind EXTERNAL": (
        model(
            graph=_initializer(field(14, 1) + field(14, 7)),
            last=field(1, field(1, b"w") + field(2, b"z") + field(4, b"Relu")),
        ),
        "IRL701",
    ),
    "no opset": (
        field(1, 8) + field(7, _CONSTANT + field(2, b"g") + field(12, value(b"y", number=field(1, 7)))),
        "IRL801",
    ),
    "numbers packed behind others": (model(last=_product(field(8, 0) + field(8, b"\1"))), "IRL320"),
}
