"""The positions of the fields of a text in protobuf's text format; protobuf itself parses their values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irlint.folders.statements import START, Span
from irlint.records import record

#: Pairs of the name of a field and its number among the fields of this name, from the outermost message on.
Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<value>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s"'#{}<>\[\]:,;]+)|(?P<mark>.)""",
    re.S,
)


@record
class Places:
    """The positions of the fields of a text, and the texts of the scalar fields."""

    spans: dict[Path, Span]
    texts: dict[Path, str]

    def of(self, *path: str | int) -> Span:
        """The position of a field; if it does not exist, that of the innermost message of its path that exists."""
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, START)

    def of_key(self, path: Path, name: str, key: str) -> Span:
        """The position of the entry with a key in the map ``name`` of the message at ``path``; if there is no such
        entry, that of the message."""
        number = 0
        while (*path, name, number) in self.spans:
            if self.texts.get((*path, name, number, "key", 0), "")[1:-1] == key:
                return self.spans[(*path, name, number)]
            number += 1
        return self.of(*path)


class _Message:
    """A message that has begun and not ended: its path, how often each field has occurred, and the field whose value
    comes next ("" if none does). ``is_list``: the values of a list follow."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: dict[str, int] = {}
        self.field = ""
        self.is_list = False

    def next(self) -> Path:
        """The path of the next value of the field."""
        number = self.counts.get(self.field, 0)
        self.counts[self.field] = number + 1
        path = (*self.path, self.field, number)
        self.field = self.field if self.is_list else ""
        return path


def places(text: str) -> Places:
    """The positions of all fields of a text that protobuf has parsed.

    The position of a scalar is that of its value. The position of a message is that of its field name or, in a list, of
    its opening bracket.
    """
    found: dict[Path, Span] = {}
    texts: dict[Path, str] = {}
    messages = [_Message(())]
    named = START
    for kind, token, span in _tokens(text):
        message = messages[-1]
        if kind == "value":
            if message.field:
                path = message.next()
                found[path], texts[path] = span, token
            elif token[0] not in "\"'-":
                message.field, named = token, span
        elif token == "[" or token == "]":
            message.is_list = token == "["
            message.field = message.field if message.is_list else ""
        elif token in "{<" and message.field:
            in_list = message.is_list
            path = message.next()
            found[path] = span if in_list else named
            messages.append(_Message(path))
        elif token in "}>" and len(messages) > 1:
            messages.pop()
    return Places(found, texts)


def _tokens(text: str) -> Iterator[tuple[str, str, Span]]:
    """The kind (``value`` or ``mark``), the text and the position of each token; spaces and comments are skipped."""
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind != "space":
            column = match.start() - start + 1
            yield kind, token, Span(line, column, line, column + len(token))
        lines = token.count("\n")
        if lines:
            line += lines
            start = match.start() + token.rfind("\n") + 1
