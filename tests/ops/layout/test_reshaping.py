"""Reshape, Flatten, Squeeze, Unsqueeze and Transpose against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irlint
from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.reshaping import flattened, rearranged, reshape, reshaped
from irlint.ops.layout.squeezing import (
    expand_dims,
    ov_squeeze,
    ov_squeeze_or_skip,
    ov_unsqueeze,
    squeeze,
    squeeze_from_front,
    squeezed,
    unsqueeze_from_front,
    unsqueezed,
)
from irlint.ops.layout.transposing import transposed

H, W, N = symbol("H"), symbol("W"), symbol("N")
F = "float32"


# --- laws -------------------------------------------------------------------------------------------------------------

shapes = st.lists(st.integers(0, 4), max_size=4)


@given(st.data())
def test_reshape_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), max_size=4))
    target = data.draw(st.lists(st.sampled_from([-1, 1, 2, 3, 4, 6, 8]), max_size=4))
    try:
        expected: tuple[int, ...] | None = np.zeros(shape).reshape(target).shape
    except ValueError:
        expected = None
    with stated():
        try:
            found = reshaped(tuple(shape), tuple(target), copies=True)
        except Fault:
            found = None
    assert found == expected


@given(st.data())
def test_transpose_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    perm = data.draw(st.permutations(range(len(shape))))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    moved = array.transpose(perm)
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    assert transposed(known, perm) == Tensor("int64", moved.shape, tuple(moved.ravel().tolist()))


@given(shapes, st.data())
def test_unsqueeze_and_squeeze_are_inverse(shape: list[int], data: st.DataObject) -> None:
    rank = len(shape) + data.draw(st.integers(0, 2))
    axes = data.draw(st.permutations(range(rank)))[: rank - len(shape)]
    grown = unsqueezed(tuple(shape), axes)
    assert grown == np.expand_dims(np.zeros(shape), tuple(axes)).shape
    assert squeezed(grown, axes) == tuple(shape)


@given(shapes, st.data())
def test_flatten_keeps_the_elements(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape)))
    rows, columns = flattened(tuple(shape), axis)
    assert (rows, columns) == (int(np.prod(shape[:axis])), int(np.prod(shape[axis:])))


@pytest.mark.parametrize(
    ("data", "target", "expected"),
    [
        ((N, 3, H, W), (0, 3, -1), (N, 3, H * W)),
        ((N, 84, 80, 80), (-1, 84, 6400), (N, 84, 6400)),
        ((N, H, 12, 64), (0, 0, 768), (N, H, 768)),
        ((N, H, 768), (N, H, 12, -1), (N, H, 12, 64)),
        ((N, H, 768), (N, -1, 12, 64), (N, H, 12, 64)),
        ((N, H, 768), (None, 768), (N * H, 768)),
        ((N, H, 768), (None, None), (None, None)),
        ((N, H, 768), (None, -1), (None, None)),
        ((None, 3, 4), (0, -1), (None, 12)),
        ((None, 3, 4), (-1, 12), (None, 12)),
        (None, (0, -1, 5), (None, None, 5)),
        ((6, 4), (None, 8), (3, 8)),
        ((0, 3), (-1, 3), (0, 3)),
        ((0, 3), (5, -1), (5, 0)),
        ((), (-1, 1), (1, 1)),
        ((1, 1), (), ()),
        ((2 * N, 3), (N, 6), (N, 6)),
    ],
)
def test_symbolic_reshapes(data: Any, target: Any, expected: Any) -> None:
    with stated():
        assert reshaped(data, target, copies=True) == expected


@pytest.mark.parametrize(
    ("data", "target", "condition"),
    [
        ((N, 3, 4), (5, 12), "12*N == 60"),
        ((N, 3, 4), (-1, 5), "(12*N) % 5 == 0"),
        ((N, 6), (-1, 4), "(6*N) % 4 == 0"),
        ((N, H), (W, -1), "(H*N) % W == 0"),
        ((N, H), (W, 3), "H*N == 3*W"),
    ],
)
def test_reshape_states_what_it_needs(data: Any, target: Any, condition: str) -> None:
    with stated() as statements:
        reshaped(data, target, copies=True)
    assert [requirement.condition for requirement in statements.requirements] == [condition]


@pytest.mark.parametrize(
    ("data", "target", "code"),
    [
        ((2, 3, 4), (25,), "IRL330"),
        ((2, 3, 4), (5, -1), "IRL330"),
        ((6 * N,), (5 * N,), "IRL330"),
        ((N, 3, 4), (5, 5), "IRL330"),
        ((N, 6), (0, 5), "IRL330"),
        ((2, 3, 4), (2, -1, -1), "IRL331"),
        ((2, 3, 4), (-2, 12), "IRL331"),
        ((2, 3), (2, 3, 0), "IRL331"),
    ],
)
def test_reshape_faults(data: Any, target: Any, code: str) -> None:
    with stated(), pytest.raises(Fault) as caught:
        reshaped(data, target, copies=True)
    assert caught.value.rule.code == code


def test_a_reshape_keeps_contents() -> None:
    known = Tensor("int64", (2, 2), (1, H, None, 4))
    assert reshape(known, Tensor("int64", (1,), (-1,))) == Tensor("int64", (4,), (1, H, None, 4))
    assert rearranged(known, (N,)) == Tensor("int64", (N,))
    assert transposed(known, (1, 0)).value == (1, None, H, 4)


def test_squeezing_what_may_be_1() -> None:
    assert squeezed((1, H, 3), None) is None
    assert squeezed((1, symbol("K", 2), 3), None) == (symbol("K", 2), 3)
    with stated() as statements:
        assert squeezed((1, H, 3), (0, 1)) == (3,)
    assert [requirement.condition for requirement in statements.requirements] == ["H == 1"]
    assert squeeze(Tensor(F, (2, 3)), Tensor("int64", (0,), ())).shape == (2, 3)
    assert squeeze(Tensor(F, (1, 3)), Tensor("int64", (0,), ())).shape is None
    assert squeeze(Tensor(F, (1, 3)), Tensor("int64", (1,))).shape == (None,)
    assert expand_dims(Tensor(F, (2, 3)), Tensor("int32", (), (-1,))).shape == (2, 3, 1)


# --- ONNX -------------------------------------------------------------------------------------------------------------


def test_negative_axes_are_a_warning_before_opset_11() -> None:
    for found in (
        lambda: squeeze_from_front(Tensor(F, (1, 3, 1)), axes=(-1,)),
        lambda: unsqueeze_from_front(Tensor(F, (1,)), axes=(-2,)),
    ):
        with stated() as statements:
            assert found().shape in ((1, 3), (1, 1))
        assert [fault.severity for fault in statements.faults] == [Severity.WARNING]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_openvino_leaves_an_axis_in_silence() -> None:
    axes = Tensor("int64", (1,), (1,))
    with stated() as statements:
        assert ov_squeeze(Tensor(F, (1, 3, 1)), axes).shape == (1, 3, 1)
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL332", Severity.WARNING)]
    with stated() as statements:
        assert ov_squeeze_or_skip(Tensor(F, (1, 3, 1)), axes, allow_axis_skip=True).shape == (1, 3, 1)
        assert ov_squeeze_or_skip(Tensor(F, (1, H)), axes, allow_axis_skip=True).shape is None
    assert not statements.faults
    with stated() as statements:
        assert ov_unsqueeze(Tensor(F, (3,)), Tensor("int64", (2,), (0, 0))).shape == (1, 3)
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL301", Severity.WARNING)]


@pytest.mark.oracle
def test_a_range_with_a_computed_step_is_reshaped() -> None:
    """ONNX Runtime counts from 0 to 6 in steps of 6 - 4."""
    import onnxruntime

    text = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,S] x) => (int64[a,b] y) <int64 zero = {0}, int64 i = {0}, int64 j = {1}, int64[2] t = {1, -1}> {
  s = Shape (x) n = Gather (s, i) m = Gather (s, j) d = Sub (m, n) r = Range (zero, m, d) y = Reshape (r, t) }"""
    model = onnx.parser.parse_model(text)
    assert not irlint.check(model).findings
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.zeros((4, 6), "float32")})
    assert found.tolist() == [[0, 2, 4]]
