"""The arguments of the command: a check starts without click, from the table of options that click's commands are made
from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.command import check as session
from irlint.command.options import CHECK, COMMANDS, DEFAULTS, KINDS
from irlint.command.streams import complain
from irlint.lazy_typing import Any, NoReturn
from irlint.policy.keys import Option


def _spelled() -> Iterator[tuple[str, tuple[Option, bool | None]]]:
    for option in CHECK:
        position = True if option.kind in ("flag", "switch") else None
        yield from ((spelling, (option, position)) for spelling in option.spellings)
        if option.kind == "switch":
            yield option.twin, (option, False)


#: The options of a check by their spellings, with the value that a spelling sets; None where the next word is the
#: value.
SPELLED = dict(_spelled())
OTHER_COMMANDS = frozenset(COMMANDS) - {"check"}


def run(arguments: Sequence[str]) -> NoReturn:
    """Does what the words of a command ask for, and ends with the exit status; raises KeyboardInterrupt and OSError."""
    plain = plain_check(arguments)
    if plain is not None:
        session.check(*plain)
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
    """Writes what is wrong with the options."""
    from io import StringIO

    text = StringIO()
    error.show(file=text)
    word = getattr(error, "option_name", None) or ""
    meant = f"help: `irlint {word.lstrip('-')}` is a command\n" if word.lstrip("-") in OTHER_COMMANDS else ""
    complain(text.getvalue() + meant)


def plain_check(arguments: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, Any]] | None:
    """The paths and options of a check; None for another command, and for numbers, wrong options and joined words,
    which click reads."""
    rest = list(arguments)
    if rest[:1] == ["check"]:
        del rest[0]
    elif rest and rest[0] in OTHER_COMMANDS:
        return None
    options = dict(DEFAULTS)
    paths: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            paths += rest
            break
        if not word.startswith("-"):
            paths.append(word)
            continue
        if word not in SPELLED:
            return None
        option, position = SPELLED[word]
        value: Any = position
        if value is None:
            if not rest or not _is_text(option, rest[0]):
                return None
            value = rest.pop(0)
        options[option.name] = (*options[option.name], value) if KINDS[option.kind] == () else value
    return (tuple(paths), options) if paths else None


def _is_text(option: Option, word: str) -> bool:
    """Whether a word is a value of an option as it is, without being converted or refused."""
    return word in option.values if option.kind == "choice" else option.kind not in ("number", "axis")
