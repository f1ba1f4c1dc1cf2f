"""Forms of ONNX models and operators that a release of OpenVINO is asked about, though it has the converters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper

from irlint.model.tensor import NUMBERED_TYPES
from irlint.targets.openvino_forms import DRAWING, DRAWN
from irlint.targets.openvino_readings import REDUCING

#: Forms of ONNX operators that not every release reads though it has the converter: the opset, and a model.
FORMS = {
    "Resize.f64": (
        13,
        "(double[1,1,4,4] x) => (double[1,1,8,8] y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }",
    ),
    "QuantizeLinear.16": (21, "(float[2] x, float s, uint16 z) => (uint16[2] y) { y = QuantizeLinear (x, s, z) }"),
    "DequantizeLinear.f16": (
        19,
        "(uint8[2] x, float16 s, uint8 z) => (float16[2] y) { y = DequantizeLinear (x, s, z) }",
    ),
    "LayerNormalization.outputs": (
        17,
        "(float[2,4] x, float[4] s) => (float[2,4] y, float[2,1] m) { y, m = LayerNormalization (x, s) }",
    ),
    "GridSample.linear": (
        20,
        '(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y) { y = GridSample <mode = "linear"> (x, g) }',
    ),
    "Resize.tf_crop_and_resize": (
        13,
        "(float[1,1,4,4] x) => (float[1,1,3,3] y) "
        "<float[8] roi = {0.0, 0.0, 0.4, 0.6, 1.0, 1.0, 0.6, 0.8}, int64[4] sizes = {1, 1, 3, 3}> "
        '{ y = Resize <coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear"> (x, roi, , sizes) }',
    ),
    "GridSample.5d": (
        20,
        "(float[1,1,2,4,4] x, float[1,2,2,2,3] g) => (float[1,1,2,2,2] y) { y = GridSample (x, g) }",
    ),
    "Dropout.open-training": (
        13,
        "(float[2] x, bool t) => (float[2] y) <float r = {0.5}> { y = Dropout (x, r, t) }",
    ),
    "Dropout.training": (
        13,
        "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> { y = Dropout (x, r, t) }",
    ),
    "Loop.input-returned": (
        17,
        "(int64 n, bool c, float[2] a) => (float[2] y) { y = Loop (n, c, a) "
        "<body = b (int64 i, bool ci, float[2] ai) => (bool ci, float[2] ao) { ao = Add (ai, ai) }> }",
    ),
    "STFT.dynamic-signal": (
        17,
        "(float[N,128,1] x, float[16] w) => (float[N,15,9,2] y) <int64 s = {8}> { y = STFT (x, s, w) }",
    ),
    "STFT.open-frame-step": (
        17,
        "(float[1,128,1] x, int64 s, float[16] w) => (float[1,15,9,2] y) { y = STFT (x, s, w) }",
    ),
    "SkipLayerNormalization.outputs": (
        17,
        "(float[1,2,4] x, float[1,2,4] k, float[4] g, float[4] b) => (float[1,2,4] y, float[1,2,4] z) "
        "{ y, , , z = com.microsoft.SkipLayerNormalization (x, k, g, b) }",
    ),
    "EmbedLayerNormalization.outputs": (
        17,
        "(int32[1,2] i, int32[1,2] s) => (float[1,2,4] y, int32[1] m, float[1,2,4] z) <float[3,4] w = {"
        + ", ".join(["0"] * 12)
        + "}, float[3,4] p = {"
        + ", ".join(["0"] * 12)
        + "}, float[3,4] q = {"
        + ", ".join(["0"] * 12)
        + "}, float[4] g = {1, 1, 1, 1}, float[4] b = {0, 0, 0, 0}> "
        "{ y, m, z = com.microsoft.EmbedLayerNormalization (i, s, w, p, q, g, b) }",
    ),
    "BatchNormalization.training": (
        15,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y, float[3] o, float[3] p) "
        "{ y, o, p = BatchNormalization <training_mode = 1> (x, s, b, m, v) }",
    ),
    "Scan.outer": (
        17,
        "(float[2] i, float[3,2] x, float[2] z) => (float[2] o, float[3,2] y) { o, y = Scan <num_scan_inputs = 1, "
        "body = b (float[2] a, float[2] e) => (float[2] c, float[2] d) { c = Add (a, e) d = Add (e, z) }> (i, x) }",
    ),
    "Resize.scales-f64": (
        13,
        "(float[1,1,4,4] x, double[4] s) => (float[1,1,?,?] y) { y = Resize (x, , s) }",
    ),
    "Resize.scales-int": (
        13,
        "(float[1,1,4,4] x, int64[4] s) => (float[1,1,?,?] y) { y = Resize (x, , s) }",
    ),
    "DequantizeLinear.int": (
        13,
        "(uint8[2] x, int32 s, uint8 z) => (int32[2] y) { y = DequantizeLinear (x, s, z) }",
    ),
    "QuantizeLinear.f8": (
        19,
        "(float[2] x, float s, float8e4m3fn z) => (float8e4m3fn[2] y) { y = QuantizeLinear (x, s, z) }",
    ),
    "BatchNormalization.outputs": (
        9,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y, float[3] o, float[3] p) "
        "{ y, o, p = BatchNormalization (x, s, b, m, v) }",
    ),
    "GridSample.linear-early": (
        16,
        '(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y) { y = GridSample <mode = "linear"> (x, g) }',
    ),
    "Shape.part": (
        15,
        "(float[2,3,4] x, float[2] z) => (float[2] y) { s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }",
    ),
    "Shape.part-early": (
        13,
        "(float[2,3,4] x, float[2] z) => (float[2] y) { s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }",
    ),
    "Mod.float": (13, "(float[2] x, float[2] d) => (float[2] y) { y = Mod (x, d) }"),
    "ScatterND.reduction": (
        16,
        '(float[4] x, int64[2,1] i, float[2] u) => (float[4] y) { y = ScatterND <reduction = "add"> (x, i, u) }',
    ),
    **{
        f"{op}.axes-input": (
            18,
            f"(float[2,3] x) => (y) <int64[1] a = {{1}}, int64[2] s = {{2, 1}}> {{ r = {op} (x, a) y = Reshape (r, s) "
            "}",
        )
        for op in sorted(REDUCING)
    },
    **{
        f"{op}.axes-input-early": (
            13,
            f"(float[2,3] x) => (y) <int64[1] a = {{1}}, int64[2] s = {{2, 1}}> {{ r = {op} (x, a) y = Reshape (r, s) "
            "}",
        )
        for op in sorted(REDUCING)
    },
    **{
        f"{op}.axes-attribute": (
            18 if op in REDUCING else 13,
            f"(float[2,3] x) => (y) <int64[2] s = {{2, 1}}> {{ r = {op} <axes = [1]> (x) y = Reshape (r, s) }}",
        )
        for op in (*sorted(REDUCING), "ReduceSum")
    },
    **{
        f"{op}.empty-axes": (18 if op in REDUCING else 13, f'(float[2,3] x) => (y) {{ y = {op} (x, "") }}')
        for op in (*sorted(REDUCING), "ReduceSum")
    },
    "If.other-branch": (
        17,
        "(float[5] x) => (y) <int64 one = {1}> { s = Shape (x) k = Size (s) c = Equal (k, one) "
        "y = If <then_branch = t () => (a) { a = Identity (x) }, else_branch = e () => (b) "
        "{ b, q, r, u = Split (x) }> (c) }",
    ),
    "If.constant-other-branch": (
        17,
        "(float[5] x) => (y) <bool c = {1}> { y = If <then_branch = t () => (a) { a = Identity (x) }, "
        "else_branch = e () => (b) { b, q, r, u = Split (x) }> (c) }",
    ),
    "If.absent": (
        17,
        "(float[5] x, bool c) => (y) { y = If <then_branch = t () => (a) { a = Nothing (x) }, "
        "else_branch = e () => (b) { b = Identity (x) }> (c) }",
    ),
    "Loop.absent": (
        17,
        "(float[5] x, int64 n, bool c) => (y) { y = Loop <body = l (int64 i, bool p, float[5] v) => (bool q, float[5] "
        "w) "
        "{ q = Identity (p) w = Nothing (v) }> (n, c, x) }",
    ),
    "zero-size-input": (17, "(float[0,2] x) => (y) { y = Relu (x) }"),
    "unsorted-output": (17, "(float[2] x) => (y, z) { y = Relu (z) z = Relu (x) }"),
    "SplitToSequence.output": (17, "(float[4,6] x) => (seq(float[]) y) { y = SplitToSequence <axis = 1> (x) }"),
    "SplitToSequence.flat-output": (
        17,
        "(float[4,6] x) => (seq(float[]) y) { y = SplitToSequence <axis = 1, keepdims = 0> (x) }",
    ),
    "SplitToSequence.sized-output": (
        17,
        "(float[4,6] x) => (seq(float[]) y) <int64[2] s = {3, 3}> { y = SplitToSequence <axis = 1> (x, s) }",
    ),
    "If.sequence-output": (
        17,
        "(float[2] x, bool c) => (seq(float[2]) y) { y = If <then_branch = t () => (seq(float[2]) a) "
        "{ a = SequenceConstruct (x) }, else_branch = e () => (seq(float[2]) b) { "
        "b = SequenceConstruct (x, x) }> (c) }",
    ),
    "undefined-output": (17, "(float[2] x) => (y) { z = Relu (x) }"),
    "sequence-output": (17, "(float[2,3] x) => (seq(float[2,3]) y) { y = SequenceConstruct (x) }"),
    "If.refused": (
        17,
        "(float[5] x, bool c) => (y) { y = If <then_branch = t () => (a) { k = Shape (x) a = Add (x, k) }, "
        "else_branch = e () => (b) { b = Identity (x) }> (c) }",
    ),
    "Loop.refused": (
        17,
        "(float[5] x, int64 n, bool c) => (y) { y = Loop <body = l (int64 i, bool p, float[5] v) => (bool q, float[5] "
        "w) "
        "{ q = Identity (p) k = Shape (x) w = Add (x, k) }> (n, c, x) }",
    ),
    "Scan.refused": (
        17,
        "(float[2] i, float[3,2] x) => (float[2] o, y) { o, y = Scan <num_scan_inputs = 1, "
        "body = b (float[2] a, float[2] e) => (float[2] c, float[2] d) { k = Shape (e) c = Identity (a) d = Add (e, k) "
        "}> (i, x) }",
    ),
    **{
        f"{op}.{name}": (14, f"(float[2] x) => (y) {{ y = {op} <dtype = {NUMBERED_TYPES.index(name) + 1}> (x) }}")
        for op in DRAWING
        for name in DRAWN
    },
    "Split.more": (18, "(float[4] x) => (a, b, c, d, e) { a, b, c, d, e = Split <num_outputs = 5> (x) }"),
    "Pad.computed-axes": (
        18,
        "(float[2,3,4] x) => (y) <int64[2] p = {1, 1}, int64 o = {0}, float v = {0}, int64[1] a = {1}> "
        "{ q = Add (p, o) y = Pad (x, q, v, a) }",
    ),
    "GroupNormalization.channels": (
        21,
        "(float[1,4,2,2] x, float[4] s, float[4] b) => (y) { y = GroupNormalization <num_groups = 2> (x, s, b) }",
    ),
    "GroupNormalization.channels-early": (
        18,
        "(float[1,4,2,2] x, float[4] s, float[4] b) => (y) { y = GroupNormalization <num_groups = 2> (x, s, b) }",
    ),
    "Split.uneven": (18, "(float[5] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }"),
    "ReverseSequence.batch-axis": (
        10,
        "(float[2,2,2] x, int64[2] n) => (y) { y = ReverseSequence <batch_axis = 2, time_axis = 0> (x, n) }",
    ),
    "ReverseSequence.time-axis": (
        10,
        "(float[2,2,2] x, int64[2] n) => (y) { y = ReverseSequence <batch_axis = 0, time_axis = 2> (x, n) }",
    ),
    "ReverseSequence.one-axis": (
        10,
        "(float[2,2,2] x, int64[2] n) => (y) { y = ReverseSequence <batch_axis = 1, time_axis = 1> (x, n) }",
    ),
    "Einsum.scalar": (12, '(float x) => (y) { y = Einsum <equation = "->"> (x) }'),
    "Reshape.empty-shape": (14, "(float[1,1] x) => (y) <int64[0] s = {}> { y = Reshape (x, s) }"),
    "Scan.sequence-lengths": (
        8,
        "(int64[1] n, float[1,2] i, float[1,3,2] x) => (o, y) { o, y = Scan <num_scan_inputs = 1, "
        "body = b (float[2] a, float[2] e) => (float[2] c, float[2] d) { c = Add "
        "(a, e) d = Identity (e) }> (n, i, x) }",
    ),
    "Col2Im.volume": (
        18,
        "(float[1,10,12] x) => (y) <int64[3] s = {3, 4, 5}, int64[3] b = {1, 1, 5}> { y = Col2Im (x, s, b) }",
    ),
    "Resize.one-input": (13, "(float[1,1,4,4] x, float[8] r) => (y) { y = Resize (x, r) }"),
    "DequantizeLinear.blocked": (
        21,
        "(uint8[4,2] x, float[2,2] s) => (y) { y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }",
    ),
    "QuantizeLinear.blocked": (
        21,
        "(float[4,2] x, float[2,2] s, uint8[2,2] z) => (y) { y = QuantizeLinear <axis = 0, block_size = 2> (x, s, z) }",
    ),
}


def models() -> Iterator[tuple[str, Any]]:
    """Models by the element type, and by the form of an operator, that they have."""
    for number, name in enumerate(NUMBERED_TYPES, 1):
        x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in "xy")
        z = helper.make_tensor_value_info("z", number, [2])
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x, z], [y])
        yield f"onnx-type {name}", (saved(graph, {"": 17}), b"")
    for name, (opset, text) in FORMS.items():
        more = ', "com.microsoft" : 1' if "com.microsoft" in text else ""
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}{more}]> g {text}')
        yield f"onnx-form {name}", (bytes(model.SerializeToString()), b"")
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[2] x) => (float[2] y) { y = f.Twice (x) }
<domain: "f", opset_import: ["" : 17]> Twice (a) => (b) { b = Add (a, a) }"""
    yield "onnx-form local-function", (bytes(onnx.parser.parse_model(text).SerializeToString()), b"")


def saved(graph: onnx.GraphProto, opsets: dict[str, int | None], ir_version: int = 8) -> bytes:
    """A graph as a model."""
    imports = [helper.make_opsetid(name, version) for name, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = ir_version
    return bytes(model.SerializeToString())
