"""Evaluates texts of conditions and sizes: ``H % 32 == 0``, ``N == M or N == 1``, ``past + 1``."""

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
    """A condition or a size, parsed from a text.

    Raises SyntaxError or TypeError for other texts.
    """

    __slots__ = ("names", "value")

    def __init__(self, text: str) -> None:
        tree = ast.parse(text.strip(), mode="eval").body
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self.names = frozenset(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called
        )
        #: Computes the value for sizes. Raises KeyError for a missing size, and ZeroDivisionError.
        self.value: Value = _value(tree)

    def holds(self, sizes: Sizes) -> bool:
        """Whether the condition holds; raises KeyError and ZeroDivisionError."""
        return bool(self.value(sizes))


def _value(tree: ast.expr) -> Value:
    """A function from sizes to the value; raises TypeError for other syntax."""
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
            operand_values = [_value(operand) for operand in operands]
            return lambda sizes: all(operand(sizes) for operand in operand_values)
        case ast.BoolOp(ast.Or(), operands):
            operand_values = [_value(operand) for operand in operands]
            return lambda sizes: any(operand(sizes) for operand in operand_values)
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            combined, one, other = _OPERATORS[type(operator)], _value(left), _value(right)
            return lambda sizes: combined(one(sizes), other(sizes))
        case ast.Compare(left, operators, others):
            return _compared(left, operators, others)
        case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
            function, given = _FUNCTIONS[name], [_value(argument) for argument in arguments]
            return lambda sizes: function(*[argument(sizes) for argument in given])
    raise TypeError(f"{ast.dump(tree)} is neither a size nor a condition")


def _compared(left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]) -> Value:
    """The function for comparisons such as ``1 <= seq <= 512`` and ``H % 4 in (0, 3)``."""
    pairs = [_related(*pair) for pair in zip([left, *others], operators, others)]
    return lambda sizes: all(holds(sizes) for holds in pairs)


def _related(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Value:
    one = _value(left)
    if isinstance(operator, ast.In) and isinstance(right, ast.Tuple):
        listed = [_value(element) for element in right.elts]
        return lambda sizes: any(one(sizes) == element(sizes) for element in listed)
    if type(operator) not in _RELATIONS:
        raise TypeError(f"{ast.dump(operator)} is not a relation of sizes")
    holds, other = _RELATIONS[type(operator)], _value(right)
    return lambda sizes: holds(one(sizes), other(sizes))
