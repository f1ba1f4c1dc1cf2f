"""Contracts by brute force: a model runs in an engine with exactly the sizes that its contract allows."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from contracts.positions import HEAD as HEAD_OF_POSITIONS
from contracts.positions import POSITIONS

import irlint

pytestmark = pytest.mark.oracle

LARGEST = {0: 1, 1: 40, 2: 8, 3: 4, 4: 3}
DTYPES = {"float32": np.float32, "bool": np.bool_, "int32": np.int32, "int64": np.int64}


TEXTS = {name: HEAD + text for name, (text, _) in MODELS.items()}
TEXTS |= {name: HEAD_OF_POSITIONS + text for name, (text, _) in POSITIONS.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_it_runs_with_exactly_these_sizes(name: str, tmp_path: Path) -> None:
    import onnxruntime

    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXTS[name]).SerializeToString())
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
        for taken in (True, False) if name.startswith("branch") else (None,):
            allowed = contract.get("satisfiable", True) and all(
                eval(each["condition"], dict(known)) for each in contract["requires"] if _binds(each, taken)
            )
            if runs(session, contract, known, taken) != allowed:
                wrong.append((known, taken, allowed))
    assert not wrong


def _binds(condition: dict[str, Any], taken: bool | None) -> bool:
    return "when" not in condition or condition["when"].endswith("then_branch") is taken


def runs(session: Any, contract: dict[str, Any], sizes: dict[str, int], taken: bool | None) -> bool:
    try:
        session.run(None, _feeds(contract, sizes, taken))
    except Exception:
        return False
    return True


def _feeds(contract: dict[str, Any], sizes: dict[str, int], taken: bool | None = None) -> dict[str, Any]:
    feeds = {}
    for each in contract["inputs"]:
        shape = [sizes.get(dim, dim) for dim in each["shape"]]
        value = np.full(shape, taken) if each["dtype"] == "bool" else np.ones(shape)
        feeds[each["name"]] = value.astype(DTYPES[each["dtype"]])
    return feeds


@pytest.mark.parametrize(
    "name", [name for name in POSITIONS if "com.microsoft" not in TEXTS[name].removeprefix(HEAD_OF_POSITIONS)]
)
def test_openvino_runs_the_positions_with_exactly_these_sizes(name: str, tmp_path: Path) -> None:
    import openvino

    path, written = tmp_path / "m.onnx", tmp_path / "m.xml"
    path.write_bytes(onnx.parser.parse_model(TEXTS[name]).SerializeToString())
    openvino.save_model(openvino.convert_model(path), written, compress_to_fp16=False)
    model = openvino.Core().compile_model(written, "CPU")
    contract = irlint.contract(written)
    names = sorted({dim for each in contract["inputs"] for dim in each["shape"] if isinstance(dim, str)})
    wrong = []
    for sizes in itertools.product(range(1, {1: 20}.get(len(names), 8) + 1), repeat=len(names)):
        known = dict(zip(names, sizes))
        allowed = contract.get("satisfiable", True) and all(
            eval(each["condition"], dict(known)) for each in contract["requires"]
        )
        try:
            model(_feeds(contract, known))
        except RuntimeError:
            runs_so = False
        else:
            runs_so = True
        if runs_so != allowed:
            wrong.append((known, allowed))
    assert not wrong
