"""Writes sets of sizes as Python conditions such as ``H % 32 == 0``."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.contracts.sizes import Sizes

#: The most sizes that a condition lists.
LISTED = 8


def conditions(name: str, sizes: Sizes) -> tuple[str, ...] | None:
    """The conditions that hold for exactly these sizes.

    Returns () for all sizes, and None for an empty set or if no short conditions exist.
    """
    if sizes.is_full:
        return ()
    if sizes.is_empty:
        return None
    uniform = _uniform(name, sizes, 1)
    # One condition is clearer than a list of more than two sizes.
    listed = sizes.few(LISTED if uniform is None or len(uniform) > 1 else 2)
    are_three_consecutive = len(listed) > 2 and listed[-1] - listed[0] == len(listed) - 1
    if listed and not are_three_consecutive:
        return (_membership(name, listed),)
    if uniform is not None:
        return uniform
    return _with_exceptions(name, sizes)


def _membership(name: str, listed: list[int]) -> str:
    return f"{name} == {listed[0]}" if len(listed) == 1 else f"{name} in {tuple(listed)}"


def _uniform(name: str, sizes: Sizes, start: int) -> tuple[str, ...] | None:
    """The conditions on the bounds and the residues of the sizes from ``start`` on, or None.

    None if a size between the bounds has one of these residues, but is not in the set.
    """
    residues, least, greatest = _outline(sizes, start)
    if least is None:
        return None
    for residue in residues:
        first = least + (residue - least) % sizes.modulus
        last = None if greatest is None else greatest - (greatest - residue) % sizes.modulus
        if last is not None and first > last:
            return None
        inside = [(low, high) for low, high in _intervals(sizes, residue) if high is None or high >= start]
        if len(inside) != 1 or inside[0][0] > first or inside[0][1] != last:
            return None
    modulus, reduced = _reduced(residues, sizes.modulus)
    least_of_residues = min((residue or modulus) for residue in reduced)
    texts = []
    if greatest is not None and least > least_of_residues:
        texts.append(f"{least} <= {name} <= {greatest}")
    elif greatest is not None:
        texts.append(f"{name} <= {greatest}")
    elif least > least_of_residues:
        texts.append(f"{name} >= {least}")
    return (*texts, *_of_residues(name, modulus, reduced))


def _outline(sizes: Sizes, start: int) -> tuple[list[int], int | None, int | None]:
    """(residues, least size, greatest size or None) of the sizes from ``start`` on."""
    residues: list[int] = []
    least: int | None = None
    ends: list[int | None] = []
    for residue in range(sizes.modulus):
        for low, high in _intervals(sizes, residue):
            if high is not None and high < start:
                continue
            begin = low if low >= start else start + (residue - start) % sizes.modulus
            if not residues or residues[-1] != residue:
                residues.append(residue)
            least = begin if least is None else min(least, begin)
            ends.append(high)
    greatest = None if None in ends or not ends else max(end for end in ends if end is not None)
    return residues, least, greatest


def _intervals(sizes: Sizes, residue: int) -> Iterator[tuple[int, int | None]]:
    """The first and last size (None: no end) of each interval of a residue class."""
    for low, high in sizes.classes[residue]:
        yield residue + sizes.modulus * low, None if high is None else residue + sizes.modulus * high


def _reduced(residues: list[int], modulus: int) -> tuple[int, list[int]]:
    """The smallest modulus that describes the same integers, and their residues modulo it."""
    for smaller in range(1, modulus):
        if modulus % smaller == 0:
            reduced = sorted({residue % smaller for residue in residues})
            if len(reduced) * (modulus // smaller) == len(residues):
                return smaller, reduced
    return modulus, residues


def _of_residues(name: str, modulus: int, residues: list[int]) -> tuple[str, ...]:
    if modulus == 1:
        return ()
    if len(residues) == 1:
        return (f"{name} % {modulus} == {residues[0]}",)
    others = sorted(set(range(modulus)) - set(residues))
    if len(others) == 1 and modulus > 2:
        return (f"{name} % {modulus} != {others[0]}",)
    return (f"{name} % {modulus} in {tuple(residues)}",)


def _with_exceptions(name: str, sizes: Sizes) -> tuple[str, ...] | None:
    """A condition such as ``H == 1 or H >= 4 and H % 4 == 0``, or None."""
    starts = sorted({low for residue in range(sizes.modulus) for low, _ in _intervals(sizes, residue)})
    for start in starts[1:]:
        before = list(sizes.elements(start - 1)) if start <= 64 * LISTED else []
        if not before or len(before) > LISTED:
            continue
        tail = _uniform(name, sizes, start)
        if tail is not None:
            rest = " and ".join(tail) or f"{name} >= {start}"
            if not rest.startswith((f"{name} >=", f"{start} <=")):
                rest = f"{name} >= {start} and {rest}"
            return (f"{_membership(name, before)} or {rest}",)
    return None
