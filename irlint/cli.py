"""The commands: options, calls and exit status, nothing else."""

from __future__ import annotations

from typing import Any

import click

from irlint import __version__, session


class _Commands(click.Group):
    """``irlint PATH…`` is short for ``irlint check PATH…``."""

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

    `irlint PATH...` is short for `irlint check PATH...`.
    """


@commands.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice(session.FORMATS),
    default="text",
    help="Form of the report on standard output.",
)
@click.option("--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write the report to a file.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules: codes, prefixes of codes, or names.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These rules as well as the selected ones.")
@click.option(
    "--severity", "severities", multiple=True, metavar="RULE=LEVEL", help="error, warning or note for a rule."
)
@click.option(
    "--shape", "shapes", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640."
)
@click.option(
    "--fail-on", type=click.Choice((*session.LEVELS, "never")), default="error", help="Least severity for status 1."
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files and folders not to check.")
@click.option("--force-exclude", is_flag=True, help="Apply --exclude to files that are named, too.")
@click.option("--allow-empty", is_flag=True, help="Status 0 where there is nothing to check.")
@click.option("--stdin-filename", metavar="NAME", help="Name of the model that comes on standard input (PATH is -).")
@click.option(
    "--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour in the text report."
)
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.option("-v", "--verbose", is_flag=True, help="Show every finding in full, and name each file that is checked.")
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Checks models and reports findings.

    A PATH is a model file, a folder that is searched for models, or - with --stdin-filename.
    """
    session.check(paths, options)


@commands.command()
@click.argument("model")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Form of the listing.")
@click.option(
    "--shape", "options", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640."
)
def shapes(model: str, form: str, options: tuple[str, ...]) -> None:
    """Prints every value of a MODEL with its element type and inferred shape."""
    from irlint.listing import listed
    from irlint.shape_options import parsed_shapes

    try:
        found = listed(model, shapes=parsed_shapes(options))
    except FileNotFoundError:
        session.fail(f"no such file: {model}")
    except OSError as error:
        session.fail(f"{model}: {error.strerror}")
    except ValueError as error:
        session.fail(f"{model}: {error}")
    if form == "json":
        import json

        session.emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return
    from irlint.reporters.listing import rendered

    session.emit(rendered(found))


@commands.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Prints the page of a RULE, named by its code or its name."""
    from irlint.rulebook import every_rule, suggestion

    rules = every_rule()
    found = next((each for each in rules if rule.upper() == each.code or rule == each.name), None)
    if found is None:
        session.fail(f"unknown rule {rule!r}{suggestion(rule, rules)}", "help: `irlint rules` lists every rule")
    from irlint.reporters.pages import page

    session.emit(page(found))


@commands.command()
def rules() -> None:
    """Lists every rule."""
    from irlint.reporters.pages import table
    from irlint.rulebook import every_rule

    session.emit(table(every_rule()))
