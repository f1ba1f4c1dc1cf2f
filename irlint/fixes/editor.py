"""Candidates for one node: other attributes, other constants, and inputs in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations

from irlint.binding.calls import Call
from irlint.dims import Expr, Shape
from irlint.findings.edits import Edit
from irlint.fixes.candidate import MANY, OTHERS, SEVERAL, VERY_MANY, Candidate
from irlint.fixes.constants import Constants
from irlint.fixes.indices import JOIN
from irlint.fixes.inserted import FLATTEN, TRANSPOSE, UNSQUEEZE
from irlint.fixes.node_edits import NodeEdits
from irlint.fixes.other_values import (
    EVIDENT,
    FLAGS,
    LAST_RESORT,
    POSSIBLE,
    PROBABLE,
    REPEATED_BELOW,
    SPATIAL,
    neighbors,
    normalized,
    other_values,
    words_of,
)
from irlint.fixes.ratios import values_in_ratio
from irlint.fixes.slices import BOUNDS, other_bounds
from irlint.inference.known import Known
from irlint.inference.origins import Makers, inputs_of, shape_of, trail
from irlint.lazy_typing import Any
from irlint.model import Graph, Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.ops.signatures import TOGETHER, UNLIKELY, roles
from irlint.records import replaced

#: The index of the last input that is exchanged with the next input.
SWAPPED = 8

#: The attributes with the steps and the sizes of windows, in both formats.
STRIDES = "strides"
KERNELS = ("kernel_shape", "kernel")

#: The attribute with the number of groups of channels.
GROUP = "group"

#: The attribute of ONNX that lists the pads at the start of each axis, and then those at the ends.
PADS_OF_BOTH_ENDS = "pads"

#: The operators whose attribute ``axis`` or ``axes`` names a boundary between axes, or new axes.
OF_NEW_AXES = (FLATTEN, UNSQUEEZE)

#: If a node has at most this many inputs, all pairs are exchanged.
FEW = 4


class Editor(NodeEdits):
    """Makes edits and candidates for the nodes of one graph."""

    def __init__(self, known: Known, graph: Graph, makers: Makers, users: Mapping[Value, Sequence[Node]]) -> None:
        super().__init__(known, makers)
        self.graph = graph
        self.users = users
        self._similar: dict[tuple[object, ...], dict[Any, int]] = {}
        self._nodes: dict[tuple[str, str], list[Node]] = {}
        self.constants = Constants(self)

    def candidates_at(self, node: Node, others: Sequence[Type | None] = ()) -> Iterator[Candidate]:
        """Candidates that change a node. ``others`` are further types: perhaps the node must match their sizes."""
        call = self.known.calls[node]
        inputs = inputs_of(node, self.known)
        if node.op in (self.format.constant_node, self.format.input_node):
            return
        yield from self._attributes(node, call, inputs)
        if call.signature is not None and not BOUNDS.isdisjoint((*call.signature.inputs, *call.signature.attributes)):
            yield from other_bounds(node, call, inputs, others, self)
        yield from self.constants.candidates_at(node, call, inputs, others)
        yield from self._swapped(node)
        yield from self._transposed_constants(node, inputs)

    # --- similar nodes ------------------------------------------------------------------------------------------------

    def similar_values(self, node: Node, what: str | int) -> dict[Any, int]:
        """The values that similar nodes have as an attribute or input ``what``, with the number of these nodes."""
        key = node.domain, node.op, what, self._similarity_key(node, what)
        if key not in self._similar:
            found = self._similar.setdefault(key, {})
            for each in self._same_operator(node):
                if self._similarity_key(each, what) == key[3] and (value := self.value_of(each, what)) is not None:
                    found[value] = found.get(value, 0) + 1
        return self._similar[key]

    def _is_default_of_siblings(self, node: Node, name: str, default: object) -> bool:
        return any(self.value_of(each, name) in (None, default) for each in self.siblings(node))

    def _similar_nodes_oppose(self, node: Node, name: str, value: object, rank: int, grade: int) -> bool:
        """Whether many similar nodes have other values than a guess, or siblings of the same ranks agree on an axis."""
        if grade == LAST_RESORT and sum(self.similar_values(node, name).values()) >= MANY:
            return True
        return "axis" in name and self._siblings_agree(node, name, value, rank)

    def _siblings_agree(self, node: Node, name: str, value: object, rank: int) -> bool:
        """Whether several siblings without faults, with inputs of the same ranks, all have this attribute value."""
        others = [
            normalized(name, self.value_of(each, name), rank)
            for each in self.siblings_of_ranks(node)
            if each not in self.known.faulted
        ]
        return len(others) >= SEVERAL and set(others) == {normalized(name, value, rank)}

    def siblings(self, node: Node) -> list[Node]:
        """The other nodes with the operator of a node."""
        return [each for each in self._same_operator(node) if each is not node]

    def siblings_of_ranks(self, node: Node) -> list[Node]:
        """The siblings whose inputs have as many axes as those of a node."""
        return [each for each in self.siblings(node) if self._ranks(each) == self._ranks(node)]

    def _ranks(self, node: Node) -> list[int | None]:
        return [each.rank if isinstance(each, Tensor) else None for each in inputs_of(node, self.known)]

    def _same_operator(self, node: Node) -> list[Node]:
        if not self._nodes:
            for each in self.graph.nodes:
                self._nodes.setdefault((each.domain, each.op), []).append(each)
        return self._nodes.get((node.domain, node.op), [])

    def fills_gap(self, node: Node, edit: Edit) -> bool:
        """Whether an edit sets a list that fills a gap in the series of doubled lists of similar nodes."""
        return self._missing_in_series(node, edit.name).get(edit.value, False)

    def _missing_in_series(self, node: Node, name: str) -> dict[tuple[int, ...], bool]:
        """The lists that continue a series of doubled lists of similar nodes, such as [4] after [1] and [2]. True for a
        list in a gap: the next list [8] exists."""
        own, similar = self.value_of(node, name), self.similar_values(node, name)
        others = {each for each, count in similar.items() if isinstance(each, tuple) and count > (each == own)}
        doubled = {each: tuple(2 * number for number in each) for each in others}
        after = (doubled[each] for each in doubled if each in doubled.values())
        return {each: tuple(2 * number for number in each) in others for each in after if each not in similar}

    def _similarity_key(self, node: Node, what: str | int) -> tuple[object, ...]:
        """The attributes that are lists or texts, except ``what``. Siblings are similar if they have equal keys.

        For an axis or an input, the key also contains the rank of the first input.
        """
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

    def value_of(self, node: Node, what: str | int) -> Any:
        """An attribute (by name) or the integers of an input (by index) of a node; None if it is unknown."""
        if isinstance(what, int):
            value = node.inputs[what] if what < len(node.inputs) else None
            given = self.known.types.get(value) if value is not None else None
            ints = given.ints if isinstance(given, Tensor) else None
            return ints if ints is not None and all(isinstance(each, int) for each in ints) else None
        call = self.known.calls.get(node)
        found = (call.attributes or {}).get(what) if call is not None else None
        return tuple(found) if isinstance(found, list) else found if isinstance(found, (int, str, tuple)) else None

    # --- attributes ---------------------------------------------------------------------------------------------------

    def _attributes(self, node: Node, call: Call, inputs: Sequence[Type | None]) -> Iterator[Candidate]:
        """Candidates with other values of the attributes."""
        if call.signature is None:
            return
        given = call.attributes or {}
        shapes = [each.shape for each in inputs if isinstance(each, Tensor) and each.shape is not None]
        rank = max(map(len, shapes), default=0)
        attribute_roles = roles(call.operator.function) if call.operator is not None else {}
        weights = (value for value, known in zip(node.inputs, inputs) if isinstance(known, Tensor) and known.rank != 1)
        has_weights = any(value is not None and self.makers.is_constant(value) for value in weights)
        yield from self._of_length(node, given, rank) if node in self.known.faulted else ()
        yield from self._same_number_in_all(
            node, call, [name for name in given if attribute_roles.get(name) == TOGETHER]
        )
        for name, (annotation, default) in call.signature.attributes.items():
            value = given.get(name, default)
            only_repeats = value is None and name in KERNELS and self.filter_sizes(node)
            series = values_in_ratio(node, name, given, self)
            if attribute_roles.get(name) == TOGETHER:
                for other, count in series.items():
                    yield Candidate((self.attribute(node, name, other, value),), EVIDENT, evidence=count, subject=name)
            is_bound = name in BOUNDS and not isinstance(value, int)
            if attribute_roles.get(name) == TOGETHER or is_bound or only_repeats:
                continue
            similar = self.similar_values(node, name)
            tried: set[object] = {normalized(name, value, rank)}
            series |= self._missing_in_series(node, name) if attribute_roles.get(name) == UNLIKELY else {}
            series |= dict.fromkeys(self._axes_of_scales(node, inputs) if name == "axis" else (), False)
            for other, grade in chain(
                ((each, EVIDENT) for each in list(similar)[:OTHERS]),
                ((each, PROBABLE) for each in series),
                ((default, PROBABLE) for _ in range(type(default) is int and "axis" not in name)),
                ((rank, PROBABLE) for _ in range(name == "axis" and node.op == FLATTEN)),
                ((each, PROBABLE) for each in (*self._windows(node, given, name), *self.fitting_groups(node, name))),
                other_values(name, value, shapes, words_of(annotation, call), annotation, len(node.outputs)),
            ):
                key = normalized(name, other, rank)
                if key in tried or (value is not None and type(other) is not type(value)):
                    continue
                tried.add(key)
                count = sum(count for each, count in similar.items() if normalized(name, each, rank) == key)
                is_default = value is not None and isinstance(other, (tuple, list)) and set(other) == {1}
                unlikely = attribute_roles.get(name) == UNLIKELY and not is_default and other not in series
                if not count and (unlikely or self._similar_nodes_oppose(node, name, value, rank, grade)):
                    continue
                if self._affects_batch(node, name, shapes, key):
                    grade, count = LAST_RESORT, 0
                elif count or other in series:
                    grade = EVIDENT if count or series[other] >= MANY else grade
                    count = max(count, int(series.get(other, 0)))
                elif self.moves_batch(shapes[0] if shapes else (), other):
                    grade = LAST_RESORT
                elif isinstance(other, (tuple, list)) and len(set(other)) == 1 and sum(similar.values()) >= MANY:
                    if sum(similar.values()) >= VERY_MANY:
                        continue
                    grade = POSSIBLE
                elif (
                    name == STRIDES
                    and max(other, default=0) > 2
                    and (other != self.window(node) or set(value or (1,)) != {1})
                ):
                    grade = POSSIBLE
                edit = self.attribute(node, name, other, value)
                count = count or int(other == default and ("axis" not in name or node.op == FLATTEN))
                is_unsure = (
                    has_weights
                    and name != "transA"
                    and other == default
                    and value in (0, 1)
                    and not self._is_default_of_siblings(node, name, other)
                    and name in FLAGS
                )
                adjacent = name in KERNELS and tuple(given.get(STRIDES) or ()) == value
                irregular = name in KERNELS and not _is_regular(other, value)
                is_unsure = is_unsure or (len(node.inputs) > 1 and (adjacent or irregular))
                yield Candidate(
                    (edit,), grade, evidence=count, subject=name, adds_attribute=value is None, sure=not is_unsure
                )

    def _windows(self, node: Node, given: Mapping[str, Any], name: str) -> Iterator[tuple[int, ...]]:
        """For ``kernel_shape``: the size of the filters. For strides of 1: the window (then none overlap), and 2."""
        own = self.filter_sizes(node)
        if name in KERNELS and own:
            yield own
        if name == STRIDES and set(given.get(name) or (1,)) == {1}:
            window = self.window(node)
            yield from dict.fromkeys((window, (2,) * len(window)) if window and max(window) > 1 else ())

    def window(self, node: Node) -> tuple[int, ...]:
        """The sizes of the window of a node; () if it has none."""
        stated = next((sizes for name in KERNELS if (sizes := self.value_of(node, name))), None)
        return stated or self.filter_sizes(node)

    def filter_sizes(self, node: Node) -> tuple[int, ...]:
        """The known spatial sizes of the filters of a node; () if it has none."""
        filters = self.known.types.get(node.inputs[1]) if node.inputs[1:] and node.inputs[1] else None
        sizes = (filters.shape or ())[SPATIAL:] if isinstance(filters, Tensor) else ()
        return tuple(each for each in sizes if isinstance(each, int))

    def _axes_of_scales(self, node: Node, inputs: Sequence[Type | None]) -> list[int]:
        """The axis of constant data that is as long as the second input, a list of scales; [] unless one axis fits."""
        shapes = [each.shape if isinstance(each, Tensor) else None for each in inputs[:2]]
        if len(shapes) < 2 or not shapes[0] or shapes[1] is None or len(shapes[1]) != 1:
            return []
        if node.inputs[0] is None or not self.makers.is_constant(node.inputs[0]):
            return []
        found = [axis for axis, dim in enumerate(shapes[0]) if dim == shapes[1][0] != 1]
        return found if len(found) == 1 else []

    def fitting_groups(self, node: Node, name: str) -> Iterator[int]:
        """The number of groups with which the filters fit the channels of the data."""
        if name != GROUP or len(node.inputs) < 2 or node.inputs[0] is None:
            return
        origin = trail(node.inputs[0], 1, self.makers)
        if origin is not None and origin.value in self.graph.inputs:
            return
        data, filters = (self.known.types.get(value) if value is not None else None for value in node.inputs[:2])
        if not isinstance(data, Tensor) or not isinstance(filters, Tensor):
            return
        channels, per_filter, outputs = (data.shape or ())[1:2], (filters.shape or ())[1:2], (filters.shape or ())[:1]
        if all(len(sizes) == 1 and isinstance(sizes[0], int) and sizes[0] for sizes in (channels, per_filter, outputs)):
            count, rest = divmod(channels[0], per_filter[0])  # type: ignore[operator]
            if count > 1 and not rest and outputs[0] % count == 0:  # type: ignore[operator]
                yield count

    def _of_length(self, node: Node, given: Mapping[str, Any], rank: int) -> Iterator[Candidate]:
        """Lists of another length: a repeated number, or one half of a list that repeats itself."""
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, (tuple, list)) and value}
        shortened = {name: _shortened(name, value, rank - SPATIAL) for name, value in lists.items()}
        edits = [
            self.attribute(node, name, shortened[name], value)
            for name, value in lists.items()
            if shortened[name] != value
        ]
        if len(edits) > 1:
            yield Candidate(tuple(edits), PROBABLE)
        for name, value in lists.items():
            half = len(value) // 2
            lengths = {len(each) for each in lists.values()} | {rank - SPATIAL, 2 * (rank - SPATIAL)} - {len(value)}
            others = [value[:1] * length for length in sorted(lengths) if length > 0 and len(set(value)) == 1]
            others += [value[:half]] if half and value[:half] * 2 == value else []
            for other in dict.fromkeys(others):
                if other != value:
                    count = self.similar_values(node, name).get(other, 0)
                    yield Candidate((self.attribute(node, name, other, value),), PROBABLE, evidence=count, subject=name)

    def moves_batch(self, shape: Sequence[object], perm: object) -> bool:
        """Whether an order of axes moves the dynamic batch axis of an input of the model away from the front."""
        if not isinstance(perm, (tuple, list)) or len(perm) != len(shape) or sorted(perm) != list(range(len(shape))):
            return False
        return any(at and shape[axis] in self._batches for at, axis in enumerate(perm))

    def _affects_batch(self, node: Node, name: str, shapes: Sequence[Sequence[object]], axis: object) -> bool:
        """Whether a Concat joins the dynamic batch axis, or an operator selects or combines its elements."""
        if node.op == JOIN:
            return axis == 0 and any(each and each[0] in self._batches for each in shapes)
        is_first = axis in (0, (0,)) and node.op not in OF_NEW_AXES
        return is_first and "ax" in name and bool(shapes) and bool(shapes[0]) and shapes[0][0] in self._batches

    @cached_property
    def _batches(self) -> set[object]:
        """The dynamic first sizes of inputs of the model."""
        shapes = (shape_of(value, self.known) for value in self.graph.inputs)
        return {shape[0] for shape in shapes if shape and isinstance(shape[0], Expr)}

    def _same_number_in_all(self, node: Node, call: Call, names: Sequence[str]) -> Iterator[Candidate]:
        """The same new number in all entries of several lists."""
        given = call.attributes or {}
        length = max((len(given[name]) for name in names if isinstance(given[name], (tuple, list))), default=0)
        for each in range(REPEATED_BELOW if length and len(names) > 1 else 0):
            other = (each,) * length
            if all(tuple(given[name]) == other for name in names):
                continue
            edits = tuple(self.attribute(node, name, other, given[name]) for name in names)
            same = [each for each in self.siblings(node) if all(self.value_of(each, name) == other for name in names)]
            count = len(same) + 1 if same else min(self.similar_values(node, name).get(other, 0) for name in names)
            yield Candidate(edits, EVIDENT if count else PROBABLE, evidence=count, subject=names[0])

    # --- inputs -------------------------------------------------------------------------------------------------------

    def _swapped(self, node: Node) -> Iterator[Candidate]:
        """Exchanges the first two inputs, then other neighbors of different types, then other pairs of a few inputs."""
        pairs = [(port, port + 1) for port in range(min(len(node.inputs) - 1, SWAPPED))]
        others = [(0, 2)] if len(pairs) > 1 else []
        if len(node.inputs) <= FEW:
            others += [pair for pair in combinations(range(len(node.inputs)), 2) if pair not in (*pairs, (0, 2))]
        for port, second in (*pairs, *others):
            left, right = node.inputs[port], node.inputs[second]
            if left is None or right is None:
                continue
            one, other = self.known.types.get(left), self.known.types.get(right)
            if one == other or (second > 1 and _are_known_lists(one, other)):
                continue
            edits = self.connected(right, node, port), self.connected(left, node, second)
            weights_first = self.makers.is_constant(left) and not self.makers.is_constant(right)
            is_probable = second > 1 or (weights_first and self._takes_weights_second(node))
            grade = PROBABLE if is_probable and (port, second) not in others[1:] else LAST_RESORT
            yield Candidate(tuple(replaced(edit, swaps=True) for edit in edits), grade)

    def _takes_weights_second(self, node: Node) -> bool:
        """Whether no sibling has a constant as its first input."""
        others = [each.inputs[0] for each in self.siblings(node) if each.inputs]
        return not any(value is not None and self.makers.is_constant(value) for value in others)

    def _transposed_constants(self, node: Node, inputs: Sequence[Type | None]) -> Iterator[Candidate]:
        for port, (value, known) in enumerate(zip(node.inputs, inputs)):
            if value is None or not isinstance(known, Tensor) or len(known.shape or ()) < 2 or known.dtype in INTEGERS:
                continue
            assert known.shape is not None
            if not self.makers.is_constant(value):
                continue
            others = [each.shape for each in inputs if isinstance(each, Tensor) and each is not known and each.shape]
            for candidate in self.transposed(value, known.shape, node, port):
                after = candidate.edits[0].value if candidate.edits[0].kind == "constant" else ()
                likely = _lies_on_equal_sizes(after, others) and not _lies_on_equal_sizes(known.shape, others)
                yield replaced(candidate, grade=PROBABLE) if likely else candidate

    def joins_weights(self, node: Node) -> bool:
        """Whether an input of a node holds the weights of query, key and value, joined along an axis."""
        call = self.known.calls.get(node)
        return call is not None and call.operator is not None and "projected" in call.operator.macs

    def transposed(self, value: Value, shape: Shape, node: Node, port: int) -> Iterator[Candidate]:
        """A constant with its axes in another order. A shared constant is transposed for one user only.

        The joined weights of query, key and value keep their order: a Transpose may mix them.
        """
        axes = tuple(range(len(shape)))
        if len(axes) == 1 or self.joins_weights(node):
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
                yield Candidate((self.inserted(TRANSPOSE, node, port, (("perm", perm),), called),), POSSIBLE)
            else:
                yield Candidate((self.constant(value, other, "shape"),), POSSIBLE)


def _shortened(name: str, value: tuple[Any, ...], spatial: int) -> tuple[Any, ...]:
    """The entries of a list for the first ``spatial`` axes. Pads have such entries for the starts and for the ends."""
    half = len(value) // 2
    if name == PADS_OF_BOTH_ENDS:
        return (*value[:spatial], *value[half : half + spatial]) if half > spatial > 0 else value
    return value[:spatial] if len(value) > spatial > 0 else value


def _lies_on_equal_sizes(shape: Shape, others: Sequence[Shape]) -> bool:
    """Whether a constant has one size that is not 1, and another input has this size on the same axis."""
    sizes = [(axis - len(shape), dim) for axis, dim in enumerate(shape) if dim != 1]
    return len(sizes) == 1 and any(
        len(other) >= -axis and other[axis] == dim for axis, dim in sizes for other in others
    )


def _is_regular(window: Sequence[int], before: Sequence[int] | None) -> bool:
    """Whether a window has equal sizes and, if it has one axis, differs by more than 1 from the old window."""
    several = len(window) != 1 or not before or abs(window[0] - before[0]) > 1
    return len(set(window)) == 1 and several


def _are_known_lists(*types: Type | None) -> bool:
    return all(isinstance(each, Tensor) and each.dtype in INTEGERS and each.ints is not None for each in types)
