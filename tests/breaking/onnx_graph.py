"""What the ways of breaking an ONNX model ask about its graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, numpy_helper


@dataclass(frozen=True)
class Change:
    """What was changed: where, what it was, and what it is. ``lost`` where the model no longer holds what it would take
    to fix it."""

    where: str
    what: str
    was: str
    now: str
    lost: bool = False


@dataclass
class Constant:
    """A stored tensor that is no weight: an initializer, or the value of a Constant node."""

    name: str
    tensor: TensorProto

    @property
    def values(self) -> Any:
        return numpy_helper.to_array(self.tensor)

    def set(self, values: Any) -> None:
        name = self.tensor.name
        self.tensor.CopyFrom(numpy_helper.from_array(np.asarray(values, order="C"), name))


@dataclass
class Graph:
    """A model that is being broken, and the chance by which."""

    model: ModelProto
    random: Random
    ranks: dict[str, tuple[int, int]]

    @property
    def nodes(self) -> list[NodeProto]:
        return list(self.model.graph.node)

    def of(self, *operators: str) -> list[NodeProto]:
        return [node for node in self.model.graph.node if node.op_type in operators]

    def attributes(self, *names: str) -> list[tuple[NodeProto, AttributeProto]]:
        return [
            (node, each) for node in self.model.graph.node for each in node.attribute if not names or each.name in names
        ]

    def constants(self) -> dict[str, Constant]:
        """The stored tensors of at most 64 elements."""
        found = {each.name: Constant(each.name, each) for each in self.model.graph.initializer}
        for node in self.of("Constant"):
            for each in node.attribute:
                if each.name == "value":
                    found[node.output[0]] = Constant(node.output[0], each.t)
        return {name: each for name, each in found.items() if np.prod(each.tensor.dims, dtype=int) <= 64}

    def weights(self) -> list[tuple[NodeProto, TensorProto]]:
        """Initializers of more than one axis, with the node that uses them first."""
        tensors = {each.name: each for each in self.model.graph.initializer if each.data_type == TensorProto.FLOAT}
        found = {}
        for node in self.model.graph.node:
            for name in node.input:
                if name in tensors and name not in found:
                    found[name] = (node, tensors[name])
        return list(found.values())

    def constant_inputs(
        self, places: dict[str, tuple[int, ...]], kinds: str = "iu"
    ) -> list[tuple[NodeProto, Constant]]:
        """Constants that are inputs of operators at places, whose values are of these kinds and not empty."""
        constants = self.constants()
        found = []
        for node in self.model.graph.node:
            for at in places.get(node.op_type, ()):
                if at < len(node.input) and node.input[at] in constants:
                    each = constants[node.input[at]]
                    if each.values.size and each.values.dtype.kind in kinds:
                        found.append((node, each))
        return found

    def users(self, name: str) -> list[NodeProto]:
        return [node for node in self.model.graph.node if name in node.input]

    def outputs(self) -> set[str]:
        return {each.name for each in self.model.graph.output}

    def inputs(self) -> list[onnx.ValueInfoProto]:
        stored = {each.name for each in self.model.graph.initializer}
        return [each for each in self.model.graph.input if each.name not in stored]

    def any(self, among: Any) -> Any:
        """One of several by chance, None of none."""
        among = list(among)
        return self.random.choice(among) if among else None

    def replace_uses(self, old: str, new: str) -> None:
        for node in self.model.graph.node:
            for at, name in enumerate(node.input):
                if name == old:
                    node.input[at] = new

    def bypass(self, node: NodeProto) -> None:
        """Takes a node out and gives its first input to those that used its output."""
        output, source = node.output[0], node.input[0]
        self.model.graph.node.remove(node)
        if output not in self.outputs():
            self.replace_uses(output, source)
            return
        for made in self.model.graph.node:
            if source in made.output and source not in self.outputs():
                made.output[list(made.output).index(source)] = output
                self.replace_uses(source, output)


def name_of(node: NodeProto) -> str:
    return node.name or next(iter(node.output), "")


def values_of(model: ModelProto) -> dict[str, tuple[int, int]]:
    """The element type and the rank of the values of a model, as far as ONNX infers them."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except Exception:
        inferred = model
    found = {}
    for each in (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output):
        if each.type.HasField("tensor_type") and each.type.tensor_type.HasField("shape"):
            found[each.name] = (each.type.tensor_type.elem_type, len(each.type.tensor_type.shape.dim))
    return found


def misspelt(text: str, random: Random) -> str:
    """A text with a letter left out, doubled, replaced by its neighbor, or in the other case."""
    at = random.randrange(1, len(text)) if len(text) > 1 else 0
    match random.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :] or text + text
        case 1:
            return text[:at] + text[at] + text[at:]
        case 2 if at + 1 < len(text):
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        case _:
            return text[:at] + text[at].swapcase() + text[at + 1 :]


def shown(attribute: AttributeProto) -> str:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(list(value)) if not isinstance(value, int | float | str | TensorProto) else str(value)[:60]


def permutations(rank: int) -> Iterator[list[int]]:
    """Permutations that people take for another: of layouts, of the last two axes, of heads."""
    if rank == 4:
        yield from ([0, 2, 3, 1], [0, 3, 1, 2], [0, 2, 1, 3], [0, 1, 3, 2], [0, 3, 2, 1], [0, 1, 2, 3])
    elif rank == 3:
        yield from ([0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0], [0, 1, 2], [2, 1, 0])
    elif rank == 5:
        yield from ([0, 2, 3, 4, 1], [0, 4, 1, 2, 3], [0, 2, 1, 3, 4], [2, 0, 3, 1, 4], [0, 3, 1, 2, 4])
    else:
        yield list(reversed(range(rank)))
        yield list(range(rank))


Way = Callable[[Graph], Change | None]

#: The ways by their names; each changes a graph, and returns what it changed, None where there is no place for it.
WAYS: dict[str, Way] = {}


def way(name: str) -> Callable[[Way], Way]:
    def registered(function: Way) -> Way:
        WAYS[name] = function
        return function

    return registered
