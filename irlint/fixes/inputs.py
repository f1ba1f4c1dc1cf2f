"""Guesses that connect other values as the inputs of a node: unused values, and values of another element type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, takewhile

from irlint.checks.intended import plain
from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.fixes.blocks import Blocks
from irlint.fixes.flow import Flow
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inserted import RESHAPE
from irlint.fixes.names import may_be_renamed
from irlint.fixes.other_values import GUESS, SELDOM, UNSURE, USUAL
from irlint.inference.origins import inputs_of
from irlint.model import Node, Value
from irlint.model.order import downstream, used_values
from irlint.model.tensor import FLOATS, Tensor, Type
from irlint.records import replaced

#: If more values of an element type than this are unused, they are not tried.
UNUSED = 24

#: At most this many inputs of a node are connected as in other blocks.
PORTS = 2


class Inputs:
    """Makes the guesses that connect other values to nodes of the main graph."""

    def __init__(self, guesses: Guesses) -> None:
        self.guesses = guesses
        self.known = guesses.known
        self.graph = guesses.graph
        self.makers = guesses.makers
        self.users = guesses.users
        self.blocks = Blocks(guesses)
        self.flow = Flow(guesses.known, guesses.graph)

    def edited(self, edit: Edit) -> tuple[Node | None, Value | None]:
        """The node that an edit changes, and the value that is now the input that it names."""
        node = self._by_index.get(edit.index) if edit.index is not None and not edit.graph else None
        has = node is not None and edit.input is not None and edit.input < len(node.inputs)
        return node, node.inputs[edit.input] if has and node is not None and edit.input is not None else None

    def taken(self, edits: Sequence[Edit]) -> set[str]:
        """The names of the values that nodes have before edits of inputs, and not after them."""
        before = (self.edited(edit)[1] for edit in edits if edit.kind == "input")
        return {value.name for value in before if value is not None} - {edit.value for edit in edits}

    def is_spare_result(self, name: str) -> bool:
        """Whether nothing uses the value of a name, which a node computes from an input of the model."""
        return any(value.name == name and self.is_made(value) for value, _ in self.spare)

    def replaces_computed(self, edit: Edit) -> bool:
        """Whether an edit connects a constant of floats that has users, in place of floats that a node computes."""
        before = self.edited(edit)[1] if edit.kind == "input" and not edit.swaps else None
        new = self._stored.get(str(edit.value)) if before is not None and self.is_made(before) else None
        types = [dtype_of(self.known.types.get(each)) for each in (before, new) if each is not None]
        return new is not None and bool(self.users.get(new)) and set(types) <= FLOATS

    @cached_property
    def _stored(self) -> dict[str, Value]:
        made = (value for node in self.graph.nodes for value in node.outputs if value is not None)
        return {each.name: each for each in (*self.graph.constants, *made) if self.makers.is_constant(each)}

    def users_of(self, name: str) -> Sequence[Node]:
        """The nodes of the main graph that use the value of a name."""
        return [user for value, several in self.users.items() if value.name == name for user in several]

    @cached_property
    def _by_index(self) -> dict[int, Node]:
        return {node.index: node for node in self.graph.nodes}

    def left_over(self, nodes: Sequence[Node]) -> Iterator[Guess]:
        """Connects the only unused value of an element type, or the only one that a node computes. It probably lost its
        user when an edge was connected wrongly."""
        alone = {value.name for value in self._alone}
        for node in nodes if alone else ():
            for guess in self.unused([node], {}, any_rank=True):
                before = node.inputs[guess.edits[0].input or 0]
                lost = before is not None and (self.makers.is_constant(before) or self.is_used_elsewhere(before, node))
                if lost and guess.edits[0].value in alone:
                    every = self._at_constants_alike(node, before, guess.edits[0])
                    yield from (replaced(guess, edits=every, likely=USUAL, count=2),) if len(every) > 1 else ()
                    yield replaced(guess, likely=USUAL, count=1)

    def _at_constants_alike(self, node: Node, before: Value | None, edit: Edit) -> tuple[Edit, ...]:
        """The edits that connect a value in place of every constant of a node with the type of the constant before."""
        given = self.known.types.get(before) if before is not None and self.makers.is_constant(before) else None
        types = enumerate(zip(node.inputs, inputs_of(node, self.known)))
        ports = [port for port, (each, known) in types if known == given and self.makers.is_constant(each)]
        return tuple(replaced(edit, input=port) for port in ports) if isinstance(given, Tensor) and given.rank else ()

    def left_over_before(self, node: Node) -> Iterator[Guess]:
        """Inserts the only unused value of an element type before an input, so that the inputs after it move: one was
        lost there."""
        call = self.known.calls.get(node)
        most = len(call.signature.inputs) if call is not None and call.signature is not None else 0
        for value in self._alone if 0 < len(node.inputs) < most and None not in node.inputs else ():
            for port in range(len(node.inputs)):
                after = [*node.inputs[:port], value, *node.inputs[port:]]
                moved = [(at, each) for at, each in enumerate(after) if at >= port and each is not None]
                if value not in node.outputs:
                    yield Guess(tuple(self.guesses.connected(each, node, at) for at, each in moved), USUAL, count=1)

    @cached_property
    def _alone(self) -> list[Value]:
        """The unused values that are alone: each is the only one of its element type, or the only one of it that a node
        computes."""
        found: dict[str | None, list[Value]] = {}
        for value, known in self.spare:
            found.setdefault(known.dtype, []).append(value)
        groups = [[each for each in values if self._is_dynamic(each)] or values for values in found.values()]
        return [values[0] for values in groups if len(values) == 1]

    def left_over_of_type(self, node: Node) -> Iterator[Guess]:
        """Connects the only unused value if it has another element type, in place of an input that other nodes also
        use."""
        made = [each for each in self.spare if self.is_made(each[0])]
        for port, (before, given) in enumerate(zip(node.inputs, inputs_of(node, self.known))):
            if before is None or given is None or not self.is_used_elsewhere(before, node):
                continue
            for value, known in made if len(made) == 1 else ():
                if known.dtype != dtype_of(given) and value not in node.outputs:
                    called = f"{self.guesses.called(value)}, which nothing uses,"
                    yield Guess((self.guesses.connected(value, node, port, called),), USUAL, count=1)

    def may_take_left_over(self, node: Node) -> bool:
        """Whether the node could take an unused value: one of the element type and rank of an input, or a constant in
        place of a shared constant."""
        inputs = inputs_of(node, self.known)
        given = [(dtype_of(each), each.rank) for each in inputs if isinstance(each, Tensor)]
        shared = {
            dtype_of(known)
            for value, known in zip(node.inputs, inputs)
            if value is not None and self.makers.is_constant(value) and self.is_used_elsewhere(value, node)
        }
        return any(
            (known.dtype, known.rank) in given and value not in node.outputs
            if self._is_dynamic(value)
            else known.dtype in shared
            for value, known in self.spare
        )

    @cached_property
    def spare(self) -> list[tuple[Value, Tensor]]:
        """The unused values whose name is unique, with their types. Of an element type there are at most ``UNUSED``."""
        names: dict[str, int] = {}
        made = [value for each in self.graph.nodes for value in each.outputs if value is not None]
        for value in {*made, *self.graph.constants, *self.graph.inputs}:
            names[value.name] = names.get(value.name, 0) + 1
        needed = used_values(self.graph)
        spare = [
            (value, known)
            for value in (
                *chain.from_iterable(map(self._meant_to_be_used, self.graph.nodes)),
                *self.graph.constants,
                *(each for each in self.graph.inputs if each not in self.graph.constants),
            )
            if value is not None
            and not self.users.get(value)
            and isinstance(known := self.known.types.get(value), Tensor)
            and value not in needed
            and names.get(value.name, 1) == 1
        ]
        counts: dict[str | None, int] = {}
        for _, known in spare:
            counts[known.dtype] = counts.get(known.dtype, 0) + 1
        return [(value, known) for value, known in spare if counts[known.dtype] <= UNUSED]

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
        yield from self.blocks.as_wired(node)
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
        return both and dtype_of(self.known.types.get(value)) in FLOATS and bool(self.users.get(value))

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
        similar = [each for each in self.graph.nodes if kind and each.op == kind[0] and plain(each.name) == kind[1]]
        like = similar[0] if similar else None
        if like is not None and like.op == RESHAPE and self.known.format.writer == "onnx":
            return self._reshaped(node, port, similar)
        return None if like is None else self.guesses.copied(like, node, port)

    def _reshaped(self, node: Node, port: int, similar: Sequence[Node]) -> Edit | None:
        """Inserts a Reshape before an input, with a target of a similar Reshape that has as many elements."""
        given = inputs_of(node, self.known)[port]
        targets = [each.inputs[1] for each in similar if len(each.inputs) > 1]
        for value in dict.fromkeys(each for each in targets if each is not None and self.makers.is_constant(each)):
            held = self.known.types.get(value)
            entries = held.ints if isinstance(held, Tensor) else None
            if entries and isinstance(given, Tensor) and given.shape and product(entries) == product(given.shape):
                return self.guesses.inserted(RESHAPE, node, port, inputs=(value.name,))
        return None

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
        """Whether anything but one input of ``node`` uses a value, outputs of the graph included. A value that is
        connected by mistake still has its other users; the right value lost one."""
        elsewhere = node.inputs.count(value) > 1 or any(each is not node for each in self.users.get(value, ()))
        return value in self.graph.outputs or elsewhere

    def is_spent(self, value: Value, node: Node) -> bool:
        """Whether only this node uses a value, and no computed value is unused. Then only the node between the two is
        missing."""
        return not self.is_used_elsewhere(value, node) and not any(self.is_made(each) for each, _ in self.spare)

    def is_made(self, value: Value | None) -> bool:
        """Whether a node computes a value, and the value is not constant."""
        maker = self.makers.of(value) if value is not None else None
        return maker is not None and maker.node is not None and not self.makers.is_constant(value)

    def _is_dynamic(self, value: Value) -> bool:
        """Whether a value is computed, or is an input of the model."""
        return self.is_made(value) or (value in self.graph.inputs and value not in self.graph.constants)

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


def _letters_shared(one: str, other: str) -> int:
    """The number of letters with which two names begin alike."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other))))


def dtype_of(known: Type | None) -> str | None:
    """The element type of a type; None if it is unknown."""
    return known.dtype if isinstance(known, Tensor) else None


def _alike(known: Tensor, given: Type | None, any_rank: bool) -> bool:
    """Whether a value could replace an input: it has the same element type, and the same rank unless ``any_rank``."""
    same_rank = any_rank or (isinstance(given, Tensor) and known.rank == given.rank)
    return isinstance(given, Tensor) and known.dtype == given.dtype and same_rank and known != given
