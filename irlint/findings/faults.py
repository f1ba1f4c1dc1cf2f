"""Rules, and the faults that break them."""

from __future__ import annotations

from irlint.lazy_typing import Any, ClassVar, Literal
from irlint.records import record


class Severity:
    """How bad a finding is; the page `report` of the guide has the meanings. Raises ValueError for another value.

    There are three, as of an ``enum.Enum``, which takes a tenth of the time of a small check to import.
    """

    __slots__ = ("rank", "value")

    ERROR: ClassVar[Severity]
    WARNING: ClassVar[Severity]
    NOTE: ClassVar[Severity]

    rank: int
    value: str

    def __new__(cls, value: str) -> Severity:
        if value not in _SEVERITIES:
            raise ValueError(f"{value!r} is no severity; there are {', '.join(_SEVERITIES)}")
        return _SEVERITIES[value]

    def __reduce__(self) -> tuple[type[Severity], tuple[str]]:
        return Severity, (self.value,)

    def __repr__(self) -> str:
        return f"Severity.{self.value.upper()}"


_SEVERITIES: dict[str, Severity] = {}


def _severity(value: str, rank: int) -> Severity:
    made = object.__new__(Severity)
    made.value, made.rank = value, rank
    _SEVERITIES[value] = made
    return made


Severity.ERROR, Severity.WARNING, Severity.NOTE = _severity("error", 2), _severity("warning", 1), _severity("note", 0)


def milder(one: Severity, other: Severity) -> Severity:
    """The one of two severities that is less bad."""
    return one if one.rank <= other.rank else other


#: Every severity, the worst first.
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


#: What rules are about, by the first digit of their codes.
FAMILIES = (
    "reading",
    "structure",
    "broadcasting",
    "shapes",
    "element-types",
    "operators",
    "declarations",
    "weights",
    "versions",
    "hygiene",
)

#: Every rule by its code. A rule enters when the module that it stands in is imported.
RULES: dict[str, Rule] = {}


Role = Literal["", "wiring", "edge", "attribute", "absence", "undefined", "opset", "declaration", "given", "size"]

#: Where a runtime refuses a model that breaks a rule, as soon as it loads it: code that runs, or may run (``live``); a
#: body that a constant or a size keeps from running (``dead``), or a size alone (``dead by size``), since ONNX Runtime
#: takes away what constants do before it makes kernels, or if the runtime knows the sizes then (``dead if sized``); the
#: body of a loop with the sizes that its inputs declare (``as declared``); a constant that nothing uses (``unused
#: constant``).
Where = Literal["live", "dead", "dead by size", "dead if sized", "as declared", "unused constant"]

#: What a runtime does with a model before it runs it.
Stage = Literal["load", "compile"]

#: The families whose rules are about what an operator makes of its inputs: no runtime asks that of a function that
#: nothing calls.
OF_OPERATORS = ("broadcasting", "shapes", "element-types", "operators")


@record
class Refusal:
    """That a runtime refuses a model which breaks a rule when it loads it, and where.

    A runtime is called as its module in ``targets``: OpenVINO reads ONNX models by another front end than IRs.
    """

    runtime: str
    where: tuple[Where, ...]


def refused(runtime: str, *where: Where) -> Refusal:
    """The refusal of a runtime, in live code unless another place is named."""
    return Refusal(runtime, where or ("live",))


@record
class Rule:
    """A rule and its page.

    ``summary`` is one sentence that states the defect; ``why`` says what goes wrong without it, ``fix`` what to do.
    ``bad`` breaks the rule and ``good`` keeps it: each the text of an example in ONNX's text syntax or IR XML.

    ``role`` states what else may follow: from a breach in the ``wiring``, or an ``edge`` that leads nowhere, inputs
    without a value; from one of an ``attribute``, whatever the operator says of the node; from one of an ``opset``,
    whatever is wrong with the names, inputs and attributes of its nodes; from a wrong ``declaration``, errors of nodes
    that it misleads. An ``absence`` and an ``undefined`` name themselves follow from what is wrong elsewhere in the
    graph. Of a wrong ``connection`` the help says which one is meant. What is ``given`` beside the file is reported
    first. From a ``size`` whose name stands for two, what is demanded of the inputs.

    ``severity`` is that of a breach in code that runs. ``refused`` are the runtimes that refuse one when they load the
    model, and where; ``uncalled`` states whether a breach in a function that nothing calls counts (None: as the family
    of the rule does). ``inference.levels`` turns these into the level of a finding. Of one that is ``fixable`` some
    breaches have a safe fix.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str = ""
    fix: str = ""
    bad: str = ""
    good: str = ""
    role: Role = ""
    refused: tuple[Refusal, ...] = ()
    uncalled: bool | None = None
    fixable: bool = False

    def __post_init__(self) -> None:
        if self.code in RULES:
            raise ValueError(f"two rules have the code {self.code}")
        RULES[self.code] = self

    def __repr__(self) -> str:
        return f"<Rule {self.code} {self.name}>"

    @property
    def family(self) -> str:
        """What the rule is about, of ``FAMILIES``."""
        return FAMILIES[int(self.code[3])]

    @property
    def counts_uncalled(self) -> bool:
        """Whether a breach counts in a function that nothing calls."""
        return self.family not in OF_OPERATORS if self.uncalled is None else self.uncalled

    def is_refused(self, runtime: str, where: Where = "live") -> bool:
        """Whether a runtime refuses a breach there when it loads a model."""
        return any(each.runtime == runtime and where in each.where for each in self.refused)

    @property
    def advice(self) -> str:
        """``fix`` as the help of a fault, which begins in lower case and has no full stop."""
        return f"{self.fix[:1].lower()}{self.fix[1:]}".removesuffix(".")

    def fault(self, message: str, **details: Any) -> Fault:
        """The fault that breaks this rule; ``details`` are the other fields of ``Fault``."""
        return Fault(self, message, **details)


#: A message up to this many characters stays as it is; in longer ones, lists and then the middle are left out.
LONGEST = 600


#: Of a list that is cut so many entries are shown.
SHOWN_ENTRIES = 8


def shortened(text: str) -> str:
    """A text of at most LONGEST characters, its lists cut first."""
    parts = text.split("]")
    for index, part in enumerate(parts):
        before, bracket, inside = part.rpartition("[")
        entries = inside.split(", ", SHOWN_ENTRIES)
        if bracket and len(entries) > SHOWN_ENTRIES:
            count = inside.count(", ") + 1
            shown = ", ".join(entries[:SHOWN_ENTRIES])
            parts[index] = f"{before}[{shown}, ... ({count} entries)"
    escaped = "]".join(parts)
    half = LONGEST // 2 - 3
    return escaped if len(escaped) <= LONGEST else f"{escaped[:half]} ... {escaped[-half:]}"


class Fault(Exception):
    """One breach of a rule, without its place.

    ``message`` says what is, then what was expected, with numbers, axes and input indices. ``input`` is the index of
    the input at fault. ``marks`` are the clashing axes as (input index, axis) pairs, and ``aligned`` states whether the
    shapes line up on their last axes (``right``) or their first (``left``). ``severity`` overrides the rule's, and
    ``role`` too. ``loses`` counts the values of the graph that it leaves undefined. ``place`` is where in the document
    it stands, where no attribute decides that. ``intended`` is the name that was most likely intended, or the opset.
    ``stage`` is when the runtime refuses the model at the latest: when it loads it, or when it compiles it, which it
    does only for nodes whose elements somebody needs.
    """

    def __init__(
        self,
        rule: Rule,
        message: str,
        help: str = "",
        input: int | None = None,
        marks: tuple[tuple[int, int], ...] = (),
        aligned: str = "right",
        remark: str = "",
        attribute: str | None = None,
        severity: Severity | None = None,
        notes: tuple[str, ...] = (),
        role: Role | None = None,
        loses: int = 0,
        place: Any = None,
        stage: Stage = "load",
        intended: str = "",
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message if len(message) <= LONGEST else shortened(message)
        self.help = help if len(help) <= LONGEST else shortened(help)
        self.input = input
        self.marks = marks
        self.aligned = aligned
        self.remark = remark
        self.attribute = attribute
        self.severity = severity or rule.severity
        self.notes = notes
        self.role = rule.role if role is None else role
        self.loses = loses
        self.place = place
        self.stage = stage
        self.intended = intended

    def changed(self, **details: Any) -> Fault:
        """The same fault with other values for some of its fields."""
        return Fault(**{**self.__dict__, **details})

    def at_most(self, severity: Severity) -> Fault:
        """The fault, no worse than a severity."""
        return self if self.severity.rank <= severity.rank else self.lowered(severity)

    def lowered(self, severity: Severity) -> Fault:
        """The same fault as a finding of another severity."""
        return self.changed(severity=severity)
