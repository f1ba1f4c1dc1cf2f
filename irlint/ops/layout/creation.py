"""Constants, model inputs, tensors of a stated shape, and operators that return a shape."""

from __future__ import annotations

import math
from collections.abc import Mapping

from irlint.dims import Shape, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.lazy_typing import Literal
from irlint.model import Attribute, Node
from irlint.model.tensor import CONTENTS_LIMIT, UNKNOWN, Scalar, SparseTensor, Tensor, shape_text
from irlint.ops import Context, onnx, openvino, without_rule
from irlint.ops.shared import contents as fold
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.compiling import (
    WITHOUT_TENSORS,
    Layer,
    first_of,
    not_compiled,
    output_type_at,
)
from irlint.ops.shared.element_types import INDEX_TYPES, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import number, openvino_shape, stated_shape, stated_size
from irlint.ops.signatures import UNLIKELY, with_roles

DType = str
NegativeIndices = Literal["ignore_negative", "normalize"]


CONSTANT_FORM = Rule(
    "IRL360",
    "constant-without-one-value",
    Severity.ERROR,
    "A Constant node does not have exactly one of its value attributes.",
    why=(
        "The value of a Constant comes from exactly one attribute. The ONNX checker refuses a Constant with none or "
        "with two. ONNX Runtime refuses a Constant without a value attribute; if there are two, it uses the first "
        "attribute in the file, and irlint warns."
    ),
    fix=(
        "Keep only one of value, sparse_value, value_float, value_floats, value_int, value_ints, value_string, "
        "value_strings."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g () => (int64 y) { y = Constant <value_int = 1, value_float = 1.0> () }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g () => (int64 y) { y = Constant <value_int = 1> () }""",
)

# --- constants --------------------------------------------------------------------------------------------------------

#: The name of the value attribute of a Constant, by the kind of the attribute.
FORMS: Mapping[str, str] = {
    "TENSOR": "value",
    "SPARSE_TENSOR": "sparse_value",
    "FLOAT": "value_float",
    "FLOATS": "value_floats",
    "INT": "value_int",
    "INTS": "value_ints",
    "STRING": "value_string",
    "STRINGS": "value_strings",
}


def _first_by_kind(node: Node) -> tuple[Mapping[str, Attribute], Fault | None] | None:
    """See ``Operator.read_as``. ONNX Runtime reads the first attribute of a Constant by its kind, not by its name."""
    first = next(iter(node.attributes.values()), None)
    form = FORMS.get(first.kind) if first is not None else None
    if first is None or form is None or len(node.outputs) != 1:
        return None
    if len(node.attributes) == 1:
        return {form: first}, None
    names = " and ".join(f"`{name}`" for name in node.attributes)
    fault = CONSTANT_FORM.fault(f"the node has {names}; expected exactly one", help="keep one of them")
    return {form: first}, fault


@onnx("Constant", kinds={"value": "SPARSE_TENSOR"}, read_as=_first_by_kind)
def constant(
    *,
    value: Tensor | None = None,
    sparse_value: Tensor | SparseTensor | None = None,
    value_float: float | None = None,
    value_floats: Floats | None = None,
    value_int: int | None = None,
    value_ints: Ints | None = None,
    value_string: str | None = None,
    value_strings: tuple[str, ...] | None = None,
    context: Context,
) -> Tensor:
    """ONNX Constant."""
    forms = {
        "value": value,
        "sparse_value": _dense(sparse_value),
        "value_float": None if value_float is None else Tensor("float32", (), (value_float,)),
        "value_floats": None if value_floats is None else _listed("float32", value_floats),
        "value_int": None if value_int is None else Tensor("int64", (), (value_int,)),
        "value_ints": None if value_ints is None else _listed("int64", value_ints),
        "value_string": None if value_string is None else Tensor("string", ()),
        "value_strings": None if value_strings is None else Tensor("string", (len(value_strings),)),
    }
    present = {name: tensor for name, tensor in forms.items() if tensor is not None}
    if len(present) == 1:
        return next(iter(present.values()))
    names = " and ".join(f"`{name}`" for name in present) or "none of the value attributes"
    raise CONSTANT_FORM.fault(
        f"the node has {names}; expected exactly one", help="keep one of them" if present else "write `value`"
    )


def _dense(sparse: Tensor | SparseTensor | None) -> Tensor | None:
    return None if sparse is None else Tensor(sparse.dtype, sparse.shape)


def _listed(dtype: str, items: tuple[Scalar, ...]) -> Tensor:
    return Tensor(dtype, (len(items),), items if len(items) <= CONTENTS_LIMIT else None)


@openvino("Const", spellings=("Constant", "CONSTANT", "constant"), unheeded=("shape", "offset", "size"))
@openvino("Constant")
def ov_const(
    *, element_type: DType | None = None, shape: str = "", offset: str = "", size: str = "", value: str = ""
) -> Tensor:
    """OpenVINO Constant-1 whose value the parser cannot read."""
    return UNKNOWN


def _is_static_without_type(node: Node) -> bool:
    """Whether a Parameter has known sizes, but no element type."""
    from irlint.parsers.openvino.types import partial_shape

    attribute = node.attributes.get("shape")
    if "element_type" in node.attributes or attribute is None:
        return False
    try:
        shape = partial_shape(attribute.value, "size")
    except ValueError:
        return False
    return shape is not None and all(isinstance(size, int) for size in shape)


def _has_empty_interval(shape: str) -> bool:
    from irlint.parsers.openvino.types import EMPTY_INTERVAL, odd_size

    return EMPTY_INTERVAL in odd_size(shape)


def _compiled_parameter(layer: Layer) -> Fault | None:
    output = layer.outputs[0] if layer.outputs else None
    if not isinstance(output, Tensor):
        return None
    if _has_empty_interval(layer.attributes["shape"]):
        return not_compiled(
            f'no size is within an interval of "{layer.attributes["shape"]}": OpenVINO accepts no tensor for the input',
            help="write the smaller bound first",
            attribute="shape",
            forbidden=True,
        )
    if output.shape is None:
        return not_compiled(
            "the rank of the input is unknown, but the CPU plugin requires a known rank",
            help='write `shape` with an entry for each axis, such as "?,3,?,?", or reshape the model before it is '
            "compiled",
            attribute="shape",
        )
    untyped = output.dtype is None and all(isinstance(size, int) for size in output.shape)
    if output.dtype not in WITHOUT_TENSORS and not untyped:
        return None
    return not_compiled(
        f"the element type of the input is {output.dtype or 'dynamic'}, which the CPU plugin does not accept",
        help="write another element type, such as f32",
        attribute="element_type",
        forbidden=output.dtype is None,
    )


@openvino(
    "Parameter",
    until=17,
    absent={"element_type": None, "shape": ""},
    needed=_is_static_without_type,
    compiles=_compiled_parameter,
)
def ov_parameter(*, element_type: DType | None, shape: str) -> Tensor:
    """OpenVINO Parameter-1; an interval such as ``1..8`` becomes a symbol with these bounds."""
    from irlint.parsers.openvino.types import odd_size, partial_shape

    odd = odd_size(shape)
    if odd:
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                f'attribute `shape` is "{shape}": {odd}',
                help="write integers, ?, -1 or intervals such as 1..8, separated by commas",
                attribute="shape",
                severity=Severity.WARNING,
            )
        )
    try:
        return Tensor(element_type, partial_shape(shape, "size"))
    except ValueError as error:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `shape` is "{shape}": {error}',
            help="write integers, ?, -1 or intervals such as 1..8, separated by commas",
            attribute="shape",
        ) from None


@openvino("Result")
def ov_result(x: Tensor) -> Tensor:
    """OpenVINO Result-1. A layer that uses the output of a Result receives the input of the Result."""
    return x


# --- shapes -----------------------------------------------------------------------------------------------------------


def shape_values(shape: Shape | None, dtype: str | None, start: int = 0, *, end: int | None = None) -> Tensor:
    """The list of the sizes ``shape[start:end]``."""
    if shape is None:
        return Tensor(dtype, (None,))
    sizes = shape[start:end]
    return Tensor(dtype, (len(sizes),), sizes if len(sizes) <= CONTENTS_LIMIT else None)


@onnx("Shape", of_shape=True)
@with_roles(start=UNLIKELY, end=UNLIKELY)
def shape(data: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    """ONNX Shape."""
    return shape_values(data.shape, "int64", start, end=end)


@onnx("Size")
def count(data: Tensor) -> Tensor:
    """ONNX Size."""
    return Tensor("int64", (), None if data.shape is None else (product(data.shape),))


@openvino("ShapeOf", until=2, of_shape=True, ignores_extra_inputs=True)
def ov_shape_of(data: Tensor) -> Tensor:
    """OpenVINO ShapeOf-1."""
    return shape_values(data.shape, "int64")


@openvino("ShapeOf", since=3, until=17, of_shape=True, ignores_extra_inputs=True)
def ov_shape_of_typed(data: Tensor, *, output_type: DType | None = "") -> Tensor:
    """OpenVINO ShapeOf-3."""
    if output_type == "":
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                "attribute `output_type` is absent: its default is i64 in the specification, but OpenVINO refuses "
                "the layer",
                help='write output_type="i64"',
                refused=True,
            )
        )
        return shape_values(data.shape, "int64")
    expect_result_type(output_type, "output_type", INDEX_TYPES)
    return shape_values(data.shape, output_type)


def expect_result_type(dtype: str | None, attribute: str, allowed: frozenset[str], *, dynamic: bool = False) -> None:
    """Checks that an attribute names an ``allowed`` element type; ``dynamic`` also allows the dynamic type (None).

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault.
    """
    if dtype in allowed or (dtype is None and dynamic):
        return
    raise ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `{attribute}` is {dtype or 'dynamic'}; the operation returns {_types_text(allowed)}",
        help=f"use one of {_types_text(allowed)}",
        attribute=attribute,
    )


def _types_text(allowed: frozenset[str]) -> str:
    return ", ".join(sorted(allowed)) if len(allowed) <= 6 else "numbers"


# --- tensors of a stated shape ---------------------------------------------------------------------------------------


def filled(shape: Shape | None, dtype: str | None, entry: Scalar) -> Tensor:
    """A tensor with the same entry everywhere."""
    if not fold.fits(shape):
        from irlint.ops.shared import bounds

        return Tensor(dtype, shape, None, None if shape is None else bounds.repeated(entry, len(shape), dtype))
    return Tensor(dtype, shape, (entry,) * math.prod(shape))  # type: ignore[arg-type]


def _as_list(x: Tensor) -> Tensor:
    """A shape input as a list. Like ONNX Runtime, accepts a constant of several axes, with a warning."""
    if x.value is None or x.shape is None or len(x.shape) < 2:
        return x
    try:
        expect_rank(x, 0, 1)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))
    return Tensor(x.dtype, (len(x.value),), x.value)


@onnx("ConstantOfShape", since=9)
def constant_of_shape(input: Tensor, *, value: Tensor | None = None) -> Tensor:
    """ONNX ConstantOfShape."""
    shape = stated_shape(_as_list(input), 0)
    if value is None:
        return filled(shape, "float32", 0.0)
    if value.shape is not None and (len(value.shape) != 1 or product(value.shape) != 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `value` is of shape {shape_text(value.shape)}; expected [1]",
            help="give `value` the shape [1]",
            attribute="value",
        )
    return filled(shape, value.dtype, value.scalar)


without_rule("ConstantFill", help="use ConstantOfShape instead")
without_rule("GivenTensorFill", help="use an initializer instead")


@onnx("EyeLike", since=9)
def eye_like(input: Tensor, *, dtype: int | None = None, k: int = 0, context: Context) -> Tensor:
    """ONNX EyeLike."""
    expect_rank(input, 0, 2)
    known = input.shape if input.shape is not None else (None, None)
    return Tensor(input.dtype if dtype is None else numbered_type(dtype, context), known)


#: Element types that the CPU plugin does not support as outputs of Eye.
_NOT_FROM_EYE = WITHOUT_TENSORS | {
    *("uint2", "nf4", "float4_e2m1", "float8_e4m3fn", "float8_e5m2", "float8_e8m0", "string"),
}


def _sized_batch(layer: Layer) -> Fault | None:
    """The fault of a -1 in ``batch_shape`` of an Eye that the library folds, because all its inputs are constants."""
    batch = layer.inputs[3] if len(layer.inputs) > 3 else None
    value = batch.value if isinstance(batch, Tensor) else None
    if value is None or -1 not in value or not {0, 1, 2, 3} <= layer.fixed:
        return None
    return not_compiled(
        f"input 3 (batch_shape) is {list(value)}, and all inputs are constants: -1 is not a size",
        help="write the sizes of the batch",
        input=3,
        forbidden=True,
    )


@openvino(
    "Eye",
    since=9,
    absent={"output_type": None},
    fills_in=True,
    read_at_load=(3,),
    compiles=first_of(output_type_at("output_type", _NOT_FROM_EYE), _sized_batch),
)
def ov_eye(
    num_rows: Tensor,
    num_columns: Tensor,
    diagonal_index: Tensor,
    batch_shape: Tensor | None = None,
    *,
    output_type: DType | None,
) -> Tensor:
    """OpenVINO Eye-9: [*batch_shape, num_rows, num_columns]."""
    names = ("num_rows", "num_columns", "diagonal_index")
    for index, x in enumerate((num_rows, num_columns, diagonal_index)):
        expect_type(x, index, INDEX_TYPES)
        expect_one(x, index, names[index])
    expect_type(batch_shape, 3, INDEX_TYPES)
    expect_rank(batch_shape, 3, 1)
    batch = () if batch_shape is None else openvino_shape(batch_shape, 3)
    sizes = [stated_size(number(x), index, names[index]) for index, x in enumerate((num_rows, num_columns))]
    return Tensor(output_type, None if batch is None else (*batch, *sizes))
