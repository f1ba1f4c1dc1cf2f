"""Which file beside a model may be the one that is missing."""

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

#: How the names of models end. A file whose name begins as that of another model belongs to that one.
SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)

#: A folder of more files is not looked through.
MOST_FILES = 4096


def misnamed(file: str, stored: Sequence[Stored], path: str, taken: Collection[str | None]) -> str:
    """Which file beside the model at ``path`` is to get the name ``file``: one of a similar name, or the only one that
    has just the bytes that the constants ``stored`` in it need and is neither ``taken`` nor another model's; "" where
    there is none."""
    if is_url(path) or not os.path.isfile(path):
        return ""
    folder, name = os.path.split(os.path.join(os.path.dirname(path), file.partition("\0")[0]))
    names = list(_files(folder, os.path.dirname(path)))
    similar = next((each for each, _ in names if each != name and _letters(each) == _letters(name)), "")
    if similar:
        return f"{similar} exists; rename it if it is the same file"
    size = _needed(stored)
    fitting = _only_of_size(size, names, os.path.basename(path)) if size else ""
    if not fitting:
        return ""
    inside = os.path.relpath(os.path.join(folder, fitting), os.path.dirname(path) or os.curdir)
    if inside.replace(os.sep, "/") in taken or facts_beside(path, inside) != (size, None, None):
        return ""
    return f"{fitting} exists and has exactly the needed {counted(size, 'byte')}; rename it if it is the same file"


def _needed(stored: Sequence[Stored]) -> int | None:
    """Where the last of the constants in a file ends, None where that is not known of one."""
    ends = [None if each.size is None else each.offset + each.size for each in stored]
    return None if None in ends else max(ends, default=None)  # type: ignore[type-var]


def _files(folder: str, own: str) -> Iterator[tuple[str, int | None]]:
    """The names in a folder within that of the model, each with the bytes of a regular file that is no link; none where
    there are very many."""
    inside, around = os.path.realpath(folder or os.curdir), os.path.realpath(own or os.curdir)
    if inside != around and not inside.startswith(around + os.sep):
        return
    try:
        with os.scandir(inside) as entries:
            found = list(islice(entries, MOST_FILES + 1))
        files = [
            (each.name, each.stat(follow_symlinks=False).st_size if each.is_file(follow_symlinks=False) else None)
            for each in found
        ]
    except OSError:
        return
    if len(found) <= MOST_FILES:
        yield from sorted(files, key=itemgetter(0))


def _only_of_size(size: int, names: Sequence[tuple[str, int | None]], own: str) -> str:
    """The only file of ``size`` bytes that is neither the model ``own`` nor named like another model; "" where there
    are none or several."""
    stems = [os.path.splitext(each)[0] for each, _ in names if each != own and each.endswith(SUFFIXES)]
    models = tuple(f"{stem}{mark}" for stem in stems for mark in "._")
    fitting = [each for each, held in names if held == size and each != own and not each.startswith(models)]
    return fitting[0] if len(fitting) == 1 else ""


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
