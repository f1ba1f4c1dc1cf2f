"""What the words of a command ask for; a plain check starts without the machinery that reads options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.command import check as session
from irlint.command.options import CHECK, COMMANDS, DEFAULTS
from irlint.command.streams import complain
from irlint.lazy_typing import Any, NoReturn

#: Options that a plain check may have: those without a value, those that choose from a few, and those that name a target.
FLAGS = {flag: option.name for option in CHECK if option.kind == "flag" for flag in option.spellings}
SWITCHES = {option.flag: (option.name, True) for option in CHECK if option.kind == "switch"}
SWITCHES |= {option.twin: (option.name, False) for option in CHECK if option.kind == "switch"}
CHOICES = {option.flag: option for option in CHECK if option.kind == "choice"}
NAMED = {option.flag: option.name for option in CHECK if option.kind == "targets"}
OTHER_COMMANDS = frozenset(COMMANDS) - {"check"}


def run(arguments: Sequence[str]) -> NoReturn:
    """Does what the words of a command ask for, and ends with the exit status; raises KeyboardInterrupt and OSError."""
    plain = plain_check(arguments)
    if plain is not None:
        session.check(*plain)
    if len(arguments) == 2 and arguments[0] == "targets" and not arguments[1].startswith("-"):
        from irlint.command.questions import targets

        targets(arguments[1])
        raise SystemExit(0)
    import click

    from irlint.command.cli import commands

    try:
        status = commands.main(list(arguments), prog_name="irlint", standalone_mode=False)
    except click.ClickException as error:
        _tell(error)
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    raise SystemExit(status or 0)


def _tell(error: Any) -> None:
    """Writes what is wrong with the options."""
    from io import StringIO

    text = StringIO()
    error.show(file=text)
    complain(text.getvalue())


def plain_check(arguments: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, Any]] | None:
    """The paths and options of a check that has no options but choices, flags and targets, None for anything else."""
    options = dict(DEFAULTS)
    paths: list[str] = []
    rest = list(arguments[1:] if arguments[:1] == ["check"] else arguments)
    if arguments[:1] != ["check"] and rest[:1] and rest[0] in OTHER_COMMANDS:
        return None
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            paths += rest
            break
        if argument in FLAGS:
            options[FLAGS[argument]] = True
        elif argument in SWITCHES:
            name, position = SWITCHES[argument]
            options[name] = position
        elif argument in CHOICES and rest and rest[0] in CHOICES[argument].values:
            options[CHOICES[argument].name] = rest.pop(0)
        elif argument in NAMED and rest:
            options[NAMED[argument]] = (*options[NAMED[argument]], rest.pop(0))
        elif argument.startswith("-"):
            return None
        else:
            paths.append(argument)
    return (tuple(paths), options) if paths else None
