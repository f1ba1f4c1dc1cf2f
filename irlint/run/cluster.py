"""Work on many items by a Dask cluster: a result of each, whatever becomes of a worker."""

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

#: Items are sent together until they are so many, or have so many bytes.
MOST_ITEMS = 16
MOST_BYTES = 1 << 26

#: For each thread of the cluster so many batches are under way.
DEEP = 2

#: An item over which a worker has ended is tried so often alone.
CHANCES = 2

#: A scheduler has so many seconds to answer, and its cluster so many to have a worker.
CONNECT = 10
WORKERS = 60

#: Workers on this machine set up their logs by it at start.
LOGGING = "DASK_LOGGING__DISTRIBUTED"

#: The scheme of a scheduler's address as it is given.
SCHEME = "dask://"


class NoCluster(ValueError):
    """A cluster that is not there, or that cannot do the work."""


@record
class Batch:
    """Items with their indices, which are worked on together; ``chances`` are the workers that an item may end which is
    alone in the cluster, and ``left`` counts how often results may still get lost."""

    items: tuple[tuple[int, Any], ...]
    chances: int = 0
    left: int = 4


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
    """``function`` of every item with the item's index, as the workers of the cluster at an ``address`` have worked it
    out, or ``jobs`` workers on this machine; as ``processes.results`` gives it.

    Items that weigh little are sent together. Where a worker ends over items, each is tried again alone, and ``died``
    makes the result of one that ends a second one. Raises NoCluster.
    """
    waiting = _batches(enumerate(items), weight)
    under_way: dict[Any, Batch] = {}
    with _connected(address, jobs) as client:
        from distributed import as_completed

        done = as_completed(loop=client.loop)
        following = next(waiting, None)

        def give(batch: Batch) -> None:
            future = client.submit(_worked, function, __version__, batch.items, pure=False, retries=0)
            under_way[future.key] = batch
            done.add(future)

        # Whoever is queued at a worker that ends is suspected: so each item of theirs is tried again while nothing else
        # is under way.
        suspects: list[Batch] = []
        while following is not None or under_way or suspects:
            if suspects and not under_way:
                give(suspects.pop(0))
            room = 0 if suspects else DEEP * max(1, sum(client.nthreads().values())) - len(under_way)
            while following is not None and room > 0 and not (under_way and next(iter(under_way.values())).chances):
                first = following.items[0][0]
                if first - min((each.items[0][0] for each in under_way.values()), default=first) >= ahead:
                    break
                give(following)
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
    held: list[tuple[int, Item]] = []
    total = 0
    for index, item in items:
        own = weight(item)
        if held and (len(held) >= MOST_ITEMS or total + own > MOST_BYTES):
            yield Batch(tuple(held))
            held, total = [], 0
        held.append((index, item))
        total += own
    if held:
        yield Batch(tuple(held))


def _answered(future: Any, batch: Batch, client: Any) -> tuple[list[tuple[int, Any]], list[Batch]]:
    """The results of a batch, or what of it is to be tried again; neither where it has ended workers twice. Raises
    NoCluster where something else went wrong."""
    try:
        return future.result(), []
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":
            left = batch.chances - 1 if batch.chances else CHANCES
            return [], [Batch((each,), left) for each in batch.items if left]
        # The results of a worker that ends before they are fetched go with it.
        if "Cancelled" in name and client.status == "running" and batch.left:
            return [], [replaced(batch, left=batch.left - 1)]
        raise NoCluster(_reason(error)) from None


def _reason(error: BaseException) -> str:
    first = str(error).partition("\n")[0]
    if "Cancelled" in type(error).__name__:
        return "the connection to the scheduler was lost"
    if isinstance(error, ImportError):
        return f"a worker lacks a package or file: {first}"
    return f"a worker cannot do the work: {type(error).__name__}: {first}"


#: A worker with several threads checks one file at a time.
_ALONE = Lock()


def _worked(function: Callable[[Any], Any], version: str, items: tuple[tuple[int, Any], ...]) -> list[tuple[int, Any]]:
    """What a worker does: the results of a batch."""
    if version != __version__:
        raise NoCluster(f"irlint {__version__} is installed there, but {version} here")
    with _ALONE:
        return [(index, function(item)) for index, item in items]


def dask_setup(worker: Any) -> None:
    """What Dask calls in a worker on this machine: findings report what becomes of the worker, so it writes nothing
    itself."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)


@contextmanager
def _connected(address: str, jobs: int) -> Iterator[Any]:
    """A client of the cluster, which is gone afterwards if it is one of its own."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise NoCluster("--executor dask needs Dask, which is not installed: pip install 'irlint[dask]'") from None
    import logging
    from multiprocessing import resource_tracker

    import dask

    place = address.removeprefix(SCHEME)
    with ExitStack() as stack:
        # Findings report what becomes of workers.
        for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.core"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        settings = {
            "distributed.scheduler.allowed-failures": 0,
            f"distributed.nanny.pre-spawn-environ.{LOGGING}": "critical",
        }
        stack.enter_context(dask.config.set(settings))
        try:
            if place:
                client = Client(f"tcp://{place}", timeout=CONNECT, set_as_default=False)
            else:
                # Without a port of its own choice its page would ask for a fixed one, which may be taken.
                page = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
                preload = [__name__, *dask.config.get("distributed.worker.preload")]
                options = {"threads_per_worker": 1, "memory_limit": 0, "preload": preload, "scheduler_kwargs": page}
                # Its start lets interruptions through again, to workers as well: they are this process's affair.
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
            client.wait_for_workers(1, timeout=WORKERS)
        except Exception:
            raise NoCluster(f"the scheduler {place} has no workers") from None
        yield client


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
