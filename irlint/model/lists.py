"""Very long lists in attributes, whose entries become Python objects only on access."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.lazy_typing import Any

#: At most this many entries are converted to Python objects at once.
_PIECE = 1 << 16


class LongList:
    """A list of ``count`` entries, equal only to another ``LongList`` with the same entries.

    ``load`` returns ``numbers``, a NumPy array of the entries. For strings, ``numbers`` are indices into ``texts``, the
    distinct strings in the order of their first occurrence.
    """

    __slots__ = ("_load", "count", "texts")

    def __init__(self, count: int, load: Callable[[], Any], texts: tuple[str, ...] = ()) -> None:
        self.count = count
        self.texts = texts
        self._load = load

    @property
    def numbers(self) -> Any:
        return self._load()

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        numbers = self.numbers
        for start in range(0, self.count, _PIECE):
            piece = numbers[start : start + _PIECE].tolist()
            yield from [self.texts[number] for number in piece] if self.texts else piece

    def __getitem__(self, index: int | slice) -> Any:
        numbers = self.numbers[index]
        if isinstance(index, slice):
            piece = numbers.tolist()
            return tuple(self.texts[number] for number in piece) if self.texts else tuple(piece)
        return self.texts[int(numbers)] if self.texts else numbers.item()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LongList):
            return NotImplemented
        if self is other:
            return True
        return self.count == other.count and self.texts == other.texts and bool((self.numbers == other.numbers).all())

    def __hash__(self) -> int:
        return hash((self.count, self.texts))

    def __repr__(self) -> str:
        return repr(tuple(self))
