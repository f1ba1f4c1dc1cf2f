"""OpenVINO's attribute ``auto_broadcast``: the shape to which several inputs are broadcast.

``pdpd`` is PaddlePaddle's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from irlint.dims import Dim, MaybeDim, Shape, bounds, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Relation, require_any, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import shape_text
from irlint.ops.shared.broadcast import broadcast, merged, stretches
from irlint.ops.shared.sizes import narrower
from irlint.ops.signatures import group
from irlint.records import record

AutoBroadcast = Literal["none", "explicit", "numpy", "pdpd"]

_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="a" type="Parameter" version="opset1"><data shape="2,3,4,5" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>2</dim><dim>3</dim><dim>4</dim><dim>5</dim></port></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="3,4" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>3</dim><dim>4</dim></port></output></layer>
<layer id="2" name="add" type="Add" version="opset1">\
<data auto_broadcast="pdpd" auto_broadcast.auto_broadcast_axis="1"/><input><port id="0"/><port id="1"/></input>\
<output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim><dim>4</dim><dim>5</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>\
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"""

PDPD_MISMATCH = Rule(
    "IRL204",
    "pdpd-broadcast-mismatch",
    Severity.ERROR,
    "With pdpd broadcasting, the second input does not match consecutive axes of the first input.",
    why=(
        "PaddlePaddle's rule broadcasts only the second input. The first axis of the second input is aligned with the "
        "axis of the first input that the attribute names; if the attribute is -1, the last axes are aligned. Each "
        "size of the second input must be 1 or equal to the size of the aligned axis. OpenVINO refuses other shapes "
        'with "Argument shapes are inconsistent.".'
    ),
    fix=(
        "Set `auto_broadcast.auto_broadcast_axis` to the axis of the first input that matches the first axis of the "
        "second input."
    ),
    bad=_GOOD.replace('"3,4"', '"4,3"').replace("<dim>3</dim><dim>4</dim></port>", "<dim>4</dim><dim>3</dim></port>"),
    good=_GOOD,
)

PDPD_READING = Rule(
    "IRL205",
    "pdpd-axis-ambiguous",
    Severity.WARNING,
    "The specification and the OpenVINO library interpret this pdpd broadcast differently.",
    why=(
        "In the specification, the attribute is `axis`, its default is -1, and trailing 1s of the second input are "
        "ignored. The OpenVINO library reads only `auto_broadcast.auto_broadcast_axis` (`mode.auto_broadcast_axis` in "
        "a Broadcast of opset1, `mode.mode.axis` of opset3), and its default is 0. It refuses trailing 1s past the "
        "last axis of the first input. Other programs may follow the specification and compute another result."
    ),
    fix=(
        "Write the axis under the name that the library reads, and remove trailing 1s of the second input past the "
        "last axis of the first input."
    ),
    bad=PDPD_MISMATCH.good.replace("auto_broadcast.auto_broadcast_axis", "axis")
    .replace("2,3,4,5", "3,4,4,5")
    .replace("<dim>2</dim><dim>3</dim><dim>4</dim><dim>5</dim>", "<dim>3</dim><dim>4</dim><dim>4</dim><dim>5</dim>")
    .replace('"3,4"', '"4,4"')
    .replace("<dim>3</dim><dim>4</dim></port>", "<dim>4</dim><dim>4</dim></port>"),
    good=_GOOD.replace("2,3,4,5", "3,4,4,5")
    .replace("<dim>2</dim><dim>3</dim><dim>4</dim><dim>5</dim>", "<dim>3</dim><dim>4</dim><dim>4</dim><dim>5</dim>")
    .replace('"3,4"', '"4,4"')
    .replace("<dim>3</dim><dim>4</dim></port>", "<dim>4</dim><dim>4</dim></port>"),
)


@group
@record
class Broadcasting:
    """The broadcasting attributes of an OpenVINO operation."""

    auto_broadcast: AutoBroadcast = "numpy"
    #: The axis that the library reads.
    auto_broadcast_axis: int | None = None
    #: The same axis, under the name in the specification.
    axis: int | None = None


def broadcast_by(
    broadcasting: Broadcasting, shapes: Sequence[Shape | None], *, indices: Sequence[int] | None = None
) -> Shape | None:
    """The shape to which inputs are broadcast; ``indices`` are the input indices of the shapes, by default 0, 1, …

    Raises a fault of ``broadcast``, ``merged`` or ``pdpd``.
    """
    if broadcasting.auto_broadcast == "numpy":
        return broadcast(shapes)
    if broadcasting.auto_broadcast != "pdpd":
        return _equal_shape(shapes, why=f'nothing is broadcast with auto_broadcast="{broadcasting.auto_broadcast}"')
    result = shapes[0]
    onto, *others = indices or range(len(shapes))
    for index, shape in zip(others, shapes[1:]):
        result = pdpd(
            result,
            shape,
            library_axis=broadcasting.auto_broadcast_axis,
            specified_axis=broadcasting.axis,
            inputs=(onto, index),
        )
    return result


def _equal_shape(shapes: Sequence[Shape | None], why: str) -> Shape | None:
    """The common shape of equal shapes. The help of a fault suggests NumPy's rule if it can broadcast the shapes."""
    try:
        return merged(shapes, why=why)
    except Fault as fault:
        if not all(isinstance(dim, int) for shape in shapes for dim in shape or ()):
            raise
        try:
            broadcast(shapes)
        except Fault:
            raise fault from None
        raise fault.changed(
            help='write auto_broadcast="numpy", which broadcasts these shapes, or make the shapes equal'
        ) from None


def aligned_from(
    a: Shape | None, b: Shape | None, axis: int, *, ignore_trailing: bool, inputs: tuple[int, int] = (0, 1)
) -> Shape | None:
    """The shape of ``a`` after ``b`` is broadcast to the axes of ``a`` from ``axis`` on; None if a rank is unknown.

    ``axis`` -1 means rank(a) - rank(b). ``ignore_trailing`` selects the specification, which ignores 1s at the end of
    ``b``; otherwise, the library's rule applies. ``inputs`` are the input indices of ``a`` and ``b``.

    Raises a ``PDPD_MISMATCH`` fault. Source: OpenVINO "Broadcast Rules For Elementwise Operations", PaddlePaddle.
    """
    if a is None or b is None:
        return None
    first, second = inputs
    start = len(a) - len(b) if axis == -1 else axis
    small = b
    while ignore_trailing and small and same(small[-1], 1):
        small = small[:-1]
    if axis < -1:
        raise PDPD_MISMATCH.fault(
            f"the axis is {axis}; it must be -1, or the axis of input {first} that matches the first axis of input "
            f"{second}",
            help="use -1 or more",
        )
    if start < 0 or start + len(small) > len(a):
        raise PDPD_MISMATCH.fault(
            past_end(a, b, start, inputs=inputs),
            help=_help_past_end(len(small) - len(a), len(a), inputs),
            input=second,
        )
    result, clashes = list(a), []
    for position, dim in enumerate(small):
        wide = start + position
        why = f"axis {wide} of input {first} is aligned with axis {position} of input {second}"
        result[wide], possible = _broadcast_size(a[wide], dim, not ignore_trailing, why=why)
        if not possible:
            clashes.append((wide, position))
    if clashes:
        from irlint.ops.shared.facts import clash_text

        wide, own = clashes[0]
        raise PDPD_MISMATCH.fault(
            clash_text({first: a, second: b}, [((first, wide), (second, own)) for wide, own in clashes])
            + f"; input {second} is aligned with input {first} from axis {start} on",
            help=f"only input {second} is broadcast, and only where its size is 1: change its {small[own]} to 1"
            f"{'' if a[wide] == 1 else f' or {a[wide]}'}, or choose another axis",
            input=second,
            marks=tuple(mark for wide, own in clashes for mark in ((first, wide), (second, own))),
            remark=f"differ, and input {second} is not 1",
        )
    return tuple(result)


def past_end(a: Shape, b: Shape, start: int, *, inputs: tuple[int, int] = (0, 1)) -> str:
    """The message if ``b`` is aligned with ``a`` from axis ``start`` on, and has axes past the axes of ``a``."""
    first, second = inputs
    more = len(b) - len(a)
    shapes = f"input {first} is {shape_text(a)} and input {second} is {shape_text(b)}"
    if more > 0:
        return f"{shapes}, which has {counted(more, 'more axis', 'more axes')}"
    return f"{shapes}, which needs {counted(len(b), 'axis', 'axes')} of input {first} from axis {start} on"


def _help_past_end(surplus: int, rank: int, inputs: tuple[int, int]) -> str:
    """The help if the second input has axes past the ``rank`` axes of the first input.

    ``surplus`` is how many more axes the second input has than the first.
    """
    if surplus <= 0:
        return f"choose an axis of at most {-surplus}"
    if inputs == (0, 1):
        return "swap the inputs"
    return f"give input {inputs[1]} at most {counted(rank, 'axis', 'axes')}"


def _broadcast_size(onto: MaybeDim, dim: MaybeDim, library: bool, *, why: str) -> tuple[MaybeDim, bool]:
    """(Size of the result, whether size ``dim`` can be broadcast to size ``onto``)."""
    if same(onto, 1) and dim is not None and same(dim, 1) is not True:
        return _enlarged(dim)
    if dim == 0 and onto is not None and same(onto, 1) is None:
        return _emptied(onto, why)
    if library and same(onto, 0) and same(dim, 1):
        return onto, False
    wide = dim is not None and same(dim, 1) is False
    return narrower(onto, dim) if wide else onto, stretches(dim, onto, why)


def _enlarged(dim: Dim) -> tuple[MaybeDim, bool]:
    """(Size of the result, whether the library can broadcast ``dim`` to the size 1)."""
    if dim == 0:
        return 0, True
    lower = bounds(dim)[0]
    return None, lower is None or lower <= 1


def _emptied(onto: Dim, why: str) -> tuple[MaybeDim, bool]:
    """Returns (0, True) for a size 0 that is broadcast to ``onto``, and requires that ``onto`` is 1 or 0."""
    relations = [Relation("==", onto, 1)]
    if same(onto, 0) is None:
        relations.append(Relation("==", onto, 0))
    require_any(*relations, why=why)
    return 0, True


def pdpd(
    a: Shape | None,
    b: Shape | None,
    *,
    library_axis: int | None,
    specified_axis: int | None,
    inputs: tuple[int, int] = (0, 1),
) -> Shape | None:
    """The shape by pdpd broadcasting as the library reads the attributes; if this fails, by the specification.

    ``inputs`` are the input indices of ``a`` and ``b``. Reports a ``PDPD_READING`` fault if the results differ, or if
    the library does not read the axis. Raises a ``PDPD_MISMATCH`` fault if the broadcast is impossible in both.
    """
    written = library_axis if library_axis is not None else specified_axis
    readings: list[Shape | Fault | None] = []
    for axis, ignore in ((library_axis or 0, False), (-1 if written is None else written, True)):
        try:
            readings.append(aligned_from(a, b, axis, ignore_trailing=ignore, inputs=inputs))
        except Fault as fault:
            readings.append(fault)
    library, specification = readings
    wanted = -1 if written is None else written
    if wanted == -1 and a is not None and b is not None:
        wanted = len(a) - len(b)
    differ = partial(_two_readings, library_axis=library_axis, written=written, wanted=wanted, input=inputs[1])
    if isinstance(library, Fault):
        if isinstance(specification, Fault):
            raise specification
        warn(differ(library.message, shape_text(specification)))
        return specification
    if isinstance(specification, Fault):
        warn(differ(shape_text(library), specification.message))
    elif library != specification:
        warn(differ(shape_text(library), shape_text(specification)))
    elif library_axis is None and specified_axis not in (None, 0) and a is not None and b is not None:
        warn(differ(shape_text(library), "the same shape"))
    return library


def _two_readings(
    library: str, specification: str, *, library_axis: int | None, written: int | None, wanted: int, input: int
) -> Fault:
    name = "auto_broadcast.auto_broadcast_axis"
    read = f"axis {library_axis}" if library_axis is not None else f"no `{name}`, so it uses axis 0"
    axis = "-1 (the default)" if written is None else str(written)
    return PDPD_READING.fault(
        f"OpenVINO reads {read}: {library}; the specification reads axis {axis}: {specification}",
        help=f'write {name}="{wanted}" (the name that the library reads), with a second input that ends '
        "no later than the first",
        input=input,
    )
