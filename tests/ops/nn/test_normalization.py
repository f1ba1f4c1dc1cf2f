"""Normalizations against ONNX's node tests, OpenVINO and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import Relation, stated
from irlint.model.tensor import Tensor
from irlint.ops.nn.axes_normalization import lrn, mean_variance_normalization, ov_mvn_6
from irlint.ops.nn.normalization import group_normalization, group_normalization_18, instance_normalization

F = "float32"
N, C, H = symbol("N"), symbol("C"), symbol("H")


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_openvino_mvn_warns_of_its_axes() -> None:
    with stated() as statements:
        ov_mvn_6(f32(2, 3), Tensor("int64", (1,), (5,)), eps=1e-9, eps_mode="INSIDE_SQRT", normalize_variance=True)
    assert [fault.rule.code for fault in statements.faults] == ["IRL300"]


# --- ONNX -------------------------------------------------------------------------------------------------------------


def test_what_only_some_runtimes_take_is_a_warning() -> None:
    with stated() as statements:
        lrn(f32(1, 3, 4, 4), size=4)
        instance_normalization(f32(2, 3), f32(3), f32(3))
        mean_variance_normalization(f32(2, 3))
        group_normalization_18(f32(2, 4, 5), f32(4), f32(4), num_groups=2)
    codes = [fault.rule.code for fault in statements.faults]
    assert codes == ["IRL510", "IRL339", "IRL300", "IRL324", "IRL324"]


# --- symbols ----------------------------------------------------------------------------------------------------------


def test_channels_state_what_they_need() -> None:
    with stated() as statements:
        assert instance_normalization(f32(N, C, H), f32(64), f32(64)).shape == (N, 64, H)
        assert group_normalization(f32(N, C, H), f32(C), f32(C), num_groups=8).shape == (N, C, H)
    relations = [requirement.any_of[0] for requirement in statements.requirements]
    assert relations == [Relation("==", 64, C), Relation("%", C, 8)]


def test_two_parameters_that_differ_are_wrong_for_every_size() -> None:
    with pytest.raises(Fault, match=r"input 2 \(B\) is \[32\]; input 1 \(scale\) is for 64 channels"):
        instance_normalization(f32(N, C, H), f32(64), f32(32))
