"""Normalizations without weights: LRN, MVN, MeanVarianceNormalization, GRN, LpNormalization and NormalizeL2."""

from __future__ import annotations

from collections.abc import Callable

from irlint.dims import Shape
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Ints, axes_of, axis_of
from irlint.ops.shared.compiling import UNREADABLE, Layer, constants_at, first_of, not_compiled, readable_constants
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank, warn_of_rank
from irlint.ops.shared.shape_inputs import known_integers, length

MvnEpsMode = Literal["INSIDE_SQRT", "OUTSIDE_SQRT"]
EpsMode = Literal["add", "max"]


@onnx("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """ONNX LpNormalization."""
    if p not in (1, 2):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `p` is {p}; it has to be 1 or 2", help="use 1 or 2", attribute="p"
        )
    if x.shape is not None:
        axis_of(axis, len(x.shape), "attribute `axis`")
    return Tensor(x.dtype, x.shape)


@onnx("MeanVarianceNormalization", until=8, early=True)
def normalized_before_opset_9(x: Tensor, *, across_channels: int = 0, normalize_variance: int = 1) -> Tensor:
    """ONNX Runtime's MeanVarianceNormalization for opsets 1 to 8. ONNX adds the operator in opset 9."""
    return Tensor(x.dtype, x.shape)


@onnx("MeanVarianceNormalization", since=9)
def mean_variance_normalization(x: Tensor, *, axes: Ints = (0, 2, 3)) -> Tensor:
    """ONNX MeanVarianceNormalization-9. ONNX Runtime does not check the range of the axes."""
    _warn_of_axes(x.shape, axes)
    return Tensor(x.dtype, x.shape)


def _warn_of_axes(shape: Shape | None, axes: tuple[int, ...]) -> None:
    if shape is None:
        return
    try:
        axes_of(axes, len(shape), repeats=True)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))


@onnx("LRN")
def lrn(x: Tensor, *, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0, size: int) -> Tensor:
    """ONNX LRN. ONNX Runtime, unlike the specification, accepts only an odd ``size``."""
    if size < 1 or size % 2 == 0:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `size` is {size}; it has to be at least 1"
            if size < 1
            else f"attribute `size` is {size}; ONNX Runtime requires an odd number",
            help="use an odd number of channels",
            attribute="size",
        )
        if size < 1:
            raise fault
        warn(fault.lowered(Severity.WARNING))
    for name, number in (("alpha", alpha), ("beta", beta)):
        if not number > 0:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {number:g}; it must be above 0",
                help=f"use a positive `{name}`, or remove it",
                attribute=name,
            )
    expect_rank(x, 0, least=2, what="X")
    warn_of_rank(x, 0, 4, what="X")
    return Tensor(x.dtype, x.shape)


def _compiled_lrn(layer: Layer) -> Fault | None:
    """Returns a fault if the CPU plugin does not support the rank of the data or the axes."""
    data, axes = layer.inputs[0], layer.inputs[1]
    known_axes = known_integers(axes) if isinstance(axes, Tensor) else None
    if not isinstance(data, Tensor) or data.shape is None:
        return None
    rank = len(data.shape)
    if not 2 <= rank <= 5:
        return not_compiled(
            f"input 0 has {counted(rank, 'axis', 'axes')}, but the CPU plugin supports 2 to 5",
            help="reshape input 0 to 2 to 5 axes",
            input=0,
        )
    if known_axes in (None, (1,)) or (known_axes and {*range(2, rank)} <= {*known_axes} <= {*range(rank)}):
        return None
    return not_compiled(
        f"input 1 (axes) is {list(known_axes)}; the CPU plugin supports [1], and lists that contain all axes from "
        "2 on (counted from 0)",
        help="write [1] for the channels, or every axis from 2 on",
        input=1,
    )


def _compiled_size(layer: Layer) -> Fault | None:
    size = layer.attributes["size"]
    if size >= 0:
        return None
    return not_compiled(
        f"attribute `size` is {size}",
        help="write an odd number of neighbors, such as 5",
        attribute="size",
        forbidden=True,
    )


@openvino(
    "LRN",
    absent={"alpha": 0.0, "beta": 0.0, "bias": 0.0, "size": 0},
    compiles=first_of(constants_at(1), _compiled_lrn, _compiled_size),
    ignores_extra_inputs=True,
)
def ov_lrn(data: Tensor, axes: Tensor, *, alpha: float, beta: float, bias: float, size: int) -> Tensor:
    """OpenVINO LRN-1. If the axes are not constants, OpenVINO reads them as [1]."""
    expect_type(axes, 1, INTEGERS, read=False)
    expect_rank(axes, 1, 1, what="axes")
    _expect_axes_within_rank(data, axes)
    known_axes = known_integers(axes)
    if known_axes is None:
        known_axes = (1,)
    if data.shape is not None:
        axes_of([axis for axis in known_axes if axis >= 0], len(data.shape), repeats=True)
        _warn_of_axes(data.shape, known_axes)
    return Tensor(data.dtype, data.shape)


def _expect_axes_within_rank(data: Tensor, axes: Tensor) -> None:
    count = length(axes)
    if data.shape is not None and count is not None and count > len(data.shape):
        expect_rank(data, 0, least=count, what=f"normalized along {counted(count, 'axis', 'axes')}")


def _integer_axes(starts: tuple[int, ...]) -> Callable[[Layer], Fault | None]:
    """Returns a check that refuses axes that are not integers.

    The check accepts other types if ``axes`` lists all axes from one of ``starts`` on.
    """

    def refused(layer: Layer) -> Fault | None:
        data, axes = layer.inputs[:2]
        if not isinstance(axes, Tensor) or axes.dtype is None or axes.dtype in INTEGERS:
            return readable_constants(1)(layer)
        known_axes = None if axes.dtype in UNREADABLE else known_integers(axes)
        rank = data.rank if isinstance(data, Tensor) else None
        if known_axes is not None and (rank is None or _are_last_axes(known_axes, rank, starts)):
            return None
        return not_compiled(
            f"input 1 (axes) is {axes.dtype}, but the CPU plugin uses reductions, whose axes must be integers",
            help="convert input 1 to int64",
            input=1,
            forbidden=True,
        )

    return refused


def _are_last_axes(axes: tuple[int, ...], rank: int, starts: tuple[int, ...]) -> bool:
    """Whether ``axes`` lists exactly the axes from one of ``starts`` to the last axis."""
    return sorted({axis % rank for axis in axes}) in [list(range(start, rank)) for start in starts if start < rank]


def _compiled_l2(layer: Layer) -> Fault | None:
    axes = layer.inputs[1]
    if isinstance(axes, Tensor) and axes.value is not None and [*axes.value] == [1]:
        return readable_constants(1)(layer)
    return _integer_axes((1,))(layer)


@openvino("NormalizeL2", absent={"eps": 0.0, "eps_mode": "add"}, read_at_load=(1,), compiles=_compiled_l2)
def normalize_l2(data: Tensor, axes: Tensor, *, eps: float, eps_mode: EpsMode) -> Tensor:
    """OpenVINO NormalizeL2-1."""
    expect_rank(axes, 1, 0, 1, what="axes")
    known_axes = known_integers(axes)
    if data.shape is not None and known_axes is not None:
        axes_of(known_axes, len(data.shape), repeats=True)
    return Tensor(data.dtype, data.shape)


@openvino("MVN", since=2, until=5, absent={"normalize_variance": False, "eps": 0.0}, labels={"opset1": 2})
def ov_mvn_2(
    data: Tensor,
    *,
    across_channels: bool = False,
    eps: float,
    normalize_variance: bool,
    reduction_axes: Ints | None = None,
) -> Tensor:
    """OpenVINO MVN of opset2. The library does not check the range of the axes."""
    if reduction_axes:
        _warn_of_axes(data.shape, reduction_axes)
    return Tensor(data.dtype, data.shape)


def _compiled_axes(layer: Layer) -> Fault | None:
    """Returns a fault if an axis is out of range. The CPU plugin does not check axes that exceed 32 bits."""
    data, axes = layer.inputs[0], layer.inputs[1]
    if not isinstance(data, Tensor) or not isinstance(axes, Tensor) or data.shape is None:
        return None
    rank, known_axes = len(data.shape), known_integers(axes)
    outside = [axis for axis in known_axes or () if not -rank <= axis < rank and abs(axis) < 2**31]
    if not outside:
        return None
    return not_compiled(
        f"input 1 (axes) lists {outside[0]}; allowed: {-rank} to {rank - 1}",
        help=f"list axes in the range {-rank} to {rank - 1}",
        input=1,
        forbidden=True,
    )


@openvino(
    "MVN",
    since=6,
    absent={"normalize_variance": False, "eps": 0.0, "eps_mode": "INSIDE_SQRT"},
    read_at_load=(1,),
    compiles=first_of(_compiled_axes, _integer_axes((1, 2))),
)
def ov_mvn_6(data: Tensor, axes: Tensor, *, eps: float, eps_mode: MvnEpsMode, normalize_variance: bool) -> Tensor:
    """OpenVINO MVN-6. OpenVINO checks the range of the axes only when it compiles the model."""
    expect_rank(axes, 1, 1, what="axes")
    _expect_axes_within_rank(data, axes)
    _warn_of_axes(data.shape, known_integers(axes) or ())
    return Tensor(data.dtype, data.shape)


@openvino("GRN", absent={"bias": 1.0})
def grn(data: Tensor, *, bias: float) -> Tensor:
    """OpenVINO GRN-1."""
    expect_rank(data, 0, 2, 3, 4, what="data")
    return Tensor(data.dtype, data.shape)
