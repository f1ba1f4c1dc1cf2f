"""Checks what an IR writes to its variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.checks.variables import SOUND, id_place, readers_of, variable_of
from irlint.dims import MaybeDim, bounds
from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem
from irlint.model.tensor import Tensor, type_text
from irlint.records import replaced

VARIABLE_OF_ANOTHER_SHAPE = Rule(
    "IRL129",
    "variable-of-another-shape",
    Severity.ERROR,
    "An Assign writes a value of another shape or element type than its variable has.",
    why=(
        "A variable has the element type and the shape that its ReadValue declares, or those of its initial value. "
        "OpenVINO refuses an Assign whose input is not compatible with them."
    ),
    fix="Write the variable that has this shape, or declare a `variable_shape` that allows the value.",
    bad=SOUND.replace(
        "</layers>",
        """<layer id="4" name="long" type="Parameter" version="opset1"><data shape="1,3" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>3</dim></port></output></layer>
</layers>""",
    ).replace(
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>',
        '<edge from-layer="4" from-port="0" to-layer="2" to-port="0"/>',
    ),
    good=SOUND,
    accepted=("openvino_ir",),
)


def written_with_another_shape(
    known: Known, graph: Graph, writers: Mapping[str | None, Sequence[Node]]
) -> Iterator[Problem]:
    """A problem for each Assign whose value is not compatible with its variable. ``writers`` are by variable."""
    variables: dict[str, Tensor] = {}
    for node in readers_of(graph):
        id, type = variable_of(node), known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
        if id is not None and isinstance(type, Tensor):
            variables.setdefault(id, type)
    for id, nodes in writers.items():
        for node in nodes if id in variables else ():
            written = known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
            if id is not None and isinstance(written, Tensor) and not _is_compatible(written, variables[id]):
                others = [other for other, type in variables.items() if type == replaced(written, value=None)]
                fault = _written_fault(id, variables[id], written, others)
                yield Problem(fault, graph.path, node, place=id_place(node))


def _is_compatible(one: Tensor, other: Tensor) -> bool:
    """Whether OpenVINO takes two types for compatible: it knows no size or element type that makes them differ."""
    if None not in (one.dtype, other.dtype) and one.dtype != other.dtype:
        return False
    if one.shape is None or other.shape is None:
        return True
    return len(one.shape) == len(other.shape) and all(map(_may_be_equal, one.shape, other.shape))


def _may_be_equal(one: MaybeDim, other: MaybeDim) -> bool:
    """Whether two sizes may be equal. Limits of sums and products do not count: OpenVINO does not know them."""
    if one is None or other is None or not all(isinstance(dim, int) or str(dim).isidentifier() for dim in (one, other)):
        return True
    (low, high), (least, most) = bounds(one), bounds(other)
    return (high is None or (least or 0) <= high) and (most is None or (low or 0) <= most)


def _written_fault(id: str, variable: Tensor, written: Tensor, others: Sequence[str]) -> Fault:
    help = f'set variable_id="{others[0]}", the variable of this type' if len(others) == 1 else ""
    return VARIABLE_OF_ANOTHER_SHAPE.fault(
        f'input 0 is {type_text(written)}, and the variable "{id}" is {type_text(variable)}',
        help=help or "write a value of that type, or correct what the ReadValue of the variable declares",
        input=0,
        attribute="variable_id",
    )
