"""Where a run writes: standard output, standard error, and files that it writes."""

from __future__ import annotations

import os
import sys
from errno import EINVAL

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
    """Writes to standard output, in its own encoding if none is given, and with no line end changed; a closed pipe ends the
    run quietly."""
    if sys.stdout is None:
        return
    encoding = encoding or sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except OSError as error:
        discard_output()
        if not _is_closed_pipe(error):
            fail(f"cannot write to standard output: {error.strerror}")


def _is_closed_pipe(error: OSError) -> bool:
    """Whether nobody reads any more what was written; Windows says so by another number."""
    from irlint.reporters.console import WINDOWS

    return isinstance(error, BrokenPipeError) or (WINDOWS and error.errno == EINVAL)


def discard_output() -> None:
    """Lets go of what standard output did not take, so that the interpreter does not try again when it ends."""
    try:
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def write(file: str, text: str, option: str) -> None:
    """Writes a whole file, or none of it; devices and pipes are written to, and links are followed."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if _is_standard_output(file):
            emit(text, "utf-8")
        elif os.path.exists(file) and not os.path.isfile(file):
            _write_into(file, data)
        else:
            _replace(os.path.realpath(file), data)
    except OSError as error:
        fail(f"{option}: cannot write {file}: {error.strerror}")


def _is_standard_output(file: str) -> bool:
    """Whether a file such as ``/dev/stdout`` is the one that standard output goes to: replaced, it would lose what is there."""
    try:
        named = os.stat(file)
        return sys.stdout is not None and named.st_ino != 0 and os.path.samestat(named, os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def _write_into(file: str, data: bytes) -> None:
    with open(file, "wb") as stream:
        stream.write(data)


def _replace(file: str, data: bytes) -> None:
    """Puts a whole new file in the place of one, with its permissions; where that may not be, writes into it."""
    import tempfile

    try:
        handle, name = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".irlint-")
    except PermissionError:
        return _write_into(file, data)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(name, _permissions(file))
        os.replace(name, file)
    except PermissionError:
        os.unlink(name)
        _write_into(file, data)
    except BaseException:
        os.unlink(name)
        raise


def _permissions(file: str) -> int:
    """Those of a file, or of a new one where there is none."""
    try:
        return os.stat(file).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def encoding() -> str:
    """The encoding of standard output."""
    return (sys.stdout.encoding if sys.stdout is not None else None) or "utf-8"
