"""Fast NumPy checks of the very long lists of a tree ensemble. If a check fails, ``tree_lists`` finds the reason."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.lazy_typing import Any
from irlint.model.lists import LongList


def are_long(*lists: object) -> bool:
    """Whether there is at least one list, and all ``lists`` are stored as ``LongList``."""
    return bool(lists) and all(isinstance(entries, LongList) for entries in lists)


def texts_of(entries: Sequence[str]) -> Sequence[str]:
    """The distinct texts of a list."""
    return entries.texts if isinstance(entries, LongList) else tuple(dict.fromkeys(entries))


def branch_mask(modes: Any) -> Any:
    """An array with an entry for each node: True for a branch, False for a leaf."""
    leaf_number = modes.texts.index("LEAF") if "LEAF" in modes.texts else len(modes.texts)
    return modes.numbers != leaf_number


def ends(numbers: Any) -> tuple[int, int] | None:
    """(least integer, largest integer), or None if ``numbers`` is empty."""
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else None


class NodeNumbers:
    """The nodes of all trees, each with a number that stands for its tree id and its node id."""

    def __init__(self, trees: Any, ids: Any) -> None:
        import numpy

        low, high = ends(ids) or (0, 0)
        self.first_id, self.span = low, high - low + 1
        self.first_tree, last_tree = ends(trees) or (0, 0)
        is_small = (last_tree - self.first_tree + 1) * self.span < 1 << 31 and max(trees.itemsize, ids.itemsize) <= 4
        self.number_type = numpy.int32 if is_small and self.span < 1 << 31 else numpy.int64
        numbers = self.numbers(trees, ids)
        self.sorted = numbers
        #: The index in the lists of each entry of ``sorted``; None if the lists are already in ascending order.
        self.order: Any = None
        if len(numbers) > 1 and not (numbers[1:] > numbers[:-1]).all():
            self.order = numpy.argsort(numbers, kind="stable")
            self.sorted = numbers[self.order]

    @property
    def are_consecutive(self) -> bool:
        """Whether each node in the lists has the number of the previous node plus 1."""
        count = len(self.sorted)
        return self.order is None and count > 0 and int(self.sorted[-1]) - int(self.sorted[0]) == count - 1

    @property
    def has_repeated_nodes(self) -> bool:
        """Whether a tree has two nodes with the same id."""
        return self.order is not None and bool((self.sorted[1:] == self.sorted[:-1]).any())

    def numbers(self, trees: Any, ids: Any) -> Any:
        """The number of each node in the lists ``trees`` and ``ids``."""
        # An intermediate overflow wraps around, so the result is right.
        numbers = trees.astype(self.number_type)
        numbers -= self.first_tree
        numbers *= self.span
        numbers += ids.astype(self.number_type, copy=False)
        numbers -= self.first_id
        return numbers

    def positions(self, trees: Any, ids: Any) -> Any:
        """The index of each node of ``trees`` and ``ids`` in the lists of all nodes; None if a node is missing."""
        import numpy

        if len(ids) and not (self.first_id <= int(ids.min()) and int(ids.max()) < self.first_id + self.span):
            return None
        numbers = self.numbers(trees, ids)
        if self.are_consecutive and len(numbers):
            found = numbers - self.sorted[0]
            return found if int(found.min()) >= 0 and int(found.max()) < len(self.sorted) else None
        found = numpy.searchsorted(self.sorted, numbers)
        if len(found) and (int(found.max()) >= len(self.sorted) or (self.sorted[found] != numbers).any()):
            return None
        return found if self.order is None else self.order[found]


def branches_are_sound(trees: Any, ids: Any, *, modes: Any, sides: Sequence[Any]) -> bool:
    """Whether each child of a branch is a node of the same tree, is no root, and has only one parent."""
    import numpy

    trees, ids = trees.numbers, ids.numbers
    if not _are_countable(trees, ids):
        return False
    nodes = NodeNumbers(trees, ids)
    if nodes.has_repeated_nodes:
        return False
    branches = numpy.flatnonzero(branch_mask(modes))
    reached = numpy.zeros(len(ids), numpy.bool_)
    count = 0
    for side in sides:
        targets = side.numbers[branches]
        if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < len(ids):
            return False
        found = nodes.positions(trees[branches], targets)
        if found is None:
            return False
        reached[found] = True
        count += len(found)
    return int(numpy.count_nonzero(reached)) == count and not reached[_roots(trees)].any()


def _are_countable(trees: Any, ids: Any) -> bool:
    """Whether 64-bit integers can number all pairs of a tree id and a node id."""
    first_tree, last_tree = ends(trees) or (0, 0)
    first_id, last_id = ends(ids) or (0, 0)
    return (last_tree - first_tree + 1) * (last_id - first_id + 1) < 1 << 62


def _roots(trees: Any) -> Any:
    """The position of the first node of each tree."""
    import numpy

    steps = numpy.flatnonzero(trees[1:] != trees[:-1]) + 1
    starts = numpy.concatenate((numpy.zeros(1, steps.dtype), steps))
    _, first = numpy.unique(trees[starts], return_index=True)
    return starts[first]


def contains_all(trees: Any, ids: Any, *, other_trees: Any, other_ids: Any) -> bool:
    """Whether ``trees`` and ``ids`` contain all nodes of ``other_trees`` and ``other_ids``."""
    low, high = ends(trees.numbers) or (0, -1)
    least, most = ends(other_trees.numbers) or (low, low)
    if not (low <= least <= most <= high and _are_countable(trees.numbers, ids.numbers)):
        return False
    return NodeNumbers(trees.numbers, ids.numbers).positions(other_trees.numbers, other_ids.numbers) is not None
