"""Promises of the configuration: models that keep them, and models that do not."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command.process import run
from contracts.models import HEAD, MODELS
from make.fixtures import ROOT, example

import irlint
from irlint.reporters.promises import rendered

DETECTOR = ROOT / "onnx" / "good" / "small-detector.onnx"
HALVES = "g (float[n,3,h,w] x) => (float[n,6,a,b] y) <int64[4] t = {0, 6, -1, 2}> { y = Reshape (x, t) }"
TABLE = "g (float[n,3] x, int64[k] i) => (float[k,3] y) { y = Gather (x, i) }"
FIXED = "g (float[1,3] x) => (float[1,3] y) { y = Relu (x) }"
FREE = "g (float[n,3] x) => (float[n,3] y) { y = Relu (x) }"

#: A graph, a promise, and how the messages of the findings begin.
CASES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "kept": (FREE, 'takes = { x = "float32[n, 3]" }\nreturns = { y = "float32[n, 3]" }', ()),
    "other names": (FREE, 'takes = { x = "float32[batch, 3]" }\nreturns = { y = "float32[batch, 3]" }', ()),
    "less promised": (FREE, 'takes = { x = "float32[4, 3]" }', ()),
    "only a part": (FREE, 'returns = { y = "float32[n, 3]" }', ()),
    "fixed": (FIXED, 'takes = { x = "float32[n, 3]" }', ("axis 0 of `x`: only 1, where it was any size",)),
    "type of an input": (
        FREE,
        'takes = { x = "float16[n, 3]" }',
        ("input `x` is float32, where it was float16",),
    ),
    "type of an output": (FREE, 'returns = { y = "int64[n, 3]" }', ("output `y` is float32, where it was int64",)),
    "input missing": (FREE, 'takes = { x = "float32[n, 3]", z = "float32[n]" }', ("input `z` (float32[n]) is gone",)),
    "input too many": (TABLE, 'takes = { x = "float32[n, 3]" }', ("input `i` (int64[k]) is new and required",)),
    "output missing": (
        FREE,
        'returns = { y = "float32[n, 3]", z = "float32[n]" }',
        ("output `z` (float32[n]) is gone",),
    ),
    "output too many": (FREE, 'returns = { y = "float32[n, 3]" }', ()),
    "shape of an output": (
        FREE,
        'takes = { x = "float32[n, 3]" }\nreturns = { y = "float32[2*n, 3]" }',
        ("output `y`",),
    ),
    "accepted": (HALVES, 'accepts = ["h % 4 == 0"]', ()),
    "accepts less": (HALVES, 'accepts = ["h >= 1"]', ("`(h*w) % 4 == 0` is now required",)),
    "accepts by the names of takes": (HALVES, 'takes = { x = "float32[b, 3, r, c]" }\naccepts = ["r % 4 == 0"]', ()),
    "accepts without its conditions": (
        HALVES,
        'takes = { x = "float32[b, 3, r, c]" }',
        ("`(h*w) % 4 == 0` is now required",),
    ),
    "one size or a range": (HALVES, 'accepts = ["h == 1 or h >= 4 and h % 4 == 0"]', ("`(h*w) % 4 == 0`",)),
    "all of several ranges": (HALVES, 'accepts = ["h == 4 or 8 <= h <= 64 and h % 8 == 0"]', ()),
    "divisor that may be 0": (HALVES, 'accepts = ["h >= 5 and w % (h - 4) == 0 and h % 4 == 0"]', ()),
    "another order": (
        "g (float[n,3] x, int64[k] i) => (float[k,3] y, float[n,3] z) { y = Gather (x, i) z = Relu (x) }",
        'takes = { i = "int64[k]", x = "float32[n, 3]" }\nreturns = { z = "float32[n, 3]", y = "float32[k, 3]" }',
        (),
    ),
    "name of no size": (FREE, 'accepts = ["seq <= 512"]', ("'seq <= 512' is about 'seq'",)),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    graph, promise, expected = CASES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(example(f'<ir_version: 8, opset_import: ["" : 17]>\n{graph}')[1])
    (tmp_path / "irlint.toml").write_text(f'[[models]]\nfile = "*.onnx"\n{promise}\n')
    found = [
        each for each in irlint.check(path, config=tmp_path / "irlint.toml").findings if each.rule.code == "IRL611"
    ]
    assert len(found) == len(expected), [each.message for each in found]
    for each, start in zip(found, expected):
        assert each.message.startswith(start), each.message
        assert each.help.startswith("export the model as promised in ")


#: A promise that cannot be read, and the message.
WRONG: Mapping[str, tuple[str, str]] = {
    "type": ('takes = { x = "flaot32[n]" }', "flaot32 is not an element type; did you mean float32?"),
    "variable": ('takes = { x = "T[n]" }', "expected a type with its dims"),
    "number": ("takes = { x = 3 }", "a text such as"),
    "condition": ('accepts = ["h is 3"]', "'h is 3' is not a condition"),
    "no list": ('accepts = "h == 3"', "a list of conditions is expected"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_promise(name: str, tmp_path: Path) -> None:
    promise, message = WRONG[name]
    (tmp_path / "irlint.toml").write_text(f'[[models]]\nfile = "*.onnx"\n{promise}\n')
    result = run("check", DETECTOR, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "^" in result.stderr


SOUND = sorted(path for end in ("onnx", "xml") for path in ROOT.glob(f"*/good/*.{end}"))


@pytest.mark.parametrize("model", SOUND, ids=lambda path: path.stem)
def test_a_model_keeps_the_promise_that_is_written_of_it(model: Path, tmp_path: Path) -> None:
    try:
        contract = irlint.contract(model)
    except ValueError as error:
        pytest.skip(str(error))
    for path in model.parent.glob(f"{model.stem}.*"):
        shutil.copy(path, tmp_path)
    assert broken_promises(tmp_path / model.name, {**contract, "path": model.name}) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_model_keeps_its_promises(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(example(HEAD + MODELS[name][0])[1])
    assert broken_promises(path, {**irlint.contract(path), "path": path.name}) == []


def broken_promises(path: Path, contract: Mapping[str, Any]) -> list[str]:
    """The messages of the promises that are written of a contract and that the model breaks."""
    (path.parent / "irlint.toml").write_text(rendered(contract))
    report = irlint.check(path, config=path.parent / "irlint.toml")
    return [each.message for each in report.findings if each.rule.code == "IRL611"]


def test_several_models(tmp_path: Path) -> None:
    result = run("contract", DETECTOR, DETECTOR, "--as", "config", cwd=tmp_path)
    assert result.stdout.count("[[models]]") == 2
    assert run("contract", DETECTOR, DETECTOR, cwd=tmp_path).returncode == 2
