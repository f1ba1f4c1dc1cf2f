"""Expand and Broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared import contents as fold
from irlint.ops.shared.auto_broadcast import PDPD_MISMATCH
from irlint.ops.shared.broadcast import broadcast, stretched, stretches
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED, expect_rank
from irlint.ops.shared.shape_inputs import SIZE_NEGATIVE, entries, known_integers, length, openvino_shape, stated_size

BroadcastMode = Literal["numpy", "explicit", "none", "bidirectional", "pdpd"]
LegacyBroadcastMode = Literal["numpy", "explicit", "none", "pdpd"]

_LAYERS = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="DATA" element_type="f32"/><output>\
<port id="0" precision="FP32">DIMS</port></output></layer>
<layer id="1" name="t" type="Parameter" version="opset1"><data shape="1,16,50,50" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>16</dim><dim>50</dim><dim>50</dim></port></output></layer>
<layer id="2" name="target" type="ShapeOf" version="opset3"><data output_type="i64"/><input><port id="0"/></input>\
<output><port id="1" precision="I64"><dim>4</dim></port></output></layer>
<layer id="3" name="b" type="Broadcast" version="opset3"><data mode="MODE"/><input><port id="0"/><port id="1"/>\
</input><output><port id="2" precision="FP32"><dim>1</dim><dim>16</dim><dim>50</dim><dim>50</dim></port></output>\
</layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="2" from-port="1" to-layer="3" to-port="1"/>\
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
</edges></net>"""


def _example(mode: str, *data: int) -> str:
    """A document with a Broadcast to the shape of another input."""
    dims = "".join(f"<dim>{dim}</dim>" for dim in data)
    text = _LAYERS.replace("DATA", ",".join(map(str, data))).replace("DIMS", dims)
    return text.replace("MODE", mode)


_MAPPING = """<layer id="5" name="m" type="Parameter" version="opset1"><data shape="FIRST,SECOND" element_type="f32"/>\
<output><port id="0" precision="FP32"><dim>FIRST</dim><dim>SECOND</dim></port></output></layer>
<layer id="6" name="axes" type="ShapeOf" version="opset3"><data output_type="i64"/><input><port id="0"/></input>\
<output><port id="1" precision="I64"><dim>2</dim></port></output></layer>
"""
_MAPPING_EDGES = """<edge from-layer="5" from-port="0" to-layer="6" to-port="0"/><edge from-layer="6" from-port="1" to-layer="3" to-port="3"/>
"""


def _mapping_example(first: int, second: int) -> str:
    """A document with a Broadcast in explicit mode. Its mapping is the shape [first, second] of a model input."""
    text = _example("explicit", 16, 50)
    text = text.replace("</layers>", _MAPPING.replace("FIRST", str(first)).replace("SECOND", str(second)) + "</layers>")
    text = text.replace(
        '<port id="1"/></input><output><port id="2" precision="FP32">',
        '<port id="1"/><port id="3"/></input><output><port id="2" precision="FP32">',
    )
    return text.replace("</edges>", _MAPPING_EDGES + "</edges>")


BROADCAST_TARGET = Rule(
    "IRL207",
    "broadcast-target-mismatch",
    Severity.ERROR,
    "A tensor cannot be broadcast to the target shape.",
    why="Only an axis of size 1 can be broadcast; any other axis must already have the size of the target. In mode `numpy`, the result has the shape of the target. In ONNX Expand and in mode `bidirectional`, a target size of 1 is also broadcast to the data. OpenVINO prints only the two sizes, and ONNX Runtime often fails only at run time.",
    fix="Align the shapes at their last axes, and make each axis of the data 1 or equal to the target.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[16,2,1] x) => (float[1,16,50,50] y) <int64[4] shape = {1, 16, 50, 50}> { y = Expand (x, shape) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[16,1,1] x) => (float[1,16,50,50] y) <int64[4] shape = {1, 16, 50, 50}> { y = Expand (x, shape) }""",
)

AXES_MAPPING = Rule(
    "IRL208",
    "axes-mapping-invalid",
    Severity.ERROR,
    "`axes_mapping` of a Broadcast does not assign one target axis to each axis of the data.",
    why="In explicit mode, `axes_mapping` lists the target axis for each axis of the data, in ascending order. OpenVINO refuses a wrong length, order or range. It accepts a repeated axis, but then the result contains uninitialized memory.",
    fix="List one target axis for each axis of the data, in ascending order, without repetition.",
    bad=_mapping_example(2, 1),
    good=_mapping_example(1, 2),
)

BROADCAST_INPUTS = Rule(
    "IRL209",
    "broadcast-inputs-unfit-for-mode",
    Severity.ERROR,
    "The mode of a Broadcast and its third input contradict each other.",
    why="The third input, `axes_mapping`, is only for the explicit mode. Broadcast-3 refuses `axes_mapping` in any other mode, and refuses the explicit mode without `axes_mapping`. Broadcast-1 ignores `axes_mapping` in other modes; in explicit mode without `axes_mapping`, Broadcast-1 silently broadcasts by NumPy's rule.",
    fix="If `axes_mapping` is missing, connect it, or set `mode` to numpy. If it is not used, remove it, or set `mode` to explicit.",
    bad=_example("explicit", 16, 1, 1),
    good=_example("numpy", 16, 1, 1),
)


def expanded(data: Shape | None, target: Shape | None) -> Shape | None:
    """The shape of ONNX Expand and OpenVINO's ``bidirectional`` mode. Raises a ``BROADCAST_TARGET`` fault."""
    try:
        return broadcast((data, target))
    except Fault as fault:
        assert data is not None and target is not None
        raise _target_fault(data, target, both=True) from fault


def repeated(data: Shape | None, target: Shape | None) -> Shape | None:
    """The shape of OpenVINO's ``numpy`` mode, which is ``target``. Raises a ``BROADCAST_TARGET`` fault."""
    if data is None or target is None:
        return target
    if len(data) > len(target):
        raise _target_fault(data, target)
    try:
        stretched(target, data, 0, onto=1)
    except Fault as fault:
        raise _target_fault(data, target) from fault
    padded = (1,) * (len(target) - len(data)) + data
    return tuple(_size_of_target(dim, size) for dim, size in zip(target, padded))


def _size_of_target(dim: MaybeDim, size: MaybeDim) -> MaybeDim:
    """The target's size ``dim``. If it is unknown and the data's ``size`` is not 1, the data's size."""
    return size if dim is None and size is not None and same(size, 1) is False else dim


def _rank_help(data: Shape, target: Shape) -> str:
    alternative = f", or input 0 at most {len(target)}" if target else ""
    return f"give the target at least {counted(len(data), 'axis', 'axes')}{alternative}"


def _target_fault(data: Shape, target: Shape, *, both: bool = False) -> Fault:
    if len(data) > len(target) and not both:
        return BROADCAST_TARGET.fault(
            f"input 0 has {counted(len(data), 'axis', 'axes')} and the target has {len(target)}",
            help=_rank_help(data, target),
            input=0,
        )
    offset = len(target) - len(data)
    clashes = []
    for axis in range(max(-offset, 0), len(data)):
        if _clash(data[axis], target[axis + offset], both):
            clashes.append((axis, axis + offset))
    texts = "; ".join(
        f"axis {axis} of input 0 is {data[axis]}, and entry {entry} of the target is {target[entry]}"
        for axis, entry in clashes
    )
    axis, entry = clashes[0] if clashes else (0, 0)
    both_shapes = f"{shape_text(data)} to {shape_text(target)}"
    return BROADCAST_TARGET.fault(
        texts if len(clashes) == 1 else f"{texts}: {both_shapes}" if texts else both_shapes,
        help=f"set entry {entry} of the target to {data[axis]}, or give axis {axis} of input 0 the size 1 or "
        f"{target[entry]}"
        if clashes
        else "make the sizes equal, or 1",
        input=0,
        marks=tuple((0, axis) for axis, _ in clashes),
        remark="neither 1 nor the target's size",
    )


def _clash(size: MaybeDim, dim: MaybeDim, both: bool) -> bool:
    """Whether ``size`` of the data certainly cannot be broadcast to ``dim``.

    With ``both``, the result is False if ``dim`` may be broadcast to ``size``.
    """
    differ = same(size, dim) is False and same(size, 1) is False
    return differ and (not both or same(dim, 1) is False)


def mapped(data: Shape | None, target: Shape | None, axes: Sequence[int] | None) -> Shape | None:
    """The shape of OpenVINO's ``explicit`` mode, which is ``target``.

    ``axes`` has the axis of the target to which each axis of the data is mapped. Raises an ``AXES_MAPPING`` or
    ``BROADCAST_TARGET`` fault.
    """
    if axes is None or target is None:
        return target
    for position, axis in enumerate(axes):
        if not 0 <= axis < len(target):
            raise AXES_MAPPING.fault(
                f"entry {position} of axes_mapping (input 2) is {axis} and the target {shape_text(target)} has "
                f"{counted(len(target), 'axis', 'axes')}",
                help=f"name axes from 0 to {len(target) - 1}",
                input=2,
            )
    if list(axes) != sorted(set(axes)):
        twice = len(set(axes)) < len(axes)
        raise AXES_MAPPING.fault(
            f"axes_mapping (input 2) is {list(axes)}: "
            + (
                "an axis appears twice, so the result would contain uninitialized memory"
                if twice
                else "it is not in ascending order"
            ),
            help="list each axis once" if twice else f"write {sorted(axes)}, and transpose the data first",
            input=2,
        )
    for axis, entry in enumerate(axes if data else ()):
        assert data is not None
        why = f"axis {axis} of input 0 is mapped to axis {entry} of the target"
        if not stretches(data[axis], target[entry], why):
            raise BROADCAST_TARGET.fault(
                f"axis {axis} of input 0 is {data[axis]}, but entry {entry} of the target, to which it is mapped, is "
                f"{target[entry]}",
                help=f"give axis {axis} of input 0 the size 1 or {target[entry]}, or map it to another axis",
                input=0,
                marks=((0, axis),),
            )
    return target


def _expect_mapping_length(data: Tensor, axes_mapping: Tensor, target: Shape | None) -> None:
    count = length(axes_mapping)
    if data.shape is None or count is None or count == len(data.shape):
        return
    if not data.shape and count == 1:
        axes = known_integers(axes_mapping)
        if axes is None or target is None or not 0 <= axes[0] < len(target):
            return
        if agree(target[axes[0]], 1, "a scalar is mapped to an axis of size 1"):
            return
    raise AXES_MAPPING.fault(
        f"axes_mapping (input 2) lists {counted(count, 'axis', 'axes')} and input 0 has {len(data.shape)}",
        help="list one axis of the target for each axis of input 0",
        input=2,
    )


def _broadcast_values(data: Tensor, shape: Shape | None) -> Tensor:
    if data.value is None and data.extent is None:
        return Tensor(data.dtype, shape)
    if data.value is None or data.shape is None or not fold.fits(shape) or not fold.fits(data.shape):
        from irlint.ops.shared import bounds

        return Tensor(data.dtype, shape, None, bounds.spread(data, shape))
    assert shape is not None
    return Tensor(data.dtype, shape, fold.spread(data.value, data.shape, shape))


def _expect_list(shape: Tensor, version: int, *, constant: bool) -> None:
    """Checks that the shape input is a list. Warns of a constant of several axes, which ONNX Runtime accepts."""
    if not constant or version < 13:
        expect_rank(shape, 1, 1, what="shape")
    if shape.shape is None or len(shape.shape) < 2:
        return
    fault = INPUT_RANK_REFUSED.fault(
        f"input 1 (shape) is {shape_text(shape.shape)}; the operator requires a list",
        help="make input 1 a list",
        input=1,
    )
    warn(fault.lowered(Severity.WARNING))


@onnx("Expand", since=8)
def expand(input: Tensor, shape: Tensor, *, context: Context) -> Tensor:
    """ONNX Expand-8 and 13."""
    _expect_list(shape, context.version, constant=context.constant(1))
    listed = entries(shape)
    if listed is None:
        return Tensor(input.dtype)
    target = tuple(stated_size(entry, 1, f"entry {position}") for position, entry in enumerate(listed))
    return _broadcast_values(input, expanded(input.shape, target))


# --- OpenVINO Broadcast -----------------------------------------------------------------------------------------------


def broadcast_along(data: Shape | None, target: Shape | None, axis: int) -> Shape | None:
    """The shape of OpenVINO's ``pdpd`` mode, with axis 0 of ``data`` aligned with ``axis`` of ``target``.

    Axes of ``data`` past the end of ``target`` are dropped, with a warning. Raises a ``PDPD_MISMATCH`` or
    ``BROADCAST_TARGET`` fault. Source: the OpenVINO library.
    """
    if target is None or data is None:
        return None if target is None else (None,) * len(target)
    start = len(target) - len(data) if axis == -1 else axis
    surplus = start + len(data) - len(target)
    if start < 0 or surplus < 0:
        raise _misaligned(data, target, start)
    surplus = min(surplus, len(data))
    if surplus:
        warn(_misaligned(data, target, start).lowered(Severity.WARNING))
    return expanded(data[: len(data) - surplus], target)


def _misaligned(data: Shape, target: Shape, start: int) -> Fault:
    expected = len(target) - len(data)
    if expected < 0:
        return PDPD_MISMATCH.fault(
            f"input 0 is {shape_text(data)} and has more axes than the target, {shape_text(target)}",
            help=_rank_help(data, target),
            input=0,
        )
    return PDPD_MISMATCH.fault(
        f"input 0 is {shape_text(data)} and is aligned with the target, {shape_text(target)}, from axis {start} on: "
        "the last axes must be aligned",
        help=f"write the axis {expected}",
        input=0,
    )


def _broadcast(data: Tensor, target: Tensor, axes_mapping: Tensor | None, *, mode: str, axis: int) -> Tensor:
    shape = openvino_shape(target, 1)
    if mode == "bidirectional":
        return _broadcast_values(data, expanded(data.shape, shape))
    if mode == "numpy":
        return _broadcast_values(data, repeated(data.shape, shape))
    if mode == "pdpd":
        return Tensor(data.dtype, broadcast_along(data.shape, shape, axis))
    assert axes_mapping is not None
    expect_type(axes_mapping, 2, INTEGERS)
    expect_rank(axes_mapping, 2, 1, what="axes_mapping")
    _expect_mapping_length(data, axes_mapping, shape)
    axes = known_integers(axes_mapping)
    found = mapped(data.shape, shape, axes)
    if data.extent is None or data.shape is None or found is None or axes is None:
        return Tensor(data.dtype, found)
    aligned = tuple(data.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(found)))
    return _broadcast_values(fold.rearranged(data, aligned), found)


def _expect_target(target: Tensor) -> None:
    expect_type(target, 1, INTEGERS)
    expect_rank(target, 1, 1, what="target_shape")
    for position, entry in enumerate(entries(target) or ()):
        if isinstance(entry, int) and entry < 0:
            warn(_fault_of_negative(position, entry))
            return


def _fault_of_negative(position: int, entry: int) -> Fault:
    return SIZE_NEGATIVE.fault(
        f"entry {position} of the target is {entry}: OpenVINO reads "
        + ("-1 as a dynamic size, and fails at run time" if entry == -1 else "entries below -1 as 0"),
        help="use a size of 0 or more",
        input=1,
        severity=Severity.WARNING,
    )


#: For constants of these types, the plugin reads past the end of the data and crashes.
_OVERREAD = frozenset({"int8", "uint8"})


def _compiled_broadcast(layer: Layer) -> Fault | None:
    mode = str(layer.attributes["mode"] or "explicit").lower()
    if mode == "bidirectional":
        return None
    for index in (1, 2) if mode in ("explicit", "none") else (1,):
        if layer.dtype(index) in _OVERREAD and index in layer.fixed:
            return not_compiled(
                f"input {index} is a constant of {layer.dtype(index)}, which the CPU plugin does not read there",
                help=f"convert input {index} to int64",
                input=index,
            )
    return None


@openvino(
    "Broadcast",
    until=2,
    spelled={"axis": "mode.auto_broadcast_axis"},
    fills_in=True,
    read_at_load=(1,),
    compiles=_compiled_broadcast,
    ignores_extra_inputs=True,
)
def ov_legacy_broadcast(
    data: Tensor,
    target_shape: Tensor,
    axes_mapping: Tensor | None = None,
    *,
    mode: LegacyBroadcastMode | None = None,
    axis: int = 0,
) -> Tensor:
    """OpenVINO Broadcast-1; without ``mode``, the number of inputs decides."""
    _expect_target(target_shape)
    chosen = mode or ("numpy" if axes_mapping is None else "explicit")
    if chosen == "pdpd" and axes_mapping is None:
        raise BROADCAST_INPUTS.fault(
            "mode is pdpd and there is no third input, but OpenVINO tries to read it",
            help="use opset3, or another mode",
        )
    # The library writes a scalar as input 2 if the mode needs no mapping.
    if chosen == "numpy" and axes_mapping is not None and axes_mapping.shape != ():
        warn(
            BROADCAST_INPUTS.fault(
                "mode is numpy, so OpenVINO ignores input 2 (axes_mapping)",
                help="remove input 2, or set mode to explicit",
                input=2,
                severity=Severity.WARNING,
            )
        )
    if chosen in ("explicit", "none") and axes_mapping is None:
        warn(
            BROADCAST_INPUTS.fault(
                f"mode is {chosen} and there is no axes_mapping (input 2): OpenVINO broadcasts by NumPy's rule",
                help="connect axes_mapping, or set mode to numpy",
                severity=Severity.WARNING,
            )
        )
        chosen = "numpy"
    return _broadcast(data, target_shape, axes_mapping, mode=chosen, axis=axis)


@openvino(
    "Broadcast",
    since=3,
    spelled={"axis": "mode.mode.axis"},
    fills_in=True,
    read_at_load=(1,),
    compiles=_compiled_broadcast,
)
def ov_broadcast(
    data: Tensor,
    target_shape: Tensor,
    axes_mapping: Tensor | None = None,
    *,
    mode: BroadcastMode = "numpy",
    axis: int = 0,
) -> Tensor:
    """OpenVINO Broadcast-3. The library also accepts the mode ``pdpd``, and reads ``none`` as ``explicit``."""
    _expect_target(target_shape)
    explicit = mode in ("explicit", "none")
    if explicit and axes_mapping is None:
        raise BROADCAST_INPUTS.fault(
            f"mode is {mode} and there is no axes_mapping (input 2)", help="connect axes_mapping, or set mode to numpy"
        )
    if not explicit and axes_mapping is not None:
        raise BROADCAST_INPUTS.fault(
            f"mode is {mode} and there is an axes_mapping (input 2), which only the explicit mode uses",
            help="remove input 2, or set mode to explicit",
            input=2,
        )
    return _broadcast(data, target_shape, axes_mapping, mode=mode, axis=axis)
