"""The commands for click: their arguments, options and help."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from irlint import __version__
from irlint.command import check as check_command
from irlint.command.click_forms import Commands, Sectioned, rules_like, topics_and_rules_like, with_options
from irlint.command.options import CHECK
from irlint.command.other_options import (
    BROADCAST,
    CONTRACT,
    DIFF,
    FIX,
    IGNORE,
    INFO,
    RULES,
    SHAPES,
    SUMMARY,
    TARGETS,
    WHY,
)
from irlint.command.streams import emit, fail, write_blocks
from irlint.lazy_typing import Any


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, "-V", "--version", prog_name="irlint")
def commands() -> None:
    """Checks ONNX models and OpenVINO IR: shapes, broadcasting, types and structure, without a runtime.

    `irlint PATH...` is short for `irlint check PATH...`, such as `irlint models/`. `irlint help COMMAND` shows the
    options of a command.

    To enable completion in bash: eval "$(_IRLINT_COMPLETE=bash_source irlint)". In zsh or fish, write zsh_source or
    fish_source instead of bash_source.
    """


@commands.command(cls=Sectioned)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@with_options(CHECK)
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Checks models and reports findings.

    A PATH is a model file, a folder that is searched for models, or - for standard input, which requires
    --stdin-filename.

    irlint searches for irlint.toml, .irlint.toml or [tool.irlint] of pyproject.toml from the working directory up to
    the repository's root, and reads only the nearest one. An option replaces the key of the same name, except that
    --ignore, --extend-select, --severity and --shape add to the configuration.
    """
    check_command.check(paths, options)


def _values_like(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The completions of VALUE: names in the MODEL; [] if it cannot be read."""
    from irlint.parsers import read
    from irlint.run.names import completions

    try:
        return completions(incomplete, read(context.params["model"]))
    except (KeyError, OSError, ValueError):
        return []


@commands.command()
@click.argument("model", type=click.Path())
@with_options(SHAPES)
def shapes(model: str, **options: Any) -> None:
    """Prints every value of a MODEL with its element type and inferred shape.

    If you give several of --node, --around and --inputs-outputs, a value must match all of them. Constants are shown
    with -v, or if there are no other values.
    """
    from functools import partial

    from irlint.reporters.listing import rendered
    from irlint.run.listing import shapes_data
    from irlint.run.selection import Selection

    if options["depth"] is not None and options["around"] is None:
        fail("--depth needs --around, which is not given")
    selection = Selection(
        options["node"], options["around"] or "", options["depth"] or 1, ends=options["inputs_outputs"]
    )
    question = partial(shapes_data, selection=selection, marked=options["format"] == "text")
    _print(question, partial(rendered, columns=_full_width(), every=options["verbose"]), model, options)


def _full_width() -> int | None:
    """The columns of the terminal on standard output, at least NARROWEST; None if it is no terminal."""
    from shutil import get_terminal_size

    from irlint.reporters.ansi import NARROWEST, is_terminal

    return max(NARROWEST, get_terminal_size().columns) if is_terminal(sys.stdout) else None


@commands.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path())
@with_options(CONTRACT)
def contract(models: tuple[str, ...], **options: Any) -> None:
    """Prints the inputs that a MODEL accepts, with the conditions on their sizes, and its outputs.

    --as config prints [[models]] entries for irlint.toml, one for each MODEL; the other formats take one MODEL.
    """
    tool, assumptions = options["as"], options["assume"]
    if len(models) > 1 and tool != "config":
        fail("contract takes one model, except with --as config")
    if tool is None and assumptions:
        fail("--assume needs --as, which is not given")
    if tool is not None:
        for model in models:
            _print_profile(model, tool, assumptions, options)
        return
    (model,) = models
    from irlint.reporters.contract import rendered
    from irlint.run.contract import contract_data

    _print(contract_data, rendered, model, options)


def _print_profile(model: str, tool: str, assumptions: tuple[str, ...], options: Any) -> None:
    """Prints the contract of a model for the tool of ``--as``."""
    if options["format"] != "text":
        fail(f"--as has its own output format, and excludes --format {options['format']}", "help: remove one of them")
    if tool in ("triton", "config") and assumptions:
        fail(f"--as {tool} prints what the model accepts, and excludes --assume", "help: remove one of them")
    if tool == "triton":
        from irlint.reporters.triton import rendered as configured
        from irlint.run.contract import interface_and_contract

        _print(
            lambda path, **shapes: configured(*interface_and_contract(path, **shapes)),
            lambda text, _: text,
            model,
            options,
        )
        return
    if tool == "config":
        from irlint.reporters.promises import rendered as promised
        from irlint.run.contract import contract_data

        _print(contract_data, lambda found, _: promised(found), model, options)
        return
    from irlint.reporters.profiles import rendered
    from irlint.run.contract import profile_for

    def question(path: str, **shapes: Any) -> Any:
        return profile_for(path, tool, assumptions, **shapes)

    _print(question, lambda profile, _: rendered(profile, tool), model, options)


@commands.command()
@click.argument("model", metavar="MODEL|FOLDER", type=click.Path())
@with_options(INFO)
def info(model: str, **options: Any) -> None:
    """Prints the size and cost of a MODEL, or a table of the models in a FOLDER.

    For a MODEL, prints versions, inputs, outputs, operators, parameters, bytes, MACs (one multiplication and one
    addition) and the peak memory of activations. Costs are expressions of the dynamic sizes.
    """
    from irlint.command import questions

    questions.info(model, options)


@commands.command()
@click.argument("model", type=click.Path())
@click.argument("value", shell_complete=_values_like)
@with_options(WHY)
def why(model: str, value: str, **options: Any) -> None:
    """Prints where each size of a VALUE of a MODEL comes from.

    Shows the node that computed the size, the arithmetic, and the nodes that passed the size on unchanged. VALUE is the
    name of a value. The name of a node or layer stands for its first output. In an IR, VALUE can also be
    the id of a layer, or id:port. A unique suffix of a name is enough.
    """
    from functools import partial

    from irlint.reporters.ansi import width
    from irlint.reporters.why import rendered
    from irlint.run.why import why_data
    from irlint.snippets.reasons import NAMED

    limit = None if options["verbose"] else NAMED
    question = partial(why_data, name=value, axis=options["axis"], limit=limit)
    _print(question, partial(rendered, columns=width(sys.stdout)), model, options)


@commands.command()
@click.argument("model", type=click.Path())
@with_options(TARGETS)
def targets(model: str, **options: Any) -> None:
    """Prints the runtime releases that load a MODEL, and why the others do not.

    With --target, exits with status 1 if a named release refuses the MODEL.
    """
    from irlint.command import questions
    from irlint.command.settings import named_targets, shapes_for

    named, shapes = named_targets(options["target"]), shapes_for(model, options)
    raise SystemExit(questions.targets(model, options["format"], named, {**shapes, "covers": options["coverage"]}))


def _print(question: Callable[..., Any], rendered: Callable[[Any, str], str], model: str, options: Any) -> None:
    """Prints the answer of ``question``, which is called with the path and the shapes of inputs."""
    from irlint.command.questions import answer
    from irlint.command.settings import shapes_for

    answer(lambda: question(model, **shapes_for(model, options)), rendered, model, options["format"])


@commands.command()
@click.argument("models", nargs=-1, metavar="{OLD NEW | --textconv MODEL}", type=click.Path())
@with_options(DIFF)
def diff(models: tuple[str, ...], **options: Any) -> None:
    """Compares two models: inputs, outputs, accepted sizes, opsets, operators and nodes.

    OLD and NEW are two versions of a model, or an ONNX model and the IR made from it. The exit status is 0 if NEW can
    replace OLD, and 1 if it cannot.

    With --textconv, prints one MODEL as text. To use it in git: git config diff.irlint.textconv "irlint diff
    --textconv"
    """
    from irlint.command import comparison

    if options["textconv"]:
        comparison.as_text(models, options)
    else:
        comparison.compare(models, options)


@commands.command()
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path())
@with_options(FIX)
def fix(paths: tuple[str, ...], **options: Any) -> None:
    """Fixes models in place. Without --unsafe-fixes the fixed model computes the same outputs, bit for bit.

    In ONNX, sorts nodes, makes node names unique, and removes unused initializers, nodes, imports and entries of
    value_info. In an IR, corrects the declared shapes and types of ports inside the graph, and removes attributes that
    the operator does not have at its version. Weights are copied unchanged. The exit status is the status of a check
    of the fixed model.

    With --unsafe-fixes, review the edits by --diff first.

    A PATH is a model file, a folder that is searched for models, or - for standard input. With -, --stdin-filename is
    required, and the fixed model goes to standard output.
    """
    from irlint.command import fixing

    fixing.fix(paths, options)


@commands.command()
@click.argument("model", type=click.Path())
@click.argument("node")
@click.argument("rule", shell_complete=rules_like)
@with_options(IGNORE)
def ignore(model: str, node: str, rule: str, **options: Any) -> None:
    """Suppresses the findings of a RULE at a NODE of a MODEL.

    Adds a [[suppress]] entry to the configuration in use, or to irlint.toml, and keeps the rest of the file. NODE is
    the name of a node, or of a value if the finding has no node.
    """
    from irlint.command import ignoring

    ignoring.ignore(model, node, rule, options)


@commands.command()
@click.argument("shapes", nargs=-1, metavar="SHAPE SHAPE...")
@with_options(BROADCAST)
def broadcast(shapes: tuple[str, ...], **options: Any) -> None:
    """Prints the result of each broadcast rule of ONNX and OpenVINO for the SHAPEs.

    A SHAPE is a list of sizes such as 1,64,56,56: integers, names, or ? for unknown; "" is a scalar.
    """
    from irlint.command import broadcasting

    raise SystemExit(broadcasting.broadcast(shapes, options))


@commands.command()
@click.argument("journal", metavar="FILE", type=click.Path())
@with_options(SUMMARY)
def summary(journal: str, **options: Any) -> None:
    """Counts the findings of a run by rule, by operator and by exporter.

    FILE is the output of `irlint check --format jsonl`, or the journal of `--resume FILE`. If the run was interrupted,
    counts the findings until then.
    """
    from irlint.command.questions import summary

    summary(journal, options["format"])


@commands.command()
@click.argument("rule", required=False, metavar="[RULE|TOPIC]", shell_complete=topics_and_rules_like)
def explain(rule: str | None) -> None:
    """Prints the page of a rule or topic. Without an argument, lists the topics and the families of rules.

    A RULE is a code or a name. A prefix of codes, such as IRL2, lists the rules that begin with it.
    """
    from irlint.command.questions import explanation
    from irlint.reporters.ansi import colored

    emit(explanation(rule, *_columns(), color=colored("auto", sys.stdout)))


@commands.command()
@with_options(RULES)
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
    """The width of the terminal on standard output, as a tuple of arguments; () if it is no terminal."""
    from irlint.reporters.ansi import is_terminal, width

    return (width(sys.stdout),) if is_terminal(sys.stdout) else ()


@commands.command()
def init() -> None:
    """Writes irlint.toml with every key explained. An existing file is not changed."""
    from irlint.policy.template import FILE, text

    if os.path.lexists(FILE):
        fail(f"{FILE} already exists, so nothing was written", "help: edit the file, or remove it first")
    write_blocks(FILE, [text().encode()], "init")
    emit(f"Wrote {FILE}: it explains every key in comments and sets none. Try: irlint .\n")
