"""click's options from the tables of options, completion in a shell, and the help in sections."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from irlint.command.options import CHECK, COMMANDS, KINDS, METAVARS, SECTIONS, defaults
from irlint.findings.wording import closest
from irlint.lazy_typing import Any, NoReturn
from irlint.policy.keys import Option

#: The most characters of a command's help in the list of commands.
LONGEST = 200


class Choice(click.Choice[str]):
    """One of several words. The message about another word proposes a similar word."""

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        word = message.partition("'")[2].partition("'")[0]
        found = closest(word, self.choices)
        super().fail(message + (f" Did you mean {found!r}?" if found else ""), param, ctx)


def rules_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The completions of the last word in a list of rules, such as ``IRL2,IRL3``."""
    from irlint.policy.rulebook import every_rule

    before, comma, word = incomplete.rpartition(",")
    names = [text for rule in every_rule() for text in (rule.code, rule.name)]
    return [f"{before}{comma}{name}" for name in names if name.startswith(word)]


def topics_and_rules_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The completions of a word to a topic of `irlint explain` or to a rule."""
    from irlint.reporters.guide import TOPICS

    topics = [topic for topic in TOPICS if topic.startswith(incomplete)]
    return [*topics, *rules_like(context, parameter, incomplete)]


def with_options(options: Iterable[Option]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that adds options to a command, in this order."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(tuple(options)):
            command = _option(option)(command)
        return command

    return decorated


def _option(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """click's decorator for one option."""
    types = {
        "choice": Choice(option.values),
        "number": click.IntRange(1),
        "axis": click.INT,
        "file": click.Path(),
    }
    return click.option(
        *((f"{option.flag}/{option.twin}",) if option.kind == "switch" else option.spellings),
        option.name,
        type=types.get(option.kind),
        is_flag=option.kind in ("flag", "switch"),
        multiple=KINDS[option.kind] == (),
        default=defaults([option])[option.name],
        metavar=option.metavar or METAVARS.get(option.kind),
        help=option.help,
        shell_complete=rules_like if option.kind == "rules" else None,
    )


class Commands(click.Group):
    """The group of all commands.

    Arguments that do not begin with a command are arguments of ``check``. ``help COMMAND`` means ``COMMAND --help``.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of COMMANDS."""
        return sorted(self.commands, key=COMMANDS.index)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self.commands[name].get_short_help_str(limit=LONGEST)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and files that begin with an incomplete word.

        If bash completes files itself, it drops the commands, so the files are listed here.
        """
        found = super().shell_complete(ctx, incomplete)
        if not found:
            return [CompletionItem(incomplete, type="file")]
        from glob import escape, glob

        files = [] if incomplete.startswith("-") else sorted(glob(f"{escape(incomplete)}*")) if incomplete else []
        return [*found, *(CompletionItem(f"{name}/" if os.path.isdir(name) else name) for name in files)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        if args and args[0] not in self.commands and args[0] not in COMMANDS:
            args = ["check", *args]
        return super().parse_args(ctx, args)


class Sectioned(click.Command):
    """A command whose help lists the options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in (*SECTIONS, "Help")}
        sections = {option.name: option.section for option in CHECK}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                rows[sections.get(str(parameter.name), "Help")].append(row)
        for section, listed in rows.items():
            with formatter.section(section):
                formatter.write_dl(listed)
