"""Tensors that are read at once: what is read of them is what their fields say, whatever stands in them."""

from __future__ import annotations

import random

from onnx import TensorProto

from irlint.parsers.onnx import protobuf, tensors

DIMS = [0, 1, 2, 3, 66, 127, 128, 300, 16383, 16384, 2**20, 2**33, -1]
TYPES = [0, 1, 6, 7, 8, 9, 10, 16, 22, 66, 99]


def _message(draw: random.Random) -> bytes:
    """A TensorProto, in two of five a byte of it another one."""
    name = "".join(draw.choice("aB\x08\x10J é") for _ in range(draw.choice([0, 1, 3, 130, 200])))
    dims = [draw.choice(DIMS) for _ in range(draw.randrange(4))]
    raw = draw.randbytes(draw.choice([0, 1, 4, 8, 24, 200]))
    made = bytearray(TensorProto(dims=dims, data_type=draw.choice(TYPES), name=name, raw_data=raw).SerializeToString())
    if made and draw.random() < 0.4:
        made[draw.randrange(len(made))] = draw.choice([8, 16, 66, 74, 0, 128, 255, draw.randrange(256)])
    return bytes(made)


def test_drawn_messages() -> None:
    draw = random.Random(13)
    read = 0
    for _ in range(2000):
        message = _message(draw)
        data, end = b"ab" + message + b"xyz", 2 + len(message)
        plain = tensors.plain_constant(data, 2, end)
        if plain is None:
            continue
        read += 1
        found = protobuf.fields(data, 2, end)
        expected = tensors.constant(data, found, tensors.Files("m.onnx"), 2)
        assert plain[0] == protobuf.last_text(data, found, 8)
        # Numbers that are none are equal to nothing.
        assert repr(plain[1]) == repr(expected)
    assert read > 200
