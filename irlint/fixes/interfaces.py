"""Corrections of the inputs and outputs of bodies in ONNX models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from irlint.checks.intended import unused_values
from irlint.findings.edits import Edit
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import NUMBERED_TYPES, Tensor, disagree

Edits = tuple[Edit, ...]

#: The attribute of a Cast with the number of an element type.
TO = "to"

#: The attribute with the number of scanned inputs.
SCANNED = "num_scan_inputs"

#: The attribute with the axes along which the inputs are scanned.
SCAN_AXES = "scan_input_axes"

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


def on_other_axes(problem: Problem, known: Known) -> Iterator[Edits]:
    """Scans one input along another axis, or all of them, if a problem is in the body of a Scan or at this node."""
    for graph in graphs(known.model):
        for node in graph.nodes:
            is_near = node is problem.node or any(body.path == problem.graph for _, body in node.bodies)
            call, count = known.calls.get(node), node.attributes.get(SCANNED)
            stated = call.signature.attributes if call is not None and call.signature is not None else {}
            if not is_near or SCAN_AXES not in stated or count is None or not 0 < count.value <= len(node.inputs):
                continue
            types = [known.types.get(each) for each in node.inputs[-count.value :] if each is not None]
            ranks = [each.rank or 0 if isinstance(each, Tensor) else 0 for each in types]
            given = node.attributes.get(SCAN_AXES)
            axes = tuple(given.value) if given is not None else (0,) * count.value
            for other in _other_axes(axes, ranks) if len(axes) == len(ranks) else ():
                place = (node.label, node.index, SCAN_AXES, other)
                yield (Edit("attribute", "node", graph.path, *place, op=node.op, before=axes),)


def _other_axes(axes: tuple[int, ...], ranks: Sequence[int]) -> dict[tuple[int, ...], None]:
    """The lists of axes with another axis for one value, or with one axis for all values; ``ranks`` are theirs."""
    found: dict[tuple[int, ...], None] = {}
    for at, rank in enumerate(ranks):
        for axis in range(rank):
            found[(*axes[:at], axis, *axes[at + 1 :])] = None
    found.update(dict.fromkeys((axis,) * len(axes) for axis in range(min(ranks, default=0))))
    same = [each for each in found if all(new == old % (rank or 1) for new, old, rank in zip(each, axes, ranks))]
    return {each: None for each in found if each not in same}


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
    """As ``states.as_returned``."""
    from irlint.fixes.states import as_returned

    yield from as_returned(problem, known)


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
