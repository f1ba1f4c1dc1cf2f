"""How many prior boxes OpenVINO counts in each cell of a feature map."""

from __future__ import annotations

Floats = tuple[float, ...]


def aspect_ratios(ratios: Floats, flip: bool) -> int:
    """How many different aspect ratios there are, 1 among them, and with ``flip`` the inverse of each."""
    found = {1.0}
    for ratio in ratios:
        found.add(round(ratio, 6))
        if flip:
            found.add(round(1 / ratio, 6) if ratio else float("inf"))
    return len(found)


def _whole(density: float) -> int:
    """The density as a whole number; what is none is 0."""
    return int(density) if abs(density) < 2**31 else 0


def priors_of_cell(
    ratios: int, least: int, most: int, *, scale_all_sizes: bool, fixed: int, density: Floats, fixed_ratios: int
) -> int:
    """How many prior boxes each cell has: of ``ratios`` aspect ratios, ``least`` and ``most`` sizes and ``fixed`` ones.

    Source: OpenVINO PriorBox-1 and -8, as the library counts.
    """
    count = ratios * least + most if scale_all_sizes else ratios + least - 1
    if fixed:
        count = ratios * fixed
    return count + sum((fixed_ratios or ratios) * (_whole(each) ** 2 - 1) for each in density)
