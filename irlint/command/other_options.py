"""The options of the commands other than ``check``."""

from __future__ import annotations

from irlint.command.options import CHECK
from irlint.policy.keys import Option
from irlint.records import replaced


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
    Option("--verbose", "Also list the nodes that leave the size unchanged.", "flag", short="-v"),
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
