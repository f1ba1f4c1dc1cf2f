"""The MACs of single nodes, counted by hand, and of the ways in which graphs contain others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from cases.models import document
from cases.notation import Case, cases

import irlint
from irlint.costs.products import FORMULAS
from irlint.ops import tables
from irlint.ops.signatures import signature

#: Nodes in the notation of the cases, and behind the arrow their MACs as arithmetic.
NODES = Path(__file__).with_name("nodes.txt")

EVERY = [case for line in NODES.read_text("utf-8").splitlines() for case in cases(line)]


def info(case: Case) -> dict[str, Any]:
    path, data, _ = document(case.model)
    return irlint.info(data, name=path)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: str(case.model))
def test_macs_of_a_node(case: Case) -> None:
    found = info(case)["macs"]
    assert found == (case.expected if isinstance(found, str) else eval(case.expected))


#: Graphs that contain others, and their MACs: an If has those of its larger branch, a Loop runs as often as is known.
GRAPHS = {
    "the larger branch": (
        "(float[2,3] x, bool c, float[3,5] w) => (y) { y = If (c) <then_branch = g () => (t) { t = MatMul (x, w) },"
        " else_branch = g () => (e) { m = MatMul (x, w) e = Add (m, m) n = MatMul (x, w) } > }",
        60,
    ),
    "a trip count": (
        "(float[2,2] x) => (y) { n = Constant <value_int = 7> () c = Constant <value_int = 1> () t = Cast <to = 9> (c)"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        7 * 8,
    ),
    "a trip count that is a size": (
        "(float[2,2] x, float[T] z) => (y) { n = Size (z) c = Constant <value_int = 1> () t = Cast <to = 9> (c)"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        "8*T",
    ),
    "an unknown trip count": (
        "(float[2,2] x, int64 n, bool t) => (y) {"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        8,
    ),
    "a branch with inputs, which no branch may have": (
        "(float[2,3] x, bool c, float[3,5] w) => (y) { y = If (c) <then_branch = g (float[2,3] v) => (t)"
        " { t = MatMul (v, w) }, else_branch = g () => (e) { e = MatMul (x, w) } > }",
        30,
    ),
    "an attention whose bodies change scores": (
        "(float[1,2,5,4] q, float[1,2,7,4] k, float[1,2,7,4] v) => (y) { y = ai.onnx.preview.FlexAttention"
        " <score_mod = g (float[1,2,5,7] a) => (float[1,2,5,7] b) { t = Transpose <perm = [0,1,3,2]> (a)"
        " p = MatMul (a, t) b = MatMul (p, a) }> (q, k, v) }",
        2 * 5 * 7 * (4 + 4) + 2 * 2 * 5 * 5 * 7,
    ),
    "a scan": (
        "(float[3,2] s, float[L,3,2] x, float[2,2] w) => (y, z) {"
        " y, z = Scan <num_scan_inputs = 1, body = g (float[3,2] a, float[3,2] b) => (p, q)"
        " { p = MatMul (a, w) q = Identity (b) } > (s, x) }",
        "12*L",
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_macs_of_graphs(name: str) -> None:
    text, expected = GRAPHS[name]
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17, "ai.onnx.preview" : 1]> g {text}')
    found = irlint.info(model)
    assert found["macs"] == expected
    assert "uncounted" not in found


def test_a_beam_search_runs_the_body_that_it_declares_once() -> None:
    decoder = """g (int32[b, 1] ids) => (float[b, 1, 8] logits) <float[8, 4] t = {0}, float[4, 8] w = {0}>
        { e = Gather (t, ids) logits = MatMul (e, w) }"""
    text = f"""<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (int32[N, S] ids, int32[1] most) => (int32[N, 1, M] y) {{ y = com.microsoft.GreedySearch
        <eos_token_id = 1, pad_token_id = 0, decoder = {decoder}> (ids, most) }}"""
    found = irlint.info(onnx.parser.parse_model(text))
    assert (found["macs"], found["dearest"][0]["graph"]) == ("32*b", "y/decoder")


def test_a_function_counts_at_each_call_with_its_own_sizes() -> None:
    text = """<ir_version: 10, opset_import: ["" : 17, "f" : 1]>
        g (float[2,3] x, float[3,3] w, float[5,3] z) => (y, v) { y = f.Twice (x, w) v = f.Twice (z, w) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]> Twice (a, b) => (c) { m = f.Once (a, b) c = f.Once (m, b) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]> Once (a, b) => (c) { c = MatMul (a, b) }"""
    found = irlint.info(onnx.parser.parse_model(text))
    assert found["macs"] == 2 * 2 * 9 + 2 * 5 * 9


def test_a_custom_operator_is_not_counted() -> None:
    text = """<ir_version: 9, opset_import: ["" : 17, "my.domain" : 1]>
        g (float[2,3] x, float[3,5] w) => (float[2,5] z) { y = MatMul (x, w) z = my.domain.Special (y) }"""
    found = irlint.info(onnx.parser.parse_model(text))
    assert (found["macs"], found["uncounted"]) == (30, {"my.domain.Special": 1})


#: Models with sizes at which their expressions have the values of the counts at these fixed sizes.
SIZES = (1, 2, 3, 7, 32)
DYNAMIC = {
    "convolutions": "(float[N,3,H,16] x, float[4,3,3,3] w, float[5,4,3,3] v) => (z) {"
    " y = Conv <strides = [2,2], pads = [1,1,1,1]> (x, w) r = Relu (y) z = Conv <pads = [1,1,1,1]> (r, v) }",
    "attention": "(float[N,H,8] x) => (y) { t = Transpose <perm = [0,2,1]> (x) s = MatMul (x, t)"
    " p = Softmax (s) y = MatMul (p, x) }",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DYNAMIC)
def test_expressions_have_the_values_of_fixed_sizes(name: str, size: int) -> None:
    text = DYNAMIC[name]
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> g {text}')
    shape = irlint.info(model)["inputs"][0]["shape"]
    sizes = {"N": size, "H": 2 * size + 1}
    dynamic, fixed = irlint.info(model), irlint.info(model, shapes={"x": [sizes.get(dim, dim) for dim in shape]})
    for count in ("macs", "peak_memory"):
        assert eval(dynamic[count], {"max": max, "min": min, **sizes}) == fixed[count]
    assert dynamic["macs"] != fixed["macs"]


#: Models that the package onnx has, the MACs that onnx-tool 1.0 counts for their convolutions and products, and how
#: many of these are additions of a bias to an element of an output, which multiply nothing.
NETWORKS = {
    "bvlc_alexnet": (596538880 + 58631144, 609640),
    "densenet121": (2834162664, 1000),
    "inception_v1": (1433545984 + 1025000, 3014632),
    "inception_v2": (2017827840 + 1025000, 1000),
    "resnet50": (4087136256 + 2049000, 1000),
    "shufflenet": (124421584 + 545000, 302056),
    "squeezenet": (351741288, 2589352),
    "vgg19": (19523280896 + 123642856, 14861288),
    "zfnet512": (1402532992 + 80721896, 1527880),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_macs_of_another_counter_less_its_biases(name: str) -> None:
    theirs, biases = NETWORKS[name]
    path = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    assert irlint.info(path)["macs"] == theirs - biases


def test_every_formula_is_one_that_there_is_and_takes_inputs_of_the_operator() -> None:
    operators = [each for table in tables() for versions in table.values() for each in versions if each.macs]
    assert {str(each.macs[0]) for each in operators} == FORMULAS.keys()
    for each in operators:
        words = [word for word in each.macs[1:] if isinstance(word, str)]
        assert set(words) <= set(signature(each.function).inputs), each.name
