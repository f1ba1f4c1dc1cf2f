"""From a node to what it calls: the operator that it names at its version, or a function of the model."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.binding.calls import Call
from irlint.findings.faults import Fault
from irlint.model import Attribute, Model, Node


def bound(
    node: Node, model: Model, scope: Mapping[str, Attribute | None] | None = None, *, within_function: bool = False
) -> tuple[Call, list[Fault]]:
    """What ``node`` calls, and the faults of its name, arity and attributes.

    ``scope`` holds the attributes of the enclosing function's call, by name.
    """
    if model.format == "openvino":
        from irlint.binding.openvino import openvino_call

        return openvino_call(node)
    from irlint.binding.onnx import function_call, onnx_call

    function = model.functions.get((node.domain, node.op, node.overload))
    if function is not None:
        return function_call(node, function, model, within_function)
    return onnx_call(node, model, scope or {}, within_function)
