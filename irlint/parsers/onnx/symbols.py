"""The texts that name sizes in an ONNX file, and the identifiers that stand for them."""

from __future__ import annotations

from keyword import iskeyword

from irlint.dims import Expr, symbol, unused_name
from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from irlint.dims import Dim

#: A text of more characters is no identifier that is used, and of one only the first ones make one.
LONGEST = 200

#: Identifiers that mean something else in the texts of sizes.
_RESERVED = frozenset({"min", "max", "abs"})


def identifiers(texts: Iterable[str]) -> dict[str, str]:
    """A Python identifier for each text that names a size; ``?`` and the empty text name none.

    Identifiers keep their own name, in the order given the others get one made from their letters and digits.
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
    """The size of each text that is an expression over names of ``fed``, the sizes of inputs; one of these stands for
    itself."""
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
    """Whether a text can stand for a size in what Python evaluates; names with ``_`` in front are the tool's own."""
    return (
        len(text) <= LONGEST
        and text.isidentifier()
        and text[0] != "_"
        and not iskeyword(text)
        and text not in _RESERVED
    )
