"""Reads the ``Const`` layers of an IR and the ``.bin`` file with their elements."""

from __future__ import annotations

import os
import stat

from irlint.dims import Shape, elements
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import closest
from irlint.lazy_typing import BinaryIO
from irlint.model import Constant, Place, Stored
from irlint.model.tensor import CONTENTS_LIMIT, Contents, Tensor
from irlint.parsers.opening import is_url, leads_out, opened
from irlint.parsers.openvino.layers import Element, Layer, LayerReader
from irlint.parsers.openvino.types import BLANKS, leading_number, natural, renamed_type, stored_type
from irlint.parsers.weights import WEIGHTS_TYPES, Weights, byte_size, contents, other_kind, strings_fault
from irlint.records import record

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
    "A Const layer does not define its type, its shape or the position of its bytes.",
    why=(
        "The attributes element_type, shape, offset and size define a constant in the .bin file. OpenVINO refuses a "
        "Const if one of them is missing or is not valid."
    ),
    fix="Correct the attribute, or write the IR again with openvino.save_model.",
    bad=_GOOD.replace(' offset="0"', ""),
    good=_GOOD,
    accepted=("openvino_ir",),
)


#: The attributes that a constant must have.
REQUIRED = ("element_type", "shape", "offset", "size")

#: The texts of attributes; None for a missing attribute.
Texts = tuple[str | None, ...]

#: (tensor with type and shape, number of elements or None if there are more than CONTENTS_LIMIT, attribute ``size``).
Header = tuple[Tensor, int | None, int | None]


@record(frozen=False, eq=False)
class WeightsFile:
    """The ``.bin`` file of an IR."""

    name: str
    #: In bytes.
    size: int | None = None
    #: Why the file cannot be read.
    reason: str | None = None
    file: BinaryIO | None = None

    def bytes_at(self, offset: int, size: int) -> bytes:
        """At most ``size`` bytes from ``offset``; b"" if the file cannot be read."""
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


def weights_beside(path: str | os.PathLike[str]) -> WeightsFile:
    """The ``.bin`` file of the IR at a path."""
    location = os.path.splitext(os.fspath(path))[0] + ".bin"
    name = os.path.basename(location)
    if is_url(location):
        from irlint.parsers.remote import session

        size, reason, _ = session.examined(os.fspath(path), name)
        return WeightsFile(name, size, reason, None if reason else opened(location))
    try:
        if not stat.S_ISREG(os.stat(location).st_mode):
            return WeightsFile(name, reason=f"{name} is not a regular file")
        file = opened(location)
    except FileNotFoundError:
        return WeightsFile(name, reason=f"{name} does not exist")
    except OSError as error:
        return WeightsFile(name, reason=f"{name} cannot be opened: {error.strerror}")
    try:
        what = other_kind(file.read(64))
    except OSError as error:
        what = f"unreadable: {error.strerror}"
    if what:
        file.close()
        return WeightsFile(name, reason=f"{name} is {what}")
    size = os.fstat(file.fileno()).st_size
    if leads_out(location, path):
        file.close()
        return WeightsFile(name, size=size)
    return WeightsFile(name, size=size, file=file)


def want_small_constants(root: Element, weights: WeightsFile) -> None:
    """If the weights file is remote, fetches and keeps all small constants."""
    if weights.file is None or weights.size is None:
        return
    spans = []
    for data in root.iter("data"):
        try:
            offset, size = natural(data.get("offset", "")), natural(data.get("size", ""))
        except ValueError:
            continue
        if 0 < size <= 8 * CONTENTS_LIMIT:
            spans.append((offset, offset + size))
    try:
        weights.file.want(spans)  # type: ignore[attr-defined]
    except OSError:
        return


def constant(layer: Layer, weights: WeightsFile, reader: LayerReader) -> Constant:
    """The constant of a ``Const`` layer; complains of invalid attributes."""
    place = layer.place if layer.data is None else layer.place.located(layer.data)
    if layer.type != "Const":
        _complain_of_spelling(layer, reader)
    if layer.data is None:
        _complain(layer, reader, "has no <data>", None, help="add element_type, shape, offset and size to the Const")
        return Constant(Tensor(), None, place)
    stated = layer.attributes
    texts = tuple([None if each is None else each.value for each in map(stated.get, REQUIRED)])
    if None in texts:
        _complain_of_missing(layer, [name for name in REQUIRED if name not in stated], reader)
    tensor, stored = _tensor_and_place(layer, texts, weights, reader)
    return Constant(tensor, stored, place)


def _tensor_and_place(
    layer: Layer, texts: Texts, weights: WeightsFile, reader: LayerReader
) -> tuple[Tensor, Stored | None]:
    known = reader.constants.get(texts)
    if known is not None:
        return known
    before = len(reader.complaints)
    header = _header(layer, (*texts[:2], texts[3]), reader)
    tensor, _, size = header
    offset = _number(layer, "offset", reader)
    stored = None
    if offset is not None and size is not None:
        available = None if weights.size is None else weights.size - offset
        stored = Stored(size, offset, weights.name, available, weights.reason)
        if tensor.dtype == "string":
            _check_strings(layer, tensor.shape, stored, weights, reader)
    found = _with_elements(header, stored, weights), stored
    if len(reader.complaints) == before:
        reader.constants[texts] = found
    return found


def _header(layer: Layer, texts: Texts, reader: LayerReader) -> Header:
    known = reader.headers.get(texts)
    if known is not None:
        return known
    before = len(reader.complaints)
    dtype = _element_type(layer, reader)
    shape = _shape(layer, reader)
    count = None if shape is None else elements(shape)
    size = _number(layer, "size", reader)
    header = Tensor(dtype, shape), None if count is None or count > CONTENTS_LIMIT else count, size
    if len(reader.complaints) == before:
        reader.headers[texts] = header
    return header


def _with_elements(header: Header, stored: Stored | None, weights: WeightsFile) -> Tensor:
    tensor, count, _ = header
    dtype = tensor.dtype
    if count is None or dtype is None:
        return tensor
    value: Contents | None = None
    needed, available = byte_size(dtype, count), stored.available or 0 if stored is not None else 0
    if stored is None or stored.size is None or available <= 0:
        value = None if count else ()
    elif needed is not None and needed <= stored.size <= available:
        raw = weights.bytes_at(stored.offset, needed)
        if count and dtype in WEIGHTS_TYPES and len(raw) == needed:
            return Weights(tensor, header, raw)
        value = contents(dtype, count, raw)
    return tensor if value is None else Tensor(dtype, tensor.shape, value)


def _element_type(layer: Layer, reader: LayerReader) -> str | None:
    attribute = layer.attributes.get("element_type")
    if attribute is None:
        return None
    try:
        return stored_type(attribute.value)
    except ValueError as error:
        name = renamed_type(attribute.value)
        suggestion = f', did you mean "{name}"?' if name else ""
        _complain(layer, reader, f"has an unknown element type: {error}{suggestion}", attribute.place)
        return None


def _shape(layer: Layer, reader: LayerReader) -> tuple[int, ...] | None:
    attribute = layer.attributes.get("shape")
    if attribute is None:
        return None
    text = attribute.value
    fields = text.split(",")
    if len(fields) > 1 and not fields[-1]:
        fields.pop()
    if not text:
        return ()
    try:
        read = [leading_number(field) for field in fields if not _has_plus_sign(field)]
    except ValueError:
        read = [(-1, "")]
    shape = tuple(size for size, _ in read)
    if len(shape) < len(fields) or any(size < 0 for size in shape):
        _complain(layer, reader, f'has shape="{text}"; expected integers of at least 0', attribute.place)
        return None
    if any(rest for _, rest in read):
        message = f'has shape="{text}", which OpenVINO reads as {",".join(map(str, shape))}'
        refused = _exceeds_size(layer, shape)
        _complain(layer, reader, message, attribute.place, Severity.ERROR if refused else Severity.WARNING)
        return None if refused else shape
    return shape


def _has_plus_sign(field: str) -> bool:
    """Whether a size has a plus sign. OpenVINO accepts a plus sign in other numbers, but refuses it in a shape."""
    return field.strip(BLANKS).startswith("+")


def _exceeds_size(layer: Layer, shape: tuple[int, ...]) -> bool:
    """Whether a shape needs more bytes than ``size`` states. True if the size or element type is missing or invalid."""
    try:
        size = natural(layer.attributes["size"].value)
        needed = byte_size(stored_type(layer.attributes["element_type"].value), elements(shape))
    except (KeyError, ValueError):
        return True
    return needed is not None and needed > size


def _number(layer: Layer, name: str, reader: LayerReader) -> int | None:
    attribute = layer.attributes.get(name)
    if attribute is None:
        return None
    try:
        return natural(attribute.value)
    except ValueError:
        message = f'has {name}="{attribute.value}"; expected an integer of at least 0'
        _complain(layer, reader, message, attribute.place)
        return None


def _complain_of_spelling(layer: Layer, reader: LayerReader) -> None:
    fault: Fault = INVALID_CONST.fault(
        f'{layer.text} is of type "{layer.type}": OpenVINO reads data only for the type "Const", and any layer that '
        "uses this value reads invalid memory",
        help='write type="Const"',
        severity=Severity.ERROR if layer.live else Severity.WARNING,
    )
    reader.complain(fault, Place(layer.place.element, "type"), layer)


def _complain_of_missing(layer: Layer, missing: list[str], reader: LayerReader) -> None:
    others = [name for name in layer.attributes if name not in REQUIRED]
    close = closest(missing[0], others)
    listed = ", ".join(f'"{name}"' for name in missing)
    some = "attribute" if len(missing) == 1 else "attributes"
    help = f"it has `{close}`: did you mean `{missing[0]}`?" if close else f"add {listed} to the <data>"
    _complain(layer, reader, f"has no {some} {listed} in its <data>", layer.data, help=help)


def _check_strings(
    layer: Layer, shape: Shape | None, stored: Stored, weights: WeightsFile, reader: LayerReader
) -> None:
    if shape is None or stored.size is None or weights.file is None:
        return
    if stored.available is None or stored.size > stored.available:
        return
    found = strings_fault(
        stored.size,
        lambda offset, size: weights.bytes_at(stored.offset + offset, size),
        elements(shape),  # type: ignore[arg-type]
    )
    if found:
        _complain(layer, reader, f"contains strings, {found}", layer.data)


def _complain(
    layer: Layer,
    reader: LayerReader,
    what: str,
    place: Place | None,
    severity: Severity = Severity.ERROR,
    help: str = "",
) -> None:
    if not layer.live or layer.type != "Const":
        severity = Severity.WARNING
    fault: Fault = INVALID_CONST.fault(
        f"{layer.text} {what}",
        help=help or "correct the attribute, or write the IR again with openvino.save_model",
        attribute=place.attribute if place else None,
        severity=severity,
    )
    reader.complain(fault, layer.place if place is None else layer.place.located(place), layer)
