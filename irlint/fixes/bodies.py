"""Corrections for nodes with bodies: the order of a body's outputs, the number of scanned inputs, and the types that a
body declares for its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from irlint.checks.intended import spare_values
from irlint.findings.edits import Edit
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.tensor import Tensor, disagree

Edits = tuple[Edit, ...]

#: The attribute with the number of inputs that are scanned.
SCANNED = "num_scan_inputs"

#: Of at most this many outputs of a body, each two are swapped.
FEW = 8


def scanned_otherwise(problem: Problem, known: Known) -> Iterator[Edits]:
    """Other numbers of scanned inputs."""
    node = problem.node
    held = node.attributes.get(SCANNED) if node is not None else None
    if node is None or held is None:
        return
    for number in range(1, len(node.inputs) + 1):
        if number != held.value:
            place = (node.label, node.index, SCANNED, number)
            yield (Edit("attribute", "node", problem.graph, *place, op=node.op, before=held.value),)


def outputs_swapped(problem: Problem, known: Known) -> Iterator[Edits]:
    """Each two outputs of a body swapped."""
    for _, body in problem.node.bodies if problem.node is not None and not known.format.ports_declare else ():
        count = len(body.outputs)
        for one, other in combinations(range(count), 2) if count <= FEW else ():
            order = list(range(count))
            order[one], order[other] = other, one
            names = f"`{body.outputs[one].name}` and `{body.outputs[other].name}`"
            yield (Edit("order", "output", body.path, order=tuple(order), called=names),)


def as_body_declares(problem: Problem, known: Known) -> Iterator[Edits]:
    """Declares an input of the model with the element type that a body declares for it, or connects an unused value of
    the type that the body declares."""
    node, graph = problem.node, known.model.graph
    if node is None or graph is None or problem.graph or known.format.ports_declare:
        return
    made = {value for each in graph.nodes for value in each.outputs}
    unused = [each for each in spare_values(graph) if each in made and each not in node.outputs]
    for body in (body for _, body in node.bodies):
        for port, (inner, value) in enumerate(zip(body.inputs, node.inputs)):
            fitting = [each for each in unused if not disagree(inner.type, known.types.get(each))]
            for each in fitting if value is not None and disagree(inner.type, known.types.get(value)) else ():
                yield (Edit("input", "node", "", node.label, node.index, "", each.name, input=port, op=node.op),)
            wanted = inner.type.dtype if isinstance(inner.type, Tensor) else None
            given = value.type.dtype if value is not None and isinstance(value.type, Tensor) else None
            if value in graph.inputs and value not in graph.constants and wanted and given and wanted != given:
                yield (Edit("declaration", "node", name=value.name, dtype=wanted),)
