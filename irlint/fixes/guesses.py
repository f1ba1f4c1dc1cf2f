"""Edits that may fix a node: other attributes, other constants, inputs in another order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations

from irlint.binding.calls import Call
from irlint.dims import Expr, MaybeDim, product, quotient
from irlint.findings.edits import Edit
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.other_values import ENTRIES, GUESS, LAST, SELDOM, UNIFORM, USUAL, meant, other_values, words_of
from irlint.inference.known import Known
from irlint.inference.origins import Makers, Position, held_by, inputs_of, read_from
from irlint.lazy_typing import Any, Literal
from irlint.model import Constant, Graph, Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.ops.signatures import TOGETHER, UNLIKELY, roles
from irlint.records import record, replaced

#: So many values that other nodes have in the place are tried.
OTHERS = 8

#: What none of so many nodes alike has is a guess, and not meant where they are very many.
SEVERAL = 2
MANY = 3
VERY_MANY = 9

#: The input that says where slices begin, and that which says which elements are taken, of so many.
STARTS = "starts"
INDICES = "indices"
FEW = 6

#: Inputs whose entry -1 stands for what is left.
TARGETS = ("shape", "pattern", "target_shape")

Contents = tuple[Value, tuple[Any, ...]]


@record
class Guess:
    """Edits, how ``likely`` they are, ``count`` nodes have what they set, what they are ``about``, and whether they set
    what the node does without (``adds``); what is not ``sure`` is only suggested. ``within`` is the node that they
    change, where that is not the one at fault."""

    edits: tuple[Edit, ...]
    likely: int = USUAL
    within: Node | None = None
    count: int = 0
    about: object = None
    adds: bool = False
    sure: bool = True

    @property
    def swaps(self) -> bool:
        """Whether the edits swap two inputs of a node."""
        return all(edit.swaps for edit in self.edits)

    @property
    def changes_node(self) -> bool:
        """Whether a node changes, and not only what the graph stores or is given."""
        return any(edit.kind not in ("constant", "declaration") for edit in self.edits)


class Guesses:
    """The edits that may fix the nodes of the main graph."""

    def __init__(self, known: Known, graph: Graph, makers: Makers, users: Mapping[Value, Sequence[Node]]) -> None:
        self.known = known
        self.graph = graph
        self.makers = makers
        self.users = users
        self._usual: dict[tuple[object, ...], dict[Any, int]] = {}
        self._nodes: dict[tuple[str, str], list[Node]] = {}
        self._batches: set[object] | None = None
        self._sharing: dict[tuple[object, ...], list[Value]] | None = None

    def at(self, node: Node, others: Sequence[Type | None] = ()) -> Iterator[Guess]:
        """Changes at a node; ``others`` have sizes that it may have to be about."""
        call = self.known.calls[node]
        inputs = inputs_of(node, self.known)
        if node.op in (self.known.format.constant_node, self.known.format.input_node):
            return
        yield from self._attributes(node, call, inputs)
        yield from self._contents(node, call, inputs, others)
        yield from self._swapped(node)
        yield from self._exchanged(node, inputs)

    # --- what others have ---------------------------------------------------------------------------------------------

    def usual(self, node: Node, what: str | int) -> dict[Any, int]:
        """What the nodes of the operator that are otherwise like this one have as an attribute, or as the contents of
        an input, and how many do."""
        key = node.domain, node.op, what, self._otherwise(node, what)
        if key not in self._usual:
            found = self._usual.setdefault(key, {})
            for each in self.of(node):
                if self._otherwise(each, what) == key[3] and (value := self._had(each, what)) is not None:
                    found[value] = found.get(value, 0) + 1
        return self._usual[key]

    def _speaks_against(self, node: Node, name: str, value: object, rank: int, likely: int) -> bool:
        """Whether many nodes have an attribute, and none a number that nothing but it speaks for, or all of them the
        axis of this one."""
        if likely == LAST and sum(self.usual(node, name).values()) >= MANY:
            return True
        return "axis" in name and self._have_that(node, name, value, rank)

    def _have_that(self, node: Node, name: str, value: object, rank: int) -> bool:
        """Whether several other nodes of the operator with inputs of the same numbers of axes, none of them at fault,
        all have an attribute as this one has."""
        ranks = [each.rank if isinstance(each, Tensor) else None for each in inputs_of(node, self.known)]
        others = [
            meant(name, self._had(each, name), rank)
            for each in self.of(node)
            if each is not node
            and each not in self.known.faulted
            and [known.rank if isinstance(known, Tensor) else None for known in inputs_of(each, self.known)] == ranks
        ]
        return len(others) >= SEVERAL and set(others) == {meant(name, value, rank)}

    def of(self, node: Node) -> list[Node]:
        """The nodes of an operator."""
        if not self._nodes:
            for each in self.graph.nodes:
                self._nodes.setdefault((each.domain, each.op), []).append(each)
        return self._nodes[node.domain, node.op]

    def _otherwise(self, node: Node, what: str | int) -> tuple[object, ...]:
        """The lists and words among the attributes of a node, one of them left out; of axes and contents also the
        number of axes."""
        call = self.known.calls.get(node)
        given = (call.attributes or {}) if call is not None else {}
        ranked = isinstance(what, int) or "axis" in what
        data = self.known.types.get(node.inputs[0]) if ranked and node.inputs and node.inputs[0] else None
        found = tuple(
            (name, tuple(value) if isinstance(value, list) else value)
            for name, value in sorted(given.items())
            if name != what and isinstance(value, (tuple, list, str))
        )
        return found if data is None else (*found, data.rank if isinstance(data, Tensor) else None)

    def _had(self, node: Node, what: str | int) -> Any:
        if isinstance(what, int):
            value = node.inputs[what] if what < len(node.inputs) else None
            given = self.known.types.get(value) if value is not None else None
            ints = given.ints if isinstance(given, Tensor) else None
            return ints if ints is not None and all(isinstance(each, int) for each in ints) else None
        call = self.known.calls.get(node)
        found = (call.attributes or {}).get(what) if call is not None else None
        return tuple(found) if isinstance(found, list) else found if isinstance(found, (int, str, tuple)) else None

    # --- attributes ---------------------------------------------------------------------------------------------------

    def _attributes(self, node: Node, call: Call, inputs: Sequence[Type | None]) -> Iterator[Guess]:
        """Other values of the attributes that are numbers, flags, words or lists; where weights may as well be wrong, a
        flag as it is without being written is only suggested."""
        if call.signature is None:
            return
        given = call.attributes or {}
        shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
        rank = max(map(len, shapes), default=0)
        held = roles(call.operator.function) if call.operator is not None else {}
        weights = (value for value, known in zip(node.inputs, inputs) if isinstance(known, Tensor) and known.rank != 1)
        stored = any(value is not None and self.makers.is_constant(value) for value in weights)
        yield from self._together(node, call, [name for name in given if held.get(name) == TOGETHER])
        for name, (annotation, default) in call.signature.attributes.items():
            if held.get(name) == TOGETHER:
                continue
            value = given.get(name, default)
            usual = self.usual(node, name)
            tried: set[object] = {meant(name, value, rank)}
            for other, likely in chain(
                ((each, USUAL) for each in list(usual)[:OTHERS]),
                other_values(name, value, shapes, words_of(annotation, call), annotation, len(node.outputs)),
            ):
                is_meant = meant(name, other, rank)
                if is_meant in tried or (value is not None and type(other) is not type(value)):
                    continue
                tried.add(is_meant)
                count = sum(count for each, count in usual.items() if meant(name, each, rank) == is_meant)
                is_default = value is not None and isinstance(other, (tuple, list)) and set(other) == {1}
                unlikely = held.get(name) == UNLIKELY and not is_default
                if not count and (unlikely or self._speaks_against(node, name, value, rank, likely)):
                    continue
                if count:
                    likely = USUAL
                elif self.moves_batch(shapes[0] if shapes else (), other):
                    likely = LAST
                elif isinstance(other, (tuple, list)) and len(set(other)) == 1 and sum(usual.values()) >= MANY:
                    if sum(usual.values()) >= VERY_MANY:
                        continue
                    likely = GUESS
                edit = self.attribute(node, name, other, value)
                count = count or int(other == default and "axis" not in name)
                unsure = stored and other == default and value in (0, 1) and not usual.get(other)
                yield Guess((edit,), likely, count=count, about=name, adds=value is None, sure=not unsure)

    def moves_batch(self, shape: Sequence[object], perm: object) -> bool:
        """Whether an order of axes puts the dynamic first axis of an input of the model elsewhere than to the front."""
        if not isinstance(perm, (tuple, list)) or len(perm) != len(shape) or sorted(perm) != list(range(len(shape))):
            return False
        if self._batches is None:
            types = (self.known.types.get(value) for value in self.graph.inputs)
            self._batches = {each.shape[0] for each in types if isinstance(each, Tensor) and each.shape}
        return any(
            at and isinstance(shape[axis], Expr) and shape[axis] in self._batches for at, axis in enumerate(perm)
        )

    def _together(self, node: Node, call: Call, names: Sequence[str]) -> Iterator[Guess]:
        """Other numbers in several lists at once, the same in all."""
        given = call.attributes or {}
        length = max((len(given[name]) for name in names if isinstance(given[name], (tuple, list))), default=0)
        for each in range(UNIFORM if length and len(names) > 1 else 0):
            other = (each,) * length
            if all(tuple(given[name]) == other for name in names):
                continue
            edits = tuple(self.attribute(node, name, other, given[name]) for name in names)
            count = min(self.usual(node, name).get(other, 0) for name in names)
            yield Guess(edits, USUAL if count else SELDOM, count=count, about=names[0])

    # --- constants ----------------------------------------------------------------------------------------------------

    def _contents(
        self, node: Node, call: Call, inputs: Sequence[Type | None], others: Sequence[Type | None]
    ) -> Iterator[Guess]:
        """Other contents of a constant that is an input of the node, or that an entry of an input comes from."""
        seen: set[tuple[Value, object]] = set()
        tried: set[Contents] = set()
        names = call.signature.inputs if call.signature is not None else ()
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            entries = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
            if value is None or entries is None or len(entries) > ENTRIES:
                continue
            name = names[port] if port < len(names) else ""
            if name == INDICES and isinstance(known, Tensor):
                yield from self._without_axis(value, known)
            usual = self.usual(node, port)
            axes = any(word in name for word in ("ax", "order"))
            for index, entry in enumerate(entries):
                held = self._held(value, index)
                if held is None or held in seen or not isinstance(entry, int):
                    continue
                if name in TARGETS and entry in (0, -1):
                    continue
                seen.add(held)
                alike = [
                    place[1]
                    for at, other in enumerate(entries)
                    if other == entry and not axes and (place := self._held(value, at)) and place[0] is held[0]
                ]
                if name == STARTS and entry != 0:
                    yield from self._other_contents(node, port, *held, entry, 0, usual, tried, 1)
                if name == INDICES:
                    yield from self._other_indices(node, port, held, entries, index, tried)
                    continue
                for wanted in _wanted(entries, index, (*inputs, *others), axes=axes, left=name in TARGETS):
                    at_data = None if axes else _at_data(index, entry, wanted, inputs[0]) if name in TARGETS else 0
                    yield from self._other_contents(node, port, *held, entry, wanted, usual, tried, at_data)
                    if len(alike) > 1 and held[1] == alike[0]:
                        yield from self._all_alike(node, port, held[0], alike, entry, wanted)
            if value not in self.makers.known.types or not self.makers.is_constant(value):
                continue
            listed = [each for each in list(usual)[:OTHERS] if len(each) == len(entries) and each != tuple(entries)]
            swapped = (each for each in _entries_swapped(entries) if name not in TARGETS or _rest_moved(entries, each))
            for whole in dict.fromkeys((*listed, *swapped)):
                if (value, whole) not in tried:
                    usual_one = whole in listed or name in TARGETS
                    yield from self._other_list(node, port, value, whole, USUAL if usual_one else SELDOM)

    def _other_indices(
        self,
        node: Node,
        port: int,
        held: tuple[Value, int],
        entries: Sequence[MaybeDim],
        index: int,
        tried: set[Contents],
    ) -> Iterator[Guess]:
        """Other indices into a few elements, first those that no node takes from the same elements, or from others of
        the shape of the same value."""
        data = self.known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
        if not isinstance(data, Tensor) or data.rank != 1 or data.shape is None or len(entries) > 1:
            return
        size, entry = data.shape[0], entries[index]
        if not isinstance(size, int) or size > FEW or not isinstance(entry, int):
            return
        taken = self._taken(node)
        for wanted in range(size):
            if wanted not in (entry, entry + size):
                count = int(wanted not in taken)
                for guess in self._held_otherwise(node, port, held[0], (wanted,), SELDOM if count else GUESS):
                    tried.add((held[0], (wanted,)))
                    yield replaced(guess, count=count)

    def _without_axis(self, value: Value, known: Tensor) -> Iterator[Guess]:
        """A constant of one element as a list, and the only element of a list alone."""
        if self.makers.is_constant(value) and known.shape in ((), (1,)):
            yield Guess((self.constant(value, () if known.shape else (1,), "shape"),), SELDOM, about=value)

    def _taken(self, node: Node) -> set[Any]:
        """The indices that other nodes of the operator take from the same elements as this one."""
        found: set[Any] = set()
        for each in self.of(node):
            if each is not node and len(each.inputs) > 1 and self._source(each) == self._source(node):
                found.update(self._had(each, 1) or ())
        return found

    def _source(self, node: Node) -> Value | None:
        """What the elements of the first input of a node are of: the value whose shape they are, or they themselves."""
        value = node.inputs[0]
        maker = self.makers.of(value) if value is not None else None
        inner = maker.node if maker is not None else None
        call = self.known.calls.get(inner) if inner is not None else None
        of_shape = call is not None and call.operator is not None and call.operator.of_shape
        return inner.inputs[0] if of_shape and inner is not None and inner.inputs else value

    def _held(self, value: Value, index: int) -> tuple[Value, int] | None:
        """The constant, and the entry of it, that an entry of a value comes from."""
        at, position = read_from(value, Position(0, index, True), self.makers)
        if self.makers.is_constant(at):
            return (at, position.index) if position.in_contents else None
        maker = self.makers.of(at)
        if not position.in_contents or maker is None or maker.node is None:
            return None
        output = Position(maker.node.outputs.index(at), position.index, True)
        return held_by(maker.node, output, self.makers)

    def _other_contents(
        self,
        node: Node,
        port: int,
        constant: Value,
        index: int,
        entry: int,
        wanted: int,
        usual: Mapping[Any, int],
        tried: set[Contents],
        at_data: int | None,
    ) -> Iterator[Guess]:
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or known.value[index] != entry:
            return
        contents = (*known.value[:index], wanted, *known.value[index + 1 :])
        tried.add((constant, contents))
        never = at_data is None and sum(usual.values()) >= MANY
        likely = USUAL if contents in usual else GUESS if wanted == -1 or never else SELDOM
        for guess in self._held_otherwise(node, port, constant, contents, likely):
            yield replaced(guess, count=at_data or 0)

    def _all_alike(
        self, node: Node, port: int, constant: Value, places: Sequence[int], entry: int, wanted: int
    ) -> Iterator[Guess]:
        """A constant with another number for each entry that is one."""
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or any(known.value[at] != entry for at in places):
            return
        contents = tuple(wanted if at in places else each for at, each in enumerate(known.value))
        yield from self._held_otherwise(node, port, constant, contents, SELDOM)

    def _other_list(
        self, node: Node, port: int, constant: Value, contents: tuple[Any, ...], likely: int
    ) -> Iterator[Guess]:
        known = self.known.types.get(constant)
        if isinstance(known, Tensor) and known.value is not None:
            yield from self._held_otherwise(node, port, constant, contents, likely)

    def _held_otherwise(
        self, node: Node, port: int, constant: Value, contents: tuple[Any, ...], likely: int
    ) -> Iterator[Guess]:
        """The constant with other contents, and where others use it too, another constant that has these."""
        known = self.known.types[constant]
        assert isinstance(known, Tensor)
        same = (constant, *self._with_its_bytes(constant))
        yield Guess(tuple(self.constant(each, contents) for each in same), likely, about=constant)
        if constant is not node.inputs[port] or len(self.users.get(constant, ())) < 2:
            return
        changed = Tensor(known.dtype, known.shape, contents)
        for other in self._constants_at(node, port):
            if self.known.types.get(other) == changed:
                holds = f"{self.called(other)}, which holds {list(contents)},"
                yield Guess((self.connected(other, node, port, holds),), likely, about=constant)
                return

    def _constants_at(self, node: Node, port: int) -> Iterator[Value]:
        """The constants that other nodes of the operator have as an input."""
        for each in self.graph.nodes:
            value = each.inputs[port] if each.op == node.op and port < len(each.inputs) else None
            if value is not None and each is not node and self.makers.is_constant(value):
                yield value

    def _with_its_bytes(self, constant: Value) -> list[Value]:
        """The other constants whose contents are the same bytes of a file, where these are changed and not the place of
        one of them."""
        if self.known.format.ports_declare:
            return []
        if self._sharing is None:
            self._sharing = {}
            for value, each in self.graph.constants.items():
                if (key := _bytes(each)) is not None:
                    self._sharing.setdefault(key, []).append(value)
        held = self.graph.constants.get(constant)
        key = _bytes(held) if held is not None else None
        same = self._sharing.get(key, []) if key is not None else []
        type_of = self.known.types.get
        return [each for each in same if each is not constant and type_of(each) == type_of(constant)]

    # --- inputs -------------------------------------------------------------------------------------------------------

    def _swapped(self, node: Node) -> Iterator[Guess]:
        if sum(each is not None for each in node.inputs) < 2 or None in node.inputs[:2]:
            return
        left, right = node.inputs[:2]
        assert left is not None
        assert right is not None
        if self.known.types.get(left) != self.known.types.get(right):
            edits = self.connected(right, node, 0), self.connected(left, node, 1)
            weights_first = self.makers.is_constant(left) and not self.makers.is_constant(right)
            likely = SELDOM if weights_first and self._takes_weights_second(node) else LAST
            yield Guess(tuple(replaced(edit, swaps=True) for edit in edits), likely)

    def _takes_weights_second(self, node: Node) -> bool:
        """Whether other nodes of the operator have no constant as their first input."""
        others = [each.inputs[0] for each in self.of(node) if each is not node and each.inputs]
        return not any(value is not None and self.makers.is_constant(value) for value in others)

    def _exchanged(self, node: Node, inputs: Sequence[Type | None]) -> Iterator[Guess]:
        """The first two axes of a constant exchanged, and its last two."""
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            if value is None or not isinstance(known, Tensor) or len(known.shape or ()) < 2 or known.value is not None:
                continue
            assert known.shape is not None
            if not self.makers.is_constant(value):
                continue
            rank = len(known.shape)
            for one, other in dict.fromkeys(((0, 1), (rank - 2, rank - 1))):
                if known.shape[one] != known.shape[other]:
                    perm = list(range(rank))
                    perm[one], perm[other] = other, one
                    called = f"constant {self.called(value)}"
                    yield Guess((self.inserted(TRANSPOSE, node, port, (("perm", tuple(perm)),), called),), GUESS)

    def copied(self, node: Node) -> Iterator[Guess]:
        """A constant target with 0, which copies the size of the data, for each entry whose axis of the data has a
        dynamic size; and with -1 for the only entry that is not copied."""
        call, inputs = self.known.calls[node], inputs_of(node, self.known)
        names = call.signature.inputs if call.signature is not None else ()
        data = inputs[0].shape if inputs and isinstance(inputs[0], Tensor) else None
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            entries = known.value if isinstance(known, Tensor) else None
            is_target = port < len(names) and names[port] in TARGETS
            if value is None or entries is None or data is None or not is_target or not self.makers.is_constant(value):
                continue
            copied = tuple(
                0 if at < len(data) and isinstance(data[at], Expr) and each != -1 else each
                for at, each in enumerate(entries)
            )
            if copied != tuple(entries):
                yield Guess((self.constant(value, copied),), USUAL, count=1, about=value)

    def as_declared(self, node: Node) -> Iterator[Guess]:
        """A constant with the shape that it is declared with, where that has as many elements."""
        value = node.outputs[0] if node.op == self.known.format.constant_node and node.outputs else None
        held = self.known.types.get(value) if value is not None else None
        declared = value.type if value is not None else None
        if value is None or not isinstance(held, Tensor) or not isinstance(declared, Tensor):
            return
        shape, wanted = held.shape, declared.shape
        if shape is not None and wanted is not None and shape != wanted and product(shape) == product(wanted):
            yield Guess((self.constant(value, wanted, "shape"),), USUAL, about=value)

    def resized(self, sizes: Iterable[tuple[Value, int]], wanted: Iterable[int]) -> Iterator[Guess]:
        """Constants with another size on an axis."""
        sizes, numbers = list(sizes), list(wanted)
        for value, axis in sizes:
            known = self.known.types.get(value)
            if not self.makers.is_constant(value) or not isinstance(known, Tensor) or known.shape is None:
                continue
            for size in numbers:
                if size != known.shape[axis]:
                    shape = (*known.shape[:axis], size, *known.shape[axis + 1 :])
                    yield Guess((self.constant(value, shape, "shape"),), LAST)

    # --- edits --------------------------------------------------------------------------------------------------------

    def attribute(self, node: Node, name: str, value: object, before: object = None) -> Edit:
        """An attribute of a node set."""
        value = tuple(value) if isinstance(value, list) else value
        layer = node.id or ""
        return Edit(
            "attribute", "node", "", node.label, node.index, name, value, op=node.op, layer=layer, before=before
        )

    def connected(self, value: Value, node: Node, port: int, called: str = "") -> Edit:
        """Another value as an input of a node."""
        called = called or self.called(value)
        layer = node.id or ""
        return Edit(
            "input",
            "node",
            "",
            node.label,
            node.index,
            "",
            value.name,
            input=port,
            op=node.op,
            layer=layer,
            called=called,
        )

    def inserted(
        self, op: str, node: Node, port: int, attributes: tuple[tuple[str, Any], ...] = (), called: str = ""
    ) -> Edit:
        """A node before an input of another one."""
        layer = node.id or ""
        return Edit(
            "insert",
            "node",
            "",
            node.label,
            node.index,
            op,
            attributes,
            input=port,
            op=node.op,
            layer=layer,
            called=called,
        )

    def constant(self, value: Value, after: object, of: Literal["entries", "shape", "type"] = "entries") -> Edit:
        """A constant with other entries, or as another type."""
        known = self.known.types.get(value)
        before = (known.value if of == "entries" else known.shape) if isinstance(known, Tensor) else None
        return Edit("constant", of, name=value.name, value=after, before=before, called=self.called(value))

    def declared(self, value: Value, after: Any, of: Literal["shape", "type"] = "shape") -> Edit:
        """An input of the model with another shape or element type."""
        known = self.known.types.get(value)
        before = known.shape if isinstance(known, Tensor) and of == "shape" else None
        called = f"input {self.called(value)}" if of == "shape" else self.called(value)
        shape, dtype = (after, "") if of == "shape" else (None, str(after))
        return Edit("declaration", name=value.name, before=before, called=called, shape=shape, dtype=dtype)

    def called(self, value: Value) -> str:
        """What texts call a value: ```x```, or ``layer 3 "x"``."""
        maker = self.makers.of(value) if self.known.format.ports_declare else None
        if maker is None or maker.node is None:
            return f"`{value.name}`"
        node = maker.node
        return f"layer {node.id}" + f' "{node.name}"' * bool(node.name)


def _bytes(constant: Constant) -> tuple[object, ...] | None:
    stored = constant.stored
    return (
        None if stored is None or stored.file is None or not stored.size else (stored.file, stored.offset, stored.size)
    )


def _at_data(index: int, entry: int, wanted: int, data: Type | None) -> int:
    """-1 where an entry of a target is the size of the data on the same axis already, 1 where it would be."""
    dim = data.shape[index] if isinstance(data, Tensor) and data.shape is not None and index < len(data.shape) else None
    return int(dim == wanted) - int(dim == entry != 1)


def _rest_moved(entries: Sequence[MaybeDim], others: Sequence[MaybeDim]) -> bool:
    """Whether -1, which stands for what is left, is another entry."""
    return -1 in entries and entries.index(-1) != others.index(-1)


def _entries_swapped(entries: Sequence[MaybeDim]) -> Iterator[tuple[MaybeDim, ...]]:
    for one, other in combinations(range(len(entries)), 2):
        if entries[one] != entries[other]:
            found = list(entries)
            found[one], found[other] = found[other], found[one]
            yield tuple(found)


def _wanted(
    entries: Sequence[MaybeDim], index: int, inputs: Sequence[Type | None], *, axes: bool, left: bool
) -> Iterator[int]:
    """The numbers that an entry may have been meant to be: other ``axes``, or sizes and what is left of the elements,
    which -1 may stand for."""
    found: dict[int, None] = {}
    if axes:
        rank = max((known.rank or 0 for known in inputs if isinstance(known, Tensor)), default=0)
        yield from (axis for axis in range(rank) if axis != entries[index])
        return
    for known in inputs:
        shape = known.shape if isinstance(known, Tensor) else None
        if not shape:
            continue
        copied = (
            shape[at] if entry == 0 and at < len(shape) else entry for at, entry in enumerate(entries) if at != index
        )
        rest, whole = product(entry for entry in copied if entry != -1), product(shape)
        part = quotient(whole, rest) if whole is not None and rest not in (None, 0) else None
        found.update(dict.fromkeys(dim for dim in (part, *shape) if isinstance(dim, int) and dim > 1))
    yield from (each for each in found if each != entries[index])
    if left and -1 not in entries:
        yield -1
