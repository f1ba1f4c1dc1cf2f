"""One model file as lines of text, for ``git diff`` to compare."""

from __future__ import annotations

import os
from hashlib import sha256

from irlint import parsers
from irlint.parsers import lfs
from irlint.parsers.digests import Digests
from irlint.parsers.weights import pieces
from irlint.reporters.plain import safe
from irlint.reporters.textconv import rendered
from irlint.run.opened import Unreadable, opened


def text_of(path: str) -> str:
    """The text of ``irlint diff --textconv``. Reads the stored file of a Git LFS pointer.

    Git copies the model without the files beside it, so these files are not read. An unreadable model becomes one line
    of text, because git would stop if irlint failed. Raises OSError if the file cannot be opened.
    """
    try:
        model = opened(path, alone=True)
    except Unreadable as error:
        return f"{_unreadable(path, error.reason)}\n"
    digests, place = Digests(), model.known.model.path
    return rendered(model.known, lambda constant: digests.of(constant, place, source=model.source))


def _unreadable(path: str, reason: str) -> str:
    pointer = lfs.pointer_in(parsers.first_bytes(path))
    if pointer is not None:
        where = "which is not in this repository's store"
        return f"Git LFS pointer to {pointer.size} bytes with the SHA-256 {pointer.oid}, {where}"
    found = sha256(usedforsecurity=False)
    for piece in pieces(path, None, 0, os.path.getsize(path)):
        found.update(piece)
    return f"no model: {safe(reason)}; SHA-256 {found.hexdigest()}"
