"""Colors and width of terminal output: the codes of each role, whether to use color, and how long a line may be."""

from __future__ import annotations

import os

from irlint.lazy_typing import Protocol

#: The "select graphic rendition" codes by role. A role is a kind of text in a report; ``error``, ``warning`` and
#: ``note`` also color the marks at fault in a finding of this severity.
ROLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "head": "1",
    "gutter": "1;34",
    "second": "1;34",
    "bad": "1;4;31",
    "tag": "1",
    "help": "1;32",
    "dim": "2",
}

#: The code that resets the color.
RESET = "0"

#: The number of columns in a pipe or a file, and the least and the most for sentences on a terminal.
PIPE_WIDTH = 100
NARROWEST = 60
WIDEST = 120


class Stream(Protocol):
    """The part of a text stream that decides on color and width."""

    def isatty(self) -> bool: ...


def colored(option: str, stream: Stream | None) -> bool:
    """Whether to use color. It depends, in this order, on ``--color``, NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE,
    TERM=dumb, and whether the stream is a terminal. Makes the Windows console interpret colors."""
    if not _wanted(option, stream):
        return False
    if not is_terminal(stream):
        return True
    from irlint.reporters.console import enable_escapes

    return enable_escapes(stream) or option == "always"


def _wanted(option: str, stream: Stream | None) -> bool:
    if option in ("always", "never"):
        return option == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return os.environ.get("TERM") != "dumb" and is_terminal(stream)


def is_terminal(stream: Stream | None) -> bool:
    """Whether a stream exists, is open, and is a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def width(stream: Stream | None) -> int:
    """The number of columns for sentences on ``stream``."""
    return min(WIDEST, terminal_width(stream) or PIPE_WIDTH)


def terminal_width(stream: Stream | None) -> int | None:
    """The number of columns of a terminal; None if the stream is not one."""
    if not is_terminal(stream):
        return None
    import shutil

    return max(NARROWEST, shutil.get_terminal_size((PIPE_WIDTH, 24)).columns)


def painted(text: str, role: str, color: bool) -> str:
    """The text in the color of its role; unchanged without ``color`` or ``role``, or if it is empty."""
    if not color or not role or not text:
        return text
    return f"\x1b[{ROLES[role]}m{text}\x1b[{RESET}m"
