"""Shapes that --shape or the configuration gives to inputs, where the file declares others."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from command.process import FIXTURES, run

import irlint

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"

ONNX = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,4,M] x) => (float[N,4,M] y) { y = Relu (x) }"""

IR = """<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2..8,4,?" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim><dim>-1</dim></port></output></layer>
<layer id="1" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""


def written(text: str, folder: Path) -> Path:
    path = folder / ("m.xml" if text.startswith("<net") else "m.onnx")
    path.write_bytes(
        text.encode() if text.startswith("<net") else onnx.parser.parse_model(text).SerializeToString()
    )  # fmt: skip
    return path


@pytest.mark.parametrize(
    ("text", "dims", "message"),
    [
        (ONNX, (2, 4, 3), ""),
        (ONNX, ("K", 4, None), ""),
        (ONNX, (None, "C", 3), ""),
        (ONNX, (2, 5, 3), "the shape [2, 5, 3], but the file declares [N, 4, M]: axis 1 is 5 against 4"),
        (ONNX, ("N", 4), "the shape [N, 4], but the file declares [N, 4, M]: it has 2 axes against 3"),
        (IR, (8, 4, 3), ""),
        (IR, ("N", 4, None), ""),
        (IR, (9, 4, 3), "the shape [9, 4, 3], but the file declares [2 to 8, 4, ?]: axis 0 is 9 against 2 to 8"),
        (IR, (1, 5, 3), "declares [2 to 8, 4, ?]: axis 0 is 1 against 2 to 8, axis 1 is 5 against 4"),
    ],
)
def test_given_against_declared(text: str, dims: tuple[int | str | None, ...], message: str, tmp_path: Path) -> None:
    path = written(text, tmp_path)
    found = [finding.message for finding in irlint.check(path, shapes={"x": dims}).findings]
    assert len(found) == bool(message)
    assert all(" gives the input 'x' the shape [" in each and each.endswith(message) for each in found)
    for asked in (irlint.shapes, irlint.contract, lambda *a, **b: irlint.why(*a, "x", **b)):
        assert asked(path, shapes={"x": dims}).get("notes", []) == found  # type: ignore[no-untyped-call]


def test_it_is_reported_first() -> None:
    report = irlint.check(FIXTURES / "onnx" / "bad" / "IRL118-interface-without-shape.onnx", shapes={"x": (5, 5, 5)})
    assert [finding.rule.code for finding in report.findings] == ["IRL604", "IRL118"]
    for command in (["contract"], ["shapes"], ["why"]):
        asked = [*command, DETECTOR, *["images"] * (command == ["why"]), "--shape", "images=1,3"]
        assert run(*asked).stdout.startswith("note: --shape gives the input 'images' the shape [1, 3], but ")


def test_it_is_reported_of_what_is_pasted() -> None:
    text = run("contract", DETECTOR, "--as", "trtexec", "--shape", "images=N,1,H,W").stdout
    assert text.startswith("# --shape gives the input 'images' the shape [N, 1, H, W], but the file declares ")


def test_it_is_shown_as_given() -> None:
    text = run(FIXTURES / "onnx" / "good" / "IRL201-broadcast-mismatch.onnx", "--shape", "b=32,1,1").stdout
    assert " in | g (float[1,64,56,56] x, float[32,1,1] b)" in text
    assert "`b` is given by --shape; declared: float[64,1,1]" in text
    assert "float   from --shape: graph input" in text
    assert "226 is given by --shape for graph input `images`" in run(DETECTOR, "--shape", "images=N,3,224,226").stdout
    ir = FIXTURES / "openvino" / "good" / "IRL204-pdpd-broadcast-mismatch.xml"
    assert 'from --shape: layer 1 "b" (Parameter)' in run(ir, "--shape", "b=3,5").stdout


def test_the_configuration_counts_for_every_command(tmp_path: Path) -> None:
    entry = '[[models]]\nfile = "*.onnx"\nshapes = { images = "B,3,64,W", other = "1" }\n'
    (tmp_path / "irlint.toml").write_text(entry)
    path = tmp_path / "m.onnx"
    path.write_bytes(DETECTOR.read_bytes())
    assert "images  float32[B, 3, 64, W]" in run("contract", "m.onnx", cwd=tmp_path).stdout
    assert "float32[B, 3, 64, W]" in run("shapes", "m.onnx", cwd=tmp_path).stdout
    traced = run("why", "m.onnx", "images", "--axis", "2", cwd=tmp_path).stdout
    assert "64 is given by irlint.toml:1 for graph input `images`" in traced
    both = run("contract", "m.onnx", "--shape", "images=K,3,H,W", cwd=tmp_path).stdout
    assert "images  float32[K, 3, H, W]" in both
    assert "images  float32[N, 3, H, W]" in run("contract", "m.onnx", "--isolated", cwd=tmp_path).stdout
    (tmp_path / "irlint.toml").write_text("[[model]]\n")
    assert run("shapes", "m.onnx", cwd=tmp_path).returncode == 2
