"""The objections of releases to a model, and their rules."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.records import record
from irlint.targets.uses import Use

IR_VERSION_NOT_IN_RELEASE = Rule(
    "IRL811",
    "ir-version-not-in-release",
    Severity.ERROR,
    "The target does not accept the IR version of the model.",
    why="""Each release of a runtime reads models up to the IR version that it was built with, and refuses later
        versions even if the model uses nothing new. The default version of onnx is often too new for the runtimes.""",
    fix="Save the model with the IR version that the message names, or use a later release.",
)

OPSET_NOT_IN_RELEASE = Rule(
    "IRL812",
    "opset-not-in-release",
    Severity.ERROR,
    "The target does not accept an opset that the model imports.",
    why="Each release of a runtime knows the opsets up to the one that it was built with, and refuses later opsets.",
    fix="Write the model at an opset that the release takes, or use a later release.",
)

OPERATOR_NOT_IN_RELEASE = Rule(
    "IRL813",
    "operator-not-in-release",
    Severity.ERROR,
    "The target has no operator, or no kernel or converter of it, at the version that the model uses.",
    why="""A release refuses a model with an operator that it does not have. ONNX Runtime looks for a kernel of exactly
        the version that the opset gives the operator, and then for a function that replaces the operator.""",
    fix="Use the release or the opset that the message names, or replace the operator by other operators.",
)

ELEMENT_TYPE_NOT_IN_RELEASE = Rule(
    "IRL814",
    "element-type-not-in-release",
    Severity.ERROR,
    "The target does not accept an element type of the model.",
    why="Kernels exist for some element types only, and a release knows only the types of its time.",
    fix="Cast to an element type that the message names, or use a release that the message names.",
)

RESTRICTED_IN_RELEASE = Rule(
    "IRL815",
    "restricted-in-release",
    Severity.ERROR,
    "The target accepts the operator only under a condition that the model does not meet.",
    why="Runtimes do not implement rarely used forms of an operator, and refuse a model that uses one.",
    fix="Meet the condition that the message names.",
)

TARGET_NOT_KNOWN = Rule(
    "IRL816",
    "target-not-known",
    Severity.WARNING,
    "It is not known whether the target loads the model.",
    why="Only you know which custom operators you register, and the measured tables do not cover every combination. "
    "An unknown result must not look like a model that runs.",
    fix="Load the model once with the release itself.",
)


STAYS_ON_CPU = Rule(
    "IRL818",
    "node-stays-on-cpu",
    Severity.NOTE,
    "The target runs the model, but some of its nodes run on the CPU.",
    why="""The compiler of an NPU refuses some nodes, and the provider runs these on the CPU. Each change between NPU
        and CPU copies tensors, which often takes more time than the NPU saves.""",
    fix="Avoid the form of the nodes that the message names, and give every input a static shape.",
)


@record
class Objection:
    """What a release objects to in nodes or in the model. The rule states what the release does."""

    #: TARGET_NOT_KNOWN if it is unknown whether the release objects.
    rule: Rule
    #: The message after the operator's name.
    text: str
    help: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether the release refuses the model."""
        return self.rule is not TARGET_NOT_KNOWN and self.rule is not STAYS_ON_CPU


@record
class Reason:
    """An objection, and the releases that have it."""

    #: The releases, as a bit mask.
    releases: int
    objection: Objection
    #: The node; None for an objection to the model.
    use: Use | None = None

    @property
    def nodes(self) -> int:
        """The number of nodes; 0 for an objection to the model."""
        return 0 if self.use is None else self.use.nodes
