"""A remote file that behaves like an open one: ranges are fetched when they are read, larger ones for long reads."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Any

from irlint.parsers.remote.locations import Located, shown
from irlint.parsers.remote.stores import IgnoresRanges, Passing, Status, Store, denied, with_retries

#: A request fetches at least LEAST bytes. Each request that continues the last one fetches twice as many, up to MOST.
LEAST = 1 << 12
MOST = 1 << 20

#: Wanted parts that are closer to each other than this are fetched in one request.
GAP = 1 << 15

#: A document of at most this many bytes is kept after it was read completely.
KEPT = 1 << 25

#: From a server that ignores ranges, at most LIMIT bytes are read, PIECE at a time.
LIMIT = 1 << 28
PIECE = 1 << 18


class Ranges:
    """A remote file. Reads fetch ``block`` bytes or more. A file of at most ``small`` bytes may be read completely."""

    block = LEAST
    small = 1 << 16

    def __init__(self, store: Store, location: Located) -> None:
        self.store = store
        self.url = location.url
        self.name = shown(location.url)
        self.known = None if location.size is None else Status(location.size, location.stamp)
        self.at = 0
        self.window = (0, b"")
        self.step = LEAST
        self.kept: list[tuple[int, bytes]] = []
        #: Whether the server ignores ranges; then the stream, and the number of bytes that it has sent.
        self.ignores_ranges = False
        self.stream: Any = None
        self.streamed = 0

    @property
    def status(self) -> Status:
        """The size and stamp of the file; if possible they come with a first range. Raises OSError."""
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
        """Sets the position, counted from the beginning of the file."""
        self.at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes, fewer at the end; all remaining bytes if ``size`` is negative. Raises OSError."""
        end = self.size if size < 0 else min(self.size, self.at + size)
        start = self.at
        data = self._part(start, end) if end > start else b""
        if size < 0 and start == 0 and end <= KEPT:
            self.kept = [(0, data)]
        self.at = max(start, end)
        return data

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer with the next bytes; returns their number. Raises OSError."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def want(self, spans: Iterable[tuple[int, int]]) -> None:
        """Fetches parts that will be read; parts near each other are fetched together."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start - joined[-1][1] < GAP:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        self.kept += [(start, self._part(start, end)) for start, end in joined if end <= self.size]

    def close(self) -> None:
        """Does nothing: the next reader of the file reuses the fetched bytes."""

    def __enter__(self) -> Ranges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Closes the connection."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    def _part(self, start: int, end: int) -> bytes:
        for origin, data in (*self.kept, self.window):
            if origin <= start and end <= origin + len(data):
                return data[start - origin : end - origin]
        origin, data = self.window
        head = data[start - origin :] if origin <= start < origin + len(data) else b""
        return head + self._after(start + len(head), end)

    def _after(self, start: int, end: int) -> bytes:
        """The bytes of a part that was not fetched yet."""
        follows = start == self.window[0] + len(self.window[1])
        self.step = min(MOST, 2 * self.step) if follows and start else LEAST
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
        """The bytes of a part from a stream, which restarts if it has passed the part.

        Raises OSError above the limit, and Passing.
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
            raise Passing("the connection was cut")
        return bytes(data)

    def _piece(self, size: int) -> bytes:
        if self.streamed > LIMIT:
            message = f"the server ignores ranges, and irlint stopped after {LIMIT:,} bytes"
            raise denied(errno.EFBIG, message, self.url)
        try:
            piece: bytes = self.stream.read(size)
        except Passing:
            self.finish()
            raise
        self.streamed += len(piece)
        return piece

    def _counted(self) -> Status:
        """The size of a file that does not state it; the complete file is read and kept."""
        data = bytearray()
        while piece := self._piece(PIECE):
            data += piece
        self.kept = [(0, bytes(data))]
        return Status(len(data))
