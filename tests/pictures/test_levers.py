"""The one thing to change: told only where the finding is gone with it and no other comes, and after few questions."""

from __future__ import annotations

import onnx.parser
import pytest
from onnx import TensorProto, helper

import irlint
from irlint.findings.report import Report
from irlint.inference.trials import Trials
from irlint.pictures import levers

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

#: A graph, and behind | the lever of its one root; nothing where there is none.
LEVERS = """
(float[1,64] x, float[10,64] w) => (float[1,10] y) { y = Gemm (x, w) }                               | with transB = 1 this is gone
(float[1,32,8,8] x, float[1,32,8,8] z) => (float[1,64,8,8] y) { y = Concat <axis = 2> (x, z) }      | with axis = 1 this is gone
(float[1,32,8,9] x, float[1,16,8,9] z) => (float[1,48,8,9] y) { y = Concat <axis = 2> (x, z) }      | with axis = 1 this is gone
(float[2,8,4] x) => (float[8,2,4] y) { y = Transpose <perm = [1,0,2,3]> (x) }                        | with perm = [1, 0, 2] this is gone
(float[1,64,8,8] x, float[64,1,3,3] w) => (float[1,64,6,6] y) { y = Conv <group = 5> (x, w) }        | with group = 64 this is gone
(float[8,4] x, float[2,8] z) => (float[2,4] y) { y = MatMul (x, z) }                                 | with inputs 0 and 1 swapped this is gone
(float[2,48,8] x) => (float[2,48,?] y) <int64[3] t = {2, 47, -1}> { y = Reshape (x, t) }             | with 48 for 47 in constant `t` (entry 1) this is gone
(float[2,3,1] x) => (float[2,3] y) <int64[1] a = {1}> { y = Squeeze (x, a) }                         | with 2 for 1 in constant `a` this is gone
(float[2,3] x) => (float[2,3] y) { s = Neg (x) t = Exp (x) z = Abs (x) u = Add (t, z) y = Add (u, sn) }  | with `s`, which nothing uses, as input 1 this is gone
(float[4,2] w, float[2,4] x, float[4] b) => (float[4,4] y) { t = MatMul (x, w) y = Add (t, b) }      | with inputs 0 and 1 swapped in MatMul[0] this is gone
(float[1,3,8,8] x, float[4,3,3,3] w, float[4,8,8] b) => (float[1,4,8,8] y) { t = Conv <pads = [0,0,0,0]> (x, w) y = Add (t, b) } | with pads = [1, 1, 1, 1] in Conv[0] this is gone
(float[1,4,8] x, float[1,4,6] z) => (float[1,8,6] y) <int64[3] t = {1, 4, 5}> { e = Resize (x, "", "", t) y = Concat <axis = 1> (e, z) } | with 6 for 5 in constant `t` (entry 2) in Resize[0] this is gone
(float[1,4,20,30] x, float[96,20] w) => (float[1,20] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) f = Flatten (p) y = Gemm (f, w) } | with 8 and 12 for 20 and 30 on axes 2 and 3 of input `x` this is gone
(float[1,4,20,20] x, float[64,20] w) => (float[1,20] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) f = Flatten (p) y = Gemm (f, w) } | with 8 to 9 for 20 on axes 2 and 3 of input `x` this is gone
(float[4,6] x) => (float[1,24] y) <int64[2] t = {1, 6}> { z = Relu (x) y = Reshape (z, t) }          | with 24 for 6 in constant `t` (entry 1) this is gone
(float[2,3] x, float[2,3,4] z, float[2,3] q) => (float[2,3,4] y, float[2,1,3] v) <int64[1] one = {1}, int64[1] two = {2}> { a = Unsqueeze (x, two) b = Unsqueeze (x, one) c = Add (a, z) d = Add (b, z) y = Add (c, d) v = Unsqueeze (q, one) } | with `two`, which holds [2], as input 1 in Unsqueeze[1] this is gone
(float[2,3] x, float[2,3] z, float[2,3,1] u) => (float[2,3] y) { a = Relu (u) b = Exp (z) y = Concat <axis = 1> (x, a) } |
(float[2,3] x, float16[2,3] z) => (float[2,3] y) { a = Cast <to = 10> (x) b = Relu (a) y = Add (b, x) } | with to = 1 (float) in Cast[0] this is gone
(float[b,s,8] x, float[8] w) => (float[b,s,8] y) { q = Mul (x, x) m = ReduceMean <axes = [-1], keepdims = 0> (q) r = Sqrt (m) d = Div (x, r) y = Mul (d, w) } | with keepdims = 1 in ReduceMean[1] this is gone
(float[2,3] x) => (float[2,3] y) { y = Softmax <axis = 2> (x) }                                      |
(float[1,8,9] x) => (float[1,8,9] y) { y = Softmax <axis = 5> (x) }                                  |
(float[10000,N,8] x, float[8] b) => (float[N,M,8] y) { y = Add (x, b) }                              |
(float[2,3] x) => (float[3,3] y) { t = Exp (x) y = Concat <axis = 1> (t, t) }                        |
(float[2,3] x, float[2,4] z) => (float[2,3] y) { y = Add (x, z) }                                    |
(float[2,3] x, float[7,8] w) => (float[2,7] y) { y = Gemm (x, w) }                                   |
""".strip().splitlines()


def check(text: str) -> Report:
    return irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}"), ignore=["IRL9", "IRL118"])


@pytest.mark.parametrize("line", LEVERS)
def test_lever(line: str) -> None:
    text, _, lever = (part.strip() for part in line.partition("|"))
    report = check(text)
    found = [finding.lever for finding in report.findings if not finding.because]
    assert found == [lever]
    assert ("= help: with " in report.text(width=120)) == bool(lever)
    assert {finding.get("lever", "") for finding in report.as_dict()["findings"]} == {lever}


def test_what_follows_is_gone_with_it() -> None:
    report = check(
        """(float[1,32,8,9] x, float[1,16,8,9] z, float[1,48,8,9] q) => (float[1,48,8,9] y) {
  a = Concat <axis = 3> (x, z) b = Relu (a) y = Add (b, q) }"""
    )
    assert [finding.lever for finding in report.findings if not finding.because] == ["with axis = 1 this is gone"]


def test_a_constant_that_several_nodes_use() -> None:
    report = check(
        """(float[2,48,8] x, float[2,48,16] z) => (float[2,48,?] y, float[2,48,?] u) <int64[3] t = {2, 47, -1}> {
  y = Reshape (x, t) u = Reshape (z, t) }"""
    )
    assert {finding.lever for finding in report.findings} == {
        "with 48 for 47 in constant `t` (entry 1) this and 1 more are gone"
    }


def test_a_size_that_is_frozen() -> None:
    report = check(
        "(int64[N,T] ids, float[8,8] w, float[100,8] e) => (float[A,B,C] y) { h = Gather <axis = 1> (e, ids) y = MatMul (h, w) }"
    )
    assert {each.rule.code: each.lever for each in report.findings} == {
        "IRL608": "with axis = 0 in Gather[0] this is gone"
    }


def test_what_is_declared_behind_a_changed_input_has_to_follow() -> None:
    report = check("(float[2,3] x, float[2,4] z) => (float[2,3] y) { a = Relu (x) y = Add (a, z) }")
    told = "with 4 for 3 on axis 1 of input `x` this is gone, and 1 declaration has to follow"
    assert [each.lever for each in report.findings] == [told]


def test_what_brings_another_finding_is_not_told() -> None:
    fits = "(float[8,8] x, float[8,4] w, float[3,3] q) => (float[?,?] y) { t = Gemm (w, x) y = Add (t, q) }"
    assert [finding.lever for finding in check(fits).findings] == [""]


PRODUCT = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port></output></layer>
<layer id="1" name="w" type="Parameter" version="opset1"><data shape="3,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>3</dim><dim>8</dim></port></output></layer>
<layer id="2" name="p" type="MatMul" version="opset1"><data transpose_a="false" transpose_b="false"/>
<input><port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port><port id="1" precision="FP32"><dim>3</dim><dim>8</dim></port></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"""


def test_an_ir_has_its_own_notation() -> None:
    found = {finding.rule.code: finding.lever for finding in irlint.check(PRODUCT.encode(), name="m.xml").findings}
    assert found["IRL320"] == 'with transpose_b="true" this is gone'


def test_what_an_input_port_declares_has_none() -> None:
    port = '<port id="{}" precision="FP32"><dim>2</dim><dim>{}</dim></port>'
    net = f"""<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/><output>{port.format(0, 8)}</output></layer>
<layer id="1" name="s" type="SoftMax" version="opset1"><data axis="1"/><input>{port.format(0, 7)}</input><output>{port.format(1, 8)}</output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input>{port.format(0, 8)}</input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""
    found = [(each.rule.code, each.lever) for each in irlint.check(net.encode(), name="m.xml").findings]
    assert found == [("IRL601", "")]


def test_few_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [helper.make_node("Transpose", ["x"], ["v0"], perm=[0, 2, 1])]
    nodes += [helper.make_node("Relu", [f"v{at}"], [f"v{at + 1}"], name=f"/layers.{at}/Relu") for at in range(1000)]
    shape = [1, 16, 8, 8]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "v1000")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made: list[Trials] = []
    monkeypatch.setattr(levers, "Trials", lambda *given: made.append(Trials(*given)) or made[-1])
    irlint.check(model, ignore=["IRL9"])
    assert [each.left >= -1 for each in made] == [True]


def test_a_sound_model_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levers, "Trials", None)
    assert check("(float[2,3] x) => (float[2,3] y) { y = Relu (x) }").ok
