"""Ways in which people break ONNX models: wrong element types, weights, operators, opsets and declarations."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from .onnx_graph import Change, Graph, misspelt, name_of, way


@way("float16 weights")
def float16_weights(graph: Graph) -> Change | None:
    found = graph.weights() + [
        (node, each.tensor)
        for node in graph.nodes
        for name in node.input
        for each in [graph.constants().get(name)]
        if each and each.tensor.data_type == TensorProto.FLOAT
    ]
    chosen = graph.any(found)
    if not chosen:
        return None
    node, tensor = chosen
    kind = np.float64 if graph.random.random() < 0.2 else np.float16
    values = numpy_helper.to_array(tensor)
    if not np.array_equal(values.astype(kind).astype(np.float32), values):
        return None
    tensor.CopyFrom(numpy_helper.from_array(values.astype(kind), tensor.name))
    return Change(name_of(node), f"element type of {tensor.name}", "float32", np.dtype(kind).name)


@way("int32 constants")
def int32_constant(graph: Graph) -> Change | None:
    constants = [
        each
        for each in graph.constants().values()
        if each.tensor.data_type == TensorProto.INT64 and graph.users(each.name)
    ]
    chosen = graph.any(constants)
    if not chosen or (np.abs(chosen.values) >= 2**31).any():
        return None
    chosen.set(chosen.values.astype(np.int32))
    return Change(name_of(graph.users(chosen.name)[0]), f"element type of {chosen.name}", "int64", "int32")


@way("opset")
def opset(graph: Graph) -> Change | None:
    chosen = graph.any(graph.model.opset_import)
    was = chosen.version
    match graph.random.randrange(4):
        case 0:
            chosen.version = max(1, was - graph.random.randrange(1, 7))
        case 1:
            chosen.version = was + graph.random.randrange(1, 7)
        case 2:
            chosen.version = graph.random.choice((7, 9, 11, 13, 17, 18, 21, 30, 99))
        case 3:
            graph.model.opset_import.remove(chosen)
            return Change("", f"import of {chosen.domain or 'ai.onnx'}", str(was), "not there")
    return (
        Change("", f"import of {chosen.domain or 'ai.onnx'}", str(was), str(chosen.version))
        if chosen.version != was
        else None
    )


@way("domain of a node")
def domain(graph: Graph) -> Change | None:
    node = (
        graph.any(each for each in graph.nodes if each.domain not in ("", "ai.onnx"))
        if graph.random.random() < 0.7
        else graph.any(graph.nodes)
    )
    if not node:
        return None
    was = node.domain
    node.domain = (
        ""
        if was not in ("", "ai.onnx")
        else graph.random.choice(("com.microsoft", "ai.onnx.ml", "onnx", "ai.onnx.training"))
    )
    return Change(name_of(node), "domain", was, node.domain)


@way("declared size")
def declared_size(graph: Graph) -> Change | None:
    chosen = graph.any(each for each in graph.inputs() if each.type.tensor_type.shape.dim)
    if chosen is None:
        return None
    dims = chosen.type.tensor_type.shape.dim
    was = str([each.dim_param or each.dim_value for each in dims])
    sizes = [each.dim_value or each.dim_param for each in dims]
    at = graph.random.randrange(len(sizes))
    match graph.random.randrange(5):
        case 0 if len(sizes) == 4:
            order = [0, 2, 3, 1] if graph.random.random() < 0.7 else [0, 3, 1, 2]
            sizes = [sizes[each] for each in order]
        case 1:
            del sizes[at]
        case 2:
            sizes.insert(at, 1)
        case _:
            if not isinstance(sizes[at], int):
                return None
            sizes[at] = max(1, graph.random.choice((sizes[at] + 1, sizes[at] - 1, sizes[at] * 2, sizes[at] // 2, 1, 3)))
    del dims[:]
    for each in sizes:
        dims.add(**({"dim_value": each} if isinstance(each, int) else {"dim_param": each}))
    return Change("", f"declared shape of input {chosen.name}", was, str(sizes)) if str(sizes) != was else None


def _declare_type(graph: Graph, where: str, chosen: object) -> Change | None:
    tensor = chosen.type.tensor_type  # type: ignore[attr-defined]
    was = tensor.elem_type
    likely = {1: (10, 11, 7, 2), 7: (6, 1), 6: (7, 1), 10: (1,), 2: (1, 3), 9: (7, 1), 11: (1,)}
    tensor.elem_type = graph.random.choice(likely.get(was, (1,)))
    if tensor.elem_type == was:
        return None
    names = TensorProto.DataType.Name
    return Change("", f"declared element type of {where} {chosen.name}", names(was), names(tensor.elem_type))  # type: ignore[attr-defined]


@way("declared type")
def declared_type(graph: Graph) -> Change | None:
    chosen = graph.any(each for each in graph.inputs() if each.type.HasField("tensor_type"))
    return _declare_type(graph, "input", chosen) if chosen is not None else None


@way("declared type of an output")
def declared_output(graph: Graph) -> Change | None:
    chosen = graph.any(each for each in graph.model.graph.output if each.type.HasField("tensor_type"))
    return _declare_type(graph, "output", chosen) if chosen is not None else None


#: What other frameworks call operators.
OPERATORS = {
    "Conv": "Conv2d", "Relu": "ReLU", "Gemm": "Linear", "BatchNormali"
        "zation": "BatchNorm", "GlobalAveragePool": "GlobalAvgPool", "MaxPool": "MaxPool2d",
    "LeakyRelu": "LeakyReLU", "Concat": "Concate"
        "nate", "Reduce"
            "Mean": "Mean", "MatMul": "Matmul", "Softmax": "SoftMax", "Reshape": "View", "Transpose": "Permute",
}  # fmt: skip


@way("misspelt operator")
def misspelt_operator(graph: Graph) -> Change | None:
    node = graph.any(graph.nodes)
    was = node.op_type
    node.op_type = OPERATORS[was] if was in OPERATORS and graph.random.random() < 0.3 else misspelt(was, graph.random)
    return Change(name_of(node), "operator", was, node.op_type) if node.op_type != was else None


@way("transposed weights")
def transposed_weights(graph: Graph) -> Change | None:
    chosen = graph.any((node, each) for node, each in graph.weights() if len(each.dims) > 1)
    if not chosen:
        return None
    node, tensor = chosen
    values = numpy_helper.to_array(tensor)
    order = (
        [2, 3, 1, 0]
        if values.ndim == 4 and graph.random.random() < 0.5
        else list(range(values.ndim - 2)) + [values.ndim - 1, values.ndim - 2]
    )
    if values.ndim == 4 and order == [0, 1, 3, 2]:
        order = [1, 0, 2, 3]
    new = np.ascontiguousarray(values.transpose(order))
    if new.shape == values.shape:
        return None
    was = str(list(tensor.dims))
    tensor.CopyFrom(numpy_helper.from_array(new, tensor.name))
    return Change(name_of(node), f"layout of {tensor.name}", was, str(list(tensor.dims)))


@way("dims of weights")
def dims_of_weights(graph: Graph) -> Change | None:
    chosen = graph.any((node, each) for node, each in graph.weights() if len(each.dims) > 1)
    if not chosen:
        return None
    node, tensor = chosen
    was = list(tensor.dims)
    new = list(reversed(was)) if graph.random.random() < 0.6 else [int(np.prod(was[:2])), *was[2:]]
    if new == was:
        return None
    tensor.dims[:] = new
    return Change(name_of(node), f"dims of {tensor.name}", str(was), str(new))


@way("weights of another width")
def weights_width(graph: Graph) -> Change | None:
    chosen = graph.any((node, each) for node, each in graph.weights() if each.dims and max(each.dims) > 1)
    if not chosen:
        return None
    node, tensor = chosen
    values = numpy_helper.to_array(tensor)
    at = graph.any(axis for axis, size in enumerate(values.shape) if size > 1)
    was = str(list(tensor.dims))
    tensor.CopyFrom(
        numpy_helper.from_array(np.ascontiguousarray(np.take(values, range(values.shape[at] - 1), at)), tensor.name)
    )
    return Change(name_of(node), f"size of {tensor.name}", was, str(list(tensor.dims)), lost=True)


@way("versions of the file")
def versions(graph: Graph) -> Change | None:
    was = graph.model.ir_version
    graph.model.ir_version = graph.random.choice((0, 1, 2, 3, 14, 15, 99))
    return Change("", "ir_version", str(was), str(graph.model.ir_version))
