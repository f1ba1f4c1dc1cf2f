"""Where the keys and the values of a TOML document stand in its text."""

from __future__ import annotations

from irlint.records import record

#: The names of tables and keys from the document's root, and the indices of array elements.
Path = tuple[str | int, ...]
Span = tuple[int, int]


@record
class Places:
    """The places of the keys and of the values of a document, each as the indices where it begins and ends."""

    keys: dict[Path, Span]
    values: dict[Path, Span]


def places(text: str) -> Places:
    """The places in a document that is sound TOML; in one that is not, those before the first oddity."""
    scan = _Scan(text)
    try:
        scan.document()
    except (IndexError, ValueError):
        pass
    return Places(scan.keys, scan.values)


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.counts: dict[Path, int] = {}
        self._key_end = 0

    def document(self) -> None:
        table: Path = ()
        while self._skip(" \t\r\n\ufeff") < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, blanks: str) -> int:
        """Goes on to what is neither blank nor comment."""
        while self.at < len(self.text):
            if self.text[self.at] == "#" and "\n" in blanks:
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in blanks:
                self.at += 1
            else:
                break
        return self.at

    def _header(self) -> Path:
        several = self.text.startswith("[[", self.at)
        self.at += 1 + several
        self._skip(" \t")
        start = self.at
        parts = self._key()
        span = (start, self._key_end)
        self.at = self.text.index("]", self.at) + 1 + several
        path = self._located(parts[:-1]) + (parts[-1],)
        if several:
            index = self.counts.get(path, -1) + 1
            self.counts[path] = index
            self.keys.setdefault(path, span)
            path = (*path, index)
        elif path in self.counts:
            path = (*path, self.counts[path])
        for end in range(1, len(path) + 1):
            self.keys.setdefault(path[:end], span)
        return path

    def _located(self, parts: list[str]) -> Path:
        """The path of a table, through the last element of every array of tables on the way."""
        path: Path = ()
        for part in parts:
            path = (*path, part)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _pair(self, table: Path) -> None:
        path = table
        start = self.at
        for part in self._key():
            path = (*path, part)
            self.keys.setdefault(path, (start, self._key_end))
        self.keys[path] = (start, self._key_end)
        self.at = self.text.index("=", self.at) + 1
        self._skip(" \t")
        self._value(path)

    def _key(self) -> list[str]:
        """The parts of a dotted key; ``_key_end`` is where the last one ends."""
        parts = []
        while True:
            self._skip(" \t")
            start = self.at
            if self.text[start] in "\"'":
                self._string()
                parts.append(self.text[start + 1 : self.at - 1])
            else:
                while self.text[self.at].isalnum() or self.text[self.at] in "-_":
                    self.at += 1
                parts.append(self.text[start : self.at])
            self._key_end = self.at
            if self.text[self._skip(" \t")] != ".":
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        start = self.at
        first = self.text[start]
        if first in "\"'":
            self._string()
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\r\n":
                self.at += 1
        end = start + len(self.text[start : self.at].rstrip())
        self.values[path] = (start, end)

    def _string(self) -> None:
        quote = self.text[self.at]
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(mark)
        while not self.text.startswith(mark, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(mark)
        while len(mark) == 3 and self.text[self.at : self.at + 1] == quote:
            self.at += 1

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self.text[self._skip(" \t\r\n,")] != "]":
            self._value((*path, index))
            index += 1
        self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while self.text[self._skip(" \t\r\n,")] != "}":
            self._pair(path)
        self.at += 1
