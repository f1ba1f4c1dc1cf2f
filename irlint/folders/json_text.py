"""Reads the values of a JSON text with their positions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from irlint.folders.rules import NOT_PARSED
from irlint.folders.statements import START, ConfigFault, Span
from irlint.lazy_typing import Any
from irlint.records import record

#: Keys of objects and indices of arrays, from the outermost value on.
Path = tuple[str | int, ...]

_TOKEN = re.compile(r'(?P<space>\s+)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[^\s"{}\[\]:,]+)|(?P<mark>.)', re.S)


@record
class Document:
    """The value of a JSON text."""

    value: Any
    #: The position of each value in the text. An object or array has the position of its opening bracket.
    spans: dict[Path, Span]

    def of(self, *path: str | int) -> Any:
        """The value at a path; None if the path does not exist."""
        found = self.value
        for key in path:
            if isinstance(found, dict):
                found = found.get(key)
            elif isinstance(found, list) and isinstance(key, int) and key < len(found):
                found = found[key]
            else:
                return None
        return found

    def integer(self, *path: str | int) -> int | None:
        """The integer at a path; None if the path does not exist or has another value."""
        found = self.of(*path)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def text(self, *path: str | int) -> str | None:
        """The string at a path; None if the path does not exist or has another value."""
        found = self.of(*path)
        return found if isinstance(found, str) else None

    def at(self, *path: str | int) -> Span:
        """The position of the value at a path. If there is none, the position of the innermost value on the path."""
        while path and path not in self.spans:
            path = path[:-1]
        return self.spans.get(path, START)


def parsed(text: str) -> Document | ConfigFault:
    """The document of a JSON text, or its fault. A text whose value is not an object also has a fault."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"it is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        span = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
        return ConfigFault(NOT_PARSED.fault(message, help="correct the syntax"), span)
    except ValueError:
        # Python's limit for the digits of an integer.
        return ConfigFault(NOT_PARSED.fault("it has an integer of more than 4300 digits", help="correct the number"))
    except RecursionError:
        return ConfigFault(NOT_PARSED.fault("it is nested too deeply", help="export it again"))
    if not isinstance(value, dict):
        return ConfigFault(NOT_PARSED.fault("it is no JSON object", help="export it again"))
    return Document(value, dict(_spans(text)))


class _Container:
    """An object or array that has begun and not ended."""

    def __init__(self, path: Path, *, is_array: bool) -> None:
        self.path = path
        self.is_array = is_array
        #: The key or index of the next value; None if a key comes next.
        self.key: str | int | None = 0 if is_array else None

    def next(self) -> Path:
        """The path of the value that begins now."""
        assert self.key is not None
        path = (*self.path, self.key)
        self.key = self.key + 1 if isinstance(self.key, int) else None
        return path


def _spans(text: str) -> Iterator[tuple[Path, Span]]:
    """(path, position) of each value of a valid text."""
    containers: list[_Container] = []
    for kind, token, span in _tokens(text):
        container = containers[-1] if containers else None
        if token in ("{", "["):
            path = container.next() if container is not None else ()
            yield path, span
            containers.append(_Container(path, is_array=token == "["))
        elif token in ("}", "]"):
            containers.pop()
        elif kind == "mark" or container is None:
            # A comma or a colon.
            continue
        elif container.key is None:
            container.key = json.loads(token)
        else:
            yield container.next(), span


def _tokens(text: str) -> Iterator[tuple[str, str, Span]]:
    """(kind, token, position) of each token except spaces. The kind is ``text``, ``word`` or ``mark``."""
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind == "space":
            lines = token.count("\n")
            if lines:
                line, start = line + lines, match.start() + token.rfind("\n") + 1
        else:
            column = match.start() - start + 1
            yield kind, token, Span(line, column, line, column + len(token))
