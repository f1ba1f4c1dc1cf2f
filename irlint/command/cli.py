"""The commands: options, calls and exit status, nothing else."""

from __future__ import annotations

import sys

import click
from click.shell_completion import CompletionItem

from irlint import __version__
from irlint.command import check as session
from irlint.command.streams import emit, encoding, fail
from irlint.lazy_typing import Any
from irlint.policy.options import FAIL_ON, FORMATS

#: What a rule is called.
NAMES = "codes, prefixes of codes, or names"


def _rules_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names and codes of rules that a shell may complete a word to."""
    from irlint.policy.rulebook import every_rule

    lead, comma, word = incomplete.rpartition(",")
    names = [text for rule in every_rule() for text in (rule.code, rule.name)]
    return [f"{lead}{comma}{name}" for name in names if name.startswith(word)]


class _Commands(click.Group):
    """``irlint PATH…`` is short for ``irlint check PATH…``."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        return found if incomplete.startswith("-") else [*found, CompletionItem(incomplete, type="file")]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="irlint")
def commands() -> None:
    """Checks ONNX models and OpenVINO IR: shapes, broadcasting, types and structure, without a runtime.

    `irlint PATH...` is short for `irlint check PATH...`. `irlint init` writes a configuration.

    Completion in the shell: eval "$(_IRLINT_COMPLETE=bash_source irlint)", likewise zsh_source and fish_source.
    """


@commands.command()
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@click.option("--format", "form", type=click.Choice(FORMATS), help="Form of the report on standard output; else text.")
@click.option("--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write the report to a file.")
@click.option(
    "--select", multiple=True, metavar="RULES", shell_complete=_rules_like, help=f"Only these rules: {NAMES}."
)
@click.option("--ignore", multiple=True, metavar="RULES", shell_complete=_rules_like, help="Not these rules.")
@click.option(
    "--extend-select",
    multiple=True,
    metavar="RULES",
    shell_complete=_rules_like,
    help="These rules as well as the selected ones.",
)
@click.option(
    "--severity", "severities", multiple=True, metavar="RULE=LEVEL", help="error, warning or note for a rule."
)
@click.option(
    "--shape", "shapes", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640."
)
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="Least severity for status 1; else error.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; else as many as are worth it.")
@click.option("--baseline", type=click.Path(), metavar="FILE", help="Hide the findings that this file knows.")
@click.option("--update-baseline", is_flag=True, help="Write the baseline: new findings in, stale entries out.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files and folders not to check.")
@click.option("--force-exclude", is_flag=True, help="Apply `exclude` to files that are named, too.")
@click.option("--allow-empty", is_flag=True, help="Status 0 where there is nothing to check.")
@click.option("--stdin-filename", metavar="NAME", help="Name of the model that comes on standard input (PATH is -).")
@click.option(
    "--config", type=click.Path(), metavar="FILE", help="The configuration, in place of the one that is found."
)
@click.option("--isolated", is_flag=True, help="No configuration.")
@click.option("--show-files", is_flag=True, help="Only list the models that would be checked.")
@click.option(
    "--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour in the text report."
)
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("-q", "--quiet", is_flag=True, help="No summary, and no notices.")
@click.option("-v", "--verbose", is_flag=True, help="Show every finding in full, and name each file that is checked.")
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Checks models and reports findings.

    A PATH is a model file, a folder that is searched for models, or - with --stdin-filename.

    The configuration is irlint.toml, .irlint.toml or [tool.irlint] of pyproject.toml, in the nearest folder up to the
    repository's root. Of the options here, --select begins anew, --ignore and --extend-select change what is selected,
    --severity adds to the table `severity`, and --shape to `models`; every other one replaces its key.
    """
    session.check(paths, options)


@commands.command()
@click.argument("model", type=click.Path())
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Form of the listing.")
@click.option(
    "--shape", "options", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640."
)
def shapes(model: str, form: str, options: tuple[str, ...]) -> None:
    """Prints every value of a MODEL with its element type and inferred shape."""
    from irlint.policy.shape_options import parsed_shapes
    from irlint.run.listing import listed

    try:
        found = listed(model, shapes=parsed_shapes(options))
    except FileNotFoundError:
        fail(f"no such file: {model}")
    except OSError as error:
        fail(f"{model}: {error.strerror}")
    except ValueError as error:
        fail(f"{model}: {error}")
    if form == "json":
        import json

        emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return
    from irlint.reporters.listing import rendered

    emit(rendered(found, encoding()))


@commands.command()
@click.argument("rule", shell_complete=_rules_like)
def explain(rule: str) -> None:
    """Prints the page of a RULE, named by its code or its name."""
    from irlint.policy.rulebook import every_rule, suggestion

    rules = every_rule()
    found = next((each for each in rules if rule.upper() == each.code or rule == each.name), None)
    if found is None:
        fail(f"unknown rule {rule!r}{suggestion(rule, rules)}", "help: `irlint rules` lists every rule")
    from irlint.reporters.ansi import colored
    from irlint.reporters.pages import page

    emit(page(found, *_columns(), color=colored("auto", sys.stdout)))


@commands.command()
def rules() -> None:
    """Lists every rule."""
    from irlint.policy.rulebook import every_rule
    from irlint.reporters.ansi import colored
    from irlint.reporters.pages import table

    emit(table(every_rule(), *_columns(), color=colored("auto", sys.stdout)))


def _columns() -> tuple[int, ...]:
    """The width of the terminal that standard output is, if it is one."""
    from irlint.reporters.ansi import is_terminal
    from irlint.reporters.text import width

    return (width(sys.stdout),) if is_terminal(sys.stdout) else ()


@commands.command()
def init() -> None:
    """Writes irlint.toml, with every key explained; an existing one is left alone."""
    from irlint.policy.template import FILE, TEXT

    try:
        with open(FILE, "x", encoding="utf-8", newline="\n") as file:
            file.write(TEXT)
    except FileExistsError:
        fail(f"{FILE} is there already", "help: edit it, or remove it first; nothing was written")
    except OSError as error:
        fail(f"cannot write {FILE}: {error.strerror}")
    emit(f"Wrote {FILE}: every key is there as a comment, and nothing is set. Try: irlint .\n")
