"""Reshape, Flatten, Squeeze, Unsqueeze and Transpose against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import (
    assert_same_verdict,
    irlint_on_ir,
    irlint_on_onnx,
    node_case_difference,
    node_cases,
    onnx_verdict,
    openvino_verdict,
)

from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.reshaping import (
    expand_dims,
    flattened,
    ov_squeeze,
    ov_squeeze_or_skip,
    ov_unsqueeze,
    rearranged,
    reshape,
    reshaped,
    squeeze,
    squeeze_from_front,
    squeezed,
    transposed,
    unsqueeze_from_front,
    unsqueezed,
)

H, W, N = symbol("H"), symbol("W"), symbol("N")
F = "float32"
D = Input(F, 2, 3, 4)


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def scalar(entry: float, dtype: type = np.int64) -> np.ndarray:
    return np.array(entry, dtype)


def own_cases(*ops: str) -> list[Any]:
    return [case for case in node_cases(*ops) if len(case.model.graph.node) == 1]


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize(
    "case", own_cases("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"), ids=lambda case: case.name
)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


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

S131 = Input(F, 1, 3, 1)


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attributes", "expected"),
    [
        ("Reshape", 1, [D], {"shape": [0, -1]}, (2, 12)),
        ("Reshape", 5, [D, i64(0, -1)], {}, (2, 12)),
        ("Reshape", 5, [D, Input("int64", 2)], {}, (None, None)),
        ("Reshape", 5, [D, Input("int64", 1)], {}, (24,)),
        ("Reshape", 5, [D, Input("int64", None)], {}, None),
        ("Reshape", 14, [D, i64(0, 12)], {"allowzero": 1}, "IRL330"),
        ("Reshape", 14, [D, i64(0, -1)], {"allowzero": 1}, "IRL331"),
        ("Reshape", 14, [Input(F, 0, 3), i64(0, -1)], {}, "IRL331"),
        ("Reshape", 14, [Input(F, 0, 3), i64(5, 0)], {"allowzero": 1}, (5, 0)),
        ("Reshape", 14, [D, scalar(24)], {}, "IRL339"),
        ("Flatten", 9, [D], {"axis": 3}, (24, 1)),
        ("Flatten", 9, [D], {"axis": -1}, "IRL300"),
        ("Flatten", 11, [D], {"axis": -1}, (6, 4)),
        ("Flatten", 13, [D], {"axis": 4}, "IRL300"),
        ("Flatten", 13, [D], {"axis": -4}, "IRL300"),
        ("Flatten", 13, [Input(F)], {"axis": 0}, (1, 1)),
        ("Flatten", 13, [Input.any_rank(F)], {}, (None, None)),
        ("Squeeze", 9, [S131], {"axes": [0, 2]}, (3,)),
        ("Squeeze", 11, [S131], {"axes": [-1]}, (1, 3)),
        ("Squeeze", 11, [S131], {"axes": [0, 0]}, (3, 1)),
        ("Squeeze", 11, [S131], {"axes": [1]}, "IRL332"),
        ("Squeeze", 11, [S131], {"axes": [3]}, "IRL300"),
        ("Squeeze", 13, [S131], {}, (3,)),
        ("Squeeze", 13, [S131, i64(1)], {}, "IRL332"),
        ("Squeeze", 13, [S131, scalar(0)], {}, (3, 1)),
        ("Unsqueeze", 11, [D], {"axes": [-1, 0]}, (1, 2, 3, 4, 1)),
        ("Unsqueeze", 11, [D], {"axes": [0, 0]}, "IRL301"),
        ("Unsqueeze", 13, [D, i64(5)], {}, "IRL300"),
        ("Unsqueeze", 13, [D, i64(0, -5)], {}, "IRL301"),
        ("Unsqueeze", 13, [D, Input("int64", 2)], {}, (None,) * 5),
        ("Unsqueeze", 13, [Input.any_rank(F), i64(0)], {}, None),
        ("Transpose", 13, [D], {}, (4, 3, 2)),
        ("Transpose", 13, [D], {"perm": [0, 2, 1]}, (2, 4, 3)),
        ("Transpose", 13, [D], {"perm": [0, 1]}, "IRL333"),
        ("Transpose", 13, [D], {"perm": [0, 1, -1]}, "IRL300"),
        ("Transpose", 13, [D], {"perm": [0, 1, 1]}, "IRL301"),
        ("Transpose", 13, [Input.any_rank(F)], {"perm": [1, 0]}, (None, None)),
    ],
)
def test_onnx(op: str, opset: int, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    found = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))
    assert (found[:6] if isinstance(found, str) else found[0][1]) == expected


@pytest.mark.parametrize(
    "target", [(0, 12), (0, -1), (-1, -1), (-2, 2), (5, -1), (0, 0, 0), (0, 0, 0, 0), (6, 4), (4, 3, 2)]
)
@pytest.mark.parametrize("allowzero", [0, 1])
def test_onnx_gives_the_same_targets_a_meaning(target: tuple[int, ...], allowzero: int) -> None:
    model = onnx_model("Reshape", [D, i64(*target)], {"allowzero": allowzero}, 14)
    ours, theirs = irlint_on_onnx(model), onnx_verdict(model)
    if isinstance(theirs, str):
        assert isinstance(ours, str)
    elif int(np.prod(theirs[0][1])) == 24:
        assert ours == theirs
    else:
        assert ours[:6] == "IRL330"


def test_negative_axes_are_a_warning_before_opset_11() -> None:
    for found in (
        lambda: squeeze_from_front(Tensor(F, (1, 3, 1)), axes=(-1,)),
        lambda: unsqueeze_from_front(Tensor(F, (1,)), axes=(-2,)),
    ):
        with stated() as statements:
            assert found().shape in ((1, 3), (1, 1))
        assert [fault.severity for fault in statements.faults] == [Severity.WARNING]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

TARGETS = [
    *(i64(*entries) for entries in [(6, 4), (6, -1), (-1, -1), (0, 12), (5, -1), (25,), (0, 0, -1), (0, 0, 0, 0)]),
    *(i64(*entries) for entries in [(2, 3, 4, 0), (2, 3, 0), (-2, 12), (0, -1), (2, 3, 4, 1, 0, -1)]),
    np.array([24], np.float32),
    scalar(24),
    np.array([[6, 4]]),
    Input("int64", 2),
    Input("int64", None),
    Input.any_rank("int64"),
]


@pytest.mark.parametrize("special_zero", [True, False])
@pytest.mark.parametrize("target", TARGETS, ids=range(len(TARGETS)))
def test_openvino_reshape_of_a_static_shape(target: Any, special_zero: bool) -> None:
    assert_same_verdict("Reshape", "opset1", [D, target], {"special_zero": special_zero})


@pytest.mark.parametrize(
    ("data", "target", "special_zero"),
    [
        (D, (0, 12), None),
        (Input(F, None, 3, 4), (0, 12), True),
        (Input(F, None, 3, 4), (2, -1), True),
        (Input(F, None, 3, 4), (-1, 12), True),
        (Input(F, None, 3, 4), (-1, 5), True),
        (Input(F, None, 3, 4), (12, 2), True),
        (Input(F, None, 6), (-1, 4), True),
        (Input.any_rank(F), (0, 12), True),
        (Input.any_rank(F), (5, 12), True),
        (Input.any_rank(F), (-1, 12), True),
        (Input(F, 0, 3), (0, -1), True),
        (Input(F, 0, 3), (-1, 3), True),
        (Input(F, 0, 3), (0, 0), False),
        (Input(F, 0, 3), (5, 0), False),
        (Input(F, 0, 3), (5, 3), False),
        (Input(F), (1, 1), False),
        (Input(F), (-1,), False),
        (Input(F), (), False),
        (Input(F, 1), (), False),
        (Input(F, 2), (), False),
        (Input(F, None), (), False),
        (Input(F, "5..7", 4), (-1, 2), False),
        (Input(F, "5..7", 4), (24, 1), False),
    ],
)
def test_openvino_reshape(data: Input, target: tuple[int, ...], special_zero: bool | None) -> None:
    attributes = {} if special_zero is None else {"special_zero": special_zero}
    assert_same_verdict("Reshape", "opset1", [data, i64(*target)], attributes)


@pytest.mark.parametrize(("data", "target"), [(Input(F, None, 3, 4), (5, 5)), (Input(F, "5..7", 4), (4, 4))])
def test_openvino_finds_out_later_that_no_size_fits(data: Input, target: tuple[int, ...]) -> None:
    document = ir_document("Reshape", "opset1", [data, i64(*target)], {"special_zero": False})
    assert openvino_verdict(*document) == [(F, target)]
    assert irlint_on_ir(*document)[:6] == "IRL330"


SQUEEZES = [
    [S131],
    [S131, i64(0)],
    [S131, i64(0, 2)],
    [S131, i64(-1)],
    [S131, i64(1)],
    [S131, i64(0, 1)],
    [S131, i64(3)],
    [S131, i64(0, 0)],
    [S131, i64(0, -3)],
    [Input(F, None, 3, 1), i64(0)],
    [Input(F, None, 3, 1)],
    [Input(F, None, 3, 1), i64(0, 2)],
    [S131, scalar(0)],
    [S131, Input("int64", 2)],
    [S131, Input("int64", None)],
    [S131, i64()],
    [Input.any_rank(F), i64(0)],
    [Input.any_rank(F)],
    [S131, np.array([[0]])],
    [Input(F, "2..4", 3), i64(0)],
    [Input(F, "1..4", 3), i64(0)],
    [Input(F), i64(0)],
]


@pytest.mark.parametrize("inputs", SQUEEZES, ids=range(len(SQUEEZES)))
def test_openvino_squeeze(inputs: list[Any]) -> None:
    assert_same_verdict("Squeeze", "opset1", inputs)
    for attributes in ({}, {"allow_axis_skip": True}, {"allow_axis_skip": False}):
        assert_same_verdict("Squeeze", "opset15", inputs, attributes)


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


X34 = Input(F, 3, 4)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        *(
            ("Unsqueeze", [X34, i64(*axes)])
            for axes in [(0,), (-1,), (0, 3), (0, 4), (0, 0), (0, -4), (3,), (-4,), (-3,)]
        ),
        ("Unsqueeze", [X34, scalar(1)]),
        ("Unsqueeze", [X34, Input("int64", 2)]),
        ("Unsqueeze", [X34, Input("int64")]),
        ("Unsqueeze", [Input.any_rank(F), i64(0)]),
        ("Unsqueeze", [X34, i64()]),
        ("Unsqueeze", [X34, np.array([[0]])]),
        ("Unsqueeze", [Input(F), i64(0)]),
        ("Unsqueeze", [Input(F), i64(0, 2)]),
        *(("Transpose", [D, i64(*perm)]) for perm in [(2, 0, 1), (2, 0), (), (2, 0, 0), (2, 0, -2), (2, 0, 3)]),
        ("Transpose", [D, Input("int64", 3)]),
        ("Transpose", [D, Input("int64", 2)]),
        ("Transpose", [D, Input("int64", 0)]),
        ("Transpose", [D, Input("int64", None)]),
        ("Transpose", [Input.any_rank(F), i64(1, 0)]),
        ("Transpose", [Input.any_rank(F), Input("int64", 2)]),
        ("Transpose", [D, np.array([[1, 0]])]),
        ("Transpose", [D, np.array([1.0, 0.0], np.float32)]),
        ("Transpose", [D, scalar(0)]),
        ("Transpose", [Input(F), i64()]),
    ],
)
def test_openvino_agrees(op: str, inputs: list[Any]) -> None:
    assert_same_verdict(op, "opset1", inputs, finer=True)
