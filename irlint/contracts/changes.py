"""What two models differ in, one change at a time."""

from __future__ import annotations

from irlint.records import record


@record
class Change:
    """A difference between two models; ``breaking``: who uses the old one cannot use the new one as it is.

    ``name`` is that of the input, output, node or domain that it is about, ``graph`` the path of the graph that the
    node is in, and ``follow`` the number of nodes that differ only because of it.
    """

    kind: str
    message: str
    name: str = ""
    breaking: bool = False
    graph: str = ""
    follow: int = 0


def listed(names: list[str], limit: int = 3) -> str:
    """Names in backticks, the first ones of many."""
    shown = [f"`{name}`" for name in names[:limit]]
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
