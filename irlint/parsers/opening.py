"""How files are opened: only regular ones, so that no pipe is waited for and no device read without end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from irlint.lazy_typing import Any, BinaryIO

#: At most this many bytes of a document, a configuration or a baseline are read; more of one is refused.
MOST = {"document": 1 << 31, "standard input": 1 << 30, "configuration": 1 << 24, "baseline": 1 << 28}


#: In no encoding are so many zeros in a row part of a text.
ZEROS = bytes(64)


#: What hears of each file that is opened, where somebody wants to know what a check reads.
trace: Any = None

#: Errors that are those of this process or machine, which has no handle left, and of no file.
NO_HANDLES = (errno.EMFILE, errno.ENFILE)


class NotListed(OSError):
    """A server that does not list its folders."""


#: The last such error: whoever asks for what lies beside a model may take it for one of that file.
exhausted: OSError | None = None


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL: its scheme has more than the one letter of a drive."""
    scheme, found, _ = os.fspath(path).partition("://")
    return bool(found) and len(scheme) > 1 and scheme.replace("+", "").replace("-", "").isalnum()


def opened(path: str | os.PathLike[str], *, advice: str = "") -> BinaryIO:
    """A regular file, to be read without a buffer, or a remote one of which parts are; raises OSError where it cannot
    be opened, and with ``advice`` where it is a pipe or a device."""
    if is_url(path):
        from irlint.parsers.remote import session

        return session.opened(os.fspath(path))  # type: ignore[no-any-return]
    _judge(os.stat(path), path, advice)
    try:
        file: Any = open(path, "rb", buffering=0, opener=_at_once)  # noqa: SIM115
    except OSError as error:
        if error.errno in NO_HANDLES:
            global exhausted
            exhausted = error
        raise
    try:
        _judge(os.fstat(file.fileno()), path, advice)
    except OSError:
        file.close()
        raise
    return file if trace is None else trace.opened(file, path)  # type: ignore[no-any-return]


def whole(path: str | os.PathLike[str], what: str) -> bytes:
    """All bytes of a regular file, a key of MOST; of a document those up to a long run of zeros; raises OSError, also
    where it has more than are read of one."""
    with opened(path) as file:
        return whole_of(file, path, what)


def whole_of(file: BinaryIO, path: str | os.PathLike[str], what: str) -> bytes:
    """All bytes of a file that is open, as ``whole`` reads one."""
    data = file.read(MOST[what] + 1) if size(file) > MOST[what] else file.read()
    if len(data) > MOST[what]:
        raise OSError(errno.EFBIG, f"it has more than the {MOST[what]:,} bytes that irlint reads", os.fspath(path))
    return without_zeros(data) if what == "document" else data


def without_zeros(data: bytes) -> bytes:
    """A text up to the first long run of zeros, which ends it for OpenVINO; a few of these are left."""
    at = data.find(ZEROS)
    return data if at < 0 else data[: at // 4 * 4 + 8]


def size(file: BinaryIO) -> int:
    """The bytes of a file that is open; raises OSError where a remote file does not state it."""
    known: int | None = getattr(file, "size", None)
    return os.fstat(file.fileno()).st_size if known is None else known


def beside(path: str, name: str) -> str:
    """The path of a file that is named from the folder of another one on."""
    return f"{path.rpartition('/')[0]}/{name}" if is_url(path) else os.path.join(os.path.dirname(path), name)


def _judge(status: os.stat_result, path: str | os.PathLike[str], advice: str) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EINVAL, f"it is not a regular file{advice}", os.fspath(path))


def _at_once(path: str, flags: int) -> int:
    """Opens a file without waiting for the other end of a pipe that has come in its place."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def shrunk(file: BinaryIO) -> OSError:
    """What to raise where a file has fewer bytes than it had when it was opened."""
    return OSError(errno.EIO, "it was truncated while irlint read it", file.name)


def within(path: str, folders: Iterable[str]) -> bool:
    """Whether an absolute path is one of the folders, or leads into one."""
    return any(path == folder or path.startswith(os.path.join(folder, "")) for folder in folders)


def lies_elsewhere(path: str) -> bool:
    """Whether a path is a link to a file in another folder, whose text a report does not show: it may be anybody's."""
    return os.path.islink(path) and os.path.dirname(os.path.realpath(path)) != os.path.realpath(os.path.dirname(path))


def leads_out(location: str, path: str | os.PathLike[str]) -> bool:
    """Whether a file is a link to one that lies neither beside the model at ``path`` nor beside what that is a link to:
    such a file's contents are not the model's to show."""
    if not os.path.islink(location):
        return False
    folder = os.path.dirname(os.path.realpath(location))
    return folder not in (os.path.dirname(os.path.realpath(path)), os.path.realpath(os.path.dirname(path)))
