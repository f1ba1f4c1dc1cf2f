"""Checks by a Dask cluster: the report of one process, whatever becomes of a worker."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from command.process import BAD, FIXTURES, GOOD, ran, run, started

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `dask`"),
]

#: What workers begin with: files are deadly by their names, some of them once; and a line of Dask's own log, that
#: nobody is to see.
PRELOAD = """
import logging, os, signal, time
from irlint.run import one_file

logging.getLogger("distributed.core").info("a connection was made")

if not hasattr(one_file, "sound"):
    one_file.sound = one_file.inspected

def inspected(path, *rest, **options):
    name = os.path.basename(path)
    mark = path + ".once"
    if name.startswith("kill") or (name.startswith("once") and not os.path.exists(mark)):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("slow"):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            pass
    return one_file.sound(path, *rest, **options)

one_file.inspected = inspected
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    preload = tmp_path / "preload.py"
    preload.write_text(PRELOAD)
    return {
        "DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([str(preload)]),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


def filled(folder: Path, count: int) -> Path:
    """A folder with so many models, one in seven of them broken, and with other files."""
    sources = [GOOD, GOOD, GOOD, BAD, *sorted((FIXTURES / "onnx" / "good").glob("*.onnx"))[:3]]
    folder.mkdir()
    for number in range(count):
        shutil.copy(sources[number % 7], folder / f"{number:04}.onnx")
    (folder / "empty.onnx").touch()
    (folder / "pom.xml").write_text("<project/>")
    return folder


@pytest.mark.parametrize(("form", "count"), [("jsonl", 2000), ("json", 200)])
def test_as_many_files_say_the_same(tmp_path: Path, env: dict[str, str], form: str, count: int) -> None:
    models = filled(tmp_path / "models", count)
    for number in (3, count // 3, count // 2):
        shutil.copy(BAD, models / f"once{number}.onnx")
    one = run("models", "--format", form, "--jobs", "1", cwd=tmp_path)
    cluster = started("models", "--format", form, "--executor", "dask", "--jobs", "2", cwd=tmp_path, **env)
    assert (cluster.returncode, cluster.stderr) == (1, "")
    assert cluster.stdout == one.stdout
    assert len(list(models.glob("*.once"))) == 3


def test_a_file_that_ends_workers_costs_one_finding(tmp_path: Path, env: dict[str, str]) -> None:
    models = filled(tmp_path / "models", 40)
    shutil.copy(GOOD, models / "kill.onnx")
    result = started("models", "--format", "json", "--executor", "dask", "--jobs", "2", cwd=tmp_path, **env)
    assert result.stderr == ""
    report = json.loads(result.stdout)
    found = [finding for finding in report["findings"] if finding["code"] == "IRL008"]
    assert [(each["path"], each["message"]) for each in found] == [
        (
            "models/kill.onnx",
            "the check of this file failed: the process that checked it ended, and so did the worker that tried again",
        )
    ]
    assert report["summary"]["errors"] == 6 + 1 + 1


def test_a_file_that_takes_too_long(tmp_path: Path, env: dict[str, str]) -> None:
    models = filled(tmp_path / "models", 3)
    shutil.copy(GOOD, models / "slow.onnx")
    arguments = ("models", "--format", "json", "--executor", "dask", "--jobs", "1", "--timeout", "1")
    report = json.loads(started(*arguments, cwd=tmp_path, **env).stdout)
    assert [(each["path"], each["code"]) for each in report["findings"]] == [
        ("models/empty.onnx", "IRL001"),
        ("models/slow.onnx", "IRL010"),
    ]


@pytest.fixture
def scheduler(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a cluster that somebody else has started."""
    import distributed

    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with distributed.LocalCluster(2, threads_per_worker=2, dashboard_address=None) as cluster:
        yield cluster.scheduler_address.removeprefix("tcp://")


def test_a_cluster_by_its_address(scheduler: str, tmp_path: Path) -> None:
    models = filled(tmp_path / "models", 60)
    arguments = (str(models), "--format", "json")
    one = run(*arguments, "--jobs", "1")
    cluster = run(*arguments, "--executor", f"dask://{scheduler}")
    assert (cluster.returncode, cluster.stdout, cluster.stderr) == (1, one.stdout, "")


def test_a_scheduler_that_cannot_be_reached(tmp_path: Path) -> None:
    quick = "from irlint.run import cluster\ncluster.CONNECT_SECONDS = 0.2\n"
    for form in ("text", "jsonl"):
        result = ran(GOOD, "--executor", "dask://127.0.0.1:9", "--format", form, cwd=tmp_path, prelude=quick)
        assert (result.returncode, result.stdout) == (2, b"")
        assert b"irlint: error: the scheduler 127.0.0.1:9 cannot be reached" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX")
def test_an_interruption_ends_all_of_it(tmp_path: Path) -> None:
    models = filled(tmp_path / "models", 300)
    command = [
        sys.executable,
        "-m",
        "irlint",
        str(models),
        "--executor",
        "dask",
        "--jobs",
        "2",
        "--resume",
        "run.jsonl",
    ]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, start_new_session=True) as process:
        until = time.monotonic() + 60
        while written(tmp_path / "run.jsonl") < 5000:
            assert time.monotonic() < until
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


def written(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
