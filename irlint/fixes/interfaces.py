"""Corrections of the inputs and outputs of bodies in ONNX models."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from irlint.checks.intended import unused_values
from irlint.findings.edits import Edit
from irlint.fixes.inputs import element_type
from irlint.fixes.inserted import CAST
from irlint.fixes.retyped import FARTHEST, type_attribute
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Sequence, Tensor, disagree

Edits = tuple[Edit, ...]

#: The attribute of a Cast with the number of an element type.
TO = "to"

#: The attribute with the number of scanned inputs.
SCANNED = "num_scan_inputs"

#: Outputs of a body are swapped if there are at most this many.
FEW = 8


def other_scan_counts(problem: Problem, known: Known) -> Iterator[Edits]:
    node = problem.node
    attribute = node.attributes.get(SCANNED) if node is not None else None
    if node is None or attribute is None:
        return
    for number in range(1, len(node.inputs) + 1):
        if number != attribute.value:
            place = (node.label, node.index, SCANNED, number)
            yield (Edit("attribute", "node", problem.graph, *place, op=node.op, before=attribute.value),)


def outputs_swapped(problem: Problem, known: Known) -> Iterator[Edits]:
    for _, body in problem.node.bodies if problem.node is not None and not known.format.ports_declare else ():
        count = len(body.outputs)
        for one, other in combinations(range(count), 2) if count <= FEW else ():
            order = list(range(count))
            order[one], order[other] = other, one
            names = f"`{body.outputs[one].name}` and `{body.outputs[other].name}`"
            yield (Edit("order", "output", body.path, order=tuple(order), called=names),)


def as_body_declares(problem: Problem, known: Known) -> Iterator[Edits]:
    """Gives a body's input its declared type: connects an unused value, or declares a model input with this type."""
    node, graph = problem.node, known.model.graph
    if node is None or graph is None or problem.graph or known.format.ports_declare:
        return
    made = {value for each in graph.nodes for value in each.outputs}
    unused = [each for each in unused_values(graph) if each in made and each not in node.outputs]
    for body in (body for _, body in node.bodies):
        for port, (inner, value) in enumerate(zip(body.inputs, node.inputs)):
            fitting = [each for each in unused if not disagree(inner.type, known.types.get(each))]
            for each in fitting if value is not None and disagree(inner.type, known.types.get(value)) else ():
                yield (Edit("input", "node", "", node.label, node.index, "", each.name, input=port, op=node.op),)
            if value in graph.inputs and value not in graph.constants and isinstance(inner.type, Tensor):
                found = known.types.get(value)
                shape = tuple(dim if isinstance(dim, int) else None for dim in inner.type.shape or ())
                if isinstance(found, Tensor) and shape and found.rank != len(shape):
                    before, called = found.shape, f"input `{value.name}`"
                    yield (Edit("declaration", name=value.name, before=before, called=called, shape=shape),)
            declared = inner.type.dtype if isinstance(inner.type, Tensor) else None
            given = value.type.dtype if value is not None and isinstance(value.type, Tensor) else None
            if value in graph.inputs and value not in graph.constants and declared and given and declared != given:
                yield (Edit("declaration", "node", name=value.name, dtype=declared),)


def as_state_is_returned(problem: Problem, known: Known) -> Iterator[Edits]:
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


def with_unused_output(problem: Problem, known: Known) -> Iterator[Edits]:
    """Adds an unused value of a body to its outputs."""
    for _, body in problem.node.bodies if problem.node is not None and not known.format.ports_declare else ():
        for value in _lost_outputs(body):
            for at in range(len(body.outputs), -1, -1):
                called = f"`{value.name}`, which nothing uses,"
                yield (Edit("insert", "output", body.path, name=value.name, input=at, called=called),)


def _lost_outputs(body: Graph) -> list[Value]:
    made = {value for node in body.nodes for value in node.outputs}
    return [each for each in unused_values(body) if each in made and each not in body.outputs]


def retyped_outputs(problem: Problem, known: Known) -> Iterator[Edits]:
    """If a Cast computes an output of a body, gives it the element type of a result, an input or another body."""
    node = problem.node
    for _, body in node.bodies if node is not None and not known.format.ports_declare else ():
        makers = {value: each for each in body.nodes for value in each.outputs}
        for position, value in enumerate(body.outputs):
            maker = makers.get(value)
            if node is not None and maker is not None and TO in maker.attributes:
                for dtype in _expected_types(node, body, position, known):
                    yield _cast_to(dtype, value, maker, body)


def _expected_types(node: Node, body: Graph, position: int, known: Known) -> list[str]:
    """The element types that an output of a body may need, except its present one."""
    around = [*body.inputs[position : position + 2], *node.outputs[position : position + 1]]
    beside = (each.outputs[position : position + 1] for _, each in node.bodies if each is not body)
    types = [*(each.type for each in around if each is not None), *(known.types.get(each) for (each,) in beside)]
    own = known.types.get(body.outputs[position])
    found = dict.fromkeys(each.dtype for each in types if isinstance(each, Tensor) and each.dtype in NUMBERED_TYPES)
    return [each for each in found if each and isinstance(own, Tensor) and each != own.dtype]


def _cast_to(dtype: str, value: Value, maker: Node, body: Graph) -> Edits:
    number, before = NUMBERED_TYPES.index(dtype) + 1, maker.attributes[TO].value
    edit = Edit("attribute", "node", body.path, maker.label, maker.index, TO, number, op=maker.op, before=before)
    declared = Edit("declaration", "node", body.path, name=value.name, dtype=dtype)
    return (edit, declared) if isinstance(value.type, Tensor) else (edit,)
