"""A rule is a property that a model must have. A fault is one violation of a rule."""

from __future__ import annotations

from irlint.lazy_typing import Any, ClassVar, Literal
from irlint.records import record


class Severity:
    """The severity of a finding, as the page `report` of the guide defines it.

    ``Severity("error")`` is ERROR; another text raises ValueError. This is no Enum, because importing ``enum`` takes a
    tenth of the time of a small check.
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
    severity = object.__new__(Severity)
    severity.value, severity.rank = value, rank
    _SEVERITIES[value] = severity
    return severity


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

#: The family of rules about element types.
ELEMENT_TYPES = "element-types"

#: The families of rules about sizes.
OF_SIZES = ("broadcasting", "shapes", "declarations")

#: How faults of a rule cause other faults, or follow from other faults:
#: ``wiring``, ``edge`` (without a source): inputs of nodes have no value.
#: ``attribute``: any fault of the node may follow.
#: ``opset``: faults in the names, inputs and attributes of the nodes may follow.
#: ``declaration``: errors of the nodes that use the value may follow.
#: ``size`` (one name for two sizes): requirements on the inputs may follow.
#: ``given`` (in values beside the file): reported before other faults.
#: ``absence``, ``undefined``: follow from faults elsewhere in the graph.
#: ``value`` (results of one number), ``nan`` (NaN or infinite results): count only where a node reads the results.
Role = Literal[
    "", "wiring", "edge", "attribute", "absence", "undefined", "opset", "declaration", "given", "size", "value", "nan"
]

#: The places of a fault:
#: ``live``: nodes that run, or may run.
#: ``dead``: a body that never runs.
#: ``dead by size``: a body that never runs because of a size. ONNX Runtime keeps it, but removes other dead bodies.
#: ``dead if sized``: as ``dead by size``, if the runtime knows the size when it loads the model.
#: ``as declared``: the body of a loop, inferred with the declared sizes of its inputs.
#: ``unused constant``: a constant that nothing uses.
Where = Literal["live", "dead", "dead by size", "dead if sized", "as declared", "unused constant"]

#: The stages of a model before its first run.
Stage = Literal["load", "compile"]

#: The families of rules that runtimes do not check in functions that nothing calls.
OF_OPERATORS = ("broadcasting", "shapes", ELEMENT_TYPES, "operators")


@record
class Refusal:
    """A runtime that refuses to load a model with a fault of a rule in one of these places."""

    #: The runtime's module in ``targets``. OpenVINO has one for ONNX models and one for IRs.
    runtime: str
    where: tuple[Where, ...] = ("live",)


@record
class Rule:
    """A rule and its page. ``inference.levels`` computes the severity of a finding from the rule and the place."""

    code: str
    name: str
    #: The severity in live nodes.
    severity: Severity
    summary: str
    why: str = ""
    fix: str = ""
    #: Examples with and without the defect, in ONNX's text syntax or IR XML.
    bad: str = ""
    good: str = ""
    role: Role = ""
    #: The runtimes that refuse to load a model with a fault of this rule.
    refused: tuple[Refusal, ...] = ()
    #: The runtimes that load some models with such an error, although their format has ``errors_are_refused``.
    accepted: tuple[str, ...] = ()
    #: Whether a fault in a function that nothing calls counts; None: the family of the rule decides.
    uncalled: bool | None = None
    #: Whether some faults have a safe fix.
    fixable: bool = False

    def __repr__(self) -> str:
        return f"<Rule {self.code} {self.name}>"

    @property
    def family(self) -> str:
        """The subject of the rule, one of ``FAMILIES``."""
        return FAMILIES[int(self.code[3])]

    @property
    def counts_uncalled(self) -> bool:
        """Whether a fault in a function that nothing calls counts."""
        return self.family not in OF_OPERATORS if self.uncalled is None else self.uncalled

    def is_refused(self, runtime: str, where: Where = "live") -> bool:
        """Whether a runtime refuses to load a model with a fault of this rule at this place."""
        return any(refusal.runtime == runtime and where in refusal.where for refusal in self.refused)

    @property
    def advice(self) -> str:
        """``fix`` as a help: in lower case and without a full stop."""
        return f"{self.fix[:1].lower()}{self.fix[1:]}".removesuffix(".")

    def fault(self, message: str, **details: Any) -> Fault:
        """A fault of this rule; ``details`` are the other fields of ``Fault``."""
        return Fault(self, message, **details)


@record
class Proposal:
    """Another entry of an input of the node, which a help proposes."""

    input: int
    index: int
    entry: int
    #: The help if the model has other problems with this entry.
    otherwise: str


#: Messages and helps with more characters are shortened.
LONGEST = 600

#: A shortened list shows this many entries.
SHOWN_ENTRIES = 8


def shortened(text: str) -> str:
    """A text with shortened lists, and without its middle if it still has more than LONGEST characters."""
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
    """One violation of a rule, without the graph and the node.

    - ``message``: the fact and the expectation, with numbers, axes and input indices.
    - ``input``, ``attribute``: the index of the input, and the name of the attribute at fault.
    - ``marks``: the axes at fault, as (input, axis).
    - ``aligned``: the snippet aligns shapes at their last axes (``right``) or first axes (``left``).
    - ``remark``: a text below the marks.
    - ``notes``: lines below the snippet.
    - ``severity``, ``role``: by default those of the rule.
    - ``loses``: the number of values that the fault leaves undefined.
    - ``place``: the position in the document; None for the position of the attribute or of the node.
    - ``stage``: the stage at which the runtime refuses the model.
    - ``intended``: the name or opset that was probably intended.
    - ``passes``: the types that the node passes to its body, if they contradict the declarations of the body.
    - ``proposal``: the edit that the help proposes.
    - ``refused``: the format's own runtime refuses every model with this fault, despite ``accepted`` of the rule.
    - ``refused_types``: the inputs whose element types the operator refuses, as ``element_types.RefusedType``.
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
        passes: tuple[Any, ...] = (),
        proposal: Proposal | None = None,
        refused_types: tuple[Any, ...] = (),
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
        self.passes = passes
        self.proposal = proposal
        self.refused_types = refused_types

    def changed(self, **details: Any) -> Fault:
        """A copy of the fault with other values for some fields."""
        return Fault(**{**self.__dict__, **details})

    def at_most(self, severity: Severity) -> Fault:
        """The fault with a severity of at most ``severity``."""
        return self if self.severity.rank <= severity.rank else self.lowered(severity)

    def lowered(self, severity: Severity) -> Fault:
        """A copy of the fault with another severity."""
        return self.changed(severity=severity)
