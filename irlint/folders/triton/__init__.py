"""Compares a ``config.pbtxt`` of a Triton model repository with the models in its version folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from irlint.folders.beside import Interface, Unreadable, interface
from irlint.folders.places import is_file, is_folder, joined
from irlint.folders.statements import Checked, ConfigFault
from irlint.folders.triton.config import Config, files_in, is_in_version, parsed
from irlint.folders.triton.fields import field_faults
from irlint.folders.triton.files import file_faults, missing
from irlint.folders.triton.settings import accelerator_faults, optional_faults, parameter_faults

KIND = "triton"

#: A placeholder that a script replaces.
TEMPLATE = re.compile(r"\$\{\w+\}|\{\{")


def checked(path: str, text: str) -> Checked:
    """The findings about a ``config.pbtxt``. Raises OSError if a file cannot be opened."""
    if TEMPLATE.search(text):
        return Checked(KIND, reason="it is a template, which a script fills in")
    if is_in_version(path):
        return Checked(KIND, reason="it is in the folder of a version, where the server does not read it")
    config = parsed(path, text)
    if isinstance(config, ConfigFault):
        return Checked(KIND, (config,))
    return Checked(KIND, tuple(_faults(config)))


def _faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about the fields and files, then about the model of each version. Equal findings are yielded
    once."""
    for check in (field_faults, file_faults, parameter_faults, accelerator_faults, optional_faults, _missing_versions):
        yield from check(config)
    if config.message.input and config.message.model_warmup:
        from irlint.folders.triton.sequences import warmup_faults

        yield from warmup_faults(config)
    if config.is_ensemble:
        from irlint.folders.triton.ensembles import ensemble_faults

        yield from ensemble_faults(config)
        return
    from irlint.folders.triton.tensors import BACKEND_RULES

    if config.backend in BACKEND_RULES:
        seen: set[tuple[str, str]] = set()
        for version in config.versions:
            for each in _version_faults(config, version):
                key = (each.fault.rule.code, each.fault.message)
                if key not in seen:
                    seen.add(key)
                    yield each


def _missing_versions(config: Config) -> Iterator[ConfigFault]:
    """The findings about missing version folders. They are warnings if the server loads another version, or if there is
    no version folder."""
    policy = config.message.version_policy
    if not config.all_versions:
        message = "there is no folder of a version, and the server loads no model without one"
        help = "put the model into a folder whose name is its version, such as 1"
        yield _warning(missing(config.at("name", 0), message, help))
        return
    for at, version in enumerate(policy.specific.versions):
        if str(version) not in config.all_versions:
            found = missing(
                config.at("version_policy", 0, "specific", 0, "versions", at),
                f"version_policy names the version {version}, of which there is no folder; "
                f"there are {', '.join(config.all_versions)}",
                "add the folder, or name versions that exist",
            )
            yield _warning(found) if config.versions else found
    if not config.versions and not policy.specific.versions:
        span = config.at("version_policy", 0)
        yield missing(span, "version_policy loads no version", "write `latest { num_versions: 1 }`")


def _warning(found: ConfigFault) -> ConfigFault:
    from irlint.findings.faults import Severity

    return ConfigFault(found.fault.lowered(Severity.WARNING), found.span, found.value)


def _version_faults(config: Config, version: str) -> Iterator[ConfigFault]:
    path = config.model_file(version)
    shown = f"{version}/{config.filename}"
    span = config.at("default_model_filename", 0)
    if os.path.isabs(config.filename) or os.pardir in config.filename.replace("\\", "/").split("/"):
        message = f"default_model_filename is {config.filename}, which leads out of the folder and is not followed"
        yield _warning(missing(span, message, "put the model into the folder of its version"))
        return
    if not (is_file(path) or is_folder(path)):
        names = files_in(joined(config.folder, version))
        models = [each for each in names if each.endswith((".onnx", ".xml"))]
        help = f'write `default_model_filename: "{models[0]}"`' if len(models) == 1 else "add the model"
        found = missing(span, f"the {config.backend} backend loads {shown}, which does not exist", help)
        yield found if names else _warning(found)
        return
    try:
        model = interface(path)
    except Unreadable as error:
        yield missing(span, f"{shown} cannot be read: {error}", f"correct the model: irlint {shown}")
        return
    yield from _model_faults(config, model)


def _model_faults(config: Config, model: Interface) -> Iterator[ConfigFault]:
    from irlint.folders.triton.completion import completed
    from irlint.folders.triton.requests import request_faults
    from irlint.folders.triton.sequences import sequence_faults, warmup_faults
    from irlint.folders.triton.tensors import tensor_faults

    config = completed(config, model)
    found = [*tensor_faults(config, model), *sequence_faults(config, model)]
    if not config.message.input:
        found += warmup_faults(config, model.inputs)
    yield from found
    # With a finding of these checks, the server does not load the model.
    if not found:
        yield from request_faults(config, model)
