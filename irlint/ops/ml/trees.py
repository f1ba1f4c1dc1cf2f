"""Ensembles of trees of the domain ai.onnx.ml."""

from __future__ import annotations

from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.ml.encoders import ML, Entries, Strings, label_type, rows_and_features
from irlint.ops.ml.predictors import PostTransform, expect_count, predicted
from irlint.ops.ml.tree_lists import (
    Lists,
    TreeNodes,
    check_base_values,
    check_features,
    check_leaves,
    check_mode_numbers,
    check_nodes,
    check_number_type,
    check_votes,
    list_or_tensor,
    reached_branches,
)
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, entry_count, expect_lists, expect_parallel, the_one_of
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.signatures import group
from irlint.records import record

Aggregate = Literal["AVERAGE", "SUM", "MIN", "MAX"]


@group
@record
class TreeClasses:
    """The attributes of TreeEnsembleClassifier for classes."""

    class_ids: Ints | None = None
    class_nodeids: Ints | None = None
    class_treeids: Ints | None = None
    class_weights: Floats | None = None
    classlabels_int64s: Ints | None = None
    classlabels_strings: Strings | None = None

    def lists(self, weights: Entries) -> Lists:
        """The lists of votes, by name. ``weights`` is the list of weights or its tensor."""
        return {
            "class_ids": self.class_ids,
            "class_treeids": self.class_treeids,
            "class_nodeids": self.class_nodeids,
            "class_weights": weights,
        }


@group
@record
class TreeTargets:
    """The attributes of TreeEnsembleRegressor for targets."""

    n_targets: int
    aggregate_function: Aggregate = "SUM"
    target_ids: Ints | None = None
    target_nodeids: Ints | None = None
    target_treeids: Ints | None = None
    target_weights: Floats | None = None

    def lists(self, weights: Entries) -> Lists:
        """The lists of votes, by name. ``weights`` is the list of weights or its tensor."""
        return {
            "target_ids": self.target_ids,
            "target_treeids": self.target_treeids,
            "target_nodeids": self.target_nodeids,
            "target_weights": weights,
        }


@group
@record
class TreeTensors:
    """The tensor attributes that can replace lists of numbers."""

    base_values_as_tensor: Tensor | None = None
    nodes_hitrates_as_tensor: Tensor | None = None
    nodes_values_as_tensor: Tensor | None = None


@onnx("TreeEnsembleClassifier", since=1, domain=ML)
def tree_ensemble_classifier_of_lists(
    x: Tensor,
    *,
    classes: TreeClasses,
    base_values: Floats | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml TreeEnsembleClassifier-1: (labels, scores)."""
    expect_rank(x, 0, 1, 2)
    check_nodes(x, nodes, "class_treeids")
    check_leaves(nodes, classes.lists(classes.class_weights), "class")
    return _classified(x, classes, base_values)


@onnx("TreeEnsembleClassifier", since=3, until=4, domain=ML)
def tree_ensemble_classifier(
    x: Tensor,
    *,
    classes: TreeClasses,
    tensors: TreeTensors,
    base_values: Floats | None = None,
    class_weights_as_tensor: Tensor | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml TreeEnsembleClassifier-3: (labels, scores)."""
    expect_rank(x, 0, 2)
    check_nodes(
        x,
        nodes,
        "class_treeids",
        values=tensors.nodes_values_as_tensor,
        hitrates=tensors.nodes_hitrates_as_tensor,
    )
    weights = list_or_tensor("class_weights", classes.class_weights, class_weights_as_tensor)
    check_leaves(nodes, classes.lists(weights), "class")
    return _classified(x, classes, list_or_tensor("base_values", base_values, tensors.base_values_as_tensor))


def _classified(x: Tensor, classes: TreeClasses, base_values: Entries) -> tuple[Tensor, Tensor]:
    numbers, strings = classes.classlabels_int64s, classes.classlabels_strings
    if not numbers and not strings:
        the_one_of(classlabels_int64s=numbers, classlabels_strings=strings)
    count = len(strings or numbers or ())
    check_votes("class_ids", classes.class_ids or (), count, things="classes")
    check_base_values(base_values, count, thing="class", things="classes", lenient_below=3)
    rows = rows_and_features(x.shape)[0]
    return Tensor(label_type(strings), (rows,)), Tensor("float32", (rows, count))


@onnx("TreeEnsembleRegressor", since=1, domain=ML)
def tree_ensemble_regressor_of_lists(
    x: Tensor,
    *,
    targets: TreeTargets,
    base_values: Floats | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
) -> Tensor:
    """ai.onnx.ml TreeEnsembleRegressor-1."""
    expect_rank(x, 0, 1, 2)
    check_nodes(x, nodes, "target_treeids")
    check_leaves(nodes, targets.lists(targets.target_weights), "target")
    return _regressed(x, targets, base_values)


@onnx("TreeEnsembleRegressor", since=3, until=4, domain=ML)
def tree_ensemble_regressor(
    x: Tensor,
    *,
    targets: TreeTargets,
    tensors: TreeTensors,
    base_values: Floats | None = None,
    nodes: TreeNodes,
    post_transform: PostTransform = "NONE",
    target_weights_as_tensor: Tensor | None = None,
) -> Tensor:
    """ai.onnx.ml TreeEnsembleRegressor-3."""
    expect_rank(x, 0, 2)
    check_nodes(
        x,
        nodes,
        "target_treeids",
        values=tensors.nodes_values_as_tensor,
        hitrates=tensors.nodes_hitrates_as_tensor,
    )
    weights = list_or_tensor("target_weights", targets.target_weights, target_weights_as_tensor)
    check_leaves(nodes, targets.lists(weights), "target")
    return _regressed(x, targets, list_or_tensor("base_values", base_values, tensors.base_values_as_tensor))


def _regressed(x: Tensor, targets: TreeTargets, base_values: Entries) -> Tensor:
    n_targets = targets.n_targets
    expect_count("n_targets", n_targets)
    check_votes("target_ids", targets.target_ids or (), n_targets, things="targets")
    check_base_values(base_values, n_targets, thing="target", things="targets", lenient_below=0)
    return predicted(x, n_targets)


@group
@record
class Branches:
    """The attributes for the branches of TreeEnsemble-5."""

    nodes_falseleafs: Ints
    nodes_falsenodeids: Ints
    nodes_featureids: Ints
    nodes_modes: Tensor
    nodes_splits: Tensor
    nodes_trueleafs: Ints
    nodes_truenodeids: Ints
    nodes_hitrates: Tensor | None = None
    nodes_missing_value_tracks_true: Ints | None = None

    def check_lengths(self) -> None:
        """Checks that all lists have the same length. Raises a ``LISTS_INCONSISTENT`` fault."""
        names = ("featureids", "splits", "modes", "truenodeids", "trueleafs", "falsenodeids", "falseleafs")
        optional = ("hitrates", "missing_value_tracks_true")
        expect_parallel(self._counts(names), optional=self._counts(optional))

    def _counts(self, names: tuple[str, ...]) -> dict[str, int | None]:
        return {f"nodes_{name}": entry_count(getattr(self, f"nodes_{name}")) for name in names}


@onnx("TreeEnsemble", since=5, domain=ML)
def tree_ensemble(
    x: Tensor,
    *,
    aggregate_function: int = 1,
    leaf_targetids: Ints,
    leaf_weights: Tensor,
    membership_values: Tensor | None = None,
    n_targets: int,
    branches: Branches,
    post_transform: int = 0,
    tree_roots: Ints,
) -> Tensor:
    """ai.onnx.ml TreeEnsemble-5."""
    expect_rank(x, 0, 2)
    modes, features = branches.nodes_modes, branches.nodes_featureids
    trues = branches.nodes_truenodeids, branches.nodes_trueleafs
    falses = branches.nodes_falsenodeids, branches.nodes_falseleafs
    expect_lists(
        nodes_splits=branches.nodes_splits,
        nodes_modes=modes,
        nodes_hitrates=branches.nodes_hitrates,
        leaf_weights=leaf_weights,
    )
    branches.check_lengths()
    if modes.dtype not in (None, "uint8"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `nodes_modes` is {modes.dtype}; expected uint8",
            help="write the modes as uint8",
            attribute="nodes_modes",
        )
    expect_parallel({"leaf_targetids": len(leaf_targetids), "leaf_weights": entry_count(leaf_weights)})
    for name, tensor in (("nodes_splits", branches.nodes_splits), ("leaf_weights", leaf_weights)):
        check_number_type(x, name, tensor)
    for name, value, most in (("aggregate_function", aggregate_function, 3), ("post_transform", post_transform, 4)):
        if not 0 <= value <= most:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {value}; allowed: 0 to {most}", help=f"use 0 to {most}", attribute=name
            )
    sides = {"nodes_truenodeids": trues, "nodes_falsenodeids": falses}
    reached = reached_branches(tree_roots, sides, counts=(len(features), len(leaf_targetids)))
    check_mode_numbers(modes, membership_values, reached)
    check_features(x, features, [branch in reached for branch in range(len(features))])
    expect_count("n_targets", n_targets)
    check_votes("leaf_targetids", leaf_targetids, n_targets, things="targets")
    return predicted(x, n_targets, x.dtype)
