"""Rules about the edges of an IR and about the ids that they name."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity

_GOOD = """<net version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2,3" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="1" name="sum" type="Add" version="opset1">
      <input>
        <port id="0"><dim>2</dim><dim>3</dim></port>
        <port id="1"><dim>2</dim><dim>3</dim></port>
      </input>
      <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>
    <edge from-layer="1" from-port="2" to-layer="2" to-port="0"/>
  </edges>
</net>
"""
_SECOND_EDGE = '    <edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>\n'

DANGLING_EDGE = Rule(
    "IRL105",
    "dangling-edge",
    Severity.ERROR,
    "An edge leads from or to a layer or a port that does not exist.",
    why=(
        "OpenVINO refuses such a model with a message that names neither the edge nor the port. Only an edge to a "
        "layer that does not exist is silently ignored."
    ),
    fix="Correct the ids of the layers and ports in the edge.",
    bad=_GOOD.replace('to-layer="1" to-port="1"', 'to-layer="1" to-port="4"'),
    good=_GOOD,
    role="edge",
)

DUPLICATE_LAYER_ID = Rule(
    "IRL106",
    "duplicate-layer-id",
    Severity.ERROR,
    "Two layers of a graph have the same id.",
    why=(
        "Edges refer to layers by id, so equal ids make the edges ambiguous. OpenVINO silently uses the last layer "
        "and drops the others."
    ),
    fix="Give each layer its own id, and correct the edges.",
    bad=_GOOD.replace(
        '    <layer id="2"',
        """    <layer id="1" name="product" type="Multiply" version="opset1">
      <input>
        <port id="0"><dim>2</dim><dim>3</dim></port>
        <port id="1"><dim>2</dim><dim>3</dim></port>
      </input>
      <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2\"""",
    ),
    good=_GOOD,
    role="wiring",
    accepted=("openvino_ir",),
)

DUPLICATE_EDGE = Rule(
    "IRL107",
    "duplicate-edge",
    Severity.ERROR,
    "Two edges lead into one input port.",
    why="An input port takes one value. OpenVINO counts the edges as inputs and refuses the layer.",
    fix="Remove the extra edge, or connect it to the right port.",
    bad=_GOOD.replace(_SECOND_EDGE, _SECOND_EDGE * 2),
    good=_GOOD,
    role="wiring",
)

UNCONNECTED_PORT = Rule(
    "IRL108",
    "unconnected-port",
    Severity.ERROR,
    "An input port has no edge.",
    why="The layer has no value for this input. OpenVINO refuses the model.",
    fix="Add the edge, or remove the port if the input is optional.",
    bad=_GOOD.replace(_SECOND_EDGE, ""),
    good=_GOOD,
    role="wiring",
)
