"""Layers that random IRs came upon: OpenVINO's verdict, element types and shapes, and irlint's."""

from __future__ import annotations

from random import Random

import pytest
from oracles.ir_generator import Input, line
from oracles.ir_graphs import Body, Builder, Net, Source, Step, integers, scalar
from oracles.random_irs import difference

pytestmark = pytest.mark.oracle

EXAMPLES = """
SpaceToBatch@2 f32[2,3,4,5] i64{1,1,2,2} i64{0,0,1,-1} i64{0,0,1,0}
BatchToSpace@2 f32[1..4,3,6,4] i64{2,2,1,1} i64{0,0,0,0} i64{0,0,0,0}
ScaledDotProductAttention@13 f32[2,4,8] f32[2,6,8] f32[2,6,5] bf16[4,6] f32[1] ; causal=true
ScaledDotProductAttention@13 f32[2,4,8] f32[2,6,8] f32[2,6,5] bf16[4,6] f32[1] ; causal=false
ScatterElementsUpdate@12 f32[10,5] boolean[3,5] f32[3,5] i64{1}
FakeConvert@13 f32[30] f32[-1,1] ; destination_type=f8e5m2
Pad@12 string[2,3,4] i64{0,1,2} i64{1,0,2} ; pad_mode=reflect
Pad@12 string[2,3,4] i64{0,1,2} i64{1,0,2} ; pad_mode=constant
Pad@1 f32[0] i64{0} i64{0} f32=0.0 ; pad_mode=reflect
Pad@1 f32[0] i64{0} i64{0} f32=0.0 ; pad_mode=symmetric
ROIPooling@2 f32[7,256,200,200] f32[1000,5] ; pooled_h=6 pooled_w=5 spatial_scale=0.0625 method=Max
ROIPooling@2 f32[7,256,200,200] f32[1000,5] ; pooled_h=6 pooled_w=5 spatial_scale=0.0625 method=bilinear
FakeQuantize@1 f32[1,-1,4,4] f32[3] f32[3] f32[3] f32[4..7] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 levels=256
FakeQuantize@1 f32[-1] f32[4..] f32[2] f32[] f32[] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=0 levels=256
Select@1 boolean[0] f32[1..8] f32[0] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=0
Select@8 boolean[-1] f32[4..] f32[2] ; auto_broadcast=none
Add@1 f32[1..8] f32[2..4] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=0
DetectionOutput@2 f32[1,..60] f32[1,165] f32[1,2,-1] ; num_classes=11 keep_top_k=-1 share_location=true normalized=true
Concat@1 f32[-1,3] f32[3..6,5] f32[2,1] ; axis=-1
BatchNormInference@5 f32[2,-1,4] f32[4..7] f32[3] f32[3] f32[3] ; epsilon=0.001
AvgPool@1 f32[1,3,8,9] ; strides=2,1 pads_begin=1,1 pads_end=1,-1 kernel=3,2 exclude-pad=true rounding_type=floor
AvgPool@1 f32[1,3,8,9] ; strides=2,1 pads_begin=1,-1 pads_end=1,1 kernel=3,2 exclude-pad=true auto_pad=same_upper
Split@1 f32[..3,6,4] i64=0 ; num_splits=5 -> 5
Split@1 f32[0,6,4] i64=0 ; num_splits=5 -> 5
RDFT@9 f32[..3] i64[2]
RDFT@9 f32[3,3] i64[2]
Squeeze@1 f32[] i64{1}
Squeeze@15 f32[] i64{-1}
Reshape@1 f32[2..6] i64{6,-1} ; special_zero=false
Reshape@1 f32[..3,2] i64{0,3,-1} ; special_zero=false
Reshape@1 f32[0] i64[1] ; special_zero=true
TopK@11 f32[2,0] i64[] ; axis=1 mode=max sort=value -> 2
Tile@1 f32[4] i64{-3}
Slice@8 f32[3] i64[1] i64{0} i64{1}
""".strip().splitlines()


@pytest.mark.parametrize("text", EXAMPLES)
def test_layer(text: str) -> None:
    assert difference(line(text).case()) is None


def net(
    op: str,
    dims: tuple[int, ...],
    *layers: tuple[str, int, tuple[Source, ...], dict[str, object]],
    port: str = "",
    carried: bool = False,
    trips: Input | None = None,
    stated: tuple[int, ...] | None = None,
    condition: bool = True,
) -> Net:
    """A TensorIterator, or a Loop with ``trips``, over one Parameter of ``dims`` and a body of ``layers``, the last of which it gives."""
    outside, body = Builder(Random(0)), Builder(Random(0))
    outer: list[Source] = [outside.parameter("f32", dims)]
    place = body.parameter("f32", (-1,) * len(dims) if stated is None else stated)
    for name, opset, sources, attributes in layers:
        body.add(name, opset, *sources, **attributes)  # type: ignore[arg-type]
    result = body.add("Result", 1, len(layers), outputs=0)
    edges = ((body.add("Result", 1, 1, outputs=0), place),) if carried else ()
    if trips is not None:
        outer = [trips, Input("boolean", (), (1,)), *outer]
    entries = [("input", len(outer) - 1, place, ""), ("output", len(outer), result, port)]
    if trips is not None and condition:
        flag = body.add("Result", 1, Input("boolean", (), (1,)), outputs=0)
        entries.append(("output", -1, flag, 'purpose="execution_condition"'))
    step = Step(
        op, 1 if trips is None else 5, tuple(outer), (), 1, (Body("body", tuple(body.steps), tuple(entries), edges),)
    )
    return Net((*outside.steps, step))


RELU = ("Relu", 1, (0,), {})
TOTAL = ("ReduceSum", 1, (1, integers("i64", 0)), {"keep_dims": "false"})
COLUMN = ("Add", 1, (1, Input("f32", (2, 1), (1.0, 2.0))), {})
THREE = scalar("i64", 3)

NETS = {
    "nothing is sliced": net("TensorIterator", (3, 4), RELU, port='axis="0"'),
    "nothing is sliced, parts of two": net("TensorIterator", (3, 4), RELU, port='axis="0" part_size="2"'),
    "nothing is sliced, from the end": net("TensorIterator", (3, 4), RELU, port='axis="0" start="2" end="0" stride="-1"'),
    "scalars along axis 0": net("TensorIterator", (3,), RELU, TOTAL, port='axis="0"'),
    "scalars along axis -1": net("TensorIterator", (3,), RELU, TOTAL, port='axis="-1"'),
    "scalars of a Loop along axis -1": net("Loop", (3,), RELU, TOTAL, port='axis="-1"', trips=THREE),
    "scalars of a Loop along axis -2": net("Loop", (3,), RELU, TOTAL, port='axis="-2"', trips=THREE),
    "a body that does not fit its own Parameters": net("TensorIterator", (2, 4), RELU, COLUMN, stated=(3, 4)),
    "a Loop without a condition and with a fault": net("Loop", (3, 4), RELU, COLUMN, stated=(3, 4), trips=THREE, condition=False),
    "nothing is carried on and does not fit": net("Loop", (1, 0, 3), RELU, COLUMN, trips=THREE),
    "what is empty may grow": net("Loop", (1, 0, 3), RELU, COLUMN, carried=True, trips=THREE),
    "what is empty stays so": net("TensorIterator", (1, 0, 3), RELU, COLUMN, carried=True),
}  # fmt: skip


@pytest.mark.parametrize("name", NETS)
def test_bodies(name: str) -> None:
    assert difference(NETS[name]) is None


@pytest.mark.parametrize("condition", [0, 1])
def test_a_branch_that_never_runs(condition: int) -> None:
    """OpenVINO reads it with the types that its Parameters state."""

    def branch(tag: str, *layers: str) -> Body:
        body = Builder(Random(0))
        last = body.parameter("f32", ())
        for name in layers:
            last = body.add(name, 1, last, integers("i64", 1))
        result = body.add("Result", 1, last, outputs=0)
        return Body(tag, tuple(body.steps), (("input", 1, 0, ""), ("output", 0, result, "")))

    parameter = Step("Parameter", 1, (Input("f32", ()),))
    for faulty, name in enumerate(("then_body", "else_body")):
        bodies = [branch("then_body"), branch("else_body")]
        bodies[faulty] = branch(name, "Squeeze")
        step = Step("If", 8, (Input("boolean", (), (condition,)), 0), (), 1, tuple(bodies))
        assert difference(Net((parameter, step))) is None
