"""Texts of an ONNX file that are too long to be names: what stands for each of them, and the finding that says so."""

from __future__ import annotations

import threading
from collections.abc import Collection
from hashlib import sha256

from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.faults import LONG_NAME
from irlint.parsers.onnx.protobuf import LONGEST_TEXT

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: A long text begins with this many of its bytes.
SHOWN = 48

#: This many bytes are hashed at once.
_PIECE = 1 << 20


class _Met(threading.local):
    """The long texts that this thread has met: the size of each in bytes by what stands for it."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}


_met = _Met()


def shortened(data: Buffer, start: int, end: int) -> str:
    """The beginning of a text, its size and its hash, which differ where texts differ."""
    digest = sha256(usedforsecurity=False)
    for at in range(start, end, _PIECE):
        digest.update(data[at : min(end, at + _PIECE)])
    first = data[start : start + SHOWN].decode("utf-8", "surrogateescape")
    short = f"{first}... ({end - start} bytes, #{digest.hexdigest()[:32]})"
    _met.sizes[short] = end - start
    return short


def taken() -> dict[str, int]:
    """The long texts that were met since the last call, with their sizes in bytes."""
    sizes, _met.sizes = _met.sizes, {}
    return sizes


def long_names(apart: Collection[str]) -> Fault | None:
    """The fault of the names among the long texts that were met; the texts in ``apart`` are no names."""
    sizes = [size for text, size in taken().items() if text not in apart]
    if not sizes:
        return None
    what = "a name has" if len(sizes) == 1 else f"{len(sizes)} names have more than {LONGEST_TEXT:,} bytes, the longest"
    return LONG_NAME.fault(
        f"{what} {max(sizes):,} bytes",
        help="export the model again with shorter names, and check where the file is from",
    )
