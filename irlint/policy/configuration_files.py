"""Finds the files that may have the configuration of a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from irlint.parsers.opening import file_bytes

#: The names of configuration files. The first one in a folder counts.
NAMES = ("irlint.toml", ".irlint.toml", "pyproject.toml")


def candidates(folder: str) -> Iterator[str]:
    """The files that may have the configuration of ``folder``, the nearest first, with paths relative to ``folder``.

    The search ends at the root of the repository or the drive.
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
    """Whether a ``pyproject.toml`` may have a table ``tool.irlint``. Does not parse the file."""
    try:
        data = file_bytes(file, "configuration")
    except OSError as error:
        return error.errno in (errno.EFBIG, errno.EINVAL)  # Too large, or no regular file.
    if b"irlint" not in data:
        return False
    starts = (b"[tool.irlint", b"[[tool.irlint", b"tool.irlint", b"[tool]", b"tool=")
    return any(line.translate(None, b"\xef\xbb\xbf \t\"'").startswith(starts) for line in data.splitlines())
