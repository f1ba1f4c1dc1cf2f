"""Runs a function on many items in several processes. Every item gets a result, even if a process crashes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from time import monotonic

from irlint.lazy_typing import TYPE_CHECKING, Any, TypeVar
from irlint.reporters.console import WINDOWS, Uninterrupted
from irlint.run.deadline import watch

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How often (in seconds) a caller that waits for results gets control.
TICK = 0.25

#: Windows waits for at most 63 connections at once.
MOST = 60 if WINDOWS else sys.maxsize


def results(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    died: Callable[[Item, str], Result],
    late: Callable[[Item], Result] | None = None,
    seconds: float | None = None,
    ahead: int = sys.maxsize,
) -> Iterator[tuple[int, Result]]:
    """``function`` of every item, with the index of the item. It runs in ``jobs`` processes.

    Items start in order. An item starts only if it is less than ``ahead`` places after the first unfinished one.
    ``function``, items and results must be picklable, and ``function`` must not raise.

    If a process crashes, ``died`` makes the result from the item and a text on how the process ended. An item that
    takes longer than ``seconds`` is stopped, and ``late`` makes its result.
    """
    waiting = enumerate(items)
    given: dict[int, Item] = {}
    following = next(waiting, None)
    with _pool(function) as pool:
        while following is not None or pool.busy:
            while following is not None and len(pool.busy) < min(jobs, MOST):
                if following[0] - min(given, default=following[0]) >= ahead:
                    break
                index, item = following
                given[index] = item
                pool.give(index, item)
                following = next(waiting, None)
            for index, answered, answer in pool.answers():
                item = given.pop(index)
                yield index, answer if answered else died(item, answer)
            if late is not None and seconds is not None:
                yield from ((index, late(given.pop(index))) for index in pool.overdue(seconds))


class _Pool:
    """The processes. ``busy`` maps the connection of a working process to the index of its item; ``idle`` lists the
    others."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.context = _context()
        self.busy: dict[Connection, int] = {}
        self.since: dict[Connection, float] = {}
        self.idle: list[Connection] = []
        self.processes: dict[Connection, BaseProcess] = {}

    def give(self, index: int, item: Any) -> None:
        """Sends an item to an idle process, or else to a new one."""
        while True:
            connection = self.idle.pop() if self.idle else self._started()
            try:
                connection.send(item)
            except OSError:
                self._stopped(connection)
                continue
            self.busy[connection] = index
            self.since[connection] = monotonic()
            return

    def answers(self) -> Iterator[tuple[int, bool, Any]]:
        """For each finished item: its index, whether there is an answer, and the answer or a text on how the process
        ended."""
        ready = wait([*self.busy], TICK)
        for connection in [each for each in self.busy if each in ready]:
            index = self.busy.pop(connection)
            try:
                answer = connection.recv()
            except (EOFError, OSError):
                yield index, False, self._stopped(connection)
                continue
            self.idle.append(connection)
            yield index, True, answer

    def overdue(self, seconds: float) -> list[int]:
        """Kills the processes that exceed ``seconds``, and returns the indices of their items."""
        now = monotonic()
        slow = [each for each in self.busy if now - self.since[each] > seconds]
        for connection in slow:
            self.processes[connection].kill()
            self._stopped(connection)
        return [self.busy.pop(connection) for connection in slow]

    def _started(self) -> Connection:
        ours, theirs = self.context.Pipe()
        process: BaseProcess = self.context.Process(target=_serve, args=(theirs, self.function), daemon=True)  # type: ignore[attr-defined]
        try:
            with interruptions_wait():
                process.start()
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self.processes[ours] = process
        return ours

    def _stopped(self, connection: Connection) -> str:
        process = self.processes.pop(connection)
        connection.close()
        process.join(5)
        return _ending(process.exitcode)


def _context() -> BaseContext:
    """How processes start: as the program has set it, otherwise by fork on Linux, which is fast and safe without
    threads."""
    chosen = multiprocessing.get_start_method(allow_none=True)
    return multiprocessing.get_context(chosen or ("fork" if sys.platform == "linux" else None))


@contextmanager
def _pool(function: Callable[[Any], Any]) -> Iterator[_Pool]:
    pool = _Pool(function)
    try:
        yield pool
    finally:
        for process in pool.processes.values():
            process.terminate()
        for connection, process in pool.processes.items():
            process.join()
            connection.close()


@contextmanager
def interruptions_wait() -> Iterator[None]:
    """Blocks Ctrl-C during the block. This also protects processes that start meanwhile until they ignore it
    themselves."""
    if not hasattr(signal, "pthread_sigmask"):
        with Uninterrupted():
            yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """The main loop of a worker process. It ends when its connection closes or its parent ends, and ignores Ctrl-C,
    which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    watch(parent.sentinel, _left)
    try:
        while True:
            connection.send(function(connection.recv()))
    except (EOFError, OSError):
        os._exit(0)
    except BaseException:
        os._exit(70)


def _left() -> None:
    """Ends the process after its parent ended."""
    from irlint.run.writing import discard_all

    discard_all()
    os._exit(0)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with status {code if code is None or code < 0x10000 else hex(code)}"
