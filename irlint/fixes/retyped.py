"""Candidates that change the element type of an input."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from irlint.findings.edits import Edit
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST
from irlint.fixes.other_outputs import is_usual, other_outputs
from irlint.fixes.other_values import EVIDENT, ONLY_SUGGESTED, POSSIBLE, PROBABLE
from irlint.fixes.rechecking import TYPE_ATTRIBUTES
from irlint.fixes.sister_inputs import are_sisters
from irlint.inference.known import Known
from irlint.inference.origins import inputs_of, shape_of
from irlint.model import Node, Problem, Value
from irlint.model.order import uses
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Sequence, Tensor, element_type
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.records import replaced

#: The search for the origin of an element type goes back at most this many nodes.
TYPED_NODES = 6

#: An element type is changed at its origin if this is at most this many nodes back.
FARTHEST = 32

#: Two outputs are exchanged only if they have at most this many uses.
EXCHANGED = 6


def retyped(problem: Problem, node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Changes the element type of an input: where the input gets its type, or by a Cast before the node.

    Edits of a zero point are only suggested, because another type changes its number.
    """
    given, call = inputs_of(node, inputs.known), inputs.known.calls.get(node)
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    points = {port for port, name in enumerate(names) if "zero_point" in name}
    dtypes = dict.fromkeys(dtype for each in given if (dtype := element_type(each)))
    likely = dict.fromkeys((*dtypes, "float32", "int64", "int32", "bool"))
    refused = {each.input: each for each in problem.fault.refused_types}
    if len(refused) > 1:
        likely = dict.fromkeys((*(each.accepted for each in refused.values()), *likely))
        for dtype in likely:
            at_ports = []
            for port, each in refused.items():
                is_like_first = each.takes == problem.fault.refused_types[0].takes
                one = dtype if is_like_first or not each.accepted else each.accepted
                at_ports.append(list(_of_port(problem, node, port, one, inputs, points=points, dtypes=dtypes)))
            yield from _together(at_ports)
        return
    for port in range(len(node.inputs)):
        for dtype in likely:
            yield from _of_port(problem, node, port, dtype, inputs, points=points, dtypes=dtypes)


def _together(at_ports: list[list[Candidate]]) -> Iterator[Candidate]:
    """The candidates of the first of several inputs, each with a candidate of each other input, if possible of the same
    kind. None if an input has no candidate."""
    for first in at_ports[0] if all(at_ports) else ():
        kinds = [edit.kind for edit in first.edits]
        chosen = [
            next((each for each in found if [edit.kind for edit in each.edits] == kinds), found[0])
            for found in at_ports[1:]
        ]
        edits = dict.fromkeys(edit for each in (first, *chosen) for edit in each.edits)
        grade = max(each.grade for each in (first, *chosen))
        yield replaced(first, edits=tuple(edits), grade=grade, evidence=min(each.evidence for each in (first, *chosen)))


def _of_port(
    problem: Problem, node: Node, port: int, dtype: str, inputs: Inputs, *, points: set[int], dtypes: Collection[str]
) -> Iterator[Candidate]:
    """Changes the element type of one input to ``dtype``. ``points`` are the ports of zero points, ``dtypes`` the types
    of all inputs."""
    value, known = node.inputs[port], inputs_of(node, inputs.known)[port]
    if value is not None and isinstance(known, Sequence) and dtype != element_type(known):
        yield from _retyped_at_origin(value, dtype, PROBABLE, inputs)
    if value is None or not isinstance(known, Tensor) or dtype == known.dtype:
        return
    if problem.fault.input in points and port not in points:
        return
    evidence = _types_at_siblings(node, port, inputs).count(dtype)
    if inputs.makers.is_constant(value):
        found = _constant_of_type(node, port, value, known, dtype, inputs)
        shifted = _shifted(node, port, known, dtype, inputs)
        stored = (
            replaced(each, edits=(*each.edits, *shifted), grade=ONLY_SUGGESTED)
            for each in found
            if each.edits[0].kind != "insert"
        )
        yield from stored if port in points else found
        return
    mixed = problem.fault.rule is ELEMENT_TYPES_DIFFER or (known.dtype != "bool" and dtype in dtypes)
    grade = POSSIBLE if mixed and _is_converted(known.dtype, dtype) else PROBABLE
    yield from _with_outputs_exchanged(value, dtype, inputs)
    is_index = known.dtype in FLOATS and dtype not in FLOATS and problem.fault.rule is not ELEMENT_TYPES_DIFFER
    yield from _with_other_output(node, value, dtype, is_index, inputs)
    at_origin = _retyped_at_origin(value, dtype, grade, inputs)
    at_source = [replaced(candidate, evidence=evidence or candidate.evidence) for candidate in at_origin]
    casts = []
    if inputs.known.format.writer == "onnx":
        cast = inputs.editor.inserted(CAST, node, port, (("to", dtype),))
        rounds = known.dtype in FLOATS and dtype not in FLOATS and not inputs.is_last_use(value, node)
        is_mask = known.dtype == "bool" and not mixed
        grade = PROBABLE if is_mask or (mixed and _is_converted(known.dtype, dtype)) else POSSIBLE
        is_evident = _is_other_input_cast(node, port, dtype, inputs)
        is_evident = is_evident or _is_cast_at_outputs(value, known.dtype, dtype, inputs)
        grade = EVIDENT if is_evident else ONLY_SUGGESTED if rounds else grade
        casts.append(Candidate((cast,), grade, evidence=evidence))
    is_inner = _is_converted(known.dtype, dtype) and value not in inputs.graph.inputs
    if casts and is_inner and any(edit.kind == "declaration" for each in at_source for edit in each.edits):
        at_source = [replaced(each, grade=max(each.grade, grade)) for each in at_source]
        yield from (*casts, *at_source)
    else:
        yield from (*at_source, *casts)


def _is_cast_at_outputs(value: Value, given: str | None, dtype: str, inputs: Inputs) -> bool:
    """Whether a value is an input of the model with floats of another precision, and all outputs with its element type
    are results of a Cast from ``dtype``: the model computes with ``dtype`` inside."""
    graph = inputs.graph
    outputs = [each for each in graph.outputs if dtype_of(inputs.known.types.get(each)) == given]
    makers = [inputs.node_of(each) for each in outputs]
    sources = [each.inputs[0] for each in makers if each is not None and each.op == CAST and each.inputs]
    types = [inputs.known.types.get(each) for each in sources if each is not None]
    is_inner = bool(types) and len(types) == len(outputs) and all(dtype_of(each) == dtype for each in types)
    return is_inner and value in graph.inputs and given in FLOATS and dtype in FLOATS


def nodes_that_give_types(node: Node, inputs: Inputs) -> list[Node]:
    """The nodes, at most ``TYPED_NODES`` before each input, that give the inputs their element types."""
    found: dict[Node, None] = {}
    for value in node.inputs:
        for _ in range(TYPED_NODES):
            maker = inputs.makers.of(value) if value is not None else None
            made = maker.node if maker is not None and maker.constant is None else None
            if value is None or made is None or not made.inputs:
                break
            found[made] = None
            first = made.inputs[0]
            if first is None or dtype_of(inputs.known.types.get(first)) != dtype_of(inputs.known.types.get(value)):
                break
            value = first
    return list(found)


def _with_outputs_exchanged(value: Value, dtype: str, inputs: Inputs) -> Iterator[Candidate]:
    """Exchanges ``value`` and another output of its node in all their uses, if that output has the element type."""
    maker = inputs.makers.of(value)
    outputs = maker.node.outputs if maker is not None and maker.node is not None else ()
    for other in outputs:
        if other is None or other is value or dtype_of(inputs.known.types.get(other)) != dtype:
            continue
        places = [
            (new, user, port)
            for old, new in ((value, other), (other, value))
            for user, port in uses(old, inputs.users.get(old, ()))
        ]
        if len(places) <= EXCHANGED and inputs.users.get(other):
            yield Candidate(
                tuple(inputs.editor.connected(new, user, port) for new, user, port in places), EVIDENT, evidence=1
            )


def _with_other_output(node: Node, value: Value, dtype: str, is_index: bool, inputs: Inputs) -> Iterator[Candidate]:
    """Connects another output of the node that computes a value, with its shape and the element type ``dtype``.

    All users of the value get this output, or one user. It is EVIDENT if the value keeps a user, if other nodes show
    which output is used, if the value is an optional output and the other one is unused, or if ``is_index``: the node
    needs integers and gets floats.
    """
    maker, given = inputs.node_of(value), shape_of(value, inputs.known)
    users = list(dict.fromkeys(inputs.users.get(value, ())))
    for other in other_outputs(value, maker, inputs.known.types):
        known = inputs.known.types.get(other)
        if maker is None or other in node.inputs or not isinstance(known, Tensor) or given is None:
            continue
        if (known.dtype, known.shape) != (dtype, given):
            continue
        is_intended = is_index or is_usual(other, value, maker, inputs.graph) or value in inputs.graph.outputs
        is_intended = is_intended or (_is_optional(value, maker, inputs) and not inputs.users.get(other))
        for several in (users, [node]) if 1 < len(users) <= EXCHANGED else ([node],):
            edits = tuple(inputs.editor.connected(other, *use) for use in uses(value, several))
            is_evident = is_intended or len(several) < len(users)
            yield Candidate(edits, EVIDENT if is_evident else POSSIBLE, evidence=int(is_evident))


def _is_optional(value: Value, maker: Node, inputs: Inputs) -> bool:
    """Whether the operator has a first output that is required, and computes this one only on request."""
    call = inputs.known.calls.get(maker)
    formal = call.schema.outputs if call is not None and call.schema is not None else ()
    at = maker.outputs.index(value)
    return at < len(formal) and formal[0].option != "optional" == formal[at].option


def _shifted(node: Node, port: int, known: Tensor, dtype: str, inputs: Inputs) -> tuple[Edit, ...]:
    """The edit that shifts a zero point by 128 if it changes between int8 and uint8.

    () for other types. Also () if constant data or the zero points of siblings show that the numbers are right.
    """
    value, numbers = node.inputs[port], [each for each in known.ints or () if isinstance(each, int)]
    if (
        value is None
        or {known.dtype, dtype} != {"int8", "uint8"}
        or not numbers
        or len(numbers) != len(known.ints or ())
    ):
        return ()
    others = [each.inputs[port] for each in inputs.editor.siblings(node) if port < len(each.inputs)]
    types = [each for value in others if value and isinstance(each := inputs.known.types.get(value), Tensor)]
    at_siblings = {number for each in types if each.dtype == dtype for number in each.ints or ()}
    shifted = tuple(number + (128 if dtype == "uint8" else -128) for number in numbers)
    fits = all(0 <= number < 128 for number in numbers)
    is_constant = inputs.makers.is_constant(node.inputs[0])
    if fits and (at_siblings >= set(numbers) or (is_constant and not at_siblings & set(shifted))):
        return ()
    return (inputs.editor.constant(value, shifted),)


def _types_at_siblings(node: Node, port: int, inputs: Inputs) -> list[str | None]:
    others = (each for each in inputs.editor.siblings(node) if port < len(each.inputs))
    return [dtype_of(inputs.known.types.get(value)) for each in others if (value := each.inputs[port]) is not None]


def as_output_is_declared(problem: Problem, node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Changes a node's inputs, or its attribute for the element type, to the element type that its output declares."""
    call = inputs.known.calls.get(node)
    names_type = call is not None and not set(TYPE_ATTRIBUTES).isdisjoint(call.attributes or ())
    for value in node.outputs:
        declared, given = (value.type, inputs.known.types.get(value)) if value is not None else (None, None)
        if value is None or value.name != problem.value or dtype_of(declared) == dtype_of(given):
            continue
        if names_type:
            yield from _retyped_at_origin(value, dtype_of(declared) or "", PROBABLE, inputs)
        if names_type or (dtype_of(given) in FLOATS and dtype_of(declared) not in FLOATS):
            continue
        for port, each in zip(node.inputs, inputs_of(node, inputs.known)):
            if port is not None and dtype_of(each) == dtype_of(given) and not inputs.makers.is_constant(port):
                yield from _retyped_at_origin(port, dtype_of(declared) or "", PROBABLE, inputs)


def _constant_of_type(
    node: Node, port: int, value: Value, known: Tensor, dtype: str, inputs: Inputs
) -> Iterator[Candidate]:
    """Casts or converts a constant, or connects an existing constant of the element type.

    Floats become integers only if all are whole numbers, or if they are the bias of a quantized operator.
    """
    if known.dtype in FLOATS and dtype not in FLOATS and not _are_integers(known):
        numbers = _quantized_bias(node, port, known, inputs)
        if numbers:
            of_type, entries = inputs.editor.constant(value, dtype, "type"), inputs.editor.constant(value, numbers)
            yield Candidate((of_type, entries), PROBABLE)
        return
    type_of = inputs.known.types.get
    of_siblings = [each.inputs[port] for each in inputs.editor.siblings(node) if port < len(each.inputs)]
    constants = [each for each in of_siblings if each is not value and inputs.makers.is_constant(each)]
    others = [each for each in constants if each is not None and dtype_of(type_of(each)) == dtype]
    if inputs.known.format.writer == "onnx":
        yield Candidate((inputs.editor.inserted(CAST, node, port, (("to", dtype),)),), POSSIBLE)
    if constants and not others:
        return
    values = (each for each in (*inputs.graph.constants, *of_siblings) if each is not None)
    evidence = sum(dtype_of(type_of(each)) == dtype for each in values)
    yield Candidate((inputs.editor.constant(value, dtype, "type"),), PROBABLE, evidence=evidence)
    for other in others if len(inputs.users.get(value, ())) > 1 else ():
        other_type = type_of(other)
        if isinstance(other_type, Tensor) and other_type.shape == known.shape:
            called = f"{inputs.editor.called(other)}, one of {len(set(others))} of type {dtype} there,"
            yield Candidate((inputs.editor.connected(other, node, port, called),), PROBABLE)
            return


def _are_integers(known: Tensor) -> bool:
    return known.value is not None and all(isinstance(each, float) and each.is_integer() for each in known.value)


def _quantized_bias(node: Node, port: int, known: Tensor, inputs: Inputs) -> tuple[int, ...]:
    """The elements of a bias as multiples of the product of both scales; () if the input is no bias of known scales."""
    call = inputs.known.calls.get(node)
    formal = call.schema.inputs if call is not None and call.schema is not None else ()
    given = zip(formal, inputs_of(node, inputs.known))
    scales = [each.value if isinstance(each, Tensor) else None for form, each in given if form.name.endswith("_scale")]
    if port >= len(formal) or formal[port].types != {"int32"} or len(scales) <= 1 or known.value is None:
        return ()
    data, weights = scales[0], scales[1]
    if data is None or weights is None or len(weights) not in (1, len(known.value)):
        return ()
    rows = zip(known.value, weights * (len(known.value) if len(weights) == 1 else 1))
    pairs = [(bias, data[0], weight) for bias, weight in rows]
    if not all(isinstance(each, float) and each for pair in pairs for each in pair[1:]):
        return ()
    return tuple(round(bias / (scale * weight)) for bias, scale, weight in pairs)  # type: ignore[operator, arg-type]


def _retyped_at_origin(value: Value, dtype: str, grade: int, inputs: Inputs) -> Iterator[Candidate]:
    """Changes the element type where a value gets it: at a node with an attribute for it (such as Cast), at a constant,
    or at an input of the graph."""
    for _ in range(FARTHEST):
        known, maker = element_type(inputs.known.types.get(value)), inputs.makers.of(value)
        if maker is None or known is None:
            return
        node = maker.node if maker.constant is None else None
        if node is None and value in inputs.graph.constants:
            yield Candidate((inputs.editor.constant(value, dtype, "type"),), grade)
            return
        if node is None or node.op == inputs.known.format.input_node:
            count = _sisters_of_type(value, dtype, inputs)
            declared = inputs.editor.declared(value, dtype, "type")
            yield Candidate((declared,), EVIDENT if count >= SEVERAL else grade, evidence=count)
            return
        call = inputs.known.calls.get(node)
        if call is None:
            return
        name = type_attribute(node, inputs.known)
        if name:
            before = (call.attributes or {}).get(name)
            is_number = isinstance(before, int) or (before is None and inputs.known.format.writer == "onnx")
            edit = inputs.editor.attribute(node, name, NUMBERED_TYPES.index(dtype) + 1 if is_number else dtype, before)
            yield Candidate(
                (edit,), EVIDENT, node, evidence=inputs.editor.similar_values(node, name).get(edit.value, 0)
            )
            return
        first = node.inputs[0] if node.inputs else None
        if first is None or element_type(inputs.known.types.get(first)) != known:
            return
        value = first


def type_attribute(node: Node, known: Known) -> str:
    """The attribute with the element type of a node's output; "" if there is none. The node of an empty sequence may
    lack it."""
    call = known.calls.get(node)
    given = call.attributes or {} if call is not None else {}
    is_empty = not node.inputs and any(isinstance(known.types.get(each), Sequence) for each in node.outputs if each)
    names = call.signature.attributes if is_empty and call is not None and call.signature is not None else given
    return next((each for each in TYPE_ATTRIBUTES if each in given or each in names), "")


def _sisters_of_type(value: Value, dtype: str, inputs: Inputs) -> int:
    """The number of sisters of an input of the model; 0 unless all have this element type and the rank of the input."""
    sisters = [each for each in inputs.graph.inputs if each is not value and are_sisters(each, value)]
    types, own = [inputs.known.types.get(each) for each in sisters], inputs.known.types.get(value)
    ranks = {each.rank if isinstance(each, Tensor) else None for each in (own, *types)}
    return len(types) if len(ranks) == 1 and {dtype_of(each) for each in types} == {dtype} else 0


def _is_other_input_cast(node: Node, port: int, dtype: str, inputs: Inputs) -> bool:
    """Whether another input of a node comes from a Cast to the element type ``dtype``."""
    waiting = [(value, 0) for at, value in enumerate(node.inputs) if at != port]
    for value, far in waiting:
        maker = inputs.makers.of(value) if value is not None else None
        made = maker.node if maker is not None and far < TYPED_NODES else None
        if value is None or made is None or dtype_of(inputs.known.types.get(value)) != dtype:
            continue
        if made.op == CAST:
            return True
        waiting += [(each, far + 1) for each in made.inputs]
    return False


def _is_converted(given: str | None, dtype: str) -> bool:
    """Whether models often convert between both element types on purpose, as for masks and indices: one is no float."""
    return given not in FLOATS or dtype not in FLOATS
