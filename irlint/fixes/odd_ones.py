"""Candidates for nodes that differ from all their siblings: in a word or flag, or in a Transpose before an input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from irlint.fixes.candidate import MANY, SEVERAL, Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.other_values import EVIDENT, FLAGS
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.model.order import downstream, uses


def as_all_siblings(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Gives ``node`` or a node before it the word or flag that all siblings have, which must be at least ``MANY``."""
    groups: dict[tuple[str, str], list[Node]] = {}
    for each in editor.graph.nodes:
        groups.setdefault((each.domain, each.op), []).append(each)
    for nodes in groups.values():
        for odd, candidate in _odd_ones(nodes, editor) if len(nodes) > MANY else ():
            if node in downstream(odd, editor.graph):
                yield candidate


def _odd_ones(nodes: Sequence[Node], editor: Editor) -> Iterator[tuple[Node, Candidate]]:
    call = editor.known.calls.get(nodes[0])
    attributes = call.signature.attributes if call is not None and call.signature is not None else {}
    for name, (_, default) in attributes.items():
        values = [_stated(editor.value_of(each, name), name, default) for each in nodes]
        (value, count), *others = Counter(values).most_common()
        if value is None or [one for _, one in others] != [1] or others[0][0] is None:
            continue
        odd = nodes[values.index(others[0][0])]
        edit = editor.attribute(odd, name, value, others[0][0])
        yield odd, Candidate((edit,), EVIDENT, odd, evidence=count, subject=name)


def without_odd_transpose(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Bypasses one of these nodes, if it is a Transpose that no sibling of its users has after the same
    operator.

    Before the input of several siblings stands the operator that comes before the Transpose.
    """
    for node in nodes:
        value, before = node.outputs[0] if node.outputs else None, node.inputs[0] if node.inputs else None
        maker = inputs.node_of(before)
        if node.op != TRANSPOSE or value is None or before is None or maker is None or value in inputs.graph.outputs:
            continue
        places = uses(value, inputs.users.get(value, ()))
        counts = [_count_at_siblings(user, port, maker.op, inputs) for user, port in places]
        if counts and min(counts) >= SEVERAL:
            called = f"{inputs.editor.called(before)}, without the {node.op},"
            edits = [inputs.editor.connected(before, user, port, called) for user, port in places]
            yield Candidate(tuple(edits), EVIDENT, node, evidence=min(counts))


def _count_at_siblings(node: Node, port: int, op: str, inputs: Inputs) -> int:
    """The number of siblings with this operator before an input; 0 if one has a Transpose after this operator there."""
    values = [each.inputs[port] for each in inputs.editor.siblings(node) if port < len(each.inputs)]
    makers = [maker for maker in map(inputs.node_of, values) if maker is not None]
    firsts = [inputs.node_of(each.inputs[0]) for each in makers if each.op == TRANSPOSE and each.inputs]
    is_usual = any(each is not None and each.op == op for each in firsts)
    return 0 if is_usual else sum(each.op == op for each in makers)


def _stated(value: Any, name: str, default: object) -> Any:
    """The word or flag that a node has as an attribute; None for other attributes."""
    value = default if value is None else value
    return value if isinstance(value, (str, bool)) or name in FLAGS else None
