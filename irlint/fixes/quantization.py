"""Candidates that connect the scales and zero points of other nodes of a quantized model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from irlint.binding.calls import Call
from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.other_values import EVIDENT
from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, Tensor
from irlint.schemas import Formal

#: The names of inputs that belong to the data ``x`` are ``x_scale`` and ``x_zero_point``.
SCALE, ZERO_POINT = "_scale", "_zero_point"

#: The quantized data may pass at most this many nodes, such as a Reshape, before a node takes them.
PASSED = 4

#: The index of an input, and the value that a node has there; None if it is omitted.
Place = tuple[int, Value | None]


def as_other_users(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Connects the scale and zero point of the node that quantizes the data, or those of another node that uses one of
    the node's constants, or the result of a node that uses its scale.

    A QuantizeLinear and its DequantizeLinear have the same scale and zero point.
    """
    yield from _as_quantized(node, editor)
    constants = _constants(node, editor)
    scales = [value for _, value in constants if _is_float(value, editor)]
    users = dict.fromkeys(user for value in scales for user in editor.users.get(value, ()) if user.op != node.op)
    shared = dict.fromkeys(user for _, value in constants for user in editor.users.get(value, ()))
    for user in dict.fromkeys((*users, *(each for each in shared if each.op != node.op))):
        others = _constants(user, editor)
        missing = [each for each in others if each not in constants]
        most = len(_formal(editor.known.calls.get(node))) if missing else 0
        if most and any(port >= most for port, _ in missing):
            continue
        if missing and len(user.inputs) >= len(node.inputs) and any(_is_float(value, editor) for _, value in others):
            yield Candidate(tuple(editor.connected(value, node, port) for port, value in missing), EVIDENT, evidence=1)
        result = user.outputs[0] if user.outputs else None
        if user in users and not missing and result is not None and result not in node.inputs:
            taken = [port for port, _ in constants]
            ports = (port for port in range(len(node.inputs)) if port not in taken)
            yield from (Candidate((editor.connected(result, node, port),), EVIDENT, evidence=1) for port in ports)


def as_quantized_everywhere(node: Node, faulty: Collection[Node], editor: Editor) -> Iterator[Candidate]:
    """Connects the scales and zero points of the nodes that quantize the data, at several ``faulty`` nodes."""
    nodes = [node, *(each for each in editor.siblings(node) if each in faulty)]
    found = [candidate for each in nodes for candidate in [next(_as_quantized(each, editor), None)] if candidate]
    if len(found) > 1 and found[0].edits[0].index == node.index:
        edits = tuple(edit for candidate in found for edit in candidate.edits)
        yield Candidate(edits, EVIDENT, evidence=1, sure=all(candidate.sure for candidate in found))


def _as_quantized(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Connects the zero point of the node that quantizes the data of another node, or leaves it empty as there.

    If both have different scales, the scale is connected as well, and the edits are only suggested.
    """
    inputs = _formal(editor.known.calls.get(node))
    names = {formal.name for formal in inputs}
    for formal, value in zip(inputs, node.inputs):
        if formal.name + SCALE not in names and formal.name + ZERO_POINT not in names:
            continue
        own = _parameters(node, formal.name, inputs)
        maker = _quantizer(value, editor) if value is not None and own else None
        if maker is None or maker.op == node.op:
            continue
        call = editor.known.calls.get(maker)
        outputs = call.schema.outputs if call is not None and call.schema is not None else ()
        given = _parameters(maker, outputs[0].name, _formal(call)) if outputs else {}
        differing = [each for each in own if _differ(own, given, each, editor.known)]
        if differing:
            edits = tuple(editor.connected(given[each][1], node, own[each][0]) for each in differing)
            scale = own[SCALE][1] if SCALE in differing else None
            yield Candidate(edits, EVIDENT, evidence=1, sure=scale is None or not _is_float(scale, editor))


def _formal(call: Call | None) -> Sequence[Formal]:
    """The inputs in the schema of an operator."""
    return call.schema.inputs if call is not None and call.schema is not None else ()


def _parameters(node: Node, name: str, inputs: Sequence[Formal]) -> Mapping[str, Place]:
    """The scale and the zero point of the input or output ``name`` of a node, by suffix."""
    found: dict[str, Place] = {}
    for port, formal in enumerate(inputs):
        for suffix in (SCALE, ZERO_POINT):
            if formal.name == name + suffix:
                found[suffix] = port, node.inputs[port] if port < len(node.inputs) else None
    return found


def _quantizer(value: Value, editor: Editor) -> Node | None:
    """The node that gives data their scale: nodes that pass the data on with their element type have no scale."""
    types = editor.known.types
    for _ in range(PASSED + 1):
        maker = editor.makers.of(value)
        node = maker.node if maker is not None and maker.constant is None else None
        if node is None or any(each.name.endswith(SCALE) for each in _formal(editor.known.calls.get(node))):
            return node
        first = node.inputs[0] if node.inputs else None
        before, after = types.get(first) if first is not None else None, types.get(value)
        is_passed = isinstance(before, Tensor) and isinstance(after, Tensor) and before.dtype == after.dtype
        if first is None or not is_passed:
            return None
        value = first
    return None


def _differ(own: Mapping[str, Place], given: Mapping[str, Place], suffix: str, known: Known) -> bool:
    """Whether a scale or zero point of two nodes differs: one is omitted, or they are other values, whose types or
    elements differ or are unknown."""
    if suffix not in own or suffix not in given:
        return False
    one, other = own[suffix][1], given[suffix][1]
    if one is None or other is None or one is other:
        return one is not other
    types = known.types.get(one), known.types.get(other)
    return types[0] != types[1] or not isinstance(types[0], Tensor) or types[0].value is None


def _constants(node: Node, editor: Editor) -> list[tuple[int, Value]]:
    ports = enumerate(node.inputs)
    return [(port, value) for port, value in ports if value is not None and editor.makers.is_constant(value)]


def _is_float(value: Value, editor: Editor) -> bool:
    known = editor.known.types.get(value)
    return isinstance(known, Tensor) and known.dtype in FLOATS
