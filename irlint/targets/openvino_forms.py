"""The forms of ONNX operators that releases of OpenVINO refuse though they have a converter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.model import Graph
from irlint.records import record
from irlint.schemas import MICROSOFT
from irlint.targets import tables
from irlint.targets.node_facts import attribute, has_output, is_constant, is_true, rank
from irlint.targets.objections import RESTRICTED_IN_RELEASE, Objection
from irlint.targets.uses import Use

NAME = "openvino"


@record
class Form:
    """A form of an operator: the fact of the releases that read it, what has it, what it is, and the way out."""

    fact: str
    has: Callable[[Use], bool]
    text: str
    help: str


def begins(use: Use, version: int) -> bool:
    """Whether the opset is one of a version of the operator or of a later one."""
    return isinstance(use.version, int) and use.version >= version


def is_integer(use: Use, index: int) -> bool:
    """Whether an input is there, and of integers."""
    return any("int" in (each or "") for each in use.inputs[index : index + 1])


def takes_from_outside(body: Graph, use: Use) -> bool:
    """Whether a node of a body takes a value that is not constant, no input of it, and not given by another one."""
    own = {*body.inputs, *body.constants, *(value for node in body.nodes for value in node.outputs)}
    given = own.union(use.constants)
    return any(value is not None and value not in given for node in body.nodes for value in node.inputs)


FORMS: dict[str, tuple[Form, ...]] = {
    "Scan": (
        Form("onnx-form Scan.outer", lambda use: any(takes_from_outside(body, use) for _, body in use.node.bodies),
             "the release does not read it with a body that takes values from outside",
             "give the body these values as inputs"),
    ),
    "LayerNormalization": (
        Form("onnx-form LayerNormalization.outputs", lambda use: has_output(use, 1) or has_output(use, 2),
             "the release reads it with one output", "leave the outputs Mean and InvStdDev out"),
    ),
    "GridSample": (
        Form("onnx-form GridSample.linear-early",
             lambda use: not begins(use, 20) and attribute(use, "mode") in ("linear", "cubic"),
             "the release knows the modes bilinear and bicubic there, not linear and cubic", "use opset 20"),
        Form("onnx-form GridSample.linear", lambda use: attribute(use, "mode") in ("linear", "cubic"),
             "the release knows the modes bilinear and bicubic, not linear and cubic", "use an opset below 20"),
        Form("onnx-form GridSample.5d", lambda use: rank(use, 0) == 5,
             "the release reads it with inputs of 4 axes", "use other operators"),
    ),
    "Dropout": (
        Form("onnx-form Dropout.open-training", lambda use: begins(use, 12) and not is_constant(use, 2),
             "the release reads it only with a constant training_mode", "write training_mode as an initializer"),
        Form("onnx-form Dropout.training", lambda use: begins(use, 12) and is_true(use, 2),
             "the release does not read it with training_mode", "export the model for inference"),
    ),
    "STFT": (
        Form("onnx-form STFT.open-frame-step", lambda use: not is_constant(use, 1),
             "the release reads it only with a constant frame_step", "write frame_step as an initializer"),
    ),
    "SkipLayerNormalization": (
        Form("onnx-form SkipLayerNormalization.outputs", lambda use: len(use.outputs) > 1,
             "the release reads it with one output", "write it with other operators"),
    ),
    "EmbedLayerNormalization": (
        Form("onnx-form EmbedLayerNormalization.outputs", lambda use: len(use.outputs) > 2,
             "the release reads it with two outputs", "leave the third output out"),
    ),
    "BatchNormalization": (
        Form("onnx-form BatchNormalization.training", lambda use: bool(attribute(use, "training_mode", 0)),
             "the release does not read it with training_mode", "export the model for inference"),
        Form("onnx-form BatchNormalization.outputs", lambda use: has_output(use, 1),
             "the release reads it with one output", "export the model for inference"),
    ),
    "QuantizeLinear": (
        Form("onnx-form QuantizeLinear.16", lambda use: any(each in ("int16", "uint16") for each in use.outputs),
             "the release reads it with 8 bits only", "quantize to 8 bits"),
        Form("onnx-form QuantizeLinear.f8", lambda use: any(str(each).startswith("float8") for each in use.inputs[2:3]),
             "the release does not read it with a zero point of float8", "quantize to integers of 8 bits"),
    ),
    "DequantizeLinear": (
        Form("onnx-form DequantizeLinear.f16", lambda use: use.inputs[1:2] == ("float16",),
             "the release reads it with a scale of float32 only", "write the scale as float32, and cast"),
        Form("onnx-form DequantizeLinear.f64",
             lambda use: use.inputs[1:2] == ("float64",) and rank(use, 1) == 0,
             "the release does not read it with a scale of float64", "write the scale as float32, and cast"),
        Form("onnx-form DequantizeLinear.int",
             lambda use: is_integer(use, 1) and not is_constant(use, 1) and rank(use, 1) == 0,
             "the release does not read it with a scale of integers", "write the scale as float32, and cast"),
    ),
    "Resize": (
        Form("onnx-form Resize.f64", lambda use: use.inputs[:1] == ("float64",),
             "the release does not read it with float64", "cast to float32"),
        Form("onnx-form Resize.scales-f64",
             lambda use: use.inputs[2:3] == ("float64",) and not is_constant(use, 2),
             "the release does not read it with scales of float64", "write scales of float32"),
        Form("onnx-form Resize.scales-int", lambda use: is_integer(use, 2) and not is_constant(use, 2),
             "the release does not read it with scales of integers", "write scales of float32"),
        Form("onnx-form Resize.tf_crop_and_resize",
             lambda use: attribute(use, "coordinate_transformation_mode") == "tf_crop_and_resize",
             "the release does not read the mode tf_crop_and_resize", "use another coordinate_transformation_mode"),
    ),
    "Mod": (
        Form("onnx-form Mod.float", lambda use: not attribute(use, "fmod", 0) and "float" in (use.inputs[0] or ""),
             "the release reads floats only with fmod=1", "write fmod=1"),
    ),
    "ScatterND": (
        Form("onnx-form ScatterND.reduction", lambda use: attribute(use, "reduction", "none") != "none",
             "the release reads reduction=none only", "use a later release"),
    ),
}  # fmt: skip


def objections(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """What releases have against the form of a node."""
    if use.node.domain not in ("", MICROSOFT):
        return
    for form in FORMS.get(use.node.op, ()):
        refusing = releases & ~tables.holds(NAME, form.fact)
        if refusing and form.has(use):
            yield refusing, Objection(RESTRICTED_IN_RELEASE, form.text, form.help)
