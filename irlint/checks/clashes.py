"""Texts about a declaration that differs from the inferred shape or type: the difference, and the help."""

from __future__ import annotations

from irlint.dims import Expr, Shape, broadcast_parts, same
from irlint.inference.agreement import joins
from irlint.inference.known import Known
from irlint.model.tensor import Tensor, Type, shape_text

#: A shape with a longer expression, in characters, is not proposed as a declaration.
READABLE = 24


def port_text(given: Shape | None, declared: Shape | None, port: str) -> str:
    """The message about the inferred shape of a value and the shape that a port declares: the only size that differs,
    or both shapes in full. ``port`` is the subject and verb, such as ``input port 1 declares``."""
    axis = _only_axis(given, declared)
    if axis is not None and given is not None and declared is not None:
        return f"{given[axis]} arrives on axis {axis}, but {port} {declared[axis]}"
    return f"{shape_text(given)} arrives, but {port} {shape_text(declared)}"


def _only_axis(one: Shape | None, other: Shape | None) -> int | None:
    """The only axis on which two shapes cannot be equal; None if there is none or more than one, or if the ranks differ
    or are unknown."""
    if one is None or other is None or len(one) != len(other):
        return None
    axes = [axis for axis, (a, b) in enumerate(zip(one, other)) if same(a, b) is False]
    return axes[0] if len(axes) == 1 else None


def clash_axis(given: Shape | None, declared: Shape | None, text: str) -> int | None:
    """The axis that the message ``text`` is about: the only axis that differs, or the axis whose declared size is one
    of the sizes that are broadcast to the inferred size. None if there is no such axis."""
    axis = None if "; " in text else _only_axis(given, declared)
    if axis is not None:
        return axis
    pairs = enumerate(zip(given or (), declared or ()))
    return next((at for at, (a, b) in pairs if joins(a, b) and text == f"axis {at} is {b} against {a}"), None)


def broadcast_notes(given: Shape | None, declared: Shape | None, known: Known) -> tuple[str, ...]:
    """A note about the node that broadcasts a declared size with another size, and the conditions of that node; () if
    there is no such node."""
    for a, b in zip(given or (), declared or ()):
        if not joins(a, b):
            continue
        parts = {*broadcast_parts(a)} if a is not None else set()
        for demand in known.requires:
            if any({each.left, each.right} == parts for each in demand.requirement.any_of):
                conditions = [each.requirement.condition for each in known.requires if each.node is demand.node]
                label = f"{demand.node.op} {demand.node.label!r}"
                return (f"{label} broadcasts {b} with another size, and works only if {', and '.join(conditions)}",)
    return ()


def correction(given: Shape | None, declared: Shape | None, axis: int | None) -> str:
    """The help: declare the inferred shape, or correct the layers before this one. A shape that has a size of 0 or an
    expression of more than READABLE characters is not proposed."""
    if not given:
        return f"declare {shape_text(given)}, or correct the layers before this one"
    if any(dim == 0 or (isinstance(dim, Expr) and len(str(dim)) > READABLE) for dim in given):
        return "correct the layers before this one"
    if axis is not None and declared is not None:
        return (
            f"if {declared[axis]} is intended, correct the origin of {given[axis]}; otherwise declare "
            f"{shape_text(given)}"
        )
    return (
        f"if {shape_text(declared)} is intended, correct the layers before this one; otherwise declare "
        f"{shape_text(given)}"
    )


def conversion(given: Type | None, wanted: Type) -> str:
    """The help for a value of the type ``given`` where ``wanted`` is declared. A tensor is converted, and the elements
    of a container are cast if both containers are of one kind; else another value is connected."""
    if isinstance(given, Tensor) and isinstance(wanted, Tensor):
        return f"convert the value to {wanted.dtype}"
    return "cast the elements" if type(given) is type(wanted) else "connect another value"
