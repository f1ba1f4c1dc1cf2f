"""Losses, gradients and optimizers, against ONNX's node tests and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import pytest
from cases.models import Fed as Given
from cases.models import Input, onnx_model
from oracles.engines import irlint_on_onnx

from irlint.dims import symbol
from irlint.findings.faults import Severity
from irlint.findings.statements import stated
from irlint.ops.nn.training import loss_shape


def floats(*dims: int | None) -> Input:
    return Input("float32", *dims)


def classes(*dims: int | None) -> Input:
    return Input("int64", *dims)


def test_weights_are_one_for_each_class() -> None:
    """ONNX Runtime looks only at the weights of the classes that occur: a warning."""
    with stated() as statements:
        assert loss_shape((3, 5), (3,), (4,)) == (3,)
    assert [(fault.rule.code, fault.severity) for fault in statements.faults] == [("IRL515", Severity.WARNING)]


def test_names_of_scores_and_targets_are_made_equal() -> None:
    with stated() as statements:
        assert loss_shape((symbol("N"), 5, 2), (symbol("M"), 2), None) == (symbol("N"), 2)
    assert [requirement.condition for requirement in statements.requirements] == ["N == M"]


X, T = floats(2, 3), classes()
OPTIMIZER_CASES: list[tuple[str, list[Given], dict[str, Any], int, str]] = [
    ("Adagrad", [floats(), T, X, X], {}, 1, "IRL516"),
    ("Adagrad", [floats(), T, X, X, X], {}, 2, ""),
    ("Adagrad", [floats(), T, X, X, X], {}, 3, "IRL516"),
    ("Adam", [floats(), T, X, X, X, X], {}, 3, ""),
    ("Adam", [floats(), T, X, X, X, X, X], {}, 3, "IRL516"),
    ("Gradient", [X, X], {"xs": ["a"], "y": "b", "zs": ["c"]}, 1, ""),
    ("Gradient", [X], {"xs": ["a", "c"], "y": "b"}, 1, "IRL516"),
    ("Gradient", [X], {"xs": ["a"], "y": "b"}, 2, "IRL516"),
    (
        "Momentum",
        [floats(), T, X, X, X],
        {"alpha": 0.9, "beta": 1.0, "mode": "fast", "norm_coefficient": 0.0},
        2,
        "IRL506",
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "outputs", "code"), OPTIMIZER_CASES)
def test_optimizer(op: str, inputs: list[Given], attributes: dict[str, Any], outputs: int, code: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, 17, "ai.onnx.preview.training", outputs))
    if code:
        assert isinstance(verdict, str), verdict
        assert verdict.split()[0] == code
    else:
        assert verdict == [("float32", (2, 3))] * outputs
