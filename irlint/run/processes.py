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

#: The seconds after which a wait for results ends, so that overdue items are examined.
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
    """The index of each item, and the result of ``function`` for this item, which ``jobs`` processes compute.

    Items start in order. An item starts only if it is less than ``ahead`` places after the first unfinished item.
    ``function``, items and results must be picklable, and ``function`` must not raise.

    If a process crashes, ``died`` makes the result from the item and a text about how the process ended. If an item
    takes longer than ``seconds``, its process is killed, and ``late`` makes the result.
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
    """The processes, by their connections.

    ``busy`` maps the connections of working processes to the indices of their items, and ``since`` to the times at
    which these started. ``idle`` has the connections of the other processes.
    """

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
        """The index of each finished item, True, and its answer.

        If the process has crashed, False and a text about how it ended are in place of True and the answer.
        """
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
        """The connection of a new process. Raises OSError."""
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
        """Removes a process that has ended, and returns how it ended."""
        process = self.processes.pop(connection)
        connection.close()
        process.join(5)
        return _ending(process.exitcode)


def _context() -> BaseContext:
    """The start method of processes: the one that the program has set, else fork on Linux, else the default.

    Fork is fast, and safe without threads.
    """
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
    """A block that Ctrl-C does not interrupt. Processes that start in it are protected until they ignore Ctrl-C."""
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
    """The main loop of a worker process, until its connection closes or its parent ends.

    Ctrl-C is ignored, because the parent handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    watch(parent.sentinel, _end)
    try:
        while True:
            connection.send(function(connection.recv()))
    except (EOFError, OSError):
        os._exit(0)
    except BaseException:
        os._exit(70)


def _end() -> None:
    """Removes the temporary files of this process, and ends it."""
    from irlint.run.writing import discard_all

    discard_all()
    os._exit(0)


def _ending(code: int | None) -> str:
    """How a process with this exit code ended, as the end of a sentence."""
    if code is not None and code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with status {code if code is None or code < 0x10000 else hex(code)}"
