"""Custom operators that a configuration describes by signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from command.process import run
from make.fixtures import example

import irlint
from irlint.ops.signed import SignatureError, parameters

#: Custom operators of libraries: the signature, a graph that uses it as its documentation says, and the shape of y.
REAL: Mapping[str, tuple[str, str, str]] = {
    "EfficientNMS_TRT": (
        "T[N, boxes, 4], T[N, boxes, C] -> int32[N, 1], T[N, max_output_boxes, 4], T[N, max_output_boxes], "
        "int32[N, max_output_boxes]",
        "(float[n,100,4] b, float[n,100,80] s) => (int32[n,1] c, float[n,20,4] y, float[n,20] q, int32[n,20] k) "
        "{ c, y, q, k = x.OP <max_output_boxes = 20> (b, s) }",
        "[n, 20, 4]",
    ),
    "BatchedNMSDynamic_TRT": (
        "T[N, boxes, ?, 4], T[N, boxes, C] -> int32[N, 1], T[N, keepTopK, 4], T[N, keepTopK], T[N, keepTopK]",
        "(float[n,100,1,4] b, float[n,100,80] s) => (int32[n,1] c, float[n,7,4] y, float[n,7] q, float[n,7] k) "
        "{ c, y, q, k = x.OP <keepTopK = 7> (b, s) }",
        "[n, 7, 4]",
    ),
    "ROIAlign_TRT": (
        "T[N, C, H, W], T[rois, 4], int32[rois] -> T[rois, C, output_height, output_width]",
        "(float[1,256,h,w] f, float[r,4] b, int32[r] i) => (float[r,256,7,7] y) "
        "{ y = x.OP <output_height = 7, output_width = 7> (f, b, i) }",
        "[r, 256, 7, 7]",
    ),
    "DisentangledAttention_TRT": (
        "T[N, S, S], T[N, S, K], T[N, S, K] -> T[N, S, S]",
        "(float[8,s,s] a, float[8,s,64] b, float[8,s,64] c) => (float[8,s,s] y) { y = x.OP (a, b, c) }",
        "[8, s, s]",
    ),
    "InstanceNormalization_TRT": (
        "T[N, C, ...], T[C], T[C] -> T[N, C, ...]",
        "(float[n,8,h,w] a, float[8] b, float[8] c) => (float[n,8,h,w] y) { y = x.OP (a, b, c) }",
        "[n, 8, h, w]",
    ),
    "MMCVModulatedDeformConv2d": (
        "T[N, C, H, W], T[N, offsets, oh, ow], T[N, masks, oh, ow], T[K, ?, kh, kw], T[K]? -> T[N, K, "
        "(H + 2*padding[0] - dilation[0]*(kh - 1) - 1)//stride[0] + 1, "
        "(W + 2*padding[1] - dilation[1]*(kw - 1) - 1)//stride[1] + 1]",
        "(float[1,64,h,w] a, float[1,18,h,w] o, float[1,9,h,w] m, float[128,64,3,3] k) => (float[1,128,h,w] y) "
        "{ y = x.OP <padding = [1,1], dilation = [1,1], stride = [1,1]> (a, o, m, k) }",
        "[1, 128, h, w]",
    ),
    "MMCVRoiAlign": (
        "T[N, C, H, W], T[rois, 5] -> T[rois, C, output_height, output_width]",
        "(float[1,256,h,w] f, float[r,5] b) => (float[r,256,7,7] y) "
        "{ y = x.OP <output_height = 7, output_width = 7> (f, b) }",
        "[r, 256, 7, 7]",
    ),
    "grid_sampler": (
        "T[N, C, H, W], T[N, oh, ow, 2] -> T[N, C, oh, ow]",
        "(float[n,16,h,w] a, float[n,p,q,2] g) => (float[n,16,p,q] y) { y = x.OP (a, g) }",
        "[n, 16, p, q]",
    ),
    "MMCVMultiScaleDeformableAttention": (
        "T[N, keys, M, D], int64[L, 2], int64[L], T[N, Q, M, L, P, 2], T[N, Q, M, L, P] -> T[N, Q, M*D]",
        "(float[n,k,8,32] v, int64[4,2] s, int64[4] i, float[n,300,8,4,4,2] l, float[n,300,8,4,4] w) => "
        "(float[n,300,256] y) { y = x.OP (v, s, i, l, w) }",
        "[n, 300, 256]",
    ),
    "TRTBatchedNMS": (
        "T[N, boxes, C, 4], T[N, boxes, C] -> T[N, keep_topk, 5], int32[N, keep_topk]",
        "(float[n,100,1,4] b, float[n,100,1] s) => (float[n,9,5] y, int32[n,9] k) "
        "{ y, k = x.OP <keep_topk = 9> (b, s) }",
        "[n, 9, 5]",
    ),
    "ScatterND_plugin": (
        "T[...], int64[?, ?], T[?, ?] -> T[...]",
        "(float[a,b,c] d, int64[k,2] i, float[k,c] u) => (float[a,b,c] y) { y = x.OP (d, i, u) }",
        "[a, b, c]",
    ),
    "GPT2Tokenizer": (
        "string[N] -> int64[N, padding_length], int64[N, padding_length]",
        "(string[n] t) => (int64[n,12] y, int64[n,12] m) { y, m = x.OP <padding_length = 12> (t) }",
        "[n, 12]",
    ),
    "StringSplit": (
        "string[N], string[1], bool[1] -> int64[?, 2], string[?], int64[2]",
        "(string[n] t, string[1] s, bool[1] e) => (int64[p,2] i, string[q] v, int64[2] y) { i, v, y = x.OP (t, s, e) }",
        "[2]",
    ),
    "SegmentSum": (
        "T[N, ...], int64[N] -> T[?, ...]",
        "(float[n,8] d, int64[n] s) => (float[m,8] y) { y = x.OP (d, s) }",
        "[m, 8]",
    ),
    "Inverse": ("T[..., N, N] -> T[..., N, N]", "(float[b,4,4] a) => (float[b,4,4] y) { y = x.OP (a) }", "[b, 4, 4]"),
}


def written(folder: Path, name: str, signature: str, graph: str) -> Path:
    (folder / "irlint.toml").write_text(f'[[operators]]\ndomain = "x"\nname = "{name}"\nsignature = "{signature}"\n')
    path = folder / "model.onnx"
    text = f'<ir_version: 8, opset_import: ["" : 17, "x" : 1]>\ng {graph.replace("OP", name)}'
    path.write_bytes(example(text)[1])
    return path


def checked(folder: Path, signature: str, graph: str) -> list[str]:
    path = written(folder, "Op", signature, graph)
    report = irlint.check(path, config=folder / "irlint.toml")
    return [f"{each.rule.code} {each.message}" for each in report.findings]


@pytest.mark.parametrize("name", REAL)
def test_real_operator(name: str, tmp_path: Path) -> None:
    signature, graph, shape = REAL[name]
    path = written(tmp_path, name, signature, graph)
    assert irlint.check(path, config=tmp_path / "irlint.toml").findings == ()
    lines = run("shapes", path, cwd=tmp_path).stdout.splitlines()
    assert any(shape in line for line in lines if " y " in f" {line} "), lines


PAIR = "T[N, C, H, W], T[N, C, H, W] -> T[N, 2*C, H//2, W]"

#: A signature, a graph, and how the findings begin.
FITS: Mapping[str, tuple[str, str, str]] = {
    "sound": (PAIR, "(float[2,3,8,8] a, float[2,3,8,8] b) => (float[2,6,4,8] y) { y = x.Op (a, b) }", ""),
    "output declared otherwise": (
        PAIR,
        "(float[2,3,8,8] a, float[2,3,8,8] b) => (float[2,6,5,8] y) { y = x.Op (a, b) }",
        "IRL601 axis 2 of output 0, a graph output, is declared as 5; the operator computes 4",
    ),
    "size": (
        PAIR,
        "(float[2,3,8,8] a, float[2,4,8,8] b) => (float[2,6,4,8] y) { y = x.Op (a, b) }",
        "IRL524 axis 1 of input 1 is 4, but must be 3 (C of the signature)",
    ),
    "rank": (
        PAIR,
        "(float[2,3,8] a, float[2,3,8,8] b) => (float[2,6,4,8] y) { y = x.Op (a, b) }",
        "IRL524 input 0 has rank 3, and the signature 4: [N, C, H, W]",
    ),
    "type": (
        PAIR,
        "(float[2,3,8,8] a, float16[2,3,8,8] b) => (float[2,6,4,8] y) { y = x.Op (a, b) }",
        "IRL524 input 1 is float16, but must be float32 (T of the signature)",
    ),
    "stated type": (
        "int64[N] -> T[N]",
        "(float[2] a) => (float[2] y) { y = x.Op (a) }",
        "IRL524 input 0 is float32, but must be int64",
    ),
    "number": ("T[N, 4] -> T[N]", "(float[2,5] a) => (float[2] y) { y = x.Op (a) }", "IRL524 axis 1 of input 0 is 5"),
    "expression": (
        "T[N], T[2*N + 1] -> T[N]",
        "(float[2] a, float[6] b) => (float[2] y) { y = x.Op (a, b) }",
        "IRL524 axis 0 of input 1 is 6, but must be 5 (2*N + 1 of the signature)",
    ),
    "too few inputs": (
        PAIR,
        "(float[2,3,8,8] a) => (float[2,6,4,8] y) { y = x.Op (a) }",
        "IRL524 1 input; the signature has 2",
    ),
    "too many outputs": (
        "T[N] -> T[N]",
        "(float[2] a) => (float[2] y, float[2] z) { y, z = x.Op (a) }",
        "IRL524 2 outputs; the signature has 1",
    ),
    "optional": ("T[N], T[N]? -> T[N]", "(float[2] a) => (float[2] y) { y = x.Op (a) }", ""),
    "any axes": (
        "T[..., K], T[..., L] -> T[..., K + L]",
        "(float[2,3,4] a, float[2,5,4] b) => (float[2,3,8] y) { y = x.Op (a, b) }",
        "IRL524 axis 1 of input 1 is 5, but must be 3 (... of the signature)",
    ),
    "a function of the model": (
        "T[N, 9] -> T[N]",
        "(float[2] a) => (float[2] y) { y = x.Op (a) }\n"
        '<domain: "x", opset_import: ["" : 17]> Op (a) => (y) { y = Relu (a) }',
        "",
    ),
    "an operator of ONNX": ("T[N, 9] -> T[N]", "(float[2] a) => (float[2] y) { y = Relu (a) }", "IRL904"),
    "behind it": (
        "T[N, C] -> T[N, 2*C]",
        "(float[2,3] a, float[2,5] b) => (float[2,5] y) { m = x.Op (a) y = Add (m, b) }",
        "IRL201 axis 1 is 6 in input 0 and 5 in input 1",
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_fit(name: str, tmp_path: Path) -> None:
    signature, graph, expected = FITS[name]
    found = checked(tmp_path, signature, graph)
    assert bool(found) == bool(expected), found
    assert not found or found[0].startswith(expected), found


def test_what_is_not_proven_is_part_of_the_contract(tmp_path: Path) -> None:
    path = written(tmp_path, "Op", "T[N, 4*K] -> T[N, K]", "(float[n,w] a) => (float[n,k] y) { y = x.Op (a) }")
    assert run("contract", path, cwd=tmp_path).returncode == 0
    path = written(tmp_path, "Op", "T[N], T[N] -> T[N]", "(float[n] a, float[m] b) => (float[n] y) { y = x.Op (a, b) }")
    assert "n == m" in run("contract", path, cwd=tmp_path).stdout.replace("m == n", "n == m")


#: A text that is no signature, the place of what is wrong, and the message.
WRONG: Mapping[str, tuple[str, int, str]] = {
    "no arrow": ("T[N]", 0, "a signature needs `->`"),
    "no output": ("T[N] ->", 5, "there is no output"),
    "type": ("T[N], flaot32[N] -> T[N]", 6, "flaot32 is not an element type; did you mean float32?"),
    "variable": ("V[N] -> T[N]", 0, "V is not an element type"),
    "size": ("T[N, H +] -> T[N]", 5, "H + is not a size"),
    "number with letters": ("T[N] -> T[3in]", 10, "3in is not a size"),
    "call": ("T[N] -> T[open(N)]", 10, "open(N) is not a size"),
    "twice any axes": ("T[..., N, ...] -> T[N]", 10, "a shape has `...` twice"),
    "bracket": ("T[N -> T[N]", 1, "expected a type with its dims"),
    "comma": ("T[N], -> T[N]", 4, "expected a type after the comma"),
    "order": ("T[N]?, T[N] -> T[N]", 0, "a required input follows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_signature(name: str, tmp_path: Path) -> None:
    text, at, message = WRONG[name]
    with pytest.raises(SignatureError, match=re.escape(message)) as error:
        parameters(text)
    assert error.value.at == at
    path = written(tmp_path, "Op", text, "(float[2] a) => (float[2] y) { y = x.Op (a) }")
    result = run("check", path, cwd=tmp_path)
    assert result.returncode == 2
    lines = result.stderr.splitlines()
    source = next(each for each, line in enumerate(lines) if "signature =" in line)
    assert lines[source + 1].index("^") == lines[source].index(text) + at


def test_a_layer_of_an_ir(tmp_path: Path) -> None:
    ir = (Path(__file__).parents[2] / "fixtures" / "openvino" / "good").glob("*.xml")
    text = next(
        text for each in sorted(ir) if 'type="Relu"' in (text := each.read_text()) and text.count("<layer ") == 3
    )
    path = tmp_path / "model.xml"
    path.write_text(
        text.replace('type="Relu"', 'type="Act"')
        .replace('version="opset1"', 'version="extension"', 9)
        .replace('type="Parameter" version="extension"', 'type="Parameter" version="opset1"')
        .replace('type="Result" version="extension"', 'type="Result" version="opset1"')
    )
    (tmp_path / "irlint.toml").write_text(
        '[[operators]]\ndomain = "extension"\nname = "Act"\nsignature = "T[...] -> T[...]"\n'
    )
    assert run("check", path, cwd=tmp_path).returncode == 0
    assert "IRL502" not in run("check", path, cwd=tmp_path).stdout
    assert "IRL502" in run("check", path, "--isolated", cwd=tmp_path).stdout
