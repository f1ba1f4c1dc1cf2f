"""Shortens names that are too long, and reports them."""

from __future__ import annotations

from hashlib import sha256

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.faults import LONG_NAME
from irlint.parsers.onnx.protobuf import LONGEST_TEXT

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer, LongTexts

#: The replacement of a long text begins with the first SHOWN bytes of the text.
SHOWN = 48

#: This many bytes are hashed at once.
_PIECE = 1 << 20


def shortened(data: Buffer, start: int, end: int) -> str:
    """The replacement of a long text: its beginning, size and hash. Different texts have different replacements."""
    digest = sha256(usedforsecurity=False)
    for at in range(start, end, _PIECE):
        digest.update(data[at : min(end, at + _PIECE)])
    first = data[start : start + SHOWN].decode("utf-8", "surrogateescape")
    return f"{first}... ({end - start} bytes, #{digest.hexdigest()[:32]})"


def long_names(long: LongTexts) -> Fault:
    """The fault of a file with names that are too long."""
    sizes = long.values()
    text = f"a name has {max(sizes):,} bytes"
    if len(sizes) > 1:
        text = f"{len(sizes)} names have more than {LONGEST_TEXT:,} bytes; the longest has {max(sizes):,} bytes"
    return LONG_NAME.fault(
        text,
        help="export the model again with shorter names, and find out where the file comes from",
    )
