"""Texts of a model in what users paste: one literal of Python, one word of a shell, or a comment, whatever characters
they have."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.reporters.plain import safe

#: What a shell reads in double quotes as more than itself.
EXPANDED = frozenset('"$`\\!')


def literal(text: str) -> str:
    """A text as Python writes it, in double quotes where it can be."""
    written = repr(text)
    return written if '"' in text or "'" in text else f'"{written[1:-1]}"'


def word(text: str) -> str:
    """A text as one word of a shell's line; with what is not printable it is in ``$'...'``, which bash, ksh and zsh
    read."""
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
    """A line that Python and shells skip."""
    return f"# {safe(text)}"


def pasted(lines: Iterable[str]) -> str:
    """The lines of a text that can be pasted: none has a character that ends it, or that a terminal obeys."""
    return "".join(f"{safe(line)}\n" for line in lines)
