"""Checks configurations in the folders of models against these models."""

from __future__ import annotations

import os

from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irlint.folders.statements import Checked

#: The module that checks each configuration, by file name.
MODULES = {
    "config.pbtxt": "triton",
    "genai_config.json": "genai",
    "config.json": "huggingface",
    "preprocessor_config.json": "huggingface",
}

#: Names that other programs also use.
COMMON = ("config.json", "preprocessor_config.json")


def is_configuration(path: str) -> bool:
    """Whether a file has the name of a known configuration."""
    return os.path.basename(path) in MODULES


def is_beside_models(path: str) -> bool:
    """Whether a configuration is about models. For a name of ``COMMON``, a model must be in the same folder or in the
    subfolder ``onnx``."""
    if os.path.basename(path) not in COMMON:
        return True
    from irlint.folders.huggingface import model_files

    return bool(model_files(os.path.dirname(path))) or _is_beside_openvino_model(path)


def _is_beside_openvino_model(path: str) -> bool:
    if os.path.basename(path) != "config.json":
        return False
    from irlint.folders.places import is_file, joined

    return is_file(joined(os.path.dirname(path), "openvino_model.xml"))


def checked(path: str, text: str) -> Checked:
    """The findings about the configuration at ``path``. Raises OSError if a file beside it cannot be opened."""
    from importlib import import_module

    from irlint.folders.huggingface import model_files

    module = MODULES[os.path.basename(path)]
    if module == "huggingface" and _is_beside_openvino_model(path) and not model_files(os.path.dirname(path)):
        module = "openvino_genai"
    found: Checked = import_module(f"{__name__}.{module}").checked(path, text)
    return found
