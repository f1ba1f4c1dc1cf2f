"""The models of which the golden pages show what the text report says."""

from __future__ import annotations

import re
from collections.abc import Callable

import onnx.parser
from onnx import ModelProto, helper

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

Files = dict[str, bytes]


def from_text(body: str, edit: Callable[[ModelProto], None] | None = None, head: str = HEAD) -> bytes:
    model = onnx.parser.parse_model(head + body)
    if edit is not None:
        edit(model)
    return model.SerializeToString()


def detector(model: ModelProto) -> None:
    for node, name in zip(model.graph.node, ("/backbone/conv1/Conv", "/backbone/act/Relu", "/neck/Add_3")):
        node.name = name
    model.graph.initializer.append(helper.make_tensor("w", 1, [64, 3, 7, 7], bytes(64 * 3 * 7 * 7 * 4), raw=True))


def tables(model: ModelProto) -> None:
    model.graph.initializer.append(helper.make_tensor("positions", 1, [1, 77, 16], bytes(4 * 77 * 16), raw=True))


def weights(model: ModelProto) -> None:
    model.graph.initializer.append(helper.make_tensor("w", 1, [12288, 5], bytes(4 * 12288 * 5), raw=True))


def awkward(model: ModelProto) -> None:
    model.graph.name = 'main\n"g"'
    model.graph.node[0].name = 'red\x1b[31m\x1b]0;title\x07\n"q" \u202e 中文'
    model.graph.input[1].name = model.graph.node[0].input[1] = 'b "x"\n\x1b[2J'


def port(id: int, dims: tuple[int, ...], precision: str = "") -> str:
    rows = "".join(f"\t\t\t\t\t<dim>{dim}</dim>\n" for dim in dims)
    return f'\t\t\t\t<port id="{id}"{precision}>\n{rows}\t\t\t\t</port>\n'


def layer(id: int, name: str, op: str, data: str, inputs: list[tuple[int, ...]], output: tuple[int, ...] | None) -> str:
    parts = [f'\t\t<layer id="{id}" name="{name}" type="{op}" version="opset1">\n']
    if data:
        parts.append(f"\t\t\t<data {data}/>\n")
    if inputs:
        parts += ["\t\t\t<input>\n", *(port(at, dims) for at, dims in enumerate(inputs)), "\t\t\t</input>\n"]
    if output is not None:
        parts += ["\t\t\t<output>\n", port(len(inputs), output, ' precision="FP32"'), "\t\t\t</output>\n"]
    return "".join([*parts, "\t\t</layer>\n"])


def net(layers: list[str], edges: list[tuple[int, int, int, int]]) -> str:
    lines = "".join(
        f'\t\t<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n' for a, b, c, d in edges
    )
    return (
        '<?xml version="1.0"?>\n<net name="main_graph" version="11">\n\t<layers>\n'
        f"{''.join(layers)}\t</layers>\n\t<edges>\n{lines}\t</edges>\n</net>\n"
    )


def detector_ir(skip: int = 55, relu: int = 56, auto_broadcast: str = "auto_broadcast", declared: int = 56) -> str:
    images, weights, conv = (1, 3, 224, 224), (64, 3, 7, 7), (1, 64, 56, 56)
    windows = 'strides="4,4" dilations="1,1" pads_begin="3,3" pads_end="3,3" auto_pad="explicit"'
    other = (1, 64, 56, skip)
    return net(
        [
            layer(0, "images", "Parameter", 'shape="1,3,224,224" element_type="f32"', [], images),
            layer(1, "skip", "Parameter", f'shape="1,64,56,{skip}" element_type="f32"', [], other),
            layer(2, "w", "Const", 'element_type="f32" shape="64,3,7,7" offset="0" size="37632"', [], weights),
            layer(5, "/backbone/conv1/Conv", "Convolution", windows, [images, weights], conv),
            layer(12, "/backbone/act/Relu", "Relu", "", [conv], (1, 64, declared, 56)),
            layer(31, "/neck/Add_3", "Add", f'{auto_broadcast}="numpy"', [conv, other], conv),
            layer(32, "y", "Result", "", [conv], None),
        ],
        [(0, 0, 5, 0), (2, 0, 5, 1), (5, 2, 12, 0), (12, 1, 31, 0), (1, 0, 31, 1), (31, 2, 32, 0)],
    )


def table_ir() -> str:
    images, table = (-1, -1, 4), (1, 77, 4)
    return net(
        [
            layer(0, "x", "Parameter", 'shape="?,?,4" element_type="f32"', [], images),
            layer(1, "positions", "Const", 'element_type="f32" shape="1,77,4" offset="0" size="1232"', [], table),
            layer(2, "relu", "Relu", "", [images], images),
            layer(3, "sum", "Add", 'auto_broadcast="numpy"', [images, table], (-1, 77, 4)),
            layer(4, "y", "Result", "", [(-1, 77, 4)], None),
        ],
        [(0, 0, 2, 0), (2, 1, 3, 0), (1, 0, 3, 1), (3, 2, 4, 0)],
    )


WEIGHTS = bytes(37632)
TABLE = """encoder (float[batch,seq,16] words) => (float[batch,77,16] y) {
  x = Relu (words)
  y = Add (x, positions)
}"""
LAYER = """classifier (float[batch,3,H,W] image) => (float[batch,5] y) {
  r = Relu (image)
  f = Flatten (r)
  y = MatMul (f, w)
}"""
DETECTOR = """main_graph (float[1,3,224,224] images, float[1,64,56,55] skip) => (float[1,64,56,56] y) <float[64,3,7,7] w> {
  c = Conv <pads = [3,3,3,3], strides = [4,4]> (images, w)
  r = Relu (c)
  y = Add (r, skip)
}"""
BLOCKS = "".join(f"  a{i} = Relu (x)\n  x{i} = Add (a{i}, b)\n" for i in range(13))
KINDS = "".join(f"  d{i} = Add (x, b{i})\n" for i in range(14))
KINDS_INPUTS = ", ".join(f"float[{i + 4}] b{i}" for i in range(14))

#: The files of each page by the name of the page, the columns it is shown in behind a ``@``.
PAGES: dict[str, Files] = {
    "ir-broadcast": {"detector.xml": detector_ir().encode(), "detector.bin": WEIGHTS},
    "ir-broadcast@80": {"detector.xml": detector_ir().encode(), "detector.bin": WEIGHTS},
    "ir-one-line": {"m.xml": re.sub(r"[\t\n]", "", detector_ir()).encode(), "m.bin": WEIGHTS},
    "ir-attribute": {"m.xml": detector_ir(56, auto_broadcast="auto_brodcast").encode(), "m.bin": WEIGHTS},
    "ir-declared": {"m.xml": detector_ir(56, declared=54).encode(), "m.bin": WEIGHTS},
    "ir-no-weights": {"m.xml": detector_ir(56).encode()},
    "ir-truncated": {"m.xml": detector_ir().encode()[:1500]},
    "ir-malformed": {"m.xml": detector_ir().replace("</layers>", "</layer>").encode()},
    "onnx-broadcast": {"detector.onnx": from_text(DETECTOR, detector)},
    "onnx-broadcast@80": {"detector.onnx": from_text(DETECTOR, detector)},
    "onnx-undefined": {
        "m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { skip = Relu (x) y = Add (x, skipp) }"),
    },
    "onnx-attribute": {"m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alhpa = 0.1> (x) }")},
    "onnx-declared": {"m.onnx": from_text("g (float[2,3] x) => (float[2,4] y) { z = Neg (x) y = Relu (z) }")},
    "onnx-types": {"m.onnx": from_text("g (float[2,3] x, int64[3] b) => (float[2,3] y) { y = Add (x, b) }")},
    "onnx-symbolic": {
        "m.onnx": from_text(
            """g (float[N,3,H,W] x, float[3,1,5] b) => (float[N,3,H,W] y) {
  s = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)
  t = Concat <axis = 3> (s, s)
  y = Add (t, b)
}"""
        ),
    },
    "onnx-fixed-size": {"m.onnx": from_text(TABLE, tables)},
    "onnx-fixed-product": {"m.onnx": from_text(LAYER, weights)},
    "ir-fixed-size": {"m.xml": table_ir().encode(), "m.bin": bytes(1232)},
    "onnx-repeated": {
        "m.onnx": from_text(f"g (float[2,3] x, float[4] b) => (float[2,3] y) {{\n{BLOCKS}  y = Relu (x)\n}}"),
    },
    "onnx-many": {
        "m.onnx": from_text(f"g (float[2,3] x, {KINDS_INPUTS}) => (float[2,3] y) {{\n{KINDS}  y = Neg (x)\n}}")
    },
    "onnx-function": {
        "m.onnx": from_text(
            """g (float[2,3] x, float[4] b) => (float[2,3] y) { a = custom.scaled (x, x) y = custom.scaled (x, b) }
<domain: "custom", opset_import: ["" : 17]>
scaled (p, q) => (r) { s = Relu (p) r = Mul (s, q) }""",
            head='<ir_version: 8, opset_import: ["" : 17, "custom" : 1]>\n',
        ),
    },
    "onnx-body": {
        "m.onnx": from_text(
            """g (bool c, float[2,3] x, float[4] b) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] o) { o = Add (x, b) }, else_branch = e () => (float[2,3] p) { p = Relu (x) }>
}"""
        ),
    },
    "onnx-awkward-names": {
        "m.onnx": from_text("g (float[2,3] x, float[4] b) => (float[2,3] y) { y = Add (x, b) }", awkward),
    },
    "onnx-truncated": {"m.onnx": from_text(DETECTOR, detector)[:9000]},
    "lfs-pointer": {
        "m.onnx": b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 1288490188\n",
    },
    "archive": {"m.onnx": b"PK\3\4\24\0\0\0\10\0abcdefghijkl"},
    "nothing-found": {"m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { y = Add (x, x) }")},
}
