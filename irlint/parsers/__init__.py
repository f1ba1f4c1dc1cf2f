"""Reads models. The first bytes or the name of a file decide its format."""

from __future__ import annotations

import os
from importlib import import_module

from irlint.findings.faults import Fault
from irlint.lazy_typing import Any, Literal
from irlint.model import Model, Place, Problem
from irlint.model.formats import FORMATS, Format
from irlint.parsers.faults import LFS_POINTER, NOT_A_MODEL
from irlint.parsers.opening import file_bytes, opened

#: The number of first bytes that decide the kind of a file.
HEAD = 4096

Kind = Literal[
    "onnx",
    "openvino",
    "onnx-text",
    "other-xml",
    "lfs-pointer",
    "html",
    "gzip",
    "zip",
    "pickle",
    "torchscript",
    "numpy",
    "tensorrt",
    "savedmodel",
    "json",
    "safetensors",
    "gguf",
    "tflite",
    "hdf5",
    "empty",
    "unknown",
]

#: The words and the help for each kind that irlint does not read.
_WHAT: dict[str, str] = {
    "onnx-text": "an ONNX model in text syntax",
    "other-xml": "an XML document whose root element is not <net>",
    "html": "a web page",
    "gzip": "a gzip archive",
    "zip": "a zip archive (a PyTorch checkpoint or a NumPy file is one)",
    "pickle": "a Python pickle (a PyTorch checkpoint)",
    "torchscript": "a PyTorch checkpoint or TorchScript archive",
    "numpy": "a NumPy array file",
    "tensorrt": "a TensorRT engine",
    "savedmodel": "a TensorFlow SavedModel",
    "json": "a JSON document",
    "safetensors": "a safetensors file, which contains weights but no graph",
    "gguf": "a GGUF file",
    "tflite": "a TensorFlow Lite model",
    "hdf5": "an HDF5 file (a Keras model)",
    "empty": "empty",
    "unknown": "neither an ONNX model nor an OpenVINO IR",
}

_HELP: dict[str, str] = {
    "onnx-text": "convert the text to protobuf: onnx.save(onnx.parser.parse_model(text), path)",
    "other-xml": "exclude the file, or name the .xml file of an IR",
    "html": "download the file again: the server sent a page instead, such as a login or an error",
    "gzip": "unpack the archive and check the model inside",
    "zip": "unpack the archive, or export the model to ONNX",
    "pickle": "export the model to ONNX, with torch.onnx.export for example",
    "torchscript": "export the model to ONNX, with torch.onnx.export for example",
    "numpy": "check the .onnx file or the .xml file of the model",
    "tensorrt": "check the ONNX model that the engine was built from",
    "savedmodel": "convert the model to ONNX (tf2onnx) or IR (openvino.convert_model)",
    "json": "download the file again: the server may have sent an error message instead",
    "safetensors": "export the model of these weights to ONNX",
    "gguf": "check the ONNX or IR form of the model",
    "tflite": "convert the model to ONNX or IR",
    "hdf5": "convert the model to ONNX or IR",
    "empty": "export or download the model again",
    "unknown": "check the .onnx file or the .xml file of the model",
}

#: Formats that ``kind`` recognizes by their bytes. It recognizes other formats by the suffix only.
_EXAMINED = ("onnx", "openvino")

#: (offset, bytes at it, kind).
_MAGIC: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"version https://git-lfs.github.com/spec/", "lfs-pointer"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"GGUF", "gguf"),
    (0, b"\x89HDF\r\n\x1a\n", "hdf5"),
    (4, b"TFL3", "tflite"),
    (0, b"\x93NUMPY", "numpy"),
    (0, b"ptrt", "tensorrt"),
    (0, b"ftrt", "tensorrt"),
)

#: (bytes that the first 4 KiB of a zip archive contain, kind). They are part of the name of a file in the archive.
_MEMBERS: tuple[tuple[bytes, Kind], ...] = (
    (b"/data.pkl", "torchscript"),
    (b"/code/", "torchscript"),
    (b"/.format_version", "torchscript"),
    (b".npy", "numpy"),
)


def read(path: str | os.PathLike[str], data: bytes | None = None, *, weights: bool = False) -> Model:
    """The model in a file. If the file is not a model, the result has no graph and one problem.

    ``data`` is the file's bytes, if the caller has them. With ``weights``, large constants get an ``Extent``. Raises
    OSError if the file cannot be opened.
    """
    head = first_bytes(path) if data is None else data[:HEAD]
    found = kind(path, head)
    form = _format(found)
    if form is not None:
        model: Model = parser(form).read(path, data)
        if weights:
            from irlint.parsers.extents import measure

            measure(model, data)
        return model
    fault = _pointer_fault(path, head) if found == "lfs-pointer" else _non_model_fault(found)
    return Model(os.fspath(path), None, problems=(Problem(fault, place=Place(0) if found == "other-xml" else None),))


def read_from(path: str, source: str) -> Model:
    """The model in the file ``source``, read as if it were at ``path``. Raises OSError if it cannot be opened."""
    form = _format(kind(path, first_bytes(source)))
    bytes_of = getattr(parser(form), "bytes_of", None) if form is not None else None
    if bytes_of is None:
        return read(path, file_bytes(source, "document"))
    with opened(source) as file:
        return read(path, bytes_of(file))


def _format(found: str) -> Format | None:
    return next((form for form in FORMATS if form.name == found), None)


def parser(form: Format) -> Any:
    """The parser module of a format. It has a function ``read``.

    The parser of a text format also has ``positions_in``. A parser that reads only parts of a large file has
    ``bytes_of``.
    """
    return import_module(f"{__name__}.{form.name}")


def kind(path: str | os.PathLike[str], head: bytes) -> str:
    """The kind of a file whose first 4 KiB are ``head``. If the bytes show no kind, the suffix decides."""
    if not head:
        return "empty"
    for offset, magic, found in _MAGIC:
        if head.startswith(magic, offset):
            return next((what for name, what in _MEMBERS if found == "zip" and name in head), found)
    if head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return "pickle"
    if head[8:9] == b"{" and head[9:10] in (b'"', b"}", b" ") and head[5:8] == b"\0\0\0":
        return "safetensors"
    if _begins_like_saved_model(head):
        return "savedmodel"
    if head.lstrip()[:1] in (b"{", b"[") and head.lstrip()[1:].lstrip()[:1] in (b'"', b"{", b"}", b"["):
        return "json"
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    named = next((form.name for form in FORMATS if suffix in form.suffixes), None)
    if named is not None and named not in _EXAMINED:
        return named
    if _begins_like_onnx(head):
        return "onnx"
    if head.lstrip()[:1] == b"<" and head.lstrip()[1:].lstrip().startswith(b"ir_version:"):
        return "onnx-text"
    markup = _kind_of_markup(head) if suffix != ".onnx" or head.lstrip()[:1] == b"<" else None
    if markup == "other-xml" and _has_layers(head):
        return "openvino"
    if markup is not None:
        return markup
    if suffix == ".xml":
        return _kind_of_xml(head)
    return "onnx" if suffix == ".onnx" else "unknown"


def _begins_like_saved_model(head: bytes) -> bool:
    """Whether a file begins with schema version 1 and a meta graph of 128 bytes or more (saved_model.proto)."""
    if not head.startswith(b"\x08\x01\x12"):
        return False
    length = next((at for at, byte in enumerate(head[3:13], 1) if byte < 0x80), 0)
    return length > 1 and head[3 + length : 4 + length] == b"\x0a"


def _kind_of_xml(head: bytes) -> str:
    if _may_be_ir(head) or _has_layers(head):
        return "openvino"
    return "other-xml" if _decoded(head).lstrip()[:1] == "<" else "unknown"


def _may_be_ir(head: bytes) -> bool:
    """Whether the root element may be ``<net>``: the first bytes contain ``<net``, or end before the root element."""
    text = _decoded(head).lower()
    before, net, _ = text.partition("<net")
    if net:
        return "\0" not in before
    return text.lstrip().startswith(("<!--", "<?", "<!doctype")) or "<net".startswith(text.strip())


def _has_layers(head: bytes) -> bool:
    """Whether the first bytes contain a layer with an opset. The root element may have any name."""
    text = _decoded(head)
    return "<layer " in text and any(f"version={quote}opset" in text for quote in "\"'")


def _kind_of_markup(head: bytes) -> Kind | None:
    """The kind of a document by its root element; None without a root element in the first bytes."""
    text = _decoded(head).lstrip()
    if not text.startswith("<"):
        return None
    at = 0
    while (at := text.find("<", at)) >= 0:
        for opening, closing in (("<?", "?>"), ("<!--", "-->")):
            if text.startswith(opening, at):
                end = text.find(closing, at)
                break
        else:
            if text[at + 1 : at + 2] != "!":
                return _kind_by_root(text[at + 1 :])
            if text[at + 2 : at + 14].lower() == "doctype html":
                return "html"
            end = _doctype_end(text, at)
        if end < 0:
            return None
        at = end
    return None


def _kind_by_root(text: str) -> Kind | None:
    """The kind of a document by the text after the ``<`` of its root; None if there is no valid name."""
    length = next((at for at, character in enumerate(text) if character in " \t\r\n/>"), len(text))
    name = text[:length].lower()
    if name == "net":
        return "openvino"
    if name in ("html", "head", "body"):
        return "html"
    return "other-xml" if name[:1].isalpha() or name[:1] in ("_", ":") else None


def _doctype_end(text: str, at: int) -> int:
    """The position of the ``>`` that ends the DOCTYPE at ``at``, or -1."""
    subset, end = text.find("[", at), text.find(">", at)
    if 0 <= subset < end:
        return text.find(">", text.find("]", at))
    return end


def _decoded(head: bytes) -> str:
    """The decoded text. The byte order mark or the first characters decide the encoding; the default is UTF-8."""
    for first, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be")):
        if head.startswith(first):
            return head.decode(encoding, "replace")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head.decode("utf-16", "replace")
    if head[:3] == b"\xef\xbb\xbf":
        return head[3:].decode("utf-8", "replace")
    if head[:4] in (b"<\0?\0", b"<\0n\0", b"<\0N\0"):
        return head.decode("utf-16-le", "replace")
    if head[:4] in (b"\0<\0?", b"\0<\0n", b"\0<\0N"):
        return head.decode("utf-16-be", "replace")
    return head.decode("utf-8", "replace")


def _begins_like_onnx(head: bytes) -> bool:
    """Whether the bytes begin with an ``ir_version`` from 1 to 63, then the key of another field of ``ModelProto``."""
    return len(head) > 2 and head[0] == 0x08 and 0 < head[1] < 0x40 and head[2] in _SECOND_KEYS


#: The keys of the fields 2 to 8 and 14 of ``ModelProto``.
_SECOND_KEYS = frozenset({0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72})


def _pointer_fault(path: str | os.PathLike[str], head: bytes) -> Fault:
    lines = head.decode("utf-8", "replace").splitlines()
    size = next((line[5:].strip() for line in lines if line.startswith("size ")), "")
    real = (
        f"; the model itself has {_size_text(int(size))}"
        if size.isascii() and size.isdigit() and len(size) < 20
        else ""
    )
    return LFS_POINTER.fault(
        f"the file is a Git LFS pointer{real}", help=f'fetch it: git lfs pull --include "{os.fspath(path)}"'
    )


def _non_model_fault(found: str) -> Fault:
    return NOT_A_MODEL.fault(f"the file is {_WHAT[found]}", help=_HELP[found])


def _size_text(size: int) -> str:
    """``102 MB (102,400,123 bytes)`` or ``999 bytes``."""
    if size < 1000:
        return f"{size} bytes"
    unit = next((unit for unit, name in _UNITS if size >= 0.9995 * unit), 1)
    return f"{size / unit:.3g} {dict(_UNITS)[unit]} ({size:,} bytes)"


_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def first_bytes(path: str | os.PathLike[str]) -> bytes:
    """The first 4 KiB of a file. Raises OSError if it cannot be opened, or if it is a pipe or a device."""
    with opened(path, advice="; to read a model from a pipe, use - and --stdin-filename NAME") as file:
        return file.read(HEAD)
