"""Checks of the lists that describe a tree ensemble."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import repeat

from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import reaches, warn
from irlint.findings.wording import are, counted
from irlint.model.lists import LongList
from irlint.model.tensor import Tensor, shape_text
from irlint.ops.ml import tree_arrays, tree_order
from irlint.ops.ml.encoders import FEATURES_MISMATCH, Entries, Strings
from irlint.ops.shared.attributes import LISTS_INCONSISTENT, entry_count, expect_parallel
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.signatures import group
from irlint.records import record

Lists = Mapping[str, Entries]

#: (id of a tree, id of a node).
Place = tuple[int, int]

TREE_MALFORMED = Rule(
    "IRL518",
    "tree-malformed",
    Severity.ERROR,
    "A tree ensemble refers to a node, mode, class or target that does not exist, or its nodes do not form trees.",
    why=(
        "The nodes of all trees are stored in lists. A branch refers to its child nodes, and a leaf to the class or "
        "target for which it votes. ONNX Runtime refuses the model if such a node, class or target does not exist, "
        "if a branch leads to itself, or if the false child of a branch also has another parent that ONNX Runtime "
        "reads earlier. ONNX Runtime may run forever if branches form a longer cycle. It computes wrong results if the "
        "nodes of a tree are not listed together, or if the root is not the first of them."
    ),
    fix="Export the ensemble again. The message names the broken entry.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[4,3] x) => (float[4,1] y) { y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, nodes_treeids = [0, 0, 0],
nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_values = [0.5, 0.0, 0.0],
nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [7, 0, 0],
target_treeids = [0, 0], target_nodeids = [1, 2], target_ids = [0, 0], target_weights = [1.0, 2.0]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[4,3] x) => (float[4,1] y) { y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, nodes_treeids = [0, 0, 0],
nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_values = [0.5, 0.0, 0.0],
nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0],
target_treeids = [0, 0], target_nodeids = [1, 2], target_ids = [0, 0], target_weights = [1.0, 2.0]> (x) }""",
    refused=(Refusal("onnxruntime", ("dead by size",)),),
)

NODE_MODES = frozenset(
    ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"]
)

#: The last mode of TreeEnsemble in the specification, and a mode that ONNX Runtime adds.
BRANCH_MEMBER, BRANCH_MEMBER_BIGSET = 6, 7


@group
@record
class TreeNodes:
    """The attributes for the nodes of TreeEnsembleClassifier and TreeEnsembleRegressor."""

    nodes_falsenodeids: Ints | None = None
    nodes_featureids: Ints | None = None
    nodes_hitrates: Floats | None = None
    nodes_missing_value_tracks_true: Ints | None = None
    nodes_modes: Strings | None = None
    nodes_nodeids: Ints | None = None
    nodes_treeids: Ints | None = None
    nodes_truenodeids: Ints | None = None
    nodes_values: Floats | None = None


def check_features(x: Tensor, features: Ints, branch_mask: Sequence[bool]) -> None:
    """Checks that the features that branches use exist in ``x``. ``branch_mask`` marks the nodes that are branches.

    Raises a ``TREE_MALFORMED`` or ``FEATURES_MISMATCH`` fault.
    """
    used = [feature for feature, is_branch in zip(features, branch_mask) if is_branch]
    check_feature_range(x, min(used, default=0), max(used, default=-1))


def check_feature_range(x: Tensor, least: int, most: int) -> None:
    """Checks that ``least`` and ``most``, the least and the largest feature that branches use, exist in ``x``.

    Raises a ``TREE_MALFORMED`` or ``FEATURES_MISMATCH`` fault.
    """
    if least < 0:
        raise TREE_MALFORMED.fault(
            f"attribute `nodes_featureids` contains {least} for a branch; features are counted from 0",
            help="write a feature of 0 or more for each branch",
            attribute="nodes_featureids",
        )
    found = x.shape[1] if x.shape is not None and len(x.shape) == 2 else None
    if not reaches(found, most + 1, "every feature that a branch uses exists"):
        raise FEATURES_MISMATCH.fault(
            f"axis 1 of input 0 has {found} features, but a branch uses feature {most}, counted from 0",
            help=f"give input 0 at least {counted(most + 1, 'feature')}, or use a model for {found}",
            input=0,
            marks=((0, 1),),
        )


def check_votes(name: str, ids: Ints, count: int, *, things: str) -> None:
    """Checks that leaves vote only for the ``count`` classes or targets. Raises a ``TREE_MALFORMED`` fault.

    ``things`` is "classes" or "targets", for the message.
    """
    if isinstance(ids, LongList):
        least, most = tree_arrays.ends(ids.numbers) or (0, 0)
        if 0 <= least <= most < count:
            return
    wrong = next((entry for entry in ids if not 0 <= entry < count), None)
    if wrong is not None:
        raise TREE_MALFORMED.fault(
            f"attribute `{name}` contains {wrong}, but there are {count} {things}; allowed: 0 to {count - 1}",
            help=f"use one of the {count} {things} for every leaf",
            attribute=name,
        )


def list_or_tensor(name: str, numbers: Floats | None, tensor: Tensor | None) -> Entries:
    """The list ``name``, or the tensor that replaces it. Raises a ``LISTS_INCONSISTENT`` fault if both are present."""
    if numbers is not None and tensor is not None:
        raise LISTS_INCONSISTENT.fault(
            f"the attributes `{name}` and `{name}_as_tensor` are both present, and ONNX Runtime uses only one of them",
            help="keep the attribute with the right numbers, and remove the other attribute",
            attribute=f"{name}_as_tensor",
        )
    return numbers or tensor


def check_nodes(
    x: Tensor, nodes: TreeNodes, votes: str, *, values: Tensor | None = None, hitrates: Tensor | None = None
) -> None:
    """Checks the lists of nodes. ``values`` and ``hitrates`` are tensors that replace the lists of these names.

    ``votes`` is the name of the list with the trees of leaves.

    Raises a ``LISTS_INCONSISTENT``, ``TREE_MALFORMED`` or ``FEATURES_MISMATCH`` fault.
    """
    ids, trees, modes = nodes.nodes_nodeids or (), nodes.nodes_treeids or (), nodes.nodes_modes or ()
    expect_parallel(
        {
            "nodes_nodeids": len(ids),
            "nodes_treeids": len(trees),
            "nodes_featureids": len(nodes.nodes_featureids or ()),
            "nodes_modes": len(modes),
            "nodes_truenodeids": len(nodes.nodes_truenodeids or ()),
            "nodes_falsenodeids": len(nodes.nodes_falsenodeids or ()),
            "nodes_values": entry_count(list_or_tensor("nodes_values", nodes.nodes_values, values) or ()),
        },
        lost={
            "nodes_values": _lost_value(nodes.nodes_values or (), modes),
            "nodes_truenodeids": _lost_value(nodes.nodes_truenodeids or (), modes),
            "nodes_falsenodeids": _lost_value(nodes.nodes_falsenodeids or (), modes),
        },
    )
    _warn_of_lengths(
        len(ids),
        nodes_hitrates=list_or_tensor("nodes_hitrates", nodes.nodes_hitrates, hitrates),
        nodes_missing_value_tracks_true=nodes.nodes_missing_value_tracks_true,
    )
    for mode in tree_arrays.texts_of(modes):
        if mode not in NODE_MODES:
            raise TREE_MALFORMED.fault(
                f'attribute `nodes_modes` contains "{mode}"; allowed: {", ".join(sorted(NODE_MODES))}',
                help="use one of these modes",
                attribute="nodes_modes",
            )
    _check_branches(nodes, votes)
    tree_order.warn_of_split_tree(nodes.nodes_treeids or ())
    features = nodes.nodes_featureids or ()
    if tree_arrays.are_long(modes, features):
        used = features.numbers[tree_arrays.branch_mask(modes)]  # type: ignore[attr-defined]
        check_feature_range(x, *(tree_arrays.ends(used) or (0, -1)))
    else:
        check_features(x, features, [mode != "LEAF" for mode in modes])


def _lost_value(values: Sequence[float], modes: Sequence[str]) -> str:
    """A text that says which single value is missing; "" if it is unknown, or if several values are missing.

    Assumes that the values of leaves are 0, and that the values of branches are not.
    """
    if len(values) + 1 != len(modes) or isinstance(values, LongList) or isinstance(modes, LongList):
        return ""
    wrong = next((at for at, (value, mode) in enumerate(zip(values, modes)) if (value == 0) != (mode == "LEAF")), None)
    if wrong is not None:
        held = f"entry {wrong} is {values[wrong]:g}, and node {wrong} is a {modes[wrong]}"
        return f": {held}, so the value of node {wrong} or of an earlier node is missing"
    if "LEAF" not in modes[:-1] or modes[-1] != "LEAF":
        return f": the last value, for a {modes[-1]}, is missing" if "LEAF" in modes else ""
    return ": append 0 for the last node, a LEAF, because all other leaves have 0 and no branch has 0"


def _warn_of_lengths(count: int, **lists: Entries) -> None:
    """Warns of optional lists whose length is not the number of nodes."""
    for name, entries in lists.items():
        found = entry_count(entries)
        if found and found != count:
            warn(
                LISTS_INCONSISTENT.fault(
                    f"attribute `nodes_nodeids` has {counted(count, 'entry', 'entries')} and `{name}` has {found}: "
                    "expected equally many",
                    help=f"give `{name}` {counted(count, 'entry', 'entries')}",
                    attribute=name,
                    severity=Severity.WARNING,
                )
            )


def _check_branches(nodes: TreeNodes, votes: str) -> None:
    """Checks that branches lead to existing nodes, and form trees. Raises a ``TREE_MALFORMED`` fault."""
    sides = nodes.nodes_truenodeids, nodes.nodes_falsenodeids
    trees, ids, modes = nodes.nodes_treeids, nodes.nodes_nodeids, nodes.nodes_modes
    are_long = tree_arrays.are_long(trees, ids, modes, *sides)
    if are_long and tree_arrays.branches_are_sound(trees, ids, modes=modes, sides=sides):
        return
    places = list(zip(nodes.nodes_treeids or (), nodes.nodes_nodeids or ()))
    repeated = tree_order.repeated_node(places, votes)
    if repeated is not None:
        message, help, attribute = repeated
        raise _malformed(message, attribute, help)
    children: dict[Place, tuple[Place, ...]] = dict.fromkeys(places, ())
    for name, targets in (
        ("nodes_truenodeids", nodes.nodes_truenodeids or ()),
        ("nodes_falsenodeids", nodes.nodes_falsenodeids or ()),
    ):
        for at, ((tree, node), mode, target) in enumerate(zip(places, nodes.nodes_modes or (), targets)):
            if mode == "LEAF":
                continue
            message = f"node {node} of tree {tree} leads to node {target} (`{name}`)"
            if target == node or (tree, target) not in children:
                from irlint.ops.ml.tree_targets import help_for_target

                what = "itself" if target == node else "which the tree does not have"
                raise _malformed(f"{message}, {what}", name, help_for_target(nodes, tree, name=name, at=at))
            if not 0 <= target < len(places):
                raise _malformed(
                    f"{message}; ONNX Runtime accepts ids from 0 to {len(places) - 1}, the number of nodes minus 1",
                    name,
                    "number the nodes from 0",
                )
            children[tree, node] = ((tree, target), *children[tree, node])
    roots = {tree: (tree, node) for tree, node in reversed(places)}
    for root in roots.values():
        _check_paths(root, children)
    tree_order.warn_of_parents(roots, children)


def _malformed(message: str, attribute: str, help: str) -> Fault:
    return TREE_MALFORMED.fault(message, help=help, attribute=attribute)


def _check_paths(root: Place, children: Mapping[Place, Sequence[Place]]) -> None:
    """Checks that no path from ``root`` is a cycle, and that no false child has an earlier parent.

    The children of a branch are (false child, true child). ONNX Runtime visits the children in this order, and
    stores a false child directly after its parent. It may store a true child anywhere.

    Raises a ``TREE_MALFORMED`` fault.
    """
    on_path, parents = {root}, {root: root}
    stack = [(root, iter(enumerate(children[root])))]
    while stack:
        place, remaining = stack[-1]
        side, child = next(remaining, (None, place))
        if side is None:
            stack.pop()
            on_path.discard(place)
        elif child in on_path:
            raise _malformed(
                f"node {child[1]} of tree {child[0]} can be reached from itself: the tree has a cycle",
                "nodes_truenodeids",
                "remove the branch that leads back",
            )
        elif child not in parents:
            on_path.add(child)
            parents[child] = place
            stack.append((child, iter(enumerate(children[child]))))
        elif side == 0:
            raise _malformed(
                f"node {child[1]} of tree {child[0]} is the false child of node {place[1]} and a child of node "
                f"{parents[child][1]}; ONNX Runtime accepts a second parent only for a true child",
                "nodes_falsenodeids",
                f"give node {place[1]} a false child of its own",
            )


def check_leaves(nodes: TreeNodes, votes: Lists, kind: str) -> None:
    """Checks the lists of votes. ``kind`` is "class" or "target".

    Raises a ``LISTS_INCONSISTENT`` or ``TREE_MALFORMED`` fault.
    """
    counts = {
        name: entry_count(entries) if isinstance(entries, Tensor) else len(entries or ())
        for name, entries in votes.items()
    }
    expect_parallel(counts)
    trees, ids = votes[f"{kind}_treeids"], votes[f"{kind}_nodeids"]
    node_lists = nodes.nodes_treeids, nodes.nodes_nodeids
    are_long = tree_arrays.are_long(*node_lists, trees, ids)
    if are_long and tree_arrays.contains_all(*node_lists, other_trees=trees, other_ids=ids):
        return
    existing = set(zip(nodes.nodes_treeids or (), nodes.nodes_nodeids or ()))
    assert not isinstance(trees, Tensor) and not isinstance(ids, Tensor)
    for tree, node in zip(trees or (), ids or ()):
        if (tree, node) not in existing:
            if tree not in (nodes.nodes_treeids or ()):
                count = sum(each == tree for each in trees or ())
                raise _malformed(
                    f"`{kind}_treeids` has {counted(count, 'entry', 'entries')} of tree {tree}, of which the `nodes_` "
                    "lists have no nodes",
                    f"{kind}_treeids",
                    f"remove the entries of tree {tree} from all `{kind}_` lists, or restore its nodes",
                )
            raise _malformed(
                f"`{kind}_treeids` and `{kind}_nodeids` name node {node} of tree {tree}, which does not exist",
                f"{kind}_nodeids",
                "use only existing nodes",
            )


def check_base_values(values: Entries, count: int, *, thing: str, things: str, lenient_below: int) -> None:
    """Checks that base values are absent, or one for each class or target. Raises a ``LISTS_INCONSISTENT`` fault.

    Fewer than ``lenient_below`` classes or targets may also have one or two base values.
    """
    found = entry_count(values) or 0
    if found in (0, count) or (count < lenient_below and found <= 2):
        return
    raise LISTS_INCONSISTENT.fault(
        f"`base_values` has {counted(found, 'entry', 'entries')} and there {are(count)} "
        f"{counted(count, thing, things)}: expected one entry for each {thing}, or no entry",
        help=f"give `base_values` {counted(count, 'entry', 'entries')}, or remove `base_values`",
        attribute="base_values",
    )


def check_number_type(x: Tensor, name: str, tensor: Tensor) -> None:
    """Checks that an attribute has the element type of input 0. Raises a ``LISTS_INCONSISTENT`` fault."""
    if x.dtype is not None and tensor.dtype is not None and x.dtype != tensor.dtype:
        raise LISTS_INCONSISTENT.fault(
            f"input 0 is {x.dtype} {shape_text(x.shape)} and attribute `{name}` is {tensor.dtype}: "
            "expected the same element type",
            help=f"write `{name}` as {x.dtype}, or cast input 0",
            attribute=name,
        )


def reached_branches(roots: Ints, sides: Mapping[str, tuple[Ints, Ints]], *, counts: tuple[int, int]) -> frozenset[int]:
    """The branches that paths from the roots of TreeEnsemble reach. ONNX Runtime evaluates only these branches.

    A root that stands for a single leaf is omitted. Each of ``sides`` is (target of each branch, 1 if it is a leaf).
    ``counts`` are (number of branches, number of leaves). Raises a ``TREE_MALFORMED`` fault if a target does not
    exist, or if two paths from a root lead to the same branch.
    """
    reached: set[int] = set()
    for root in roots:
        seen: set[int] = set()
        waiting = [("tree_roots", root, False)]
        while waiting:
            name, target, is_leaf = waiting.pop()
            _check_index(name, target, is_leaf=is_leaf, count=counts[is_leaf])
            if is_leaf:
                continue
            if target in seen:
                raise _malformed(
                    f"branch {target} is reached twice from root {root}: in a tree, each branch has only one parent",
                    "nodes_truenodeids",
                    "give each branch a single parent",
                )
            seen.add(target)
            waiting += [(side, targets[target], bool(leaves[target])) for side, (targets, leaves) in sides.items()]
        if not _is_leaf(root, sides.values()):
            reached |= seen
    return frozenset(reached)


def _is_leaf(root: int, sides: Iterable[tuple[Ints, Ints]]) -> bool:
    """Whether a root stands for a tree of one leaf: both sides lead to this leaf."""
    return len({(targets[root], bool(leaves[root])) for targets, leaves in sides}) == 1


def _check_index(name: str, index: int, *, is_leaf: bool, count: int) -> None:
    if 0 <= index < count:
        return
    kind, kinds = ("leaf", "leaves") if is_leaf else ("branch", "branches")
    raise _malformed(
        f"attribute `{name}` leads to {kind} {index}, but the number of {kinds} is {count}",
        name,
        f"write an existing {kind} in `{name}`",
    )


def check_mode_numbers(modes: Tensor, members: Tensor | None, reached: Container[int]) -> None:
    """Checks the modes of ``reached`` branches of TreeEnsemble, and that each BRANCH_MEMBER has a member.

    ``members`` lists the members of one branch after another; NaN ends the members of a branch.
    Raises a ``TREE_MALFORMED`` fault.
    """
    lists = _member_counts(members)
    for branch, mode in enumerate(modes.value or ()):
        count = next(lists, 0) if mode == BRANCH_MEMBER else None
        if branch not in reached or not isinstance(mode, int):
            continue
        if mode > BRANCH_MEMBER:
            fault = _malformed(
                f"attribute `nodes_modes` contains {mode} for branch {branch}; allowed: 0 to {BRANCH_MEMBER}",
                "nodes_modes",
                f"use 0 to {BRANCH_MEMBER}",
            )
            if mode > BRANCH_MEMBER_BIGSET:
                raise fault
            warn(fault.lowered(Severity.WARNING))
        if count == 0:
            raise _malformed(
                f"branch {branch} is a BRANCH_MEMBER, and `membership_values` has no member for it",
                "membership_values",
                f"write the members of branch {branch}, and NaN after the last one",
            )


def _member_counts(members: Tensor | None) -> Iterator[int | None]:
    """The number of members of each BRANCH_MEMBER; None if it is unknown."""
    if members is not None and members.value is None:
        yield from repeat(None)
        return
    count = 0
    for value in members.value or () if members else ():
        if value == value:
            count += 1
            continue
        yield count
        count = 0
    yield count
