"""Recurrent operators and CTC against ONNX's node tests, what ONNX Runtime computes, and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from cases.models import Input, ir_document, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_ir, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.parsers import onnx as onnx_parser


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", node_cases("RNN", "GRU", "LSTM"), ids=lambda case: case.name)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


# --- ONNX -------------------------------------------------------------------------------------------------------------

LSTM: dict[str, Any] = {
    "x": (5, 3, 4), "w": (1, 40, 4), "r": (1, 40, 10), "b": (1, 80), "lens": None, "h": (1, 3, 10), "c": (1, 3, 10), "p": (1, 30),
}  # fmt: skip
GRU = LSTM | {"w": (1, 30, 4), "r": (1, 30, 10), "b": (1, 60), "c": None, "p": None}
RNN = LSTM | {"w": (1, 10, 4), "r": (1, 10, 10), "b": (1, 20), "c": None, "p": None}
BOTH = {"h": (2, 3, 10), "c": (2, 3, 10), "p": (2, 30), "direction": "bidirectional"}
S = "Sigmoid"


def recurrent(op: str, opset: int = 14, **changes: Any) -> onnx.ModelProto:
    plain = {"LSTM": LSTM, "GRU": GRU, "RNN": RNN}[op]
    given = plain | {name: value for name, value in changes.items() if name in plain}
    attributes = {"hidden_size": 10} | {name: value for name, value in changes.items() if name not in plain}
    attributes = {name: value for name, value in attributes.items() if value is not None}
    inputs: list[Any] = [
        None if given[name] is None else Input("float32", *given[name]) for name in ("x", "w", "r", "b")
    ]
    lens = given["lens"]
    inputs += [np.array(lens, np.int32) if isinstance(lens, list) else None if lens is None else Input("int32", *lens)]
    inputs += [None if given[name] is None else Input("float32", *given[name]) for name in ("h", "c", "p")]
    if op != "LSTM":
        inputs = inputs[:6]
    return onnx_model(op, inputs, attributes, opset, outputs=3 if op == "LSTM" else 2)


def runs(model: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime loads the model and computes it for zeros."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        kinds = {"tensor(float)": np.float32, "tensor(int32)": np.int32}
        session.run(None, {i.name: np.zeros(i.shape, kinds[i.type]) for i in session.get_inputs()})
    except Exception:
        return False
    return True


@pytest.mark.parametrize(
    ("op", "changes", "code"),
    [
        ("LSTM", {}, None),
        ("LSTM", {"lens": [5, 5, 0]}, None),
        ("LSTM", {"x": (0, 3, 4)}, None),
        ("LSTM", {"activations": ["sigmoid", "tAnh", "TANH"]}, None),
        ("LSTM", {"activations": ["LeakyRelu", "Tanh", "Tanh"], "activation_alpha": [0.1]}, None),
        ("LSTM", {"activations": [S, "Tanh", "Tanh"] * 2, "w": (2, 40, 4), "r": (2, 40, 10), "b": (2, 80), **BOTH}, None),
        ("LSTM", {"b": None, "h": None, "c": None, "p": None}, None),
        ("LSTM", {"hidden_size": 11}, "IRL375"),
        ("LSTM", {"hidden_size": 0}, "IRL510"),
        ("LSTM", {"w": (1, 40, 5)}, "IRL375"),
        ("LSTM", {"w": (1, 30, 4)}, "IRL375"),
        ("LSTM", {"w": (2, 40, 4)}, "IRL375"),
        ("LSTM", {"r": (1, 40, 11)}, "IRL375"),
        ("LSTM", {"b": (1, 40)}, "IRL375"),
        ("LSTM", {"p": (1, 40)}, "IRL375"),
        ("LSTM", {"direction": "bidirectional"}, "IRL375"),
        ("LSTM", {"x": (5, 3)}, "IRL376"),
        ("LSTM", {"h": (1, 4, 10)}, "IRL376"),
        ("LSTM", {"h": (1, 3, 11)}, "IRL376"),
        ("LSTM", {"h": (2, 3, 10)}, "IRL376"),
        ("LSTM", {"c": (1, 4, 10)}, "IRL376"),
        ("LSTM", {"lens": [5, 5]}, "IRL376"),
        ("LSTM", {"lens": [5, 5, 6]}, "IRL376"),
        ("LSTM", {"lens": [5, 5, -1]}, "IRL376"),
        ("LSTM", {"lens": (1, 3)}, "IRL376"),
        ("LSTM", {"direction": "sideways"}, "IRL506"),
        ("LSTM", {"activations": [S, "Tanh"]}, "IRL377"),
        ("LSTM", {"activations": [S, "Tanh", "Tanh", "Tanh"]}, "IRL377"),
        ("LSTM", {"activations": [S, "Tanh", "Foo"]}, "IRL377"),
        ("LSTM", {"activations": [S, "Tanh", "Tanh"], "w": (2, 40, 4), "r": (2, 40, 10), "b": (2, 80), **BOTH}, "IRL377"),
        ("LSTM", {"clip": -1.0}, "IRL510"),
        ("LSTM", {"layout": 2}, "IRL510"),
        ("RNN", {}, None),
        ("RNN", {"activations": ["Tanh", "Tanh"]}, None),
        ("RNN", {"activations": ["Tanh"] * 3}, "IRL377"),
        ("RNN", {"b": (1, 10)}, "IRL375"),
        ("RNN", {"activations": ["Tanh"], "w": (2, 10, 4), "r": (2, 10, 10), "b": (2, 20), "h": (2, 3, 10), "direction": "bidirectional"}, "IRL377"),
        ("GRU", {}, None),
        ("GRU", {"opset": 7, "linear_before_reset": 1}, None),
        ("GRU", {"b": (1, 70)}, "IRL375"),
        ("GRU", {"activations": [S, "Tanh"], "w": (2, 30, 4), "r": (2, 30, 10), "b": (2, 60), "h": (2, 3, 10), "direction": "bidirectional"}, "IRL377"),
    ],
)  # fmt: skip
def test_onnx(op: str, changes: dict[str, Any], code: str | None) -> None:
    model = recurrent(op, **changes)
    ours = irlint_on_onnx(model)
    assert runs(model) == (code is None)
    assert (ours[:6] if isinstance(ours, str) else None) == code, ours


def test_onnx_runtime_wants_a_hidden_size() -> None:
    model = recurrent("LSTM", hidden_size=None)
    assert not runs(model)
    known = inferred(onnx_parser.read("model.onnx", model.SerializeToString()))
    assert [problem.fault.rule.code for problem in known.problems] == ["IRL378"]


@pytest.mark.parametrize("opset", [1, 7, 14, 22])
def test_every_version(opset: int) -> None:
    shapes = [(5, 1, 3, 10), (1, 3, 10), (1, 3, 10)]
    assert [shape for _, shape in irlint_on_onnx(recurrent("LSTM", opset))] == shapes
    assert [shape for _, shape in irlint_on_onnx(recurrent("GRU", max(opset, 3)))] == shapes[:2]
    assert [shape for _, shape in irlint_on_onnx(recurrent("RNN", opset))] == shapes[:2]


def test_symbolic_sizes() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T,B,4] x, float[1,40,4] w, float[1,H,10] r, float[1,3,10] h) => (float[K,L,M,N] y) {
  y = LSTM <hidden_size = 10> (x, w, r, , , h) }"""
    built = onnx_parser.read("model.onnx", onnx.parser.parse_model(text).SerializeToString())
    known = inferred(built)
    assert not known.problems
    assert built.graph is not None
    assert known.types[built.graph.outputs[0]] == Tensor("float32", (symbol("T"), 1, 3, 10))
    assert [requirement.condition for _, _, requirement in known.requires] == ["B == 3", "H == 40"]


def test_dynamic_quantize_lstm() -> None:
    weights = [Input("uint8", 1, 4, 40), Input("uint8", 1, 10, 40)]
    scales = [Input("float32", 1), Input("uint8", 1), Input("float32", 1), Input("uint8", 1)]
    inputs = [Input("float32", 5, 3, 4), *weights, Input("float32", 1, 80), None, None, None, None, *scales]
    model = onnx_model("DynamicQuantizeLSTM", inputs, {"hidden_size": 10}, domain="com.microsoft", outputs=3)
    assert irlint_on_onnx(model) == [("float32", (5, 1, 3, 10)), ("float32", (1, 3, 10)), ("float32", (1, 3, 10))]
    inputs[1] = Input("uint8", 1, 40, 4)
    model = onnx_model("DynamicQuantizeLSTM", inputs, {"hidden_size": 10}, domain="com.microsoft", outputs=3)
    assert str(irlint_on_onnx(model)).startswith("IRL375")


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

ANY = "any"
CELL = {"x": (2, 4), "h": (2, 10), "c": (2, 10), "w": (40, 4), "r": (40, 10), "b": (40,)}
GRU_CELL = {"x": (2, 4), "h": (2, 10), "w": (30, 4), "r": (30, 10), "b": (30,)}
RNN_CELL = {"x": (2, 4), "h": (2, 10), "w": (10, 4), "r": (10, 10), "b": (10,)}
SEQUENCE = {
    "x": (2, 5, 4), "h": (2, 1, 10), "c": (2, 1, 10), "lens": (2,), "w": (1, 40, 4), "r": (1, 40, 10), "b": (1, 40),
}  # fmt: skip
GRU_SEQUENCE = {"x": (2, 5, 4), "h": (2, 1, 10), "lens": (2,), "w": (1, 30, 4), "r": (1, 30, 10), "b": (1, 30)}
RNN_SEQUENCE = {"x": (2, 5, 4), "h": (2, 1, 10), "lens": (2,), "w": (1, 10, 4), "r": (1, 10, 10), "b": (1, 10)}
GREEDY = {"data": (20, 8, 128), "mask": (20, 8)}
SEQ_LEN = {"data": (8, 20, 128), "lens": (8,), "blank": ()}
LOSS = {"logits": (8, 20, 128), "lens": (8,), "labels": (8, 20), "label_lens": (8,), "blank": ()}
INTEGERS = {"lens", "labels", "label_lens", "blank"}
TWO_WAYS = {"h": (2, 2, 10), "c": (2, 2, 10), "w": (2, 40, 4), "r": (2, 40, 10), "b": (2, 40)}

KINDS: dict[str, tuple[str, dict[str, Any], dict[str, Any], int]] = {
    "LSTMCell": ("opset4", CELL, {"hidden_size": 10}, 2),
    "GRUCell": ("opset3", GRU_CELL, {"hidden_size": 10}, 1),
    "RNNCell": ("opset1", RNN_CELL, {"hidden_size": 10}, 1),
    "LSTMSequence": ("opset5", SEQUENCE, {"hidden_size": 10, "direction": "forward"}, 3),
    "GRUSequence": ("opset5", GRU_SEQUENCE, {"hidden_size": 10, "direction": "forward"}, 2),
    "RNNSequence": ("opset5", RNN_SEQUENCE, {"hidden_size": 10, "direction": "forward"}, 2),
    "CTCGreedyDecoder": ("opset1", GREEDY, {}, 1),
    "CTCGreedyDecoderSeqLen": ("opset6", SEQ_LEN, {}, 2),
    "CTCLoss": ("opset4", LOSS, {}, 1),
}


def layer(op: str, changes: dict[str, Any]) -> tuple[str, list[Any], dict[str, Any], int]:
    """Version, inputs, attributes and outputs of a layer; ``NAME_type`` is the element type of an input."""
    version, inputs, attributes, outputs = KINDS[op]
    extra = [name for name in changes if name == "p"]
    given = []
    for name in (*inputs, *extra):
        dims = changes.get(name, inputs.get(name))
        kind = changes.get(f"{name}_type", "int32" if name in INTEGERS else "float32")
        if dims is not None:
            given.append(Input.any_rank(kind) if dims == ANY else Input(kind, *dims))
    rest = {
        n: v
        for n, v in changes.items()
        if n not in inputs and n not in (*extra, "version") and not n.endswith("_input") and n[:-5] not in inputs
    }
    attributes = {name: value for name, value in (attributes | rest).items() if value is not None}
    return changes.get("version", version), given, attributes, outputs


@pytest.mark.parametrize(
    ("op", "changes"),
    [
        ("LSTMCell", {}),
        ("LSTMCell", {"b": None}),
        ("LSTMCell", {"hidden_size": 11}),
        ("LSTMCell", {"hidden_size": None}),
        ("LSTMCell", {"x": (2, 4, 1)}),
        ("LSTMCell", {"x": ANY}),
        ("LSTMCell", {"h": ANY}),
        ("LSTMCell", {"w": ANY}),
        ("LSTMCell", {"r": ANY}),
        ("LSTMCell", {"x": (None, None), "h": (None, None), "c": (None, None), "w": (None, None), "r": (None, None), "b": (None,)}),
        ("LSTMCell", {"x": (None, 4), "c": (None, None)}),
        ("LSTMCell", {"h": (3, 10)}),
        ("LSTMCell", {"h": (2, 11)}),
        ("LSTMCell", {"c": (2, 11)}),
        ("LSTMCell", {"w": (30, 4)}),
        ("LSTMCell", {"r": (40, 11)}),
        ("LSTMCell", {"b": (80,)}),
        ("LSTMCell", {"x_type": "float16"}),
        ("LSTMCell", {"activations": "sigmoid,tanh"}),
        ("LSTMCell", {"activations": "sigmoid,tanh,tanh,tanh"}),
        ("LSTMCell", {"activations": "sigmoid,tanh,foo"}),
        ("LSTMCell", {"activations": "Sigmoid,RELU,hardsigmoid"}),
        ("LSTMCell", {"activations": "sigmoid,elu,tanh"}),
        ("LSTMCell", {"clip": -1.0}),
        ("LSTMCell", {"activations_alpha": "1.0,2.0"}),
        ("LSTMCell", {"p": (30,)}),
        ("LSTMCell", {"version": "opset1"}),
        ("LSTMCell", {"version": "opset1", "b": None}),
        ("LSTMCell", {"version": "opset1", "p": (30,)}),
        ("LSTMCell", {"version": "opset1", "p": (31,)}),
        ("LSTMCell", {"version": "opset1", "weights_format": "fico"}),
        ("LSTMCell", {"version": "opset1", "weights_format": "abcd"}),
        ("LSTMCell", {"version": "opset1", "input_forget": True}),
        ("GRUCell", {}),
        ("GRUCell", {"b": None}),
        ("GRUCell", {"b": (40,), "linear_before_reset": True}),
        ("GRUCell", {"linear_before_reset": True}),
        ("GRUCell", {"b": (40,)}),
        ("GRUCell", {"w": (31, 4)}),
        ("GRUCell", {"hidden_size": 3}),
        ("GRUCell", {"x": ANY}),
        ("RNNCell", {}),
        ("RNNCell", {"b": None}),
        ("RNNCell", {"w": (11, 4)}),
        ("RNNCell", {"version": "opset2"}),
        ("RNNCell", {"activations": ""}),
        ("LSTMSequence", {}),
        ("LSTMSequence", {"x": (None, None, 4), "lens": (None,)}),
        ("LSTMSequence", {"x": ANY}),
        ("LSTMSequence", {"b": None}),
        ("LSTMSequence", {"direction": "bidirectional", **TWO_WAYS}),
        ("LSTMSequence", {"direction": "bidirectional"}),
        ("LSTMSequence", {"direction": "REVERSE"}),
        ("LSTMSequence", {"direction": "sideways"}),
        ("LSTMSequence", {"direction": None}),
        ("LSTMSequence", {"lens": (3,)}),
        ("LSTMSequence", {"lens": (2, 1)}),
        ("LSTMSequence", {"lens_type": "float32"}),
        ("LSTMSequence", {"r": (1, 40, 9)}),
        ("LSTMSequence", {"b": (1, 80)}),
        ("LSTMSequence", {"h": (2, 2, 10)}),
        ("LSTMSequence", {"w": (2, 40, 4)}),
        ("LSTMSequence", {"c": (3, 1, 10)}),
        ("LSTMSequence", {"hidden_size": 11}),
        ("LSTMSequence", {"activations": "sigmoid,tanh"}),
        ("LSTMSequence", {"x": (None, 5, None)}),
        ("GRUSequence", {}),
        ("GRUSequence", {"b": (1, 40)}),
        ("GRUSequence", {"b": (1, 40), "linear_before_reset": True}),
        ("GRUSequence", {"linear_before_reset": True}),
        ("GRUSequence", {"hidden_size": 7}),
        ("RNNSequence", {}),
        ("RNNSequence", {"b": (1, 20)}),
        ("RNNSequence", {"hidden_size": 7}),
        ("CTCGreedyDecoder", {}),
        ("CTCGreedyDecoder", {"ctc_merge_repeated": "true"}),
        ("CTCGreedyDecoder", {"mask": (21, 8)}),
        ("CTCGreedyDecoder", {"mask": (20, 9)}),
        ("CTCGreedyDecoder", {"data": (20, 8)}),
        ("CTCGreedyDecoder", {"mask": (20, 8, 1)}),
        ("CTCGreedyDecoder", {"data": (None, None, 128)}),
        ("CTCGreedyDecoder", {"data": ANY}),
        ("CTCGreedyDecoder", {"data": (None, 8, 1), "mask": ANY}),
        ("CTCGreedyDecoder", {"data": ANY, "mask": ANY}),
        ("CTCGreedyDecoder", {"data_type": "float16"}),
        ("CTCGreedyDecoderSeqLen", {}),
        ("CTCGreedyDecoderSeqLen", {"blank": None}),
        ("CTCGreedyDecoderSeqLen", {"lens": (9,)}),
        ("CTCGreedyDecoderSeqLen", {"data": (8, 20)}),
        ("CTCGreedyDecoderSeqLen", {"lens": (8, 1)}),
        ("CTCGreedyDecoderSeqLen", {"blank": (1,)}),
        ("CTCGreedyDecoderSeqLen", {"blank": (2,)}),
        ("CTCGreedyDecoderSeqLen", {"blank": (1, 1)}),
        ("CTCGreedyDecoderSeqLen", {"blank_type": "float32"}),
        ("CTCGreedyDecoderSeqLen", {"classes_index_type": "i64", "sequence_length_type": "i64"}),
        ("CTCGreedyDecoderSeqLen", {"data": ANY}),
        ("CTCGreedyDecoderSeqLen", {"data": (None, 20, 128), "lens": ANY}),
        ("CTCGreedyDecoderSeqLen", {"data": (None, 20, 128)}),
        ("CTCLoss", {}),
        ("CTCLoss", {"blank": None}),
        ("CTCLoss", {"logits": (8, 20)}),
        ("CTCLoss", {"lens": (8, 1)}),
        ("CTCLoss", {"labels": (8,)}),
        ("CTCLoss", {"label_lens": (8, 1)}),
        ("CTCLoss", {"blank": (1,)}),
        ("CTCLoss", {"lens": (9,)}),
        ("CTCLoss", {"labels": (9, 20)}),
        ("CTCLoss", {"labels": (8, 21)}),
        ("CTCLoss", {"label_lens": (9,)}),
        ("CTCLoss", {"logits_type": "int32"}),
        ("CTCLoss", {"lens_type": "float32"}),
        ("CTCLoss", {"blank_type": "float32"}),
        ("CTCLoss", {"logits": ANY, "lens": ANY, "label_lens": ANY}),
        ("CTCLoss", {"logits": ANY, "lens": ANY, "labels": ANY, "label_lens": ANY}),
        ("CTCLoss", {"preprocess_collapse_repeated": "true", "ctc_merge_repeated": "false", "unique": "true"}),
    ],
)  # fmt: skip
def test_openvino_says_the_same(op: str, changes: dict[str, Any]) -> None:
    version, inputs, attributes, outputs = layer(op, changes)
    assert_same_verdict(op, version, inputs, attributes, outputs)


@pytest.mark.parametrize(
    ("op", "changes"),
    [("LSTMCell", {"w": (40, 5)}), ("GRUCell", {"w": (30, 5)}), ("LSTMSequence", {"w": (1, 40, 5)}), ("RNNSequence", {"w": (1, 10, 5)})],
)  # fmt: skip
def test_openvino_compiles_no_weights_for_another_input(op: str, changes: dict[str, Any]) -> None:
    """The library reads such a layer and refuses to compile it, because the matrices cannot be multiplied."""
    version, inputs, attributes, outputs = layer(op, changes)
    assert str(irlint_on_ir(*ir_document(op, version, inputs, attributes, outputs))).startswith("IRL375")


@pytest.mark.parametrize(
    ("op", "changes", "codes"),
    [
        ("LSTMSequence", {}, ["IRL377"]),
        ("LSTMSequence", {"activations": "sigmoid,tanh,tanh"}, []),
        ("LSTMSequence", {"activations": "sigmoid,tanh,foo"}, ["IRL377"]),
        ("LSTMCell", {}, []),
        ("LSTMCell", {"hidden_size": 11}, ["IRL378"]),
        ("LSTMCell", {"hidden_size": None}, ["IRL504"]),
    ],
)
def test_what_openvino_passes_over(op: str, changes: dict[str, Any], codes: list[str], tmp_path: Any) -> None:
    from irlint.parsers import openvino as parser

    version, inputs, attributes, outputs = layer(op, changes)
    path = tmp_path / "model.xml"
    path.write_bytes(ir_document(op, version, inputs, attributes, outputs)[0])
    known = inferred(parser.read(path))
    assert [problem.fault.rule.code for problem in known.problems] == codes
