"""Matrix products and Einsum against ONNX's node tests, OpenVINO, ONNX Runtime and NumPy."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.engines import (
    assert_same_verdict,
    irlint_on_onnx,
    node_case_difference,
    node_cases,
    onnx_verdict,
    onnxruntime_verdict,
)

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.math.einsum import einsum
from irlint.ops.math.linear import gemm, gemm_with_broadcast, matmul, multiplied, ov_matmul
from irlint.ops.quantized.quantized_linear import dynamic_quantize_matmul, qlinear_matmul

F = "float32"
N, K = symbol("N"), symbol("K")


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


def code(rule: Any, *args: Any, **attributes: Any) -> str:
    """The code of the fault that a rule raises, "" for none."""
    try:
        rule(*args, **attributes)
    except Fault as fault:
        return fault.rule.code
    return ""


CASES = node_cases("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "Einsum")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_cases(case: Any) -> None:
    assert node_case_difference(case) is None


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((3,), (2, 3, 4)),
        ((2, 3), (3,)),
        ((), (3,)),
        ((3,), ()),
        ((2, 3), (3, 4)),
        ((2, 3), (4, 3)),
        ((3, 3), (3, 3)),
        ((2, 3), (5, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 1, 3, 3), (5, 3, 3)),
        ((2, 2, 3, 3), (5, 3, 3)),
        ((0, 3, 3), (5, 3, 3)),
        ((1, 3, 3), (0, 3, 3)),
        ((2, 0), (0, 4)),
        ((None, 3), (3, None)),
        ((2, None), (5, 4)),
        ((None, 3, 3), (5, 3, 3)),
        ((None, 3, 3), (1, 3, 3)),
        ((None, None, None), (None, None, None)),
        (None, (3, 4)),
        (None, (3,)),
        ((2, 3), None),
    ],
)
def test_openvino_matmul(a: Any, b: Any, transposed: tuple[bool, bool]) -> None:
    inputs = [Input.any_rank(F) if dims is None else Input(F, *dims) for dims in (a, b)]
    assert_same_verdict("MatMul", "opset1", inputs, {"transpose_a": transposed[0], "transpose_b": transposed[1]})


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int64", "uint8", "int4", "bool"]
)
def test_openvino_matmul_types(dtype: str) -> None:
    assert_same_verdict("MatMul", "opset8", [Input(dtype, 2, 3), Input(dtype, 3, 4)])


def test_openvino_matmul_refuses_two_types() -> None:
    assert str(assert_same_verdict("MatMul", "opset1", [Input(F, 2, 3), Input("int32", 3, 4)])).startswith("IRL402")


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij, jk -> ik", [(2, 3), (3, 4)]),
        ("ij,jk->ik", [(2, 3), (5, 4)]),
        ("ij,jk->ik", [(2, 1), (5, 4)]),
        ("ij,jk->ik", [(2, None), (5, 4)]),
        ("ij,jk->ijk", [(2, None), (3, 4)]),
        ("ij,jk->ijk", [(2, None), (1, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii->i", [(3, 4)]),
        ("ii->i", [(3, 1)]),
        ("ii", [(3, 3)]),
        ("iij", [(3, 3, 4)]),
        ("iij,jk", [(3, 3, 4), (4, 5)]),
        ("ii,i", [(3, 3), (3,)]),
        ("ii,ii", [(3, 3), (3, 3)]),
        ("ij,ij", [(3, 4), (3, 4)]),
        ("iij,kkj", [(3, 3, 4), (5, 5, 4)]),
        ("...i,...i->...", [(2, 3, 4), (3, 4)]),
        ("...i,...i->...", [(2, 3, 4), (1, 3, 4)]),
        ("...i,...i->...", [(2, 3, 4), (5, 3, 4)]),
        ("...i->i", [(2, 3)]),
        ("i->...i", [(2,)]),
        ("...i->", [(2, 3)]),
        ("ij->j...", [(2, 3)]),
        ("i...j->...ij", [(2, 5, 6, 3)]),
        ("i...,...", [(2, 3), (3,)]),
        ("bi...,c", [(2, 3, 7), (3,)]),
        ("...ii", [(2, 3, 3)]),
        ("...i,ij->...j", [(3,), (3, 4)]),
        ("...,...", [(7, 6), (7, 6)]),
        ("...,...->...", [(2, 3), (3,)]),
        ("ij->ijk", [(2, 3)]),
        ("ij->ii", [(2, 3)]),
        ("ij,jk->ik", [(2, 3)]),
        ("ij,jk->ik", [(2, 3), (3, 4), (4, 5)]),
        ("ijk->ij", [(2, 3)]),
        ("ij->i", [(2, 3, 4)]),
        ("Ab->bA", [(2, 3)]),
        ("bA", [(2, 3)]),
        ("i1->i", [(2, 3)]),
        ("ij->>i", [(2, 3)]),
        ("ij->i->j", [(2, 3)]),
        ("..ij->ij", [(2, 3, 4)]),
        ("...i...->i", [(2, 3, 4)]),
        ("...i->...i...", [(3, 3)]),
        ("->", [()]),
        (",->", [(), ()]),
        ("ij,", [(2, 3), ()]),
        ("ij->ji", [None]),
        ("...ij->...ji", [None]),
        ("...ij->ji", [None]),
        ("ij,ji->", [(2, 3), (3, 2)]),
    ],
)
def test_openvino_einsum(equation: str, shapes: list[Any]) -> None:
    inputs = [Input.any_rank(F) if dims is None else Input(F, *dims) for dims in shapes]
    assert_same_verdict("Einsum", "opset7", inputs, {"equation": equation})


@pytest.mark.parametrize(("dtype", "other"), [("bool", "bool"), (F, "float16"), ("int64", "int64")])
def test_openvino_einsum_types(dtype: str, other: str) -> None:
    assert_same_verdict("Einsum", "opset7", [Input(dtype, 2, 3), Input(other, 3, 4)], {"equation": "ij,jk->ik"})


@pytest.mark.parametrize(
    ("a", "b", "offsets"),
    [
        ((4, 8), (3, 5, 8), Input("int32", 3)),
        ((4, 8), (3, 5, 8), Input("int64", None)),
        ((4, 8), (3, 5, 8), Input.any_rank("int32")),
        ((4, 8), (3, 5, 8), Input("int32")),
        ((4, 8), (3, 5, 8), Input("int32", 3, 1)),
        ((4, 8), (3, 5, 8), Input("uint8", 3)),
        ((4, 8), (3, 5, 8), None),
        ((4, 8), (3, 5, 7), Input("int32", 3)),
        ((3, 2, 8), (3, 5, 8), None),
        ((3, 2, 8), (3, 5, 8), Input("int32", 3)),
        ((3, 2, 8), (4, 5, 8), None),
        ((None, 2, 8), (3, 5, 8), None),
        ((4, None), (None, 5, 8), Input("int32", 3)),
        ((4, 8), (5, 8), None),
        ((4,), (4,), None),
        ((2, 2, 3, 4), (2, 2, 5, 4), None),
        (None, (3, 5, 8), Input("int32", 3)),
    ],
)
def test_openvino_grouped_matmul(a: Any, b: Any, offsets: Input | None) -> None:
    inputs = [Input.any_rank(F) if dims is None else Input(F, *dims) for dims in (a, b)]
    assert_same_verdict("GroupedMatMul", "opset17", inputs if offsets is None else [*inputs, offsets])


# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("MatMul", [(2, 768), (512, 768)], {}, "IRL320"),
        ("MatMul", [(), (3, 4)], {}, "IRL321"),
        ("MatMul", [(3, 4), ()], {}, "IRL321"),
        ("MatMul", [(2, 5, 3), (3, 3, 4)], {}, "IRL201"),
        ("Gemm", [(2, 3, 4), (4, 5)], {}, "IRL321"),
        ("Gemm", [(2, 3), (4, 3)], {}, "IRL320"),
        ("Gemm", [(2, 3), (3, 4), (5,)], {}, "IRL202"),
        ("Gemm", [(2, 3), (3, 4), (2, 2, 4)], {}, "IRL202"),
        ("Einsum", [(2, 3), (4, 5)], {"equation": "ij,jk->ik"}, "IRL323"),
        ("Einsum", [(2, 3), (3, 5)], {"equation": "ij,jk->il"}, "IRL322"),
        ("Einsum", [(2, 3)], {"equation": "ij->ii"}, "IRL322"),
        ("Einsum", [(2, 3)], {"equation": "ijk->i"}, "IRL322"),
        ("Einsum", [(2, 3)], {"equation": "ij,jk"}, "IRL322"),
        ("Einsum", [(2, 3)], {"equation": "i1->i"}, "IRL322"),
        ("Einsum", [(2, 3, 4), (3, 4)], {"equation": "...i,...i->..."}, "IRL322"),
    ],
)
def test_onnx_faults(op: str, inputs: list[Any], attributes: dict[str, Any], expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, [Input(F, *dims) for dims in inputs], attributes))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ([(2, 3), (3, 4)], {}),
        ([(3, 2), (4, 3)], {"transA": 1, "transB": 1}),
        *(([(2, 3), (3, 4), c], {}) for c in [(), (4,), (1, 4), (2, 1), (2, 4)]),
    ],
)
def test_gemm_as_onnx_says(inputs: list[Any], attributes: dict[str, Any]) -> None:
    model = onnx_model("Gemm", [Input(F, *dims) for dims in inputs], attributes)
    assert irlint_on_onnx(model) == onnx_verdict(model) == [(F, (2, 4))]


@pytest.mark.parametrize(
    "equation", ["ij->ji", "i j -> j i", "ij", "ba", "bA", "ii", "iij", "ijj,jk", "ij,jk", "...ij->...ji", "i->...i"]
)
def test_einsum_as_onnx_says(equation: str) -> None:
    counts = [sum(letter.isalpha() for letter in term) for term in equation.split("->")[0].split(",")]
    model = onnx_model("Einsum", [Input(F, *[3] * count) for count in counts], {"equation": equation})
    assert irlint_on_onnx(model) == onnx_verdict(model)


def test_einsum_warns_where_the_ellipsis_is_summed() -> None:
    with stated() as statements:
        assert einsum(f32(2, 3), equation="...i->i").shape == (3,)
    assert [fault.rule.code for fault in statements.faults] == ["IRL322"]


@pytest.mark.parametrize("broadcast", [0, 1])
@pytest.mark.parametrize("c", [(2, 4), (4,), (5,), ()])
def test_gemm_before_opset_7(c: tuple[int, ...], broadcast: int) -> None:
    fits = c == (2, 4) or (broadcast and c != (5,))
    assert (code(gemm_with_broadcast, f32(2, 3), f32(3, 4), f32(*c), broadcast=broadcast) == "") == bool(fits)


def test_quantized_products() -> None:
    u8, i8 = Tensor("uint8", (2, 3)), Tensor("int8", (3, 4))
    scale, point = f32(), Tensor("uint8", ())
    result = qlinear_matmul(u8, scale, point, i8, f32(4), Tensor("int8", (4,)), scale, Tensor("int8", ()))
    assert result == Tensor("int8", (2, 4))
    assert code(qlinear_matmul, u8, scale, point, i8, f32(5), Tensor("int8", ()), scale, point) == "IRL321"
    assert code(qlinear_matmul, u8, f32(3), point, i8, scale, Tensor("int8", ()), scale, point) == "IRL321"
    assert code(dynamic_quantize_matmul, f32(2, 3), i8, scale, None, f32(3)) == "IRL321"


# --- symbols ----------------------------------------------------------------------------------------------------------


def test_symbols_pass_through() -> None:
    assert matmul(f32(N, 3), f32(3, K)).shape == (N, K)
    assert matmul(f32(N, 1, 2, 3), f32(5, 3, K)).shape == (N, 5, 2, K)
    assert gemm(f32(N, 3), f32(4, 3), f32(4), transB=1).shape == (N, 4)
    assert einsum(f32(N, 3), f32(3, K), equation="bi,ij->bj").shape == (N, K)


def test_a_scalar_is_refused_whatever_the_other_is() -> None:
    assert code(matmul, Tensor(F), f32()) == code(ov_matmul, f32(), Tensor(F)) == "IRL321"


def test_inner_sizes_that_cannot_be_equal() -> None:
    assert code(matmul, f32(2, N + 1), f32(N, 4)) == "IRL320"
    assert code(ov_matmul, f32(2, N), f32(4, N + 2), transpose_b=True) == "IRL320"


def test_what_is_not_proven_is_required() -> None:
    with stated() as statements:
        assert matmul(f32(2, N), f32(K, 4)).shape == (2, 4)
        matmul(f32(2, N), f32(768, 4))
        gemm(f32(N, 3), f32(3, 4), f32(8, 4))
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["N == K", "N == 768", "8 == N"]


def test_the_help_says_what_to_transpose() -> None:
    with pytest.raises(Fault) as caught:
        matmul(f32(2, 768), f32(512, 768))
    assert "transpose the last two axes of input 1" in caught.value.help
    assert caught.value.marks == ((0, 1), (1, 0))


def test_the_message_shows_the_whole_shapes() -> None:
    with pytest.raises(Fault, match=r"input 0 is \[2, 5, 3\] and input 1 is \[3, 3, 4\]"):
        matmul(f32(2, 5, 3), f32(3, 3, 4))


# --- laws -------------------------------------------------------------------------------------------------------------

SHAPES = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(tuple)


@settings(max_examples=400, deadline=None)
@given(SHAPES, SHAPES)
def test_matmul_is_numpys(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected: Any = np.matmul(np.ones(a), np.ones(b)).shape
    except ValueError:
        expected = None
    try:
        assert multiplied(a, b) == expected
    except Fault:
        assert expected is None


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_einsum_is_numpys(data: st.DataObject) -> None:
    letters = string.ascii_lowercase[:4]
    sizes = {letter: data.draw(st.integers(1, 3)) for letter in letters}
    terms = data.draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=3))
    shapes = [tuple(data.draw(st.sampled_from([sizes[letter]] * 4 + [4])) for letter in term) for term in terms]
    known = sorted(set("".join(terms)))
    output = data.draw(st.permutations(known).flatmap(lambda p: st.integers(0, len(p)).map(lambda n: "".join(p[:n]))))
    equation = ",".join(terms) + data.draw(st.sampled_from(["", f"->{output}"]))
    ones = any(len(set(term)) < len(term) and 1 in shape for term, shape in zip(terms, shapes))
    try:
        expected: Any = np.einsum(equation, *(np.ones(shape) for shape in shapes)).shape
    except ValueError:
        expected = None
    try:
        found: Any = einsum(*(f32(*shape) for shape in shapes), equation=equation).shape
    except Fault:
        found = None
    assert found == expected or ones


# --- ONNX Runtime's own -----------------------------------------------------------------------------------------------


def com(op: str, inputs: list[Any], attributes: dict[str, Any] | None = None, outputs: int = 1) -> Any:
    return onnx_model(op, inputs, attributes, domain="com.microsoft", outputs=outputs)


@pytest.mark.parametrize(
    ("shapes", "attributes"),
    [
        ([(2, 3), (3, 4)], {}),
        ([(3, 2), (3, 4)], {"transA": 1}),
        ([(2, 3), (4, 3)], {"transB": 1}),
        ([(3,), (3, 4)], {"transA": 1}),
        ([(2, 5, 3), (5, 3, 4)], {"transBatchA": 1}),
        ([(7, 2, 5, 3), (2, 5, 3, 4)], {"transBatchA": 1}),
        ([(2, 5, 3), (5, 2, 4)], {"transBatchA": 1, "transA": 1}),
        ([(2, 3), (5, 4)], {}),
    ],
)
def test_fused_matmul_as_onnx_runtime_says(shapes: list[Any], attributes: dict[str, Any]) -> None:
    model = com("FusedMatMul", [Input(F, *dims) for dims in shapes], attributes)
    theirs, ours = onnxruntime_verdict(model), irlint_on_onnx(model)
    assert isinstance(theirs, str) == isinstance(ours, str)
    if not isinstance(theirs, str):
        assert [shape for _, shape in ours] == [shape for _, shape in theirs]


U8, I8 = Input("uint8", 3, 4), Input("int8", 3, 4)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("TransposeMatMul", [Input(F, 3, 2), Input(F, 3, 4)], {"transA": 1}, (F, (2, 4))),
        ("GemmFastGelu", [Input(F, 1, 2, 3), Input(F, 3, 4), Input(F, 4)], {}, (F, (1, 2, 4))),
        ("FusedGemm", [Input(F, 2, 3), Input(F, 3, 4), Input(F, 4)], {"activation": "Relu"}, (F, (2, 4))),
        ("MatMulInteger16", [Input("int16", 2, 3), Input("int16", 3, 4)], {}, ("int32", (2, 4))),
        ("MatMulInteger16", [Input("uint16", 2, 3), Input("uint16", 3, 4)], {}, ("uint32", (2, 4))),
        ("MatMulIntegerToFloat", [Input("uint8", 2, 3), U8, Input(F), Input(F, 4)], {}, (F, (2, 4))),
        ("DynamicQuantizeMatMul", [Input(F, 5, 2, 3), I8, Input(F, 4)], {}, (F, (5, 2, 4))),
        ("GemmFloat8", [Input(F, 2, 3), Input(F, 4, 3)], {"transB": 1, "dtype": 10}, ("float16", (2, 4))),
        (
            "QGemm",
            [
                Input("uint8", 2, 3),
                Input(F),
                Input("uint8"),
                I8,
                Input(F),
                Input("int8"),
                None,
                Input(F),
                Input("uint8"),
            ],
            {},
            ("uint8", (2, 4)),
        ),
        ("QGemm", [Input("uint8", 2, 3), Input(F), Input("uint8"), I8, Input(F), Input("int8")], {}, (F, (2, 4))),
        (
            "MatMulNBits",
            [Input(F, 1, "S", 64), Input("uint8", 10, 2, 16), Input(F, 20)],
            {"K": 64, "N": 10, "block_size": 32, "bits": 4},
            (F, (1, None, 10)),
        ),
        (
            "MatMulBnb4",
            [Input(F, 2, 64), Input("uint8", 320), Input(F, 20)],
            {"K": 64, "N": 10, "block_size": 32, "quant_type": 1},
            (F, (2, 10)),
        ),
        ("MatMulFpQ4", [Input(F, 2, 64), Input("uint8", 99), np.array([64, 10])], {}, (F, (2, 10))),
    ],
)
def test_onnx_runtimes_products(op: str, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    assert irlint_on_onnx(com(op, inputs, attributes)) == [expected]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("GemmFastGelu", [Input(F, 2, 3), Input(F, 3, 4), Input(F, 3)], {}, "IRL321"),
        ("MatMulIntegerToFloat", [Input("uint8", 2, 3), U8, Input(F), Input(F, 3)], {}, "IRL321"),
        ("GemmFloat8", [Input(F, 2, 3), Input(F, 3, 4)], {"dtype": 99}, "IRL510"),
        (
            "MatMulNBits",
            [Input(F, 2, 65), Input("uint8", 10, 2, 16), Input(F, 20)],
            {"K": 64, "N": 10, "block_size": 32},
            "IRL320",
        ),
        (
            "MatMulNBits",
            [Input(F, 2, 64), Input("uint8", 10, 2, 32), Input(F, 20)],
            {"K": 64, "N": 10, "block_size": 32},
            "IRL321",
        ),
        (
            "MatMulNBits",
            [Input(F, 2, 64), Input("uint8", 10, 2, 16), Input(F, 20)],
            {"K": 64, "N": 10, "block_size": 24},
            "IRL510",
        ),
        ("MatMulFpQ4", [Input(F, 2, 60), Input("uint8", 99), np.array([64, 10])], {}, "IRL320"),
    ],
)
def test_onnx_runtimes_products_at_fault(op: str, inputs: list[Any], attributes: dict[str, Any], expected: str) -> None:
    verdict = irlint_on_onnx(com(op, inputs, attributes))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)
