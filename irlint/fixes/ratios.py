"""Values of an attribute by a ratio: all siblings have the same ratio to another attribute, or to their channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction

from irlint.fixes.candidate import MANY, SEVERAL, Candidate
from irlint.fixes.other_values import COUNTS, EVIDENT
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor

if TYPE_CHECKING:
    from irlint.fixes.editor import Editor


def values_in_ratio(node: Node, name: str, given: Mapping[str, Any], editor: Editor) -> dict[Any, int]:
    """The values that give an attribute the ratio of all siblings with equal windows, and the evidence for each value.

    The ratio is to another list of the node (in ``given``), or to its channels. {} if the present value fills a gap in
    the series of the siblings' values.
    """
    own, window = editor.value_of(node, name), editor.filter_sizes(node)
    others = [each for each in editor.siblings(node) if each not in editor.known.faulted]
    others = [each for each in others if editor.filter_sizes(each) == window]
    others = [each for each in others if editor.value_of(each, name) is not None]
    numbers = {_only(editor.value_of(each, name)) for each in others}
    if len(others) < MANY or len(numbers) < SEVERAL or "ax" in name or _only(own) is None or _is_in_gap(own, numbers):
        return {}
    found: dict[Any, int] = {}
    lists = [each for each in given if each != name] if isinstance(own, tuple) else [None]
    for other in lists:
        base = _base(node, other, editor)
        ratios = {_ratio(each, name, other, editor) for each in others}
        ratio = ratios.pop()
        if ratios or not ratio or not base or (ratio * base).denominator > 1:
            continue
        number = int(ratio * base)
        value = (number,) * len(own) if isinstance(own, tuple) else number
        found[value] = len(others) + _is_in_gap(value, numbers)
    return found


def values_of_equal_attributes(node: Node, name: str, siblings: Sequence[Node]) -> list[object]:
    """The values of the node's attributes that are equal to the attribute ``name`` at all siblings, such as strides to
    windows. [] unless the siblings have several values."""
    given = [values for each in siblings if name in (values := _values(each))]
    if len({each[name] for each in given}) < SEVERAL:
        return []
    own = _values(node)
    return [own[other] for other in own if all(each[name] == each.get(other) for each in given)]


def _values(node: Node) -> dict[str, object]:
    """The numbers, lists and texts of a node's attributes."""
    values = {name: each.value for name, each in node.attributes.items() if each.reference is None}
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return {name: value for name, value in lists.items() if isinstance(value, (int, float, str, tuple))}


def as_sound_siblings(node: Node, problem: Problem, problems: Sequence[Problem], editor: Editor) -> Iterator[Candidate]:
    """Sets a count, such as a number of groups, at a node and at its siblings that break the same rule.

    The count is that of all other nodes with this attribute, of any operator, or it has their ratio to the channels.
    """
    names = sorted(COUNTS.intersection(node.attributes))
    if not names:
        return
    faulty = {each.node for each in problems if each.fault.rule is problem.fault.rule}
    nodes = [node, *(each for each in editor.siblings(node) if each in faulty)]
    for name in names:
        sound = [each for each in editor.graph.nodes if name in each.attributes and each not in editor.known.faulted]
        counts = {editor.value_of(each, name) for each in sound}
        values = [counts if len(counts) == 1 else values_in_ratio(each, name, {}, editor) for each in nodes]
        edits = [
            editor.attribute(each, name, next(iter(found)), editor.value_of(each, name))
            for each, found in zip(nodes, values)
            if found
        ]
        if len(edits) == len(nodes):
            yield Candidate(tuple(edits), EVIDENT, evidence=len(sound), subject=name)


def _base(node: Node, name: str | None, editor: Editor) -> int | None:
    """The number that the list ``name`` repeats; without ``name``, the number of channels of the data."""
    if name is not None:
        value = editor.value_of(node, name)
        return _only(value) if isinstance(value, tuple) else None
    known = editor.known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    size = (known.shape or ())[1:2] if isinstance(known, Tensor) else ()
    return next((each for each in size if isinstance(each, int)), None)


def _ratio(node: Node, name: str, other: str | None, editor: Editor) -> Fraction | None:
    number, base = _only(editor.value_of(node, name)), _base(node, other, editor)
    return Fraction(number, base) if number and base else None


def _only(value: object) -> int | None:
    """The number of an attribute, or the one that its list repeats; None if there is none."""
    several = set(value) if isinstance(value, tuple) else {value}
    only = several.pop() if len(several) == 1 else None
    return only if type(only) is int else None


def _is_in_gap(value: object, numbers: Set[int | None]) -> bool:
    """Whether the number of a list lies in a gap of a series of doubled numbers."""
    number = _only(value) or 0
    return isinstance(value, tuple) and number not in numbers and {number / 2, number * 2} <= numbers
