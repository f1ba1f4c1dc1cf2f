"""Guesses that connect other values as the inputs of a node: unused values, and values of another element type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, takewhile

from irlint.checks.intended import plain
from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inserted import CAST, NAMES, RESULTS
from irlint.fixes.names import may_be_renamed
from irlint.fixes.other_values import GUESS, SELDOM, UNSURE, USUAL
from irlint.inference.origins import inputs_of
from irlint.model import Node, Problem, Value
from irlint.model.order import downstream
from irlint.model.tensor import FLOATS, NUMBERED_TYPES, Tensor, Type
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.records import replaced

#: At most this many values that nothing uses are tried.
UNUSED = 24

#: At most this many inputs of a node are connected as in other blocks.
PORTS = 2

#: At most this many nodes are examined, going back from a node whose element types clash.
TYPED_NODES = 6

#: The attributes that name the element type of a result.
TYPE_ATTRIBUTES = ("to", "destination_type", "output_type", "dtype")


class Inputs:
    """Makes the guesses that connect other values to nodes of the main graph."""

    def __init__(self, guesses: Guesses) -> None:
        self.guesses = guesses
        self.known = guesses.known
        self.graph = guesses.graph
        self.makers = guesses.makers
        self.users = guesses.users

    def edited(self, edit: Edit) -> tuple[Node | None, Value | None]:
        """The node that an edit changes, and the value that is now the input that it names."""
        node = self._by_index.get(edit.index) if edit.index is not None and not edit.graph else None
        has = node is not None and edit.input is not None and edit.input < len(node.inputs)
        return node, node.inputs[edit.input] if has and node is not None and edit.input is not None else None

    @cached_property
    def _by_index(self) -> dict[int, Node]:
        return {node.index: node for node in self.graph.nodes}

    def left_over(self, nodes: Sequence[Node]) -> Iterator[Guess]:
        """Connects the graph's only unused value, or the only unused one that a node computes. It probably lost its
        user when an edge was connected wrongly."""
        made = [each for each in self.spare if self.is_made(each[0])]
        spare = made if len(made) == 1 else self.spare
        for node in nodes if len(spare) == 1 else ():
            for guess in self.unused([node], {}, any_rank=True):
                before = node.inputs[guess.edits[0].input or 0]
                lost = before is not None and (self.makers.is_constant(before) or self.is_used_elsewhere(before, node))
                if lost and guess.edits[0].value == spare[0][0].name:
                    yield replaced(guess, likely=USUAL, count=1)

    def left_over_of_type(self, node: Node) -> Iterator[Guess]:
        """Connects the only unused value if it has another element type, in place of an input of the same rank that
        other nodes also use."""
        made = [each for each in self.spare if self.is_made(each[0])]
        for port, (before, given) in enumerate(zip(node.inputs, inputs_of(node, self.known))):
            if before is None or not isinstance(given, Tensor) or not self.is_used_elsewhere(before, node):
                continue
            for value, known in made if len(made) == 1 else ():
                if known.dtype != given.dtype and known.rank == given.rank and value not in node.outputs:
                    called = f"{self.guesses.called(value)}, which nothing uses,"
                    yield Guess((self.guesses.connected(value, node, port, called),), USUAL, count=1)

    def may_take_left_over(self, node: Node) -> bool:
        """Whether the node could take an unused value: one of the element type and rank of an input, or a constant in
        place of a shared constant."""
        inputs = inputs_of(node, self.known)
        given = [(_dtype(each), each.rank) for each in inputs if isinstance(each, Tensor)]
        shared = {
            _dtype(known)
            for value, known in zip(node.inputs, inputs)
            if value is not None and self.makers.is_constant(value) and self.is_used_elsewhere(value, node)
        }
        return any(
            (known.dtype, known.rank) in given and value not in node.outputs
            if self.is_made(value)
            else known.dtype in shared
            for value, known in self.spare
        )

    @cached_property
    def spare(self) -> list[tuple[Value, Tensor]]:
        """The unused values whose name is unique, with their types. At most ``UNUSED``."""
        names: dict[str, int] = {}
        made = [value for each in self.graph.nodes for value in each.outputs if value is not None]
        for value in {*made, *self.graph.constants, *self.graph.inputs}:
            names[value.name] = names.get(value.name, 0) + 1
        returned = set(self.graph.outputs)
        return [
            (value, known)
            for value in (*chain.from_iterable(map(self._meant_to_be_used, self.graph.nodes)), *self.graph.constants)
            if value is not None
            and not self.users.get(value)
            and isinstance(known := self.known.types.get(value), Tensor)
            and value not in returned
            and names.get(value.name, 1) == 1
        ][:UNUSED]

    def unused(self, nodes: Iterable[Node], missing: Mapping[Node, int], *, any_rank: bool = False) -> Iterator[Guess]:
        """Connects an unused value in place of a similar input, or of the missing input that ``missing`` gives for a
        node."""
        several = len({value.name for value in self.graph.undefined}) > len(self.spare)
        for node in nodes if self.spare else ():
            behind = downstream(node, self.graph)
            for port, given in enumerate(inputs_of(node, self.known)):
                for value, known in self.spare:
                    maker = self.makers.of(value)
                    if (maker is not None and maker.node in behind) or (
                        port != missing[node] if node in missing else not _alike(known, given, any_rank)
                    ):
                        continue
                    makers = (
                        self._named_after(node.inputs[port]) or self._named_before(value) if node in missing else []
                    )
                    if makers and (maker is None or maker.node is None or maker.node.op != makers[0].op):
                        yield from self._behind(value, makers, node, port)
                        continue
                    unused = f"{self.guesses.called(value)}, which nothing uses,"
                    before = node.inputs[port]
                    renamed = not several and may_be_renamed(value, maker.node if maker else None, before, self.graph)
                    if node not in missing:
                        yield Guess((self.guesses.connected(value, node, port, unused),), GUESS)
                        continue
                    yield Guess(self._at_every_user(value, before, unused), SELDOM if renamed else UNSURE)

    def _at_every_user(self, value: Value, before: Value | None, called: str) -> tuple[Edit, ...]:
        """Connects a value as every input that has the undefined value ``before``."""
        users = self.users.get(before, ()) if before is not None else ()
        places = ((user, port) for user in users for port, given in enumerate(user.inputs) if given is before)
        return tuple(self.guesses.connected(value, user, port, called) for user, port in places)

    def as_in_other_blocks(self, node: Node) -> Iterator[Guess]:
        """Connects a node as the nodes of the same name in other blocks are connected (blocks are repeated parts such
        as ``layer.0`` and ``layer.1``). This swaps back the inputs of one layer's MatMul, and replaces a wrong
        connection with the matching value of the node's own block."""
        kinds = self._kinds_elsewhere(node)
        own = [self._kind(value) for value in node.inputs]
        differing = [port for port, kind in enumerate(kinds) if kind is not None and kind != own[port]]
        if not 0 < len(differing) <= PORTS:
            return
        edits = []
        for port in differing:
            value = self._nearest(node, kinds[port])
            is_lost = value is None or self._is_of_another_block(value, node, port)
            if is_lost and (inserted := self._like_elsewhere(node, port, kinds[port])) is not None:
                edits.append(inserted)
                continue
            if value is None or value is node.inputs[port] or self._is_another_weight(value, node.inputs[port]):
                return
            others = [each for at, each in enumerate(node.inputs) if at not in differing]
            if value in others and len(set(node.inputs)) == len(node.inputs):
                return
            edits.append(
                self.guesses.connected(value, node, port, f"{self.guesses.called(value)}, as in other blocks,")
            )
        yield Guess(tuple(edits), USUAL, count=1)

    def _is_another_weight(self, value: Value, given: Value | None) -> bool:
        """Whether both values are weights, and the new one has users already. Exporters store equal weights once, under
        the name of one of them."""
        both = self._is_stored(value) and self._is_stored(given)
        return both and _dtype(self.known.types.get(value)) in FLOATS and bool(self.users.get(value))

    def _is_stored(self, value: Value | None) -> bool:
        """Whether a value is a constant, perhaps with another name by an Identity."""
        maker = self.makers.of(value) if value is not None else None
        node = maker.node if maker is not None and maker.constant is None else None
        return (
            self._is_stored(node.inputs[0])
            if node is not None and node.op == "Identity"
            else self.makers.is_constant(value)
        )

    def _is_of_another_block(self, value: Value, node: Node, port: int) -> bool:
        """Whether a node of the same name in another block has a value there, and its name has more in common with that
        block than with the node's own."""
        maker = self.makers.of(value)
        made = maker.node.name if maker is not None and maker.node is not None else ""
        others = (each for each in self.alike_elsewhere(node) if each.inputs[port] is value)
        own = _letters_shared(made, node.name)
        return any(_letters_shared(made, each.name) > own for each in others)

    def alike_elsewhere(self, node: Node) -> list[Node]:
        """The nodes of the same name in other blocks."""
        return [
            each
            for each in self.guesses.of(node)
            if each is not node
            and node.name
            and plain(each.name) == plain(node.name)
            and len(each.inputs) == len(node.inputs)
        ]

    def _kinds_elsewhere(self, node: Node) -> list[tuple[str, str] | None]:
        """For each input, the kind of value that all nodes of the same name in other blocks have there; None if they
        differ."""
        if not plain(node.name).replace(node.op, "").strip("_/."):
            return []
        others = self.alike_elsewhere(node)
        found: list[tuple[str, str] | None] = []
        for port in range(len(node.inputs) if others else 0):
            kinds = {self._kind(each.inputs[port]) for each in others}
            found.append(kinds.pop() if len(kinds) == 1 else None)
        return found

    def _kind(self, value: Value | None) -> tuple[str, str] | None:
        """The kind of a value: the operator and the name of its node, without the part of the name that distinguishes
        blocks."""
        maker = self.makers.of(value) if value is not None else None
        if value is None or maker is None:
            return None
        node = maker.node
        return (node.op, plain(node.name) or plain(value.name)) if node is not None else ("", plain(value.name))

    def _like_elsewhere(self, node: Node, port: int, kind: tuple[str, str] | None) -> Edit | None:
        """Inserts a node before an input, as nodes of the same name in other blocks have one there. None if no such
        node can be inserted."""
        like = next(
            (each for each in self.graph.nodes if kind and each.op == kind[0] and plain(each.name) == kind[1]), None
        )
        if like is None or like.op not in RESULTS or not like.inputs or self.known.format.writer != "onnx":
            return None
        given = {
            name: tuple(each.value) if isinstance(each.value, list) else each.value
            for name, each in like.attributes.items()
        }
        if len(like.inputs) > 1 and like.inputs[1] is not None:
            held = self.known.types.get(like.inputs[1])
            given["axes"] = held.value if isinstance(held, Tensor) else None
        name = NAMES[like.op]
        value = given.get(name)
        if name == "to" and isinstance(value, int) and 0 < value <= len(NUMBERED_TYPES):
            value = NUMBERED_TYPES[value - 1]
        return None if value is None else self.guesses.inserted(like.op, node, port, ((name, value),))

    def _nearest(self, node: Node, kind: tuple[str, str] | None) -> Value | None:
        """The nearest value of a kind: an input of the node, an unused value, or the last such value before the
        node."""
        own = next((value for value in node.inputs if value is not None and self._kind(value) == kind), None)
        if own is not None:
            return own
        spare = next((value for value, _ in self.spare if self._kind(value) == kind), None)
        if spare is not None:
            return spare
        before = (each for each in reversed(self.graph.nodes) if each.index < node.index)
        made = (value for each in before for value in each.outputs if value is not None)
        stored = (value for value in self.graph.constants if not self.users.get(value))
        return next((value for value in chain(made, stored) if self._kind(value) == kind), None)

    def is_used_elsewhere(self, value: Value, node: Node) -> bool:
        """Whether anything but ``node`` uses a value, outputs of the graph included. A value that is connected by
        mistake still has its other users; the right value lost one."""
        return value in self.graph.outputs or any(each is not node for each in self.users.get(value, ()))

    def _is_spent(self, value: Value, node: Node) -> bool:
        """Whether only this node uses a value, and no computed value is unused. Then only the node between the two is
        missing."""
        return not self.is_used_elsewhere(value, node) and not any(self.is_made(each) for each, _ in self.spare)

    def is_made(self, value: Value | None) -> bool:
        """Whether a node computes a value, and the value is not constant."""
        maker = self.makers.of(value) if value is not None else None
        return maker is not None and maker.node is not None and not self.makers.is_constant(value)

    def _meant_to_be_used(self, node: Node) -> Sequence[Value | None]:
        """The outputs of a node that should have a user: all outputs, or only those that are never optional if another
        output is used."""
        if not any(value is not None and self.users.get(value) for value in node.outputs):
            return node.outputs
        call = self.known.calls.get(node)
        formal = call.schema.outputs if call is not None and call.schema is not None else ()
        if formal and formal[-1].option == "variadic":
            return node.outputs
        return [value for value, each in zip(node.outputs, formal) if each.option == "single"]

    def _named_after(self, value: Value | None) -> list[Node]:
        """The nodes whose operator gave a value its name: ``/block/Relu_output_0`` or ``/block/Relu_1``."""
        name = value.name.rpartition("/")[2] if value is not None else ""
        op = name.partition("_output_")[0].rstrip("0123456789").removesuffix("_")
        return [each for each in self.graph.nodes if each.op in (op, name)]

    def _named_before(self, value: Value) -> list[Node]:
        """The nodes whose operator gave a value its name in PyTorch: ``onnx::Relu_8`` is the input of a Relu."""
        prefix, _, name = value.name.rpartition("::")
        op = name.rstrip("0123456789").removesuffix("_")
        return [each for each in self.graph.nodes if each.op == op] if prefix == "onnx" else []

    def _behind(self, value: Value, makers: Sequence[Node], node: Node, port: int) -> Iterator[Guess]:
        """Connects an unused value, and inserts a node like one of ``makers`` between it and the input."""
        like = next((each for each in makers if len(each.inputs) == 1), None)
        if like is not None:
            connected = self.guesses.connected(value, node, port, f"{self.guesses.called(value)}, which nothing uses,")
            yield Guess((connected, self.guesses.inserted(like.op, node, port)), SELDOM)

    def retyped(self, problem: Problem, node: Node) -> Iterator[Guess]:
        """Changes the element type of an input: of the constant, of the node or graph input from which it comes, or by
        a Cast."""
        inputs, call = inputs_of(node, self.known), self.known.calls.get(node)
        wanted = dict.fromkeys(each.dtype for each in inputs if isinstance(each, Tensor) and each.dtype)
        names = call.signature.inputs if call is not None and call.signature is not None else ()
        points = {port for port, name in enumerate(names) if "zero_point" in name}
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            if value is None or not isinstance(known, Tensor) or (problem.fault.input in points and port not in points):
                continue
            others = ("int64", "int32", "bool") if known.dtype in FLOATS else ("float32", "int64", "int32", "bool")
            for dtype in dict.fromkeys((*wanted, *others)):
                if dtype == known.dtype:
                    continue
                there = self._types_there(node, port).count(dtype)
                if self.makers.is_constant(value):
                    yield from self._constant_of_type(node, port, value, known, dtype)
                else:
                    mixed = problem.fault.rule is ELEMENT_TYPES_DIFFER
                    likely = GUESS if mixed and _is_converted(known.dtype, dtype) else SELDOM
                    yield from (replaced(guess, count=there) for guess in self._of_type(value, dtype, likely))
                    if self.known.format.writer == "onnx":
                        cast = self.guesses.inserted(CAST, node, port, (("to", dtype),))
                        rounds = known.dtype in FLOATS and dtype not in FLOATS and not self._is_spent(value, node)
                        likely = SELDOM if mixed and _is_converted(known.dtype, dtype) else GUESS
                        yield Guess((cast,), UNSURE if rounds else likely, count=there)

    def _types_there(self, node: Node, port: int) -> list[str | None]:
        """The element types that other nodes of the operator have at this input."""
        others = (each for each in self.guesses.of(node) if each is not node and port < len(each.inputs))
        return [_dtype(self.known.types.get(value)) for each in others if (value := each.inputs[port]) is not None]

    def behind(self, problem: Problem, node: Node) -> Iterator[Guess]:
        """Gives the inputs of a node the element type that the file declares for its output. If an attribute of the
        node names this type, the attribute changes instead."""
        call = self.known.calls.get(node)
        names_type = call is not None and not set(TYPE_ATTRIBUTES).isdisjoint(call.attributes or ())
        for value in node.outputs:
            declared, given = (value.type, self.known.types.get(value)) if value is not None else (None, None)
            if value is None or value.name != problem.value or _dtype(declared) == _dtype(given):
                continue
            if names_type:
                yield from self._of_type(value, _dtype(declared) or "", SELDOM)
            if names_type or (_dtype(given) in FLOATS and _dtype(declared) not in FLOATS):
                continue
            for port, each in zip(node.inputs, inputs_of(node, self.known)):
                if port is not None and _dtype(each) == _dtype(given) and not self.makers.is_constant(port):
                    yield from self._of_type(port, _dtype(declared) or "", SELDOM)

    def _constant_of_type(self, node: Node, port: int, value: Value, known: Tensor, dtype: str) -> Iterator[Guess]:
        """Converts a constant to another element type, or connects an existing constant of this type. Weights (floats
        of two or more axes) do not become integers."""
        if known.dtype in FLOATS and (known.rank or 0) > 1 and dtype not in FLOATS:
            return
        type_of = self.known.types.get
        there = [each.inputs[port] for each in self.guesses.of(node) if port < len(each.inputs)]
        similar = [each for each in there if each is not value and self.makers.is_constant(each)]
        others = [each for each in similar if each is not None and _dtype(type_of(each)) == dtype]
        if self.known.format.writer == "onnx":
            yield Guess((self.guesses.inserted(CAST, node, port, (("to", dtype),)),), GUESS)
        if similar and not others:
            return
        stored = sum(_dtype(type_of(each)) == dtype for each in self.graph.constants)
        yield Guess((self.guesses.constant(value, dtype, "type"),), SELDOM, count=stored)
        for other in others if len(self.users.get(value, ())) > 1 else ():
            held = type_of(other)
            if isinstance(held, Tensor) and held.shape == known.shape:
                called = f"{self.guesses.called(other)}, one of {len(set(others))} of type {dtype} there,"
                yield Guess((self.guesses.connected(other, node, port, called),), SELDOM)
                return

    def _of_type(self, value: Value, dtype: str, likely: int) -> Iterator[Guess]:
        """Changes the element type where a value gets it: at the Cast or similar node, or at the input of the graph."""
        for _ in range(TYPED_NODES):
            known, maker = self.known.types.get(value), self.makers.of(value)
            if maker is None or not isinstance(known, Tensor):
                return
            node = maker.node if maker.constant is None else None
            if node is None or node.op == self.known.format.input_node:
                yield Guess((self.guesses.declared(value, dtype, "type"),), likely)
                return
            call = self.known.calls.get(node)
            if call is None:
                return
            given = call.attributes or {}
            for name in (each for each in TYPE_ATTRIBUTES if each in given):
                number = NUMBERED_TYPES.index(dtype) + 1 if isinstance(given[name], int) else None
                edit = self.guesses.attribute(node, name, dtype if number is None else number, given[name])
                yield Guess((edit,), USUAL, node)
                return
            first = node.inputs[0] if node.inputs else None
            before = self.known.types.get(first) if first is not None else None
            if first is None or not isinstance(before, Tensor) or before.dtype != known.dtype:
                return
            value = first


def _is_converted(given: str | None, dtype: str) -> bool:
    """Whether models convert one element type to another on purpose, as for counts, masks and indices."""
    return given not in FLOATS or dtype not in FLOATS


def _letters_shared(one: str, other: str) -> int:
    """The number of letters with which two names begin alike."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other))))


def _dtype(known: Type | None) -> str | None:
    return known.dtype if isinstance(known, Tensor) else None


def _alike(known: Tensor, given: Type | None, any_rank: bool) -> bool:
    """Whether a value could replace an input: it has the same element type, and the same rank unless ``any_rank``."""
    same_rank = any_rank or (isinstance(given, Tensor) and known.rank == given.rank)
    return isinstance(given, Tensor) and known.dtype == given.dtype and same_rank and known != given
