"""Conversions of the element type (Cast, Convert and similar operators), and Identity."""

from __future__ import annotations

from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import (
    BITS,
    FLOATS,
    INTEGERS,
    NUMBERED_TYPES,
    SIGNED,
    UNSIGNED,
    Scalar,
    Tensor,
    Type,
)
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.broadcast import broadcast, merged, stretched
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.contents import FINITE, INFINITE_FROM, all_cast, extent
from irlint.ops.shared.contents import cast as converted
from irlint.ops.shared.element_types import common_type, expect_type

DType = str
RoundMode = Literal["up", "down", "nearest"]

#: The types to which ONNX Runtime casts in every opset.
_IN_EVERY_OPSET = frozenset(NUMBERED_TYPES[:22]) - {"complex64", "complex128"}

_FLOAT8 = frozenset({"float8_e4m3fn", "float8_e5m2"})
_FAKE_CONVERT_TYPES = frozenset({"bfloat16", "float16", "float32"})
_PROMOTED_TYPES = _FLOAT8 | {
    *("bool", "uint1", "uint4", "uint8", "uint16", "uint32", "uint64", "int4", "int8", "int16", "int32", "int64"),
    *("bfloat16", "float16", "float32", "float64"),
}

NOT_CONVERTIBLE = Rule(
    "IRL364",
    "element-type-not-convertible",
    Severity.ERROR,
    "Elements cannot be converted from one type to the other.",
    why=(
        "BitCast keeps the bits of each element, so both types need the same number of bits. Only a few operators "
        "convert between strings and numbers. Runtimes refuse a conversion that the operator does not support."
    ),
    fix="Use a type of the same width, or convert in two steps.",
    bad="""<ir_version: 13, opset_import: ["" : 26]>
g (float[2,3] x) => (int64[2,3] y) { y = BitCast <to = 7> (x) }""",
    good="""<ir_version: 13, opset_import: ["" : 26]>
g (float[2,3] x) => (int32[2,3] y) { y = BitCast <to = 6> (x) }""",
    refused=(Refusal("onnxruntime"),),
)


LOST_IN_CAST = Rule(
    "IRL733",
    "constant-lost-in-cast",
    Severity.WARNING,
    "A constant is converted to a type that cannot represent it.",
    why=(
        "A number beyond the range of a floating-point type becomes infinite. A number beyond the range of an "
        "integer type becomes another number, which differs between runtimes."
    ),
    fix="Convert to a wider type, or correct the constant.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float16[1] y) { c = Constant <value = float[1] {100000.0}> ()
y = Cast <to = 10> (c) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float16[1] y) { c = Constant <value = float[1] {1000.0}> ()
y = Cast <to = 10> (c) }""",
    uncalled=False,
    role="value",
)


def _warn_of_lost_numbers(x: Tensor, dtype: str | None) -> None:
    if x.dtype in INTEGERS and BITS[x.dtype] < 16 and dtype not in INTEGERS:
        return
    span = extent(x)
    if span is None or span.least is None or span.most is None or dtype is None or dtype == x.dtype:
        return
    if dtype in INTEGERS:
        low, high = (
            (0, (1 << BITS[dtype]) - 1) if dtype in UNSIGNED else (-(1 << BITS[dtype] - 1), (1 << BITS[dtype] - 1) - 1)
        )
        lost = next((number for number in (span.most, span.least) if not low <= int(number) <= high), None)
        becomes, span_text = "another number", f"{low} to {high}"
    else:
        limit = INFINITE_FROM.get(dtype)
        lost = next((number for number in (span.most, span.least) if limit is not None and abs(number) >= limit), None)
        becomes, span_text = "infinite", f"numbers up to {FINITE.get(dtype, 0):.6g}"
    if lost is not None:
        warn(
            LOST_IN_CAST.fault(
                f"input 0 holds {lost:.10g}, but the range of {dtype} is {span_text}: the number becomes {becomes}",
                help="convert to a wider type, or correct the constant",
                input=0,
            )
        )


def retyped(x: Tensor, dtype: str | None) -> Tensor:
    """``x`` converted to ``dtype``; numbers out of the range of the type are unknown."""
    if x.extent is not None:
        from irlint.ops.shared import bounds, quotients

        return quotients.converted(x, dtype) or Tensor(dtype, x.shape, None, bounds.converted(x, dtype))
    if x.value is None or dtype is None:
        return Tensor(dtype, x.shape)
    return Tensor(dtype, x.shape, all_cast(x.value, dtype))


# --- Identity ---------------------------------------------------------------------------------------------------------


@onnx("Identity")
@openvino("Identity", since=16)
def identity(x: Type) -> Type:
    """ONNX Identity, OpenVINO Identity-16."""
    return x


# --- Cast, Convert ----------------------------------------------------------------------------------------------------


@onnx("Cast", since=1)
def cast_by_name(x: Tensor, *, to: str) -> Tensor:
    """ONNX Cast-1: ``to`` is a name in TensorProto.DataType, in upper or lower case."""
    names = {"float32": "float", "float64": "double"}
    dtypes = {names.get(dtype, dtype): dtype for dtype in NUMBERED_TYPES}
    dtype = dtypes.get(to.lower())
    if dtype is None:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `to` is "{to}", which is not an element type',
            help="write a name of TensorProto.DataType, such as FLOAT or INT64",
            attribute="to",
        )
    _warn_of_lost_numbers(x, dtype)
    return retyped(x, dtype)


@onnx("Cast", since=6)
def cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: RoundMode = "up", context: Context) -> Tensor:
    """ONNX Cast-6 and later."""
    dtype = numbered_type(to, context, "to", also=_IN_EVERY_OPSET)
    if saturate != 1 and not dtype.startswith("float8"):
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `saturate` is {saturate} and `to` is {dtype}: the specification ignores `saturate` for this "
            "type, but ONNX Runtime accepts it only for 8-bit floats",
            help="remove `saturate`",
            attribute="saturate",
        )
        warn(fault.lowered(Severity.WARNING))
    _warn_of_lost_numbers(x, dtype)
    return retyped(x, dtype)


@onnx("CastLike", since=15)
def cast_like(x: Tensor, target_type: Tensor, *, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """ONNX CastLike-15 and later."""
    _warn_of_lost_numbers(x, target_type.dtype)
    return retyped(x, target_type.dtype)


@onnx("BitCast", since=26)
def bit_cast(x: Tensor, *, to: int, context: Context) -> Tensor:
    """ONNX BitCast-26: the same bits, read as another type of the same width."""
    dtype = numbered_type(to, context, "to")
    if x.dtype in BITS and dtype in BITS and BITS[x.dtype] != BITS[dtype]:
        raise NOT_CONVERTIBLE.fault(
            f"input 0 is {x.dtype} of {BITS[x.dtype]} bits and `to` is {dtype} of {BITS[dtype]}: the numbers of bits "
            "must be equal",
            help=f"use a type of {BITS[x.dtype]} bits",
            input=0,
            attribute="to",
        )
    return Tensor(dtype, x.shape, x.value if x.dtype == dtype else None)


#: Element types that OpenVINO converts to and from few other types.
_RESTRICTED = frozenset({"nf4", "float4_e2m1", "float8_e8m0"})
#: The element types that OpenVINO converts to and from each restricted type.
_WIDE_FLOATS = frozenset({"bfloat16", "float16", "float32", "float64"})
#: The element types to which OpenVINO converts nf4 and float4_e2m1.
_FROM_FOUR_BITS = _WIDE_FLOATS | {"bool", "int4", "int8", "uint4", "uint8"}

#: Types that OpenVINO's CPU plugin converts to bool only if a size is dynamic.
_TO_BOOL_IF_DYNAMIC = frozenset({"nf4", "float4_e2m1", "float8_e4m3fn", "float8_e5m2", "uint2"})


def _is_converted(dtype: str, into: str) -> bool:
    """Whether OpenVINO converts elements of type ``dtype`` to type ``into``."""
    if "string" in (dtype, into):
        return False
    if dtype == into:
        return True
    if into in _RESTRICTED:
        return dtype in _WIDE_FLOATS
    if dtype in _RESTRICTED:
        return into in (_WIDE_FLOATS if dtype == "float8_e8m0" else _FROM_FOUR_BITS)
    return True


def _compiled_conversion(layer: Layer) -> Fault | None:
    dtype, into = layer.dtype(0), layer.attributes.get("destination_type") or layer.dtype(1)
    if dtype is None or into is None:
        return None
    only_constants = into in ("uint3", "uint6") or (dtype == "float64" and into in _RESTRICTED and 0 in layer.direct)
    not_to_bool = into == "bool" and dtype in _TO_BOOL_IF_DYNAMIC and layer.sizes(0) is not None
    if not (only_constants or not_to_bool or not _is_converted(dtype, into)) or 0 not in layer.varying:
        return None
    return not_compiled(
        f"input 0 is {dtype}, which the CPU plugin cannot convert to {into}",
        help="convert to a supported type, such as f32",
        attribute="destination_type",
    )


@openvino(
    "Convert",
    until=17,
    absent={"destination_type": None},
    needed=lambda node: True,
    compiles=_compiled_conversion,
    ignores_extra_inputs=True,
)
def convert(x: Tensor, *, destination_type: DType | None) -> Tensor:
    """OpenVINO Convert-1."""
    if destination_type is None:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            "attribute `destination_type` is dynamic, to which OpenVINO cannot convert",
            help="write the intended type of the values",
            attribute="destination_type",
            stage="compile",
        )
    if x.dtype is not None and not _is_converted(x.dtype, destination_type):
        raise NOT_CONVERTIBLE.fault(
            f"input 0 is {x.dtype}, which OpenVINO does not convert to {destination_type}",
            help="convert to float32 in between" if "string" not in (x.dtype, destination_type) else "remove the layer",
            input=0,
            attribute="destination_type",
        )
    _warn_of_lost_numbers(x, destination_type)
    if x.dtype in INTEGERS and destination_type in _WRAPPING and x.value is not None:
        return Tensor(destination_type, x.shape, tuple(_wrapped(entry, destination_type) for entry in x.value))
    return retyped(x, destination_type)


#: Integer types of 1, 2 or 4 bytes. A conversion of an integer keeps its lowest bytes.
_WRAPPING = frozenset({"int8", "int16", "int32", "uint8", "uint16", "uint32"})


def _wrapped(entry: Scalar, dtype: str) -> Scalar:
    """The lowest bytes of ``entry``, read as ``dtype``."""
    if not isinstance(entry, int):
        return converted(entry, dtype)
    lowest = entry % (1 << BITS[dtype])
    return lowest if dtype in UNSIGNED or lowest < 1 << BITS[dtype] - 1 else lowest - (1 << BITS[dtype])


@openvino("ConvertLike", compiles=_compiled_conversion, ignores_extra_inputs=True)
def convert_like(data: Tensor, like: Tensor) -> Tensor:
    """OpenVINO ConvertLike-1."""
    return retyped(data, like.dtype)


@openvino("FakeConvert", since=13, absent={"destination_type": "float8_e4m3fn"}, fills_in=True)
def fake_convert(data: Tensor, scale: Tensor, shift: Tensor | None = None, *, destination_type: DType | None) -> Tensor:
    """OpenVINO FakeConvert-13: ``scale`` and ``shift`` are broadcast to the data."""
    if destination_type not in _FLOAT8:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `destination_type` is {destination_type or 'dynamic'}; the operation supports f8e4m3 and "
            "f8e5m2",
            help='write destination_type="f8e4m3" or "f8e5m2"',
            attribute="destination_type",
        )
    expect_type(data, 0, _FAKE_CONVERT_TYPES)
    dtype = common_type((data, scale, shift))
    stretched(data.shape, scale.shape, 1)
    shape = broadcast((data.shape, scale.shape))
    if shift is not None:
        merged((None, scale.shape, shift.shape), why="scale and shift must have the same shape")
    return Tensor(dtype, shape)


# --- ConvertPromoteTypes ----------------------------------------------------------------------------------------------


def promoted(a: str, b: str, *, unsafe: bool, target: str | None) -> str | None:
    """The element type to which OpenVINO promotes two types; None if OpenVINO refuses the types.

    Unless ``unsafe``, OpenVINO refuses types whose promotion may lose digits. ``target`` is the result for uint64 and a
    signed integer; it is None for the dynamic type. Source: OpenVINO ConvertPromoteTypes-14.
    """
    if a == b or "bool" in (a, b):
        return b if a == "bool" else a
    narrow, wide = sorted((a, b), key=BITS.__getitem__)
    if (a in FLOATS) != (b in FLOATS):
        real, integer = (a, b) if a in FLOATS else (b, a)
        return real if unsafe or 2 * BITS[integer] <= BITS[real] else None
    if a in FLOATS:
        return wide if BITS[narrow] < BITS[wide] else f"float{2 * BITS[wide]}" if unsafe else None
    if (a in SIGNED) == (b in SIGNED):
        return wide
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if BITS[signed] > BITS[unsigned]:
        return signed
    if not unsafe:
        return None
    return target if unsigned == "uint64" else f"int{2 * BITS[unsigned]}"


def promoted_by_scalar(dtype: str, scalar: str, *, unsafe: bool, target: str | None) -> str | None:
    """The element type to which OpenVINO promotes a tensor and a scalar with ``pytorch_scalar_promotion``.

    See ``promoted`` for ``unsafe``, ``target`` and the result None. Source: OpenVINO ConvertPromoteTypes-14.
    """
    if "bool" in (dtype, scalar) or (dtype in FLOATS) != (scalar in FLOATS):
        return promoted(dtype, scalar, unsafe=unsafe, target=target)
    if unsafe:
        return dtype
    if dtype not in FLOATS and scalar in SIGNED and dtype not in SIGNED:
        return None
    most_bits = 2 * BITS[dtype] if dtype in SIGNED and scalar not in SIGNED else BITS[dtype]
    return dtype if BITS[scalar] <= most_bits else None


def _compiled_promotion(layer: Layer) -> Fault | None:
    """The fault of a dynamic common element type."""
    a, b = layer.dtype(0), layer.dtype(1)
    if layer.attributes["u64_integer_promotion_target"] is not None or a is None or b is None:
        return None
    if "uint64" not in (a, b) or not isinstance(layer.outputs[0], Tensor) or layer.outputs[0].dtype is not None:
        return None
    return not_compiled(
        f"inputs 0 and 1 are {a} and {b}, whose common type is `u64_integer_promotion_target`, and this attribute is "
        "dynamic",
        help='write u64_integer_promotion_target="f32", or another element type',
        attribute="u64_integer_promotion_target",
    )


@openvino("ConvertPromoteTypes", since=14, compiles=_compiled_promotion, ignores_extra_inputs=True)
def convert_promote_types(
    input_0: Tensor,
    input_1: Tensor,
    *,
    promote_unsafe: bool = False,
    pytorch_scalar_promotion: bool = False,
    u64_integer_promotion_target: DType | None = "float32",
) -> tuple[Tensor, Tensor]:
    """OpenVINO ConvertPromoteTypes-14: both inputs, converted to a common element type."""
    expect_type(input_0, 0, _PROMOTED_TYPES)
    expect_type(input_1, 1, _PROMOTED_TYPES)
    a, b = input_0.dtype, input_1.dtype
    if a is None or b is None or (pytorch_scalar_promotion and (input_0.shape is None or input_1.shape is None)):
        return retyped(input_0, None), retyped(input_1, None)
    dtype: str | None
    if not pytorch_scalar_promotion or bool(input_0.shape) == bool(input_1.shape):
        dtype = promoted(a, b, unsafe=promote_unsafe, target=u64_integer_promotion_target)
    else:
        tensor, scalar = (a, b) if input_0.shape else (b, a)
        dtype = promoted_by_scalar(tensor, scalar, unsafe=promote_unsafe, target=u64_integer_promotion_target)
    if dtype is None and not promote_unsafe:
        raise NOT_CONVERTIBLE.fault(
            f"input 0 is {a} and input 1 is {b}, which OpenVINO promotes only with promote_unsafe",
            help='convert one of the inputs, or write promote_unsafe="true"',
            input=1,
        )
    return retyped(input_0, dtype), retyped(input_1, dtype)
