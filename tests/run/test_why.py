"""Where each size of a value comes from."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from command.process import FIXTURES, run

import irlint

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"
IR = FIXTURES / "openvino" / "good" / "IRL204-pdpd-broadcast-mismatch.xml"
HEAD = '<ir_version: 10, opset_import: ["" : 17, "f" : 1]>\n'

#: What makes y of the float[N,C,H,224] x and the int64[4] t, an axis of y, and where its size comes from, step by step.
STEPS = """
y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) | 3 | 112 = (224 - 2) / 2 + 1 in MaxPool[0] (kernel 2, stride 2); 224 is declared: graph input `x`
y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) | 2 | max(H//2, 1) = trunc((H - 2) / 2) + 1 in MaxPool[0] (kernel 2, stride 2); H is declared: graph input `x`
y = Concat <axis = 1> (x, x)   | 1 | 2*C = C of `x` + C of `x` in Concat[0] (axis 1 of its inputs); C is declared: graph input `x`
y = Concat <axis = 1> (x, u)   | 1 | C + 2 = C of `x` + 2 of `u` in Concat[0] (axis 1 of its inputs); C is declared: graph input `x`; 2 is declared: graph input `u`
e = Exp (x) m = Concat <axis = 1> (u, x) y = Concat <axis = 1> (m, e) | 1 | 2*C + 2 = (C + 2) of `m` + C of `e` in Concat[2] (axis 1 of its inputs); C + 2 = 2 of `u` + C of `x` in Concat[1] (axis 1 of its inputs); C is declared: graph input `x`, then kept by Exp[0]
n = Neg (x) y = Exp (n)        | 0 | N is declared: graph input `x`, then kept by Neg[0] and Exp[1]
y = Flatten <axis = 2> (x)     | 1 | 224*H = H * 224 in Flatten[0] (axis 2, input [N, C, H, 224])
y = Flatten <axis = 2> (v)     | 1 | 12 = 3 * 4 in Flatten[0] (axis 2, input [1, 2, 3, 4])
k = Constant <value_ints = [1, 2]> () y = Neg (k) | 0 | 2 is axis 0 of Constant[0], then kept by Neg[1]
s = Shape <start = 0, end = 1> (x) two = Constant <value_ints = [2]> () m = Mul (s, two) y = ConstantOfShape (m) | 0 | 2*N is computed by ConstantOfShape[3] from [1]; N is declared: graph input `x`
y = Resize (x, , f)            | 2 | 2*H = H * 2 in Resize[0] (scale 2 on axis 2); H is declared: graph input `x`
y = Resize (x, , f)            | 3 | 336 = 224 * 1.5 in Resize[0] (scale 1.5 on axis 3); 224 is declared: graph input `x`
y = Slice (x, one, t, k)       | 3 | _slice_0 is what Slice[0] leaves of 224
y = f.Twice (v)                | 1 | 4 is computed by Twice[0] from [1, 2, 3, 4]
"""


@pytest.mark.parametrize("line", STEPS.strip().splitlines())
def test_steps(line: str, tmp_path: Path) -> None:
    nodes, axis, expected = (each.strip() for each in line.split(" | "))
    given = "float[N,C,H,224] x, float[1,2,3,4] v, int64[1] t, float[N,2,H,224] u"
    held = "<float[4] f = {1.0, 1.0, 2.0, 1.5}, int64[1] one = {1}, int64[1] k = {3}>"
    twice = '\n<domain: "f", opset_import: ["" : 17]>\nTwice (a) => (b) { b = Concat <axis = 1> (a, a) }'
    text = HEAD + f"g ({given}) => (y) {held} {{ {nodes} }}" + twice
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    (found,) = irlint.why(path, "y", axis=int(axis))["axes"]
    assert "; ".join(step["text"] for step in found["steps"]) == expected


def test_data() -> None:
    found = irlint.why(DETECTOR, "joined", axis=-2)
    assert (found["schema"], found["name"], found["op"], len(found["shape"])) == ("irlint-why-1", "joined", "Concat", 4)
    (axis,) = found["axes"]
    assert (axis["axis"], axis["size"]) == (2, "2*((H + 3)//4)")
    assert [(step["from"], step["op"], step["value"]) for step in axis["steps"]] == [
        ("node", "Resize", "up"),
        ("node", "Conv", "c2"),
        ("node", "Conv", "c1"),
        ("input", None, "images"),
    ]
    first, second, *_ = axis["steps"]
    assert [each["node"] for each in first["kept"]] == ["joined"]
    assert second["formula"] == "floor(((H + 1)//2 + 1 + 1 - 3) / 2) + 1"
    assert second["details"] == "kernel 3, stride 2, pads 1+1"


def test_what_is_given() -> None:
    (axis,) = irlint.why(DETECTOR, "c1", axis=2, shapes={"images": ("N", 3, 64, "W")})["axes"]
    assert [step["from"] for step in axis["steps"]] == ["node", "given"]
    assert axis["steps"][-1]["text"] == "64 is given by shapes= for graph input `images`"


@pytest.mark.parametrize(
    ("value", "axis", "message"),
    [("joined", 4, "joined has the "
        "axes 0 to 3"), ("joined", -5, "axes 0 to 3"), ("b1", 1, "has the axis 0 only"), ("up_", None, "no value")],
)  # fmt: skip
def test_refused(value: str, axis: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irlint.why(DETECTOR, value, axis=axis)


def test_lines_of_an_ir() -> None:
    found = irlint.why(IR, "Result" if "Result" in IR.read_text() else "0")
    steps = [step for axis in found["axes"] for step in axis["steps"]]
    assert all(step["line"] is not None for step in steps)
    assert any(", line " in step["text"] for step in steps)


def test_command() -> None:
    assert run("why", DETECTOR, "joined").stdout.splitlines()[1].startswith("joined  Concat  float32[N, 24, ")
    text = json.loads(run("why", DETECTOR, "joined", "--axis", "1", "--format", "json").stdout)
    assert text == irlint.why(DETECTOR.as_posix(), "joined", axis=1)
    refused = run("why", DETECTOR, "Conv")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[1:] == ["   = `c1`, of Conv", "   = `c2`, of Conv", "   = `heads`, of Conv"]
    every = run("why", DETECTOR, "heads", "--axis", "0", "-v", PYTHONIOENCODING="ascii").stdout
    assert "more" not in every
    assert "Concat[5]" in " ".join(every.split())
