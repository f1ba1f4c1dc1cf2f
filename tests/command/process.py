"""The command as a process runs it, and the fixtures that tests of it read."""

from __future__ import annotations

import atexit
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile, mkdtemp
from typing import IO

from command import client

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = FIXTURES / "onnx" / "good" / "IRL201-broadcast-mismatch.onnx"
BAD = FIXTURES / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"
WARNING = FIXTURES / "onnx" / "bad" / "IRL104-nodes-not-sorted.onnx"
IR = FIXTURES / "openvino" / "bad" / "IRL204-pdpd-broadcast-mismatch.xml"

#: Whether runs are forks of a process that has irlint loaded, a tenth of the time; else each is a process.
FORKS = hasattr(os, "fork") and hasattr(socket, "send_fds")

#: Those of which a check imports what checks import.
MODELS = (BAD, WARNING, IR, FIXTURES / "onnx" / "good" / "small-detector.onnx")

#: Variables that count only when a process starts.
OF_A_START = ("PYTHONHASHSEED",)


def run(*arguments: object, cwd: Path | None = None, data: bytes = b"", **env: str) -> CompletedProcess[str]:
    """What the command does with these arguments, and what it writes as text."""
    return _as_text(ran(*arguments, cwd=cwd, data=data, **env))


def ran(
    *arguments: object, cwd: Path | None = None, data: bytes = b"", prelude: str = "", **env: str
) -> CompletedProcess[bytes]:
    """What the command does with these arguments, and the bytes that it writes; ``prelude`` is Python that runs before
    it."""
    given, environment = list(map(str, arguments)), {**os.environ, **env}
    with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
        stdin.write(data)
        stdin.seek(0)
        status = ended(given, cwd, environment, (stdin, stdout, stderr), prelude)
        stdout.seek(0)
        stderr.seek(0)
        return CompletedProcess(["irlint", *given], status, stdout.read(), stderr.read())


def ended(
    arguments: list[str],
    cwd: Path | None,
    environment: Mapping[str, str],
    streams: tuple[IO[bytes] | int, ...],
    prelude: str = "",
) -> int:
    """The exit status of a run with these standard streams."""
    if not FORKS or any(environment.get(name) != os.environ.get(name) for name in OF_A_START):
        code = ["-c", f"{prelude}\nfrom irlint.command.entry import main\nmain()"] if prelude else ["-m", "irlint"]
        stdin, stdout, stderr = streams
        command = [sys.executable, *code, *arguments]
        path = {"PYTHONPATH": os.pathsep.join(sys.path)} if prelude else {}
        ended = subprocess.run(
            command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env={**environment, **path}, check=False
        )
        return ended.returncode
    numbers = dict(enumerate(each if isinstance(each, int) else each.fileno() for each in streams))
    return int(client.asked(_warm(), arguments, os.fspath(cwd or os.getcwd()), dict(environment), numbers, prelude))


def words() -> str:
    """The command as the words that a shell calls it by."""
    if not FORKS:
        return shlex.join([sys.executable, "-m", "irlint"])
    return shlex.join([sys.executable, "-I", "-S", client.__file__, _warm()])


def started(*arguments: object, cwd: Path | None = None, data: bytes = b"", **env: str) -> CompletedProcess[str]:
    """``python -m irlint`` in a new process."""
    command = [sys.executable, "-m", "irlint", *map(str, arguments)]
    result = subprocess.run(command, input=data, capture_output=True, cwd=cwd, env={**os.environ, **env}, check=False)
    return _as_text(result)


@cache
def _warm() -> str:
    """The socket of the process that runs are forks of; that process ends with this one."""
    path = os.path.join(mkdtemp(prefix="irlint"), "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py")), path, *map(str, MODELS)],
            stdin=subprocess.PIPE,
            stdout=listener,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"},
        )
    atexit.register(_ended, process)
    return path


def _ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def _as_text(result: CompletedProcess[bytes]) -> CompletedProcess[str]:
    texts = result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
    assert "Traceback" not in "".join(texts), texts
    return CompletedProcess(result.args, result.returncode, *texts)
