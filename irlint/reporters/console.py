"""Settings of the Windows console."""

from __future__ import annotations

import os

from irlint.lazy_typing import Any

WINDOWS = os.name == "nt"

#: ENABLE_VIRTUAL_TERMINAL_PROCESSING: the console interprets escape sequences.
ESCAPES = 0x0004


def enable_escapes(stream: Any) -> bool:
    """Makes the Windows console interpret escape sequences; returns False for consoles that cannot."""
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
    """A block in which new processes ignore Ctrl-C, on Windows."""

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
