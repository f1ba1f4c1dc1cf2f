"""What `check` reports of sizes that are declared dynamic and that the graph restricts: message, severity, marks, help
and root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx.parser
import pytest

import irlint
from irlint.findings.report import Finding

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

ONES = "and 1, by broadcasting"


def findings(text: str, folder: Path) -> list[Finding]:
    """The findings about sizes of a model."""
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    return [each for each in irlint.check(path).findings if each.rule.code in ("IRL601", "IRL608", "IRL609")]


def floats(*dims: int) -> str:
    count = 1
    for dim in dims:
        count *= dim
    return f"float[{','.join(map(str, dims))}] w = {{{', '.join('0' * count)}}}"


MESSAGES = [
    (
        "(float[batch,seq,16] x, float[1,77,16] t) => (float[P,Q,16] y) { y = Add (x, t) }",
        f"warning IRL608: `seq` of `x` is dynamic, but only 77 works ({ONES})",
    ),
    (
        "(float[batch,8,seq,seq] x, float[1,1,128,128] m) => (float[P,8,Q,R] y) { y = Add (x, m) }",
        f"warning IRL608: `seq` of `x` is dynamic, but only 128 works ({ONES})",
    ),
    (
        "(float[batch,3,H,W] x, float[12288,5] w) => (float[P,5] y) { f = Flatten (x) y = MatMul (f, w) }",
        "warning IRL608: `H` and `W` of `x` are dynamic, but only sizes with H*W == 4096 work",
    ),
    (
        "(float[N,2] x, float[M,3] z) => (float[P,Q] y) <int64[2] s = {3, 2}, int64[2] t = {2, 12}> "
        "{ a = Reshape (x, s) b = Reshape (z, t) c = MatMul (a, t2) t2 = Transpose (a) y = Concat <axis = 1> (c, d) d "
        "= Transpose (e) e = Reshape (b, u) u = Constant <value_ints = [8, 3]> () }",
        "warning IRL608: `N` of `x` is dynamic, but only 3 works; warning IRL608: `M` of `z` is dynamic, but only 8 "
        "works",
    ),
    (
        "(float[N,3] x, float[M,3] z, float[5,3] c) => (float[P,9] y) { y = Concat <axis = 1> (x, z, c) }",
        "warning IRL608: `N` of `x` is dynamic, but only 5 works; warning IRL608: `M` of `z` is dynamic, but only 5 "
        "works",
    ),
    (
        "(float[N,3] x, float[M,3] z) => (float[P,3] y) <int64[2] s = {2, 6}> { c = Concat <axis = 0> (x, z) y = "
        "Identity (c) }",
        "",
    ),
    (
        "(float[N] x, float[M] z) => (float[3,4] y) <int64[2] s = {3, -1}, int64[2] t = {-1, 4}> "
        "{ a = Reshape (x, s) b = Reshape (z, t) y = MatMul (a, b) }",
        "",
    ),
    (
        "(float[b,t,64] x) => (float[P,Q,R,12] y) { s = Shape (x) i = Constant <value_ints = [0, 1]> () h = Gather (s, "
        "i) "
        "p = Constant <value_ints = [-1, 12]> () c = Concat <axis = 0> (h, p) y = Reshape (x, c) }",
        "error IRL609: no sizes of `b` and `t` of `x` work: this node needs (64*b*t) % (12*b*t) == 0, which is 64 % 12 "
        "== 0",
    ),
    (
        "(float[b,t,60] x) => (float[P,Q,R,12] y) { s = Shape (x) i = Constant <value_ints = [0, 1]> () h = Gather (s, "
        "i) "
        "p = Constant <value_ints = [-1, 12]> () c = Concat <axis = 0> (h, p) y = Reshape (x, c) }",
        "",
    ),
    (
        "(float[n] x, float[6] a, float[12] b) => (float[P] y, float[Q] z) "
        "{ r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s) }",
        "error IRL609: no size of `n` of `x` works: this node needs 3*n == 12 or 3*n == 1, and Sub 'y' needs 2*n == 6 "
        "or 2*n == 1",
    ),
    (
        '(float[n,3,h,w] x) => (float[P,3,8,8] y) <int64[4] s = {1, 3, 8, 8}> { y = Resize <mode = "linear"> (x, , , '
        "s) }",
        "warning IRL608: `n` of `x` is dynamic, but only 1 works",
    ),
    (
        '(float[1,3,h,w] x) => (float[1,6,8,8] y) <int64[4] s = {1, 6, 8, 8}> { y = Resize <mode = "linear"> (x, , , '
        "s) }",
        "warning IRL608: `w` of `x` is dynamic, but only 8 works",
    ),
    (
        '(float[1,c,h,w] x) => (float[1,3,8,8] y) <int64[4] s = {1, 3, 8, 8}> { y = Resize <mode = "linear"> (x, , , '
        "s) }",
        "",
    ),
    (
        "(float[n,c,h,w] x) => (float[n,c,8,8] y) { b = Shape <end = 2> (x) k = Constant <value_ints = [8, 8]> () "
        's = Concat <axis = 0> (b, k) y = Resize <mode = "cubic"> (x, , , s) }',
        "",
    ),
    (
        "(float[N,3] a, float[M,3] b) => (float[P,6] y, float[Q,6] z) { c = Concat <axis = 0> (a, a) d = Concat <axis "
        "= 0> (b, a) "
        "y = Concat <axis = 1> (c, d) e = Concat <axis = 0> (b, b, b) z = Concat <axis = 1> (e, c) }",
        "error IRL609: no sizes of `N` of `a` and `M` of `b` work: this node needs 3*M == 2*N, and Concat 'y' needs "
        "2*N == M + N",
    ),
]


@pytest.mark.parametrize(("text", "expected"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(text: str, expected: str, tmp_path: Path) -> None:
    found = findings(text, tmp_path)
    message = [f"{each.severity.value} {each.rule.code}: {each.message}" for each in found]
    assert "; ".join(message) == expected


BRANCHES = [
    ("Sub (x, a)", "Mul (a, x)", f"`N` of `x` is dynamic, but only 4 works ({ONES})"),
    ("Sub (x, a)", "Concat <axis = 1> (x, a)", f"`N` of `x` is dynamic, but only 4 works ({ONES})"),
    ("Sub (x, a)", "Sub (x, b)", ""),
    ("Sub (x, a)", "Relu (x)", ""),
    ("Concat <axis = 1> (x, a)", "Concat <axis = 1> (x, b)", ""),
    ("Concat <axis = 1> (x, b)", "Concat <axis = 1> (b, x)", "`N` of `x` is dynamic, but only 5 works"),
    ("Reshape (x, t)", "Sub (x, a)", f"`N` of `x` is dynamic, but only 4 works ({ONES})"),
    ("Reshape (x, t)", "Relu (x)", ""),
    (
        "Reshape (x, t)",
        "Reshape (x, t)",
        "no size of `N` of `x` works: this node needs (3*N) % (2*N) == 0, which is 3 % 2 == 0",
    ),
]


@pytest.mark.parametrize(("then", "otherwise", "expected"), BRANCHES)
def test_what_both_branches_need(then: str, otherwise: str, expected: str, tmp_path: Path) -> None:
    text = (
        "(bool c, float[N,3] x, float[4,3] a, float[5,3] b) => (y) { s = Shape <end = 1> (x) k = Constant <value_ints "
        "= [-1, 2]> () "
        f"t = Concat <axis = 0> (s, k) y = If (c) <then_branch = p () => (u) {{ u = {then} }}, else_branch = q () => "
        f"(v) {{ v = {otherwise} }}> }}"
    )
    assert "; ".join(each.message for each in findings(text, tmp_path)) == expected


def test_a_branch_in_a_branch_is_not_always_needed(tmp_path: Path) -> None:
    inner = "u = If (d) <then_branch = p () => (s) { s = Sub (x, a) }, else_branch = q () => (t) { t = Mul (x, a) }>"
    outer = (
        "(bool c, bool d, float[N,3] x, float[4,3] a) => (y) { y = If (c) <then_branch = r () => (u) { INNER }, "
        "else_branch = e () => (v) { v = OTHER }> }"
    )
    assert not findings(outer.replace("INNER", inner).replace("OTHER", "Relu (x)"), tmp_path)
    (found,) = findings(outer.replace("INNER", inner).replace("OTHER", "Add (x, a)"), tmp_path)
    assert found.message == f"`N` of `x` is dynamic, but only 4 works ({ONES})"


def test_an_output_that_is_always_one_size_follows(tmp_path: Path) -> None:
    text = "(float[batch,seq,16] x, float[1,77,16] t) => (float[batch,seq,16] y) { a = Add (x, t) y = Relu (a) }"
    found = {each.rule.code: each for each in findings(text, tmp_path)}
    assert found["IRL601"].because == found["IRL608"].fingerprint
    assert found["IRL608"].because == ""
    assert {each.severity.value for each in found.values()} == {"warning"}
    assert not [
        each
        for each in findings(text.replace("float[batch,seq,16] y", "float[batch,77,16] y"), tmp_path)
        if each.because
    ]


@pytest.mark.parametrize(
    ("inputs", "nodes", "severity"),
    [
        ("float[B,S,C] x", "y = MatMul (x, w)", "note"),
        ("float[B,S,4] x", "y = MatMul (x, w)", ""),
        ("float[B,3,C] x", "y = MatMul (x, w)", "warning"),
        ("float[B,S,C] x, float[2] z", "y = MatMul (x, w)", "warning"),
        ("float[B,S,C] x", "v = Neg (w) y = MatMul (x, v)", "note"),
        ("float[B,S,C] x", "v = Transpose (w) u = Identity (v) y = MatMul (x, u)", "note"),
        ("float[B,S,C] x, float[N,M] w2", "v = MatMul (w2, w) y = MatMul (x, w)", "note note"),
    ],
)
def test_what_a_weight_fixes_where_all_is_dynamic_is_a_note(
    inputs: str, nodes: str, severity: str, tmp_path: Path
) -> None:
    text = f"({inputs}) => (float[P,Q,R] y) <{floats(4, 4)}> {{ {nodes} }}"
    found = [each.severity.value for each in findings(text, tmp_path)]
    assert " ".join(found) == severity


def test_a_target_is_no_weight(tmp_path: Path) -> None:
    (found,) = findings("(float[B,H] x) => (float[P,Q] y) <int64[2] t = {4, 0}> { y = Reshape (x, t) }", tmp_path)
    assert (found.severity.value, found.help) == (
        "warning",
        "compute the target from the input (with -1, or with its Shape), or declare 4",
    )


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (
            f"(float[B,S,4] x) => (float[P,Q,4] y) <{floats(1, 7, 4)}> {{ y = Add (x, w) }}",
            "slice or compute `w` to the size of the input, or declare 7",
        ),
        (
            f"(float[B,2,S] x, float[2,2,3] k) => (float[P,Q,R] y) <{floats(1, 2, 7)}> "
            "{ c = Conv <pads = [1,1]> (x, k) d = Relu (c) y = Add (d, w) }",
            "slice or compute `w` to the size of the input, or declare 7; or set the strides of Conv 'c', if they were "
            "lost",
        ),
        (
            f"(float[1,4,H,W] x, float[1,4,1] c) => (float[1,4,P] y) <int64[3] t = {{1, 4, -1}}, {floats(1, 4, 16)}> "
            "{ r = Reshape (x, t) j = Concat <axis = 2> (c, r) y = Add (j, w) }",
            "give `w` 17 entries, because square inputs never need 16, or slice or compute it to the size of the "
            "input, or declare sizes with H*W == 15",
        ),
        (
            "(float[N,4] x) => (float[4] y) <int64[1] a = {0}> { y = Squeeze (x, a) }",
            "remove the axis from input 1, the list of axes to remove, or declare 1",
        ),
        (
            "(float[B,S,4] x) => (float[1,3,4] y) <int64[1,3,1] i = {0, 1, 2}> { y "
            "= GatherND <batch_dims = 1> (x, i) }",
            "correct what computes the size, so that it is dynamic, or declare 1",
        ),
        (
            '(float[N,3,H,W] x) => (float[P,3,8,8] y) <int64[4] s = {1, 3, 8, 8}> { y = Resize <mode = "linear"> (x, , '
            ", s) }",
            "compute the target from the input (with -1, or with its Shape), or declare 1",
        ),
        (
            f"(float[B,C,4,4] x) => (float[P,5,4,4] y) <{floats(5, 3, 1, 1)}> {{ y = Conv (x, w) }}",
            "declare 3, which `w` fixes",
        ),
        (
            f"(float[B,2,H,W] x) => (float[P,5] y) <{floats(12, 5)}> {{ f = Flatten (x) y = MatMul (f, w) }}",
            "pool to a fixed size before this node, or declare sizes with H*W == 6, which `w` fixes",
        ),
        (
            "(float[N,M] x) => (float[3,4] y) <int64[2] t = {3, 4}> { y = Reshape (x, t) }",
            "compute the target from the input (with -1, or with its Shape), or declare sizes with M*N == 12",
        ),
    ],
)
def test_helps_name_what_is_fixed(text: str, help: str, tmp_path: Path) -> None:
    (found,) = findings(text, tmp_path)
    assert found.help == help


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("(float[B,2,S,S] x, float[1,1,9,9] m) => (float[P,2,Q,R] y) { y = Add (x, m) }", [(0, (2, 3)), (1, (2, 3))]),
        ("(float[B,2,S,S] x, float[9,1] m) => (float[P,2,Q,R] y) { y = Add (m, x) }", [(0, (0,)), (1, (2,))]),
        ("(float[B,S] x, float[9,2] w) => (float[P,2] y) { y = MatMul (x, w) }", [(0, (1,)), (1, (0,))]),
        ("(float[B,S] x) => (float[P,Q] y) <int64[2] t = {1, 6}> { y = Expand (x, t) }", [(0, (1,)), (1, ())]),
        ("(float[N,4] x) => (float[4] y) <int64[1] a = {0}> { y = Squeeze (x, a) }", [(0, (0,)), (1, ())]),
        ("(float[B,S,4] x) => (float[P,Q] y) <int64[2] t = {0, 24}> { y = Reshape (x, t) }", [(0, (1,)), (1, ())]),
    ],
)
def test_the_axes_that_clash_are_marked(text: str, axes: list[Any], tmp_path: Path) -> None:
    (found,) = findings(text, tmp_path)
    assert [(each.input, each.axes) for each in found.operands] == axes


def test_a_size_without_a_name_is_called_by_its_axis(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[B,S,4] x, float[1,7,4] t) => (float[P,Q,4] y) {{ y = Add (x, t) }}"
    )
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        dim.ClearField("dim_param")
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL608"]
    assert found.message == f"axis 1 of `x` is dynamic, but only 7 works ({ONES})"


def test_given_shapes_are_not_dynamic(tmp_path: Path) -> None:
    findings("(float[B,S,4] x, float[1,7,4] t) => (float[P,Q,4] y) { y = Add (x, t) }", tmp_path)
    report = irlint.check(tmp_path / "m.onnx", shapes={"x": ("N", "M", 4)})
    assert not [each for each in report.findings if each.rule.code in ("IRL608", "IRL609")]


def test_sizes_that_data_decide_may_be_none(tmp_path: Path) -> None:
    text = (
        "(float[N] x) => (float[P,Q,12] y) { i = NonZero (x) j = Transpose (i) z = Cast <to = 1> (j) e = Constant "
        "<value_ints = [1]> () "
        "f = Constant <value_ints = [-1, 64]> () s = Shape <end = 1> (j) o = Concat <axis = 0> (s, t) t = Constant "
        "<value_ints = [64]> () "
        "b = Expand (z, o) p = Constant <value_ints = [-1, 12]> () q = Concat <axis = 0> (s, p) y = Reshape (b, q) }"
    )
    assert not [each for each in findings(text, tmp_path) if each.rule.code == "IRL609"]


def test_beside_an_input_without_elements_others_may_have_none(tmp_path: Path) -> None:
    text = (
        "(float[~,4] x, float[a] z) => (float[P,Q,R] y) { s = Shape (z) f = Constant <value_ints = [4, 3]> () "
        "t = Concat <axis = 0> (f, s) y = Reshape <allowzero = 1> (x, t) }"
    )
    assert not findings(text.replace("~", "0"), tmp_path)
    assert [each.rule.code for each in findings(text.replace("~", "6"), tmp_path)] == ["IRL608"]
