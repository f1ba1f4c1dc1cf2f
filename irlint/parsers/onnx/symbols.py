"""Identifiers for the names of sizes in an ONNX file: ``batch.size`` becomes ``batch_size``."""

from __future__ import annotations

from keyword import iskeyword

from irlint.dims import Expr, symbol, unused_name
from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from irlint.dims import Dim

#: The number of characters of a text that its identifier uses.
LONGEST = 200

#: Functions in the texts of sizes.
_RESERVED = frozenset({"min", "max", "abs"})


def identifiers(texts: Iterable[str]) -> dict[str, str]:
    """A distinct Python identifier for each name of a size. The texts "?" and "" name no size."""
    named = [text for text in texts if text not in {"", "?"}]
    found = {text: text for text in named if _can_be_symbol(text)}
    taken = set(found)
    numbers: dict[str, int] = {}
    for text in named:
        if text not in found:
            found[text] = unused_name(_identifier(text), taken, numbers)
    return found


def expressions(texts: Iterable[str], inputs: Collection[str]) -> dict[str, Dim]:
    """The sizes of texts such as ``2*H``, which are expressions of the sizes ``inputs`` of inputs."""
    candidates = [
        text for text in texts if text not in inputs and not text.isidentifier() and any(map(str.isalpha, text))
    ]
    sizes = {text: symbol(text) for text in inputs if _can_be_symbol(text)} if candidates else {}
    if not sizes:
        return {}
    from irlint.dims.expressions import read

    found = {text: read(text, sizes) for text in candidates}
    return {text: size for text, size in found.items() if isinstance(size, Expr)}


def _identifier(text: str) -> str:
    kept = [letter if (letter.isascii() and letter.isalnum()) or letter == "_" else " " for letter in text[:LONGEST]]
    name = "_".join("".join(kept).split()).strip("_") or "dim"
    name = f"d{name}" if name[0].isdigit() else name
    return name if _can_be_symbol(name) else f"dim_{name}"


def _can_be_symbol(text: str) -> bool:
    # The names of irlint's own symbols begin with "_".
    return (
        len(text) <= LONGEST
        and text.isidentifier()
        and text[0] != "_"
        and not iskeyword(text)
        and text not in _RESERVED
    )
