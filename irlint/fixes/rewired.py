"""Guesses that connect an earlier value in place of a wrong one, or give a weight the shape that it has elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product, takewhile

from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.fixes.contents import entries_of
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.other_values import LAST, SELDOM, SPATIAL, USUAL
from irlint.inference.origins import Makers, inputs_of, shape_of
from irlint.model import Node, Problem, Value
from irlint.model.order import downstream
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE
from irlint.records import replaced


def rewired(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Guess]:
    """Connects earlier values of the same element type and rank to each input whose value other nodes use, too. Of
    values of one shape, only one is tried."""
    for node in nodes:
        for port, (value, given) in enumerate(zip(node.inputs, inputs_of(node, inputs.known))):
            if value is not None and inputs.is_made(value) and inputs.is_used_elsewhere(value, node):
                several = _made_before(node, given, inputs).values()
                yield from (_connected(node, port, each, inputs) for each in several)


def moved(node: Node, inputs: Inputs) -> Iterator[Guess]:
    """Connects the value of an optional input as another one that is empty, such as ``sizes`` in place of ``scales``.
    Integers may as well be converted, unless the first ones are the batch and the channels of the first input."""
    call, given = inputs.known.calls.get(node), inputs_of(node, inputs.known)
    formal = call.schema.inputs if call is not None and call.schema is not None else ()
    optional = [at for at, each in enumerate(formal) if each.option == "optional"]
    ports = [at for at in optional if at < len(node.inputs) and node.inputs[at] is not None]
    empty = [at for at in optional if at not in ports]
    for port, other in product(ports, empty) if inputs.known.format.writer == "onnx" else ():
        known, data = given[port], shape_of(node.inputs[0], inputs.known) or ()
        entries = known.ints or () if isinstance(known, Tensor) else ()
        alike = entries[:SPATIAL] == data[:SPATIAL] != (1, 1) and len(entries) == len(data)
        alike = alike or (isinstance(known, Tensor) and known.dtype not in INTEGERS)
        edits = inputs.guesses.connected(node.inputs[port], node, other), inputs.guesses.connected(None, node, port)
        yield Guess(edits, USUAL if alike else SELDOM, count=int(alike))


def bypassed(node: Node, nodes: Sequence[Node], inputs: Inputs) -> Iterator[Guess]:
    """Connects what a Transpose takes, in place of its result. One behind an input of the model was probably added,
    because the layout of the input was taken for another one; and one whose result only gives its shape."""
    for port, value in enumerate(node.inputs):
        before = reordered(value, inputs.makers)
        if before is not None:
            count = 1 if before in inputs.graph.inputs else -1
            yield Guess((_without(before, node, port, inputs),), SELDOM, count=count)
    for each in nodes:
        value = each.outputs[0]
        before, users = reordered(value, inputs.makers), inputs.users.get(value, ()) if value is not None else ()
        if before is not None and users and all(_is_shape(user, value, inputs) for user in users):
            yield Guess(tuple(_without(before, user, 0, inputs) for user in users), SELDOM, each, count=1)


def _is_shape(node: Node, value: Value | None, inputs: Inputs) -> bool:
    """Whether a node gives the shape of a value."""
    known = inputs.known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
    return isinstance(known, Tensor) and known.value is not None and known.value == shape_of(value, inputs.known)


def _without(before: Value, node: Node, port: int, inputs: Inputs) -> Edit:
    return inputs.guesses.connected(before, node, port, f"{inputs.guesses.called(before)}, without the Transpose,")


def counted_otherwise(problem: Problem, inputs: Inputs) -> Iterator[Guess]:
    """Connects what the trip count of a loop is computed from, in place of it, if an index in the body is outside of
    its axis."""
    loops = (node for node in inputs.graph.nodes for _, body in node.bodies if body.path == problem.graph)
    for loop in loops if problem.fault.rule is INDEX_OUT_OF_RANGE else ():
        count = loop.inputs[0] if loop.inputs else None
        maker = inputs.makers.of(count) if count is not None else None
        if count is None or maker is None or maker.node is None:
            continue
        for value in maker.node.inputs:
            if value is not None and not inputs.makers.is_constant(value) and _have_one_type(value, count, inputs):
                called = f"{inputs.guesses.called(value)}, without the {maker.node.op},"
                yield Guess((inputs.guesses.connected(value, loop, 0, called),), SELDOM)


def _have_one_type(value: Value, other: Value, inputs: Inputs) -> bool:
    one, two = (inputs.known.types.get(each) for each in (value, other))
    return isinstance(one, Tensor) and isinstance(two, Tensor) and (one.dtype, one.shape) == (two.dtype, two.shape)


def weights_as_elsewhere(node: Node, inputs: Inputs) -> Iterator[Guess]:
    """Weights with the shape that the file declares for them, or that the nodes of the same name in other blocks have
    there. They are only suggested."""
    for port, value in enumerate(node.inputs):
        shape = shape_of(value, inputs.known)
        if value is None or shape is None or not inputs.makers.is_constant(value):
            continue
        if entries_of(inputs.known.types.get(value)):
            continue
        shapes = {shape_of(each.inputs[port], inputs.known) for each in inputs.alike_elsewhere(node)}
        declared = value.type.shape if isinstance(value.type, Tensor) else None
        for other in dict.fromkeys((declared, *(shapes if len(shapes) == 1 else ()))):
            if other is not None and len(other) == len(shape) and other != shape:
                yield Guess((inputs.guesses.constant(value, other, "shape"),), SELDOM, sure=False)


def exchanged_weights(node: Node, inputs: Inputs) -> Iterator[Guess]:
    """Exchanges the weights of two nodes of one operator, which feed the same node: each has those of the other."""
    near = {user for value in node.outputs if value is not None for user in inputs.users.get(value, ())}
    makers = [inputs.makers.of(value) for user in near for value in user.inputs if value is not None]
    others = dict.fromkeys(each.node for each in makers if each is not None and each.node is not None)
    for other in (each for each in others if each is not node and each.op == node.op):
        for port, (one, two) in enumerate(zip(node.inputs, other.inputs)):
            if one is None or two is None or not all(map(inputs.makers.is_constant, (one, two))):
                continue
            if shape_of(one, inputs.known) != shape_of(two, inputs.known):
                edits = inputs.guesses.connected(two, node, port), inputs.guesses.connected(one, other, port)
                yield Guess(tuple(replaced(edit, swaps=True) for edit in edits), USUAL, count=1)


def reordered(value: Value | None, makers: Makers) -> Value | None:
    """The input of the Transpose that makes a value; None if no Transpose makes it."""
    maker = makers.of(value) if value is not None else None
    made = maker.node if maker is not None else None
    return made.inputs[0] if made is not None and made.op == TRANSPOSE and made.inputs else None


def _made_before(node: Node, given: Type | None, inputs: Inputs) -> Mapping[Shape, Sequence[Value]]:
    """The values that nodes before this one compute, of the element type and rank of ``given`` and another shape, by
    shape, the last ones first."""
    found: dict[Shape, list[Value]] = {}
    for each in reversed(inputs.graph.nodes):
        for value in each.outputs if each.index < node.index else ():
            known = inputs.known.types.get(value) if value is not None and value not in node.inputs else None
            if value is None or not isinstance(known, Tensor) or not isinstance(given, Tensor):
                continue
            is_like = known.dtype == given.dtype and known.rank == given.rank
            if known.shape is not None and known.shape != given.shape and is_like:
                found.setdefault(known.shape, []).append(value)
    return found


def _connected(node: Node, port: int, several: Sequence[Value], inputs: Inputs) -> Guess:
    """Connects one of several values of one shape: an unused one, else the last one that no user turns into another
    value of this shape, as the last one of an encoder's level, else the last one."""
    unused = [each for each in several if not inputs.is_used_elsewhere(each, node)]
    ends = [each for each in several if not _is_kept(each, inputs)]
    value = (*unused, *ends, *several)[0]
    called = inputs.guesses.called(value)
    if len(several) > 1:
        called += f", one of {len(several)} values of its shape,"
    edit = inputs.guesses.connected(value, node, port, called)
    return Guess((edit,), LAST, node, count=bool(ends), about=(node, port), sure=bool(unused))


def _is_kept(value: Value, inputs: Inputs) -> bool:
    """Whether a user of a value makes another one of the same shape from it."""
    made = (each for user in inputs.users.get(value, ()) for each in user.outputs if each is not None)
    return any(shape_of(each, inputs.known) == shape_of(value, inputs.known) for each in made)


def declared_alike(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Declares an input of the model on which a node depends with the sizes of several others of similar names, if they
    all differ from it in one fixed size."""
    shapes = {value: shape_of(value, guesses.known) or () for value in guesses.graph.inputs}
    for value in (each for each in shapes if each not in guesses.known.overridden):
        named = [each for each in shapes if each is not value and _family(each.name) == _family(value.name)]
        alike = {shapes[each] for each in named}
        shape = alike.pop() if len(alike) == 1 < len(named) else ()
        differing = [pair for pair in zip(shapes[value], shape) if pair[0] != pair[1]]
        is_apart = len(differing) == 1 and all(isinstance(each, int) for each in differing[0])
        users = guesses.users.get(value, ()) if is_apart and len(shape) == len(shapes[value]) else ()
        if any(each is node or node in downstream(each, guesses.graph) for each in users):
            yield Guess((guesses.declared(value, shape),), USUAL, count=len(named), about=value)


def _family(name: str) -> str:
    """The letters with which a name begins: ``past`` of ``past.0.key`` and of ``past_1``."""
    return "".join(takewhile(str.isalpha, name))
