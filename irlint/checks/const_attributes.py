"""Which attribute of a Const is wrong whose shape, element type, bytes and ports contradict each other."""

from __future__ import annotations

from irlint.dims import Shape, elements
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Constant, Node
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, shape_text
from irlint.parsers.openvino.types import renamed_type
from irlint.parsers.weights import byte_size


def correction(constant: Constant, node: Node, size: int, known: Known) -> str:
    """The attribute of a Const that has ``size`` bytes, and needs others, that most of the rest speaks against: the bytes, its port and the
    ports that it leads to; "" where that tells none."""
    told = _declared_by(node, known)
    dtype, shape = constant.tensor.dtype, constant.tensor.shape
    dtypes = dict.fromkeys((dtype, *(each.dtype for each in told)))
    shapes = dict.fromkeys((shape, *(each.shape for each in told)))
    for other in [(dtype, each) for each in shapes] + [(each, shape) for each in dtypes]:
        needed = _bytes_of(*other)
        votes = sum(each.dtype in (None, other[0]) and each.shape == other[1] for each in told)
        if needed == size and votes * 2 > len(told):
            name, text = (
                ("element_type", renamed_type(other[0] or "")) if other[0] != dtype else ("shape", _sizes(other[1]))
            )
            stated = f"{other[0]}{shape_text(other[1])}"
            return f'write {name}="{text}": the ports declare {stated}, which needs exactly {counted(size, "byte")}'
    needed = _bytes_of(dtype, shape)
    agreed = told and all(each.dtype in (None, dtype) and each.shape == shape for each in told)
    if agreed and needed is not None and _is_free(constant, needed, known):
        return (
            f'write size="{needed}": the ports declare {dtype}{shape_text(shape)}, too, and the bytes behind these belong to '
            "no other constant"
        )
    return ""


def _declared_by(node: Node, known: Known) -> list[Tensor]:
    """The types that the port of a Const and the ports that it leads to declare."""
    values = [each for each in node.outputs if each is not None]
    found = [port.type for port in node.output_ports[:1]]
    for graph in graphs(known.model):
        if node in graph.nodes:
            pairs = (pair for user in graph.nodes for pair in zip(user.inputs, user.input_ports))
            found += [port.type for value, port in pairs if value in values]
    return [each for each in found if each.shape]


def _bytes_of(dtype: str | None, shape: Shape | None) -> int | None:
    if dtype is None or shape is None or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        return None
    return byte_size(dtype, elements(shape))  # type: ignore[arg-type]


def _sizes(shape: Shape | None) -> str:
    return ",".join(map(str, shape or ()))


def _is_free(constant: Constant, needed: int, known: Known) -> bool:
    """Whether as many bytes as a constant needs lie where it begins, and none of those that it lacks are of another."""
    stored = constant.stored
    if stored is None or stored.size is None or needed > (stored.available or 0):
        return False
    begin, end = stored.offset + stored.size, stored.offset + needed
    others = (each.stored for graph in graphs(known.model) for each in graph.constants.values() if each is not constant)
    return begin < end and not any(
        each is not None and each.size and each.offset < end and begin < each.offset + each.size for each in others
    )
