"""The peak memory of models of several families against what ONNX Runtime uses when it runs them."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest
from make.measuring.peaks import is_measurable, measured

import irlint

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not is_measurable(), reason="the system cannot reset the peak of a process"),
]

#: How far a peak may be from the measured one, as a part of it: the runtime also needs memory for itself.
TOLERANCE = 0.1


def ones(name: str, *dims: int) -> str:
    """A constant of ones."""
    count = 1
    for dim in dims:
        count *= dim
    return f"float[{','.join(map(str, dims))}] {name} = {{{','.join(['1.0'] * count)}}}"


IMAGE = "float[1,8,256,256] x"
C8, C16, UP = ones("w", 8, 8, 3, 3), ones("v", 8, 16, 1, 1), ones("u", 8, 8, 2, 2)
DEEP, WIDE = ones("d", 8, 1, 3, 3), ones("e", 32, 8, 1, 1)
CONV = "Conv <pads = [1,1,1,1]>"
GATES, STATES = ones("w", 1, 256, 32), ones("r", 1, 256, 64)

#: Models of several families: inputs, constants, and nodes.
MODELS = {
    "residual convolutions": (
        IMAGE,
        C8,
        f"a = {CONV} (x, w) b = Relu (a) c = {CONV} (b, w) d = Add (c, x) e = Relu (d) f = {CONV} (e, w) "
        "y = Add (f, e)",
    ),
    "dense connections": (
        IMAGE,
        f"{C8}, {C16}",
        f"a = {CONV} (x, w) b = Concat <axis = 1> (x, a) c = Relu (b) d = Conv (c, v) e = {CONV} (d, w) "
        "f = Concat <axis = 1> (d, e) y = Conv (f, v)",
    ),
    "encoder and decoder": (
        IMAGE,
        f"{C8}, {C16}, {UP}",
        f"a = {CONV} (x, w) b = Relu (a) p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (b) c = {CONV} (p, w) "
        "d = ConvTranspose <strides = [2,2]> (c, u) e = Concat <axis = 1> (b, d) y = Conv (e, v)",
    ),
    "transposed convolution last": (
        "float[1,8,128,128] x",
        UP,
        "a = Sigmoid (x) y = ConvTranspose <strides = [2,2]> (a, u)",
    ),
    "transposed convolution of two groups": (
        "float[2,8,128,128] x",
        UP,
        "a = Cos (x) b = ConvTranspose <strides = [2,2], group = 2> (a, u) y = ReduceMax <keepdims = 0> (b)",
    ),
    "inverted residuals with HardSwish": (
        IMAGE,
        f"{WIDE}, {ones('d', 32, 1, 3, 3)}, {ones('p', 8, 32, 1, 1)}",
        "a = Conv (x, e) b = HardSwish (a) c = Conv <group = 32, pads = [1,1,1,1]> (b, d) f = HardSwish (c) "
        "g = Conv (f, p) y = Add (g, x)",
    ),
    "a decomposed GELU": (
        "float[1,1024,512] x, float[512,512] m",
        "float h = {0.5}, float s = {1.41}, float o = {1.0}",
        "a = MatMul (x, m) b = Div (a, s) c = Erf (b) d = Add (c, o) e = Mul (a, d) f = Mul (e, h) y = MatMul (f, m)",
    ),
    "attention with a mask": (
        "float[1,4,384,64] q, bool[1,1,384,384] m",
        "float s = {0.125}, float n = {-10000.0}, float z = {0.0}",
        "k = Transpose <perm = [0,1,3,2]> (q) a = MatMul (q, k) b = Mul (a, s) c = Where (m, b, n) "
        "p = Softmax <axis = -1> (c) i = IsNaN (p) j = Where (i, z, p) y = MatMul (j, q)",
    ),
    "shuffled channels at the end": (
        "float[1,8,256,256] x",
        "int64[6] s = {1,2,2,2,256,256}, int64[4] t = {1,2,512,512}",
        "a = Tanh (x) b = Reshape (a, s) c = Transpose <perm = [0,1,4,2,5,3]> (b) y = Reshape (c, t)",
    ),
    "activations at the end": (IMAGE, C8, f"a = {CONV} (x, w) b = Relu (a) c = Sigmoid (b) y = Softmax <axis = 1> (c)"),
    "a pyramid": (
        IMAGE,
        f"{C8}, float[4] s = {{1.0,1.0,2.0,2.0}}",
        f"a = {CONV} (x, w) p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a) b = {CONV} (p, w) "
        f'u = Resize <mode = "nearest"> (b, , s) c = Add (u, a) d = {CONV} (c, w) y = Concat <axis = 1> (d, a)',
    ),
    "memory that a later value takes": (
        "float[1,64,128,128] x",
        f"{ones('v', 64, 64, 1, 1)}, {ones('e', 64, 80, 1, 1)}, {ones('f', 16, 64, 1, 1)}, {ones('d', 80, 1, 3, 3)}",
        "a = Conv (x, v) b = Conv (x, f) c = Concat <axis = 1> (a, b) d1 = Conv <group = 80, pads = [1,1,1,1]> (c, d) "
        "g = Conv (d1, e) y = ReduceMax <keepdims = 0> (g)",
    ),
    "a normalization by parts": (
        "float[1,2048,512] x",
        "float e = {0.00001}, float p = {2.0}",
        "m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) s = Pow (d, p) v = ReduceMean <axes = [-1]> (s) "
        "a = Add (v, e) r = Sqrt (a) y = Div (d, r)",
    ),
    "casts": (
        "float[1,1024,1024] x",
        "",
        "a = Cast <to = 10> (x) b = Cast <to = 1> (a) c = Cast <to = 6> (b) y = Neg (c)",
    ),
    "LSTM": (
        "float[512,16,32] x",
        f"{GATES}, {STATES}",
        "a = Cos (x) y, h, c = LSTM <hidden_size = 64> (a, w, r)",
    ),
    "LSTM in both directions": (
        "float[512,16,32] x",
        f"{ones('w', 2, 256, 32)}, {ones('r', 2, 256, 64)}",
        'a = Cos (x) y, h, c = LSTM <hidden_size = 64, direction = "bidirectional"> (a, w, r)',
    ),
    "GRU": (
        "float[512,16,32] x",
        f"{ones('w', 1, 192, 32)}, {ones('r', 1, 192, 64)}",
        "a = Cos (x) y, h = GRU <hidden_size = 64> (a, w, r)",
    ),
    "RNN": (
        "float[2048,16,32] x",
        f"{ones('w', 1, 64, 32)}, {ones('r', 1, 64, 64)}",
        "a = Cos (x) y, h = RNN <hidden_size = 64> (a, w, r)",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_peak_is_that_of_a_run(name: str) -> None:
    inputs, constants, nodes = MODELS[name]
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => (y) <{constants}> {{ {nodes} }}'
    text = text.replace("<> {", "{")
    model = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text))
    assert irlint.info(model)["peak_memory"] == pytest.approx(measured(model), rel=TOLERANCE)
