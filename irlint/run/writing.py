"""How a file is written: under another name in its folder, of which nothing is left, and then put in its place."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module

from irlint.lazy_typing import Any

#: The files that are being written, to be put in the place of others.
_pending: set[str] = set()

#: Signals that end a process without a word to Python.
ENDING = ("SIGTERM", "SIGHUP")


def put(file: str, blocks: Iterable[bytes], mode: int) -> None:
    """Puts a file of these bytes and permissions in the place of ``file``, or leaves everything as it was, also where a
    signal ends the process. Raises OSError."""
    from tempfile import mkstemp

    name = ""
    try:
        with _Ending() as ending:
            ending.wait()
            handle, name = mkstemp(dir=os.path.dirname(file), prefix=".irlint-")
            _pending.add(name)
            ending.hear()
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(blocks)
            os.chmod(name, mode)
            os.replace(name, file)
            _pending.discard(name)
    finally:
        if name in _pending:
            _discard(name)


def discard_all() -> None:
    """Removes the files that are not in their places yet."""
    for name in tuple(_pending):
        _discard(name)


def _discard(name: str) -> None:
    _pending.discard(name)
    try:
        os.unlink(name)
    except OSError:
        return


def permissions(file: str) -> int:
    """Those of a file, or of a new one where there is none."""
    try:
        return os.stat(file).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


class _Ending:
    """A block that signals leave by removing what is pending; in threads, and where there are no signals, any block."""

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

    def wait(self) -> None:
        """Holds back Ctrl-C and the signals."""
        if hasattr(self.signals, "pthread_sigmask"):
            held = [self.signals.SIGINT, *self.before]
            self.mask = self.signals.pthread_sigmask(self.signals.SIG_BLOCK, held)

    def hear(self) -> None:
        """Lets them through."""
        if self.mask is not None:
            mask, self.mask = self.mask, None
            self.signals.pthread_sigmask(self.signals.SIG_SETMASK, mask)

    def __exit__(self, *_: object) -> None:
        self.hear()
        for number, handler in self.before.items():
            self.signals.signal(number, handler)


def _end(number: int, _: object) -> None:
    """Ends the process as the signal does by itself."""
    import signal

    discard_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
