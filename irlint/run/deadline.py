"""The time limit of one file: a check that exceeds it is interrupted, in a process or a thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

#: The default limit in seconds.
USUAL = 600

#: A limit of more seconds is no limit, because some clocks do not accept more.
LONGEST = 1e9

#: A process that does not react to the interruption, for example inside a library, is killed after this many seconds.
GRACE = 5.0

#: The seconds after which an interruption is repeated until the block ends, because it may be lost in cleanup code.
AGAIN = 1.0


class TimedOut(BaseException):
    """The time for a file is over. This is no Exception, because an Exception becomes a finding about a single node."""


def limited(seconds: float | None) -> Any:
    """A context manager that raises TimedOut in its block after ``seconds``; None is no limit.

    In the main thread of a system without ``setitimer``, the block receives KeyboardInterrupt, and the context manager
    turns that into TimedOut.
    """
    if seconds is None or seconds > LONGEST:
        return _Unlimited()
    if not _is_main_thread():
        return _InThread(seconds)
    return _BySignal(seconds) if hasattr(_signals(), "setitimer") else _ByThread(seconds)


def _is_main_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def _signals() -> Any:
    """The C module behind ``signal``: the Python module imports ``enum``, which takes a tenth of a small check."""
    return import_module("_signal")


class _Unlimited:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class _BySignal:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over = False

    def __enter__(self) -> None:
        signals = _signals()
        self.before = signals.signal(signals.SIGALRM, self._ring)
        signals.setitimer(signals.ITIMER_REAL, self.seconds, AGAIN)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        # An exception in __enter__ or __exit__ would leave the timer running.
        is_outside = frame is not None and frame.f_code in (_BySignal.__enter__.__code__, _BySignal.__exit__.__code__)
        if not self.over and not is_outside:
            raise TimedOut

    def __exit__(self, *_: object) -> None:
        self.over = True
        signals = _signals()
        signals.setitimer(signals.ITIMER_REAL, 0)
        signals.signal(signals.SIGALRM, self.before)


class _ByThread:
    """The limit on systems without ``setitimer``: another thread interrupts the main thread, as Ctrl-C does."""

    def __init__(self, seconds: float) -> None:
        from threading import Timer

        self.rung = False
        self.timer = Timer(seconds, self._ring)
        self.timer.daemon = True

    def __enter__(self) -> None:
        self.timer.start()

    def _ring(self) -> None:
        from _thread import interrupt_main

        self.rung = True
        interrupt_main()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.timer.cancel()
        if self.rung and kind is KeyboardInterrupt:
            raise TimedOut from None


class _InThread:
    """The limit in a thread other than the main one: another thread raises TimedOut in it, between two steps of Python.
    Workers of a cluster run in such threads."""

    def __init__(self, seconds: float) -> None:
        import ctypes
        from threading import Event, Lock, Thread, get_ident

        self.seconds = seconds
        self.over = Event()
        self.lock = Lock()
        self.number = ctypes.c_ulong(get_ident())
        self.send = ctypes.pythonapi.PyThreadState_SetAsyncExc
        self.timed_out = ctypes.py_object(TimedOut)
        self.thread = Thread(target=self._ring, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def _ring(self) -> None:
        pause = self.seconds
        while not self.over.wait(pause):
            with self.lock:
                if not self.over.is_set():
                    self.send(self.number, self.timed_out)
            pause = AGAIN

    def __exit__(self, *_: object) -> None:
        try:
            with self.lock:
                self.over.set()
                self.send(self.number, None)
        finally:
            self.over.set()


def watch(parent: Any, end: Callable[[], None]) -> None:
    """Starts a thread that calls ``end`` when the process with the sentinel ``parent`` has ended."""
    from multiprocessing.connection import wait
    from threading import Thread

    def wait_for_it() -> None:
        wait([parent])
        end()

    Thread(target=wait_for_it, daemon=True).start()
