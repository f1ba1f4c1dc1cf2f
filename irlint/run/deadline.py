"""The time limit of the check of one file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

#: The default limit in seconds.
DEFAULT_SECONDS = 600

#: A limit of more seconds counts as no limit, because some clocks do not accept it.
UNLIMITED_ABOVE = 1e9

#: A process may ignore the interruption, for example inside a library. It is killed this many seconds after the limit.
GRACE = 5.0

#: The interruption is repeated after this many seconds, because cleanup code may swallow it.
REPEAT_SECONDS = 1.0


class TimedOut(BaseException):
    """The time for a file is over. It is no Exception, because an Exception becomes a finding about a single node."""


def time_limit(seconds: float | None) -> Any:
    """A context manager that raises TimedOut after ``seconds``; None is no limit.

    Where ``setitimer`` is missing, the code in the block gets KeyboardInterrupt instead. At the end of the block, this
    becomes TimedOut.
    """
    if seconds is None or seconds > UNLIMITED_ABOVE:
        return _Unlimited()
    if not _is_main_thread():
        return _InThread(seconds)
    return _BySignal(seconds) if hasattr(_signals(), "setitimer") else _ByThread(seconds)


def _is_main_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


def _signals() -> Any:
    """The C module that ``signal`` wraps. Its import is faster than that of ``signal``."""
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
        signals.setitimer(signals.ITIMER_REAL, self.seconds, REPEAT_SECONDS)

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
    """The limit for the main thread where ``setitimer`` is missing. A timer thread interrupts it, as Ctrl-C does."""

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
    """The limit for a thread other than the main one, as in a cluster. A timer thread raises TimedOut in it."""

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
            pause = REPEAT_SECONDS

    def __exit__(self, *_: object) -> None:
        try:
            with self.lock:
                self.over.set()
                self.send(self.number, None)
        finally:
            self.over.set()


def watch(sentinel: Any, end: Callable[[], None]) -> None:
    """Starts a thread that waits until the process with this ``sentinel`` ends, then calls ``end``."""
    from multiprocessing.connection import wait
    from threading import Thread

    def wait_and_end() -> None:
        wait([sentinel])
        end()

    Thread(target=wait_and_end, daemon=True).start()
