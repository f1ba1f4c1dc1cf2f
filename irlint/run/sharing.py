"""Distributes files to several processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial

from irlint.lazy_typing import TYPE_CHECKING
from irlint.run.deadline import GRACE
from irlint.run.files import PROCESSES, Outcome, Settings, died, outcome, timed_out

if TYPE_CHECKING:
    from irlint.parsers.remote.locations import Located

#: The argument ``ahead`` of ``processes.results`` if outcomes are ordered. It limits the number of outcomes in memory.
AHEAD = 1000


def shared(
    files: Iterable[str | Located], settings: Settings, jobs: int, *, ordered: bool, executor: str = PROCESSES
) -> Iterator[Outcome]:
    """The outcomes of the files. ``jobs`` processes check them.

    With ``ordered``, the outcomes have the order of the files. Otherwise, the largest files start first, and each
    outcome is yielded at once. The ``executor`` is PROCESSES, ``dask`` for a cluster on this machine, or
    ``dask://HOST:PORT``. Raises ValueError if a cluster is not available.
    """
    if not ordered:
        files = sorted(files, key=_size, reverse=True)
        if len(files) < 2 and executor == PROCESSES:
            yield from (outcome(settings, file) for file in files)
            return
        jobs = min(jobs, len(files))
    answers = _answers(files, settings, jobs, AHEAD if ordered else sys.maxsize, executor)
    yield from in_order(answers) if ordered else (answer for _, answer in answers)


def _answers(
    files: Iterable[str | Located], settings: Settings, jobs: int, ahead: int, executor: str
) -> Iterator[tuple[int, Outcome]]:
    """(index of a file, outcome of this file), as soon as it is known."""
    # A forked process then finds these modules loaded. If it has no free file handle, it could not load them itself.
    from irlint.reporters import plain  # noqa: F401
    from irlint.run import one_file as inspection  # noqa: F401

    work = partial(outcome, settings)
    if executor != PROCESSES:
        from irlint.run import cluster

        address = executor if executor.startswith(cluster.SCHEME) else ""
        return cluster.results(work, files, jobs, died=died, weight=_size, address=address, ahead=ahead)
    from irlint.run import processes

    most = None if settings.timeout is None else settings.timeout + GRACE
    late = partial(timed_out, settings.timeout or 0)
    return processes.results(work, files, jobs, died=died, late=late, seconds=most, ahead=ahead)


def in_order(answers: Iterable[tuple[int, Outcome]]) -> Iterator[Outcome]:
    """The outcomes in the order of their indices, each as soon as all earlier ones are known."""
    waiting: dict[int, Outcome] = {}
    following = 0
    for index, answer in answers:
        waiting[index] = answer
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _size(file: str | Located) -> int:
    if not isinstance(file, str):
        return file.size or 0
    try:
        return os.stat(file).st_size
    except OSError:
        return 0
