"""Grids, crops and colour formats against ONNX's node tests, ONNX Runtime's rules and OpenVINO."""

from __future__ import annotations

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.vision import imaging

H, W = symbol("H"), symbol("W")


def test_planes_state_what_their_sizes_need() -> None:
    with stated() as statements:
        (plane,) = imaging.rgb_to_nv12(Tensor("uint8", (1, H, W, 3)))
        image = imaging.nv12_to_rgb(Tensor("uint8", (1, H, W, 1)))
    assert [str(dim) for dim in plane.shape or ()] == ["1", "3*(H//2)", "W", "1"]
    assert [str(dim) for dim in image.shape or ()] == ["1", "2*(H//3)", "W", "3"]
    needs = [requirement.any_of[0] for requirement in statements.requirements]
    assert [(each.kind, each.left, each.right) for each in needs] == [
        ("%", H, 2),
        ("%", W, 2),
        ("%", H, 3),
        ("%", W, 2),
    ]
