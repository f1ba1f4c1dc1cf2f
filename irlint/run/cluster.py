"""Runs a function on many items with a Dask cluster. Every item gets a result, even if a worker crashes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any, TypeVar

from irlint import __version__
from irlint.records import record, replaced
from irlint.run.processes import interruptions_wait

Item = TypeVar("Item")
Result = TypeVar("Result")

#: A batch has at most MOST_ITEMS items. A batch of several items has at most MOST_BYTES.
MOST_ITEMS = 16
MOST_BYTES = 1 << 26

#: At most this many batches are in progress for each thread of the cluster.
BATCHES_PER_THREAD = 2

#: If a worker crashes while it has an item, the item is tried again alone, at most this many times.
TRIES = 2

#: How often a batch is sent again because its results were lost.
RESENDS = 4

#: A scheduler must answer within CONNECT_SECONDS. Its cluster must have a worker within WORKER_SECONDS.
CONNECT_SECONDS = 10
WORKER_SECONDS = 60

#: The environment variable that configures the logs of workers on this machine.
LOGGING = "DASK_LOGGING__DISTRIBUTED"

#: The prefix of a scheduler's address.
SCHEME = "dask://"


class NoCluster(ValueError):
    """A cluster that does not exist or cannot do the work."""


@record
class Batch:
    """Items that are sent together to one worker."""

    #: (index of an item, item).
    items: tuple[tuple[int, Any], ...]
    #: If the batch is one item that is tried again after a crash, the number of remaining tries; else 0.
    tries: int = 0
    #: How often the batch may still be sent again if its results are lost.
    resends: int = RESENDS


def results(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    *,
    died: Callable[[Item, str], Result],
    weight: Callable[[Item], int],
    address: str = "",
    ahead: int = sys.maxsize,
) -> Iterator[tuple[int, Result]]:
    """Like ``processes.results``, on the cluster at ``address``. Without an address, ``jobs`` workers are started here.

    ``weight`` is the size of an item in bytes. If a worker crashes, each item that it had is tried again alone, up to
    TRIES times. If the worker crashes in each of these tries, ``died`` makes the result. Raises NoCluster.
    """
    waiting = _batches(enumerate(items), weight)
    under_way: dict[Any, Batch] = {}
    with _connected(address, jobs) as client:
        from distributed import as_completed

        done = as_completed(loop=client.loop)
        following = next(waiting, None)

        def submit(batch: Batch) -> None:
            future = client.submit(_worked, function, __version__, batch.items, pure=False, retries=0)
            under_way[future.key] = batch
            done.add(future)

        # Each batch in the queue of a crashed worker may have caused the crash. Their items run again, one at a time.
        suspects: list[Batch] = []
        while following is not None or under_way or suspects:
            if suspects and not under_way:
                submit(suspects.pop(0))
            room = 0 if suspects else BATCHES_PER_THREAD * max(1, sum(client.nthreads().values())) - len(under_way)
            while following is not None and room > 0 and not (under_way and next(iter(under_way.values())).tries):
                first = following.items[0][0]
                if first - min((each.items[0][0] for each in under_way.values()), default=first) >= ahead:
                    break
                submit(following)
                following, room = next(waiting, None), room - 1
            future = next(done)
            batch = under_way.pop(future.key)
            answers, again = _answered(future, batch, client)
            yield from answers
            suspects += again
            if not answers and not again:
                ((index, item),) = batch.items
                yield index, died(item, "ended, and so did the worker that tried again")
            future.release()


def _batches(items: Iterator[tuple[int, Item]], weight: Callable[[Item], int]) -> Iterator[Batch]:
    collected: list[tuple[int, Item]] = []
    total = 0
    for index, item in items:
        weight_of_item = weight(item)
        if collected and (len(collected) >= MOST_ITEMS or total + weight_of_item > MOST_BYTES):
            yield Batch(tuple(collected))
            collected, total = [], 0
        collected.append((index, item))
        total += weight_of_item
    if collected:
        yield Batch(tuple(collected))


def _answered(future: Any, batch: Batch, client: Any) -> tuple[list[tuple[int, Any]], list[Batch]]:
    """(results of a batch, batches to try again). Both are empty if a crash was the last try of an item.

    Raises NoCluster if the batch failed for a reason other than a crash or lost results.
    """
    try:
        return future.result(), []
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":
            tries = batch.tries - 1 if batch.tries else TRIES
            return [], [Batch((each,), tries) for each in batch.items if tries]
        # If a worker crashes before its results are fetched, the results are lost.
        if "Cancelled" in name and client.status == "running" and batch.resends:
            return [], [replaced(batch, resends=batch.resends - 1)]
        raise NoCluster(_reason(error)) from None


def _reason(error: BaseException) -> str:
    first = str(error).partition("\n")[0]
    if "Cancelled" in type(error).__name__:
        return "the connection to the scheduler was lost"
    if isinstance(error, ImportError):
        return f"a worker lacks a package or file: {first}"
    return f"a worker cannot do the work: {type(error).__name__}: {first}"


#: Held while a worker processes a batch, because two checks cannot run at once in one process.
_ONE_BATCH = Lock()


def _worked(function: Callable[[Any], Any], version: str, items: tuple[tuple[int, Any], ...]) -> list[tuple[int, Any]]:
    """The results of a batch. This runs in the worker."""
    if version != __version__:
        raise NoCluster(f"irlint {__version__} is installed there, but {version} here")
    with _ONE_BATCH:
        return [(index, function(item)) for index, item in items]


def dask_setup(worker: Any) -> None:
    """Silences the logs of a worker on this machine. Dask calls this function by its name."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)


@contextmanager
def _connected(address: str, jobs: int) -> Iterator[Any]:
    """A client of the cluster at ``address``, or of a temporary cluster with ``jobs`` workers. Raises NoCluster."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise NoCluster("--executor dask needs Dask, which is not installed: pip install 'irlint[dask]'") from None
    import logging
    from multiprocessing import resource_tracker

    import dask

    place = address.removeprefix(SCHEME)
    with ExitStack() as stack:
        # Findings report the crashes of workers, so Dask need not log them.
        for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.core"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        settings = {
            "distributed.scheduler.allowed-failures": 0,
            f"distributed.nanny.pre-spawn-environ.{LOGGING}": "critical",
        }
        stack.enter_context(dask.config.set(settings))
        try:
            if place:
                client = Client(f"tcp://{place}", timeout=CONNECT_SECONDS, set_as_default=False)
            else:
                # The default port of the dashboard may be in use.
                dashboard = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
                preload = [__name__, *dask.config.get("distributed.worker.preload")]
                options = {
                    "threads_per_worker": 1,
                    "memory_limit": 0,
                    "preload": preload,
                    "scheduler_kwargs": dashboard,
                }
                # The start of the resource tracker unblocks Ctrl-C, so it must start before the block below.
                if os.name == "posix":
                    resource_tracker.ensure_running()
                with interruptions_wait():
                    cluster = LocalCluster(jobs, silence_logs=logging.CRITICAL, **options)
                stack.enter_context(cluster)
                client = Client(cluster, set_as_default=False)
            stack.enter_context(client)
        except (OSError, ValueError) as error:
            raise NoCluster(f"the scheduler {place or 'on this machine'} cannot be reached: {_short(error)}") from None
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except Exception:
            raise NoCluster(f"the scheduler {place} has no workers") from None
        yield client


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
