"""Expand and Broadcast against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

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
    openvino_verdict,
)

from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.expanding import expand, expanded, laid, mapped, ov_legacy_broadcast, repeated

F = "float32"
H, N = symbol("H"), symbol("N")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


X = Input(F, 16, 1, 1)
TARGET = i64(1, 16, 50, 50)


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize(
    "case", [case for case in node_cases("Expand") if len(case.model.graph.node) == 1], ids=lambda case: case.name
)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


# --- laws -------------------------------------------------------------------------------------------------------------

sizes = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4)


@given(sizes, sizes)
def test_numpy_decides_what_fits(data: list[int], target: list[int]) -> None:
    try:
        both: tuple[int, ...] | None = np.broadcast_shapes(tuple(data), tuple(target))
    except ValueError:
        both = None
    for kernel, wanted in ((expanded, both), (repeated, both if both == tuple(target) else None)):
        if wanted is not None:
            assert kernel(tuple(data), tuple(target)) == wanted
            continue
        with pytest.raises(Fault) as caught:
            kernel(tuple(data), tuple(target))
        assert caught.value.rule.code == "IRL207"


def test_contents_are_repeated() -> None:
    known = Tensor("int64", (2, 1), (1, H))
    assert expand(known, Tensor("int64", (2,), (1, 3))).value == (1, 1, 1, H, H, H)
    assert expand(known, Tensor("int64", (2,), (1, N))) == Tensor("int64", (2, N))


def test_symbolic_targets() -> None:
    assert expanded((N, 1), (1, H)) == (N, H)
    assert expanded(None, (1, H)) is None
    assert repeated((3, 1), (N, None, None)) == (N, 3, None)
    with stated() as statements:
        assert repeated((N, 3), (5, 3)) == (5, 3)
        assert mapped((H,), (N, 5), (1,)) == (N, 5)
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["N == 5 or N == 1", "H == 5 or H == 1"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (i64(2, 1, 6), (2, 3, 6)),
        (i64(), (3, 1)),
        (np.array(2), (3, 2)),
        (Input("int64", 3), (None, 3, None)),
        (Input("int64", None), None),
        (i64(2, 5), "IRL207"),
        (i64(3, -1), "IRL361"),
    ],
)
def test_onnx(target: Any, expected: Any) -> None:
    found = irlint_on_onnx(onnx_model("Expand", [Input(F, 3, 1), target], {}, 13))
    assert (found[:6] if isinstance(found, str) else found[0][1]) == expected


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

MODES = ("numpy", "NUMPY", "explicit", "none", "pdpd", "bidirectional", "weird", None)


@pytest.mark.parametrize("version", ["opset1", "opset3"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", [None, i64(1, 2, 3)], ids=["two_inputs", "three_inputs"])
def test_modes_and_their_inputs(version: str, mode: str | None, axes: Any) -> None:
    inputs = [X, TARGET] if axes is None else [X, TARGET, axes]
    assert_same_verdict("Broadcast", version, inputs, {} if mode is None else {"mode": mode})


@pytest.mark.parametrize("version", ["opset1", "opset3"])
@pytest.mark.parametrize(
    ("data", "target"),
    [
        (X, TARGET),
        (Input(F, 16, 2, 1), TARGET),
        (Input(F, 5, 16, 1, 1), i64(16, 1, 1)),
        (Input(F, 1, 16, 1, 1), i64(16, 1, 1)),
        (Input(F, None, 1, 1), TARGET),
        (Input.any_rank(F), TARGET),
        (X, i64(1, -1, 50, 50)),
        (X, i64(-2, 16, 50, 50)),
        (X, Input("int64", 4)),
        (X, Input("int64", None)),
        (X, Input("int64")),
        (X, Input.any_rank("int64")),
        (X, np.ones(4, np.float32)),
        (X, np.array([1, 16, 50, 50], np.int32)),
        (Input(F), i64()),
        (Input(F), i64(3)),
        (Input(F, 0), i64(5)),
        (Input(F, 1), i64(0)),
        (Input(F, 5), i64(1)),
        (Input("bool", 5), i64(5)),
        (Input("string", 1), i64(5)),
    ],
)
def test_numpy_mode(version: str, data: Input, target: Any) -> None:
    assert_same_verdict("Broadcast", version, [data, target], {"mode": "numpy"}, finer=True)


IMAGE = i64(1, 50, 50, 16)
DATA = Input(F, 50, 50)


@pytest.mark.parametrize("version", ["opset1", "opset3"])
@pytest.mark.parametrize(
    ("data", "target", "axes"),
    [
        (Input(F, 16), TARGET, i64(1)),
        *((DATA, IMAGE, i64(*axes)) for axes in [(1, 2), (2, 1), (1, 4), (-3, -2), (1,), (1, 2, 3), (2, 3)]),
        (Input(F, 50, 1), IMAGE, i64(2, 3)),
        (Input(F), i64(3, 4), i64()),
        (Input(F), i64(3, 4), i64(0)),
        (Input(F), i64(1, 4), i64(0)),
        (Input(F), i64(1, 4), i64(0, 1)),
        (Input(F, 5), i64(5, 4), Input("int64", 1)),
        (Input(F, 5), i64(5, 4), Input("int64", 2)),
        (Input(F, 5), i64(5, 4), Input("int64", None)),
        (Input(F, 5), i64(5, 4), Input.any_rank("int64")),
        (Input(F, 5), Input("int64", 2), i64(0)),
        (Input(F, 5), Input("int64", None), i64(2)),
        (Input(F, None), i64(5, 4), i64(0)),
        (Input.any_rank(F), i64(5, 4), i64(0)),
        (Input(F, 5), i64(5, 4), np.zeros(1, np.float32)),
        (Input(F, 5), i64(5, 4), np.array(0)),
        (Input(F, 5), i64(-1, 4), i64(0)),
        (Input(F), i64(), i64()),
        (Input(F, 5), i64(1, 4), i64(0)),
        (Input(F, 5), i64(5, 4), np.zeros(1, np.int32)),
    ],
)
def test_explicit_mode(version: str, data: Input, target: Any, axes: Any) -> None:
    assert_same_verdict("Broadcast", version, [data, target, axes], {"mode": "explicit"})


@pytest.mark.parametrize(
    ("data", "target", "axes", "attributes", "code"),
    [
        (DATA, IMAGE, i64(1, 1), {"mode": "explicit"}, "IRL208"),
        (Input(F, 5), Input("int64", 2), i64(2), {"mode": "explicit"}, "IRL208"),
        (Input.any_rank(F), i64(5, 4), i64(2), {"mode": "explicit"}, "IRL208"),
        (X, Input("int64", 2), None, {"mode": "numpy"}, "IRL207"),
        (Input(F, "2..4", 1), i64(5, 50), None, {"mode": "numpy"}, "IRL207"),
    ],
)
def test_openvino_loads_what_cannot_work(
    data: Input, target: Any, axes: Any, attributes: dict[str, object], code: str
) -> None:
    document = ir_document("Broadcast", "opset3", [data, target] if axes is None else [data, target, axes], attributes)
    assert not isinstance(openvino_verdict(*document), str)
    assert irlint_on_ir(*document)[:6] == code


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (X, i64(1, 1, 50, 50)),
        (Input(F, 16, 50, 50), i64(1, 1, 1, 1)),
        (X, IMAGE),
        (Input(F, 5), i64(1)),
        (Input(F, 2, 3), i64(3)),
        (Input(F, 3, 1), i64(3, 4)),
        (Input(F, 3, 4), i64()),
        (Input(F, 3, 1), i64(2, 1, 6)),
        (Input(F, 3), i64(4)),
        (Input.any_rank(F), i64(4)),
        (Input(F, 3), Input("int64", 2)),
        (Input(F, 3), Input("int64", None)),
        (Input(F, None), i64(4)),
        (Input(F, 3), i64(-1)),
        (Input(F, 1), i64(-1)),
        (Input(F), i64()),
        (Input(F, 3), np.array(3)),
        (Input(F, 0), i64(3)),
        (Input(F, 1), i64(0)),
        (Input(F, "2..4"), i64(5)),
        (Input(F, 3, 1), Input("int64", 1)),
    ],
)
def test_bidirectional_mode(data: Input, target: Any) -> None:
    assert_same_verdict("Broadcast", "opset3", [data, target], {"mode": "bidirectional"})


@pytest.mark.parametrize(
    ("data", "target", "axis"),
    [
        (Input(F, 16, 50), TARGET, 1),
        (Input(F, 16, 50, 50), TARGET, 1),
        *((DATA, TARGET, axis) for axis in (2, -1, None, 3, -2)),
        (Input(F, 1, 16, 50, 50), TARGET, None),
        (Input(F, 3, 16, 50, 50), TARGET, 0),
        (Input(F, 50, 1), TARGET, 2),
        (Input(F, 50, 7), TARGET, 2),
        (Input(F, None, 50), TARGET, 2),
        (Input.any_rank(F), TARGET, 2),
        (DATA, Input("int64", 4), 2),
        (DATA, Input("int64", None), 2),
        (Input(F, 5, 5, 1), i64(5, 5), 0),
        (Input(F), TARGET, 0),
        (Input(F), TARGET, -1),
        (Input(F, 16, 50, 1), TARGET, 1),
    ],
)
def test_pdpd_mode(data: Input, target: Any, axis: int | None) -> None:
    third = {} if axis is None else {"mode.mode.axis": axis}
    first = {} if axis is None else {"mode.auto_broadcast_axis": axis}
    assert_same_verdict("Broadcast", "opset3", [data, target], {"mode": "pdpd", **third}, finer=True)
    assert_same_verdict("Broadcast", "opset1", [data, target, i64(1)], {"mode": "pdpd", **first}, finer=True)
    assert_same_verdict("Broadcast", "opset1", [data, target], {"mode": "pdpd", **first})


def test_what_openvino_ignores_is_a_warning() -> None:
    data, target, axes = Tensor(F, (16, 1, 1)), Tensor("int64", (3,), (16, 5, 5)), Tensor("int64", (3,), (0, 1, 2))
    with stated() as statements:
        assert ov_legacy_broadcast(data, target, axes, mode="numpy").shape == (16, 5, 5)
        assert ov_legacy_broadcast(data, target, mode="explicit").shape == (16, 5, 5)
        assert laid((50, 50), (50,), 0) == (50,)
    found = [(fault.rule.code, fault.severity) for fault in statements.faults]
    assert found == [("IRL209", Severity.WARNING), ("IRL209", Severity.WARNING), ("IRL204", Severity.WARNING)]
