"""Makes edits of nodes and values of the main graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

from irlint.findings.edits import Edit
from irlint.fixes.inserted import NAMES, RESULTS
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.lazy_typing import Any, Literal
from irlint.model import Node, Value
from irlint.model.tensor import NUMBERED_TYPES, Tensor

#: The axes of constants of up to this rank are permuted.
ORDERED = 6


class NodeEdits:
    """Makes edits of the main graph."""

    def __init__(self, known: Known, makers: Makers) -> None:
        self.known = known
        self.format = known.format
        self.makers = makers

    def attribute(self, node: Node, name: str, value: object, before: object = None) -> Edit:
        """An edit that sets an attribute of a node."""
        value = tuple(value) if isinstance(value, list) else value
        layer = node.id or ""
        return Edit(
            "attribute", "node", "", node.label, node.index, name, value, op=node.op, layer=layer, before=before
        )

    def connected(self, value: Value | None, node: Node, port: int, called: str = "") -> Edit:
        """An edit that connects another value as an input of a node; None leaves the input empty."""
        called = called or (self.called(value) if value is not None else "")
        layer = node.id or ""
        return Edit(
            "input",
            "node",
            "",
            node.label,
            node.index,
            "",
            value.name if value is not None else "",
            input=port,
            op=node.op,
            layer=layer,
            called=called,
        )

    def removed(self, node: Node, port: int, called: str) -> Edit:
        """An edit that removes an input of a node, so that the later inputs move up."""
        place = (node.label, node.index)
        return Edit("remove", "input", "", *place, input=port, op=node.op, layer=node.id or "", called=called)

    def inserted(
        self,
        op: str,
        node: Node,
        port: int,
        attributes: tuple[tuple[str, Any], ...] = (),
        called: str = "",
        inputs: tuple[str, ...] = (),
    ) -> Edit:
        """An edit that inserts a node before an input of another node; ``inputs`` names further inputs."""
        layer = node.id or ""
        return Edit(
            "insert",
            "node",
            "",
            node.label,
            node.index,
            op,
            attributes,
            input=port,
            op=node.op,
            layer=layer,
            called=called,
            inputs=inputs,
        )

    def copied(self, template: Node, node: Node, port: int) -> Edit | None:
        """An edit that inserts a copy of ``template`` before an input; None if it cannot be inserted."""
        if template.op not in RESULTS or not template.inputs or self.format.writer != "onnx":
            return None
        given = {
            name: tuple(each.value) if isinstance(each.value, list) else each.value
            for name, each in template.attributes.items()
        }
        if len(template.inputs) > 1 and template.inputs[1] is not None:
            axes = self.known.types.get(template.inputs[1])
            given["axes"] = axes.value if isinstance(axes, Tensor) else None
        name = NAMES[template.op]
        value = given.get(name)
        if name == "to" and isinstance(value, int) and 0 < value <= len(NUMBERED_TYPES):
            value = NUMBERED_TYPES[value - 1]
        return None if value is None else self.inserted(template.op, node, port, ((name, value),))

    def constant(self, value: Value, after: object, of: Literal["entries", "shape", "type"] = "entries") -> Edit:
        """An edit that changes the entries, the shape or the element type of a constant."""
        known = self.known.types.get(value)
        before = (known.value if of == "entries" else known.shape) if isinstance(known, Tensor) else None
        order = permuted(before or (), after) if of == "shape" and isinstance(after, tuple) else ()
        return Edit("constant", of, name=value.name, value=after, before=before, called=self.called(value), order=order)

    def declared(self, value: Value, after: Any, of: Literal["shape", "type"] = "shape") -> Edit:
        """An edit that changes the declared shape or element type of an input of the model."""
        known = self.known.types.get(value)
        before = known.shape if isinstance(known, Tensor) and of == "shape" else None
        called = f"input {self.called(value)}" if of == "shape" else self.called(value)
        shape, dtype = (after, "") if of == "shape" else (None, str(after))
        return Edit("declaration", name=value.name, before=before, called=called, shape=shape, dtype=dtype)

    def called(self, value: Value, *, names_port: bool = True) -> str:
        """The name of a value in messages: ```x```, or ``layer 3 "x"``, or ``output port 1 of layer 3 "x"``."""
        maker = self.makers.of(value) if self.format.ports_declare else None
        if maker is None or maker.node is None:
            return f"`{value.name}`"
        node = maker.node
        ids = [port.id for port, each in zip(node.output_ports, node.outputs) if each is value and names_port]
        return layer_called(node, ids[0] if ids else None)

    def called_unused(self, value: Value) -> str:
        """The name of an unused value in messages."""
        return f"{self.called(value)}, which nothing uses,"


def layer_called(node: Node, port: int | None = None) -> str:
    """The name of a layer in messages: ``layer 3 "x"``. Of several output ports, the one with the id ``port`` is
    named as well."""
    of = f"output port {port} of " * (port is not None and len(node.output_ports) > 1)
    return f"{of}layer {node.id}" + f' "{node.name}"' * bool(node.name)


def permuted(before: Sequence[object], after: Sequence[object]) -> tuple[int, ...]:
    """The order of axes that turns one shape into another with the fewest inversions; () if elements keep their
    order."""
    long = [[dim for dim in shape if dim != 1] for shape in (before, after)]
    if len(before) != len(after) or len(before) > ORDERED or long[0] == long[1]:
        return ()
    orders = (each for each in permutations(range(len(before))) if [before[axis] for axis in each] == list(after))
    return min(orders, key=_inversions, default=())


def inverse_order(node: Node) -> tuple[int, ...]:
    """The order of axes that undoes the ``perm`` of a node; () if the node has no ``perm``."""
    perm = node.attributes.get("perm")
    order = list(perm.value) if perm is not None and isinstance(perm.value, (list, tuple)) else []
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _inversions(order: Sequence[int]) -> int:
    return sum(one > other for one, other in combinations(order, 2))
