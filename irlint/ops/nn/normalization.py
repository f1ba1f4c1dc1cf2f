"""Instance, group, layer and RMS normalization."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, product, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, divides, warn
from irlint.findings.wording import multiple_help, that_divides
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.broadcast import merged, stretched
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, without_strings
from irlint.ops.shared.element_types import common_type, expect_type
from irlint.ops.shared.expectations import expect_rank, warn_of_rank
from irlint.ops.shared.sizes import narrower

CHANNEL_PARAMETERS = Rule(
    "IRL324",
    "channel-parameters-mismatch",
    Severity.ERROR,
    "A scale, bias, mean or variance does not have one element for each channel.",
    why="Each channel of the input needs its own parameter. Runtimes refuse a list of any other length.",
    fix="Give the parameter one element for each channel of the input (axis 1). Often a wrong weight is connected.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,8,8] x, float[32] s, float[32] b) => (float[1,64,8,8] y) { y = InstanceNormalization (x, s, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,64,8,8] x, float[64] s, float[64] b) => (float[1,64,8,8] y) { y = InstanceNormalization (x, s, b) }""",
)

GROUPS_MISMATCH = Rule(
    "IRL325",
    "normalization-groups-mismatch",
    Severity.ERROR,
    "The channels cannot be divided into the requested number of groups.",
    why=(
        "All groups have the same number of channels, so the number of channels must be a multiple of the number of "
        "groups."
    ),
    fix="Use a number of groups that divides the number of channels, or pass a multiple of it as channels.",
    bad="""<ir_version: 10, opset_import: ["" : 21]>
g (float[1,64,8] x, float[64] s, float[64] b) => (float[1,64,8] y) { y = GroupNormalization <num_groups = 12> (x, s, \
b) }""",
    good="""<ir_version: 10, opset_import: ["" : 21]>
g (float[1,64,8] x, float[64] s, float[64] b) => (float[1,64,8] y) { y = GroupNormalization <num_groups = 16> (x, s, \
b) }""",
)


def checked_channels(
    shape: Shape | None, parameters: Sequence[tuple[int, str, Shape | None]], channels: MaybeDim, *, index: int = 0
) -> MaybeDim:
    """The number of channels. Checks that each parameter is a list with one element for each channel.

    Each of ``parameters`` is (input index, name, shape). ``shape`` is the shape of input ``index``. Raises a
    ``CHANNEL_PARAMETERS`` or ``INPUT_RANK_REFUSED`` fault.
    """
    source = f"input {index}, {shape_text(shape)}, has"
    for position, name, listed in parameters:
        if listed is None:
            continue
        expect_rank(Tensor(None, listed), position, 1, what=name)
        if not agree(listed[0], channels, f"input {position} ({name}) has one element for each channel"):
            raise CHANNEL_PARAMETERS.fault(
                f"input {position} ({name}) is {shape_text(listed)}; {source} {channels} channels",
                help=f"give input {position} the shape {shape_text((channels,))}, or give input {index} {listed[0]} "
                "channels",
                input=position,
                marks=((index, 1), (position, 0)) if shape is not None and len(shape) > 1 else ((position, 0),),
                aligned="left",
                remark="are not the same number of channels",
            )
        if narrower(channels, listed[0]) != channels:
            channels, source = listed[0], f"input {position} ({name}) is for"
    return channels


def with_channels(shape: Shape | None, channels: MaybeDim, axis: int = 1) -> Shape | None:
    """``shape`` with the size ``channels`` on ``axis``. Returns ``shape`` unchanged if it has no such axis."""
    if shape is None or len(shape) <= axis:
        return shape
    return (*shape[:axis], channels, *shape[axis + 1 :])


def channels_of(shape: Shape | None) -> MaybeDim:
    """The size of axis 1, or 1 if ``shape`` has one axis; None if the size is unknown, or for a scalar."""
    if not shape:
        return None
    return shape[1] if len(shape) > 1 else 1


def expect_groups(groups: int, channels: MaybeDim, attribute: str, *, axis: int = 1) -> None:
    """Checks that ``groups`` is at least 1 and divides the ``channels`` on ``axis`` of input 0.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` or ``GROUPS_MISMATCH`` fault.
    """
    if groups < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {groups}; it has to be at least 1",
            help="use a number that divides the channels",
            attribute=attribute,
        )
    if not divides(groups, channels, f"axis {axis} is divided into {groups} groups of channels"):
        raise GROUPS_MISMATCH.fault(
            f"axis {axis} of input 0 has {channels} channels, which {groups} groups do not divide",
            help=f"use a number of groups {that_divides(channels, groups)}, or {multiple_help(axis, groups)}",
            input=0,
            marks=((0, axis),),
            attribute=attribute,
        )


def expect_epsilon(epsilon: float) -> None:
    """Checks that ``epsilon`` is a number of at least 0. Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault."""
    if not epsilon >= 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `epsilon` is {epsilon:g}; it has to be at least 0",
            help="use a small positive number, such as 1e-05",
            attribute="epsilon",
        )


# --- InstanceNormalization, GroupNormalization ------------------------------------------------------------------------


@onnx("InstanceNormalization", since=6)
def instance_normalization(x: Tensor, scale: Tensor, b: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    """ONNX InstanceNormalization-6."""
    expect_rank(x, 0, least=2, what="input")
    if x.rank == 2:
        warn_of_rank(x, 0, least=3, what="input")
    channels = checked_channels(x.shape, ((1, "scale", scale.shape), (2, "B", b.shape)), channels_of(x.shape))
    return Tensor(x.dtype, with_channels(x.shape, channels))


@onnx("InstanceNormalization", since=1)
def instance_normalization_1(
    x: Tensor, scale: Tensor, b: Tensor, *, consumed_inputs: Ints | None = None, epsilon: float = 1e-5
) -> Tensor:
    """ONNX InstanceNormalization-1."""
    return instance_normalization(x, scale, b)


#: The numbers of float, float16, double and bfloat16 in TensorProto.DataType.
STASH_TYPES = frozenset({1, 10, 11, 16})


@onnx("GroupNormalization", since=21)
def group_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, num_groups: int, stash_type: int = 1
) -> Tensor:
    """ONNX GroupNormalization-21: a scale and a bias for each channel."""
    if stash_type not in STASH_TYPES:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `stash_type` is {stash_type}; the mean is computed in a floating-point type: 1 (float), 10 "
            "(float16), 11 (double) or 16 (bfloat16)",
            help="remove `stash_type`; it defaults to float",
            attribute="stash_type",
        )
    expect_rank(x, 0, least=2, what="X")
    channels = channels_of(x.shape)
    parameters = [
        (index, name, _list_shape(parameter, index, name))
        for index, name, parameter in ((1, "scale", scale), (2, "bias", bias))
        if not _is_shared_by_channels(parameter, channels, index=index, name=name)
    ]
    channels = checked_channels(x.shape, parameters, channels)
    expect_groups(num_groups, channels, "num_groups")
    return Tensor(x.dtype, with_channels(x.shape, channels))


def _is_shared_by_channels(parameter: Tensor, channels: MaybeDim, *, index: int, name: str) -> bool:
    """Whether ONNX Runtime uses the only element of ``parameter`` for all channels. Warns if it does."""
    shape = parameter.shape
    if shape is None or len(shape) > 1 or (shape and (same(shape[0], 1) is not True or same(channels, 1) is not False)):
        return False
    warn(
        CHANNEL_PARAMETERS.fault(
            f"input {index} ({name}) is {shape_text(shape)}: the specification requires an element for each channel, "
            "but ONNX Runtime uses the single element for all channels",
            help=f"give input {index} the shape {shape_text((channels,))}",
            input=index,
            severity=Severity.WARNING,
        )
    )
    return True


def _list_shape(parameter: Tensor, index: int, name: str) -> Shape | None:
    """The shape of a parameter after flattening. Warns of several axes, which ONNX Runtime accepts."""
    shape = parameter.shape
    if shape is None or len(shape) <= 1:
        return shape
    try:
        expect_rank(parameter, index, 1, what=name)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))
    return (product(shape),)


@onnx("GroupNormalization", since=18)
def group_normalization_18(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, num_groups: int) -> Tensor:
    """ONNX GroupNormalization-18: a scale and a bias for each group."""
    expect_rank(x, 0, least=2, what="X")
    channels = channels_of(x.shape)
    expect_groups(num_groups, channels, "num_groups")
    for index, name, parameter in ((1, "scale", scale), (2, "bias", bias)):
        shape = _list_shape(parameter, index, name)
        if shape:
            _expect_element_per_group(index, name, shape, groups=num_groups, channels=channels)
    return Tensor(x.dtype, x.shape)


def _expect_element_per_group(index: int, name: str, shape: Shape, *, groups: int, channels: MaybeDim) -> None:
    if agree(shape[0], groups, f"input {index} ({name}) has one element for each group"):
        return
    fault = CHANNEL_PARAMETERS.fault(
        f"input {index} ({name}) is {shape_text(shape)}; before opset 21, it must have one element for each of "
        f"{groups} groups",
        help=f"give input {index} the shape [{groups}], or import opset 21",
        input=index,
        marks=((index, 0),),
    )
    # In earlier opsets, some runtimes accept what opset 21 requires: one element for each channel.
    if not same(shape[0], channels):
        raise fault
    warn(fault.lowered(Severity.WARNING))


def _compiled_types(layer: Layer) -> Fault | None:
    types = [layer.dtype(index) for index in range(3)]
    if None in types or len(set(types)) == 1:
        return None
    return not_compiled(
        f"the data is {types[0]}, the scale {types[1]} and the bias {types[2]}; their element types must be equal",
        help=f"convert scale and bias to {types[0]}",
        input=1 if types[1] != types[0] else 2,
        forbidden=True,
    )


def _compiled_matrix(layer: Layer) -> Fault | None:
    """Returns a fault if the data is [N, C], and an input has a dynamic size."""
    data = layer.inputs[0]
    if not isinstance(data, Tensor) or data.rank != 2:
        return None
    index = next((index for index in range(3) if layer.sizes(index) is None), None)
    if index is None:
        return None
    return not_compiled(
        f"input 0 is {shape_text(data.shape)}, but the CPU plugin supports two axes only if all sizes are known, and "
        f"a size of input {index} is dynamic",
        help="write the sizes, or give the data an axis of size 1 after the channels",
        input=index,
    )


_COMPILED_GROUPS = first_of(without_strings, _compiled_types, _compiled_matrix)


@openvino("GroupNormalization", since=12, absent={"num_groups": 0, "epsilon": 0.0}, compiles=_COMPILED_GROUPS)
def ov_group_normalization(data: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float) -> Tensor:
    """OpenVINO GroupNormalization-12."""
    expect_rank(data, 0, least=2, what="data")
    channels = channels_of(data.shape)
    checked_channels(data.shape, ((1, "scale", scale.shape), (2, "bias", bias.shape)), channels)
    merged((None, scale.shape, bias.shape), why="scale and bias must have the same shape")
    expect_groups(num_groups, channels, "num_groups")
    return Tensor(data.dtype, data.shape)


# --- LayerNormalization -----------------------------------------------------------------------------------------------


def statistics_shape(shape: Shape | None, axis: int) -> Shape | None:
    """The shape of the statistics, such as the mean: ``shape`` with size 1 on all axes from ``axis`` on."""
    if shape is None:
        return None
    first = axis_of(axis, len(shape), "attribute `axis`")
    return (*shape[:first], *(1 for _ in shape[first:]))


def _statistics_type(stash_type: int, context: Context) -> str | None:
    return numbered_type(stash_type, context, "stash_type", output=1) if context.outputs > 1 else None


#: The element types that LayerNormalization accepts before opset 17.
_TYPES_BEFORE_17 = ("float16", "bfloat16", "float32", "float64")


@onnx("LayerNormalization", early=True, unchecked=True)
def layer_normalization(
    x: Tensor,
    scale: Tensor,
    b: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX LayerNormalization-17. ONNX Runtime also accepts the operator in earlier opsets."""
    statistics = statistics_shape(x.shape, axis)
    stretched(x.shape, scale.shape, 1, what="input 1 (Scale)")
    if b is not None:
        stretched(x.shape, b.shape, 2, what="input 2 (B)")
    common_type((scale, b), 1)
    statistics_type = _statistics_type(stash_type, context)
    early = isinstance(context.imported, int) and context.imported < 17
    if early:
        for index, tensor in enumerate((x, scale, b)):
            expect_type(tensor, index, _TYPES_BEFORE_17)
    return (
        Tensor(scale.dtype if early else x.dtype, x.shape),
        Tensor(statistics_type, statistics),
        Tensor(statistics_type, statistics),
    )


@onnx("RMSNormalization", since=23)
def rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    """ONNX RMSNormalization-23: the result has the type of the scale."""
    statistics_shape(x.shape, axis)
    return Tensor(scale.dtype, stretched(x.shape, scale.shape, 1, what="input 1 (scale)"))


@onnx("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> tuple[Tensor, Tensor]:
    """SimplifiedLayerNormalization, an operator of ONNX Runtime in the default domain."""
    shape = stretched(x.shape, scale.shape, 1, what="input 1 (scale)")
    dtype = "float64" if x.dtype == "float64" else "float32"
    return Tensor(scale.dtype, shape), Tensor(dtype, statistics_shape(x.shape, axis))
