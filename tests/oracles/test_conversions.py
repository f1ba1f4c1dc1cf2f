"""An ONNX model and the IR that OpenVINO makes of it: whoever uses the one can use the other, or reads why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

import irlint

pytestmark = pytest.mark.oracle

GOOD = Path(__file__).resolve().parents[2] / "fixtures" / "onnx" / "good"

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
FREE = "g (float[batch,16,8] x) => (float[batch,128] y) <int64[2] s = {-1, 128}> { y = Reshape (x, s) }"


def converted(path: Path, folder: Path, shape: Any = None) -> Path:
    import openvino

    model = openvino.convert_model(path)
    if shape is not None:
        model.reshape(shape)
    target = folder / "m.xml"
    openvino.save_model(model, target, compress_to_fp16=True)
    return target


@pytest.mark.parametrize("name", ["small-detector.onnx", "attention-block.onnx", "IRL608-frozen-size.onnx"])
def test_the_ir_of_a_model_is_compatible(name: str, tmp_path: Path) -> None:
    made = converted(GOOD / name, tmp_path)
    for pair in ((GOOD / name, made), (made, GOOD / name)):
        found = irlint.diff(*pair)
        assert found["compatible"], found["changes"]
        assert found["changes"][-1]["kind"] == "operator-formats"


def test_what_a_conversion_freezes_is_breaking(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + FREE).SerializeToString())
    made = converted(path, tmp_path, [1, 16, 8])
    kinds = [(each["kind"], each["breaking"], each["name"]) for each in irlint.diff(path, made)["changes"]]
    assert kinds[0] == ("input-narrowed", True, "x")
    assert next(each["kind"] for each in irlint.diff(made, path)["changes"]) == "input-widened"
