"""Expand and Broadcast against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import Dim, symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.expanding import broadcast_along, expand, expanded, mapped, ov_legacy_broadcast, repeated

F = "float32"
H, N = symbol("H"), symbol("N")


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
    def onto(*target: Dim) -> Tensor:
        context: Any = SimpleNamespace(version=13, constant=lambda index: True)
        return expand(Tensor("int64", (2, 1), (1, H)), Tensor("int64", (2,), target), context=context)

    assert onto(1, 3).value == (1, 1, 1, H, H, H)
    assert (onto(1, N).shape, onto(1, N).value) == ((2, N), None)


def test_symbolic_targets() -> None:
    assert expanded((N, 1), (1, H)) == (N, H)
    assert expanded(None, (1, H)) is None
    assert repeated((3, 1), (N, None, None)) == (N, 3, None)
    with stated() as statements:
        assert repeated((N, 3), (5, 3)) == (5, 3)
        assert mapped((H,), (N, 5), (1,)) == (N, 5)
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["N == 5 or N == 1", "H == 5 or H == 1"]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_what_openvino_ignores_is_a_warning() -> None:
    data, target, axes = Tensor(F, (16, 1, 1)), Tensor("int64", (3,), (16, 5, 5)), Tensor("int64", (3,), (0, 1, 2))
    with stated() as statements:
        assert ov_legacy_broadcast(data, target, axes, mode="numpy").shape == (16, 5, 5)
        assert ov_legacy_broadcast(data, target, mode="explicit").shape == (16, 5, 5)
        assert broadcast_along((50, 50), (50,), 0) == (50,)
    found = [(fault.rule.code, fault.severity) for fault in statements.faults]
    assert found == [("IRL209", Severity.WARNING), ("IRL209", Severity.WARNING), ("IRL204", Severity.WARNING)]
