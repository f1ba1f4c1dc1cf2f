"""Contracts of IRs: that of a model that OpenVINO converted says what the model's own does, and what OpenVINO
infers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import onnx.parser
import pytest
from contracts.models import HEAD, MODELS

import irlint

pytestmark = pytest.mark.oracle

LARGEST = {0: 1, 1: 40, 2: 8, 3: 4, 4: 3}

#: Models of which OpenVINO's converter makes something that takes other sizes: broadcasting in place of an operator
#: that wants equal sizes, a Reshape in place of a Flatten, a pooling that wants a whole window, a division that rounds
#: down in place of one that rounds towards zero, floats that irlint does not follow in an IR.
CONVERTED_OTHERWISE = {
    "a negative divisor",
    "batch norm",
    "branch",
    "constant of its shape",
    "conv transpose shape",
    "convs and pools",
    "cut off as floats",
    "flatten",
    "gemm",
    "groups",
    "layer norm",
    "pool",
    "pool ceil",
    "pool flat",
    "pool of a slice",
    "pool resized",
    "pool stride",
    "pool strided conv",
    "pools",
    "pools wide",
    "pools wider",
    "rounded down as floats",
    "rounded up as floats",
    "strided size by negation",
    "truncated below 0",
}

#: Models for which OpenVINO infers shapes of outputs where it cannot compute them.
NOT_HELD_BY_SHAPES = {"cancelled", "heads", "negative pad", "squeezed", "topk"}


#: Converting takes its time: every second one.
CONVERTED = [name for name in MODELS if name not in CONVERTED_OTHERWISE][::2]


@pytest.mark.parametrize("name", CONVERTED)
def test_the_ir_of_a_model_says_the_same(name: str, tmp_path: Path) -> None:
    import openvino

    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    openvino.save_model(openvino.convert_model(path), tmp_path / "m.xml")
    model = openvino.Core().read_model(tmp_path / "m.xml")
    first, second = irlint.contract(path), irlint.contract(tmp_path / "m.xml")
    names = sorted({dim for each in first["inputs"] for dim in each["shape"] if isinstance(dim, str)})
    before = None
    for at, sizes in enumerate(itertools.product(range(1, LARGEST[len(names)] + 1), repeat=len(names))):
        known = dict(zip(names, sizes))
        shapes = {each["name"]: [known.get(dim, dim) for dim in each["shape"]] for each in first["inputs"]}
        allowed = _allowed(first, known)
        places = ((dim, size) for each in second["inputs"] for dim, size in zip(each["shape"], shapes[each["name"]]))
        assert _allowed(second, {dim: size for dim, size in places if isinstance(dim, str)}) == allowed, known
        if (allowed != before or at % 8 == 0) and (allowed or name not in NOT_HELD_BY_SHAPES):
            assert _reshapes(model, shapes) == allowed, known
        before = allowed


def _allowed(contract: dict[str, Any], sizes: dict[str, int]) -> bool:
    return contract.get("satisfiable", True) and all(
        eval(each["condition"], dict(sizes)) for each in contract["requires"]
    )


def _reshapes(model: Any, shapes: dict[str, list[int]]) -> bool:
    """Whether OpenVINO finds a shape for everything in the model, its inputs being of these."""
    try:
        model.reshape({at: shapes[node.get_friendly_name()] for at, node in enumerate(model.get_parameters())})
    except RuntimeError:
        return False
    return True
