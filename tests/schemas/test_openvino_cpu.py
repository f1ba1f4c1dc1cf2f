"""The element types that OpenVINO's CPU plugin refuses."""

from __future__ import annotations

from irlint.schemas.openvino_cpu import is_refused


def test_a_refused_type_is_one_of_an_operation_its_opset_and_its_input() -> None:
    assert is_refused("Relu", 1, 0, "nf4", sized=True)
    assert not is_refused("Relu", 1, 1, "nf4", sized=True)
    assert not is_refused("Relu", 1, 0, "float32", sized=True)
    assert not is_refused("Unheard", 1, 0, "nf4", sized=True)
    assert not is_refused("Relu", 1, 0, "nf4", sized=False)
    assert is_refused("NonZero", 3, 0, "nf4", sized=False)
