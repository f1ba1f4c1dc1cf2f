"""Checks of the scales and zero points of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, same
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.model.tensor import Extent, Tensor, shape_text
from irlint.ops import Context
from irlint.ops.shared.broadcast import stretches
from irlint.ops.shared.contents import extent
from irlint.ops.shared.operands import OPERAND_SHAPE
from irlint.ops.shared.sizes import dim_of

#: A scale or zero point: (index of the input, its name, tensor or None if it is omitted).
Parameter = tuple[int, str, Tensor | None]

SCALE_UNUSABLE = Rule(
    "IRL730",
    "quantization-scale-unusable",
    Severity.WARNING,
    "A quantization scale is 0, negative, infinite or NaN, or too small or large for float32.",
    why="Quantization divides values by the scale, and dequantization multiplies by it. A scale of 0 erases the values, "
    "a negative scale flips their signs, and infinity or NaN spreads to every result. Division by a scale below the "
    "normal numbers of float32 gives infinity, and so does multiplication by a scale above 2.67e36. Runtimes report no "
    "error.",
    fix="Export the model again with representative calibration data. A scale is above 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2,3] x) => (float[2,3] y) <float s = {0.0}> { y = DequantizeLinear (x, s) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2,3] x) => (float[2,3] y) <float s = {0.5}> { y = DequantizeLinear (x, s) }""",
    uncalled=False,
    role="value",
)

ZERO_POINT_LEFT_OUT = Rule(
    "IRL373",
    "quantization-zero-point-left-out",
    Severity.ERROR,
    "A zero point is omitted by an empty name, but ONNX Runtime requires it.",
    why="The zero point is optional in the schema. ONNX Runtime, however, reads the type of the zero point, and refuses to load the model. Only a trailing zero point may be omitted.",
    fix="Add a zero point of 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (uint8[4] a, float s, uint8 z, uint8[4] b) => (uint8[4] y) { y = com.microsoft.QLinearAdd (a, s, , b, s, z, s, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (uint8[4] a, float s, uint8 z, uint8[4] b) => (uint8[4] y) { y = com.microsoft.QLinearAdd (a, s, z, b, s, z, s, z) \
}""",
    refused=(Refusal("onnxruntime", ("dead",)),),
)


def expect_zero_points(context: Context, *parameters: Parameter) -> None:
    """Checks that only trailing zero points are omitted. Raises a ``ZERO_POINT_LEFT_OUT`` fault."""
    for index, name, tensor in parameters:
        if tensor is None and index < len(context.node.inputs):
            raise ZERO_POINT_LEFT_OUT.fault(
                f"input {index} ({name}) is omitted, but ONNX Runtime reads the type from it",
                help=f"write a zero point of 0 as input {index}",
                input=index,
            )


def _warn_if_scale(index: int, name: str, tensor: Tensor | None) -> None:
    if name.endswith("scale"):
        warn_of_scale(tensor, index, name)


def is_single(shape: Shape | None) -> bool:
    """Whether the shape can be that of a scalar or of a list of one element."""
    return not shape or (len(shape) == 1 and same(shape[0], 1) is not False)


def expect_one_number(*parameters: Parameter) -> None:
    """Checks that scales and zero points are single numbers. Raises an ``OPERAND_SHAPE`` fault.

    Warns of unusable scales.
    """
    for index, name, tensor in parameters:
        _warn_if_scale(index, name, tensor)
        if tensor is not None and not is_single(tensor.shape):
            raise OPERAND_SHAPE.fault(
                f"input {index} ({name}) is {shape_text(tensor.shape)}; the operator requires a scalar or a list of one element",
                help=f"make input {index} a scalar",
                input=index,
            )


def warn_of_many(*parameters: Parameter) -> None:
    """Warns of scales and zero points with several numbers, and of unusable scales."""
    # ONNX Runtime accepts several numbers, and uses the first.
    for parameter in parameters:
        try:
            expect_one_number(parameter)
        except Fault as fault:
            warn(fault.lowered(Severity.WARNING))


def expect_by_row(matrix: Tensor, *parameters: Parameter) -> None:
    """Checks that each parameter of a left operand is a single number. Warns of one number for each row.

    Raises an ``OPERAND_SHAPE`` fault for other shapes. Warns of unusable scales.
    """
    for index, name, tensor in parameters:
        _warn_if_scale(index, name, tensor)
        if tensor is None or is_single(tensor.shape):
            continue
        rows = dim_of(matrix.shape, -2) if matrix.shape is None or len(matrix.shape) > 1 else 1
        allowed = None if matrix.shape is None else ((rows,), (*matrix.shape[:-1], 1))
        by_row = allowed is None or any(_can_be(tensor.shape, shape) for shape in allowed)
        fault = OPERAND_SHAPE.fault(
            f"input {index} ({name}) is {shape_text(tensor.shape)}; "
            + (
                'the specification allows "per row quantization", but ONNX Runtime accepts only a single number'
                if by_row
                else f"expected a scalar, or one number for each of {rows} rows"
            ),
            help=f"use one number for the complete tensor as input {index}",
            input=index,
            severity=Severity.WARNING if by_row else None,
        )
        if not by_row:
            raise fault
        warn(fault)


def expect_by_column(matrix: Tensor, *parameters: Parameter) -> None:
    """Checks that each parameter of a right operand has a single number, or one number for each column.

    Raises an ``OPERAND_SHAPE`` fault. Warns of unusable scales.
    """
    for index, name, tensor in parameters:
        _warn_if_scale(index, name, tensor)
        if tensor is None or not tensor.shape or matrix.shape is None:
            continue
        if is_single(tensor.shape):
            if len(matrix.shape) == 2:
                stretches(tensor.shape[0], matrix.shape[-1], f"{name} is one number, or one number for each column")
            continue
        if len(matrix.shape) < 2:
            expect_one_number((index, name, tensor))
        columns = matrix.shape[-1]
        stacked = (*matrix.shape[:-2], 1, columns)
        list_is_allowed = len(matrix.shape) == 2
        expected: Shape = (columns,) if list_is_allowed and len(tensor.shape) == 1 else stacked
        if not _agrees(tensor.shape, expected, f"input {index} has a number for each column"):
            shape = shape_text((columns,) if list_is_allowed else stacked)
            raise OPERAND_SHAPE.fault(
                f"input {index} ({name}) is {shape_text(tensor.shape)}; expected a scalar, or one number for each of "
                f"{columns} columns: {shape}",
                help=f"give input {index} the shape {shape}"
                + (f", or use weights with {counted(tensor.shape[-1], 'column')}" if len(tensor.shape) == 1 else ""),
                input=index,
            )


def expect_one_shape(first: Parameter, second: Parameter) -> None:
    """Checks that a scale and its zero point have the same shape. Raises an ``OPERAND_SHAPE`` fault."""
    (index, name, scale), (other, other_name, zero) = first, second
    if scale is None or zero is None or scale.shape is None or zero.shape is None:
        return
    if not _agrees(zero.shape, scale.shape, f"inputs {index} and {other} have one shape"):
        raise OPERAND_SHAPE.fault(
            f"input {index} ({name}) is {shape_text(scale.shape)} and input {other} ({other_name}) is "
            f"{shape_text(zero.shape)}: expected equal shapes",
            help=f"give input {other} the shape {shape_text(scale.shape)}, or input {index} {shape_text(zero.shape)}",
            input=other,
        )


def expect_one_of(parameter: Parameter, *shapes: Sequence[MaybeDim], what: str, instead: str = "") -> None:
    """Checks that a parameter has one of the ``shapes``. Raises an ``OPERAND_SHAPE`` fault.

    ``instead`` is a help that is more likely than to change the shape.
    """
    index, name, tensor = parameter
    if tensor is None or tensor.shape is None or any(_can_be(tensor.shape, tuple(shape)) for shape in shapes):
        return
    expected = " or ".join(dict.fromkeys(shape_text(tuple(shape)) for shape in shapes))
    raise OPERAND_SHAPE.fault(
        f"input {index} ({name}) is {shape_text(tensor.shape)}; expected {expected}, {what}",
        help=f"{instead}, or " * bool(instead) + f"give input {index} the shape {expected}",
        input=index,
    )


def _can_be(shape: Shape | None, other: Shape) -> bool:
    return shape is None or (len(shape) == len(other) and all(same(a, b) is not False for a, b in zip(shape, other)))


def _agrees(shape: Shape, expected: Shape, why: str) -> bool:
    return len(shape) == len(expected) and all(agree(a, b, why) for a, b in zip(shape, expected))


#: The least normal number of float32, and the largest float32 divided by 127, the largest int8.
_LEAST, _MOST = 2.0**-126, 2.67e36


def out_of_range(span: Extent, *, divides: bool) -> str:
    """A text that says why results with a float32 scale are 0 or infinite; "" if they are not."""
    if divides and span.least is not None and span.least < _LEAST:
        return f"is {span.least:g}, and numbers divided by it are infinite"
    if span.most is not None and span.most > _MOST:
        return f"is {span.most:g}, and {'numbers divided by it are 0' if divides else 'products with it are infinite'}"
    return ""


def warn_of_scale(
    tensor: Tensor | None, index: int, name: str, *, divides: bool = False, any_sign: bool = False
) -> None:
    """Warns of a scale that is not a finite number above 0, or that is too small or too large for float32.

    If ``divides``, the operator divides by the scale; otherwise, it multiplies by the scale. If ``any_sign``, 0 and
    negative scales are usable.
    """
    span = extent(tensor)
    # If scales may have any sign, other checks report NaN and infinity.
    if span is None or (any_sign and (span.nans or span.infinities)):
        return
    text = ""
    if span.nans:
        text = "is NaN"
    elif span.infinities:
        text = "is infinite"
    elif not any_sign and span.least is not None and span.least <= 0:
        text = "is 0" if span.least == 0 else f"is {span.least:g}"
    elif tensor is not None and tensor.dtype == "float32":
        text = out_of_range(span, divides=divides)
    if text:
        single = tensor is not None and tensor.value is not None and len(tensor.value) == 1
        warn(
            SCALE_UNUSABLE.fault(
                f"input {index} ({name}) {text if single else f'contains a scale that {text}'}; a scale is a finite "
                f"number{'' if any_sign else ' above 0'}",
                help="measure the scale again",
                input=index,
            )
        )
