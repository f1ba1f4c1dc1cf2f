"""A store of fsspec: the status of a file, ranges of its bytes, and retries.

A passing failure is one that a retry may resolve; any other failure is permanent.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from time import sleep

from irlint.lazy_typing import Any, TypeVar
from irlint.parsers.remote.locations import is_web, shown, without_secrets
from irlint.records import record

Answer = TypeVar("Answer")

#: A request with passing failures is sent up to TRIES times, with pauses that start at PAUSE seconds and double.
TRIES = 5
PAUSE = 0.4

#: The longest pause in seconds before a retry, even if a server asks for more.
LONGEST_PAUSE = 20.0

#: The HTTP statuses of passing failures, and the errors for some others.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
MEANINGS = {404: errno.ENOENT, 410: errno.ENOENT, 401: errno.EACCES, 403: errno.EACCES}

#: The fields of a status that change when the file is written; the first one present counts.
STAMPS = (
    "ETag",
    "etag",
    "blob_id",
    "md5Hash",
    "content_md5",
    "Content-MD5",
    "Last-Modified",
    "LastModified",
    "last_modified",
)
TIMES = ("updated", "mtime", "created")


class NotInstalled(ValueError):
    """A URL needs a package that is missing, or has an unknown scheme."""


@record
class Status:
    """The size of a file in bytes, and a text that changes when the file is written."""

    size: int
    stamp: str = ""


class Passing(Exception):
    """A passing failure; ``pause`` is the number of seconds for which the server asks, or 0."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


def denied(number: int, reason: str, url: str) -> OSError:
    """A permanent failure with its message; it is not retried."""
    failure = OSError(number, reason, shown(url))
    failure.stays = True  # type: ignore[attr-defined]
    return failure


class Refused(Exception):
    """A redirect that is not followed."""


class IgnoresRanges(Exception):
    """A server sends a complete file when it is asked for a range."""


class Store:
    """A filesystem of fsspec other than HTTP; ``states_size`` is True if a range comes with the file's status."""

    states_size = False

    def __init__(self, filesystem: Any) -> None:
        self.filesystem = filesystem

    def status(self, url: str) -> Status:
        """The status of a file. Raises OSError."""
        info = self._asked(url, lambda path: self.filesystem.info(path))
        if info.get("type") == "directory" or info.get("size") is None:
            raise denied(errno.EISDIR, "it is a folder, or its size is unknown", url)
        return Status(int(info["size"]), stamp(info))

    def read(self, url: str, start: int, end: int) -> tuple[bytes, Status | None]:
        """The bytes from ``start`` to ``end``, fewer if the file is shorter, and the status if the store sends it, else
        None.

        Raises OSError.
        """
        return self._asked(url, lambda path: self.filesystem.cat_file(path, start=start, end=end)), None

    def stream(self, url: str) -> Any:
        """The file as a stream, for a store without ranges. Raises OSError."""
        raise denied(errno.EIO, "the store knows no ranges", url)

    def _asked(self, url: str, ask: Callable[[str], Answer]) -> Answer:
        return with_retries(lambda: ask(self.filesystem._strip_protocol(url)), url)


def stamp(info: Any) -> str:
    """The part of a file's status that changes when the file is written, or ""."""
    found = next((info[name] for name in STAMPS if info.get(name)), None)
    if found is None:
        found = next((info[name] for name in TIMES if info.get(name)), "")
    return str(found).strip('"')


def with_retries(ask: Callable[[], Answer], url: str) -> Answer:
    """The result of ``ask``, which is repeated after passing failures. Raises OSError for a permanent failure."""
    pause = PAUSE
    for left in reversed(range(TRIES)):
        try:
            return ask()
        except IgnoresRanges:
            raise
        except Exception as error:
            failure = judged(error, url)
            if isinstance(failure, OSError):
                raise failure from None
            if not left:
                raise denied(errno.EIO, f"{failure} ({TRIES} attempts)", url) from None
            sleep(min(LONGEST_PAUSE, max(failure.pause, pause)))
            pause *= 2
    raise AssertionError


def judged(error: Exception, url: str) -> Passing | OSError:
    """Whether a failure is passing or permanent. Libraries differ in their exceptions, so these are compared by
    name."""
    if isinstance(error, Passing) or (isinstance(error, OSError) and hasattr(error, "stays")):
        return error
    name, package = type(error).__name__, type(error).__module__.partition(".")[0]
    detail = without_secrets(str(error).partition("\n")[0], url)
    if isinstance(error, Refused):
        return denied(errno.EACCES, f"the server is not trusted: {error}", url)
    if name == "InvalidURL":
        return denied(errno.EINVAL, "this is not a URL", url)
    if isinstance(error, FileNotFoundError):
        return denied(errno.ENOENT, "the store has no such file", url)
    if isinstance(error, PermissionError):
        return denied(errno.EACCES, "the store denies access", url)
    if isinstance(error, IsADirectoryError):
        return denied(errno.EISDIR, "it is a folder", url)
    if "Timeout" in name:
        return Passing("nothing came for too long")
    if isinstance(status := getattr(error, "status", None), int):
        return answered(status, getattr(error, "message", ""), "", url)
    if isinstance(error, ConnectionError) or (package == "aiohttp" and "URL" not in name):
        return Passing(f"the connection failed: {detail or name}")
    if "NoCredentials" in name:
        return denied(errno.EACCES, "there are no credentials for the store", url)
    if isinstance(error, OSError) and error.errno in (errno.EIO, errno.EBUSY, errno.EAGAIN):
        return Passing(f"the store fails: {detail}")
    return denied(errno.EIO, f"{name}: {detail}" if detail else name, url)


def answered(status: int, words: str, pause: str, url: str) -> Passing | OSError:
    """The failure for an HTTP status; ``pause`` is the Retry-After header, in seconds."""
    answer = f"the server answers {status} {words}".rstrip()
    if status in PASSING:
        return Passing(answer, float(pause) if pause.isdigit() else 0.0)
    return denied(MEANINGS.get(status, errno.EIO), answer, url)


def store(url: str) -> Store:
    """A new store for a URL. Raises NotInstalled."""
    try:
        import fsspec
    except ImportError:
        raise NotInstalled(
            f"{shown(url)} is read with fsspec, which is not installed: pip install 'irlint[remote]'"
        ) from None
    scheme = url.partition("://")[0].lower()
    if "::" in url and not is_web(url):
        raise NotInstalled(f"{shown(url)} is a chain of filesystems, which irlint does not read")
    try:
        if is_web(url):
            from irlint.parsers.remote.web import Web

            return Web(url)
        return Store(fsspec.filesystem(scheme, **options(url)))
    except ImportError as error:
        help = "pip install 'irlint[remote]'" if is_web(url) else str(error) or type(error).__name__
        raise NotInstalled(f"{scheme}:// needs another package: {help}") from None
    except ValueError as error:
        raise NotInstalled(f"{shown(url)}: {without_secrets(str(error), url)}") from None
    except Exception as error:
        raise NotInstalled(f"{shown(url)}: {judged(error, url)}") from None


def options(url: str) -> dict[str, Any]:
    """The options of a store that its URL contains, such as a host; listings are not cached."""
    import fsspec

    scheme = url.partition("://")[0].lower()
    return {"use_listings_cache": False, **fsspec.get_filesystem_class(scheme)._get_kwargs_from_urls(url)}
