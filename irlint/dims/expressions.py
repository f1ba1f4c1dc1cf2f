"""Parses sizes that are expressions, in Python's notation with the functions that PyTorch's exporter prints."""

from __future__ import annotations

import ast
from functools import partial
from math import prod

from irlint.dims import Dim, TooComplex, at_least, ceildiv, floordiv, largest, smallest
from irlint.dims.proofs import fed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: Returns the size of a name.
    Named = Callable[[str], Dim]

    #: Returns a divisor, or raises ZeroDivisionError if it is not permitted.
    Divisor = Callable[[Dim], Dim]

#: The pattern of a name in a size.
NAME = r"[A-Za-z_]\w*"

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
    """The size that the expression ``text`` denotes. ``sizes`` has the sizes of names.

    None if the text is no expression of these names, or if a divisor may be less than 1.
    """
    if len(text) > LONGEST:
        return None
    try:
        return dim_of(ast.parse(text.strip(), mode="eval").body, sizes.__getitem__)
    except (*FAILURES, KeyError):
        return None


def dim_of(tree: ast.expr, named: Named, divisor: Divisor | None = None) -> Dim:
    """The size that a syntax tree denotes.

    ``named`` returns the size of a name. ``divisor`` returns a divisor, or raises ZeroDivisionError to refuse it; by
    default, it refuses divisors that may be less than 1. Raises TypeError for a tree that is no size, TooComplex, and
    the exceptions of the two functions.
    """
    permitted = positive if divisor is None else divisor
    part = partial(dim_of, named=named, divisor=permitted)
    match tree:
        case ast.Constant(int() as number) if not isinstance(number, bool):
            return number
        case ast.Name(name):
            return named(name)
        case ast.UnaryOp(ast.USub(), operand):
            return -part(operand)
        case ast.BinOp(left, ast.Pow(), ast.Constant(int() as exponent)) if 1 <= exponent <= MOST_FACTORS:
            return prod([part(left)] * exponent)
        case ast.BinOp(left, operator, right):
            return _combined(part(left), operator, part(right), permitted)
        case ast.Call(ast.Name(name), arguments, []):
            return _called(name, arguments, part, permitted)
    raise TypeError


def _combined(left: Dim, operator: ast.operator, right: Dim, divisor: Divisor) -> Dim:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return floordiv(left, divisor(right))
        case ast.Mod():
            return left % divisor(right)
    raise TypeError


def positive(a: Dim) -> Dim:
    """``a``, if it is at least 1 for all inputs. Raises ZeroDivisionError."""
    if not at_least(fed(a), 1):
        raise ZeroDivisionError
    return a


def _called(name: str, arguments: Sequence[ast.expr], part: Callable[[ast.expr], Dim], divisor: Divisor) -> Dim:
    if name in _ROUNDED and len(arguments) == 1:
        return _ROUNDED[name](*_divided(arguments[0], part, divisor))
    dims = [part(argument) for argument in arguments]
    match name, dims:
        case "FloorDiv", [a, b]:
            return floordiv(a, divisor(b))
        case (("Mod" | "PythonMod"), [a, b]):
            return a % divisor(b)
        case (("Max" | "max" | "Min" | "min"), [_, *_]):
            found = (largest if name.lower() == "max" else smallest)(*dims)
            if found is not None:
                return found
    raise TypeError


def _divided(tree: ast.expr, part: Callable[[ast.expr], Dim], divisor: Divisor) -> tuple[Dim, Dim]:
    """(numerator, divisor) of the argument of a rounding function; (argument, 1) if it is no division."""
    match tree:
        case ast.BinOp(left, ast.Div(), right) | ast.Call(ast.Name("IntTrueDiv"), [left, right], []):
            return part(left), divisor(part(right))
    return part(tree), 1
