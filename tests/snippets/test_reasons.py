"""The notes under a finding: where the sizes that clash come from."""

from __future__ import annotations

import onnx
import pytest

import irlint
from irlint.inference.origins import Makers
from irlint.inference.walk import inferred
from irlint.parsers.onnx import read
from irlint.snippets.finding import Snippets

HEAD = '<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1, "f" : 1]>\n'


def drawings(text: str) -> list[tuple[list[str], bool]]:
    """The notes of every error, and whether it has a table of shapes."""
    known = inferred(read("m.onnx", onnx.parser.parse_model(HEAD + text).SerializeToString()))
    snippets = Snippets(known.model, Makers(known), None)
    drawn = [snippets.snippet(problem) for problem in known.problems if problem.is_error]
    return [(list(snippet.notes), snippet.table is not None) for snippet in drawn]


#: What makes b from the float[2,64] a that MatMul[0] makes of x and w, and the note on the 64 that clashes with 65.
NOTES = (
    """
b = Relu (a)                                          | 64 is declared: graph input `w`, then kept by MatMul[0] and Relu[1]
b = com.microsoft.FastGelu (a)                        | 64 is declared: graph input `w`, then kept by MatMul[0] and FastGelu[1]
b = com.microsoft.BiasGelu (a, v)                     | 64 is declared: graph input `w`, then kept by MatMul[0] and BiasGelu[1]
b = com.microsoft.SkipLayerNormalization (a, a, v)    | 64 is declared: graph input `w`, then kept by MatMul[0] and SkipLayerNormalization[1]
b = Concat <axis = 1> (x, x)                          | 64 = 32 + 32 (axis 1 of its inputs) in Concat[1]
""".replace(" (axis 1 of its inputs) in Concat[1]", " in Concat[1] (axis 1 of its inputs)")
    .strip()
    .splitlines()
)


@pytest.mark.parametrize("line", NOTES)
def test_notes(line: str) -> None:
    node, note = (each.strip() for each in line.split("|"))
    inputs = "float[2,32] x, float[32,64] w, float[64] v, float[65] c"
    text = f"g ({inputs}) => (float[2,64] y) {{ a = MatMul (x, w) {node} y = Add (b, c) }}"
    assert drawings(text) == [([note], True)]


@pytest.mark.parametrize(("filters", "is_traced"), [(12, True), (16, False)])
def test_fixed_factors_that_do_not_divide_a_clashing_size_are_traced(filters: int, is_traced: bool) -> None:
    inputs = f"float[N,3,H,W] x, float[{filters},3,1,1] k, float[1024,10] w"
    text = f"g ({inputs}) => (float[N,10] y) {{ c = Conv (x, k) f = Flatten (c) y = MatMul (f, w) }}"
    notes = [note for each, _ in drawings(text) for note in each]
    assert (f"{filters} is declared: graph input `k`, then kept by Conv[0]" in notes) == is_traced
    assert bool(notes) == is_traced


def test_sizes_that_one_place_declares_share_a_note() -> None:
    text = "g (float[3,4] x, float[5,6] c) => (float y) { b = Neg (x) y = Add (b, c) }"
    assert drawings(text)[0][0] == ["3 and 4 are declared: graph input `x`, then kept by Neg[0]"]


def test_the_size_that_only_a_declaration_gives() -> None:
    nodes = "b = f.Special (x) y = Add (b, c)"
    text = f"g (float[2] x, float[5] c) => (float y) <float[4] b> {{ {nodes} }}"
    assert "4 is declared for the output of Special[0], which could not be inferred" in drawings(text)[0][0]


FUNCTION = """
<domain: "f", opset_import: ["" : 17]>
Twice (a, b) => (c) { d = Neg (a) c = Add (d, b) }"""


@pytest.mark.parametrize(
    ("calls", "shown"),
    [("p = f.Twice (x, x) q = f.Twice (x, v)", True), ("q = f.Twice (x, v) p = f.Twice (x, x)", False)],
    ids=["the last call clashes", "the first call clashes"],
)
def test_shapes_in_a_function_are_shown_where_they_are_those_of_the_fault(calls: str, shown: bool) -> None:
    text = f"g (float[3] x, float[4] v) => (float q) {{ {calls} }}" + FUNCTION
    assert next(table for _, table in drawings(text)) is shown


def test_why_nothing_is_left_of_an_axis() -> None:
    nodes = "b = Slice (x, s, e, s0) c = Add (b, y)"
    ((notes, _),) = drawings(
        "g (float[2,3] x, float[2,4] y) => (c) <int64[1] s = {3}, int64[1] e = {4}, int64[1] s0 = {1}> { "
        + nodes
        + " }"
    )
    assert (
        notes[0]
        == "0 is what Slice[0] leaves of 3; the slice starts at 3 and axis 1 has 3 elements: the slice is empty"
    )


def test_where_a_size_comes_from_that_an_input_port_declares_otherwise() -> None:
    port = '<port id="{}" precision="FP32"><dim>2</dim><dim>{}</dim></port>'
    net = f"""<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/>
<output>{port.format(0, 8)}</output></layer>
<layer id="1" name="s" type="SoftMax" version="opset1"><data axis="1"/><input>{port.format(0, 7)}</input>\
<output>{port.format(1, 8)}</output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input>{port.format(0, 8)}</input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""
    report = irlint.check(net.encode(), name="m.xml")
    (found,) = report.findings
    assert (found.message, found.input) == ("8 arrives on axis 1, but input port 0 declares 7", 0)
    assert '= note: 8 is declared: <data shape="2,8"> of Parameter "x", m.xml:2' in report.text(width=120)
