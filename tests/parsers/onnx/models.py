"""Models for the tests of the ONNX reader, and what it reads of them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

from irlint.model import Graph, Model
from irlint.parsers import onnx as reader
from irlint.records import replaced

F, INT64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, *dims, dtype=F):
    return helper.make_tensor_value_info(name, dtype, dims)


def proto(nodes=(), inputs=(), outputs=(), initializers=(), *, opsets=(("", 21),), functions=(), **graph):
    main = helper.make_graph(nodes, "main", inputs, outputs, initializers, **graph)
    imports = [helper.make_opsetid(*entry) for entry in opsets]
    return helper.make_model(main, opset_imports=imports, ir_version=10, functions=functions)


def model(*args, **kwargs) -> Model:
    return parsed(proto(*args, **kwargs))


def parsed(source: ModelProto | str | bytes, path="m.onnx") -> Model:
    if isinstance(source, str):
        source = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {source}')
    return named(reader.read(path, source if isinstance(source, bytes) else source.SerializeToString()))


def named(found: Model) -> Model:
    """The model as if its graphs had names, which the smallest ones here do without."""
    return replaced(found, problems=tuple(each for each in found.problems if each.fault.rule.code != "IRL114"))


def graph(source) -> Graph:
    found = parsed(source)
    assert found.problems == ()
    assert found.graph is not None
    return found.graph


def names(values) -> list[str | None]:
    return [value and value.name for value in values]


def field(number: int, content: bytes | int) -> bytes:
    """A field by hand: a varint, or bytes with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def codes(found: Model) -> list[str]:
    return [problem.fault.rule.name for problem in found.problems]


def external(tmp_path, dims=(4,), data: bytes | None = np.arange(4, dtype="f4").tobytes(), **entries):
    if data is not None:
        (tmp_path / "w.bin").write_bytes(data)
    source = TensorProto(name="w", data_type=F, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "w.bin", **entries}.items():
        source.external_data.add(key=key, value=value)
    found = parsed(proto(initializers=[source]), str(tmp_path / "m.onnx"))
    assert found.problems == ()
    return next(iter(found.graph.constants.values()))
