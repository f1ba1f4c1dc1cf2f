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

#: At least this often, in seconds, processes that take too long are stopped.
WAIT_SECONDS = 0.25

#: The largest number of processes. Windows can wait for at most 63 connections at once.
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
    """(index of an item, result of ``function`` for the item), computed by ``jobs`` processes.

    An item starts only if its index is less than ``ahead`` above that of the first unfinished item. ``function``, items
    and results must be picklable, and ``function`` must not raise.

    If a process crashes, ``died(item, how the process ended)`` is the result. If an item takes longer than ``seconds``,
    its process is killed, and ``late(item)`` is the result.
    """
    waiting = enumerate(items)
    in_progress: dict[int, Item] = {}
    following = next(waiting, None)
    with _pool(function) as pool:
        while following is not None or pool.busy:
            while following is not None and len(pool.busy) < min(jobs, MOST):
                if following[0] - min(in_progress, default=following[0]) >= ahead:
                    break
                index, item = following
                in_progress[index] = item
                pool.send(index, item)
                following = next(waiting, None)
            for index, is_result, answer in pool.answers():
                item = in_progress.pop(index)
                yield index, answer if is_result else died(item, answer)
            if late is not None and seconds is not None:
                yield from ((index, late(in_progress.pop(index))) for index in pool.overdue(seconds))


class _Pool:
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.context = _context()
        #: The index of the item that a process works on, by its connection.
        self.busy: dict[Connection, int] = {}
        #: The time at which that item started, by the connection.
        self.since: dict[Connection, float] = {}
        self.idle: list[Connection] = []
        self.processes: dict[Connection, BaseProcess] = {}

    def send(self, index: int, item: Any) -> None:
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
        """(index of an item, True, result) or, after a crash, (index of an item, False, how the process ended)."""
        ready = wait([*self.busy], WAIT_SECONDS)
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
        """Kills each process that takes more than ``seconds`` for its item. Returns the indices of these items."""
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
        """Removes an ended process. Returns how it ended."""
        process = self.processes.pop(connection)
        connection.close()
        process.join(5)
        return _ending(process.exitcode)


def _context() -> BaseContext:
    """The start method of processes: the one that the program has set, else fork on Linux, else Python's default."""
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
    """A ``with`` block that Ctrl-C does not interrupt. Processes that start in the block ignore Ctrl-C, too."""
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
    """The main loop of a worker process. It ignores Ctrl-C, which its parent handles."""
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
    """A phrase such as "ended with status 1"."""
    if code is not None and code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with status {code if code is None or code < 0x10000 else hex(code)}"
