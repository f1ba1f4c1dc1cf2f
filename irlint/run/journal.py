"""Reads a journal: the file of JSON lines that ``irlint check --resume`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader

from irlint.findings.tally import Tally
from irlint.lazy_typing import Any, BinaryIO
from irlint.parsers.opening import opened
from irlint.records import record
from irlint.reporters.jsonl import SCHEMA


class BrokenJournal(ValueError):
    """A file is not a journal, or one of its lines is invalid."""


@record
class Block:
    """The lines about one checked file."""

    file: dict[str, Any]
    findings: list[dict[str, Any]]
    #: The offset of the first byte of these lines in the journal.
    start: int
    #: The offset after their last byte.
    end: int

    @property
    def key(self) -> int | None:
        """The ``key`` of the file in the state that was checked; None if the journal does not state its size."""
        size, stamp = self.file.get("size"), self.file.get("stamp")
        return None if size is None else key(str(self.file.get("path")), size, stamp or "")


def key(path: str, size: int, stamp: str) -> int:
    """A hash of 64 bits of the path of a file and its state."""
    from hashlib import blake2b

    text = f"{path}\0{size}\0{stamp}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def header(stream: BinaryIO) -> dict[str, Any]:
    """The first line of a journal. Raises BrokenJournal if this line is invalid."""
    found = _parsed(stream.readline())
    if found is None or found.get("schema") != SCHEMA:
        raise BrokenJournal(f"its first line is not of the schema {SCHEMA}")
    return found


def blocks(stream: BinaryIO) -> Iterator[Block]:
    """The lines of each complete file, from the current position up to the first incomplete or invalid line."""
    findings: list[dict[str, Any]] = []
    # The line of a file follows the lines of its findings.
    start = at = stream.tell()
    for line in stream:
        entry = _parsed(line) if line.endswith(b"\n") else None
        at += len(line)
        if entry is None or entry.get("kind") == "summary":
            return
        if entry["kind"] == "finding":
            findings.append(entry)
        elif entry["kind"] == "file":
            yield Block(entry, findings, start, at)
            findings, start = [], at


def tally(file: str) -> tuple[Tally, bool]:
    """(counts of files and findings in a journal, whether its run is complete). Raises OSError and BrokenJournal."""
    found = Tally()
    end = 0
    source: Any = opened(file)
    with BufferedReader(source) as stream:
        header(stream)
        end = stream.tell()
        for block in blocks(stream):
            _add(found, block)
            end = block.end
        stream.seek(end)
        last = _parsed(stream.readline())
    return found, last is not None and last.get("kind") == "summary"


#: The fields that must have a text, by the kind of the line.
REQUIRED_TEXTS = {"file": ("path", "status"), "finding": ("code", "rule", "severity")}

#: The fields that must have a text or null if they are present, by the kind of the line.
OPTIONAL_TEXTS = {"file": ("format", "producer"), "finding": ("op", "because")}


def _validate(entry: dict[str, Any]) -> None:
    """Raises KeyError for a missing field, and TypeError for a field that is not a text."""
    kind = entry["kind"]
    texts = [entry[name] for name in REQUIRED_TEXTS[kind]]
    texts += [entry[name] for name in OPTIONAL_TEXTS[kind] if entry.get(name) is not None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"a field of a {kind} is no text")


def _add(found: Tally, block: Block) -> None:
    """Counts a file. Raises BrokenJournal if one of its lines is invalid."""
    try:
        for entry in (block.file, *block.findings):
            _validate(entry)
        found.add(block.file, block.findings)
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenJournal(f"a field is missing or wrong: {error}") from None


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line; None if the line is not an object with a ``kind``."""
    import json

    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("kind"), str) else None
