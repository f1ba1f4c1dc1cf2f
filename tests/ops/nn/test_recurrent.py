"""Recurrent operators and CTC against ONNX's node tests, what ONNX Runtime computes, and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from cases.models import Input, ir_document, onnx_model

from irlint.dims import symbol
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.parsers import onnx as onnx_parser

# --- ONNX -------------------------------------------------------------------------------------------------------------

LSTM: dict[str, Any] = {
    "x": (5, 3, 4), "w": (1, 40, 4), "r": (1, 40, 10), "b": (1, 80), "le"
        "ns": None, "h": (1, 3, 10), "c": (1, 3, 10), "p": (1, 30),
}  # fmt: skip
GRU = LSTM | {"w": (1, 30, 4), "r": (1, 30, 10), "b": (1, 60), "c": None, "p": None}
RNN = LSTM | {"w": (1, 10, 4), "r": (1, 10, 10), "b": (1, 20), "c": None, "p": None}


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


@pytest.mark.oracle
def test_onnx_runtime_wants_a_hidden_size() -> None:
    model = recurrent("LSTM", hidden_size=None)
    assert not runs(model)
    known = inferred(onnx_parser.read("model.onnx", model.SerializeToString()))
    assert [problem.fault.rule.code for problem in known.problems] == ["IRL378"]


def test_symbolic_sizes() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T,B,4] x, float[1,40,4] w, float[1,H,10] r, float[1,3,10] h) => (float[K,L,M,N] y) {
  y = LSTM <hidden_size = 10> (x, w, r, , , h) }"""
    built = onnx_parser.read("model.onnx", onnx.parser.parse_model(text).SerializeToString())
    known = inferred(built)
    assert not known.problems
    assert built.graph is not None
    assert known.types[built.graph.outputs[0]] == Tensor("float32", (symbol("T"), 1, 3, 10))
    assert [each.requirement.condition for each in known.requires] == ["B == 3", "H == 40"]


def test_an_empty_list_of_activations_is_the_default_but_for_rnn() -> None:
    for op, expected in (("LSTM", []), ("GRU", []), ("RNN", ["IRL377"])):
        model = recurrent(op)
        model.graph.node[0].attribute.add(name="activations", type=onnx.AttributeProto.STRINGS)
        known = inferred(onnx_parser.read("m.onnx", model.SerializeToString()))
        assert [problem.fault.rule.code for problem in known.problems] == expected, op


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


@pytest.mark.parametrize(("op", "half", "text"), [("LSTM", 40, "4*hidden_size"), ("GRU", 30, "3*hidden_size")])
def test_one_bias_of_two_is_named(op: str, half: int, text: str) -> None:
    content = recurrent(op, b=(1, half)).SerializeToString()
    (fault,) = [problem.fault for problem in inferred(onnx_parser.read("model.onnx", content)).problems]
    assert f"(B) is {half}, which is {text}; expected" in fault.message
    assert "zeros if each gate has only one bias" in fault.help
