"""Quotes texts of a model for code that users paste, so that no text of a model runs as code."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.reporters.plain import safe

#: Characters that have a special meaning in a shell, even inside double quotes.
EXPANDED = frozenset('"$`\\!')


def literal(text: str) -> str:
    """A Python literal, in double quotes if possible."""
    written = repr(text)
    return written if '"' in text or "'" in text else f'"{written[1:-1]}"'


def word(text: str) -> str:
    """A text as one word of a shell command.

    A text with unprintable characters is written as ``$'...'``, which bash, ksh and zsh understand.
    """
    from shlex import quote

    if not text.isprintable() or "##[" in text:
        return f"$'{''.join(map(_escaped, text))}'"
    if quote(text) == text or set(text) & EXPANDED:
        return quote(text)
    return f'"{text}"'


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable() and character != "#":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def comment(text: str) -> str:
    """A comment line for Python and shells."""
    return f"# {safe(text)}"


def pasted(lines: Iterable[str]) -> str:
    """The lines as a text, with control characters escaped."""
    return "".join(f"{safe(line)}\n" for line in lines)
