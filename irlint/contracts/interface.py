"""The inputs and outputs of a model as its users see them."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.tensor import Tensor, Type
from irlint.records import record

#: The suffix, before a number, that OpenVINO's converters add to the names of output nodes.
_SINK = "/sink_port_"


@record
class End:
    """An input or output of a model."""

    #: The name in the file.
    name: str
    #: The tensor names and, for an IR, the name of the layer with and without the converter's suffix.
    names: tuple[str, ...]
    value: Value
    type: Type | None
    #: Whether an input has a default.
    optional: bool = False
    #: The tensor names.
    tensors: tuple[str, ...] = ()


def inputs(known: Known) -> tuple[End, ...]:
    """The inputs of the model, in the order of the file."""
    graph = known.model.graph
    assert graph is not None
    types = known.format.converted_inputs
    if known.format.input_node is None:
        return tuple(
            End(value.name, (value.name,), value, _type(value, known, types), value in graph.constants, (value.name,))
            for value in graph.inputs
        )
    found = []
    for node in graph.nodes:
        if node.op == known.format.input_node and node.outputs and node.outputs[0] is not None:
            tensors = _port_names(node, node.outputs[0])
            type_of_input = _type(node.outputs[0], known, types)
            found.append(End(node.name, (*tensors, node.name), node.outputs[0], type_of_input, tensors=tensors))
    return tuple(found)


def outputs(known: Known) -> tuple[End, ...]:
    """The outputs of the model, in the order of the file."""
    graph = known.model.graph
    assert graph is not None
    types = known.format.converted_outputs
    if known.format.output_node is None:
        return tuple(
            End(value.name, (value.name,), value, _type(value, known, types), tensors=(value.name,))
            for value in graph.outputs
        )
    makers = known.makers(graph)
    found = []
    for node in graph.nodes:
        if node.op == known.format.output_node and node.inputs and node.inputs[0] is not None:
            value = node.inputs[0]
            tensors = _port_names(makers[value], value) if value in makers else ()
            names = (*tensors, node.name, node.name.partition(_SINK)[0])
            found.append(End(node.name, names, value, _type(value, known, types), tensors=tensors))
    return tuple(found)


def _port_names(node: Node, value: Value) -> tuple[str, ...]:
    return next((port.names for port in node.output_ports if port.id == value.port), ())


def _type(value: Value, known: Known, types: Mapping[str, str]) -> Type | None:
    return converted_type(known.types.get(value), known, types)


def converted_type(found: Type | None, known: Known, types: Mapping[str, str]) -> Type | None:
    """The type that users of the runtime see.

    In models of ``lenient_version``, the runtime converts the element types in ``types``.
    """
    if known.model.format_version != known.format.lenient_version or not isinstance(found, Tensor):
        return found
    return Tensor(types.get(found.dtype or "", found.dtype), found.shape, found.value)
