"""Compares ``config.json`` and ``preprocessor_config.json`` of Hugging Face's exports with the models.

Source: the pipelines of transformers and transformers.js, which name classes by ``id2label``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from irlint.contracts.changes import Change
from irlint.contracts.compared import Side, interface_changes
from irlint.contracts.contract import contract_of
from irlint.contracts.interface import inputs, outputs
from irlint.findings.faults import Severity
from irlint.findings.wording import counted
from irlint.folders import caches, exported_files, preprocessing
from irlint.folders.beside import Interface, Unreadable, by_name, interface, shown
from irlint.folders.json_text import Document, parsed
from irlint.folders.places import joined, names_in
from irlint.folders.rules import SHAPE_MISMATCH, TYPE_MISMATCH, UNKNOWN_TENSOR
from irlint.folders.statements import Checked, ConfigFault
from irlint.records import record, replaced

KIND = "huggingface"

PREPROCESSOR = "preprocessor_config.json"

#: The folders, relative to the configuration, in which exporters put models.
FOLDERS = ("", "onnx")

#: The endings of architectures whose output `logits` has the classes on the last axis.
CLASSIFIERS = (
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForImageClassification",
    "ForAudioClassification",
)

#: The endings of architectures whose output `logits` has the classes on axis 1.
SEGMENTERS = ("ForSemanticSegmentation",)

#: The rule for each kind of change with which a variant cannot replace its model.
RULES = {
    "input-removed": UNKNOWN_TENSOR,
    "input-added": UNKNOWN_TENSOR,
    "output-removed": UNKNOWN_TENSOR,
    "type-changed": TYPE_MISMATCH,
    "input-narrowed": SHAPE_MISMATCH,
    "output-changed": SHAPE_MISMATCH,
}


@record
class NamedModel:
    """A model with its path."""

    #: The path relative to the configuration.
    name: str
    model: Interface


def model_files(folder: str) -> list[str]:
    """The ONNX models in a folder and its subfolder ``onnx``, as paths relative to the folder."""
    found: list[str] = []
    for each in FOLDERS:
        try:
            names = names_in(joined(folder, each) if each else folder)
        except OSError:
            continue
        found += [f"{each}/{name}".lstrip("/") for name in names if name.lower().endswith(".onnx")]
    return found


def checked(path: str, text: str) -> Checked:
    """The findings about a configuration. Raises OSError if a model cannot be opened."""
    folder = os.path.dirname(path)
    files = model_files(folder)
    if not files:
        return Checked(KIND, reason="there is no ONNX model beside it or in the folder onnx")
    document = parsed(text)
    if not text.lstrip().startswith("{"):
        return Checked(KIND, reason="it is no JSON object: no configuration of transformers")
    if isinstance(document, ConfigFault):
        return Checked(KIND, (document,))
    if os.path.basename(path) == PREPROCESSOR:
        models = _models(folder, files)
        found = [each for named in models for each in preprocessing.faults(document, named.name, named.model)]
        return Checked(KIND, tuple(found))
    if document.text("model_type") is None:
        return Checked(KIND, reason="it has no model_type: no configuration of transformers")
    found = [
        *exported_files.missing_files(document, folder, files),
        *_configured(document, list(_models(folder, files))),
    ]
    return Checked(KIND, tuple(found))


def _models(folder: str, files: list[str]) -> Iterator[NamedModel]:
    """The readable models. Unreadable models are skipped, because the checks of the models report them."""
    for name in files:
        try:
            yield NamedModel(name, interface(joined(folder, name)))
        except Unreadable:
            continue


def _configured(document: Document, models: list[NamedModel]) -> Iterator[ConfigFault]:
    for each in models:
        yield from _classes(document, each)
        yield from caches.faults(document, each.name, each.model)
    yield from _variants(document, models)


def _classes(document: Document, named: NamedModel) -> Iterator[ConfigFault]:
    """The finding that the configuration has another number of classes than `logits`; a warning if it has more."""
    architecture = document.text("architectures", 0) or ""
    labels, key = document.of("id2label"), "id2label"
    count = len(labels) if isinstance(labels, dict) and labels else None
    if count is None:
        count, key = document.integer("num_labels"), "num_labels"
    logits = by_name("logits", named.model.outputs)
    if count is None or not architecture.endswith((*CLASSIFIERS, *SEGMENTERS)) or logits is None or not logits.sizes:
        return
    if architecture.endswith(SEGMENTERS) and len(logits.sizes) != 4:
        return
    size = logits.sizes[1 if architecture.endswith(SEGMENTERS) else -1]
    if size is None or size < 1 or size == count:
        return
    axis = "axis 1" if architecture.endswith(SEGMENTERS) else "the last axis"
    message = f"{key} has {counted(count, 'class', 'classes')}, and {axis} of `logits` in {named.name} is {size}"
    fault = SHAPE_MISMATCH.fault(message, help="name each class of the model, or export the model that belongs to it")
    fault = fault if size > count else fault.lowered(Severity.WARNING)
    yield ConfigFault(fault, document.at(key), "logits", shown(named.name, logits))


def _variants(document: Document, models: list[NamedModel]) -> Iterator[ConfigFault]:
    """A warning for each variant that cannot replace its model."""
    by_name = {each.name: each for each in models}
    for each in models:
        original = exported_files.VARIANT.sub("", each.name)
        if original != each.name and original in by_name:
            yield from _breaking_change(document, by_name[original], each)


def _breaking_change(document: Document, original: NamedModel, variant: NamedModel) -> Iterator[ConfigFault]:
    """A warning about the first change with which the variant cannot replace the original."""
    for change in interface_changes(_side(original.model), _side(variant.model)):
        if not change.breaking or change.kind not in RULES or _is_stated_cache(document, variant.name, change):
            continue
        message = f"{variant.name} against {original.name}: {change.message}"
        fault = RULES[change.kind].fault(message, help="export all variants from one model")
        yield ConfigFault(fault.lowered(Severity.WARNING), value=change.name)
        return


def _side(model: Interface) -> Side:
    # Quantization fuses nodes, so requirements of nodes are not compared.
    known = replaced(model.known, requires=())
    return Side(inputs(known), outputs(known), contract_of(known), known.model.symbols)


def _is_stated_cache(document: Document, file: str, change: Change) -> bool:
    """Whether a change is about a cache, and the configuration states the element type of caches for this variant."""
    types = document.of(exported_files.TRANSFORMERS_JS, "kv_cache_dtype")
    variant = exported_files.VARIANT.search(file)
    is_cache = change.name.startswith(("past_key_values.", "present."))
    return is_cache and isinstance(types, dict) and variant is not None and variant[1] in types
