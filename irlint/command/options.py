"""The options of a check. ``policy.keys`` has those that set a key of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irlint.lazy_typing import Any
from irlint.policy.keys import KEYS, Option
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

#: The value of an omitted option, by the kind of the option. If this value is (), the option may be repeated.
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


def _of_check() -> list[Option]:
    """The options of a check in the order of the help. Options whose ``after`` names an option of a key follow it."""
    found: list[Option] = []
    for key in KEYS:
        if key.option is not None:
            found.append(replaced(key.option, kind=key.kind, values=key.values if key.kind == "choice" else ()))
            found += [other for other in WITHOUT_KEY if other.after == key.option.flag]
    return [*found, *(other for other in WITHOUT_KEY if not other.after)]


CHECK = tuple(_of_check())


def defaults(options: Iterable[Option]) -> dict[str, Any]:
    """The values of omitted options, by name."""
    return {option.name: KINDS[option.kind] if option.default is None else option.default for option in options}


#: The values of omitted options of a check. With None or (), the configuration decides.
DEFAULTS = defaults(CHECK)
