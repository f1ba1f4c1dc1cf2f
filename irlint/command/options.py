"""The options of the commands: a row for each; those that stand for a key of the configuration come from its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from irlint.lazy_typing import Any
from irlint.policy.keys import KEYS, Key, Option
from irlint.records import replaced
from irlint.run.deadline import USUAL

#: What the first word of a command line may be, beside a path.
COMMANDS = (
    *(
        "check",
        "shapes",
        "contract",
        "targets",
        "why",
        "diff",
        "fix",
        "broadcast",
        "summary",
        "explain",
        "rules",
        "init",
    ),
    *("--help", "--version"),
)

#: What an option of each kind is where nobody gives it: a flag has no value, and the kinds with () may be given repeatedly.
KINDS: Mapping[str, Any] = {
    "flag": False,
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

#: What the options of a check are about, in the order of its help.
SECTIONS = ("Report", "Rules", "Models", "Files", "Outcome", "Configuration")

#: What stands for a value in the help, unless the option says otherwise.
METAVARS = {"rules": "RULES", "levels": "RULE=LEVEL", "globs": "GLOB", "file": "FILE", "number": "N", "axis": "N"}

#: The options of a check that are no keys of the configuration.
OWN = (
    Option(
        "--output",
        "Also write the report to a file, whose name may tell the form.",
        "texts",
        metavar="[FORMAT=]FILE",
        after="--format",
        section="Report",
    ),
    Option(
        "--resume",
        "Write to this journal, as --format jsonl, and go on where an earlier run of it was cut off.",
        "file",
        after="--format",
        section="Report",
    ),
    Option("--jobs", "Processes; else as many as are worth it.", "number", after="--fail-on", section="Outcome"),
    Option(
        "--executor",
        "Who checks: processes, dask (a cluster on this machine), or dask://HOST:PORT.",
        "text",
        metavar="EXECUTOR",
        default="processes",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--cache",
        "Keep outcomes in this folder, and take from it those of models that are as they were.",
        "file",
        metavar="FOLDER",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--timeout",
        f"Seconds that the check of one file may take; else {USUAL}.",
        "number",
        metavar="SECONDS",
        after="--fail-on",
        section="Outcome",
    ),
    Option(
        "--update-baseline",
        "Write the baseline: new findings in, stale entries out.",
        "flag",
        after="--baseline",
        section="Rules",
    ),
    Option(
        "--weights",
        "Read the large constants too: NaN, infinity, scales of 0, numbers lost in casts.",
        "flag",
        section="Models",
    ),
    Option("--no-ignores", "Report what models list under irlint.ignore as well.", "flag", section="Rules"),
    Option(
        "--changed-since",
        "Only models that differ from a git revision, or whose weights do.",
        "text",
        metavar="REF",
        section="Files",
    ),
    Option("--force-exclude", "Apply `exclude` to files that are named, too.", "flag", section="Files"),
    Option("--allow-empty", "Status 0 where there is nothing to check.", "flag", section="Outcome"),
    Option(
        "--stdin-filename",
        "Name of the model that comes on standard input (PATH is -).",
        "text",
        metavar="NAME",
        section="Files",
    ),
    Option("--config", "The configuration, in place of the one that is found.", "file", section="Configuration"),
    Option("--isolated", "No configuration.", "flag", section="Configuration"),
    Option("--show-files", "Only list the models that would be checked.", "flag", section="Files"),
    Option(
        "--color",
        "Colour in the text report.",
        "choice",
        values=("auto", "always", "never"),
        default="auto",
        section="Report",
    ),
    Option("--no-progress", "No progress bar.", "flag", section="Report"),
    Option("--statistics", "Count by rule, by operator and by exporter.", "flag", section="Report"),
    Option("--quiet", "No summary, and no notices.", "flag", short="-q", section="Report"),
    Option(
        "--verbose",
        "Show every finding in full, and name each file that is checked.",
        "flag",
        short="-v",
        section="Report",
    ),
)


def default(option: Option) -> Any:
    """What an option is where nobody gives it."""
    return KINDS[option.kind] if option.default is None else option.default


def _of_keys(keys: Iterable[Key]) -> Iterator[Option]:
    """The options that stand for keys of the configuration, of the same kind and with the same values."""
    for key in keys:
        if key.option is not None:
            values = key.values if key.kind == "choice" else ()
            yield replaced(key.option, kind=key.kind, values=values)


def _ordered(first: Iterable[Option], own: Iterable[Option]) -> Iterator[Option]:
    """The options of keys, each with those that stand behind it, then the others."""
    for option in first:
        yield option
        yield from (each for each in own if each.after == option.flag)
    yield from (each for each in own if not each.after)


CHECK = tuple(_ordered(_of_keys(KEYS), OWN))


def _as_in_check(*flags: str) -> tuple[Option, ...]:
    return tuple(option for option in CHECK if option.flag in flags)


FORM = Option("--format", "Form of the answer.", "choice", values=("text", "json"), default="text")

#: The options of every command that answers a question about one model.
ANSWER = (FORM, *_as_in_check("--shape", "--config", "--isolated"))

TARGETS = (FORM,)

FIX = (
    *_as_in_check(
        "--select",
        "--ignore",
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
    Option("--unsafe-fixes", "Also make the one edit that fixes an error, where only one was found.", "flag"),
    Option("--freeze", "Write the sizes of --shape into the file.", "flag"),
    Option("--annotate", "Write value_info for the values that have none (ONNX).", "flag"),
    Option("--diff", "Change nothing; print what would change, with status 1 where anything would.", "flag"),
    Option("--output", "Write the one fixed model here, and leave its file as it is.", "file", metavar="FILE"),
    FORM,
)

RULES = (replaced(FORM, help="Form of the list; json has the whole pages."),)

SHAPES = (
    *ANSWER,
    Option("--node", "Only values whose name, or whose node's, fits.", "globs"),
    Option("--around", "Only values near this node or value.", "text", metavar="NAME"),
    Option("--depth", "With --around: at most so many nodes away; else 1.", "number"),
    Option("--inputs-outputs", "Only what the model is given and returns.", "flag"),
    Option("--verbose", "Constants as well.", "flag", short="-v"),
)

WHY = (
    Option("--axis", "Only this axis; below 0 counted from the last one.", "axis"),
    *ANSWER,
    Option("--verbose", "Name every node that kept a size.", "flag", short="-v"),
)

CONTRACT = (
    *ANSWER,
    Option(
        "--as",
        "Code or options for a tool, ready to be pasted, in place of the card.",
        "choice",
        values=("torch", "onnxruntime", "openvino", "trtexec"),
    ),
    Option("--assume", "With --as: what the sizes fulfil as well, such as 'H <= 1280'.", "texts", metavar="CONDITION"),
)

DIFF = (
    Option("--format", "Form of the comparison.", "choice", values=("text", "json", "markdown"), default="text"),
    Option("--textconv", "Print one MODEL as text, line by line, for `git diff` to compare.", "flag"),
)

SUMMARY = (Option("--format", "Form of the counts.", "choice", values=("text", "json", "html"), default="text"),)

BROADCAST = (
    Option("--rule", "Only this rule; the exit status then says whether it holds.", "text", metavar="NAME"),
    Option("--axis", "Where the second shape begins: rules legacy, pdpd and broadcast-explicit.", "axis"),
    FORM,
)

#: What each option of a check is where nobody gives it; None stands for what the configuration says.
DEFAULTS = {option.name: default(option) for option in CHECK}
