"""Small ONNX models as torch's dynamo exporter builds them: ``value_info`` declares the initializers, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper

Arrays = Mapping[str, np.ndarray]
Shapes = Mapping[str, list[int | str]]


def _model(
    nodes: list[NodeProto], inputs: Shapes, values: Shapes, constants: Arrays, *, of: str = "float32"
) -> onnx.ModelProto:
    """A model of ``nodes``; the last of ``values`` is its output, and inputs are ``of`` one element type."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(of))
    given = [helper.make_tensor_value_info(name, kind, dims) for name, dims in inputs.items()]
    made = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims) for name, dims in values.items()]
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    declared = [helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)) for each in stored]
    graph = helper.make_graph(nodes, "main_graph", given, made[-1:], stored, value_info=[*declared, *made[:-1]])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10, producer_name="pytorch")


def ones(*dims: int) -> np.ndarray:
    return np.ones(dims, np.float32)


def perceptron() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Reshape", ["x", "val_3"], ["view"], "node_view", allowzero=1),
        helper.make_node("Gemm", ["view", "l.0.weight", "l.0.bias"], ["linear"], "node_linear", transB=1),
        helper.make_node("Relu", ["linear"], ["relu"], "node_relu"),
        helper.make_node(
            "LayerNormalization", ["relu", "l.2.weight", "l.2.bias"], ["layer_norm"], "node_layer_norm", axis=-1
        ),
        helper.make_node("Gemm", ["layer_norm", "l.3.weight", "l.3.bias"], ["linear_1"], "node_linear_1", transB=1),
    ]
    constants = {
        "l.0.weight": ones(8, 6),
        "l.0.bias": ones(8),
        "l.2.weight": ones(8),
        "l.2.bias": ones(8),
        "l.3.weight": ones(4, 8),
        "l.3.bias": ones(4),
        "val_3": np.array([2, 6], np.int64),
    }
    values: Shapes = {"view": [2, 6], "linear": [2, 8], "relu": [2, 8], "layer_norm": [2, 8], "linear_1": [2, 4]}
    return _model(nodes, {"x": [2, 3, 2]}, values, constants)


def convolutions() -> onnx.ModelProto:
    norm = ["b.weight", "b.bias", "b.running_mean", "b.running_var"]
    nodes = [
        helper.make_node(
            "Conv", ["x", "c.weight", "c.bias"], ["conv2d"], "node_conv2d", pads=[1, 1, 1, 1], strides=[2, 2]
        ),
        helper.make_node("BatchNormalization", ["conv2d", *norm], ["norm"], "node_norm"),
        helper.make_node("Conv", ["norm", "d.weight", "d.bias"], ["conv2d_1"], "node_conv2d_1", strides=[2, 2]),
        helper.make_node("Reshape", ["conv2d_1", "val_9"], ["view"], "node_view", allowzero=1),
        helper.make_node("Gemm", ["view", "f.weight", "f.bias"], ["linear"], "node_linear", transB=1),
    ]
    constants = {
        "c.weight": ones(4, 3, 3, 3),
        "c.bias": ones(4),
        **{name: ones(4) for name in norm},
        "d.weight": ones(5, 4, 2, 2),
        "d.bias": ones(5),
        "f.weight": ones(3, 20),
        "f.bias": ones(3),
        "val_9": np.array([1, 20], np.int64),
    }
    values: Shapes = {
        "conv2d": [1, 4, 4, 4],
        "norm": [1, 4, 4, 4],
        "conv2d_1": [1, 5, 2, 2],
        "view": [1, 20],
        "linear": [1, 3],
    }
    return _model(nodes, {"x": [1, 3, 8, 8]}, values, constants)


def attention() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Gather", ["e.weight", "ids"], ["embedding"], "node_embedding", axis=0),
        helper.make_node("MatMul", ["embedding", "val_0"], ["val_1"], "node_MatMul_1"),
        helper.make_node("Add", ["val_1", "q.bias"], ["linear"], "node_linear"),
        helper.make_node("Reshape", ["linear", "val_4"], ["view"], "node_view", allowzero=1),
        helper.make_node("Transpose", ["view"], ["transpose"], "node_transpose", perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["view"], ["permute"], "node_permute", perm=[0, 2, 1, 3]),
        helper.make_node("MatMul", ["permute", "transpose"], ["matmul"], "node_matmul"),
        helper.make_node("Softmax", ["matmul"], ["softmax"], "node_softmax", axis=-1),
    ]
    constants = {
        "e.weight": ones(20, 6),
        "q.bias": ones(8),
        "val_0": ones(6, 8),
        "val_4": np.array([-1, 5, 2, 4], np.int64),
    }
    values: Shapes = {
        "embedding": ["s77", 5, 6],
        "val_1": ["s77", 5, 8],
        "linear": ["s77", 5, 8],
        "view": ["s77", 5, 2, 4],
        "transpose": ["s77", 2, 4, 5],
        "permute": ["s77", 2, 5, 4],
        "matmul": ["s77", 2, 5, 5],
        "softmax": ["s77", 2, 5, 5],
    }
    return _model(nodes, {"ids": ["s77", 5]}, values, constants, of="int64")


MODELS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "perceptron": perceptron,
    "convolutions": convolutions,
    "attention": attention,
}


def _weight(array: np.ndarray) -> bool:
    return array.dtype == np.float32


#: Edits of a constant that people make, each with the constants that it is for.
EDITS: Mapping[str, tuple[Callable[[np.ndarray], bool], Callable[[np.ndarray], np.ndarray]]] = {
    "transposed": (lambda each: _weight(each) and each.ndim == 2, lambda each: np.ascontiguousarray(each.T)),
    "float16": (_weight, lambda each: each.astype(np.float16)),
    "float64": (_weight, lambda each: each.astype(np.float64)),
    "int32": (lambda each: each.dtype == np.int64, lambda each: each.astype(np.int32)),
    "longer": (lambda each: _weight(each) and each.ndim == 1, lambda each: np.append(each, each[:1])),
    "wider": (lambda each: _weight(each) and each.ndim == 4, lambda each: np.append(each, each[:, :1], 1)),
    "nested": (lambda each: _weight(each) and each.ndim > 1, lambda each: each[None]),
}


def edited() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Every model with one constant edited, and what was done."""
    for name, build in MODELS.items():
        for at, stored in enumerate(build().graph.initializer):
            array = numpy_helper.to_array(stored)
            for edit, (fits, apply) in EDITS.items():
                if fits(array):
                    model = build()
                    model.graph.initializer[at].CopyFrom(numpy_helper.from_array(apply(array), stored.name))
                    yield f"{name}: {stored.name} {edit}", model
