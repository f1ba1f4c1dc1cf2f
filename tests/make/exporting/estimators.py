"""Recipes: estimators of scikit-learn through skl2onnx, one a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import skl2onnx  # noqa: F401
from sklearn import (
    cluster,
    decomposition,
    ensemble,
    feature_selection,
    gaussian_process,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

#: A name, what makes it, and whether its output is a number ("r"), a class ("c") or features ("t").
ESTIMATORS: list[tuple[str, str, Callable[[], Any]]] = [
    ("linear", "r", linear_model.LinearRegression),
    ("logistic", "c", linear_model.LogisticRegression),
    ("sgd", "c", partial(linear_model.SGDClassifier, loss="log_loss")),
    ("tree", "c", partial(tree.DecisionTreeClassifier, max_depth=4)),
    ("forest", "c", partial(ensemble.RandomForestClassifier, 5, max_depth=4)),
    ("forest-regressor", "r", partial(ensemble.RandomForestRegressor, 5, max_depth=4)),
    ("boosting", "c", partial(ensemble.GradientBoostingClassifier, n_estimators=5)),
    ("histogram-boosting", "r", partial(ensemble.HistGradientBoostingRegressor, max_iter=5)),
    ("bagging", "c", partial(ensemble.BaggingClassifier, n_estimators=3)),
    ("ada", "c", partial(ensemble.AdaBoostClassifier, n_estimators=3)),
    ("isolation", "c", partial(ensemble.IsolationForest, n_estimators=5)),
    ("voti"
        "n"
            "g", "c", lambda: ensemble.VotingClassifier([("a", linear_model.LogisticRegression()), ("b", naive_bayes.GaussianNB())], voting="s"
                "o"
            "ft")),
    ("stack"
        "in"
            "g", "c", lambda: ensemble.StackingClassifier([("a", linear_model.LogisticRegression()), ("b", naive_bayes.GaussianNB())])),
    ("neighbors", "c", partial(neighbors.KNeighborsClassifier, 3)),
    ("neighbors-regressor", "r", partial(neighbors.KNeighborsRegressor, 3)),
    ("svc", "c", partial(svm.SVC, probability=True)),
    ("svr", "r", svm.SVR),
    ("bayes", "c", naive_bayes.GaussianNB),
    ("mlp", "c", partial(neural_network.MLPClassifier, (8,), max_iter=20)),
    ("process", "r", gaussian_process.GaussianProcessRegressor),
    ("kmeans", "t", partial(cluster.KMeans, 3, n_init=1)),
    ("pca", "t", partial(decomposition.PCA, 2)),
    ("scaler", "t", preprocessing.StandardScaler),
    ("polynomial", "t", partial(preprocessing.PolynomialFeatures, 2)),
    ("bins", "t", partial(preprocessing.KBinsDiscretizer, 3)),
    ("one-hot", "t", partial(preprocessing.OneHotEncoder, handle_unknown="ignore")),
    ("select"
        "io"
            "n", "c", lambda: pipeline.make_pipeline(feature_selection.SelectKBest(k=2), linear_model.LogisticRegression())),
    ("pipel"
        "in"
            "e", "c", lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), decomposition.PCA(3), ensemble.RandomForestClassifier(3))),
]  # fmt: skip


def recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The names and the functions that make the files."""
    for name, kind, make in ESTIMATORS:
        for opset in (12, 17, 21):
            yield f"sk-{name}.{opset}", partial(_write, f"sk-{name}.{opset}", kind, make, opset, {})
        if kind == "c":
            title = f"sk-{name}.plain17"
            yield title, partial(_write, title, kind, make, 17, {"zipmap": False})


def _write(name: str, kind: str, make: Callable[[], Any], opset: int, options: dict[str, Any], folder: Path) -> None:
    from skl2onnx import to_onnx

    random = np.random.default_rng(0)
    x = random.standard_normal((40, 5)).astype(np.float32)
    if name.startswith("sk-one-hot"):
        x = np.round(x)
    y = x[:, 0] + x[:, 1] if kind == "r" else (x[:, 0] > 0).astype(int) + (x[:, 1] > 1)
    made = make().fit(x, y)
    model = to_onnx(made, x[:1], target_opset={"": opset, "ai.onnx.ml": 3 if opset > 12 else 1}, options=options)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (folder / f"{name}.json").write_text(json.dumps({"examples": {"X": [3, 5]}}))
