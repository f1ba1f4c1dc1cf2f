"""The user's assumptions about sizes, such as ``32 <= H <= 1280``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from itertools import chain, product
from math import prod

from irlint.contracts.contract import Group
from irlint.contracts.implied import Alternatives, symbols_in
from irlint.dims import Dim, TooComplex, symbol
from irlint.dims.expressions import dim_of
from irlint.findings.statements import Relation, Requirement
from irlint.inference.known import Demand, Known
from irlint.model import Node
from irlint.records import replaced

#: The forms of an assumption, for messages.
FORM = "a condition on sizes, such as H <= 1280, 32 <= H <= 640, H % 32 == 0, H in (320, 640) or N == M"

#: The name of the node to which the demands of assumptions belong.
OPTION = "--assume"

#: The most demands of one "or".
MOST_DEMANDS = 256


def with_assumptions(known: Known, texts: Sequence[str], names: Collection[str]) -> Known:
    """``known`` with the assumptions as further demands. Raises ValueError as ``assumed`` does."""
    demands = [
        Demand("", Node(OPTION, "", "", None, (), ()), Requirement(alternatives, text))
        for text in texts
        for alternatives in assumed(text, names)
    ]
    return replaced(known, requires=(*known.requires, *demands)) if demands else known


def contradiction(demands: Sequence[Demand]) -> str:
    """The text of contradictory demands: first the conditions of the model, then the user's assumptions."""
    own = [demand for demand in demands if demand.node.name != OPTION]
    group = Group(
        dict.fromkeys(sorted(symbols_in(each for demand in own for each in demand.requirement.any_of)), (1, None))
    )
    group.add(own)
    if group.impossible:
        conditions = [demand.requirement.condition for demand in own]
    else:
        conditions = [condition.text for condition in group.conditions()]
    assumptions = [demand.requirement.why for demand in demands if demand.node.name == OPTION]
    texts = dict.fromkeys(conditions + assumptions)
    return " and ".join(f"({text})" if " or " in text else text for text in texts)


def assumed(text: str, names: Collection[str]) -> list[Alternatives]:
    """The demands in a text, each as its alternatives. All demands must hold.

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
    """The demands of a syntax tree. "a or b and c" becomes "a or b" and "a or c".

    Raises TypeError for other syntax, and for more than MOST_DEMANDS.
    """
    if isinstance(tree, ast.BoolOp):
        parts = [_conjunction(part) for part in tree.values]
        if isinstance(tree.op, ast.And):
            return list(chain(*parts))
        if prod(map(len, parts)) > MOST_DEMANDS:
            raise TypeError
        return [tuple(chain(*alternatives)) for alternatives in product(*parts)]
    if not isinstance(tree, ast.Compare):
        raise TypeError
    sides = [tree.left, *tree.comparators]
    return [_compared(left, operator, right) for left, operator, right in zip(sides, tree.ops, sides[1:])]


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Alternatives:
    if (
        isinstance(left, ast.BinOp)
        and isinstance(left.op, ast.Mod)
        and isinstance(operator, ast.Eq)
        and _is_zero(right)
    ):
        return (Relation("%", _size(left.left), _size(left.right)),)
    one = _size(left)
    if isinstance(operator, ast.In) and isinstance(right, (ast.Tuple, ast.List)) and right.elts:
        return tuple(Relation("==", one, _size(element)) for element in right.elts)
    other = _size(right)
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


def _is_zero(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == 0


def _size(tree: ast.expr) -> Dim:
    """The size that a syntax tree denotes. A divisor may be 0 for some sizes, which do not meet the condition."""
    return dim_of(tree, symbol, divisor=lambda dim: dim)
