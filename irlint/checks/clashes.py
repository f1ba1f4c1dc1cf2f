"""Writes messages and helps for declarations that differ from the inferred shape or type."""

from __future__ import annotations

from irlint.dims import Expr, Shape, broadcast_parts, same
from irlint.findings.faults import Fault
from irlint.findings.wording import counted
from irlint.inference.agreement import joins
from irlint.inference.known import Known
from irlint.model import Declaration, Graph, Value
from irlint.model.tensor import Tensor, Type, shape_text

#: The maximum number of characters of a size in a declaration that a help proposes.
MOST_CHARACTERS = 24


def port_text(given: Shape | None, declared: Shape | None, port: str) -> str:
    """The message that a port declares another shape than the inferred one. ``port`` is the subject and verb of the
    message's second clause, before the declared shape."""
    axis = _only_axis(given, declared)
    if axis is not None and given is not None and declared is not None:
        return f"{given[axis]} arrives on axis {axis}, but {port} {declared[axis]}"
    return f"{shape_text(given)} arrives, but {port} {shape_text(declared)}"


def _only_axis(one: Shape | None, other: Shape | None) -> int | None:
    """The only axis on which two shapes cannot be equal."""
    if one is None or other is None or len(one) != len(other):
        return None
    axes = [axis for axis, (a, b) in enumerate(zip(one, other)) if same(a, b) is False]
    return axes[0] if len(axes) == 1 else None


def clash_axis(given: Shape | None, declared: Shape | None, text: str) -> int | None:
    """The axis on which the shapes differ according to the message ``text``; None if it names several axes or none."""
    axis = None if "; " in text else _only_axis(given, declared)
    if axis is not None:
        return axis
    pairs = enumerate(zip(given or (), declared or ()))
    return next((at for at, (a, b) in pairs if joins(a, b) and text == f"axis {at} is {b} against {a}"), None)


def broadcast_notes(given: Shape | None, declared: Shape | None, known: Known) -> tuple[str, ...]:
    """A note that names the node that broadcasts a declared size with another size, and the conditions of the
    broadcast; () if there is none."""
    for inferred_size, declared_size in zip(given or (), declared or ()):
        if not joins(inferred_size, declared_size):
            continue
        broadcast_sizes = {*broadcast_parts(inferred_size)} if inferred_size is not None else set()
        for demand in known.requires:
            if any({each.left, each.right} == broadcast_sizes for each in demand.requirement.any_of):
                conditions = [each.requirement.condition for each in known.requires if each.node is demand.node]
                label = f"{demand.node.op} {demand.node.label!r}"
                return (
                    f"{label} broadcasts {declared_size} with another size, and works only if "
                    f"{', and '.join(conditions)}",
                )
    return ()


def correction(given: Shape | None, declared: Shape | None, axis: int | None) -> str:
    """The help to declare the inferred shape or to correct the layers before this one. Shapes with long expressions or
    with sizes of 0 are not proposed."""
    if not given:
        return f"declare {shape_text(given)}, or correct the layers before this one"
    if any(dim == 0 or (isinstance(dim, Expr) and len(str(dim)) > MOST_CHARACTERS) for dim in given):
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


def conversion(given: Type | None, declared: Type) -> str:
    """The help to make a value of the type ``given`` fit the declared type."""
    if isinstance(given, Tensor) and isinstance(declared, Tensor):
        return f"convert the value to {declared.dtype}"
    return "cast the elements" if type(given) is type(declared) else "connect another value"


def constant_fault(fault: Fault, value: Value, declaration: Declaration, graph: Graph) -> Fault:
    """The fault of a constant. If the stored bytes fit the declared shape, the help is to correct the constant's
    shape."""
    constant, declared = graph.constants.get(value), declaration.type
    size = constant.stored.size if constant is not None and constant.stored is not None else None
    if constant is None or size is None or not isinstance(declared, Tensor):
        return fault
    from irlint.checks.constants import bytes_of

    stored = constant.tensor
    for_declared, for_stored = bytes_of(stored.dtype, declared.shape), bytes_of(stored.dtype, stored.shape)
    if for_declared != size or for_stored in (None, size):
        return fault
    texts = [f"{stored.dtype}{shape_text(shape)}" for shape in (declared.shape, stored.shape)]
    return fault.changed(
        notes=(*fault.notes, f"it has {counted(size, 'byte')}, as {texts[0]} needs; {texts[1]} needs {for_stored}"),
        help=f"correct the shape of the constant to {shape_text(declared.shape)}",
    )


def parameter_fault(fault: Fault, given: Type | None, declared: Type | None, within: str) -> Fault:
    """The fault of a Parameter. If all sizes are known, the help is to write the one shape or the other."""
    stated, shape = getattr(given, "shape", None), getattr(declared, "shape", None)
    if not stated or not shape or not all(isinstance(dim, int) for dim in (*stated, *shape)):
        return fault
    sizes = ",".join(map(str, shape))
    correct = "correct the entry of the port map for it" if within else f'write shape="{sizes}"'
    return fault.changed(help=f"if {shape_text(shape)} is intended, {correct}; otherwise declare {shape_text(stated)}")
