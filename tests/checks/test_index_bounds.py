"""Indices that are outside their axis for usual sizes. ONNX Runtime is asked."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: A loop over the axis {axis} of its input, whose body reads axis 1.
LOOP = """g (float[N,S,4] x) => (float[?,N,4] y) <int64 a = {{{axis}}}, bool c = {{1}}> {{
  s = Shape (x) n = Gather (s, a)
  y = Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) {{ e = Identity (c) t = Gather <axis = 1> (x, i) }}>
}}"""

#: Two tables of positions that are read from row 2 on.
TABLES = """g (int64[N,S] x, int64[N,T] z) => (float[S,2] y, float[T,2] v) <float[{rows},2] p, float[8,2] q, int64 o = {{0}}, int64 one = {{1}}, int64 two = {{2}}> {{
  a = Shape (x) n = Gather (a, one) r = Range (o, n, one) i = Add (r, two) y = Gather (p, i)
  b = Shape (z) m = Gather (b, one) w = Range (o, m, one) j = Add (w, two) v = Gather (q, j) }}"""


def model_of(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(HEAD + text)
    for value in list(model.graph.value_info):
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.name in ("p", "q"):
            model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), value.name))
    del model.graph.value_info[:]
    return model


def runs(model: onnx.ModelProto, **feed: numpy.ndarray) -> bool:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)
    except Exception as error:
        if "out of data bounds" not in str(error):
            raise
        return False
    return True


def contract(model: onnx.ModelProto, folder: Path) -> list[str]:
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return [each["condition"] for each in irlint.contract(path)["requires"]]


@pytest.mark.oracle
def test_a_loop_over_another_axis_than_it_reads(tmp_path: Path) -> None:
    sound, broken = (model_of(LOOP.format(axis=axis)) for axis in (1, 2))
    short = numpy.ones((1, 2, 4), "float32")
    long = numpy.ones((1, 4, 4), "float32")
    assert (runs(sound, x=short), runs(sound, x=long)) == (True, True)
    assert (runs(broken, x=short), runs(broken, x=long)) == (False, True)
    assert (contract(sound, tmp_path), contract(broken, tmp_path)) == ([], ["S >= 4"])
    assert irlint.check(sound).findings == ()
    (found,) = irlint.check(broken).findings
    assert (found.rule.code, found.severity.value) == ("IRL346", "warning")
    assert found.message == (
        "the iteration number, 0 to 3, is an index into axis 1 of input 0, whose size is S; the trip count 4 is the "
        "size of axis 2 of `x`, and S that of axis 1"
    )
    assert found.help == "take axis 1 of `x` as the trip count, or read axis 2"


@pytest.mark.parametrize(
    ("loop", "conditions"),
    [
        ("Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) { e = Identity (c) t = Gather <axis = 1> (x, i) }>", ["S >= 3"]),
        ("Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) { e = Not (c) t = Gather <axis = 1> (x, i) }>", []),
        ("Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) { e = Less (i, k) t = Gather <axis = 1> (x, i) }>", []),
        ("Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) { e = Identity (c) j = Add (i, k) t = Gather <axis = 1> (x, j) }>", ["S >= 4"]),
        ("Loop (n, c) <body = b (int64 i, bool d) => (bool e, float[N,4] t) { e = Identity (c) j = Mul (i, i) h = Mod (j, k) t = Gather <axis = 1> (x, h) }>", []),
    ],
)  # fmt: skip
def test_the_iteration_number_is_known_in_the_body(loop: str, conditions: list[str], tmp_path: Path) -> None:
    constants = "int64 n = {3}, int64 k = {1}, bool c = {1}"
    text = f"g (float[N,S,4] x) => (float[?,N,4] y) <{constants}> {{ y = {loop} }}"
    assert contract(model_of(text), tmp_path) == conditions


@pytest.mark.oracle
def test_a_table_without_the_rows_that_its_lookup_skips() -> None:
    sound, broken = (model_of(TABLES.format(rows=rows)) for rows in (8, 6))
    ids = {"x": numpy.zeros((1, 6), "int64"), "z": numpy.zeros((1, 6), "int64")}
    assert (runs(sound, **ids), runs(broken, **ids)) == (True, False)
    assert irlint.check(sound).findings == ()
    (found,) = irlint.check(broken).findings
    assert (found.rule.code, found.severity.value) == ("IRL346", "note")
    assert found.help == "store 8 rows in `p`: the 2 rows that the lookup skips are probably missing"
    assert not irlint.check(model_of(TABLES.format(rows=5))).findings
