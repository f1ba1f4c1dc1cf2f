"""Finds the inputs that ``--shape`` names, and their new shapes."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.dims import Shape
from irlint.model import Model, Value


def input_names(model: Model) -> dict[str, Value]:
    """The inputs of the main graph, by name. An input of an IR has several names."""
    assert model.graph is not None and model.format is not None
    names = {value.name: value for value in model.graph.inputs}
    for node in model.graph.nodes:
        if node.op == model.format.input_node and node.outputs and node.outputs[0] is not None:
            value = node.outputs[0]
            for name in (*(name for port in node.output_ports for name in port.names), node.name):
                names[name] = value
    return names


def listed_inputs(model: Model) -> str:
    """The inputs of the main graph, each by one of its names."""
    names = {value: name for name, value in input_names(model).items()}
    return ", ".join(names.values())


def overridden(model: Model, shapes: Mapping[str, Shape]) -> dict[Value, Shape]:
    """The shapes that the user passed, by input. Raises ValueError for a name that no input has."""
    inputs = input_names(model)
    missing = [name for name in shapes if name not in inputs]
    if missing:
        raise ValueError(f"no input named {', '.join(missing)}; the model's inputs are {listed_inputs(model)}")
    return {inputs[name]: tuple(shape) for name, shape in shapes.items()}
