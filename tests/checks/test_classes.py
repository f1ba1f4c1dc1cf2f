"""The names of classes in the metadata of exported detectors, against the channels of their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from make.fixtures import example

import irlint

#: What ultralytics 8.4.190 states of its exports at 96 x 96 with 80 classes, and the shapes of the outputs.
DETECT = {"author": "Ultralytics", "task": "detect", "stride": "32", "head": "Detect", "end2end": "False"}
SEGMENT = {**DETECT, "task": "segment", "head": "Segment"}
POSE = {**DETECT, "task": "pose", "head": "Pose", "kpt_shape": "[17, 3]"}
OBB = {**DETECT, "task": "obb", "head": "OBB"}
OLD = {key: value for key, value in DETECT.items() if key not in ("head", "end2end")}
YOLOV5 = {"stride": "32"}
MASKS = "float[1,32,24,24]"
ERROR, WARNING = "error", "warning"

#: Metadata, the number of names, the shapes of the image and of the outputs, and the severity of the finding.
CASES: Mapping[str, tuple[dict[str, str], int, str, tuple[str, ...], str]] = {
    "detect": (DETECT, 80, "1,3,96,96", ("float[1,84,189]",), ""),
    "detect, a name too few": (DETECT, 79, "1,3,96,96", ("float[1,84,189]",), ERROR),
    "detect, a name too many": (DETECT, 81, "1,3,96,96", ("float[1,84,189]",), WARNING),
    "detect of any size": (DETECT, 79, "n,3,h,w", ("float[n,84,a]",), ERROR),
    "detect of any size, unknown head": ({**DETECT, "head": "New"}, 79, "n,3,h,w", ("float[n,84,a]",), ""),
    "detect of older releases": (OLD, 79, "1,3,96,96", ("float[1,84,189]",), ERROR),
    "detect of older releases and any size": (OLD, 79, "n,3,h,w", ("float[n,84,a]",), ""),
    "detect with a map of stride 4": (OLD, 79, "1,3,96,96", ("float[1,84,765]",), ERROR),
    "detect with a map of stride 64": ({**OLD, "stride": "64"}, 79, "1,3,128,128", ("float[1,84,340]",), ERROR),
    "boxes of RT-DETR": ({**DETECT, "head": "RTDETRDecoder"}, 79, "1,3,96,96", ("float[1,300,84]",), ""),
    "end to end": ({**DETECT, "end2end": "True"}, 79, "1,3,96,96", ("float[1,300,6]",), ""),
    "end to end of older releases": (OLD, 79, "1,3,96,96", ("float[1,300,6]",), ""),
    "filtered": ({**DETECT, "args": "{'nms': True}"}, 79, "1,3,96,96", ("float[1,84,189]",), ""),
    "segment": (SEGMENT, 80, "1,3,96,96", ("float[1,116,189]", MASKS), ""),
    "segment, a name too few": (SEGMENT, 79, "1,3,96,96", ("float[1,116,189]", MASKS), ERROR),
    "segment, a name too many": (SEGMENT, 81, "1,3,96,96", ("float[1,116,189]", MASKS), ERROR),
    "segment without prototypes": (SEGMENT, 79, "1,3,96,96", ("float[1,116,189]",), ""),
    "segment end to end": ({**SEGMENT, "end2end": "True"}, 79, "1,3,96,96", ("float[1,300,38]", MASKS), ""),
    "pose": (POSE, 1, "1,3,96,96", ("float[1,56,189]",), ""),
    "pose, a name too many": (POSE, 2, "1,3,96,96", ("float[1,56,189]",), ERROR),
    "pose without key points": ({**POSE, "kpt_shape": "?"}, 2, "1,3,96,96", ("float[1,56,189]",), ""),
    "obb": (OBB, 80, "1,3,96,96", ("float[1,85,189]",), ""),
    "obb, a name too few": (OBB, 79, "1,3,96,96", ("float[1,85,189]",), ERROR),
    "classify": ({**OLD, "task": "classify"}, 5, "1,3,64,64", ("float[1,5]",), ""),
    "classify, a name too few": ({**OLD, "task": "classify"}, 4, "1,3,64,64", ("float[1,5]",), ERROR),
    "another task": ({**OLD, "task": "semantic"}, 4, "1,3,64,64", ("float[1,5,64,64]",), ""),
    "YOLOv5": (YOLOV5, 80, "1,3,96,96", ("float[1,567,85]",), ""),
    "YOLOv5, a name too few": (YOLOV5, 79, "1,3,96,96", ("float[1,567,85]",), ERROR),
    "YOLOv5 with masks": (YOLOV5, 79, "1,3,96,96", ("float[1,567,117]", MASKS), ERROR),
    "YOLOv9, which writes the same metadata": (YOLOV5, 79, "1,3,96,96", ("float[1,84,189]",), ""),
    "metadata of others": ({"author": "me", "task": "detect"}, 79, "1,3,96,96", ("float[1,84,189]",), ""),
}


def written(folder: Path, metadata: Mapping[str, str], image: str, outputs: tuple[str, ...]) -> Path:
    """A model whose outputs have these types: an operator that irlint does not know makes them."""
    entries = ", ".join(f'"{key}" : "{value}"' for key, value in metadata.items())
    types = ", ".join(f"{each} output{at}" for at, each in enumerate(outputs))
    names = ", ".join(f"output{at}" for at in range(len(outputs)))
    path = folder / "model.onnx"
    path.write_bytes(
        example(
            f'<ir_version: 8, opset_import: ["" : 17, "x" : 1], metadata_props: [{entries}]>\n'
            f"g (float[{image}] images) => ({types}) {{ {names} = x.Net (images) }}"
        )[1]
    )
    return path


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    metadata, count, image, outputs, expected = CASES[name]
    names = str({at: f"class {at}" for at in range(count)})
    path = written(tmp_path, {**metadata, "names": names}, image, outputs)
    found = irlint.check(path, select=["IRL612"]).findings
    assert [each.severity.value for each in found] == ([expected] if expected else [])


@pytest.mark.parametrize("names", ["", "{", "[" * 5000, "1", "{}", "__import__('os')", "{0: 1" + "0" * 9000 + "}"])
def test_names_that_are_no_names(names: str, tmp_path: Path) -> None:
    path = written(tmp_path, {**DETECT, "names": names}, "1,3,96,96", ("float[1,84,189]",))
    assert irlint.check(path, select=["IRL599"]).findings == ()


def test_the_message_shows_the_channels(tmp_path: Path) -> None:
    path = written(tmp_path, {**DETECT, "names": "['a', 'b']"}, "1,3,96,96", ("float[1,84,189]",))
    (found,) = irlint.check(path, select=["IRL612"]).findings
    assert found.message == "the metadata names 2 classes, and the model has 80, as axis 1 of `output0` is 84"
    assert found.value == "output0"
