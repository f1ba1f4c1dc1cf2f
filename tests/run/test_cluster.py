"""A cluster that cannot be had ends the run, and says why; what a cluster finds is tested in tests/oracles."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from command.process import GOOD, ran, run

from irlint.run import cluster
from irlint.run.deadline import TimedOut, time_limit


@pytest.mark.parametrize("executor", ["slurm", "dask://", "dask://host", "dask:8786", ""])
def test_no_executor(executor: str) -> None:
    result = run(GOOD, "--executor", executor)
    assert (result.returncode, "it has to be processes, dask, or dask://HOST:PORT" in result.stderr) == (2, True)


def test_dask_is_missing(tmp_path: Path) -> None:
    without = "import sys\nsys.modules['distributed'] = None\n"
    result = ran(GOOD, "--executor", "dask", cwd=tmp_path, prelude=without)
    assert (result.returncode, b"pip install 'irlint[dask]'" in result.stderr) == (2, True)


def test_batches_are_few_files_or_few_bytes() -> None:
    small = list(cluster._batches(enumerate("x" * 40), lambda _: 1))
    assert [len(batch.items) for batch in small] == [16, 16, 8]
    large = list(cluster._batches(enumerate([1 << 25, 1 << 25, 1, 1 << 30, 1]), lambda size: size))
    assert [[index for index, _ in batch.items] for batch in large] == [[0, 1], [2], [3], [4]]


def test_what_a_worker_lacks() -> None:
    def answered(error: Exception, batch: cluster.Batch, status: str = "running") -> object:
        def result() -> None:
            raise error

        return cluster._answered(SimpleNamespace(result=result), batch, SimpleNamespace(status=status))

    batch = cluster.Batch(((0, "a"), (1, "b")))
    with pytest.raises(cluster.NoCluster, match="a worker lacks a package or file: No module named 'irlint'"):
        answered(ModuleNotFoundError("No module named 'irlint'"), batch)
    with pytest.raises(cluster.NoCluster, match=r"irlint 0\.1\.0 is installed there"):
        answered(cluster.NoCluster("irlint 0.1.0 is installed there, but 9 here"), batch)
    killed = type("KilledWorker", (Exception,), {})()
    alone = cluster.Batch(((0, "a"),), 2)
    assert answered(killed, batch) == ([], [alone, cluster.Batch(((1, "b"),), 2)])
    assert answered(killed, alone) == ([], [cluster.Batch(alone.items, 1)])
    assert answered(killed, cluster.Batch(alone.items, 1)) == ([], [])
    cancelled = type("FutureCancelledError", (Exception,), {})()
    assert answered(cancelled, batch) == ([], [cluster.Batch(batch.items, resends=3)])
    for left, status in ((0, "running"), (4, "closed")):
        with pytest.raises(cluster.NoCluster, match="the connection to the scheduler was lost"):
            answered(cancelled, cluster.Batch(batch.items, resends=left), status)


def test_a_time_limit_in_another_thread() -> None:
    found: list[str] = []

    def work() -> None:
        try:
            with time_limit(0.05):
                until = time.monotonic() + 5
                while time.monotonic() < until:
                    pass
            found.append("went on")
        except TimedOut:
            found.append("timed out")
        with time_limit(0.2):
            found.append("in time")
        time.sleep(0.3)
        found.append("not interrupted")

    thread = Thread(target=work)
    thread.start()
    thread.join(10)
    assert found == ["timed out", "in time", "not interrupted"]
