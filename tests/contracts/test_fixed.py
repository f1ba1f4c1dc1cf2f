"""What a contract fixes of the sizes that a model declares dynamic: one, one beside 1, or a product; and what it leaves
to choose."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
import pytest
from contracts.models import HEAD

from irlint.contracts.contract import contract_of
from irlint.contracts.fixed import fixed_product, fixed_sizes, product_text
from irlint.contracts.simplified import simplified
from irlint.dims import symbol
from irlint.findings.statements import Relation
from irlint.run.listing import inferred_file

#: Models, and what is fixed: the symbols, the size or the condition, and what works beside it.
MODELS = [
    ("(float[B,S,4] x, float[1,7,4] p) => (y) { y = Add (x, p) }", [("S", 7, "1, by broadcasting")]),
    ("(float[B,2,S,S] x, float[1,1,8,8] p) => (y) { y = Add (x, p) }", [("S", 8, "1, by broadcasting")]),
    ("(float[B,S] x, bool[5,1] c, float v) => (y) { y = Where (c, x, v) }", [("B", 5, "1, by broadcasting")]),
    ("(float[B,S] x) => (y) <int64[2] t = {1, 6}> { y = Expand (x, t) }", [("S", 6, "1, by broadcasting")]),
    ("(float[B,S] x) => (y) <int64[2] t = {1, 1}> { y = Expand (x, t) }", []),
    ("(float[B,S] x, float[7,2] w) => (y) { y = MatMul (x, w) }", [("S", 7, "")]),
    (
        "(float[N,3] x, float[M,3] z, float[5,3] c) => (y) { d = Concat <axis = 1> (x, z, c) y = Relu (d) }",
        [("N", 5, ""), ("M", 5, "")],
    ),
    ("(float[B,3,H,W] x, float[12288,5] w) => (y) { f = Flatten (x) y = MatMul (f, w) }", [("H W", "H*W == 4096", "")]),
    (
        "(float[B,H,W] x, float[12] c) => (y) <int64[2] t = {0, -1}> { f = Reshape (x, t) y = Add (f, c) }",
        [("H W", "H*W == 12", "H*W == 1, by broadcasting")],
    ),
    (
        "(float[B,1,H,W] x, float[1,1,3,3] k, float[64,5] w) => (y) { c = Conv (x, k) f = Flatten (c) y = MatMul (f, "
        "w) }",
        [("H W", "(H - 2)*(W - 2) == 64", "")],
    ),
    (
        "(float[B,1,H,W] x, float[4,1,2,2] k, float[1,1,4] c, float[1,17,4] p) => (y) <int64[3] t = {0, 4, -1}, "
        "int64[3] o = {1, 1, 4}> "
        "{ e = Conv <strides = [2, 2]> (x, k) r = Reshape (e, t) q = Transpose <perm = [0, 2, 1]> (r) b = Expand (c, "
        "u) s = Shape <end = 1> (x) "
        "v = Constant <value_ints = [1, 4]> () u = Concat <axis = 0> (s, v) m = Concat <axis = 1> (b, q) y = Add (m, "
        "p) }",
        [("H W", "(H//2)*(W//2) == 16", "")],
    ),
    ("(float[N,M] x) => (y) <int64[2] t = {1, 1}> { y = Reshape (x, t) }", [("M", 1, ""), ("N", 1, "")]),
    (
        "(float[N,3] a, float[M,3] b, float[6,2] c) => (y) { e = Concat <axis = 0> (a, b) y = Concat <axis = 1> (e, c) "
        "}",
        [],
    ),
    (
        "(float[N,3] a, float[M,3] b, float[2,2] c) => (y) { e = Concat <axis = 0> (a, b) y = Concat <axis = 1> (e, c) "
        "}",
        [("M", 1, ""), ("N", 1, "")],
    ),
    ("(float[H,3] x) => (y) <int64[2] t = {-1, 12}> { y = Reshape (x, t) }", []),
    ("(float[1,1,H] x, float[1,1,7] w) => (y) { y = Conv (x, w) }", []),
    (
        "(float[N,2,H] x, float[8,5] w) => (y) { p = MaxPool <kernel_shape = [2], strides = [2]> (x) f = Flatten (p) y "
        "= MatMul (f, w) }",
        [],
    ),
    ("(float[N,3] x, float[M,3] z) => (y) { y = Concat <axis = 1> (x, z) }", []),
    ("(float[B,H,W] x) => (y) <int64[2] t = {-1, 12}> { y = Reshape (x, t) }", []),
    (
        "(int64[2,S] x, float[2,2] p) => (y) { s = Shape <start = 1> (x) n = Squeeze (s) z = Constant <value_int = 0> "
        "() o = Constant <value_int = 1> () r = Range (z, n, o) y = Gather (p, r) }",
        [],
    ),
]


@pytest.mark.parametrize(("text", "expected"), MODELS, ids=range(len(MODELS)))
def test_what_is_fixed(text: str, expected: list[tuple[str, int | str, str]], tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    contract = contract_of(inferred_file(str(path)))
    limits = dict.fromkeys(("B", "S", "N", "M", "K", "H", "W"), (1, None))
    found = [
        (" ".join(each.names), each.size or each.condition, each.broadcast) for each in fixed_sizes(contract, limits)
    ]
    assert found == expected


def test_limits_of_an_axis_leave_one_size(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {MODELS[0][0]}").SerializeToString())
    (found,) = fixed_sizes(contract_of(inferred_file(str(path))), {"S": (2, 100)})
    assert (found.names, found.size, found.broadcast) == (("S",), 7, "")


H, W, N = (symbol(name, 1) for name in "HWN")


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (Relation("==", 3 * H * W, 12288), "H*W == 4096"),
        (Relation("==", 20, H * W * N), "H*N*W == 20"),
        (Relation("==", N * (H - 2), 20), "N*(H - 2) == 20"),
        (Relation("==", (H + 1) * (W + 2), 20), "(H + 1)*(W + 2) == 20"),
        (Relation("==", (H // 2) * (W // 2), 16), "(H//2)*(W//2) == 16"),
        (Relation("==", (2 * H + 1) * (W + 1), 20), "2*H*W + 2*H + W + 1 == 20"),
        (Relation("==", H + W, 20), ""),
        (Relation("==", H * W, N), ""),
        (Relation("==", H * H, 16), ""),
        (Relation(">=", H * W, 16), ""),
        (Relation("%", H * W, 16), ""),
        (Relation("==", H * W + N, 16), ""),
    ],
    ids=str,
)
def test_products(relation: Relation, text: str) -> None:
    found = fixed_product((simplified(relation),))
    assert ("" if found is None else product_text(found.left, found.right)) == text
