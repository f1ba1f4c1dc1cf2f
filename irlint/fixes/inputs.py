"""Candidates that connect other values to a node: unused values, or the values that similar nodes have."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, takewhile

from irlint.checks.intended import plain
from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.fixes.blocks import Blocks
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.flow import Flow
from irlint.fixes.inserted import RESHAPE
from irlint.fixes.names import may_be_renamed
from irlint.fixes.other_values import EVIDENT, ONLY_SUGGESTED, POSSIBLE, PROBABLE
from irlint.fixes.surroundings import Surroundings
from irlint.inference.origins import inputs_of
from irlint.model import Node, Value
from irlint.model.order import downstream, used_values, uses
from irlint.model.tensor import FLOATS, Tensor, Type
from irlint.records import replaced

#: If more values of one element type are unused, none of them is tried.
UNUSED = 24

#: At most this many inputs of a node are connected as in other blocks.
PORTS = 2


#: What remains of a name such as "node_MatMul_12" without its operator and numbers. It shows no block.
UNNAMED = "node"


class Inputs:
    """Makes candidates that connect other values to nodes of the main graph."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.known = editor.known
        self.graph = editor.graph
        self.makers = editor.makers
        self.users = editor.users
        self.blocks = Blocks(editor)
        self.flow = Flow(editor.known, editor.graph)
        self.surroundings = Surroundings(editor)

    def edited(self, edit: Edit) -> tuple[Node | None, Value | None]:
        """(node that an edit changes, value at its input before); None for what it does not name, or is in a body."""
        node = self._by_index.get(edit.index) if edit.index is not None and not edit.graph else None
        port = edit.input
        return node, node.inputs[port] if node is not None and port is not None and port < len(node.inputs) else None

    def disconnected(self, edits: Sequence[Edit]) -> set[str]:
        """The names of the values that edits of inputs replace and do not connect elsewhere."""
        before = (self.edited(edit)[1] for edit in edits if edit.kind == "input")
        return {value.name for value in before if value is not None} - {edit.value for edit in edits}

    def lost_nodes(self, edits: Sequence[Edit]) -> set[Node]:
        """The nodes whose results have no user after the edits. Nodes such as Constant do not count."""
        gone = {(edit.index, edit.input) for edit in edits if edit.kind == "input"}
        connected = {str(edit.value) for edit in edits}
        waiting = [self.edited(edit)[1] for edit in edits if edit.kind == "input"]
        lost: set[Node] = set()
        for value in waiting:
            node = self.node_of(value) if self.is_made(value) else None
            if node is not None and node not in lost and not self._keeps_user(node, gone, connected, lost):
                lost.add(node)
                waiting += node.inputs
        return lost

    @cached_property
    def _used_by_others(self) -> set[Value]:
        """The outputs of the graph, and the values that bodies use."""
        return {*self.graph.outputs, *(value for body in self.graph.bodies for value in body.captured)}

    def _keeps_user(self, node: Node, gone: Container[object], connected: Container[str], lost: Set[Node]) -> bool:
        for value in (each for each in node.outputs if each is not None):
            ports = uses(value, self.users.get(value, ()))
            if value.name in connected or value in self._used_by_others:
                return True
            if any(user not in lost and (user.index, port) not in gone for user, port in ports):
                return True
        return False

    def is_unused_result(self, name: str) -> bool:
        """Whether an unused value has this name, and a node computes it (see ``is_made``)."""
        return any(value.name == name and self.is_made(value) for value, _ in self.unused_values)

    def replaces_computed(self, edit: Edit) -> bool:
        """Whether an edit connects a constant of floats that has users, in place of floats that a node computes."""
        before = self.edited(edit)[1] if edit.kind == "input" and not edit.swaps else None
        new = self._constants_by_name.get(str(edit.value)) if before is not None and self.is_made(before) else None
        types = [dtype_of(self.known.types.get(each)) for each in (before, new) if each is not None]
        return new is not None and bool(self.users.get(new)) and set(types) <= FLOATS

    @cached_property
    def _constants_by_name(self) -> dict[str, Value]:
        made = (value for node in self.graph.nodes for value in node.outputs if value is not None)
        return {each.name: each for each in (*self.graph.constants, *made) if self.makers.is_constant(each)}

    def users_of(self, name: str) -> Sequence[Node]:
        """The users of the values of a name."""
        return [user for value, several in self.users.items() if value.name == name for user in several]

    @cached_property
    def _by_index(self) -> dict[int, Node]:
        return {node.index: node for node in self.graph.nodes}

    def with_only_unused(self, nodes: Sequence[Node]) -> Iterator[Candidate]:
        """Connects the only unused value of an element type in place of a constant, or of a value that others use."""
        alone = {value.name for value in self._only_unused}
        for node in nodes if alone else ():
            for candidate in self.with_unused([node], {}, any_rank=True):
                before = node.inputs[candidate.edits[0].input or 0]
                may_lose = before is not None and (
                    self.makers.is_constant(before) or self.is_used_elsewhere(before, node)
                )
                if may_lose and candidate.edits[0].value in alone:
                    every = self._at_similar_constants(node, before, candidate.edits[0])
                    if len(every) > 1:
                        yield replaced(candidate, edits=every, grade=EVIDENT, evidence=2)
                    yield replaced(candidate, grade=EVIDENT, evidence=1)

    def _at_similar_constants(self, node: Node, before: Value | None, edit: Edit) -> tuple[Edit, ...]:
        """Repeats an edit at all inputs of the node that are constants equal to ``before``; () for a scalar."""
        given = self.known.types.get(before) if before is not None and self.makers.is_constant(before) else None
        types = enumerate(zip(node.inputs, inputs_of(node, self.known)))
        ports = [port for port, (each, known) in types if known == given and self.makers.is_constant(each)]
        return tuple(replaced(edit, input=port) for port in ports) if isinstance(given, Tensor) and given.rank else ()

    def with_unused_inserted(self, node: Node) -> Iterator[Candidate]:
        """Inserts the only unused value of an element type before an input, and moves the later inputs."""
        call = self.known.calls.get(node)
        most = len(call.signature.inputs) if call is not None and call.signature is not None else 0
        for value in self._only_unused if 0 < len(node.inputs) < most and None not in node.inputs else ():
            for port in range(len(node.inputs)):
                after = [*node.inputs[:port], value, *node.inputs[port:]]
                moved = [(at, each) for at, each in enumerate(after) if at >= port and each is not None]
                if value not in node.outputs:
                    yield Candidate(
                        tuple(self.editor.connected(each, node, at) for at, each in moved), EVIDENT, evidence=1
                    )

    @cached_property
    def _only_unused(self) -> list[Value]:
        """The only unused value of each element type. Constants count only if no dynamic value has the type."""
        found: dict[str | None, list[Value]] = {}
        for value, known in self.unused_values:
            found.setdefault(known.dtype, []).append(value)
        groups = [[each for each in values if self.is_dynamic(each)] or values for values in found.values()]
        return [values[0] for values in groups if len(values) == 1]

    def with_unused_of_other_type(self, node: Node) -> Iterator[Candidate]:
        """Connects an unused value of another element type, if it ``is_made``. It replaces a value with other users."""
        made = [each for each in self.unused_values if self.is_made(each[0])]
        for port, (before, given) in enumerate(zip(node.inputs, inputs_of(node, self.known))):
            if before is None or given is None or not self.is_used_elsewhere(before, node):
                continue
            for value, known in made:
                maker = self.node_of(value)
                if known.dtype != dtype_of(given) and maker is not None and maker.index < node.index:
                    called = self.editor.called_unused(value)
                    edit = self.editor.connected(value, node, port, called)
                    yield Candidate((edit,), EVIDENT, evidence=int(len(made) == 1), subject=(node, port))

    def may_take_unused(self, node: Node) -> bool:
        """Whether an unused value may replace an input of the node.

        A dynamic value needs the element type and rank of an input. A constant needs the element type of an input that
        is a shared constant.
        """
        inputs = inputs_of(node, self.known)
        given = [(dtype_of(each), each.rank) for each in inputs if isinstance(each, Tensor)]
        shared = {
            dtype_of(known)
            for value, known in zip(node.inputs, inputs)
            if value is not None and self.makers.is_constant(value) and self.is_used_elsewhere(value, node)
        }
        return any(
            (known.dtype, known.rank) in given and value not in node.outputs
            if self.is_dynamic(value)
            else known.dtype in shared
            for value, known in self.unused_values
        )

    @cached_property
    def unused_values(self) -> list[tuple[Value, Tensor]]:
        """The unused values with unique names, and their types."""
        names: dict[str, int] = {}
        made = [value for node in self.graph.nodes for value in node.outputs if value is not None]
        for value in {*made, *self.graph.constants, *self.graph.inputs}:
            names[value.name] = names.get(value.name, 0) + 1
        needed = used_values(self.graph)
        unused = [
            (value, known)
            for value in (
                *chain.from_iterable(map(self._needing_user, self.graph.nodes)),
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
        for _, known in unused:
            counts[known.dtype] = counts.get(known.dtype, 0) + 1
        return [(value, known) for value, known in unused if counts[known.dtype] <= UNUSED]

    def with_unused(
        self, nodes: Iterable[Node], missing: Mapping[Node, int], *, any_rank: bool = False
    ) -> Iterator[Candidate]:
        """Connects an unused value in place of another input with its element type and, unless ``any_rank``, its rank.

        The value does not depend on the node, and differs from the input in its sizes or entries. ``missing`` has the
        index of an undefined input for some nodes: there, the value replaces only this input, at all its users.
        """
        for node in nodes if self.unused_values else ():
            behind = downstream(node, self.graph)
            values = [(value, known) for value, known in self.unused_values if self.node_of(value) not in behind]
            for port, given in enumerate(inputs_of(node, self.known)):
                for value, known in values:
                    if node in missing and port == missing[node]:
                        yield from self._in_place_of_undefined(value, node, port)
                    elif node not in missing and _is_similar(known, given, any_rank):
                        edit = self.editor.connected(value, node, port, self.editor.called_unused(value))
                        yield Candidate((edit,), POSSIBLE)

    def _in_place_of_undefined(self, value: Value, node: Node, port: int) -> Iterator[Candidate]:
        before, maker = node.inputs[port], self.node_of(value)
        makers = self.likely_makers(before) or self._users_by_name(value)
        if makers and (maker is None or maker.op != makers[0].op):
            return
        may_be_others = len({each.name for each in self.graph.undefined}) > len(self.unused_values)
        is_renamed = not may_be_others and may_be_renamed(value, maker, before, self.graph)
        yield Candidate(self._at_every_user(value, before), PROBABLE if is_renamed else ONLY_SUGGESTED)

    def node_of(self, value: Value | None) -> Node | None:
        """The node that computes a value; None for other values."""
        maker = self.makers.of(value) if value is not None else None
        return maker.node if maker is not None else None

    def _at_every_user(self, value: Value, before: Value | None) -> tuple[Edit, ...]:
        users = self.users.get(before, ()) if before is not None else ()
        called = self.editor.called_unused(value)
        return tuple(self.editor.connected(value, user, port, called) for user, port in uses(before, users))

    def connected_as_in_other_blocks(self, node: Node) -> Iterator[Candidate]:
        """Connects a node as its twins are connected, or as the siblings whose names differ only in numbers."""
        yield from self.blocks.connected_as_twins(node)
        kinds = self._kinds_at_namesakes(node)
        own = [self._kind(value) for value in node.inputs]
        differing = [port for port, kind in enumerate(kinds) if kind is not None and kind != own[port]]
        if not 0 < len(differing) <= PORTS:
            return
        edits = []
        for port in differing:
            value = self._nearest(node, kinds[port])
            is_lost = value is None or self._belongs_to_other_block(value, node, port)
            if is_lost and (inserted := self._inserted_as_at_namesakes(node, port, kinds[port])) is not None:
                edits.append(inserted)
                continue
            if value is None or value is node.inputs[port] or self._are_equal_weights(value, node.inputs[port]):
                return
            others = [each for at, each in enumerate(node.inputs) if at not in differing]
            if value in others and len(set(node.inputs)) == len(node.inputs):
                return
            edits.append(self.editor.connected(value, node, port, f"{self.editor.called(value)}, as in other blocks,"))
        yield Candidate(tuple(edits), EVIDENT, evidence=1)

    def _are_equal_weights(self, value: Value, given: Value | None) -> bool:
        """Whether both values are weights, and the new one has users. Exporters store equal weights only once."""
        both = self.makers.is_stored(value) and self.makers.is_stored(given)
        return both and dtype_of(self.known.types.get(value)) in FLOATS and bool(self.users.get(value))

    def _belongs_to_other_block(self, value: Value, node: Node, port: int) -> bool:
        """Whether a namesake of the node has the value as this input, and its name is closer to the value's node.

        Names are close if they begin with the same characters.
        """
        maker = self.node_of(value)
        name = maker.name if maker is not None else ""
        others = (each for each in self.namesakes(node) if each.inputs[port] is value)
        own = _shared_prefix_length(name, node.name)
        return any(_shared_prefix_length(name, each.name) > own for each in others)

    def is_outside(self, value: Value | None, one: Node, other: Node) -> bool:
        """Whether a value, which ``one`` uses, is outside of its block, so that ``other`` in another block may use it.

        This holds for a value that no node computes or that several inputs use. It also holds if the name of the
        value's node has less in common with ``one`` than ``other`` has.
        """
        maker = self.node_of(value)
        if value is None or maker is None or len(self.users.get(value, ())) > 1:
            return value is not None
        return _shared_prefix_length(maker.name, one.name) < _shared_prefix_length(one.name, other.name)

    def namesakes(self, node: Node) -> list[Node]:
        """The siblings of a node with as many inputs and a name that differs only in numbers; [] without a name."""
        return [
            each
            for each in self.editor.siblings(node)
            if node.name and plain(each.name) == plain(node.name) and len(each.inputs) == len(node.inputs)
        ]

    def _kinds_at_namesakes(self, node: Node) -> list[tuple[str, str] | None]:
        """For each input, the kind (see ``_kind``) of the value that all namesakes have there; None if they differ.

        [] without namesakes, for names of only an operator and numbers, and for fewer than ``SEVERAL`` namesakes whose
        names show no block.
        """
        name = plain(node.name).replace(node.op, "").strip("_/.")
        others = self.namesakes(node) if name else []
        if name == UNNAMED and len(others) < SEVERAL:
            return []
        found: list[tuple[str, str] | None] = []
        for port in range(len(node.inputs) if others else 0):
            kinds = {self._kind(each.inputs[port]) for each in others}
            found.append(kinds.pop() if len(kinds) == 1 else None)
        return found

    def _kind(self, value: Value | None) -> tuple[str, str] | None:
        """The kind of a value: (operator, name without numbers) of its node. Without a node, the operator is ""."""
        maker = self.makers.of(value) if value is not None else None
        if value is None or maker is None:
            return None
        node = maker.node
        return (node.op, plain(node.name) or plain(value.name)) if node is not None else ("", plain(value.name))

    def _inserted_as_at_namesakes(self, node: Node, port: int, kind: tuple[str, str] | None) -> Edit | None:
        """Inserts a copy of the first node of this kind before an input; None without a node that can be copied.

        In ONNX, a Reshape has the first target that keeps all elements.
        """
        similar = [each for each in self.graph.nodes if kind and each.op == kind[0] and plain(each.name) == kind[1]]
        template = similar[0] if similar else None
        if template is not None and template.op == RESHAPE and self.known.format.writer == "onnx":
            return self._reshaped(node, port, similar)
        return None if template is None else self.editor.copied(template, node, port)

    def _reshaped(self, node: Node, port: int, similar: Sequence[Node]) -> Edit | None:
        """Inserts a Reshape before an input. It has the target of a node in ``similar`` that keeps all elements."""
        given = inputs_of(node, self.known)[port]
        targets = [each.inputs[1] for each in similar if len(each.inputs) > 1]
        for value in dict.fromkeys(each for each in targets if each is not None and self.makers.is_constant(each)):
            known = self.known.types.get(value)
            entries = known.ints if isinstance(known, Tensor) else None
            if entries and isinstance(given, Tensor) and given.shape and product(entries) == product(given.shape):
                return self.editor.inserted(RESHAPE, node, port, inputs=(value.name,))
        return None

    def _nearest(self, node: Node, kind: tuple[str, str] | None) -> Value | None:
        """The first value of this kind among the node's inputs, unused values, results before it, and unused constants.

        Of the results before the node, the last one comes first.
        """
        own = next((value for value in node.inputs if value is not None and self._kind(value) == kind), None)
        if own is not None:
            return own
        unused = next((value for value, _ in self.unused_values if self._kind(value) == kind), None)
        if unused is not None:
            return unused
        before = (each for each in reversed(self.graph.nodes) if each.index < node.index)
        made = (value for each in before for value in each.outputs if value is not None)
        stored = (value for value in self.graph.constants if not self.users.get(value))
        return next((value for value in chain(made, stored) if self._kind(value) == kind), None)

    def is_used_elsewhere(self, value: Value, node: Node) -> bool:
        """Whether another node, another input of ``node``, a body, or an output of the graph uses a value."""
        elsewhere = node.inputs.count(value) > 1 or any(each is not node for each in self.users.get(value, ()))
        return value in self._used_by_others or elsewhere

    def is_last_use(self, value: Value, node: Node) -> bool:
        """Whether only this node uses a value, and no computed value is unused.

        Perhaps a node between the value and this user is missing.
        """
        return not self.is_used_elsewhere(value, node) and not any(self.is_made(each) for each, _ in self.unused_values)

    def is_made(self, value: Value | None) -> bool:
        """Whether a node computes a value, and the value is not constant. In an IR, also True for a Parameter."""
        return self.node_of(value) is not None and not self.makers.is_constant(value)

    def is_dynamic(self, value: Value) -> bool:
        """Whether a value is computed, or is an input of the model."""
        return self.is_made(value) or (value in self.graph.inputs and value not in self.graph.constants)

    def _needing_user(self, node: Node) -> Sequence[Value | None]:
        """The outputs of a node that should have a user, which an output of the graph is not.

        If one output has a user, the others need none, except the outputs of a variadic operator such as Split.
        """
        if not any(value is not None and self.users.get(value) for value in node.outputs):
            return node.outputs
        call = self.known.calls.get(node)
        formal = call.schema.outputs if call is not None and call.schema is not None else ()
        return node.outputs if formal and formal[-1].option == "variadic" else ()

    def likely_makers(self, value: Value | None) -> list[Node]:
        """The nodes with the operator that probably computed an undefined value, as its name or its users show."""
        if value is None:
            return []
        name = value.name.rpartition("/")[2]
        op = name.partition("_output_")[0].rstrip("0123456789").replace("_", "").casefold()
        named = [node for node in self.graph.nodes if node.op.casefold() == op or node.op == name]
        similar = self._makers_at_similar_users(value, 1 if named else SEVERAL)
        return [node for node in named if node in similar] or named or similar

    def _makers_at_similar_users(self, value: Value, least: int) -> list[Node]:
        """The nodes that compute the same input of siblings of a user of the value.

        There must be at least ``least`` siblings, and all nodes must have one operator.
        """
        for user in self.users.get(value, ()):
            port = user.inputs.index(value)
            others = [each.inputs for each in self.editor.siblings(user) if len(each.inputs) == len(user.inputs)]
            nodes = [self.node_of(values[port]) for values in others]
            operators = {node.op if node is not None else "" for node in nodes}
            if len(operators) == 1 and len(nodes) >= least:
                return [node for node in nodes if node is not None]
        return []

    def _users_by_name(self, value: Value) -> list[Node]:
        """The nodes with the operator in a name that PyTorch gives to an input: ``onnx::Relu_8``."""
        prefix, _, name = value.name.rpartition("::")
        op = name.rstrip("0123456789").removesuffix("_")
        return [node for node in self.graph.nodes if node.op == op] if prefix == "onnx" else []


def _shared_prefix_length(one: str, other: str) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other))))


def dtype_of(known: Type | None) -> str | None:
    """The element type of a tensor; None if it is unknown, and for other types."""
    return known.dtype if isinstance(known, Tensor) else None


def _is_similar(known: Tensor, given: Type | None, any_rank: bool) -> bool:
    """Whether two types differ, and have one element type and, unless ``any_rank``, one rank."""
    same_rank = any_rank or (isinstance(given, Tensor) and known.rank == given.rank)
    return isinstance(given, Tensor) and known.dtype == given.dtype and same_rank and known != given
