"""Evaluates conditions and sizes that are written as texts: ``H % 32 == 0``, ``N == M or N == 1``, ``past + 1``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub

Sizes = Mapping[str, int]
Value = Callable[[Sizes], int]

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
}

_RELATIONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: eq,
    ast.NotEq: ne,
    ast.Lt: lt,
    ast.LtE: le,
    ast.Gt: gt,
    ast.GtE: ge,
}

_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "abs": abs}


class Formula:
    """A condition or a size, parsed from a text; ``names`` are its symbols.

    Creating one raises SyntaxError or TypeError for a text that is neither a condition nor a size.
    """

    __slots__ = ("names", "value")

    def __init__(self, text: str) -> None:
        tree = ast.parse(text.strip(), mode="eval").body
        called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
        self.names = frozenset(
            each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and id(each) not in called
        )
        #: A function that computes the value of the formula for given sizes. It raises KeyError if the size of a symbol
        #: is missing, and ZeroDivisionError.
        self.value: Value = _value(tree)

    def holds(self, sizes: Sizes) -> bool:
        """Whether the condition holds for given sizes; raises KeyError and ZeroDivisionError as ``value`` does."""
        return bool(self.value(sizes))


def _value(tree: ast.expr) -> Value:
    """The function that computes the value of a syntax tree from sizes; raises TypeError for other syntax."""
    match tree:
        case ast.Constant(int() as number):
            return lambda sizes: number
        case ast.Name(name):
            return lambda sizes: sizes[name]
        case ast.UnaryOp(ast.Not(), operand):
            negated = _value(operand)
            return lambda sizes: not negated(sizes)
        case ast.UnaryOp(ast.USub(), operand):
            positive = _value(operand)
            return lambda sizes: -positive(sizes)
        case ast.BoolOp(ast.And(), operands):
            every = [_value(each) for each in operands]
            return lambda sizes: all(each(sizes) for each in every)
        case ast.BoolOp(ast.Or(), operands):
            some = [_value(each) for each in operands]
            return lambda sizes: any(each(sizes) for each in some)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            combined, one, other = _OPERATORS[type(operator)], _value(left), _value(right)
            return lambda sizes: combined(one(sizes), other(sizes))
        case ast.Compare(left, operators, others):
            return _compared(left, operators, others)
        case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
            function, given = _FUNCTIONS[name], [_value(each) for each in arguments]
            return lambda sizes: function(*[each(sizes) for each in given])
    raise TypeError(f"{ast.dump(tree)} is neither a size nor a condition")


def _compared(left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]) -> Value:
    """The function for a comparison or a chain of comparisons: ``1 <= seq <= 512``, ``H % 4 in (0, 3)``."""
    pairs = [_related(*each) for each in zip([left, *others], operators, others)]
    return lambda sizes: all(each(sizes) for each in pairs)


def _related(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Value:
    one = _value(left)
    if isinstance(operator, ast.In) and isinstance(right, ast.Tuple):
        listed = [_value(each) for each in right.elts]
        return lambda sizes: any(one(sizes) == each(sizes) for each in listed)
    if type(operator) not in _RELATIONS:
        raise TypeError(f"{ast.dump(operator)} is not a relation of sizes")
    holds, other = _RELATIONS[type(operator)], _value(right)
    return lambda sizes: holds(one(sizes), other(sizes))
