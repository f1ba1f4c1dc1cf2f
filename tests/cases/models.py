"""Small models of one operator: of ONNX as protobuf, of an IR as its text and its weights; and the models of cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from cases import ir_documents, onnx_documents
from cases.notation import Change, Given, Operator, Text
from google.protobuf import text_format
from onnx import TensorProto, helper, numpy_helper

#: OpenVINO's element types by irlint's names.
OV_TYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "boolean",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (1, 2, 3, 6)},
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0": "f8e8m0",
    "float4_e2m1": "f4e2m1",
    "string": "string",
}
OV_NAMES = {text: name for name, text in OV_TYPES.items()}


class Input:
    """A graph input: ``Input("float32", 2, None, 4)``; ``dims=None`` by ``Input.any_rank("float32")``."""

    def __init__(self, dtype: str, *dims: int | str | None) -> None:
        self.dtype, self.dims = dtype, dims  # type: tuple[str, tuple[int | str | None, ...] | None]

    def __repr__(self) -> str:
        return f"{self.dtype}{'[...]' if self.dims is None else list(self.dims)}"

    @classmethod
    def any_rank(cls, dtype: str) -> Input:
        result = cls(dtype)
        result.dims = None
        return result


#: An input of a model, a constant, or none.
Fed = Input | np.ndarray | None


def ir_document(
    op: str, version: str, inputs: Sequence[Fed], attributes: Mapping[str, object] | None = None, outputs: int = 1
) -> tuple[bytes, bytes]:
    """An IR (xml, bin) of one layer: Parameters for ``Input``s (a dim may be a text as "1..8"), Consts for arrays."""
    layers, edges, weights = [], [], b""
    for index, given in enumerate(inputs):
        if isinstance(given, np.ndarray):
            kind = OV_TYPES[str(given.dtype)]
            shape = ",".join(map(str, given.shape))
            data = f'element_type="{kind}" shape="{shape}" offset="{len(weights)}" size="{given.nbytes}"'
            weights += given.tobytes()
            layers.append(_layer(index, f"in{index}", "Const", "opset1", data, (), (kind, given.shape)))
        else:
            kind, dims = OV_TYPES.get(given.dtype, given.dtype), given.dims
            text = "..." if dims is None else ",".join("?" if dim is None else str(dim) for dim in dims)
            data = f'element_type="{kind}" shape="{text}"'
            ports = () if dims is None else tuple(dim if isinstance(dim, int) else -1 for dim in dims)
            layers.append(_layer(index, f"in{index}", "Parameter", "opset1", data, (), (kind, ports)))
        edges.append((index, 0, len(inputs), index))
    data = " ".join(f'{name}="{_attribute_text(value)}"' for name, value in (attributes or {}).items())
    me = len(inputs)
    layers.append(_layer(me, "node", op, version, data, range(me), None, range(me, me + outputs)))
    for port in range(outputs):
        layers.append(_layer(me + 1 + port, f"out{port}", "Result", "opset1", "", (0,), None))
        edges.append((me, me + port, me + 1 + port, 0))
    text = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n' for a, b, c, d in edges)
    xml = (
        '<?xml version="1.0"?>\n<net name="g" '
        f'version="11">\n<layers>\n{"".join(layers)}</layers>\n<edges>\n{text}</edges>\n</net>\n'
    )
    return xml.encode(), weights


def _attribute_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _layer(
    index: int,
    name: str,
    op: str,
    version: str,
    data: str,
    inputs: Sequence[int],
    output: tuple[str, Sequence[int]] | None,
    bare_outputs: Sequence[int] = (),
) -> str:
    text = f'<layer id="{index}" name="{name}" type="{op}" version="{version}">'
    text += f"<data {data}/>" if data else ""
    if len(inputs):
        text += "<input>" + "".join(f'<port id="{port}"/>' for port in inputs) + "</input>"
    if output is not None:
        dims = "".join(f"<dim>{dim}</dim>" for dim in output[1])
        text += f'<output><port id="0" precision="{output[0]}">{dims}</port></output>'
    elif len(bare_outputs):
        text += "<output>" + "".join(f'<port id="{p}" precision="dynamic"/>' for p in bare_outputs) + "</output>"
    return text + "</layer>\n"


def onnx_model(
    op: str,
    inputs: Sequence[Fed],
    attributes: Mapping[str, Any] | None = None,
    opset: int = 21,
    domain: str = "",
    outputs: int = 1,
) -> onnx.ModelProto:
    """A model of one node: graph inputs for ``Input``s (texts are dim_params), initializers for arrays, "" for None."""
    names = ["" if given is None else f"in{index}" for index, given in enumerate(inputs)]
    graph_inputs, initializers = [], []
    for name, given in zip(names, inputs):
        if isinstance(given, np.ndarray):
            initializers.append(numpy_helper.from_array(given, name))
        elif given is not None:
            graph_inputs.append(helper.make_tensor_value_info(name, _onnx_type(given.dtype), given.dims))
    results = [f"out{port}" for port in range(outputs)]
    node = helper.make_node(op, names, results, name="node", domain=domain, **(attributes or {}))
    empties = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "g", graph_inputs, empties, initializers)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _onnx_type(dtype: str) -> int:
    names = {"float32": "FLOAT", "float64": "DOUBLE", "string": "STRING"}
    return TensorProto.DataType.Value(names.get(dtype, dtype.upper()))


#: Domains whose version is the one that an operator stands with; those of ONNX Runtime have one version only.
VERSIONED = ("ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")


def document(model: Operator | Text | Change) -> tuple[str, bytes, bytes]:
    """A model as a file: what its name ends with, its bytes, and its weights."""
    if isinstance(model, Text):
        return ".onnx", text_model(model).SerializeToString(), b""
    if isinstance(model, Change):
        documents = ir_documents if model.format == "openvino" else onnx_documents
        base = documents.BASES[model.base]
        assert base.count(model.old) == 1, f"{model.old} stands {base.count(model.old)} times in {model.base}"
        text = base.replace(model.old, model.new)
        if model.format == "openvino":
            return ".xml", text.encode(), documents.WEIGHTS
        return ".onnx", text_format.Parse(text, onnx.ModelProto()).SerializeToString(), documents.WEIGHTS
    inputs = [None if given is None else fed(given) for given in model.inputs]
    domain, name = model.names
    if model.format == "openvino":
        version = f"opset{model.version}" if model.version.isdecimal() else model.version
        return ".xml", *ir_document(name, version, inputs, model.attributes, model.outputs)
    attributes = {key: _onnx_attribute(value) for key, value in model.attributes.items()}
    versioned = domain in VERSIONED
    proto = onnx_model(name, inputs, attributes, 21 if versioned else int(model.version), domain, model.outputs)
    if versioned:
        proto.opset_import[1].version = int(model.version)
    return ".onnx", proto.SerializeToString(), b""


def text_model(model: Text) -> onnx.ModelProto:
    """The model that ONNX's own reader makes of its text."""
    import onnx.parser

    if not model.opset:
        return onnx.parser.parse_model(model.text)
    imports = f'"" : {model.opset}, "com.microsoft" : 1, "ai.onnx.ml" : 3'
    return onnx.parser.parse_model(f"<ir_version: 10, opset_import: [{imports}]>\ng {model.text}")


def fed(given: Given) -> Input | np.ndarray:
    """The input as ``onnx_model`` and ``ir_document`` take it."""
    if given.values is None:
        return Input.any_rank(given.dtype) if given.dims is None else Input(given.dtype, *given.dims)
    array = np.array(given.values, object if given.dtype == "string" else _dtype(given.dtype))
    return array.reshape(given.dims or ())


def _dtype(name: str) -> Any:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _onnx_attribute(value: object) -> object:
    return numpy_helper.from_array(fed(value)) if isinstance(value, Given) else value
