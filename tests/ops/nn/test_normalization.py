"""Normalizations against ONNX's node tests, OpenVINO and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnx_verdict

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import Relation, stated
from irlint.model.tensor import Tensor
from irlint.ops.nn.axes_normalization import lrn, mean_variance_normalization, ov_mvn_6
from irlint.ops.nn.normalization import group_normalization, group_normalization_18, instance_normalization

F = "float32"
N, C, H = symbol("N"), symbol("C"), symbol("H")

CASES = node_cases(
    "BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization"
) + node_cases("RMSNormalization", "LRN", "MeanVarianceNormalization", "LpNormalization")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_cases(case: Any) -> None:
    assert node_case_difference(case) is None


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def given(dims: Any) -> Input:
    return Input.any_rank(F) if dims is None else Input(F, *dims)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

FOUR = [(3,)] * 4


@pytest.mark.parametrize("version", ["opset1", "opset5"])
@pytest.mark.parametrize(
    ("data", "parameters"),
    [
        ((2, 3, 4), FOUR),
        ((2, 3), FOUR),
        ((3,), FOUR),
        ((3,), [(1,)] * 4),
        ((), [(1,)] * 4),
        ((2, 3, 4), [(4,), (3,), (3,), (3,)]),
        ((2, 3, 4), [(3,), (3,), (3,), (5,)]),
        ((2, 3, 4), [(1,)] * 4),
        ((2, 3, 4), [(1, 3)] * 4),
        ((2, None, 4), FOUR),
        ((2, None, 4), [(3,), (4,), (3,), (3,)]),
        ((2, None, 4), [(None,)] * 4),
        ((2, None, 4), [(None,), (3,), (None,), (3,)]),
        (None, FOUR),
        (None, [(3,), (3,), (3,), (4,)]),
        ((2, 3), [None] * 4),
        ((2, 0), [(0,)] * 4),
        ((2, 3), [(), (3,), (3,), (3,)]),
    ],
)
def test_openvino_batch_norm(data: Any, parameters: list[Any], version: str) -> None:
    inputs = [given(dims) for dims in (data, *parameters)]
    if version == "opset1":
        inputs = [inputs[1], inputs[2], inputs[0], *inputs[3:]]
    assert_same_verdict("BatchNormInference", version, inputs, {"epsilon": 1e-5})


@pytest.mark.parametrize("attributes", [{}, {"epsilon": 0}, {"epsilon": -1}])
def test_openvino_batch_norm_epsilon(attributes: dict[str, Any]) -> None:
    assert_same_verdict("BatchNormInference", "opset5", [given((2, 3)), *map(given, FOUR)], attributes)


@pytest.mark.parametrize("dtype", [F, "float16", "bfloat16", "float64", "int32", "uint8", "bool"])
def test_openvino_types(dtype: str) -> None:
    x, four = Input(dtype, 2, 4, 5, 5), [Input(dtype, 4)] * 4
    assert_same_verdict("BatchNormInference", "opset5", [x, *four], {"epsilon": 1e-5})
    assert_same_verdict("BatchNormInference", "opset5", [Input(F, 2, 4, 5), *four], {"epsilon": 1e-5})
    assert_same_verdict("MVN", "opset2", [x], {"across_channels": False, "normalize_variance": True, "eps": 1e-9})
    assert_same_verdict("GRN", "opset1", [x], {"bias": 1})
    assert_same_verdict("LRN", "opset1", [x, i64(1)], LRN)
    assert_same_verdict("LRN", "opset1", [Input(F, 2, 3), Input(dtype, 1)], LRN)
    assert_same_verdict("NormalizeL2", "opset1", [x, Input(dtype, 1)], {"eps": 1e-9, "eps_mode": "add"})
    assert_same_verdict("MVN", "opset6", [x, Input(dtype, 2)], MVN)
    assert_same_verdict("GroupNormalization", "opset12", [x, *four[:2]], {"num_groups": 2, "epsilon": 1e-5})
    assert_same_verdict("GroupNormalization", "opset12", [x, Input(F, 4), four[0]], {"num_groups": 2, "epsilon": 1e-5})


LRN = {"alpha": 1e-4, "beta": 0.75, "bias": 1, "size": 5}
MVN = {"normalize_variance": True, "eps": 1e-9, "eps_mode": "inside_sqrt"}
L2 = {"eps": 1e-9, "eps_mode": "add"}


@pytest.mark.parametrize(
    "axes",
    [
        i64(1),
        i64(),
        i64(0, 0),
        i64(7),
        i64(-1),
        i64(-4),
        np.array(1),
        np.array([[1]]),
        i64(0, 1, 2, 0),
        Input("int64", 2),
        Input("int64", 5),
        Input("int64", 2, 2),
        Input.any_rank("int64"),
    ],
    ids=str,
)
@pytest.mark.parametrize("dims", [(2, 3, 4), (2, None), (3,), (), None])
@pytest.mark.parametrize(
    ("op", "version", "attributes"), [("LRN", "opset1", LRN), ("MVN", "opset6", MVN), ("NormalizeL2", "opset1", L2)]
)
def test_openvino_axes(op: str, version: str, attributes: dict[str, Any], dims: Any, axes: Any) -> None:
    assert_same_verdict(op, version, [given(dims), axes], attributes)


@pytest.mark.parametrize(
    ("op", "version", "attributes"),
    [
        ("LRN", "opset1", {}),
        ("LRN", "opset1", {**LRN, "size": 0}),
        ("MVN", "opset6", {}),
        ("MVN", "opset6", {**MVN, "eps": -1, "eps_mode": "OUTSIDE_SQRT"}),
        ("MVN", "opset6", {**MVN, "eps_mode": "x"}),
        ("NormalizeL2", "opset1", {}),
        ("NormalizeL2", "opset1", {"eps": 0, "eps_mode": "max"}),
        ("NormalizeL2", "opset1", {"eps": 0, "eps_mode": "mx"}),
    ],
)
def test_openvino_attributes(op: str, version: str, attributes: dict[str, Any]) -> None:
    assert_same_verdict(op, version, [given((2, 3, 4)), i64(1)], attributes)


@pytest.mark.parametrize("dims", [(), (2,), (2, 3), (1, 2, 3, 4), (1, 2, 3, 4, 5), (None, None), None])
def test_openvino_without_parameters(dims: Any) -> None:
    assert_same_verdict("GRN", "opset1", [given(dims)], {"bias": 1})
    across = {"across_channels": True, "normalize_variance": True, "eps": 1e-9}
    assert_same_verdict("MVN", "opset2", [given(dims)], across)
    assert_same_verdict("MVN", "opset1", [given(dims)], {**across, "reduction_axes": (1, 7)})


@pytest.mark.parametrize(
    ("data", "scale", "bias", "groups"),
    [
        ((2, 4, 5), (4,), (4,), 2),
        ((2, 4, 5), (4,), (4,), 3),
        ((2, 4, 5), (2,), (2,), 2),
        ((2, 4, 5), (4,), (2,), 2),
        ((2, 4, 5), (1, 4), (4,), 2),
        ((2, 4, 5), (4,), (), 2),
        ((2, 4), (4,), (4,), 2),
        ((4,), (4,), (4,), 2),
        ((), (4,), (4,), 2),
        ((2, None, 5), (4,), (4,), 2),
        ((2, None, 5), (4,), (4,), 3),
        ((2, None, 5), (None,), (None,), 8),
        (None, (4,), (4,), 2),
        (None, (4,), (4,), 3),
        ((2, 4, 5), None, None, 2),
        ((2, 4, 5), (4,), (4,), 0),
        ((2, 4, 5), (4,), (4,), -2),
        ((2, 4, 5), (4,), (4,), 8),
    ],
)
def test_openvino_group_normalization(data: Any, scale: Any, bias: Any, groups: int) -> None:
    inputs = [given(dims) for dims in (data, scale, bias)]
    assert_same_verdict("GroupNormalization", "opset12", inputs, {"num_groups": groups, "epsilon": 1e-5})


def test_openvino_group_normalization_needs_its_attributes() -> None:
    assert_same_verdict("GroupNormalization", "opset12", [given((2, 4, 5)), given((4,)), given((4,))], {})


def test_openvino_mvn_warns_of_its_axes() -> None:
    with stated() as statements:
        ov_mvn_6(f32(2, 3), Tensor("int64", (1,), (5,)), eps=1e-9, eps_mode="INSIDE_SQRT", normalize_variance=True)
    assert [fault.rule.code for fault in statements.faults] == ["IRL300"]


# --- ONNX -------------------------------------------------------------------------------------------------------------

X, P = Input(F, 2, 3, 4, 4), Input(F, 3)
BATCH = [X, P, P, P, P]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "opset", "outputs", "expected"),
    [
        ("BatchNormalization", BATCH, {}, 15, 1, [(2, 3, 4, 4)]),
        ("BatchNormalization", BATCH, {"training_mode": 1}, 14, 3, [(2, 3, 4, 4), (3,), (3,)]),
        ("BatchNormalization", BATCH, {}, 9, 5, [(2, 3, 4, 4), (3,), (3,), (3,), (3,)]),
        ("BatchNormalization", BATCH, {"spatial": 1}, 7, 1, [(2, 3, 4, 4)]),
        ("BatchNormalization", [X] + [Input(F, 3, 4, 4)] * 4, {"spatial": 0}, 7, 1, [(2, 3, 4, 4)]),
        ("BatchNormalization", BATCH, {"is_test": 1}, 6, 1, [(2, 3, 4, 4)]),
        ("BatchNormalization", BATCH, {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]}, 1, 1, [(2, 3, 4, 4)]),
        ("BatchNormalization", [Input(F, 5)] + [Input(F, 1)] * 4, {}, 9, 1, [(5,)]),
        ("InstanceNormalization", [X, P, P], {}, 22, 1, [(2, 3, 4, 4)]),
        ("InstanceNormalization", [X, P, P], {"consumed_inputs": [0]}, 1, 1, [(2, 3, 4, 4)]),
        ("LayerNormalization", [X, Input(F, 4)], {}, 17, 3, [(2, 3, 4, 4), (2, 3, 4, 1), (2, 3, 4, 1)]),
        ("LayerNormalization", [X, Input(F, 3, 4, 4)], {"axis": 1}, 17, 2, [(2, 3, 4, 4), (2, 1, 1, 1)]),
        ("RMSNormalization", [X, Input(F, 4)], {}, 23, 1, [(2, 3, 4, 4)]),
        ("SimplifiedLayerNormalization", [X, Input(F, 4)], {}, 12, 2, [(2, 3, 4, 4), (2, 3, 4, 1)]),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 4), Input(F, 4)], {"num_groups": 2}, 21, 1, [(2, 4, 5)]),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 2), Input(F, 2)], {"num_groups": 2}, 18, 1, [(2, 4, 5)]),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 4), Input(F, 4)], {"num_groups": 2}, 18, 1, [(2, 4, 5)]),
        ("LRN", [X], {"size": 5}, 1, 1, [(2, 3, 4, 4)]),
        ("MeanVarianceNormalization", [X], {}, 9, 1, [(2, 3, 4, 4)]),
        ("LpNormalization", [X], {"p": 1, "axis": -4}, 1, 1, [(2, 3, 4, 4)]),
    ],
)
def test_every_version(
    op: str, inputs: list[Any], attributes: dict[str, Any], opset: int, outputs: int, expected: list[Any]
) -> None:
    model = onnx_model(op, inputs, attributes, opset, outputs=outputs)
    assert irlint_on_onnx(model) == [(F, shape) for shape in expected]


@pytest.mark.parametrize("scale", [(), (1,), (4,), (3, 4), (2, 3, 4), (3, 1), (2, 1, 1)])
@pytest.mark.parametrize("op", ["LayerNormalization", "RMSNormalization"])
def test_scales_are_stretched(op: str, scale: tuple[int, ...]) -> None:
    model = onnx_model(op, [Input(F, 2, 3, 4), Input(F, *scale)], {"axis": 1}, 23)
    assert irlint_on_onnx(model) == onnx_verdict(model) == [(F, (2, 3, 4))]


def test_the_statistics_have_the_type_of_the_stash() -> None:
    inputs = [Input("float16", 2, 4), Input("float16", 4)]
    ours = irlint_on_onnx(onnx_model("LayerNormalization", inputs, {"stash_type": 16}, outputs=2))
    assert ours == [("float16", (2, 4)), ("bfloat16", (2, 1))]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "opset", "outputs", "expected"),
    [
        ("BatchNormalization", [X] + [Input(F, 4)] * 4, {}, 7, 1, "IRL324"),
        ("BatchNormalization", [X] + [Input(F, 1)] * 4, {}, 14, 1, "IRL324"),
        ("BatchNormalization", [X, P, P, P, Input(F, 5)], {}, 15, 1, "IRL324"),
        ("BatchNormalization", [Input(F, 3), P, P, P, P], {}, 9, 1, "IRL324"),
        ("BatchNormalization", [X] + [Input(F, 3, 1)] * 4, {}, 9, 1, "IRL339"),
        ("BatchNormalization", [Input(F), *[Input(F, 1)] * 4], {}, 9, 1, "IRL339"),
        ("BatchNormalization", BATCH, {}, 15, 3, "IRL326"),
        ("BatchNormalization", BATCH, {"training_mode": 1}, 15, 1, "IRL326"),
        ("BatchNormalization", BATCH, {"training_mode": 1}, 14, 2, "IRL326"),
        ("InstanceNormalization", [X, Input(F, 4), P], {}, 6, 1, "IRL324"),
        ("InstanceNormalization", [Input(F, 3), P, P], {}, 6, 1, "IRL339"),
        ("LayerNormalization", [X, Input(F, 3)], {}, 17, 1, "IRL202"),
        ("LayerNormalization", [X, Input(F, 4), Input(F, 3)], {}, 17, 1, "IRL202"),
        ("LayerNormalization", [X, Input(F, 4)], {"axis": 4}, 17, 1, "IRL300"),
        ("LayerNormalization", [Input(F), Input(F)], {}, 17, 1, "IRL300"),
        ("LayerNormalization", [X, Input(F, 4)], {"stash_type": 99}, 17, 2, "IRL510"),
        ("RMSNormalization", [X, Input(F, 2, 2, 3, 4, 4)], {}, 23, 1, "IRL202"),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 2), Input(F, 2)], {"num_groups": 2}, 21, 1, "IRL324"),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 3), Input(F, 2)], {"num_groups": 2}, 18, 1, "IRL324"),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 4), Input(F, 4)], {"num_groups": 3}, 21, 1, "IRL325"),
        ("GroupNormalization", [Input(F, 2, 4, 5), Input(F, 4), Input(F, 4)], {"num_groups": 0}, 21, 1, "IRL510"),
        ("LRN", [X], {"size": 0}, 13, 1, "IRL510"),
        ("LpNormalization", [X], {"p": 3}, 1, 1, "IRL510"),
        ("LpNormalization", [X], {"axis": 4}, 1, 1, "IRL300"),
    ],
)
def test_onnx_faults(
    op: str, inputs: list[Any], attributes: dict[str, Any], opset: int, outputs: int, expected: str
) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset, outputs=outputs))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


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


# --- ONNX Runtime's own -----------------------------------------------------------------------------------------------

SEQUENCE, HIDDEN = Input(F, 2, 5, 8), Input(F, 8)
IMAGE, CHANNELS = Input(F, 1, 4, 4, 32), Input(F, 32)
GROUPS = {"activation": 0, "groups": 8}


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        (
            "SkipLayerNormalization",
            [SEQUENCE, SEQUENCE, HIDDEN, HIDDEN, HIDDEN],
            {},
            [(2, 5, 8), (2, 5, 1), (2, 5, 1), (2, 5, 8)],
        ),
        ("SkipLayerNormalization", [SEQUENCE, Input(F, 5, 8), HIDDEN], {}, [(2, 5, 8)]),
        ("SkipLayerNormalization", [SEQUENCE, Input(F, 1, 5, 8), HIDDEN], {}, [(2, 5, 8)]),
        ("SkipLayerNormalization", [SEQUENCE, Input(F, 2, 4, 8), HIDDEN], {}, "IRL202"),
        ("SkipLayerNormalization", [SEQUENCE, SEQUENCE, Input(F, 7)], {}, "IRL324"),
        ("SkipSimplifiedLayerNormalization", [SEQUENCE, SEQUENCE, HIDDEN], {}, [(2, 5, 8), (2, 5, 1)]),
        ("GroupNorm", [IMAGE, CHANNELS, CHANNELS], GROUPS, [(1, 4, 4, 32)]),
        ("GroupNorm", [IMAGE, CHANNELS, CHANNELS], {**GROUPS, "groups": 5}, "IRL325"),
        ("GroupNorm", [IMAGE, CHANNELS, CHANNELS], {**GROUPS, "channels_last": 0}, "IRL324"),
        ("SkipGroupNorm", [IMAGE, CHANNELS, CHANNELS, IMAGE], GROUPS, [(1, 4, 4, 32), (1, 4, 4, 32)]),
        ("GatedRMSNorm", [SEQUENCE, HIDDEN, SEQUENCE], {}, [(2, 5, 8)]),
        ("BranchwiseRMSNorm", [SEQUENCE], {}, [(2, 5, 8)]),
    ],
)
def test_onnx_runtimes_normalizations(op: str, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    outputs = 1 if isinstance(expected, str) else len(expected)
    ours = irlint_on_onnx(onnx_model(op, inputs, attributes, domain="com.microsoft", outputs=outputs))
    if isinstance(expected, str):
        assert ours[:6] == expected
    else:
        assert ours == [(F, shape) for shape in expected]
