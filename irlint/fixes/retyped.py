"""Guesses that change the element type of an input."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.edits import Edit
from irlint.fixes.doubts import TYPE_ATTRIBUTES
from irlint.fixes.guess import Guess
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST
from irlint.fixes.other_values import GUESS, SELDOM, UNSURE, USUAL
from irlint.inference.origins import inputs_of
from irlint.model import Node, Problem, Value
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Tensor
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.records import replaced

#: At most this many nodes are examined, going back from a node whose element types clash.
TYPED_NODES = 6

#: Two outputs are exchanged at no more than this many inputs.
EXCHANGED = 6


def retyped(problem: Problem, node: Node, inputs: Inputs) -> Iterator[Guess]:
    """Changes the element type of an input: of the constant, of the node or graph input from which it comes, or by
    a Cast. A zero point of another type is another number, so it is only suggested, with that number."""
    given, call = inputs_of(node, inputs.known), inputs.known.calls.get(node)
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    points = {port for port, name in enumerate(names) if "zero_point" in name}
    wanted = dict.fromkeys(each.dtype for each in given if isinstance(each, Tensor) and each.dtype)
    for port, (value, known) in enumerate(zip(node.inputs, given)):
        if value is None or not isinstance(known, Tensor) or (problem.fault.input in points and port not in points):
            continue
        others = ("int64", "int32", "bool") if known.dtype in FLOATS else ("float32", "int64", "int32", "bool")
        for dtype in dict.fromkeys((*wanted, *others)):
            if dtype == known.dtype:
                continue
            there = _types_there(node, port, inputs).count(dtype)
            if inputs.makers.is_constant(value):
                found = _constant_of_type(node, port, value, known, dtype, inputs)
                shift = _shift(node, port, known, dtype, inputs)
                stored = (
                    replaced(each, edits=(*each.edits, *shift), likely=UNSURE)
                    for each in found
                    if each.edits[0].kind != "insert"
                )
                yield from stored if port in points else found
            else:
                mixed = problem.fault.rule is ELEMENT_TYPES_DIFFER
                likely = GUESS if mixed and _is_converted(known.dtype, dtype) else SELDOM
                yield from _exchanged(value, dtype, inputs)
                found = _of_type(value, dtype, likely, inputs)
                at_source = [replaced(guess, count=there or guess.count) for guess in found]
                casts = []
                if inputs.known.format.writer == "onnx":
                    cast = inputs.guesses.inserted(CAST, node, port, (("to", dtype),))
                    rounds = known.dtype in FLOATS and dtype not in FLOATS and not inputs.is_spent(value, node)
                    is_mask = known.dtype == "bool" and not mixed
                    likely = SELDOM if is_mask or (mixed and _is_converted(known.dtype, dtype)) else GUESS
                    is_like = _is_cast_beside(node, port, dtype, inputs)
                    likely = USUAL if is_like else UNSURE if rounds else likely
                    casts.append(Guess((cast,), likely, count=there))
                is_inner = _is_converted(known.dtype, dtype) and value not in inputs.graph.inputs
                if casts and is_inner and any(edit.kind == "declaration" for each in at_source for edit in each.edits):
                    at_source = [replaced(each, likely=max(each.likely, likely)) for each in at_source]
                    yield from (*casts, *at_source)
                else:
                    yield from (*at_source, *casts)


def sources(node: Node, inputs: Inputs) -> list[Node]:
    """The nodes that give the inputs of a node their element types: those that compute the first inputs of each other,
    at most ``TYPED_NODES`` before each input."""
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


def _exchanged(value: Value, dtype: str, inputs: Inputs) -> Iterator[Guess]:
    """Exchanges two outputs of a node wherever they are used: the other one has the wanted element type."""
    maker = inputs.makers.of(value)
    outputs = maker.node.outputs if maker is not None and maker.node is not None else ()
    for other in outputs:
        if other is None or other is value or dtype_of(inputs.known.types.get(other)) != dtype:
            continue
        places = [
            (new, user, port)
            for old, new in ((value, other), (other, value))
            for user in dict.fromkeys(inputs.users.get(old, ()))
            for port, given in enumerate(user.inputs)
            if given is old
        ]
        if len(places) <= EXCHANGED and inputs.users.get(other):
            yield Guess(tuple(inputs.guesses.connected(new, user, port) for new, user, port in places), USUAL, count=1)


def _shift(node: Node, port: int, known: Tensor, dtype: str, inputs: Inputs) -> tuple[Edit, ...]:
    """The edit of a zero point that is stored with 8 bits of the other sign: its numbers are shifted by 128, like the
    data, unless stored data or the zero points of other nodes have its numbers."""
    value, numbers = node.inputs[port], [each for each in known.ints or () if isinstance(each, int)]
    if (
        value is None
        or {known.dtype, dtype} != {"int8", "uint8"}
        or not numbers
        or len(numbers) != len(known.ints or ())
    ):
        return ()
    others = [each.inputs[port] for each in inputs.guesses.of(node) if each is not node and port < len(each.inputs)]
    held = [each for value in others if value and isinstance(each := inputs.known.types.get(value), Tensor)]
    there = {number for each in held if each.dtype == dtype for number in each.ints or ()}
    shifted = tuple(number + (128 if dtype == "uint8" else -128) for number in numbers)
    fits = all(0 <= number < 128 for number in numbers)
    if fits and (there >= set(numbers) or (inputs.makers.is_constant(node.inputs[0]) and not there & set(shifted))):
        return ()
    return (inputs.guesses.constant(value, shifted),)


def _types_there(node: Node, port: int, inputs: Inputs) -> list[str | None]:
    """The element types that other nodes of the operator have at this input."""
    others = (each for each in inputs.guesses.of(node) if each is not node and port < len(each.inputs))
    return [dtype_of(inputs.known.types.get(value)) for each in others if (value := each.inputs[port]) is not None]


def behind(problem: Problem, node: Node, inputs: Inputs) -> Iterator[Guess]:
    """Gives the inputs of a node the element type that the file declares for its output. If an attribute of the
    node names this type, the attribute changes instead."""
    call = inputs.known.calls.get(node)
    names_type = call is not None and not set(TYPE_ATTRIBUTES).isdisjoint(call.attributes or ())
    for value in node.outputs:
        declared, given = (value.type, inputs.known.types.get(value)) if value is not None else (None, None)
        if value is None or value.name != problem.value or dtype_of(declared) == dtype_of(given):
            continue
        if names_type:
            yield from _of_type(value, dtype_of(declared) or "", SELDOM, inputs)
        if names_type or (dtype_of(given) in FLOATS and dtype_of(declared) not in FLOATS):
            continue
        for port, each in zip(node.inputs, inputs_of(node, inputs.known)):
            if port is not None and dtype_of(each) == dtype_of(given) and not inputs.makers.is_constant(port):
                yield from _of_type(port, dtype_of(declared) or "", SELDOM, inputs)


def _constant_of_type(
    node: Node, port: int, value: Value, known: Tensor, dtype: str, inputs: Inputs
) -> Iterator[Guess]:
    """Converts a constant to another element type, or connects an existing constant of this type. Floats become only
    integers that are equal, except for a bias that is quantized."""
    if known.dtype in FLOATS and dtype not in FLOATS and not _are_whole(known):
        numbers = _quantized(node, port, known, inputs)
        if numbers:
            of_type, entries = inputs.guesses.constant(value, dtype, "type"), inputs.guesses.constant(value, numbers)
            yield Guess((of_type, entries), SELDOM)
        return
    type_of = inputs.known.types.get
    there = [each.inputs[port] for each in inputs.guesses.of(node) if port < len(each.inputs)]
    similar = [each for each in there if each is not value and inputs.makers.is_constant(each)]
    others = [each for each in similar if each is not None and dtype_of(type_of(each)) == dtype]
    if inputs.known.format.writer == "onnx":
        yield Guess((inputs.guesses.inserted(CAST, node, port, (("to", dtype),)),), GUESS)
    if similar and not others:
        return
    stored = sum(dtype_of(type_of(each)) == dtype for each in (*inputs.graph.constants, *there) if each is not None)
    yield Guess((inputs.guesses.constant(value, dtype, "type"),), SELDOM, count=stored)
    for other in others if len(inputs.users.get(value, ())) > 1 else ():
        held = type_of(other)
        if isinstance(held, Tensor) and held.shape == known.shape:
            called = f"{inputs.guesses.called(other)}, one of {len(set(others))} of type {dtype} there,"
            yield Guess((inputs.guesses.connected(other, node, port, called),), SELDOM)
            return


def _are_whole(known: Tensor) -> bool:
    """Whether all elements are known to be integers."""
    return known.value is not None and all(isinstance(each, float) and each.is_integer() for each in known.value)


def _quantized(node: Node, port: int, known: Tensor, inputs: Inputs) -> tuple[int, ...]:
    """The elements of a bias as multiples of the product of both scales; () for another input, and if an element or
    a scale is unknown."""
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


def _of_type(value: Value, dtype: str, likely: int, inputs: Inputs) -> Iterator[Guess]:
    """Changes the element type where a value gets it: at the Cast or similar node, or at the input of the graph."""
    for _ in range(TYPED_NODES):
        known, maker = inputs.known.types.get(value), inputs.makers.of(value)
        if maker is None or not isinstance(known, Tensor):
            return
        node = maker.node if maker.constant is None else None
        if node is None and value in inputs.graph.constants:
            yield Guess((inputs.guesses.constant(value, dtype, "type"),), likely)
            return
        if node is None or node.op == inputs.known.format.input_node:
            yield Guess((inputs.guesses.declared(value, dtype, "type"),), likely)
            return
        call = inputs.known.calls.get(node)
        if call is None:
            return
        given = call.attributes or {}
        for name in (each for each in TYPE_ATTRIBUTES if each in given):
            number = NUMBERED_TYPES.index(dtype) + 1 if isinstance(given[name], int) else None
            edit = inputs.guesses.attribute(node, name, dtype if number is None else number, given[name])
            yield Guess((edit,), USUAL, node, count=inputs.guesses.usual(node, name).get(edit.value, 0))
            return
        first = node.inputs[0] if node.inputs else None
        before = inputs.known.types.get(first) if first is not None else None
        if first is None or not isinstance(before, Tensor) or before.dtype != known.dtype:
            return
        value = first


def _is_cast_beside(node: Node, port: int, dtype: str, inputs: Inputs) -> bool:
    """Whether another input of a node comes from a Cast to an element type, at most ``TYPED_NODES`` nodes before it."""
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
    """Whether models convert one element type to another on purpose, as for counts, masks and indices."""
    return given not in FLOATS or dtype not in FLOATS
