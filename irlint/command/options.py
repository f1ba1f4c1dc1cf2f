"""The options of the commands. ``policy.keys`` has the options that set a key of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.lazy_typing import Any
from irlint.policy.keys import KEYS, Key, Option
from irlint.records import replaced
from irlint.run.deadline import DEFAULT_SECONDS

#: The words that can begin a command line. Any other word is a path or an option of `irlint check`.
COMMANDS = (
    *(
        "check",
        "shapes",
        "contract",
        "info",
        "targets",
        "why",
        "diff",
        "fix",
        "ignore",
        "broadcast",
        "summary",
        "explain",
        "rules",
        "init",
    ),
    *("help", "--help", "-h", "--version", "-V"),
)

#: The value of an omitted option, by its kind. Options of the kinds with () may be repeated.
KINDS: Mapping[str, Any] = {
    "flag": False,
    # A flag with a second spelling that turns it off.
    "switch": None,
    "choice": None,
    "text": None,
    "texts": (),
    "number": None,
    "axis": None,
    "file": None,
    "rules": (),
    "levels": (),
    "globs": (),
    "models": (),
    "targets": (),
}

#: The sections of `irlint check --help`, in order.
SECTIONS = ("Report", "Rules", "Models", "Files", "Outcome", "Configuration")

#: The name of the value in the help, by the kind of the option.
METAVARS = {"rules": "RULES", "levels": "RULE=LEVEL", "globs": "GLOB", "file": "FILE", "number": "N", "axis": "N"}

#: The options of a check without a key in the configuration.
WITHOUT_KEY = (
    Option(
        "--output",
        "Also write the report to a file; without FORMAT=, its suffix sets the format.",
        "texts",
        metavar="[FORMAT=]FILE",
        after="--format",
        section="Report",
    ),
    Option(
        "--resume",
        "Write findings to this journal (jsonl), or continue the run that it records; prints a summary.",
        "file",
        after="--format",
        section="Report",
    ),
    Option(
        "--jobs", "Number of worker processes (default: automatic).", "number", after="--fail-on", section="Outcome"
    ),
    Option(
        "--executor",
        "Where to run checks: processes, dask (a local cluster), or dask://HOST:PORT.",
        "text",
        metavar="EXECUTOR",
        default="processes",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--cache",
        "Store results in this folder, and reuse them for unchanged models.",
        "file",
        metavar="FOLDER",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--timeout",
        f"Time limit for each file, in seconds (default: {DEFAULT_SECONDS}).",
        "number",
        metavar="SECONDS",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--update-baseline",
        "Update the baseline: add new findings and remove obsolete entries.",
        "flag",
        after="--baseline",
        section="Rules",
    ),
    Option(
        "--weights",
        "Also search large constants for NaN, infinity, scales of 0 and lossy casts.",
        "flag",
        section="Models",
    ),
    Option(
        "--no-ignores",
        "Also report findings that a model silences by irlint.ignore in its metadata.",
        "flag",
        section="Rules",
    ),
    Option(
        "--changed-since",
        "Check only models that differ, or whose weights differ, from this git revision.",
        "text",
        metavar="REF",
        section="Files",
    ),
    Option("--force-exclude", "Also apply `exclude` to files that you name.", "flag", section="Files"),
    Option("--allow-empty", "Exit with status 0 if there is nothing to check.", "flag", section="Outcome"),
    Option(
        "--stdin-filename",
        "Name of the model on standard input (PATH -).",
        "text",
        metavar="NAME",
        section="Files",
    ),
    Option("--config", "Use this configuration file instead of searching for one.", "file", section="Configuration"),
    Option("--isolated", "Ignore every configuration file.", "flag", section="Configuration"),
    Option("--show-files", "List the models that would be checked, and check none.", "flag", section="Files"),
    Option(
        "--color",
        "Color the text report (default: auto).",
        "choice",
        values=("auto", "always", "never"),
        default="auto",
        section="Report",
    ),
    Option("--no-progress", "Show no progress bar.", "flag", section="Report"),
    Option("--statistics", "Add counts by rule, by operator and by exporter.", "flag", section="Report"),
    Option("--quiet", "Print no summary and no notices.", "flag", short="-q", section="Report"),
    Option(
        "--verbose",
        "Show every finding in full and list each checked file.",
        "flag",
        short="-v",
        section="Report",
    ),
)


def default(option: Option) -> Any:
    """The value of an omitted option."""
    return KINDS[option.kind] if option.default is None else option.default


def _of_keys(keys: Iterable[Key]) -> Iterator[Option]:
    for key in keys:
        if key.option is not None:
            values = key.values if key.kind == "choice" else ()
            yield replaced(key.option, kind=key.kind, values=values)


def _ordered(of_keys: Iterable[Option], others: Iterable[Option]) -> Iterator[Option]:
    """The options in the order of the help: each option, then those whose ``after`` names it."""
    for option in of_keys:
        yield option
        yield from (other for other in others if other.after == option.flag)
    yield from (other for other in others if not other.after)


CHECK = tuple(_ordered(_of_keys(KEYS), WITHOUT_KEY))


def _options_of_check(*flags: str) -> tuple[Option, ...]:
    return tuple(option for option in CHECK if option.flag in flags)


FORM = Option("--format", "Output format (default: text).", "choice", values=("text", "json"), default="text")

#: The options of `shapes`, `why` and `contract`.
ANSWER = (FORM, *_options_of_check("--shape", "--config", "--isolated"))

TARGETS = (
    Option(
        "--format",
        "Output format (default: text).",
        "choice",
        values=("text", "json", "markdown", "html"),
        default="text",
    ),
    Option(
        "--target",
        "Report only this release; exit with status 1 if it refuses the model.",
        "texts",
        metavar="NAME[@RELEASE]",
    ),
    Option("--coverage", "Also list the partitions of NPU targets, and the values that stay dynamic.", "flag"),
    *_options_of_check("--shape", "--config", "--isolated"),
)

INFO = (
    Option("--format", "Output format (default: text).", "choice", values=("text", "json", "markdown"), default="text"),
    *_options_of_check("--shape", "--config", "--isolated"),
)

FIX = (
    *(
        replaced(option, help=text)
        for text, (option,) in (
            ("Fix only findings of these rules: codes, prefixes of codes, or names.", _options_of_check("--select")),
            ("Do not fix findings of these rules.", _options_of_check("--ignore")),
        )
    ),
    *_options_of_check(
        "--target",
        "--shape",
        "--exclude",
        "--force-exclude",
        "--allow-empty",
        "--fail-on",
        "--config",
        "--isolated",
        "--stdin-filename",
    ),
    Option(
        "--unsafe-fixes",
        "Also apply the suggested fix of an error if exactly one candidate fixes it without causing a new finding.",
        "flag",
    ),
    Option("--freeze", "Write the shapes of --shape into the model.", "flag"),
    Option("--annotate", "Add missing value_info (ONNX).", "flag"),
    Option("--diff", "Print the changes without writing them; exit with status 1 if a file would change.", "flag"),
    Option(
        "--output", "Write the fixed model to this file instead of its own (one model only).", "file", metavar="FILE"
    ),
    FORM,
)

IGNORE = (
    Option("--reason", "Why you accept the finding (required).", "text", metavar="TEXT"),
    Option("--expires", "Last day on which the entry hides the finding, such as 2030-01-31.", "text", metavar="DATE"),
    *_options_of_check("--config"),
)

RULES = (replaced(FORM, help="Output format; json includes the full pages (default: text)."),)

SHAPES = (
    *ANSWER,
    Option("--node", "Show only values whose name, or whose node's name, matches this glob.", "globs"),
    Option("--around", "Show only values near this node or value.", "text", metavar="NAME"),
    Option("--depth", "With --around: maximum distance in nodes (default: 1).", "number"),
    Option("--inputs-outputs", "Show only the inputs and outputs of the model.", "flag"),
    Option("--verbose", "Also show constants.", "flag", short="-v"),
)

WHY = (
    Option("--axis", "Explain only this axis; negative numbers count from the last axis.", "axis"),
    *ANSWER,
    Option("--verbose", "List every node that passed a size on unchanged.", "flag", short="-v"),
)

CONTRACT = (
    *ANSWER,
    Option(
        "--as",
        "Print the contract as code or options for this tool.",
        "choice",
        values=("torch", "onnxruntime", "openvino", "trtexec", "triton", "config"),
    ),
    Option(
        "--assume", "With --as: an extra condition on the sizes, such as 'H <= 1280'.", "texts", metavar="CONDITION"
    ),
)

DIFF = (
    Option("--format", "Output format (default: text).", "choice", values=("text", "json", "markdown"), default="text"),
    Option("--textconv", "Print one MODEL as lines of text, for `git diff`.", "flag"),
)

SUMMARY = (
    Option("--format", "Output format (default: text).", "choice", values=("text", "json", "html"), default="text"),
)

BROADCAST = (
    Option(
        "--rule",
        "Apply only this rule; exit with status 1 if the shapes break it. The rules are multidirectional, "
        "unidirectional, legacy, none, numpy, pdpd, broadcast-numpy, broadcast-explicit and broadcast-bidirectional.",
        "text",
        metavar="NAME",
    ),
    Option(
        "--axis",
        "Axis of the longer shape at which the shorter one begins (rules legacy, pdpd and broadcast-explicit).",
        "axis",
    ),
    FORM,
)

#: The values of omitted options of a check. With None or (), the configuration decides.
DEFAULTS = {option.name: default(option) for option in CHECK}
