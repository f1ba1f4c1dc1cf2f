"""The models that Python functions accept: a path, or a model in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable

from irlint.lazy_typing import Any
from irlint.model.formats import ONNX, OPENVINO
from irlint.records import record

#: The folder of models in memory without a name. It does not exist, so no file is found there.
NOWHERE = "<memory>"


@record
class Source:
    """A model: a path, or bytes with a name."""

    path: str
    data: bytes | None = None
    #: Whether the folder of the model is unknown, so that no files beside the model are read.
    alone: bool = False


def source(model: Any, name: str | os.PathLike[str] | None = None, *, stem: str = "model") -> Source:
    """The source of a path, bytes, a binary file object, an ``onnx.ModelProto``, or an object with a ``model_proto``.

    ``name`` is the path of a model in memory. External data is searched beside this path. The default is the name of a
    file object. If there is no name, the model is ``alone``, and ``stem`` is its name without suffix. Raises TypeError
    for a model of any other type. Raises ValueError for a path with ``name``, and if a ModelProto cannot be serialized.
    """
    if isinstance(model, (str, os.PathLike)):
        if name is not None:
            raise ValueError("`name` is only for a model in memory, and this is a path")
        return Source(os.fspath(model))
    data = _bytes(model)
    name_of_file = getattr(model, "name", None) if hasattr(model, "read") else None
    name = name_of_file if name is None and isinstance(name_of_file, (str, os.PathLike)) else name
    if name is not None:
        return Source(os.fspath(name), data)
    is_markup = data[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(b"<")
    suffix = (OPENVINO if is_markup else ONNX).suffixes[0]
    return Source(f"{NOWHERE}/{stem}{suffix}", data, alone=True)


def sources(models: Any, name: str | os.PathLike[str] | None = None) -> list[Source]:
    """The sources of one model or of an iterable of models. Raises like ``source``."""
    if not isinstance(models, Iterable) or isinstance(models, (str, bytes, bytearray, memoryview, os.PathLike)):
        return [source(models, name)]
    if hasattr(models, "read"):
        return [source(models, name)]
    if name is not None:
        raise ValueError("`name` is only for one model in memory, and these are several")
    return [source(model, stem=f"model-{number}") for number, model in enumerate(models, 1)]


def _bytes(model: Any) -> bytes:
    """The bytes of a model in memory. Raises TypeError and ValueError."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "read"):
        data = model.read()
        if isinstance(data, bytes):
            return data
        raise TypeError("a file object with a model has to be open in binary mode")
    proto = getattr(model, "model_proto", model)
    if hasattr(proto, "SerializeToString") and hasattr(proto, "opset_import"):
        return _serialized(proto)
    accepted = "a path, bytes, a binary file object or an onnx.ModelProto"
    raise TypeError(f"a model has to be {accepted}, not {type(model).__qualname__}")


def _serialized(proto: Any) -> bytes:
    try:
        data: bytes = proto.SerializeToString()
    except Exception as error:
        advice = "above 2 GB, save the model with its weights in a separate file and pass its path"
        raise ValueError(f"the ModelProto cannot be written as bytes: {error}; {advice}") from error
    return data
