"""The names of classes against what ultralytics exports, and what it does with other names.

It is asked where the package ultralytics is installed, which no extra brings; its models have random weights.
"""

from __future__ import annotations

from ast import literal_eval
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import irlint

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("ultralytics") is None, reason="ultralytics is not installed"),
]

SIZE = 96

#: The networks, the options of the export, and whether their outputs have channels for classes.
NETWORKS: dict[str, tuple[str, dict[str, bool], bool]] = {
    "detect": ("yolov8n.yaml", {}, True),
    "any size": ("yolo11n.yaml", {"dynamic": True}, True),
    "segment": ("yolov8n-seg.yaml", {}, True),
    "pose": ("yolov8n-pose.yaml", {}, True),
    "obb": ("yolov8n-obb.yaml", {}, True),
    "classify": ("yolov8n-cls.yaml", {}, True),
    "filtered": ("yolov8n.yaml", {"nms": True}, False),
}

#: The tasks whose output ultralytics splits at the number of names.
SPLIT = ("segment", "pose")


def exported(folder: Path, name: str) -> onnx.ModelProto:
    from ultralytics import YOLO

    network, options, _ = NETWORKS[name]
    path = YOLO(network).export(format="onnx", imgsz=SIZE, simplify=False, **options)
    model = onnx.load(path)
    Path(path).unlink()
    return model


def named(model: onnx.ModelProto, path: Path, more: int) -> str:
    """Writes a model with so many names more, and returns its task."""
    entries = {each.key: each for each in model.metadata_props}
    count = len(literal_eval(entries["names"].value))
    entries["names"].value = str({at: f"class {at}" for at in range(count + more)})
    onnx.save(model, path)
    entries["names"].value = str({at: f"class {at}" for at in range(count)})
    return entries["task"].value


@pytest.mark.parametrize("name", NETWORKS)
def test_the_names_of_an_export(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model, path = exported(tmp_path, name), tmp_path / "model.onnx"
    for more in (0, 1):
        task = named(model, path, more)
        found = irlint.check(path, select=["IRL612"]).findings
        assert bool(found) == (bool(more) and NETWORKS[name][2])
        if found and task in SPLIT:
            assert found[0].severity.value == "error"
            with pytest.raises(RuntimeError):
                predicted(path, task)


def predicted(path: Path, task: str) -> Any:
    from ultralytics import YOLO

    image = np.random.default_rng(0).integers(0, 255, (SIZE, SIZE, 3), np.uint8)
    return YOLO(path, task=task).predict(image, imgsz=SIZE, conf=1e-9, max_det=3000, verbose=False)


@pytest.mark.parametrize("kind", ["boxes", "obb", "probs"])
def test_a_class_without_a_name_raises(kind: str) -> None:
    import torch
    from ultralytics.engine.results import Results

    rows = {"boxes": [[1, 1, 9, 9, 0.9, 1]], "obb": [[5, 5, 4, 4, 0.1, 0.9, 1]], "probs": [0.1, 0.9]}
    made: Any = {kind: torch.tensor(rows[kind])}
    with pytest.raises(KeyError):
        Results(np.zeros((32, 32, 3), np.uint8), path="x", names={0: "a"}, **made).verbose()
