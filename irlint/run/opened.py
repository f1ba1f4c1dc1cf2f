"""A model file opened to be compared or printed: a Git LFS pointer leads to the file that it stands for."""

from __future__ import annotations

import os
from mmap import ACCESS_READ, mmap

from irlint import parsers
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Model
from irlint.parsers import lfs
from irlint.records import record

if TYPE_CHECKING:
    from irlint.parsers.weights import Buffer


@record(eq=False)
class Opened:
    """What is known of a model, and its bytes where they do not lie at its path."""

    known: Known
    data: Buffer | None = None


class Unreadable(ValueError):
    """A file that is no model that can be read; ``path`` is which."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def opened(path: str, *, alone: bool = False) -> Opened:
    """The model in a file, or in that which a Git LFS pointer stands for; ``alone`` looks at no file beside it.

    Raises OSError where it cannot be opened, and Unreadable where it is no model that can be read.
    """
    head = parsers.first_bytes(path)
    pointer = lfs.pointer_in(head)
    data: Buffer | None = None
    if pointer is not None:
        found = lfs.stored(pointer, os.path.dirname(path) or os.curdir, os.curdir)
        data = None if found is None else _mapped(found)
    elif alone:
        data = _mapped(path) if head else b""
    # Beside a file in no folder there is nothing.
    place = os.path.join(os.devnull, os.path.basename(path)) if alone else path
    model = _read(path if data is None else place, data)
    if model.graph is None:
        raise Unreadable(path, "; ".join(problem.fault.message for problem in model.problems) or "it is no model")
    return Opened(inferred(model), data)


def _mapped(path: str) -> mmap:
    with open(path, "rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def _read(path: str, data: Buffer | None) -> Model:
    """The model; a document is read whole, as parsers of XML want it."""
    if data is not None and parsers.kind(path, data[: parsers.HEAD]) != "onnx":
        data = bytes(data)
    return parsers.read(path, data)  # type: ignore[arg-type]
