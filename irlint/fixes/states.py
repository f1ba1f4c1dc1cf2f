"""Gives the first values of the states of bodies other element types and sizes."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.inserted import CAST
from irlint.fixes.interfaces import TO, Edits
from irlint.fixes.other_values import PROBABLE
from irlint.fixes.retyped import FARTHEST, type_attribute
from irlint.inference.known import Known
from irlint.inference.origins import Makers, inputs_of, shape_of, steps
from irlint.model import Node, Problem, Value
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


def of_other_sizes(problem: Problem, editor: Editor) -> Iterator[Candidate]:
    """Changes constants that decide the sizes of the first values of states, one of them or all equal ones together.

    A new size is one that the faulty node computes: the size of its weights on an axis that does not clash.
    """
    returned = _returned_sizes(problem, editor)
    types = inputs_of(problem.node, editor.known) if problem.node is not None and returned else []
    found: dict[tuple[object, object], list[Edit]] = {}
    for node in _nodes_before_states(problem, editor) if types else ():
        call, own = editor.known.calls.get(node), inputs_of(node, editor.known)
        for each in editor.constants.candidates_at(node, call, own, types) if call is not None else ():
            (edit, *more) = each.edits
            new = set(edit.value or ()) - set(edit.before or ()) if edit.of == "entries" and not more else set()
            if new and new <= returned:
                found.setdefault((edit.before, edit.value), []).append(edit)
    for edits in found.values():
        yield from (Candidate((edit,), PROBABLE, evidence=1) for edit in edits)
        if len(edits) > 1:
            yield Candidate(tuple(edits), PROBABLE, evidence=1)


def _returned_sizes(problem: Problem, editor: Editor) -> set[object]:
    """The sizes of the weights of a faulty node on the axes that do not clash."""
    found: set[object] = set()
    for port, value in enumerate(problem.node.inputs if problem.node is not None else ()):
        shape = shape_of(value, editor.known) if editor.makers.is_constant(value) else None
        marked = {axis % len(shape) for index, axis in problem.fault.marks if shape and index == port}
        found.update(dim for axis, dim in enumerate(shape or ()) if marked and axis not in marked)
    return found


def _nodes_before_states(problem: Problem, editor: Editor) -> Iterator[Node]:
    """The nodes on the paths of the sizes of the first values of states."""
    found: dict[Node, None] = {}
    for loop in editor.graph.nodes:
        for value in loop.inputs if any(body.path == problem.graph for _, body in loop.bodies) else ():
            for axis in range(len(shape_of(value, editor.known) or ())):
                assert value is not None
                found.update(dict.fromkeys(node for node, _, _ in steps(value, axis, editor.makers)))
    yield from found
