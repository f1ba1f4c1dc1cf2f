"""Broadcasting and elementwise operators: the specifications' examples in both formats, and the engines on random
ones."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, openvino_verdict, verdict

from irlint.dims import evaluated, symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops import onnx_versions, openvino_versions
from irlint.ops.math.elementwise import legacy_arithmetic as legacy
from irlint.ops.math.elementwise import ov_select
from irlint.ops.shared import contents
from irlint.ops.shared.auto_broadcast import Broadcasting, aligned_from, pdpd
from irlint.ops.shared.broadcast import broadcast, merged, stretched
from irlint.parsers import openvino as parser

F = "float32"
N, M, H = symbol("N"), symbol("M"), symbol("H")
PDPD_AXIS = "auto_broadcast.auto_broadcast_axis"
Shape = tuple[Any, ...]

ARITHMETIC = (
    "Add",
    "Subtract",
    "Multiply",
    "Divide",
    "Power",
    "Maximum",
    "Minimum",
    "Mod",
    "FloorMod",
    "SquaredDifference",
)
COMPARISON = ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual")
LOGICAL = ("LogicalAnd", "LogicalOr", "LogicalXor", "Xor")
BITWISE = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
SHIFTS = ("BitwiseLeftShift", "BitwiseRightShift")
#: The operations with ``auto_broadcast``, each with the first opset that has it and an element type that it takes.
OPENVINO: dict[str, tuple[str, str]] = {
    **dict.fromkeys(ARITHMETIC + COMPARISON, ("opset1", F)),
    **dict.fromkeys(LOGICAL, ("opset1", "bool")),
    **dict.fromkeys(BITWISE, ("opset13", "int32")),
    **dict.fromkeys(SHIFTS, ("opset15", "int32")),
    "Select": ("opset1", F),
    "FakeQuantize": ("opset1", F),
}


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


def openvino_inputs(op: str, a: Any, b: Any) -> list[Any]:
    """Two shapes (None: unknown rank) as the inputs of an operation; Select and FakeQuantize get theirs filled up."""
    dtype = OPENVINO[op][1]
    left, right = (Input.any_rank(dtype) if dims is None else Input(dtype, *dims) for dims in (a, b))
    if op == "Select":
        return [Input("bool", 1), left, right]
    return [left, right, Input(dtype), Input(dtype), Input(dtype)] if op == "FakeQuantize" else [left, right]


def openvino_attributes(op: str, **attributes: Any) -> dict[str, Any]:
    return {**attributes, "levels": 256} if op == "FakeQuantize" else attributes


# --- the specifications' examples -------------------------------------------------------------------------------------


def test_the_clash_names_its_axis() -> None:
    with pytest.raises(Fault, match=r"axis 0 is 3 in input 0 and 4 in input 1") as caught:
        broadcast(((3, 1, 5), (4, 4, 5)))
    assert caught.value.marks == ((0, 0), (1, 0))


A = (2, 3, 4, 5)


def test_legacy_ones_inside_are_a_warning() -> None:
    with stated() as statements:
        assert legacy(f32(*A), f32(3, 1), broadcast=1, axis=1).shape == A
        assert legacy(f32(N, 3, H), f32(3), broadcast=1, axis=1).shape == (N, 3, H)
        assert legacy(Tensor(F), f32(3), broadcast=1).shape is None
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL206", Severity.WARNING)]


@pytest.mark.parametrize("b", [(), (5,), (2, 1, 1, 5), (1, 3, 1, 5)])
def test_unidirectional(b: Shape) -> None:
    assert irlint_on_onnx(onnx_model("PRelu", [Input(F, *A), Input(F, *b)])) == [(F, A)]
    assert irlint_on_onnx(onnx_model("LayerNormalization", [Input(F, *A), Input(F, *b), Input(F, *b)])) == [(F, A)]
    assert stretched(A, b, 1) == A


def test_leading_ones_too_many() -> None:
    with pytest.raises(Fault, match="input 1 has 5 axes, and the shape to which it is broadcast has 4"):
        stretched(A, (1, 1, 3, 1, 1), 1)


# --- the two readings of pdpd -----------------------------------------------------------------------------------------


def checked(op: str, inputs: list[Any], attributes: dict[str, Any]) -> tuple[Any, Any, set[str]]:
    """What OpenVINO and irlint make of a layer, and the codes of irlint's warnings."""
    xml, weights = ir_document(op, OPENVINO[op][0], inputs, attributes)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        path.write_bytes(xml)
        model = parser.read(path)
    codes = {problem.fault.rule.code for problem in inferred(model).problems}
    return openvino_verdict(xml, weights), verdict(model), codes


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("a", "b", "attributes", "warned"),
    [
        (A, (3, 4), {PDPD_AXIS: 1}, False),
        (A, (3, 4), {"axis": 1, PDPD_AXIS: 1}, False),
        (A, (3, 4), {"axis": 1}, True),
        (A, (2, 3), {}, True),
        (A, (4, 5), {}, True),
        (A, (4, 5), {"axis": -1}, True),
        (A, (5, 1), {PDPD_AXIS: 3}, True),
        (A, (3, 4, 1, 1), {PDPD_AXIS: 1}, True),
        (A, (3, 1, 1, 1), {PDPD_AXIS: 1}, True),
        (A, A, {}, False),
        (A, (), {}, False),
        ((3, 3), (3,), {"axis": 1}, True),
        ((3, 3), (3,), {"axis": 0}, False),
    ],
)
def test_readings_that_differ(a: Shape, b: Shape, attributes: dict[str, Any], warned: bool) -> None:
    theirs, ours, codes = checked("Add", openvino_inputs("Add", a, b), {"auto_broadcast": "pdpd", **attributes})
    assert ours == [(F, a)]
    assert ("IRL205" in codes) == warned
    assert warned or theirs == ours


def test_both_readings_are_quoted() -> None:
    with stated() as statements:
        assert pdpd(A, (4, 5), library_axis=None, specified_axis=None) == A
    (fault,) = statements.faults
    assert (
        "OpenVINO reads no `auto_broadcast.auto_broadcast_axis`, so it uses axis 0: axis 0 is 2 against 4"
        in fault.message
    )
    assert "the specification reads axis -1 (the default): [2, 3, 4, 5]" in fault.message
    assert 'auto_broadcast.auto_broadcast_axis="2"' in fault.help


def test_an_error_where_both_readings_fail() -> None:
    with pytest.raises(Fault) as caught:
        pdpd(A, (7,), library_axis=None, specified_axis=None)
    assert caught.value.rule.code == "IRL204"


# --- unknown and symbolic sizes ---------------------------------------------------------------------------------------


def test_broadcasting_symbols() -> None:
    with stated() as statements:
        assert broadcast(((N, 3), (1, 3))) == (N, 3)
        assert broadcast(((N, 3), (N, 1))) == (N, 3)
        assert broadcast(((N + 2, 3), (1,))) == (N + 2, 3)
        assert broadcast(((None, 3), (1, 3))) == (None, 3)
        assert broadcast(((None, 3), (5, 1))) == (5, 3)
        assert broadcast((None, (5, 1))) is None
        assert broadcast(((), (N,), (M + 2,))) == (M + 2,)
    assert [requirement.condition for requirement in statements.requirements] == ["N == M + 2 or N == 1"]


def test_two_symbols_make_the_larger_one_unless_one_is_0() -> None:
    with stated() as statements:
        size = (broadcast(((N,), (M,))) or (None,))[0]
    assert all(
        evaluated(size, {"N": n, "M": m}) == s for n, m, s in [(3, 3, 3), (1, 4, 4), (4, 1, 4), (0, 1, 0), (1, 0, 0)]
    )
    assert [requirement.condition for requirement in statements.requirements] == ["N == M or N == 1 or M == 1"]


def test_a_symbol_and_an_unknown_size_make_a_hole() -> None:
    assert broadcast(((N,), (symbol("_nonzero_0"),))) == (None,)


@pytest.mark.parametrize("shapes", [((N + 2,), (N + 3,)), ((2 * N + 2,), (2 * N + 3,)), ((N + 2,), (0,))])
def test_symbols_that_can_never_agree(shapes: Any) -> None:
    with pytest.raises(Fault, match="axis 0 is"):
        broadcast(shapes)


@pytest.mark.parametrize("shapes", [((N,), (N + 1,)), ((N,), (3,)), ((N,), (0,)), ((None,), (7,))])
def test_symbols_that_may_agree(shapes: Any) -> None:
    assert len(broadcast(shapes) or ()) == 1


def test_a_clash_is_found_beside_an_unknown_rank() -> None:
    with pytest.raises(Fault) as caught:
        broadcast((None, (3,), (2,)))
    assert caught.value.input == 2


def test_merging_and_stretching_symbols() -> None:
    with stated() as statements:
        assert merged(((N, None), (4, H))) == (4, H)
        assert merged((None, (N,))) == (N,)
        assert stretched((N, 64), (64,), 1) == (N, 64)
        assert stretched((N, H), (64,), 1) == (N, H)
        assert stretched(None, (64,), 1) is None
        assert stretched((N,), None, 1) == (N,)
    assert [requirement.condition for requirement in statements.requirements] == ["N == 4", "64 == H"]
    with pytest.raises(Fault):
        stretched((N, H), (2, N, H), 1)
    with pytest.raises(Fault):
        merged(((N,), (N + 1,)))


def test_pdpd_of_symbols() -> None:
    with stated() as statements:
        assert pdpd((N, 3, H), (3,), library_axis=1, specified_axis=None) == (N, 3, H)
        assert pdpd((N, 64), (M,), library_axis=1, specified_axis=None) == (N, 64)
        assert pdpd(None, (3,), library_axis=9, specified_axis=None) is None
    conditions = {requirement.condition for requirement in statements.requirements}
    assert conditions == {"M == 64 or M == 1"}
    assert not statements.faults


@pytest.mark.oracle
def test_select_may_be_enlarged_by_its_condition() -> None:
    cond, then, otherwise = Tensor("bool", (4, 2, 3)), f32(3), f32(1)
    assert ov_select(cond, then, otherwise, broadcasting=Broadcasting()).shape == (4, 2, 3)
    assert_same_verdict("Select", "opset1", [Input("bool", 4, 2, 3), Input(F, 3), Input(F, 1)])
    for mode in ("none", "pdpd"):
        attributes = {"auto_broadcast": mode}
        assert_same_verdict("Select", "opset1", [Input("bool", 4, 2, 3), Input(F, 3), Input(F, 1)], attributes)


# --- contents ---------------------------------------------------------------------------------------------------------

UFUNCS: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Subtract": np.subtract,
    "Multiply": np.multiply,
    "Divide": np.floor_divide,
    "FloorMod": np.mod,
    "Mod": np.fmod,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "SquaredDifference": lambda a, b: (a - b) ** 2,
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "Less": operator.lt,
    "LessEqual": operator.le,
    "Greater": operator.gt,
    "GreaterEqual": operator.ge,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}

#: The folds of rules that serve one operator alone.
OWN = {"Divide": contents.floored_quotient, "Div": contents.truncated_quotient, "Pow": contents.power}


def folded(op: str, a: Any, b: Any) -> Any:
    """What an operator of either format makes of two entries."""
    rules = [*openvino_versions(op), *onnx_versions("", op)]
    fold = OWN.get(op) or next(rule.fold for rule in rules if rule.fold is not None)
    return fold(a, b)


@given(st.sampled_from(sorted(UFUNCS)), st.integers(-99, 99), st.integers(-99, 99))
def test_folds_are_numpys(op: str, a: int, b: int) -> None:
    if b == 0 and op in ("Divide", "FloorMod", "Mod"):
        with pytest.raises(ArithmeticError):
            folded(op, a, b)
        return
    assert folded(op, a, b) == UFUNCS[op](np.int64(a), np.int64(b))


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("Add", H, 2, "H + 2"),
        ("Mul", H, 2.0, "2*H"),
        ("Mul", H, 0.5, "None"),
        ("Div", H, 2, "H//2"),
        ("Div", 7, -2, "-3"),
        ("Divide", 7, -2, "-4"),
        ("Sub", H, H, "0"),
        ("Equal", H, H, "True"),
        ("Equal", H, 3, "None"),
        ("Less", H, 0, "False"),
        ("Pow", H, 2, "H**2"),
        ("Max", H, 0, "H"),
    ],
)
def test_folds_of_symbols(op: str, a: Any, b: Any, expected: str) -> None:
    assert str(folded(op, a, b)).replace("H*H", "H**2") == expected


# --- laws -------------------------------------------------------------------------------------------------------------

DIMS = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(st.lists(DIMS, min_size=1, max_size=4))
def test_broadcast_is_numpys(shapes: list[tuple[int, ...]]) -> None:
    try:
        expected: Any = np.broadcast_shapes(*shapes)
    except ValueError:
        expected = None
    try:
        found: Any = broadcast(shapes)
    except Fault as fault:
        found, marks = None, fault.marks
    else:
        marks = ()
    assert found == expected
    assert all(0 <= axis < len(shapes[index]) for index, axis in marks)


@given(DIMS, DIMS)
def test_stretching_is_numpys_broadcast_to(target: tuple[int, ...], shape: tuple[int, ...]) -> None:
    try:
        fits = np.broadcast_to(np.empty(shape), target).shape == target
    except ValueError:
        fits = False
    with stated() as statements:
        try:
            found = stretched(target, shape, 1) == target and not statements.faults
        except Fault:
            found = False
    assert found == fits


@given(DIMS, DIMS, st.integers(-2, 4), st.booleans())
def test_along_is_the_specifications_rule(a: Any, b: Any, axis: int, ignore_trailing: bool) -> None:
    """The library's own ways with 0 apart."""
    kept = list(b)
    while ignore_trailing and kept and kept[-1] == 1:
        kept.pop()
    start = len(a) - len(b) if axis == -1 else axis
    fits = axis >= -1 and start >= 0 and start + len(kept) <= len(a)
    fits = fits and all(dim in (1, a[start + position]) for position, dim in enumerate(kept))
    odd = 0 in (*a, *b) and 1 in (*a, *b)
    try:
        assert aligned_from(a, b, axis, ignore_trailing=ignore_trailing) == a or odd
        assert fits or odd
    except Fault:
        assert not fits or odd


OPEN_DIMS = st.lists(st.sampled_from([0, 1, 1, 2, 3, None]), max_size=3).map(tuple) | st.none()
MODES = st.sampled_from(["none", "numpy", "numpy", None])


@pytest.mark.oracle
@given(st.sampled_from(sorted(OPENVINO)), OPEN_DIMS, OPEN_DIMS, MODES)
def test_random_layers_against_openvino(op: str, a: Any, b: Any, mode: str | None) -> None:
    attributes = {} if mode is None else {"auto_broadcast": mode}
    assert_same_verdict(
        op, OPENVINO[op][0], openvino_inputs(op, a, b), openvino_attributes(op, **attributes), finer=True
    )


@pytest.mark.oracle
@given(
    st.sampled_from(sorted(OPENVINO)),
    OPEN_DIMS,
    OPEN_DIMS,
    st.sampled_from([PDPD_AXIS, "axis"]),
    st.integers(-2, 3) | st.none(),
)
def test_random_pdpd_layers_against_openvino(op: str, a: Any, b: Any, spelling: str, axis: int | None) -> None:
    """Where the verdicts differ, irlint has warned of the two readings."""
    attributes = openvino_attributes(op, auto_broadcast="pdpd", **({} if axis is None else {spelling: axis}))
    theirs, ours, codes = checked(op, openvino_inputs(op, a, b), attributes)
    if isinstance(theirs, str) != isinstance(ours, str):
        assert "IRL205" in codes, f"openvino: {theirs}\nirlint: {ours}"
        assert isinstance(theirs, str)
        return
    if isinstance(ours, str):
        return
    (dtype, mine), (other_dtype, other) = ours[0], theirs[0]
    assert dtype == other_dtype
    if other is not None:
        assert mine is not None
        assert all(theirs_dim in (None, dim) for dim, theirs_dim in zip(mine, other))
