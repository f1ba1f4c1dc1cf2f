"""OpenVINO GenAI: the folder of a language model, as ``LLMPipeline`` of openvino_genai 2026.4 uses it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from irlint.findings.faults import Severity
from irlint.folders.beside import Interface, Stated, Unreadable, by_name, interface, suggestion
from irlint.folders.rules import FILE_MISSING, INPUTS_MISSING, SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import Checked, Disagreement

KIND = "openvino-genai"

MODEL = "openvino_model.xml"

#: What the pipeline feeds, with the element types.
FED = {"input_ids": "int64", "attention_mask": "int64", "beam_idx": "int32"}

#: What it feeds where the model has it.
ALSO_FED = {"position_ids": "int64", "token_type_ids": "int64"}

#: The output that it reads.
LOGITS = "logits"

#: The models that turn texts into tokens and back, with what they take and give.
TOKENIZERS = {"openvino_tokenizer.xml": "input", "openvino_detokenizer.xml": "output"}

#: The operation that reads a state.
STATE = "ReadValue"


def checked(path: str, text: str) -> Checked:
    """What the pipeline refuses of a folder. Raises OSError where a model cannot be opened."""
    folder = os.path.dirname(path)
    try:
        model = interface(os.path.join(folder, MODEL))
    except Unreadable:
        return Checked(KIND, reason=f"{MODEL} cannot be read, as its own check says")
    if not _has_state(model) and by_name("beam_idx", model.inputs) is None:
        return Checked(KIND, reason=f"{MODEL} has neither a state nor beam_idx: no model of a text generation pipeline")
    return Checked(KIND, (*_found(model), *_tokenizers(folder)))


def _has_state(model: Interface) -> bool:
    graph = model.known.model.graph
    return graph is not None and any(node.op == STATE for node in graph.nodes)


def _found(model: Interface) -> Iterator[Disagreement]:
    for name, dtype in {**FED, **ALSO_FED}.items():
        end = by_name(name, model.inputs)
        if end is None and name in FED:
            help = suggestion(name, _names(model.inputs))
            fault = UNKNOWN_TENSOR.fault(f"{MODEL} has no input `{name}`, which LLMPipeline feeds", help=help)
            yield Disagreement(fault, value=name)
        elif end is not None and end.dtype not in (dtype, None):
            message = f"the input `{name}` of {MODEL} is {end.dtype}, and LLMPipeline feeds {dtype}"
            yield Disagreement(TYPE_MISMATCH.fault(message, help=f"convert the model with {dtype}"), value=name)
    if by_name(LOGITS, model.outputs) is None:
        help = suggestion(LOGITS, _names(model.outputs))
        fault = UNKNOWN_TENSOR.fault(f"{MODEL} has no output `{LOGITS}`, which LLMPipeline reads", help=help)
        yield Disagreement(fault, value=LOGITS)
    if not _has_state(model):
        message = (
            f"{MODEL} has beam_idx and no state: LLMPipeline feeds one token at a time, and the model forgets the rest"
        )
        help = "convert the model again, with a state for its cache"
        yield Disagreement(INPUTS_MISSING.fault(message, help=help).lowered(Severity.WARNING))
    if by_name(LOGITS, model.outputs) is not None:
        yield from _rank(model)


def _rank(model: Interface) -> Iterator[Disagreement]:
    logits = by_name(LOGITS, model.outputs)
    if logits is not None and logits.sizes is not None and len(logits.sizes) != 3:
        message = (
            f"`{LOGITS}` of {MODEL} has rank {len(logits.sizes)}, and LLMPipeline reads [batch, sequence, vocabulary]"
        )
        yield Disagreement(SHAPE_MISMATCH.fault(message, help="convert the model again"), value=LOGITS)


def _names(ends: tuple[Stated, ...]) -> list[str]:
    return [each.name for each in ends]


def _tokenizers(folder: str) -> Iterator[Disagreement]:
    for name in TOKENIZERS:
        if not os.path.isfile(os.path.join(folder, name)):
            message = f"there is no {name}: LLMPipeline takes and gives tokens only, no texts"
            help = "run convert_tokenizer of openvino_tokenizers, with --with-detokenizer"
            yield Disagreement(FILE_MISSING.fault(message, help=help).lowered(Severity.WARNING))
