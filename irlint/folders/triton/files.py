"""Checks the files and data of a configuration: labels, warm-up requests and initial states.

Sources: ``Model::Init`` in the server core's ``model.cc``, ``GenerateWarmupData`` in its ``backend_model_instance.cc``,
``GenerateInitialStateData`` in its ``sequence_batch_scheduler.cc``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod

from irlint.findings.wording import counted
from irlint.folders.places import is_file, is_inside, joined, size_of
from irlint.folders.rules import FILE_MISSING
from irlint.folders.statements import ConfigFault, Span
from irlint.folders.triton.config import Config
from irlint.folders.triton.fields import ANY, refused
from irlint.folders.triton.schema import value_name
from irlint.lazy_typing import Any

#: The bytes of an element, by the suffix of its type.
BYTES = {"BOOL": 1, "8": 1, "16": 2, "32": 4, "64": 8}


def missing(span: Span, message: str, help: str = "add the file, or correct the name") -> ConfigFault:
    """The finding about a missing file or folder."""
    return ConfigFault(FILE_MISSING.fault(message, help=help), span)


def file_faults(config: Config) -> Iterator[ConfigFault]:
    """The findings about files of labels, warm-up inputs and initial states."""
    yield from _labels(config)
    for at, request in enumerate(config.message.model_warmup):
        for key, given in sorted(request.inputs.items()) if request.batch_size else ():
            span = config.places.of_key(("model_warmup", at), "inputs", key)
            if given.WhichOneof("input_data_type") is None:
                yield refused(span, f"the warm-up input `{key}` has no data", "add `random_data: true`")
            label = f"the warm-up input `{key}`"
            yield from _data(config, span, f"warmup/{given.input_data_file}", given, label)
    for at, state in enumerate(config.message.sequence_batching.state):
        yield from _initial_state(config, at, state)


def _labels(config: Config) -> Iterator[ConfigFault]:
    for at, output in enumerate(config.message.output):
        name, span = output.label_filename, config.at("output", at, "label_filename", 0)
        if not name:
            continue
        path = joined(config.folder, name.lstrip("/"))
        if not is_file(path):
            yield missing(span, f"there is no file of labels {name}")
        elif not is_inside(path, config.folder):
            yield refused(
                span, f"the file of labels {name} is outside of the model's folder", "move the file into the folder"
            )


def _data(config: Config, span: Span, name: str, given: Any, label: str) -> Iterator[ConfigFault]:
    """A finding if a data file is missing, or too short for the shape that the configuration states."""
    if not os.path.basename(name):
        return
    path = joined(config.folder, name)
    if not is_file(path):
        yield missing(span, f"there is no file {name} for {label}")
        return
    kind = value_name("DataType", given.data_type)
    bytes_each = next((size for end, size in BYTES.items() if kind.endswith(end)), None)
    if bytes_each is not None and all(dim > 0 for dim in given.dims):
        needed, size = bytes_each * prod(given.dims), size_of(path)
        if size < needed:
            has = f"the file {name} for {label} has {counted(size, 'byte')}"
            text = f"{has}, and {kind} {list(given.dims)} needs {needed}"
            yield refused(span, text, f"write a file of {counted(needed, 'byte')}, or correct the dims")


def _initial_state(config: Config, at: int, state: Any) -> Iterator[ConfigFault]:
    span = config.at("sequence_batching", 0, "state", at, "initial_state", 0)
    label = f"the initial state of `{state.input_name}`"
    if len(state.initial_state) > 1:
        yield refused(span, f"{label} is given {len(state.initial_state)} times", "state it once")
        return
    for given in state.initial_state:
        dims, expected = list(given.dims), list(state.dims)
        if given.data_type != state.data_type:
            text = f"{label} is {value_name('DataType', given.data_type)}, "
            text += f"and the state is {value_name('DataType', state.data_type)}"
            yield refused(span, text, "make both types equal")
        if not given.name:
            yield refused(span, f"{label} has no name", "add `name`")
        if ANY in dims or len(dims) != len(expected) or any(b not in (a, ANY) for a, b in zip(dims, expected)):
            yield refused(span, f"{label} has the dims {dims}, and the state has {expected}", "write numbers that fit")
        if given.WhichOneof("state_data") is None:
            yield refused(span, f"{label} has no data", "add `zero_data: true`")
        yield from _data(config, span, f"initial_state/{given.data_file}", given, label)
