"""Corrections of names of operators that no opset has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.binding.calls import UNKNOWN_OPERATOR
from irlint.findings.edits import Edit
from irlint.fixes.interfaces import SCAN_AXES, Edits
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.records import replaced
from irlint.schemas import official, official_names

#: The least similarity (``difflib`` ratio) of similar names.
SIMILAR = 0.6

#: At most this many similar names are tried.
NAMES = 4

#: Longer texts are no names of operators.
LONGEST_NAME = 60


def similar_operators(problem: Problem, known: Known) -> Iterator[Edits]:
    """Renames an unknown operator to those with similar names, the most similar first."""
    node = problem.node
    if node is None or known.format.ports_declare or len(node.op) > LONGEST_NAME:
        return
    from difflib import get_close_matches

    for name in get_close_matches(node.op, sorted(official_names(node.domain)), NAMES, SIMILAR):
        yield (Edit("rename", "operator", problem.graph, node.label, node.index, node.op, name, op=node.op),)


def as_operator_with_attributes(problem: Problem, known: Known) -> Iterator[Edits]:
    """Renames an operator to the only one that has all attributes of the node and whose name ends with the old name."""
    node = problem.node
    version = node.version if node is not None and isinstance(node.version, int) else None
    if node is None or version is None or known.format.ports_declare or len(node.op) > LONGEST_NAME:
        return
    found = []
    for name in official_names(node.domain):
        schema = official(name, version, node.domain) if name.endswith(node.op) and node.op != name else None
        if schema is not None and set(node.attributes) <= set(schema.attributes):
            found.append(name)
    for name in found if len(found) == 1 else ():
        yield (Edit("rename", "operator", problem.graph, node.label, node.index, node.op, name, op=node.op),)


def is_ambiguous(problem: Problem, edits: Edits, may_be: Callable[[Edits], bool]) -> bool:
    """Whether another operator has a name as similar to the name of the node's operator, and ``may_be`` accepts it as
    well. Or whether edits set other axes of a Scan: perhaps a Transpose is missing."""
    node, edit = problem.node, edits[0]
    if edit.name == SCAN_AXES:
        return True
    is_renamed = edit.of == "operator" and problem.fault.rule is UNKNOWN_OPERATOR
    if not is_renamed or node is None or len(node.op) > LONGEST_NAME:
        return False
    from difflib import SequenceMatcher, get_close_matches

    names = sorted(official_names(node.domain))
    if any(name.casefold() == node.op.casefold() for name in names):
        return False
    ratios = {
        name: SequenceMatcher(None, name, node.op).ratio() for name in get_close_matches(node.op, names, NAMES, SIMILAR)
    }
    equal = [name for name, ratio in ratios.items() if ratio == ratios.get(str(edit.value)) and name != edit.value]
    return any(may_be((replaced(edit, value=name),)) for name in equal)
