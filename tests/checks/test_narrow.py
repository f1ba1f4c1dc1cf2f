"""Dynamic sizes of which only a few neighboring values work."""

from __future__ import annotations

import numpy
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\ng '
HALVED = "p = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x)"
FLOATS = "float[1,1,8] w = {0, 0, 0, 0, 0, 0, 0, 0}"

#: A graph with the input ``x`` of shape [1, 1, H]; behind | the message and the help, nothing where there are none.
MODELS = f"""
=> (float[1,8] y) <int64[2] t = {{1, 8}}> {{ p = MaxPool <kernel_shape = [4], strides = [4]> (x) y = Reshape (p, t) }} | `H` of `x` is dynamic, but only 32 to 35 work | compute the target from the input (with -1, or with its Shape), or declare one of these sizes
=> (float[1,1,8] y) <{FLOATS}> {{ {HALVED} y = Add (p, w) }} | `H` of `x` is dynamic, but only 1, 2, 15 and 16 work | slice or compute `w` to the size of the input, or declare one of these sizes
=> (float[1,2,n] y) {{ {HALVED} q = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (p) y = Concat <axis = 1> (p, q) }} | `H` of `x` is dynamic, but only 1 and 2 work | correct MaxPool 'q', or insert the node that the other path lacks: input 0 has (H + 1)//2, and input 1 has (H + 3)//4 by MaxPool 'q'; or declare one of these sizes
=> (float[1,1,8] y) <{FLOATS}> {{ y = Add (x, w) }} |
=> (float[1,1,n] y) <int64[1] z = {{0}}, int64[1] a = {{2}}, {FLOATS}> {{ s = Shape <start = 2> (x) t = Slice (w, z, s, a) y = Add (x, t) }} |
=> (float[1,1,n] y) <int64[1] z = {{1}}, int64[1] a = {{2}}, {FLOATS}> {{ {HALVED} s = Shape <start = 2> (p) t = Slice (w, z, s, a) y = Add (p, t) }} | `H` of `x` is dynamic, but only 1 to 4 work | correct Slice 't', or insert the node that the other path lacks: input 0 has (H + 1)//2, and input 1 has max(min((H - 1)//2, 7), 0) by Slice 't'; or declare one of these sizes
=> (float[1,n] y) <int64[2] t = {{1, -1}}> {{ p = MaxPool <kernel_shape = [4], strides = [4]> (x) y = Reshape (p, t) }} |
""".strip().splitlines()


@pytest.mark.parametrize("line", MODELS)
def test_sizes_of_which_few_work(line: str) -> None:
    text, *expected = (part.strip() for part in line.split("|"))
    model = onnx.parser.parse_model(f"{HEAD}(float[1,1,H] x) {text}")
    found = [each for each in irlint.check(model).findings if each.rule.code == "IRL613"]
    assert [part for each in found for part in (each.message, each.help)] == [each for each in expected if each]


def test_a_slice_that_skips_the_first_row_of_a_table_is_corrected() -> None:
    text = f"""(float[1,1,H] x) => (float[1,1,n] y) <int64[1] z = {{1}}, int64[1] a = {{2}}, {FLOATS}> {{
        s = Shape <start = 2> (x) t = Slice (w, z, s, a) y = Add (x, t) }}"""
    model = onnx.parser.parse_model(HEAD + text)
    found = irlint.check(model).findings
    assert [(each.rule.code, each.suggestion) for each in found] == [("IRL608", "change 1 to 0 in constant `z`")]
    assert not irlint.fix(model, unsafe=True).report.findings


@pytest.mark.oracle
@pytest.mark.parametrize(("at", "works"), [(0, range(32, 36)), (1, (1, 2, 15, 16)), (2, (1, 2)), (5, range(1, 5))])
def test_onnxruntime_takes_these_sizes_alone(at: int, works: range | tuple[int, ...]) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(f"{HEAD}(float[1,1,H] x) {MODELS[at].partition('|')[0]}")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for size in range(1, 64):
        fed = {"x": numpy.zeros((1, 1, size), "float32")}
        if size in works:
            session.run(None, fed)
        else:
            with pytest.raises(Exception, match=r"Reshape|Add|Concat"):
                session.run(None, fed)


def test_an_unused_node_follows_from_a_value_that_bypasses_it() -> None:
    text = f"""(float[1,1,H] x) => (float[1,2,n] y) <float[3] f = {{1, 1, 2}}> {{
        {HALVED} q = MaxPool <kernel_shape = [2], strides = [2]> (p) u = Resize (q, "", f) y = Concat <axis = 1> (p, q)
    }}"""
    found = irlint.check(onnx.parser.parse_model(HEAD + text)).findings
    roots = [(each.rule.code, each.suggestion) for each in found if not each.because]
    assert roots == [("IRL613", "connect `u`, which nothing uses, as input 1")]
    assert [each.rule.code for each in found if each.because] == ["IRL905"]
