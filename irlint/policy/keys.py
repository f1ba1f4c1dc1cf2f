"""The keys of the configuration."""

from __future__ import annotations

from irlint.lazy_typing import Any
from irlint.records import record
from irlint.reporters.forms import FORMS

LEVELS = ("error", "warning", "note")


@record
class Option:
    """An option of the command line."""

    flag: str
    help: str
    #: A key of ``command.options.KINDS``. "" means the kind of the configuration key to which the option belongs.
    kind: str = ""
    values: tuple[str, ...] = ()
    metavar: str = ""
    default: Any = None
    short: str = ""
    #: The option that precedes this one in the help. If it is "", this option comes after all others.
    after: str = ""
    #: The section of the help that lists the option.
    section: str = ""

    @property
    def name(self) -> str:
        """The name of the option's value: ``fail_on`` for ``--fail-on``."""
        return self.flag[2:].replace("-", "_")

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings of the option, such as ``-q`` and ``--quiet``. Those of a switch include its ``twin``."""
        found = (self.short, self.flag) if self.short else (self.flag,)
        return (*found, self.twin) if self.kind == "switch" else found

    @property
    def twin(self) -> str:
        """The option that sets the switch to false, such as ``--no-respect-gitignore``."""
        return f"--no-{self.flag[2:]}"


@record
class Key:
    """A key of the configuration, or of an entry in the list of such a key."""

    name: str
    #: A key of ``policy.reading.KINDS``.
    kind: str
    help: str
    #: The value, or the lines of the table, in the file that ``irlint init`` writes.
    example: str = ""
    #: The allowed values of a choice or of levels.
    values: tuple[str, ...] = ()
    #: The value of a choice or a switch if neither an option nor the configuration sets it.
    default: str | bool = ""
    #: The option of ``check`` with the same meaning.
    option: Option | None = None
    #: The keys of each entry.
    parts: tuple[Key, ...] = ()
    #: For a part: whether each entry must have it.
    needed: bool = False
    #: An entry must have one of these parts.
    one_of: tuple[str, ...] = ()
    #: The message about an entry that has none of ``one_of``.
    without: str = ""
    #: Whether the list must not be empty.
    filled: bool = False


KEYS = (
    Key(
        "output-format",
        "choice",
        "The format of the report on standard output",
        '"text"',
        values=tuple(FORMS),
        default="text",
        option=Option("--format", "Format of the report on standard output (default: text).", section="Report"),
    ),
    Key(
        "select",
        "rules",
        "Report only these rules (default: all).",
        '["IRL1", "IRL2", "IRL3"]',
        option=Option("--select", "Report only these rules: codes, prefixes of codes, or names.", section="Rules"),
        filled=True,
    ),
    Key(
        "ignore",
        "rules",
        "Do not report these rules. If `select` and `ignore` both match a rule, the longer prefix or the full code "
        "wins; if both are equally long, `ignore` wins.",
        '["nodes-not-sorted"]',
        option=Option("--ignore", "Do not report these rules.", section="Rules"),
    ),
    Key(
        "extend-select",
        "rules",
        "Report these rules in addition to the selected ones.",
        '["IRL201"]',
        option=Option("--extend-select", "Report these rules in addition to the selected ones.", section="Rules"),
    ),
    Key(
        "severity",
        "levels",
        "Change the severity of rules",
        'nodes-not-sorted = "error"',
        values=LEVELS,
        option=Option("--severity", "Set the severity of a rule: error, warning or note.", section="Rules"),
    ),
    Key(
        "per-file-ignores",
        "rules by glob",
        "Do not report these rules for some files: GLOB = [RULES].",
        '"models/legacy/*.onnx" = ["IRL104", "IRL8"]',
    ),
    Key(
        "models",
        "models",
        "Requirements for some models: the input shapes to check with, the inputs and sizes that they must accept, the "
        "outputs that they must return, and limits on their cost.",
        'file = "models/detector.onnx"\nshapes = { images = "N,3,640,640" }\n'
        'takes = { images = "float32[N, 3, H, W]" }\naccepts = ["H % 32 == 0", "1 <= W <= 1280"]\n'
        'returns = { heads = "float32[N, 8, H, W]" }\n'
        'max-parameters = "5M"\nmax-bytes = "20M"\nmax-macs = "4.5G"\nmax-peak-memory = "64M"',
        option=Option(
            "--shape", "Replace the declared shape of an input: x=N,3,640,640.", metavar="INPUT=DIMS", section="Models"
        ),
        parts=(
            Key("file", "glob", "The models.", needed=True),
            Key(
                "shapes",
                "shapes",
                "The dims of each input: integers, names, or ? for unknown; an empty string is a scalar.",
            ),
            Key("takes", "types", 'The inputs that the models must have: { images = "float32[N, 3, H, W]" }.'),
            Key("accepts", "conditions", 'Sizes that they must accept: ["1 <= seq <= 512", "H % 32 == 0"].'),
            Key("returns", "types", 'The outputs that they must return: { heads = "float32[N, 8, H, W]" }.'),
            Key(
                "max-parameters",
                "count",
                "The largest allowed number of parameters: an integer, or a text such as 5M or 1.5G.",
            ),
            Key("max-bytes", "count", "The largest allowed size of all stored tensors, in bytes."),
            Key("max-macs", "count", "The largest allowed number of MACs (one multiplication and one addition)."),
            Key("max-peak-memory", "count", "The largest allowed memory of activations, in bytes."),
        ),
        one_of=(
            *("shapes", "takes", "accepts", "returns"),
            *("max-parameters", "max-bytes", "max-macs", "max-peak-memory"),
        ),
        without="this entry states nothing about its models",
    ),
    Key(
        "operators",
        "operators",
        "Custom operators: the types and shapes of their inputs and outputs.",
        'domain = "com.acme"\nname = "FusedThing"\nsignature = "T[N, C, H, W], int64[K] -> T[N, C, (H + 1)//2, W]"',
        parts=(
            Key("domain", "text", "The domain of an ONNX operator, or the `version` of a layer in an IR.", needed=True),
            Key("name", "text", "The operator type of the nodes, or the `type` of the layers.", needed=True),
            Key("signature", "signature", "The inputs and outputs, each with its element type and dims.", needed=True),
        ),
    ),
    Key(
        "targets",
        "targets",
        "Runtime releases that must load the models: NAME@RELEASE, or NAME for the newest known release.",
        '["onnxruntime@1.17", "openvino@2024.0"]',
        option=Option(
            "--target",
            "Require that this release loads the models, such as onnxruntime@1.17.",
            metavar="NAME[@RELEASE]",
            section="Models",
        ),
        filled=True,
    ),
    Key(
        "suppress",
        "suppressions",
        "Findings to hide: a `reason`, and at least one of `file`, `rule` and `node`, which may be "
        "globs. After the day in `expires`, irlint reports them again.",
        'file = "models/detector.onnx"\nrule = "IRL201"\nnode = "/neck/Add_*"\n'
        'reason = "replaced when the graph is loaded"\nexpires = 2030-01-31',
        parts=(
            Key("file", "glob", "The models."),
            Key("rule", "rule or glob", "A rule, or a glob of codes or names."),
            Key("node", "text", "A glob of node names, or of value names for findings without a node."),
            Key("reason", "text", "Why you accept the findings.", needed=True),
            Key("expires", "date", "The last day on which the entry hides findings."),
        ),
        one_of=("file", "rule", "node"),
        without="this entry would hide every finding",
    ),
    Key(
        "fail-on",
        "choice",
        "The lowest severity that makes a run fail",
        '"error"',
        values=(*LEVELS, "never"),
        default="error",
        option=Option("--fail-on", "Lowest severity that sets exit status 1 (default: error).", section="Outcome"),
    ),
    Key(
        "lfs-pointers",
        "choice",
        "Whether a Git LFS pointer in place of a model or its weights is an error, or is skipped and counted",
        '"error"',
        values=("error", "skip"),
        default="error",
    ),
    Key(
        "baseline",
        "file",
        "A file of known findings to hide, in the folder of the configuration or below; `irlint --update-baseline "
        "PATH...` writes it.",
        '"irlint-baseline.json"',
        option=Option("--baseline", "Hide the known findings that this file lists.", section="Rules"),
    ),
    Key(
        "exclude",
        "globs",
        "Files and folders to skip. Files that you name on the command line are skipped only with `--force-exclude`.",
        '["third_party", "models/old/**"]',
        option=Option("--exclude", "Skip these files and folders.", section="Files"),
    ),
    Key(
        "respect-gitignore",
        "switch",
        "Whether the search of a folder skips the files that `.gitignore` lists. A file that you name on the command "
        "line is not affected.",
        "false",
        default=True,
        option=Option("--respect-gitignore", "Skip files that .gitignore lists (default: yes).", section="Files"),
    ),
    Key(
        "folders",
        "switch",
        "Whether the search of a folder also checks configurations of models, such as `config.pbtxt`. A file that you "
        "name on the command line is not affected.",
        "false",
        default=True,
        option=Option("--folders", "Also check files such as config.pbtxt in folders (default: yes).", section="Files"),
    ),
)


def explained(key: Key, quote: str) -> str:
    """The help of a key, with its allowed values between ``quote``."""
    if not key.values:
        return key.help
    *first, last = [f"{quote}{value}{quote}" for value in key.values]
    return f"{key.help}: {', '.join(first)} or {last}."
