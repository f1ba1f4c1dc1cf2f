"""Repositories of Triton with one change each, as ``triton_repositories.txt`` lists them, and those that people wrote.

A file of ``written`` is a repository: its first line names the codes, E or W behind them, as the list does, and each
file stands behind a line ``-- PATH --``, models as ONNX text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from make.fixtures import files

import irlint
from irlint.findings.faults import Severity
from irlint.reporters.triton import rendered
from irlint.run.contract import interface_and_contract

HERE = Path(__file__).parent
LINES = [each for each in (HERE / "triton_repositories.txt").read_text().splitlines() if each and each[0] != "#"]
WRITTEN = sorted((HERE / "written").glob("*.txt"))

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
POOLED = """g (float[batch,3,H,W] images) => (float[batch,10] scores)
<int64[4] folded = {0, 48, -1, 4}, float[48,10] w = {WEIGHTS}> {
  parts = Reshape (images, folded)
  mean = ReduceMean <axes = [2, 3], keepdims = 0> (parts)
  scores = MatMul (mean, w)
}""".replace("WEIGHTS", ",".join(["1"] * 480))
SEQUENCE = """g (float[batch,2] x, float[batch,1] START, float[batch,2] state)
=> (float[batch,2] y, float[batch,2] next)
{ kept = Mul (state, START) next = Add (x, kept) y = Relu (next) }"""

RELU = """<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,4" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>-1</dim><dim>4</dim></port></output></layer>
<layer id="1" name="r" type="ReLU" version="opset1">
<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input>
<output><port id="1" precision="FP32" names="y"><dim>-1</dim><dim>4</dim></port></output></layer>
<layer id="2" name="o" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""

CLASSIFIER = f"""-- net/config.pbtxt --
name: "net"
platform: "onnxruntime_onnx"
max_batch_size: 16
version_policy {{ all {{}} }}
input {{ name: "images" data_type: TYPE_FP32 dims: [ 3, -1, -1 ] }}
output {{ name: "scores" data_type: TYPE_FP32 dims: [ 10 ] label_filename: "labels.txt" }}
dynamic_batching {{ preferred_batch_size: [ 4, 8 ] }}
-- net/labels.txt --
cat
-- net/1/model.onnx --
{HEADER}{POOLED}"""


def member(name: str, operator: str) -> str:
    """A model of an ensemble, which takes and returns rows of 4."""
    return f"""-- {name}/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
-- {name}/1/model.onnx --
{HEADER}g (float[batch,4] x) => (float[batch,4] y) {{ y = {operator} (x) }}"""


BASES: Mapping[str, str] = {
    "classifier": CLASSIFIER,
    "unlisted": f"""-- net/config.pbtxt --
backend: "onnxruntime"
# the rest is completed
-- net/1/model.onnx --
{HEADER}{POOLED}""",
    "one": f"""-- net/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 1
-- net/1/model.onnx --
{HEADER}g (float[batch,12] a) => (float[batch,12] y) <int64[2] t = {{1,12}}> {{ r = Reshape (a, t) y = Add (a, r) }}""",
    "fixed": f"""-- net/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 0
input {{ name: "x" data_type: TYPE_FP32 dims: [ 1, 4 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 1, 4 ] }}
-- net/1/model.onnx --
{HEADER}g (float[1,4] x) => (float[1,4] y) {{ y = Relu (x) }}""",
    "sequence": f"""-- net/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 4
input {{ name: "x" data_type: TYPE_FP32 dims: [ 2 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 2 ] }}
sequence_batching {{
  control_input {{ name: "START" control {{ kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] }} }}
  state {{
    input_name: "state" output_name: "next" data_type: TYPE_FP32 dims: [ 2 ]
    initial_state {{ name: "nothing" data_type: TYPE_FP32 dims: [ 2 ] zero_data: true }}
  }}
}}
-- net/1/model.onnx --
{HEADER}{SEQUENCE}""",
    "pipeline": f"""-- both/config.pbtxt --
platform: "ensemble"
max_batch_size: 4
input {{ name: "in" data_type: TYPE_FP32 dims: [ 4 ] }}
output {{ name: "out" data_type: TYPE_FP32 dims: [ 4 ] }}
ensemble_scheduling {{
  step {{
    model_name: "first"
    model_version: -1
    input_map {{ key: "x" value: "in" }}
    output_map {{ key: "y" value: "between" }}
  }}
  step {{
    model_name: "second"
    model_version: -1
    input_map {{ key: "x" value: "between" }}
    output_map {{ key: "y" value: "out" }}
  }}
}}
-- both/1/README --
The folder of a version.
{member("first", "Relu")}
{member("second", "Exp")}""",
    "openvino": f"""-- net/config.pbtxt --
backend: "openvino"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 4 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 4 ] }}
parameters {{ key: "ENABLE_BATCH_PADDING" value {{ string_value: "YES" }} }}
-- net/1/model.xml --
{RELU}""",
}


def written(root: Path, texts: Mapping[str, bytes]) -> None:
    for path, data in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def changed(root: Path, change: str) -> None:
    """Makes the change of a line."""
    path, _, edit = change.partition(":")
    old, arrow, new = edit.strip().partition("=>")
    if not path:
        return
    if not arrow:
        (root / path).unlink()
        return
    old, new = old.strip(), new.strip()
    text = (root / path).read_text() if old else ""
    assert old in text, f"{path} has no {old}"
    (root / path).write_text(text.replace(old, new) if old else new)


def found_in(root: Path) -> str:
    """The codes of the findings about configurations, and E or W for the worst; "sound" for none."""
    findings = irlint.check(root, select=["IRL62"]).findings
    codes = sorted({each.rule.code for each in findings})
    worst = "E" if any(each.severity is Severity.ERROR for each in findings) else "W"
    return " ".join([*codes, worst]) if codes else "sound"


@pytest.mark.parametrize("line", LINES)
def test_a_changed_repository(line: str, tmp_path: Path) -> None:
    base, change, expected = (each.strip() for each in line.split("|"))
    written(tmp_path, files(BASES[base]))
    changed(tmp_path, change)
    assert found_in(tmp_path) == expected, [each.message for each in irlint.check(tmp_path).findings]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_written_repository(path: Path, tmp_path: Path) -> None:
    expected, _, text = path.read_text().partition("\n")
    written(tmp_path, files(text))
    assert found_in(tmp_path) == expected.strip(), [each.message for each in irlint.check(tmp_path).findings]


def test_a_written_configuration_of_openvino(tmp_path: Path) -> None:
    written(tmp_path, files(BASES["openvino"]))
    text = rendered(*interface_and_contract(str(tmp_path / "net" / "1" / "model.xml")))
    assert "ENABLE_BATCH_PADDING" in text
    (tmp_path / "net" / "config.pbtxt").write_text(text)
    assert found_in(tmp_path) == "sound"
