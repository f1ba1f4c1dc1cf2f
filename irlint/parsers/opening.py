"""Opens regular files and URLs; pipes and devices are refused."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from irlint.lazy_typing import Any, BinaryIO

#: The largest number of bytes of each kind of file.
MOST = {"document": 1 << 31, "standard input": 1 << 30, "configuration": 1 << 24, "baseline": 1 << 28}

#: No text has this many zero bytes in a row, in any encoding.
ZEROS = bytes(64)

#: The ``Trace`` that records each opened file, or None.
trace: Any = None

#: The error codes that the system uses if a process, or the machine, has too many open files.
NO_HANDLES = (errno.EMFILE, errno.ENFILE)


class NotListed(OSError):
    """A server does not list its folders."""


#: The last error of ``opened`` with a code in NO_HANDLES.
exhausted: OSError | None = None


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL. Its scheme must have at least two letters: one letter is a Windows drive."""
    scheme, found, _ = os.fspath(path).partition("://")
    return bool(found) and len(scheme) > 1 and scheme.replace("+", "").replace("-", "").isalnum()


def opened(path: str | os.PathLike[str], *, advice: str = "") -> BinaryIO:
    """The file at a path or URL, opened without a buffer.

    Raises OSError if it cannot be opened. For a pipe or a device, the message of the error includes ``advice``.
    """
    if is_url(path):
        from irlint.parsers.remote import session

        return session.opened(os.fspath(path))  # type: ignore[no-any-return]
    _refuse_special_file(os.stat(path), path, advice)
    try:
        file: Any = open(path, "rb", buffering=0, opener=_unblocked)  # noqa: SIM115
    except OSError as error:
        if error.errno in NO_HANDLES:
            global exhausted
            exhausted = error
        raise
    try:
        _refuse_special_file(os.fstat(file.fileno()), path, advice)
    except OSError:
        file.close()
        raise
    return file if trace is None else trace.opened(file, path)  # type: ignore[no-any-return]


def file_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    """All bytes of a file. A ``document`` is cut as in ``without_zeros``.

    ``what`` is a key of MOST. Raises OSError if the file cannot be read or is longer than MOST allows.
    """
    with opened(path) as file:
        return open_file_bytes(file, path, what)


def open_file_bytes(file: BinaryIO, path: str | os.PathLike[str], what: str) -> bytes:
    """``file_bytes`` for an open file."""
    data = file.read() if size(file) <= MOST[what] else None
    if data is None or len(data) > MOST[what]:
        raise OSError(errno.EFBIG, f"it has more than the {MOST[what]:,} bytes that irlint reads", os.fspath(path))
    return without_zeros(data) if what == "document" else data


def without_zeros(data: bytes) -> bytes:
    """A document, cut a few bytes after the first run of zero bytes as long as ZEROS begins. OpenVINO stops there."""
    at = data.find(ZEROS)
    return data if at < 0 else data[: at // 4 * 4 + 8]


def size(file: BinaryIO) -> int:
    """The number of bytes of an open file; raises OSError if a remote server does not state it."""
    known: int | None = getattr(file, "size", None)
    return os.fstat(file.fileno()).st_size if known is None else known


def beside(path: str, name: str) -> str:
    """The path of a file whose ``name`` is relative to the folder of ``path``."""
    return f"{path.rpartition('/')[0]}/{name}" if is_url(path) else os.path.join(os.path.dirname(path), name)


def _refuse_special_file(status: os.stat_result, path: str | os.PathLike[str], advice: str) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EINVAL, f"it is not a regular file{advice}", os.fspath(path))


def _unblocked(path: str, flags: int) -> int:
    """Opens a file without waiting. If the path is a pipe, an ordinary ``open`` would wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def shrunk(file: BinaryIO) -> OSError:
    """An error for a file that became shorter while it was read."""
    return OSError(errno.EIO, "it was truncated while irlint read it", file.name)


def within(path: str, folders: Iterable[str]) -> bool:
    """Whether an absolute path is one of the folders or inside one."""
    return any(path == folder or path.startswith(os.path.join(folder, "")) for folder in folders)


def lies_elsewhere(path: str) -> bool:
    """Whether a path is a link to a file in another folder. Reports must not show the content of such a file."""
    return os.path.islink(path) and os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path))


def leads_out(location: str, path: str | os.PathLike[str]) -> bool:
    """Whether ``location`` is a link to a file outside of the model's folder.

    The model is at ``path``. If ``path`` is a link, the folder of its target is also a folder of the model.
    """
    if not os.path.islink(location):
        return False
    folder = os.path.dirname(os.path.realpath(location))
    return folder not in (os.path.dirname(os.path.realpath(path)), os.path.realpath(os.path.dirname(path)))
