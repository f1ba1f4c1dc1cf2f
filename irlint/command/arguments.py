"""Parses the arguments of ``irlint``.

The arguments of a common check are parsed here. click, whose import takes long, parses all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.command import check as check_command
from irlint.command.options import CHECK, COMMANDS, DEFAULTS, KINDS
from irlint.command.streams import emit_stderr
from irlint.lazy_typing import Any, NoReturn
from irlint.policy.keys import Option

OTHER_COMMANDS = frozenset(COMMANDS) - {"check"}


def run(arguments: Sequence[str]) -> NoReturn:
    """Runs the command in the arguments and ends with its exit status.

    Ctrl-C raises KeyboardInterrupt.
    """
    plain = plain_check(arguments)
    if plain is not None:
        check_command.check(*plain)
    if len(arguments) == 2 and arguments[0] == "targets" and not arguments[1].startswith("-"):
        from irlint.command.questions import targets

        raise SystemExit(targets(arguments[1]))
    import click

    from irlint.command.cli import commands

    try:
        status = commands.main(list(arguments), prog_name="irlint", standalone_mode=False)
    except click.ClickException as error:
        _report(error)
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    raise SystemExit(status or 0)


def _report(error: Any) -> None:
    """Writes click's message. An option with the name of a command, such as --explain, has a help."""
    from io import StringIO

    text = StringIO()
    error.show(file=text)
    word = getattr(error, "option_name", None) or ""
    command = f"help: `irlint {word.lstrip('-')}` is a command\n" if word.lstrip("-") in OTHER_COMMANDS else ""
    emit_stderr(text.getvalue() + command)


def plain_check(arguments: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, Any]] | None:
    """The paths and options of a check; None for arguments that click parses."""
    rest = list(arguments)
    if rest[:1] == ["check"]:
        del rest[0]
    elif rest and rest[0] in OTHER_COMMANDS:
        return None
    options = dict(DEFAULTS)
    paths: list[str] = []
    value: Any
    while rest:
        word = rest.pop(0)
        if word == "--":
            paths += rest
            break
        if not word.startswith("-"):
            paths.append(word)
            continue
        option = next((each for each in CHECK if word in each.spellings), None)
        if option is None:
            return None
        value = word != option.twin
        if option.kind not in ("flag", "switch"):
            if not rest or not _is_text(option, rest[0]):
                return None
            value = rest.pop(0)
        options[option.name] = (*options[option.name], value) if KINDS[option.kind] == () else value
    return (tuple(paths), options) if paths else None


def _is_text(option: Option, word: str) -> bool:
    """Whether a word is a valid value of an option without conversion."""
    return word in option.values if option.kind == "choice" else option.kind not in ("number", "axis")
