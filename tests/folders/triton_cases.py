"""Configurations of Triton, each with what irlint finds in it; the server's core is asked about those in ``CORE``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from make.fixtures import example

#: Models by the names that cases use: two inputs in batches, one of fixed size, one scalar, one with a default.
MODELS = {
    "pair": "g (float[batch,3,H] a, int64[batch,H] b) => (float[batch,3,H] y, int64[batch,H] z) "
    "{ y = Relu (a) z = Identity (b) }",
    "fixed": "g (float[1,3,8] a) => (float[1,3,8] y) { y = Relu (a) }",
    "scalar": "g (float a) => (float y) { y = Relu (a) }",
    "default": "g (float[batch,3] a, float[3] k) => (float[batch,3] y) <float[3] k = {1,2,3}> { y = Add (a, k) }",
    "one": "g (float[batch,12] a) => (float[batch,12] y) <int64[2] t = {1,12}> { r = Reshape (a, t) y = Add (a, r) }",
    "sequence": "g (float[batch,3] a) => (seq(float[batch,3]) y) { y = SequenceConstruct (a) }",
    "state": "g (float[batch,3] a, float[batch,1] start, float[batch,3] s) => (float[batch,3] y, float[batch,3] t) "
    "{ m = Mul (s, start) t = Add (a, m) y = Relu (t) }",
    "ragged": "g (float[n] a, float[k] sums) => (float[k] y) { y = Relu (sums) }",
}

A = 'input { name: "a" data_type: TYPE_FP32 dims: [ 3, -1 ] }'
B = 'input { name: "b" data_type: TYPE_INT64 dims: [ -1 ] }'
Y = 'output { name: "y" data_type: TYPE_FP32 dims: [ 3, -1 ] }'
ONE = (
    'backend: "onnxruntime" max_batch_size: 8\ninput { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }\n'
    'output { name: "y" data_type: TYPE_FP32 dims: [ 3 ] }\n'
)
PAIR = f'backend: "onnxruntime" max_batch_size: 8\n{A}\n{B}\n{Y}\n'
FIXED = (
    'backend: "onnxruntime"\ninput { name: "a" data_type: TYPE_FP32 dims: [ 1, 3, 8 ] }\n'
    'output { name: "y" data_type: TYPE_FP32 dims: [ 1, 3, 8 ] }\n'
)
STATE = (
    'backend: "onnxruntime" max_batch_size: 4\ninput { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }\n'
    'output { name: "y" data_type: TYPE_FP32 dims: [ 3 ] }\n'
    'sequence_batching { CONTROL state { input_name: "s" output_name: "t" data_type: TYPE_FP32 dims: [ 3 ] } }\n'
)
RAGGED = (
    'backend: "onnxruntime" max_batch_size: 4\n'
    'input { name: "a" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true }\n'
    'output { name: "y" data_type: TYPE_FP32 dims: [ 1 ] }\n'
    'batch_output { target_name: "y" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "a" }\n'
)
DEFAULT = 'output { name: "y" data_type: TYPE_FP32 dims: [ -1, 3 ] }\n'
START = 'control_input { name: "start" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } }'


def state(control: str) -> str:
    return STATE.replace("CONTROL", control)


#: What the core of the server judges alone: the model, the configuration, and the code that irlint reports, "" for
#: none.
CORE: Mapping[str, tuple[str, str, str]] = {
    "sound": ("pair", PAIR, ""),
    "sound without batches": ("fixed", FIXED, ""),
    "named": ("pair", f'name: "NAME"\n{PAIR}', ""),
    "named otherwise": ("pair", f'name: "other"\n{PAIR}', "IRL621"),
    "unknown field": ("pair", f"{PAIR}max_batchsize: 8", "IRL620"),
    "unknown field inside": ("pair", f"{PAIR}dynamic_batching {{ preferred_batch_sizes: 4 }}", "IRL620"),
    "unknown type": ("pair", PAIR.replace("TYPE_FP32", "TYPE_FLOAT"), "IRL620"),
    "type as a text": ("pair", PAIR.replace("TYPE_FP32", '"TYPE_FP32"'), "IRL620"),
    "type as a number": ("pair", PAIR.replace("TYPE_FP32", "11"), ""),
    "text for a number": ("pair", PAIR.replace("max_batch_size: 8", 'max_batch_size: "8"'), "IRL620"),
    "brace missing": ("pair", PAIR.replace("dims: [ -1 ] }", "dims: [ -1 ]"), "IRL620"),
    "comma between messages": ("pair", PAIR.replace(f"{A}\n{B}", f"input [ {A[6:]}, {B[6:]} ]"), ""),
    "comma missing between messages": ("pair", PAIR.replace(f"{A}\n{B}", f"input [ {A[6:]} {B[6:]} ]"), "IRL620"),
    "comments": ("pair", f"# a comment\n{PAIR}# another", ""),
    "field twice": ("pair", f"{PAIR}max_batch_size: 4", "IRL620"),
    "two schedulers": ("pair", f"{PAIR}dynamic_batching {{}} sequence_batching {{}}", "IRL620"),
    "number too large": ("pair", PAIR.replace("max_batch_size: 8", "max_batch_size: 5000000000"), "IRL620"),
    "entry too large": ("pair", f"{PAIR}instance_group {{ gpus: [ 99999999999 ] }}", "IRL620"),
    "negative batch": ("pair", PAIR.replace("max_batch_size: 8", "max_batch_size: -1"), "IRL621"),
    "preferred": ("pair", f"{PAIR}dynamic_batching {{ preferred_batch_size: [ 2, 8 ] }}", ""),
    "preferred too large": ("pair", f"{PAIR}dynamic_batching {{ preferred_batch_size: [ 2, 16 ] }}", "IRL621"),
    "preferred is 0": ("pair", f"{PAIR}dynamic_batching {{ preferred_batch_size: 0 }}", "IRL621"),
    "preferred without batches": ("fixed", f"{FIXED}dynamic_batching {{ preferred_batch_size: 4 }}", "IRL621"),
    "dynamic batching without batches": ("fixed", f"{FIXED}dynamic_batching {{}}", ""),
    "priorities": ("pair", f"{PAIR}dynamic_batching {{ priority_levels: 3 default_priority_level: 2 }}", ""),
    "priority 0": ("pair", f"{PAIR}dynamic_batching {{ priority_levels: 3 }}", "IRL621"),
    "priority too high": (
        "pair",
        f"{PAIR}dynamic_batching {{ priority_levels: 3 default_priority_level: 4 }}",
        "IRL621",
    ),
    "queue of no level": (
        "pair",
        f"{PAIR}dynamic_batching {{ priority_levels: 2 default_priority_level: 1 "
        "priority_queue_policy { key: 3 value: { max_queue_size: 4 } } }",
        "IRL621",
    ),
    "order and priorities": (
        "pair",
        f"{PAIR}dynamic_batching {{ preserve_ordering: true priority_levels: 2 default_priority_level: 1 }}",
        "IRL621",
    ),
    "order and delay": (
        "pair",
        f"{PAIR}dynamic_batching {{ preserve_ordering: true "
        "default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 100 } }",
        "IRL621",
    ),
    "order and reject": (
        "pair",
        f"{PAIR}dynamic_batching {{ preserve_ordering: true "
        "default_queue_policy { timeout_action: REJECT default_timeout_microseconds: 100 } }",
        "",
    ),
    "size 0": ("pair", PAIR.replace("[ 3, -1 ] }", "[ 3, 0 ] }", 1), "IRL621"),
    "size -2": ("pair", PAIR.replace("[ 3, -1 ] }", "[ 3, -2 ] }", 1), "IRL621"),
    "input without a name": ("pair", PAIR.replace('name: "a" ', ""), "IRL621"),
    "empty reshape": ("pair", PAIR.replace("dims: [ -1 ] }", "dims: [ 1 ] reshape { shape: [ ] } }"), "IRL626"),
    "empty reshape without batches": ("fixed", FIXED.replace("8 ] }", "8 ] reshape { shape: [ ] } }", 1), "IRL621"),
    "reshape": ("fixed", FIXED.replace("[ 1, 3, 8 ] }", "[ 24 ] reshape { shape: [ 1, 3, 8 ] } }"), ""),
    "reshape of another volume": (
        "fixed",
        FIXED.replace("[ 1, 3, 8 ] }", "[ 23 ] reshape { shape: [ 1, 3, 8 ] } }", 1),
        "IRL621",
    ),
    "reshape of another count": (
        "pair",
        PAIR.replace("[ 3, -1 ] }", "[ -1, 3, -1 ] reshape { shape: [ 3, -1 ] } }", 1),
        "IRL621",
    ),
    "reshape around the dynamic axis": (
        "pair",
        PAIR.replace("[ 3, -1 ] }", "[ 3, 1, -1 ] reshape { shape: [ 3, -1 ] } }", 1),
        "",
    ),
    "reshape across the dynamic axis": (
        "pair",
        PAIR.replace("[ 3, -1 ] }", "[ -1, 3 ] reshape { shape: [ 3, -1 ] } }", 1),
        "IRL621",
    ),
    "layout": ("fixed", FIXED.replace("TYPE_FP32 dims", "TYPE_FP32 format: FORMAT_NCHW dims", 1), ""),
    "layout of two dims": ("pair", PAIR.replace("TYPE_FP32 dims", "TYPE_FP32 format: FORMAT_NCHW dims", 1), "IRL621"),
    "shape tensor": ("pair", PAIR.replace("TYPE_FP32 dims", "TYPE_FP32 is_shape_tensor: true dims", 1), "IRL621"),
    "other format": (
        "fixed",
        FIXED.replace("TYPE_FP32 dims", "TYPE_FP32 is_non_linear_format_io: true dims", 1),
        "IRL621",
    ),
    "platform": ("pair", PAIR.replace('backend: "onnxruntime"', 'platform: "onnxruntime_onnx"'), ""),
    "platform and backend": ("pair", f'platform: "onnxruntime_onnx"\n{PAIR}', ""),
    "platform is a backend": ("pair", PAIR.replace('backend: "onnxruntime"', 'platform: "onnxruntime"'), "IRL621"),
    "platform of another backend": ("pair", f'platform: "tensorrt_plan"\n{PAIR}', "IRL621"),
    "nothing but tensors": ("pair", PAIR.replace('backend: "onnxruntime"', ""), ""),
    "backend of an ensemble": ("pair", f'platform: "ensemble"\n{PAIR}', "IRL621 IRL629"),
    "steps without the platform": (
        "pair",
        f'{PAIR}ensemble_scheduling {{ step {{ model_name: "m" }} }}',
        "IRL621",
    ),
    "version": ("pair", f"{PAIR}version_policy {{ specific {{ versions: [ 1 ] }} }}", ""),
    "all versions": ("pair", f"{PAIR}version_policy {{ all {{}} }}", ""),
    "no such version": ("pair", f"{PAIR}version_policy {{ specific {{ versions: [ 2 ] }} }}", "IRL622"),
    "two version policies": ("pair", f"{PAIR}version_policy {{ all {{}} latest {{ num_versions: 1 }} }}", "IRL620"),
    "no file of labels": ("pair", PAIR.replace("output {", 'output { label_filename: "labels.txt"'), "IRL622"),
    "cpu": ("pair", f"{PAIR}instance_group {{ kind: KIND_CPU count: 2 }}", ""),
    "cpu with gpus": ("pair", f"{PAIR}instance_group {{ kind: KIND_CPU gpus: [ 0 ] }}", "IRL621"),
    "model with gpus": ("pair", f"{PAIR}instance_group {{ kind: KIND_MODEL gpus: [ 0 ] }}", "IRL621"),
    "profile": ("pair", f'{PAIR}instance_group {{ kind: KIND_CPU profile: "1" }}', "IRL621"),
    "cached": ("pair", f"{PAIR}response_cache {{ enable: true }}", ""),
    "cached and decoupled": (
        "pair",
        f"{PAIR}response_cache {{ enable: true }} model_transaction_policy {{ decoupled: true }}",
        "IRL621",
    ),
    "parameters": ("pair", f'{PAIR}parameters {{ key: "intra_op_thread_count" value: {{ string_value: "4" }} }}', ""),
    "parameter without a value": ("pair", f'{PAIR}parameters {{ key: "k" value: "4" }}', "IRL620"),
    "accelerator": (
        "pair",
        f'{PAIR}optimization {{ execution_accelerators {{ gpu_execution_accelerator : [ {{ name : "tensorrt" '
        'parameters { key: "precision_mode" value: "FP16" } } ] } }',
        "",
    ),
    "metrics": (
        "pair",
        f'{PAIR}model_metrics {{ metric_control: [ {{ metric_identifier: {{ family: "nv_inference_request_summary" }} '
        "histogram_options: { buckets: [ 1, 2 ] } } ] }",
        "",
    ),
    "metrics without buckets": (
        "pair",
        f'{PAIR}model_metrics {{ metric_control {{ metric_identifier {{ family: "nv_inference_first" }} }} }}',
        "IRL621",
    ),
    "metrics of no family": (
        "pair",
        f"{PAIR}model_metrics {{ metric_control {{ histogram_options {{ buckets: [ 1, 2 ] }} }} }}",
        "IRL621",
    ),
    "batch output twice": (
        "ragged",
        RAGGED.replace('target_name: "y"', 'target_name: [ "y", "y" ]')
        + 'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "sums" data_type: TYPE_FP32 source_input: "a" }',
        "IRL621",
    ),
    "platform with a typing error": (
        "pair",
        PAIR.replace('backend: "onnxruntime"', 'platform: "onnxruntim" default_model_filename: "model.onnx"'),
        "IRL621",
    ),
    "state": ("state", state(START), ""),
    "state without a control": ("state", state(""), "IRL624"),
    "control with three values": ("state", state(START.replace("0, 1", "0, 1, 2")), "IRL621"),
    "control without values": ("state", state(START.replace("fp32_false_true: [ 0, 1 ]", "")), "IRL621"),
    "control with two kinds of values": (
        "state",
        state(START.replace("fp32", "int32_false_true: [ 0, 1 ] fp32")),
        "IRL621",
    ),
    "control twice": ("state", state(f"{START} {START.replace('start', 'again')}"), "IRL621 IRL623"),
    "control of the same tensor": ("state", state(f"{START} {START.replace('START', 'END')}"), "IRL621 IRL624"),
    "control without a name": ("state", state(START.replace('name: "start"', "")), "IRL621"),
    "correlation of a wrong type": (
        "state",
        state(
            f'{START} control_input {{ name: "id" control {{ kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_FP32 }} }}'
        ),
        "IRL621 IRL623 IRL624",
    ),
    "slots": ("state", state(f"direct {{ minimum_slot_utilization: 0.5 }} {START}"), ""),
    "too many slots": ("state", state(f"direct {{ minimum_slot_utilization: 1.5 }} {START}"), "IRL621"),
    "oldest": ("state", state(f"oldest {{ max_candidate_sequences: 4 preferred_batch_size: [ 4 ] }} {START}"), ""),
    "oldest too large": (
        "state",
        state(f"oldest {{ max_candidate_sequences: 4 preferred_batch_size: [ 8 ] }} {START}"),
        "IRL621",
    ),
    "ragged": (
        "ragged",
        f"{RAGGED}"
        'batch_input { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "sums" data_type: TYPE_FP32 '
        'source_input: "a" }',
        "",
    ),
    "batch input of two sources": (
        "ragged",
        f"{RAGGED}"
        'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "sums" data_type: TYPE_FP32 source_input: ["a", "a"] }',
        "IRL621",
    ),
    "batch input of an unknown source": (
        "ragged",
        f"{RAGGED}"
        'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "sums" data_type: TYPE_FP32 source_input: "c" }',
        "IRL621",
    ),
    "batch input of a wrong type": (
        "ragged",
        f"{RAGGED}"
        'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "sums" data_type: TYPE_INT64 source_input: "a" }',
        "IRL621",
    ),
}

#: What the backend of ONNX Runtime judges, by its sources.
BACKEND: Mapping[str, tuple[str, str, str]] = {
    "empty": ("pair", "", ""),
    "only the batch": ("pair", "max_batch_size: 8", ""),
    "only the batch, fixed": ("fixed", "max_batch_size: 8", "IRL627"),
    "only the batch, scalar": ("scalar", "max_batch_size: 8", "IRL627"),
    "only outputs": ("pair", f'backend: "onnxruntime" max_batch_size: 8\n{Y}', ""),
    "unknown input": ("pair", PAIR.replace('"b"', '"c"'), "IRL623"),
    "unknown output": ("pair", PAIR.replace('"y"', '"x"'), "IRL623"),
    "input missing": ("pair", PAIR.replace(B, ""), "IRL624"),
    "input twice": ("pair", f"{PAIR}{B}", "IRL624"),
    "type of an input": ("pair", PAIR.replace("TYPE_INT64", "TYPE_INT32"), "IRL625"),
    "type of an output": ("pair", PAIR.replace(Y, Y.replace("FP32", "FP16")), "IRL625"),
    "number in place of a dynamic input": ("pair", PAIR.replace("dims: [ -1 ] }", "dims: [ 7 ] }"), ""),
    "number in place of a dynamic output": ("pair", PAIR.replace(Y, Y.replace("[ 3, -1 ]", "[ 3, 7 ]")), "IRL626"),
    "dynamic in place of a number": ("pair", PAIR.replace(A, A.replace("[ 3, -1 ]", "[ -1, -1 ]")), "IRL626"),
    "batch axis stated": ("pair", PAIR.replace(A, A.replace("[ 3, -1 ]", "[ -1, 3, -1 ]")), "IRL626"),
    "axis missing": ("pair", PAIR.replace(A, A.replace("[ 3, -1 ]", "[ 3 ]")), "IRL626"),
    "another number": ("fixed", FIXED.replace("[ 1, 3, 8 ]", "[ 1, 3, 9 ]", 1), "IRL626"),
    "batches of a fixed model": ("fixed", FIXED.replace("\n", " max_batch_size: 8\n", 1), "IRL627"),
    "scalar": ("scalar", 'input { name: "a" data_type: TYPE_FP32 dims: [ 1 ] }', ""),
    "scalar of two": ("scalar", 'input { name: "a" data_type: TYPE_FP32 dims: [ 2 ] }', "IRL626"),
    "default": (
        "default",
        DEFAULT + 'input [ { name: "a" data_type: TYPE_FP32 dims: [ -1, 3 ] }, '
        '{ name: "k" data_type: TYPE_FP32 dims: [ 3 ] optional: true } ]',
        "",
    ),
    "default not marked": (
        "default",
        DEFAULT + 'input [ { name: "a" data_type: TYPE_FP32 dims: [ -1, 3 ] }, '
        '{ name: "k" data_type: TYPE_FP32 dims: [ 3 ] } ]',
        "IRL624",
    ),
    "default not listed": ("default", DEFAULT + 'input { name: "a" data_type: TYPE_FP32 dims: [ -1, 3 ] }', ""),
    "optional in batches": (
        "default",
        'max_batch_size: 4 input [ { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }, '
        '{ name: "k" data_type: TYPE_FP32 dims: [ 3 ] optional: true } ]',
        "IRL621 IRL627",
    ),
    "sequence as output": ("sequence", "", "IRL625"),
    "batches of a model for one": ("one", "max_batch_size: 8", "IRL628"),
    "batch of one": ("one", "max_batch_size: 1", ""),
    "control that is no input": ("state", state(START.replace('"start"', '"begin"')), "IRL623"),
    "control of a wrong shape": (
        "state",
        state(START.replace('"start"', '"s"')).replace('input_name: "s"', 'input_name: "start"'),
        "IRL626",
    ),
    "state that is no input": ("state", state(START).replace('input_name: "s"', 'input_name: "u"'), "IRL623"),
    "ragged of two axes": (
        "pair",
        PAIR.replace(A, A.replace("dims", "allow_ragged_batch: true dims")),
        "IRL626",
    ),
    "warm-up": (
        "default",
        f'{ONE}model_warmup {{ name: "w" batch_size: 1 inputs {{ key: "a" value: {{ data_type: TYPE_FP32 '
        "dims: [ 3 ] random_data: true } } }",
        "",
    ),
    "warm-up of no input": (
        "default",
        f'{ONE}model_warmup {{ name: "w" batch_size: 1 inputs {{ key: "q" value: {{ data_type: TYPE_FP32 '
        "dims: [ 3 ] random_data: true } } }",
        "IRL623",
    ),
    "warm-up without its file": (
        "default",
        f'{ONE}model_warmup {{ name: "w" batch_size: 1 inputs {{ key: "a" value: {{ data_type: TYPE_FP32 '
        'dims: [ 3 ] input_data_file: "a.bin" } } }',
        "IRL622",
    ),
}

CASES = {**CORE, **BACKEND}


def model(name: str) -> bytes:
    return example(f'<ir_version: 8, opset_import: ["" : 17]>\n{MODELS[name]}')[1]


def written(folder: Path, case: tuple[str, str, str]) -> Path:
    """Writes a model and its configuration, and returns the configuration's path."""
    name, text, _ = case
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.onnx").write_bytes(model(name))
    path = folder / "config.pbtxt"
    path.write_text(text.replace("NAME", folder.name))
    return path
