"""How messages count and name things."""

from __future__ import annotations


def counted(count: object, one: str, many: str = "") -> str:
    """``1 axis``, ``2 axes``: a number with what it counts, ``many`` being the plural where it is no plain s."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def shortened(name: str) -> str:
    """A name as messages show it: a long one without its middle."""
    return name if len(name) <= 120 else f"{name[:60]}...{name[-50:]}"
