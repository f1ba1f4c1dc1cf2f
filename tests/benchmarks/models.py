"""The models that the benchmark measures: blocks of real kinds, and whatever grows; weights are holes of sparse
files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

#: The nodes of one block.
BLOCK = 13

#: Where weights come from: those of a real model are all different.
DRAWN = np.random.default_rng(13)


def blocks(path: Path, nodes: int) -> Path:
    """A model of ``nodes`` nodes: a convolution and an attention after the other, with the names that exporters
    give."""
    made: list[NodeProto] = []
    weights = [numpy_helper.from_array(np.array([0, 8, -1], np.int64), "flat")]
    weights.append(numpy_helper.from_array(np.array([0, 8, 16, 16], np.int64), "square"))
    value = "input"
    for at in range(max(1, nodes // BLOCK)):
        value = _block(made, weights, value, f"/model/layers.{at}")
    x = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", 8, 16, 16])
    y = helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", 8, 16, 16])
    graph = helper.make_graph(made, "main_graph", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _block(made: list[NodeProto], weights: list[TensorProto], value: str, scope: str) -> str:
    """Adds a block behind ``value``; what it gives."""

    def add(op: str, *inputs: str, **attributes: object) -> str:
        name = f"{scope}/{op}_{len(made)}"
        made.append(helper.make_node(op, inputs, [f"{name}_output_0"], name, **attributes))
        return f"{name}_output_0"

    def weight(name: str, *shape: int) -> str:
        whole = f"{scope[1:].replace('/', '.')}.{name}"
        weights.append(numpy_helper.from_array(DRAWN.random(shape, np.float32), whole))
        return whole

    window = {"dilations": [1, 1], "group": 1, "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    convolved = add("Conv", value, weight("conv.weight", 8, 8, 3, 3), weight("conv.bias", 8), **window)
    summed = add("Relu", add("Add", convolved, value))
    scaled = add("Mul", summed, weight("scale", 8, 1, 1))
    rows = add("Transpose", add("Reshape", scaled, "flat"), perm=[0, 2, 1])
    attended = add("Softmax", add("MatMul", rows, weight("query.weight", 8, 8)), axis=-1)
    mixed = add("Add", add("MatMul", attended, weight("value.weight", 8, 8)), rows)
    named = weight("norm.weight", 8), weight("norm.bias", 8)
    normal = add("LayerNormalization", mixed, *named, axis=-1, epsilon=1e-5)
    return add("Reshape", add("Transpose", normal, perm=[0, 2, 1]), "square")


def heavy(path: Path, size: int, *, external: bool = False) -> Path:
    """A model with ``size`` bytes of weights, inside it or in a file beside it, which take no room on the disk."""
    each = 1 << 24
    made = [helper.make_node("MatMul", ["x", "w0"], ["v0"])]
    for at in range(1, max(1, size // each)):
        made.append(helper.make_node("MatMul", [f"v{at - 1}", f"w{at}"], [f"v{at}"]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2048])
    y = helper.make_tensor_value_info(f"v{len(made) - 1}", TensorProto.FLOAT, ["N", 2048])
    graph = helper.make_graph(made, "heavy", [x], [y])
    weights = [TensorProto(name=f"w{at}", data_type=TensorProto.FLOAT, dims=[2048, 2048]) for at in range(len(made))]
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if external:
        for at, weight in enumerate(weights):
            weight.data_location = TensorProto.EXTERNAL
            for key, entry in (("location", f"{path.stem}.data"), ("offset", at * each), ("length", each)):
                weight.external_data.add(key=key, value=str(entry))
        model.graph.initializer.extend(weights)
        sparse(path.with_suffix(".data"), each * len(weights))
        onnx.save(model, path)
        return path
    model.ClearField("graph")
    _inlined(path, model.SerializeToString(), graph.SerializeToString(), weights, each)
    return path


def _inlined(path: Path, model: bytes, graph: bytes, weights: list[TensorProto], each: int) -> None:
    """Writes a file whose graph has ``weights`` of ``each`` bytes, which are holes."""
    heads = [weight.SerializeToString() + _field(9, each) for weight in weights]
    fields = [_field(5, len(head) + each) + head for head in heads]
    with path.open("wb") as file:
        file.write(model + _field(7, len(graph) + sum(map(len, fields)) + each * len(fields)) + graph)
        for field in fields:
            file.write(field)
            file.seek(each, 1)
        file.truncate()


def _field(number: int, size: int) -> bytes:
    """What stands before the bytes of a length-delimited field."""
    parts = [number << 3 | 2]
    while size > 127:
        parts.append(size & 127 | 128)
        size >>= 7
    return bytes([*parts, size])


def sparse(path: Path, size: int) -> None:
    """A file of ``size`` bytes that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)


def trees(path: Path, entries: int, leaves: int = 256) -> Path:
    """A tree ensemble whose attributes are lists of ``entries`` entries, with ``leaves`` leaves a tree."""
    size = 2 * leaves - 1
    count = max(1, entries // size)
    ids = np.tile(np.arange(size), count)
    tree = np.repeat(np.arange(count), size)
    branch = ids < leaves - 1
    numbers = {
        "nodes_treeids": tree,
        "nodes_nodeids": ids,
        "nodes_featureids": np.where(branch, ids % 40, 0),
        "nodes_truenodeids": np.where(branch, 2 * ids + 1, 0),
        "nodes_falsenodeids": np.where(branch, 2 * ids + 2, 0),
        "nodes_missing_value_tracks_true": np.zeros_like(ids),
        "target_treeids": tree[~branch],
        "target_nodeids": ids[~branch],
        "target_ids": np.zeros(int((~branch).sum()), np.int64),
    }
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], "trees", domain="ai.onnx.ml", n_targets=1)
    for name, entries_ in numbers.items():
        node.attribute.append(AttributeProto(name=name, type=AttributeProto.INTS, ints=entries_.tolist()))
    for name, length in (("nodes_values", ids.size), ("nodes_hitrates", ids.size), ("target_weights", (~branch).sum())):
        node.attribute.append(AttributeProto(name=name, type=AttributeProto.FLOATS, floats=[0.5] * int(length)))
    modes = [b"BRANCH_LEQ" if each else b"LEAF" for each in branch.tolist()]
    node.attribute.append(AttributeProto(name="nodes_modes", type=AttributeProto.STRINGS, strings=modes))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 40])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])
    graph = helper.make_graph([node], "trees", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def wrong(path: Path, findings: int) -> Path:
    """A model with ``findings`` nodes that each break a rule."""
    made = [helper.make_node("Add", ["x", "w"], [f"v{at}"], f"add_{at}") for at in range(findings)]
    weight = numpy_helper.from_array(np.zeros(4, np.float32), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, [2, 3]) for node in made]
    graph = helper.make_graph(made, "wrong", [x], y, [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def many(folder: Path, files: int) -> Path:
    """A folder of ``files`` models of one block each."""
    folder.mkdir(exist_ok=True)
    blocks(folder / "0.onnx", BLOCK)
    raw = (folder / "0.onnx").read_bytes()
    for at in range(1, files):
        (folder / f"{at}.onnx").write_bytes(raw)
    return folder


def layers(path: Path, count: int, weights: int = 0) -> Path:
    """An IR of ``count`` layers that repeat; the ``.bin`` has ``weights`` bytes, at least as many as its Const layers
    need."""
    kernel = 8 * 8 * 3 * 3 * 4
    sparse(path.with_suffix(".bin"), max(kernel * len(range(1, count - 1, 6)), weights))
    edges: list[str] = []
    with path.open("w") as file:
        file.write('<?xml version="1.0"?>\n<net name="Model0" version="11">\n\t<layers>\n')
        file.writelines(_layers(count, edges, kernel))
        file.write("\t</layers>\n\t<edges>\n")
        file.writelines(edges)
        file.write("\t</edges>\n\t<rt_info />\n</net>\n")
    return path


_PORTS = "".join(f"\t\t\t\t\t<dim>{dim}</dim>\n" for dim in (1, 8, 16, 16))
_KERNEL = "".join(f"\t\t\t\t\t<dim>{dim}</dim>\n" for dim in (8, 8, 3, 3))
_CONVOLUTION = 'strides="1, 1" dilations="1, 1" pads_begin="1, 1" pads_end="1, 1" auto_pad="explicit"'


def _layers(count: int, edges: list[str], kernel: int) -> Iterator[str]:
    """The texts of the layers; ``edges`` gets those of the edges."""
    stated = 'shape="1,8,16,16" element_type="f32"'
    yield _layer(0, "Parameter", stated, (), (_PORTS,))
    last, at = 0, 1
    while at < count - 1:
        held = f'element_type="f32" shape="8, 8, 3, 3" offset="{kernel * (at // 6)}" size="{kernel}"'
        yield _layer(at, "Const", held, (), (_KERNEL,))
        yield _layer(at + 1, "Convolution", _CONVOLUTION, (_PORTS, _KERNEL), (_PORTS,))
        yield _layer(at + 2, "Add", 'auto_broadcast="numpy"', (_PORTS, _PORTS), (_PORTS,))
        yield _layer(at + 3, "ReLU", "", (_PORTS,), (_PORTS,))
        yield _layer(at + 4, "Clamp", 'min="0" max="6"', (_PORTS,), (_PORTS,))
        yield _layer(at + 5, "SoftMax", 'axis="1"', (_PORTS,), (_PORTS,))
        edges += [_edge(last, min(last, 1), at + 1, 0) if last == 0 else _edge(last, 1, at + 1, 0)]
        edges += [_edge(at, 0, at + 1, 1), _edge(at + 1, 2, at + 2, 0)]
        edges += [_edge(last, 0 if last == 0 else 1, at + 2, 1), _edge(at + 2, 2, at + 3, 0)]
        edges += [_edge(at + 3, 1, at + 4, 0), _edge(at + 4, 1, at + 5, 0)]
        last, at = at + 5, at + 6
    yield _layer(at, "Result", "", (_PORTS,), ())
    edges += [_edge(last, 1, at, 0)]


def _layer(at: int, op: str, data: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    lines = [f'\t\t<layer id="{at}" name="/model/layers.{at}/{op}" type="{op}" version="opset1">\n']
    lines += [f"\t\t\t<data {data} />\n"] * bool(data)
    first = 0
    for side, ports in (("input", inputs), ("output", outputs)):
        if ports:
            named = ' precision="FP32"' * (side == "output") + f' names="{op}_{at}"' * (side == "output")
            lines += [f"\t\t\t<{side}>\n"]
            lines += [
                f'\t\t\t\t<port id="{first + port}" precision="FP32">\n{dims}\t\t\t\t</port>\n'
                if side == "input"
                else f'\t\t\t\t<port id="{first + port}"{named}>\n{dims}\t\t\t\t</port>\n'
                for port, dims in enumerate(ports)
            ]
            lines += [f"\t\t\t</{side}>\n"]
            first += len(ports)
    return "".join([*lines, "\t\t</layer>\n"])


def _edge(source: int, port: int, target: int, entry: int) -> str:
    return f'\t\t<edge from-layer="{source}" from-port="{port}" to-layer="{target}" to-port="{entry}" />\n'


MAKERS: dict[str, Callable[[Path, int], Path]] = {
    "blocks": blocks,
    "heavy": heavy,
    "external": lambda path, size: heavy(path, size, external=True),
    "trees": trees,
    "wrong": wrong,
    "many": many,
    "layers": layers,
    "beside": lambda path, size: layers(path, 930, size),
}

if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
