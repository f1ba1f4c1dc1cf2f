"""Sentences on the origins of sizes."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.findings.statements import Arithmetic
from irlint.inference.known import Known
from irlint.inference.origins import Maker, Trail, shape_of
from irlint.lazy_typing import Protocol
from irlint.model import Node, Value
from irlint.model.tensor import Tensor, shape_text, size_text
from irlint.records import record

#: The largest number of named nodes that keep a size.
NAMED = 4


class Naming(Protocol):
    """How a format names nodes and values in sentences."""

    known: Known

    def node(self, node: Node) -> str:
        """``Conv[0] "/backbone/Conv"``, or ``layer 5 "/backbone/Conv" (Convolution)``."""

    def short(self, node: Node) -> str:
        """``Relu[1]``, or ``Relu (layer 12)``."""

    def at(self, node: Node) -> str:
        """``m.xml:52:3``, or "" for a file without lines."""

    def written(self, name: str, value: object) -> str:
        """``axis = 1``, or ``axis="1"``."""

    def element(self, dtype: str | None) -> str:
        """The name of an element type in this format."""

    def called(self, value: Value) -> str:
        """```x```, or ``layer 3 "x"``."""

    def declared(self, value: Value, maker: Maker) -> str:
        """``graph input `x```, or ``<data shape="1,3"> of Parameter "x", m.xml:5:7``."""

    def shows(self, value: Value, maker: Maker) -> bool:
        """Whether a table row of the value already states its origin."""

    def constant(self, value: Value, maker: Maker) -> str:
        """``initializer `w```, or ``Const layer 3 "w"``."""


@record
class Reason:
    """The origin of a size: the name of its declaration, or a sentence."""

    dim: str
    declared: str = ""
    sentence: str = ""


def reasons(trails: Iterable[Trail], naming: Naming, *, tabled: bool = True) -> list[str]:
    """Sentences on the origins of sizes, except for origins that the table states if ``tabled``."""
    found = dict.fromkeys(each for size in trails if (each := reason(size, naming, tabled=tabled)) is not None)
    dims: dict[tuple[str, str], list[str]] = {}
    for each in found:
        dims.setdefault((each.declared, each.sentence), []).append(each.dim)
    return [sentence or _declared(sizes, place) for (place, sentence), sizes in dims.items()]


def _declared(dims: list[str], place: str) -> str:
    sizes = f"{', '.join(dims[:-1])} and {dims[-1]} are" if len(dims) > 1 else f"{dims[0]} is"
    return f"{sizes} declared: {place}"


def reason(found: Trail, naming: Naming, *, tabled: bool = True) -> Reason | None:
    """The origin of a size; None if it is unknown, or if ``tabled`` and the table states it."""
    maker = found.maker
    if maker is None or (tabled and not found.kept and naming.shows(found.value, maker)):
        return None
    return _reason(found, maker, naming, NAMED)


def text(found: Trail, naming: Naming, limit: int | None = NAMED) -> str:
    """A sentence on the origin of a size. It names at most ``limit`` nodes that keep the size."""
    if found.maker is None:
        return f"{'?' if found.dim is None else found.dim} comes from `{found.value.name}`, which nothing defines"
    found_reason = _reason(found, found.maker, naming, limit)
    return found_reason.sentence or _declared([found_reason.dim], found_reason.declared)


def cause(found: Trail, known: Known) -> str:
    """The kind of the origin of a size.

    It is ``input``, ``given`` (by --shape or the configuration), ``constant``, ``node``, ``declaration`` (of an output
    that was not inferred), or ``nothing``.
    """
    maker = found.maker
    if maker is None:
        return "nothing"
    if maker.constant is not None or (maker.node is not None and maker.node.op == known.format.constant_node):
        return "constant"
    if maker.node is None or maker.node.op == known.format.input_node:
        return "given" if found.value in known.overridden else "input"
    return "declaration" if _is_declared(found, maker.node, known) else "node"


def _is_declared(found: Trail, node: Node, known: Known) -> bool:
    call = known.calls.get(node)
    unknown = call is None or (call.operator is None and call.function is None)
    return node in known.faulted or unknown or found.left_open


def _reason(found: Trail, maker: Maker, naming: Naming, limit: int | None) -> Reason:
    origin, kept = _origin(found, maker, naming), _kept(found.kept, naming, limit)
    if origin.declared:
        return Reason(origin.dim, f"{origin.declared}{kept}")
    return Reason(origin.dim, "", f"{origin.sentence}{kept}")


def _origin(found: Trail, maker: Maker, naming: Naming) -> Reason:
    dim, node, known = "?" if found.dim is None else f"{found.dim}", maker.node, naming.known
    if maker.constant is not None:
        return Reason(dim, "", f"{dim} is axis {found.axis} of {naming.constant(found.value, maker)}")
    if node is not None and node.op == known.format.constant_node:
        return Reason(dim, "", f"{dim} is axis {found.axis} of {_where(node, naming)}")
    if node is None or node.op == known.format.input_node:
        return _of_input(found, maker, dim, naming)
    if _is_declared(found, node, known):
        where = _where(node, naming)
        return Reason(dim, "", f"{dim} is declared for the output of {where}, which could not be inferred")
    return Reason(dim, "", _computed(found, node, dim, naming))


def _of_input(found: Trail, maker: Maker, dim: str, naming: Naming) -> Reason:
    known, place = naming.known, naming.declared(found.value, maker)
    # A size without a name in the file has a name such as ``x[0]``.
    if "[" in known.symbols.get(dim, ""):
        limits = size_text(found.dim).removeprefix(dim).strip(" ()")
        allowed = f"which allows {limits}" if limits else "which does not determine it"
        return Reason(dim, "", f"{dim} is axis {found.axis} of {place}, {allowed}")
    if maker.node is None and maker.graph.path:
        return Reason(dim, "", f"{dim} comes in as {place}")
    if maker.node is not None and maker.graph.path and not _declaration_states_size(found):
        return Reason(dim, "", f"{dim} comes in from the enclosing layer as {naming.node(maker.node)}")
    if found.value in known.overridden:
        return Reason(dim, "", f"{dim} is given by {known.overridden[found.value]} for {place}")
    return Reason(dim, place)


def _declaration_states_size(found: Trail) -> bool:
    declared, axis = found.value.type, found.axis
    shape = declared.shape if isinstance(declared, Tensor) else None
    return shape is not None and axis is not None and axis < len(shape) and shape[axis] == found.dim


def _kept(nodes: tuple[Node, ...], naming: Naming, limit: int | None) -> str:
    """``, then kept by Relu[1], 3 more and Add[7]``; "" without nodes."""
    if not nodes:
        return ""
    shown = [naming.short(node) for node in nodes]
    if limit is not None and len(shown) > limit:
        shown = [*shown[: limit - 1], f"{len(shown) - limit} more", shown[-1]]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f", then kept by {listed}"


def _where(node: Node, naming: Naming) -> str:
    place = naming.at(node)
    return f"{naming.node(node)}, {place}" if place else naming.node(node)


def _of_a_table(node: Node, naming: Naming) -> str:
    """`` in `w``` if the first input of a node is a constant of the main graph, or ""."""
    graph, value = naming.known.model.graph, node.inputs[0] if node.inputs else None
    return f" in {naming.called(value)}" if graph is not None and value is not None and value in graph.constants else ""


def _with_inputs(arithmetic: Arithmetic, node: Node, naming: Naming) -> str:
    """``past of `k` + 1 of `x```; "" without terms."""
    values = [(text, node.inputs[index]) for index, text in arithmetic.terms]
    return " + ".join(text if value is None else f"{text} of {naming.called(value)}" for text, value in values)


def _computed(found: Trail, node: Node, dim: str, naming: Naming) -> str:
    arithmetic = found.arithmetic
    if arithmetic is not None and arithmetic.formula:
        details = f" ({arithmetic.details})" if arithmetic.details else ""
        place = naming.at(node)
        formula = _with_inputs(arithmetic, node, naming) or arithmetic.formula
        return f"{dim} = {formula} in {naming.node(node)}{details}{f', {place}' * bool(place)}"
    if arithmetic is not None:
        why = f"; {arithmetic.details}" if arithmetic.details else ""
        return f"{dim} is what {_where(node, naming)} leaves of {arithmetic.part_of}{_of_a_table(node, naming)}{why}"
    known = naming.known
    shapes = [shape_text(shape) for value in node.inputs if (shape := shape_of(value, known)) is not None]
    given = f" from {' and '.join(shapes[:3])}{' ...' * (len(shapes) > 3)}" if shapes else ""
    return f"{dim} is computed by {_where(node, naming)}{given}"
