"""The number of prior boxes that OpenVINO computes for each cell of a feature map."""

from __future__ import annotations

Floats = tuple[float, ...]


def aspect_ratios(ratios: Floats, flip: bool) -> int:
    """The number of different aspect ratios, including 1; ``flip`` adds the inverse of each ratio."""
    found = {1.0}
    for ratio in ratios:
        found.add(round(ratio, 6))
        if flip:
            found.add(round(1 / ratio, 6) if ratio else float("inf"))
    return len(found)


def _as_integer(density: float) -> int:
    """The density as a 32-bit integer; 0 if it is too large or not a number."""
    return int(density) if abs(density) < 2**31 else 0


def priors_of_cell(
    ratios: int,
    min_sizes: int,
    max_sizes: int,
    *,
    scale_all_sizes: bool,
    fixed_sizes: int,
    density: Floats,
    fixed_ratios: int,
) -> int:
    """The number of prior boxes in a cell, from numbers of ratios and sizes. Source: OpenVINO PriorBox-1 and -8."""
    count = ratios * min_sizes + max_sizes if scale_all_sizes else ratios + min_sizes - 1
    if fixed_sizes:
        count = ratios * fixed_sizes
    return count + sum((fixed_ratios or ratios) * (_as_integer(value) ** 2 - 1) for value in density)
