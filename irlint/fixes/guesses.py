"""Guesses for a node: other attributes, other constants, and inputs in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import chain, combinations

from irlint.binding.calls import Call
from irlint.dims import Expr, Shape
from irlint.findings.edits import Edit
from irlint.fixes.contents import JOIN, Contents
from irlint.fixes.guess import MANY, OTHERS, SEVERAL, VERY_MANY, Guess
from irlint.fixes.inserted import FLATTEN, TRANSPOSE, UNSQUEEZE
from irlint.fixes.node_edits import NodeEdits
from irlint.fixes.other_values import (
    FLAGS,
    GUESS,
    LAST,
    SELDOM,
    SPATIAL,
    UNIFORM,
    USUAL,
    meant,
    neighbors,
    other_values,
    words_of,
)
from irlint.fixes.slices import BOUNDS, other_bounds
from irlint.inference.known import Known
from irlint.inference.origins import Makers, inputs_of, trail
from irlint.lazy_typing import Any
from irlint.model import Graph, Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.ops.signatures import TOGETHER, UNLIKELY, roles
from irlint.records import replaced

#: The last input that is exchanged with its successor.
SWAPPED = 8

#: The attributes with the distances and the sizes of windows, by both formats.
STRIDES = "strides"
KERNELS = ("kernel_shape", "kernel")

#: The attribute with the number of groups of channels.
GROUP = "group"

#: The attribute of ONNX that lists the pads at the start of each axis, and then those at the ends.
PADS_OF_BOTH_ENDS = "pads"

#: The operators whose axis is none of their input: a boundary between axes, or a new one.
OF_NEW_AXES = (FLATTEN, UNSQUEEZE)

#: Of at most this many inputs, each two are exchanged.
FEW = 4


class Guesses(NodeEdits):
    """Makes the guesses for the nodes of the main graph."""

    def __init__(self, known: Known, graph: Graph, makers: Makers, users: Mapping[Value, Sequence[Node]]) -> None:
        super().__init__(known, makers)
        self.graph = graph
        self.users = users
        self._usual: dict[tuple[object, ...], dict[Any, int]] = {}
        self._nodes: dict[tuple[str, str], list[Node]] = {}
        self._batches: set[object] | None = None
        self.contents = Contents(self)

    def at(self, node: Node, others: Sequence[Type | None] = ()) -> Iterator[Guess]:
        """Guesses that change a node. ``others`` are types whose sizes the node may have to match."""
        call = self.known.calls[node]
        inputs = inputs_of(node, self.known)
        if node.op in (self.known.format.constant_node, self.known.format.input_node):
            return
        yield from self._attributes(node, call, inputs)
        if call.signature is not None and not BOUNDS.isdisjoint((*call.signature.inputs, *call.signature.attributes)):
            yield from other_bounds(node, call, inputs, others, self)
        yield from self.contents.at(node, call, inputs, others)
        yield from self._swapped(node)
        yield from self._exchanged(node, inputs)

    # --- what similar nodes have --------------------------------------------------------------------------------------

    def usual(self, node: Node, what: str | int) -> dict[Any, int]:
        """The values that similar nodes have as an attribute (``what`` is its name) or as an input (its index), each
        with the number of these nodes."""
        key = node.domain, node.op, what, self._otherwise(node, what)
        if key not in self._usual:
            found = self._usual.setdefault(key, {})
            for each in self.of(node):
                if self._otherwise(each, what) == key[3] and (value := self.had(each, what)) is not None:
                    found[value] = found.get(value, 0) + 1
        return self._usual[key]

    def _is_default_elsewhere(self, node: Node, name: str, default: object) -> bool:
        """Whether another node of the operator has the default of an attribute, be it stated or not."""
        return any(self.had(each, name) in (None, default) for each in self.of(node) if each is not node)

    def _speaks_against(self, node: Node, name: str, value: object, rank: int, likely: int) -> bool:
        """Whether similar nodes speak against changing an attribute: many of them have it and the new value is only a
        small number, or all of them have this node's axis."""
        if likely == LAST and sum(self.usual(node, name).values()) >= MANY:
            return True
        return "axis" in name and self._have_that(node, name, value, rank)

    def _have_that(self, node: Node, name: str, value: object, rank: int) -> bool:
        """Whether several sound nodes of the operator, with inputs of the same ranks, all have the same value of an
        attribute as this node."""
        ranks = [each.rank if isinstance(each, Tensor) else None for each in inputs_of(node, self.known)]
        others = [
            meant(name, self.had(each, name), rank)
            for each in self.of(node)
            if each is not node
            and each not in self.known.faulted
            and [known.rank if isinstance(known, Tensor) else None for known in inputs_of(each, self.known)] == ranks
        ]
        return len(others) >= SEVERAL and set(others) == {meant(name, value, rank)}

    def of(self, node: Node) -> list[Node]:
        """The nodes with the operator of a node."""
        if not self._nodes:
            for each in self.graph.nodes:
                self._nodes.setdefault((each.domain, each.op), []).append(each)
        return self._nodes.get((node.domain, node.op), [])

    def fills_gap(self, node: Node, edit: Edit) -> bool:
        """Whether an attribute gets a list that is missing in the series of doubled lists of similar nodes."""
        return self._continued(node, edit.name).get(edit.value, False)

    def _continued(self, node: Node, name: str) -> dict[tuple[int, ...], bool]:
        """The lists that a series of doubled lists of other nodes lacks, such as the dilations [1], [2], [8] of stacked
        convolutions, each with whether it is in a gap."""
        own, usual = self.had(node, name), self.usual(node, name)
        others = {each for each, count in usual.items() if isinstance(each, tuple) and count > (each == own)}
        doubled = {each: tuple(2 * number for number in each) for each in others}
        after = (doubled[each] for each in doubled if each in doubled.values())
        return {each: tuple(2 * number for number in each) in others for each in after if each not in usual}

    def _otherwise(self, node: Node, what: str | int) -> tuple[object, ...]:
        """The lists and texts among the attributes of a node, except ``what``. If ``what`` is an axis or an input, also
        the rank of the first input. Nodes with equal results are similar."""
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

    def had(self, node: Node, what: str | int) -> Any:
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
        """Other values of the attributes. If weights may be wrong as well, a flag that would get its default is only
        suggested."""
        if call.signature is None:
            return
        given = call.attributes or {}
        shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
        rank = max(map(len, shapes), default=0)
        held = roles(call.operator.function) if call.operator is not None else {}
        weights = (value for value, known in zip(node.inputs, inputs) if isinstance(known, Tensor) and known.rank != 1)
        stored = any(value is not None and self.makers.is_constant(value) for value in weights)
        yield from self._of_length(node, given, rank) if node in self.known.faulted else ()
        yield from self._together(node, call, [name for name in given if held.get(name) == TOGETHER])
        for name, (annotation, default) in call.signature.attributes.items():
            value = given.get(name, default)
            only_repeats = value is None and name in KERNELS and self._filter_sizes(node)
            series = self.related(node, name, given)
            if held.get(name) == TOGETHER:
                for other, count in series.items():
                    yield Guess((self.attribute(node, name, other, value),), USUAL, count=count, about=name)
            if held.get(name) == TOGETHER or name in BOUNDS or only_repeats:
                continue
            usual = self.usual(node, name)
            tried: set[object] = {meant(name, value, rank)}
            series |= self._continued(node, name) if held.get(name) == UNLIKELY else {}
            for other, likely in chain(
                ((each, USUAL) for each in list(usual)[:OTHERS]),
                ((each, SELDOM) for each in series),
                ((default, SELDOM) for _ in range(type(default) is int and "axis" not in name)),
                ((each, SELDOM) for each in (*self._windows(node, given, name), *self.groups(node, name))),
                other_values(name, value, shapes, words_of(annotation, call), annotation, len(node.outputs)),
            ):
                is_meant = meant(name, other, rank)
                if is_meant in tried or (value is not None and type(other) is not type(value)):
                    continue
                tried.add(is_meant)
                count = sum(count for each, count in usual.items() if meant(name, each, rank) == is_meant)
                is_default = value is not None and isinstance(other, (tuple, list)) and set(other) == {1}
                unlikely = held.get(name) == UNLIKELY and not is_default and other not in series
                if not count and (unlikely or self._speaks_against(node, name, value, rank, likely)):
                    continue
                if self._takes_batch(node, name, shapes, is_meant):
                    likely, count = LAST, 0
                elif count:
                    likely = USUAL
                elif other in series:
                    count, likely = int(series[other]), USUAL if series[other] >= MANY else likely
                elif self.moves_batch(shapes[0] if shapes else (), other):
                    likely = LAST
                elif isinstance(other, (tuple, list)) and len(set(other)) == 1 and sum(usual.values()) >= MANY:
                    if sum(usual.values()) >= VERY_MANY:
                        continue
                    likely = GUESS
                edit = self.attribute(node, name, other, value)
                count = count or int(other == default and ("axis" not in name or node.op == FLATTEN))
                unsure = (
                    stored
                    and name != "transA"
                    and other == default
                    and value in (0, 1)
                    and not self._is_default_elsewhere(node, name, other)
                    and name in FLAGS
                )
                adjacent = name in KERNELS and tuple(given.get(STRIDES) or ()) == value
                irregular = name in KERNELS and not _is_regular(other, value)
                unsure = unsure or (len(node.inputs) > 1 and (adjacent or irregular))
                yield Guess((edit,), likely, count=count, about=name, adds=value is None, sure=not unsure)

    def related(self, node: Node, name: str, given: Mapping[str, Any]) -> dict[Any, int]:
        """The values of an attribute that are to another list of the node, or to its channels, in the ratio of all
        other nodes with windows of the same sizes, each with their number; none if the present value fills a gap."""
        own, window = self.had(node, name), self._filter_sizes(node)
        others = [each for each in self.of(node) if each is not node and each not in self.known.faulted]
        others = [each for each in others if self._filter_sizes(each) == window and self.had(each, name) is not None]
        numbers = {_only(self.had(each, name)) for each in others}
        if (
            len(others) < MANY
            or len(numbers) < SEVERAL
            or "ax" in name
            or _only(own) is None
            or self._fills(own, numbers)
        ):
            return {}
        found: dict[Any, int] = {}
        lists = [each for each in given if each != name] if isinstance(own, tuple) else [None]
        for other in lists:
            base = self._measure(node, other)
            ratios = {self._ratio(each, name, other) for each in others}
            ratio = ratios.pop()
            if ratios or not ratio or not base or (ratio * base).denominator > 1:
                continue
            number = int(ratio * base)
            value = (number,) * len(own) if isinstance(own, tuple) else number
            found[value] = len(others) + self._fills(value, numbers)
        return found

    def _measure(self, node: Node, name: str | None) -> int | None:
        """The number that a list repeats; without a name, the number of channels of the data."""
        if name is not None:
            return _only(self.had(node, name)) if isinstance(self.had(node, name), tuple) else None
        known = self.known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
        size = (known.shape or ())[1:2] if isinstance(known, Tensor) else ()
        return next((each for each in size if isinstance(each, int)), None)

    def _ratio(self, node: Node, name: str, other: str | None) -> Fraction | None:
        number, base = _only(self.had(node, name)), self._measure(node, other)
        return Fraction(number, base) if number and base else None

    def _fills(self, value: object, numbers: Set[int | None]) -> bool:
        """Whether the number of an attribute lies in a gap of a series of doubled numbers."""
        number = _only(value) or 0
        return isinstance(value, tuple) and number not in numbers and {number / 2, number * 2} <= numbers

    def _windows(self, node: Node, given: Mapping[str, Any], name: str) -> Iterator[tuple[int, ...]]:
        """The windows of the filters. Where strides are omitted or 1: those of windows that do not overlap, and 2."""
        own = self._filter_sizes(node)
        if name in KERNELS and own:
            yield own
        if name == STRIDES and set(given.get(name) or (1,)) == {1}:
            window = self.window(node)
            yield from dict.fromkeys((window, (2,) * len(window)) if window and max(window) > 1 else ())

    def window(self, node: Node) -> tuple[int, ...]:
        """The sizes of the window of a node; () if it has none."""
        return next((had for each in KERNELS if (had := self.had(node, each))), None) or self._filter_sizes(node)

    def _filter_sizes(self, node: Node) -> tuple[int, ...]:
        filters = self.known.types.get(node.inputs[1]) if node.inputs[1:] and node.inputs[1] else None
        sizes = (filters.shape or ())[SPATIAL:] if isinstance(filters, Tensor) else ()
        return tuple(each for each in sizes if isinstance(each, int))

    def groups(self, node: Node, name: str) -> Iterator[int]:
        """The number of groups for which the filters have the channels of the data. Yields nothing if an input of the
        model declares these channels, because then the declaration is more likely to be wrong."""
        if name != GROUP or len(node.inputs) < 2 or node.inputs[0] is None:
            return
        origin = trail(node.inputs[0], 1, self.makers)
        if origin is not None and origin.value in self.graph.inputs:
            return
        data, filters = (self.known.types.get(value) if value is not None else None for value in node.inputs[:2])
        if not isinstance(data, Tensor) or not isinstance(filters, Tensor):
            return
        channels, held, made = (data.shape or ())[1:2], (filters.shape or ())[1:2], (filters.shape or ())[:1]
        if all(len(sizes) == 1 and isinstance(sizes[0], int) and sizes[0] for sizes in (channels, held, made)):
            count, rest = divmod(channels[0], held[0])  # type: ignore[operator]
            if count > 1 and not rest and made[0] % count == 0:  # type: ignore[operator]
                yield count

    def _of_length(self, node: Node, given: Mapping[str, Any], rank: int) -> Iterator[Guess]:
        """Lists of another length: an equal number for each spatial axis, as other lists of the node have it, or one
        half of a list that repeats itself."""
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, (tuple, list)) and value}
        cut = {name: _cut(name, value, rank - SPATIAL) for name, value in lists.items()}
        edits = [self.attribute(node, name, cut[name], value) for name, value in lists.items() if cut[name] != value]
        if len(edits) > 1:
            yield Guess(tuple(edits), SELDOM)
        for name, value in lists.items():
            half = len(value) // 2
            lengths = {len(each) for each in lists.values()} | {rank - SPATIAL, 2 * (rank - SPATIAL)} - {len(value)}
            others = [value[:1] * length for length in sorted(lengths) if length > 0 and len(set(value)) == 1]
            others += [value[:half]] if half and value[:half] * 2 == value else []
            for other in dict.fromkeys(others):
                if other != value:
                    count = self.usual(node, name).get(other, 0)
                    yield Guess((self.attribute(node, name, other, value),), SELDOM, count=count, about=name)

    def moves_batch(self, shape: Sequence[object], perm: object) -> bool:
        """Whether an order of axes moves the dynamic batch axis of an input of the model away from the front."""
        if not isinstance(perm, (tuple, list)) or len(perm) != len(shape) or sorted(perm) != list(range(len(shape))):
            return False
        return any(at and self._is_batch(shape[axis]) for at, axis in enumerate(perm))

    def _takes_batch(self, node: Node, name: str, shapes: Sequence[Sequence[object]], axis: object) -> bool:
        """Whether a Concat joins the dynamic batch axis of an input of the model, or an operator selects or combines
        the elements of this axis."""
        if node.op == JOIN:
            return axis == 0 and any(each and self._is_batch(each[0]) for each in shapes)
        taken = axis in (0, (0,)) and node.op not in OF_NEW_AXES
        return taken and "ax" in name and bool(shapes) and bool(shapes[0]) and self._is_batch(shapes[0][0])

    def _is_batch(self, dim: object) -> bool:
        """Whether a size is the dynamic size of the first axis of an input of the model."""
        if self._batches is None:
            types = (self.known.types.get(value) for value in self.graph.inputs)
            self._batches = {each.shape[0] for each in types if isinstance(each, Tensor) and each.shape}
        return isinstance(dim, Expr) and dim in self._batches

    def _together(self, node: Node, call: Call, names: Sequence[str]) -> Iterator[Guess]:
        """The same new number in all of several lists at once."""
        given = call.attributes or {}
        length = max((len(given[name]) for name in names if isinstance(given[name], (tuple, list))), default=0)
        for each in range(UNIFORM if length and len(names) > 1 else 0):
            other = (each,) * length
            if all(tuple(given[name]) == other for name in names):
                continue
            edits = tuple(self.attribute(node, name, other, given[name]) for name in names)
            alike = [each for each in self.of(node) if all(self.had(each, name) == other for name in names)]
            count = len(alike) + 1 if alike else min(self.usual(node, name).get(other, 0) for name in names)
            yield Guess(edits, USUAL if count else SELDOM, count=count, about=names[0])

    # --- inputs -------------------------------------------------------------------------------------------------------

    def _swapped(self, node: Node) -> Iterator[Guess]:
        """Exchanges the first two inputs, then each other two neighbors of different types, then the first and the
        third; of a few inputs then each other two."""
        neighbors = [(port, port + 1) for port in range(min(len(node.inputs) - 1, SWAPPED))]
        others = [(0, 2)] if len(neighbors) > 1 else []
        if len(node.inputs) <= FEW:
            others += [pair for pair in combinations(range(len(node.inputs)), 2) if pair not in (*neighbors, (0, 2))]
        for port, second in (*neighbors, *others):
            left, right = node.inputs[port], node.inputs[second]
            if left is None or right is None:
                continue
            one, other = self.known.types.get(left), self.known.types.get(right)
            if one == other or (second > 1 and _are_lists(one, other)):
                continue
            edits = self.connected(right, node, port), self.connected(left, node, second)
            weights_first = self.makers.is_constant(left) and not self.makers.is_constant(right)
            likely = (
                LAST
                if (port, second) in others[1:]
                else SELDOM
                if second > 1 or (weights_first and self._takes_weights_second(node))
                else LAST
            )
            yield Guess(tuple(replaced(edit, swaps=True) for edit in edits), likely)

    def _takes_weights_second(self, node: Node) -> bool:
        """Whether other nodes of the operator have no constant as their first input."""
        others = [each.inputs[0] for each in self.of(node) if each is not node and each.inputs]
        return not any(value is not None and self.makers.is_constant(value) for value in others)

    def _exchanged(self, node: Node, inputs: Sequence[Type | None]) -> Iterator[Guess]:
        """Puts the axes of a constant into another order."""
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            if value is None or not isinstance(known, Tensor) or len(known.shape or ()) < 2 or known.dtype in INTEGERS:
                continue
            assert known.shape is not None
            if self.makers.is_constant(value):
                yield from self.transposed(value, known.shape, node, port)

    def transposed(self, value: Value, shape: Shape, node: Node, port: int) -> Iterator[Guess]:
        """A constant with its axes in another order: exchanged neighbors, or one axis moved to an end, or all reversed.
        If several nodes use it, it is transposed only for one of them."""
        axes = tuple(range(len(shape)))
        if len(axes) == 1:
            return
        orders = [
            *neighbors(len(shape)),
            (axes[-1], axes[-2], *axes[:-2]),
            (axes[-1], *axes[:-1]),
            (*axes[1:], axes[0]),
        ]
        orders += [(axes[0], axes[-1], *axes[1:-1]), (axes[0], *axes[2:], axes[1]), (*axes[2:], axes[1], axes[0])]
        seen = {shape}
        for perm in orders:
            other = tuple(shape[axis] for axis in perm)
            if other in seen:
                continue
            seen.add(other)
            if len(self.users.get(value, ())) > 1:
                called = f"constant {self.called(value)}"
                yield Guess((self.inserted(TRANSPOSE, node, port, (("perm", perm),), called),), GUESS)
            else:
                yield Guess((self.constant(value, other, "shape"),), GUESS)


def _only(value: object) -> int | None:
    """The number of an attribute, or the one that its list repeats; None if there is none."""
    several = set(value) if isinstance(value, tuple) else {value}
    only = several.pop() if len(several) == 1 else None
    return only if type(only) is int else None


def _cut(name: str, value: tuple[Any, ...], spatial: int) -> tuple[Any, ...]:
    """The entries of a list for the first spatial axes, if it has entries for more axes; pads are two lists."""
    half = len(value) // 2
    if name == PADS_OF_BOTH_ENDS:
        return (*value[:spatial], *value[half : half + spatial]) if half > spatial > 0 else value
    return value[:spatial] if len(value) > spatial > 0 else value


def _is_regular(window: Sequence[int], before: Sequence[int] | None) -> bool:
    """Whether filters have a window of equal sizes, or the only size is not the next to the one before. Otherwise the
    filters may lack a row."""
    several = len(window) > 1 or not before or abs(window[0] - before[0]) > 1
    return len(set(window)) == 1 and several


def _are_lists(*types: Type | None) -> bool:
    """Whether all these values are lists of known integers."""
    return all(isinstance(each, Tensor) and each.dtype in INTEGERS and each.ints is not None for each in types)
