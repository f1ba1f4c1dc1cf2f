"""Checks the number of inputs and outputs of an ONNX node, and which of them are omitted, against the schema."""

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
    """The inputs of an operator: their names, the allowed numbers of inputs, and which inputs are optional.

    ``later`` is the first later opset that takes as many inputs as the node has; 0 if the schema already takes them, or
    no later one does. ``former`` is the attribute that this later opset has as an input after the last one, or "".
    """

    names: list[str]
    lowest: int
    highest: int
    optional: list[bool]
    later: int = 0
    former: str = ""


def arity_faults(
    node: Node, schema: OfficialSchema | None, operator: Operator | None, moved: tuple[str, ...]
) -> list[Fault]:
    """The faults of extra or missing inputs and of outputs.

    An input is not missing if an attribute in ``moved`` has its name.
    """
    if schema is not None:
        optional = [formal.option != "single" for formal in schema.inputs]
        arity = Arity(
            [formal.name for formal in schema.inputs],
            schema.min_input,
            schema.max_input,
            optional,
            _opset_with(len(node.inputs), schema),
            _former(schema, _opset_with(len(node.inputs), schema)),
        )
        faults = _input_faults(node, arity, {name.casefold() for name in moved})
        if is_experimental(schema):
            surplus = len(node.inputs) > schema.max_input
            return [fault.lowered(Severity.WARNING) for fault in faults] if surplus else faults
        return faults + _gaps_among_many(node, schema) + _output_faults(node, schema)
    if operator is None:
        return []
    known = signature(operator.function)
    highest = 1 << 30 if known.variadic else len(known.inputs)
    optional = [position >= known.required for position in range(len(known.inputs))]
    return _input_faults(node, Arity(list(known.inputs), known.required, highest, optional), set())


def _input_faults(node: Node, arity: Arity, written: set[str]) -> list[Fault]:
    """The fault of extra inputs, or of the first missing one, unless its name is among the ``written`` attributes."""
    count, names, lowest, highest = len(node.inputs), arity.names, arity.lowest, arity.highest
    if count > highest:
        move = ""
        if arity.former and count == highest + 1:
            move = f"write the value of input {highest} as the attribute `{arity.former}` and remove the input; or "
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operator takes "
                + (f"{counts(lowest, highest)} ({', '.join(names)})" if highest else "none"),
                help=(f"{move}import opset {arity.later}, which has them, or " if arity.later else "")
                + f"remove the inputs from index {highest} on",
                input=highest,
            )
        ]
    for index in range(max(lowest, min(count, len(names)))):
        given = node.inputs[index] if index < count else None
        if given is not None or (index < count and index < len(arity.optional) and arity.optional[index]):
            continue
        name = names[min(index, len(names) - 1)] if names else f"input {index}"
        if name.casefold() in written:
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


def _opset_with(count: int, schema: OfficialSchema) -> int:
    """The first later opset in which the operator takes ``count`` inputs; 0 if there is none or the schema takes
    them."""
    if count <= schema.max_input or schema.domain in RUNTIME_DOMAINS:
        return 0
    for since in official_versions(schema.name, schema.domain):
        later = official(schema.name, since, schema.domain) if since > schema.since else None
        if later is not None and later.max_input >= count:
            return since
    return 0


def _former(schema: OfficialSchema, later: int) -> str:
    """The attribute of a schema that a later opset takes as the input after the last one; "" if there is none."""
    newer = official(schema.name, later, schema.domain) if later else None
    if newer is None or len(newer.inputs) <= schema.max_input:
        return ""
    name = newer.inputs[schema.max_input].name
    return name if name in schema.attributes else ""


def _gaps_among_many(node: Node, schema: OfficialSchema) -> list[Fault]:
    """The fault of an omitted input among a variable number of inputs; ONNX Runtime refuses it or crashes."""
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
    """The fault of extra, missing or omitted outputs."""
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
    for index, (value, formal) in enumerate(zip(node.outputs, schema.outputs)):
        if value is None and formal.option == "single":
            return [
                OUTPUT_COUNT.fault(
                    f"output {index} ({formal.name}) has the empty name; only an optional output can be omitted",
                    help=f"name output {index} ({formal.name})",
                    loses=1,
                )
            ]
    return []
