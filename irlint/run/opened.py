"""Opens a model for ``irlint diff``, even if its file is a Git LFS pointer."""

from __future__ import annotations

import os

from irlint import parsers
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Model
from irlint.parsers import lfs
from irlint.records import record


@record(eq=False)
class Opened:
    """A model that was opened, with its inferred types."""

    known: Known
    #: The file from which the bytes of the model were read; None if it is the path of the model.
    source: str | None = None
    #: The bytes of the model if it is in memory.
    data: bytes | None = None


class Unreadable(ValueError):
    """A file that is not a readable model."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def opened(path: str, data: bytes | None = None, *, alone: bool = False) -> Opened:
    """The model in a file or in ``data``. With ``alone``, no files beside the model are read.

    If the file is a Git LFS pointer, reads the model from the LFS store of the repository. Raises OSError if the file
    cannot be opened, and Unreadable if it is not a readable model.
    """
    if data is not None:
        return Opened(_inferred(path, parsers.read(path, data)), data=data)
    head = parsers.first_bytes(path)
    pointer = lfs.pointer_in(head)
    source = path if alone else None
    if pointer is not None:
        source = lfs.stored(pointer, os.path.dirname(path) or os.curdir, os.curdir)
    # The folder ``os.devnull`` does not exist, so no file is beside the model.
    place = os.path.join(os.devnull, os.path.basename(path)) if alone else path
    model = parsers.read(path) if source is None or not head else parsers.read_from(place, source)
    return Opened(_inferred(path, model), source)


def _inferred(path: str, model: Model) -> Known:
    if model.graph is None:
        raise Unreadable(path, "; ".join(problem.fault.message for problem in model.problems) or "it is not a model")
    return inferred(model)
