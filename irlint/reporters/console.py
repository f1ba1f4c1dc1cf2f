"""What the console of Windows has to be asked for: colours by escape sequences, and no interruptions for new
processes."""

from __future__ import annotations

import os

from irlint.lazy_typing import Any

WINDOWS = os.name == "nt"

#: ENABLE_VIRTUAL_TERMINAL_PROCESSING: the console obeys escape sequences.
ESCAPES = 0x0004


def obeys_escapes(stream: Any) -> bool:
    """Whether a terminal takes colours from escape sequences; the console of Windows is asked to, which old ones
    refuse."""
    if not WINDOWS:
        return True
    import ctypes
    import msvcrt

    kernel = _kernel()
    try:
        handle = ctypes.c_void_p(vars(msvcrt)["get_osfhandle"](stream.fileno()))
    except (OSError, ValueError, AttributeError):
        return False
    mode = ctypes.c_ulong()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return True
    return bool(mode.value & ESCAPES or kernel.SetConsoleMode(handle, mode.value | ESCAPES))


class Uninterrupted:
    """Has the processes that start meanwhile ignore Ctrl-C from their first moment on: on Windows they inherit that."""

    def __enter__(self) -> None:
        self._ignore(True)

    def __exit__(self, *_: object) -> None:
        self._ignore(False)

    def _ignore(self, ignored: bool) -> None:
        if WINDOWS:
            _kernel().SetConsoleCtrlHandler(None, ignored)


def _kernel() -> Any:
    import ctypes

    return vars(ctypes)["windll"].kernel32
