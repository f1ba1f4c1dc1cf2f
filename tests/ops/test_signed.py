"""Custom operators that a configuration describes by signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from command.process import run
from make.fixtures import example
from ops.real_signatures import REAL

import irlint
from irlint.binding.calls import _integers
from irlint.ops.signed import SignatureError, parameters


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
        "IRL524 input 0 has rank 3, but the signature has 4: [N, C, H, W]",
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
        "IRL524 the node has 1 input; the signature has 2",
    ),
    "too many outputs": (
        "T[N] -> T[N]",
        "(float[2] a) => (float[2] y, float[2] z) { y, z = x.Op (a) }",
        "IRL524 the node has 2 outputs; the signature has 1",
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


@pytest.mark.parametrize(
    ("text", "value"), [("-5", -5), ("1, -2", (1, -2)), ("--5", None), ("-", None), ("", None), ("1.5", None)]
)
def test_texts_of_irs_with_integers(text: str, value: object) -> None:
    assert _integers(text) == value
