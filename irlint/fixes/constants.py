"""Candidates that change the entries or the shape of a constant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice
from itertools import product as product_of

from irlint.binding.calls import Call
from irlint.dims import Expr, MaybeDim, product, quotient
from irlint.findings.edits import Edit
from irlint.fixes.candidate import MANY, OTHERS, SEVERAL, Candidate
from irlint.fixes.indices import INDICES, JOIN, Indices
from irlint.fixes.inserted import RESHAPE
from irlint.fixes.other_values import ENTRIES, EVIDENT, LAST_RESORT, ONLY_SUGGESTED, POSSIBLE, PROBABLE
from irlint.fixes.slices import BOUNDS, STARTS, STEPS
from irlint.inference.origins import Position, held_by, inputs_of, read_from, shape_of
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Constant, Node, Value
from irlint.model.tensor import FLOATS, INTEGERS, Tensor, Type
from irlint.ops.shared.bounds import ramp_of
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.fixes.distinct import Distinct
    from irlint.fixes.editor import Editor

#: The longest step that is tried for a slice.
FARTHEST_STEP = 8

#: A divisor is searched within this distance of an entry.
NEAR = 1_024

#: Inputs in which the entry -1 means "the remaining elements".
TARGETS = ("shape", "pattern", "target_shape")

#: Inputs whose entries are added to the sizes of the axes.
PADS = ("pads", "pads_begin", "pads_end")

#: The input that lists the axes of slices, in both formats.
SLICED = "axes"

#: A constant and its new entries.
Changed = tuple[Value, tuple[Any, ...]]


class Constants:
    """Candidates that change constants of the main graph."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.known = editor.known
        self.graph = editor.graph
        self.makers = editor.makers
        self.indices = Indices(self)
        self._by_bytes: dict[tuple[object, ...], list[Value]] | None = None

    @cached_property
    def distinct(self) -> Distinct:
        from irlint.fixes.distinct import Distinct

        return Distinct(self)

    def candidates_at(
        self, node: Node, call: Call, inputs: Sequence[Type | None], others: Sequence[Type | None]
    ) -> Iterator[Candidate]:
        """Other entries for the constants that are inputs of a node, or that supply entries of its inputs."""
        seen: set[tuple[Value, object]] = set()
        tried: set[Changed] = set()
        names = call.signature.inputs if call.signature is not None else ()
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            entries = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
            if value is None or entries is None or len(entries) > ENTRIES:
                continue
            name = names[port] if port < len(names) else ""
            if isinstance(known, Tensor):
                yield from self.without_axis(value, known)
            if name in BOUNDS and SLICED in names:
                continue
            if name == INDICES:
                yield from self.indices.other_scalars(node, port, value, entries)
            similar = self.editor.similar_values(node, port)
            are_axes = any(word in name for word in ("ax", "order"))
            for index, entry in enumerate(entries):
                place = self.stored_entry(value, index)
                if place is None or place in seen or not isinstance(entry, int):
                    continue
                if name in TARGETS and (entry == -1 or (entry == 0 and index < (_rank(inputs[0]) or 0))):
                    continue
                seen.add(place)
                if node.op == RESHAPE and len(entries) == 1:
                    yield from self.with_entries(node, port, value, (-1,), EVIDENT)
                places = [self.stored_entry(value, at) for at, other in enumerate(entries) if other == entry]
                equal = [each[1] for each in places if each is not None and each[0] is place[0] and not are_axes]
                if name == INDICES:
                    yield from self.indices.others(node, port, place[0], entries, tried)
                    continue
                usual = 1 if name in STEPS else 0 if name in STARTS else entry
                if usual != entry:
                    yield from self._with_entry(node, port, place, entry, usual, {}, tried, 1)
                divisors = _divisors(entries, index, inputs[0]) if name in TARGETS else ()
                found = _new_entries(entries, index, (*inputs, *others), axes=are_axes, target=name in TARGETS)
                sizes = [each for each in found if name not in STEPS or each <= FARTHEST_STEP]
                padded = [entry + each for each in _differences(others) if entry + each >= 0] if name in PADS else ()
                for new in dict.fromkeys((*sizes, *divisors, *padded)):
                    evidence = None if are_axes else _evidence(index, entries, new, inputs[0]) if name in TARGETS else 0
                    yield from self._with_entry(node, port, place, entry, new, similar, tried, evidence)
                    if len(equal) > 1 and place[1] == equal[0]:
                        yield from self._with_equal_entries(node, port, place[0], equal, entry, new)
            if value not in self.known.types or not self.makers.is_constant(value):
                continue
            listed = [each for each in list(similar)[:OTHERS] if len(each) == len(entries) and each != tuple(entries)]
            swapped = (
                each for each in _entries_swapped(entries) if name not in TARGETS or _moves_minus_one(entries, each)
            )
            for new_list in dict.fromkeys((*listed, *swapped)):
                if (value, new_list) not in tried:
                    is_evident = new_list in listed or (name in TARGETS and not others)
                    yield from self.with_entries(node, port, value, new_list, EVIDENT if is_evident else PROBABLE)

    def without_axis(self, value: Value, known: Tensor) -> Iterator[Candidate]:
        """Turns a constant of one element from a scalar into a list, or from a list into a scalar."""
        if self.makers.is_constant(value) and known.shape in ((), (1,)):
            yield Candidate(
                (self.editor.constant(value, () if known.shape else (1,), "shape"),), PROBABLE, subject=value
            )

    def stored_entry(self, value: Value, index: int) -> tuple[Value, int] | None:
        """(constant, index of its entry) from which an entry of a value comes; None if it comes from no constant."""
        origin, position = read_from(value, Position(0, index, True), self.makers)
        if self.makers.is_constant(origin):
            return (origin, position.index) if position.in_contents else None
        maker = self.makers.of(origin)
        if not position.in_contents or maker is None or maker.node is None:
            return None
        output = Position(maker.node.outputs.index(origin), position.index, True)
        return held_by(maker.node, output, self.makers)

    def _with_entry(
        self,
        node: Node,
        port: int,
        place: tuple[Value, int],
        old: int,
        new: int,
        similar: Mapping[Any, int],
        tried: set[Changed],
        evidence: int | None,
    ) -> Iterator[Candidate]:
        """Replaces the entry at ``place`` (constant, index). Without ``evidence``, similar nodes may oppose this."""
        constant, index = place
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or known.value[index] != old:
            return
        entries = (*known.value[:index], new, *known.value[index + 1 :])
        tried.add((constant, entries))
        is_opposed = evidence is None and sum(similar.values()) >= MANY
        grade = EVIDENT if entries in similar else POSSIBLE if new == -1 or is_opposed else PROBABLE
        for candidate in self.with_entries(node, port, constant, entries, grade):
            yield replaced(candidate, evidence=similar.get(entries, 0) or evidence or 0)

    def _with_equal_entries(
        self, node: Node, port: int, constant: Value, places: Sequence[int], old: int, new: int
    ) -> Iterator[Candidate]:
        """Replaces several equal entries of a constant by the same number."""
        known = self.known.types.get(constant)
        if not isinstance(known, Tensor) or known.value is None or any(known.value[at] != old for at in places):
            return
        entries = tuple(new if at in places else each for at, each in enumerate(known.value))
        yield from self.with_entries(node, port, constant, entries, PROBABLE)

    def with_entries(
        self, node: Node, port: int, constant: Value, entries: tuple[Any, ...], grade: int
    ) -> Iterator[Candidate]:
        """Gives a constant other entries. For a shared constant, also connects another constant with these entries."""
        known = self.known.types[constant]
        assert isinstance(known, Tensor)
        same = (constant, *self._with_same_bytes(constant))
        yield Candidate(tuple(self.editor.constant(each, entries) for each in same), grade, subject=constant)
        if constant is not node.inputs[port] or len(self.editor.users.get(constant, ())) < 2:
            return
        changed = Tensor(known.dtype, known.shape, entries)
        for other in self._constants_of_siblings(node, port):
            if self.known.types.get(other) == changed:
                called = f"{self.editor.called(other)}, which holds {list(entries)},"
                yield Candidate((self.editor.connected(other, node, port, called),), grade, subject=constant)
                return

    def in_every_target(self, edit: Edit, *, by_place: bool) -> Iterator[tuple[Edit, ...]]:
        """The same change of a number in every target shape; with ``by_place``, also at the changed index only."""
        if edit.graph or len(edit.before or ()) != len(edit.value):
            return
        (old, new), *more = {pair for pair in zip(edit.before, edit.value) if pair[0] != pair[1]} or {(None, None)}
        places = next((places for value, places in self._targets.items() if value.name == edit.name), set())
        changed = [at for at, (one, other) in enumerate(zip(edit.before, edit.value)) if one != other]
        targets = {value: entries_of(self.known.types[value]) for value in self._targets if places and not more}
        every = {value: [at for at, each in enumerate(found) if each == old] for value, found in targets.items()}
        alike = (value for value in every if places & self._targets[value] and set(changed) <= set(every[value]))
        same = {value: changed for value in alike if len(targets[value]) == len(edit.value)}
        for several in (every, same if by_place and old != 1 else {}):
            entries = {
                value: tuple(new if at in ats else each for at, each in enumerate(targets[value]))
                for value, ats in several.items()
                if ats
            }
            if len(entries) >= SEVERAL:
                yield tuple(self.editor.constant(value, found) for value, found in entries.items())

    @cached_property
    def _targets(self) -> dict[Value, set[tuple[str, int]]]:
        """By constant: (operator, input) of each use of the constant as a target shape or as a part of one."""
        found: dict[Value, set[tuple[str, int]]] = {}
        for node in self.graph.nodes:
            call = self.known.calls.get(node)
            names = call.signature.inputs if call is not None and call.signature is not None else ()
            for port, value in enumerate(node.inputs):
                is_target = node.op == JOIN or (port < len(names) and names[port] in TARGETS)
                entries = entries_of(self.known.types.get(value)) if value is not None and is_target else ()
                if value is not None and entries and self.makers.is_constant(value):
                    found.setdefault(value, set()).add((node.op, port))
        return found

    def _constants_of_siblings(self, node: Node, port: int) -> Iterator[Value]:
        for each in self.editor.siblings(node):
            value = each.inputs[port] if port < len(each.inputs) else None
            if value is not None and self.makers.is_constant(value):
                yield value

    def _with_same_bytes(self, constant: Value) -> list[Value]:
        """The other constants that share the stored bytes. A fix that changes these bytes changes them as well.

        In an IR there are none: a fix changes the offset of one constant only.
        """
        if self.known.format.ports_declare:
            return []
        if self._by_bytes is None:
            self._by_bytes = {}
            for value, each in self.graph.constants.items():
                if (key := _bytes_key(each)) is not None:
                    self._by_bytes.setdefault(key, []).append(value)
        stored = self.graph.constants.get(constant)
        key = _bytes_key(stored) if stored is not None else None
        same = self._by_bytes.get(key, []) if key is not None else []
        type_of = self.known.types.get
        return [each for each in same if each is not constant and type_of(each) == type_of(constant)]

    def with_copied_sizes(self, node: Node) -> Iterator[Candidate]:
        """Sets the entries of a target to 0 where the data have a dynamic size. The entry 0 copies this size."""
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
                yield Candidate((self.editor.constant(value, copied),), EVIDENT, evidence=1, subject=value)

    def with_declared_sizes(self, node: Node) -> Iterator[Candidate]:
        """Gives a target the sizes that the file declares for the result. Dynamic sizes are -1, or stay 0."""
        call, made = self.known.calls[node], node.outputs[0] if node.outputs else None
        names = call.signature.inputs if call.signature is not None else ()
        declared = made.type.shape if made is not None and isinstance(made.type, Tensor) else None
        for port, value in enumerate(node.inputs):
            is_target = port < len(names) and names[port] in TARGETS and self.makers.is_constant(value)
            entries = entries_of(self.known.types.get(value)) if value is not None and is_target else ()
            if value is None or declared is None or not entries or len(entries) != len(declared):
                continue
            sizes = [dim if isinstance(dim, int) else -1 for dim in declared]
            kept = [old if old == -1 or (old == 0 and size == -1) else size for old, size in zip(entries, sizes)]
            new = tuple(kept if kept.count(-1) < 2 else sizes)
            if new != entries and new.count(-1) < 2:
                for candidate in self.with_entries(node, port, value, new, EVIDENT):
                    yield replaced(candidate, evidence=1)

    def reshaped_as_declared(self, node: Node) -> Iterator[Candidate]:
        """A constant reshaped to its declared shape, if both have the same number of elements."""
        value = node.outputs[0] if node.op == self.known.format.constant_node and node.outputs else None
        known = self.known.types.get(value) if value is not None else None
        declared = value.type if value is not None else None
        if value is None or not isinstance(known, Tensor) or not isinstance(declared, Tensor):
            return
        old, new = known.shape, declared.shape
        if old is not None and new is not None and old != new and product(old) == product(new):
            yield Candidate((self.editor.constant(value, new, "shape"),), EVIDENT, subject=value)

    def with_divided_axis(self, node: Node) -> Iterator[Candidate]:
        """Reshapes a constant: divides one of its axes in two. One part has a size of another input or an output."""
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
                    yield Candidate((self.editor.constant(value, shape, "shape"),), POSSIBLE, subject=value)

    def resized(self, axes: Iterable[tuple[Value, int]], sizes: Iterable[int], *, weights: bool) -> Iterator[Candidate]:
        """Constants with another size on one axis. Trained weights are only suggested, and only with ``weights``."""
        new_sizes = list(sizes)
        for value, axis in axes:
            known = self.known.types.get(value)
            if not self.makers.is_constant(value) or not isinstance(known, Tensor) or known.shape is None:
                continue
            is_weight = known.dtype in FLOATS and len(known.shape) > 1
            if known.value is not None and known.dtype in INTEGERS and ramp_of(known) is None:
                continue
            for size in new_sizes if weights or not is_weight else ():
                if size != known.shape[axis]:
                    shape = (*known.shape[:axis], size, *known.shape[axis + 1 :])
                    grade = ONLY_SUGGESTED if is_weight else LAST_RESORT
                    edit = self.editor.constant(value, shape, "shape")
                    biases = [self.editor.constant(each, (size,), "shape") for each in self._biases(value, axis)]
                    yield Candidate((edit, *(biases if is_weight else ())), grade)

    def _biases(self, weight: Value, axis: int) -> list[Value]:
        """The constant lists at all users of a weight that have one number for each index of the weight's axis."""
        size = (shape_of(weight, self.known) or ())[axis]
        users = self.editor.users.get(weight, ())
        beside = dict.fromkeys(value for user in users for value in user.inputs if value is not None)
        lists = [each for each in beside if shape_of(each, self.known) == (size,) and self.makers.is_constant(each)]
        return [each for each in lists if len(self.editor.users.get(each, ())) == len(users)]


def entries_of(known: Type | None) -> tuple[Any, ...]:
    """The entries of a constant with a few integers; () for other values."""
    entries = known.value if isinstance(known, Tensor) and known.dtype in INTEGERS else None
    return tuple(entries) if entries is not None and len(entries) <= ENTRIES else ()


def _bytes_key(constant: Constant) -> tuple[object, ...] | None:
    stored = constant.stored
    return (
        None if stored is None or stored.file is None or not stored.size else (stored.file, stored.offset, stored.size)
    )


def _evidence(index: int, entries: Sequence[MaybeDim], new: int, data: Type | None) -> int:
    """The evidence for a new entry of a target, from the size of the data on this axis: -1, 0 or 1."""
    shape = data.shape if isinstance(data, Tensor) and data.shape is not None else ()
    before = zip(entries[:index], shape)
    if index >= len(shape) or not all(
        each in (0, dim, -1 if len(shape) == len(entries) else 0) for each, dim in before
    ):
        return 0
    divides = index + 1 < len(entries) and entries[index + 1] == -1
    return int(shape[index] == new and not divides) - int(shape[index] == entries[index] != 1)


def _moves_minus_one(entries: Sequence[MaybeDim], others: Sequence[MaybeDim]) -> bool:
    return -1 in entries and entries.index(-1) != others.index(-1)


def _rank(known: Type | None) -> int | None:
    return known.rank if isinstance(known, Tensor) else None


def _differences(types: Sequence[Type | None]) -> list[int]:
    """The differences between sizes of two types on the same axis, if they are integers, with both signs."""
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
    """The nearest numbers below and above an entry with which the size for the entry -1 is an integer."""
    shape = data.shape if isinstance(data, Tensor) else None
    total, entry = product(shape) if shape is not None else None, entries[index]
    copied = (shape[at] if each == 0 and shape and at < len(shape) else each for at, each in enumerate(entries))
    rest = product(each for at, each in enumerate(copied) if at != index and each != -1)
    part = quotient(total, rest) if total is not None and rest not in (None, 0) else None
    if -1 not in entries or not isinstance(part, int) or not part or not isinstance(entry, int) or entry <= 1:
        return
    for numbers in (range(entry - 1, 1, -1), range(entry + 1, 2 * entry)):
        yield from islice((each for each in numbers[:NEAR] if part % each == 0), 1)


def _new_entries(
    entries: Sequence[MaybeDim], index: int, inputs: Sequence[Type | None], *, axes: bool, target: bool
) -> Iterator[int]:
    """Other entries: axes if ``axes``, else sizes and the number of remaining elements; also -1 for a ``target``."""
    found: dict[int, None] = {}
    if axes:
        rank = max((known.rank or 0 for known in inputs if isinstance(known, Tensor)), default=0)
        yield from (axis for axis in range(rank + 1) if axis not in entries)
        return
    for known in inputs:
        shape = known.shape if isinstance(known, Tensor) else None
        if not shape:
            continue
        copied = (
            shape[at] if entry == 0 and at < len(shape) else entry for at, entry in enumerate(entries) if at != index
        )
        rest, total = product(entry for entry in copied if entry != -1), product(shape)
        part = quotient(total, rest) if total is not None and rest not in (None, 0) else None
        found.update(dict.fromkeys(dim for dim in (part, *shape) if isinstance(dim, int) and (dim > 1 or dim is part)))
    yield from (each for each in found if each != entries[index])
    if target and -1 not in entries:
        yield -1
