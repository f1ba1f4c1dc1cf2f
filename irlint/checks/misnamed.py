"""Finds a file beside the model that is probably the missing one under another name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from irlint.findings.wording import counted
from irlint.model import Stored
from irlint.model.formats import FORMATS
from irlint.parsers.onnx.tensors import facts_beside
from irlint.parsers.opening import is_url

#: The suffixes of model files. A file whose name begins with the stem of a model belongs to that model.
SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)

#: A folder with more entries than this is not searched.
MOST_FILES = 4096


def misnamed(file: str, stored: Sequence[Stored], path: str, used_files: Collection[str | None]) -> str:
    """A help that names the file beside the model at ``path`` to rename to ``file``; "" if there is none.

    The file has the same letters and digits in its name, or it is the only unused file of exactly the needed size.
    """
    if is_url(path) or not os.path.isfile(path):
        return ""
    folder, name = os.path.split(os.path.join(os.path.dirname(path), file.partition("\0")[0]))
    names = list(_files(folder, os.path.dirname(path)))
    similar = next((each for each, _ in names if each != name and _letters(each) == _letters(name)), "")
    if similar:
        return f"{similar} exists; rename it if it is the same file"
    size = _needed_size(stored)
    fitting = _only_of_size(size, names, os.path.basename(path)) if size else ""
    if not fitting:
        return ""
    inside = os.path.relpath(os.path.join(folder, fitting), os.path.dirname(path) or os.curdir)
    if inside.replace(os.sep, "/") in used_files or facts_beside(path, inside) != (size, None, None):
        return ""
    return f"{fitting} exists and has exactly the needed {counted(size, 'byte')}; rename it if it is the same file"


def _needed_size(stored: Sequence[Stored]) -> int | None:
    """The end of the last constant in bytes; None if an end is unknown."""
    ends = [None if each.size is None else each.offset + each.size for each in stored]
    return None if None in ends else max(ends, default=None)  # type: ignore[type-var]


def _files(folder: str, model_folder: str) -> Iterator[tuple[str, int | None]]:
    """(name, size) of each entry of ``folder``, sorted; the size is None for links and folders.

    Nothing if ``folder`` is outside of the folder of the model, cannot be read, or has more than MOST_FILES entries.
    """
    inner, outer = os.path.realpath(folder or os.curdir), os.path.realpath(model_folder or os.curdir)
    if inner != outer and not inner.startswith(outer + os.sep):
        return
    try:
        with os.scandir(inner) as entries:
            found = list(islice(entries, MOST_FILES + 1))
        files = [
            (each.name, each.stat(follow_symlinks=False).st_size if each.is_file(follow_symlinks=False) else None)
            for each in found
        ]
    except OSError:
        return
    if len(found) <= MOST_FILES:
        yield from sorted(files, key=itemgetter(0))


def _only_of_size(size: int, names: Sequence[tuple[str, int | None]], model: str) -> str:
    """The only file of ``size`` bytes that belongs to no other model; "" if there is none or more than one."""
    stems = [os.path.splitext(each)[0] for each, _ in names if each != model and each.endswith(SUFFIXES)]
    models = tuple(f"{stem}{mark}" for stem in stems for mark in "._")
    fitting = [each for each, its_size in names if its_size == size and each != model and not each.startswith(models)]
    return fitting[0] if len(fitting) == 1 else ""


def _letters(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
