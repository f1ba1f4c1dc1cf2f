"""ONNX Runtime GenAI: compares a ``genai_config.json`` with the models that it names.

Source: ``config.h``, ``models/kv_cache.cpp``, ``models/logits.cpp`` and ``generators.cpp`` of onnxruntime-genai 0.18.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from irlint.dims import Dim
from irlint.findings.faults import Severity
from irlint.findings.report import Related
from irlint.findings.wording import closest, counted, first_few
from irlint.folders import genai_pipeline
from irlint.folders.beside import Interface, Reported, Unreadable, by_name, interface, new_errors, shown, suggestion
from irlint.folders.json_text import Document, parsed
from irlint.folders.places import is_file, joined, names_in
from irlint.folders.rules import (
    FIELD_REFUSED,
    FILE_MISSING,
    INPUTS_MISSING,
    SHAPE_MISMATCH,
    TYPE_MISMATCH,
    UNKNOWN_TENSOR,
)
from irlint.folders.statements import Checked, ConfigFault
from irlint.inference.walk import inferred
from irlint.model import Constant
from irlint.model.order import graphs
from irlint.records import record

KIND = "genai"

#: The types of models that consist of one decoder.
DECODERS = (
    *("chatglm", "decoder", "ernie4_5", "gemma", "gemma2", "gemma3_text", "gemma4_text", "gptoss", "granite"),
    *("hunyuandensev1", "internlm2", "llama", "mistral", "nemotron", "olmo", "phi", "phimoe", "phi3", "phi3small"),
    *("qwen2", "qwen3", "smollm3"),
)

#: The default names of the inputs of a decoder, by key.
INPUTS = {
    "input_ids": "input_ids",
    "attention_mask": "attention_mask",
    "position_ids": "position_ids",
    "past_key_names": "past_key_values.%d.key",
    "past_value_names": "past_key_values.%d.value",
    "past_key_values_length": "past_key_values_length",
    "past_sequence_length": "past_sequence_length",
    "current_sequence_length": "current_sequence_length",
    "total_sequence_length": "total_sequence_length",
    "cache_indirection": "cache_indirection",
    "rnn_prev_states": "rnn_states_prev",
}
#: The default names of the outputs of a decoder, by key.
OUTPUTS = {
    "logits": "logits",
    "present_key_names": "present.%d.key",
    "present_value_names": "present.%d.value",
}

#: The prefixes of inputs that the library feeds without a key.
SET_WITHOUT_KEY = ("num_logits_to_keep", "onnx::Neg_")

#: The type of models whose decoder is a pipeline of stages.
PIPELINE = "decoder-pipeline"

#: The types of models that have several files, or caches of another kind.
OTHER_TYPES = (
    *("gpt2", "granitemoehybrid", "lfm2", "qwen3_5_moe_text", "qwen3_5_text", "fara", "gemma3", "mistral3", "phi3v"),
    *("qwen2_5_vl", "qwen3_vl", "qwen3_5", "qwen3_5_moe", "videochat_flash_qwen", "whisper", "nemotron_speech"),
    *("parakeet_tdt", "gemma4", "phi4mm", PIPELINE, "marian-ssru"),
)

#: Common keys, by the path of their object. A misspelled key is similar to one of them.
COMMON_KEYS = {
    ("model",): "type decoder encoder vocab_size context_length bos_token_id eos_token_id pad_token_id",
    ("model", "decoder"): "session_options filename head_size hidden_size num_attention_heads num_hidden_layers "
    "num_key_value_heads inputs outputs pipeline sliding_window run_options layer_types conv_cache_size",
    ("model", "decoder", "inputs"): " ".join(INPUTS) + " past_names embeddings cross_past_key_names "
    "cross_past_value_names hidden_states past_conv_names encoder_hidden_states encoder_attention_mask block_table "
    "cumulative_sequence_lengths past_sequence_lengths",
    ("model", "decoder", "outputs"): " ".join(OUTPUTS) + " present_names rnn_states output_cross_qk_names "
    "hidden_states present_conv_names",
}

#: The parts of a model with files of their own.
PARTS = ("decoder", "encoder", "embedding", "vision", "speech", "joiner", "vad", "mtp", "draft")

#: The element types of masks and positions.
INTEGER_TYPES = ("int32", "int64")

#: The minimum similarity (0 to 1) of a misspelled key to the right one.
SIMILARITY = 0.8

#: The indices of the inputs that may be rotary tables. ``RotaryEmbedding`` has other indices in ``com.microsoft``.
ROTARY_TABLES = {"RotaryEmbedding": (2, 1), "GroupQueryAttention": (7,)}


@record
class Names:
    """The names of the inputs and outputs of a decoder, by the keys of the configuration."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def checked(path: str, text: str) -> Checked:
    """The findings about a ``genai_config.json``. Raises OSError if a model cannot be opened."""
    document = parsed(text)
    if isinstance(document, ConfigFault):
        return Checked(KIND, (document,))
    if document.of("model", "type") is None:
        return Checked(KIND, reason="it has no model.type: no configuration of ONNX Runtime GenAI")
    return Checked(KIND, tuple(_faults(path, document)))


def _faults(path: str, document: Document) -> Iterator[ConfigFault]:
    """The findings about the configuration, then about the decoder if it is a single readable model."""
    yield from _type(document)
    yield from _keys(document)
    yield from _numbers(document)
    for part in PARTS:
        yield from _files(os.path.dirname(path), document, ("model", part))
    if document.of("model", "type") == PIPELINE:
        yield from genai_pipeline.faults(document, lambda file: _readable(os.path.dirname(path), file))
    name = document.text("model", "decoder", "filename")
    if document.of("model", "type") not in DECODERS or document.of("model", "decoder", "pipeline"):
        return
    if name is None:
        message = "model.decoder names no file"
        yield refused(document, ("model", "decoder"), message, "add `filename`: the name of the model")
        return
    file = joined(os.path.dirname(path), name)
    if not is_file(file):
        return
    try:
        model = interface(file)
    except Unreadable as error:
        fault = FILE_MISSING.fault(f"{name} cannot be read: {error}", help=f"correct the model: irlint {name}")
        yield ConfigFault(fault, document.at("model", "decoder", "filename"))
        return
    yield from _decoder(document, model)


def _readable(folder: str, name: str) -> Interface | None:
    """The model in a file; None if it does not exist or cannot be read."""
    path = joined(folder, name)
    try:
        return interface(path) if is_file(path) else None
    except Unreadable:
        return None


def refused(document: Document, path: tuple[str | int, ...], message: str, help: str) -> ConfigFault:
    """The finding about a value that the library refuses."""
    return ConfigFault(FIELD_REFUSED.fault(message, help=help), document.at(*path))


def _type(document: Document) -> Iterator[ConfigFault]:
    """A warning about a type of model that release 0.18 does not have. Later releases may have it."""
    stated = document.text("model", "type") or ""
    if stated not in (*DECODERS, *OTHER_TYPES):
        close = closest(stated, [*DECODERS, *OTHER_TYPES])
        help = f"write `{close}`" if close is not None else "use a release of onnxruntime-genai that has it"
        found = refused(document, ("model", "type"), f"onnxruntime-genai 0.18 has no type of models `{stated}`", help)
        yield ConfigFault(found.fault.lowered(Severity.WARNING), found.span)


def _keys(document: Document) -> Iterator[ConfigFault]:
    """The findings about misspelled keys. Other unknown keys may be keys of later releases."""
    for path, known in COMMON_KEYS.items():
        found = document.of(*path)
        names = known.split()
        for key in found if isinstance(found, dict) else ():
            close = closest(key, names, SIMILARITY) if key not in names else None
            if close is not None:
                help = "remove it" if close in found else f"write `{close}`"
                yield refused(document, (*path, key), f"there is no key `{key}` in {path[-1]}", help)


def _numbers(document: Document) -> Iterator[ConfigFault]:
    """The findings about vocab_size, context_length, eos_token_id and max_length."""
    if document.of("model", "type") not in DECODERS:
        return
    vocabulary = document.integer("model", "vocab_size")
    length = document.integer("model", "context_length")
    for key, number in (("vocab_size", vocabulary), ("context_length", length)):
        if number is None or number < 1:
            text = f"{key} is {number}" if number is not None else f"{key} is missing"
            yield refused(document, ("model", key), f"{text}, and has to be 1 or more", f"state {key} of the model")
    ends = document.of("model", "eos_token_id")
    for at, end in enumerate(ends if isinstance(ends, list) else [ends]):
        if isinstance(end, int) and vocabulary and not 0 <= end < vocabulary:
            path = ("model", "eos_token_id", at) if isinstance(ends, list) else ("model", "eos_token_id")
            yield refused(
                document, path, f"eos_token_id is {end}, and vocab_size is {vocabulary}", "correct one of them"
            )
    longest = document.integer("search", "max_length")
    if longest is not None and length and longest > length:
        message = f"max_length is {longest}, above context_length, {length}"
        found = refused(document, ("search", "max_length"), message, f"write at most {length}")
        yield ConfigFault(found.fault.lowered(Severity.WARNING), found.span)


def _files(folder: str, document: Document, path: tuple[str | int, ...]) -> Iterator[ConfigFault]:
    """The findings about missing models of a part, and of the stages in its pipeline."""
    name = document.text(*path, "filename")
    if name is not None and not is_file(joined(folder, name)):
        span = document.at(*path, "filename")
        models = [each for each in names_in(folder) if each.endswith(".onnx")]
        help = suggestion(name, models) if models else "add the model"
        yield ConfigFault(
            FILE_MISSING.fault(f"{path[-1]} names the file {name}, which does not exist", help=help), span
        )
    stages = document.of(*path, "pipeline")
    for at, stage in enumerate(stages if isinstance(stages, list) else ()):
        for key in stage if isinstance(stage, dict) else ():
            yield from _files(folder, document, (*path, "pipeline", at, key))


def _decoder(document: Document, model: Interface) -> Iterator[ConfigFault]:
    """The findings about the inputs, outputs and sizes of a decoder."""
    names = Names(_tensor_names(document, "inputs", INPUTS), _tensor_names(document, "outputs", OUTPUTS))
    if not document.text("model", "decoder", "inputs", "past_names"):
        yield from _caches(document, model, names)
    for kind, key, ends in (("inputs", "input_ids", model.inputs), ("outputs", "logits", model.outputs)):
        name = names.inputs[key] if kind == "inputs" else names.outputs[key]
        if by_name(name, ends) is None:
            yield _unknown(document, kind, key, name, ends)
    yield from _mask_and_positions(document, model, names)
    yield from _unfed_inputs(document, model, names)
    yield from _logits(document, model, names)
    yield from _rotary_tables(document, model)


def _tensor_names(document: Document, kind: str, defaults: Mapping[str, str]) -> dict[str, str]:
    """The names of the inputs or outputs of the decoder, by key."""
    found = document.of("model", "decoder", kind)
    stated = {key: name for key, name in found.items() if isinstance(name, str)} if isinstance(found, dict) else {}
    return {**defaults, **stated}


def _unknown(document: Document, kind: str, key: str, name: str, ends: tuple[Reported, ...]) -> ConfigFault:
    help = suggestion(name, [each.name for each in ends])
    fault = UNKNOWN_TENSOR.fault(f"the model has no {kind[:-1]} `{name}`, the name of {key}", help=help)
    return ConfigFault(fault, document.at("model", "decoder", kind, key), name)


def _cached_layers(template: str, ends: tuple[Reported, ...]) -> list[int]:
    """The sorted layer numbers in the names of caches that match a template such as ``past_key_values.%d.key``."""
    before, percent, after = template.partition("%d")
    if not percent:
        return []
    pattern = re.compile(re.escape(before) + r"(\d{1,6})" + re.escape(after))
    return sorted(int(found[1]) for each in ends if (found := pattern.fullmatch(each.name)) is not None)


def _caches(document: Document, model: Interface, names: Names) -> Iterator[ConfigFault]:
    """The findings about the names, layers and sizes of caches."""
    layers = _cached_layers(names.inputs["past_key_names"], model.inputs)
    if not layers:
        return
    for kind, key, ends in (
        ("inputs", "past_value_names", model.inputs),
        ("outputs", "present_key_names", model.outputs),
        ("outputs", "present_value_names", model.outputs),
    ):
        template = names.inputs[key] if kind == "inputs" else names.outputs[key]
        absent = [layer for layer in layers if by_name(template.replace("%d", str(layer)), ends) is None]
        if absent:
            yield _unknown(document, kind, key, template.replace("%d", str(absent[0])), ends)
    path = ("model", "decoder", "num_hidden_layers")
    stated = document.integer(*path)
    if stated is not None and stated != len(layers):
        cached = f"{counted(len(layers), 'layer')} ({first_few(layers, 4)})"
        message = f"num_hidden_layers is {stated}, and the model has caches of {cached}"
        first = by_name(names.inputs["past_key_names"].replace("%d", str(layers[0])), model.inputs)
        yield _warning(document, path, message, f"write `{len(layers)}`", shown(model.file, first) if first else ())
    yield from _cache_sizes(document, model, names, layers)


def _warning(
    document: Document, path: tuple[str | int, ...], message: str, help: str, related: tuple[Related, ...] = ()
) -> ConfigFault:
    fault = SHAPE_MISMATCH.fault(message, help=help).lowered(Severity.WARNING)
    return ConfigFault(fault, document.at(*path), related=related)


def _cache_sizes(document: Document, model: Interface, names: Names, layers: list[int]) -> Iterator[ConfigFault]:
    """The findings about sizes in the configuration that no cache has, or with which the model has errors.

    A cache is [batch, num_key_value_heads, past, head_size].
    """
    shapes: dict[str, tuple[Dim | None, ...]] = {}
    for axis, key in ((1, "num_key_value_heads"), (3, "head_size")):
        path = ("model", "decoder", key)
        stated = document.integer(*path)
        found: set[int] = set()
        for layer in layers:
            for template in (names.inputs["past_key_names"], names.inputs["past_value_names"]):
                end = by_name(template.replace("%d", str(layer)), model.inputs)
                if end is None or end.sizes is None or len(end.sizes) != 4:
                    continue
                size = end.sizes[axis]
                if size is not None and size > 0:
                    found.add(size)
                elif stated is not None and stated > 0:
                    before = shapes.get(end.name, (None,) * 4)
                    shapes[end.name] = tuple(stated if at == axis else dim for at, dim in enumerate(before))
        if stated is not None and found and stated not in found:
            text = " and ".join(map(str, sorted(found)))
            message = f"{key} is {stated}, and the caches of the model have {text}"
            first = by_name(names.inputs["past_key_names"].replace("%d", str(layers[0])), model.inputs)
            help = f"write `{text}`" if len(found) == 1 else "write one of these sizes"
            yield _warning(document, path, message, help, shown(model.file, first) if first else ())
    errors = new_errors(model, inferred(model.known.model, shapes)) if shapes else []
    if errors:
        sizes = {key: document.integer("model", "decoder", key) for key in ("num_key_value_heads", "head_size")}
        text = " and ".join(f"{key} {number}" for key, number in sizes.items() if number is not None)
        message = f"the model does not run with {text}: {errors[0].fault.message}"
        node = errors[0].node
        related = () if node is None else (Related(node.label, errors[0].fault.message),)
        fault = SHAPE_MISMATCH.fault(message, help="state the sizes of the model's caches")
        yield ConfigFault(fault, document.at("model", "decoder", "num_key_value_heads"), related=related)


def _mask_and_positions(document: Document, model: Interface, names: Names) -> Iterator[ConfigFault]:
    """A finding about the element types of the mask and the positions. The library feeds both in the same type."""
    found = [
        (key, end)
        for key in ("attention_mask", "position_ids")
        if (end := by_name(names.inputs[key], model.inputs)) is not None and end.dtype is not None
    ]
    for key, end in found:
        if end.dtype not in INTEGER_TYPES:
            message = f"the input `{end.name}` is {end.dtype}, and the library feeds int32 or int64"
            fault = TYPE_MISMATCH.fault(message, help="export the model with int64")
            span = document.at("model", "decoder", "inputs", key)
            yield ConfigFault(fault, span, end.name, shown(model.file, end))
            return
    if len({end.dtype for _, end in found}) > 1:
        text = " and ".join(f"`{end.name}` is {end.dtype}" for _, end in found)
        fault = TYPE_MISMATCH.fault(f"{text}; the library feeds both in one type", help="export both with int64")
        span = document.at("model", "decoder", "inputs", "position_ids")
        yield ConfigFault(fault, span, found[1][1].name, shown(model.file, found[1][1]))


def _unfed_inputs(document: Document, model: Interface, names: Names) -> Iterator[ConfigFault]:
    """The findings about used inputs that the library does not feed.

    A finding is an error if the input has the default name of a key, and the configuration states another name.
    """
    graph = model.known.model.graph
    used = {value for each in graphs(model.known.model) for node in each.nodes for value in node.inputs}
    fed = list(names.inputs.values())
    reported = {key for key in ("input_ids",) if by_name(names.inputs[key], model.inputs) is None}
    if _cached_layers(names.inputs["past_key_names"], model.inputs):
        reported.add("past_value_names")
    by_value = {value.name: value for value in graph.inputs} if graph is not None else {}
    for end in model.inputs:
        value = by_value.get(end.name)
        if end.optional or value not in used or end.name.startswith(SET_WITHOUT_KEY):
            continue
        if any(_is_named(end.name, each) for each in fed):
            continue
        key = next((key for key, name in INPUTS.items() if _is_named(end.name, name)), "")
        if key in reported:
            continue
        reported |= {key} if key else set()
        message = f"the library does not feed the input `{end.name}` of the model"
        if key:
            message += f", because {key} is `{names.inputs[key]}`"
            help = f"write `{key}: {INPUTS[key]}`"
            fault = INPUTS_MISSING.fault(message, help=help)
        else:
            help = "name it in model.decoder.inputs, or feed it with set_model_input"
            fault = INPUTS_MISSING.fault(message, help=help).lowered(Severity.WARNING)
        span = document.at("model", "decoder", "inputs", key)
        yield ConfigFault(fault, span, end.name, shown(model.file, end))


def _is_named(name: str, template: str) -> bool:
    """Whether a name matches a template, with the number of a layer in place of ``%d``."""
    before, percent, after = template.partition("%d")
    if not percent:
        return name == template
    return name.startswith(before) and name.endswith(after) and name[len(before) : len(name) - len(after)].isdecimal()


def _logits(document: Document, model: Interface, names: Names) -> Iterator[ConfigFault]:
    """A finding if the last axis of the logits is not ``vocab_size``."""
    end = by_name(names.outputs["logits"], model.outputs)
    stated = document.integer("model", "vocab_size")
    if end is None or not end.sizes or not stated:
        return
    size = end.sizes[-1]
    if size is not None and size > 0 and size != stated:
        message = f"vocab_size is {stated}, and the last axis of `{end.name}` is {size}"
        fault = SHAPE_MISMATCH.fault(message, help=f"write `vocab_size: {size}`")
        yield ConfigFault(fault, document.at("model", "vocab_size"), end.name, shown(model.file, end))


def _rotary_tables(document: Document, model: Interface) -> Iterator[ConfigFault]:
    """A warning if ``context_length`` exceeds the rows of every rotary table."""
    stated = document.integer("model", "context_length")
    rows: dict[str, int] = {}
    for graph in graphs(model.known.model):
        constants: Mapping[object, Constant] = graph.constants  # type: ignore[assignment]
        for node in graph.nodes:
            for at in ROTARY_TABLES.get(node.op, ()):
                value = node.inputs[at] if at < len(node.inputs) else None
                shape = constants[value].tensor.shape if value is not None and value in constants else None
                if value is not None and shape is not None and len(shape) == 2 and isinstance(shape[0], int):
                    rows[value.name] = shape[0]
    if stated is not None and rows and stated > max(rows.values()):
        name, most = max(rows.items(), key=lambda each: each[1])
        message = f"context_length is {stated}, and the rotary table `{name}` has {most} rows"
        yield _warning(document, ("model", "context_length"), message, f"write `{most}`, or export a longer table")
