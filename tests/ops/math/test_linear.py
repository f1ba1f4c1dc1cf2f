"""Matrix products and Einsum against ONNX's node tests, OpenVINO, ONNX Runtime and NumPy."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.math.einsum import einsum
from irlint.ops.math.linear import OnnxProduct, gemm, gemm_with_broadcast, matmul, multiplied, ov_matmul
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


# --- ONNX -------------------------------------------------------------------------------------------------------------


def test_einsum_warns_where_the_ellipsis_is_summed() -> None:
    with stated() as statements:
        assert einsum(f32(2, 3), equation="...i->i").shape == (3,)
    assert [fault.rule.code for fault in statements.faults] == ["IRL322"]


@pytest.mark.parametrize("broadcast", [0, 1])
@pytest.mark.parametrize("c", [(2, 4), (4,), (5,), ()])
def test_gemm_before_opset_7(c: tuple[int, ...], broadcast: int) -> None:
    fits = c == (2, 4) or (broadcast and c != (5,))
    assert (
        code(gemm_with_broadcast, f32(2, 3), f32(3, 4), f32(*c), broadcast=broadcast, product=OnnxProduct()) == ""
    ) == bool(fits)


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
    assert gemm(f32(N, 3), f32(4, 3), f32(4), product=OnnxProduct(transB=1)).shape == (N, 4)
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
        gemm(f32(N, 3), f32(3, 4), f32(8, 4), product=OnnxProduct())
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["N == K", "N == 768", "8 == N"]


def test_the_help_says_what_is_summed_over() -> None:
    with pytest.raises(Fault) as caught:
        matmul(f32(2, 768), f32(512, 768))
    assert caught.value.help == "make axis 1 of input 0 and axis 0 of input 1 equal"
    assert caught.value.marks == ((0, 1), (1, 0))


def test_the_message_shows_the_whole_shapes() -> None:
    with pytest.raises(Fault, match=r"before the matrices, axis 0 is 2 in input 0 and 3 in input 1"):
        matmul(f32(2, 5, 3), f32(3, 3, 4))


# --- laws -------------------------------------------------------------------------------------------------------------

SHAPES = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(tuple)


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
