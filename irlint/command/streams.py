"""Where a run speaks: standard output, standard error, and files that it writes."""

from __future__ import annotations

import os
import sys

from irlint.lazy_typing import NoReturn


def fail(message: str, *more: str, end: str = "") -> NoReturn:
    """Ends the run as failed: nothing that was asked for has been decided."""
    notify(f"error: {message}", *more)
    complain(end)
    raise SystemExit(2)


def notify(message: str, *more: str) -> None:
    """Tells the person who runs the command something that is no part of a report."""
    lines = [f"irlint: {message}", *(f"   = {line}" for line in more)]
    complain("".join(f"{line}\n" for line in lines))


def complain(text: str) -> None:
    """Writes to standard error, if there is one."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
    except (OSError, ValueError):
        return


def emit(text: str, encoding: str | None = None) -> None:
    """Writes to standard output, in its own encoding if none is given; a closed pipe ends the run quietly."""
    if sys.stdout is None:
        return
    encoding = encoding or sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        fail(f"cannot write to standard output: {error.strerror}")


def discard_output() -> None:
    """Lets go of what standard output did not take, so that the interpreter does not try again when it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write(file: str, text: str, option: str) -> None:
    """Writes a whole file, or none of it; devices and pipes are written to, and links are followed."""
    import tempfile

    target = os.path.realpath(file)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            with open(file, "wb") as device:
                device.write(text.encode("utf-8", "backslashreplace"))
            return
        handle, name = tempfile.mkstemp(dir=folder, prefix=".irlint-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                stream.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        fail(f"{option}: cannot write {file}: {error.strerror}")


def encoding() -> str:
    """The encoding of standard output."""
    return (sys.stdout.encoding if sys.stdout is not None else None) or "utf-8"
