"""Fast NumPy checks of the very long lists of a tree ensemble. ``tree_lists`` finds the reason of a failure."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.lazy_typing import Any
from irlint.model.lists import LongList


def are_long(*lists: object) -> bool:
    """Whether there are ``lists`` and all are very long."""
    return bool(lists) and all(isinstance(entries, LongList) for entries in lists)


def texts_of(entries: Sequence[str]) -> Sequence[str]:
    """The distinct texts of a list."""
    return entries.texts if isinstance(entries, LongList) else tuple(dict.fromkeys(entries))


def branch_mask(modes: Any) -> Any:
    """An array that is True for each branch."""
    leaf_number = modes.texts.index("LEAF") if "LEAF" in modes.texts else len(modes.texts)
    return modes.numbers != leaf_number


def ends(numbers: Any) -> tuple[int, int] | None:
    """(least integer, largest integer), or None without integers."""
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else None


class NodeNumbers:
    """The nodes of all trees. A number stands for a pair of a tree id and a node id."""

    def __init__(self, trees: Any, ids: Any) -> None:
        import numpy

        low, high = ends(ids) or (0, 0)
        self.first_id, self.span = low, high - low + 1
        self.first_tree, last_tree = ends(trees) or (0, 0)
        is_small = (last_tree - self.first_tree + 1) * self.span < 1 << 31 and max(trees.itemsize, ids.itemsize) <= 4
        self.number_type = numpy.int32 if is_small and self.span < 1 << 31 else numpy.int64
        numbers = self.numbers(trees, ids)
        self.sorted = numbers
        #: The positions of ``sorted`` in the lists, None if the lists are in ascending order.
        self.order: Any = None
        if len(numbers) > 1 and not (numbers[1:] > numbers[:-1]).all():
            self.order = numpy.argsort(numbers, kind="stable")
            self.sorted = numbers[self.order]

    @property
    def are_consecutive(self) -> bool:
        """Whether the numbers are consecutive in the lists."""
        count = len(self.sorted)
        return self.order is None and count > 0 and int(self.sorted[-1]) - int(self.sorted[0]) == count - 1

    @property
    def has_repeated_nodes(self) -> bool:
        """Whether a tree has two nodes with the same id."""
        return self.order is not None and bool((self.sorted[1:] == self.sorted[:-1]).any())

    def numbers(self, trees: Any, ids: Any) -> Any:
        """The numbers of nodes."""
        # An intermediate overflow wraps around, so the result is right.
        numbers = trees.astype(self.number_type)
        numbers -= self.first_tree
        numbers *= self.span
        numbers += ids.astype(self.number_type, copy=False)
        numbers -= self.first_id
        return numbers

    def positions(self, trees: Any, ids: Any) -> Any:
        """The positions of nodes in the lists; None if a node is missing."""
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
    """Whether each branch leads to nodes of its tree that are no roots and have no other parent."""
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
    """Whether the lists contain all nodes of the other two lists."""
    low, high = ends(trees.numbers) or (0, -1)
    least, most = ends(other_trees.numbers) or (low, low)
    if not (low <= least <= most <= high and _are_countable(trees.numbers, ids.numbers)):
        return False
    return NodeNumbers(trees.numbers, ids.numbers).positions(other_trees.numbers, other_ids.numbers) is not None
