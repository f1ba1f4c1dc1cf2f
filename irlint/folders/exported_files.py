"""Finds missing files of Hugging Face's exported models: encoders, decoders, and external data.

Sources: optimum's ``ORTModelForSeq2SeqLM``; ``constructSessions`` of transformers.js 3. The data files of a model are
``NAME_data``, ``NAME_data_1`` and so on. The configuration states their number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from irlint.findings.faults import Severity
from irlint.folders.json_text import Document
from irlint.folders.places import is_file, joined
from irlint.folders.rules import FILE_MISSING
from irlint.folders.statements import ConfigFault

#: The suffix of a variant of a model, in front of ``.onnx``.
VARIANT = re.compile(r"_(fp16|quantized|int8|uint8|q4|q4f16|q8|bnb4|O[1-4]|optimized)(?=\.onnx$)")

#: The key of the settings for transformers.js.
TRANSFORMERS_JS = "transformers.js_config"


def missing_files(document: Document, folder: str, files: list[str]) -> Iterator[ConfigFault]:
    """The findings about missing files of the models beside a configuration."""
    yield from _missing_parts(document, files)
    for file in files:
        yield from _missing_data(document, folder, file)


def _missing_parts(document: Document, files: list[str]) -> Iterator[ConfigFault]:
    """A warning if an encoder-decoder lacks its encoder or a decoder."""
    if document.of("is_encoder_decoder") is not True:
        return
    names = {os.path.basename(VARIANT.sub("", each)).removesuffix(".onnx") for each in files}
    encoder = "encoder_model" in names
    decoders = [each for each in names if each.startswith("decoder")]
    if encoder and not decoders:
        yield _missing_part(document, "encoder_model.onnx has neither decoder_model_merged.onnx nor decoder_model.onnx")
    elif decoders and not encoder:
        yield _missing_part(document, f"{min(decoders)}.onnx has no encoder_model.onnx")
    elif decoders == ["decoder_with_past_model"]:
        yield _missing_part(document, "decoder_with_past_model.onnx has no decoder_model.onnx for the first token")
    elif decoders == ["decoder_model"] and document.of("use_cache") is True:
        yield _missing_part(document, "decoder_model.onnx has no decoder_with_past_model.onnx for later tokens")


def _missing_part(document: Document, message: str) -> ConfigFault:
    fault = FILE_MISSING.fault(f"{message} beside it", help="export the model again, with all its parts")
    return ConfigFault(fault.lowered(Severity.WARNING), document.at("architectures"))


def _missing_data(document: Document, folder: str, file: str) -> Iterator[ConfigFault]:
    """A warning about the first missing data file of a model."""
    # One number for all models, or a number by name.
    count = document.of(TRANSFORMERS_JS, "use_external_data_format")
    name = os.path.basename(file)
    path: tuple[str | int, ...] = (TRANSFORMERS_JS, "use_external_data_format")
    if isinstance(count, dict):
        key = next((each for each in (name, VARIANT.sub("", name).removesuffix(".onnx")) if each in count), None)
        if key is None:
            return
        count, path = count[key], (*path, key)
    if not isinstance(count, int):
        return
    for at in range(int(count)):
        data = f"{file}_data{f'_{at}' if at else ''}"
        if not is_file(joined(folder, data)):
            fault = FILE_MISSING.fault(
                f"transformers.js reads {data} with {name}, and it does not exist",
                help="add the file, or correct the number of files of this model",
            )
            yield ConfigFault(fault.lowered(Severity.WARNING), document.at(*path))
            return
