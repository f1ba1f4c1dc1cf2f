"""How messages count things."""

from __future__ import annotations


def counted(count: object, one: str, many: str = "") -> str:
    """``1 axis``, ``2 axes``: a number with what it counts, ``many`` being the plural where it is no plain s."""
    return f"{count} {one if count == 1 else many or one + 's'}"
