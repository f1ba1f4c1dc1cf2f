"""How long one file may take: what lasts longer is broken off, in whichever process it runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from irlint.lazy_typing import Any

#: A process that does not break off by itself, as inside of a library, is ended after so many seconds more.
GRACE = 5.0

#: Where an interruption gets lost, as in what cleans up, another one follows after so many seconds.
AGAIN = 1.0


class TimedOut(BaseException):
    """The time for a file is over; no Exception, since these become findings about single nodes."""


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raises TimedOut inside once so many seconds have passed; None stands for any number."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
    elif hasattr(signal, "setitimer"):
        yield from _by_signal(seconds)
    else:
        yield from _by_thread(seconds)


def _by_signal(seconds: float) -> Iterator[None]:
    over = False

    def ring(*_: Any) -> None:
        if not over:
            raise TimedOut

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _by_thread(seconds: float) -> Iterator[None]:
    """Where there are no such signals: another thread interrupts this one, as Ctrl-C does."""
    from _thread import interrupt_main

    rung: list[bool] = []

    def ring() -> None:
        rung.append(True)
        interrupt_main()

    timer: Any = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if rung:
            raise TimedOut from None
        raise
    finally:
        timer.cancel()


def watch(parent: Any, end: Callable[[], None]) -> None:
    """Calls ``end`` from a thread of its own once another process has ended, whatever this one is at work on."""
    from multiprocessing.connection import wait

    def wait_for_it() -> None:
        wait([parent])
        end()

    threading.Thread(target=wait_for_it, daemon=True).start()
