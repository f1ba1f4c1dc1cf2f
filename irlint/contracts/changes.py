"""A change: one difference between two models."""

from __future__ import annotations

from irlint.records import record


@record
class Change:
    """A difference between two models; ``breaking`` is True if users of the old model cannot use the new one unchanged.

    ``name`` is the input, output, node or domain that changed, and ``graph`` the path of the node's graph. ``follow``
    is the number of nodes that differ only because of this change.
    """

    kind: str
    message: str
    name: str = ""
    breaking: bool = False
    graph: str = ""
    follow: int = 0


def listed(names: list[str], limit: int = 3) -> str:
    """At most ``limit`` names in backticks, then the number of further names. There must be a name."""
    shown = [f"`{name}`" for name in names[:limit]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
