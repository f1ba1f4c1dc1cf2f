"""The rules about configurations in the folders of models."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity

#: A model that doubles `x`, a model that needs a multiple of 4 elements in each row, and a model with a fixed batch.
_DOUBLE = """-- model/1/model.onnx --
<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,3] x) => (float[batch,3] y) { y = Add (x, x) }"""
_HALF = """-- model/1/model.onnx --
<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,channels,width] x) => (float[batch,c,w] y)
<int64[3] target = {0, 4, -1}> { y = Reshape (x, target) }"""
_FIXED = """-- model/1/model.onnx --
<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3] x) => (float[1,3] y) { y = Add (x, x) }"""

#: An ensemble of one step, which needs a version like any model.
_PIPELINE = """-- model/config.pbtxt --
platform: "ensemble"
input { name: "in" data_type: TYPE_FP32 dims: [ -1, 3 ] }
output { name: "out" data_type: TYPE_FP32 dims: [ -1, 3 ] }
ensemble_scheduling {
  step {
    model_name: "double"
    model_version: -1
    input_map { key: "x" value: "in" }
    output_map { key: "OUTPUT" value: "out" }
  }
}
-- model/1/README.md --
An ensemble needs the folder of a version."""

NOT_PARSED = Rule(
    "IRL620",
    "config-not-parsed",
    Severity.ERROR,
    "A configuration beside a model cannot be parsed.",
    why="The server or library refuses the complete configuration because of one mistake in the syntax, or of one "
    "field or value that it does not know.",
    fix="Correct the syntax, the name of the field or the value.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batchsize: 8
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
{_DOUBLE}""",
)
FIELD_REFUSED = Rule(
    "IRL621",
    "config-field-refused",
    Severity.ERROR,
    "A configuration has a value that its server or library refuses for any model.",
    why="The server checks the configuration before it opens the model.",
    fix="Correct the value as the message says.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
dynamic_batching {{ preferred_batch_size: [ 4, 16 ] }}
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 16
dynamic_batching {{ preferred_batch_size: [ 4, 16 ] }}
{_DOUBLE}""",
)
FILE_MISSING = Rule(
    "IRL622",
    "config-file-missing",
    Severity.ERROR,
    "A configuration needs a file or folder that does not exist.",
    why="The server finds no model to load, or no file that belongs to it.",
    fix="Add the file, or correct its name in the configuration.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
default_model_filename: "net.onnx"
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
default_model_filename: "model.onnx"
{_DOUBLE}""",
)
UNKNOWN_TENSOR = Rule(
    "IRL623",
    "config-unknown-tensor",
    Severity.ERROR,
    "A configuration names an input or output that the model does not have.",
    why="Names are compared letter by letter; exporters rename inputs and outputs.",
    fix="Use the names that `irlint shapes MODEL` lists.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
output {{ name: "Y" data_type: TYPE_FP32 dims: [ 3 ] }}
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
output {{ name: "y" data_type: TYPE_FP32 dims: [ 3 ] }}
{_DOUBLE}""",
)
INPUTS_MISSING = Rule(
    "IRL624",
    "config-inputs-missing",
    Severity.ERROR,
    "The inputs that a configuration or its program feeds are not exactly those that the model needs.",
    why="If a configuration lists inputs, it has to list all of them. If it lists none, Triton adds the inputs of the "
    "model. Requests fail for an input that neither the server nor the library feeds.",
    fix="List every input of the model, or none.",
    bad="""-- model/config.pbtxt --
backend: "onnxruntime"
input { name: "x" data_type: TYPE_FP32 dims: [ 3 ] }
-- model/1/model.onnx --
<ir_version: 8, opset_import: ["" : 17]>
g (float[3] x, float[3] mask) => (float[3] y) { y = Mul (x, mask) }""",
    good="""-- model/config.pbtxt --
backend: "onnxruntime"
input [
  { name: "x" data_type: TYPE_FP32 dims: [ 3 ] },
  { name: "mask" data_type: TYPE_FP32 dims: [ 3 ] }
]
-- model/1/model.onnx --
<ir_version: 8, opset_import: ["" : 17]>
g (float[3] x, float[3] mask) => (float[3] y) { y = Mul (x, mask) }""",
)
TYPE_MISMATCH = Rule(
    "IRL625",
    "config-type-mismatch",
    Severity.ERROR,
    "A configuration and its model give an input or output different element types.",
    why="The program that reads the configuration compares the two types, and does not convert values.",
    fix="Write the element type of the model into the configuration.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP16 dims: [ 3 ] }}
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 3 ] }}
{_DOUBLE}""",
)
SHAPE_MISMATCH = Rule(
    "IRL626",
    "config-shape-mismatch",
    Severity.ERROR,
    "A configuration states a shape that the model contradicts.",
    why="With `max_batch_size` above 0, the shape is a batch axis followed by `dims`, otherwise `dims` alone. In an "
    "input, any size fits a dynamic axis of the model. In an output, the ONNX Runtime backend requires -1 in `dims` "
    "for a dynamic axis. Where `input` or `output` is missing and the model takes batches, that backend sets "
    "`max_batch_size` to 4.",
    fix="State the shape of the model, without the batch axis where `max_batch_size` is above 0.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 3 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 4 ] }}
{_DOUBLE}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 3 ] }}
output {{ name: "y" data_type: TYPE_FP32 dims: [ 3 ] }}
{_DOUBLE}""",
)
NO_BATCH_AXIS = Rule(
    "IRL627",
    "config-no-batch-axis",
    Severity.ERROR,
    "A configuration allows batches, but an input or output of the model has no dynamic first axis.",
    why="With `max_batch_size` above 0 the server adds a batch axis in front of `dims`, which the model has to have.",
    fix="Export the model with a dynamic first axis, or set `max_batch_size: 0` and state full shapes.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
{_FIXED}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 0
{_FIXED}""",
)
SIZE_EXCLUDED = Rule(
    "IRL628",
    "config-size-excluded",
    Severity.WARNING,
    "A configuration allows sizes with which the model does not run.",
    why="The server loads the model, and the requests of such sizes fail.",
    fix="Allow only sizes that `irlint contract MODEL` lists, or export the model for these sizes.",
    bad=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 3, 30 ] }}
{_HALF}""",
    good=f"""-- model/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
input {{ name: "x" data_type: TYPE_FP32 dims: [ 3, 32 ] }}
{_HALF}""",
)
ENSEMBLE_MISMATCH = Rule(
    "IRL629",
    "ensemble-mismatch",
    Severity.ERROR,
    "The steps of an ensemble contradict the models that they name, or each other.",
    why="Exactly one step or input writes each tensor of an ensemble, and a step or an output reads it. The writer and "
    "the reader must give the tensor the same type and shape.",
    fix="Correct `input_map` or `output_map` of the step that the message names.",
    bad=f"""{_PIPELINE.replace("OUTPUT", "z")}
-- double/config.pbtxt --
backend: "onnxruntime"
{_DOUBLE.replace("model/1", "double/1")}""",
    good=f"""{_PIPELINE.replace("OUTPUT", "y")}
-- double/config.pbtxt --
backend: "onnxruntime"
{_DOUBLE.replace("model/1", "double/1")}""",
)
