"""Records what a check reads from files, so that a later run can see whether it would read the same."""

from __future__ import annotations

import os
from hashlib import blake2b

from irlint.lazy_typing import Any, BinaryIO
from irlint.parsers import opening
from irlint.records import record

#: At most this many bytes are read at once when a file is compared with an earlier run.
PIECE = 1 << 22


@record
class Read:
    """A file that was opened: its size, the parts (start, end) that were read, in this order, and a hash of these."""

    path: str
    size: int
    parts: tuple[tuple[int, int], ...]
    digest: bytes


@record
class Beside:
    """A file that a model names or that belongs to it: its name, and the facts about it: its size, the reason why it
    cannot be read or None, and a fact of the format."""

    name: str
    text: tuple[Any, ...]


class Trace:
    """Records, within a ``with`` block, the reads of files and the facts about files beside a model."""

    def __init__(self) -> None:
        self.files: list[_Noted] = []
        self.text: list[Beside] = []

    def __enter__(self) -> Trace:
        opening.trace = self
        return self

    def __exit__(self, *_: object) -> None:
        opening.trace = None

    def opened(self, file: BinaryIO, path: str | os.PathLike[str]) -> Any:
        """The file, wrapped so that each read is recorded."""
        noted = _Noted(file, os.fspath(path))
        self.files.append(noted)
        return noted

    def beside(self, name: str, text: tuple[Any, ...]) -> None:
        """Records the facts about a file beside the model."""
        self.text.append(Beside(name, text))

    def reads(self) -> tuple[Read, ...]:
        """The recorded reads of each opened file."""
        return tuple(Read(each.name, each.whole, tuple(each.parts), each.hash.digest()) for each in self.files)


class _Noted:
    """A file that records the reads from it."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self.file = file
        self.name = path
        self.whole = os.fstat(file.fileno()).st_size
        self.parts: list[tuple[int, int]] = []
        self.hash = _hash()
        self.fileno = file.fileno
        self.seek = file.seek
        self.close = file.close

    def read(self, size: int = -1) -> bytes:
        at = self.file.tell()
        data = self.file.read(size)
        self._note(at, data)
        return data

    def readinto(self, buffer: Any) -> int:
        at = self.file.tell()
        count: int = self.file.readinto(buffer)  # type: ignore[attr-defined]
        self._note(at, buffer[:count])
        return count

    def _note(self, at: int, data: Any) -> None:
        self.hash.update(data)
        end = at + len(data)
        if self.parts and self.parts[-1][1] == at:
            self.parts[-1] = self.parts[-1][0], end
        else:
            self.parts.append((at, end))

    def __enter__(self) -> _Noted:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_same(read: Read) -> bool:
    """Whether a file still has the size and the bytes that were read."""
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
    """Whether the facts about a file beside a model of a format are unchanged."""
    from importlib import import_module

    parser: Any = import_module(f"irlint.parsers.{form}")
    return bool(parser.facts_beside(model, beside.name) == beside.text)


def _hash() -> Any:
    return blake2b(digest_size=32)
