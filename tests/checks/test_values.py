"""What values lead to: what irlint finds, and what ONNX Runtime computes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: A graph with the input x, the finding, and what ONNX Runtime gives: "nan" (NaN or infinity), "fails" or "runs".
CASES: Mapping[str, tuple[str, str, str]] = {
    "weight": (
        "(float[1,3] x) => (float[1,2] y) <float[3,2] w = {inf,1,1,1,1,1}> { y = MatMul (x, w) }",
        "IRL740",
        "nan",
    ),
    "bias": (
        "(float[1,3] x) => (float[1,2] y) <float[3,2] w = {1,1,1,1,1,1}, float[2] b = {1,-inf}> { y = Gemm (x, w, b) }",
        "IRL740",
        "nan",
    ),
    "filter": (
        "(float[1,3] x) => (float[1,1,2] y) <int64[3] t = {1,1,3}, float[1,1,2] w = {inf,1}> "
        "{ r = Reshape (x, t) y = Conv (r, w) }",
        "IRL740",
        "nan",
    ),
    "statistics": (
        "(float[1,3] x) => (float[1,3] y) <float[3] s = {1,1,inf}, float[3] b = {0,0,0}> "
        "{ y = BatchNormalization (x, s, b, b, s) }",
        "IRL740 IRL740",
        "nan",
    ),
    "mask": (
        "(float[1,3] x) => (float[1,3] y) <float[3] m = {0,0,-inf}> { a = Add (x, m) y = Softmax (a) }",
        "",
        "runs",
    ),
    "sound weights": (
        "(float[1,3] x) => (float[1,2] y) <float[3,2] w = {1,1,1,1,1,1}> { y = MatMul (x, w) }",
        "",
        "runs",
    ),
    "negative epsilon": (
        "(float[1,3] x) => (float[1,3] y) <float[3] s = {1,1,1}> { y = LayerNormalization <epsilon = -50.0> (x, s) }",
        "IRL741",
        "nan",
    ),
    "epsilon of 0": (
        "(float[1,3] x) => (float[1,3] y) <float[3] s = {1,1,1}, float[3] v = {0,1,1}> "
        "{ y = BatchNormalization <epsilon = 0.0> (x, s, s, s, v) }",
        "IRL741",
        "nan",
    ),
    "epsilon of 0 above variances": (
        "(float[1,3] x) => (float[1,3] y) <float[3] s = {1,1,1}> "
        "{ y = BatchNormalization <epsilon = 0.0> (x, s, s, s, s) }",
        "",
        "runs",
    ),
    "factor": (
        "(float[1,3] x) => (float[1,2] y) <float[3,2] w = {1,1,1,1,1,1}> { y = Gemm <alpha = nan> (x, w) }",
        "IRL742",
        "nan",
    ),
    "slope": ("(float[1,3] x) => (float[1,3] y) { y = LeakyRelu <alpha = inf> (x) }", "IRL742", "nan"),
    "root": (
        "(float[1,3] x) => (float[1,3] y) { s = Exp (x) t = Add (s, s) n = Neg (t) y = Sqrt (n) }",
        "IRL743",
        "nan",
    ),
    "root of a sum": (
        "(float[1,3] x) => (float[1,3] y) <float c = {-2.0}> { s = Sigmoid (x) n = Add (s, c) y = Sqrt (n) }",
        "IRL743",
        "nan",
    ),
    "logarithm": ("(float[1,3] x) => (float[1,3] y) { s = Sigmoid (x) n = Neg (s) y = Log (n) }", "IRL743", "nan"),
    "logarithm of a clipped sum": (
        "(float[1,3] x) => (float[1,3] y) <float c = {-1.5}> { t = Tanh (x) n = Add (t, c) y = Log (n) }",
        "IRL743",
        "nan",
    ),
    "logarithm of a softmax": ("(float[1,3] x) => (float[1,3] y) { s = Softmax (x) y = Log (s) }", "", "runs"),
    "logarithm behind other nodes": (
        "(float[1,3] x) => (float[3,1] y) <int64[2] t = {3,1}> "
        "{ s = Sigmoid (x) n = Neg (s) r = Reshape (n, t) c = Concat <axis = 1> (r) y = Log (c) }",
        "IRL743",
        "nan",
    ),
    "row of a mask": (
        "(float[1,3] x) => (float[2,3] y) <float[2,3] m = {0,0,0,-inf,-inf,-inf}> { a = Add (x, m) y = Softmax (a) }",
        "IRL743",
        "nan",
    ),
    "row of a mask, replaced": (
        "(float[1,3] x) => (float[2,3] y) <float[2,3] m = {0,0,0,-inf,-inf,-inf}, float z = {0}> "
        "{ a = Add (x, m) s = Softmax (a) n = IsNaN (s) y = Where (n, z, s) }",
        "",
        "runs",
    ),
    "mask as a logarithm": (
        "(float[1,3] x) => (float[2,3] y) <float[2,3] t = {1,0,0,1,1,0}> "
        "{ m = Log (t) a = Add (x, m) y = Softmax (a) }",
        "",
        "runs",
    ),
    "saturated gate": (
        "(float[1,3] x) => (float[1,1,1] y) <int64[3] t = {3,1,1}, float[1,4,1] w = {1,1,1,1}, "
        "float[1,8] b = {inf,-inf,0,0,0,0,0,0}> { r = Reshape (x, t) a, y = LSTM <hidden_size = 1> (r, w, w, b) }",
        "",
        "runs",
    ),
    "NaN of an initializer that is not selected": (
        "(float[1,3] x) => (float[1,3] y) <float n = {nan}> { z = Sub (x, x) c = IsNaN (x) y = Where (c, n, z) }",
        "",
        "runs",
    ),
    "NaN that is selected, and added in a body": (
        "(float[1,3] x) => (float[1,3] z) <float n = {nan}, bool t = {1}> { d = Sub (x, x) c = IsNaN (d) "
        "w = Where (c, n, x) z = If (t) <then_branch = a () => (u) { u = Add (w, n) }, "
        "else_branch = b () => (v) { v = Add (w, w) }> }",
        "IRL734",
        "nan",
    ),
    "open gate": (
        "(float[1,3] x) => (float[1,2] y) <float[3,2] w = {1,1,1,1,1,1}, float[2] b = {inf,inf}> "
        "{ m = MatMul (x, w) a = Add (m, b) y = Sigmoid (a) }",
        "",
        "runs",
    ),
    "Softmax of one element": (
        "(float[1,3] x) => (int32[1,3,1] y) <int64[1] a = {2}> "
        "{ u = Unsqueeze (x, a) s = Softmax <axis = 2> (u) y = Cast <to = 6> (s) }",
        "",
        "runs",
    ),
    "NaN that is not selected": (
        "(float[1,3] x) => (float[1,3] y) { s = Shape (x) n = ConstantOfShape <value = float[1] {nan}> (s) "
        "z = Sub (x, x) c = IsNaN (x) y = Where (c, n, z) }",
        "",
        "runs",
    ),
    "column of a mask": (
        "(float[1,3] x) => (float[2,3] y) <float[2,3] m = {-inf,0,0,-inf,0,0}> { a = Add (x, m) y = Softmax (a) }",
        "",
        "runs",
    ),
    "ratio": ("(float[1,3] x) => (float[1,3] y) <float r = {1.5}> { y = Dropout (x, r) }", "IRL744", "fails"),
    "ratio of 1": ("(float[1,3] x) => (float[1,3] y) <float r = {1.0}> { y = Dropout (x, r) }", "IRL744", "fails"),
    "ratio behind a node": (
        "(float[1,3] x) => (float[1,3] y) <float r = {1.5}> { a = Relu (x) d, m = Dropout (a, r) y = Neg (d) }",
        "",
        "runs",
    ),
    "ratio behind a node, of an output": (
        "(float[1,3] x) => (float[1,3] y) <float r = {1.5}> { a = Relu (x) y = Dropout (a, r) }",
        "IRL744",
        "fails",
    ),
    "ratio behind a node, with a mask": (
        "(float[1,3] x) => (float[1,3] y) <float r = {1.5}> "
        "{ a = Relu (x) d, m = Dropout (a, r) c = Cast <to = 1> (m) y = Add (d, c) }",
        "IRL744",
        "fails",
    ),
    "ratio in front of a node": (
        "(float[1,3] x) => (float[1,3] y) <float r = {1.5}> { d = Dropout (x, r) y = Neg (d) }",
        "IRL744",
        "fails",
    ),
    "minimum of NaN": (
        "(float[1,3] x) => (float[1,3] y) <float l = {nan}, float h = {6}> { y = Clip (x, l, h) }",
        "IRL734",
        "runs",
    ),
    "maximum of NaN": (
        "(float[1,3] x) => (float[1,3] y) <float l = {0}, float h = {nan}> { y = Clip (x, l, h) }",
        "IRL734",
        "runs",
    ),
    "integers that overflow": (
        "(float[1,3] x) => (float[1,3] y) <int32 l = {2000000000}, int32 h = {2100000000}> "
        "{ i = Cast <to = 6> (x) c = Clip (i, l, h) s = Add (c, c) f = Cast <to = 1> (s) n = Neg (f) y = Sqrt (n) }",
        "",
        "runs",
    ),
    "products that overflow": (
        "(float[1,3] x) => (float[1,3] y) <int32 l = {50000}, int32 h = {60000}> "
        "{ i = Cast <to = 6> (x) c = Clip (i, l, h) s = Mul (c, c) f = Cast <to = 1> (s) n = Neg (f) y = Sqrt (n) }",
        "",
        "runs",
    ),
    "differences of unsigned integers": (
        "(float[1,3] x) => (float[1,3] y) <uint32 l = {2}, uint32 h = {3}, uint32 k = {9}> { a = Abs (x) "
        "i = Cast <to = 12> (a) c = Clip (i, l, h) s = Sub (c, k) f = Cast <to = 1> (s) y = Sqrt (f) }",
        "",
        "runs",
    ),
    "integers that do not overflow": (
        "(float[1,3] x) => (float[1,3] y) <int32 l = {1}, int32 h = {1000000000}> "
        "{ i = Cast <to = 6> (x) c = Clip (i, l, h) s = Add (c, c) f = Cast <to = 1> (s) n = Neg (f) y = Sqrt (n) }",
        "IRL743",
        "nan",
    ),
    "sound ratio": ("(float[1,3] x) => (float[1,3] y) <float r = {0.5}> { y = Dropout (x, r) }", "", "runs"),
    "depth": (
        "(float[1,3] x) => (float[1,3,d] y) <int64[1] n = {0}, float[2] v = {0,1}> "
        "{ i = Cast <to = 7> (x) y = OneHot (i, n, v) }",
        "IRL744",
        "fails",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    graph, codes, _ = CASES[name]
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(f"{HEAD}g {graph}"), path)
    found = irlint.check(path).findings
    assert [each.rule.code for each in found] == codes.split(), [each.message for each in found]


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_onnx_runtime_computes_it(name: str) -> None:
    import onnxruntime

    graph, _, expected = CASES[name]
    model = onnx.parser.parse_model(f"{HEAD}g {graph}")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.array([[1, -2, 3]], np.float32)
    if expected == "fails":
        with pytest.raises(Exception, match=r"ratio|depth|Depth"):
            session.run(None, {"x": x})
        return
    results: Any = session.run(None, {"x": x})
    assert np.isfinite(results[0]).all() == (expected == "runs"), results


#: Normalizations without epsilon, their constants, and the element of a row that becomes NaN.
PADDED: Mapping[str, tuple[str, str, float]] = {
    "LayerNormalization": ("", "(x, s)", 3.0),
    "InstanceNormalization": ("", "(x, c, c)", 3.0),
    "GroupNormalization": (", num_groups = 1", "(x, c, c)", 3.0),
    "RMSNormalization": ("", "(x, s)", 0.0),
    "SimplifiedLayerNormalization": ("", "(x, s)", 0.0),
    "com.microsoft.SkipLayerNormalization": ("", "(x, x, s)", 3.0),
    "com.microsoft.SkipSimplifiedLayerNormalization": ("", "(x, x, s)", 0.0),
}


def _normalization(op: str, epsilon: str) -> onnx.ModelProto:
    more, inputs, _ = PADDED[op]
    return onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]> g (float[1,1,3] x) => (float[1,1,3] y) '
        f"<float[3] s = {{1.0,1.0,1.0}}, float[1] c = {{1.0}}> {{ y = {op} <epsilon = {epsilon}{more}> {inputs} }}"
    )


@pytest.mark.parametrize("op", PADDED)
def test_an_epsilon_of_0_is_reported(op: str) -> None:
    found = [each.rule.code for each in irlint.check(_normalization(op, "0.0")).findings]
    assert "IRL741" in found
    assert "IRL741" not in [each.rule.code for each in irlint.check(_normalization(op, "0.00001")).findings]


@pytest.mark.oracle
@pytest.mark.parametrize("op", PADDED)
def test_padding_becomes_nan_without_epsilon(op: str) -> None:
    import onnxruntime

    x = np.full((1, 1, 3), PADDED[op][2], np.float32)
    for epsilon, is_sound in (("0.0", False), ("0.00001", True)):
        model = _normalization(op, epsilon).SerializeToString()
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        (y, *_) = session.run(None, {"x": x})
        assert np.isfinite(np.asarray(y)).all() == is_sound, (op, epsilon, y)


@pytest.mark.parametrize(
    ("eps", "variance", "code"), [("0", "true", "IRL741"), ("0", "false", ""), ("1e-5", "true", "")]
)
def test_an_eps_of_0_in_an_ir(eps: str, variance: str, code: str, tmp_path: Path) -> None:
    from cases.value_faults import ir_of

    line = "x = float32[1,2,4] / a = int64{2} / n = MVN@6 x a ; "
    document, weights = ir_of(f"{line}eps={eps} eps_mode=inside_sqrt normalize_variance={variance}")
    path = tmp_path / "model.xml"
    path.write_text(document)
    path.with_suffix(".bin").write_bytes(weights)
    assert [each.rule.code for each in irlint.check(path).findings if each.rule.code == "IRL741"] == code.split()


def test_the_infinite_elements_of_a_gathered_table_are_those_of_the_table() -> None:
    model = (
        f"{HEAD}g (int64[2] i) => (float[2,1] y) <float[3,2] t = {{inf,1,inf,1,inf,1}}, float[2,1] w = {{1,1}}> "
        "{ e = Gather (t, i) y = MatMul (e, w) }"
    )
    (found,) = irlint.check(onnx.parser.parse_model(model), select=["IRL740"]).findings
    assert found.message == "input 0 (`e`) comes from `t`, which has 3 infinite elements"


@pytest.mark.parametrize("dtype", ["int32", "float8e4m3fn", "double", "bool"])
@pytest.mark.parametrize("op", ["Exp", "Cosh", "Sinh", "Softplus", "Selu", "Tan"])
def test_no_element_type_breaks_an_interval(op: str, dtype: str) -> None:
    head = '<ir_version: 10, opset_import: ["" : 21]>'
    model = f"{head} g () => ({dtype}[2] y) <{dtype}[2] x = {{1000, 1}}> {{ y = {op} (x) }}"
    found = irlint.check(onnx.parser.parse_model(model)).findings
    assert {"IRL008", "IRL599"}.isdisjoint(each.rule.code for each in found)


#: Models in which infinity is replaced, is the start of a search, or does not arise in the first iteration.
SOUND = (
    "(float[3] x) => (y) <int64 m = {3}, bool k = {1}, float z = {0}> { l, y = Loop (m, k, x) <body = b (int64 i, "
    "bool c, float[3] s) => (d, a, o) { d = Identity (c) t = Cast <to = 1> (i) q = Div (s, t) e = Greater (t, z) "
    "o = Where (e, q, s) a = Identity (s) }> }",
    "(float[3] x) => (y) <int64 m = {3}, bool k = {1}, float one = {1}> { l, y = Loop (m, k, x) <body = b (int64 i, "
    "bool c, float[3] s) => (d, a, o) { d = Identity (c) t = Cast <to = 1> (i) q = Reciprocal (t) o = Min (q, one) "
    "a = Identity (s) }> }",
    "(float[3,4] x) => (y) <float[3,1] b = {0,-inf,0}, float[1] s = {-inf}> { w = Add (x, b) l, y = Scan (s, w) "
    "<num_scan_inputs = 1, body = b (float[1] a, float[4] r) => (m, o) { h = ReduceMax <keepdims = 1> (r) "
    "m = Max (a, h) e = Sub (a, m) o = Exp (e) }> }",
    "(float[3] x) => (y) <int64 d = {3}, float[2] v = {0,1}, int64[1] i = {1}> { h = OneHot (i, d, v) g = Log (h) "
    "m = Add (x, g) y = Softmax (m) }",
    "(float[2,3] x) => (y) { m = ReduceMax <axes = [1]> (x) n = ReduceMin <axes = [1]> (x) d = Sub (x, n) "
    "e = Sub (m, n) y = Div (d, e) }",
)


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_model_is_not_reported(text: str) -> None:
    found = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}"), select=["IRL7"]).findings
    assert not found, [each.message for each in found]


@pytest.mark.oracle
@pytest.mark.parametrize("text", SOUND)
def test_onnx_runtime_gives_finite_numbers(text: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).normal(size=session.get_inputs()[0].shape).astype(np.float32)
    results: Any = session.run(None, {"x": x})
    assert np.isfinite(results[0]).all(), results
