"""Tile, Pad, blocks, reversals and shifts against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

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
from irlint.findings.faults import Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.blocks import depth_to_space, ov_col2im, ov_depth_to_space, space_to_depth
from irlint.ops.layout.rearranging import crop, microsoft_pad, pad, padded, tile, tile_along_axis, tiled

H, W, N = symbol("H"), symbol("W"), symbol("N")
F = "float32"
D = Input(F, 2, 3)


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def scalar(entry: float, dtype: type = np.int64) -> np.ndarray:
    return np.array(entry, dtype)


OPS = ("Tile", "Pad", "DepthToSpace", "SpaceToDepth", "ReverseSequence", "Trilu")


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize(
    "case", [case for case in node_cases(*OPS) if len(case.model.graph.node) == 1], ids=lambda case: case.name
)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_tile_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape)))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    wanted = np.tile(array, repeats)
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    value = tuple(wanted.ravel().tolist()) if wanted.size <= 256 else None
    assert tiled(known, repeats) == Tensor("int64", wanted.shape, value)


@given(st.data())
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_pad_is_numpys(mode: str, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), max_size=3))
    ends = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in shape]
    array = np.arange(int(np.prod(shape))).reshape(shape)
    options = {"constant_values": 9} if mode == "constant" else {}
    wanted = np.pad(array, ends, mode=mode, **options) if shape else array
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    found = padded(known, [begin for begin, _ in ends], [end for _, end in ends], mode, 9, 1)
    value = tuple(wanted.ravel().tolist()) if wanted.size <= 256 else None
    assert found == Tensor("int64", wanted.shape, value)


def test_negative_pads_crop_contents() -> None:
    known = Tensor("int64", (4,), (1, H, 3, 4))
    assert padded(known, [-1], [1], "constant", 0, 1) == Tensor("int64", (4,), (H, 3, 4, 0))
    assert padded(known, [-1], [-1], "constant", 0, 1) == Tensor("int64", (2,), (H, 3))


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

IMAGE = Input(F, 1, 8, 2, 4)


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attributes", "expected"),
    [
        ("Tile", 6, [D, i64(2, 2)], {}, (4, 6)),
        ("Tile", 13, [D, i64(2)], {}, "IRL334"),
        ("Tile", 13, [D, i64(2, 2, 2)], {}, "IRL334"),
        ("Tile", 13, [D, scalar(2)], {}, "IRL339"),
        ("Tile", 13, [D, i64(-1, 1)], {}, "IRL361"),
        ("Tile", 13, [D, i64(0, 1)], {}, (0, 3)),
        ("Pad", 1, [D], {"paddings": [0, 1, 2, 3]}, (4, 7)),
        ("Pad", 2, [D], {"pads": [0, 1, 2, 3]}, (4, 7)),
        ("Pad", 2, [D], {"pads": [0, 1, 2]}, "IRL334"),
        ("Pad", 2, [Input.any_rank(F)], {"pads": [0, 1, 2, 3]}, (None, None)),
        ("Pad", 13, [D, i64(0, 1, 2, 3)], {}, (4, 7)),
        ("Pad", 13, [D, i64(0, 1, 2)], {}, "IRL334"),
        ("Pad", 13, [D, Input("int64", 4)], {}, (None, None)),
        ("Pad", 13, [D, Input("int64", 3)], {}, "IRL334"),
        ("Pad", 13, [D, i64(-1, 0, -2, 0)], {}, "IRL335"),
        ("Pad", 13, [D, i64(-1, 0, -1, 0)], {}, (0, 3)),
        ("Pad", 13, [Input(F, 0, 3), i64(1, 0, 0, 0)], {}, (1, 3)),
        ("Pad", 13, [Input(F, 0, 3), i64(1, 0, 0, 0)], {"mode": "edge"}, "IRL337"),
        ("Pad", 13, [D, i64(0, 1, 2, 3)], {"mode": "weird"}, "IRL506"),
        ("Pad", 19, [D, i64(0, 0, 0, 7)], {"mode": "wrap"}, (2, 10)),
        ("Pad", 18, [D, i64(1, 2), None, i64(-1)], {}, (2, 6)),
        ("Pad", 18, [D, i64(1, 2), None, i64(2)], {}, "IRL300"),
        ("Pad", 18, [D, i64(1, 2, 1, 2), None, i64(1, 1)], {}, "IRL301"),
        ("Pad", 18, [D, i64(1, 2, 1), None, i64(1)], {}, "IRL334"),
        ("Pad", 18, [D, i64(0, 1, 2, 3), np.ones(2, np.float32)], {}, "IRL339"),
        ("DepthToSpace", 1, [IMAGE], {"blocksize": 2}, (1, 2, 4, 8)),
        ("DepthToSpace", 13, [IMAGE], {"blocksize": 3}, "IRL336"),
        ("DepthToSpace", 13, [IMAGE], {"blocksize": -2}, "IRL510"),
        ("DepthToSpace", 13, [Input(F, 8, 2, 4)], {"blocksize": 2}, "IRL339"),
        ("DepthToSpace", 13, [IMAGE], {"blocksize": 2, "mode": "XXX"}, "IRL506"),
        ("SpaceToDepth", 13, [IMAGE], {"blocksize": 2}, (1, 32, 1, 2)),
        ("SpaceToDepth", 13, [IMAGE], {"blocksize": 3}, "IRL336"),
        ("ReverseSequence", 10, [Input(F, 5, 4), Input("int64", 4)], {}, (5, 4)),
        ("ReverseSequence", 10, [Input(F, 4, 5), Input("int64", 4)], {}, "IRL338"),
        ("ReverseSequence", 10, [Input(F, 4, 5), Input("int64", 4)], {"batch_axis": 0, "time_axis": 1}, (4, 5)),
        ("ReverseSequence", 10, [Input(F, 4, 5), Input("int64", 5)], {"batch_axis": 1, "time_axis": 1}, "IRL510"),
        ("ReverseSequence", 10, [Input(F, 4, 5), Input("int64", 4)], {"batch_axis": 0, "time_axis": 2}, "IRL510"),
        ("ReverseSequence", 10, [Input(F, 4), Input("int64", 4)], {}, "IRL339"),
        ("Trilu", 14, [D], {}, (2, 3)),
        ("Trilu", 14, [Input(F, 3)], {}, "IRL339"),
    ],
)
def test_onnx(op: str, opset: int, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    found = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))
    assert (found[:6] if isinstance(found, str) else found[0][1]) == expected


def test_reflecting_more_than_there_is_is_a_warning() -> None:
    with stated() as statements:
        found = pad(Tensor(F, (2, 3)), Tensor("int64", (4,), (0, 0, 0, 5)), mode="reflect")
    assert found.shape == (2, 8)
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL337", Severity.WARNING)]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

REPEATS = [
    *(i64(*entries) for entries in [(2, 2), (2,), (2, 2, 2), (0, 1), (-1, 1), (-2, 1), ()]),
    scalar(2),
    Input("int64", 2),
    Input("int64", 3),
    Input("int64"),
    Input("int64", None),
    np.ones(2, np.float32),
]


@pytest.mark.parametrize("repeats", REPEATS, ids=range(len(REPEATS)))
@pytest.mark.parametrize("data", [D, Input(F, None, 3), Input.any_rank(F), Input(F)], ids=range(4))
def test_openvino_tile(data: Input, repeats: Any) -> None:
    assert_same_verdict("Tile", "opset1", [data, repeats])


PADS = [
    (D, i64(0, 1), i64(2, 3)),
    (D, i64(1, 2), i64(1, 2)),
    (D, i64(-1, 0), i64(0, -2)),
    (D, i64(-1, 0), i64(-1, 0)),
    (D, i64(2, 0), i64(0, 0)),
    (D, i64(-1, 0), i64(2, 0)),
    (Input(F, 1, 0), i64(1, 1), i64(0, 0)),
    (Input(F, None, 3), i64(1, 2), i64(0, 0)),
    (Input(F, None, 3), i64(1, 4), i64(0, 0)),
    (D, i64(0), i64(2)),
    (D, i64(0, 1, 1), i64(2, 3, 1)),
    (D, i64(0), i64(2, 3)),
    (D, Input("int64", 2), i64(1, 2)),
    (D, Input("int64", None), i64(1, 2)),
    (D, Input("int64", 3), i64(2, 3)),
    (D, scalar(1), scalar(1)),
    (D, np.array([[0, 1]]), i64(2, 3)),
    (Input.any_rank(F), i64(1, 1), i64(1, 1)),
    (D, np.ones(2, np.float32), np.ones(2, np.float32)),
    (D, np.array([0, 1], np.int32), i64(1, 1)),
    (Input(F), i64(), i64()),
    (Input("bool", 2, 3), i64(0, 1), i64(1, 1)),
]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap", None])
@pytest.mark.parametrize("inputs", PADS, ids=range(len(PADS)))
def test_openvino_pad(inputs: tuple[Any, ...], mode: str | None) -> None:
    for version in ("opset1", "opset12"):
        assert_same_verdict("Pad", version, inputs, {} if mode is None else {"pad_mode": mode})


@pytest.mark.parametrize("value", [scalar(1, np.float32), scalar(1), np.ones(1, np.float32), np.ones(2, np.float32)])
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_openvino_pad_value(value: np.ndarray, mode: str) -> None:
    assert_same_verdict("Pad", "opset12", [D, i64(0, 1), i64(2, 3), value], {"pad_mode": mode})


@pytest.mark.parametrize("op", ["DepthToSpace", "SpaceToDepth"])
@pytest.mark.parametrize(
    ("data", "attributes"),
    [
        *((IMAGE, {"block_size": size}) for size in (2, 0, -2, 3, 1)),
        (IMAGE, {"block_size": 2, "mode": "depth_first"}),
        (IMAGE, {"block_size": 2, "mode": "weird"}),
        (Input(F, 1, 8, 4), {"block_size": 2}),
        (Input(F, 8, 4), {"block_size": 2}),
        (Input(F, 1, 8, 4, 4, 4), {"block_size": 2}),
        (Input(F, 1, None, 4, None), {"block_size": 2}),
        (Input(F, 1, "3..9", "3..9", 4), {"block_size": 2}),
        (Input(F, 1, 8, 4, 4), {"block_size": 4}),
        (Input(F, 1, 0, 4, 4), {"block_size": 2}),
        (Input.any_rank(F), {"block_size": 2}),
    ],
)
def test_openvino_depth_and_space(op: str, data: Input, attributes: dict[str, object]) -> None:
    assert_same_verdict(op, "opset1", [data], attributes)


X854, X246 = Input(F, 8, 5, 4), Input(F, 2, 4, 6)
ZEROS = i64(0, 0, 0)
BLOCKS = i64(1, 2, 2)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("BatchToSpace", [X854, BLOCKS, ZEROS, ZEROS]),
        ("BatchToSpace", [X854, BLOCKS, i64(0, 1, 0), i64(0, 1, 3)]),
        ("BatchToSpace", [X854, i64(1, 3, 2), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, i64(2, 2, 2), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, BLOCKS, i64(1, 0, 0), ZEROS]),
        ("BatchToSpace", [X854, BLOCKS, i64(0, 9, 0), i64(0, 2, 0)]),
        ("BatchToSpace", [X854, BLOCKS, i64(0, 9, 0), i64(0, 1, 0)]),
        ("BatchToSpace", [X854, BLOCKS, i64(0, 0), ZEROS]),
        ("BatchToSpace", [X854, Input("int64", 3), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, BLOCKS, Input("int64", 3), ZEROS]),
        ("BatchToSpace", [Input(F, None, 5, None), BLOCKS, ZEROS, ZEROS]),
        ("BatchToSpace", [X854, i64(1, 0, 2), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, BLOCKS, i64(0, -1, 0), ZEROS]),
        ("BatchToSpace", [Input.any_rank(F), BLOCKS, ZEROS, ZEROS]),
        ("BatchToSpace", [Input.any_rank(F), BLOCKS, i64(0, 0), ZEROS]),
        ("BatchToSpace", [Input(F, 8), i64(1), i64(0), i64(0)]),
        ("BatchToSpace", [X854, np.ones(3, np.float32), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, np.array([1, 2, 2], np.int32), ZEROS, ZEROS]),
        ("BatchToSpace", [X854, scalar(2), ZEROS, ZEROS]),
        ("SpaceToBatch", [X246, BLOCKS, ZEROS, ZEROS]),
        ("SpaceToBatch", [Input(F, 2, 4, 5), BLOCKS, i64(0, 0, 1), ZEROS]),
        ("SpaceToBatch", [Input(F, 2, 4, 5), BLOCKS, ZEROS, ZEROS]),
        ("SpaceToBatch", [X246, i64(2, 2, 2), ZEROS, ZEROS]),
        ("SpaceToBatch", [X246, BLOCKS, i64(1, 0, 0), ZEROS]),
        ("SpaceToBatch", [X246, Input("int64", 3), ZEROS, ZEROS]),
        ("SpaceToBatch", [X246, BLOCKS, Input("int64", 3), ZEROS]),
        ("SpaceToBatch", [Input(F, None, 4, None), BLOCKS, ZEROS, ZEROS]),
        ("SpaceToBatch", [X246, i64(1, 0, 2), ZEROS, ZEROS]),
        ("SpaceToBatch", [Input.any_rank(F), BLOCKS, ZEROS, ZEROS]),
        ("SpaceToBatch", [Input(F, 2), i64(1), i64(0), i64(0)]),
        ("SpaceToBatch", [X246, BLOCKS, i64(0, -2, 0), ZEROS]),
    ],
)
def test_openvino_batch_and_space(op: str, inputs: list[Any]) -> None:
    assert_same_verdict(op, "opset2", inputs)


LENGTHS = Input("int32", 4)
X45 = Input(F, 4, 5)
X184 = Input(F, 1, 8, 4)


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        *(
            ("ShuffleChannels", "opset1", [X184], {"axis": axis, "group": group})
            for axis, group in [(1, 2), (1, 3), (-1, 2)]
        ),
        *(
            ("ShuffleChannels", "opset1", [X184], {"axis": axis, "group": group})
            for axis, group in [(3, 2), (1, 0), (1, -2)]
        ),
        ("ShuffleChannels", "opset1", [X184], {}),
        ("ShuffleChannels", "opset2", [X184], {"axis": 1, "group": 2}),
        ("ShuffleChannels", "opset3", [Input(F, 1, None, 4)], {"axis": 1, "group": 2}),
        ("ShuffleChannels", "opset1", [Input.any_rank(F)], {"axis": 1, "group": 2}),
        ("ShuffleChannels", "opset1", [Input(F)], {"axis": 0, "group": 1}),
        ("Reverse", "opset1", [D, i64(0, 1)], {"mode": "index"}),
        ("Reverse", "opset1", [D, i64(0)], {}),
        ("Reverse", "opset1", [D, i64(0, 1)], {"mode": "mask"}),
        ("Reverse", "opset1", [D, np.array([True, False])], {"mode": "mask"}),
        ("Reverse", "opset1", [D, np.array([True])], {"mode": "mask"}),
        ("Reverse", "opset1", [D, np.array([True, False])], {"mode": "index"}),
        ("Reverse", "opset1", [D, i64(2)], {"mode": "index"}),
        ("Reverse", "opset1", [D, i64(-1)], {"mode": "index"}),
        ("Reverse", "opset1", [D, i64(0, 1, 1)], {"mode": "index"}),
        ("Reverse", "opset1", [D, Input("int64", 1)], {"mode": "index"}),
        ("Reverse", "opset1", [D, scalar(0)], {"mode": "index"}),
        ("Reverse", "opset1", [Input.any_rank(F), i64(0)], {"mode": "index"}),
        ("Reverse", "opset1", [D, i64(0)], {"mode": "weird"}),
        ("Reverse", "opset2", [D, i64(0)], {"mode": "index"}),
        ("ReverseSequence", "opset1", [X45, LENGTHS], {}),
        ("ReverseSequence", "opset1", [X45, Input("int32", 5)], {}),
        ("ReverseSequence", "opset1", [X45, Input("int32", 5)], {"batch_axis": 1, "seq_axis": 0}),
        ("ReverseSequence", "opset1", [X45, Input("int32", 5)], {"batch_axis": -1, "seq_axis": 0}),
        ("ReverseSequence", "opset1", [X45, Input("int32", 5)], {"batch_axis": 2, "seq_axis": 0}),
        ("ReverseSequence", "opset1", [X45, LENGTHS], {"batch_axis": 0, "seq_axis": 2}),
        ("ReverseSequence", "opset1", [X45, LENGTHS], {"batch_axis": 0, "seq_axis": 0}),
        ("ReverseSequence", "opset1", [X45, Input("int32", 4, 1)], {}),
        ("ReverseSequence", "opset1", [Input(F, None, 5), LENGTHS], {}),
        ("ReverseSequence", "opset1", [X45, Input("int32", None)], {}),
        ("ReverseSequence", "opset1", [Input.any_rank(F), LENGTHS], {}),
        ("ReverseSequence", "opset1", [Input(F, 4), LENGTHS], {}),
        ("ReverseSequence", "opset1", [X45, Input(F, 4)], {}),
        ("ReverseSequence", "opset1", [X45, Input("bool", 4)], {}),
        ("ReverseSequence", "opset1", [Input(F, "1..3", 5), LENGTHS], {}),
        *(
            ("Roll", "opset7", [D, i64(*shift), i64(*axes)], {})
            for shift, axes in [((1,), (0,)), ((1, 2), (0, 1)), ((1, 2, 3), (0, 1))]
        ),
        *(
            ("Roll", "opset7", [D, i64(*shift), i64(*axes)], {})
            for shift, axes in [((1,), (2,)), ((1,), (-1,)), ((1, 1), (0, 0))]
        ),
        ("Roll", "opset7", [D, scalar(1), i64(0, 1)], {}),
        ("Roll", "opset7", [D, np.ones(1, np.float32), i64(0)], {}),
        ("Roll", "opset7", [D, np.ones(1, np.int16), i64(0)], {}),
        ("Roll", "opset7", [D, i64(1), Input("int64", 1)], {}),
        ("Roll", "opset7", [D, Input("int64", 2), i64(0)], {}),
        ("Roll", "opset7", [D, Input("int64"), i64(0)], {}),
        ("Roll", "opset7", [D, i64(1), scalar(0)], {}),
        ("Roll", "opset7", [D, np.array([[1]]), i64(0)], {}),
        ("Roll", "opset7", [Input.any_rank(F), i64(1), i64(5)], {}),
    ],
)
def test_openvino_agrees(op: str, version: str, inputs: list[Any], attributes: dict[str, object]) -> None:
    assert_same_verdict(op, version, inputs, attributes)


PATCHES = {"sizes": (3, 3), "strides": (5, 5), "rates": (1, 1), "auto_pad": "valid"}
X4D = Input(F, 64, 3, 10, 10)


@pytest.mark.parametrize(
    ("data", "change"),
    [
        *((X4D, {"strides": entries}) for entries in [(5, 5), (4, 4), (1,), (0, 3)]),
        *((X4D, {"rates": entries}) for entries in [(2, 2), (1,), (0, 1)]),
        *((X4D, {"sizes": entries}) for entries in [(3,), (3, 3, 3), (11, 3)]),
        *((X4D, {"auto_pad": mode}) for mode in ["same_upper", "SAME_LOWER", "explicit", "notset"]),
        *((X4D, {name: None}) for name in PATCHES),
        (X4D, {"sizes": (12, 12), "auto_pad": "same_upper"}),
        (Input(F, 3, 10, 10), {}),
        (Input(F, 64, None, None, 10), {}),
        (Input(F, 64, 3, 0, 10), {}),
        (Input(F, 64, 3, "1..5", 10), {}),
        (Input.any_rank(F), {}),
        (Input("bool", 64, 3, 10, 10), {}),
    ],
)
def test_openvino_patches(data: Input, change: dict[str, object]) -> None:
    attributes = {name: value for name, value in {**PATCHES, **change}.items() if value is not None}
    assert_same_verdict("ExtractImagePatches", "opset3", [data], attributes)


@pytest.mark.parametrize(
    ("data", "stride"),
    [
        *((Input(F, 1, 64, 26, 26), stride) for stride in [2, (2, 2), (2, 3), 3, None, -2]),
        (Input(F, 1, 64, 25, 26), 2),
        (Input(F, 1, 3, 26, 26), 2),
        (Input(F, 1, 5, 26, 26), 2),
        (Input(F, 64, 26, 26), 2),
        (Input(F, 1, None, None, 26), 2),
        (Input.any_rank(F), 2),
    ],
)
def test_openvino_reorg_yolo(data: Input, stride: object) -> None:
    assert_same_verdict("ReorgYolo", "opset2", [data], {} if stride is None else {"stride": stride})


COLUMNS = Input(F, 3, 12, 225)
SIDE, KERNEL = i64(16, 16), i64(2, 2)
WRITTEN = {"strides": (1, 1), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ([COLUMNS, SIDE, KERNEL], {}),
        ([Input(F, 12, 225), SIDE, KERNEL], {}),
        ([Input(F, 3, 12, 81), SIDE, KERNEL], {"strides": (2, 2), "pads_begin": (1, 1), "pads_end": (1, 1)}),
        ([Input(F, 3, 12, 196), SIDE, KERNEL], {"dilations": (2, 2)}),
        ([Input(F, 3, 12, 224), SIDE, KERNEL], {}),
        ([Input(F, 3, 13, 225), SIDE, KERNEL], {}),
        ([Input(F, 12), SIDE, KERNEL], {}),
        ([Input(F, 1, 3, 12, 225), SIDE, KERNEL], {}),
        ([Input(F, 3, None, 225), SIDE, KERNEL], {}),
        ([Input(F, None, None), SIDE, KERNEL], {}),
        ([Input.any_rank(F), SIDE, KERNEL], {}),
        ([COLUMNS, i64(16, 16, 16), i64(2, 2, 2)], {}),
        ([COLUMNS, i64(16), i64(2)], {}),
        ([COLUMNS, scalar(16), KERNEL], {}),
        ([COLUMNS, Input("int64", 2), KERNEL], {}),
        ([COLUMNS, Input("int64", 3), KERNEL], {}),
        ([COLUMNS, SIDE, Input("int64", 2)], {}),
        ([COLUMNS, SIDE, i64(0, 2)], {}),
        ([COLUMNS, i64(-16, 16), KERNEL], {}),
        ([COLUMNS, i64(1, 1), KERNEL], {}),
        ([COLUMNS, SIDE, KERNEL], {"strides": (0, 1)}),
        ([COLUMNS, SIDE, KERNEL], {"strides": (1,)}),
        ([COLUMNS, SIDE, KERNEL], {"dilations": (0, 1)}),
        ([COLUMNS, SIDE, KERNEL], {"pads_begin": (-1, 0)}),
        ([COLUMNS, np.ones(2, np.float32), KERNEL], {}),
        ([COLUMNS, SIDE, np.array([2, 2], np.int32)], {}),
        ([COLUMNS, np.array([16, 16], np.int32), np.array([2, 2], np.int32)], {}),
    ],
)
def test_openvino_col2im(inputs: list[Any], attributes: dict[str, object]) -> None:
    assert_same_verdict("Col2Im", "opset15", inputs, {**WRITTEN, **attributes})


def test_defaults_that_openvino_does_not_have_are_warnings() -> None:
    with stated() as statements:
        assert ov_depth_to_space(Tensor(F, (1, 8, 2, 4)), mode="blocks_first").shape == (1, 8, 2, 4)
        sides, kernel = Tensor("int64", (2,), (16, 16)), Tensor("int64", (2,), (2, 2))
        assert ov_col2im(Tensor(F, (3, 12, 225)), sides, kernel).shape == (3, 3, 16, 16)
    assert [fault.severity for fault in statements.faults] == [Severity.WARNING, Severity.WARNING]


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes", "code"),
    [
        ("Pad", "opset12", [D, i64(-1, 0), i64(-2, 0)], {"pad_mode": "constant"}, "IRL335"),
        ("ShuffleChannels", "opset3", [Input(F, 1, "3..7", 4)], {"axis": 1, "group": 9}, "IRL336"),
        ("ExtractImagePatches", "opset3", [X4D], {**PATCHES, "sizes": (0, 3)}, "IRL510"),
        ("ReorgYolo", "opset2", [Input(F, 1, 64, 26, 26)], {"stride": 0}, "IRL510"),
    ],
)
def test_openvino_loads_what_cannot_work(
    op: str, version: str, inputs: list[Any], attributes: dict[str, object], code: str
) -> None:
    document = ir_document(op, version, inputs, attributes)
    assert not isinstance(openvino_verdict(*document), str)
    assert irlint_on_ir(*document)[:6] == code
