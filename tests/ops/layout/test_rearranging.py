"""Tile, Pad, blocks, reversals and shifts against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.faults import Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.blocks import depth_to_space, ov_col2im, ov_depth_to_space, space_to_depth
from irlint.ops.layout.padding import microsoft_pad, pad, padded
from irlint.ops.layout.rearranging import crop, tile, tile_along_axis, tiled

H, W, N = symbol("H"), symbol("W"), symbol("N")
F = "float32"


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_tile_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape)))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    wanted = np.tile(array, repeats)
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    value = tuple(wanted.ravel().tolist()) if wanted.size <= 256 else None
    found = tiled(known, repeats)
    assert (found.dtype, found.shape, found.value) == ("int64", wanted.shape, value)


@given(st.data())
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_pad_is_numpys(mode: str, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), max_size=3))
    ends = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in shape]
    array = np.arange(int(np.prod(shape))).reshape(shape)
    options = {"constant_values": 9} if mode == "constant" else {}
    wanted = np.pad(array, ends, mode=mode, **options) if shape else array
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    found = padded(known, [begin for begin, _ in ends], [end for _, end in ends], mode=mode, filler=9, input=1)
    value = tuple(wanted.ravel().tolist()) if wanted.size <= 256 else None
    assert found == Tensor("int64", wanted.shape, value)


def test_negative_pads_crop_contents() -> None:
    known = Tensor("int64", (4,), (1, H, 3, 4))
    assert padded(known, [-1], [1], mode="constant", filler=0, input=1) == Tensor("int64", (4,), (H, 3, 4, 0))
    assert padded(known, [-1], [-1], mode="constant", filler=0, input=1) == Tensor("int64", (2,), (H, 3))


def test_symbolic_sizes() -> None:
    assert tile(Tensor(F, (N, 3)), Tensor("int64", (2,), (2, H))).shape == (2 * N, 3 * H)
    assert tile(Tensor(F, (N, 3)), Tensor("int64", (2,))).shape == (None, None)
    assert tile_along_axis(Tensor(F, (N, 3)), Tensor(F, (), (2.0,)), Tensor(F, (), (1.0,))).shape == (N, 6)
    pads = Tensor("int64", (4,), (0, 1, 0, H))
    assert pad(Tensor(F, (N, W)), pads).shape == (N, W + H + 1)
    assert pad(Tensor(F, (N, W)), Tensor("int64", (2,), (1, 1)), None, Tensor("int64", (1,), (-1,))).shape == (N, W + 2)
    assert microsoft_pad(Tensor(F, (N, 3)), Tensor("int64", (1, 4), (0, 1, 0, 1))).shape == (N, 5)
    assert crop(Tensor(F, (N, 3, H, 8)), border=(1, 2, 3, 4)).shape == (N, 3, H - 6, 4)
    assert crop(Tensor(F, (N, 3, H, 8)), border=(1, 2, 3, 4), scale=(5, 6)).shape == (N, 3, 5, 6)
    assert depth_to_space((N, 8, H, 4), 2) == (N, 2, 2 * H, 8)
    assert space_to_depth((N, 2, 2 * H, 8), 2) == (N, 8, H, 4)


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda: depth_to_space((1, H, 2, 2), 2), "H % 4 == 0"),
        (lambda: space_to_depth((1, 3, H, 4), 2), "H % 2 == 0"),
        (lambda: pad(Tensor(F, (H,)), Tensor("int64", (2,), (-2, 0))), "H - 2 >= 0"),
        (lambda: pad(Tensor(F, (H,)), Tensor("int64", (2,), (2, 0)), mode="reflect"), "H >= 3"),
    ],
)
def test_requirements(call: Any, condition: str) -> None:
    with stated() as statements:
        call()
    assert [requirement.condition.replace("(H)", "H") for requirement in statements.requirements] == [condition]


# --- ONNX -------------------------------------------------------------------------------------------------------------


def test_reflecting_more_than_there_is_is_a_warning() -> None:
    with stated() as statements:
        found = pad(Tensor(F, (2, 3)), Tensor("int64", (4,), (0, 0, 0, 5)), mode="reflect")
    assert found.shape == (2, 8)
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL337", Severity.WARNING)]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_defaults_that_openvino_does_not_have_are_warnings() -> None:
    with stated() as statements:
        assert ov_depth_to_space(Tensor(F, (1, 8, 2, 4)), mode="blocks_first").shape == (1, 8, 2, 4)
        sides, kernel = Tensor("int64", (2,), (16, 16)), Tensor("int64", (2,), (2, 2))
        assert ov_col2im(Tensor(F, (3, 12, 225)), sides, kernel).shape == (3, 3, 16, 16)
    assert [fault.severity for fault in statements.faults] == [Severity.WARNING, Severity.WARNING]
