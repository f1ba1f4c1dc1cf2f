"""Rules about the outputs of an IR and about the preprocessing of its inputs."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity

#: A document without violations of these rules.
GOOD = """<net version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2,3" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
      <rt_info><attribute name="fused_names" version="0" value="x"/></rt_info>
    </layer>
    <layer id="1" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
"""

RESULT_MISSING = Rule(
    "IRL121",
    "result-missing",
    Severity.WARNING,
    "The model has no Result, or OpenVINO drops an output because the layer's type is not exactly Result.",
    why=(
        "OpenVINO creates only the layers that a Result or an Assign needs, and compares the type exactly. A model "
        "without a Result loads, but has no outputs and computes nothing."
    ),
    fix="Write the type as `Result`, or write the IR again with openvino.save_model.",
    bad=GOOD.replace('type="Result"', 'type="result"'),
    good=GOOD,
    role="absence",
)

PRE_PROCESS_INVALID = Rule(
    "IRL124",
    "pre-process-input-missing",
    Severity.ERROR,
    "The pre-process section refers to an input that the model does not have.",
    why=(
        "In a <pre-process> section, `reference-layer-name` names the input from which OpenVINO subtracts the mean "
        "values. If the model has no such input, OpenVINO refuses the model."
    ),
    fix="Use the name of an input of the model, or remove the section.",
    bad=GOOD.replace("  <layers>", '  <pre-process reference-layer-name="data"/>\n  <layers>'),
    good=GOOD,
)
