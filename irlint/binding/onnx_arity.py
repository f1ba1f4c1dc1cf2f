"""How many inputs and outputs an ONNX node has, and which of them are left out, against its operator's schema."""

from __future__ import annotations

from irlint.binding.calls import INPUT_COUNT, OUTPUT_COUNT, counts
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.model import Node
from irlint.ops import Operator
from irlint.ops.signatures import signature
from irlint.schemas import MICROSOFT, OfficialSchema, runtime_version


def arity_faults(
    node: Node, schema: OfficialSchema | None, operator: Operator | None, moved: tuple[str, ...]
) -> list[Fault]:
    """Inputs that are too many or missing, and outputs that are too many; an input written as an attribute of that name
    in ``moved`` is not missing."""
    faults: list[Fault] = []
    count = len(node.inputs)
    if schema is not None:
        names = [formal.name for formal in schema.inputs]
        lowest, highest = schema.min_input, schema.max_input
        optional = [formal.option != "single" for formal in schema.inputs]
    elif operator is not None:
        known = signature(operator.function)
        names, lowest = list(known.inputs), known.required
        highest = 1 << 30 if known.variadic else len(names)
        optional = [position >= lowest for position in range(len(names))]
    else:
        return faults
    if count > highest:
        faults.append(
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operator takes {counts(lowest, highest)} ({', '.join(names)})",
                help=f"remove the inputs from index {highest} on",
                input=highest,
            )
        )
    written = {name.casefold() for name in moved}
    for index in range(max(lowest, min(count, len(names))) if count <= highest else 0):
        given = node.inputs[index] if index < count else None
        if given is None and (index >= len(optional) or not optional[index] or index >= count):
            name = names[min(index, len(names) - 1)] if names else f"input {index}"
            if name.casefold() in written:
                break
            faults.append(
                INPUT_COUNT.fault(
                    f"input {index} ({name}) is missing; the operator takes {counts(lowest, highest)} inputs",
                    help=f"connect input {index} ({name})",
                    input=index,
                )
            )
            break
    if schema is not None:
        faults += _gaps_among_many(node, schema)
        faults += _output_faults(node, schema)
    return faults


def _gaps_among_many(node: Node, schema: OfficialSchema) -> list[Fault]:
    """Inputs that are left out among any number of them: ONNX Runtime refuses the first one, and comes down by another."""
    if not schema.inputs or schema.inputs[-1].option != "variadic":
        return []
    begin = len(schema.inputs) - 1
    gaps = [index for index, value in enumerate(node.inputs) if value is None and index >= begin]
    if not gaps:
        return []
    return [
        INPUT_COUNT.fault(
            f"input {gaps[0]} has the empty name; it is one of any number of inputs ({schema.inputs[-1].name}), none of "
            "which may be left out",
            help="remove the empty name, or connect a value",
            input=gaps[0],
        )
    ]


def _output_faults(node: Node, schema: OfficialSchema) -> list[Fault]:
    """Outputs that are too many, too few or left out."""
    count = len(node.outputs)
    told = f"the operator has {counts(schema.min_output, schema.max_output)}"
    if schema.domain == MICROSOFT:
        told += f" in ONNX Runtime {runtime_version()}"
    if count > schema.max_output:
        help = f"remove the outputs from index {schema.max_output} on"
        severity = Severity.WARNING if schema.domain == MICROSOFT else None
        return [OUTPUT_COUNT.fault(f"{counted(count, 'output')}; {told}", help=help, severity=severity)]
    if count < schema.min_output:
        name = schema.outputs[min(count, len(schema.outputs) - 1)].name
        return [
            OUTPUT_COUNT.fault(
                f"{counted(count, 'output')}; {told}", help=f"name output {count} ({name}), or remove the node"
            )
        ]
    for index, (value, formal) in enumerate(zip(node.outputs, schema.outputs)):
        if value is None and formal.option == "single":
            return [
                OUTPUT_COUNT.fault(
                    f"output {index} ({formal.name}) has the empty name; only an optional output can be left out",
                    help=f"name output {index} ({formal.name})",
                )
            ]
    return []
