"""Candidates that restore a lost node: a node that was removed, so that its other inputs are now unused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from irlint.checks.intended import unused_values
from irlint.dims import MaybeDim
from irlint.findings.edits import Edit
from irlint.fixes.blocks import Blocks, blocks_of, is_named_as
from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import STRIDES, Editor
from irlint.fixes.indices import JOIN
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import AXES_ARE_AN_INPUT, RESHAPE, SQUEEZE, UNSQUEEZE
from irlint.fixes.lost_inputs import commutes
from irlint.fixes.other_values import EVIDENT, PROBABLE
from irlint.fixes.trials import Trials
from irlint.inference.known import Known
from irlint.inference.origins import inputs_of
from irlint.lazy_typing import Any
from irlint.model import Node, Problem, Value
from irlint.model.order import downstream, uses
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Tensor, Type
from irlint.records import replaced

Edits = tuple[Edit, ...]
Attributes = tuple[tuple[str, Any], ...]

#: If at least this many users of a value are faulty, the lost node was before all of them.
SEVERAL = 2


def with_unused_list(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Inserts a Reshape, Squeeze or Unsqueeze before an input. Its second input is an unused list: a target or axes.

    The axes are an input since Squeeze-13 and Unsqueeze-13, the target is one since Reshape-5.
    """
    known, editor = inputs.known, inputs.editor
    if known.format.writer != "onnx":
        return
    for value, unused_type in inputs.unused_values:
        if unused_type.dtype != "int64" or unused_type.rank != 1 or unused_type.ints is None or value in node.inputs:
            continue
        for port, given in enumerate(inputs_of(node, known)):
            data = node.inputs[port]
            if isinstance(given, Tensor) and given.shape is not None and data is not None:
                places = _places(node, port, data, value, inputs)
                for op in _possible_operators(given, unused_type, known.model.opsets.get("", 0)):
                    edits = [editor.inserted(op, user, at, inputs=(value.name,)) for user, at in places]
                    yield Candidate(
                        tuple(edits), EVIDENT, evidence=1, sure=not _is_computed_before(value, data, inputs)
                    )


def _places(node: Node, port: int, data: Value, value: Value, inputs: Inputs) -> list[tuple[Node, int]]:
    """(node, port) of each input before which the lost node was: for a computed list, all uses of the data after it."""
    maker = inputs.node_of(value)
    if maker is None or not inputs.is_made(value):
        return [(node, port)]
    users = [each for each in inputs.users.get(data, ()) if each.index > maker.index]
    places = uses(data, users)
    return places if (node, port) in places else [(node, port)]


def _is_computed_before(value: Value, data: Value, inputs: Inputs) -> bool:
    first, second = inputs.node_of(value), inputs.node_of(data)
    return inputs.is_made(value) and first is not None and second is not None and first.index < second.index


def inserted_as_at_siblings(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Inserts the node that siblings have before an input.

    At the siblings, a value of the same type and from the same operator must lead into that node.
    """
    for port, value in enumerate(node.inputs if inputs.known.format.writer == "onnx" else ()):
        edit, count = _lost_before(node, port, inputs)
        users = inputs.users.get(value, ()) if edit is not None and value is not None else ()
        places = uses(value, users)
        others = (_lost_before(user, at, inputs)[0] for user, at in places if (user, at) != (node, port))
        same = [each for each in others if each is not None and edit is not None and _insert_same(each, edit)]
        if edit is not None:
            yield Candidate((edit, *same), EVIDENT, node, evidence=count)


def _lost_before(node: Node, port: int, inputs: Inputs) -> tuple[Edit | None, int]:
    """(edit that inserts the only node that siblings have before an input, number of these siblings), or (None, 0)."""
    value = node.inputs[port]
    siblings = (each for each in inputs.editor.siblings(node) if _differ_only_at(port, node, each, inputs))
    templates = [inputs.node_of(each.inputs[port]) for each in siblings] if inputs.is_made(value) else []
    fitting = [each for each in templates if each is not None and _is_like_first(value, each, inputs)]
    edits = list(dict.fromkeys(_copied(each, node, port, inputs) for each in fitting))
    return (edits[0], len(fitting)) if len(edits) == 1 else (None, 0)


def _insert_same(one: Edit, other: Edit) -> bool:
    return (one.name, one.value, one.inputs) == (other.name, other.value, other.inputs)


def _differ_only_at(port: int, node: Node, other: Node, inputs: Inputs) -> bool:
    """Whether two nodes have equal attributes, and inputs of equal types except at a port."""
    known = inputs.known
    given = [call.attributes or {} for each in (node, other) if (call := known.calls.get(each)) is not None]
    types = [[known.types.get(value) if value is not None else None for value in each.inputs] for each in (node, other)]
    pairs = [pair for at, pair in enumerate(zip(*types)) if at != port]
    is_alike = len(given) == len((node, other)) and given[0] == given[1] and len(node.inputs) == len(other.inputs)
    return is_alike and all(one == two for one, two in pairs)


def _is_like_first(value: Value | None, node: Node, inputs: Inputs) -> bool:
    """Whether a value and the first input of a node have one type, and nodes with one operator compute both."""
    first, type_of = node.inputs[0] if node.inputs else None, inputs.known.types.get
    makers = [inputs.node_of(each) for each in (value, first)]
    operators = {each.op if each is not None else None for each in makers}
    is_equal = value is not None and first is not None and type_of(value) == type_of(first)
    return is_equal and None not in operators and len(operators) == 1


def _copied(template: Node, node: Node, port: int, inputs: Inputs) -> Edit | None:
    """Inserts a copy of ``template``, which has an equal target if it is a Reshape; None if it cannot be inserted."""
    if template.op != RESHAPE:
        return inputs.editor.copied(template, node, port)
    target, type_of = template.inputs[1] if len(template.inputs) > 1 else None, inputs.known.types.get
    wanted = type_of(target) if target is not None else None
    if target is None or not isinstance(wanted, Tensor) or wanted.value is None:
        return None
    made = (value for each in inputs.graph.nodes if each.index < node.index for value in each.outputs if value)
    unused = (value for value, known in inputs.unused_values if known == wanted)
    every = (value for value in (*unused, *inputs.graph.constants, *made) if type_of(value) == wanted)
    return inputs.editor.inserted(RESHAPE, node, port, inputs=(next(every, target).name,))


def joined_with_unused(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Inserts a Concat that joins an unused computed value with an input. Only suggested, as the order is uncertain."""
    known, editor = inputs.known, inputs.editor
    unused = [
        (value, unused_type)
        for value, unused_type in inputs.unused_values
        if inputs.is_made(value) and unused_type.dtype in FLOATS
    ]
    for node in nodes if unused and known.format.writer == "onnx" else ():
        behind = downstream(node, inputs.graph)
        for port, given in enumerate(inputs_of(node, known)):
            for value, unused_type in unused:
                before = node.inputs[port]
                axis = _joined_axis(unused_type, given)
                if axis is None or before is None or inputs.makers.is_constant(before):
                    continue
                if inputs.node_of(value) not in behind:
                    called = [editor.called_unused(value), editor.called(before)]
                    edit = editor.inserted(
                        JOIN, node, port, (("axis", axis),), " and ".join(called), inputs=(value.name,)
                    )
                    yield Candidate((edit,), EVIDENT, None, evidence=1, sure=False)


def with_lost_pooling(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Inserts a pooling node before one of several uses of a value, as all other pooling nodes are. It is only
    suggested."""
    editor = inputs.editor
    pools: dict[str, list[Node]] = {}
    for each in inputs.graph.nodes:
        strides = editor.value_of(each, STRIDES) if len(each.inputs) == 1 else None
        if isinstance(strides, tuple) and any(isinstance(step, int) and step > 1 for step in strides):
            pools.setdefault(each.op, []).append(each)
    for op, found in pools.items():
        kinds = {(editor.window(each), editor.value_of(each, STRIDES)) for each in found}
        if len(kinds) > 1 or not all(
            each.inputs[0] and inputs.is_used_elsewhere(each.inputs[0], each) for each in found
        ):
            continue
        values = {value for each in found for value in (*each.inputs, *each.outputs)}
        example = found[0].outputs[0] if found[0].outputs else None
        for node in (each for each in nodes if each.op != op):
            for port, value in enumerate(node.inputs):
                if value is None or example is None or value in values or not inputs.is_made(value):
                    continue
                if inputs.is_used_elsewhere(value, node):
                    called = f"like {editor.called(example, names_port=False)}"
                    yield Candidate((editor.inserted(op, node, port, called=called),), PROBABLE, node, sure=False)


def with_lost_strides(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Sets the strides of nodes with windows from 1 to 2. Several nodes on the path of a size may have lost them."""
    editor = inputs.editor
    for node in nodes:
        call = inputs.known.calls.get(node)
        if call is None or call.signature is None or STRIDES not in call.signature.attributes:
            continue
        before, window = editor.value_of(node, STRIDES), editor.window(node)
        if max(window, default=1) > 1 and set(before or (1,)) == {1}:
            edit = editor.attribute(node, STRIDES, (2,) * len(window), before)
            yield Candidate((edit,), PROBABLE, node, subject=STRIDES)


def _joined_axis(one: Tensor, other: Type | None) -> int | None:
    """The only axis on which two values differ, if the first one is shorter there; None if there is no such axis."""
    given = other.shape if isinstance(other, Tensor) and other.dtype == one.dtype else None
    if one.shape is None or given is None or len(one.shape) != len(given):
        return None
    differing = {at: pair for at, pair in enumerate(zip(one.shape, given)) if pair[0] != pair[1]}
    return next(iter(differing)) if len(differing) == 1 and all(map(_is_shorter, *zip(*differing.values()))) else None


def _is_shorter(one: MaybeDim, other: MaybeDim) -> bool:
    return isinstance(one, int) and (not isinstance(other, int) or one < other)


def _possible_operators(given: Tensor, unused_type: Tensor, opset: int) -> Iterator[str]:
    """The operators that may have the unused list as their second input."""
    entries = unused_type.ints
    rank = given.rank or 0
    for op, most in ((SQUEEZE, rank), (UNSQUEEZE, rank + len(entries or ()))) if opset >= AXES_ARE_AN_INPUT else ():
        if entries and all(type(each) is int and -most <= each < most for each in entries):
            yield op
    if given.value is None:
        yield RESHAPE


def faulty(trials: Trials) -> set[Node]:
    """The nodes with a problem, or with a requirement that no sizes meet."""
    failing = (
        node
        for node, demands in trials.requirements.items()
        if any(requirement.condition in trials.unsatisfiable for requirement in demands.values())
    )
    return {*trials.problems, *failing}


def at_all_faulty(edit: Edit, inputs: Inputs, faulty: set[Node]) -> tuple[Edit, ...] | None:
    """Inserts the node of ``edit`` before all faulty users of the value, or connects another value with all of them;
    None if fewer than ``SEVERAL`` are faulty."""
    node, value = inputs.edited(edit)
    if value is None or edit.kind not in ("insert", "input") or edit.swaps:
        return None
    users = [each for each in dict.fromkeys(inputs.users.get(value, ())) if each in faulty]
    if len(users) < SEVERAL or node not in users:
        return None
    return tuple(
        replaced(edit, node=user.label, index=user.index, input=port, op=user.op, layer=user.id or "")
        for user, port in uses(value, users)
    )


def lost_at_twins(problem: Problem, known: Known) -> Iterator[Edits]:
    """Inserts the node that computed an undefined value, if the twins of its first user still have such a node."""
    graph = known.model.graph
    value = next((each for each in graph.undefined if each.name == problem.value), None) if graph is not None else None
    if graph is None or value is None or value in graph.outputs or known.format.ports_declare:
        return
    blocks = blocks_of(known, graph)
    users = uses(value, graph.nodes)
    found: dict[Edits, None] = {}
    for twin in blocks.twins(users[0][0]) if users else ():
        node, port = users[0]
        given = twin.inputs[port] if port < len(twin.inputs) else None
        maker = blocks.editor.makers.of(given) if given is not None else None
        template = maker.node if maker is not None else None
        if given is None or template is None or blocks.counterpart(given, twin, node) is not None:
            continue
        names = (
            _inputs_of_lost(template, twin, node, blocks) if is_named_as(value.name, node, given.name, twin) else None
        )
        attributes = _plain_attributes(template)
        if names and attributes is not None and {each.name for each in _unused_results(blocks)} <= set(names):
            found[tuple(_inserted_before(users, template.op, attributes, names, f"`{names[0]}`", blocks.editor))] = None
    if len(found) == 1:
        yield from found


def _inserted_before(
    users: Sequence[tuple[Node, int]],
    op: str,
    attributes: Attributes,
    names: Sequence[str],
    called: str,
    editor: Editor,
) -> Iterator[Edit]:
    for node, port in users:
        edit = editor.connected(None, node, port)
        yield replaced(edit, value=names[0], called=called)
        yield editor.inserted(op, node, port, attributes, inputs=tuple(names[1:]))


def lost_beside_unused(problem: Problem, known: Known) -> Iterator[Edits]:
    """Inserts the node that computed an undefined value of the main graph, with the unused values as its inputs."""
    graph, node = known.model.graph, problem.node
    names = [value.name if value is not None else None for value in node.inputs] if node is not None else []
    if (
        graph is not None
        and node is not None
        and not problem.graph
        and problem.value in names
        and not known.format.ports_declare
    ):
        yield from with_unused_inputs(node, names.index(problem.value), Inputs(blocks_of(known, graph).editor))


def with_unused_inputs(node: Node, port: int, inputs: Inputs) -> Iterator[Edits]:
    """Inserts the node that computed an undefined value, if the unused values fit exactly one such node as inputs."""
    value = node.inputs[port]
    behind = downstream(node, inputs.graph)
    unused = [each for each, _ in inputs.unused_values if inputs.node_of(each) not in behind]
    data = [each for each in unused if inputs.is_dynamic(each)]
    stored = [each for each in unused if inputs.makers.is_constant(each)]
    found: dict[tuple[str, Attributes, tuple[Value, ...]], None] = {}
    makers = [inputs.node_of(each) for each in data]
    for template in inputs.likely_makers(value) if data else ():
        attributes = _plain_attributes(template)
        may_be_renamed = len(data) == 1 and not stored and makers[0] is not None and makers[0].op == template.op
        for values in _arranged(node, template, data, stored, inputs) if not may_be_renamed else ():
            if attributes is None:
                return
            found[template.op, attributes, values] = None
    places = uses(value, inputs.users.get(value, ()) if value is not None else ())
    for op, attributes, values in found if len(found) == 1 else ():
        names, called = [each.name for each in values], inputs.editor.called_unused(values[0])
        yield tuple(_inserted_before(places, op, attributes, names, called, inputs.editor))


def _arranged(
    node: Node, template: Node, data: Sequence[Value], stored: Sequence[Value], inputs: Inputs
) -> Iterator[tuple[Value, ...]]:
    """The possible inputs of a node like ``template`` before ``node``: the unused values, and constants of ``template``
    where no unused constant fits."""
    type_of, may_exchange = inputs.known.types.get, commutes(template, inputs.known)
    if may_exchange and len(data) + len(stored) == len(template.inputs):
        yield (*data, *stored)
        return
    computed = [each for each in template.inputs if each is not None and not inputs.makers.is_constant(each)]
    places: list[Value | None] = []
    for each in template.inputs:
        fitting = [one for one in stored if each is not None and _are_similar(type_of(one), type_of(each))]
        is_shared = len(computed) > len(data) and inputs.is_outside(each, template, node)
        if each in computed:
            places.append(each if is_shared else None)
        elif each is None or len(fitting) > 1:
            return
        else:
            places.append(next(iter(fitting), each))
    lost = [each for each, place in zip(template.inputs, places) if place is None]
    fits = all(_are_similar(type_of(one), type_of(each)) for one, each in zip(data, lost) if each is not None)
    if len(lost) != len(data) or (not fits and not set(places).isdisjoint(template.inputs)):
        return
    for order in permutations(data) if not may_exchange else (data,):
        left = iter(order)
        yield tuple(next(left) if place is None else place for place in places)


def _are_similar(one: Type | None, other: Type | None) -> bool:
    """Whether two types have the same element type and rank."""
    return isinstance(one, Tensor) and isinstance(other, Tensor) and (one.dtype, one.rank) == (other.dtype, other.rank)


def _inputs_of_lost(template: Node, twin: Node, node: Node, blocks: Blocks) -> list[str] | None:
    """The names of the counterparts of the inputs of ``template``; None if an input has no counterpart."""
    known, makers = blocks.editor.known, blocks.editor.makers
    unused = [each for each in unused_values(blocks.editor.graph) if makers.is_constant(each)]
    names = []
    for each in template.inputs:
        found = blocks.counterpart(each, twin, node) if each is not None else None
        constant_type = known.types.get(each) if each is not None and makers.is_constant(each) else None
        fitting = [one for one in unused if constant_type is not None and known.types.get(one) == constant_type]
        found = fitting[0] if len(fitting) == 1 else found
        if each is not None and found is None:
            return None
        names.append(found.name if found is not None else "")
    return names


def _unused_results(blocks: Blocks) -> Iterator[Value]:
    """The results of all nodes without any used result."""
    graph, is_constant = blocks.editor.graph, blocks.editor.makers.is_constant
    unused = {value for value in unused_values(graph) if not is_constant(value)} - set(graph.outputs)
    for node in graph.nodes:
        values = [value for value in node.outputs if value is not None]
        yield from values if unused.issuperset(values) else ()


def _plain_attributes(node: Node) -> Attributes | None:
    """The attributes of a node for an edit; None if the node cannot be inserted."""
    if node.domain or node.bodies or len(node.outputs) != 1:
        return None
    stored = {name: each.value for name, each in node.attributes.items()}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
    if not all(isinstance(each, (int, float, str, tuple)) for each in values.values()):
        return None
    number = values.get("to")
    if isinstance(number, int) and 0 < number <= len(NUMBERED_TYPES):
        values["to"] = NUMBERED_TYPES[number - 1]
    return tuple(values.items())
