"""Checks the inputs and outputs of an ONNX node against the schema: how many there are, and which are omitted."""

from __future__ import annotations

from irlint.binding.calls import INPUT_COUNT, OUTPUT_COUNT, counts
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.model import Node
from irlint.ops import Operator
from irlint.ops.signatures import signature
from irlint.records import record
from irlint.schemas import (
    RUNTIME_DOMAINS,
    OfficialSchema,
    is_experimental,
    official,
    official_versions,
    runtime_version,
)


@record
class Arity:
    """The inputs that an operator takes."""

    names: list[str]
    lowest: int
    highest: int
    optional: list[bool]
    #: The first later opset that takes all inputs of the node; 0 if there is none, or none is needed.
    later_opset: int = 0
    #: The attribute that becomes the first additional input at ``later_opset``, or "".
    former_attribute: str = ""


def arity_faults(
    node: Node, schema: OfficialSchema | None, operator: Operator | None, moved: tuple[str, ...]
) -> list[Fault]:
    """The faults of extra, missing and omitted inputs and outputs.

    ``moved`` are attributes of the node that its operator has at other opsets. A missing input with the name of one of
    these attributes is not reported.
    """
    if schema is not None:
        optional = [formal.option != "single" for formal in schema.inputs]
        later = _later_opset(len(node.inputs), schema)
        names = [formal.name for formal in schema.inputs]
        arity = Arity(names, schema.min_input, schema.max_input, optional, later, _former_attribute(schema, later))
        faults = _input_faults(node, arity, {name.casefold() for name in moved})
        if is_experimental(schema):
            has_extra = len(node.inputs) > schema.max_input
            return [fault.lowered(Severity.WARNING) for fault in faults] if has_extra else faults
        return faults + _variadic_faults(node, schema) + _output_faults(node, schema)
    if operator is None:
        return []
    rule_signature = signature(operator.function)
    highest = 1 << 30 if rule_signature.variadic else len(rule_signature.inputs)
    optional = [position >= rule_signature.required for position in range(len(rule_signature.inputs))]
    return _input_faults(node, Arity(list(rule_signature.inputs), rule_signature.required, highest, optional), set())


def _input_faults(node: Node, arity: Arity, moved: set[str]) -> list[Fault]:
    """The fault of extra inputs or of the first missing input; [] if ``moved`` has the name of the missing input."""
    count, names, lowest, highest = len(node.inputs), arity.names, arity.lowest, arity.highest
    if count > highest:
        move = ""
        if arity.former_attribute and count == highest + 1:
            attribute = arity.former_attribute
            move = f"write the value of input {highest} as the attribute `{attribute}` and remove the input; or "
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operator takes "
                + (f"{counts(lowest, highest)} ({', '.join(names)})" if highest else "none"),
                help=(f"{move}import opset {arity.later_opset}, which has them, or " if arity.later_opset else "")
                + f"remove the inputs from index {highest} on",
                input=highest,
            )
        ]
    for index in range(max(lowest, min(count, len(names)))):
        value = node.inputs[index] if index < count else None
        if value is not None or (index < count and index < len(arity.optional) and arity.optional[index]):
            continue
        name = names[min(index, len(names) - 1)] if names else f"input {index}"
        if name.casefold() in moved:
            return []
        return [
            INPUT_COUNT.fault(
                f"input {index} ({name}) is missing; the operator takes {counts(lowest, highest)} "
                + ("input" if counts(lowest, highest).endswith(" 1") or highest == lowest == 1 else "inputs"),
                help=f"connect input {index} ({name})",
                input=index,
            )
        ]
    return []


def _later_opset(count: int, schema: OfficialSchema) -> int:
    if count <= schema.max_input or schema.domain in RUNTIME_DOMAINS:
        return 0
    for since in official_versions(schema.name, schema.domain):
        later = official(schema.name, since, schema.domain) if since > schema.since else None
        if later is not None and later.max_input >= count:
            return since
    return 0


def _former_attribute(schema: OfficialSchema, later: int) -> str:
    newer = official(schema.name, later, schema.domain) if later else None
    if newer is None or len(newer.inputs) <= schema.max_input:
        return ""
    name = newer.inputs[schema.max_input].name
    return name if name in schema.attributes else ""


def _variadic_faults(node: Node, schema: OfficialSchema) -> list[Fault]:
    """The fault of an empty name in a variadic input. ONNX Runtime may crash on a model with this fault."""
    if not schema.inputs or schema.inputs[-1].option != "variadic":
        return []
    begin = len(schema.inputs) - 1
    gaps = [index for index, value in enumerate(node.inputs) if value is None and index >= begin]
    if not gaps:
        return []
    return [
        INPUT_COUNT.fault(
            f"input {gaps[0]} has the empty name; it belongs to the variadic input `{schema.inputs[-1].name}`, in "
            "which no entry can be empty",
            help="remove the empty name, or connect a value",
            input=gaps[0],
        )
    ]


def _output_faults(node: Node, schema: OfficialSchema) -> list[Fault]:
    count = len(node.outputs)
    expected = f"the operator has {counts(schema.min_output, schema.max_output)}"
    if schema.domain in RUNTIME_DOMAINS:
        expected += f" in ONNX Runtime {runtime_version()}"
    if count > schema.max_output:
        help = f"remove the outputs from index {schema.max_output} on"
        return [OUTPUT_COUNT.fault(f"{counted(count, 'output')}; {expected}", help=help)]
    if count < schema.min_output:
        name = schema.outputs[min(count, len(schema.outputs) - 1)].name
        return [
            OUTPUT_COUNT.fault(
                f"{counted(count, 'output')}; {expected}",
                help=f"name output {count} ({name}), or remove the node",
                loses=schema.min_output - count,
            )
        ]
    for index, value in enumerate(node.outputs):
        formal = schema.outputs[min(index, len(schema.outputs) - 1)]
        if value is None and formal.option != "optional":
            return [
                OUTPUT_COUNT.fault(
                    f"output {index} ({formal.name}) has the empty name; only an optional output can be omitted",
                    help=f"name output {index} ({formal.name})",
                    loses=1,
                )
            ]
    return []
