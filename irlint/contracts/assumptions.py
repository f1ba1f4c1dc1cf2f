"""The user's assumptions about sizes, such as ``32 <= H <= 1280``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from irlint.contracts.implied import Alternatives, symbols_in
from irlint.dims import TooComplex, symbol
from irlint.dims.expressions import dim_of
from irlint.findings.statements import Relation, Requirement
from irlint.inference.known import Demand, Known
from irlint.model import Node
from irlint.records import replaced

#: The forms of an assumption, for messages.
FORM = "a condition on sizes, such as H <= 1280, 32 <= H <= 640, H % 32 == 0, H in (320, 640) or N == M"


def with_assumptions(known: Known, texts: Sequence[str], names: Collection[str]) -> Known:
    """``known`` with the assumptions as further demands. Raises ValueError as ``assumed`` does."""
    demands = [
        Demand("", Node("--assume", "", "", None, (), ()), Requirement(alternatives, text))
        for text in texts
        for alternatives in assumed(text, names)
    ]
    return replaced(known, requires=(*known.requires, *demands)) if demands else known


def assumed(text: str, names: Collection[str]) -> list[Alternatives]:
    """The alternatives of each demand in a text. All demands must hold.

    Raises ValueError for an invalid form, or for a symbol that is not in ``names``.
    """
    try:
        found = _conjunction(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ZeroDivisionError, TooComplex):
        raise ValueError(f"{text!r} is not an assumption: it has to be {FORM}") from None
    mentioned = symbols_in(relation for alternatives in found for relation in alternatives)
    for name in sorted(mentioned.difference(names)):
        known = f"the dynamic sizes are {', '.join(sorted(names))}" if names else "no size of an input is dynamic"
        raise ValueError(f"{text!r} is about {name!r}, which is not a size of an input; {known}")
    return found


def _conjunction(tree: ast.expr) -> list[Alternatives]:
    """The demands of a syntax tree. Raises TypeError if an alternative of "or" has several demands."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [alternatives for part in tree.values for alternatives in _conjunction(part)]
    if isinstance(tree, ast.BoolOp):
        parts = [_conjunction(part) for part in tree.values]
        if any(len(part) != 1 for part in parts):
            raise TypeError
        return [tuple(relation for (part,) in parts for relation in part)]
    if not isinstance(tree, ast.Compare):
        raise TypeError
    sides = [tree.left, *tree.comparators]
    return [_compared(left, operator, right) for left, operator, right in zip(sides, tree.ops, sides[1:])]


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Alternatives:
    one = dim_of(left, symbol)
    if isinstance(operator, ast.In) and isinstance(right, (ast.Tuple, ast.List)) and right.elts:
        return tuple(Relation("==", one, dim_of(element, symbol)) for element in right.elts)
    other = dim_of(right, symbol)
    match operator:
        case ast.Eq():
            return (Relation("==", one, other),)
        case ast.NotEq():
            return Relation(">=", one, other + 1), Relation(">=", other, one + 1)
        case ast.GtE():
            return (Relation(">=", one, other),)
        case ast.Gt():
            return (Relation(">=", one, other + 1),)
        case ast.LtE():
            return (Relation(">=", other, one),)
        case ast.Lt():
            return (Relation(">=", other, one + 1),)
    raise TypeError
