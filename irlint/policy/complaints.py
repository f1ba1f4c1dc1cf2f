"""The error about an invalid configuration."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.lazy_typing import Any
from irlint.parsers.opening import lies_elsewhere
from irlint.reporters.plain import safe

#: The largest width of helps, in columns.
WIDTH = 100


class ConfigError(Exception):
    """An invalid configuration. The text of the error is the complete message."""


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
    """The error with its place, the line at fault, the line before that, carets, and helps.

    The lines are omitted if ``text`` is None, or if ``file`` is a link to a file in another folder.
    """
    from textwrap import wrap

    result = [f"irlint: error: {safe(message)}", f"   --> {safe(file)}:{line}:{column}"]
    if text is not None and not lies_elsewhere(file):
        lines = text.split("\n")
        width = max(3, len(str(line)))
        bar = f"{'':>{width}} |"
        shown = [at for at in (line - 1, line) if at == line or (at >= 1 and lines[at - 1].strip())]
        result += [bar, *(f"{at:>{width}} | {_line(lines[at - 1])}".rstrip() for at in shown)]
        result.append(f"{bar} {' ' * len(_line(lines[line - 1][: column - 1]))}{'^' * max(1, length)}")
    for help in helps:
        result += wrap(f"= help: {safe(help)}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 12)
    return ConfigError("\n".join([*result, "Nothing was linted.", ""]))


def _line(text: str) -> str:
    return safe(text.replace("\t", "    "))


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """A text such as ``, did you mean `select`?``; "" if no name is similar."""
    from irlint.policy.rulebook import closest

    close = closest(name, names)
    return f", did you mean `{close}`?" if close else ""


def value_text(value: Any) -> str:
    """A value of a configuration in messages: ``a table``, ``the number 3``."""
    if isinstance(value, str):
        return f'"{value}"' if value.strip() else "an empty text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return str(value)
