"""Chains of operators that Qualcomm's provider is asked about: where float32 values that some operators compute reach
others, the compiler refuses the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import onnx
import onnx.parser

from .asked import ON_CPU

#: How an answer begins that the provider does not compile a model.
COMPILING = "EP_FAIL"

#: Operators in chains, with the sizes that they take there; each reads and gives float32 values.
CHAINED = {
    "Abs": "Abs ({x})", "Add": "Add ({x}, {r})", "Clip": "Clip ({x})", "Div": "Div ({x}, {s})", "Exp": "Exp ({x})",
    "HardSwish": "HardSwish ({x})", "LayerNormalization": "LayerNormalization ({x}, {v})", "Log": "Log ({x})",
    "MatMul": "MatMul ({x}, {m})", "Mul": "Mul ({x}, {s})", "Neg": "Neg ({x})", "Pow": "Pow ({x}, {s})",
    "Reciprocal": "Reciprocal ({x})", "ReduceMean": "ReduceMean <axes = [2]> ({x})", "Relu": "Relu ({x})",
    "Sigmoid": "Sigmoid ({x})", "Softmax": "Softmax ({x})", "Sqrt": "Sqrt ({x})", "Sub": "Sub ({x}, {s})",
    "Tanh": "Tanh ({x})", "Transpose": "Transpose <perm = [0, 2, 1]> ({x})", "Concat": "Concat <axis = 0> ({x}, {x})",
    "Conv": "Conv <pads = [1, 1, 1, 1]> ({x}, {k})", "MaxPool": "MaxPool <kernel_shape = [2, 2]> ({x})",
    "Gemm": "Gemm ({x}, {m}, {v})", "AveragePool": "AveragePool <kernel_shape = [2, 2]> ({x})",
    "ConvTranspose": "ConvTranspose ({x}, {k})", "GlobalAveragePool": "GlobalAveragePool ({x})",
    "Erf": "Erf ({x})", "Sin": "Sin ({x})", "Cos": "Cos ({x})", "Max": "Max ({x}, {s})", "Min": "Min ({x}, {s})",
    "Reshape": "Reshape ({x}, {t})", "Slice": "Slice ({x}, {i}, {j})", "ReduceSum": "ReduceSum ({x})",
    "ReduceMax": "ReduceMax ({x})", "InstanceNormalization": "InstanceNormalization ({x}, {v}, {v})",
    "BatchNormalization": "BatchNormalization ({x}, {v}, {v}, {v}, {v})", "Elu": "Elu ({x})",
    "LeakyRelu": "LeakyRelu ({x})", "HardSigmoid": "HardSigmoid ({x})", "Pad": "Pad ({x}, {p})",
    "DepthToSpace": "DepthToSpace <blocksize = 2> ({x})", "LogSoftmax": "LogSoftmax ({x})",
    "LpNormalization": "LpNormalization ({x})", "PRelu": "PRelu ({x}, {s})", "Squeeze": "Squeeze ({x})",
    "Expand": "Expand ({x}, {t})", "Tile": "Tile ({x}, {o})", "Unsqueeze": "Unsqueeze ({x}, {i})",
}  # fmt: skip

#: The shape of the input in chains where an operator does not take that of the others.
SHAPES = dict.fromkeys(
    ("Conv", "MaxPool", "AveragePool", "ConvTranspose", "GlobalAveragePool", "DepthToSpace", "InstanceNormalization",
     "BatchNormalization"), (1, 8, 8, 8)) | {"Gemm": (8, 8)}  # fmt: skip
SHAPE = (2, 8, 8)

#: An operator that starts a flow of float32 values, and one that refuses them, where there are any.
STARTS, ENDS = "Sub", "Mul"


def of_text(opset: int, graph: str) -> bytes:
    """The model of a graph in ONNX's text syntax."""
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}'
    return bytes(onnx.parser.parse_model(text).SerializeToString())


def _chain(shape: Sequence[int], *ops: str) -> bytes:
    """A model of operators behind each other."""
    numbers = ", ".join(["0.1"] * 8)
    constants = {
        "s": "float {n} = {{0.3}}",
        "r": "float {n} = {{0.7}}",
        "v": f"float[8] {{n}} = {{{{{numbers}}}}}",
        "m": f"float[8,8] {{n}} = {{{{{', '.join([numbers] * 8)}}}}}",
        "k": f"float[8,8,3,3] {{n}} = {{{{{', '.join([numbers] * 72)}}}}}",
        "t": f"int64[{len(shape)}] {{n}} = {{{{{', '.join(map(str, shape))}}}}}",
        "o": f"int64[{len(shape)}] {{n}} = {{{{{', '.join(['1'] * len(shape))}}}}}",
        "p": f"int64[{2 * len(shape)}] {{n}} = {{{{{', '.join(['0'] * 2 * len(shape))}}}}}",
        "i": "int64[1] {n} = {{0}}",
        "j": "int64[1] {n} = {{1}}",
    }
    given, body = [], []
    for at, op in enumerate(ops):
        call = CHAINED[op].replace("{x}", f"x{at}")
        for name, text in constants.items():
            if f"{{{name}}}" in call:
                given.append(text.format(n=f"{name}{at}"))
                call = call.replace(f"{{{name}}}", f"{name}{at}")
        body.append(f"x{at + 1} = {call}")
    types = f"(float[{','.join(map(str, shape))}] x0) => (float[{','.join('N' * len(shape))}] x{len(ops)})"
    model = onnx.ModelProto.FromString(of_text(17, f"{types} <{', '.join(given)}> {{ {' '.join(body)} }}"))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return bytes(onnx.shape_inference.infer_shapes(model, strict_mode=True).SerializeToString())


@cache
def models() -> dict[str, bytes]:
    """Chains by what they ask: whether an operator starts a flow of float32 values, stops it, or refuses it."""
    found = {}
    for op in CHAINED:
        shape = SHAPES.get(op, SHAPE)
        for key, ops in {
            "alone": (op,),
            "starts": (op, ENDS),
            "ends": (STARTS, op),
            "stops": (STARTS, op, ENDS),
        }.items():
            try:
                found[f"chain {key} {op}"] = _chain(shape, *ops)
            except (onnx.shape_inference.InferenceError, onnx.parser.ParseError):
                continue
    return found


def facts(answers: dict[str, str]) -> Iterator[str]:
    """The rows about the flow of float32 values."""
    refused = {key for key in models() if COMPILING in answers[key]}
    left = {key for key in models() if answers[key].startswith(ON_CPU)}
    sound = [op for op in CHAINED if not {f"chain alone {op}"} & (refused | left)]
    starts = [op for op in sound if f"chain starts {op}" in refused and op != ENDS]
    yield from (f"starts :{op}" for op in starts)
    yield from (
        f"stops :{op}"
        for op in sound
        if f"chain stops {op}" in models() and not {f"chain stops {op}"} & (refused | left)
    )
    yield from (f"refuses :{op} from {','.join(starts)}" for op in sound if f"chain ends {op}" in refused and starts)
