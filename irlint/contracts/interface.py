"""The inputs and outputs of a model as its users see them."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.order import producers
from irlint.model.tensor import Tensor, Type
from irlint.records import record

#: OpenVINO's converters add this and a number to the names of output nodes.
_SINK = "/sink_port_"


@record
class End:
    """An input or output: its name in the file, all names that identify it, and its type.

    An ``optional`` input has a default. ``names`` are the tensor names, ``tensors``, and for an IR also the name of the
    layer; for an output of an IR also this name without the suffix that OpenVINO's converters add.
    """

    name: str
    names: tuple[str, ...]
    value: Value
    type: Type | None
    optional: bool = False
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
            kind = _type(node.outputs[0], known, types)
            found.append(End(node.name, (*tensors, node.name), node.outputs[0], kind, tensors=tensors))
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
    makers = producers(graph)
    found = []
    for node in graph.nodes:
        if node.op == known.format.output_node and node.inputs and node.inputs[0] is not None:
            value = node.inputs[0]
            tensors = _port_names(makers[value], value) if value in makers else ()
            names = (*tensors, node.name, node.name.partition(_SINK)[0])
            found.append(End(node.name, names, value, _type(value, known, types), tensors=tensors))
    return tuple(found)


def _port_names(node: Node, value: Value) -> tuple[str, ...]:
    """The tensor names of the port with this value."""
    return next((port.names for port in node.output_ports if port.id == value.port), ())


def _type(value: Value, known: Known, types: Mapping[str, str]) -> Type | None:
    return as_fed(known.types.get(value), known, types)


def as_fed(found: Type | None, known: Known, types: Mapping[str, str]) -> Type | None:
    """The type that a user of the runtime sees for an input or output of type ``found``.

    In models of the format's ``lenient_version``, the runtime converts the element types that ``types`` maps to others.
    """
    if known.model.format_version != known.format.lenient_version or not isinstance(found, Tensor):
        return found
    return Tensor(types.get(found.dtype or "", found.dtype), found.shape, found.value)
