"""Finds the wrong attribute of a Const whose shape, element type, bytes and ports contradict each other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from irlint.checks.constants import bytes_of
from irlint.dims import Shape
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Constant, Model, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, shape_text
from irlint.parsers.openvino.types import renamed_type

#: Element types that differ only in their width.
WIDTHS = (
    ("float16", "float32", "float64"),
    ("int8", "int16", "int32", "int64"),
    ("uint8", "uint16", "uint32", "uint64"),
)


def correction(constant: Constant, node: Node, size: int, known: Known) -> str:
    """The help to correct the wrong attribute of a Const of ``size`` bytes; "" if it is unclear."""
    declarations = _declared_by_ports(node, known)
    dtype, shape = constant.tensor.dtype, constant.tensor.shape
    by_users = declared_by_users(node, known)
    other, declarer = _type_of_size(size, constant.tensor, declarations), "the ports declare"
    if other is None and by_users:
        other, declarer = _type_of_size(size, constant.tensor, by_users), "the ports of its users declare"
    if other is not None:
        name, text = "element_type", renamed_type(other.dtype or "")
        if other.dtype == dtype:
            name, text = "shape", _sizes_text(other.shape)
        stated = f"{other.dtype}{shape_text(other.shape)}"
        return f'write {name}="{text}": {declarer} {stated}, which needs exactly {counted(size, "byte")}'
    needed = bytes_of(dtype, shape)
    agreed = declarations and _votes(declarations, dtype, shape) == len(declarations)
    if agreed and needed is not None and can_grow(constant, needed, known):
        offset = constant.stored.offset if constant.stored is not None else 0
        if shares(offset, needed, known):
            also = f"another constant has exactly the {counted(needed, 'byte')} at offset {offset}"
        else:
            also = "the next bytes of the file belong to no other constant"
        return f'write size="{needed}": the ports declare {dtype}{shape_text(shape)}, too, and {also}'
    return ""


def _type_of_size(size: int, stated: Tensor, declarations: Sequence[Tensor]) -> Tensor | None:
    """A type that needs ``size`` bytes and agrees with most ``declarations``. It has the element type or the shape of
    ``stated``. None if there is no such type."""
    shapes = dict.fromkeys((stated.shape, *(each.shape for each in declarations)))
    dtypes = dict.fromkeys((stated.dtype, *(each.dtype for each in declarations)))
    for dtype, shape in [(stated.dtype, each) for each in shapes] + [(each, stated.shape) for each in dtypes]:
        if bytes_of(dtype, shape) == size and _votes(declarations, dtype, shape) * 2 > len(declarations):
            return Tensor(dtype, shape)
    return None


def _votes(declarations: Sequence[Tensor], dtype: str | None, shape: Shape | None) -> int:
    """The number of declarations with the shape ``shape`` whose element type is ``dtype`` or unknown."""
    return sum(each.dtype in (None, dtype) and each.shape == shape for each in declarations)


def _declared_by_ports(node: Node, known: Known) -> list[Tensor]:
    """The types that the ports of a Const and of its users declare, without scalars."""
    found = [port.type for port in node.output_ports[:1] if port.type.shape]
    return found + declared_by_users(node, known)


def declared_by_users(node: Node, known: Known) -> list[Tensor]:
    """The types that the input ports of the users of a Const declare, without scalars."""
    declared = _declared_types(known.model)
    return [each for value in node.outputs for each in declared.get(value, ()) if each.shape]


@lru_cache(maxsize=1)
def _declared_types(model: Model) -> dict[Value | None, list[Tensor]]:
    """For each value, the types that the input ports that get it declare."""
    found: dict[Value | None, list[Tensor]] = {}
    for graph in graphs(model):
        for node in graph.nodes:
            for value, port in zip(node.inputs, node.input_ports):
                if value is not None:
                    found.setdefault(value, []).append(port.type)
    return found


def help_for_size(constant: Constant, size: int, node: Node | None, known: Known) -> str:
    """The help for a constant whose elements need another number of bytes than its ``size``."""
    again, shapes = "write the constant again with the shape of its data", _shapes_of_bytes(constant, size)
    widths = next((each for each in WIDTHS if constant.tensor.dtype in each), ())
    fitting = next((each for each in widths if bytes_of(each, constant.tensor.shape) == size), None)
    numbers = f"; or, if its {size} bytes are numbers of {fitting}, correct the element type" if fitting else ""
    if node is not None and node.output_ports:
        convert = f", and insert a Convert to {constant.tensor.dtype}" if numbers else ""
        return correction(constant, node, size, known) or again + numbers + convert
    return again + (f", such as {shapes}" if shapes else "") + numbers


def _shapes_of_bytes(constant: Constant, size: int) -> str:
    """Two shapes that need ``size`` bytes and differ from the constant's in one size: ``[4, 3] or [2, 6]``; "" if there
    are none."""
    shape, found = [each for each in constant.tensor.shape or () if isinstance(each, int)], []
    for axis in range(len(shape)):
        unit = bytes_of(constant.tensor.dtype, (*shape[:axis], 1, *shape[axis + 1 :]))
        if unit and size % unit == 0:
            found.append(str([*shape[:axis], size // unit, *shape[axis + 1 :]]))
    return " or ".join(found[:2])


def is_mismeasured(constant: Constant) -> bool:
    """Whether a constant has another number of bytes than its element type and shape need."""
    needed = bytes_of(constant.tensor.dtype, constant.tensor.shape)
    return needed is not None and constant.stored is not None and constant.stored.size not in (None, needed)


def _sizes_text(shape: Shape | None) -> str:
    return ",".join(map(str, shape or ()))


def can_grow(constant: Constant, needed: int, known: Known) -> bool:
    """Whether a constant can be made longer: the file has ``needed`` bytes at its offset, and no other constant uses
    the bytes after its present end, or another constant has exactly these bytes, which both share."""
    stored = constant.stored
    if stored is None or stored.size is None or needed > (stored.available or 0):
        return False
    begin, end = stored.offset + stored.size, stored.offset + needed
    offsets, ends = _extents(known.model)
    before = bisect_left(offsets, end)
    return begin < end and (not before or ends[before - 1] <= begin or shares(stored.offset, needed, known))


def shares(offset: int, size: int, known: Known) -> bool:
    """Whether a constant has exactly ``size`` bytes at ``offset``."""
    return (offset, size) in _spans(known.model)


@lru_cache(maxsize=1)
def _spans(model: Model) -> frozenset[tuple[int, int | None]]:
    """(offset, number of bytes) of all constants."""
    stored = (each.stored for graph in graphs(model) for each in graph.constants.values())
    return frozenset((each.offset, each.size) for each in stored if each is not None)


@lru_cache(maxsize=1)
def _extents(model: Model) -> tuple[list[int], list[int]]:
    """(sorted offsets of all constants, for each offset the greatest end of the constants up to it)."""
    stored = (each.stored for graph in graphs(model) for each in graph.constants.values())
    extents = sorted((each.offset, each.offset + each.size) for each in stored if each is not None and each.size)
    return [begin for begin, _ in extents], list(accumulate((end for _, end in extents), max))
