"""Lists of messages with very many equal short entries: the first ones stand for all of them."""

from __future__ import annotations

from irlint.findings.wording import are
from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.faults import EQUAL_ENTRIES
from irlint.parsers.onnx.protobuf import MOST_EQUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irlint.findings.faults import Fault
    from irlint.parsers.onnx.protobuf import Buffer, Span

#: Entries of at most this many bytes are compared.
SHORT_BYTES = 16


def kept(data: Buffer, spans: Sequence[Span]) -> list[int]:
    """The positions of the entries of a list that are read: all but the equal short ones past ``MOST_EQUAL``."""
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


def fault(passed_over: Mapping[str, int]) -> Fault:
    """The fault of a file with lists, by their names, of which so many entries were passed over."""
    lists = ", ".join(f"{count:,} of `{name}`" for name, count in passed_over.items())
    total = sum(passed_over.values())
    entries = "1 entry equals" if total == 1 else f"{total:,} entries equal"
    return EQUAL_ENTRIES.fault(
        f"{entries} {MOST_EQUAL:,} others of the same list and {are(total)} not read: {lists}; findings and counts are "
        "those of the others",
        help="remove the equal entries, and find out where the file comes from",
    )
