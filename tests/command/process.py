"""The command in a process of its own, and the fixtures that tests of it read."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import NoReturn

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GOOD = FIXTURES / "onnx" / "good" / "IRL201-broadcast-mismatch.onnx"
BAD = FIXTURES / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"
WARNING = FIXTURES / "onnx" / "bad" / "IRL104-nodes-not-sorted.onnx"
IR = FIXTURES / "openvino" / "bad" / "IRL204-pdpd-broadcast-mismatch.xml"


def run(*arguments: object, cwd: Path | None = None, data: bytes = b"", **env: str) -> CompletedProcess[str]:
    """The command as ``started`` runs it, in a fork of this process where that makes no difference: a twentieth of the time."""
    if not hasattr(os, "fork") or any(name.startswith("PYTHON") for name in env):
        return started(*arguments, cwd=cwd, data=data, **env)
    import irlint.checks
    import irlint.command.cli
    import irlint.parsers.onnx
    import irlint.parsers.openvino  # noqa: F401

    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(data)
        given.seek(0)
        child = os.fork()
        if not child:
            _child(list(map(str, arguments)), cwd, env, (given.fileno(), out.fileno(), err.fileno()))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return _completed(["irlint", *map(str, arguments)], status, out.read(), err.read())


def _child(arguments: list[str], cwd: Path | None, env: dict[str, str], streams: tuple[int, int, int]) -> NoReturn:
    status: object = 1
    try:
        for standard, stream in enumerate(streams):
            os.dup2(stream, standard)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), *(os.fdopen(fd, "w", encoding="utf-8") for fd in (1, 2))
        os.environ.update(env)
        os.chdir(cwd or os.getcwd())
        sys.argv = ["irlint", *arguments]
        from irlint.command.entry import main

        main()
    except SystemExit as ended:
        status = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


def started(*arguments: object, cwd: Path | None = None, data: bytes = b"", **env: str) -> CompletedProcess[str]:
    """``python -m irlint`` in a new process."""
    command = [sys.executable, "-m", "irlint", *map(str, arguments)]
    result = subprocess.run(command, input=data, capture_output=True, cwd=cwd, env={**os.environ, **env}, check=False)
    return _completed(command, result.returncode, result.stdout, result.stderr)


def _completed(command: list[str], status: int, out: bytes, err: bytes) -> CompletedProcess[str]:
    texts = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    assert "Traceback" not in "".join(texts), texts
    return CompletedProcess(command, status, *texts)
