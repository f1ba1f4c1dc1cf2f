"""Operators that change the element type, or nothing at all."""

from __future__ import annotations

from irlint.diagnostics import Rule, Severity
from irlint.ops import Context, onnx, openvino
from irlint.ops.attribute_values import ATTRIBUTE_OUT_OF_RANGE, NUMBERED_TYPES, numbered_type
from irlint.ops.broadcast import stretched
from irlint.ops.contents import cast as converted
from irlint.ops.element_types import expect_type
from irlint.tensor import BITS, FLOATS, INTEGERS, SIGNED, Tensor, Type

DType = str

NOT_CONVERTIBLE = Rule(
    "IRL364",
    "element-type-not-convertible",
    Severity.ERROR,
    "Elements of this type cannot be read as the other one.",
    why="""BitCast keeps the bits of each element, so both types need the same number of them; a conversion between texts
and numbers exists in few places. Runtimes refuse any other.""",
    mend="Name a type of the same width, or convert in two steps.",
    bad="""<ir_version: 12, opset_import: ["" : 26]>
g (float[2,3] x) => (int64[2,3] y) { y = BitCast <to = 7> (x) }""",
    good="""<ir_version: 12, opset_import: ["" : 26]>
g (float[2,3] x) => (int32[2,3] y) { y = BitCast <to = 6> (x) }""",
)


def retyped(x: Tensor, dtype: str | None) -> Tensor:
    """``x`` with every element converted to ``dtype``; contents that the type does not hold exactly are dropped."""
    if x.value is None or dtype is None:
        return Tensor(dtype, x.shape)
    return Tensor(dtype, x.shape, tuple(converted(entry, dtype) for entry in x.value))


# --- Identity ---------------------------------------------------------------------------------------------------------


@onnx("Identity")
@openvino("Identity", since=16)
def identity(x: Type) -> Type:
    """The input itself, of whatever kind: a tensor, a sequence, an optional value."""
    return x


# --- Cast, Convert ----------------------------------------------------------------------------------------------------


@onnx("Cast", since=1)
def cast_by_name(x: Tensor, *, to: str) -> Tensor:
    """ONNX Cast-1, which names the element type as TensorProto.DataType does, in any case."""
    names = {"float32": "float", "float64": "double"}
    dtypes = {names.get(dtype, dtype): dtype for dtype in NUMBERED_TYPES}
    dtype = dtypes.get(to.lower())
    if dtype is None:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `to` is "{to}", which is no element type',
            help="write a name of TensorProto.DataType, such as FLOAT or INT64",
            attribute="to",
        )
    return retyped(x, dtype)


@onnx("Cast", since=6)
def cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up", context: Context) -> Tensor:
    """ONNX Cast-6 and later."""
    return retyped(x, numbered_type(to, context, "to"))


@onnx("CastLike", since=15)
def cast_like(x: Tensor, target_type: Tensor, *, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """ONNX CastLike-15 and later."""
    return retyped(x, target_type.dtype)


@onnx("BitCast", since=26)
def bit_cast(x: Tensor, *, to: int, context: Context) -> Tensor:
    """ONNX BitCast-26: the same bits as another type of the same width."""
    dtype = numbered_type(to, context, "to")
    if x.dtype in BITS and BITS[x.dtype] != BITS[dtype]:
        raise NOT_CONVERTIBLE.fault(
            f"input 0 is {x.dtype} of {BITS[x.dtype]} bits and `to` is {dtype} of {BITS[dtype]}: BitCast keeps the bits",
            help=f"name a type of {BITS[x.dtype]} bits",
            input=0,
            attribute="to",
        )
    return Tensor(dtype, x.shape, x.value if x.dtype == dtype else None)


@openvino("Convert", until=17, absent={"destination_type": None})
def convert(x: Tensor, *, destination_type: DType | None) -> Tensor:
    """OpenVINO Convert-1."""
    return retyped(x, destination_type)


@openvino("ConvertLike")
def convert_like(data: Tensor, like: Tensor) -> Tensor:
    """OpenVINO ConvertLike-1."""
    return retyped(data, like.dtype)
