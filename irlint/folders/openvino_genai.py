"""OpenVINO GenAI: the folder of a language model, as ``LLMPipeline`` of openvino_genai 2026.4 uses it.

Sources: ``llm/pipeline.cpp``, ``lm_encoding.cpp`` and ``tokenizer/tokenizer_impl.cpp`` of that release. On CPU the
pipeline uses paged attention if it can, which needs neither the mask nor the beam indices. Findings about these inputs
are warnings.
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

#: The inputs that the pipeline always feeds, with their element types.
FED = {"input_ids": "int64", "attention_mask": "int64", "beam_idx": "int32"}

#: The inputs that the pipeline feeds if the model has them.
ALSO_FED = {"position_ids": "int64", "token_type_ids": "int64"}

#: The inputs that paged attention removes from the model.
REMOVED = ("attention_mask", "beam_idx")

#: The output that the pipeline reads.
LOGITS = "logits"

#: The operation that reads a state.
STATE = "ReadValue"


@record
class Converter:
    """The model of a tokenizer or detokenizer.

    ``accepts`` is the element type of its input. ``returns`` are the element types of the outputs that the pipeline
    reads, by name; the name "" means the only output. ``without`` states in messages what the pipeline does without
    the model, and ``option`` is the end of the help to convert the model.
    """

    file: str
    accepts: str
    returns: Mapping[str, str]
    without: str
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
    """The findings about a ``config.json`` with this text and the models beside it.

    Raises OSError if a model cannot be opened.
    """
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
    return Checked(KIND, (*_ends(document), *_found(model), *_converters(folder)))


def _ends(document: Document) -> Iterator[ConfigFault]:
    """A finding for each token id that is a text."""
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
    """The inputs or outputs by the names of their tensors; the pipeline knows no names of layers."""
    return {name: each for each in ends for name in each.tensors}


def _found(model: Interface) -> Iterator[ConfigFault]:
    """The findings about the language model itself."""
    yield from _fed(model)
    yield from _unfed(model)
    if not _has_state(model):
        message = (
            f"{MODEL} has beam_idx and no state: LLMPipeline feeds one token at a time, and the model forgets the rest"
        )
        help = "convert the model again, with a state for its cache"
        yield ConfigFault(INPUTS_MISSING.fault(message, help=help).lowered(Severity.WARNING))
    yield from _read(model)


def _fed(model: Interface) -> Iterator[ConfigFault]:
    """A finding for each input that the pipeline feeds, if the model lacks it or has another element type."""
    known = _tensors(model.inputs)
    for name, dtype in {**FED, **ALSO_FED}.items():
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
    """The fault of an input; a warning if paged attention removes the input."""
    return fault.lowered(Severity.WARNING) if name in REMOVED else fault


def _unfed(model: Interface) -> Iterator[ConfigFault]:
    """A warning for each input that the pipeline does not feed. Nothing if the model lacks an input that the pipeline
    feeds, because the two may be one input under different names."""
    known = _tensors(model.inputs)
    if any(name not in known for name in FED):
        return
    for end in model.inputs:
        if not any(name in (*FED, *ALSO_FED) for name in end.tensors):
            name = (*end.tensors, end.name)[0]
            help = suggestion(name, [each for each in ALSO_FED if each not in known])
            fault = INPUTS_MISSING.fault(f"LLMPipeline does not feed the input `{name}` of {MODEL}", help=help)
            yield ConfigFault(fault.lowered(Severity.WARNING), value=name, related=shown(MODEL, end))


def _read(model: Interface) -> Iterator[ConfigFault]:
    """A finding if the model lacks the output that the pipeline reads, or if it has another rank than 3."""
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
    """The findings about the tokenizer and the detokenizer."""
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
        yield from _converted(each, model, help)


def _converted(converter: Converter, model: Interface, help: str) -> Iterator[ConfigFault]:
    """The findings about a tokenizer or detokenizer with other inputs or outputs than the pipeline uses. If the input
    has a wrong element type, only this is reported."""
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
