"""Operators that return random numbers."""

from __future__ import annotations

from irlint.dims import Shape
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Scalar, Tensor
from irlint.ops import LATER, OPENVINO, Context, onnx, openvino, without_rule
from irlint.ops.shared import contents as fold
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER, INDEX_TYPES, REAL, common_type, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import number, openvino_shape, stated_size

DType = str
Alignment = Literal["tensorflow", "pytorch"]


_DRAW = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="low" type="Parameter" version="opset1"><data shape="SIZE" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>SIZE</dim></port></output></layer>
<layer id="1" name="high" type="Parameter" version="opset1"><data shape="5" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>5</dim></port></output></layer>
<layer id="2" name="min" type="ShapeOf" version="opset3"><data output_type="i64"/><input><port id="0"/></input>\
<output><port id="1" precision="I64"><dim>1</dim></port></output></layer>
<layer id="3" name="max" type="ShapeOf" version="opset3"><data output_type="i64"/><input><port id="0"/></input>\
<output><port id="1" precision="I64"><dim>1</dim></port></output></layer>
<layer id="4" name="draw" type="RandomUniform" version="opset8"><data output_type="i64" global_seed="0" op_seed="0"/>\
<input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="3" precision="I64"><dim>5</dim></port>\
</output></layer>
<layer id="5" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="3" to-port="0"/>\
<edge from-layer="3" from-port="1" to-layer="4" to-port="0"/>\
<edge from-layer="2" from-port="1" to-layer="4" to-port="1"/>\
<edge from-layer="3" from-port="1" to-layer="4" to-port="2"/>\
<edge from-layer="4" from-port="3" to-layer="5" to-port="0"/>
</edges></net>"""

RANDOM_RANGE_EMPTY = Rule(
    "IRL363",
    "random-range-empty",
    Severity.ERROR,
    "The range of random numbers is empty.",
    why=(
        "OpenVINO refuses a RandomUniform whose minval is not below its maxval. If `high` is below `low` in ONNX, "
        "ONNX Runtime loads the model, but ends the process when the node runs; it accepts equal bounds."
    ),
    fix="In an IR, make maxval greater than minval. In ONNX, make `high` greater than `low`.",
    bad=_DRAW.replace("SIZE", "7"),
    good=_DRAW.replace("SIZE", "2"),
)


@onnx("RandomNormal")
def random_normal(
    *,
    shape: Ints,
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    context: Context,
) -> Tensor:
    """ONNX RandomNormal."""
    _warn_of_scale(scale)
    return Tensor(numbered_type(dtype, context), _stated(shape))


@onnx("RandomUniform")
def random_uniform(
    *,
    shape: Ints,
    dtype: int = 1,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
    context: Context,
) -> Tensor:
    """ONNX RandomUniform."""
    _check_bounds(low, high)
    return Tensor(numbered_type(dtype, context), _stated(shape))


def _stated(shape: Ints) -> Shape:
    return tuple(stated_size(entry, None, f"entry {axis} of `shape`") for axis, entry in enumerate(shape))


@onnx("RandomNormalLike")
def random_normal_like(
    input: Tensor,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    context: Context,
) -> Tensor:
    """ONNX RandomNormalLike."""
    _warn_of_scale(scale)
    return _random_like(input, dtype, context)


@onnx("RandomUniformLike")
def random_uniform_like(
    input: Tensor,
    *,
    dtype: int | None = None,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
    context: Context,
) -> Tensor:
    """ONNX RandomUniformLike."""
    _check_bounds(low, high)
    return _random_like(input, dtype, context)


def _check_bounds(low: float, high: float) -> None:
    if not low <= high:
        raise RANDOM_RANGE_EMPTY.fault(
            f"`low` is {low} and `high` is {high}: the range is empty",
            help="make `high` greater than `low`; their defaults are 1 and 0",
            attribute="low",
        )


def _warn_of_scale(scale: float) -> None:
    if not scale > 0:
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `scale` is {scale}, but the standard deviation must be above 0: ONNX Runtime ends the "
                "process",
                help="write a number above 0",
                attribute="scale",
                severity=Severity.WARNING,
            )
        )


def _random_like(input: Tensor, dtype: int | None, context: Context) -> Tensor:
    if dtype is not None:
        return Tensor(numbered_type(dtype, context), input.shape)
    expect_type(input, 0, REAL)
    return Tensor(input.dtype, input.shape)


@onnx("Bernoulli", since=15)
def bernoulli(input: Tensor, *, dtype: int | None = None, seed: float | None = None, context: Context) -> Tensor:
    """ONNX Bernoulli."""
    return Tensor(input.dtype if dtype is None else numbered_type(dtype, context), input.shape)


@onnx("Multinomial", since=7)
def multinomial(
    input: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None, context: Context
) -> Tensor:
    """ONNX Multinomial: ``sample_size`` samples for each row of [batch, classes]."""
    expect_rank(input, 0, 2)
    batch = input.shape[0] if input.shape is not None else None
    if sample_size == 0:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            "attribute `sample_size` is 0; ONNX Runtime requires at least 1, and fails at run time",
            help="write a number that is at least 1",
            attribute="sample_size",
            severity=Severity.WARNING,
        )
        warn(fault)
    return Tensor(numbered_type(dtype, context), (batch, stated_size(sample_size, None, "`sample_size`")))


def _compiled_uniform(layer: Layer) -> Fault | None:
    """The fault of a constant shape with a dynamic size."""
    shape = layer.inputs[0]
    listed = shape.ints if isinstance(shape, Tensor) and 0 in layer.fixed else None
    dynamic = [entry for entry in listed or () if entry == -1 or (isinstance(entry, int) and entry >= 2**63 - 1)]
    if not dynamic:
        return None
    return not_compiled(
        f"input 0 (shape) is the constant {list(listed or ())}, and {dynamic[0]} is not a size of a tensor",
        help="write the size",
        input=0,
        forbidden=True,
    )


@openvino(
    "RandomUniform", since=8, absent={"output_type": None, "global_seed": 0, "op_seed": 0}, compiles=_compiled_uniform
)
def ov_random_uniform(
    shape: Tensor,
    minval: Tensor,
    maxval: Tensor,
    *,
    output_type: DType | None,
    global_seed: int,
    op_seed: int,
    alignment: Alignment = "tensorflow",
) -> Tensor:
    """OpenVINO RandomUniform-8: numbers from ``minval`` to ``maxval`` (exclusive)."""
    expect_type(shape, 0, INDEX_TYPES)
    expect_rank(shape, 0, 1, what="shape")
    expect_one(minval, 1, "minval")
    expect_one(maxval, 2, "maxval")
    dtype = common_type((minval, maxval), first=1)
    if dtype is not None and dtype != output_type:
        raise ELEMENT_TYPES_DIFFER.fault(
            f"inputs 1 and 2 are {dtype} and `output_type` is {output_type or 'dynamic'}: the types must be equal",
            help=f"write the element type {dtype} as output_type",
            attribute="output_type",
        )
    if _not_below(minval.scalar, maxval.scalar):
        raise RANDOM_RANGE_EMPTY.fault(
            f"minval (input 1) is {minval.scalar} and maxval (input 2) is {maxval.scalar}: the range is empty",
            help="make maxval greater than minval",
            input=2,
        )
    return Tensor(output_type, openvino_shape(shape, 0))


def _not_below(low: Scalar, high: Scalar) -> bool:
    if low is None or high is None:
        return False
    return fold.not_less(low, high) is True


@openvino("Multinomial", since=13, absent={"convert_type": None, "with_replacement": False, "log_probs": False})
def ov_multinomial(
    probs: Tensor,
    num_samples: Tensor,
    *,
    convert_type: DType | None,
    with_replacement: bool,
    log_probs: bool,
    global_seed: int = 0,
    op_seed: int = 0,
) -> Tensor:
    """OpenVINO Multinomial-13: ``num_samples`` samples for each row of [batch, classes]."""
    expect_type(probs, 0, REAL)
    expect_rank(probs, 0, 2, what="probs")
    expect_type(num_samples, 1, INTEGERS)
    expect_one(num_samples, 1, "num_samples")
    if probs.shape is None:
        return Tensor(convert_type)
    count = number(num_samples)
    return Tensor(convert_type, (probs.shape[0], max(count, 0) if isinstance(count, int) else count))


without_rule("RandomPoisson", domain=OPENVINO, help=LATER)
