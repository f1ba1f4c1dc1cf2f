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

#: A longer limit (in seconds) counts as none, because some clocks do not accept more.
LONGEST = 1e9

#: If a process does not react, for example inside a library, it is killed after this many further seconds.
GRACE = 5.0

#: An interruption may be lost, for example in cleanup code. With a signal or in a thread, it is repeated at this
#: interval (in seconds) until the block ends.
AGAIN = 1.0


class TimedOut(BaseException):
    """The time for a file is over. It is no Exception, because an Exception becomes a finding about a single node."""


def limited(seconds: float | None) -> Any:
    """A context manager that interrupts its block after ``seconds`` and raises TimedOut (without setitimer:
    KeyboardInterrupt inside the block, TimedOut from it). None, or more than ``LONGEST``, is no limit."""
    if seconds is None or seconds > LONGEST:
        return _Unlimited()
    if not _is_main_thread():
        return _InThread(seconds)
    return _BySignal(seconds) if hasattr(_signals(), "setitimer") else _ByThread(seconds)


def _is_main_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def _signals() -> Any:
    """The C module under ``signal``. The Python module also imports ``enum``, which takes a tenth of the time of a
    small check."""
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
        # An exception at the ends of the block would leave the timer running.
        at_an_end = frame is not None and frame.f_code in (_BySignal.__enter__.__code__, _BySignal.__exit__.__code__)
        if not self.over and not at_an_end:
            raise TimedOut

    def __exit__(self, *_: object) -> None:
        self.over = True
        signals = _signals()
        signals.setitimer(signals.ITIMER_REAL, 0)
        signals.signal(signals.SIGALRM, self.before)


class _ByThread:
    """For systems without these signals: another thread interrupts the main thread, as Ctrl-C does."""

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
    """For threads other than the main one, such as those of cluster workers: another thread raises TimedOut between two
    steps of Python."""

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
    """Starts a thread that calls ``end`` when another process has ended, whatever this process is doing."""
    from multiprocessing.connection import wait
    from threading import Thread

    def wait_for_it() -> None:
        wait([parent])
        end()

    Thread(target=wait_for_it, daemon=True).start()
