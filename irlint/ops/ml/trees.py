"""The domain ai.onnx.ml, ensembles of trees."""

from __future__ import annotations

from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE, entry_count, expect_lists, expect_parallel, the_one_of
from irlint.ops.kernels.axes import Floats, Ints
from irlint.ops.kernels.expectations import expect_rank
from irlint.ops.ml.encoders import ML, Entries, Strings, label_type, rows_and_features
from irlint.ops.ml.predictors import PostTransform, expect_count, predicted
from irlint.ops.ml.tree_lists import (
    Lists,
    TreeNodes,
    check_base_values,
    check_features,
    check_leaves,
    check_nodes,
    check_number_type,
    check_places,
    check_votes,
    check_walks,
    list_or_tensor,
)

Aggregate = Literal["AVERAGE", "SUM", "MIN", "MAX"]


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
    votes: Lists = {
        "class_ids": class_ids,
        "class_treeids": class_treeids,
        "class_nodeids": class_nodeids,
        "class_weights": class_weights,
    }
    check_leaves(nodes, votes, "class")
    return _classified(x, class_ids, base_values, numbers=classlabels_int64s, strings=classlabels_strings)


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
    votes: Lists = {
        "class_ids": class_ids,
        "class_treeids": class_treeids,
        "class_nodeids": class_nodeids,
        "class_weights": list_or_tensor("class_weights", class_weights, class_weights_as_tensor),
    }
    check_leaves(nodes, votes, "class")
    base = list_or_tensor("base_values", base_values, base_values_as_tensor)
    return _classified(x, class_ids, base, numbers=classlabels_int64s, strings=classlabels_strings)


def _classified(
    x: Tensor, ids: Ints | None, base_values: Entries, *, numbers: Ints | None, strings: Strings | None
) -> tuple[Tensor, Tensor]:
    if not numbers and not strings:
        the_one_of(classlabels_int64s=numbers, classlabels_strings=strings)
    classes = len(strings or numbers or ())
    check_votes("class_ids", ids or (), classes, things="classes")
    check_base_values(base_values, classes, thing="class", things="classes", fewest=3)
    rows = rows_and_features(x.shape)[0]
    return Tensor(label_type(strings), (rows,)), Tensor("float32", (rows, classes))


@onnx("TreeEnsembleRegressor", since=1, domain=ML)
def tree_ensemble_regressor_of_lists(
    x: Tensor,
    *,
    aggregate_function: Aggregate = "SUM",
    base_values: Floats | None = None,
    n_targets: int,
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
        "target_ids": target_ids,
        "target_treeids": target_treeids,
        "target_nodeids": target_nodeids,
        "target_weights": target_weights,
    }
    check_leaves(nodes, votes, "target")
    return _regressed(x, target_ids, base_values, n_targets=n_targets)


@onnx("TreeEnsembleRegressor", since=3, until=4, domain=ML)
def tree_ensemble_regressor(
    x: Tensor,
    *,
    aggregate_function: Aggregate = "SUM",
    base_values: Floats | None = None,
    base_values_as_tensor: Tensor | None = None,
    n_targets: int,
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
    votes: Lists = {
        "target_ids": target_ids,
        "target_treeids": target_treeids,
        "target_nodeids": target_nodeids,
        "target_weights": list_or_tensor("target_weights", target_weights, target_weights_as_tensor),
    }
    check_leaves(nodes, votes, "target")
    base = list_or_tensor("base_values", base_values, base_values_as_tensor)
    return _regressed(x, target_ids, base, n_targets=n_targets)


def _regressed(x: Tensor, ids: Ints | None, base_values: Entries, *, n_targets: int) -> Tensor:
    expect_count("n_targets", n_targets)
    check_votes("target_ids", ids or (), n_targets, things="targets")
    check_base_values(base_values, n_targets, thing="target", things="targets", fewest=0)
    return predicted(x, n_targets)


@onnx("TreeEnsemble", since=5, domain=ML)
def tree_ensemble(
    x: Tensor,
    *,
    aggregate_function: int = 1,
    leaf_targetids: Ints,
    leaf_weights: Tensor,
    membership_values: Tensor | None = None,
    n_targets: int,
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
    expect_lists(
        nodes_splits=nodes_splits, nodes_modes=nodes_modes, nodes_hitrates=nodes_hitrates, leaf_weights=leaf_weights
    )
    expect_parallel(branches, optional=extra)
    if nodes_modes.dtype not in (None, "uint8"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `nodes_modes` is {nodes_modes.dtype}; expected is uint8, a number for each mode",
            help="write the modes as uint8",
            attribute="nodes_modes",
        )
    expect_parallel({"leaf_targetids": len(leaf_targetids), "leaf_weights": entry_count(leaf_weights)})
    for name, tensor in (("nodes_splits", nodes_splits), ("leaf_weights", leaf_weights)):
        check_number_type(x, name, tensor)
    for name, given, most in (("aggregate_function", aggregate_function, 3), ("post_transform", post_transform, 4)):
        if not 0 <= given <= most:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {given}; allowed is 0 to {most}", help=f"use 0 to {most}", attribute=name
            )
    counts = (len(nodes_featureids), len(leaf_targetids))
    check_places("tree_roots", tree_roots, (False,) * len(tree_roots), counts=counts)
    check_places("nodes_truenodeids", nodes_truenodeids, nodes_trueleafs, counts=counts)
    check_places("nodes_falsenodeids", nodes_falsenodeids, nodes_falseleafs, counts=counts)
    check_walks(tree_roots, (nodes_truenodeids, nodes_trueleafs), (nodes_falsenodeids, nodes_falseleafs))
    check_features(x, nodes_featureids, [True] * len(nodes_featureids))
    expect_count("n_targets", n_targets)
    check_votes("leaf_targetids", leaf_targetids, n_targets, things="targets")
    return predicted(x, n_targets, x.dtype)
