"""A remote file with the methods of an open file. A read fetches only a range of the remote bytes."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Any

from irlint.parsers.remote.locations import Located, shown
from irlint.parsers.remote.stores import IgnoresRanges, Status, Store, Transient, denied, with_retries

#: A request fetches at least LEAST bytes. This minimum doubles, up to MOST, while each request begins where the last
#: one ended.
LEAST = 1 << 12
MOST = 1 << 20

#: ``want`` fetches two parts with one request if fewer bytes are between them.
GAP = 1 << 15

#: If one call reads a complete file of at most this many bytes, the bytes are kept.
KEPT = 1 << 25

#: From a server that ignores ranges, at most about this many bytes of a file are read.
LIMIT = 1 << 28

#: The largest number of bytes of one read from a stream.
PIECE = 1 << 18


class Ranges:
    """A remote file, with a position as in an open file."""

    #: Parsers read at least this many bytes at once.
    block = LEAST
    #: Parsers read a file of at most this many bytes completely.
    small = 1 << 16

    def __init__(self, store: Store, location: Located) -> None:
        self.store = store
        self.url = location.url
        self.name = shown(location.url)
        self.known = None if location.size is None else Status(location.size, location.stamp)
        self.at = 0
        #: (position, bytes) of the last fetched part.
        self.window = (0, b"")
        #: The minimum size of the last request, in bytes.
        self.step = LEAST
        #: (position, bytes) of parts that are kept until the end of the check.
        self.kept: list[tuple[int, bytes]] = []
        self.ignores_ranges = False
        #: The open stream of a server that ignores ranges.
        self.stream: Any = None
        #: The number of bytes that all streams have sent.
        self.streamed = 0

    @property
    def status(self) -> Status:
        """The size and stamp of the file. Raises OSError."""
        if self.known is None and self.store.states_size:
            self._fetch(0, self.step)
        if self.known is None:
            self.known = self.store.status(self.url)
        return self.known

    @property
    def size(self) -> int:
        """The size in bytes. Raises OSError."""
        return self.status.size

    def seek(self, offset: int) -> int:
        """Sets and returns the position."""
        self.at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes, or fewer at the end. A negative ``size`` means all. Raises OSError."""
        end = self.size if size < 0 else min(self.size, self.at + size)
        start = self.at
        data = self._part(start, end) if end > start else b""
        if size < 0 and start == 0 and end <= KEPT:
            self.kept = [(0, data)]
        self.at = max(start, end)
        return data

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer with the next bytes, and returns their number. Raises OSError."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def want(self, spans: Iterable[tuple[int, int]]) -> None:
        """Fetches the parts (start, end) of the file, and keeps them. Raises OSError."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start - joined[-1][1] < GAP:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        self.kept += [(start, self._part(start, end)) for start, end in joined if end <= self.size]

    def close(self) -> None:
        """Does nothing: the next reader of the file uses the fetched bytes."""

    def __enter__(self) -> Ranges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Closes the stream."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def _part(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, from memory or from the store. Raises OSError."""
        for origin, data in (*self.kept, self.window):
            if origin <= start and end <= origin + len(data):
                return data[start - origin : end - origin]
        origin, data = self.window
        head = data[start - origin :] if origin <= start < origin + len(data) else b""
        return head + self._after(start + len(head), end)

    def _after(self, start: int, end: int) -> bytes:
        """Like ``_part``, but always from the store."""
        continues = start == self.window[0] + len(self.window[1])
        self.step = min(MOST, 2 * self.step) if continues and start else LEAST
        stop = max(end, start + self.step)
        data = self._fetch(start, stop if self.known is None else min(self.size, stop))
        if len(data) < end - start:
            raise OSError(errno.EIO, "it was truncated while irlint read it", self.name)
        return data[: end - start]

    def _fetch(self, start: int, end: int) -> bytes:
        data = self._from_stream(start, end) if self.ignores_ranges else self._by_range(start, end)
        self.window = start, data
        return data

    def _by_range(self, start: int, end: int) -> bytes:
        try:
            data, status = self.store.read(self.url, start, end)
        except IgnoresRanges:
            self.ignores_ranges = True
            return self._from_stream(start, end)
        if status is not None and self.known is not None and self.known.size != status.size:
            raise OSError(errno.EIO, "it was replaced while irlint read it", self.name)
        self.known = status or self.known
        return data

    def _from_stream(self, start: int, end: int) -> bytes:
        return with_retries(lambda: self._streamed(start, end), self.url)

    def _streamed(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, from a stream.

        Raises Transient, and OSError if all streams together have sent more than LIMIT bytes.
        """
        if self.stream is None or self.stream.at > start:
            self.finish()
            self.stream = self.store.stream(self.url)
            self.known = self.stream.status or self._counted()
            if self.kept:
                return self._part(start, min(end, self.known.size))
        data = bytearray()
        while self.stream.at < end and (piece := self._piece(min(PIECE, end - self.stream.at))):
            data += piece[max(0, start - self.stream.at + len(piece)) :]
        if len(data) < min(end, self.size) - start:
            self.finish()
            raise Transient("the connection was cut")
        return bytes(data)

    def _piece(self, size: int) -> bytes:
        if self.streamed > LIMIT:
            message = f"the server ignores ranges, and irlint stopped after {LIMIT:,} bytes"
            raise denied(errno.EFBIG, message, self.url)
        try:
            piece: bytes = self.stream.read(size)
        except Transient:
            self.finish()
            raise
        self.streamed += len(piece)
        return piece

    def _counted(self) -> Status:
        """Reads the complete file from the stream, keeps its bytes, and returns its size."""
        data = bytearray()
        while piece := self._piece(PIECE):
            data += piece
        self.kept = [(0, bytes(data))]
        return Status(len(data))
