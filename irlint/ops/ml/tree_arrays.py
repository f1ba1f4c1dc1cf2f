"""Fast NumPy checks of the very long lists of a tree ensemble. If a check fails, ``tree_lists`` finds the reason."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.lazy_typing import Any
from irlint.model.lists import LongList


def are_long(*lists: object) -> bool:
    """Whether all ``lists`` are very long; False if there are no lists."""
    return bool(lists) and all(isinstance(each, LongList) for each in lists)


def texts_of(entries: Sequence[str]) -> Sequence[str]:
    """The distinct texts of a list."""
    return entries.texts if isinstance(entries, LongList) else tuple(dict.fromkeys(entries))


def is_branch(modes: Any) -> Any:
    """Whether each node is a branch, as an array."""
    leaf = modes.texts.index("LEAF") if "LEAF" in modes.texts else len(modes.texts)
    return modes.numbers != leaf


def ends(numbers: Any) -> tuple[int, int] | None:
    """The least and the largest of some integers; None if there are no integers."""
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else None


class Places:
    """The nodes of all trees. The number of a node is computed from the id of its tree and its own id.

    ``known`` are the numbers in ascending order, and ``order`` their positions in the lists (None if the lists are in
    ascending order).
    """

    def __init__(self, trees: Any, ids: Any) -> None:
        import numpy

        low, high = ends(ids) or (0, 0)
        self.first_id, self.span = low, high - low + 1
        self.first_tree, last = ends(trees) or (0, 0)
        # Intermediate results in `of` may overflow, but integers wrap around, so the final number is right if it fits.
        small = (last - self.first_tree + 1) * self.span < 1 << 31 and max(trees.itemsize, ids.itemsize) <= 4
        self.kind = numpy.int32 if small and self.span < 1 << 31 else numpy.int64
        self.numbers = self.of(trees, ids)
        self.order: Any = None
        self.known = self.numbers
        if len(self.known) > 1 and not (self.known[1:] > self.known[:-1]).all():
            self.order = numpy.argsort(self.numbers, kind="stable")
            self.known = self.numbers[self.order]

    @property
    def is_dense(self) -> bool:
        """Whether the numbers of the nodes are consecutive."""
        known = self.known
        return self.order is None and len(known) > 0 and int(known[-1]) - int(known[0]) == len(known) - 1

    @property
    def twice(self) -> bool:
        """Whether a tree has two nodes with the same id."""
        return self.order is not None and bool((self.known[1:] == self.known[:-1]).any())

    def of(self, trees: Any, ids: Any) -> Any:
        """The numbers of nodes."""
        numbers = trees.astype(self.kind)
        numbers -= self.first_tree
        numbers *= self.span
        numbers += ids.astype(self.kind, copy=False)
        numbers -= self.first_id
        return numbers

    def at(self, trees: Any, ids: Any) -> Any:
        """The positions of nodes in the lists; None if a node is missing."""
        import numpy

        if len(ids) and not (self.first_id <= int(ids.min()) and int(ids.max()) < self.first_id + self.span):
            return None
        wanted = self.of(trees, ids)
        if self.is_dense and len(wanted):
            found = wanted - self.known[0]
            return found if int(found.min()) >= 0 and int(found.max()) < len(self.known) else None
        found = numpy.searchsorted(self.known, wanted)
        if len(found) and (int(found.max()) >= len(self.known) or (self.known[found] != wanted).any()):
            return None
        return found if self.order is None else self.order[found]


def branches_are_sound(trees: Any, ids: Any, *, modes: Any, sides: Sequence[Any]) -> bool:
    """Whether each branch leads to nodes of its tree that are no roots and have no other parent. Then no path from a
    root reaches a node twice."""
    import numpy

    trees, ids = trees.numbers, ids.numbers
    if not _are_countable(trees, ids):
        return False
    places = Places(trees, ids)
    if places.twice:
        return False
    branches = numpy.flatnonzero(is_branch(modes))
    reached = numpy.zeros(len(ids), numpy.bool_)
    count = 0
    for side in sides:
        targets = side.numbers[branches]
        if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < len(ids):
            return False
        found = places.at(trees[branches], targets)
        if found is None:
            return False
        reached[found] = True
        count += len(found)
    return int(numpy.count_nonzero(reached)) == count and not reached[_roots(trees)].any()


def _are_countable(trees: Any, ids: Any) -> bool:
    """Whether all pairs of a tree id and a node id, each between its minimum and maximum, can be numbered with 64-bit
    integers."""
    tree, node = ends(trees) or (0, 0), ends(ids) or (0, 0)
    return (tree[1] - tree[0] + 1) * (node[1] - node[0] + 1) < 1 << 62


def _roots(trees: Any) -> Any:
    """The position of the first node of each tree."""
    import numpy

    steps = numpy.flatnonzero(trees[1:] != trees[:-1]) + 1
    starts = numpy.concatenate((numpy.zeros(1, steps.dtype), steps))
    _, first = numpy.unique(trees[starts], return_index=True)
    return starts[first]


def contains_all(trees: Any, ids: Any, *, wanted_trees: Any, wanted_ids: Any) -> bool:
    """Whether the lists contain all nodes that ``wanted_trees`` and ``wanted_ids`` name."""
    low, high = ends(trees.numbers) or (0, -1)
    least, most = ends(wanted_trees.numbers) or (low, low)
    if not (low <= least <= most <= high and _are_countable(trees.numbers, ids.numbers)):
        return False
    return Places(trees.numbers, ids.numbers).at(wanted_trees.numbers, wanted_ids.numbers) is not None
