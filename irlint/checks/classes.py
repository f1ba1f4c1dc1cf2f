"""Compares the number of class names in the metadata of an Ultralytics or YOLOv5 model with the output's classes.

Sources: ``exporter.py``, ``nn/modules/head.py``, ``nn/autobackend.py`` and ``utils/nms.py`` of ultralytics 8.4, and
``export.py`` of YOLOv5 7.0. If the model filters the boxes itself, its output [batch, boxes, 6 or more] does not show
the number of classes.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Mapping

from irlint.contracts.interface import inputs, outputs
from irlint.dims import MaybeDim
from irlint.findings.faults import Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Problem
from irlint.model.tensor import tensor_shape
from irlint.records import record

_MODEL = """<ir_version: 8, opset_import: ["" : 17],
metadata_props: ["author" : "Ultralytics", "task" : "classify", "names" : "{NAMES}"]>
g (float[1,3,8,8] images) => (float[1,3] output0) {
  mean = ReduceMean <axes = [2, 3], keepdims = 0> (images)
  output0 = Softmax (mean)
}"""

CLASS_NAMES = Rule(
    "IRL612",
    "class-names-mismatch",
    Severity.ERROR,
    "The metadata of the model names another number of classes than an output has.",
    why=(
        "Ultralytics looks up the name of each class that it finds, and splits the channels of the output by the "
        "number of names. With too few names a detection raises KeyError; with a wrong number, masks and key points "
        "are cut at the wrong channel."
    ),
    fix="Name each class of the model, or export the model again from the weights that belong to the names.",
    bad=_MODEL.replace("{NAMES}", "{0: 'cat', 1: 'dog'}"),
    good=_MODEL.replace("{NAMES}", "{0: 'cat', 1: 'dog', 2: 'bird'}"),
)

#: The first output of models of both exporters, Ultralytics and YOLOv5.
OUTPUT = "output0"

#: The output with the mask prototypes.
PROTOTYPES = "output1"

#: The number of coordinates of a box.
BOX = 4

#: The coordinates of a box and the objectness score of YOLOv5.
SCORED_BOX = 5

#: The columns of a filtered box: four coordinates, the score and the class.
FILTERED = 6

#: The tasks whose output has channels for boxes and classes.
DETECTION_TASKS = ("detect", "segment", "pose", "obb")

#: The tasks for which Ultralytics splits the channels by the number of names.
SPLIT_TASKS = ("segment", "pose")

#: The strides that the first feature map of a detector may have, and the largest stride of the last one.
FIRST_STRIDES, LARGEST_STRIDE = (4, 8, 16), 512

#: The number of anchors of YOLOv5 at each position of a feature map.
ANCHORS = 3

#: The heads, named in newer metadata, with channels for the box, the classes and the task.
HEADS = ("Detect", "Segment", "Pose", "OBB", "Segment26", "Pose26", "OBB26", "v10Detect")

#: The longest text that is parsed, in characters.
LONGEST = 1 << 20


@record
class Detector:
    """The metadata of a model, and the shapes of its image and of its outputs."""

    metadata: Mapping[str, str]
    #: The shape of the only input, if it has rank 4; otherwise four unknown sizes.
    image: tuple[MaybeDim, ...]
    outputs: Mapping[str, tuple[MaybeDim, ...]]

    def literal(self, key: str) -> Any:
        """The value of the Python literal under ``key``; None if it is missing, invalid or longer than LONGEST."""
        text = self.metadata.get(key, "")
        if len(text) > LONGEST:
            return None
        try:
            return literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def problems(known: Known) -> Iterator[Problem]:
    """One problem if the metadata names another number of classes than the output has."""
    metadata = known.model.metadata
    is_ultralytics = metadata.get("author") == "Ultralytics" and "task" in metadata
    if not is_ultralytics and metadata.keys() != {"names", "stride"}:
        return
    images = [tensor_shape(each.type) or () for each in inputs(known)]
    image = images[0] if len(images) == 1 and len(images[0]) == 4 else (None,) * 4
    shapes = {each.name: tensor_shape(each.type) or () for each in outputs(known)}
    detector = Detector(metadata, image, shapes)
    names = detector.literal("names")
    if not isinstance(names, (dict, list)) or not names or OUTPUT not in shapes:
        return
    task = metadata.get("task", "detect" if PROTOTYPES not in shapes else "segment")
    found = _classes(detector, task) if is_ultralytics else _classes_of_yolov5(detector)
    if found is None or found[1] < 1 or found[1] == len(names):
        return
    axis, classes = found
    size = shapes[OUTPUT][axis]
    text = "" if size == classes else f", as axis {axis} of `{OUTPUT}` is {size}"
    fault = CLASS_NAMES.fault(
        f"the metadata names {counted(len(names), 'class', 'classes')}, and the model has {classes}{text}",
        help="name each class of the model, or export it again from the weights that belong to the names",
    )
    is_harmless = len(names) > classes and task not in SPLIT_TASKS
    yield Problem(fault.lowered(Severity.WARNING) if is_harmless else fault, value=OUTPUT)


def _classes(detector: Detector, task: str) -> tuple[int, int] | None:
    """(axis of the classes, number of classes) of an Ultralytics model; None if either is uncertain."""
    shape = detector.outputs[OUTPUT]
    if task == "classify":
        return (1, shape[1]) if len(shape) == 2 and isinstance(shape[1], int) else None
    after_classes = _channels_after_classes(detector, task)
    if task not in DETECTION_TASKS or len(shape) != 3 or after_classes is None or not isinstance(shape[1], int):
        return None
    options = detector.literal("args")
    is_filtered = isinstance(options, dict) and bool(options.get("nms"))
    if is_filtered or detector.metadata.get("end2end") == "True" or shape[2] == FILTERED + after_classes:
        return None
    if isinstance(shape[2], int) and shape[2] not in _positions(detector):
        return None
    if not isinstance(shape[2], int) and detector.metadata.get("head") not in HEADS:
        return None
    return 1, shape[1] - BOX - after_classes


def _classes_of_yolov5(detector: Detector) -> tuple[int, int] | None:
    """(axis of the classes, number of classes) of the output [batch, anchors, channels] of YOLOv5."""
    shape = detector.outputs[OUTPUT]
    after_classes = _channels_after_classes(detector, "segment" if PROTOTYPES in detector.outputs else "detect")
    if len(shape) != 3 or after_classes is None or not isinstance(shape[2], int):
        return None
    anchors = [ANCHORS * positions for positions in _positions(detector)]
    return (2, shape[2] - SCORED_BOX - after_classes) if shape[1] in anchors else None


def _channels_after_classes(detector: Detector, task: str) -> int | None:
    if task == "segment":
        masks = detector.outputs.get(PROTOTYPES, ())
        size = masks[1] if len(masks) == 4 else None
        return size if isinstance(size, int) else None
    if task == "pose":
        points = detector.literal("kpt_shape")
        is_pair = (
            isinstance(points, (list, tuple))
            and len(points) == 2
            and all(isinstance(each, int) and each > 0 for each in points)
        )
        return points[0] * points[1] if is_pair else None
    return 1 if task == "obb" else 0


def _positions(detector: Detector) -> list[int]:
    """The total number of positions of all feature maps, once for each of FIRST_STRIDES; [] if a size or the stride of
    the metadata is unknown."""
    height, width = detector.image[2:]
    last = detector.literal("stride")
    if not isinstance(height, int) or not isinstance(width, int) or not isinstance(last, int):
        return []
    if not 0 < last <= LARGEST_STRIDE:
        return []
    found = []
    for first in FIRST_STRIDES:
        strides = [first << power for power in range(8) if first << power <= last]
        found.append(sum((height // stride) * (width // stride) for stride in strides))
    return found
