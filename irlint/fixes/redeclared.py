"""Corrections of the declarations of initializers and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Shape, elements, product
from irlint.findings.edits import Edit
from irlint.findings.faults import Severity
from irlint.fixes.inserted import CAST
from irlint.inference.known import Known
from irlint.model import Graph, Problem, Value
from irlint.model.order import downstream, graph_at, uses
from irlint.model.tensor import FLOATS, INTEGERS, Tensor

Edits = tuple[Edit, ...]


def declared_as_stored(problem: Problem, known: Known) -> Iterator[Edits]:
    """Declares an input with the type of its initializer, or gives the initializer its declared shape. For element
    types, alternatives convert the initializer, or all uses of the input."""
    graph = graph_at(known.model, problem.graph)
    value = next((each for each in graph.constants if each.name == problem.value), None) if graph is not None else None
    if problem.node is not None:
        return
    stored = known.types.get(value) if value is not None else None
    if graph is None or value is None or not isinstance(stored, Tensor) or not isinstance(value.type, Tensor):
        return
    if problem.fault.rule is SHAPE_CONTRADICTED:
        if _leads_to_problem(value, graph, known):
            yield from _stored_as_declared(value, stored, problem.graph)
            return
        yield (
            Edit("declaration", "node", problem.graph, name=value.name, shape=stored.shape, before=value.type.shape),
        )
        yield from _stored_as_declared(value, stored, problem.graph)
        return
    declared = Edit("declaration", "node", problem.graph, name=value.name, dtype=stored.dtype or "")
    yield (declared,)
    yield (Edit("constant", "type", problem.graph, name=value.name, value=value.type.dtype),)
    cast = (("to", value.type.dtype),)
    yield (
        declared,
        *(
            Edit("insert", "node", problem.graph, node.label, node.index, CAST, cast, input=port, op=node.op)
            for node, port in uses(value, graph.nodes)
        ),
    )


def _stored_as_declared(value: Value, stored: Tensor, path: str) -> Iterator[Edits]:
    """Gives an initializer its declared shape, if both have as many elements."""
    declared, shape = value.type.shape if isinstance(value.type, Tensor) else None, stored.shape or ()
    if declared is not None and product(declared) == product(shape):
        yield (Edit("constant", "shape", path, name=value.name, value=declared, before=stored.shape),)


def or_transposed(edits: Edits) -> str:
    """The help to transpose the constant instead, if ``edits`` reshape it and its sizes only change their order."""
    edit = edits[0]
    is_order = edit.of == "shape" and edit.before is not None and may_be_transposed(edit.before, edit.value)
    return f"transpose it from {list(edit.before)}" if is_order else ""


def may_be_transposed(shape: Shape, other: Shape) -> bool:
    """Whether two shapes have the same sizes in another order. The order of axes of size 1 does not count."""
    sizes, others = ([str(dim) for dim in each if dim != 1] for each in (shape, other))
    return sizes != others and sorted(sizes) == sorted(others)


def _leads_to_problem(value: Value, graph: Graph, known: Known) -> bool:
    """Whether a user of a value, or a later node, has a problem. Then the stored value is probably wrong."""
    wrong = {problem.node for problem in known.problems if problem.fault.severity is not Severity.NOTE}
    users = (node for node in graph.nodes if value in node.inputs)
    return any(not wrong.isdisjoint(downstream(node, graph)) for node in users)


def output_as_computed(problem: Problem, known: Known) -> Iterator[Edits]:
    """Declares an output of the model with its inferred type, unless a Cast may be missing."""
    graph, value = known.model.graph, _output(problem, known)
    given = known.types.get(value) if value is not None else None
    if graph is None or value is None or not isinstance(given, Tensor) or not isinstance(value.type, Tensor):
        return
    if given.dtype and not _may_lack_cast(given.dtype, value.type.dtype, graph, known):
        yield (Edit("declaration", "node", problem.graph, name=value.name, dtype=given.dtype),)


def instead_of_type(edits: Edits, problem: Problem, known: Known) -> Iterator[Edits]:
    """If ``edits`` change the type of an output at its node or at an input, declares the output with the inferred type.

    Nothing if another node with the operator computes the declared type from the same input type. Also if a Cast from
    floats to integers is declared to give other floats.
    """
    graph, node, value = known.model.graph, problem.node, _output(problem, known)
    given = known.types.get(value) if value is not None else None
    if graph is None or node is None or value is None or not isinstance(given, Tensor) or not given.dtype:
        return
    declared = value.type.dtype if isinstance(value.type, Tensor) else None
    source = _dtypes(node.inputs[:1], known)
    others = [each for each in graph.nodes if each.op == node.op and _dtypes(each.inputs[:1], known) == source]
    is_made = declared not in source and any(_dtypes(each.outputs, known) == [declared] for each in others)
    is_rounded = node.op == CAST and declared in FLOATS and given.dtype in INTEGERS
    is_made = is_made or (is_rounded and source[0] in FLOATS and declared not in source)
    of_input = edits[0].kind == "declaration" and edits[0].name in {each.name for each in graph.inputs}
    if (of_input or (edits[0].kind == "attribute" and edits[0].index == node.index)) and not is_made:
        yield (Edit("declaration", "node", problem.graph, name=value.name, dtype=given.dtype),)


def may_not_convert(problem: Problem, known: Known) -> bool:
    """Whether the node is a Cast, and its output is declared with the type of its input, so that it has no effect."""
    node, value = problem.node, _output(problem, known)
    declared = value.type.dtype if value is not None and isinstance(value.type, Tensor) else None
    return node is not None and node.op == CAST and declared in _dtypes(node.inputs[:1], known)


def cast_as_at_other_outputs(problem: Problem, known: Known) -> str:
    """The help to insert a Cast before an output, if a Cast between the same types computes another output; else ""."""
    graph, value = known.model.graph, _output(problem, known)
    given = _dtypes([value], known)[0]
    declared = value.type.dtype if value is not None and isinstance(value.type, Tensor) else None
    for node in graph.nodes if graph is not None and given in FLOATS and declared in FLOATS else ():
        types = _dtypes((*node.inputs[:1], *node.outputs[:1]), known)
        other = node.outputs[0] if node.op == CAST and node.outputs else None
        if graph is not None and other is not None and other in graph.outputs and types == [given, declared]:
            return f"insert a Cast with `to = {declared}` before the output, as before `{other.name}`"
    return ""


def instead_of_conversion(edits: Edits, known: Known) -> Edits:
    """Gives an IR's input or constant the element type to which ``edits`` convert it; () if the bytes do not fit."""
    from irlint.fixes.new_layers import CONVERT
    from irlint.parsers.openvino.types import element_type
    from irlint.parsers.weights import byte_size

    graph, edit = known.model.graph, edits[0]
    user = next((each for each in graph.nodes if each.index == edit.index), None) if graph is not None else None
    value = user.inputs[edit.input] if user is not None and edit.input is not None else None
    node = next((each for each in graph.nodes if value in each.outputs), None) if graph is not None and value else None
    if graph is None or value is None or node is None or edit.name != CONVERT:
        return ()
    name = str(dict(edit.value).get("destination_type"))
    dtype, constant = element_type(name), graph.constants.get(value)
    place = {"node": node.label, "index": node.index, "layer": node.id or ""}
    is_input = node.op == known.format.input_node
    called = f'layer {node.id} "{node.name}"' if is_input else f"output port {node.output_ports[0].id}"
    declared = Edit("declaration", name=value.name, dtype=dtype or "", called=called, **place)  # type: ignore[arg-type]
    if is_input:
        return (declared,)
    shape = constant.tensor.shape if constant is not None else None
    count = elements([each for each in shape or () if isinstance(each, int)])
    if constant is None or constant.stored is None or byte_size(dtype or "", count) != constant.stored.size:
        return ()
    return Edit("attribute", name="element_type", value=name, op=node.op, **place), declared  # type: ignore[arg-type]


def _output(problem: Problem, known: Known) -> Value | None:
    """The output of the model that a problem is about; None for other values, and in an IR."""
    graph, node = known.model.graph, problem.node
    outputs = graph.outputs if graph is not None and node is not None and not known.format.ports_declare else ()
    return next(
        (each for each in outputs if node is not None and each in node.outputs and each.name == problem.value), None
    )


def _may_lack_cast(given: str, declared: str | None, graph: Graph, known: Known) -> bool:
    """Whether a Cast may be missing: the type is bool, other Casts convert between both types, or the file declares a
    value that nothing computes."""
    if given in FLOATS and declared in FLOATS:
        return False
    casts = (node for node in graph.nodes if node.op == CAST and node.inputs)
    pairs = [_dtypes((node.inputs[0], node.outputs[0]), known) for node in casts]
    return given == "bool" or bool(graph.undefined_value_info) or [given, declared] in pairs


def _dtypes(values: Sequence[Value | None], known: Known) -> list[str | None]:
    types = (known.types.get(value) if value is not None else None for value in values)
    return [each.dtype if isinstance(each, Tensor) else None for each in types]
