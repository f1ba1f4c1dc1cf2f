"""The conditions that the vendor's pages state for operators on TensorRT, sentence by sentence as the pages have them.

Source: ``docs/operators.md`` of github.com/onnx/onnx-tensorrt, releases 7.2 to 10.15. Each sentence has a function that
says whether a node breaks it, None where that is not known. A sentence that is only a remark has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from irlint.model import Node
from irlint.model.tensor import Tensor
from irlint.schemas import official
from irlint.targets import tables
from irlint.targets.facts import attribute, has_output, is_constant, rank, tensor
from irlint.targets.uses import LEFT_OUT, Use

Breaks = Callable[[Use], "bool | None"]


def _not_of_rank(*allowed: int, inputs: tuple[int, ...] = (0,)) -> Breaks:
    def breaks(use: Use) -> bool | None:
        ranks = [rank(use, index) for index in inputs if index < len(use.inputs) and use.inputs[index] != LEFT_OUT]
        if any(each is not None and each not in allowed for each in ranks):
            return True
        return None if None in ranks else False

    return breaks


def _not_constant(*names: str) -> Breaks:
    """Whether an input of one of these names is not constant; one that is left out, or an attribute, is."""

    def breaks(use: Use) -> bool:
        version = use.version if isinstance(use.version, int) else 1
        schema = official(use.node.op, version, "")
        formals = [formal.name.lower() for formal in schema.inputs] if schema is not None else []
        wanted = [formals.index(name) for name in names if name in formals]
        return any(not is_constant(use, index) for index in wanted)

    return breaks


def _not_zero(index: int) -> Breaks:
    def breaks(use: Use) -> bool | None:
        known = tensor(use, index)
        if known is None:
            return False
        if known.value is None:
            return None
        return any(each != 0 for each in known.value)

    return breaks


def _attribute_not_in(name: str, default: object, *allowed: object) -> Breaks:
    return lambda use: attribute(use, name, default) not in allowed


def _dilated(use: Use) -> bool:
    return any(each != 1 for each in attribute(use, "dilations", ()))


def _uneven_pads(use: Use) -> bool:
    pads = list(attribute(use, "pads", ()))
    half = len(pads) // 2
    return pads[:half] != pads[half:]


def _open_sizes(use: Use) -> bool | None:
    known = tensor(use, 0)
    if known is None or known.shape is None:
        return None
    return not all(isinstance(size, int) for size in known.shape)


def _open_axis(use: Use) -> bool | None:
    known = tensor(use, 0)
    if known is None or not known.shape:
        return None
    axis = attribute(use, "axis", -1)
    return -len(known.shape) <= axis < len(known.shape) and not isinstance(known.shape[axis], int)


def _two_activations(use: Use) -> bool:
    """Whether both directions of a recurrent operator do not have the same activations."""
    given = [str(each) for each in attribute(use, "activations", ())]
    if attribute(use, "direction", "forward") != "bidirectional" or not given:
        return False
    half = len(given) // 2
    return given[:half] != given[half:]


def _trains(use: Use) -> bool | None:
    known = tensor(use, 2)
    if known is None:
        return False
    return True if known.value is None else bool(known.value and known.value[0])


def _is_complex(use: Use) -> bool | None:
    known = tensor(use, 0)
    if known is None or known.shape is None:
        return None
    return len(known.shape) == 3 and known.shape[-1] == 2


def _branches_differ(use: Use) -> bool | None:
    """Whether the branches of an If give outputs of different rank, or of one name."""
    bodies = [graph for _, graph in use.node.bodies]
    if len(bodies) != 2:
        return False
    for one, other in zip(bodies[0].outputs, bodies[1].outputs):
        first, second = use.types.get(one), use.types.get(other)
        if one.name == other.name:
            return True
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            if first.shape is not None and second.shape is not None and len(first.shape) != len(second.shape):
                return True
    return False


def _any_input(*indices: int) -> Breaks:
    return lambda use: any(index < len(use.inputs) and use.inputs[index] != LEFT_OUT for index in indices)


def _any_output(*indices: int) -> Breaks:
    return lambda use: any(has_output(use, index) for index in indices)


def _any_attribute(*names: str) -> Breaks:
    return lambda use: any(name in use.node.attributes for name in names)


def _float_and_not_constant(use: Use) -> bool:
    return "float" in (use.inputs[0] or "") and any(not is_constant(use, index) for index in range(3))


def _least_is_below_zero(use: Use) -> bool | None:
    known = tensor(use, 1)
    if known is None or known.value is None:
        return None
    return any(isinstance(each, int) and each < 0 for each in known.value)


def _too_many(use: Use) -> bool | None:
    known = tensor(use, 1)
    if known is None:
        return bool(attribute(use, "k", 0) >= 3840)
    if known.value is None or not known.value or not isinstance(known.value[0], int):
        return None
    return known.value[0] >= 3840


def _not_every_axis(use: Use) -> bool:
    """Whether axes of a Resize with scales are not 0, 1, 2 … in order."""
    axes = list(attribute(use, "axes", ()))
    return bool(axes) and has_scales(use) and axes != list(range(len(axes)))


def has_scales(use: Use) -> bool:
    return len(use.inputs) > 2 and use.inputs[2] != LEFT_OUT


def _ellipsis_or_diagonal(use: Use) -> bool:
    equation = str(attribute(use, "equation", "")).replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    return "." in equation or any(len(set(term)) < len(term) for term in terms)


_MODES = ("half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric", "align_corners")

CONDITIONS: Mapping[str, Breaks] = {
    "2D or 3D Pooling only": _not_of_rank(4, 5),
    "2D or 3D pooling only": _not_of_rank(4, 5),
    "2D or 3D convolutions only": _not_of_rank(4, 5),
    "2D or 3D deconvolutions only": _not_of_rank(4, 5),
    "Antialiasing is not supported": _attribute_not_in("antialias", 0, 0),
    "Dynamic input shapes are unsupported": _open_sizes,
    "Ellipsis and diagonal operations are not supported": _ellipsis_or_diagonal,
    "Floating point inputs are only supported if `start`, `limit`, "
    "and `delta` inputs are initializers": _float_and_not_constant,
    "Float inputs are only supported if `start`, `limit`, and `delta` inputs are initializers": _float_and_not_constant,
    "For bidirectional GRUs, activation functions must be the same for "
    "both the forward and reverse pass": _two_activations,
    "For bidirectional LSTMs, activation functions must be the same "
    "for both the forward and reverse pass": _two_activations,
    "For bidirectional RNNs, activation functions must be the same for "
    "both the forward and reverse pass": _two_activations,
    "Input must be 4D input": _not_of_rank(4),
    "Input must be real-valued": _is_complex,
    "Input rank must be >=3 & <=5": _not_of_rank(3, 4, 5),
    "Inputs `max_output_boxes_per_class`, `iou_threshold`, and `score_threshold` must be initializers": _not_constant(
        "max_output_boxes_per_class", "iou_threshold", "score_threshold"
    ),
    "Only positive indices (>=0) are supported": _least_is_below_zero,
    "Only the first output `Y` is supported": _any_output(1, 2),
    "Output tensors of the two conditional branches must have broadcastable "
    "shapes, and must have different names": _branches_differ,
    "Output tensors of the two conditional branches must have the same "
    "rank and must have different names": _branches_differ,
    "Scales `scale` and biases `B` must be initializers": _not_constant("scale", "b"),
    "Scales `y_scale` and zero-point `y_zero_point` must be initializers": _not_constant("y_scale", "y_zero_point"),
    "`x_scale` and `x_zero_point` must be initializers": _not_constant("x_scale", "x_zero_point"),
    "Supported aspect ratio policy: `stretch`": _attribute_not_in("keep_aspect_ratio_policy", "stretch", "stretch"),
    "Supported nearest modes: `floor`, `ceil`, `round_prefer_floor`, `round_prefer_ceil`": _attribute_not_in(
        "nearest_mode", "floor", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"
    ),
    "Supported resize modes: `nearest`, `linear`": _attribute_not_in("mode", "nearest", "nearest", "linear"),
    "Supported resize transformation modes: `half_pixel`, `pytorch_half_pixel`, `tf_half_pixel_for_nn`, `asymmetric`, "
    "and "
    "`align_corners`": _attribute_not_in("coordinate_transformation_mode", "half_pixel", *_MODES),
    "Weights `W` must be an initailizer": _not_constant("w"),
    "Weights `W` must be an initializer": _not_constant("w"),
    "When `scales` is a tensor input, `axes` must be an iota vector of length rank(input)": _not_every_axis,
    "`Indices` output tensor unsupported": _any_output(1),
    "`K` input must be an initializer": _not_constant("k"),
    "`K` input must be less than 3840": _too_many,
    "`Q`, `K`, `V` and `attn_mask` must be 4D": _not_of_rank(4, inputs=(0, 1, 2, 3)),
    "`axes` must be a constant tensor": _not_constant("axes"),
    "`axes` must be an initializer": _not_constant("axes"),
    "`axes` must be resolvable to a constant": _not_constant("axes"),
    "`axis` dimension of input must be a build-time constant": _open_axis,
    "`axis` must be -2": _attribute_not_in("axis", -2, -2),
    "`axis` must be a build-time constant": _not_constant("axis"),
    "`axis` must be an initializer": _not_constant("axis"),
    "`depth` must be a build-time constant": _not_constant("depth"),
    "`dilations` must be empty or all ones": _dilated,
    "`frame_step` and `window` must be an initializer": _not_constant("frame_step", "window"),
    "`input_forget` attribute must be 0": _attribute_not_in("input_forget", 0, 0),
    "`input` must have 1D or 2D spatial dimensions": _not_of_rank(3, 4),
    "`input` must have static dimensions": _open_sizes,
    "`is_training` must be an initializer and evaluate to False": _trains,
    "`is_traning` must be an initializer and evaluate to False": _trains,
    "`layout` attribute must be 0": _attribute_not_in("layout", 0, 0),
    "`min` and `max` clip values must be initializers": _not_constant("min", "max"),
    "`pads` for the beginning and end along each spatial axis must be the same": _uneven_pads,
    "`past_cache` and `update` must be 4D": _not_of_rank(4, inputs=(0, 1)),
    "`past_key`, `past_value` and `nonpad_kv_seqlen` inputs are unsupported": _any_input(4, 5, 6),
    "`position_ids` must be INT64": lambda use: len(use.inputs) > 3 and use.inputs[3] not in (LEFT_OUT, "int64"),
    "`present_key`, `present_value` and `qk_matmul_output` outputs are unsupported": _any_output(1, 2, 3),
    "`qk_matmul_output_mode` and `softcap` attributes are unsupported": _any_attribute(
        "qk_matmul_output_mode", "softcap"
    ),
    "`reduction` is not supported": _attribute_not_in("reduction", "none", "none"),
    "`reduction` other than `none` is not supported": _attribute_not_in("reduction", "none", "none"),
    "`sorted` must be 1": _attribute_not_in("sorted", 1, 1),
    "`sparse_value`, `value_string`, and `value_strings` attributes are unsupported": _any_attribute(
        "sparse_value", "value_string", "value_strings"
    ),
    "`split` must be an initializer": _not_constant("split"),
    "`x_zero_point` must be zero": _not_zero(2),
    "`y_zero_point` must be 0": _not_zero(2),
}

#: What the pages remark, and no node can break.
REMARKS = frozenset(
    {
        "Broadcasting between inputs is not supported",
        "Compile with `-DSUPPORT_NEGATIVE_GATHER=1` to enable support for negative indices",
        "Only supported for TensorRT types",
        "Output has fixed shape and is padded to [`max_output_boxes_per_class`, 3]",
        "Scan output length cannot be dynamic",
        "The shape of Loop carried dependencies must be the same across all loop iterations",
        "`q_num_heads` and `kv_num_heads` attributes are supported via being specified as the second dimension of `Q` "
        "and `K`/`V`'s "
        "shapes respectively",
        "`seed` value is ignored by TensorRT",
        "Asymmetric coordinate transformation mode only",
        "Nearest or Linear resizing mode only",
        '"floor" mode only for resize_mode attribute',
        "Zero-constant padding on two dimensions only",
        "Zero-padding on last 2 dimensions only",
    }
)


def apart(node: Node) -> object:
    """What distinguishes nodes of one operator here: conditions are about attributes, ranks and contents of inputs."""
    return id(node) if node.domain == "" and node.op in restricted() else None


@cache
def restricted() -> frozenset[str]:
    """The operators that a page names a condition for."""
    return frozenset(fact.partition(" ")[0] for fact, _ in tables.facts("tensorrt", "restriction "))
