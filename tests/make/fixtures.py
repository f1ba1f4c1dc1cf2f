"""Writes ``fixtures/``: run it (``python tests/make/fixtures.py``) after changing a rule.

``bad`` holds one model for each rule, named after it, that breaks this rule and no other; ``good`` its sound twin, and
some larger sound models.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from irlint.findings.faults import Rule
from irlint.policy.rulebook import every_rule

SCREEN = "fixtures/onnx/bad/IRL201-behind-a-convolution.onnx"
ROOT = Path(__file__).resolve().parents[2] / "fixtures"

#: Rules whose examples cannot be written as one small text: files that are cut, missing or of another kind.
LFS_POINTER = b"""version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 1288490188
"""


def is_folder(text: str) -> bool:
    """Whether a rule's example consists of several files."""
    return text.lstrip().startswith("-- ")


def files(text: str) -> dict[str, bytes]:
    """The files of an example, by their paths: each stands behind a line ``-- PATH --``."""
    parts = re.split(r"^-- (\S+) --\n", text.strip() + "\n", flags=re.M)[1:]
    return {
        path: example(part)[1] if path.endswith(".onnx") else part.encode()
        for path, part in zip(parts[::2], parts[1::2])
    }


def example(text: str) -> tuple[str, bytes]:
    """The format of a rule's example, and the bytes of its model."""
    text = text.strip()
    if text.startswith("<ir_version"):
        return "onnx", onnx_text(text).SerializeToString(deterministic=True)
    return "openvino" if text.startswith(("<?xml", "<net")) else "onnx", text.encode() + b"\n"


def onnx_text(text: str) -> onnx.ModelProto:
    """A model in ONNX's text syntax."""
    return onnx.parser.parse_model(text)


def from_rules() -> Iterator[tuple[str, bytes]]:
    """The examples of every rule that has them, by their paths under ``fixtures``."""
    for rule in every_rule():
        for kind, text in (("bad", rule.bad), ("good", rule.good)):
            if is_folder(text):
                yield from ((f"folders/{kind}/{name(rule)}/{path}", data) for path, data in files(text).items())
            elif text:
                form, data = example(text)
                stem = f"{form}/{kind}/{name(rule)}"
                yield f"{stem}.{'onnx' if form == 'onnx' else 'xml'}", data
                if form == "openvino" and (weights := zeros(text)):
                    yield f"{stem}.bin", weights


def zeros(text: str) -> bytes:
    """The weights of an IR example: as many zeros as its constants need."""
    ends = [int(a) + int(b) for a, b in re.findall(r'offset="(\d+)" size="(\d+)"', text)]
    return bytes(max(ends, default=0))


def name(rule: Rule) -> str:
    """``IRL201-broadcast-mismatch``."""
    return f"{rule.code}-{rule.name}"


def attention_block() -> onnx.ModelProto:
    """Self-attention with `batch` and `seq` symbolic: Shape, Gather, Unsqueeze, Concat and Reshape between MatMuls."""
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array(rng.random((16, 16), np.float32), f"w{name}") for name in "qkvo"]
    numbers = {"zero": 0, "heads": 4, "size": 4, "hidden": 16}
    constants = [numpy_helper.from_array(np.array([value], np.int64), name) for name, value in numbers.items()]
    constants += [numpy_helper.from_array(np.array(2.0, np.float32), "scale")]
    constants += [numpy_helper.from_array(np.array(value, np.int64), f"index{value}") for value in (0, 1)]
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "index0"], ["batch_"], axis=0),
        helper.make_node("Gather", ["shape", "index1"], ["seq_"], axis=0),
        helper.make_node("Unsqueeze", ["batch_", "zero"], ["batch1"]),
        helper.make_node("Unsqueeze", ["seq_", "zero"], ["seq1"]),
        helper.make_node("Concat", ["batch1", "seq1", "heads", "size"], ["split"], axis=0),
        helper.make_node("Concat", ["batch1", "seq1", "hidden"], ["joined"], axis=0),
    ]
    for head, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [
            helper.make_node("MatMul", ["x", f"w{head}"], [f"{head}_flat"]),
            helper.make_node("Reshape", [f"{head}_flat", "split"], [f"{head}_split"]),
            helper.make_node("Transpose", [f"{head}_split"], [head], perm=perm),
        ]
    nodes += [
        helper.make_node("MatMul", ["q", "k"], ["scores"]),
        helper.make_node("Div", ["scores", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "mask"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["back", "joined"], ["merged"]),
        helper.make_node("MatMul", ["merged", "wo"], ["projected"]),
        helper.make_node("Add", ["projected", "x"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", 16]),
        helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", 1, 1, "seq"]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "seq", 16])]
    return _model(helper.make_graph(nodes, "attention", inputs, outputs, [*weights, *constants]))


def small_detector() -> onnx.ModelProto:
    """Convolutions with stride 2, an upsampled branch and a Concat: sound where H and W are multiples of 4."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (8, 3, 3, 3), "w2": (16, 8, 3, 3), "w3": (8, 24, 1, 1), "b1": (8,), "b2": (16,), "b3": (8,)}
    weights = [numpy_helper.from_array(rng.random(shape, np.float32), name) for name, shape in shapes.items()]
    weights += [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")]
    nodes = [
        helper.make_node("Conv", ["images", "w1", "b1"], ["c1"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Resize", ["r2", "", "scales"], ["up"], mode="nearest"),
        helper.make_node("Concat", ["up", "r1"], ["joined"], axis=1),
        helper.make_node("Conv", ["joined", "w3", "b3"], ["heads"]),
    ]
    inputs = [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, "H", "W"])]
    outputs = [helper.make_tensor_value_info("heads", TensorProto.FLOAT, ["N", 8, None, None])]
    return _model(helper.make_graph(nodes, "detector", inputs, outputs, weights))


def behind_a_convolution() -> onnx.ModelProto:
    """An Add whose first input is 56 wide by the arithmetic of a Conv, and whose second one is declared 55 wide."""
    weights = numpy_helper.from_array(np.zeros((64, 3, 7, 7), np.float32), "w")
    conv = {"strides": [4, 4], "pads": [3, 3, 3, 3]}
    nodes = [
        helper.make_node("Conv", ["images", "w"], ["c"], name="/backbone/conv1/Conv", **conv),
        helper.make_node("Relu", ["c"], ["r"], name="/backbone/act/Relu"),
        helper.make_node("Add", ["r", "skip"], ["y"], name="/neck/Add_3"),
    ]
    inputs = [
        helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 224, 224]),
        helper.make_tensor_value_info("skip", TensorProto.FLOAT, [1, 64, 56, 55]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64, 56, 56])]
    return _model(helper.make_graph(nodes, "main_graph", inputs, outputs, [weights]))


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def larger() -> Iterator[tuple[str, bytes]]:
    """Sound models of more than one node, and files that cannot be read."""
    yield "onnx/good/attention-block.onnx", attention_block().SerializeToString(deterministic=True)
    yield "onnx/good/small-detector.onnx", small_detector().SerializeToString(deterministic=True)
    yield SCREEN.removeprefix("fixtures/"), behind_a_convolution().SerializeToString(deterministic=True)
    whole = small_detector().SerializeToString(deterministic=True)
    yield "onnx/bad/IRL003-truncated-file.onnx", whole[: len(whole) // 2]
    yield "onnx/bad/IRL002-lfs-pointer.onnx", LFS_POINTER
    yield "onnx/bad/IRL001-not-a-model.onnx", b"<!DOCTYPE html>\n<html><body>Sign in to continue</body></html>\n"


def models() -> dict[str, bytes]:
    """Every file under ``fixtures``, by its path there."""
    return {**dict(from_rules()), **dict(larger())}


def main() -> None:
    """Writes the files that differ, and removes those that no longer belong there."""
    wanted = models()
    for path, data in wanted.items():
        file = ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_bytes() != data:
            file.write_bytes(data)
            print(f"wrote fixtures/{path}")
    for file in ROOT.rglob("*"):
        if file.is_file() and file.relative_to(ROOT).as_posix() not in wanted:
            file.unlink()
            print(f"removed fixtures/{file.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    sys.exit(main())
