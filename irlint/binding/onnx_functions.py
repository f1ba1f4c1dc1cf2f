"""Binds nodes that call functions of the model, and finds misspelled calls."""

from __future__ import annotations

from irlint.binding.calls import (
    INPUT_COUNT,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
    Call,
    closest,
    corrected,
)
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted, first_few
from irlint.model import Function, Graph, Model, Node, Value
from irlint.schemas import MICROSOFT, NCHWC, OFFICIAL_DOMAINS, latest_opset, of_runtime, official


def function_call(node: Node, function: Function, model: Model) -> tuple[Call, list[Fault]]:
    """The call of a function of the model, and the faults of its inputs, outputs and attributes."""
    faults = [
        *_input_faults(node, function, model),
        *_output_faults(node, function),
        *_attribute_faults(node, function),
    ]
    broken = any(fault.severity is Severity.ERROR for fault in faults)
    version = node.version if isinstance(node.version, int) else 0
    return Call(node.op, version, function=function, attributes=node.attributes, broken=broken), faults


def _input_faults(node: Node, function: Function, model: Model) -> list[Fault]:
    highest = len(function.graph.inputs)
    if len(node.inputs) > highest:
        text = f"{counted(len(node.inputs), 'input')}; the function takes {highest}"
        return [INPUT_COUNT.fault(text, help="remove the extra inputs", input=highest)]
    for position, formal in enumerate(function.graph.inputs):
        if position < len(node.inputs) and node.inputs[position] is not None:
            continue
        user = _requiring_node(function, position, model, set())
        if user is not None:
            text = f"input {position} ({formal.name}) is omitted, but the function needs it: {user.op} uses it"
            return [INPUT_COUNT.fault(text, help=f"connect input {position} ({formal.name})", input=position)]
    return []


def _requiring_node(function: Function, position: int, model: Model, seen: set[tuple[Function, int]]) -> Node | None:
    """The first node in a function that requires the function's input ``position``, or None."""
    if (function, position) in seen or position >= len(function.graph.inputs):
        return None
    seen.add((function, position))
    formal = function.graph.inputs[position]
    return next((node for node, index in _uses(function.graph, formal) if _requires(node, index, model, seen)), None)


def _uses(graph: Graph, value: Value) -> list[tuple[Node, int]]:
    """The uses of a value in a graph and its bodies: (node, index of its input)."""
    found: list[tuple[Node, int]] = []
    for node in graph.nodes:
        found += [(node, index) for index, other in enumerate(node.inputs) if other is value]
        for _, body in node.bodies:
            found += _uses(body, value)
    return found


def _requires(node: Node, index: int, model: Model, seen: set[tuple[Function, int]]) -> bool:
    inner = model.functions.get((node.domain, node.op, node.overload))
    if inner is not None:
        return _requiring_node(inner, index, model, seen) is not None
    version = node.version if isinstance(node.version, int) else latest_opset(node.domain) or 1
    schema = official(node.op, version, node.domain) if node.domain in OFFICIAL_DOMAINS else None
    schema = schema or of_runtime(node.op, node.domain)
    if schema is None or not schema.inputs:
        return False
    return schema.inputs[min(index, len(schema.inputs) - 1)].option != "optional"


def _output_faults(node: Node, function: Function) -> list[Fault]:
    names = [value.name for value in function.graph.outputs]
    text = f"{counted(len(node.outputs), 'output')}; the function has {len(names)}"
    if len(node.outputs) > len(names):
        return [OUTPUT_COUNT.fault(text, help="remove the extra outputs")]
    missing = names[len(node.outputs) :]
    if not missing:
        return []
    advice = f"name output {len(node.outputs)} ({missing[0]}), or give it the empty name"
    return [OUTPUT_COUNT.fault(text, help=advice, loses=len(missing))]


def _attribute_faults(node: Node, function: Function) -> list[Fault]:
    return [
        UNKNOWN_ATTRIBUTE.fault(
            f"the function has no attribute `{name}`",
            **corrected(name, list(function.attributes), f"remove `{name}`, or declare it in the function"),
            attribute=name,
            severity=Severity.WARNING,
        )
        for name in node.attributes
        if name not in function.attributes
    ]


def unknown_function(node: Node, model: Model) -> Fault | None:
    """The fault of a node that calls a function of the model by a wrong name, domain or overload.

    None if the node probably calls no function of the model, but a custom operator.
    """
    if not model.functions or node.domain in (MICROSOFT, NCHWC) or node.domain in OFFICIAL_DOMAINS:
        return None
    overloads = [overload for domain, name, overload in model.functions if (domain, name) == (node.domain, node.op)]
    if overloads:
        return _of_other_overload(node, overloads)
    names = sorted({name for domain, name, _ in model.functions if domain == node.domain})
    if names:
        return _of_other_name(node, names)
    other = next((key for key in model.functions if key[1] == node.op and not _is_called(key, model)), None)
    return None if other is None else _of_other_domain(node, other[0])


def _of_other_overload(node: Node, overloads: list[str]) -> Fault:
    overload_of_call = f"the overload {node.overload!r}" if node.overload else "no overload"
    listed = ", ".join(repr(overload) if overload else "none" for overload in overloads)
    return UNKNOWN_OPERATOR.fault(
        f"the node calls {overload_of_call} of the function {node.op}; the model has {listed}",
        help=f"write the overload {overloads[0]!r}" if overloads[0] else "remove the overload",
    )


def _of_other_name(node: Node, names: list[str]) -> Fault:
    intended = closest(node.op, names)
    listed = first_few([name or "one without a name" for name in names], 5)
    return UNKNOWN_OPERATOR.fault(
        f'the model has no function of this name in the domain "{node.domain}"; it has {listed}',
        help=f"did you mean `{intended}`?" if intended else "add the function, or correct the name",
    )


def _of_other_domain(node: Node, domain: str) -> Fault:
    where = f'in "{domain}"' if domain else "without a domain"
    help = f'write the domain "{domain}" at the node, or ' if domain else "write the domain "
    return UNKNOWN_OPERATOR.fault(
        f'the model has no function of this name in the domain "{node.domain}", but one {where} that no node calls',
        help=f'{help}"{node.domain}" at the function',
    )


def _is_called(key: tuple[str, str, str], model: Model) -> bool:
    from irlint.model.order import graphs

    return any((node.domain, node.op, node.overload) == key for graph in graphs(model) for node in graph.nodes)
