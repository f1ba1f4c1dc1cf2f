"""The commands: options, calls and exit status, nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from irlint import __version__
from irlint.command import check as session
from irlint.command.options import (
    BROADCAST,
    CHECK,
    COMMANDS,
    CONTRACT,
    DIFF,
    FIX,
    IGNORE,
    INFO,
    KINDS,
    METAVARS,
    RULES,
    SECTIONS,
    SHAPES,
    SUMMARY,
    TARGETS,
    WHY,
    default,
)
from irlint.command.streams import emit, fail, write_blocks
from irlint.findings.wording import closest
from irlint.lazy_typing import Any, NoReturn
from irlint.policy.keys import Option

#: The help of a command in the list of all is its first sentence, of at most this many characters.
LONGEST = 200


class _Choice(click.Choice[str]):
    """One of several words; the message for another one names the most similar word."""

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        word = message.partition("'")[2].partition("'")[0]
        found = closest(word, self.choices)
        super().fail(message + (f" Did you mean {found!r}?" if found else ""), param, ctx)


def _rules_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names and codes of rules that a shell may complete a word to."""
    from irlint.policy.rulebook import every_rule

    lead, comma, word = incomplete.rpartition(",")
    names = [text for rule in every_rule() for text in (rule.code, rule.name)]
    return [f"{lead}{comma}{name}" for name in names if name.startswith(word)]


def _topics_and_rules_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The topics, names and codes that a shell may complete a word to."""
    from irlint.reporters.guide import TOPICS

    topics = [topic for topic in TOPICS if topic.startswith(incomplete)]
    return [*topics, *_rules_like(context, parameter, incomplete)]


def _with(options: Iterable[Option]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options of rows."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(tuple(options)):
            command = _option(option)(command)
        return command

    return decorated


def _option(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    types = {
        "choice": _Choice(option.values),
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
        default=default(option),
        metavar=option.metavar or METAVARS.get(option.kind),
        help=option.help,
        shell_complete=_rules_like if option.kind == "rules" else None,
    )


class _Commands(click.Group):
    """``irlint PATH…`` is short for ``irlint check PATH…``."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of use."""
        return sorted(self.commands, key=COMMANDS.index)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self.commands[name].get_short_help_str(limit=LONGEST)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and beside them the files that a path may go on with: bash drops commands that stand beside a
        request to complete files by itself."""
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


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, "-V", "--version", prog_name="irlint")
def commands() -> None:
    """Checks ONNX models and OpenVINO IR: shapes, broadcasting, types and structure, without a runtime.

    `irlint PATH...` is short for `irlint check PATH...`, such as `irlint models/`. `irlint help COMMAND` shows the
    options of a command.

    Completion in the shell: eval "$(_IRLINT_COMPLETE=bash_source irlint)", likewise zsh_source and fish_source.
    """


class _Sectioned(click.Command):
    """A command whose help has its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in (*SECTIONS, "Help")}
        sections = {option.name: option.section for option in CHECK}
        for parameter in (each for each in self.get_params(ctx) if isinstance(each, click.Option)):
            row = parameter.get_help_record(ctx)
            if row is not None:
                rows[sections.get(str(parameter.name), "Help")].append(row)
        for section, listed in rows.items():
            with formatter.section(section):
                formatter.write_dl(listed)


@commands.command(cls=_Sectioned)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@_with(CHECK)
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Checks models and reports findings.

    A PATH is a model file, a folder that is searched for models, or - with --stdin-filename.

    The configuration is irlint.toml, .irlint.toml or [tool.irlint] of pyproject.toml, in the nearest folder up to the
    repository's root. An option replaces the key of the same name, with these exceptions: --ignore and --extend-select
    change the selection, --severity adds to the table `severity`, and --shape adds to `models`.
    """
    session.check(paths, options)


def _values_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names in the model before it that a shell may complete a word to."""
    from irlint.parsers import read
    from irlint.run.names import completions

    try:
        return completions(incomplete, read(context.params["model"]))
    except (KeyError, OSError, ValueError):
        return []


@commands.command()
@click.argument("model", type=click.Path())
@_with(SHAPES)
def shapes(model: str, **options: Any) -> None:
    """Prints every value of a MODEL with its element type and inferred shape.

    --node, --around and --inputs-outputs combine: a value must match all of them. Constants are shown with -v, or if
    there are no other values.
    """
    from functools import partial

    from irlint.reporters.listing import rendered
    from irlint.run.listing import listed
    from irlint.run.selection import Selection

    if options["depth"] is not None and options["around"] is None:
        fail("--depth counts from what --around names, which is not given")
    selection = Selection(
        options["node"], options["around"] or "", options["depth"] or 1, ends=options["inputs_outputs"]
    )
    asked = partial(listed, selection=selection, marked=options["format"] == "text")
    _print(asked, partial(rendered, columns=_page(), every=options["verbose"]), model, options)


def _page() -> int | None:
    """The columns of the terminal that standard output is, None where it is none."""
    from shutil import get_terminal_size

    from irlint.reporters.ansi import NARROWEST, is_terminal

    return max(NARROWEST, get_terminal_size().columns) if is_terminal(sys.stdout) else None


@commands.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path())
@_with(CONTRACT)
def contract(models: tuple[str, ...], **options: Any) -> None:
    """Prints which input sizes a MODEL accepts, and the output shapes that follow from them.

    With --as config it takes several models.
    """
    tool, assumptions = options["as"], options["assume"]
    if len(models) > 1 and tool != "config":
        fail("contract takes one model", "help: several with --as config")
    if tool is None and assumptions:
        fail("--assume bounds what --as prints, which is not given")
    if tool is not None:
        for model in models:
            _print_profile(model, tool, assumptions, options)
        return
    (model,) = models
    from irlint.reporters.contract import rendered
    from irlint.run.contract import demanded

    _print(demanded, rendered, model, options)


def _print_profile(model: str, tool: str, assumptions: tuple[str, ...], options: Any) -> None:
    if options["format"] != "text":
        fail(f"--as prints text of its own: it does not go with --format {options['format']}")
    if tool in ("triton", "config") and assumptions:
        fail(f"--assume does not go with --as {tool}, which states what the model takes")
    if tool == "triton":
        from irlint.reporters.triton import rendered as configured
        from irlint.run.contract import stated

        _print(lambda path, **shapes: configured(*stated(path, **shapes)), lambda text, _: text, model, options)
        return
    if tool == "config":
        from irlint.reporters.promises import rendered as promised
        from irlint.run.contract import demanded as demands

        _print(demands, lambda found, _: promised(found), model, options)
        return
    from irlint.reporters.profiles import rendered
    from irlint.run.contract import fitted

    def asked(path: str, **shapes: Any) -> Any:
        return fitted(path, tool, assumptions, **shapes)

    _print(asked, lambda profile, _: rendered(profile, tool), model, options)


@commands.command()
@click.argument("model", type=click.Path())
@_with(INFO)
def info(model: str, **options: Any) -> None:
    """Prints what a MODEL is and what it costs.

    Versions, inputs and outputs, operators, parameters, bytes, multiplications with an addition (MACs) and the peak
    memory of activations, as expressions of the dynamic sizes. For a folder it prints a table.
    """
    from irlint.command import questions

    questions.info(model, options)


@commands.command()
@click.argument("model", type=click.Path())
@click.argument("value", shell_complete=_values_like)
@_with(WHY)
def why(model: str, value: str, **options: Any) -> None:
    """Prints where each size of a VALUE of a MODEL comes from.

    Shows the node that computed the size, the arithmetic, and the nodes that passed it on. VALUE is the name of a
    value, or of a node or layer for its first output; in an IR also the id of a layer, or id:port. A unique suffix of a
    name is enough.
    """
    from functools import partial

    from irlint.reporters.ansi import width
    from irlint.reporters.why import rendered
    from irlint.run.why import traced
    from irlint.snippets.reasons import NAMED

    limit = None if options["verbose"] else NAMED
    asked = partial(traced, name=value, axis=options["axis"], limit=limit)
    _print(asked, partial(rendered, columns=width(sys.stdout)), model, options)


@commands.command()
@click.argument("model", type=click.Path())
@_with(TARGETS)
def targets(model: str, **options: Any) -> None:
    """Prints which runtime releases load a MODEL, and why the others do not.

    With --target, exits with status 1 where a named release refuses the MODEL.
    """
    from irlint.command import questions
    from irlint.command.settings import named_targets, shapes_for

    named, shapes = named_targets(options["target"]), shapes_for(model, options)
    raise SystemExit(questions.targets(model, options["format"], named, shapes))


def _print(asked: Callable[..., Any], rendered: Callable[[Any, str], str], model: str, options: Any) -> None:
    """Prints what is asked of a model, in the form that the options name."""
    from irlint.command.questions import answer
    from irlint.command.settings import shapes_for

    answer(lambda: asked(model, **shapes_for(model, options)), rendered, model, options["format"])


@commands.command()
@click.argument("models", nargs=-1, metavar="OLD NEW", type=click.Path())
@_with(DIFF)
def diff(models: tuple[str, ...], **options: Any) -> None:
    """Compares two models: inputs, outputs, accepted sizes, opsets, operators and nodes.

    OLD and NEW are two versions of a model, or an ONNX model and the IR made from it. The exit status is 0 if NEW can
    replace OLD, else 1.

    With --textconv it prints one model: git config diff.irlint.textconv "irlint diff --textconv"
    """
    from irlint.command import comparison

    if options["textconv"]:
        comparison.as_text(models, options)
    else:
        comparison.compare(models, options)


@commands.command()
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@_with(FIX)
def fix(paths: tuple[str, ...], **options: Any) -> None:
    """Fixes models in place. Without --unsafe-fixes the fixed model computes the same outputs, bit for bit.

    ONNX: nodes are sorted, duplicate node names are made unique, and unused initializers, nodes, imports and entries of
    value_info are removed. IR: shapes and types of ports inside the graph are replaced by the inferred ones, and
    attributes that only other versions have are removed. Weights are copied, not read. The exit status is that of a
    check of the fixed model.

    --unsafe-fixes also fixes an error if exactly one edit fixes it without a new finding. Review the edits with --diff.

    A PATH is a model file, a folder that is searched for models, or - with --stdin-filename, which writes the model to
    standard output.
    """
    from irlint.command import fixing

    fixing.fix(paths, options)


@commands.command()
@click.argument("model", type=click.Path())
@click.argument("node")
@click.argument("rule", shell_complete=_rules_like)
@_with(IGNORE)
def ignore(model: str, node: str, rule: str, **options: Any) -> None:
    """Suppresses the findings of a RULE at a NODE of a MODEL.

    Adds a [[suppress]] entry to irlint.toml, or to the configuration in use, and keeps the rest of the file. NODE is
    the name of a node, or of a value where no node is at fault.
    """
    from irlint.command import ignoring

    ignoring.ignore(model, node, rule, options)


@commands.command()
@click.argument("shapes", nargs=-1, metavar="SHAPE SHAPE...")
@_with(BROADCAST)
def broadcast(shapes: tuple[str, ...], **options: Any) -> None:
    """Prints the result of each broadcast rule of ONNX and OpenVINO for the SHAPEs.

    A SHAPE is a list of sizes such as 1,64,56,56: integers, names, or ? for unknown; "" is a scalar.
    """
    from irlint.command.broadcasting import tried

    raise SystemExit(tried(shapes, options))


@commands.command()
@click.argument("journal", metavar="FILE", type=click.Path())
@_with(SUMMARY)
def summary(journal: str, **options: Any) -> None:
    """Counts the findings of a run by rule, by operator and by exporter.

    FILE was written by `irlint check --format jsonl` or `--resume FILE`. An interrupted run is summarized as far as it
    got.
    """
    from irlint.command.questions import summary

    summary(journal, options["format"])


@commands.command()
@click.argument("rule", required=False, metavar="[RULE|TOPIC]", shell_complete=_topics_and_rules_like)
def explain(rule: str | None) -> None:
    """Prints the page of a rule or of a topic of the guide; without an argument lists both.

    A RULE is a code or a name; the first letters of codes (IRL2) list the rules of that family.
    """
    from irlint.command.questions import explanation
    from irlint.reporters.ansi import colored

    emit(explanation(rule, *_columns(), color=colored("auto", sys.stdout)))


@commands.command()
@_with(RULES)
def rules(**options: Any) -> None:
    """Lists every rule."""
    from irlint.policy.rulebook import every_rule

    if options["format"] == "json":
        from irlint.reporters.pages import document

        emit(document(every_rule()), "utf-8", "json")
        return
    from irlint.reporters.ansi import colored
    from irlint.reporters.pages import table

    emit(table(every_rule(), *_columns(), color=colored("auto", sys.stdout)))


def _columns() -> tuple[int, ...]:
    """The width of the terminal that standard output is, if it is one."""
    from irlint.reporters.ansi import is_terminal, width

    return (width(sys.stdout),) if is_terminal(sys.stdout) else ()


@commands.command()
def init() -> None:
    """Writes irlint.toml with every key explained. An existing file is not changed."""
    from irlint.policy.template import FILE, text

    if os.path.lexists(FILE):
        fail(f"{FILE} is there already", "help: edit it, or remove it first; nothing was written")
    write_blocks(FILE, [text().encode()], "init")
    emit(f"Wrote {FILE}: every key is there as a comment, and nothing is set. Try: irlint .\n")
