"""A store of fsspec: the status of a file, ranges of its bytes, and retries after transient failures."""

from __future__ import annotations

import errno
from collections.abc import Callable
from time import sleep

from irlint.lazy_typing import Any, TypeVar
from irlint.parsers.remote.locations import is_web, shown, without_secrets
from irlint.records import record

Answer = TypeVar("Answer")

#: The number of attempts of a request.
TRIES = 5

#: The first and the longest pause before a retry, in seconds. Pauses double.
PAUSE = 0.4
LONGEST_PAUSE = 20.0

#: The HTTP statuses of transient failures.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})

#: The error numbers of HTTP statuses. Other permanent failures are EIO.
ERRORS = {404: errno.ENOENT, 410: errno.ENOENT, 401: errno.EACCES, 403: errno.EACCES}

#: The fields of fsspec's ``info`` that can be a stamp. The fields in TIMES are used if none in STAMPS is present.
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


class Transient(Exception):
    """A transient failure."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        #: The number of seconds that the server asks to wait, or 0.
        self.pause = pause


def denied(number: int, reason: str, url: str) -> OSError:
    """The OSError for a permanent failure."""
    failure = OSError(number, reason, shown(url))
    failure.is_permanent = True  # type: ignore[attr-defined]
    return failure


class Refused(Exception):
    """A redirect that is not followed."""


class IgnoresRanges(Exception):
    """A server has sent a complete file instead of a range."""


class Store:
    """A filesystem of fsspec."""

    #: Whether ``read`` returns a status.
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
        """(bytes from ``start`` to ``end`` or the end of the file, status or None). Raises OSError.

        The status is None unless ``states_size``.
        """
        return self._asked(url, lambda path: self.filesystem.cat_file(path, start=start, end=end)), None

    def stream(self, url: str) -> Any:
        """The file as a stream, for a server that ignores ranges. Raises OSError."""
        raise denied(errno.EIO, "the store sends no ranges", url)

    def _asked(self, url: str, ask: Callable[[str], Answer]) -> Answer:
        return with_retries(lambda: ask(self.filesystem._strip_protocol(url)), url)


def stamp(info: Any) -> str:
    """A text that changes when the file is written, or ""."""
    found = next((info[name] for name in STAMPS if info.get(name)), None)
    if found is None:
        found = next((info[name] for name in TIMES if info.get(name)), "")
    return str(found).strip('"')


def with_retries(ask: Callable[[], Answer], url: str) -> Answer:
    """The result of ``ask``, called again after transient failures.

    Raises IgnoresRanges, and OSError after a permanent failure or TRIES attempts.
    """
    pause = PAUSE
    for remaining in reversed(range(TRIES)):
        try:
            return ask()
        except IgnoresRanges:
            raise
        except Exception as error:
            failure = classified(error, url)
            if isinstance(failure, OSError):
                raise failure from None
            if not remaining:
                raise denied(errno.EIO, f"{failure} ({TRIES} attempts)", url) from None
            sleep(min(LONGEST_PAUSE, max(failure.pause, pause)))
            pause *= 2
    raise AssertionError


def classified(error: Exception, url: str) -> Transient | OSError:
    """The transient or permanent failure that an exception stands for."""
    if isinstance(error, Transient) or (isinstance(error, OSError) and hasattr(error, "is_permanent")):
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
        return Transient("the server sent nothing for too long")
    if isinstance(status := getattr(error, "status", None), int):
        return answered(status, getattr(error, "message", ""), "", url)
    if isinstance(error, ConnectionError) or (package == "aiohttp" and "URL" not in name):
        return Transient(f"the connection failed: {detail or name}")
    if "NoCredentials" in name:
        return denied(errno.EACCES, "there are no credentials for the store", url)
    if isinstance(error, OSError) and error.errno in (errno.EIO, errno.EBUSY, errno.EAGAIN):
        return Transient(f"the store fails: {detail}")
    return denied(errno.EIO, f"{name}: {detail}" if detail else name, url)


def answered(status: int, words: str, pause: str, url: str) -> Transient | OSError:
    """The failure for an HTTP status. ``pause`` is the Retry-After header, ignored unless it is a number of seconds."""
    answer = f"the server answers {status} {words}".rstrip()
    if status in TRANSIENT:
        return Transient(answer, float(pause) if pause.isdigit() else 0.0)
    return denied(ERRORS.get(status, errno.EIO), answer, url)


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
        raise NotInstalled(f"{shown(url)}: {classified(error, url)}") from None


def options(url: str) -> dict[str, Any]:
    """The options of a store. They include those in its URL, such as a host, and turn off the cache of listings."""
    import fsspec

    scheme = url.partition("://")[0].lower()
    return {"use_listings_cache": False, **fsspec.get_filesystem_class(scheme)._get_kwargs_from_urls(url)}
