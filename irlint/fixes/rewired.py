"""Candidates that connect an earlier value in place of a wrong one, or reshape a weight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.constants import entries_of
from irlint.fixes.indices import JOIN
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST, SQUEEZE, TRANSPOSE, UNSQUEEZE
from irlint.fixes.other_outputs import other_outputs
from irlint.fixes.other_values import EVIDENT, LAST_RESORT, ONLY_SUGGESTED, POSSIBLE, PROBABLE, SPATIAL
from irlint.fixes.redeclared import may_be_transposed
from irlint.fixes.sizes import nodes_before
from irlint.inference.origins import Makers, inputs_of, shape_of
from irlint.model import Node, Problem, Value
from irlint.model.tensor import FLOATS, INTEGERS, Tensor, Type
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE
from irlint.records import replaced

#: The operators of nodes that people often add between two nodes.
ADDED = (TRANSPOSE, UNSQUEEZE, SQUEEZE, CAST)

#: Constants are exchanged with those of at most this many other nodes, the nearest ones.
EXCHANGED = 400

#: The marks between the parts of a name, and the parts with which the exporters of IRs begin.
PARTS = re.compile(r"[./]")
ROOTS = ("", "self", "__module")


def rewired(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects earlier values in place of inputs that have other users. The element type and the rank stay."""
    for node in nodes:
        for port, (value, given) in enumerate(zip(node.inputs, inputs_of(node, inputs.known))):
            if value is not None and inputs.is_made(value) and inputs.is_used_elsewhere(value, node):
                several = _earlier_values(node, given, inputs).values()
                yield from (_connected(node, port, each, inputs) for each in several)


def with_other_sizes(nodes: Sequence[Node], inputs: Inputs, *, same_rank: bool = True) -> Iterator[Candidate]:
    """Connects an earlier value that holds another size, in place of a computed size that has other users, such as the
    length of a mask instead of the number of samples. Of values with equal sizes, the last one is connected.

    If not ``same_rank``, the values have another rank: one size instead of a list of them. There must then be several
    other sizes, of which only one may fit.
    """
    for node in nodes:
        for port, (value, given) in enumerate(zip(node.inputs, inputs_of(node, inputs.known))):
            is_list = isinstance(given, Tensor) and given.dtype in INTEGERS
            if value is None or not is_list or not _holds_sizes(value, inputs):
                continue
            if not inputs.is_used_elsewhere(value, node):
                continue
            found: dict[Type | None, Value] = {given: value}
            for several in _earlier_values(node, given, inputs, same_rank=same_rank, same_shape=True).values():
                for each in several:
                    if _holds_sizes(each, inputs):
                        found.setdefault(inputs.known.types.get(each), each)
            for each in list(found.values())[1:] if same_rank or len(found) > SEVERAL else ():
                edit = inputs.editor.connected(each, node, port)
                yield Candidate((edit,), LAST_RESORT, node, evidence=1, subject=(node, port))


def _holds_sizes(value: Value, inputs: Inputs) -> bool:
    """Whether a node computes integers, and their values are known or depend on sizes in a known way."""
    known = inputs.known.types.get(value)
    return isinstance(known, Tensor) and known.dtype in INTEGERS and known.value is not None and inputs.is_made(value)


def earlier_of_other_rank(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Connects a value from which an input is computed, and which has another number of axes: another output of a
    module, such as the tokens instead of their mean. The candidates are only suggested."""
    before = set(nodes_before(node, inputs.makers))
    for port, (value, given) in enumerate(zip(node.inputs, inputs_of(node, inputs.known))):
        if value is not None and inputs.is_made(value):
            for several in _earlier_values(node, given, inputs, same_rank=False).values():
                found = [each for each in several if inputs.node_of(each) in before]
                if found:
                    yield replaced(_connected(node, port, found, inputs), grade=ONLY_SUGGESTED)


def with_other_output(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects another output of the node that computes an input, such as the last state of an LSTM. Its element type
    is the same, and its number of axes differs."""
    several = {value for each in inputs.graph.nodes if len(each.outputs) > 1 for value in each.outputs}
    for node in nodes if several else ():
        for port, value in enumerate(node.inputs):
            if value is None or value not in several:
                continue
            dtype = dtype_of(inputs.known.types.get(value))
            for other in other_outputs(value, inputs.node_of(value), inputs.known.types):
                if dtype_of(inputs.known.types.get(other)) == dtype and other not in node.inputs:
                    yield Candidate((inputs.editor.connected(other, node, port),), PROBABLE, node, sure=False)


def without_repeated(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Removes an input of a Concat that is the same value as another input. Of adjacent inputs, the last is removed.

    If several Concats have such inputs, or all inputs are one value, no input is removed: the repetition is intended.
    """
    for node in (each for each in nodes if each.op == JOIN and len(set(each.inputs)) > 1):
        if any(len(set(each.inputs)) < len(each.inputs) for each in inputs.editor.siblings(node)):
            continue
        for port, value in enumerate(node.inputs):
            others = [at for at, each in enumerate(node.inputs) if each is value and at != port]
            if value is not None and others and port + 1 not in others:
                called = f"{inputs.editor.called(value)}, which is also input {others[0]}"
                yield Candidate((inputs.editor.removed(node, port, called),), PROBABLE, node, evidence=1)


def as_several_siblings(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Connects an earlier value that several siblings have as this input, such as the data of several slices.

    If there are several such values, the value of the nearest sibling is taken.
    """
    siblings = sorted(inputs.editor.siblings(node), key=lambda each: abs(each.index - node.index))
    for port, before in enumerate(node.inputs):
        others = [each.inputs[port] for each in siblings if port < len(each.inputs)]
        shared = [value for value in others if value not in node.inputs and others.count(value) >= SEVERAL]
        earlier = [each for each in shared if (made := inputs.node_of(each)) is not None and made.index < node.index]
        value = next((each for each in earlier if inputs.is_made(each)), None)
        if value is not None and inputs.is_made(before):
            called = f"{inputs.editor.called(value)}, as {others.count(value)} other {node.op} nodes do,"
            edit = inputs.editor.connected(value, node, port, called)
            yield Candidate((edit,), POSSIBLE, evidence=1, subject=port, sure=False)


def moved_to_other_input(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Moves the value of an optional input to an empty optional input, such as from ``scales`` to ``sizes``."""
    call, given = inputs.known.calls.get(node), inputs_of(node, inputs.known)
    formal = call.schema.inputs if call is not None and call.schema is not None else ()
    optional = [at for at, each in enumerate(formal) if each.option == "optional"]
    ports = [at for at in optional if at < len(node.inputs) and node.inputs[at] is not None]
    empty = [at for at in optional if at not in ports]
    for port, other in product(ports, empty) if inputs.known.format.writer == "onnx" else ():
        known, data = given[port], shape_of(node.inputs[0], inputs.known) or ()
        entries = known.ints or () if isinstance(known, Tensor) else ()
        is_evident = entries[:SPATIAL] == data[:SPATIAL] != (1, 1) and len(entries) == len(data)
        is_evident = is_evident or (isinstance(known, Tensor) and known.dtype not in INTEGERS)
        edits = inputs.editor.connected(node.inputs[port], node, other), inputs.editor.connected(None, node, port)
        yield Candidate(edits, EVIDENT if is_evident else PROBABLE, evidence=int(is_evident))


def bypassed(node: Node, nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects the input of a Transpose, or of another added node, in place of its output.

    An exporter often adds a Transpose after an input of the model.
    """
    for port, value in enumerate(node.inputs):
        before = before_added(value, inputs.makers)
        is_transposed = before is not None and before_operator(value, TRANSPOSE, inputs.makers) is before
        dtypes = [dtype_of(inputs.known.types.get(each)) for each in (before, value) if each is not None]
        if before is not None and (is_transposed or dtypes[0] in FLOATS or dtypes[0] != dtypes[-1]):
            is_usual = _is_usual(node, port, inputs)
            is_first = is_transposed and before in inputs.graph.inputs
            count = 1 if is_first else -1 if is_usual else int(not is_transposed)
            yield Candidate((_without(before, node, port, inputs),), PROBABLE, evidence=count)
    for each in nodes:
        value = each.outputs[0] if each.outputs else None
        before = before_operator(value, TRANSPOSE, inputs.makers)
        users = inputs.users.get(value, ()) if value is not None else ()
        if before is not None and users and all(_gives_shape(user, value, inputs) for user in users):
            yield Candidate(tuple(_without(before, user, 0, inputs) for user in users), PROBABLE, each, evidence=1)


def _is_usual(node: Node, port: int, inputs: Inputs) -> bool:
    """Whether a sibling has the same operators before this input as the node has, or there is no sibling."""
    places = [_operators_before(each, port, inputs) for each in inputs.editor.siblings(node)]
    return not places or _operators_before(node, port, inputs) in places


def _operators_before(node: Node, port: int, inputs: Inputs) -> list[str]:
    """The operators of the last two nodes before an input."""
    last = _maker_at(node, port, inputs)
    first = inputs.node_of(last.inputs[0]) if last is not None and last.inputs else None
    return [each.op for each in (last, first) if each is not None]


def _maker_at(node: Node, port: int, inputs: Inputs) -> Node | None:
    """The node that computes an input; None if there is none."""
    return inputs.node_of(node.inputs[port]) if port < len(node.inputs) else None


def _gives_shape(node: Node, value: Value | None, inputs: Inputs) -> bool:
    result = node.outputs[0] if node.outputs else None
    known = inputs.known.types.get(result) if result is not None else None
    return isinstance(known, Tensor) and known.value is not None and known.value == shape_of(value, inputs.known)


def _without(before: Value, node: Node, port: int, inputs: Inputs) -> Edit:
    maker = inputs.node_of(node.inputs[port])
    called = f"{inputs.editor.called(before)}, without the {maker.op if maker is not None else TRANSPOSE},"
    return inputs.editor.connected(before, node, port, called)


def with_other_trip_count(problem: Problem, inputs: Inputs) -> Iterator[Candidate]:
    """Bypasses the node that computes a loop's trip count, if an index in the loop's body is out of range."""
    loops = (node for node in inputs.graph.nodes for _, body in node.bodies if body.path == problem.graph)
    for loop in loops if problem.fault.rule is INDEX_OUT_OF_RANGE else ():
        count = loop.inputs[0] if loop.inputs else None
        maker = inputs.node_of(count)
        if count is None or maker is None:
            continue
        for value in maker.inputs:
            if value is not None and not inputs.makers.is_constant(value) and _have_equal_types(value, count, inputs):
                called = f"{inputs.editor.called(value)}, without the {maker.op},"
                yield Candidate((inputs.editor.connected(value, loop, 0, called),), PROBABLE)


def _have_equal_types(value: Value, other: Value, inputs: Inputs) -> bool:
    one, two = (inputs.known.types.get(each) for each in (value, other))
    return isinstance(one, Tensor) and isinstance(two, Tensor) and (one.dtype, one.shape) == (two.dtype, two.shape)


def reshaped_weights(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Gives weights their declared shape, or the shape that they have at all siblings whose names differ only in
    numbers. If the elements may have to be transposed, it is only suggested."""
    for port, value in enumerate(node.inputs if not inputs.editor.joins_weights(node) else ()):
        shape = shape_of(value, inputs.known)
        if value is None or shape is None or not inputs.makers.is_constant(value):
            continue
        if entries_of(inputs.known.types.get(value)):
            continue
        shapes = {shape_of(each.inputs[port], inputs.known) for each in inputs.namesakes(node)}
        declared = value.type.shape if isinstance(value.type, Tensor) else None
        for other in dict.fromkeys((declared, *(shapes if len(shapes) == 1 else ()))):
            if other is not None and len(other) == len(shape) and other != shape:
                is_sure = not may_be_transposed(shape, other)
                yield Candidate((inputs.editor.constant(value, other, "shape"),), PROBABLE, sure=is_sure)


def exchanged_weights(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Exchanges a constant with a constant of another shape at another node.

    EVIDENT if the exchange gives a node the constant that is named after it. Also if both nodes have the same operator
    and a user in common.
    """
    near = {user for value in node.outputs if value is not None for user in inputs.users.get(value, ())}
    beside = {maker for user in near for value in user.inputs if (maker := inputs.node_of(value)) is not None}
    own = [(port, value) for port, value in enumerate(node.inputs) if inputs.makers.is_constant(value)]
    others = sorted(inputs.graph.nodes, key=lambda each: abs(each.index - node.index))
    for other in [each for each in others if each is not node][:EXCHANGED]:
        is_alike = other in beside and other.op == node.op
        for (port, one), (at, two) in product(own, enumerate(other.inputs)):
            if one is None or two is None or not _may_be_exchanged(one, two, inputs) or (is_alike and port != at):
                continue
            before = is_named_after(one, node) or is_named_after(two, other)
            after = is_named_after(two, node) or is_named_after(one, other)
            is_evident = is_alike or (after and not before)
            edits = inputs.editor.connected(two, node, port), inputs.editor.connected(one, other, at)
            swapped = tuple(replaced(edit, swaps=True) for edit in edits)
            yield Candidate(swapped, EVIDENT if is_evident else POSSIBLE, evidence=int(is_evident))


def _may_be_exchanged(one: Value, two: Value, inputs: Inputs) -> bool:
    """Whether two constants have one user each, one rank and element type, and different shapes."""
    types = inputs.known.types.get(one), inputs.known.types.get(two)
    if not all(inputs.makers.is_constant(each) and len(inputs.users.get(each, ())) == 1 for each in (one, two)):
        return False
    shapes = [each.shape for each in types if isinstance(each, Tensor) and each.shape]
    return len(shapes) == len(types) and dtype_of(types[0]) == dtype_of(types[1]) and _differ_in_sizes(*shapes)


def _differ_in_sizes(one: Shape, other: Shape) -> bool:
    return len(one) == len(other) and one != other


def is_named_after(value: Value, node: Node) -> bool:
    """Whether the name of a constant begins with the path of a node: ``patch.weight`` and ``/patch/Conv``."""
    owner = [each for each in PARTS.split(value.name)[:-1] if each not in ROOTS]
    path = [each for each in PARTS.split(node.name) if each not in ROOTS]
    return bool(owner) and path[: len(owner)] == owner


def before_added(value: Value | None, makers: Makers) -> Value | None:
    """The input of the node that computes a value. None unless this node only rearranges axes or converts elements."""
    maker = makers.of(value) if value is not None else None
    node = maker.node if maker is not None and maker.constant is None else None
    return node.inputs[0] if node is not None and node.op in ADDED and node.inputs else None


def before_operator(value: Value | None, op: str, makers: Makers) -> Value | None:
    """The first input of the node that computes a value; None if the node has another operator."""
    maker = makers.of(value) if value is not None else None
    node = maker.node if maker is not None else None
    return node.inputs[0] if node is not None and node.op == op and node.inputs else None


def _earlier_values(
    node: Node, given: Type | None, inputs: Inputs, *, same_rank: bool = True, same_shape: bool = False
) -> Mapping[Shape, Sequence[Value]]:
    """By shape, the earlier values with the element type of ``given``, and its rank or another one.

    The last comes first. Values with the shape of ``given`` are only returned if ``same_shape``.
    """
    found: dict[Shape, list[Value]] = {}
    for each in reversed(inputs.graph.nodes):
        for value in each.outputs if each.index < node.index else ():
            known = inputs.known.types.get(value) if value is not None and value not in node.inputs else None
            if value is None or not isinstance(known, Tensor) or not isinstance(given, Tensor):
                continue
            is_similar = known.dtype == given.dtype and (known.rank == given.rank) == same_rank
            if known.shape is not None and (same_shape or known.shape != given.shape) and is_similar:
                found.setdefault(known.shape, []).append(value)
    return found


def _connected(node: Node, port: int, several: Sequence[Value], inputs: Inputs) -> Candidate:
    """Connects one of several values of one shape: preferably an unused value, or the last of a chain of them."""
    unused = [each for each in several if not inputs.is_used_elsewhere(each, node)]
    ends = [each for each in several if not _keeps_shape(each, inputs)]
    usual = {made.op for each in inputs.editor.siblings(node) if (made := _maker_at(each, port, inputs)) is not None}
    alike = [each for each in several if (made := inputs.node_of(each)) is not None and made.op in usual]
    value = (*unused, *(each for each in ends if each in alike), *ends, *alike, *several)[0]
    called = inputs.editor.called(value)
    if len(several) > 1:
        called += f", one of {len(several)} values of its shape,"
    edit = inputs.editor.connected(value, node, port, called)
    return Candidate((edit,), LAST_RESORT, node, evidence=bool(ends), subject=(node, port), sure=bool(unused))


def _keeps_shape(value: Value, inputs: Inputs) -> bool:
    """Whether a user of a value computes another value of the same shape."""
    made = (each for user in inputs.users.get(value, ()) for each in user.outputs if each is not None)
    return any(shape_of(each, inputs.known) == shape_of(value, inputs.known) for each in made)
