"""Compares the stages of a pipeline of ONNX Runtime GenAI with their models.

Source: ``models/decoder_only_pipeline.cpp`` of onnxruntime-genai 0.18. The library feeds the inputs and requests the
outputs that the configuration lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.findings.faults import Severity
from irlint.folders.beside import Interface, by_name, shown, suggestion
from irlint.folders.json_text import Document, Path
from irlint.folders.rules import INPUTS_MISSING, UNKNOWN_TENSOR
from irlint.folders.statements import ConfigFault

#: The keys that determine when a stage runs. Both are true by default.
RUNS_ON = ("run_on_prompt", "run_on_token_gen")


def faults(document: Document, model: Callable[[str], Interface | None]) -> Iterator[ConfigFault]:
    """The findings about stages that run: a model lacks a listed input or output, or a stage does not list an input.

    ``model`` returns the model in a file; None if the file does not exist or cannot be read.
    """
    path: Path = ("model", "decoder", "pipeline")
    stages = document.of(*path)
    for at, stage in enumerate(stages if isinstance(stages, list) else ()):
        for key in stage if isinstance(stage, dict) else ():
            path_of_stage = (*path, at, key)
            name = document.text(*path_of_stage, "filename")
            found = None if name is None or _never_runs(document, path_of_stage) else model(name)
            if found is not None:
                yield from _stage_faults(document, path_of_stage, found)


def _never_runs(document: Document, path: Path) -> bool:
    return all(document.of(*path, key) is False for key in RUNS_ON)


def _stage_faults(document: Document, path: Path, model: Interface) -> Iterator[ConfigFault]:
    listed = (document.of(*path, key) for key in ("inputs", "outputs"))
    inputs, outputs = (each if isinstance(each, list) else [] for each in listed)
    for kind, names, ends in (("input", inputs, model.inputs), ("output", outputs, model.outputs)):
        for at, name in enumerate(names):
            if not isinstance(name, str) or by_name(name, ends) is not None:
                continue
            help = suggestion(name, [each.name for each in ends])
            fault = UNKNOWN_TENSOR.fault(f"{model.file} has no {kind} `{name}`", help=help)
            # The library does not feed an input without a value, so this name may do no harm.
            fault = fault.lowered(Severity.WARNING) if kind == "input" else fault
            yield ConfigFault(fault, document.at(*path, f"{kind}s", at), name)
    for end in model.inputs:
        if not end.optional and end.name not in inputs:
            message = f"the input `{end.name}` of {model.file} is not among the inputs of the stage"
            fault = INPUTS_MISSING.fault(message, help=f"add `{end.name}` to `inputs`")
            yield ConfigFault(fault, document.at(*path, "inputs"), end.name, shown(model.file, end))
