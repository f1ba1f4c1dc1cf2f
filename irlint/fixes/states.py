"""Gives the first values of the states of bodies the element types that the bodies return."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.edits import Edit
from irlint.fixes.inserted import CAST
from irlint.fixes.interfaces import TO, Edits
from irlint.fixes.retyped import FARTHEST, type_attribute
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.model import Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Sequence, Tensor, element_type


def as_returned(problem: Problem, known: Known) -> Iterator[Edits]:
    """Gives the first value of a state the element type that the body returns, where the value gets its type. If the
    body declares another type, its declaration changes as well, for sequences only."""
    node = problem.node
    for _, body in node.bodies if node is not None and not known.format.ports_declare else ():
        for port, (inner, value) in enumerate(zip(body.inputs, node.inputs if node is not None else ())):
            given, declared = known.types.get(value) if value is not None else None, element_type(inner.type)
            returned = [known.types.get(each) or each.type for each in body.outputs[max(port - 1, 0) : port + 1]]
            dtypes = dict.fromkeys(element_type(each) for each in returned if type(each) is type(given))
            for dtype in dtypes:
                if value is None or node is None or dtype not in NUMBERED_TYPES or dtype == element_type(given):
                    continue
                place = _typed(value, dtype, known)
                if place is None and {dtype, element_type(given)} <= FLOATS and isinstance(given, Tensor):
                    at = (node.label, node.index, CAST, ((TO, dtype),))
                    place = Edit("insert", "node", problem.graph, *at, input=port, op=node.op)
                if place is not None and declared in (None, dtype):
                    yield (place,)
                elif place is not None and isinstance(given, Sequence):
                    yield (place, Edit("declaration", "node", body.path, name=inner.name, dtype=str(dtype)))


def _typed(value: Value, dtype: str | None, known: Known) -> Edit | None:
    """The edit that gives a value another element type: of the attribute of a node, or of an initializer; None if the
    value gets its type elsewhere."""
    makers = {each: (graph, node) for graph in graphs(known.model) for node in graph.nodes for each in node.outputs}
    states = {
        inner: outer
        for graph in graphs(known.model)
        for node in graph.nodes
        for _, body in node.bodies
        for inner, outer in zip(body.inputs, node.inputs)
    }
    constants, given = Makers(known), element_type(known.types.get(value))
    for _ in range(FARTHEST):
        graph, node = makers.get(value, (None, None))
        name = type_attribute(node, known) if node is not None else ""
        if node is not None and graph is not None and name:
            before = node.attributes[name].value if name in node.attributes else None
            place = (node.label, node.index, name, NUMBERED_TYPES.index(str(dtype)) + 1)
            return Edit("attribute", "node", graph.path, *place, op=node.op, before=before)
        if constants.is_constant(value):
            is_safe = (given in FLOATS) == (dtype in FLOATS)
            return Edit("constant", "type", name=value.name, value=dtype, called=f"`{value.name}`") if is_safe else None
        first = states.get(value) if node is None else next(iter(node.inputs), None)
        if first is None or element_type(known.types.get(first)) != given:
            return None
        value = first
    return None
