"""Work on many items by several processes: a result of each, whatever becomes of a process."""

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

#: So often somebody who waits for results hears of it, in seconds.
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
    """``function`` of every item with the item's index, as ``jobs`` processes have worked it out; items are begun in
    the order given, and none so many as ``ahead`` before the first that is not done.

    ``function``, items and results have to be such that they can be pickled, and ``function`` raises nothing. Where a
    process ends before it has answered, ``died`` makes the result from the item and a text that says how the process
    ended. With ``seconds`` one that takes longer over an item is ended, and ``late`` makes the result.
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
    """The processes: those at work, by their connections with the index of the item, and those that wait for some."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.context = _context()
        self.busy: dict[Connection, int] = {}
        self.since: dict[Connection, float] = {}
        self.idle: list[Connection] = []
        self.processes: dict[Connection, BaseProcess] = {}

    def give(self, index: int, item: Any) -> None:
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
        """The index of each item that is done, whether there is an answer, and the answer or how the process ended."""
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
        """The indices of the items that have been worked on for longer; their processes are ended."""
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
    """How processes begin: as somebody has set it, else by a fork on Linux, where it is quick and nothing here has
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
    """Holds back Ctrl-C, also from a process that starts meanwhile, until that ignores it, and from threads that do and
    what these start."""
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
    """A process: it ends with its connection, or with the one that started it, whatever it is at work on; interruptions
    are the latter's affair."""
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
    """Ends a process whose parent has ended."""
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
