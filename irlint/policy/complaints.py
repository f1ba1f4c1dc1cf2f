"""The error about an invalid configuration: its place, the line with a caret, and the allowed values."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.lazy_typing import Any
from irlint.parsers.opening import lies_elsewhere
from irlint.reporters.plain import safe

#: The largest width of the helps of an error, in columns.
WIDTH = 100


class ConfigError(Exception):
    """An invalid configuration; the text of the error is complete, as ``complaint`` writes it."""


def complaint(
    message: str,
    file: str,
    text: str | None,
    line: int,
    column: int,
    *,
    length: int = 1,
    helps: Sequence[str] = (),
) -> ConfigError:
    """The error about a place in a file: the line above the place, the line of the place, and carets below it.

    The lines are omitted if the ``text`` of the file is unknown or the file is a link to another folder.
    """
    from textwrap import wrap

    result = [f"irlint: error: {safe(message)}", f"   --> {safe(file)}:{line}:{column}"]
    if text is not None and not lies_elsewhere(file):
        lines = text.split("\n")
        width = max(3, len(str(line)))
        bar = f"{'':>{width}} |"
        around = [at for at in (line - 1, line) if at == line or (at >= 1 and lines[at - 1].strip())]
        result += [bar, *(f"{at:>{width}} | {_line(lines[at - 1])}".rstrip() for at in around)]
        result.append(f"{bar} {' ' * len(_line(lines[line - 1][: column - 1]))}{'^' * max(1, length)}")
    for each in helps:
        result += wrap(f"= help: {safe(each)}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 12)
    return ConfigError("\n".join([*result, "Nothing was linted.", ""]))


def _line(text: str) -> str:
    return safe(text.replace("\t", "    "))


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """A text such as ``, did you mean `select`?``; "" if no name is similar."""
    from irlint.policy.rulebook import closest

    close = closest(name, names)
    return f", did you mean `{close}`?" if close else ""


def kind(value: Any) -> str:
    """A value of a configuration as messages describe it, such as ``a table`` or ``the number 3``."""
    if isinstance(value, str):
        return f'"{value}"' if value.strip() else "an empty text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return str(value)
