"""The forms of ONNX operators that releases of OpenVINO refuse though they have a converter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.model import Graph
from irlint.records import record
from irlint.schemas import MICROSOFT
from irlint.targets import tables
from irlint.targets.facts import attribute, has_output, is_computed, is_constant, is_true, length, rank, tensor
from irlint.targets.objections import RESTRICTED_IN_RELEASE, Objection
from irlint.targets.openvino_readings import REDUCING
from irlint.targets.uses import LEFT_OUT, Use

NAME = "openvino"


#: Operators that draw numbers in the shape of an input, and the element types of these that were tried.
DRAWING = ("RandomNormalLike", "RandomUniformLike")
DRAWN = ("float16", "float64", "bfloat16", "int32", "int64", "int8", "uint8")


@record
class Form:
    """A form of an operator: the fact of the releases that read it, what has it, what it is, and the help."""

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


def returns_an_input(body: Graph) -> bool:
    """Whether an output of a body is one of its inputs."""
    return not set(body.outputs).isdisjoint(body.inputs)


def has_fixed_sizes(use: Use, index: int) -> bool:
    """Whether the shape of an input is known, and all of its sizes are numbers."""
    known = tensor(use, index)
    return known is not None and known.shape is not None and all(isinstance(dim, int) for dim in known.shape)


def parts(use: Use) -> tuple[int, int] | None:
    """The size that a Split divides, and the number of parts where that is an attribute; None where they are not
    known."""
    known, axis, parts = tensor(use, 0), attribute(use, "axis", 0), attribute(use, "num_outputs")
    if known is None or known.shape is None or not parts or use.inputs[1:2] not in ((), (LEFT_OUT,)):
        return None
    size = known.shape[axis] if -len(known.shape) <= axis < len(known.shape) else None
    return (size, parts) if isinstance(size, int) else None


def is_uneven(use: Use) -> bool:
    """Whether a Split has a number of outputs that does not divide the size, and is no more."""
    found = parts(use)
    return found is not None and found[1] <= found[0] and bool(found[0] % found[1])


def has_more_parts(use: Use) -> bool:
    """Whether a Split has more outputs than the size has elements."""
    found = parts(use)
    return found is not None and found[1] > found[0]


def has_other_groups(use: Use) -> bool:
    """Whether the scale of a GroupNormalization has another size than there are groups."""
    size, groups = length(use, 1), attribute(use, "num_groups")
    return None not in (size, groups) and size != groups


def is_computed_with_axes(use: Use) -> bool:
    """Whether a Pad has axes that are not all there are, and pads that nodes compute."""
    axes, size = rank(use, 0), length(use, 1)
    given = use.inputs[3:4] not in ((), (LEFT_OUT,)) and None not in (axes, size)
    return given and is_computed(use, 1) and size != 2 * (axes or 0)


def is_beyond(use: Use, name: str, default: int) -> bool:
    """Whether an attribute of ReverseSequence names neither of the first two axes."""
    axis, axes = attribute(use, name, default), rank(use, 0)
    if axis < 0 and axes is None:
        return False
    return axis + (axes or 0 if axis < 0 else 0) not in (0, 1)


def drawn(op: str, name: str) -> Form:
    """The form of an operator that draws numbers of an element type."""
    return Form(f"onnx-form {op}.{name}", lambda use: use.outputs[:1] == (name,),
                f"the release does not read it with results of {name}", "draw float32, and cast")  # fmt: skip


def axes_of_empty_name(op: str, version: int) -> Form:
    """The form of a reduction whose axes are an input that is left out by its name."""
    return Form(f"onnx-form {op}.empty-axes",
                lambda use: begins(use, version) and use.inputs[1:2] == (LEFT_OUT,),
                "the release does not read it with axes of the empty name", "take the second input away")  # fmt: skip


FORMS: dict[str, tuple[Form, ...]] = {
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
    "Loop": (
        Form("onnx-form Loop.input-returned", lambda use: any(map(returns_an_input, dict(use.node.bodies).values())),
             "the release does not read a body that returns one of its inputs", "return it through an Identity"),
    ),
    "STFT": (
        Form("onnx-form STFT.dynamic-signal", lambda use: not has_fixed_sizes(use, 0),
             "the release reads it only with a signal of a static shape", "declare the sizes of the signal"),
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
        Form("onnx-form QuantizeLinear.blocked", lambda use: (rank(use, 1) or 0) > 1,
             "the release does not read it with blocks", "quantize along an axis"),
        Form("onnx-form QuantizeLinear.f8", lambda use: any(str(each).startswith("float8") for each in use.inputs[2:3]),
             "the release does not read it with a zero point of float8", "quantize to integers of 8 bits"),
    ),
    "DequantizeLinear": (
        Form("onnx-form DequantizeLinear.f16", lambda use: use.inputs[1:2] == ("float16",),
             "the release reads it with a scale of float32 only", "write the scale as float32, and cast"),
        Form("onnx-form DequantizeLinear.blocked", lambda use: (rank(use, 1) or 0) > 1,
             "the release does not read it with blocks", "quantize along an axis"),
        Form("onnx-form DequantizeLinear.int",
             lambda use: is_integer(use, 1) and not is_constant(use, 1) and rank(use, 1) == 0,
             "the release does not read it with a scale of integers", "write the scale as float32, and cast"),
    ),
    "Resize": (
        Form("onnx-form Resize.f64", lambda use: use.inputs[:1] == ("float64",),
             "the release does not read it with float64", "cast to float32"),
        Form("onnx-form "
            "Resize.one-input", lambda use: begins(use, 11) and all(each == LEFT_OUT for each in use.inputs[2:]),
             "the release reads it with scales or sizes only", "give scales"),
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
    "Split": (
        Form("onnx-form Split.uneven", is_uneven,
             "the release reads it with parts of one size only", "give the sizes of the parts in split"),
        Form("onnx-form Split.more", has_more_parts,
             "the release does not read it with more parts than elements", "give the sizes of the parts in split"),
    ),
    "Reshape": (
        Form("onnx-form Reshape.empty-shape",
             lambda use: length(use, 1) == 0 and is_constant(use, 1) and not is_computed(use, 1) and rank(use, 0) != 0,
             "the release does not read it with a shape without elements", "use Squeeze"),
    ),
    "Pad": (
        Form("onnx-form Pad.computed-axes", is_computed_with_axes,
             "the release reads axes only where pads is an initializer", "give pads for every axis"),
    ),
    "GroupNormalization": (
        Form("onnx-form GroupNormalization.channels", lambda use: begins(use, 21) and has_other_groups(use),
             "the release reads it with a scale for each group, not for each channel", "write it with other operators"),
        Form("onnx-form GroupNormalization.channels-early",
             lambda use: not begins(use, 21) and has_other_groups(use),
             "the release reads it with a scale for each group, not for each channel", "use opset 21"),
    ),
    "ReverseSequence": (
        Form("onnx-form ReverseSequence.batch-axis", lambda use: is_beyond(use, "batch_axis", 1),
             "the release reads it with batch_axis 0 and 1 only", "transpose the input"),
        Form("onnx-form ReverseSequence.time-axis", lambda use: is_beyond(use, "time_axis", 0),
             "the release reads it with time_axis 0 and 1 only", "transpose the input"),
        Form("onnx-form ReverseSequence.one-axis",
             lambda use: attribute(use, "batch_axis", 1) == attribute(use, "time_axis", 0),
             "the release does not read it with one axis for both", "use two axes"),
    ),
    "Einsum": (
        Form("onnx-form Einsum.scalar", lambda use: any(rank(use, at) == 0 for at in range(len(use.inputs))),
             "the release does not read it with a scalar", "multiply the scalar with Mul"),
    ),
    "Scan": (
        Form("onnx-form Scan.sequence-lengths", lambda use: not begins(use, 9) and use.inputs[0] != LEFT_OUT,
             "the release reads it without sequence_lens only", "leave sequence_lens out"),
        Form("onnx-form Scan.outer", lambda use: any(takes_from_outside(body, use) for _, body in use.node.bodies),
             "the release does not read it with a body that takes values from outside",
             "give the body these values as inputs"),
    ),
    "Col2Im": (
        Form("onnx-form Col2Im.volume", lambda use: length(use, 1) not in (None, 2),
             "the release reads it with images of two axes only", "write it with other operators"),
    ),
    **{op: tuple(drawn(op, name) for name in DRAWN) for op in DRAWING},
    **{op: (axes_of_empty_name(op, 18 if op in REDUCING else 13),) for op in (*sorted(REDUCING), "ReduceSum")},
}  # fmt: skip


def objections(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """What releases have against the form of a node."""
    if use.node.domain not in ("", MICROSOFT):
        return
    for form in FORMS.get(use.node.op, ()):
        refusing = releases & ~tables.holds(NAME, form.fact)
        if refusing and form.has(use):
            yield refusing, Objection(RESTRICTED_IN_RELEASE, form.text, form.help)
