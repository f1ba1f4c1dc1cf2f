"""Ensembles of Triton: two models after each other, and what irlint finds once one thing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from make.fixtures import example

import irlint

FIRST = "g (float[batch,3] a) => (float[batch,8] m) <float[3,8] w = {ONES}> { m = MatMul (a, w) }".replace(
    "ONES", ",".join("1" * 24)
)
SECOND = "g (float[batch,8] p, float[batch,8] q) => (float[batch,8] y) { y = Add (p, q) }"
PIPELINE = """platform: "ensemble"
max_batch_size: 4
input { name: "in" data_type: TYPE_FP32 dims: [ 3 ] }
output { name: "out" data_type: TYPE_FP32 dims: [ 8 ] }
ensemble_scheduling {
  step [
    {
      model_name: "first"
      model_version: -1
      input_map { key: "a" value: "in" }
      output_map { key: "m" value: "middle" }
    },
    {
      model_name: "second"
      model_version: -1
      input_map { key: "p" value: "middle" }
      input_map { key: "q" value: "middle" }
      output_map { key: "y" value: "out" }
    }
  ]
}
"""
BATCHES = 'backend: "onnxruntime" max_batch_size: 8\n'

#: What is replaced in the pipeline by what, and a part of each message; () for a sound one.
CHANGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "sound": ("", "", ()),
    "unknown model": ('"second"', '"third"', ("names the model `third`, which does not exist",)),
    "unknown input": ('key: "a"', 'key: "b"', ("`first` does not have", "does not map the input `a`")),
    "unknown output": ('key: "m"', 'key: "n"', ("to the output `n`, which `first` does not have",)),
    "input not mapped": ('      input_map { key: "q" value: "middle" }\n', "", ("does not map the input `q`",)),
    "tensor that nothing writes": (
        'value: "middle" }\n      output_map',
        'value: "other" }\n      output_map',
        ("uses the tensor `other`, which nothing writes",),
    ),
    "written twice": (
        '"y" value: "out"',
        '"y" value: "middle"',
        ("written by the steps 0 and 1", "writes the output `out`"),
    ),
    "type of the output": ('"out" data_type: TYPE_FP32', '"out" data_type: TYPE_FP16', ("is TYPE_FP16 in",)),
    "type of the input": ('"in" data_type: TYPE_FP32', '"in" data_type: TYPE_INT64', ("is TYPE_INT64 in",)),
    "shape of the input": ("[ 3 ]", "[ 4 ]", ("is [-1, 4] in `pipeline` and [-1, 3] in `first`",)),
    "dynamic input": ("[ 3 ]", "[ -1 ]", ()),
    "shape of the output": ("[ 8 ]", "[ 9 ]", ("is [-1, 9] in `pipeline` and [-1, 8] in `second`",)),
    "output of no step": (
        'name: "out"',
        'name: "result"',
        ("no step writes the output `result`", "nothing uses the tensor"),
    ),
    "input of no step": ('"in" data', '"image" data', ("no step uses the input `image`", "which nothing writes")),
    "batches too large": (
        "max_batch_size: 4",
        "max_batch_size: 16",
        ("batches of 16, and its model `first` of 8",) * 1,
    ),
    "no input map": (
        '      input_map { key: "a" value: "in" }\n',
        "",
        ("has no input_map", "does not map", "no step uses"),
    ),
}


def pipeline(root: Path, text: str) -> Path:
    """Writes the ensemble and its models, and returns the path of its configuration."""
    for name, graph in (("first", FIRST), ("second", SECOND)):
        (root / name / "1").mkdir(parents=True)
        (root / name / "config.pbtxt").write_text(BATCHES)
        (root / name / "1" / "model.onnx").write_bytes(example(f'<ir_version: 8, opset_import: ["" : 17]>\n{graph}')[1])
    (root / "pipeline" / "1").mkdir(parents=True)
    path = root / "pipeline" / "config.pbtxt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", CHANGES)
def test_change(name: str, tmp_path: Path) -> None:
    old, new, parts = CHANGES[name]
    found = irlint.check(pipeline(tmp_path, PIPELINE.replace(old, new) if old else PIPELINE)).findings
    messages = [each.message for each in found]
    assert {each.rule.code for each in found} == ({"IRL629"} if parts else set()), messages
    for part in parts:
        assert any(part in each for each in messages), messages


def test_steps_that_wait_for_each_other(tmp_path: Path) -> None:
    text = PIPELINE.replace('key: "q" value: "middle"', 'key: "q" value: "in"').replace(
        '"a" value: "in"', '"a" value: "loop"'
    )
    text = text.replace('key: "y" value: "out"', 'key: "y" value: "loop"').replace('name: "out"', 'name: "loop"')
    found = irlint.check(pipeline(tmp_path, text)).findings
    assert any("the steps 0, 1 wait for each other" in each.message for each in found), [each.message for each in found]
