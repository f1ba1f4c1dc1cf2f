"""Global pooling, and OpenVINO's adaptive pooling, which has the output sizes as an input."""

from __future__ import annotations

from irlint.dims import Shape, at_least, same
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.nn.pooling import DType, expect_elements, index_type_fault
from irlint.ops.onnxruntime.pooling import expect_scales
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, readable_constants
from irlint.ops.shared.operands import RANK_MISMATCH, expect_shape, expect_spatial_rank
from irlint.ops.shared.windows import arranged, channel_axis
from irlint.schemas import MICROSOFT, NCHWC, NHWC


def _globally_pooled(x: Shape | None, first: int = 2) -> Shape | None:
    """The shape ``x`` with size 1 on every spatial axis. ``first`` is the first spatial axis."""
    if x is None:
        return None
    expect_spatial_rank(x)
    expect_elements(x, first)
    return arranged(x[0], x[channel_axis(len(x), first)], (1,) * (len(x) - 2), first=first)


def _lenient(x: Shape | None) -> Shape | None:
    """As ``_globally_pooled``, but only warns of an input without a spatial axis."""
    if x is None or len(x) != 2:
        return _globally_pooled(x)
    warn(
        RANK_MISMATCH.fault(
            "input 0 has 2 axes, batch and channels; the specification does not exclude this, but ONNX Runtime expects "
            "a spatial axis",
            help="give input 0 a spatial axis (Unsqueeze)",
            input=0,
            severity=Severity.WARNING,
        )
    )
    return x


@onnx("GlobalAveragePool", "GlobalMaxPool", since=1)
@onnx("GlobalAveragePool", "GlobalMaxPool", domain=NCHWC)
def global_pool(X: Tensor) -> Tensor:
    """ONNX GlobalAveragePool and GlobalMaxPool."""
    return Tensor(X.dtype, _lenient(X.shape))


@onnx("GlobalLpPool", since=1)
def global_lp_pool_1(X: Tensor, *, p: float = 2.0) -> Tensor:
    """ONNX GlobalLpPool-1."""
    return Tensor(X.dtype, _lenient(X.shape))


@onnx("GlobalLpPool", since=2)
def global_lp_pool_2(X: Tensor, *, p: int = 2) -> Tensor:
    """ONNX GlobalLpPool-2 and later."""
    return Tensor(X.dtype, _lenient(X.shape))


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", domain=NHWC)
def nhwc_global_pool(X: Tensor, *, p: int = 2) -> Tensor:
    """com.ms.internal.nhwc GlobalAveragePool, GlobalMaxPool and GlobalLpPool."""
    return Tensor(X.dtype, _globally_pooled(X.shape, first=1))


@onnx("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_global_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    *,
    channels_last: int = 0,
) -> Tensor:
    """com.microsoft QLinearGlobalAveragePool."""
    expect_scales(x_scale, x_zero_point, y_scale, y_zero_point)
    return Tensor(X.dtype, _globally_pooled(X.shape, first=1 if channels_last else 2))


def _adaptively_pooled(data: Tensor, output_shape: Tensor) -> Shape | None:
    """The shape of an adaptive pooling. OpenVINO reads -1 as unknown, and a smaller number as 0."""
    x = data.shape
    expect_spatial_rank(x, highest=5)
    if x is None:
        return None
    target = output_shape.shape
    if target is None or len(target) < 2:
        expect_shape(output_shape, 1, "output_shape", wanted=(len(x) - 2,), why="an entry for each spatial axis")
    else:
        expect_shape(output_shape, 1, "output_shape", wanted=(len(x) - 2, *[1] * (len(target) - 1)))
    sizes = output_shape.ints or (None,) * (len(x) - 2)
    return (*x[:2], *(None if same(size, -1) else 0 if at_least(size, 0) is False else size for size in sizes))


def _compiled_target(layer: Layer) -> Fault | None:
    target = layer.inputs[1]
    if not isinstance(target, Tensor) or target.shape is None or len(target.shape) == 1:
        return None
    return not_compiled(
        f"input 1 (output_shape) is {shape_text(target.shape)}; the CPU plugin requires a list",
        help="make input 1 a list, with an entry for each spatial axis",
        input=1,
        forbidden=True,
    )


@openvino("AdaptiveAvgPool", since=8, compiles=first_of(readable_constants(1), _compiled_target))
def adaptive_avg_pool(data: Tensor, output_shape: Tensor) -> Tensor:
    """OpenVINO AdaptiveAvgPool-8."""
    return Tensor(data.dtype, _adaptively_pooled(data, output_shape))


def _compiled_indices(layer: Layer) -> Fault | None:
    if layer.attributes["index_element_type"] != "int64":
        return None
    return not_compiled(
        "attribute `index_element_type` is i64, its default, but the CPU plugin supports only int32",
        help="write i32",
        attribute="index_element_type",
    )


@openvino("AdaptiveMaxPool", since=8, compiles=first_of(readable_constants(1), _compiled_target, _compiled_indices))
def adaptive_max_pool(
    data: Tensor, output_shape: Tensor, *, index_element_type: DType | None = "int64"
) -> tuple[Tensor, Tensor]:
    """OpenVINO AdaptiveMaxPool-8."""
    if index_element_type not in ("int32", "int64"):
        raise index_type_fault(index_element_type)
    shape = _adaptively_pooled(data, output_shape)
    return Tensor(data.dtype, shape), Tensor(index_element_type, shape)
