"""Contracts by brute force: a model runs in ONNX Runtime with exactly the sizes that its contract allows."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from contracts.models import HEAD, MODELS

import irlint

pytestmark = pytest.mark.oracle

LARGEST = {0: 1, 1: 40, 2: 8, 3: 4, 4: 3}
DTYPES = {"float32": np.float32, "bool": np.bool_, "int64": np.int64}


@pytest.mark.parametrize("name", MODELS)
def test_it_runs_with_exactly_these_sizes(name: str, tmp_path: Path) -> None:
    import onnxruntime

    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    contract = irlint.contract(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # ReshapeFusion makes a target of [batch, 4, 8] one of [0, -1, 8], which takes any size on axis 1.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = sorted({dim for each in contract["inputs"] for dim in each["shape"] if isinstance(dim, str)})
    wrong = []
    for sizes in itertools.product(range(1, LARGEST[len(names)] + 1), repeat=len(names)):
        known = dict(zip(names, sizes))
        for taken in (True, False) if name == "branch" else (None,):
            allowed = contract.get("satisfiable", True) and all(
                eval(each["condition"], dict(known)) for each in contract["requires"] if _binds(each, taken)
            )
            if runs(session, contract, known, taken) != allowed:
                wrong.append((known, taken, allowed))
    assert not wrong


def _binds(condition: dict[str, Any], taken: bool | None) -> bool:
    return "when" not in condition or condition["when"].endswith("then_branch") is taken


def runs(session: Any, contract: dict[str, Any], sizes: dict[str, int], taken: bool | None) -> bool:
    feeds = {}
    for each in contract["inputs"]:
        shape = [sizes.get(dim, dim) for dim in each["shape"]]
        value = np.full(shape, taken) if each["dtype"] == "bool" else np.ones(shape)
        feeds[each["name"]] = value.astype(DTYPES[each["dtype"]])
    try:
        session.run(None, feeds)
    except Exception:
        return False
    return True
