"""What a ``Const`` layer of an IR says of its contents, and the ``.bin`` file that has them."""

from __future__ import annotations

import os
from math import prod
from typing import BinaryIO

from irlint.diagnostics import Fault, Rule, Severity
from irlint.model import Attribute, Constant, Place, Stored
from irlint.parsers.ir_layers import Layer, LayerReader
from irlint.parsers.ir_types import element_type, leading_number, natural
from irlint.parsers.weights import byte_size, contents, is_lfs_pointer
from irlint.records import record
from irlint.tensor import CONTENTS_LIMIT, Contents, Tensor

_GOOD = """<net version="11">
  <layers>
    <layer id="0" name="c" type="Const" version="opset1">
      <data element_type="i64" shape="1" offset="0" size="8"/>
      <output><port id="0" precision="I64"><dim>1</dim></port></output>
    </layer>
    <layer id="1" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>1</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
"""

INVALID_CONST = Rule(
    "IRL705",
    "invalid-const",
    Severity.ERROR,
    "A Const layer does not say what it holds or where its bytes lie.",
    why="element_type, shape, offset and size tell where a constant lies in the .bin file. "
    "OpenVINO refuses a Const that lacks one of them, or that has something other than numbers there.",
    mend="Write the attribute, or write the IR again with openvino.save_model.",
    bad=_GOOD.replace(' offset="0"', ""),
    good=_GOOD,
)


@record(frozen=False, eq=False)
class Weights:
    """The ``.bin`` file that belongs to an IR; ``reason`` says why its bytes cannot be had."""

    name: str
    size: int | None = None
    reason: str | None = None
    file: BinaryIO | None = None

    def bytes_at(self, offset: int, size: int) -> bytes:
        """At most ``size`` bytes from ``offset``, none where they cannot be read."""
        if self.file is None:
            return b""
        try:
            self.file.seek(offset)
            return self.file.read(size)
        except OSError:
            return b""

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def weights_beside(path: str | os.PathLike[str]) -> Weights:
    """The file that OpenVINO looks for: the last extension of the IR's name replaced by ``.bin``."""
    location = os.path.splitext(os.fspath(path))[0] + ".bin"
    name = os.path.basename(location)
    try:
        file = open(location, "rb", buffering=0)  # noqa: SIM115
    except FileNotFoundError:
        return Weights(name, reason=f"{name} does not exist")
    except OSError as error:
        return Weights(name, reason=f"{name} cannot be opened: {error.strerror}")
    if is_lfs_pointer(file.read(64)):
        file.close()
        return Weights(name, reason=f"{name} is a Git LFS pointer, not the weights")
    return Weights(name, size=os.fstat(file.fileno()).st_size, file=file)


def constant(layer: Layer, weights: Weights, reader: LayerReader) -> Constant:
    """The constant of a ``Const`` layer, with what of it can be read; complains of attributes that cannot."""
    place = layer.data or layer.place
    if layer.data is None:
        _complain(layer, reader, "has no <data>", place)
        return Constant(Tensor(), None, place)
    dtype = _element_type(layer, reader)
    shape = _shape(layer, reader)
    offset = _number(layer, "offset", reader)
    size = _number(layer, "size", reader)
    stored = None
    if offset is not None and size is not None:
        available = None if weights.size is None else max(0, weights.size - offset)
        stored = Stored(size, offset, weights.name, available, weights.reason)
    value = _value(dtype, shape, stored, weights)
    return Constant(Tensor(dtype, shape, value), stored, place)


def _value(
    dtype: str | None, shape: tuple[int, ...] | None, stored: Stored | None, weights: Weights
) -> Contents | None:
    if shape is None or stored is None or stored.size is None or not stored.available:
        return () if shape is not None and 0 in shape and dtype is not None else None
    count = prod(shape)
    needed = byte_size(dtype, count)
    if count > CONTENTS_LIMIT or needed is None or not needed <= stored.size <= stored.available:
        return None
    return contents(dtype, count, weights.bytes_at(stored.offset, needed))


def _element_type(layer: Layer, reader: LayerReader) -> str | None:
    attribute = _attribute(layer, "element_type", reader)
    if attribute is None:
        return None
    try:
        dtype = element_type(attribute.value)
    except ValueError as error:
        _complain(layer, reader, f"has an unknown element type: {error}", attribute.place)
        return None
    if dtype is None:
        message = f'has the element type "{attribute.value}", which no contents can have'
        _complain(layer, reader, message, attribute.place, Severity.WARNING)
    return dtype


def _shape(layer: Layer, reader: LayerReader) -> tuple[int, ...] | None:
    attribute = _attribute(layer, "shape", reader)
    if attribute is None:
        return None
    text = attribute.value
    fields = text.split(",")
    if len(fields) > 1 and not fields[-1]:
        fields.pop()
    if not text.strip():
        return ()
    try:
        read = [leading_number(field) for field in fields]
    except ValueError:
        read = [(-1, "")]
    shape = tuple(size for size, _ in read)
    if any(size < 0 for size in shape):
        _complain(layer, reader, f'has shape="{text}", where whole numbers are expected', attribute.place)
        return None
    if any(rest for _, rest in read):
        message = f'has shape="{text}", which OpenVINO reads as {",".join(map(str, shape))}'
        _complain(layer, reader, message, attribute.place, Severity.WARNING)
    return shape


def _number(layer: Layer, name: str, reader: LayerReader) -> int | None:
    attribute = _attribute(layer, name, reader)
    if attribute is None:
        return None
    try:
        return natural(attribute.value)
    except ValueError:
        message = f'has {name}="{attribute.value}", where a whole number of at least 0 is expected'
        _complain(layer, reader, message, attribute.place)
        return None


def _attribute(layer: Layer, name: str, reader: LayerReader) -> Attribute | None:
    attribute = layer.attributes.get(name)
    if attribute is None:
        _complain(layer, reader, f'has no attribute "{name}" in its <data>', layer.data)
    return attribute


def _complain(
    layer: Layer, reader: LayerReader, what: str, place: Place | None, severity: Severity = Severity.ERROR
) -> None:
    if not layer.live or layer.type != "Const":
        severity = Severity.WARNING
    fault: Fault = INVALID_CONST.fault(
        f"{layer.text} {what}",
        help="give the Const element_type, shape, offset and size",
        attribute=place.attribute if place else None,
        severity=severity,
    )
    reader.complain(fault, place or layer.place, layer)
