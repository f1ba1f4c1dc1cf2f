"""Minima, maxima and broadcast sizes of polynomials, without redundant parts: max(H, H + 1) is H + 1."""

from __future__ import annotations

from irlint.dims.limits import MAX_BRANCHING_SIZE, at_least
from irlint.dims.polynomials import Dim, Expr, TooComplex, atom_dim, atoms_of, lone_atom, operation, terms_of, without


def extreme(kind: str, dims: tuple[Dim, ...]) -> Dim:
    """The "min" or "max" (``kind``) of ``dims``, without redundant parts. Raises TooComplex."""
    pick = min if kind == "min" else max
    flat: list[Dim] = []
    for dim in dims:
        inner = lone_atom(dim, kind)
        flat.extend([part + inner[1] for part in inner[0].parts] if inner else (dim,))
    numbers = [dim for dim in flat if isinstance(dim, int)]
    if numbers:
        flat = [_without_redundant(kind, dim, pick(numbers)) for dim in flat]
    candidates: list[Dim] = sorted({dim for dim in flat if isinstance(dim, Expr)}, key=str)
    candidates += [pick(numbers)] if numbers else []
    kept: list[Dim] = []
    for index, dim in enumerate(candidates):
        others = kept + candidates[index + 1 :]
        if not any(at_least(other, dim) if kind == "max" else at_least(dim, other) for other in others):
            kept.append(dim)
    if len(kept) == 1:
        return kept[0]
    offset = _offset_of_quotient(kept) if kind == "max" else 0
    return atom_dim(operation(kind, tuple(each - offset for each in kept))) + offset


def _offset_of_quotient(parts: list[Dim]) -> int:
    """The constant of a quotient that is compared with 0: max(H//32 - 1, 0) is max(H//32, 1) - 1."""
    quotient = lone_atom(parts[0], "//") if parts[1:] == [0] else None
    return quotient[1] if quotient else 0


def _without_redundant(kind: str, dim: Dim, limit: int) -> Dim:
    """``dim`` as a part of a "min" or "max" (``kind``) with the number ``limit``, without redundant numbers.

    In max(0, min(x, max(y, 0))), the second part becomes min(x, y).
    """
    outer = lone_atom(dim, "max" if kind == "min" else "min")
    if outer is None or outer[1]:
        return dim
    parts = tuple(_without_numbers(kind, part, limit) for part in outer[0].parts)
    return dim if parts == outer[0].parts else extreme(outer[0].kind, parts)


def _without_numbers(kind: str, dim: Dim, limit: int) -> Dim:
    """``dim`` without the numbers that ``limit`` makes redundant: y for max(y, 0) if ``limit`` is 0."""
    inner = lone_atom(dim, kind)
    if inner is None or inner[1]:
        return dim
    numbers = [part for part in inner[0].parts if isinstance(part, int)]
    if not numbers or any((number > limit) if kind == "max" else (number < limit) for number in numbers):
        return dim
    return extreme(kind, tuple(part for part in inner[0].parts if isinstance(part, Expr)))


def joint_size(dims: tuple[Dim, ...]) -> Dim:
    """The broadcast size of ``dims``: their maximum, or 0 if one of them is 0. Raises TooComplex."""
    parts = tuple(part for dim in dims for part in broadcast_parts(dim) if part != 1) or (1,)
    if sum(atom.size for part in parts for atom in atoms_of(part)) > MAX_BRANCHING_SIZE:
        raise TooComplex(f"{len(parts)} sizes broadcast together")
    return _broadcast(parts)


def _broadcast(parts: tuple[Dim, ...]) -> Dim:
    """The maximum of the parts, times min(*parts, 1) unless this factor is redundant."""
    widest, factor = extreme("max", parts), extreme("min", (*parts, 1))
    return widest if factor in (1, extreme("min", (widest, 1))) else widest * factor


def broadcast_parts(dim: Dim) -> tuple[Dim, ...]:
    """The sizes that were broadcast to ``dim``, with repetitions; ``(dim,)`` if no ``joint_size`` gives ``dim``."""
    terms = terms_of(dim)
    atoms = next(iter(terms), ())
    limit = next((atom for atom in atoms if atom.kind == "min" and 1 in atom.parts), None)
    if limit is None or terms != {atoms: 1}:
        return (dim,)
    widest: Dim = Expr({without(atoms, (limit,)) or (): 1}) if len(atoms) > 1 else 1
    largest_of = lone_atom(widest, "max")
    parts = (*(largest_of[0].parts if largest_of else (widest,)), *limit.parts)
    parts = tuple(part for part in parts if part != 1)
    return parts if _broadcast(parts) == dim else (dim,)
