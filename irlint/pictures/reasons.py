"""How a size came to be, in words: the arithmetic of the operator that made it, or the place that declares it."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.inference.known import Known
from irlint.inference.origins import Maker, Trail, shape_of
from irlint.lazy_typing import Protocol
from irlint.model import Node, Value
from irlint.model.tensor import shape_text, size_text

#: So many operators that handed a size on are named.
NAMED = 4

DECLARED = " is declared: "


class Naming(Protocol):
    """How nodes and declarations are called in the format of the model."""

    known: Known

    def node(self, node: Node) -> str:
        """``Conv[0] "/backbone/Conv"``, or ``layer 5 "/backbone/Conv" (Convolution)``."""

    def short(self, node: Node) -> str:
        """``Relu[1]``, or ``Relu (layer 12)``."""

    def at(self, node: Node) -> str:
        """Where the node stands: ``m.xml:52:3``; "" in a file without lines."""

    def declared(self, value: Value, maker: Maker) -> str:
        """What declares an input of a graph: ``graph input `x```."""

    def shows(self, value: Value, maker: Maker) -> bool:
        """Whether a table that has the value says already what made it."""

    def constant(self, value: Value, maker: Maker) -> str:
        """``initializer `w```, or ``Const layer 3 "w"``."""


def reasons(trails: Iterable[Trail], naming: Naming) -> list[str]:
    """A sentence for each size on where it comes from; of sizes that one place declares, one."""
    sentences = dict.fromkeys(text for found in trails if (text := reason(found, naming)))
    declared: dict[str, list[str]] = {}
    for text in sentences:
        dim, _, place = text.partition(DECLARED)
        declared.setdefault(place or text, []).append(dim)
    return [
        f"{', '.join(dims[:-1])} and {dims[-1]} are{DECLARED.removeprefix(' is')}{place}"
        if len(dims) > 1
        else dims[0] + (DECLARED + place) * (place != dims[0])
        for place, dims in declared.items()
    ]


def reason(found: Trail, naming: Naming) -> str:
    """One sentence on where a size comes from, "" where the table of shapes says it all."""
    maker = found.maker
    if maker is None or (not found.kept and naming.shows(found.value, maker)):
        return ""
    return f"{_made(found, maker, naming)}{_kept(found.kept, naming)}"


def _made(found: Trail, maker: Maker, naming: Naming) -> str:
    dim = "?" if found.dim is None else str(found.dim)
    if maker.constant is not None:
        return f"{dim} is axis {found.axis} of {naming.constant(found.value, maker)}"
    node = maker.node
    if node is None or node.op == naming.known.format.input_node:
        if dim in naming.known.symbols and "[" in naming.known.symbols[dim]:
            limits = size_text(found.dim).removeprefix(dim).strip(" ()")
            open_as = f"which allows {limits}" if limits else "which leaves it open"
            return f"{dim} is axis {found.axis} of {naming.declared(found.value, maker)}, {open_as}"
        if node is None and maker.graph.path:
            return f"{dim} comes in as {naming.declared(found.value, maker)}"
        verb = " is given by --shape for " if found.value in naming.known.overridden else DECLARED
        return f"{dim}{verb}{naming.declared(found.value, maker)}"
    call = naming.known.calls.get(node)
    unknown = call is None or (call.operator is None and call.function is None)
    if node in naming.known.faulted or unknown:
        return f"{dim} is declared for the output of {_where(node, naming)}, which could not be worked out"
    return _computed(found, node, dim, naming)


def _kept(nodes: tuple[Node, ...], naming: Naming) -> str:
    if not nodes:
        return ""
    shown = [naming.short(node) for node in nodes]
    if len(shown) > NAMED:
        shown = [*shown[: NAMED - 1], f"{len(shown) - NAMED} more", shown[-1]]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f", then kept by {listed}"


def _where(node: Node, naming: Naming) -> str:
    place = naming.at(node)
    return f"{naming.node(node)}, {place}" if place else naming.node(node)


def _computed(found: Trail, node: Node, dim: str, naming: Naming) -> str:
    reckoning = found.reckoning
    if reckoning is not None and reckoning.formula:
        details = f" ({reckoning.details})" if reckoning.details else ""
        place = naming.at(node)
        return f"{dim} = {reckoning.formula} in {naming.node(node)}{details}{f', {place}' * bool(place)}"
    if reckoning is not None:
        return f"{dim} is what {_where(node, naming)} leaves of {reckoning.whole}"
    known = naming.known
    shapes = [shape_text(shape) for value in node.inputs if (shape := shape_of(value, known)) is not None]
    given = f" from {' and '.join(shapes[:3])}{' ...' * (len(shapes) > 3)}" if shapes else ""
    return f"{dim} is made by {_where(node, naming)}{given}"
