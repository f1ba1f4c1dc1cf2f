"""Compares the costs of two models of one format."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.contracts.changes import Change
from irlint.costs.counted import counted
from irlint.costs.stored import sums
from irlint.dims import MaybeDim, same, symbols
from irlint.dims.rounding import rounded
from irlint.inference.known import Known


def cost_changes(old: Known, new: Known) -> list[Change]:
    """The changes of costs that are known in both models; [] for models of different formats."""
    if old.format is not new.format:
        return []
    return [
        Change(f"cost-{name}", _text(what, one, other))
        for (name, what, one), (_, _, other) in zip(_costs(old), _costs(new))
        if one is not None and other is not None and _differ(one, other)
    ]


def _costs(known: Known) -> Iterator[tuple[str, str, MaybeDim]]:
    stored, cost = sums(known), counted(known)
    yield "parameters", "parameters", stored.parameters
    yield "bytes", "stored bytes", stored.bytes
    yield "macs", "MACs", cost.macs
    yield "peak-memory", "peak memory in bytes", cost.peak


def _differ(one: MaybeDim, other: MaybeDim) -> bool:
    """Whether two costs are different expressions of the same symbols.

    False for expressions of different symbols, because the symbols may stand for equal sizes.
    """
    if one is None or other is None or same(one, other):
        return False
    return symbols(one) == symbols(other)


def _text(what: str, one: MaybeDim, other: MaybeDim) -> str:
    """``MACs: 71.3M before, 35.6M now (-50 %)``."""
    assert one is not None and other is not None
    before, now = rounded(one), rounded(other)
    if before == now:
        before, now = str(one), str(other)
    share = ""
    if isinstance(one, int) and isinstance(other, int) and one:
        share = f" ({100 * (other - one) / one:+.3g} %)"
    return f"{what}: {before} before, {now} now{share}"
