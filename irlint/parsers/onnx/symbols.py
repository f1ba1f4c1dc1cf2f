"""Identifiers for the names of sizes in an ONNX file: ``batch.size`` becomes ``batch_size``."""

from __future__ import annotations

from keyword import iskeyword

from irlint.dims import Expr, symbol, unused_name
from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from irlint.dims import Dim

#: Longer texts are not used as identifiers; only their first characters form one.
LONGEST = 200

#: Identifiers that mean something else in the texts of sizes.
_RESERVED = frozenset({"min", "max", "abs"})


def identifiers(texts: Iterable[str]) -> dict[str, str]:
    """A Python identifier for each text that names a size; ``?`` and the empty text name none.

    A usable identifier keeps its name. Each other text gets a name made of its letters and digits, in the given order.
    """
    named = [text for text in texts if text not in {"", "?"}]
    given = {text: text for text in named if _plain(text)}
    taken = set(given)
    numbers: dict[str, int] = {}
    for text in named:
        if text not in given:
            given[text] = unused_name(_identifier(text), taken, numbers)
    return given


def expressions(texts: Iterable[str], fed: Collection[str]) -> dict[str, Dim]:
    """The size of each text that is an expression over names in ``fed``, such as ``2*H``.

    ``fed`` are the names of the sizes of inputs; these are not in the result.
    """
    given = [text for text in texts if text not in fed and not text.isidentifier() and any(map(str.isalpha, text))]
    sizes = {text: symbol(text) for text in fed if _plain(text)} if given else {}
    if not sizes:
        return {}
    from irlint.dims.expressions import read

    found = {text: read(text, sizes) for text in given}
    return {text: size for text, size in found.items() if isinstance(size, Expr)}


def _identifier(text: str) -> str:
    kept = [letter if (letter.isascii() and letter.isalnum()) or letter == "_" else " " for letter in text[:LONGEST]]
    name = "_".join("".join(kept).split()).strip("_") or "dim"
    name = f"d{name}" if name[0].isdigit() else name
    return name if _plain(name) else f"dim_{name}"


def _plain(text: str) -> bool:
    """Whether a text can be a symbol: a Python identifier that has no other meaning; a leading ``_`` is irlint's
    own."""
    return (
        len(text) <= LONGEST
        and text.isidentifier()
        and text[0] != "_"
        and not iskeyword(text)
        and text not in _RESERVED
    )
