"""Replaces a file safely: writes a temporary file in the same folder, then renames it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module

from irlint.lazy_typing import Any

#: The paths of the temporary files of this process that exist now.
_temporary: set[str] = set()

#: By default, these signals end a process before Python can clean up.
ENDING = ("SIGTERM", "SIGHUP")


def replace_file(file: str, blocks: Iterable[bytes], mode: int) -> None:
    """Replaces ``file`` by a file with these bytes and permissions. Raises OSError.

    After an error or a signal of ENDING, the old file stays and the temporary file is removed.
    """
    from tempfile import mkstemp

    name = ""
    try:
        with _Ending() as ending:
            ending.block()
            handle, name = mkstemp(dir=os.path.dirname(file), prefix=".irlint-")
            _temporary.add(name)
            ending.unblock()
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(blocks)
            os.chmod(name, mode)
            os.replace(name, file)
            _temporary.discard(name)
    finally:
        if name in _temporary:
            _discard(name)


def discard_all() -> None:
    """Removes the temporary files of this process."""
    for name in tuple(_temporary):
        _discard(name)


def _discard(name: str) -> None:
    _temporary.discard(name)
    try:
        os.unlink(name)
    except OSError:
        return


def permissions(file: str) -> int:
    """The permissions of a file or, if the file does not exist, the permissions that a new file would have."""
    try:
        return os.stat(file).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


class _Ending:
    """A ``with`` block in which a signal of ENDING removes the temporary files before it ends the process.

    The block changes no signal that already has a handler, and no signal outside the main thread.
    """

    def __enter__(self) -> _Ending:
        self.signals: Any = import_module("signal")
        self.before: dict[int, Any] = {}
        self.mask: Any = None
        numbers = [getattr(self.signals, name) for name in ENDING if hasattr(self.signals, name)]
        try:
            for number in numbers:
                if self.signals.getsignal(number) == self.signals.SIG_DFL:
                    self.before[number] = self.signals.signal(number, _end)
        except ValueError:
            self.before.clear()
        return self

    def block(self) -> None:
        """Delays Ctrl-C and the signals that this block handles until ``unblock``. Has no effect on Windows."""
        if hasattr(self.signals, "pthread_sigmask"):
            delayed = [self.signals.SIGINT, *self.before]
            self.mask = self.signals.pthread_sigmask(self.signals.SIG_BLOCK, delayed)

    def unblock(self) -> None:
        """Lets delayed signals arrive."""
        if self.mask is not None:
            mask, self.mask = self.mask, None
            self.signals.pthread_sigmask(self.signals.SIG_SETMASK, mask)

    def __exit__(self, *_: object) -> None:
        self.unblock()
        for number, handler in self.before.items():
            self.signals.signal(number, handler)


def _end(number: int, _: object) -> None:
    """Removes the temporary files, then ends the process with the same signal."""
    import signal

    discard_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
