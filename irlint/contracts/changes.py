"""A difference between two models."""

from __future__ import annotations

from irlint.records import record


@record
class Change:
    """A difference between two models."""

    kind: str
    message: str
    #: The input, output, node, domain, operator or condition that changed.
    name: str = ""
    #: Whether callers of the old model may fail with the new one.
    breaking: bool = False
    #: The path of the node's graph.
    graph: str = ""
    #: The number of nodes that differ only because of this change.
    follow: int = 0


def listed(names: list[str], limit: int = 3) -> str:
    """At most ``limit`` names in backticks, and the number of further names. ``names`` is not empty."""
    shown = [f"`{name}`" for name in names[:limit]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
