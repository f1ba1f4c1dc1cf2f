"""Candidates for nodes whose word or flag differs from that of all their siblings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from irlint.fixes.candidate import MANY, Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.other_values import EVIDENT, FLAGS
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.model.order import downstream


def as_all_siblings(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Gives a node before ``node`` the word or flag that all its siblings have. It needs at least ``MANY`` siblings."""
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


def _stated(value: Any, name: str, default: object) -> Any:
    """The word or flag that a node has as an attribute; None for other attributes."""
    value = default if value is None else value
    return value if isinstance(value, (str, bool)) or name in FLAGS else None
