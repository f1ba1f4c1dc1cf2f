"""Finds the files that may have the configuration of a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from irlint.parsers.opening import whole

#: The names of configuration files. In a folder with several of them, the first one counts.
NAMES = ("irlint.toml", ".irlint.toml", "pyproject.toml")


def candidates(folder: str) -> Iterator[str]:
    """The files that may have the configuration, from a folder up to the root of its repository, the nearest first."""
    here = os.path.abspath(folder)
    lead = ""
    while True:
        for name in NAMES:
            file = os.path.join(here, name)
            if os.path.exists(file) and not os.path.isdir(file) and (name != NAMES[-1] or _may_have_table(file)):
                yield lead + name
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            return
        here, lead = above, f"{os.pardir}{os.sep}{lead}"


def _may_have_table(file: str) -> bool:
    """Whether a ``pyproject.toml`` may have a table ``tool.irlint``; finds out without the costly TOML parser."""
    try:
        data = whole(file, "configuration")
    except OSError as error:
        return error.errno in (errno.EFBIG, errno.EINVAL)
    if b"irlint" not in data:
        return False
    starts = (b"[tool.irlint", b"[[tool.irlint", b"tool.irlint", b"[tool]", b"tool=")
    return any(line.translate(None, b"\xef\xbb\xbf \t\"'").startswith(starts) for line in data.splitlines())
