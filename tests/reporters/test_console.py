"""The console of Windows, as far as it can be played on other systems."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from irlint.reporters import ansi, console


class Terminal:
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


class Kernel:
    """A console with a mode; one that ``refuses`` is too old for escape sequences."""

    def __init__(self, mode: int, refuses: bool = False, is_console: bool = True) -> None:
        self.mode, self.refuses, self.is_console = mode, refuses, is_console
        self.handled: list[bool] = []

    def GetConsoleMode(self, handle: object, mode: Any) -> int:
        ctypes.cast(mode, ctypes.POINTER(ctypes.c_ulong))[0] = self.mode
        return int(self.is_console)

    def SetConsoleMode(self, handle: object, mode: int) -> int:
        if not self.refuses:
            self.mode = mode
        return int(not self.refuses)

    def SetConsoleCtrlHandler(self, handler: None, ignored: bool) -> int:
        self.handled.append(ignored)
        return 1


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has a kernel answer in place of that of Windows."""

    def play(kernel: Kernel) -> Kernel:
        monkeypatch.setattr(console, "WINDOWS", True)
        monkeypatch.setattr(console, "_kernel", lambda: kernel)
        monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda number: 7))  # type: ignore[arg-type]
        for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM"):
            monkeypatch.delenv(name, raising=False)
        return kernel

    return play


@pytest.mark.parametrize(
    ("kernel", "auto", "mode"),
    [
        (Kernel(3), True, 7),
        (Kernel(7), True, 7),
        (Kernel(3, refuses=True), False, 3),
        (Kernel(0, is_console=False), True, 0),
    ],
)
def test_colour_where_the_console_obeys(kernel: Kernel, auto: bool, mode: int, played: Any) -> None:
    played(kernel)
    assert ansi.colored("auto", Terminal()) is auto
    assert ansi.colored("always", Terminal()) is True
    assert ansi.colored("never", Terminal()) is False
    assert kernel.mode == mode


def test_processes_start_without_interruptions(played: Any) -> None:
    kernel = played(Kernel(3))
    with console.Uninterrupted():
        assert kernel.handled == [True]
    assert kernel.handled == [True, False]


def test_elsewhere_nothing_is_asked_for() -> None:
    if not console.WINDOWS:
        assert console.enable_escapes(Terminal())
        with console.Uninterrupted():
            pass
