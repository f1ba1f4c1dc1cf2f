"""Names of sizes that stand for two sizes, and what ONNX Runtime makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnx.parser
import pytest

import irlint
from irlint.findings.faults import Severity

HEAD = '<ir_version: 8, opset_import: ["" : 13]>\n'
WEIGHTS = f"float[4,4] w = {{{','.join('1' * 16)}}}"

#: Products behind one that has more rows than what is freed before it.
CHAIN = (
    "{ a = MatMul (x, w) b = Concat <axis = 0> (a, a) c = MatMul (b, w) d = MatMul (c, w) y = ReduceSum <keepdims = "
    "0> (d) }"
)

#: Models, the sizes of their inputs, and the error of ONNX Runtime for these sizes, "" where it runs.
MODELS: Mapping[str, tuple[str, Mapping[str, Sequence[int]], str]] = {
    "the name of an input": (
        f"g (float[N,4] x) => (float y) <{WEIGHTS}, float[N,4] b> {CHAIN}",
        {"x": [3, 4]},
        "re-use buffer",
    ),
    "a name of its own": (f"g (float[N,4] x) => (float y) <{WEIGHTS}, float[M,4] b> {CHAIN}", {"x": [3, 4]}, ""),
    "two values of one name": (
        f"g (float[N,4] x) => (float y) <{WEIGHTS}, float[M,4] a, float[M,4] b> {CHAIN}",
        {"x": [3, 4]},
        "re-use buffer",
    ),
    "two values of two names": (
        f"g (float[N,4] x) => (float y) <{WEIGHTS}, float[K,4] a, float[M,4] b> {CHAIN}",
        {"x": [3, 4]},
        "",
    ),
}


def found(text: str) -> list[tuple[Severity, str, str]]:
    findings = irlint.check(onnx.parser.parse_model(HEAD + text)).folded().findings
    return [(each.severity, each.rule.code, each.message) for each in findings]


@pytest.mark.parametrize("name", MODELS)
def test_a_name_of_two_sizes_is_a_warning(name: str) -> None:
    text, _, error = MODELS[name]
    expected = [(Severity.WARNING, "IRL601")] * bool(error)
    assert [each[:2] for each in found(text)] == expected


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_reuses_buffers_by_names_of_sizes(name: str) -> None:
    import onnxruntime

    text, shapes, error = MODELS[name]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    model = onnx.parser.parse_model(HEAD + text).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    feeds = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    if not error:
        session.run(None, feeds)
        return
    with pytest.raises(Exception, match=error):
        session.run(None, feeds)


def test_several_names_are_one_finding() -> None:
    more = f"{WEIGHTS}, float[M,4] a, float[M,4] b, float[K,4] c, float[4,K] e, float[4,M] f"
    chain = CHAIN.replace("d = ", "e = Transpose (a) f = Transpose (c) d = ")
    message = found(f"g (float[N,4] x) => (float y) <{more}> {chain}")[0][2]
    assert message == (
        "'M' is the name of two sizes: axis 0 of 'a' is N, and axis 0 of 'b' is 2*N, and 1 other name of the graph "
        "is used for two"
    )


def test_one_name_for_all_sizes_of_inputs() -> None:
    text = (
        "g (float[N,4] x, float[N,4] past, float[4,N] mask) => (float[N,4] y) { a = Concat <axis = 0> (past, x) t = "
        "Transpose (mask) y = Add (a, t) }"
    )
    ((severity, code, message),) = found(text)
    assert (severity, code) == (Severity.WARNING, "IRL601")
    assert message == (
        "'N' is the name of input sizes that must differ (axis 0 of 'x', axis 0 of 'past', axis 1 of 'mask'): here "
        "N == 2*N is needed"
    )


@pytest.mark.parametrize(
    "text",
    [
        "g (float[N,N] x) => (float[N,N] y) { y = Transpose (x) }",
        "g (float[N,4] x) => (float[M,4] y) <float[N,4] b> { b = Relu (x) y = Concat <axis = 0> (b, b) }",
        'g (float["None",4] x) => (float["None",4] y) <float["None",4] b> { b = Relu (x) y = Neg (b) }',
        "g (float[H] x, float[W] z) => (float[N] y, float[N] v) { y = Relu (x) v = Relu (z) }",
    ],
)
def test_what_may_be_one_size_is_no_finding(text: str) -> None:
    assert not found(text)


SEVERAL = "g (float[N,4] x, float[N,4] p, float[4,N] m, float[3,2] c) => (float[Y,4] y, float[4,2] z) { \
a = Concat <axis = 0> (p, x) t = Transpose (m) [n] y = Add (a, t) [k] z = MatMul (m, c) }"


def test_what_no_size_of_the_only_name_fits_is_a_warning() -> None:
    found = irlint.check(onnx.parser.parse_model(HEAD + SEVERAL)).findings
    assert [
        (each.severity, each.rule.code, bool(each.because)) for each in found if each.severity is not Severity.NOTE
    ] == [
        (Severity.WARNING, "IRL601", False),
        (Severity.WARNING, "IRL609", True),
    ]


@pytest.mark.oracle
def test_onnxruntime_runs_what_no_size_of_the_only_name_fits() -> None:
    import onnxruntime

    model = onnx.parser.parse_model(HEAD + SEVERAL).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    shapes = {"x": (2, 4), "p": (1, 4), "m": (4, 3), "c": (3, 2)}
    assert len(session.run(None, {name: np.ones(shape, np.float32) for name, shape in shapes.items()})) == 2
