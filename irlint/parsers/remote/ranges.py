"""A remote file as one that is opened: parts of it are fetched when they are read, small ones first, and larger ones
where reading goes on."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Any

from irlint.parsers.remote.locations import Located, shown
from irlint.parsers.remote.stores import IgnoresRanges, Passing, Status, Store, denied, with_retries

#: At least so many bytes are fetched at once, twice as many wherever the next ones follow, and at most this many.
LEAST = 1 << 12
MOST = 1 << 20

#: Parts that are wanted and lie less than so far from each other are fetched as one.
GAP = 1 << 15

#: A document of at most this many bytes is kept, once it has been read as a whole.
KEPT = 1 << 25

#: From a server that knows no ranges so many bytes are read, and so many at once.
LIMIT = 1 << 28
PIECE = 1 << 18


class Ranges:
    """A file that is read at ``block`` bytes or more; one of at most ``small`` bytes is worth being read whole."""

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
        #: Where the server ignores ranges, what it sends, and how many bytes that were.
        self.ignores_ranges = False
        self.stream: Any = None
        self.streamed = 0

    @property
    def status(self) -> Status:
        """The size of the file and its stamp, which a first part brings along. Raises OSError."""
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
        """Goes to a place counted from the beginning."""
        self.at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer at the end; all of the rest where the number is unknown. Raises OSError."""
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
        """Fetches parts that will be read, of which those that lie near each other are one."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start - joined[-1][1] < GAP:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        self.kept += [(start, self._part(start, end)) for start, end in joined if end <= self.size]

    def close(self) -> None:
        """Nothing: what has been read serves whoever opens the file next."""

    def __enter__(self) -> Ranges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finish(self) -> None:
        """Lets go of the connection."""
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
        """The bytes of a part none of which is there."""
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
        """The bytes of a part from a stream, which begins anew where it is past them. Raises OSError past the limit,
        and Passing."""
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
        """The size of a file that does not state it, which is kept in full."""
        data = bytearray()
        while piece := self._piece(PIECE):
            data += piece
        self.kept = [(0, bytes(data))]
        return Status(len(data))
