"""Checks the fields of messages that irlint does not use. Protobuf refuses a file with damage in any field."""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.parsers.onnx.protobuf import DELIMITED, Damage, fields

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

    #: The length-delimited fields of a message, by key. The value for a field with a message is the layout of that
    #: message. The value for packed numbers is the size of one number in bytes, or 0 for varints. Texts are omitted.
    Layout = dict[int, Any]

#: The number of bytes of packed varints that are examined at once.
_PIECE = 1 << 16

#: Maps bytes that continue a varint to 1, and other bytes to 0.
_CONTINUED = bytes(128) + b"\1" * 128
_TOO_LONG = b"\1" * 10


def _layout(
    *, varints: tuple[int, ...] = (), floats: int = 0, doubles: int = 0, **inner: int | tuple[int, ...]
) -> Layout:
    """The layout of a message.

    The first three arguments are the numbers of packed fields. A key of ``inner`` is a name in _LAYOUTS, and its value
    is the numbers of the fields with this message.
    """
    widths = dict.fromkeys(varints, 0)
    widths |= {number: width for number, width in ((floats, 4), (doubles, 8)) if number}
    layout: Layout = {number << 3 | DELIMITED: width for number, width in widths.items()}
    for name, numbers in inner.items():
        for number in (numbers,) if isinstance(numbers, int) else numbers:
            layout[number << 3 | DELIMITED] = _LAYOUTS[name]
    return layout


#: The layouts of the messages of onnx.proto, by short names.
_LAYOUTS: dict[str, Layout] = {
    "entry": {},
    "segment": {},
    "type": {},
    "graph": {},
    "opset": {},
    "device": {},
    "dimension": {},
    "opaque": {},
}
_LAYOUTS["shape"] = _layout(dimension=1)
_LAYOUTS["tensor_type"] = _layout(shape=2)
_LAYOUTS["sequence_type"] = _layout(type=1)
_LAYOUTS["map_type"] = _layout(type=2)
_LAYOUTS["type"].update(_layout(tensor_type=(1, 8), sequence_type=(4, 9), map_type=5, opaque=7))
_LAYOUTS["value"] = _layout(type=2, entry=4)
_LAYOUTS["tensor"] = _layout(varints=(1, 5, 7, 11), floats=4, doubles=10, segment=3, entry=(13, 16))
_LAYOUTS["sparse"] = _layout(varints=(3,), tensor=(1, 2))
_LAYOUTS["attribute"] = _layout(varints=(8,), floats=7, tensor=(5, 10), graph=(6, 11), type=(14, 15), sparse=(22, 23))
_LAYOUTS["simple"] = {}
_LAYOUTS["sharded"] = _layout(simple=2)
_LAYOUTS["pair"] = _layout(varints=(2,))
_LAYOUTS["sharding"] = _layout(varints=(2,), pair=3, sharded=4)
_LAYOUTS["node_device"] = _layout(sharding=2)
_LAYOUTS["node"] = _layout(attribute=5, entry=9, node_device=10)
_LAYOUTS["annotation"] = _layout(entry=2)
_LAYOUTS["graph"].update(_layout(node=1, tensor=5, value=(11, 12, 13), annotation=14, sparse=15, entry=16))
_LAYOUTS["training"] = _layout(graph=(1, 2), entry=(3, 4))

TYPE, ATTRIBUTE = _LAYOUTS["type"], _LAYOUTS["attribute"]

#: The unused fields of each message.
OF_MODEL = _layout(training=20, device=26)
OF_GRAPH = _layout(annotation=14, entry=16)
OF_FUNCTION = _layout(entry=14)
OF_VALUE = _layout(entry=4)
OF_NODE = _layout(entry=9, node_device=10)
OF_TENSOR = _LAYOUTS["tensor"]
OF_EXTERNAL_TENSOR = {key: layout for key, layout in OF_TENSOR.items() if key >> 3 != 13}


def check(data: Buffer, start: int, end: int, layout: Layout, depth: int) -> None:
    """Checks the message in ``data[start:end]``. Raises Damage."""
    found = fields(data, start, end, None, depth)
    if layout:
        check_fields(data, found, layout, depth)


def check_fields(data: Buffer, found: Fields, layout: Layout, depth: int) -> None:
    """Checks the fields that are in the layout. Raises Damage."""
    for key, spans in found.items():
        inner = layout.get(key)
        if inner is None:
            continue
        for start, end in spans:
            if isinstance(inner, dict):
                check(data, start, end, inner, depth + 1)
            else:
                _check_packed(data, (start, end), inner, key >> 3)


def _check_packed(data: Buffer, span: Span, width: int, number: int) -> None:
    start, end = span
    if start == end:
        return
    if width and (end - start) % width:
        raise Damage(f"field {number} packs elements of {width} bytes into {end - start} bytes", number, start)
    if width:
        return
    pieces = (data[at : min(end, at + _PIECE + 9)].translate(_CONTINUED) for at in range(start, end, _PIECE))
    if data[end - 1] > 127 or any(_TOO_LONG in piece for piece in pieces):
        raise Damage(
            f"the packed varints at byte {start} end in the middle of a varint, or one has more than 10 bytes",
            number,
            start,
        )
