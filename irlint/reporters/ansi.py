"""Colors and width of terminal output."""

from __future__ import annotations

import os

from irlint.lazy_typing import Protocol

#: The "select graphic rendition" codes by role, a kind of text in a report.
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

RESET = "0"

#: The width that irlint uses for a pipe or file, the least for a terminal, and the greatest for sentences.
PIPE_WIDTH = 100
NARROWEST = 60
WIDEST = 120


class Stream(Protocol):
    def isatty(self) -> bool: ...


def colored(option: str, stream: Stream | None) -> bool:
    """Whether to use color. On Windows, also makes the console interpret colors.

    The first of these that is set decides: ``--color``, NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE, TERM, the stream.
    """
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
    """Whether a stream is an open terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def width(stream: Stream | None) -> int:
    """The number of columns for sentences."""
    return min(WIDEST, terminal_width(stream) or PIPE_WIDTH)


def terminal_width(stream: Stream | None) -> int | None:
    """The number of columns of a terminal; None for other streams."""
    if not is_terminal(stream):
        return None
    import shutil

    return max(NARROWEST, shutil.get_terminal_size((PIPE_WIDTH, 24)).columns)


def painted(text: str, role: str, color: bool) -> str:
    """The text in the color of its role; unchanged without ``color`` or ``role``."""
    if not color or not role or not text:
        return text
    return f"\x1b[{ROLES[role]}m{text}\x1b[{RESET}m"
