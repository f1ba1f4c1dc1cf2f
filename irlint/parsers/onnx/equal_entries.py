"""Skips entries of lists with very many equal short entries."""

from __future__ import annotations

from irlint.findings.wording import are
from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.faults import EQUAL_ENTRIES
from irlint.parsers.onnx.protobuf import MOST_EQUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irlint.findings.faults import Fault
    from irlint.parsers.onnx.protobuf import Buffer, Span

#: Only entries of at most this many bytes are compared.
SHORT_BYTES = 16


def kept(data: Buffer, spans: Sequence[Span]) -> list[int]:
    """The positions of the entries to read: all, except that only MOST_EQUAL of equal short entries are read."""
    counts: dict[bytes, int] = {}
    positions = []
    for at, (start, end) in enumerate(spans):
        if end - start <= SHORT_BYTES:
            raw = data[start:end]
            counts[raw] = count = counts.get(raw, 0) + 1
            if count > MOST_EQUAL:
                continue
        positions.append(at)
    return positions


def fault(skipped: Mapping[str, int]) -> Fault:
    """The fault of a file with skipped entries. ``skipped`` counts them by the name of their list."""
    by_list = ", ".join(f"{count:,} of `{name}`" for name, count in skipped.items())
    total = sum(skipped.values())
    entries = "1 entry equals" if total == 1 else f"{total:,} entries equal"
    return EQUAL_ENTRIES.fault(
        f"{entries} {MOST_EQUAL:,} others of the same list and {are(total)} not read: {by_list}; findings and counts "
        "are about the entries that are read",
        help="remove the equal entries, and find out where the file comes from",
    )
