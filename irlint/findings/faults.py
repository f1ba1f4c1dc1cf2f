"""A rule is a property that a model must have. A fault is one violation of a rule."""

from __future__ import annotations

from irlint.lazy_typing import Any, ClassVar, Literal
from irlint.records import record


class Severity:
    """The severity of a finding; the page `report` of the guide defines the three.

    ``Severity("error")`` is ERROR; a text that is no severity raises ValueError. The class imitates ``enum.Enum``,
    whose import takes a tenth of the time of a small check.
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
    """The less severe of two severities."""
    return one if one.rank <= other.rank else other


#: Every severity, the worst first.
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


#: The subjects of rules, by the first digit of their codes.
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

#: Every rule by its code. A rule is added when its module is imported.
RULES: dict[str, Rule] = {}

#: Which other faults may follow from a fault; see Rule.
Role = Literal[
    "", "wiring", "edge", "attribute", "absence", "undefined", "opset", "declaration", "given", "size", "value", "nan"
]

#: The places of a fault for which a runtime may refuse the model when it loads the model:
#: ``live``: nodes that run, or may run.
#: ``dead``: a body that never runs because of a constant or a size.
#: ``dead by size``: a body that never runs because of a size, not of a constant. ONNX Runtime removes the other bodies
#: that never run before it looks up kernels.
#: ``dead if sized``: as ``dead by size``, in models where the runtime knows this size when it loads the model.
#: ``as declared``: the body of a loop, inferred with the sizes that the inputs of the body declare.
#: ``unused constant``: a constant that nothing uses.
Where = Literal["live", "dead", "dead by size", "dead if sized", "as declared", "unused constant"]

#: What a runtime does with a model before the first run.
Stage = Literal["load", "compile"]

#: The families of rules about operators and their results. Runtimes do not check such rules in functions that nothing
#: calls.
OF_OPERATORS = ("broadcasting", "shapes", "element-types", "operators")


@record
class Refusal:
    """A runtime that refuses to load a model with a fault of a rule, if the fault is in one of the places ``where``.

    ``runtime`` is the name of the runtime's module in ``targets``. OpenVINO has a module for ONNX models and one for
    IRs.
    """

    runtime: str
    where: tuple[Where, ...]


def refused(runtime: str, *where: Where) -> Refusal:
    """The refusal by a runtime of faults in these places, by default in live nodes."""
    return Refusal(runtime, where or ("live",))


@record
class Rule:
    """A rule and its page.

    ``summary`` states the defect in one sentence, ``why`` its consequences, and ``fix`` the remedy. ``bad`` is an
    example that breaks the rule, and ``good`` is an example that keeps it, in ONNX's text syntax or IR XML.

    ``role`` states which other faults may follow from a fault of this rule. A fault in the ``wiring``, or an ``edge``
    without a source, leaves inputs without a value. An ``attribute`` may cause any fault of its node. An ``opset`` may
    cause faults in the names, inputs and attributes of its nodes. A wrong ``declaration`` may cause errors of the nodes
    that use it. An ``absence`` and an ``undefined`` name follow from faults elsewhere in the graph. A fault in values
    that the user has ``given`` beside the file is reported first. If one name is used for two sizes (``size``),
    requirements on the inputs may follow. Results of one number (``value``) and results that are NaN or infinite
    (``nan``) count only where a node reads them.

    ``severity`` applies to live nodes. ``refused`` lists the runtimes that refuse to load a model with a fault of this
    rule, with the places. If a format has ``errors_are_refused``, its runtimes refuse every model with an error;
    ``accepted`` lists the runtimes that nevertheless load some models with an error of this rule. ``uncalled`` states
    whether a fault in a function that nothing calls counts (None: the family of the rule decides).
    ``inference.levels`` computes the severity of a finding from these fields. If the rule is ``fixable``, some of its
    faults have a safe fix.
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
    accepted: tuple[str, ...] = ()
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
        """The subject of the rule, from ``FAMILIES``."""
        return FAMILIES[int(self.code[3])]

    @property
    def counts_uncalled(self) -> bool:
        """Whether a fault in a function that nothing calls counts."""
        return self.family not in OF_OPERATORS if self.uncalled is None else self.uncalled

    def is_refused(self, runtime: str, where: Where = "live") -> bool:
        """Whether a runtime refuses to load a model with a fault of this rule at this place."""
        return any(each.runtime == runtime and where in each.where for each in self.refused)

    @property
    def advice(self) -> str:
        """``fix`` in the form of a help: in lower case and without a full stop."""
        return f"{self.fix[:1].lower()}{self.fix[1:]}".removesuffix(".")

    def fault(self, message: str, **details: Any) -> Fault:
        """A fault of this rule; ``details`` are the other fields of ``Fault``."""
        return Fault(self, message, **details)


#: Messages and helps with more characters are shortened.
LONGEST = 600


#: A shortened list shows this many entries.
SHOWN_ENTRIES = 8


def shortened(text: str) -> str:
    """A text with shortened lists and, if it then has more than LONGEST characters, without its middle."""
    parts = text.split("]")
    for index, part in enumerate(parts):
        before, bracket, inside = part.rpartition("[")
        entries = inside.split(", ", SHOWN_ENTRIES)
        if bracket and len(entries) > SHOWN_ENTRIES:
            count = inside.count(", ") + 1
            shown = ", ".join(entries[:SHOWN_ENTRIES])
            parts[index] = f"{before}[{shown}, ... ({count} entries)"
    joined = "]".join(parts)
    half = LONGEST // 2 - 3
    return joined if len(joined) <= LONGEST else f"{joined[:half]} ... {joined[-half:]}"


class Fault(Exception):
    """One violation of a rule, without its place.

    ``message`` states the fact and the expectation, with numbers, axes and input indices, and ``help`` the remedy.
    ``input`` is the index of the input at fault, and ``attribute`` the name of the attribute at fault. ``marks`` are
    the axes at fault as pairs of an input index and an axis. ``aligned`` states whether the snippet aligns shapes at
    their last axes (``right``) or first axes (``left``); ``remark`` is a text below the marks, and ``notes`` are lines
    below the snippet. ``severity`` and ``role`` override those of the rule.

    ``loses`` is the number of values that the fault leaves undefined. ``place`` is the position in the document; None
    is the position of the attribute or the node. ``intended`` is the name or opset that was probably intended.
    ``stage`` is the latest stage at which the runtime refuses the model; a compiler examines only nodes whose elements
    are needed. ``refused`` is True if the runtime of the format refuses every model with this fault, although it loads
    some models with other faults of the rule.
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
        refused: bool = False,
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
        self.refused = refused

    def changed(self, **details: Any) -> Fault:
        """A copy of the fault with other values for some fields."""
        return Fault(**{**self.__dict__, **details})

    def at_most(self, severity: Severity) -> Fault:
        """The fault, with this severity if its own severity is higher."""
        return self if self.severity.rank <= severity.rank else self.lowered(severity)

    def lowered(self, severity: Severity) -> Fault:
        """A copy of the fault with another severity."""
        return self.changed(severity=severity)
