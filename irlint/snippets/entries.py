"""Notes on the entries of computed inputs, such as the ``shape`` of a Reshape."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Fault
from irlint.findings.wording import listed
from irlint.inference.consequences import DECLARED
from irlint.inference.origins import Makers, Position, held_by, inputs_of, read_from
from irlint.model import Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.snippets.reasons import Naming
from irlint.snippets.tables import TYPED

#: The largest numbers of inputs, and of entries of an input, that notes describe.
INPUTS = 3
ENTRIES = 8


def entry_notes(fault: Fault, node: Node, makers: Makers, naming: Naming) -> list[str]:
    """Sentences on at most INPUTS computed lists of integers. For a fault of a declaration, also on constant inputs.

    Returns [] if the fault is neither about shapes nor about a declaration.
    """
    declared = fault.rule.family == DECLARED
    if fault.rule.family not in TYPED[:2] and not declared:
        return []
    notes: list[str] = []
    for index, (value, known) in enumerate(zip(node.inputs, inputs_of(node, makers.known))):
        if value is None or not isinstance(known, Tensor) or known.ints is None or len(notes) >= INPUTS:
            continue
        if declared and makers.is_constant(value) and 0 < len(known.ints) <= ENTRIES and known.rank in (0, 1):
            entries = ", ".join(map(str, known.ints))
            text = f"[{entries}]" if known.rank else entries
            notes.append(f"input {index} is {text}: constant {naming.called(value)}")
        elif _is_list(known):
            note = _note(f"input {index}", value, known, makers, naming)
            notes += [note] if note else []
    return notes


def _is_list(known: Type | None) -> bool:
    """Whether a type is a list of 2 to ENTRIES integers with known entries."""
    if not isinstance(known, Tensor) or known.rank != 1 or known.dtype not in INTEGERS:
        return False
    return known.ints is not None and 1 < len(known.ints) <= ENTRIES


def _note(label: str, value: Value, known: Type | None, makers: Makers, naming: Naming) -> str:
    """``input 1 is [N, 9] by Concat[5]: N is axis 0 of `x`, 9 is constant `c```, or ""."""
    maker = makers.of(value)
    node = maker.node if maker is not None and maker.constant is None else None
    entries = known.ints if isinstance(known, Tensor) else None
    if (
        node is None
        or entries is None
        or node.op in (naming.known.format.constant_node, naming.known.format.input_node)
    ):
        return ""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for index, entry in enumerate(entries):
        text = "?" if entry is None else f"{entry}"
        for kind, place, axis in _origin(value, index, makers, naming):
            groups.setdefault((kind, place), []).append((text, axis))
    if not groups:
        return ""
    texts = ", ".join("?" if entry is None else f"{entry}" for entry in entries)
    parts = [_part(kind, place, text) for (kind, place), text in groups.items()]
    return f"{label} is [{texts}] by {naming.short(node)}: {', '.join(parts)}"


def _part(kind: str, place: str, entries: list[tuple[str, str]]) -> str:
    """The clause on (entry, axis) pairs with one origin."""
    dims = listed([dim for dim, _ in entries])
    several = len(entries) > 1
    if kind == "axis":
        return f"{dims} {'are axes' if several else 'is axis'} {listed([axis for _, axis in entries])} of {place}"
    return f"{dims} {'are' if several else 'is'} {place}"


def _origin(value: Value, index: int, makers: Makers, naming: Naming) -> Iterator[tuple[str, str, str]]:
    """At most one (``axis``, ``constant``, ``given`` or ``computed``; text; axis or "") on the origin of an entry."""
    at, position = read_from(value, Position(0, index, True), makers)
    if not position.in_contents:
        yield "axis", naming.called(at), str(position.index)
        return
    maker = makers.of(at)
    if maker is None:
        return
    if makers.is_constant(at):
        yield "constant", f"constant {naming.called(at)}", ""
    elif maker.node is None:
        yield "given", f"given for {naming.called(at)}", ""
    elif maker.node.op != naming.known.format.input_node:
        yield "computed", _computed(at, position, maker.node, makers, naming), ""


def _computed(value: Value, position: Position, node: Node, makers: Makers, naming: Naming) -> str:
    """``computed by Div[16] from 8 and 3 (constant `c`)``, or ``constant `c```."""
    output = Position(node.outputs.index(value), position.index, True)
    constant = held_by(node, output, makers)
    if constant is not None:
        return f"constant {naming.called(constant[0])}"
    operands = []
    for operand, known in zip(node.inputs, inputs_of(node, makers.known)):
        if operand is None or not isinstance(known, Tensor) or known.ints is None or len(known.ints) > ENTRIES:
            continue
        texts = ["?" if entry is None else f"{entry}" for entry in known.ints]
        text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        operands.append(text + f" (constant {naming.called(operand)})" * makers.is_constant(operand))
    return f"computed by {naming.short(node)}" + (f" from {listed(operands)}" if operands else "")
