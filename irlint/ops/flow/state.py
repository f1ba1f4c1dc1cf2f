"""ReadValue and Assign of OpenVINO."""

from __future__ import annotations

from irlint.dims import Bounds, Expr, MaybeDim, Shape, bounds, symbols
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, wants_arithmetic
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.compiling import Layer, known_shape, not_compiled
from irlint.parsers.openvino.types import partial_shape, renamed_type

DType = str

_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,2" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="1" name="read" type="ReadValue" version="opset6">\
<data variable_id="v" variable_type="f32" variable_shape="1,2"/><input><port id="0"/></input><output>\
<port id="1" precision="FP32"><dim>1</dim><dim>2</dim></port></output></layer>
<layer id="2" name="write" type="Assign" version="opset6"><data variable_id="v"/><input><port id="0"/></input></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>
</edges></net>"""

VARIABLE_MISMATCH = Rule(
    "IRL396",
    "variable-init-mismatch",
    Severity.ERROR,
    "The initial value of a variable has another shape or element type than the variable declares.",
    why=(
        "The type and the shape that ReadValue declares for its variable must allow its initial value. Otherwise, "
        "OpenVINO refuses the model."
    ),
    fix="Set a `variable_shape` and a `variable_type` that allow the initial value; `?` allows any size.",
    bad=_GOOD.replace('variable_shape="1,2"', 'variable_shape="1,3"'),
    good=_GOOD,
)


@openvino("ReadValue", since=3, absent={"variable_id": ""}, ignores_extra_inputs=True)
def read_value_of_init(init_value: Tensor, *, variable_id: str) -> Tensor:
    """OpenVINO ReadValue-3."""
    return Tensor(init_value.dtype, init_value.shape)


#: Element types for which the CPU plugin does not infer the rank of a variable from a model input.
_NOT_FROM_INPUTS = frozenset({"float32", "bfloat16", "int8", "uint8", "int32", "string"})


#: Element types for which the CPU plugin does not infer the rank of a variable from a value that other layers also use.
_NOT_FROM_SHARED = frozenset({"float32", "float16", "int32"})


def _compiled_variable(layer: Layer) -> Fault | None:
    dtype, shape = layer.attributes["variable_type"], layer.attributes["variable_shape"]
    from_input = 0 in layer.direct and dtype in _NOT_FROM_INPUTS
    from_shared = 0 in layer.shared and 0 not in layer.direct and dtype in _NOT_FROM_SHARED
    unknown_rank = shape.strip(" []") == "..."
    if unknown_rank and (not layer.inputs or from_input or from_shared or (dtype is not None and 0 in layer.fixed)):
        more = "; it does not infer the rank from an initial value that other layers use, too" if from_shared else ""
        return not_compiled(
            f"the rank of the variable is unknown, but the CPU plugin requires a known rank{more}",
            help='write `variable_shape` with an entry for each axis, such as "?,3"',
            attribute="variable_shape",
        )
    output = layer.outputs[0] if layer.outputs else None
    if dtype is None and not layer.inputs and isinstance(output, Tensor) and known_shape(output) is not None:
        return not_compiled(
            "the type of the variable is dynamic, and there is no initial value",
            help="write `variable_type`",
            attribute="variable_type",
        )
    return None


@openvino("ReadValue", since=6, compiles=_compiled_variable)
def read_value(
    init_value: Tensor | None = None,
    *,
    variable_id: str,
    variable_type: DType | None = None,
    variable_shape: str = "...",
    context: Context,
) -> Tensor:
    """OpenVINO ReadValue-6."""
    try:
        stated = partial_shape(variable_shape, "size")
    except ValueError as error:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`variable_shape` is not a shape: {error}",
            help="write sizes, `?` or intervals",
            attribute="variable_shape",
        ) from None
    if init_value is not None:
        if variable_type is None and stated is None:
            return Tensor(init_value.dtype, init_value.shape)
        _check_initial_value(variable_type, stated, init_value)
    if wants_arithmetic() and stated is not None:
        from irlint.ops.shared import formulas

        formulas.listed(range(len(stated)), _only_integers(stated), _only_integers(stated), what="the variable_shape")
    return Tensor(variable_type, _with_symbols(stated, context))


def _with_symbols(shape: Shape | None, context: Context) -> Shape | None:
    """The shape with a new symbol in place of each interval. The symbol has the bounds of the interval."""
    if shape is None:
        return None
    return tuple(
        context.unknown(("size", axis), bounds(dim)[1], bounds(dim)[0] or 0) if isinstance(dim, Expr) else dim
        for axis, dim in enumerate(shape)
    )


def _check_initial_value(dtype: str | None, shape: Shape | None, init: Tensor) -> None:
    """Checks that the stated type and shape allow the initial value. Raises a ``VARIABLE_MISMATCH`` fault."""
    if dtype is not None and init.dtype is not None and dtype != init.dtype:
        raise VARIABLE_MISMATCH.fault(
            f"the variable is {dtype} and its initial value, input 0, is {init.dtype}",
            help=f'write variable_type="{renamed_type(init.dtype) or init.dtype}", or convert input 0',
            input=0,
            attribute="variable_type",
        )
    if shape is None or init.shape is None:
        return
    if len(shape) == len(init.shape) and all(_covers(a, b, axis) for axis, (a, b) in enumerate(zip(shape, init.shape))):
        return
    allowing = ",".join(str(dim) if isinstance(dim, int) else "?" for dim in init.shape)
    raise VARIABLE_MISMATCH.fault(
        f"the variable is {shape_text(_only_integers(shape))} and its initial value, input 0, is "
        f"{shape_text(init.shape)}",
        help=f'write variable_shape="{allowing}", which allows the initial value, or correct input 0',
        input=0,
        attribute="variable_shape",
    )


def _only_integers(shape: Shape) -> Shape:
    return tuple(None if isinstance(dim, Expr) else dim for dim in shape)


#: The prefix of the symbols for sizes of variables.
_VARIABLE_PREFIX = "_readvalue_"


def _covers(stated: MaybeDim, dim: MaybeDim, axis: int) -> bool:
    if isinstance(dim, Expr) and all(name[:1] != "_" or name.startswith(_VARIABLE_PREFIX) for name in symbols(dim)):
        return _contains(bounds(stated) if isinstance(stated, Expr) else (stated, stated), bounds(dim))
    if isinstance(stated, Expr):
        return not isinstance(dim, int) or _contains(bounds(stated), (dim, dim))
    return agree(stated, dim, f"the variable allows the size of axis {axis} of its initial value")


def _contains(outer: Bounds, inner: Bounds) -> bool:
    above = outer[1] is None or (inner[1] is not None and inner[1] <= outer[1])
    return above and (inner[0] or 0) >= (outer[0] or 0)


@openvino("Assign", since=3)
def assign(new_value: Tensor, *, variable_id: str) -> Tensor:
    """OpenVINO Assign-3 and -6."""
    return Tensor(new_value.dtype, new_value.shape, new_value.value)
