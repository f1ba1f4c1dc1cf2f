"""OpenVINO FakeQuantize, and checks for FakeQuantize layers that the CPU plugin refuses to compile."""

from __future__ import annotations

from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.auto_broadcast import Broadcasting, broadcast_by
from irlint.ops.shared.compiling import Layer, first_of, not_compiled

#: If input 0 has one of these element types, the CPU plugin never decomposes the layer into simpler layers.
_NEVER_DECOMPOSED = frozenset({"int16", "uint16", "int32", "uint32", "int64", "uint64"})


def _too_few_levels(layer: Layer) -> Fault | None:
    """Returns a fault if ``levels`` is 0 or 1, and the CPU plugin does not decompose the layer."""
    levels = layer.attributes["levels"]
    decomposed = layer.sizes(0) is not None and layer.dtype(0) not in _NEVER_DECOMPOSED
    if levels not in (0, 1) or decomposed or not {1, 2, 3, 4} <= layer.fixed:
        return None
    return not_compiled(
        f"attribute `levels` is {levels}, but the CPU plugin requires at least 2",
        help="use the number of quantization levels, such as 256",
        attribute="levels",
        forbidden=True,
    )


#: The CPU plugin cannot quantize a model input of these element types to these numbers of levels.
_UNQUANTIZED_TYPES = frozenset({"int16", "uint16", "int32", "uint32", "uint64", "float64"})
_QUANTIZED_LEVELS = frozenset({15, 16, 255, 256})


def _unquantized_type(layer: Layer) -> Fault | None:
    """Returns a fault if the plugin cannot quantize the element type of input 0, a model input, by constant limits."""
    dtype, levels = layer.dtype(0), layer.attributes["levels"]
    if dtype not in _UNQUANTIZED_TYPES or levels not in _QUANTIZED_LEVELS or not {1, 2, 3, 4} <= layer.fixed:
        return None
    data = layer.inputs[0]
    is_refused_rank = dtype == "int32" or (isinstance(data, Tensor) and data.rank in (2, 3, 4, 5))
    if not is_refused_rank or 0 not in layer.direct:
        return None
    return not_compiled(
        f"input 0 is {dtype} and the limits are constants; the CPU plugin cannot quantize {dtype} in {levels} levels",
        help="convert input 0 to float32",
        input=0,
    )


def _along_axis_2(layer: Layer) -> Fault | None:
    """Returns a fault if input 0 is a model input, and the limits differ along axis 2."""
    data, limits = layer.inputs[0], [layer.sizes(index) for index in range(1, 5)]
    if not isinstance(data, Tensor) or data.rank not in (3, 4, 5) or None in limits:
        return None
    axes = {
        data.rank - len(sizes) + at for sizes in limits if sizes is not None for at, dim in enumerate(sizes) if dim != 1
    }
    undecomposed = layer.attributes["levels"] == 2 or layer.sizes(0) is None or layer.dtype(0) in _NEVER_DECOMPOSED
    if axes != {2} or not undecomposed or not {1, 2, 3, 4} <= layer.fixed or 0 not in layer.direct:
        return None
    return not_compiled(
        f"the limits differ along axis 2 of input 0, which is {shape_text(data.shape)}; the CPU plugin does not "
        "quantize an input of the model along this axis" + ("" if layer.sizes(0) else " if sizes are dynamic"),
        help="use limits of one element, or limits along axis 1",
        input=1,
    )


#: The CPU plugin tries to remove a layer with this number of levels, if the limits have one of these types, and the
#: limits of input and output are equal.
_REMOVED_LEVELS = 65536
_REMOVED_TYPES = frozenset({"float32", "float16", "bfloat16"})

#: The plugin treats limits with at most this difference as equal.
_TOLERANCE = 2**-20


def _removed(layer: Layer) -> Fault | None:
    """Returns a fault if the CPU plugin tries to remove the layer, and cannot remove it."""
    types = {layer.dtype(index) for index in range(1, 5)}
    if layer.attributes["levels"] != _REMOVED_LEVELS or not types <= _REMOVED_TYPES:
        return None
    if not (_are_equal(layer, 1, 3) and _are_equal(layer, 2, 4)):
        return None
    text = (
        f"attribute `levels` is {_REMOVED_LEVELS} and the limits of input and output are equal; the CPU plugin tries "
        "to remove this layer"
    )
    help = f"remove the layer, or write another number of levels, such as {_REMOVED_LEVELS - 1}"
    if types == {"float16"} and {1, 2, 3, 4} <= layer.fixed:
        return not_compiled(f"{text}, and needs numbers that float16 cannot represent", help=help, attribute="levels")
    if 0 not in layer.outward or not (0 in layer.direct or 0 in layer.leaving):
        return None
    between = "an input" if 0 in layer.direct else "an output"
    return not_compiled(
        f"{text}, but no layer would remain between {between} and an output of the model", help=help, attribute="levels"
    )


def _are_equal(layer: Layer, one: int, other: int) -> bool:
    """Whether two limits are known and equal after broadcasting."""
    left, right = (layer.inputs[index] for index in (one, other))
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.value is None or right.value is None:
        return False
    if len(left.value) != len(right.value) and 1 not in (len(left.value), len(right.value)):
        return False
    count = max(len(left.value), len(right.value))
    pairs = zip(left.value * (count // len(left.value) or 1), right.value * (count // len(right.value) or 1))
    return all(
        isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= _TOLERANCE for a, b in pairs
    )


@openvino(
    "FakeQuantize",
    absent={"levels": 0},
    spelled={"auto_broadcast_axis": "auto_broadcast.auto_broadcast_axis"},
    compiles=first_of(_too_few_levels, _unquantized_type, _along_axis_2, _removed),
    ignores_extra_inputs=True,
)
def fake_quantize(
    x: Tensor,
    input_low: Tensor,
    input_high: Tensor,
    output_low: Tensor,
    output_high: Tensor,
    *,
    levels: int,
    broadcasting: Broadcasting,
    context: Context,
) -> Tensor:
    """OpenVINO FakeQuantize-1: the limits are broadcast with ``x``. The result has the shape of ``x``."""
    if levels < 2 and "levels" in context.node.attributes:
        warn(_levels_fault(levels))
    limits = (input_low.shape, input_high.shape, output_low.shape, output_high.shape)
    broadcast_by(broadcasting, (x.shape, *limits))
    return Tensor(x.dtype, x.shape)


def _levels_fault(levels: int) -> Fault:
    return ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `levels` is {levels}; the specification requires at least 2, and OpenVINO does not check it",
        help="use the number of quantization levels, such as 256",
        attribute="levels",
        severity=Severity.WARNING,
    )
