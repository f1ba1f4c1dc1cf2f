"""Configurations of Triton from a seed, sound and faulty ones, for whoever compares irlint with the server's core."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

#: A sound configuration; ``PART`` stands for what each of the others adds.
SOUND = """backend: "mock"
max_batch_size: 8
input { name: "a" data_type: TYPE_FP32 dims: [ 3, -1 ] }
input { name: "b" data_type: TYPE_INT64 dims: [ 3 ] }
output { name: "y" data_type: TYPE_FP32 dims: [ 3, -1 ] }
instance_group { kind: KIND_CPU count: 1 }
PART
"""

#: Files that each model has.
FILES = {"labels.txt": b"cat\ndog\n", "warmup/a.bin": b"\0" * 24, "initial_state/s.bin": b"\0" * 12}

#: Texts for a number, most of which protobuf takes.
NUMBERS = (
    "0x8",
    "010",
    "8.0",
    "8.",
    "1e1",
    "+8",
    "- 8",
    "8f",
    "8u",
    "08",
    "0b1",
    "0",
    "007",
    "2147483648",
    "0X4",
    "8;",
)

#: Texts between or around tokens.
BETWEEN = (
    *("#", "# é\n", ",", ";", ",,", "\t", "\r\n", "\f", "\v", "\0", "\x01", "\ufeff", "é", "\u00a0", "\x7f", "\\", "'"),
    *('"', "{", "}", "[", "]", "<", ">", ":", "-", "true", "None", "/*x*/", "//x\n", "$", "[x]", "[a.b]: 1", "_: 1"),
)

#: Texts for a text.
TEXTS = (
    *('"mo" "ck"', "'mock'", '"m\\x6fck"', '"m\\157ck"', '"mock', "mock", '"m\\ock"', '"mo\nck"', '"m\\u006fck"'),
    *(
        '"\\777"',
        '"m\\X6fck"',
        '"m\\U0000006fck"',
        '"m\\xff"',
        "\"mock'",
        '"mo\\\nck"',
        '"m\\?"',
        '"\\ud800"',
        '"\\400"',
    ),
)


def configurations(count: int, seed: int) -> Iterator[str]:
    """So many configurations: one of three has a fault of syntax or an unusual one."""
    random = Random(seed)
    for number in range(count):
        text = SOUND.replace(
            "PART", "\n".join(part(random) for part in random.sample(PARTS, random.choice((0, 1, 1, 1, 2))))
        )
        if random.random() < 0.3:
            text = _tensors(random, text)
        yield _spelled(random, text) if number % 3 == 0 else text


def _spelled(random: Random, text: str) -> str:
    """A text with one token written in another way."""
    kind = random.randrange(5)
    if kind == 0:
        return text.replace("max_batch_size: 8", f"max_batch_size: {random.choice(NUMBERS)}")
    if kind == 1:
        return text.replace('"mock"', random.choice(TEXTS), 1)
    at = random.choice([each for each, character in enumerate(text) if character in " \n"])
    if kind == 2:
        return f"{text[:at]} {random.choice(BETWEEN)} {text[at:]}"
    if kind == 3:
        at = random.randrange(len(text))
        return text[:at] + text[at + 1 :]
    lines = text.splitlines()
    line = random.choice(lines)
    return random.choice(
        (f"{text}{line}\n", text.replace(line, line.replace(": ", " ")), text.replace(line, f"[{line}]"))
    )


def _tensors(random: Random, text: str) -> str:
    """A text with another input or output."""
    sizes = (3, 3, -1, 1, 4, 12, 0, -2)
    dims = [random.choice(sizes) for _ in range(random.choice((1, 1, 2, 3)))]
    fields = [f"dims: {dims}"]
    fields.append(random.choice(("", "", "", *(f"reshape {{ shape: {each} }}" for each in _reshapes(random, dims)))))
    kind, name = random.choice((("input", "b"), ("output", "y")))
    flags = ["is_shape_tensor: true", "is_non_linear_format_io: true", "is_shape_tensor: false"]
    if kind == "input":
        flags += ["format: FORMAT_NCHW", "format: FORMAT_NHWC", "format: FORMAT_NONE", "format: 1", "optional: false"]
        flags += ["allow_ragged_batch: true"]
    else:
        flags += ['label_filename: "labels.txt"', 'label_filename: "none.txt"', 'label_filename: ""']
    fields.append(random.choice(("", "", *flags)))
    name = random.choice((name, name, name, name, ""))
    start = text.index(f"{kind} {{", text.index('name: "a"') if kind == "input" else 0)
    end = text.index("\n", start)
    most = random.choice((8, 8, 0))
    changed = f'{text[:start]}{kind} {{ name: "{name}" data_type: TYPE_INT64 {" ".join(fields)} }}{text[end:]}'
    return changed.replace("max_batch_size: 8", f"max_batch_size: {most}")


def _reshapes(random: Random, dims: list[int]) -> Iterator[list[int]]:
    yield [1, *dims]
    yield dims[::-1]
    yield [*dims[:-1], dims[-1] * 2]
    yield []
    yield [dim for dim in dims if dim != 1]


def _batching(random: Random) -> str:
    sizes = random.sample((1, 2, 4, 8, 8, 9, 16, 0, -1), random.randrange(3))
    levels, default = random.choice((0, 0, 1, 2, 3)), random.choice((0, 1, 2, 4))
    policy = f"timeout_action: {random.choice(('DELAY', 'REJECT', '1', '0'))} default_timeout_microseconds: "
    policy += random.choice(("0", "100"))
    fields = [f"preferred_batch_size: {sizes}", f"max_queue_delay_microseconds: {random.choice((0, 100))}"]
    if levels:
        fields += [f"priority_levels: {levels} default_priority_level: {default}"]
    if random.random() < 0.5:
        fields.append(f"preserve_ordering: {random.choice(('true', 'false', '1', 't', 'True', 'yes', 'TRUE'))}")
    if random.random() < 0.5:
        fields.append(f"default_queue_policy {{ {policy} }}")
    if random.random() < 0.3:
        fields.append(f"priority_queue_policy {{ key: {random.randrange(4)} value {{ {policy} }} }}")
    return f"dynamic_batching {{ {' '.join(fields)} }}"


def _sequences(random: Random) -> str:
    controls = []
    for _ in range(random.choice((0, 1, 1, 2))):
        kind = random.choice(("START", "END", "READY", "CORRID"))
        values = random.choice(
            (
                *("int32_false_true: [ 0, 1 ]", "fp32_false_true: [ 0, 1 ]", "bool_false_true: [ false, true ]"),
                *("fp32_false_true: [ 0, 1, 2 ]", "int32_false_true: 0", "data_type: TYPE_UINT64", "", "data_type: 13"),
                "fp32_false_true: [ 0, 1 ] int32_false_true: [ 0, 1 ]",
            )
        )
        if kind == "CORRID" and random.random() < 0.6:
            values = f"data_type: {random.choice(('TYPE_UINT64', 'TYPE_INT32', 'TYPE_STRING', 'TYPE_FP32'))}"
        name = random.choice(("start", "start", "end", ""))
        controls.append(f'control_input {{ name: "{name}" control {{ kind: CONTROL_SEQUENCE_{kind} {values} }} }}')
    strategy = random.choice(
        (
            *("", "direct {}", "direct { minimum_slot_utilization: 0.5 }", "direct { minimum_slot_utilization: 2 }"),
            *(
                "direct { minimum_slot_utilization: -0.5 }",
                "oldest { max_candidate_sequences: 4 }",
                "direct {} oldest {}",
            ),
            *("oldest { preferred_batch_size: [ 4, 8 ] }", "oldest { preferred_batch_size: 16 }"),
            "oldest { preferred_batch_size: [ 0 ] }",
        )
    )
    return f"sequence_batching {{ {strategy} {' '.join(controls)} {_state(random)} }}"


def _state(random: Random) -> str:
    if random.random() < 0.5:
        return ""
    kinds = ("TYPE_FP32", "TYPE_FP32", "TYPE_FP32", "TYPE_INT64")
    data = random.choice(("zero_data: true", "zero_data: true", 'data_file: "s.bin"', 'data_file: "t.bin"', ""))
    name = random.choice(('name: "zero"', 'name: "zero"', ""))
    dims = random.choice(("[ 3 ]", "[ 3 ]", "[ 4 ]", "[ -1 ]", "[ 3, 1 ]"))
    initial = f"initial_state {{ data_type: {random.choice(kinds)} dims: {dims} {data} {name} }}"
    count = random.choice((0, 1, 1, 1, 2))
    state_dims = random.choice(("[ 3 ]", "[ -1 ]"))
    state = f'input_name: "s" output_name: "t" data_type: TYPE_FP32 dims: {state_dims}'
    return f"state {{ {state} {' '.join([initial] * count)} }}"


def _instances(random: Random) -> str:
    kind = random.choice(("KIND_CPU", "KIND_CPU", "KIND_AUTO", "KIND_MODEL"))
    extra = random.choice(
        ("", "count: 1", "count: 0", "count: -1", "gpus: [ 0 ]", 'profile: "1"', 'name: "i"', "gpus: []")
    )
    return f"instance_group [ {{ kind: {kind} {extra} }} ]"


def _cache(random: Random) -> str:
    decoupled, enabled = random.choice(("true", "false")), random.choice(("true", "false"))
    return f"response_cache {{ enable: {enabled} }} model_transaction_policy {{ decoupled: {decoupled} }}"


def _versions(random: Random) -> str:
    policies = ("all {}", "latest { num_versions: 1 }", "latest { num_versions: 0 }", "latest {}", "all: {}")
    policies += ("specific { versions: 1 }", "specific { versions: [ 1, 2 ] }", "specific { versions: [ 2 ] }")
    policies += ("specific { versions: [] }", "specific {}", "all {} all {}", "all {} latest {}", "")
    return f"version_policy {{ {random.choice(policies)} }}"


def _name(random: Random) -> str:
    return f'name: "{random.choice(("NAME", "NAME", "other", ""))}"'


def _platform(random: Random) -> str:
    platforms = ("tensorrt_plan", "onnxruntime_onnx", "ensemble", "pytorch_libtorch", "any", "", "mock", "onnxruntime")
    return f'platform: "{random.choice(platforms)}"'


def _batch_tensors(random: Random) -> str:
    kind = random.choice(("BATCH_ELEMENT_COUNT", "BATCH_ITEM_SHAPE", "BATCH_ACCUMULATED_ELEMENT_COUNT", "1"))
    dtype = random.choice(("TYPE_FP32", "TYPE_INT32", "TYPE_INT64", "TYPE_INVALID"))
    source = random.choice(('"a"', '"b"', '[ "a", "b" ]', '"c"', "[]"))
    given = f'batch_input {{ kind: {kind} target_name: "count" data_type: {dtype} source_input: {source} }}'
    target = random.choice(('"y"', '"y"', '"z"', '[ "y", "y" ]'))
    source = random.choice(('"a"', '"a"', '"q"', "[]"))
    scatter = f"kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: {target} source_input: {source}"
    return random.choice((given, f"batch_output {{ {scatter} }}"))


def _warmup(random: Random) -> str:
    data = random.choice(
        ("zero_data: true", "random_data: true", 'input_data_file: "a.bin"', 'input_data_file: "q.bin"')
    )
    data = random.choice((data, data, data, ""))
    a = random.choice(("[ 3, 2 ]", "[ 3, 2 ]", "[ 3, 4 ]", "[ 3, -1 ]", "[ 2, 2 ]", "[ 3 ]"))
    kind = random.choice(("TYPE_FP32", "TYPE_FP32", "TYPE_FP32", "TYPE_INT64"))
    name = random.choice(("a", "a", "a", "a", "q"))
    entry = f'inputs {{ key: "{name}" value {{ data_type: {kind} dims: {a} {data} }} }}'
    other = 'inputs { key: "b" value { data_type: TYPE_INT64 dims: [ 3 ] zero_data: true } }'
    other = random.choice((other, other, other, ""))
    return f'model_warmup {{ name: "w" batch_size: {random.choice((1, 1, 1, 2, 0))} {entry} {other} }}'


def _other(random: Random) -> str:
    return random.choice(
        (
            'parameters { key: "k" value { string_value: "v" } }',
            'parameters [ { key: "k" value: { string_value: "v" } }, { key: "l" value: {} } ]',
            'parameters { key: "k" value: "v" }',
            'metric_tags { key: "k" value: "v" }',
            "optimization { priority: PRIORITY_MAX graph { level: -1 } }",
            "optimization { priority: 7 }",
            "optimization { graph: 1 }",
            "optimization < cuda < graphs: true > >",
            'default_model_filename: "model.bin"',
            'cc_model_filenames [ { key: "7.5" value: "a" } ]',
            "input: []",
            "input []",
            "input: [ ]",
            "instance_group: { }",
            "ensemble_scheduling { step { } }",
            "no_field: 1",
            "dynamic_batching: {}",
            "dynamic_batching {} sequence_batching {}",
            "max_batch_size: 8",
            'backend: "mock"',
            'model_operations { op_library_filename: [ "a.so" ] }',
            'runtime: ""',
        )
    )


PARTS = (
    *(_batching, _batching, _sequences, _sequences, _instances, _cache, _versions, _name, _platform, _batch_tensors),
    *(_warmup, _warmup, _other, _other),
)
