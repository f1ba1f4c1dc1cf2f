"""The call of a node (``Call``), and the rules about names, inputs and attributes that both formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from irlint.findings import wording
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.lazy_typing import Any
from irlint.model import Function, Node
from irlint.ops import Operator, custom
from irlint.ops.signatures import Signature, named
from irlint.records import record
from irlint.schemas import OfficialSchema

#: The attributes of ONNX that PyTorch and NumPy call by other names.
OTHER_NAMES = {
    "dim": ("axis", "axes"),
    "dims": ("axes", "perm"),
    "order": ("perm",),
    "dtype": ("to",),
    "negative_slope": ("alpha",),
}

#: A misspelled name begins with at least this many letters of the correct name.
_SHARED_LETTERS = 3

UNKNOWN_OPERATOR = Rule(
    "IRL501",
    "unknown-operator",
    Severity.ERROR,
    "The operator does not exist in its domain or opset.",
    why=(
        "No operator set defines this name, so no runtime can run the node. Runtimes refuse the model when they load "
        "it."
    ),
    fix="Correct the name, import the domain that has the operator, or add it as a model-local function.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relux (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
)

CUSTOM_OPERATOR = Rule(
    "IRL502",
    "custom-operator",
    Severity.NOTE,
    "irlint does not know this operator, and uses the declared types and shapes of its outputs.",
    why=(
        "irlint cannot infer the outputs of a custom operator, or of an operator that it does not know yet. It uses "
        "the declared outputs; without a declaration, it cannot check the nodes that use them. ONNX Runtime and "
        "OpenVINO run such a model only with the library that has the operator "
        "(`SessionOptions.register_custom_ops_library`, `Core.add_extension`). The file does not say which libraries "
        "you load, so this is a note and does not fail a check. If you load none, make it an error with `--severity "
        "custom-operator=error`, or with `[severity]` in `irlint.toml`. A domain that misspells one with an operator "
        "of this name is a warning."
    ),
    fix=(
        "Describe the operator by a signature under `[[operators]]` in `irlint.toml`, or add it to the model as a "
        "model-local function. If you can do neither, declare the shapes of its outputs (ONNX `value_info`), so that "
        "irlint can check the nodes after it."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
g (float[2,3] x) => (float[2,3] y) { y = my.domain.Special (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
g (float[2,3] x) => (float[2,3] y) { y = my.domain.Special (x) }
<domain: "my.domain", opset_import: ["" : 17]>
Special (a) => (b) { b = Relu (a) }""",
)

UNKNOWN_ATTRIBUTE = Rule(
    "IRL503",
    "unknown-attribute",
    Severity.ERROR,
    "The operator has no attribute of this name at this version.",
    why=(
        "ONNX Runtime and the ONNX checker refuse an attribute that the operator does not have. OpenVINO ignores it "
        "without a message, so the attribute that was intended keeps its default; in an IR, irlint warns."
    ),
    fix="Correct the name, or use the opset version that has the attribute.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alhpa = 0.1> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alpha = 0.1> (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
    fixable=True,
    accepted=("openvino_ir",),
)

MISSING_ATTRIBUTE = Rule(
    "IRL504",
    "missing-attribute",
    Severity.ERROR,
    "A required attribute is missing.",
    why=(
        "ONNX runtimes refuse the node. OpenVINO uses a value of its own if it can, which is rarely the intended "
        "one; in an IR, irlint warns and names that value."
    ),
    fix="Write the attribute.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0> (x, z) }""",
    role="attribute",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
    accepted=("openvino_ir",),
)

ATTRIBUTE_KIND = Rule(
    "IRL505",
    "attribute-of-wrong-type",
    Severity.ERROR,
    "The type of an attribute is not the one in the operator's schema.",
    why="Runtimes read the attribute as the type in the schema, and refuse any other type.",
    fix="Write the attribute as the type that the message names.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0.0> (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0> (x, z) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
)

ATTRIBUTE_VALUE = Rule(
    "IRL506",
    "attribute-value-not-allowed",
    Severity.ERROR,
    "An attribute has a value that the operator does not allow.",
    why=(
        "The operator defines what each value means. A runtime refuses any other value, or uses a default without a "
        "message."
    ),
    fix="Use one of the values that the message names.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) { y = Conv <auto_pad = "SAME"> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) { y = Conv <auto_pad = "SAME_UPPER"> (x, w) }""",
    role="attribute",
    accepted=("openvino_ir",),
)

INPUT_COUNT = Rule(
    "IRL507",
    "input-count-wrong",
    Severity.ERROR,
    "The number of inputs is wrong for the operator.",
    why="Runtimes refuse a node with a missing required input or with extra inputs.",
    fix="Connect the inputs that the operator names, and no others. Use the empty name for an absent optional input.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
    uncalled=True,
    accepted=("openvino_ir",),
)

OUTPUT_COUNT = Rule(
    "IRL508",
    "output-count-wrong",
    Severity.ERROR,
    "The number of outputs is wrong for the operator.",
    why="Runtimes refuse a node with an output that its operator does not have.",
    fix="Name only the outputs that the operator has at this version.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y, z = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
    uncalled=True,
    accepted=("openvino_ir",),
)

OPSET_LACKS_OPERATOR = Rule(
    "IRL509",
    "operator-not-in-opset",
    Severity.ERROR,
    "The operator exists, but not in the opset that the file uses.",
    why=(
        "An opset version defines a set of operators. Operators that were added later or removed earlier are not in "
        "it, so runtimes refuse the node."
    ),
    fix="Use an opset that has the operator (ONNX: `opset_import`; IR: the layer's `version`), or another operator.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }""",
    good="""<ir_version: 9, opset_import: ["" : 20]>
g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead")), Refusal("tensorrt")),
)

MISSING_OPSET_IMPORT = Rule(
    "IRL801",
    "missing-opset-import",
    Severity.ERROR,
    "A node's domain is not among the opsets that the model imports.",
    why=(
        "Without the version of its domain, the meaning of an operator is undefined. The ONNX checker refuses the "
        "model. ONNX Runtime uses the newest version of the domain that it knows; irlint warns, because that version "
        "differs between releases."
    ),
    fix="Add the domain and its version to `opset_import`.",
    bad="""<ir_version: 8, opset_import: ["ai.onnx.ml" : 3]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    refused=(Refusal("onnxruntime", ("live", "dead", "dead by size")),),
    fixable=True,
)


@record
class Call:
    """The operator or function that a node calls. Both are None if irlint knows neither."""

    #: The name of the operator in its specification.
    op: str
    version: int
    operator: Operator | None = None
    function: Function | None = None
    schema: OfficialSchema | None = None
    signature: Signature | None = None
    #: The arguments of the operator's rule, or the attributes that the node passes to ``function``.
    attributes: Mapping[str, Any] | None = None
    #: Whether the node has errors, so that its operator is not asked.
    broken: bool = False


def closest(name: str, candidates: Sequence[str] | frozenset[str]) -> str | None:
    """The candidate that is most similar to a misspelled name; None if none is similar."""
    return wording.closest(name, sorted(candidates), 0.7)


def did_you_mean(name: str, candidates: Sequence[str] | frozenset[str], otherwise: str) -> str:
    """The help for a misspelled name: a similar candidate, else ``otherwise``."""
    return corrected(name, candidates, otherwise)["help"]


def corrected(name: str, candidates: Sequence[str] | frozenset[str], otherwise: str) -> dict[str, str]:
    """The fields ``help`` and ``intended`` of the fault of a misspelled name.

    If no candidate is similar, the help is ``otherwise``.
    """
    found = closest(name, candidates) or _abbreviated(name, candidates) or _translated(name, candidates)
    return {"help": otherwise} if found is None else {"help": f"did you mean `{found}`?", "intended": found}


def _translated(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that means what another library calls by this name: ``axis`` for ``dim``."""
    names = set(candidates)
    return next((each for each in OTHER_NAMES.get(name, ()) if each in names), None)


def _abbreviated(name: str, candidates: Iterable[str]) -> str | None:
    """The only candidate that begins like a name: ``epsilon`` for ``eps``, ``pads`` for ``padding``."""
    found = [candidate for candidate in candidates if _begin_alike(name, candidate)]
    return found[0] if len(found) == 1 else None


def _begin_alike(name: str, other: str) -> bool:
    shared = next((at for at, (one, two) in enumerate(zip(name, other)) if one != two), min(len(name), len(other)))
    return _SHARED_LETTERS <= shared >= min(len(name), len(other) - 1)


def counts(lowest: int, highest: int) -> str:
    """``2``, ``1 to 3`` or ``at least 1``."""
    if highest >= 1 << 30:
        return f"at least {lowest}"
    return str(lowest) if lowest == highest else f"{lowest} to {highest}"


def choices(annotation: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """The allowed texts of an attribute whose annotation is a ``Literal``; () for other annotations."""
    alias = named(annotation.removesuffix(" | None"), function)
    return tuple(getattr(alias, "__args__", ()))


def quoted(allowed: Sequence[str]) -> str:
    """Texts in quotes, separated by commas."""
    return ", ".join(f'"{text}"' for text in allowed)


def declared_call(node: Node) -> tuple[Call, list[Fault]] | None:
    """The call of a custom operator and its faults; None if the configuration does not declare the operator.

    The domain of an IR layer is its ``version``.
    """
    domain = node.version if isinstance(node.version, str) else node.domain
    operator = custom.get((domain, node.op)) if custom else None
    if operator is None:
        return None
    from irlint.ops import signed

    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    fault = signed.count_fault(operator, count, len(node.outputs))
    if fault is not None:
        return Call(node.op, 1, broken=True), [fault]
    attributes = tuple((name, _integers(attribute.value)) for name, attribute in node.attributes.items())
    rule = signed.operator_of(operator, tuple(pair for pair in attributes if pair[1] is not None), len(node.outputs))
    return Call(node.op, 1, operator=rule, signature=signed.signature_of(operator), attributes={}), []


def _integers(value: object) -> int | tuple[int, ...] | None:
    """The integers in an attribute, which an IR stores as a text; None for other values."""
    if isinstance(value, str):
        parts = value.replace(" ", "").split(",")
        if not all(part.removeprefix("-").isdecimal() and len(part) < 20 for part in parts):
            return None
        return int(parts[0]) if len(parts) == 1 else tuple(map(int, parts))
    if isinstance(value, int):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value):
        return tuple(value)
    return None
