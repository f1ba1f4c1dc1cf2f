"""Layers that random IRs came upon: OpenVINO's verdict, element types and shapes, and irlint's."""

from __future__ import annotations

from random import Random

import pytest
from oracles.ir_generator import Input
from oracles.ir_graphs import Body, Builder, Net, Source, Step, integers, scalar
from oracles.random_irs import difference

pytestmark = pytest.mark.oracle


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
    """A TensorIterator, or a Loop with ``trips``, over one Parameter of ``dims`` and a body of ``layers``, the last of
    which it gives."""
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
    "nothing is sliced, from the end": net("TensorIterator", (3, 4), RELU, port='axis="0" start="2" '
        'end="0" stride="-1"'),
    "scalars along axis 0": net("TensorIterator", (3,), RELU, TOTAL, port='axis="0"'),
    "scalars along axis -1": net("TensorIterator", (3,), RELU, TOTAL, port='axis="-1"'),
    "scalars of a Loop along axis -1": net("Loop", (3,), RELU, TOTAL, port='axis="-1"', trips=THREE),
    "scalars of a Loop along axis -2": net("Loop", (3,), RELU, TOTAL, port='axis="-2"', trips=THREE),
    "a body that does not fit its own Parameters": net("TensorIterator", (2, 4), RELU, COLUMN, stated=(3, 4)),
    "a Loop without a condition "
        "and with a fault": net("Loop", (3, 4), RELU, COLUMN, stated=(3, 4), trips=THREE, condition=False),
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
