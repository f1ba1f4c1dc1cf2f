"""What `irlint contract --as` prints, run in the tools: the sizes of each profile run, of a model and of the IR
converted from it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from contracts.models import HEAD, MODELS

import irlint
from irlint.reporters.profiles import rendered
from irlint.run.contract import profile_for

pytestmark = pytest.mark.oracle

DTYPES = {"float32": np.float32, "bool": np.bool_, "int64": np.int64}

#: Models whose profiles have a step, a range, an equality, a fixed size, and conditions on several sizes.
NAMES = [
    "frozen batch",
    "position table",
    "two strides",
    "flattened",
    "multiple",
    "concatenated",
    "broadcast",
    "class token",
    "resize twice",
    "gru state",
    "sum of sizes",
]


def saved(name: str, folder: Path) -> str:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    return str(path)


def ran(path: str, tool: str) -> dict[str, Any]:
    """What the printed code leaves behind."""
    known: dict[str, Any] = {}
    exec(rendered(profile_for(path, tool), tool), known)
    return known


@pytest.mark.parametrize("name", NAMES)
def test_openvino_runs_within_the_ranges(name: str, tmp_path: Path) -> None:
    import openvino

    path = saved(name, tmp_path)
    contract = irlint.contract(path)
    points = _points(path, contract)
    model = ran(path, "openvino")["model"]
    openvino.save_model(openvino.convert_model(path), str(tmp_path / "m.xml"))
    converted = ran(str(tmp_path / "m.xml"), "openvino")["model"]
    for each in (model, converted):
        compiled = openvino.compile_model(each, "CPU")
        for point in points:
            compiled([np.ones([point.get(dim, dim) for dim in fed["shape"]], np.float32) for fed in contract["inputs"]])


@pytest.mark.parametrize("name", [*NAMES, "branch"])
def test_onnxruntime_runs_with_its_overrides(name: str, tmp_path: Path) -> None:
    """The overrides leave all sizes that fit, and each of those in comments gives a session of that size."""
    import onnxruntime

    path = saved(name, tmp_path)
    text = rendered(profile_for(path, "onnxruntime"), "onnxruntime")
    contract = irlint.contract(path)
    session = ran(path, "onnxruntime")["session"]
    for point in _points(path, contract):
        session.run(None, _fed(contract, point))
    known: dict[str, Any] = {}
    exec(text.replace("# options.", "options."), known)
    feeds = {}
    for each in known["session"].get_inputs():
        assert all(isinstance(size, int) for size in each.shape)
        feeds[each.name] = np.ones(each.shape, np.bool_ if each.type == "tensor(bool)" else np.float32)
    assert isinstance(known["session"], onnxruntime.InferenceSession)
    if name != "branch":
        known["session"].run(None, feeds)


@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_runs_with_the_shapes_of_trtexec(name: str, tmp_path: Path) -> None:
    import onnxruntime

    path = saved(name, tmp_path)
    contract = irlint.contract(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options)
    for point in _points(path, contract):
        session.run(None, _fed(contract, point))


def _fed(contract: dict[str, Any], point: dict[str, int]) -> dict[str, Any]:
    return {
        each["name"]: np.ones([point.get(dim, dim) for dim in each["shape"]], DTYPES[each["dtype"]])
        for each in contract["inputs"]
    }


def _points(path: str, contract: dict[str, Any]) -> list[dict[str, int]]:
    """The sizes of the least, usual and greatest shapes, as trtexec's options give them."""
    points = []
    for word in shlex.split(rendered(profile_for(path, "trtexec"), "trtexec").replace("\\\n", ""), comments=True)[2:]:
        fed = dict(re.findall(r"(\w+):([\dx]+)", word))
        points.append(
            {
                dim: int(size)
                for each in contract["inputs"]
                if each["name"] in fed
                for dim, size in zip(each["shape"], fed[each["name"]].split("x"))
            }
        )
    return points
