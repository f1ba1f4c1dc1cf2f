"""Candidates that change the start or end of a slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.binding.calls import Call
from irlint.dims import MaybeDim
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.other_values import EVIDENT, PROBABLE
from irlint.inference.origins import inputs_of
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Node
from irlint.model.tensor import Tensor, Type
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.fixes.editor import Editor

#: The names of a slice's lists in both formats.
STARTS, ENDS = ("starts", "start"), ("ends", "stop")
STEPS, AXES = ("steps", "step", "delta"), ("axes",)
BOUNDS = frozenset((*STARTS, *ENDS))

#: The end of a slice that reaches the last element. Bounds of at least ``FAR`` also stand for the end of the axis.
LAST_END, FAR = (1 << 63) - 1, 1 << 31

#: For lists of at most this many elements, slices of each length are tried.
FEW = 6

#: The index of the first element, and the index after the last.
Elements = tuple[int, int]


@record
class Slice:
    """One slice of a node."""

    #: The index in the lists of the node.
    at: int
    axis: int
    #: The size of the axis.
    size: MaybeDim
    start: int
    end: int
    step: int = 1

    @property
    def elements(self) -> Elements:
        """The range of elements that the slice takes; the bounds if the size is unknown."""
        size = self.size
        if not isinstance(size, int):
            return self.start, self.end
        start, end = (min(max(each + size * (each < 0), 0), size) for each in (self.start, self.end))
        return start, end

    @property
    def is_empty(self) -> bool:
        """Whether the slice takes no element."""
        start, end = self.elements
        return start >= end and (isinstance(self.size, int) or (start < 0) == (end < 0))


def other_bounds(
    node: Node, call: Call, inputs: Sequence[Type | None], others: Sequence[Type | None], editor: Editor
) -> Iterator[Candidate]:
    """A slice with another start or end: of one element, of a size that ``others`` have, or to the end of the axis."""
    yield from _bounds_of_siblings(node, call, editor)
    slices = _slices(call, inputs)
    shapes = [each.shape for each in (*inputs[:1], *others) if isinstance(each, Tensor) and each.shape is not None]
    lists = [each.ints or () for each in others if isinstance(each, Tensor)]
    sizes = dict.fromkeys(dim for shape in (*shapes, *lists) for dim in shape if isinstance(dim, int) and dim > 0)
    sibling_slices = _slices_of_siblings(node, editor) if slices else set()
    for each in slices:
        few = range(1, each.size) if isinstance(each.size, int) and len(shapes[0]) == 1 and each.size <= FEW else ()
        beside = [elements for axis, elements in sibling_slices if axis == each.axis]
        for name, changed in _other_slices(each, dict.fromkeys((1, *few, *sizes)), any_start=bool(beside)):
            count = int(bool(beside) and not any(_overlap(changed.elements, other) for other in beside))
            for candidate in _written(node, call, each.at, name, changed, editor):
                yield replaced(candidate, evidence=count)
    for at, axis, size in _later_starts(call, inputs):
        yield from _written(node, call, at, "starts", Slice(at, axis, size, 0, LAST_END), editor)


def _bounds_of_siblings(node: Node, call: Call, editor: Editor) -> Iterator[Candidate]:
    """Constant starts or ends that several similar slices have."""
    for names in (STARTS, ENDS):
        port = _port(call, names)
        value = node.inputs[port] if port is not None and port < len(node.inputs) else None
        own = editor.value_of(node, port) if port is not None else None
        if port is None or value is None or own is None or not editor.makers.is_constant(value):
            continue
        for other, count in editor.similar_values(node, port).items():
            if count >= SEVERAL and other != own and len(other) == len(own):
                for candidate in editor.constants.with_entries(node, port, value, tuple(other), EVIDENT):
                    yield replaced(candidate, evidence=count)


def _other_slices(
    given: Slice, lengths: Sequence[int] | dict[int, None], *, any_start: bool
) -> Iterator[tuple[str, Slice]]:
    """(name of the list, slice) with another start or end. A start of 0 is kept unless ``any_start``."""
    seen = {given.elements}
    start, end = given.start, given.end
    ends = [start + length for length in lengths if start >= 0 or start + length < 0]
    ends = [each for each in ends if not isinstance(given.size, int) or each <= given.size]
    found = [("ends", replaced(given, end=each)) for each in (*ends, LAST_END)]
    far = abs(end) >= FAR
    starts = [(0 if far else end) - length for length in lengths]
    starts = [0, *(each for each in starts if (each < 0) == (far or end < 0))] if start or any_start else []
    found += [("starts", replaced(given, start=each)) for each in starts]
    found = found if given.step == 1 else [("ends", replaced(given, end=LAST_END))]
    for name, changed in found:
        if changed.elements not in seen and not changed.is_empty:
            seen.add(changed.elements)
            yield name, changed


def _written(node: Node, call: Call, at: int, name: str, changed: Slice, editor: Editor) -> Iterator[Candidate]:
    """Writes a changed start or end into the node's attribute or constant."""
    names = STARTS if name == "starts" else ENDS
    bound = changed.start if name == "starts" else changed.end
    for each in names:
        given = (call.attributes or {}).get(each)
        if given is not None:
            after = (*given[:at], bound, *given[at + 1 :])
            yield Candidate((editor.attribute(node, each, after, given),), PROBABLE, subject=(node, each))
            return
    port = _port(call, names)
    value = node.inputs[port] if port is not None and port < len(node.inputs) else None
    place = editor.constants.stored_entry(value, at) if value is not None else None
    known = editor.known.types.get(place[0]) if place is not None else None
    if port is not None and place is not None and isinstance(known, Tensor) and known.value is not None:
        entries = (*known.value[: place[1]], bound, *known.value[place[1] + 1 :])
        yield from editor.constants.with_entries(node, port, place[0], entries, PROBABLE)


def _slices(call: Call, inputs: Sequence[Type | None]) -> list[Slice]:
    """The slices of a node with known bounds and a step of at least 1."""
    return [
        Slice(at, axis, size, start, end, step)
        for at, axis, size, start, end, step in _bounds(call, inputs)
        if isinstance(start, int) and isinstance(end, int)
    ]


def _later_starts(call: Call, inputs: Sequence[Type | None]) -> Iterator[tuple[int, int, MaybeDim]]:
    """(index, axis, size) of the slices that begin after the first element and end at a computed index."""
    for at, axis, size, start, end, step in _bounds(call, inputs):
        if isinstance(start, int) and start > 0 and not isinstance(end, int) and step == 1:
            yield at, axis, size


def _bounds(call: Call, inputs: Sequence[Type | None]) -> Iterator[tuple[int, int, MaybeDim, MaybeDim, MaybeDim, int]]:
    """(index, axis, size, start, end, step) of the slices with a step of at least 1."""
    data = inputs[0] if inputs else None
    starts, ends, axes, steps = (_values(names, call, inputs) for names in (STARTS, ENDS, AXES, STEPS))
    if not isinstance(data, Tensor) or data.shape is None or starts is None or ends is None:
        return
    for at, (start, end) in enumerate(zip(starts, ends)):
        axis = at if axes is None else axes[at] if at < len(axes) else None
        step = steps[at] if steps is not None and at < len(steps) else 1
        if not isinstance(axis, int) or not -len(data.shape) <= axis < len(data.shape) or not isinstance(step, int):
            continue
        if step > 0:
            axis %= len(data.shape)
            yield at, axis, data.shape[axis], start, end, step


def _values(names: Sequence[str], call: Call, inputs: Sequence[Type | None]) -> Sequence[MaybeDim] | None:
    """A list that a node has as an attribute or as an input; None if it is unknown."""
    given = next((value for name in names if (value := (call.attributes or {}).get(name)) is not None), None)
    if given is not None:
        return tuple(given) if isinstance(given, (tuple, list)) else None
    port = _port(call, names)
    known = inputs[port] if port is not None and port < len(inputs) else None
    return known.ints if isinstance(known, Tensor) else None


def _port(call: Call, names: Sequence[str]) -> int | None:
    inputs = call.signature.inputs if call.signature is not None else ()
    return next((at for at, name in enumerate(inputs) if name in names), None)


def _slices_of_siblings(node: Node, editor: Editor) -> set[tuple[int, Elements]]:
    """(axis, range) of the slices that siblings take from the same value."""
    found: set[tuple[int, Elements]] = set()
    indexed = editor.constants.indices.indexed_value
    for each in editor.siblings(node):
        call = editor.known.calls.get(each)
        if call is None or indexed(each) is not indexed(node):
            continue
        slices = _slices(call, inputs_of(each, editor.known))
        found.update((one.axis, one.elements) for one in slices if one.step == 1)
    return found


def _overlap(one: Elements, other: Elements) -> bool:
    return one[0] < other[1] and other[0] < one[1]
