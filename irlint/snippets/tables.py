"""The tables of shapes that a finding compares.

The clashing axes of a value are the axes that the fault is about: the sizes there contradict other sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.dims import Expr, Shape, same
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.model import Declaration, Node, Problem, Value
from irlint.model.tensor import Tensor, Type, type_text
from irlint.records import record, replaced
from irlint.snippets.drawing import Row, Table

#: The largest number of rows.
ROWS = 8

#: The largest number of entries of a shown value.
ENTRIES = 8

#: The families of rules about shapes and element types.
TYPED = ("broadcasting", "shapes", "element-types")
ELEMENT_TYPES = "element-types"

#: A function of a value that returns (texts on its origin, the longest first; line of the origin in the document).
Origins = Callable[[Value], tuple[tuple[str, ...], int | None]]
Named = Callable[[Value], str]


def marked_axes(fault: Fault, node: Node, known: Known) -> dict[int, tuple[int, ...]]:
    """The clashing axes of inputs in ascending order, by the index of the input."""
    found: dict[int, list[int]] = {}
    for index, axis in fault.marks:
        value = node.inputs[index] if 0 <= index < len(node.inputs) else None
        tensor = known.types.get(value) if value is not None else None
        rank = tensor.rank if isinstance(tensor, Tensor) else None
        if rank is None or not -rank <= axis < rank:
            continue
        axes = found.setdefault(index, [])
        if axis % rank not in axes:
            axes.append(axis % rank)
    return {index: tuple(sorted(axes)) for index, axes in found.items()}


def operands(
    fault: Fault, node: Node, known: Known, *, named: Named, dtype: Callable[[str | None], str], origins: Origins
) -> Table | None:
    """A table of at most ROWS inputs with their clashing axes; None if no shape is known."""
    marks = marked_axes(fault, node, known)
    shown = [index for index, value in enumerate(node.inputs) if value is not None]
    hidden = 0
    if len(shown) > ROWS:
        wanted = [index for index in dict.fromkeys((*marks, fault.input)) if index in shown][:ROWS]
        first = [index for index in shown if index not in wanted][: ROWS - len(wanted)]
        hidden = len(shown) - len(wanted) - len(first)
        shown = sorted((*wanted, *first))
    rows = []
    for index in shown:
        value = node.inputs[index]
        assert value is not None
        row = _row(f"input {index}", known.types.get(value), value, marks.get(index, ()), dtype, origins)
        rows.append(replaced(row, name=named(value)))
    if not any(row.dims is not None for row in rows):
        return None
    aligned = fault.aligned if marks else "left"
    return Table(tuple(rows), aligned, fault.remark, hidden)


def _row(
    label: str,
    known: Type | None,
    value: Value,
    marked: tuple[int, ...],
    dtype: Callable[[str | None], str],
    origins_of: Origins,
) -> Row:
    """The row of a value. The entries of a short list of integers are appended to its origins."""
    origins, line = origins_of(value)
    if not isinstance(known, Tensor):
        return Row(label, None, "", origins, line, instead=type_text(known) if known is not None else "not known")
    integers = known.ints
    scalar = ""
    if known.shape == () and known.scalar is not None:
        scalar = f"{known.scalar}"
    elif integers is not None and len(integers) <= ENTRIES:
        more = f"values [{', '.join('?' if entry is None else f'{entry}' for entry in integers)}]"
        origins = (*(f"{origin}, {more}" for origin in origins), more)
    return Row(label, dims_text(known.shape), dtype(known.dtype), origins, line, marked, scalar=scalar)


def dims_text(shape: Shape | None) -> tuple[str, ...] | None:
    """The sizes of a shape, ``?`` for unknown ones; None for an unknown rank."""
    return None if shape is None else tuple("?" if dim is None else f"{dim}" for dim in shape)


@record
class Contradiction:
    """A declaration that contradicts the inferred shape."""

    value: Value
    declaration: Declaration
    inferred: Tensor
    stated: Tensor
    #: The axes that differ; () if the ranks differ.
    axes: tuple[int, ...]


def declared(
    found: Contradiction,
    dtype: Callable[[str | None], str],
    origins: Mapping[str, tuple[tuple[str, ...], int | None]],
) -> Table:
    """A table of the declared shape and the inferred shape."""
    remark = "differ" if found.axes else "the numbers of axes differ"
    rows = [
        Row(name, dims_text(tensor.shape), dtype(tensor.dtype), *origins[name], found.axes)
        for name, tensor in (("declared", found.stated), ("inferred", found.inferred))
    ]
    return Table(tuple(rows), "left", remark)


def clashing(inferred: Shape, stated: Shape) -> tuple[int, ...]:
    """The axes on which two shapes of equal rank cannot be equal; () if the ranks differ.

    If there are no such axes, returns the axes whose inferred size broadcasts the declared size with other sizes.
    """
    if len(inferred) != len(stated):
        return ()
    pairs = [(axis, a, b) for axis, (a, b) in enumerate(zip(inferred, stated)) if b is not None]
    found = tuple(axis for axis, a, b in pairs if same(a, b) is False)
    if found or not any(isinstance(b, Expr) for _, _, b in pairs):
        return found
    from irlint.inference.agreement import joins

    return tuple(axis for axis, a, b in pairs if joins(a, b))


def contradicted(problem: Problem, known: Known) -> Contradiction | None:
    """The first contradiction of the output that a SHAPE_CONTRADICTED problem names; None for other problems."""
    node = problem.node
    if problem.fault.rule is not SHAPE_CONTRADICTED or node is None:
        return None
    for value in node.outputs:
        inferred = known.types.get(value) if value is not None and value.name == problem.value else None
        if value is None or not isinstance(inferred, Tensor) or inferred.shape is None:
            continue
        for declaration in value.declared:
            stated = declaration.type
            if not isinstance(stated, Tensor) or stated.shape is None:
                continue
            axes = clashing(inferred.shape, stated.shape)
            if axes or len(stated.shape) != len(inferred.shape):
                return Contradiction(value, declaration, inferred, stated, axes)
    return None
