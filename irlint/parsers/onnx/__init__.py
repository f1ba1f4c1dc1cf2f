"""Reads an ONNX file into a Model."""

from __future__ import annotations

import os

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING, BinaryIO
from irlint.model import Model, Problem
from irlint.model.formats import ONNX
from irlint.parsers import opening
from irlint.parsers.faults import MALFORMED_ONNX, NOT_A_MODEL, TRUNCATED_FILE
from irlint.parsers.onnx import messages, protobuf, tensors, unused_fields
from irlint.parsers.onnx.graph_records import standard
from irlint.parsers.onnx.linking import Linker
from irlint.parsers.onnx.messages import Reader
from irlint.parsers.onnx.protobuf import DELIMITED, VARINT, Damage
from irlint.parsers.onnx.types import file_types
from irlint.parsers.opening import opened, shrunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from mmap import mmap

    from irlint.parsers.onnx.protobuf import Buffer, Fields, LongTexts, Span

#: Keys of fields of ModelProto.
_IR_VERSION = 1 << 3 | VARINT
_GRAPH, _OPSET_IMPORT, _METADATA, _TRAINING_INFO, _FUNCTIONS = (
    number << 3 | DELIMITED for number in (7, 8, 14, 20, 25)
)

#: The numbers of ``producer_name`` and ``producer_version``.
_PRODUCER_NUMBERS = (2, 3)

#: The names of the length-delimited fields of ModelProto, by number.
_FIELD_NAMES = {
    2: "producer_name",
    3: "producer_version",
    4: "domain",
    6: "doc_string",
    7: "graph",
    8: "opset_import",
    14: "metadata_props",
    20: "training_info",
    25: "functions",
    26: "configuration",
}

#: Files of at most this many bytes are read completely. A file object may have its own limit, ``small``.
SMALL = 1 << 24


def read(path: str | os.PathLike[str], data: bytes | bytearray | memoryview | mmap | None = None) -> Model:
    """The model in the ONNX file ``path``, or in ``data`` if the caller has the bytes of the file.

    If the file is no ONNX model or cannot be decoded, the model has no graph and one problem. If only a type,
    an attribute or an initializer is damaged, it is unknown and has a problem. Raises OSError if the file cannot be
    opened.
    """
    name = os.fspath(path)
    if data is not None:
        return _model(name, bytes(data) if isinstance(data, (bytearray, memoryview)) else data)
    with opened(name) as file:
        return _model(name, bytes_of(file))


facts_beside = tensors.facts_beside


def bytes_of(file: BinaryIO) -> Buffer:
    """The bytes of a file. In a file of more than SMALL bytes, zeros replace large weights.

    Raises OSError if the file is truncated while it is read.
    """
    size = opening.size(file)
    if size > getattr(file, "small", SMALL):
        from irlint.parsers.onnx.skeleton import copied

        return copied(file)
    data = file.read()
    if len(data) < size:
        raise shrunk(file)
    return data


def _model(path: str, data: Buffer) -> Model:
    if len(data) > protobuf.MOST_BYTES:
        return Model(path, ONNX, problems=(Problem(_too_large(len(data))),))
    found: Fields = {}
    try:
        protobuf.fields(data, 0, len(data), found)
    except Damage as damage:
        return Model(path, ONNX, problems=(Problem(_undecoded(data, found, damage)),))
    version = str(protobuf.last(found, _IR_VERSION)) if _IR_VERSION in found else None
    if _GRAPH not in found:
        fault = NOT_A_MODEL.fault("the file contains no graph", help="check that it is an ONNX model")
        return Model(path, ONNX, version, problems=(Problem(fault),))
    try:
        reader = Reader(data, tensors.Files(path))
        # ONNX Runtime reads 32 bits of a version.
        imports = [
            (domain, protobuf.int32(number)) for domain, number in reader.imports(found.get(_OPSET_IMPORT, ()), 1)
        ]
        graph = reader.graph(found[_GRAPH], 1)
        functions = [reader.function(*span) for span in reader.entries(found, _FUNCTIONS >> 3, "functions")]
        metadata = tensors.string_entries(data, found.get(_METADATA, ()))
        unused_fields.check_fields(data, found, unused_fields.OF_MODEL, 0)
    except Damage as damage:
        return Model(path, ONNX, version, problems=(Problem(messages.damaged("the file", damage)),))
    opsets = {standard(domain): number for domain, number in imports}
    if version is not None and int(version) < 3 and not imports:
        opsets = {"": 1}
    types = file_types(reader.types, {raw for _, raw in graph.inputs}, reader.long)
    linker = Linker(types)
    if len(metadata) < len(found.get(_METADATA, ())):
        linker.problems.append(_duplicate_keys(data, found[_METADATA]))
    main = linker.graph(graph, "", opsets, ())
    linked = linker.functions(functions, graph)
    producer = " ".join(filter(None, (protobuf.last_text(data, found, number) for number in _PRODUCER_NUMBERS)))
    faults_of_file = [_long_names(reader.long), _equal_entries(reader.skipped_entries)]
    problems = (*linker.problems, *(Problem(fault) for fault in faults_of_file if fault is not None))
    return Model(
        path,
        ONNX,
        version,
        main,
        linked,
        opsets,
        types.symbols,
        metadata,
        problems,
        tuple(imports),
        producer,
        _TRAINING_INFO in found,
    )


def _long_names(sizes: LongTexts) -> Fault | None:
    if not sizes:
        return None
    from irlint.parsers.onnx import long_texts

    return long_texts.long_names(sizes)


def _equal_entries(counts: Mapping[str, int]) -> Fault | None:
    if not counts:
        return None
    from irlint.parsers.onnx import equal_entries

    return equal_entries.fault(counts)


def _undecoded(data: Buffer, found: Fields, damage: Damage) -> Fault:
    """The fault of a file that cannot be decoded. ``found`` has the fields before the damage."""
    if _IR_VERSION not in found and not (damage.excess and damage.field == _GRAPH >> 3):
        return NOT_A_MODEL.fault("the file is not an ONNX model", help="export or download the model again")
    if _has_converted_line_ends(data):
        return messages.converted(damage)
    if not damage.excess:
        return messages.damaged("the file", damage)
    size = len(data)
    name = _FIELD_NAMES.get(damage.field, f"with the number {damage.field}")
    return TRUNCATED_FILE.fault(
        f"the field {name} runs {damage.excess} byte{'s' * (damage.excess != 1)} past the end of the file, which has "
        f"{size} byte{'s' * (size != 1)}",
        help=f"copy or download the file again: the complete file has at least {size + damage.excess} bytes",
    )


def _too_large(size: int) -> Fault:
    return MALFORMED_ONNX.fault(
        f"the file has {size} bytes, and a protobuf message has at most {protobuf.MOST_BYTES}: no runtime reads it",
        help="save the model with its weights in a separate file",
    )


def _has_converted_line_ends(data: Buffer) -> bool:
    raw = bytes(data[:1_000_000])
    feeds = raw.count(b"\n")
    return feeds > 2 and feeds == raw.count(b"\r\n")


def _duplicate_keys(data: Buffer, spans: Iterable[Span]) -> Problem:
    from irlint.parsers.onnx.interface import duplicate_keys

    return duplicate_keys([protobuf.last_text(data, protobuf.fields(data, *span), 1) for span in spans])
