"""A process that has irlint loaded: each run that it is asked for is a fork of it, so that none knows of another.

``warm.py SOCKET MODEL...`` listens at the socket that is its standard output until its standard input ends; what a
check of the models imports is loaded when the first run comes.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import marshal
import os
import pkgutil
import select
import shutil
import socket
import sys
import traceback
from typing import Any, NoReturn


def serve(path: str, models: list[str]) -> None:
    listener = socket.socket(fileno=os.dup(1))
    os.dup2(2, 1)
    folder = os.path.dirname(path)
    load(models, folder)
    try:
        while 0 not in select.select([listener, 0], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                answer(connection)
            connection.close()
            bury()
    finally:
        shutil.rmtree(folder)


def bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


#: Modules of irlint that are left to the run that imports them: operators, of which a run needs few, and what imports
#: half of what there is.
SELDOM = ("irlint.ops.", "irlint.parsers.remote.web", "irlint.pytest_plugin", "irlint.__main__")

#: What some runs import of others.
OTHERS = (
    "gzip",
    "importlib.util",
    "lxml.etree",
    "multiprocessing.popen_fork",
    "pickle",
    "shlex",
    "signal",
    "subprocess",
)


def load(models: list[str], folder: str) -> None:
    """Imports what runs import, some by runs: with every form, with a configuration and a baseline, and of another
    command."""
    import irlint
    from irlint.ops import tables
    from irlint.reporters.forms import FORMS

    tables()
    for each in pkgutil.walk_packages(irlint.__path__, "irlint."):
        if not each.name.startswith(SELDOM):
            importlib.import_module(each.name)
    for name in OTHERS:
        importlib.import_module(name)
    config, baseline = (os.path.join(folder, name) for name in ("irlint.toml", "baseline.json"))
    with open(config, "w") as file:
        file.write('ignore = ["IRL104"]\nper-file-ignores = { "*.txt" = ["IRL2"] }\n')
    for arguments in (
        [*models, *(f"--output={form}={os.devnull}" for form in FORMS)],
        [*models, "--config", config, "--baseline", baseline, "--update-baseline"],
        ["rules"],
    ):
        sys.stdout = sys.stderr = io.TextIOWrapper(io.BytesIO(), "utf-8")
        called(arguments)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    gc.collect()
    gc.freeze()


def answer(connection: socket.socket) -> NoReturn:
    """Runs what the connection asks for, sends the exit status, and ends."""
    status = 1
    try:
        status = asked(connection)
    except BaseException:
        traceback.print_exc()
    finally:
        connection.sendall(bytes([status]))
        os._exit(0)


def asked(connection: socket.socket) -> int:
    data, numbers, *_ = socket.recv_fds(connection, 4, 3)
    (arguments, cwd, environment, standing, prelude) = marshal.loads(exactly(connection, int.from_bytes(data, "big")))
    for standard in (0, 1, 2):
        if standard in standing:
            os.dup2(numbers[standing.index(standard)], standard)
        else:
            os.close(standard)
    for number in numbers:
        os.close(number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.stdin, sys.stdout, sys.stderr = (stream(standard, standard in standing) for standard in (0, 1, 2))
    exec(prelude, {"__name__": "prelude"})
    status = called(arguments)
    atexit._run_exitfuncs()
    return ended(status)


def exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        data += connection.recv(length - len(data))
    return data


def stream(standard: int, standing: bool) -> Any:
    """A standard stream as a process has it that starts in this environment."""
    if not standing:
        return None
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    errors = "backslashreplace" if standard == 2 else errors or "strict"
    raw = os.fdopen(standard, "wb" if standard else "rb", closefd=False)
    return io.TextIOWrapper(raw, encoding or "utf-8", errors, line_buffering=standard == 2 or raw.isatty())


def called(arguments: list[str]) -> int:
    """The exit status of the command."""
    from irlint.command.entry import main

    sys.argv = ["irlint", *arguments]
    try:
        main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return int(isinstance(ended.code, str)) if not isinstance(ended.code, int) else ended.code
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def ended(status: int) -> int:
    """The exit status once nothing is left to be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        print("Exception ignored in: <stdout>", file=sys.stderr)
        return 120
    return status


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
