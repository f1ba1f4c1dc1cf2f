"""Guesses that change the entries or the shape of a constant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice
from itertools import product as product_of

from irlint.binding.calls import Call
from irlint.dims import Expr, MaybeDim, product, quotient
from irlint.findings.edits import Edit
from irlint.fixes.guess import MANY, OTHERS, SEVERAL, Guess
from irlint.fixes.other_values import ENTRIES, GUESS, LAST, SELDOM, UNSURE, USUAL
from irlint.fixes.slices import BOUNDS, STEPS
from irlint.inference.origins import Position, held_by, inputs_of, read_from
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Constant, Node, Value
from irlint.model.tensor import FLOATS, INTEGERS, Tensor, Type
from irlint.ops.shared.bounds import ramp_of
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.fixes.guesses import Guesses

#: The name of inputs that select elements, and the longest list for which other indices are tried.
INDICES = "indices"
FEW = 6

#: The longest step of a slice that is tried.
FARTHEST_STEP = 8

#: A divisor is searched within this distance of an entry.
NEAR = 1_024

#: Inputs in which the entry -1 means "the remaining elements".
TARGETS = ("shape", "pattern", "target_shape")

#: Inputs whose entries are added to the sizes of the axes.
PADS = ("pads", "pads_begin", "pads_end")

#: The input that lists the axes of slices, by both formats.
SLICED = "axes"

#: The operator that joins the parts of a shape, by both formats.
JOIN = "Concat"

#: A constant and its new entries.
Held = tuple[Value, tuple[Any, ...]]


class Contents:
    """Guesses that change constants of the main graph."""

    def __init__(self, guesses: Guesses) -> None:
        self.guesses = guesses
        self.known = guesses.known
        self.graph = guesses.graph
        self.makers = guesses.makers
        self._sharing: dict[tuple[object, ...], list[Value]] | None = None

    def at(
        self, node: Node, call: Call, inputs: Sequence[Type | None], others: Sequence[Type | None]
    ) -> Iterator[Guess]:
        """Other entries for each constant that is an input of the node, or from which an entry of an input comes."""
        seen: set[tuple[Value, object]] = set()
        tried: set[Held] = set()
        names = call.signature.inputs if call.signature is not None else ()
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            entries = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
            if value is None or entries is None or len(entries) > ENTRIES:
                continue
            name = names[port] if port < len(names) else ""
            if name in BOUNDS and SLICED in names:
                continue
            if name == INDICES and isinstance(known, Tensor):
                yield from self._without_axis(value, known)
            usual = self.guesses.usual(node, port)
            axes = any(word in name for word in ("ax", "order"))
            for index, entry in enumerate(entries):
                held = self.held(value, index)
                if held is None or held in seen or not isinstance(entry, int):
                    continue
                if name in TARGETS and (entry == -1 or (entry == 0 and index < (_rank(inputs[0]) or 0))):
                    continue
                seen.add(held)
                alike = [
                    place[1]
                    for at, other in enumerate(entries)
                    if other == entry and not axes and (place := self.held(value, at)) and place[0] is held[0]
                ]
                if name == INDICES:
                    yield from self._other_indices(node, port, held, entries, index, tried)
                    continue
                if name in STEPS and entry != 1:
                    yield from self._other_contents(node, port, *held, entry, 1, {}, tried, 1)
                divisors = _divisors(entries, index, inputs[0]) if name in TARGETS else ()
                found = _wanted(entries, index, (*inputs, *others), axes=axes, left=name in TARGETS)
                wanteds = [each for each in found if name not in STEPS or each <= FARTHEST_STEP]
                padded = [entry + each for each in _differences(others) if entry + each >= 0] if name in PADS else ()
                for wanted in dict.fromkeys((*wanteds, *divisors, *padded)):
                    at_data = None if axes else _at_data(index, entries, wanted, inputs[0]) if name in TARGETS else 0
                    yield from self._other_contents(node, port, *held, entry, wanted, usual, tried, at_data)
                    if len(alike) > 1 and held[1] == alike[0]:
                        yield from self._all_alike(node, port, held[0], alike, entry, wanted)
            if value not in self.makers.known.types or not self.makers.is_constant(value):
                continue
            listed = [each for each in list(usual)[:OTHERS] if len(each) == len(entries) and each != tuple(entries)]
            swapped = (each for each in _entries_swapped(entries) if name not in TARGETS or _rest_moved(entries, each))
            for whole in dict.fromkeys((*listed, *swapped)):
                if (value, whole) not in tried:
                    usual_one = whole in listed or (name in TARGETS and not others)
                    yield from self._other_list(node, port, value, whole, USUAL if usual_one else SELDOM)

    def _other_indices(
        self,
        node: Node,
        port: int,
        held: tuple[Value, int],
        entries: Sequence[MaybeDim],
        index: int,
        tried: set[Held],
    ) -> Iterator[Guess]:
        """Other indices into a list of at most ``FEW`` elements. Indices that no similar node takes come first: those
        nodes take elements of the same value, or of the shape of the same value."""
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
                for guess in self.held_otherwise(node, port, held[0], (wanted,), SELDOM if count else GUESS):
                    tried.add((held[0], (wanted,)))
                    yield replaced(guess, count=count)

    def _without_axis(self, value: Value, known: Tensor) -> Iterator[Guess]:
        """Turns a constant of one element from a scalar into a list, or from a list into a scalar."""
        if self.makers.is_constant(value) and known.shape in ((), (1,)):
            yield Guess((self.guesses.constant(value, () if known.shape else (1,), "shape"),), SELDOM, about=value)

    def _taken(self, node: Node) -> set[Any]:
        """The indices that other nodes of the operator take from the same list."""
        found: set[Any] = set()
        for each in self.guesses.of(node):
            if each is not node and len(each.inputs) > 1 and self.source(each) == self.source(node):
                found.update(self.guesses.had(each, 1) or ())
        return found

    def source(self, node: Node) -> Value | None:
        """The value whose shape the first input of a node lists; the first input itself if it is not the output of a
        shape operator."""
        value = node.inputs[0]
        maker = self.makers.of(value) if value is not None else None
        inner = maker.node if maker is not None else None
        call = self.known.calls.get(inner) if inner is not None else None
        of_shape = call is not None and call.operator is not None and call.operator.of_shape
        return inner.inputs[0] if of_shape and inner is not None and inner.inputs else value

    def held(self, value: Value, index: int) -> tuple[Value, int] | None:
        """The constant, and the index of its entry, from which an entry of a value comes. None if it does not come from
        a constant."""
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
        tried: set[Held],
        at_data: int | None,
    ) -> Iterator[Guess]:
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or known.value[index] != entry:
            return
        contents = (*known.value[:index], wanted, *known.value[index + 1 :])
        tried.add((constant, contents))
        never = at_data is None and sum(usual.values()) >= MANY
        likely = USUAL if contents in usual else GUESS if wanted == -1 or never else SELDOM
        for guess in self.held_otherwise(node, port, constant, contents, likely):
            yield replaced(guess, count=usual.get(contents, 0) or at_data or 0)

    def _all_alike(
        self, node: Node, port: int, constant: Value, places: Sequence[int], entry: int, wanted: int
    ) -> Iterator[Guess]:
        """Replaces several equal entries of a constant by the same number."""
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or any(known.value[at] != entry for at in places):
            return
        contents = tuple(wanted if at in places else each for at, each in enumerate(known.value))
        yield from self.held_otherwise(node, port, constant, contents, SELDOM)

    def _other_list(
        self, node: Node, port: int, constant: Value, contents: tuple[Any, ...], likely: int
    ) -> Iterator[Guess]:
        known = self.known.types.get(constant)
        if isinstance(known, Tensor) and known.value is not None:
            yield from self.held_otherwise(node, port, constant, contents, likely)

    def held_otherwise(
        self, node: Node, port: int, constant: Value, contents: tuple[Any, ...], likely: int
    ) -> Iterator[Guess]:
        """The constant with other entries. If other nodes use it too, a second guess connects another constant that
        already has these entries."""
        known = self.known.types[constant]
        assert isinstance(known, Tensor)
        same = (constant, *self._with_its_bytes(constant))
        yield Guess(tuple(self.guesses.constant(each, contents) for each in same), likely, about=constant)
        if constant is not node.inputs[port] or len(self.guesses.users.get(constant, ())) < 2:
            return
        changed = Tensor(known.dtype, known.shape, contents)
        for other in self._constants_at(node, port):
            if self.known.types.get(other) == changed:
                holds = f"{self.guesses.called(other)}, which holds {list(contents)},"
                yield Guess((self.guesses.connected(other, node, port, holds),), likely, about=constant)
                return

    def everywhere(self, edit: Edit) -> tuple[Edit, ...] | None:
        """A number that changes in a constant changed in every constant of a target shape; None where no other has
        it."""
        if edit.graph or len(edit.before or ()) != len(edit.value):
            return None
        pairs = {(one, other) for one, other in zip(edit.before, edit.value) if one != other}
        (one, other), *more = pairs
        held = {value: self.known.types[value] for value in self._targets if one in entries_of(self.known.types[value])}
        if more or len(held) < SEVERAL or edit.name not in {value.name for value in held}:
            return None
        return tuple(
            self.guesses.constant(value, tuple(other if each == one else each for each in entries_of(known)))
            for value, known in held.items()
        )

    @cached_property
    def _targets(self) -> list[Value]:
        """The constants of a few integers that nodes take as target shapes, or join to them."""
        found: dict[Value, None] = {}
        for node in self.graph.nodes:
            call = self.known.calls.get(node)
            names = call.signature.inputs if call is not None and call.signature is not None else ()
            for port, value in enumerate(node.inputs):
                is_target = node.op == JOIN or (port < len(names) and names[port] in TARGETS)
                held = entries_of(self.known.types.get(value)) if value is not None and is_target else ()
                if value is not None and held and self.makers.is_constant(value):
                    found[value] = None
        return list(found)

    def _constants_at(self, node: Node, port: int) -> Iterator[Value]:
        """The constants that other nodes of the operator have as this input."""
        for each in self.graph.nodes:
            value = each.inputs[port] if each.op == node.op and port < len(each.inputs) else None
            if value is not None and each is not node and self.makers.is_constant(value):
                yield value

    def _with_its_bytes(self, constant: Value) -> list[Value]:
        """The other constants that share the stored bytes of a constant, if a fix changes the bytes. In an IR it
        changes the offset of one constant instead, so the list is empty."""
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

    def copied(self, node: Node) -> Iterator[Guess]:
        """A constant target that copies dynamic sizes of the data: its entry is 0 where the data has a dynamic size,
        and -1 stays."""
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
                yield Guess((self.guesses.constant(value, copied),), USUAL, count=1, about=value)

    def as_declared(self, node: Node) -> Iterator[Guess]:
        """A constant reshaped to its declared shape, if both have the same number of elements."""
        value = node.outputs[0] if node.op == self.known.format.constant_node and node.outputs else None
        held = self.known.types.get(value) if value is not None else None
        declared = value.type if value is not None else None
        if value is None or not isinstance(held, Tensor) or not isinstance(declared, Tensor):
            return
        shape, wanted = held.shape, declared.shape
        if shape is not None and wanted is not None and shape != wanted and product(shape) == product(wanted):
            yield Guess((self.guesses.constant(value, wanted, "shape"),), USUAL, about=value)

    def divided(self, node: Node) -> Iterator[Guess]:
        """A constant whose axes were joined, with one of them divided by a size that another input or an output has."""
        values = (value for value in (*node.inputs, *node.outputs) if value is not None)
        types = [each for value in values for each in (self.known.types.get(value), value.type)]
        shapes = (each.shape for each in types if isinstance(each, Tensor) and each.shape is not None)
        sizes = dict.fromkeys(dim for shape in shapes for dim in shape if isinstance(dim, int) and dim > 1)
        for value, known in zip(node.inputs, inputs_of(node, self.known)):
            if value is None or not isinstance(known, Tensor) or not known.shape or not self.makers.is_constant(value):
                continue
            for axis, size in product_of(range(len(known.shape)), sizes):
                part = quotient(known.shape[axis] or 0, size)
                for divided in ((size, part), (part, size)) if isinstance(part, int) and part > 1 else ():
                    shape = (*known.shape[:axis], *divided, *known.shape[axis + 1 :])
                    yield Guess((self.guesses.constant(value, shape, "shape"),), GUESS, about=value)

    def resized(self, sizes: Iterable[tuple[Value, int]], wanted: Iterable[int], *, weights: bool) -> Iterator[Guess]:
        """Constants with another size on one axis. Trained weights (floats of two or more axes) are only suggested, if
        ``weights``; else they are left as they are."""
        sizes, numbers = list(sizes), list(wanted)
        for value, axis in sizes:
            known = self.known.types.get(value)
            if not self.makers.is_constant(value) or not isinstance(known, Tensor) or known.shape is None:
                continue
            is_weight = known.dtype in FLOATS and len(known.shape) > 1
            if known.value is not None and known.dtype in INTEGERS and ramp_of(known) is None:
                continue
            for size in numbers if weights or not is_weight else ():
                if size != known.shape[axis]:
                    shape = (*known.shape[:axis], size, *known.shape[axis + 1 :])
                    likely = UNSURE if is_weight else LAST
                    yield Guess((self.guesses.constant(value, shape, "shape"),), likely)


def entries_of(known: Type | None) -> tuple[Any, ...]:
    """The entries of a value that is a few integers; () of another one."""
    held = known.value if isinstance(known, Tensor) and known.dtype in INTEGERS else None
    return tuple(held) if held is not None and len(held) <= ENTRIES else ()


def _bytes(constant: Constant) -> tuple[object, ...] | None:
    stored = constant.stored
    return (
        None if stored is None or stored.file is None or not stored.size else (stored.file, stored.offset, stored.size)
    )


def _at_data(index: int, entries: Sequence[MaybeDim], wanted: int, data: Type | None) -> int:
    """Ranks a new entry of a target: -1 if the old entry already equals the size of the data on this axis, 1 if the new
    one does and the next entry is not -1, else 0. Also 0 if the entries before are not the sizes of the axes before."""
    shape = data.shape if isinstance(data, Tensor) and data.shape is not None else ()
    before = zip(entries[:index], shape)
    if index >= len(shape) or not all(
        each in (0, dim, -1 if len(shape) == len(entries) else 0) for each, dim in before
    ):
        return 0
    divides = index + 1 < len(entries) and entries[index + 1] == -1
    return int(shape[index] == wanted and not divides) - int(shape[index] == entries[index] != 1)


def _rest_moved(entries: Sequence[MaybeDim], others: Sequence[MaybeDim]) -> bool:
    """Whether the entry -1, which means "the remaining elements", moves to another place."""
    return -1 in entries and entries.index(-1) != others.index(-1)


def _rank(known: Type | None) -> int | None:
    return known.rank if isinstance(known, Tensor) else None


def _differences(types: Sequence[Type | None]) -> list[int]:
    """The constant differences of the sizes that several values have on the same axis."""
    shapes = [each.shape for each in types if isinstance(each, Tensor) and each.shape is not None]
    dims = (pair for one, other in combinations(shapes, 2) if len(one) == len(other) for pair in zip(one, other))
    found = [one - other for one, other in dims if one is not None and other is not None]
    numbers = [each for each in found if isinstance(each, int) and each]
    return list(dict.fromkeys(sign * each for each in numbers for sign in (-1, 1)))


def _entries_swapped(entries: Sequence[MaybeDim]) -> Iterator[tuple[MaybeDim, ...]]:
    for one, other in combinations(range(len(entries)), 2):
        if entries[one] != entries[other]:
            found = list(entries)
            found[one], found[other] = found[other], found[one]
            yield tuple(found)


def _divisors(entries: Sequence[MaybeDim], index: int, data: Type | None) -> Iterator[int]:
    """The nearest numbers below and above an entry for which the entry -1 is an integer."""
    shape = data.shape if isinstance(data, Tensor) else None
    whole, entry = product(shape) if shape is not None else None, entries[index]
    copied = (shape[at] if each == 0 and shape and at < len(shape) else each for at, each in enumerate(entries))
    rest = product(each for at, each in enumerate(copied) if at != index and each != -1)
    part = quotient(whole, rest) if whole is not None and rest not in (None, 0) else None
    if -1 not in entries or not isinstance(part, int) or not part or not isinstance(entry, int) or entry <= 1:
        return
    for numbers in (range(entry - 1, 1, -1), range(entry + 1, 2 * entry)):
        yield from islice((each for each in numbers[:NEAR] if part % each == 0), 1)


def _wanted(
    entries: Sequence[MaybeDim], index: int, inputs: Sequence[Type | None], *, axes: bool, left: bool
) -> Iterator[int]:
    """The numbers that may have been intended for an entry. With ``axes``: other axes. Otherwise: sizes of the inputs,
    the number of remaining elements, and with ``left`` also -1."""
    found: dict[int, None] = {}
    if axes:
        rank = max((known.rank or 0 for known in inputs if isinstance(known, Tensor)), default=0)
        yield from (axis for axis in range(rank + 1) if axis != entries[index])
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
        found.update(dict.fromkeys(dim for dim in (part, *shape) if isinstance(dim, int) and (dim > 1 or dim is part)))
    yield from (each for each in found if each != entries[index])
    if left and -1 not in entries:
        yield -1
