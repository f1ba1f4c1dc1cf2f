"""Finds the positions of the fields of a text in protobuf's text format."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irlint.folders.statements import START, Span
from irlint.records import record

#: The path of a field: for each message around it, and then for the field itself, the name and the number among the
#: fields of the same name.
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
        """The position of a field. If it does not exist, the position of the innermost message on its path."""
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, START)

    def of_key(self, path: Path, name: str, key: str) -> Span:
        """The position of the entry ``key`` in the map ``name`` of the message at ``path``; without it, of the
        message."""
        number = 0
        while (*path, name, number) in self.spans:
            if self.texts.get((*path, name, number, "key", 0), "")[1:-1] == key:
                return self.spans[(*path, name, number)]
            number += 1
        return self.of(*path)


class _Message:
    """A message that has begun and not ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: How many times each field has occurred.
        self.counts: dict[str, int] = {}
        #: The field whose value comes next, or "".
        self.field = ""
        self.is_in_list = False

    def next(self) -> Path:
        """The path of the next value of the field."""
        number = self.counts.get(self.field, 0)
        self.counts[self.field] = number + 1
        path = (*self.path, self.field, number)
        self.field = self.field if self.is_in_list else ""
        return path


def places(text: str) -> Places:
    """The positions of all fields of a valid text.

    A scalar is at its value. A message is at its field name or, in a list, at its opening bracket.
    """
    found: dict[Path, Span] = {}
    texts: dict[Path, str] = {}
    messages = [_Message(())]
    field_span = START
    for kind, token, span in _tokens(text):
        message = messages[-1]
        if kind == "value":
            if message.field:
                path = message.next()
                found[path], texts[path] = span, token
            elif token[0] not in "\"'-":
                message.field, field_span = token, span
        elif token == "[" or token == "]":
            message.is_in_list = token == "["
            message.field = message.field if message.is_in_list else ""
        elif token in "{<" and message.field:
            path = message.next()
            found[path] = span if message.is_in_list else field_span
            messages.append(_Message(path))
        elif token in "}>" and len(messages) > 1:
            messages.pop()
    return Places(found, texts)


def _tokens(text: str) -> Iterator[tuple[str, str, Span]]:
    """(``value`` or ``mark``, token, position) of each token except spaces and comments."""
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
