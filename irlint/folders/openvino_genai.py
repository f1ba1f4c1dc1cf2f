"""OpenVINO GenAI: checks the folder of a language model for ``LLMPipeline`` of openvino_genai 2026.4.

Sources: ``llm/pipeline.cpp``, ``lm_encoding.cpp`` and ``tokenizer/tokenizer_impl.cpp`` of that release.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from irlint.findings.faults import Fault, Severity
from irlint.folders.beside import Interface, Reported, Unreadable, interface, shown, suggestion
from irlint.folders.json_text import Document, parsed
from irlint.folders.places import is_file, joined
from irlint.folders.rules import (
    FIELD_REFUSED,
    FILE_MISSING,
    INPUTS_MISSING,
    SHAPE_MISMATCH,
    TYPE_MISMATCH,
    UNKNOWN_TENSOR,
)
from irlint.folders.statements import Checked, ConfigFault
from irlint.records import record

KIND = "openvino-genai"

MODEL = "openvino_model.xml"

#: The element types of the inputs that the pipeline always feeds.
FED = {"input_ids": "int64", "attention_mask": "int64", "beam_idx": "int32"}

#: The element types of the inputs that the pipeline feeds if the model has them.
FED_IF_PRESENT = {"position_ids": "int64", "token_type_ids": "int64"}

#: The inputs that paged attention removes from the model. On CPU, the pipeline uses paged attention if it can, so
#: findings about these inputs are warnings.
REMOVED_BY_PAGED_ATTENTION = ("attention_mask", "beam_idx")

#: The output that the pipeline reads.
LOGITS = "logits"

#: The operation that reads a state.
STATE = "ReadValue"


@record
class Converter:
    """The model of a tokenizer or detokenizer."""

    file: str
    #: The element type of the input.
    accepts: str
    #: The element types of the outputs that the pipeline reads, by name. The name "" stands for the only output.
    returns: Mapping[str, str]
    #: What the pipeline does without the model.
    without: str
    #: An option of convert_tokenizer.
    option: str = ""


CONVERTERS = (
    Converter(
        "openvino_tokenizer.xml",
        "string",
        {"input_ids": "int64", "attention_mask": "int64"},
        "accepts only tokens, no texts",
    ),
    Converter(
        "openvino_detokenizer.xml",
        "int64",
        {"": "string"},
        "returns only tokens, no texts",
        " with --with-detokenizer",
    ),
)


def checked(path: str, text: str) -> Checked:
    """The findings about a ``config.json`` and the models beside it. Raises OSError if a model cannot be opened."""
    folder = os.path.dirname(path)
    try:
        model = interface(joined(folder, MODEL))
    except Unreadable:
        return Checked(KIND, reason=f"{MODEL} cannot be read, as the check of this file reports")
    if not _has_state(model) and "beam_idx" not in _tensors(model.inputs):
        return Checked(KIND, reason=f"{MODEL} has neither a state nor beam_idx: no model of a text generation pipeline")
    document = parsed(text)
    if isinstance(document, ConfigFault):
        return Checked(KIND, (document,))
    return Checked(KIND, (*_token_ids(document), *_model_faults(model), *_converters(folder)))


def _token_ids(document: Document) -> Iterator[ConfigFault]:
    for key in ("pad_token_id", "bos_token_id", "eos_token_id"):
        stated = document.text(key)
        if stated is not None:
            fault = FIELD_REFUSED.fault(
                f"{key} is a text, and has to be a number", help="write the number of the token"
            )
            yield ConfigFault(fault, document.at(key))


def _has_state(model: Interface) -> bool:
    graph = model.known.model.graph
    return graph is not None and any(node.op == STATE for node in graph.nodes)


def _tensors(ends: tuple[Reported, ...]) -> dict[str, Reported]:
    """The inputs or outputs by the names that the pipeline knows."""
    return {name: each for each in ends for name in each.tensors}


def _model_faults(model: Interface) -> Iterator[ConfigFault]:
    yield from _fed_inputs(model)
    yield from _unfed_inputs(model)
    if not _has_state(model):
        message = (
            f"{MODEL} has beam_idx and no state: LLMPipeline feeds one token at a time, and the model forgets the rest"
        )
        help = "convert the model again, with a state for its cache"
        yield ConfigFault(INPUTS_MISSING.fault(message, help=help).lowered(Severity.WARNING))
    yield from _logits(model)


def _fed_inputs(model: Interface) -> Iterator[ConfigFault]:
    """The findings about fed inputs that the model lacks or that have another element type."""
    known = _tensors(model.inputs)
    for name, dtype in {**FED, **FED_IF_PRESENT}.items():
        end = known.get(name)
        if end is None and name in FED:
            help = suggestion(name, list(known))
            fault = UNKNOWN_TENSOR.fault(f"{MODEL} has no input `{name}`, which LLMPipeline feeds", help=help)
            yield ConfigFault(_with_severity(fault, name), value=name)
        elif end is not None and end.dtype not in (dtype, None):
            message = f"the input `{name}` of {MODEL} is {end.dtype}, and LLMPipeline feeds {dtype}"
            fault = TYPE_MISMATCH.fault(message, help=f"convert the model with {dtype}")
            yield ConfigFault(_with_severity(fault, name), value=name, related=shown(MODEL, end))


def _with_severity(fault: Fault, name: str) -> Fault:
    return fault.lowered(Severity.WARNING) if name in REMOVED_BY_PAGED_ATTENTION else fault


def _unfed_inputs(model: Interface) -> Iterator[ConfigFault]:
    known = _tensors(model.inputs)
    # An input that the pipeline does not feed may be a missing input under another name.
    if any(name not in known for name in FED):
        return
    for end in model.inputs:
        if not any(name in (*FED, *FED_IF_PRESENT) for name in end.tensors):
            name = (*end.tensors, end.name)[0]
            help = suggestion(name, [each for each in FED_IF_PRESENT if each not in known])
            fault = INPUTS_MISSING.fault(f"LLMPipeline does not feed the input `{name}` of {MODEL}", help=help)
            yield ConfigFault(fault.lowered(Severity.WARNING), value=name, related=shown(MODEL, end))


def _logits(model: Interface) -> Iterator[ConfigFault]:
    known = _tensors(model.outputs)
    logits = known.get(LOGITS)
    if logits is None:
        fault = UNKNOWN_TENSOR.fault(
            f"{MODEL} has no output `{LOGITS}`, which LLMPipeline reads", help=suggestion(LOGITS, list(known))
        )
        yield ConfigFault(fault, value=LOGITS)
    elif logits.sizes is not None and len(logits.sizes) != 3:
        rank = len(logits.sizes)
        message = f"`{LOGITS}` of {MODEL} has rank {rank}, and LLMPipeline reads [batch, sequence, vocabulary]"
        fault = SHAPE_MISMATCH.fault(message, help="convert the model again")
        yield ConfigFault(fault, value=LOGITS, related=shown(MODEL, logits))


def _converters(folder: str) -> Iterator[ConfigFault]:
    for each in CONVERTERS:
        help = f"run convert_tokenizer of openvino_tokenizers{each.option}"
        path = joined(folder, each.file)
        if not is_file(path):
            message = f"there is no {each.file}: LLMPipeline {each.without}"
            yield ConfigFault(FILE_MISSING.fault(message, help=help).lowered(Severity.WARNING))
            continue
        try:
            model = interface(path)
        except Unreadable:
            continue
        yield from _converter_faults(each, model, help)


def _converter_faults(converter: Converter, model: Interface, help: str) -> Iterator[ConfigFault]:
    """The findings about the inputs and outputs of a tokenizer or detokenizer."""
    first = model.inputs[0] if model.inputs else None
    if first is not None and first.dtype not in (converter.accepts, None):
        message = f"the input of {converter.file} is {first.dtype}, and LLMPipeline feeds {converter.accepts}"
        fault = TYPE_MISMATCH.fault(message, help=help)
        yield ConfigFault(fault, value=first.name, related=shown(converter.file, first))
        return
    known = _tensors(model.outputs)
    if len(model.outputs) == 1:
        known[""] = model.outputs[0]
    for name, dtype in converter.returns.items():
        end = known.get(name)
        if end is None and name:
            message = f"{converter.file} has no output `{name}`, which LLMPipeline reads"
            yield ConfigFault(UNKNOWN_TENSOR.fault(message, help=help), value=name)
        elif end is not None and end.dtype not in (dtype, None):
            message = (
                f"the output `{name or end.name}` of {converter.file} is {end.dtype}, and LLMPipeline reads {dtype}"
            )
            fault = TYPE_MISMATCH.fault(message, help=help)
            yield ConfigFault(fault, value=name or end.name, related=shown(converter.file, end))
