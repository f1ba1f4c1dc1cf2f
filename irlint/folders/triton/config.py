"""Parses a ``config.pbtxt``, and finds the backend, the model file and the versions that the server chooses.

Sources: ``AutoCompleteBackendFields`` in the server core's ``model_config_utils.cc``, ``VersionsToLoad`` in its
``model_lifecycle.cc``.
"""

from __future__ import annotations

import os
import re

from irlint.findings.wording import bounded, closest
from irlint.folders.places import absolute, folders_in, is_folder, joined, names_in
from irlint.folders.rules import NOT_PARSED
from irlint.folders.statements import ConfigFault, Span
from irlint.folders.textproto import Places, places
from irlint.folders.triton.schema import ENUMS, MESSAGES, enum_values, model_config
from irlint.lazy_typing import Any
from irlint.parsers.opening import is_url
from irlint.records import record

#: The platform of an ensemble.
ENSEMBLE = "ensemble"

#: Numbers that protobuf's parser in Python accepts, and its parser in C++ refuses.
PYTHON_NUMBER = re.compile(r"-?(0[bBoO]|[0-9][0-9a-fA-FxX]*_)")


@record
class Backend:
    """A backend, and how the server chooses it."""

    name: str
    #: The name of the model file.
    filename: str
    platforms: tuple[str, ...] = ()


#: The backends, in the order in which the server tries them.
BACKENDS = (
    Backend("tensorflow", "model.savedmodel", ("tensorflow_savedmodel", "tensorflow_graphdef")),
    Backend("tensorflow", "model.graphdef"),
    Backend("tensorrt", "model.plan", ("tensorrt_plan",)),
    Backend("onnxruntime", "model.onnx", ("onnxruntime_onnx",)),
    Backend("openvino", "model.xml"),
    Backend("pytorch", "model.pt", ("pytorch_libtorch", "libtorch")),
    Backend("pytorch", "model.pt2", ("torch_aoti",)),
    Backend("python", "model.py"),
)


@record(eq=False)
class Config:
    """A configuration with the values that the server adds."""

    path: str
    #: The protobuf message ``ModelConfig``.
    message: Any
    places: Places
    #: "" if the server finds no backend.
    backend: str
    #: The name of the model file.
    filename: str
    #: The version folders that the server loads, the latest version first.
    versions: tuple[str, ...]
    all_versions: tuple[str, ...]
    #: The files in the first subfolder, from which the server may choose the backend.
    first_files: frozenset[str]
    #: Whether ``max_batch_size`` is not in the file, but is the value that the server sets.
    is_completed: bool = False

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    @property
    def name(self) -> str:
        """The name of the folder, which is the name of the model."""
        return os.path.basename(absolute(self.folder))

    @property
    def is_ensemble(self) -> bool:
        return bool(self.message.platform == ENSEMBLE)

    @property
    def has_batches(self) -> bool:
        return bool(self.message.max_batch_size > 0)

    def at(self, *path: str | int) -> Span:
        """The position of a field. If it does not exist, the position of the innermost message on its path."""
        return self.places.of(*path)

    def model_file(self, version: str) -> str:
        """The path of the model of a version. If this path is a folder, the model is the file of the same name in
        it."""
        path = joined(self.folder, version, self.filename)
        return joined(path, self.filename) if is_folder(path) else path


def parsed(path: str, text: str) -> Config | ConfigFault:
    """The configuration at ``path``, or its fault if the server cannot parse it."""
    from google.protobuf import text_format

    message = model_config()()
    try:
        text_format.Parse(text, message)
    except text_format.ParseError as error:
        return _not_parsed(error, text)
    except ValueError as error:
        # A number in a list is out of range. The error has no position.
        return _out_of_range(str(error), text)
    positions = places(text)
    for field, token in positions.texts.items():
        if PYTHON_NUMBER.match(token):
            fault = NOT_PARSED.fault(f"`{token}` is no number", help="write it in decimal digits")
            return ConfigFault(fault, positions.of(*field))
    versions = _versions(os.path.dirname(path))
    files = _first_files(os.path.dirname(path))
    backend, filename = _backend_and_filename(message, files)
    return Config(path, message, positions, backend, filename, _loaded_versions(message, versions), versions, files)


def _not_parsed(error: Any, text: str) -> ConfigFault:
    """The fault of a text that protobuf refuses. For an unknown field or value, the help names known ones."""
    line, column = error.GetLine() or 1, error.GetColumn() or 1
    reason = bounded(re.sub(r"^\d+:\d+ : ('.*': )?", "", str(error), flags=re.S).rstrip("."))
    reason = reason.replace("inference.", "")
    unknown = re.search(r'"(\w+)" has no (?:field|value) named "?(\w+)', reason)
    names: list[str] = []
    if unknown is not None:
        owner = unknown[1]
        names = enum_values(owner) if owner in ENUMS else [each.split(":")[0] for each in MESSAGES[owner].split()]
    close = closest(unknown[2], names) if unknown is not None else None
    length = len(unknown[2]) if unknown is not None else 1
    help = (
        f"write `{close}`" if close is not None else "correct the syntax; one field is `name: value` or `name { ... }`"
    )
    if unknown is not None and close is None:
        help = f"use one of {', '.join(names)}" if len(names) < 20 else "remove it"
    return ConfigFault(NOT_PARSED.fault(reason, help=help), Span(line, column, line, column + length))


def _out_of_range(reason: str, text: str) -> ConfigFault:
    found = re.search(r"-?\d+", reason)
    at = text.find(found[0]) if found is not None else -1
    if found is None or at < 0:
        return ConfigFault(NOT_PARSED.fault(reason, help="correct the value"))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    help = "write a number in the range of the field"
    return ConfigFault(NOT_PARSED.fault(reason, help=help), Span(line, column, line, column + len(found[0])))


def _versions(folder: str) -> tuple[str, ...]:
    """The names of the version folders in the folder of a model, the latest version first."""
    names = [each for each in _subfolders(folder) if re.fullmatch(r"0|[1-9]\d{0,18}", each)]
    return tuple(sorted(names, key=int, reverse=True))


def is_in_version(path: str) -> bool:
    """Whether a configuration is in the folder of a version: the folder's name is a number, and it has no version
    folders."""
    folder = absolute(os.path.dirname(path))
    return os.path.basename(folder).isdecimal() and not _versions(folder)


def _subfolders(folder: str) -> list[str]:
    try:
        return folders_in(folder)
    except OSError:
        if is_url(folder):
            raise
        return []


def _first_files(folder: str) -> frozenset[str]:
    folders = _subfolders(folder)
    return frozenset(files_in(joined(folder, folders[0])) if folders else ())


def files_in(folder: str) -> list[str]:
    """The names of the files and folders in a folder; [] if it cannot be read.

    Hidden files are omitted. ``.dvc`` files are omitted, because they stand for files that are fetched later.
    """
    try:
        names = names_in(folder)
    except OSError:
        return []
    return [each for each in names if not each.startswith(".") and not each.endswith(".dvc")]


def _loaded_versions(message: Any, versions: tuple[str, ...]) -> tuple[str, ...]:
    policy = message.version_policy
    if policy.HasField("specific"):
        specific = {str(each) for each in policy.specific.versions}
        return tuple(each for each in versions if each in specific)
    if policy.HasField("all"):
        return versions
    return versions[: policy.latest.num_versions if policy.HasField("latest") else 1]


def _backend_and_filename(message: Any, files: frozenset[str]) -> tuple[str, str]:
    """(backend or "", name of the model file or "")."""
    backend, platform, filename = message.backend, message.platform, message.default_model_filename
    if platform == ENSEMBLE:
        return "", ""
    if not backend:
        backend = next((each.name for each in BACKENDS if _is_chosen(each, platform, filename, files)), "")
    default = next((each.filename for each in BACKENDS if each.name == backend), "")
    return backend, filename or default


def _is_chosen(backend: Backend, platform: str, filename: str, files: frozenset[str]) -> bool:
    if platform or filename:
        return platform in backend.platforms or filename == backend.filename
    return backend.filename in files
