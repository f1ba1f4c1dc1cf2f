"""Parses sizes that are expressions, in Python's notation with the functions that PyTorch's exporter prints."""

from __future__ import annotations

import ast
from math import prod

from irlint.dims import Dim, TooComplex, at_least, ceildiv, floordiv, largest, smallest
from irlint.dims.proofs import fed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Texts with more characters are not parsed.
LONGEST = 400

#: The largest exponent of a power.
MOST_FACTORS = 8

#: The exceptions of ``ast.parse`` and ``dim_of`` for a text that is no size.
FAILURES = (SyntaxError, TypeError, ValueError, ZeroDivisionError, MemoryError, RecursionError, TooComplex)

#: Functions that round a division: ``CeilToInt(IntTrueDiv(H, 2))``, ``floor(H/2)``.
_ROUNDED: Mapping[str, Callable[[Dim, Dim], Dim]] = {
    "CeilToInt": ceildiv,
    "ceiling": ceildiv,
    "ceil": ceildiv,
    "FloorToInt": floordiv,
    "floor": floordiv,
}


def read(text: str, sizes: Mapping[str, Dim]) -> Dim | None:
    """The size that an expression denotes, with ``sizes`` for its names.

    None for a text that is no such expression, and for a divisor that may be less than 1.
    """
    if len(text) > LONGEST:
        return None
    try:
        return dim_of(ast.parse(text.strip(), mode="eval").body, sizes.__getitem__)
    except (*FAILURES, KeyError):
        return None


def dim_of(tree: ast.expr, named: Callable[[str], Dim]) -> Dim:
    """The size that a syntax tree denotes; ``named`` returns the size of a name.

    Raises TypeError for a tree that is no size, ZeroDivisionError for a divisor that may be less than 1, TooComplex,
    and the exceptions of ``named``.
    """
    match tree:
        case ast.Constant(int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(name):
            return named(name)
        case ast.UnaryOp(ast.USub(), operand):
            return -dim_of(operand, named)
        case ast.BinOp(left, ast.Pow(), ast.Constant(int() as exponent)) if 1 <= exponent <= MOST_FACTORS:
            return prod([dim_of(left, named)] * exponent)
        case ast.BinOp(left, operator, right):
            return _combined(dim_of(left, named), operator, dim_of(right, named))
        case ast.Call(ast.Name(name), arguments, []):
            return _called(name, arguments, named)
    raise TypeError


def _combined(left: Dim, operator: ast.operator, right: Dim) -> Dim:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return floordiv(left, _divisor(right))
        case ast.Mod():
            return left % _divisor(right)
    raise TypeError


def _divisor(a: Dim) -> Dim:
    """``a``, if it is at least 1 for all inputs. Raises ZeroDivisionError."""
    if not at_least(fed(a), 1):
        raise ZeroDivisionError
    return a


def _called(name: str, arguments: Sequence[ast.expr], named: Callable[[str], Dim]) -> Dim:
    if name in _ROUNDED and len(arguments) == 1:
        numerator, divisor = _divided(arguments[0], named)
        return _ROUNDED[name](numerator, divisor)
    dims = [dim_of(argument, named) for argument in arguments]
    match name, dims:
        case "FloorDiv", [a, b]:
            return floordiv(a, _divisor(b))
        case (("Mod" | "PythonMod"), [a, b]):
            return a % _divisor(b)
        case (("Max" | "max" | "Min" | "min"), [_, *_]):
            found = (largest if name.lower() == "max" else smallest)(*dims)
            if found is not None:
                return found
    raise TypeError


def _divided(tree: ast.expr, named: Callable[[str], Dim]) -> tuple[Dim, Dim]:
    """(numerator, divisor) of the argument of a rounding function; (argument, 1) without a division."""
    match tree:
        case ast.BinOp(left, ast.Div(), right) | ast.Call(ast.Name("IntTrueDiv"), [left, right], []):
            return dim_of(left, named), _divisor(dim_of(right, named))
    return dim_of(tree, named), 1
