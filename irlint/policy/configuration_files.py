"""Finds the files that may have the configuration of a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from irlint.parsers.opening import file_bytes

#: The names of configuration files. If a folder has several of these files, the first name counts.
NAMES = ("irlint.toml", ".irlint.toml", "pyproject.toml")


def candidates(folder: str) -> Iterator[str]:
    """The files that may have the configuration of a folder, as paths relative to the folder.

    They are in the folder or above it, up to the root of its repository or of the drive, the nearest first.
    """
    here = os.path.abspath(folder)
    up = ""
    while True:
        for name in NAMES:
            file = os.path.join(here, name)
            if os.path.exists(file) and not os.path.isdir(file) and (name != NAMES[-1] or _may_have_table(file)):
                yield up + name
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            return
        here, up = above, f"{os.pardir}{os.sep}{up}"


def _may_have_table(file: str) -> bool:
    """Whether a ``pyproject.toml`` may have a table ``tool.irlint``, without the time that the TOML parser takes.

    A file that is too large or no regular file may have one; another file that cannot be read has none.
    """
    try:
        data = file_bytes(file, "configuration")
    except OSError as error:
        return error.errno in (errno.EFBIG, errno.EINVAL)
    if b"irlint" not in data:
        return False
    starts = (b"[tool.irlint", b"[[tool.irlint", b"tool.irlint", b"[tool]", b"tool=")
    return any(line.translate(None, b"\xef\xbb\xbf \t\"'").startswith(starts) for line in data.splitlines())
