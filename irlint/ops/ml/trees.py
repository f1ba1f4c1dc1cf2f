"""The domain ai.onnx.ml, ensembles of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import reaches
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.kernels.attributes import (
    ATTRIBUTE_OUT_OF_RANGE,
    LISTS_INCONSISTENT,
    entry_count,
    expect_parallel,
    the_one_of,
)
from irlint.ops.kernels.axes import Floats, Ints
from irlint.ops.kernels.expectations import expect_rank
from irlint.ops.ml.encoders import FEATURES_MISMATCH, ML, Entries, Strings, label_type, rows_and_features
from irlint.ops.ml.predictors import PostTransform, expect_count, predicted
from irlint.ops.signatures import group
from irlint.records import record

Aggregate = Literal["AVERAGE", "SUM", "MIN", "MAX"]
Lists = Mapping[str, Entries]

TREE_MALFORMED = Rule(
    "IRL518",
    "tree-malformed",
    Severity.ERROR,
    "A tree ensemble names a node, a mode, a class or a target that it does not have.",
    why="""The nodes of all trees stand in lists: a branch names the nodes that follow it, a leaf the class or target that it
votes for. ONNX Runtime refuses the model where one of them is not there.""",
    mend="Export the ensemble again; the message names the entry that leads nowhere.",
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
)

NODE_MODES = frozenset(
    ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"]
)


@group
@record
class TreeNodes:
    """The lists of ai.onnx.ml's first tree ensembles: an entry of each for one node."""

    nodes_falsenodeids: Ints | None = None
    nodes_featureids: Ints | None = None
    nodes_hitrates: Floats | None = None
    nodes_missing_value_tracks_true: Ints | None = None
    nodes_modes: Strings | None = None
    nodes_nodeids: Ints | None = None
    nodes_treeids: Ints | None = None
    nodes_truenodeids: Ints | None = None
    nodes_values: Floats | None = None


def _check_features(x: Tensor, features: Ints, asks: Sequence[bool]) -> None:
    """Makes sure that the table has every feature that a branch asks for."""
    asked = [feature for feature, branches in zip(features, asks) if branches]
    most = max(asked, default=-1)
    found = x.shape[1] if x.shape is not None and len(x.shape) == 2 else None
    if not reaches(found, most + 1, "there is every feature that a branch asks for"):
        raise FEATURES_MISMATCH.fault(
            f"axis 1 of input 0 is {found} features, and a branch asks for feature {most}, the {most + 1}th",
            help=f"give the node at least {most + 1} features",
            input=0,
            marks=((0, 1),),
        )


def _check_votes(name: str, ids: Ints, count: int, *, things: str) -> None:
    wrong = next((entry for entry in ids if not 0 <= entry < count), None)
    if wrong is not None:
        raise TREE_MALFORMED.fault(
            f"attribute `{name}` holds {wrong}, and there are {count} {things}: allowed is 0 to {count - 1}",
            help=f"let every leaf vote for one of the {count} {things}",
            attribute=name,
        )


def check_nodes(x: Tensor, nodes: TreeNodes, *, values: Tensor | None = None, hitrates: Tensor | None = None) -> None:
    """Makes sure that the nodes of ai.onnx.ml's first tree ensembles form trees over the features of ``x``.

    ``values`` and ``hitrates`` stand for the lists of these names where they are tensors. Raises a fault.
    """
    given = {
        "nodes_nodeids": entry_count(nodes.nodes_nodeids),
        "nodes_treeids": entry_count(nodes.nodes_treeids),
        "nodes_featureids": entry_count(nodes.nodes_featureids),
        "nodes_modes": entry_count(nodes.nodes_modes),
        "nodes_truenodeids": entry_count(nodes.nodes_truenodeids),
        "nodes_falsenodeids": entry_count(nodes.nodes_falsenodeids),
    }
    extra = {
        "nodes_values": entry_count(nodes.nodes_values or values),
        "nodes_hitrates": entry_count(nodes.nodes_hitrates or hitrates),
        "nodes_missing_value_tracks_true": entry_count(nodes.nodes_missing_value_tracks_true),
    }
    expect_parallel(given, optional=extra)
    ids, trees, modes = nodes.nodes_nodeids or (), nodes.nodes_treeids or (), nodes.nodes_modes or ()
    for mode in dict.fromkeys(modes):
        if mode not in NODE_MODES:
            raise TREE_MALFORMED.fault(
                f'attribute `nodes_modes` holds "{mode}"; allowed are {", ".join(sorted(NODE_MODES))}',
                help="use one of these modes",
                attribute="nodes_modes",
            )
    there = set(zip(trees, ids))
    lists = {"nodes_truenodeids": nodes.nodes_truenodeids, "nodes_falsenodeids": nodes.nodes_falsenodeids}
    for name, targets in lists.items():
        for tree, node, mode, target in zip(trees, ids, modes, targets or ()):
            if mode != "LEAF" and (tree, target) not in there:
                raise TREE_MALFORMED.fault(
                    f"node {node} of tree {tree} leads to node {target} (`{name}`), which the tree does not have",
                    help=f"let `{name}` name nodes of the same tree",
                    attribute=name,
                )
    _check_features(x, nodes.nodes_featureids or (), [mode != "LEAF" for mode in modes])


@onnx("TreeEnsembleClassifier", since=1, domain=ML)
def tree_ensemble_classifier_of_lists(
    x: Tensor,
    *,
    base_values: Floats | None = None,
    class_ids: Ints | None = None,
    class_nodeids: Ints | None = None,
    class_treeids: Ints | None = None,
    class_weights: Floats | None = None,
    classlabels_int64s: Ints | None = None,
    classlabels_strings: Strings | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml TreeEnsembleClassifier-1: a label for each row, and a score for each class."""
    expect_rank(x, 0, 1, 2)
    check_nodes(x, nodes)
    votes: Lists = {"class_treeids": class_treeids, "class_nodeids": class_nodeids, "class_weights": class_weights}
    return _classified(x, class_ids, votes, numbers=classlabels_int64s, strings=classlabels_strings)


@onnx("TreeEnsembleClassifier", since=3, until=4, domain=ML)
def tree_ensemble_classifier(
    x: Tensor,
    *,
    base_values: Floats | None = None,
    base_values_as_tensor: Tensor | None = None,
    class_ids: Ints | None = None,
    class_nodeids: Ints | None = None,
    class_treeids: Ints | None = None,
    class_weights: Floats | None = None,
    class_weights_as_tensor: Tensor | None = None,
    classlabels_int64s: Ints | None = None,
    classlabels_strings: Strings | None = None,
    nodes: TreeNodes,
    nodes_hitrates_as_tensor: Tensor | None = None,
    nodes_values_as_tensor: Tensor | None = None,
    post_transform: PostTransform = "NONE",
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml TreeEnsembleClassifier-3: as 1, with numbers in tensors too; the input is a table."""
    expect_rank(x, 0, 2)
    check_nodes(x, nodes, values=nodes_values_as_tensor, hitrates=nodes_hitrates_as_tensor)
    weights = class_weights or class_weights_as_tensor
    votes: Lists = {"class_treeids": class_treeids, "class_nodeids": class_nodeids, "class_weights": weights}
    if not classlabels_int64s and not classlabels_strings:
        the_one_of(classlabels_int64s=classlabels_int64s, classlabels_strings=classlabels_strings)
    return _classified(x, class_ids, votes, numbers=classlabels_int64s, strings=classlabels_strings)


def _classified(
    x: Tensor, ids: Ints | None, votes: Lists, *, numbers: Ints | None, strings: Strings | None
) -> tuple[Tensor, Tensor]:
    expect_parallel(
        {"class_ids": entry_count(ids)}, optional={name: entry_count(entries) for name, entries in votes.items()}
    )
    classes = len(strings or numbers or ())
    if classes:
        _check_votes("class_ids", ids or (), classes, things="classes")
    rows = rows_and_features(x.shape)[0]
    return Tensor(label_type(strings), (rows,)), Tensor("float32", (rows, classes or None))


@onnx("TreeEnsembleRegressor", since=1, domain=ML)
def tree_ensemble_regressor_of_lists(
    x: Tensor,
    *,
    aggregate_function: Aggregate = "SUM",
    base_values: Floats | None = None,
    n_targets: int | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
    target_ids: Ints | None = None,
    target_nodeids: Ints | None = None,
    target_treeids: Ints | None = None,
    target_weights: Floats | None = None,
) -> Tensor:
    """ai.onnx.ml TreeEnsembleRegressor-1: a number for each target and row."""
    expect_rank(x, 0, 1, 2)
    check_nodes(x, nodes)
    votes: Lists = {
        "target_treeids": target_treeids,
        "target_nodeids": target_nodeids,
        "target_weights": target_weights,
    }
    return _regressed(x, target_ids, votes, n_targets=n_targets)


@onnx("TreeEnsembleRegressor", since=3, until=4, domain=ML)
def tree_ensemble_regressor(
    x: Tensor,
    *,
    aggregate_function: Aggregate = "SUM",
    base_values: Floats | None = None,
    base_values_as_tensor: Tensor | None = None,
    n_targets: int | None = None,
    nodes: TreeNodes,
    nodes_hitrates_as_tensor: Tensor | None = None,
    nodes_values_as_tensor: Tensor | None = None,
    post_transform: PostTransform = "NONE",
    target_ids: Ints | None = None,
    target_nodeids: Ints | None = None,
    target_treeids: Ints | None = None,
    target_weights: Floats | None = None,
    target_weights_as_tensor: Tensor | None = None,
) -> Tensor:
    """ai.onnx.ml TreeEnsembleRegressor-3: as 1, with numbers in tensors too; the input is a table."""
    expect_rank(x, 0, 2)
    check_nodes(x, nodes, values=nodes_values_as_tensor, hitrates=nodes_hitrates_as_tensor)
    weights = target_weights or target_weights_as_tensor
    votes: Lists = {"target_treeids": target_treeids, "target_nodeids": target_nodeids, "target_weights": weights}
    return _regressed(x, target_ids, votes, n_targets=n_targets)


def _regressed(x: Tensor, ids: Ints | None, votes: Lists, *, n_targets: int | None) -> Tensor:
    expect_parallel(
        {"target_ids": entry_count(ids)}, optional={name: entry_count(entries) for name, entries in votes.items()}
    )
    if n_targets is not None:
        expect_count("n_targets", n_targets)
        _check_votes("target_ids", ids or (), n_targets, things="targets")
    return predicted(x, n_targets)


@onnx("TreeEnsemble", since=5, domain=ML)
def tree_ensemble(
    x: Tensor,
    *,
    aggregate_function: int = 1,
    leaf_targetids: Ints,
    leaf_weights: Tensor,
    membership_values: Tensor | None = None,
    n_targets: int | None = None,
    nodes_falseleafs: Ints,
    nodes_falsenodeids: Ints,
    nodes_featureids: Ints,
    nodes_hitrates: Tensor | None = None,
    nodes_missing_value_tracks_true: Ints | None = None,
    nodes_modes: Tensor,
    nodes_splits: Tensor,
    nodes_trueleafs: Ints,
    nodes_truenodeids: Ints,
    post_transform: int = 0,
    tree_roots: Ints,
) -> Tensor:
    """ai.onnx.ml TreeEnsemble-5: branches and leaves in lists of their own; a number for each target and row."""
    expect_rank(x, 0, 2)
    branches = {
        "nodes_featureids": len(nodes_featureids),
        "nodes_splits": entry_count(nodes_splits),
        "nodes_modes": entry_count(nodes_modes),
        "nodes_truenodeids": len(nodes_truenodeids),
        "nodes_trueleafs": len(nodes_trueleafs),
        "nodes_falsenodeids": len(nodes_falsenodeids),
        "nodes_falseleafs": len(nodes_falseleafs),
    }
    extra = {
        "nodes_hitrates": entry_count(nodes_hitrates),
        "nodes_missing_value_tracks_true": entry_count(nodes_missing_value_tracks_true),
    }
    expect_parallel(branches, optional=extra)
    expect_parallel({"leaf_targetids": len(leaf_targetids), "leaf_weights": entry_count(leaf_weights)})
    for name, tensor in (("nodes_splits", nodes_splits), ("leaf_weights", leaf_weights)):
        _check_number_type(x, name, tensor)
    for name, given, most in (("aggregate_function", aggregate_function, 3), ("post_transform", post_transform, 4)):
        if not 0 <= given <= most:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {given}; allowed is 0 to {most}", help=f"use 0 to {most}", attribute=name
            )
    counts = (len(nodes_featureids), len(leaf_targetids))
    _check_places("tree_roots", tree_roots, (False,) * len(tree_roots), counts=counts)
    _check_places("nodes_truenodeids", nodes_truenodeids, nodes_trueleafs, counts=counts)
    _check_places("nodes_falsenodeids", nodes_falsenodeids, nodes_falseleafs, counts=counts)
    _check_features(x, nodes_featureids, [True] * len(nodes_featureids))
    if n_targets is not None:
        expect_count("n_targets", n_targets)
        _check_votes("leaf_targetids", leaf_targetids, n_targets, things="targets")
    return predicted(x, n_targets, x.dtype)


def _check_number_type(x: Tensor, name: str, tensor: Tensor) -> None:
    if x.dtype is not None and tensor.dtype is not None and x.dtype != tensor.dtype:
        raise LISTS_INCONSISTENT.fault(
            f"input 0 is {x.dtype} {shape_text(x.shape)} and attribute `{name}` is {tensor.dtype}: "
            "expected is one element type",
            help=f"give `{name}` as {x.dtype}, or cast input 0",
            attribute=name,
        )


def _check_places(name: str, places: Ints, leaves: Sequence[int], *, counts: tuple[int, int]) -> None:
    """Makes sure that each place is one of a branch, or of a leaf where ``leaves`` says so."""
    for place, leaf in zip(places, leaves):
        if not 0 <= place < counts[bool(leaf)]:
            kind = "leaf" if leaf else "branch"
            raise TREE_MALFORMED.fault(
                f"attribute `{name}` leads to {kind} {place}, and there are {counts[bool(leaf)]}",
                help=f"let `{name}` name a {kind} that is there",
                attribute=name,
            )
