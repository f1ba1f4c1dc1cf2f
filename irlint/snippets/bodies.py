"""Notes on the outputs of the bodies of a node."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.inference.origins import Makers
from irlint.model import Graph, Node
from irlint.model.tensor import Tensor, shape_text
from irlint.snippets.reasons import Naming

#: At most this many outputs of a body are listed.
OUTPUTS = 4


def body_notes(fault: Fault, node: Node, makers: Makers, naming: Naming) -> list[str]:
    """Sentences on each body of a node, then on each output with a declared element type.

    Returns [] if the fault is not about a body, or has notes.
    """
    if fault.attribute not in dict(node.bodies) or fault.notes:
        return []
    declared = [
        f"{naming.called(value)} is declared as {naming.element(value.type.dtype)}, output {at} of the node"
        for at, value in enumerate(node.outputs[:OUTPUTS])
        if value is not None and isinstance(value.type, Tensor) and value.type.dtype is not None
    ]
    return [*(_outputs(name, body, makers, naming) for name, body in node.bodies), *declared]


def _outputs(name: str, body: Graph, makers: Makers, naming: Naming) -> str:
    """```body` returns `x`, float[1, 12], by Add[0] "/Add"``."""
    parts = []
    for value in body.outputs[:OUTPUTS]:
        known, maker = makers.known.types.get(value), makers.of(value)
        node = maker.node if maker is not None else None
        text = naming.called(value)
        if isinstance(known, Tensor):
            shape = "" if known.shape is None else shape_text(known.shape)
            text += f", {naming.element(known.dtype)}{shape}"
        parts.append(text + (f", by {naming.node(node)}" if node is not None else ""))
    more = f"; and {len(body.outputs) - OUTPUTS} more" if len(body.outputs) > OUTPUTS else ""
    return f"`{name}` returns {'; '.join(parts)}{more}" if parts else f"`{name}` returns nothing"
