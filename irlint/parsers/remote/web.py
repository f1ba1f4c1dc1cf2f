"""Reads ranges of files from a web server. Refuses redirects to private addresses that the user did not name."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver
from fsspec.asyn import sync
from fsspec.implementations.http import HTTPFileSystem

from irlint.parsers.remote.stores import (
    IgnoresRanges,
    Refused,
    Status,
    Store,
    Transient,
    answered,
    denied,
    with_retries,
)

Answer = TypeVar("Answer")

#: A request fails if no byte arrives for STALL seconds, or if the connection takes more than CONNECT seconds.
STALL = 30.0
CONNECT = 20.0

#: A request for n bytes may take PATIENCE + n / RATE seconds. Listing a folder may take LISTED seconds.
PATIENCE = STALL + CONNECT
RATE = 1 << 12
LISTED = 300.0

#: After a HEAD request with one of these statuses, a GET request is tried.
NO_HEAD = frozenset({400, 401, 403, 405, 501})

#: The server must not compress: a range of compressed bytes is not the same range of the file.
HEADERS = {"Accept-Encoding": "identity"}

_UNIT = "bytes "


class Web(Store):
    """A store for files on an HTTP server."""

    states_size = True

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        #: (host, port) in the URL that the user named.
        self.named = (parts.hostname or "").lower(), parts.port or _PORTS[parts.scheme.lower()]
        super().__init__(HTTPFileSystem(get_client=self._client, skip_instance_cache=True))

    async def _client(self, **options: Any) -> aiohttp.ClientSession:
        timeout = aiohttp.ClientTimeout(total=LISTED, connect=CONNECT, sock_connect=CONNECT, sock_read=STALL)
        redirects = aiohttp.TraceConfig()
        redirects.on_request_redirect.append(self._check_redirect)
        loop = options.pop("loop", None)
        options = {"timeout": timeout, **options, "trace_configs": [redirects]}
        if "connector" not in options:
            options["connector"] = aiohttp.TCPConnector(resolver=_Resolver(self.named), limit=0)
        return aiohttp.ClientSession(loop=loop, **options)

    async def _check_redirect(self, _: Any, __: Any, exchange: Any) -> None:
        """Raises Refused for a redirect to another scheme, or to a private address that the user did not name."""
        there = exchange.response.headers.get("Location") or exchange.response.headers.get("URI") or ""
        target = urlsplit(urljoin(str(exchange.response.url), there))
        scheme = exchange.response.url.scheme
        if target.scheme != scheme:
            raise Refused(f"it redirects from {scheme} to {target.scheme or 'nowhere'}")
        host_and_port = (target.hostname or "").lower(), target.port or _PORTS[scheme]
        if host_and_port != self.named and _is_private(host_and_port[0]):
            raise Refused(f"it redirects to {host_and_port[0]}, which is not a public address")

    def status(self, url: str) -> Status:
        """The size and stamp of a file from its headers. Raises OSError."""
        return self._sync(url, lambda session: _head(session, url))

    def read(self, url: str, start: int, end: int) -> tuple[bytes, Status | None]:
        """Like ``Store.read``. Raises IgnoresRanges if the server sends the complete file instead."""
        return self._sync(url, lambda session: _range(session, url, start, end), end - start)

    def stream(self, url: str) -> Stream:
        """The file as a stream from its beginning. Raises OSError."""
        return Stream(self, url)

    def _sync(self, url: str, ask: Callable[[aiohttp.ClientSession], Awaitable[Answer]], size: int = 0) -> Answer:
        """The result of ``ask``, a request for ``size`` bytes. Raises OSError."""

        async def asked() -> Answer:
            return await _in_time(ask(await self.filesystem.set_session()), PATIENCE + size / RATE, url)

        return with_retries(lambda: sync(self.filesystem.loop, asked), url)  # type: ignore[no-any-return]


class Stream:
    """A file that is read from its beginning. ``status`` is None if its size is unknown."""

    def __init__(self, web: Web, url: str) -> None:
        self.web = web
        self.url = url
        self.at = 0
        self.waited = 0.0
        self.response: Any = web._sync(url, lambda session: _response(session, url))
        length = _length(self.response)
        self.status = None if length is None else Status(length, _stamp(self.response))

    def read(self, size: int) -> bytes:
        """The next bytes, at most ``size``, or b"" at the end.

        Raises Transient if the connection fails, and OSError if the server is too slow.
        """
        start = monotonic()
        try:
            data: bytes = sync(self.web.filesystem.loop, self.response.content.read, size)
        except Exception as error:
            raise Transient(f"the connection failed: {type(error).__name__}") from None
        self.at += len(data)
        self.waited += monotonic() - start
        if self.waited > PATIENCE + self.at / RATE:
            raise _slow(self.url)
        return data

    def close(self) -> None:
        """Closes the connection without reading the rest."""
        self.web.filesystem.loop.call_soon_threadsafe(self.response.close)


async def _in_time(answer: Awaitable[Answer], seconds: float, url: str) -> Answer:
    """The awaited ``answer``. Raises OSError after ``seconds``; errors of aiohttp pass."""
    try:
        return await asyncio.wait_for(answer, seconds)
    except asyncio.TimeoutError as error:
        if isinstance(error, aiohttp.ClientError):
            raise
        raise _slow(url) from None


def _slow(url: str) -> OSError:
    return denied(errno.EIO, f"the server sends fewer than {RATE:,} bytes a second", url)


_PORTS = {"http": 80, "https": 443}


async def _head(session: aiohttp.ClientSession, url: str) -> Status:
    """The status of a file from a HEAD request or, without a size in its answer, from a GET request. Raises OSError."""
    async with session.head(url, headers=HEADERS, allow_redirects=True) as response:
        size = _length(response)
        if response.status not in NO_HEAD and (size is not None or not response.ok):
            _check(response, url)
            assert size is not None
            return Status(size, _stamp(response))
    return (await _range(session, url, 0, 1))[1] or Status(0)


async def _range(session: aiohttp.ClientSession, url: str, start: int, end: int) -> tuple[bytes, Status | None]:
    """(bytes from ``start`` to ``end``, status of the file). Raises IgnoresRanges, Transient and OSError."""
    headers = {**HEADERS, "Range": f"bytes={start}-{end - 1}"}
    async with session.get(url, headers=headers) as response:
        if response.status == 416:
            return b"", Status(_total(response) or 0, _stamp(response))
        _check(response, url)
        if response.status != 206 or "Content-Encoding" in response.headers:
            return await _complete_file(response, start, end)
        total = _total(response)
        first = response.headers.get("Content-Range", "").removeprefix(_UNIT).partition("-")[0]
        if total is None or first != str(start):
            raise denied(errno.EIO, "the server sends another range than requested", url)
        data = await _all_of(response, end - start)
        if len(data) < min(end, total) - start:
            raise Transient(f"the connection was closed after {len(data)} of {min(end, total) - start} bytes")
        return data[: end - start], Status(total, _stamp(response))


async def _complete_file(response: Any, start: int, end: int) -> tuple[bytes, Status | None]:
    """(bytes, status) of a complete file that the server sent for the range from ``start`` to ``end``.

    Raises Transient, and IgnoresRanges unless ``start`` is 0 and the file has at most ``end`` bytes.
    """
    length = _length(response)
    if start or length is None or length > end:
        response.close()
        raise IgnoresRanges
    data = await _all_of(response, length)
    if len(data) < length:
        raise Transient(f"the connection was closed after {len(data)} of {length} bytes")
    return data, Status(length, _stamp(response))


def _length(response: Any) -> int | None:
    """The size of the answer in its Content-Length header; None for a compressed answer or without the header."""
    text = response.headers.get("Content-Length", "")
    is_plain = response.headers.get("Content-Encoding", "identity") in ("identity", "")
    return int(text) if is_plain and text.isascii() and text.isdigit() else None


async def _all_of(response: Any, most: int) -> bytes:
    """The body of an answer, cut after ``most + 1`` bytes."""
    data = bytearray()
    while len(data) <= most and (piece := await response.content.read(most + 1 - len(data))):
        data += piece
    return bytes(data)


async def _response(session: aiohttp.ClientSession, url: str) -> Any:
    """The open answer to a request for the complete file. Raises Transient and OSError."""
    unlimited = aiohttp.ClientTimeout(total=None, connect=CONNECT, sock_connect=CONNECT, sock_read=STALL)
    response = await session.get(url, headers=HEADERS, timeout=unlimited)
    try:
        _check(response, url)
    except BaseException:
        response.close()
        raise
    return response


def _check(response: Any, url: str) -> None:
    """Raises Transient or OSError for an answer that is not a success."""
    if response.ok:
        return
    raise answered(response.status, response.reason or "", response.headers.get("Retry-After", ""), url)


def _total(response: Any) -> int | None:
    """The size of the file that the Content-Range header states, or None."""
    text = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(text) if text.isascii() and text.isdigit() else None


def _stamp(response: Any) -> str:
    found: str = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    return found.strip('"')


class _Resolver(AbstractResolver):  # type: ignore[misc]
    """Resolves the names of hosts. Refuses a host with a private address, unless the user named the host and port."""

    def __init__(self, named: tuple[str, int]) -> None:
        self.named = named
        self.system = aiohttp.ThreadedResolver()

    async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        found = await self.system.resolve(host, port, family)
        if (host.lower(), port) == self.named:
            return found
        if any(_is_private(address["host"]) for address in found):
            raise Refused(f"it redirects to {host}, which has an address that is not public")
        return found

    async def close(self) -> None:
        await self.system.close()


def _is_private(host: str) -> bool:
    """Whether ``host`` is an IP address that is not public, or a name of the local machine."""
    try:
        return not ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
