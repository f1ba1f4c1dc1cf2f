"""Identifiers for the names of sizes in an ONNX file: ``batch.size`` becomes ``batch_size``."""

from __future__ import annotations

from keyword import iskeyword

from irlint.dims import Expr, symbol, unused_name
from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from irlint.dims import Dim

#: The identifier of a longer text is formed from its first LONGEST characters.
LONGEST = 200

#: Identifiers that are functions in the texts of sizes.
_RESERVED = frozenset({"min", "max", "abs"})


def identifiers(texts: Iterable[str]) -> dict[str, str]:
    """A different Python identifier for each text that names a size; "?" and "" name no size.

    A text that can be a symbol is its own identifier. For the other texts, in the given order, an identifier is made of
    the ASCII letters and digits of the text.
    """
    named = [text for text in texts if text not in {"", "?"}]
    found = {text: text for text in named if _can_be_symbol(text)}
    taken = set(found)
    numbers: dict[str, int] = {}
    for text in named:
        if text not in found:
            found[text] = unused_name(_identifier(text), taken, numbers)
    return found


def expressions(texts: Iterable[str], inputs: Collection[str]) -> dict[str, Dim]:
    """The size of each text that is an expression of sizes of inputs, such as ``2*H``.

    ``inputs`` are the names of the sizes of inputs, which are not in the result.
    """
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
    """A name that can be a symbol, made of the ASCII letters and digits of a text."""
    kept = [letter if (letter.isascii() and letter.isalnum()) or letter == "_" else " " for letter in text[:LONGEST]]
    name = "_".join("".join(kept).split()).strip("_") or "dim"
    name = f"d{name}" if name[0].isdigit() else name
    return name if _can_be_symbol(name) else f"dim_{name}"


def _can_be_symbol(text: str) -> bool:
    """Whether a text is a Python identifier without another meaning; names of irlint's own symbols begin with ``_``."""
    return (
        len(text) <= LONGEST
        and text.isidentifier()
        and text[0] != "_"
        and not iskeyword(text)
        and text not in _RESERVED
    )
