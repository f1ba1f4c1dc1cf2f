"""The domain ai.onnx.ml, against ONNX's node tests and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from cases.models import Fed as Given
from cases.models import Input, onnx_model
from onnx import numpy_helper
from oracles.engines import irlint_on_onnx, onnxruntime_verdict

import irlint
from irlint.inference.walk import inferred
from irlint.model.tensor import Map, Sequence, Tensor
from irlint.parsers import onnx as parser


def floats(*dims: int | None) -> Input:
    return Input("float32", *dims)


def ints(*dims: int | None) -> Input:
    return Input("int64", *dims)


def tensor(dtype: str, *entries: float) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(entries, dtype))


def ml_model(
    op: str, inputs: list[Given], attributes: dict[str, Any], version: int, outputs: int = 1
) -> onnx.ModelProto:
    model = onnx_model(op, inputs, attributes, 21, "ai.onnx.ml", outputs)
    next(each for each in model.opset_import if each.domain).version = version
    return model


def run(model: onnx.ModelProto, inputs: list[Given]) -> list[tuple[str, tuple[int, ...]]]:
    """The types and shapes that ONNX Runtime gives for zeros."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    given = [each for each in inputs if isinstance(each, Input)]
    arrays = [np.full(x.dims, "a", object) if x.dtype == "string" else np.zeros(x.dims, x.dtype) for x in given]
    feeds = {info.name: array for info, array in zip(session.get_inputs(), arrays)}
    return [("string" if y.dtype == object else str(y.dtype), y.shape) for y in session.run(None, feeds)]


NODES: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
}
CLASSES = NODES | {
    "class_treeids": [0, 0],
    "class_nodeids": [1, 2],
    "class_ids": [0, 1],
    "class_weights": [1.0, 2.0],
    "classlabels_int64s": [0, 1],
}
TARGETS = NODES | {
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}
ENSEMBLE = {
    "n_targets": 2,
    "tree_roots": [0],
    "nodes_featureids": [0, 0, 0],
    "nodes_splits": tensor("float32", 3.14, 1.2, 4.2),
    "nodes_modes": tensor("uint8", 0, 0, 0),
    "nodes_truenodeids": [1, 0, 1],
    "nodes_trueleafs": [0, 1, 1],
    "nodes_falsenodeids": [2, 2, 3],
    "nodes_falseleafs": [0, 1, 1],
    "leaf_targetids": [0, 1, 0, 1],
    "leaf_weights": tensor("float32", 5.23, 12.12, -12.23, 7.21),
}
RBF = {"kernel_type": "RBF", "kernel_params": [0.1, 0.0, 3.0]}


def linear(classes: int, labels: int, features: int = 3, **more: Any) -> dict[str, Any]:
    coefficients, intercepts = [1.0] * (classes * features), [1.0] * classes
    return {"coefficients": coefficients, "intercepts": intercepts, "classlabels_ints": list(range(labels)), **more}


def vectors(classes: int, **more: Any) -> dict[str, Any]:
    count = 2 * classes
    return {
        "classlabels_ints": list(range(classes)),
        "coefficients": [1.0] * (count * (classes - 1)),
        "rho": [0.1] * (classes * (classes - 1) // 2),
        "support_vectors": [1.0] * (count * 3),
        "vectors_per_class": [2] * classes,
        **RBF,
        **more,
    }


#: What ONNX Runtime refuses when it loads the model, or, with False, when it runs.
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.0], "append 0 for the last node, a LEAF, because all other leaves have 0 and no branch has 0"),
        (
            [0.0, 0.0],
            "entry 0 is 0, and node 0 is a BRANCH_LEQ, so the value of node 0 or of an earlier node is missing",
        ),
        ([0.5], ""),
    ],
)
def test_the_help_names_the_missing_value_of_a_node(values: list[float], expected: str) -> None:
    model = ml_model("TreeEnsembleClassifier", [floats(4, 3)], CLASSES | {"nodes_values": values}, 3, 2)
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL513"]
    assert (found.help or "").partition(": ")[2] == expected
    assert isinstance(onnxruntime_verdict(model), str)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["nodes_truenodeids", "nodes_falsenodeids"])
def test_the_help_names_the_missing_child_of_a_leaf(name: str) -> None:
    broken = ml_model("TreeEnsembleClassifier", [floats(4, 3)], CLASSES | {name: NODES[name][:-1]}, 3, 2)
    assert isinstance(onnxruntime_verdict(broken), str)
    (found,) = [each for each in irlint.check(broken).findings if each.rule.code == "IRL513"]
    assert ": append 0 for the last node, a LEAF" in (found.help or "")


@pytest.mark.oracle
def test_the_help_names_the_list_that_contradicts_all_others() -> None:
    right, wrong = (
        ml_model("SVMClassifier", [floats(4, 3)], vectors(3, vectors_per_class=counts), 1, 2)
        for counts in ([2, 2, 2], [2, 2, 3])
    )
    assert (isinstance(onnxruntime_verdict(right), str), isinstance(onnxruntime_verdict(wrong), str)) == (False, True)
    (found,) = [each for each in irlint.check(wrong).findings if each.rule.code == "IRL513"]
    assert "`vectors_per_class` so that it adds up to 6:" in (found.help or "")
    assert not isinstance(onnxruntime_verdict(ml_model("TreeEnsembleClassifier", [floats(4, 3)], CLASSES, 3, 2)), str)


BROKEN: list[tuple[str, Given, dict[str, Any], int, str, bool]] = [
    ("CategoryMapper", ints(2), {"cats_int64s": [1, 2], "cats_strings": ["a"]}, 1, "IRL513", True),
    ("CategoryMapper", ints(2), {}, 1, "IRL513", True),
    ("Imputer", floats(2, 3), {}, 1, "IRL513", True),
    ("Imputer", floats(2, 3), {"imputed_value_floats": [1.0], "imputed_value_int64s": [1]}, 1, "IRL513", True),
    ("Imputer", floats(), {"imputed_value_floats": [1.0]}, 1, "IRL339", False),
    ("LabelEncoder", ints(2), {}, 1, "IRL513", True),
    ("LabelEncoder", ints(2), {"keys_int64s": [1, 2], "values_int64s": [1]}, 2, "IRL513", True),
    ("LabelEncoder", ints(2), {"keys_int64s": [1, 2]}, 2, "IRL513", True),
    ("LabelEncoder", ints(2), {"keys_int64s": [1], "keys_floats": [1.0], "values_int64s": [1]}, 2, "IRL513", True),
    ("LabelEncoder", floats(2), {"keys_int64s": [1], "values_int64s": [1]}, 2, "IRL401", True),
    (
        "LabelEncoder",
        ints(2),
        {
            "keys_tensor": tensor("int64", 1),
            "values_tensor": tensor("int16", 1),
            "default_tensor": tensor("float32", 1),
        },
        4,
        "IRL513",
        True,
    ),
    ("FeatureVectorizer", floats(2, 3), {"inputdimensions": [3, 4]}, 1, "IRL513", False),
    ("Normalizer", floats(2, 3), {"norm": "X"}, 1, "IRL506", True),
    ("Normalizer", floats(2, 3, 4), {}, 1, "IRL339", False),
    ("OneHotEncoder", ints(2), {}, 1, "IRL513", True),
    ("OneHotEncoder", ints(2), {"cats_int64s": [1], "cats_strings": ["a"]}, 1, "IRL513", True),
    ("Scaler", floats(4, 5), {"scale": [1.0] * 3, "offset": [0.0] * 3}, 1, "IRL517", False),
    ("Scaler", floats(4, 3), {"scale": [1.0], "offset": [0.0] * 3}, 1, "IRL513", True),
    ("Scaler", floats(4, 3), {}, 1, "IRL513", True),
    ("LinearClassifier", floats(4, 3), linear(1, 1), 1, "IRL513", True),
    ("LinearClassifier", floats(4, 3), linear(3, 2), 1, "IRL513", True),
    ("LinearClassifier", floats(4, 3), linear(3, 3, coefficients=[1.0] * 8), 1, "IRL513", True),
    ("LinearClassifier", floats(4, 3), linear(3, 3, classlabels_strings=["a", "b", "c"]), 1, "IRL513", True),
    ("LinearClassifier", floats(4, 3), linear(3, 3, post_transform="X"), 1, "IRL506", True),
    ("LinearClassifier", floats(4, 4), linear(3, 3), 1, "IRL517", False),
    ("LinearClassifier", floats(4, 3, 2), linear(3, 3), 1, "IRL339", True),
    ("LinearRegressor", floats(4, 4), {"coefficients": [1.0] * 3}, 1, "IRL517", False),
    ("LinearRegressor", floats(4, 3), {}, 1, "IRL513", True),
    ("LinearRegressor", floats(4, 3), {"coefficients": [1.0] * 3, "targets": 0}, 1, "IRL510", True),
    ("SVMClassifier", floats(4, 4), vectors(2), 1, "IRL517", False),
    ("TreeEnsembleClassifier", floats(3), CLASSES, 3, "IRL339", True),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"classlabels_int64s": None}, 3, "IRL513", True),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"class_ids": [0, 7]}, 3, "IRL518", True),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"class_weights": [1.0]}, 3, "IRL513", True),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"nodes_values": [1.0]}, 3, "IRL513", True),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"nodes_featureids": [9, 0, 0]}, 3, "IRL517", False),
    ("TreeEnsembleClassifier", floats(4, 3), CLASSES | {"nodes_truenodeids": [9, 0, 0]}, 3, "IRL518", True),
    (
        "TreeEnsembleClassifier",
        floats(4, 3),
        CLASSES | {"nodes_modes": ["BRANCH_X", "LEAF", "LEAF"]},
        3,
        "IRL518",
        True,
    ),
    ("TreeEnsembleRegressor", floats(4, 3), TARGETS | {"target_ids": [0, 1]}, 3, "IRL518", True),
    ("TreeEnsembleRegressor", floats(4, 3), TARGETS | {"n_targets": 0}, 3, "IRL510", True),
    ("TreeEnsembleRegressor", floats(4, 3), TARGETS | {"aggregate_function": "X"}, 3, "IRL506", True),
    ("TreeEnsembleRegressor", floats(4, 3), TARGETS | {"nodes_modes": ["LEAF", "LEAF"]}, 3, "IRL513", True),
    ("TreeEnsembleRegressor", floats(4, 3), TARGETS, 5, "IRL509", True),
    ("TreeEnsemble", floats(4), ENSEMBLE, 5, "IRL339", True),
    ("TreeEnsemble", Input("float64", 4, 3), ENSEMBLE, 5, "IRL513", True),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"n_targets": 1}, 5, "IRL518", True),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"nodes_featureids": [9, 0, 0]}, 5, "IRL517", False),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"leaf_targetids": [0, 1, 0]}, 5, "IRL513", True),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"nodes_trueleafs": [0, 1]}, 5, "IRL513", True),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"tree_roots": [7]}, 5, "IRL518", True),
    ("TreeEnsemble", floats(4, 3), ENSEMBLE | {"aggregate_function": 9}, 5, "IRL510", True),
]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("op", "given", "attributes", "version", "code", "at_load"), BROKEN, ids=[each[0] for each in BROKEN]
)
def test_refused_as_by_onnxruntime(
    op: str, given: Input, attributes: dict[str, Any], version: int, code: str, at_load: bool
) -> None:
    written = {name: value for name, value in attributes.items() if value is not None}
    model = ml_model(op, [given], written, version, 2 if "Classifier" in op else 1)
    verdict = irlint_on_onnx(model)
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code
    assert isinstance(onnxruntime_verdict(model), str) is at_load
    if not at_load:
        with pytest.raises(Exception, match="node"):
            run(model, [given])


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"tree_roots": [7]}, "attribute `tree_roots` leads to branch 7, but the number of branches is 3"),
        (
            {"nodes_falsenodeids": [2, 9, 3]},
            "attribute `nodes_falsenodeids` leads to leaf 9, but the number of leaves is 4",
        ),
    ],
)
def test_messages_about_missing_branches_and_leaves(changed: dict[str, Any], expected: str) -> None:
    verdict = irlint_on_onnx(ml_model("TreeEnsemble", [floats(4, 3)], ENSEMBLE | changed, 5))
    assert isinstance(verdict, str) and expected in verdict


def known_output(model: onnx.ModelProto) -> Any:
    parsed = parser.read("model.onnx", model.SerializeToString())
    assert parsed.graph is not None
    return inferred(parsed).types[parsed.graph.outputs[0]]


@pytest.mark.parametrize(
    ("dims", "attributes", "expected"),
    [
        ((4, 2), {"classlabels_int64s": [0, 1]}, Sequence(Map("int64", Tensor("float32", ())), 4)),
        ((2,), {"classlabels_strings": ["a", "b"]}, Sequence(Map("string", Tensor("float32", ())), 1)),
    ],
)
def test_zip_map_gives_a_map_for_each_row(dims: tuple[int, ...], attributes: dict[str, Any], expected: Any) -> None:
    assert known_output(ml_model("ZipMap", [floats(*dims)], attributes, 1)) == expected


TEXTS = {
    "ai.onnx.ml.CastMap <cast_to = 'TO_INT64', map_form = 'SPARSE', max_map = 5> (x)": ("int64", (1, 5)),
    "ai.onnx.ml.CastMap (x)": ("float32", (1, None)),
    "ai.onnx.ml.DictVectorizer <int64_vocabulary = [1, 2, 3]> (x)": ("float32", (1, 3)),
}


@pytest.mark.parametrize(("call", "expected"), TEXTS.items())
def test_maps_become_one_row(call: str, expected: Any) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
    g (map(int64, float) x) => (y) {{ y = {call} }}""".replace("'", '"')
    assert irlint_on_onnx(onnx.parser.parse_model(text)) == [expected]


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "entry"), [("nodes_truenodeids", 1), ("nodes_falsenodeids", 2)])
def test_a_wrong_branch_leads_to_the_node_without_a_parent(name: str, entry: int) -> None:
    broken = CLASSES | {name: [9, 0, 0]}
    model = ml_model("TreeEnsembleClassifier", [floats(4, 3)], broken, 3, 2)
    assert isinstance(onnxruntime_verdict(model), str)
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.help == f"set entry 0 of `{name}` to {entry}: no branch leads to node {entry} of tree 0"
    sound = ml_model("TreeEnsembleClassifier", [floats(4, 3)], CLASSES | {name: [entry, 0, 0]}, 3, 2)
    assert not isinstance(onnxruntime_verdict(sound), str)


@pytest.mark.oracle
def test_a_tree_whose_last_nodes_are_missing() -> None:
    broken = CLASSES | {"nodes_truenodeids": [3, 0, 0], "nodes_falsenodeids": [4, 0, 0]}
    broken |= {name: values[:1] for name, values in broken.items() if name.startswith("nodes_")}
    broken |= {"class_nodeids": [0, 0]}
    model = ml_model("TreeEnsembleClassifier", [floats(4, 3)], broken, 3, 2)
    assert isinstance(onnxruntime_verdict(model), str)
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.help == "tree 0 ends with node 0, and nodes 3 and 4 are missing: add them, or make node 0 a leaf"


def test_votes_of_a_tree_without_nodes() -> None:
    lists = (
        'nodes_treeids = [0], nodes_nodeids = [0], nodes_featureids = [0], nodes_modes = ["LEAF"], '
        "nodes_values = [0.0], nodes_truenodeids = [0], nodes_falsenodeids = [0], target_treeids = [0, 1, 1], "
        "target_nodeids = [0, 0, 1], "
        "target_ids = [0, 0, 0], target_weights = [1.0, 1.0, 1.0], n_targets = 1"
    )
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[N,3] x) => (y) {{ y = ai.onnx.ml.TreeEnsembleRegressor <{lists}> (x) }}"""
    )
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL518"]
    assert found.message == "`target_treeids` has 2 entries of tree 1, of which the `nodes_` lists have no nodes"
    assert found.help == "remove the entries of tree 1 from all `target_` lists, or restore its nodes"
