"""Resize, Upsample and Interpolate against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from cases.models import Input, onnx_model
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import evaluated, symbol
from irlint.ops.vision.resampling import onnx_scaled, openvino_scaled, resized

X = Input("float32", 1, 3, 10, 20)
H = symbol("H")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def f32(*entries: float) -> np.ndarray:
    return np.array(entries, np.float32)


@pytest.mark.parametrize("case", node_cases("Resize", "Upsample"), ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


def run(inputs: list[object], attributes: dict[str, object], opset: int, op: str = "Resize") -> tuple[int, ...]:
    model = onnx_model(op, inputs, attributes, opset)  # type: ignore[arg-type]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return tuple(session.run(None, {"in0": np.zeros((1, 3, 10, 20), np.float32)})[0].shape)


@pytest.mark.parametrize("scale", [0.1, 0.3, 0.33, 0.49999, 0.7, 1.1, 1.3, 2.3, 1 / 3, 2 / 3, 1.7, 0.5, 1.5, 2.0])
def test_sizes_are_onnx_runtimes(scale: float) -> None:
    inputs = [X, None, f32(1, 1, scale, scale)]
    expected = run(inputs, {}, 19)
    assert irlint_on_onnx(onnx_model("Resize", inputs, opset=19)) == [("float32", expected)]
    assert expected[2:] == (onnx_scaled(10, scale), onnx_scaled(20, scale))


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("sizes", [(7, 30), (3, 9), (5, 10), (11, 21), (40, 3)])
def test_kept_ratio_is_onnx_runtimes(policy: str, sizes: tuple[int, int]) -> None:
    inputs, attributes = [X, None, None, i64(*sizes)], {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
    expected = run(inputs, attributes, 19)
    assert irlint_on_onnx(onnx_model("Resize", inputs, attributes, 19)) == [("float32", expected)]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (2.0, "2*H"),
        (0.5, "H//2"),
        (1.5, "H + H//2"),
        (1 / 3, "H//3"),
        (0.25, "H//4"),
        (1.0, "H"),
        (0.123456, "None"),
        (None, "None"),
        (symbol("S"), "H*S"),
    ],
)
def test_symbolic_sizes(scale: object, expected: str) -> None:
    number = float(np.float32(scale)) if isinstance(scale, float) else scale
    assert str(resized(H, number, onnx_scaled)) == expected  # type: ignore[arg-type]
    assert str(resized(H, number, openvino_scaled)) == expected  # type: ignore[arg-type]


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2000))
def test_fractions_are_exact(numerator: int, denominator: int, size: int) -> None:
    scale = float(np.float32(numerator / denominator))
    for scaled in (onnx_scaled, openvino_scaled):
        symbolic = resized(H, scale, scaled)
        if symbolic is not None:
            assert evaluated(symbolic, {"H": size}) == scaled(size, scale)


SHAPES = [
    ([None, None, i64(1, 3, 5, 5)], {}, 19, (1, 3, 5, 5)),
    ([None, None, i64(5, 5)], {"axes": [2, 3]}, 19, (1, 3, 5, 5)),
    ([None, f32(0.5, 0.5)], {"axes": [-2, -1]}, 19, (1, 3, 5, 10)),
    ([f32(), f32(), i64(1, 3, 5, 5)], {}, 11, (1, 3, 5, 5)),
    ([f32(), f32(1, 1, 2, 2)], {}, 11, (1, 3, 20, 40)),
    ([f32(1, 1, 2, 2)], {}, 10, (1, 3, 20, 40)),
    ([None, None, Input("int64", 4)], {}, 19, (None, None, None, None)),
    ([None, None, Input("int64", 2)], {"axes": [2, 3]}, 19, (1, 3, None, None)),
    ([None, Input("float32", 4)], {}, 19, (None, None, None, None)),
    ([f32(0, 0, 0.2, 0.2, 1, 1, 0.7, 0.7), f32(1, 1, 2, 2)], {}, 19, (1, 3, 20, 40)),
    ([None, f32(1, 1, 2, 2)], {"coordinate_transformation_mode": "half_pixel_symmetric"}, 13, (1, 3, 20, 40)),
]


@pytest.mark.parametrize(("rest", "attributes", "opset", "expected"), SHAPES, ids=range(len(SHAPES)))
def test_resize(rest: list[object], attributes: dict[str, object], opset: int, expected: object) -> None:
    model = onnx_model("Resize", [X, *rest], attributes, opset)  # type: ignore[list-item]
    assert irlint_on_onnx(model) == [("float32", expected)]


FAULTS = [
    ("Resize", [None, f32(1, 1, 2)], {}, 19, "IRL365"),
    ("Resize", [None, None, i64(5, 5)], {}, 19, "IRL365"),
    ("Resize", [None, None, Input("int64", 2)], {}, 19, "IRL365"),
    ("Resize", [None, f32(1, 1, 2, 0)], {}, 19, "IRL366"),
    ("Resize", [None, f32(1, 1, 2, -1)], {}, 13, "IRL366"),
    ("Resize", [None, None, i64(1, 3, -1, 5)], {}, 19, "IRL366"),
    ("Resize", [None, None, i64(1, 3, 0, 5)], {}, 19, "IRL366"),
    ("Resize", [None, f32(0.5, 0.5)], {"axes": [2, 2]}, 19, "IRL301"),
    ("Resize", [None, f32(0.5, 0.5)], {"axes": [2, 4]}, 19, "IRL300"),
    ("Resize", [None, f32(1, 1, 2, 2), i64(1, 3, 5, 5)], {}, 19, "IRL367"),
    ("Resize", [None], {}, 19, "IRL367"),
    ("Resize", [f32(), f32()], {}, 11, "IRL367"),
    ("Resize", [f32(), f32(1, 1, 2, 2), i64(1, 3, 5, 5)], {}, 11, "IRL367"),
    ("Resize", [None, f32(1, 1, 2, 2)], {"keep_aspect_ratio_policy": "not_larger"}, 19, "IRL367"),
    ("Resize", [None, None, i64(1, 3, 5, 5)], {"keep_aspect_ratio_policy": "x"}, 19, "IRL506"),
    (
        "Resize",
        [f32(0, 0, 1, 1), f32(1, 1, 2, 2)],
        {"coordinate_transformation_mode": "tf_crop_and_resize"},
        19,
        "IRL365",
    ),
    ("Resize", [None, f32(1, 1, 2, 2)], {"mode": "bad"}, 19, "IRL506"),
    ("Resize", [None, f32(1, 1, 2, 2)], {"nearest_mode": "bad"}, 19, "IRL506"),
    ("Resize", [f32(1, 1, 2)], {}, 10, "IRL365"),
    ("Upsample", [f32(1, 1, 0.5, 2)], {}, 9, "IRL366"),
    ("Upsample", [f32(1, 1, 2)], {}, 9, "IRL365"),
    ("Upsample", [f32(1, 1, 2, 2)], {"mode": "bilinear"}, 9, "IRL506"),
    ("Upsample", [f32(1, 1, 2, 2)], {}, 10, "IRL509"),
    ("Upsample", [], {"scales": [1.0, 1.0, 2.0]}, 7, "IRL365"),
    ("Upsample", [], {"scales": [1.0, 1.0, 0.5, 1.0]}, 7, "IRL366"),
]


@pytest.mark.parametrize(("op", "rest", "attributes", "opset", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_faults(op: str, rest: list[object], attributes: dict[str, object], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, [X, *rest], attributes, opset))  # type: ignore[list-item]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


@pytest.mark.parametrize(
    ("rest", "attributes", "opset", "expected"),
    [
        ([f32(1, 1, 2, 2)], {}, 9, (1, 3, 20, 40)),
        ([], {"scales": [1.0, 1.0, 2.0, 1.5]}, 7, (1, 3, 20, 30)),
        ([], {"height_scale": 2.0, "width_scale": 1.5, "mode": "bilinear"}, 1, (1, 3, 20, 30)),
    ],
)
def test_upsample(rest: list[object], attributes: dict[str, object], opset: int, expected: object) -> None:
    model = onnx_model("Upsample", [X, *rest], attributes, opset)  # type: ignore[list-item]
    assert irlint_on_onnx(model) == [("float32", expected)]


SPATIAL = {"axes": (2, 3), "mode": "nearest"}
FIRST = [
    ((X, i64(5, 6)), SPATIAL),
    ((X, i64(5, 6, 7)), SPATIAL),
    ((X, i64(5, 6)), {"axes": (2, 4), "mode": "nearest"}),
    ((X, i64(5, 6)), {"axes": (2, 2), "mode": "nearest"}),
    ((X, i64(5, 6)), {"axes": (3, 2), "mode": "nearest"}),
    ((X, i64(5, 6)), {"axes": (-1, -2), "mode": "nearest"}),
    ((X, i64(5, -6)), SPATIAL),
    ((X, f32(5, 6)), SPATIAL),
    ((X, Input("int64", 2)), SPATIAL),
    ((X, i64(5, 6)), {**SPATIAL, "pads_begin": (1,), "pads_end": (1,)}),
    ((X, np.array([[5, 6]])), SPATIAL),
    ((X, np.array(5)), {"axes": (2,), "mode": "nearest"}),
    ((X, i64(5, 6)), {"axes": (2, 3), "mode": "silly"}),
    ((X, i64(5, 6)), {"mode": "linear"}),
    ((Input.any_rank("float32"), i64(5, 6)), SPATIAL),
    ((Input("bool", 1, 3, 4, 4), i64(5, 6)), SPATIAL),
]


@pytest.mark.parametrize(("inputs", "attributes"), FIRST, ids=range(len(FIRST)))
def test_interpolate_0_as_openvino(inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Interpolate", "opset1", list(inputs), attributes)  # type: ignore[arg-type]


BY_SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
BY_SCALES = {"mode": "nearest", "shape_calculation_mode": "scales"}
SIZES, SCALES, AXES = i64(5, 6), f32(0.5, 2.5), i64(2, 3)
PADS = {"pads_begin": (0, 0, 1, 1), "pads_end": (0, 0, 2, 2)}
FOURTH = [
    ((X, SIZES, SCALES, AXES), BY_SIZES),
    ((X, SIZES, SCALES, AXES), BY_SCALES),
    ((X, i64(1, 3, 5, 6), f32(1, 1, 2, 2)), BY_SIZES),
    ((X, SIZES, f32(1, 1)), BY_SIZES),
    ((X, SIZES, f32(1), AXES), BY_SIZES),
    ((X, i64(5), f32(1, 1), AXES), BY_SIZES),
    ((X, i64(5), f32(1, 1), AXES), BY_SCALES),
    ((X, SIZES, SCALES, i64(2, 4)), BY_SIZES),
    ((X, SIZES, SCALES, i64(2, 2)), BY_SIZES),
    ((X, SIZES, SCALES, i64(-1, -2)), BY_SIZES),
    ((X, SIZES, i64(1, 2), AXES), BY_SIZES),
    ((X, f32(5, 6), SCALES, AXES), BY_SIZES),
    ((X, SIZES, SCALES, f32(2, 3)), BY_SIZES),
    ((X, i64(5, -6), SCALES, AXES), BY_SIZES),
    ((X, SIZES, f32(-0.5, 2), AXES), BY_SCALES),
    ((X, SIZES, f32(0, 2), AXES), BY_SCALES),
    ((X, SIZES, SCALES, AXES), {**BY_SIZES, **PADS}),
    ((X, SIZES, SCALES, AXES), {**BY_SCALES, **PADS}),
    ((X, SIZES, SCALES, AXES), {**BY_SCALES, "pads_begin": (1,), "pads_end": (0,)}),
    ((X, SIZES, SCALES, AXES), {**BY_SCALES, "pads_begin": (0, 0, 0, 0, 3)}),
    ((X, SIZES, SCALES, i64(3)), {**BY_SCALES, **PADS}),
    ((X, i64(7), f32(2), i64(3)), {**BY_SIZES, "pads_begin": (0, 1, 1, 1), "pads_end": (0, 0, 2, 2)}),
    ((X, Input("int64", 2), SCALES, AXES), BY_SIZES),
    ((X, Input("int64", 2), SCALES, Input("int64", 2)), BY_SIZES),
    ((X, Input("int64", 3), SCALES, AXES), BY_SIZES),
    ((X, SIZES, Input("float32", 2), AXES), BY_SCALES),
    ((X, Input("int64", 2), Input("float32", 2)), BY_SIZES),
    ((X, np.array([[5, 6]]), SCALES, AXES), BY_SIZES),
    ((X, SIZES, SCALES, np.array([[2, 3]])), BY_SIZES),
    ((X, SIZES, SCALES, AXES), {}),
    ((X, SIZES, SCALES, AXES), {**BY_SIZES, "mode": "silly"}),
    ((X, SIZES, SCALES, AXES), {**BY_SIZES, "mode": "bilinear_pillow"}),
    ((X, SIZES, SCALES, AXES), {**BY_SIZES, "coordinate_transformation_mode": "x"}),
    ((Input.any_rank("float32"), SIZES, SCALES, AXES), BY_SIZES),
    ((Input("float32", 1, 3, None, 20), SIZES, SCALES, AXES), BY_SCALES),
    ((Input("int8", 1, 3, 10, 20), SIZES, SCALES, AXES), BY_SIZES),
    ((Input("bool", 1, 3, 10, 20), SIZES, SCALES, AXES), BY_SIZES),
]


@pytest.mark.parametrize(("inputs", "attributes"), FOURTH, ids=range(len(FOURTH)))
def test_interpolate_4_as_openvino(inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Interpolate", "opset4", list(inputs), attributes)  # type: ignore[arg-type]


ELEVENTH = [
    ((X, SIZES, AXES), BY_SIZES),
    ((X, SCALES, AXES), BY_SCALES),
    ((X, SIZES, AXES), BY_SCALES),
    ((X, SCALES, AXES), BY_SIZES),
    ((X, i64(1, 3, 5, 6)), BY_SIZES),
    ((X, SIZES), BY_SIZES),
    ((X, i64(5), AXES), BY_SIZES),
    ((X, i64(5, 6, 7), AXES), BY_SIZES),
    ((X, SIZES, i64(3, 2)), BY_SIZES),
    ((X, Input("int64", 1), AXES), BY_SIZES),
    ((X, Input("int32", 2), AXES), BY_SIZES),
    ((X, Input("int64", 2), Input("int64", 2)), BY_SIZES),
    ((X, np.array(5), i64(2)), BY_SIZES),
    ((X, i64(5), np.array(2)), BY_SIZES),
    ((Input("float32"), i64(5), i64(2)), BY_SIZES),
    ((X, SIZES, AXES), {**BY_SIZES, "mode": "bilinear_pillow"}),
    ((X, SIZES, AXES), {**BY_SIZES, "pads_begin": (0, 0, 1, 1)}),
    ((X, SIZES, AXES), {"mode": "linear"}),
    *(((X, f32(scale, scale), AXES), BY_SCALES) for scale in (0.1, 0.3, 1 / 3, 2 / 3, 0.7, 1.3, 0.49999994)),
    *(((Input("float32", 1, 1000), f32(scale), i64(1)), BY_SCALES) for scale in (0.4999995, 0.998999, 0.333)),
]


@pytest.mark.parametrize(("inputs", "attributes"), ELEVENTH, ids=range(len(ELEVENTH)))
def test_interpolate_11_as_openvino(inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Interpolate", "opset11", list(inputs), attributes)  # type: ignore[arg-type]
