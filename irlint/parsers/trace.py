"""Records what a check reads from files. A later run checks whether the files have changed since."""

from __future__ import annotations

import os
from hashlib import blake2b

from irlint.lazy_typing import Any, BinaryIO
from irlint.parsers import opening
from irlint.records import record

#: At most this many bytes are compared at once.
PIECE = 1 << 22


@record
class Read:
    """A file that was opened."""

    path: str
    size: int
    #: (start, end) of each part that was read, in order.
    parts: tuple[tuple[int, int], ...]
    #: A hash of the bytes of the parts.
    digest: bytes


@record
class Beside:
    """The facts about a data file beside a model."""

    name: str
    #: The result of the parser's function ``facts_beside``.
    facts: tuple[Any, ...]


class Trace:
    """A ``with`` block that records each read of a file, and the facts about each file beside a model."""

    def __init__(self) -> None:
        self.files: list[_RecordedFile] = []
        self.facts: list[Beside] = []

    def __enter__(self) -> Trace:
        opening.trace = self
        return self

    def __exit__(self, *_: object) -> None:
        opening.trace = None

    def opened(self, file: BinaryIO, path: str | os.PathLike[str]) -> Any:
        """The file, wrapped so that each read is recorded."""
        recorded = _RecordedFile(file, os.fspath(path))
        self.files.append(recorded)
        return recorded

    def beside(self, name: str, facts: tuple[Any, ...]) -> None:
        """Records the facts about a file beside the model."""
        self.facts.append(Beside(name, facts))

    def reads(self) -> tuple[Read, ...]:
        """The recorded reads of each opened file."""
        return tuple(Read(each.name, each.opened_size, tuple(each.parts), each.hash.digest()) for each in self.files)


class _RecordedFile:
    def __init__(self, file: BinaryIO, path: str) -> None:
        self.file = file
        self.name = path
        self.opened_size = os.fstat(file.fileno()).st_size
        self.parts: list[tuple[int, int]] = []
        self.hash = _hash()
        self.fileno = file.fileno
        self.seek = file.seek
        self.close = file.close

    def read(self, size: int = -1) -> bytes:
        at = self.file.tell()
        data = self.file.read(size)
        self._record(at, data)
        return data

    def readinto(self, buffer: Any) -> int:
        at = self.file.tell()
        count: int = self.file.readinto(buffer)  # type: ignore[attr-defined]
        self._record(at, buffer[:count])
        return count

    def _record(self, at: int, data: Any) -> None:
        self.hash.update(data)
        end = at + len(data)
        if self.parts and self.parts[-1][1] == at:
            self.parts[-1] = self.parts[-1][0], end
        else:
            self.parts.append((at, end))

    def __enter__(self) -> _RecordedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_same(read: Read) -> bool:
    """Whether a file still has the recorded size, and the recorded bytes in all parts that were read."""
    found = _hash()
    try:
        with opening.opened(read.path) as file:
            if opening.size(file) != read.size:
                return False
            for start, end in read.parts:
                file.seek(start)
                while start < end and (piece := file.read(min(PIECE, end - start))):
                    found.update(piece)
                    start += len(piece)
                if start < end:
                    return False
    except OSError:
        return False
    return bool(found.digest() == read.digest)


def is_same_beside(beside: Beside, model: str, form: str) -> bool:
    """Whether the facts about a data file are unchanged; ``form`` is the name of the model's format."""
    from importlib import import_module

    parser: Any = import_module(f"irlint.parsers.{form}")
    return bool(parser.facts_beside(model, beside.name) == beside.facts)


def _hash() -> Any:
    return blake2b(digest_size=32)
