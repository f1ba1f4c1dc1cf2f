"""The positions of the keys and values in the text of a TOML document."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import count

#: The names of tables and keys, and the indices of elements, that lead to a value.
Path = tuple[str | int, ...]

#: A string, a comment, a bare word, or one other character.
TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\w+-]+|\n|\S', re.DOTALL
)

#: By token: by how much the token changes the depth of nesting.
DEPTHS = {"[": 1, "{": 1, "]": -1, "}": -1}


class Places:
    """The positions of keys and values in a valid TOML document."""

    def __init__(self, text: str) -> None:
        self._tokens = [token for token in TOKEN.finditer(f"{text}\n\n\n") if token[0][0] != "#"]
        words = [token[0] for token in self._tokens]
        #: The indices of the tokens that are keys, by the text of the key.
        self._keys: dict[str, list[int]] = {}
        #: The indices of the keys in headers ``[[key]]``.
        self._entries: dict[str, list[int]] = {}
        first = 0
        for at, word in enumerate(words[:-2]):
            if word == "\n":
                first = at + 1
            elif words[at + 1] in ("=", ".") or (words[at + 1] == "]" and words[first] == "["):
                name = word[1:-1] if word[0] in "\"'" else word
                self._keys.setdefault(name, []).append(at)
                if words[at + 1] == words[at + 2] == "]":
                    self._entries.setdefault(name, []).append(at)

    def span(self, path: Path, *, key: bool) -> tuple[int, int]:
        """(start, end) of the value at a path, or of its ``key``.

        If there is no such value, the span is that of the innermost existing table of the path.
        """
        at, is_value = -1, False
        for part, table in zip(path, ("", *path)):
            if isinstance(part, int):
                is_value = table not in self._entries
                at = self._element(at, part) if is_value else self._entries[str(table)][part]
                continue
            tokens = self._keys.get(part, [])
            index = bisect_right(tokens, at)
            if index == len(tokens):
                break
            at, is_value = tokens[index], False
        if at < 0:
            return (0, 1)
        if not key and not is_value and self._tokens[at + 1][0] == "=":
            at, is_value = at + 2, True
        return self._tokens[at].start(), self._tokens[self._end(at) if is_value else at].end()

    def _element(self, key: int, index: int) -> int:
        """The index of the first token of element ``index`` of an array. ``key`` is the index of the array's key."""
        at = key + 3
        for before in range(index + 1):
            at = self._end(at) + 1 if before else at
            while self._tokens[at][0] in (",", "\n"):
                at += 1
        return at

    def _end(self, at: int) -> int:
        """The index of the last token of the value that begins with the token ``at``."""
        depth = 0
        for end in count(at):
            depth += DEPTHS.get(self._tokens[end][0], 0)
            if depth <= 0 and self._tokens[end + 1][0] in (",", "]", "}", "\n"):
                break
        return end
