"""Writes to standard output, standard error, and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import EINVAL, EMFILE

from irlint.lazy_typing import NoReturn

#: If another run has locked a file, the lock is tried LOCK_TRIES times, with LOCK_PAUSE seconds between two tries.
LOCK_TRIES, LOCK_PAUSE = 500, 0.02


def fail(message: str, *more: str, closing: str = "") -> NoReturn:
    """Writes a message, further lines and ``closing`` to standard error; raises SystemExit with status 2."""
    notify(f"error: {message}", *more)
    emit_stderr(closing)
    raise SystemExit(2)


def reason(error: OSError) -> str:
    """Why a file cannot be used. If the error has the name of the file, the name comes first."""
    text = error.strerror or str(error)
    if error.errno == EMFILE:
        return f"{text}: raise the limit of this process (ulimit -n), or give --jobs 1"
    return f"{os.fspath(error.filename)}: {text}" if error.filename else text


def notify(message: str, *more: str) -> None:
    """Writes a message with further lines to standard error."""
    from irlint.reporters.plain import safe

    lines = [f"irlint: {safe(message)}", *(f"   = {safe(line)}" for line in more)]
    emit_stderr("".join(f"{line}\n" for line in lines))


def emit_stderr(text: str) -> None:
    """Writes a text to standard error with control characters and CI commands escaped. Ignores errors."""
    if not text:
        return
    from irlint.reporters.plain import inert

    try:
        if sys.stderr is not None:
            sys.stderr.write(inert(text))
    except (OSError, ValueError):
        return


def emit(text: str, encoding: str | None = None, notation: str = "text") -> None:
    """Writes to standard output, with unchanged line ends.

    Escapes control characters and CI commands as the ``notation`` allows. With the notation "", escapes nothing.
    """
    if sys.stdout is None:
        return
    if notation:
        from irlint.reporters.plain import unheard

        text = unheard(text, notation)
    encoding = encoding or sys.stdout.encoding or "utf-8"
    emit_blocks([text.encode(encoding, "backslashreplace")])


def _is_closed_pipe(error: OSError) -> bool:
    """Whether the process that reads the output has ended. On Windows, this is EINVAL."""
    from irlint.reporters.console import WINDOWS

    return isinstance(error, BrokenPipeError) or (WINDOWS and error.errno == EINVAL)


def discard_output() -> None:
    """Discards output that is still buffered. Otherwise, the interpreter would try to write it at its end."""
    try:
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def write(file: str, text: str, option: str, notation: str = "") -> None:
    """Writes a text to a file or to standard output. With a ``notation``, escapes control characters."""
    if notation:
        from irlint.reporters.plain import visible

        text = visible(text, notation)
    if _is_standard_output(file):
        emit(text, "utf-8", notation)
    else:
        write_blocks(file, [text.encode("utf-8", "backslashreplace")], option, in_place=True)


def write_blocks(file: str, blocks: Iterable[bytes], option: str, *, in_place: bool = False) -> None:
    """Writes bytes to a file or the target of a link; an error ends the run.

    A regular file is replaced by a complete new file. If the folder permits no new file, the file is overwritten, but
    only with ``in_place``, for which ``blocks`` must be a list. Devices and pipes are written to.
    """
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            _write_into(file, blocks)
        else:
            _replace(os.path.realpath(file), blocks, in_place=in_place)
    except OSError as error:
        fail(f"{option}: cannot write {file}: {error.strerror}")


def emit_blocks(blocks: Iterable[bytes]) -> None:
    """Writes bytes to standard output.

    Discards all output if its reader has closed the pipe. Other errors end the run.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.writelines(blocks)
        sys.stdout.buffer.flush()
    except OSError as error:
        discard_output()
        if not _is_closed_pipe(error):
            fail(f"cannot write to standard output: {error.strerror}")


def _is_standard_output(file: str) -> bool:
    """Whether a file is standard output, such as ``/dev/stdout``. Replacing it would lose earlier output."""
    try:
        named = os.stat(file)
        return sys.stdout is not None and named.st_ino != 0 and os.path.samestat(named, os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def _write_into(file: str, blocks: Iterable[bytes]) -> None:
    with open(file, "wb") as stream:
        stream.writelines(blocks)


def _replace(file: str, blocks: Iterable[bytes], *, in_place: bool) -> None:
    """Replaces a file by a new one with the same permissions; raises OSError.

    With ``in_place``, overwrites it if the folder permits no new file.
    """
    from irlint.run.writing import permissions, replace_file

    try:
        replace_file(file, blocks, permissions(file))
    except PermissionError:
        if not in_place:
            raise
        _write_into(file, blocks)


@contextmanager
def locked(file: str) -> Iterator[None]:
    """A context that locks the folder of a file against other runs.

    The block runs without a lock if LOCK_TRIES attempts fail, or if the folder cannot be opened.
    """
    import time

    handle = _lock_handle(os.path.dirname(os.path.realpath(file)))
    try:
        for _ in range(LOCK_TRIES if handle is not None else 0):
            if _lock(handle):
                break
            time.sleep(LOCK_PAUSE)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _lock_handle(folder: str) -> int | None:
    """The handle of a folder to lock; None if it cannot be opened.

    On Windows, which cannot lock folders, a file in the folder for temporary files is locked instead.
    """
    import tempfile
    from hashlib import sha256

    try:
        if os.name != "nt":
            return os.open(folder, os.O_RDONLY)
        name = f"irlint-{sha256(os.path.normcase(folder).encode()).hexdigest()[:16]}.lock"
        return os.open(os.path.join(tempfile.gettempdir(), name), os.O_RDWR | os.O_CREAT)
    except OSError:
        return None


def _lock(handle: int | None) -> bool:
    """Locks the file of a handle until the handle is closed; returns whether it succeeded."""
    from importlib import import_module

    try:
        if os.name == "nt":
            windows = import_module("msvcrt")
            windows.locking(handle, windows.LK_NBLCK, 1)
        else:
            unix = import_module("fcntl")
            unix.flock(handle, unix.LOCK_EX | unix.LOCK_NB)
    except OSError:
        return False
    return True


def encoding() -> str:
    """The encoding of standard output."""
    return (sys.stdout.encoding if sys.stdout is not None else None) or "utf-8"
