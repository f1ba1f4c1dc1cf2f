"""How long one file may take: what lasts longer is broken off, in whichever process it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

#: The check of one file may take so many seconds where nobody says otherwise.
USUAL = 600

#: More seconds are as good as any number, and more than clocks take.
LONGEST = 1e9

#: A process that does not break off by itself, as inside of a library, is ended after so many seconds more.
GRACE = 5.0

#: Where an interruption gets lost, as in what cleans up, another one follows after so many seconds.
AGAIN = 1.0


class TimedOut(BaseException):
    """The time for a file is over; no Exception, since these become findings about single nodes."""


def limited(seconds: float | None) -> Any:
    """A block inside of which TimedOut is raised once so many seconds have passed; None stands for any number."""
    if seconds is None or seconds > LONGEST:
        return _Unlimited()
    if not _is_main_thread():
        return _InThread(seconds)
    return _BySignal(seconds) if hasattr(_signals(), "setitimer") else _ByThread(seconds)


def _is_main_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def _signals() -> Any:
    """What the module ``signal`` wraps, which imports ``enum`` for it: a tenth of the time of a small check."""
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
        # An exception at the ends of the block would leave the timer running behind it.
        at_an_end = frame is not None and frame.f_code in (_BySignal.__enter__.__code__, _BySignal.__exit__.__code__)
        if not self.over and not at_an_end:
            raise TimedOut

    def __exit__(self, *_: object) -> None:
        self.over = True
        signals = _signals()
        signals.setitimer(signals.ITIMER_REAL, 0)
        signals.signal(signals.SIGALRM, self.before)


class _ByThread:
    """Where there are no such signals: another thread interrupts this one, as Ctrl-C does."""

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
    """In a thread that is not the main one, as workers of a cluster have it: another one raises TimedOut there, between
    two steps of Python."""

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
    """Calls ``end`` from a thread of its own once another process has ended, whatever this one is at work on."""
    from multiprocessing.connection import wait
    from threading import Thread

    def wait_for_it() -> None:
        wait([parent])
        end()

    Thread(target=wait_for_it, daemon=True).start()
