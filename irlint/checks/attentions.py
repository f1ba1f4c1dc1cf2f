"""Finds OpenVINO attention layers with a scale of 0, or with a mask that removes all scores of a row."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.checks.ranges import ALWAYS_NAN, masked, row_of
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node

_PORT = '<port id="{}" precision="FP32"><dim>1</dim><dim>2</dim><dim>4</dim></port>'
_SCALAR = '<output><port id="0" precision="FP32"/></output>'
_GOOD = f"""<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="1,2,4"/>
<output>{_PORT.format(0)}</output></layer>
<layer id="1" name="mask" type="Const" version="opset1"><data element_type="f32" shape="" offset="0" size="4"/>
{_SCALAR}</layer>
<layer id="2" name="scale" type="Parameter" version="opset1"><data element_type="f32" shape=""/>
{_SCALAR}</layer>
<layer id="3" name="attention" type="ScaledDotProductAttention" version="opset13"><data causal="false"/>
<input>{_PORT.format(0)}{_PORT.format(1)}{_PORT.format(2)}
<port id="3" precision="FP32"/><port id="4" precision="FP32"/></input><output>{_PORT.format(5)}</output></layer>
<layer id="4" name="y" type="Result" version="opset1"><input>{_PORT.format(0)}</input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="3" to-port="2"/>
<edge from-layer="1" from-port="0" to-layer="3" to-port="3"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="4"/>
<edge from-layer="3" from-port="5" to-layer="4" to-port="0"/>
</edges></net>
"""

SCALE_ZERO = Rule(
    "IRL751",
    "attention-scale-zero",
    Severity.WARNING,
    "An attention multiplies its scores by 0.",
    why="An attention multiplies the scores of queries and keys by its scale before the Softmax. If the scale is 0, "
    "all scores are equal: each result is the mean of the values, and queries and keys have no effect. OpenVINO "
    "computes this without a message. ONNX Runtime refuses an Attention of ONNX with a scale of 0; in the attention "
    "operators of ONNX Runtime itself, a scale of 0 stands for the default.",
    fix="Omit the scale, or write its default, 1 / sqrt(size of a head).",
    bad=_GOOD.replace(
        '"Parameter" version="opset1"><data element_type="f32" shape=""',
        '"Const" version="opset1"><data element_type="f32" shape="" offset="0" size="4"',
    ),
    good=_GOOD,
    role="value",
)


def faults(values: Values, node: Node) -> Iterator[Fault]:
    """The faults of the scale and the mask of an OpenVINO ScaledDotProductAttention-13. The mask is checked only if
    ``causal`` is false."""
    if values.number(node, 4) == 0:
        yield SCALE_ZERO.fault(
            "input 4 (scale) is 0: every score becomes 0",
            help="omit the scale, or write 1 / sqrt(size of a head)",
            input=4,
        )
    causal = node.attributes.get("causal")
    mask = node.inputs[3] if len(node.inputs) > 3 else None
    if mask is None or causal is None or str(causal.value).lower() not in ("false", "0"):
        return
    tensor = values.tensor(node, 3)
    if tensor is None or tensor.dtype != "bool":
        yield from masked(values, mask, 3)
        return
    row = row_of(0, *values.intervals.rows(mask), tensor)
    if row is not None:
        yield ALWAYS_NAN.fault(
            f"row {row} of the mask `{values.name(mask)}` is false everywhere: its Softmax is NaN",
            help="leave at least one element of each row true",
            input=3,
        )
